//! What polls tell of changes, and what they do not look into.

use std::time::Duration;

use serde_json::json;
use url::Url;

use crate::backend::base::Base;
use crate::backend::listing::open;
use crate::backend::refusal::Context;
use crate::backend::request::Site;
use crate::backend::testing::{filter, kind};
use crate::core::exchange::{Collection, ParentIds};
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos};
use crate::core::redact::Redactor;

use super::*;

fn key(name: &str) -> Key {
    Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!(name))])
}

/// Queues that are to be durable.
fn known(names: &[&str]) -> Known {
    let spec = Arc::new(Node::from_value(Pos::default(), json!({"durable": true})));
    let interest = Interest { spec: Some((spec, 0)), ..Interest::default() };
    Known::new(Arc::new(Interests::new(names.iter().map(|name| (key(name), interest.clone())).collect())))
}

fn queue(name: &str, durable: bool, messages: u32) -> Value {
    json!({"name": name, "durable": durable, "messages": messages})
}

/// Hands pages to `known` as one poll does, which ends where a page is `None`: it failed.
fn round(known: &mut Known, kind: &Kind, pages: &[Option<Value>], shifts: bool) -> Option<Changes> {
    let base = Base::parse("http://host/api").expect("a base");
    let site = Site { base, owner: String::new(), credential: None };
    let redactor = Redactor::default();
    let context = Context { site: &site, doing: "listing Queue", now: Duration::ZERO, redactor: &redactor };
    let scope = Key::new(vec![("vhost".into(), json!("/"))]);
    let collection = Collection { kind: kind.name.clone(), scope, parent_ids: ParentIds::default() };
    let listed = Listed { kind, list: kind.list.as_ref().expect("a list"), collection: &collection };
    let url = Url::parse("http://host/api/queues/%2F").expect("a URL");
    known.begin();
    for (at, page) in pages.iter().enumerate() {
        let at = PageAt::Number(at as u64);
        let Some(page) = page else { return known.end_early() };
        let answer = HttpAnswer { status: 200, headers: Vec::new(), body: page.to_string().into_bytes() };
        if known.same(&at, &answer).is_none() {
            let page = open(&context, listed, &url, answer).expect("a page");
            known.take(listed, at, page, None);
        }
    }
    known.end(shifts)
}

fn poll(known: &mut Known, page: Value) -> Option<Changes> {
    round(known, &kind(), &[Some(page)], false)
}

/// As a read of `a` shows it.
fn item(durable: bool) -> Item {
    Item {
        key: key("a"),
        server_id: None,
        version: None,
        value: Arc::new(queue("a", durable, 0)),
        deleting: false,
        ready: None,
        ambiguous: Vec::new(),
    }
}

