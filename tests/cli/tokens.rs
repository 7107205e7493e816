//! Tokens that a request of its own gets: by OAuth2 client credentials, and by a login.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;

use crate::servers::{Raw, Say, Seen, TEAM_AND_SPACE, backend};
use crate::support::{Done, Scratch};

const SECRET: &str = "very-s3cret";

/// An API that takes requests with this header and value only. Of a value that ends with `*` any end will do.
fn api(name: &'static str, value: &'static str) -> Raw {
    Raw::new(move |seen| match seen.header(name) {
        Some(sent) if sent == value || value.strip_suffix('*').is_some_and(|v| sent.starts_with(v)) => {
            Say::json("{\"items\": []}")
        }
        _ => Say::answer("401 Unauthorized", "", ""),
    })
}

fn plan(url: &str, auth: &str, flags: &str) -> Done {
    let scratch = Scratch::with("backend.yaml", backend(url, &format!("  auth: {{{auth}}}")));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    scratch.trueup(&format!("plan -f a.yaml -f backend.yaml {flags}")).env("SECRET", SECRET).done()
}

/// Nothing that a person reads holds a secret.
fn is_silent(done: &Done, more: &[&str]) {
    for secret in [SECRET, "tok-"].iter().chain(more) {
        assert!(!done.told().contains(secret), "`{secret}` in {}", done.told());
    }
}

fn oauth2(issuer: &str, more: &str) -> String {
    format!("oauth2: {{token-url: {issuer}/token, client-id: me, client-secret: !secret env:SECRET{more}}}")
}

