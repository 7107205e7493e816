//! Credentials: where they come from, and one renewal when a server no longer takes them. However many requests
//! need one at once, it is asked for once.

mod proof;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::Instant;

pub use self::proof::Proof;

use super::exec::{self, ExecError};
use super::file;
use super::transport::TransportError;
use crate::backend::connection::{Auth, Connection, Credential, Text, TokenBody, TokenCall};
use crate::backend::token::Granted;

/// A token is renewed when a tenth of its time is left, and never earlier than this before its end.
const MARGIN: Duration = Duration::from_secs(30);

/// The credentials of one backend.
pub struct Authenticator {
    auth: Option<Auth>,
    /// What `TRUEUP_ALLOW_EXEC` says.
    allowed: Option<String>,
    /// Counts how often a credential was asked for.
    attempts: AtomicU64,
    /// The lock is held while a credential is got: all others wait for that one.
    state: Mutex<State>,
}

/// The credentials of all backends, by name. A plan and its application share them: they log in once.
#[derive(Clone, Default)]
pub struct Credentials(Arc<std::sync::Mutex<HashMap<Arc<str>, Arc<Authenticator>>>>);

impl Credentials {
    /// The credentials of this backend, made of what it states where there are none yet.
    pub fn of(&self, connection: &Connection, allowed: Option<String>) -> Arc<Authenticator> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Authenticator::new(connection.auth.clone(), allowed));
        all.entry(connection.name.clone()).or_insert_with(new).clone()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(..)")
    }
}

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// What the last attempt came to, if it failed.
    failed: Option<Arc<AuthError>>,
}

/// A credential that was got.
struct Held {
    proof: Arc<Proof>,
    /// When to get another before this one ends.
    until: Option<Instant>,
    /// It was got because a server refused the one before.
    renewal: bool,
}

impl Held {
    /// Whether another token would be refused like this one. A file is read again: it may be late.
    fn is_spent(&self, auth: &Auth) -> bool {
        matches!(auth, Auth::Token(_)) && self.renewal && !self.proof.was_accepted()
    }
}

/// Something that can ask for tokens.
pub trait Grants: Sync {
    /// Sends the call and reads its answer.
    fn grant<'a>(&'a self, call: &'a TokenCall) -> BoxFuture<'a, Result<Granted, AuthError>>;
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
    #[error(transparent)]
    Token(#[from] TransportError),
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
            AuthError::Token(error) => error.hint.clone(),
            _ => None,
        }
    }
}

impl Authenticator {
    /// Takes what a backend states. `allowed` is the value of [`exec::ALLOW`].
    pub fn new(auth: Option<Auth>, allowed: Option<String>) -> Authenticator {
        Authenticator { auth, allowed, attempts: AtomicU64::new(0), state: Mutex::default() }
    }

    /// Where the credential comes from, for hints; `None` where there is none. Safe to print.
    pub fn source(&self) -> Option<String> {
        Some(match self.auth.as_ref()? {
            Auth::Basic { password, .. } => text_source(password),
            Auth::Bearer(credential) => credential_source(credential),
            Auth::Header { value, .. } | Auth::Query { value, .. } => credential_source(value),
            Auth::Token(call) => call_source(call),
        })
    }

    /// The credential to send; `None` where the backend takes none. One that is about to end is renewed.
    ///
    /// # Errors
    /// A secret, file, command or token endpoint that gives nothing.
    pub async fn current(&self, grants: &dyn Grants) -> Result<Option<Arc<Proof>>, Arc<AuthError>> {
        self.at(Instant::now(), grants).await
    }

    async fn at(&self, now: Instant, grants: &dyn Grants) -> Result<Option<Arc<Proof>>, Arc<AuthError>> {
        let Some(auth) = &self.auth else { return Ok(None) };
        let before = self.attempts.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let fresh = |held: &&Held| held.until.is_none_or(|until| now < until);
        if let Some(held) = state.held.as_ref().filter(fresh) {
            return Ok(Some(held.proof.clone()));
        }
        self.attempt(auth, grants, &mut state, before, false).await.map(Some)
    }

