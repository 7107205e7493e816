//! Credentials of every sort, and how often they are asked for.

use std::sync::Mutex;

use super::*;
use crate::api::transport::TransportClass;
use crate::backend::connection::Carry;
use crate::backend::testing::filter;
use crate::backend::wire::{HttpRequest, Role};
use crate::core::kind::Method;
use crate::core::node::Secret;

/// Grants nothing: for credentials that need no request.
struct Nobody;

impl Grants for Nobody {
    fn grant<'a>(&'a self, _: &'a TokenCall) -> BoxFuture<'a, Result<Granted, AuthError>> {
        panic!("no token is asked for here")
    }
}

fn secret(value: Option<&str>) -> Text {
    Text::Secret(Secret::new("env:TOKEN", value.map(str::to_owned)))
}

fn request(url: &str) -> HttpRequest {
    let headers = vec![("authorization".into(), "stale".into())];
    HttpRequest { role: Role::Read, method: Method::Get, url: url.into(), headers, body: None }
}

async fn sent(auth: Auth, url: &str) -> HttpRequest {
    let proof = Authenticator::new(Some(auth), None).current(&Nobody).await.expect("a credential");
    let mut request = request(url);
    proof.expect("some").put_into(&mut request);
    request
}

#[tokio::test]
async fn credentials_go_where_the_backend_says() {
    let basic = Auth::Basic { username: Text::Plain("guest".into()), password: secret(Some("gäst")) };
    let bearer = Auth::Bearer(Credential::Text(secret(Some("t0k3n\n"))));
    let header = Auth::Header { name: "X-API-Key".into(), value: Credential::Text(Text::Plain("k".into())) };
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
        let error = Authenticator::new(Some(auth), None).current(&Nobody).await.err().expect("no credential");
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
    let old = auth.current(&Nobody).await.expect("read").expect("some");
    let same = auth.renewed(&old, &Nobody).await.expect("read");
    assert!(same.is_none(), "the same token again is no renewal");
    std::fs::write(&path, "new").expect("written");
    let late = auth.renewed(&old, &Nobody).await.expect("no read");
    assert!(late.is_none(), "another has asked for all who hold the old one");
    let old = auth.current(&Nobody).await.expect("there").expect("some");
    let (one, two) = tokio::join!(auth.renewed(&old, &Nobody), auth.renewed(&old, &Nobody));
    let (one, two) = (one.expect("read").expect("new"), two.expect("read").expect("new"));
    assert!(Arc::ptr_eq(&one, &two));
    assert_eq!(one.secrets(), ["new"]);
    let text = Authenticator::new(Some(Auth::Bearer(Credential::Text(secret(Some("t"))))), None);
    let proof = text.current(&Nobody).await.expect("there").expect("some");
    assert!(text.renewed(&proof, &Nobody).await.expect("no error").is_none(), "a text stays what it is");
}

/// Grants `token-1`, `token-2` and so on, each for this long; or fails.
struct Counting {
    lifetime: Option<Duration>,
    fails: bool,
    calls: Mutex<u32>,
}

impl Counting {
    fn new(lifetime: Option<u64>) -> Counting {
        Counting { lifetime: lifetime.map(Duration::from_secs), fails: false, calls: Mutex::new(0) }
    }

    fn calls(&self) -> u32 {
        *self.calls.lock().expect("no test panics with it")
    }
}

impl Grants for Counting {
    fn grant<'a>(&'a self, _: &'a TokenCall) -> BoxFuture<'a, Result<Granted, AuthError>> {
        Box::pin(async move {
            let number = {
                let mut calls = self.calls.lock().expect("no test panics with it");
                *calls += 1;
                *calls
            };
            // The others come and wait.
            tokio::task::yield_now().await;
            if self.fails {
                return Err(TransportError::new(TransportClass::Setup, "no").into());
            }
            let value = format!("token-{number}");
            let (header, secrets) = ("authorization".into(), vec![value.clone()]);
            Ok(Granted { header, value, secrets, lifetime: self.lifetime })
        })
    }
}

