//! Error answers as a person reads them.

use crate::backend::base::Base;

use super::*;

fn answer(status: u16, kind: &str, body: &str) -> HttpAnswer {
    let headers = if kind.is_empty() { vec![] } else { vec![("content-type".into(), kind.into())] };
    HttpAnswer { status, headers, body: body.into() }
}

fn refused(answer: &HttpAnswer) -> Failure {
    let site = Site {
        base: Base::parse("http://host/api").expect("a base"),
        owner: String::new(),
        credential: Some("env:TOKEN".into()),
    };
    let redactor = Redactor::new(["hunter22"]);
    let context = Context { site: &site, doing: "listing VHost", now: Duration::ZERO, redactor: &redactor };
    context.refused(FailureClass::Status(answer.status), answer)
}

const JSON: &str = "application/json";

#[test]
fn the_servers_own_words_are_found() {
    for (status, kind, body, want) in [
        (403, JSON, r#"{"message":"no access"}"#, "403 Forbidden: no access"),
        (
            401,
            JSON,
            r#"{"error":"not_authorized","reason":"Login failed"}"#,
            "401 Unauthorized: not_authorized: Login failed",
        ),
        (
            422,
            "application/problem+json",
            r#"{"type":"x","title":"Bad","status":422,"detail":"a is wrong"}"#,
            "422 Unprocessable Content: Bad: a is wrong",
        ),
        (400, JSON, r#"{"error":{"code":7,"message":"nested"}}"#, "400 Bad Request: nested"),
        (400, JSON, r#"{"errors":[{"field":"a","message":"x"},"y"]}"#, "400 Bad Request: a: x: y"),
        (400, JSON, r#"{"error":"same","message":"same"}"#, "400 Bad Request: same"),
        (400, JSON, r#""just text""#, "400 Bad Request: just text"),
        (409, "text/plain", "Conflict\n", "409 Conflict"),
        (409, "text/plain", "name is taken\n", "409 Conflict: name is taken"),
        (409, JSON, r#"{"error":"conflict"}"#, "409 Conflict"),
        (500, "text/html", "<html><b>stack</b></html>", "500 Internal Server Error"),
        (
            500,
            "text/html",
            "Error: duplicate id\n    at insert (a.js:1)",
            "500 Internal Server Error: Error: duplicate id at insert (a.js:1)",
        ),
        (500, "", "\u{feff} <!DOCTYPE html>", "500 Internal Server Error"),
        (404, JSON, "{}", "404 Not Found"),
        (599, "", "", "599"),
    ] {
        let message = refused(&answer(status, kind, body)).message;
        assert_eq!(message, format!("listing VHost: the server answered {want}"));
    }
}

#[test]
fn no_secret_and_no_control_sequence_gets_through() {
    let echoed = refused(&answer(422, JSON, r#"{"message":"password hunter22 is \u001b[2Jweak"}"#)).message;
    assert!(echoed.ends_with("password (redacted) is \\u{1b}[2Jweak"), "{echoed}");
}

/// Wherever a text is cut: half a secret is found by no redactor.
#[test]
fn no_part_of_a_secret_is_left_by_a_cut() {
    for most in [LONGEST_TEXT, LONGEST] {
        for before in most - 80..most + 8 {
            let filler = "x".repeat(before);
            let json = refused(&answer(422, JSON, &format!(r#"{{"message":"{filler}hunter22"}}"#))).message;
            let text = refused(&answer(422, "text/plain", &format!("{filler}hunter22"))).message;
            for text in [json, text] {
                assert!(!text.contains("xh"), "{before}: {text}");
            }
        }
    }
}

#[test]
fn messages_are_bounded() {
    let long = refused(&answer(400, JSON, &format!(r#"{{"message":"{}"}}"#, "é".repeat(5000)))).message;
    assert!(long.len() <= LONGEST && long.ends_with('…'), "{}", long.len());
    let text = refused(&answer(400, "text/plain", &"y".repeat(5000))).message;
    assert!(text.len() < 300, "{}", text.len());
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(
        refused(&answer(400, JSON, &deep)).message,
        "listing VHost: the server answered 400 Bad Request"
    );
}

#[test]
fn hints_name_the_next_step() {
    for (status, body, part) in [
        (401, "", "env:TOKEN"),
        (403, "", "env:TOKEN"),
        (404, "", "http://host/api"),
        (404, "<html>", "web page"),
        (405, "", "method"),
        (429, "", "limits"),
    ] {
        let hint = refused(&answer(status, "text/html", body)).hint.expect("a hint");
        assert!(hint.contains(part), "{status}: {hint}");
    }
    assert_eq!(refused(&answer(500, JSON, "")).hint, None);
}

#[test]
fn a_long_wait_is_told() {
    for (text, want) in [("60", None), ("61", Some("1m 1s")), ("86400", Some("1day"))] {
        let mut answer = answer(429, JSON, "");
        answer.headers.push(("retry-after".into(), text.into()));
        let failure = refused(&answer);
        let said = want.map_or(String::new(), |wait| format!("; it asks to wait {wait}"));
        assert!(failure.message.ends_with(&format!("429 Too Many Requests{said}")), "{}", failure.message);
        let hint = failure.hint.expect("a hint");
        assert_eq!(hint.starts_with("run it again after that time"), want.is_some(), "{hint}");
    }
}

#[test]
fn waits_are_clamped_and_garbage_is_ignored() {
    let now = Duration::from_secs(784_111_777 - 60); // a minute before the date below
    for (text, want) in [
        ("0", Some(0)),
        ("7", Some(7)),
        (" 7 ", Some(7)),
        ("86400", Some(86_400)),
        ("999999999", Some(31_536_000)),
        ("99999999999999999999999", Some(31_536_000)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(60)),
        ("Thu, 31 Dec 2099 23:59:59 GMT", Some(31_536_000)),
        ("Sat, 05 Nov 1994 08:49:37 GMT", None),
        ("-1", None),
        ("1.5", None),
        ("abc", None),
        ("", None),
    ] {
        assert_eq!(retry_after(text, now), want.map(Duration::from_secs), "{text}");
    }
}

#[test]
fn what_is_not_json_is_told_from_what_ends_too_early() {
    let site =
        Site { base: Base::parse("http://h").expect("a base"), owner: String::new(), credential: None };
    let redactor = Redactor::default();
    let context = Context { site: &site, doing: "reading X", now: Duration::ZERO, redactor: &redactor };
    for (kind, body, class, part) in [
        (JSON, r#"{"a": [1, 2"#, FailureClass::Lost, "is not whole JSON"),
        ("text/html; charset=utf-8", "<html>", FailureClass::NotTheApi, "with `text/html; charset=utf-8`"),
        ("text/plain", "hello", FailureClass::NotTheApi, "`text/plain`"),
        ("", "", FailureClass::NotTheApi, "with nothing"),
        ("", "hello", FailureClass::NotTheApi, "without a content type"),
    ] {
        let failure = context.json::<Value>(&answer(200, kind, body)).expect_err(body);
        assert_eq!(failure.class, class, "{}", failure.message);
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    let marked = answer(200, "", "\u{feff}{}");
    assert_eq!(context.json::<Value>(&marked).expect("a byte order mark"), serde_json::json!({}));
}
