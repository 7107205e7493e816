//! Listings in the shapes of real servers, and answers that are none.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::backend::base::Base;
use crate::backend::elements::PageItems;
use crate::backend::request::Site;
use crate::backend::testing::{filter, kind};
use crate::core::exchange::{ParentIds, Wanted};
use crate::core::identity::Key;
use crate::core::kind::{Page, PageBy};
use crate::core::redact::Redactor;

use super::*;

pub(super) const URL: &str = "http://host/api/queues/%2F";

pub(super) fn with<T>(kind: &Kind, run: impl Fn(&Context, Listed) -> T) -> T {
    let base = Base::parse("http://host/api").expect("a base");
    let site = Site { base, owner: String::new(), credential: None };
    let redactor = Redactor::default();
    let context = Context { site: &site, doing: "listing Queue", now: Duration::ZERO, redactor: &redactor };
    let scope = Key::new(vec![("vhost".into(), json!("/"))]);
    let collection = Collection { kind: kind.name.clone(), scope, parent_ids: ParentIds::default() };
    let list = kind.list.as_ref().expect("a list");
    run(&context, Listed { kind, list, collection: &collection })
}

pub(super) fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> HttpAnswer {
    let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    HttpAnswer { status, headers, body: body.into() }
}

pub(super) fn opened(kind: &Kind, headers: &[(&str, &str)], body: &str) -> Result<OpenPage, Failure> {
    let request = Url::parse(URL).expect("a URL");
    with(kind, |context, listed| open(context, listed, &request, answer(200, headers, body)))
}

fn read(kind: &Kind, body: &str, wanted: &Wanted) -> PageItems {
    let page = std::cell::Cell::new(Some(opened(kind, &[], body).expect("a page")));
    with(kind, |context, listed| page.take().expect("once").items(context, listed, wanted, None))
}

fn key(name: Value) -> Key {
    Key::new(vec![("vhost".into(), json!("/")), ("name".into(), name)])
}

