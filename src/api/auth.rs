//! Credentials: where they come from, how they go into a request, and one renewal when a server no longer
//! takes them. They are put in last, so that nothing before can print them.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;

use super::exec::{self, ExecError};
use crate::backend::connection::{Auth, Credential, Text};
use crate::backend::path::push_query;
use crate::backend::wire::HttpRequest;

/// The credentials of one backend.
pub struct Authenticator {
    auth: Option<Auth>,
    /// What `TRUEUP_ALLOW_EXEC` says.
    allowed: Option<String>,
    /// The last one that was got. The lock is held while another is got: all others wait for that one.
    current: Mutex<Option<Arc<Proof>>>,
}

/// A credential as it goes into requests. It has no `Debug`.
#[derive(PartialEq, Eq)]
pub struct Proof {
    place: Place,
    /// The texts that must never be printed.
    secrets: Vec<String>,
}

#[derive(PartialEq, Eq)]
enum Place {
    Header { name: String, value: String },
    Query { name: String, value: String },
}

/// Why there is no credential.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("the secret `{0}` is not set")]
    NotSet(String),
    #[error("cannot read the credential from `{}`: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("cannot get the credential: {0}")]
    Exec(#[from] ExecError),
    #[error("the credential from {source_name} {problem}")]
    Unfit { source_name: String, problem: &'static str },
}

impl AuthError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            AuthError::Exec(ExecError::NotAllowed(command)) => {
                Some(format!("if you trust it, name it in your own environment: {}={command}", exec::ALLOW))
            }
            AuthError::NotSet(source) => Some(match source.split_once(':') {
                Some(("env", name)) => format!("set the environment variable `{name}`"),
                _ => "check where the backend takes its credential from".into(),
            }),
            _ => None,
        }
    }
}

impl Authenticator {
    /// Takes what a backend states. `allowed` is the value of [`exec::ALLOW`].
    pub fn new(auth: Option<Auth>, allowed: Option<String>) -> Authenticator {
        Authenticator { auth, allowed, current: Mutex::new(None) }
    }

    /// Where the credential comes from, for hints; `None` where there is none. Safe to print.
    pub fn source(&self) -> Option<String> {
        Some(match self.auth.as_ref()? {
            Auth::Basic { password, .. } => text_source(password),
            Auth::Bearer(credential) => credential_source(credential),
            Auth::Header { value, .. } | Auth::Query { value, .. } => credential_source(value),
        })
    }

    /// The credential to send; `None` where the backend takes none.
    ///
    /// # Errors
    /// A secret, file or command that gives nothing.
    pub async fn current(&self) -> Result<Option<Arc<Proof>>, AuthError> {
        let Some(auth) = &self.auth else { return Ok(None) };
        let mut current = self.current.lock().await;
        if current.is_none() {
            *current = Some(Arc::new(self.prove(auth).await?));
        }
        Ok(current.clone())
    }

    /// Another credential than `refused`, where there is one: a file or command may know it. Of many whose
    /// requests carried `refused`, one asks for all: the others are told what came of that.
    ///
    /// # Errors
    /// As [`Authenticator::current`].
    pub async fn renewed(&self, refused: &Arc<Proof>) -> Result<Option<Arc<Proof>>, AuthError> {
        let Some(auth) = self.auth.as_ref().filter(|auth| can_change(auth)) else { return Ok(None) };
        let mut current = self.current.lock().await;
        let unchanged = current.as_ref().is_none_or(|have| Arc::ptr_eq(have, refused));
        if unchanged {
            *current = Some(Arc::new(self.prove(auth).await?));
        }
        Ok(current.clone().filter(|have| **have != **refused))
    }

