use super::*;
use crate::backend::base::Base;
use crate::backend::connection::Address;
use crate::backend::request::Site;
use crate::backend::testing::filter;
use crate::core::kind::Method;
use crate::core::node::Secret;
use crate::core::redact::Redactor;

fn call(carry: Carry) -> TokenCall {
    TokenCall {
        method: Method::Post,
        url: "/token".into(),
        client: None,
        body: TokenBody::None,
        token_type: None,
        carry,
        expires: None,
    }
}

fn secret(text: &str) -> Text {
    Text::Secret(Secret::new("env:S", Some(text.into())))
}

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    HttpAnswer { status, headers, body: body.into() }
}

/// What is granted at the time 1,000,000,000.
fn read(call: &TokenCall, answer: &HttpAnswer) -> Result<Granted, String> {
    let base = Base::of(&Address::Http("https://id.example.org".into())).expect("a URL");
    let site = Site { base, owner: String::new(), credential: Some("env:S".into()) };
    let redactor = Redactor::new(["s3cret"]);
    let context = Context {
        site: &site,
        doing: "getting a token",
        now: Duration::from_secs(1_000_000_000),
        redactor: &redactor,
    };
    granted(&context, call, answer).map_err(|failure| format!("{:?}: {}", failure.class, failure.message))
}

#[test]
fn a_client_says_who_it_is() {
    let form = vec![
        ("grant_type".to_owned(), Text::Plain("client_credentials".into())),
        ("scope".into(), Text::Plain("a b".into())),
    ];
    let client = Some((Text::Plain("me:1".into()), secret("p w+")));
    let call = TokenCall { client, body: TokenBody::Form(form), ..call(Carry::Cookies) };
    let sent = request(&call).expect("a request");
    assert_eq!(sent.body.as_deref(), Some(&b"grant_type=client_credentials&scope=a+b"[..]));
    let header = |name: &str| sent.headers.iter().find(|(have, _)| have == name).map(|(_, value)| &**value);
    // RFC 6749, 2.3.1: `me%3A1:p+w%2B`.
    assert_eq!(header("authorization"), Some("Basic bWUlM0ExOnArdyUyQg=="));
    assert_eq!(header("content-type"), Some("application/x-www-form-urlencoded"));
    assert!(secrets(&call).contains(&"p w+".to_owned()));
}

#[test]
fn a_secret_that_is_not_there_is_named() {
    let missing = Text::Secret(Secret::new("env:GONE", None));
    let call = TokenCall { body: TokenBody::Form(vec![("a".into(), missing)]), ..call(Carry::Cookies) };
    assert_eq!(
        request(&call).map(|_| ()).expect_err("no secret").to_string(),
        "the secret `env:GONE` is not set"
    );
}

#[test]
fn tokens_go_where_they_belong() {
    let body = r#"{"token": "t-1", "number": 7}"#;
    let cookies = [
        ("set-cookie", "sid=a1; Path=/; HttpOnly"),
        ("set-cookie", "old=; Max-Age=0"),
        ("set-cookie", "x=2"),
    ];
    for (carry, headers, want) in [
        (Carry::Bearer(filter(".body.token")), &[][..], ("authorization", "Bearer t-1")),
        (Carry::Bearer(filter(".body.number")), &[], ("authorization", "Bearer 7")),
        (
            Carry::Header("X-Auth-Token".into(), filter(".headers[\"x-subject-token\"]")),
            &[("x-subject-token", " k ")],
            ("x-auth-token", "k"),
        ),
        (
            Carry::Header("Authorization".into(), filter("\"Token \" + .body.token")),
            &[],
            ("authorization", "Token t-1"),
        ),
        (Carry::Cookie("sid".into(), filter(".body.token")), &[], ("cookie", "sid=t-1")),
        (Carry::Cookies, &cookies, ("cookie", "sid=a1; x=2")),
    ] {
        let granted = read(&call(carry), &answer(200, headers, body)).expect(want.1);
        assert_eq!((&*granted.header, &*granted.value), want);
    }
    let redirected =
        read(&call(Carry::Cookies), &answer(302, &cookies, "<html>")).expect("a login that leads on");
    assert_eq!(redirected.value, "sid=a1; x=2");
}