    /// Another credential than `refused`, where there is one. Of many whose requests carried `refused`, one asks
    /// for all: the others are told what came of that. A token that was got in this way and is refused as well is
    /// not renewed: then the token is not what is wrong.
    ///
    /// # Errors
    /// As [`Authenticator::current`].
    pub async fn renewed(
        &self,
        refused: &Arc<Proof>,
        grants: &dyn Grants,
    ) -> Result<Option<Arc<Proof>>, Arc<AuthError>> {
        let Some(auth) = self.auth.as_ref().filter(|auth| can_change(auth)) else { return Ok(None) };
        let before = self.attempts.load(Ordering::Acquire);
        let mut state = self.state.lock().await;
        let new = match &state.held {
            Some(held) if !Arc::ptr_eq(&held.proof, refused) => held.proof.clone(),
            Some(held) if held.is_spent(auth) => return Ok(None),
            _ => self.attempt(auth, grants, &mut state, before, true).await?,
        };
        Ok(Some(new).filter(|new| !new.is_same(refused)))
    }

    /// Gets a credential, unless somebody has tried and failed since `before`: then it is theirs to tell. A
    /// wrong secret that is sent again for each request locks an account.
    async fn attempt(
        &self,
        auth: &Auth,
        grants: &dyn Grants,
        state: &mut State,
        before: u64,
        renewal: bool,
    ) -> Result<Arc<Proof>, Arc<AuthError>> {
        if self.attempts.load(Ordering::Acquire) != before
            && let Some(error) = &state.failed
        {
            return Err(error.clone());
        }
        let told = self.prove(auth, grants).await;
        self.attempts.fetch_add(1, Ordering::AcqRel);
        match told {
            Ok((proof, lifetime)) => {
                let proof = Arc::new(proof);
                let until =
                    lifetime.and_then(|time| Instant::now().checked_add(time - MARGIN.min(time / 10)));
                state.held = Some(Held { proof: proof.clone(), until, renewal });
                state.failed = None;
                Ok(proof)
            }
            Err(error) => {
                let error = Arc::new(error);
                state.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    async fn prove(&self, auth: &Auth, grants: &dyn Grants) -> Result<(Proof, Option<Duration>), AuthError> {
        let proof = match auth {
            Auth::Basic { username, password } => Proof::basic(&reveal(username)?, &reveal(password)?),
            Auth::Bearer(credential) => Proof::bearer(&self.get(credential).await?),
            Auth::Header { name, value } => Proof::header(name, self.get(value).await?),
            Auth::Query { name, value } => Proof::query(name, self.get(value).await?),
            Auth::Token(call) => {
                let granted = grants.grant(call).await?;
                let lifetime = granted.lifetime;
                return Ok((Proof::granted(granted), lifetime));
            }
        };
        Ok((proof, None))
    }

    async fn get(&self, credential: &Credential) -> Result<String, AuthError> {
        let text = match credential {
            Credential::Text(text) => reveal(text)?,
            Credential::File(path) => {
                file::read_text(path).map_err(|source| AuthError::Read { path: path.clone(), source })?
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

fn reveal(text: &Text) -> Result<String, AuthError> {
    text.reveal().map(str::to_owned).ok_or_else(|| AuthError::NotSet(text_source(text)))
}

fn can_change(auth: &Auth) -> bool {
    match auth {
        Auth::Basic { .. } => false,
        Auth::Token(_) => true,
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

/// Where the secret of a call comes from: the first that it names.
fn call_source(call: &TokenCall) -> String {
    let of_body = || match &call.body {
        TokenBody::Json(node) => {
            let mut first = None;
            node.each_secret(&mut |secret| first = first.take().or(Some(secret.source.to_string())));
            first
        }
        TokenBody::Form(fields) => fields.iter().find_map(|(_, text)| match text {
            Text::Secret(secret) => Some(secret.source.to_string()),
            Text::Plain(_) => None,
        }),
        TokenBody::None => None,
    };
    let stated = call.client.as_ref().map(|(_, secret)| text_source(secret));
    stated.or_else(of_body).unwrap_or_else(|| "the backend's document".into())
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