    async fn prove(&self, auth: &Auth) -> Result<Proof, AuthError> {
        let header = |name: &str, value: String, secrets| Proof {
            place: Place::Header { name: name.into(), value },
            secrets,
        };
        Ok(match auth {
            Auth::Basic { username, password } => {
                let (username, password) = (reveal(username)?, reveal(password)?);
                let pair = base64(format!("{username}:{password}").as_bytes());
                header("authorization", format!("Basic {pair}"), vec![password, pair])
            }
            Auth::Bearer(credential) => {
                let token = self.get(credential).await?;
                header("authorization", format!("Bearer {token}"), vec![token])
            }
            Auth::Header { name, value } => {
                let value = self.get(value).await?;
                header(&name.to_ascii_lowercase(), value.clone(), vec![value])
            }
            Auth::Query { name, value } => {
                let value = self.get(value).await?;
                let place = Place::Query { name: name.clone(), value: value.clone() };
                Proof { place, secrets: vec![value] }
            }
        })
    }

    async fn get(&self, credential: &Credential) -> Result<String, AuthError> {
        let text = match credential {
            Credential::Text(text) => reveal(text)?,
            Credential::File(path) => {
                let read = tokio::fs::read_to_string(path).await;
                read.map_err(|source| AuthError::Read { path: path.clone(), source })?
            }
            Credential::Command(command) => exec::run(command, self.allowed.as_deref()).await?,
        };
        let token = text.trim();
        let unfit = |problem| AuthError::Unfit { source_name: credential_source(credential), problem };
        if token.is_empty() {
            return Err(unfit("is empty"));
        }
        if token.chars().any(char::is_control) {
            return Err(unfit("has more than one line, or a control character"));
        }
        Ok(token.into())
    }
}

impl Proof {
    /// Puts the credential into a request.
    pub fn put_into(&self, request: &mut HttpRequest) {
        match &self.place {
            Place::Header { name, value } => {
                request.headers.retain(|(have, _)| have != name);
                request.headers.push((name.clone(), value.clone()));
            }
            Place::Query { name, value } => {
                let (rest, query) = match request.url.split_once('?') {
                    Some((rest, query)) => (rest.to_owned(), query.to_owned()),
                    None => (request.url.clone(), String::new()),
                };
                // A server that repeats the query in the URL of its next page repeats the key as well.
                let mut own = String::new();
                push_query(&mut own, name, "");
                let mut query = query
                    .split('&')
                    .filter(|pair| !pair.is_empty() && !pair.starts_with(&own))
                    .collect::<Vec<_>>()
                    .join("&");
                push_query(&mut query, name, value);
                request.url = format!("{rest}?{query}");
            }
        }
    }

    /// The texts that must never be printed.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }
}

fn reveal(text: &Text) -> Result<String, AuthError> {
    text.reveal().map(str::to_owned).ok_or_else(|| AuthError::NotSet(text_source(text)))
}

fn can_change(auth: &Auth) -> bool {
    match auth {
        Auth::Basic { .. } => false,
        Auth::Bearer(credential) => !matches!(credential, Credential::Text(_)),
        Auth::Header { value, .. } | Auth::Query { value, .. } => !matches!(value, Credential::Text(_)),
    }
}

fn text_source(text: &Text) -> String {
    match text {
        Text::Plain(_) => "the backend's document".into(),
        Text::Secret(secret) => secret.source.to_string(),
    }
}

fn credential_source(credential: &Credential) -> String {
    match credential {
        Credential::Text(text) => text_source(text),
        Credential::File(path) => format!("the file `{}`", path.display()),
        Credential::Command(command) => {
            format!("the command `{}`", command.first().map_or("", String::as_str))
        }
    }
}