#[test]
fn what_is_printed_alone_is_a_secret_too() {
    let granted = read(
        &call(Carry::Header("a".into(), filter("\"Token \" + .body"))),
        &answer(200, &[], "\"abcdefghi\""),
    );
    assert_eq!(granted.expect("a token").secrets, ["Token abcdefghi", "abcdefghi"]);
}

#[test]
fn how_long_it_holds() {
    let lifetime = |expires: &str, body: &str| {
        let expires = Some(Expires::Told(filter(expires)));
        let call = TokenCall { expires, ..call(Carry::Bearer(filter("\"t\""))) };
        read(&call, &answer(200, &[], body)).map(|granted| granted.lifetime.map(|time| time.as_secs()))
    };
    let rows: [(&str, Result<Option<u64>, String>); 11] = [
        ("3600", Ok(Some(3600))),
        ("\"3600\"", Ok(Some(3600))),
        ("90.5", Ok(Some(90))),
        ("0", Ok(None)),
        ("-5", Ok(None)),
        ("null", Ok(None)),
        ("1000000060", Ok(Some(60))),
        // 2001-09-09T01:46:40Z is the time in this test.
        ("\"2001-09-09T01:47:40Z\"", Ok(Some(60))),
        ("\"2001-09-09T03:46:50.5+02:00\"", Ok(Some(10))),
        ("\"2001-09-09T01:46:00Z\"", Ok(None)),
        (
            "\"soon\"",
            Err("Backend: getting a token: `.body` is neither a number of seconds nor a time".into()),
        ),
    ];
    for (body, want) in rows {
        assert_eq!(lifetime(".body", body), want, "{body}");
    }
    let error = lifetime(".body", "1e300").expect_err("it is too long");
    assert!(error.starts_with("Backend: "), "{error}");
    let call = TokenCall {
        expires: Some(Expires::After(Duration::from_secs(5))),
        ..call(Carry::Bearer(filter("\"t\"")))
    };
    assert_eq!(read(&call, &answer(200, &[], "")).expect("a token").lifetime, Some(Duration::from_secs(5)));
}

#[test]
fn what_is_no_token_is_named() {
    let html = [("content-type", "text/html")];
    let body = || Carry::Bearer(filter(".body.access_token"));
    let error = r#"{"error": "invalid_client", "error_description": "no s3cret"}"#;
    for (status, headers, text, want) in [
        (
            401,
            &[][..],
            error,
            "Backend: getting a token: the server answered 401 Unauthorized: invalid_client: no (redacted)",
        ),
        (
            400,
            &[],
            error,
            "Backend: getting a token: the server answered 400 Bad Request: invalid_client: no (redacted)",
        ),
        (503, &[], "", "NotSent: getting a token: the server answered 503 Service Unavailable"),
        (429, &[], "", "NotSent: getting a token: the server answered 429 Too Many Requests"),
        (302, &[], "", "Backend: getting a token: the server answered 302"),
        (
            200,
            &html,
            "<html>login</html>",
            "Backend: getting a token: the server answered 200 OK with `text/html`, not with JSON",
        ),
        (
            200,
            &[],
            "{\"token\": \"x\"}",
            "Backend: getting a token: the server answered 200 OK, without a token at `.body.access_token`",
        ),
        (
            204,
            &[],
            "",
            "Backend: getting a token: the server answered 204 No Content, without a token at `.body.access_token`",
        ),
        (
            200,
            &[],
            "{\"access_token\": {}}",
            "Backend: getting a token: its token at `.body.access_token` is a map, not a text",
        ),
        (
            200,
            &[],
            "{\"access_token\": \" \"}",
            "Backend: getting a token: its token at `.body.access_token` is empty",
        ),
        (
            200,
            &[],
            "{\"access_token\": \"a\\r\\nX: y\"}",
            "Backend: getting a token: its token at `.body.access_token` holds a control character",
        ),
        (
            200,
            &[],
            "{\"access_token\": \"a\", \"token_type\": \"mac\"}",
            "Backend: getting a token: its token is of the type `mac`, and only Bearer tokens can be sent",
        ),
    ] {
        let call = TokenCall { token_type: Some(filter(".body.token_type")), ..call(body()) };
        let told = read(&call, &answer(status, headers, text)).map(|_| ()).expect_err(want);
        assert_eq!(told, want);
    }
    let told = read(&call(Carry::Cookies), &answer(200, &[], "{}")).map(|_| ()).expect_err("no cookie");
    assert_eq!(told, "Backend: getting a token: the server answered 200 OK, and set no cookie");
}
