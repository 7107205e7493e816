//! What feeds say, and that nothing they say does harm.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::backend::language;
use crate::core::exchange::ParentIds;
use crate::core::identity::Key;

/// A kind with this feed.
fn kind(watch: &str) -> Arc<Kind> {
    let record = format!(
        "{{parent: {{zone: none}}, key: {{zone: .metadata.zone, name: .metadata.name}}, \
         list: 'GET /z/{{zone}}', read: list, document: {{apiVersion: v1, kind: Thing}}, watch: {watch}}}"
    );
    Arc::new(language::testing::kind(&record))
}

fn collection(kind: &Kind) -> Collection {
    let scope = Key::new(vec![("zone".into(), "a".into())]);
    Collection { kind: kind.name.clone(), scope, parent_ids: ParentIds::default() }
}

fn key(zone: &str, name: &str) -> Changed {
    Changed::Key(Key::new(vec![("zone".into(), zone.into()), ("name".into(), name.into())]))
}

/// All that a stream says, in pieces of this size.
fn read(watch: &str, text: &[u8], size: usize) -> Result<Batch, FeedError> {
    let kind = kind(watch);
    let mut decoder = Decoder::new(&kind, &collection(&kind));
    let mut whole = Batch::default();
    for piece in text.chunks(size.max(1)) {
        let batch = decoder.push(piece)?;
        whole.ignored += batch.ignored;
        whole.told.changed.extend(batch.told.changed);
        whole.told.position = batch.told.position.or(whole.told.position);
        whole.told.retry = batch.told.retry.or(whole.told.retry);
        whole.told.gone |= batch.told.gone;
    }
    Ok(whole)
}

fn told(watch: &str, text: &str) -> Batch {
    read(watch, text.as_bytes(), text.len()).expect("a stream")
}

const SSE: &str = "{request: GET /e, by: sse, key: '{name: .name, zone}', gone: '$event == \"lost\"'}";
const LINES: &str = "{request: 'GET /e?s={position}', by: lines, key: .name, position: .at}";
const KUBERNETES: &str = "{request: 'GET /z/{zone}/things', by: kubernetes}";

#[test]
fn events_name_objects_in_the_ways_of_the_filter() {
    let batch = told(
        SSE,
        "retry: 2500\n\nid: 7\nevent: changed\ndata: {\"name\": \"x\"}\n\ndata: {\"name\": \"y\", \"zone\": \"b\"}\n\n",
    );
    assert_eq!(batch.told.changed, [key("a", "x"), key("b", "y")]);
    assert_eq!(batch.told.position.as_deref(), Some("7"));
    assert_eq!(
        (batch.told.retry, batch.told.gone, batch.ignored),
        (Some(Duration::from_millis(2500)), false, 0)
    );
    let batch = told(LINES, "{\"name\":\"x\",\"at\":1}\n\n{\"name\":[\"y\",\"z\"],\"at\":\"2\"}\n{\"name\"");
    assert_eq!(batch.told.changed, [key("a", "x"), key("a", "y"), key("a", "z")]);
    assert_eq!(batch.told.position.as_deref(), Some("2"));
    let batch = told("{request: GET /e, by: sse}", "data: poke\n\ndata: poke\n\n: nothing\n\n");
    assert_eq!((batch.told.changed, batch.ignored), (vec![Changed::Something], 0));
    assert!(told(SSE, "event: lost\ndata: {}\n\n").told.gone);
}

#[test]
fn what_says_nothing_here_is_passed_over_and_counted() {
    for (watch, text, ignored) in [
        (SSE, "data: not json\n\ndata: {}\n\ndata: {\"name\": null}\n\ndata: [1]\n\ndata\n\n", 5),
        (LINES, "{\n[]\n7\n\"x\"\n{\"other\": 1}\n\u{0}\n", 6),
        (
            KUBERNETES,
            "{\n{}\n{\"type\":\"DANCED\",\"object\":{}}\n{\"type\":\"ADDED\"}\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n\
             {\"type\":\"ADDED\",\"object\":{\"kind\":\"Other\",\"metadata\":{\"name\":\"x\",\"zone\":\"a\"}}}\n",
            6,
        ),
    ] {
        let batch = told(watch, text);
        assert_eq!((batch.told.changed, batch.told.gone, batch.ignored), (vec![], false, ignored), "{text}");
    }
}