/// The names of the keys that are told, and the number of strangers.
fn told(changes: Option<Changes>) -> (Vec<String>, usize) {
    let changes = changes.unwrap_or_default();
    let name = |(key, _): &(Key, Digest)| key.get("name").and_then(Value::as_str).expect("a name").to_owned();
    (changes.keys.iter().map(name).collect(), changes.strangers)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_first_poll_tells_what_is_wrong_and_later_ones_what_changes() {
    let mut known = known(&["a", "b", "c"]);
    let first = json!([queue("a", true, 1), queue("b", false, 1), queue("x", true, 1)]);
    assert_eq!(told(poll(&mut known, first.clone())), (names(&["b", "c"]), 0));
    assert_eq!(poll(&mut known, first), None);
    assert_eq!(known.parsed(), 3);
    let healed = json!([queue("a", true, 1), queue("b", true, 1), queue("x", true, 1), queue("c", true, 0)]);
    assert_eq!(told(poll(&mut known, healed)), (names(&["b", "c"]), 0));
    assert_eq!(known.parsed(), 5, "of four elements two are new");
    assert_eq!(told(poll(&mut known, json!([queue("c", true, 0), queue("a", true, 1)]))), (names(&["b"]), 1));
    assert_eq!(known.parsed(), 5, "what is gone or stands elsewhere is not looked into");
    assert_eq!(told(poll(&mut known, json!([]))), (names(&["a", "c"]), 0));
}

/// Somebody sets it wrong, we write it right, and they set it wrong again before the next poll, which sees the same
/// bytes as the one before.
#[test]
fn what_was_written_since_is_told_again_if_it_is_wrong() {
    let mut known = known(&["a", "b"]);
    let (right, wrong) = (queue("a", true, 1), queue("a", false, 1));
    assert_eq!(told(poll(&mut known, json!([wrong, queue("b", false, 1)]))), (names(&["a", "b"]), 0));
    known.wrote(&key("a"), None);
    assert_eq!(told(poll(&mut known, json!([wrong, queue("b", false, 1)]))), (names(&["a"]), 0));
    assert_eq!(poll(&mut known, json!([wrong, queue("b", false, 1)])), None, "once");
    known.wrote(&key("a"), None);
    assert_eq!(
        poll(&mut known, json!([right, queue("b", false, 1)])),
        None,
        "and not what is as it is wanted"
    );
    assert_eq!(told(poll(&mut known, json!([wrong, queue("b", false, 1)]))), (names(&["a"]), 0));
    known.wrote(&key("a"), None);
    assert_eq!(told(poll(&mut known, json!([queue("b", false, 1)]))), (names(&["a"]), 0), "or gone");
}

/// Between a write and the next poll somebody makes the object anew, just as it is wanted: only its id tells.
#[test]
fn what_was_written_is_held_against_how_it_was_seen_then() {
    let mut known = known(&["a", "b"]);
    let saw = |known: &Known, id: &str| {
        let item = Item { server_id: Some(id.into()), ..item(true) };
        Some(known.interests.at(0).1.sight(&FieldRules::default(), &item))
    };
    let with_id = |id: u32| json!([{"id": id, "name": "a", "durable": true}, queue("b", true, 0)]);
    let poll = |known: &mut Known, page: Value| told(poll(known, page));
    let none = (names(&[]), 0);
    // The first poll of all comes after the write.
    known.wrote(&key("a"), saw(&known, "1"));
    assert_eq!(poll(&mut known, with_id(2)), (names(&["a"]), 0));
    assert_eq!(poll(&mut known, with_id(2)), none, "once");
    known.wrote(&key("a"), saw(&known, "3"));
    assert_eq!(poll(&mut known, with_id(3)), none, "what we wrote is no news");
    known.wrote(&key("a"), saw(&known, "4"));
    assert_eq!(
        poll(&mut known, with_id(3)),
        (names(&["a"]), 0),
        "the bytes are those of before, and not ours"
    );
    known.wrote(&key("a"), saw(&known, "4"));
    assert_eq!(poll(&mut known, json!([queue("b", true, 0)])), (names(&["a"]), 0), "or gone");
}

#[test]
fn what_no_document_states_is_no_change() {
    let mut known = known(&["a"]);
    assert_eq!(poll(&mut known, json!([queue("a", true, 1)])), None);
    for messages in 2..50 {
        assert_eq!(poll(&mut known, json!([queue("a", true, messages)])), None);
    }
    assert_eq!(known.elements.len(), 1, "what is gone is forgotten");
    let changes = poll(&mut known, json!([queue("a", false, 50)])).expect("a change");
    let again = poll(&mut known, json!([queue("a", false, 51)]));
    assert_eq!((changes.keys.len(), again), (1, None));
}

#[test]
fn strangers_are_counted_and_not_kept_by_name() {
    let mut known = known(&[]);
    assert_eq!(poll(&mut known, json!([queue("x", true, 1), {"no": "key"}])), None);
    assert_eq!(told(poll(&mut known, json!([queue("x", true, 2), {"no": "key"}]))), (names(&[]), 2));
    assert_eq!(told(poll(&mut known, json!([queue("x", true, 2)]))), (names(&[]), 1));
    assert!(size_of::<(Digest, Entry)>() <= 64);
}

#[test]
fn a_page_that_failed_tells_nothing_of_what_is_missing() {
    let mut known = known(&["a", "b"]);
    let (a, b) = (json!([queue("a", true, 1)]), json!([queue("b", true, 1)]));
    let both = [Some(a.clone()), Some(b.clone())];
    assert_eq!(round(&mut known, &kind(), &both, false), None);
    for _ in 0..20 {
        assert_eq!(round(&mut known, &kind(), &[Some(a.clone()), None], false), None);
    }
    let drifted = json!([queue("a", false, 1)]);
    assert_eq!(told(round(&mut known, &kind(), &[Some(drifted), None], false)), (names(&["a"]), 0));
    assert_eq!(
        told(round(&mut known, &kind(), &both, false)),
        (names(&["a"]), 0),
        "b was there all the time"
    );
    assert_eq!(told(round(&mut known, &kind(), &[Some(a)], false)), (names(&["b"]), 0));
}

#[test]
fn what_moves_from_page_to_page_is_not_gone() {
    let mut known = known(&["a", "b", "c"]);
    let page = |names: &[&str]| Some(names.iter().map(|name| queue(name, true, 1)).collect::<Value>());
    assert_eq!(round(&mut known, &kind(), &[page(&["a", "b"]), page(&["c"])], true), None);
    assert_eq!(round(&mut known, &kind(), &[page(&["a"]), page(&["b", "c"])], true), None);
    let shifted = [page(&["a", "b"]), page(&["b"])];
    assert_eq!(round(&mut known, &kind(), &shifted, true), None, "b stands twice, so c may have been missed");
    assert_eq!(told(round(&mut known, &kind(), &[page(&["a", "b"])], true)), (names(&["c"]), 0));
    assert_eq!(known.parsed(), 3);
}

#[test]
fn after_doubt_the_same_pages_are_concluded_from() {
    let mut known = known(&["a", "b"]);
    let page = |names: &[&str]| Some(names.iter().map(|name| queue(name, true, 1)).collect::<Value>());
    assert_eq!(round(&mut known, &kind(), &[page(&["a", "b"]), page(&[])], true), None);
    let pages = [page(&["a"]), page(&["a"])];
    assert_eq!(round(&mut known, &kind(), &pages, true), None);
    assert_eq!(told(round(&mut known, &kind(), &pages, false)), (names(&["b"]), 0));
}

#[test]
fn an_object_that_stands_twice_is_seen_whichever_changes() {
    let mut known = known(&["a"]);
    let with_id = |id: u32, durable: bool| json!({"id": id, "name": "a", "durable": durable});
    poll(&mut known, json!([with_id(1, true), with_id(2, true)]));
    assert_eq!(told(poll(&mut known, json!([with_id(1, true), with_id(2, false)]))), (names(&["a"]), 0));
    assert_eq!(told(poll(&mut known, json!([with_id(1, true)]))), (names(&["a"]), 0));
    assert_eq!(told(poll(&mut known, json!([with_id(3, true)]))), (names(&["a"]), 0), "made anew");
}

#[test]
fn a_list_that_a_filter_makes_is_split_only_where_its_page_changed() {
    let mut slow = kind();
    slow.list.as_mut().expect("a list").items = Some(filter("to_entries | map(.value + {name: .key})"));
    let page = |durable: bool, at: u32| {
        Some(json!({"a": {"durable": durable}, "b": {"durable": true}, "x": {"at": at}}))
    };
    let mut known = known(&["a", "b"]);
    assert_eq!(round(&mut known, &slow, &[page(true, 1)], false), None);
    assert_eq!(round(&mut known, &slow, &[page(true, 1)], false), None);
    assert_eq!(known.parsed(), 3);
    assert_eq!(told(round(&mut known, &slow, &[page(false, 1)], false)), (names(&["a"]), 0));
    assert_eq!(told(round(&mut known, &slow, &[page(false, 2)], false)), (names(&[]), 2));
    assert_eq!(known.parsed(), 5);
}

#[test]
fn an_object_alone() {
    let interest = known(&["a"]).interests.at(0).1.clone();
    let rules = FieldRules::default();
    let mut known = KnownObject::new(interest.clone());
    assert_eq!(known.take(&rules, Some(&item(true))), None);
    assert!(known.take(&rules, Some(&item(false))).is_some());
    assert_eq!(known.take(&rules, Some(&item(false))), None);
    assert!(known.take(&rules, None).is_some());
    assert_eq!(known.take(&rules, None), None);
    assert!(KnownObject::new(interest).take(&rules, None).is_some(), "at first, what is wrong is told");
    let answer =
        |tag: &str| HttpAnswer { status: 200, headers: vec![("etag".into(), tag.into())], body: b"1".into() };
    assert!(!known.is_same(&answer("\"1\"")) && known.is_same(&answer("\"1\"")));
    assert_eq!(known.tag().as_deref(), Some("\"1\""));
    let wrote = known.interest.sight(&rules, &item(true));
    known.wrote(Some(wrote));
    assert_eq!(known.take(&rules, Some(&item(true))), None, "what we wrote is no news");
    known.wrote(Some(wrote));
    let again = Item { server_id: Some("2".into()), ..item(true) };
    assert!(known.take(&rules, Some(&again)).is_some(), "made anew since");
    assert_eq!(known.take(&rules, Some(&again)), None, "once");
    known.forget();
    assert!(known.tag().is_none() && !known.is_same(&answer("\"1\"")));
}