fn grants(seen: &Seen) -> Say {
    assert_eq!(seen.line, "POST /token");
    Say::json(r#"{"access_token": "tok-1234567", "token_type": "bearer", "expires_in": 3600}"#)
}

#[test]
fn client_credentials_of_another_origin() {
    let (issuer, api) = (Raw::new(grants), api("authorization", "Bearer tok-1234567"));
    let done = plan(&api.url(), &oauth2(&issuer.url(), ", scope: a b, audience: shop"), "-vv").expect(0);
    is_silent(&done, &["dmVyeS"]);
    let asked = issuer.seen();
    assert_eq!(asked.len(), 1, "two listings need one token");
    assert_eq!(asked[0].body, "grant_type=client_credentials&scope=a+b&audience=shop");
    assert_eq!(asked[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    // me:very-s3cret
    assert_eq!(asked[0].header("authorization"), Some("Basic bWU6dmVyeS1zM2NyZXQ="));
    assert_eq!(api.lines().len(), 2);
    assert!(done.out.contains("3 requests"), "the login is counted: {}", done.told());
}

#[test]
fn the_client_in_the_body_and_no_header_of_the_backend_elsewhere() {
    let (issuer, api) = (Raw::new(grants), api("authorization", "Bearer tok-1234567"));
    let auth = oauth2(&issuer.url(), ", client-auth: body");
    let scratch = Scratch::new();
    let headers = format!("  auth: {{{auth}}}\n  headers: {{X-Tenant: !secret env:TENANT}}");
    scratch.write("backend.yaml", backend(&api.url(), &headers));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let run = scratch.trueup("plan -f a.yaml -f backend.yaml").env("SECRET", SECRET).env("TENANT", "shop-7");
    run.done().expect(0);
    let asked = issuer.seen().pop().expect("it was asked");
    assert_eq!(asked.body, "grant_type=client_credentials&client_id=me&client_secret=very-s3cret");
    assert_eq!((asked.header("authorization"), asked.header("x-tenant")), (None, None));
    assert_eq!(api.seen()[0].header("x-tenant"), Some("shop-7"));
}

/// Some APIs show a session's token inside what they tell: no output holds it.
#[test]
fn a_token_that_an_api_repeats_in_an_object() {
    let token = "very-own-token-1";
    let issuer = Raw::new(move |_| Say::json(&format!("{{\"access_token\": \"{token}\"}}")));
    let api = Raw::new(move |_| {
        Say::json(&format!("{{\"items\": [{{\"id\": 1, \"name\": \"red\", \"session\": \"{token}\"}}]}}"))
    });
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend(&api.url(), &format!("  auth: {{{}}}", oauth2(&issuer.url(), ""))));
    scratch.write("a.yaml", "apiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec: {session: other}\n");
    for line in [
        "plan -f a.yaml -f backend.yaml",
        "get Team -f backend.yaml --output json",
        "export Team -f backend.yaml",
    ] {
        let done = scratch.trueup(line).env("SECRET", SECRET).done();
        assert!(done.told().contains("red") && !done.told().contains(token), "{line}: {}", done.told());
    }
}

/// A token that ends while the run goes on: one renewal, one retry, and the run does not notice.
#[test]
fn a_token_that_is_refused_is_renewed_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let issuer = Raw::new(move |_| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        Say::json(&format!(r#"{{"access_token": "tok-{number}"}}"#))
    });
    let healed = api("authorization", "Bearer tok-1");
    plan(&healed.url(), &oauth2(&issuer.url(), ""), "").expect(0);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    count.store(0, Ordering::SeqCst);
    let never = api("authorization", "Bearer other");
    let done = plan(&never.url(), &oauth2(&issuer.url(), ""), "");
    is_silent(&done, &[]);
    assert_snapshot!(done.told(), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: the server answered 401 Unauthorized
        hint: check the credential, which comes from env:SECRET
    !   Space shop   a.yaml:6
        unknown: reading Space shop: the server answered 401 Unauthorized
        hint: check the credential, which comes from env:SECRET
    Plan: 2 unknown. 0 objects seen in 6 requests.
    ");
    assert_eq!(count.load(Ordering::SeqCst), 2, "a fresh token that is refused is not what is wrong");
}

#[test]
fn what_a_token_endpoint_refuses() {
    let api = api("authorization", "Bearer tok-1234567");
    let told = |answer: fn() -> Say| {
        let issuer = Raw::new(move |_| answer());
        let done = plan(&api.url(), &oauth2(&issuer.url(), ""), "");
        is_silent(&done, &[]);
        (done.told(), issuer.seen().len())
    };
    let (text, asked) = told(|| {
        let body = r#"{"error": "invalid_client", "error_description": "not very-s3cret"}"#;
        Say::answer("401 Unauthorized", "content-type: application/json\r\n", body)
    });
    assert_snapshot!(text, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 401 Unauthorized: invalid_client: not (redacted)
        hint: check the credential, which comes from env:SECRET
    !   Space shop   a.yaml:6
        unknown: reading Space shop: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 401 Unauthorized: invalid_client: not (redacted)
        hint: check the credential, which comes from env:SECRET
    Plan: 2 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(asked, 1, "a wrong secret is not sent twice");
    let (text, _) = told(|| Say::answer("200 OK", "content-type: text/html\r\n", "<html>tok-1</html>"));
    assert_snapshot!(text, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 200 OK with `text/html`, not with JSON
        hint: is `http://127.0.0.1:PORT` the URL of the API, and not of a web page or a login in front of it?
    !   Space shop   a.yaml:6
        unknown: reading Space shop: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 200 OK with `text/html`, not with JSON
        hint: is `http://127.0.0.1:PORT` the URL of the API, and not of a web page or a login in front of it?
    Plan: 2 unknown. 0 objects seen in 1 request.
    ");
    let (text, _) = told(|| Say::json(r#"{"token": "tok-1"}"#));
    assert_snapshot!(text, @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 200 OK, without a token at `.body.access_token`
        hint: check `auth` in the backend
    !   Space shop   a.yaml:6
        unknown: reading Space shop: getting a token by POST `http://127.0.0.1:PORT/token`: the server answered 200 OK, without a token at `.body.access_token`
        hint: check `auth` in the backend
    Plan: 2 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(api.lines(), [""; 0], "nothing is asked without a token");
}

#[test]
fn a_redirect_of_the_token_endpoint_is_not_followed() {
    let evil = Raw::new(grants);
    let to = format!("location: {}/token\r\n", evil.url());
    let issuer = Raw::new(move |_| Say::answer("307 Temporary Redirect", &to, ""));
    plan("http://127.0.0.1:9", &oauth2(&issuer.url(), ""), "").expect(1);
    assert_eq!(evil.lines(), [""; 0]);
}

/// A server that logs in by `login` and else takes `name: value`.
fn server(login: fn() -> Say, name: &'static str, value: &'static str) -> Raw {
    Raw::new(move |seen| match (&*seen.line, seen.header(name)) {
        ("POST /session", _) => login(),
        (_, Some(sent)) if sent == value => Say::json("{\"items\": []}"),
        _ => Say::answer("401 Unauthorized", "", ""),
    })
}

const LOGIN: &str = "request: POST /session, body: {user: me, password: !secret env:SECRET}";

#[test]
fn logins_of_every_sort() {
    let answer = || Say::answer("201 Created", "x-subject-token: tok-7654321\r\n", "{\"token\": {}}");
    let login = r#"token: '.headers["x-subject-token"]', send: {header: X-Auth-Token}"#;
    let header = (server(answer, "x-auth-token", "tok-7654321"), login);
    let answer = || Say::json(r#"{"auth": {"client_token": "tok-7654321", "lease_duration": 60}}"#);
    let login =
        "token: .body.auth.client_token, send: {header: X-Vault-Token}, expires: .body.auth.lease_duration";
    let lease = (server(answer, "x-vault-token", "tok-7654321"), login);
    let answer = || Say::answer("204 No Content", "set-cookie: sid=tok-7654321; Path=/; HttpOnly\r\n", "");
    let cookies = (server(answer, "cookie", "sid=tok-7654321"), "send: cookie");
    let answer = || Say::json(r#"{"sid": "tok-7654321"}"#);
    let cookie = (server(answer, "cookie", "SID=tok-7654321"), "token: .body.sid, send: {cookie: SID}");
    let bearer = (server(answer, "authorization", "Bearer tok-7654321"), "token: .body.sid, expires: 20m");
    for (server, login) in [header, lease, cookies, cookie, bearer] {
        let done = plan(&server.url(), &format!("login: {{{LOGIN}, {login}}}"), "-vv").expect(0);
        is_silent(&done, &[]);
        let seen = server.seen();
        assert_eq!(seen[0].body, r#"{"password":"very-s3cret","user":"me"}"#, "{login}");
        let logins = seen.iter().filter(|seen| seen.line == "POST /session").count();
        assert_eq!((logins, seen.len()), (1, 3), "{login}");
    }
}

#[test]
fn a_login_that_is_refused() {
    let answer = || Say::answer("403 Forbidden", "", r#"{"message": "wrong password very-s3cret"}"#);
    let done = plan(&server(answer, "x", "y").url(), &format!("login: {{{LOGIN}, token: .body.t}}"), "-vv");
    is_silent(&done, &[]);
    let told = done.told();
    let shown: Vec<&str> = told.lines().filter(|line| !line.contains("DEBUG")).collect();
    assert_snapshot!(shown.join("\n"), @"
    exit 1
    !   Team red     a.yaml:1
        unknown: listing Team: getting a token by POST `http://127.0.0.1:PORT/session`: the server answered 403 Forbidden: wrong password (redacted)
        hint: the server knows who asks and does not allow it; check the credential, which comes from env:SECRET
    !   Space shop   a.yaml:6
        unknown: reading Space shop: getting a token by POST `http://127.0.0.1:PORT/session`: the server answered 403 Forbidden: wrong password (redacted)
        hint: the server knows who asks and does not allow it; check the credential, which comes from env:SECRET
    Plan: 2 unknown. 0 objects seen in 1 request.
    --- stderr
    ");
}

#[test]
fn a_secret_that_is_not_set_is_named() {
    let scratch = Scratch::with(
        "backend.yaml",
        backend("http://127.0.0.1:9", &format!("  auth: {{login: {{{LOGIN}, token: .t}}}}")),
    );
    scratch.write("a.yaml", TEAM_AND_SPACE.split("---").next().expect("a team"));
    assert_snapshot!(scratch.trueup("plan -f a.yaml -f backend.yaml").done().told(), @"
    exit 1
    !   Team red   a.yaml:1
        unknown: listing Team: the secret `env:SECRET` is not set
        hint: set the environment variable `SECRET`
    Plan: 1 unknown. 0 objects seen in 0 requests.
    ");
    let offline = scratch.trueup("validate -f a.yaml -f backend.yaml").done();
    assert_eq!(offline.code(), 0, "{}", offline.told());
}