#[test]
fn kubernetes_goes_on_by_bookmarks_and_says_when_it_cannot() {
    let event = |word: &str, version: &str| {
        format!(
            "{{\"type\":\"{word}\",\"object\":{{\"kind\":\"Thing\",\"metadata\":{{\"name\":\"x\",\"zone\":\"a\",\"resourceVersion\":\"{version}\"}}}}}}\n"
        )
    };
    let text = event("ADDED", "5") + &event("DELETED", "7") + &event("BOOKMARK", "9");
    let batch = told(KUBERNETES, &text);
    assert_eq!(batch.told.changed, [key("a", "x"), key("a", "x")]);
    assert_eq!((batch.told.position.as_deref(), batch.told.gone), (Some("9"), false));
    let back = told(KUBERNETES, &(event("MODIFIED", "9") + &event("MODIFIED", "3")));
    assert!(back.told.gone, "an older version after a newer one");
    assert_eq!(back.told.position.as_deref(), Some("9"));
    let gone = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}}\n";
    assert!(told(KUBERNETES, gone).told.gone);
    let other = "{\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"etcd is away\"}}\n";
    let error = read(KUBERNETES, other.as_bytes(), 10).expect_err("an error of the server");
    assert_eq!(error.to_string(), "the server reports an error in the feed: etcd is away");
}

#[test]
fn a_web_page_is_no_feed() {
    let answer = |media: &str| HttpAnswer {
        status: 200,
        headers: vec![("content-type".into(), media.into())],
        body: Vec::new(),
    };
    for (watch, media, fits) in [
        (SSE, "text/event-stream; charset=utf-8", true),
        (SSE, "text/html", false),
        (SSE, "application/json", false),
        (LINES, "application/x-ndjson", true),
        (KUBERNETES, "application/json", true),
        (LINES, "text/html; charset=utf-8", false),
    ] {
        let kind = kind(watch);
        let admitted = Decoder::new(&kind, &collection(&kind)).admit(&answer(media));
        assert_eq!(admitted.is_ok(), fits, "{watch} {media}");
    }
}

fn polled(
    watch: &str,
    asked: Option<&str>,
    status: u16,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Batch, FeedError> {
    let kind = kind(watch);
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    poll(&kind, &collection(&kind), asked, &HttpAnswer { status, headers, body: body.into() })
}

#[test]
fn polls_tell_events_or_that_something_moved() {
    let events =
        "{request: 'GET /e?s={position}', by: poll, items: .events, key: .name, position: .position}";
    let batch =
        polled(events, Some("4"), 200, &[], r#"{"events":[{"name":"x"},{"name":null}],"position":6}"#);
    let batch = batch.expect("an answer");
    assert_eq!((batch.told.changed, batch.ignored), (vec![key("a", "x")], 1));
    assert_eq!((batch.told.position.as_deref(), batch.told.gone), (Some("6"), false));
    assert!(polled(events, Some("4"), 200, &[], r#"{"events":[],"position":3}"#).expect("it").told.gone);
    assert_eq!(polled(events, Some("4"), 204, &[], ""), Ok(Batch::default()));
    assert!(polled(events, Some("4"), 200, &[], "<html>").is_err());
    // Consul's blocking queries: the index is in a header, and the body is what there is now.
    let consul = r#"{request: 'GET /e?index={position}', by: poll, position: '$headers["x-consul-index"]', items: '{}'}"#;
    let at =
        |index| polled(consul, Some("4"), 200, &[("x-consul-index", index)], "[1,2,3]").expect("an answer");
    assert_eq!(at("4").told.changed, []);
    assert_eq!(at("5").told.changed, [Changed::Something]);
    assert!(at("2").told.gone);
}

#[test]
fn a_position_that_cannot_be_sent_is_none() {
    let long = "x".repeat(5000);
    for position in ["a\\r\\nhost: evil", "", &*long] {
        let text = format!("{{\"name\":\"x\",\"at\":\"{position}\"}}\n");
        assert_eq!(told(LINES, &text).told.position, None, "{position}");
    }
}

/// Text that has the shape of a feed here and there.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("data: {\"name\":\"x\"}".to_owned()),
        Just("id: 4".to_owned()),
        Just("event: lost".to_owned()),
        Just("retry: 10".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("{\"name\":\"y\",\"at\":3}\n".to_owned()),
        Just(
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\",\"resourceVersion\":\"4\"}}}\n"
                .to_owned()
        ),
        Just("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"2\"}}}\n".to_owned()),
        ".{0,12}",
    ];
    let text = proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![text, proptest::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #[test]
    fn any_cut_of_the_bytes_says_the_same(bytes in streams(), size in 1usize..40) {
        for watch in [SSE, LINES, KUBERNETES] {
            prop_assert_eq!(read(watch, &bytes, size), read(watch, &bytes, bytes.len()), "{}", watch);
        }
    }

    #[test]
    fn no_answer_to_a_poll_does_harm(bytes in streams(), status in 200u16..300, position in "[ -~]{0,8}") {
        let kind = kind("{request: 'GET /e?s={position}', by: poll, key: .name, position: .at}");
        let answer = HttpAnswer { status, headers: Vec::new(), body: bytes };
        let _ = poll(&kind, &collection(&kind), Some(&position), &answer);
    }
}
