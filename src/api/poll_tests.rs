//! Polls of servers that answer 304, count their pages, fail in the middle, and ask to be left alone.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::json;

use super::super::testing::*;
use super::*;
use crate::backend::testing::{filter, kind};
use crate::core::exchange::{Ask, FailureClass};
use crate::core::identity::Key;
use crate::core::kind::{Page, PageBy};
use crate::core::node::{Node, Pos};
use crate::core::watch::owned::{Interest, Interests};

fn key(name: &str) -> Key {
    Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!(name))])
}

fn interest() -> Interest {
    let spec = Node::from_value(Pos::default(), json!({"durable": true}));
    Interest { spec: Some((Arc::new(spec), 0)), ..Interest::default() }
}

fn known(names: &[&str]) -> Known {
    Known::new(Arc::new(Interests::new(names.iter().map(|name| (key(name), interest())).collect())))
}

async fn poll(
    client: &super::super::client::Client<super::super::client::ReadOnly>,
    kind: &Kind,
    known: &mut Known,
) -> Poll {
    let Ask::List(collection, _) = list_ask() else { unreachable!("it lists") };
    client.poll(&Arc::new(kind.clone()), &collection, known).await
}

/// The names that are told.
fn names(poll: Poll) -> Vec<String> {
    let name =
        |(key, _): &(Key, _)| key.get("name").and_then(|name| name.as_str()).expect("a name").to_owned();
    match poll.polled {
        Polled::Same => Vec::new(),
        Polled::Changed(changes) => changes.keys.iter().map(name).collect(),
        Polled::Partly(changes, failure) => {
            let mut names: Vec<String> =
                changes.iter().flat_map(|changes| changes.keys.iter().map(name)).collect();
            names.push(format!("and {}", failure.message));
            names
        }
        Polled::Failed(failure) => vec![format!("failed: {}", failure.message)],
    }
}

fn paged(by: PageBy, size: Option<u64>) -> Kind {
    let mut kind = kind();
    let list = kind.list.as_mut().expect("a list");
    list.items = Some(filter(".items"));
    list.page = Some(Page {
        by,
        size,
        param: "page".into(),
        size_param: "size".into(),
        first: 1,
        next: matches!(by, PageBy::Cursor | PageBy::Url).then(|| filter(".next")),
        total: Some(filter(".total")),
    });
    kind
}

#[tokio::test]
async fn each_page_is_asked_for_by_its_tag() {
    let changed = Arc::new(AtomicBool::new(false));
    let there = changed.clone();
    let server = RawServer::start(move |request, _| {
        let second = request.contains("page=two");
        let tag = match (second, there.load(Ordering::SeqCst)) {
            (false, _) => "\"one\"",
            (true, false) => "\"two\"",
            (true, true) => "W/\"three\"",
        };
        if request.contains(&format!("if-none-match: {tag}")) {
            return http("304 Not Modified", &[("etag", tag), ("x-poll-interval", "60")], "");
        }
        let durable = !there.load(Ordering::SeqCst);
        let body = match second {
            false => json!({"items": [{"name": "a", "durable": true}], "next": "two"}),
            true => json!({"items": [{"name": "b", "durable": durable}]}),
        };
        http("200 OK", &[("etag", tag)], &body.to_string())
    })
    .await;
    let (client, kind, mut known) =
        (reader(&connection(&server.url)), paged(PageBy::Cursor, None), known(&["a", "b"]));
    assert_eq!(names(poll(&client, &kind, &mut known).await), [""; 0]);
    let second = poll(&client, &kind, &mut known).await;
    assert!(matches!(second.polled, Polled::Same));
    assert_eq!(second.wait, Some(Duration::from_secs(60)));
    assert_eq!((server.requests().len(), known.parsed()), (4, 2));
    changed.store(true, Ordering::SeqCst);
    assert_eq!(names(poll(&client, &kind, &mut known).await), ["b"]);
    assert_eq!(names(poll(&client, &kind, &mut known).await), [""; 0]);
    let last = server.requests().pop().expect("a request");
    assert!(last.contains("if-none-match: W/\"three\""), "{last}");
    assert_eq!(known.parsed(), 3);
    assert_eq!((client.requests().list, client.requests().total()), (8, 8));
}

#[tokio::test]
async fn a_page_that_fails_leaves_what_follows_open() {
    let fails = Arc::new(AtomicBool::new(false));
    let there = fails.clone();
    let server = RawServer::start(move |request, _| {
        let durable = !there.load(Ordering::SeqCst);
        let item = |name: &str| json!({"name": name, "durable": durable});
        if request.contains("page=1") {
            return http(
                "200 OK",
                &[("etag", "\"1\"")],
                &json!({"items": [item("a")], "total": 3}).to_string(),
            );
        }
        match (request.contains("page=2"), durable) {
            (true, true) => http("200 OK", &[], &json!({"items": [item("b")], "total": 3}).to_string()),
            (true, false) => http("500 Oh no", &[], ""),
            _ => http("200 OK", &[], &json!({"items": [item("c")], "total": 3}).to_string()),
        }
    })
    .await;
    let (client, kind) = (reader(&connection(&server.url)), paged(PageBy::Page, Some(1)));
    let mut known = known(&["a", "b", "c"]);
    assert_eq!(names(poll(&client, &kind, &mut known).await), [""; 0]);
    fails.store(true, Ordering::SeqCst);
    let told = names(poll(&client, &kind, &mut known).await);
    assert!(told.len() == 2 && told[0] == "a" && told[1].contains("500"), "{told:?}");
    fails.store(false, Ordering::SeqCst);
    let before = server.requests().len();
    assert_eq!(names(poll(&client, &kind, &mut known).await), ["a"], "what was not seen is as it was");
    let again = &server.requests()[before..];
    assert!(again.iter().all(|request| !request.contains("if-none-match")), "all of it is asked for anew");
}

