use std::time::Duration;

use super::*;
use crate::backend::answer;
use crate::backend::base::Base;
use crate::backend::connection::Address;
use crate::backend::request::Site;
use crate::backend::testing::{filter, kind};
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::Kind;
use crate::core::redact::Redactor;

fn target() -> Target {
    let key = Key::new(vec![("vhost".into(), "/".into()), ("name".into(), "orders".into())]);
    let id = ObjectId { kind: kind().name, key };
    Target::new(id)
}

fn with_context<T>(run: impl FnOnce(&Context) -> T) -> T {
    let base = Base::of(&Address::Http("https://api.example.org/v1".into())).expect("a URL");
    let site = Site { base, owner: String::new(), credential: None };
    run(&Context { site: &site, doing: "it", now: Duration::ZERO, redactor: &Redactor::default() })
}

fn told(status: u16, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    HttpAnswer { status, headers, body: body.into() }
}

fn wait(url: Option<&str>, done: &str, failed: Option<&str>) -> Wait {
    let every = Duration::from_secs(1);
    Wait { url: url.map(filter), done: filter(done), failed: failed.map(filter), every, limit: every }
}

/// What the answer to a create means, where its `wait` has this `url` and its `id` is this filter.
fn created(url: Option<&str>, id: Option<&str>, answer: &HttpAnswer) -> String {
    let mut kind: Kind = kind();
    let create = kind.create.as_mut().expect("a create");
    create.wait = url.map(|url| wait(Some(url), ".done", None));
    create.id = id.map(filter);
    let (target, at) = (target(), Url::parse("https://api.example.org/v1/queues").expect("a URL"));
    let op = kind.create.as_ref().expect("a create");
    let asked = Asked { kind: &kind, op, target: &target, url: &at };
    match with_context(|context| answer::write(context, asked, Role::Create, answer)) {
        Answer::Begun { operation: Operation { url, wait, id, retry_after }, server_id } => {
            let declared = if wait.is_some() { "declared" } else { "shown" };
            format!("{declared} {url} id {server_id:?} again {} after {retry_after:?}", id.is_some())
        }
        Answer::Accepted { server_id, pending } => format!("accepted {server_id:?} {pending}"),
        Answer::Failed(failure) => format!("{:?}: {}", failure.class, failure.message),
        other => format!("{other:?}"),
    }
}