/// RFC 4648, section 4, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= chunk.len() { digit as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::wire::Role;
    use crate::core::kind::Method;
    use crate::core::node::Secret;

    fn secret(value: Option<&str>) -> Text {
        Text::Secret(Secret::new("env:TOKEN", value.map(str::to_owned)))
    }

    fn request(url: &str) -> HttpRequest {
        let headers = vec![("authorization".into(), "stale".into())];
        HttpRequest { role: Role::Read, method: Method::Get, url: url.into(), headers, body: None }
    }

    async fn sent(auth: Auth, url: &str) -> HttpRequest {
        let proof = Authenticator::new(Some(auth), None).current().await.expect("a credential");
        let mut request = request(url);
        proof.expect("some").put_into(&mut request);
        request
    }

    #[tokio::test]
    async fn credentials_go_where_the_backend_says() {
        let basic = Auth::Basic { username: Text::Plain("guest".into()), password: secret(Some("gäst")) };
        let bearer = Auth::Bearer(Credential::Text(secret(Some("t0k3n\n"))));
        let header =
            Auth::Header { name: "X-API-Key".into(), value: Credential::Text(Text::Plain("k".into())) };
        let query = || Auth::Query { name: "api key".into(), value: Credential::Text(secret(Some("a&b"))) };
        let authorization = |value: &str| ("authorization".to_owned(), value.to_owned());
        assert_eq!(sent(basic, "/a").await.headers, [authorization("Basic Z3Vlc3Q6Z8Okc3Q=")]);
        assert_eq!(sent(bearer, "/a").await.headers, [authorization("Bearer t0k3n")]);
        let key = ("x-api-key".to_owned(), "k".to_owned());
        assert_eq!(sent(header, "/a").await.headers, [authorization("stale"), key]);
        assert_eq!(sent(query(), "/a").await.url, "/a?api%20key=a%26b");
        let again = sent(query(), "http://h/a?x=1&api%20key=old&y").await.url;
        assert_eq!(again, "http://h/a?x=1&y&api%20key=a%26b", "the key is replaced, not repeated");
    }

    #[tokio::test]
    async fn what_is_not_there_is_named() {
        let current = |auth| async move {
            let error = Authenticator::new(Some(auth), None).current().await.err().expect("no credential");
            (error.to_string(), error.hint())
        };
        let (message, hint) = current(Auth::Bearer(Credential::Text(secret(None)))).await;
        assert_eq!(message, "the secret `env:TOKEN` is not set");
        assert_eq!(hint.as_deref(), Some("set the environment variable `TOKEN`"));
        let (message, _) = current(Auth::Bearer(Credential::File("/no/such/file".into()))).await;
        assert!(message.starts_with("cannot read the credential from `/no/such/file`: "), "{message}");
        let (message, hint) = current(Auth::Bearer(Credential::Command(vec!["gh".into()]))).await;
        assert_eq!(message, "cannot get the credential: the command `gh` is not allowed");
        assert_eq!(
            hint.as_deref(),
            Some("if you trust it, name it in your own environment: TRUEUP_ALLOW_EXEC=gh")
        );
        let (message, _) = current(Auth::Bearer(Credential::Text(secret(Some(" "))))).await;
        assert_eq!(message, "the credential from env:TOKEN is empty");
        let (message, _) = current(Auth::Bearer(Credential::Text(secret(Some("a\r\nX: y"))))).await;
        assert!(message.contains("control character"), "{message}");
    }

    #[tokio::test]
    async fn a_file_is_read_again_once_for_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("token");
        std::fs::write(&path, "old\n").expect("written");
        let auth = Authenticator::new(Some(Auth::Bearer(Credential::File(path.clone()))), None);
        let old = auth.current().await.expect("read").expect("some");
        let same = auth.renewed(&old).await.expect("read");
        assert!(same.is_none(), "the same token again is no renewal");
        std::fs::write(&path, "new").expect("written");
        let late = auth.renewed(&old).await.expect("no read");
        assert!(late.is_none(), "another has asked for all who hold the old one");
        let old = auth.current().await.expect("there").expect("some");
        let (one, two) = tokio::join!(auth.renewed(&old), auth.renewed(&old));
        let (one, two) = (one.expect("read").expect("new"), two.expect("read").expect("new"));
        assert!(Arc::ptr_eq(&one, &two));
        assert_eq!(one.secrets(), ["new"]);
        let text = Authenticator::new(Some(Auth::Bearer(Credential::Text(secret(Some("t"))))), None);
        let proof = text.current().await.expect("there").expect("some");
        assert!(text.renewed(&proof).await.expect("no error").is_none(), "a text stays what it is");
    }

    #[test]
    fn base64_of_all_lengths() {
        for (plain, want) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("\u{3ff}\u{3ff}", "z7/Pvw==")]
        {
            assert_eq!(base64(plain.as_bytes()), want);
        }
    }
}