#[test]
fn wanted_items_are_whole_and_others_are_keys() {
    let body = r#" [{"name":"a","id":7,"x":1.50},{"id":"i","name":"b"} ,{"name":3}]"#;
    let wanted = Wanted::Keys(Arc::new(HashSet::from([key(json!("a"))])));
    let mut slow = kind();
    slow.list.as_mut().expect("a list").items = Some(filter("map(.)"));
    for kind in [kind(), slow] {
        let page = read(&kind, body, &wanted);
        assert_eq!((page.seen, page.problems.len(), page.items.len()), (3, 0, 1));
        let item = &page.items[0];
        assert_eq!((&item.key, item.server_id.as_deref()), (&key(json!("a")), Some("7")));
        assert_eq!(item.value.to_string(), r#"{"id":7,"name":"a","x":1.50}"#, "every digit as it came");
        let others = [(key(json!("b")), Some("i".into())), (key(json!(3)), None)];
        assert_eq!(page.others, others);
        assert_eq!(read(&kind, body, &Wanted::All).items.len(), 3);
    }
}

#[test]
fn a_plain_envelope_takes_the_fast_path() {
    let mut kind = kind();
    kind.list.as_mut().expect("a list").items = Some(filter(".data.items"));
    kind.version = Version::OnItem(filter(".meta.v"));
    kind.parts[1].on_item = Some(filter(".meta.name"));
    let body = r#"{"data":{"n":1,"items":[{"meta":{"name":"a","v":9007199254740993}}]}}"#;
    let page = opened(&kind, &[], body).expect("a page");
    assert!(matches!(page.elements, Elements::Places(_)));
    let item = &read(&kind, body, &Wanted::All).items[0];
    assert_eq!(item.version.as_ref().map(|v| &*v.text), Some("9007199254740993"));
}

#[test]
fn names_alone_are_a_list_too() {
    let mut kind = kind();
    kind.list.as_mut().expect("a list").items = Some(filter(".keys"));
    kind.parts[1].on_item = Some(filter("."));
    kind.id = filter(".");
    let page = read(&kind, r#"{"keys":["a","b"]}"#, &Wanted::All);
    assert_eq!(
        page.items.iter().map(|item| item.key.clone()).collect::<Vec<_>>(),
        [key(json!("a")), key(json!("b"))]
    );
}

#[test]
fn states_are_read_from_each_element() {
    let mut kind = kind();
    kind.deleting = Some(filter(".body.gone"));
    kind.ready = Some(filter(r#".body.state == "up""#));
    kind.absent = Some(filter(r#".body.state == "expired""#));
    let body = r#"[{"name":"a","state":"up"},{"name":"b","gone":true},{"name":"c","state":"expired"}]"#;
    let page = read(&kind, body, &Wanted::All);
    let states: Vec<_> = page.items.iter().map(|item| (item.deleting, item.ready)).collect();
    assert_eq!(states, [(false, Some(true)), (true, Some(false))]);
    let none = read(&kind, body, &Wanted::Keys(Arc::default()));
    assert_eq!((none.others.len(), none.seen), (2, 3), "an expired one is nobody");
}

#[test]
fn elements_that_cannot_be_understood_are_problems() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (element, part) in [
        (r#"{"id":1}"#.to_owned(), "item 1: it has no `name` at `.name`"),
        (r#"{"name":null}"#.to_owned(), "it has no `name`"),
        (
            r#""a""#.to_owned(),
            "item 1: it is a string, not a map; if it is the `name`, write `items: '. | map({name: .})'`",
        ),
        ("true".to_owned(), "it has no `name`"),
        (r#"{"name":"a","id":{"x":1}}"#.to_owned(), "its id at `.id` is a map"),
        (format!(r#"{{"name":"a","x":{deep}}}"#), "nests too deep"),
    ] {
        let page = read(&kind(), &format!("[{element}]"), &Wanted::All);
        assert_eq!((page.items.len(), page.seen), (0, 1));
        assert!(page.problems[0].contains(part), "{:?}", page.problems);
    }
    let page = read(&kind(), &format!("[{}1]", "1,".repeat(19)), &Wanted::All);
    assert_eq!(page.problems.last().map(String::as_str), Some("listing Queue: 15 more items like these"));
}

#[test]
fn what_is_no_list_is_not_the_api() {
    let mut enveloped = kind();
    enveloped.list.as_mut().expect("a list").items = Some(filter(".items"));
    let mut slow = kind();
    slow.list.as_mut().expect("a list").items = Some(filter(".items | select(true)"));
    for (kind, body, part) in [
        (&kind(), r#"{"teams":{}}"#, "the answer is a map, not a list"),
        (&kind(), r#"{"error":"x"}"#, "the server answered 200 OK with an error: x"),
        (&slow, r#"{"items":[],"error":"x"}"#, "the server answered 200 OK with an error: x"),
        (&kind(), "17", "the answer is a number, not a list"),
        (&enveloped, "{}", "the answer has nothing at `.items`, not a list"),
        (&enveloped, r#"{"items":{}}"#, "the answer has a map at `.items`"),
        (&slow, r#"{"items":"x"}"#, "the answer has a string at"),
        (&kind(), "<html>", "not with JSON"),
        (&kind(), "", "with nothing"),
    ] {
        let failure = opened(kind, &[], body).expect_err(body);
        assert_eq!(failure.class, FailureClass::NotTheApi);
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    assert_eq!(opened(&kind(), &[], r#"[{"name":"#).expect_err("cut off").class, FailureClass::Lost);
    for (kind, body) in [(&kind(), "null"), (&enveloped, r#"{"items":null}"#)] {
        assert_eq!(opened(kind, &[], body).expect("an empty list").facts.count, 0);
    }
    let request = Url::parse(URL).expect("a URL");
    let not_found = answer(404, &[], "{}");
    let failure = with(&kind(), |context, listed| open(context, listed, &request, not_found.clone()));
    let failure = failure.expect_err("a collection that is not there");
    assert_eq!(failure.class, FailureClass::Status(404));
    assert_eq!(failure.message, "listing Queue: the server answered 404 Not Found");
}

/// `items: .x // []` must not make an empty list of an error.
#[test]
fn an_error_inside_a_success_is_no_list() {
    let mut kind = kind();
    kind.list.as_mut().expect("a list").items = Some(filter(".result // []"));
    kind.failed = Some(filter(".body.error != null"));
    let failure =
        opened(&kind, &[], r#"{"result": null, "error": {"message": "no"}}"#).expect_err("an error");
    assert_eq!(failure.message, "listing Queue: the server answered 200 OK: no");
    assert_eq!(read(&kind, r#"{"result": null, "error": null}"#, &Wanted::All).seen, 0);
    kind.list.as_mut().expect("a list").items = None;
    assert_eq!(read(&kind, r#"[{"name": "a"}]"#, &Wanted::All).seen, 1, "the filter is one for objects");
}

#[test]
fn a_collection_that_is_not_there_is_empty_where_the_kind_says_so() {
    let mut declared = kind();
    declared.absent = Some(filter(".status == 404 and .body == \"no such page\""));
    for (kind, status, body, absent) in [
        (&declared, 404, "no such page", true),
        (&declared, 404, "{}", false),
        (&declared, 200, "no such page", false),
        (&kind(), 404, "no such page", false),
    ] {
        let told = answer(status, &[], body);
        assert_eq!(with(kind, |_, listed| listed.is_absent(&told)), absent, "{status} {body}");
    }
    let page = OpenPage::empty(answer(404, &[], ""));
    let items = with(&declared, |context, listed| {
        OpenPage::empty(answer(404, &[], "")).items(context, listed, &Wanted::All, None)
    });
    assert_eq!((items.seen, items.items.len(), page.facts.next), (0, 0, None));
}

#[test]
fn an_item_in_the_place_of_items_is_told() {
    let mut kind = kind();
    kind.list.as_mut().expect("a list").op.item = Some(filter(".data"));
    let failure = opened(&kind, &[], r#"{"data":[{"name":"a"}]}"#).expect_err("a map");
    let hint = failure.hint.expect("a hint");
    assert!(hint.ends_with("where the list stands is `items`: write `items: .data`"), "{hint}");
    let page = read(&kind, r#"[{"data":{"name":"a"}}]"#, &Wanted::All);
    assert_eq!(page.items[0].key, key(json!("a")), "each element has its own envelope");
}

#[test]
fn a_filter_that_drops_elements_does_not_make_a_page_short() {
    let mut kind = kind();
    kind.list.as_mut().expect("a list").items = Some(filter(r#".items | map(select(.name != ""))"#));
    let facts = opened(&kind, &[], r#"{"items":[{"name":"a"},{"name":""}],"x":[1]}"#).expect("a page").facts;
    assert_eq!(facts.count, 2);
}

pub(super) fn paged(by: PageBy, next: Option<&str>, total: Option<&str>) -> Kind {
    let mut kind = kind();
    let list = kind.list.as_mut().expect("a list");
    list.items = Some(filter(".items"));
    list.page = Some(Page {
        by,
        size: None,
        param: "p".into(),
        size_param: "n".into(),
        first: 0,
        next: next.map(filter),
        total: total.map(filter),
    });
    kind
}

#[test]
fn the_way_on_is_read_as_declared() {
    let absolute = "http://host/api/queues/%2F?after=1";
    for (by, next, headers, body, want) in [
        (PageBy::Cursor, Some(".next"), vec![], r#"{"items":[],"next":"c"}"#, Some("c")),
        (PageBy::Cursor, Some(".next"), vec![], r#"{"items":[],"next":12}"#, Some("12")),
        (PageBy::Cursor, Some(".next"), vec![], r#"{"items":[],"next":""}"#, None),
        (PageBy::Cursor, Some(".next"), vec![], r#"{"items":[],"next":null}"#, None),
        (
            PageBy::Cursor,
            Some("if .more then .items[-1].name else null end"),
            vec![],
            r#"{"more":true,"items":[{"name":"z"}]}"#,
            Some("z"),
        ),
        (PageBy::Url, Some(".next"), vec![], r#"{"items":[],"next":"?after=1"}"#, Some(absolute)),
        (
            PageBy::Url,
            Some(".next"),
            vec![],
            r#"{"items":[],"next":"http://host:80/api/queues/%2F?after=1"}"#,
            Some(absolute),
        ),
        (
            PageBy::Link,
            None,
            vec![("link", r#"</api/queues/%2F?after=1>; rel="next""#)],
            r#"{"items":[]}"#,
            Some(absolute),
        ),
    ] {
        let page = opened(&paged(by, next, None), &headers, body).expect(body);
        assert_eq!(page.facts.next.as_deref(), want, "{body}");
        assert_eq!(page.facts.more, None, "{body}");
    }
    let total =
        opened(&paged(PageBy::Page, None, Some(".meta.total")), &[], r#"{"items":[],"meta":{"total":"12"}}"#);
    assert_eq!(total.expect("a page").facts.total, Some(12));
    let total = opened(&paged(PageBy::Page, None, None), &[("x-total-count", "31")], r#"{"items":[]}"#);
    assert_eq!(total.expect("a page").facts.total, Some(31));
}

#[test]
fn a_next_page_elsewhere_is_refused() {
    for (by, headers, body) in [
        (PageBy::Url, vec![], r#"{"items":[],"next":"http://evil.example/api"}"#),
        (PageBy::Url, vec![], r#"{"items":[],"next":"https://host/api"}"#),
        (PageBy::Link, vec![("link", "<//evil.example/>; rel=next")], r#"{"items":[]}"#),
    ] {
        let failure = opened(&paged(by, Some(".next"), None), &headers, body).expect_err(body);
        assert_eq!(failure.class, FailureClass::Refused);
        assert!(
            failure.message.contains("is not at the backend's origin `http://host`"),
            "{}",
            failure.message
        );
    }
}

#[test]
fn undeclared_signs_of_more_are_seen() {
    let mut enveloped = kind();
    enveloped.list.as_mut().expect("a list").items = Some(filter(".items"));
    for (headers, body, more, total) in [
        (vec![], r#"{"items":[]}"#, None, None),
        (
            vec![],
            r#"{"items":[],"next":null,"total":0,"has_more":false,"_links":{"self":{"href":"x"}}}"#,
            None,
            Some(0),
        ),
        (vec![], r#"{"items":[],"next":"x"}"#, Some("`.next` in its body"), None),
        (
            vec![],
            r#"{"items":[],"metadata":{"continue":"x"}}"#,
            Some("`.metadata.continue` in its body"),
            None,
        ),
        (vec![], r#"{"items":[],"_links":{"next":{"href":"/2"}}}"#, Some("`._links.next` in its body"), None),
        (vec![], r#"{"items":[],"has_more":true}"#, Some("`.has_more` in its body"), None),
        (vec![], r#"{"items":[],"meta":{"total_count":7}}"#, None, Some(7)),
        (
            vec![("link", "</2>; rel=next")],
            r#"{"items":[]}"#,
            Some("a `Link` header names a next page"),
            None,
        ),
        (vec![("x-total-count", "9")], r#"{"items":[]}"#, None, Some(9)),
        (vec![("content-range", "items 0-0/9")], r#"{"items":[]}"#, None, Some(9)),
        // Without a count, PostgREST says so of a whole list as well.
        (vec![("content-range", "0-24/*")], r#"{"items":[]}"#, None, None),
        (vec![("content-range", "bytes 0-9/10")], r#"{"items":[]}"#, None, None),
        (vec![], r#"{"items":[],"pagination":{"total":7}}"#, None, Some(7)),
        (vec![], r#"{"items":[],"page":{"totalElements":7}}"#, None, Some(7)),
        (vec![], r#"{"items":[],"isLast":false}"#, Some("`.isLast` in its body"), None),
        (vec![], r#"{"items":[],"last":false,"next":null}"#, Some("`.last` in its body"), None),
        (vec![], r#"{"items":[],"last":true,"next":"x"}"#, None, None),
        (vec![], r#"{"items":[],"links":{"last":"/a?page=1","first":"/a?page=1"}}"#, None, None),
        (vec![], r#"{"items":[],"truncated":true}"#, Some("`.truncated` in its body"), None),
        (
            vec![],
            r#"{"items":[],"page":{"isTruncated":true}}"#,
            Some("`.page.isTruncated` in its body"),
            None,
        ),
        (vec![], r#"{"items":[],"next_page":2}"#, Some("`.next_page` in its body"), None),
        (vec![], r#"{"items":[],"paging":{"next":{"after":"x"}}}"#, Some("`.paging.next` in its body"), None),
        // What elements hold is theirs, and what is no flag says nothing.
        (vec![], r#"{"items":[{"next":"x","has_more":true,"total":9,"meta":{"total":9}}]}"#, None, None),
        (vec![], r#"{"items":[],"more":"about us","truncated":"no","last":"b"}"#, None, None),
    ] {
        let facts = opened(&enveloped, &headers, body).expect(body).facts;
        assert_eq!((facts.more.as_deref(), facts.total), (more, total), "{body}");
    }
}

#[test]
fn undeclared_signs_of_more_are_seen_beside_any_paging() {
    let cursor = |next| paged(PageBy::Cursor, Some(next), None);
    let link = || paged(PageBy::Link, None, None);
    let offset = || paged(PageBy::Offset, None, None);
    let body = r#"{"items":[],"meta":{"next":"c3"}}"#;
    let by_cursor = Some("{by: cursor, next: .meta.next}");
    let seen = Some("`.meta.next` in its body");
    for (kind, headers, body, more, declare) in [
        (cursor(".meta.nxt"), vec![], body, seen, by_cursor),
        (link(), vec![], body, seen, by_cursor),
        (offset(), vec![], body, seen, by_cursor),
        (
            link(),
            vec![],
            r#"{"items":[],"next":"/a?x=1"}"#,
            Some("`.next` in its body"),
            Some("{by: url, next: .next}"),
        ),
        (
            link(),
            vec![],
            r#"{"items":[],"_links":{"next":{"href":"http://h/2"}}}"#,
            Some("`._links.next` in its body"),
            Some("{by: url, next: ._links.next.href}"),
        ),
        (
            link(),
            vec![],
            r#"{"items":[],"@odata.nextLink":"http://h/2"}"#,
            Some("`.[\"@odata.nextLink\"]` in its body"),
            Some("{by: url, next: .[\"@odata.nextLink\"]}"),
        ),
        (cursor(".c"), vec![], r#"{"items":[],"has_more":true}"#, Some("`.has_more` in its body"), None),
        (cursor(".c"), vec![], r#"{"items":[],"c":{"x":1}}"#, Some("its `next` is a map, not a text"), None),
        (
            cursor(".c"),
            vec![("link", "</2>; rel=next")],
            r#"{"items":[]}"#,
            Some("a `Link` header names a next page"),
            Some("{by: link}"),
        ),
        (cursor(".meta.next"), vec![], body, None, None),
        (link(), vec![], r#"{"items":[],"next":null,"next_cursor":"","nextToken":false}"#, None, None),
        (link(), vec![], r#"{"items":[],"next_cursor":"again","has_more":false}"#, None, None),
        (cursor(".c"), vec![], r#"{"items":[],"c":false}"#, None, None),
        (cursor(".c"), vec![], r#"{"items":[]}"#, None, None),
    ] {
        let facts = opened(&kind, &headers, body).expect(body).facts;
        assert_eq!((facts.more.as_deref(), facts.declare.as_deref()), (more, declare), "{body}");
    }
    let facts = opened(&offset(), &[], r#"{"items":[],"meta":{"total":7}}"#).expect("a page").facts;
    assert_eq!((facts.total, facts.hinted), (None, Some(7)), "it may be the page's own count");
}

#[test]
fn pages_are_told_apart_by_their_keys() {
    let fingerprint = |body| opened(&kind(), &[], body).expect("a page").facts.fingerprint;
    assert_eq!(fingerprint(r#"[{"name":"a","n":1}]"#), fingerprint(r#"[{"name":"a","n":2}]"#));
    assert_ne!(fingerprint(r#"[{"name":"a"}]"#), fingerprint(r#"[{"name":"b"}]"#));
}