#[test]
fn where_an_operation_is() {
    let location = |to| [("location", to), ("retry-after", "7")];
    let own = Some(".body.links.self");
    let link = r#"{"links": {"self": "https://api.example.org/v1/ops/9"}, "id": 9, "target": 5}"#;
    for (url, id, answer, want) in [
        (
            None,
            None,
            told(202, &location("/ops/9"), ""),
            "shown https://api.example.org/ops/9 id None again false after Some(7s)",
        ),
        (
            None,
            None,
            told(202, &[("location", "/a"), ("operation-location", "ops/9")], ""),
            "shown https://api.example.org/v1/ops/9 id None again false after None",
        ),
        (
            None,
            None,
            told(202, &location("/ops/9"), r#"{"id": 9}"#),
            "shown https://api.example.org/ops/9 id None again false after Some(7s)",
        ),
        (
            None,
            None,
            told(202, &location("/ops/9"), r#"{"id": 5}"#),
            "shown https://api.example.org/ops/9 id Some(\"5\") again false after Some(7s)",
        ),
        (None, None, told(202, &location("https://evil.example.org/9"), ""), "accepted None true"),
        (None, None, told(202, &[], ""), "accepted None true"),
        (None, None, told(201, &location("/queues/5"), ""), "accepted Some(\"5\") false"),
        (
            own,
            None,
            told(200, &[], link),
            "declared https://api.example.org/v1/ops/9 id None again false after None",
        ),
        (
            own,
            Some(".body.target"),
            told(200, &[], link),
            "declared https://api.example.org/v1/ops/9 id Some(\"5\") again true after None",
        ),
        (
            own,
            Some(".body.x | split(\"/\") | last"),
            told(200, &[], link),
            "declared https://api.example.org/v1/ops/9 id None again true after None",
        ),
        (own, None, told(200, &[], "{}"), "accepted None false"),
        (
            own,
            None,
            told(202, &location("/ops/9"), "{}"),
            "shown https://api.example.org/ops/9 id None again false after Some(7s)",
        ),
        (
            own,
            None,
            told(200, &[], r#"{"links": {"self": 9}}"#),
            "Backend: it: `.body.links.self` gives a number, not the URL of an operation",
        ),
        (
            own,
            None,
            told(200, &[], r#"{"links": {"self": "https://evil.example.org/9"}}"#),
            "Refused: it: the server has begun it, and its operation is not followed: `https://evil.example.org` is not at the backend's origin `https://api.example.org`",
        ),
    ] {
        assert_eq!(created(url, id, &answer), want);
    }
}

/// What an operation's answer means.
fn stage(wait: Option<Wait>, id: Option<&str>, answer: &HttpAnswer) -> String {
    let operation = Operation {
        url: "https://api.example.org/ops/9".into(),
        wait,
        id: id.map(filter),
        retry_after: None,
    };
    match with_context(|context| progress(context, &target(), &operation, answer)) {
        Answer::Progress(Progress::Running { retry_after }) => format!("running {retry_after:?}"),
        Answer::Progress(Progress::Done { server_id }) => format!("done {server_id:?}"),
        Answer::Progress(Progress::Failed(failure)) => format!("failed: {}", failure.message),
        Answer::Failed(failure) => format!("{:?}: {}", failure.class, failure.message),
        other => format!("{other:?}"),
    }
}

#[test]
fn what_declared_operations_say() {
    let usual = || Some(wait(None, ".state == \"ok\"", Some(".state == \"bad\"")));
    let by_status = || Some(wait(None, "$status == 200", Some("$status >= 400")));
    let id = Some(".body.resource | split(\"/\") | last");
    let done = r#"{"state": "ok", "resource": "/queues/5"}"#;
    for (wait, id, answer, want) in [
        (usual(), None, told(200, &[("retry-after", "3")], r#"{"state": "x"}"#), "running Some(3s)"),
        (usual(), None, told(200, &[], ""), "running None"),
        (usual(), None, told(200, &[], done), "done None"),
        (usual(), id, told(200, &[], done), "done Some(\"5\")"),
        (
            usual(),
            None,
            told(200, &[], r#"{"state": "bad", "error": {"message": "no room"}}"#),
            "failed: it: the server began it, and it failed: no room",
        ),
        (usual(), None, told(404, &[], ""), "Absent"),
        (usual(), None, told(503, &[], ""), "Status(503): it: the server answered 503 Service Unavailable"),
        (usual(), None, told(403, &[], ""), "Status(403): it: the server answered 403 Forbidden"),
        (
            usual(),
            None,
            told(200, &[("content-type", "text/html")], "<html>"),
            "NotTheApi: it: the server answered 200 OK with `text/html`, not with JSON",
        ),
        (by_status(), None, told(202, &[], ""), "running None"),
        (by_status(), None, told(200, &[], ""), "done None"),
        (by_status(), None, told(422, &[], ""), "failed: it: the server began it, and it failed"),
        (
            by_status(),
            None,
            told(500, &[], ""),
            "Status(500): it: the server answered 500 Internal Server Error",
        ),
    ] {
        assert_eq!(stage(wait, id, &answer), want);
    }
}

#[test]
fn what_operations_show_that_nothing_is_declared_of() {
    for (status, body, want) in [
        (202, "", "running None"),
        (
            202,
            r#"{"status": "Failed", "error": "no room"}"#,
            "failed: it: the server began it, and it failed: no room",
        ),
        (200, r#"{"state": "IN_PROGRESS"}"#, "running None"),
        (200, r#"{"status": 7, "state": "Succeeded"}"#, "done None"),
        (200, r#"{"status": "Canceled"}"#, "failed: it: the server began it, and it failed: status Canceled"),
        (200, "[]", "done None"),
        (204, "", "done None"),
        (410, "", "Absent"),
    ] {
        assert_eq!(stage(None, None, &told(status, &[], body)), want, "{status} {body}");
    }
}