fn by_call() -> Authenticator {
    let call = TokenCall {
        method: Method::Post,
        url: "/token".into(),
        client: None,
        body: TokenBody::None,
        token_type: None,
        carry: Carry::Bearer(filter(".body.token")),
        expires: None,
    };
    Authenticator::new(Some(Auth::Token(Box::new(call))), None)
}

async fn token(auth: &Authenticator, grants: &Counting) -> String {
    token_after(auth, grants, Duration::ZERO).await
}

/// The token that is sent so long from now.
async fn token_after(auth: &Authenticator, grants: &Counting, time: Duration) -> String {
    let proof = auth.at(Instant::now() + time, grants).await.expect("granted").expect("some");
    proof.secrets()[0].clone()
}

#[tokio::test]
async fn many_requests_ask_for_one_token() {
    let (auth, grants) = (by_call(), Counting::new(None));
    let all = (0..50).map(|_| token(&auth, &grants));
    let tokens = futures_util::future::join_all(all).await;
    assert!(tokens.iter().all(|token| token == "token-1"), "{tokens:?}");
    assert_eq!(grants.calls(), 1);
}

#[tokio::test]
async fn a_token_is_renewed_a_little_before_its_end() {
    let (auth, grants) = (by_call(), Counting::new(Some(3600)));
    assert_eq!(token(&auth, &grants).await, "token-1");
    assert_eq!(token_after(&auth, &grants, Duration::from_secs(3560)).await, "token-1");
    assert_eq!(
        token_after(&auth, &grants, Duration::from_secs(3575)).await,
        "token-2",
        "half a minute is left"
    );
    let (auth, grants) = (by_call(), Counting::new(Some(1000)));
    assert_eq!(token(&auth, &grants).await, "token-1");
    assert_eq!(token_after(&auth, &grants, Duration::from_secs(960)).await, "token-1");
    assert_eq!(token_after(&auth, &grants, Duration::from_secs(971)).await, "token-2");
    let (auth, grants) = (by_call(), Counting::new(Some(100)));
    assert_eq!(token(&auth, &grants).await, "token-1");
    assert_eq!(
        token_after(&auth, &grants, Duration::from_secs(85)).await,
        "token-1",
        "of a short one it is a tenth"
    );
    assert_eq!(token_after(&auth, &grants, Duration::from_secs(91)).await, "token-2");
    let (auth, grants) = (by_call(), Counting::new(Some(u64::MAX)));
    assert_eq!(token(&auth, &grants).await, "token-1", "no clock reaches so far");
}

#[tokio::test]
async fn those_who_wait_for_a_failing_call_are_told_of_it() {
    let (auth, grants) = (by_call(), Counting { fails: true, ..Counting::new(None) });
    let all = (0..50).map(|_| auth.current(&grants));
    let told = futures_util::future::join_all(all).await;
    assert!(told.iter().all(Result::is_err));
    assert_eq!(grants.calls(), 1, "a wrong secret is not sent fifty times");
    assert!(auth.current(&grants).await.is_err());
    assert_eq!(grants.calls(), 2, "who comes later asks anew");
}

#[tokio::test]
async fn a_renewal_that_is_refused_as_well_is_the_last() {
    let (auth, grants) = (by_call(), Counting::new(None));
    let first = auth.current(&grants).await.expect("granted").expect("some");
    let second = auth.renewed(&first, &grants).await.expect("granted").expect("another");
    assert!(auth.renewed(&second, &grants).await.expect("no error").is_none(), "it was never accepted");
    assert_eq!(grants.calls(), 2);
    second.accept();
    let third = auth.renewed(&second, &grants).await.expect("granted").expect("it had ended");
    assert_eq!((third.secrets()[0].as_str(), grants.calls()), ("token-3", 3));
}
