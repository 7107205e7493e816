use std::path::Path;

use super::*;
use crate::backend::connection::Auth;
use crate::backend::language::connection;
use crate::backend::language::testing::backend;

fn read(auth: &str) -> Result<TokenCall, String> {
    let read =
        connection(&backend(&format!("{{url: 'https://api.example.org/v1', auth: {auth}}}")), Path::new(""));
    let read = read.map_err(|problems| problems.into_iter().next().expect("a problem").message)?;
    match read.auth {
        Some(Auth::Token(call)) => Ok(*call),
        other => panic!("another way: {other:?}"),
    }
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).expect(text)
}

fn plain(pairs: &[(&str, &str)]) -> TokenBody {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), Text::Plain((*value).into()));
    TokenBody::Form(pairs.iter().map(pair).collect())
}

#[test]
fn client_credentials() {
    let call = read(
        "{oauth2: {token-url: 'https://id.example.org/t', client-id: me, client-secret: s, scope: a b}}",
    );
    let call = call.expect("a call");
    assert_eq!((call.method, &*call.url), (Method::Post, "https://id.example.org/t"));
    assert_eq!(call.client, Some((Text::Plain("me".into()), Text::Plain("s".into()))));
    assert_eq!(call.body, plain(&[("grant_type", "client_credentials"), ("scope", "a b")]));
    assert_eq!(call.carry, Carry::Bearer(filter(".body.access_token")));
    let call = read(
        "{oauth2: {token-url: /oauth/token, client-id: me, client-secret: s, client-auth: body, audience: x}}",
    );
    let call = call.expect("a call");
    assert_eq!((&*call.url, call.client), ("/oauth/token", None));
    let form = [
        ("grant_type", "client_credentials"),
        ("audience", "x"),
        ("client_id", "me"),
        ("client_secret", "s"),
    ];
    assert_eq!(call.body, plain(&form));
}

#[test]
fn logins() {
    let call = read("{login: {request: POST /session?x=1, body: {user: {name: me}}, token: .body.token}}")
        .expect("a call");
    assert_eq!((call.method, &*call.url), (Method::Post, "/session?x=1"));
    assert!(matches!(&call.body, TokenBody::Json(node) if node.get("user").is_some()));
    assert_eq!((call.carry, call.expires), (Carry::Bearer(filter(".body.token")), None));
    let form = "type: application/x-www-form-urlencoded, body: {user: me, pin: 7}";
    let call = read(&format!("{{login: {{request: POST /login, {form}, send: cookie, expires: 20m}}}}"))
        .expect("a call");
    assert_eq!(call.body, plain(&[("user", "me"), ("pin", "7")]));
    assert_eq!(
        (call.carry, call.expires),
        (Carry::Cookies, Some(Expires::After(std::time::Duration::from_secs(1200))))
    );
    for (send, want) in [
        ("bearer", Carry::Bearer(filter(".body.t"))),
        ("{header: X-Vault-Token}", Carry::Header("X-Vault-Token".into(), filter(".body.t"))),
        ("{cookie: sid}", Carry::Cookie("sid".into(), filter(".body.t"))),
    ] {
        let login = format!(
            "{{login: {{request: GET https://id.example.org:5000/v3, token: .body.t, send: {send}, expires: .body.ttl}}}}"
        );
        let call = read(&login).expect(send);
        assert_eq!((&*call.url, call.carry), ("https://id.example.org:5000/v3", want));
        assert_eq!(call.expires, Some(Expires::Told(filter(".body.ttl"))));
    }
}

#[test]
fn wrong_ones_say_what() {
    const CLIENT: &str = "client-id: me, client-secret: s";
    let oauth2 = |members: &str| format!("{{oauth2: {{{members}}}}}");
    let login = |members: &str| format!("{{login: {{request: POST /s, {members}}}}}");
    for (auth, want) in [
        (oauth2(CLIENT), "`token-url` is missing"),
        (oauth2("token-url: /t, client-id: me"), "`client-secret` is missing"),
        (
            oauth2(&format!("token-url: id.example.org, {CLIENT}")),
            "`token-url` is no URL: relative URL without a base",
        ),
        (oauth2(&format!("token-url: 'ftp://x', {CLIENT}")), "`token-url` has the scheme `ftp`"),
        (
            oauth2(&format!("token-url: 'https://a:b@x/', {CLIENT}")),
            "`token-url` holds a user name or password",
        ),
        (
            oauth2(&format!("token-url: '/t/{{id}}', {CLIENT}")),
            "`token-url` holds a placeholder, and there is no object here",
        ),
        (oauth2(&format!("token-url: /t, {CLIENT}, client-auth: header")), "`client-auth` is not `header`"),
        (oauth2(&format!("token-url: /t, {CLIENT}, scopes: a")), "`oauth2` has no `scopes`"),
        ("{login: {token: .body.t}}".into(), "`request` is missing"),
        ("{login: {request: /s, token: .t}}".into(), "`/s` is not a request"),
        ("{login: {request: FETCH /s, token: .t}}".into(), "`FETCH` is not a method"),
        (login("body: {a: 1}"), "`login` has no `token`"),
        (login("token: '.a |'"), "`token`: filter `.a |`: expected term at its end"),
        (login("token: .t, body: 'text'"), "`body` is a map, not a string"),
        (login("token: .t, type: text/plain"), "`type` is not `text/plain`"),
        (
            login("token: .t, type: application/x-www-form-urlencoded, body: {a: {b: c}}"),
            "`a` in `body` is a text, not a map",
        ),
        (login("token: .t, send: raw"), "`send` is `bearer`, `cookie`, `{header: NAME}` or `{cookie: NAME}`"),
        (login("token: .t, send: {header: 'a b'}"), "`a b` is not the name of a header"),
        (login("token: .t, send: {cookie: 'a;b'}"), "`a;b` is not the name of a cookie"),
        (login("token: .t, send: {}"), "`send` is a `header` or a `cookie`"),
        (
            login("token: .t, send: cookie"),
            "`send: cookie` takes no `token`: it sends the cookies that the login sets",
        ),
        (
            "{login: {request: 'POST https://other.example.org/s', send: cookie}}".into(),
            "`send: cookie` with a login at an address of its own",
        ),
        (login("token: .t, expires: 20"), "`expires` is a jq filter, as a text, not 20"),
    ] {
        assert_eq!(read(&auth).expect_err(&auth), want, "{auth}");
    }
}