#[tokio::test]
async fn every_way_of_paging_comes_to_its_end() {
    for by in [PageBy::Page, PageBy::Offset, PageBy::Cursor, PageBy::Url, PageBy::Link] {
        let server = RawServer::start(move |request, _| {
            let at = request.split("page=").nth(1).and_then(|rest| rest[..1].parse::<u32>().ok());
            let page = at.unwrap_or(1);
            let items: Vec<_> =
                (0..2).map(|n| json!({"name": format!("{page}{n}"), "durable": true})).collect();
            let next = |url: String| if page < 3 { json!(url) } else { json!(null) };
            let more = page + 1;
            let step = if by == PageBy::Offset { 2 } else { 1 };
            let items = if step == 2 && page > 5 { Vec::new() } else { items };
            let link = format!("<?page={more}>; rel=\"next\"");
            let links: &[(&str, &str)] =
                if by == PageBy::Link && page < 3 { &[("link", &link)] } else { &[] };
            let body = match by {
                PageBy::Cursor => json!({"items": items, "next": next(more.to_string())}),
                PageBy::Url => json!({"items": items, "next": next(format!("?page={more}"))}),
                PageBy::Link => json!({"items": items}),
                PageBy::Page | PageBy::Offset => json!({"items": items, "total": 6}),
            };
            http("200 OK", links, &body.to_string())
        })
        .await;
        let size = matches!(by, PageBy::Page | PageBy::Offset).then_some(2);
        let last = if by == PageBy::Offset { "51" } else { "31" };
        let (client, kind, mut known) =
            (reader(&connection(&server.url)), paged(by, size), known(&["10", last]));
        let said = names(poll(&client, &kind, &mut known).await);
        assert_eq!(said, [""; 0], "{by:?}");
        assert_eq!((server.requests().len(), known.parsed()), (3, 6), "{by:?}: {:?}", server.requests());
        assert_eq!(names(poll(&client, &kind, &mut known).await), [""; 0]);
        assert_eq!(known.parsed(), 6);
    }
}

#[tokio::test]
async fn a_server_that_wants_to_be_left_alone() {
    let server = RawServer::start(|_, _| http("429 Slow", &[("retry-after", "120")], "")).await;
    let told = poll(&reader(&connection(&server.url)), &kind(), &mut known(&[])).await;
    assert_eq!(told.wait, Some(Duration::from_secs(120)));
    assert!(matches!(told.polled, Polled::Failed(failure) if failure.class == FailureClass::Status(429)));
}

#[tokio::test]
async fn a_304_that_nobody_asked_for_is_a_failure() {
    let server = RawServer::start(|_, _| http("304 Not Modified", &[], "")).await;
    let told = poll(&reader(&connection(&server.url)), &kind(), &mut known(&["a"])).await;
    assert!(matches!(told.polled, Polled::Failed(_)), "{:?}", told.polled);
}

#[tokio::test]
async fn one_object_by_its_own_read() {
    let step = Arc::new(AtomicU32::new(0));
    let there = step.clone();
    let server = RawServer::start(move |request, _| match there.load(Ordering::SeqCst) {
        0 if request.contains("if-none-match: \"1\"") => http("304 Not Modified", &[], ""),
        0 => http("200 OK", &[("etag", "\"1\"")], r#"{"name":"orders","durable":true}"#),
        1 => http("200 OK", &[], r#"{"name":"orders","durable":true,"messages":1}"#),
        2 => http("200 OK", &[], r#"{"name":"orders","durable":false}"#),
        3 => http("500 Oh no", &[], ""),
        _ => http("404 Not Found", &[], ""),
    })
    .await;
    let (client, mut known) = (reader(&connection(&server.url)), KnownObject::new(interest()));
    for (at, want) in
        [(0, ""), (0, ""), (1, ""), (2, "orders"), (2, ""), (3, "failed"), (2, ""), (4, "orders"), (4, "")]
    {
        step.store(at, Ordering::SeqCst);
        let told = names(client.poll_object(&kind(), &target(), &mut known).await).concat();
        assert!(told.starts_with(want) && (want.is_empty() == told.is_empty()), "{at}: {told}");
    }
    assert_eq!(server.requests().iter().filter(|request| request.contains("if-none-match")).count(), 2);
}
