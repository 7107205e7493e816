//! Answers with a member that stands twice: to reads, to creates, and pages of listings.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use url::Url;

use crate::backend::answer::{Asked, read, write};
use crate::backend::base::Base;
use crate::backend::elements::PageItems;
use crate::backend::listing::{Listed, OpenPage, open};
use crate::backend::refusal::Context;
use crate::backend::request::Site;
use crate::backend::testing::{filter, kind};
use crate::backend::wire::{HttpAnswer, Role};
use crate::core::exchange::{Answer, Collection, Failure, Item, ParentIds, Target, Wanted};
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{Kind, Op, Page, PageBy, Read};
use crate::core::redact::Redactor;

fn answer(status: u16, body: &str) -> HttpAnswer {
    HttpAnswer { status, headers: Vec::new(), body: body.into() }
}

fn url() -> Url {
    Url::parse("http://host/api/queues/%2F").expect("a URL")
}

fn judged<T>(run: impl Fn(&Context) -> T) -> T {
    let base = Base::parse("http://host/api").expect("a base");
    let site = Site { base, owner: String::new(), credential: None };
    let redactor = Redactor::default();
    run(&Context { site: &site, doing: "doing it", now: Duration::ZERO, redactor: &redactor })
}

fn with<T>(kind: &Kind, op: &Op, run: impl Fn(&Context, Asked) -> T) -> T {
    let key = Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!("orders"))]);
    let target = Target::new(ObjectId { kind: kind.name.clone(), key });
    judged(|context| run(context, Asked { kind, op, target: &target, url: &url() }))
}

fn of_list<T>(kind: &Kind, run: impl Fn(&Context, Listed) -> T) -> T {
    let scope = Key::new(vec![("vhost".into(), json!("/"))]);
    let collection = Collection { kind: kind.name.clone(), scope, parent_ids: ParentIds::default() };
    let list = kind.list.as_ref().expect("a list");
    judged(|context| run(context, Listed { kind, list, collection: &collection }))
}

fn opened(kind: &Kind, body: &str) -> Result<OpenPage, Failure> {
    of_list(kind, |context, listed| open(context, listed, &url(), answer(200, body)))
}

/// An object, and where it is ambiguous.
fn whole(item: &Item) -> String {
    let places: Vec<String> = item.ambiguous.iter().map(|path| format!(" at {path}")).collect();
    format!("{}{}", item.value, places.concat())
}

fn read_of(kind: &Kind, body: &str) -> String {
    let Read::Op(op) = &kind.read else { panic!("a read of its own") };
    match with(kind, op, |context, asked| read(context, asked, &answer(200, body), None)) {
        Answer::Found(item) => whole(&item),
        Answer::Failed(failure) => failure.message,
        _ => "absent".into(),
    }
}

/// Which of two members counts is left open (RFC 8259, 4): what differs with it is told, and decides nothing.
#[test]
fn an_object_with_a_member_that_stands_twice() {
    let doubt = |place: &str| {
        format!(
            "doing it: the answer has a member twice, and so two values at `{place}`: what it tells of the object \
             cannot be made out"
        )
    };
    let going = Kind { deleting: Some(filter(".body.state == \"going\"")), ..kind() };
    let expired = Kind { absent: Some(filter(".body.state == \"gone\"")), ..kind() };
    let mut inside = kind();
    let Read::Op(op) = &mut inside.read else { panic!("a read of its own") };
    op.item = Some(filter(".data[0]"));
    for (kind, body, want) in [
        (
            &kind(),
            r#"{"name":"orders","x":1,"x":2,"y":0}"#,
            r#"{"name":"orders","x":2,"y":0} at x"#.to_owned(),
        ),
        (&kind(), r#"{"name":"orders","x":1,"x":1}"#, r#"{"name":"orders","x":1}"#.into()),
        (
            &kind(),
            r#"{"name":"orders","m":{"a":[{"b":1,"b":2}]}}"#,
            r#"{"m":{"a":[{"b":2}]},"name":"orders"} at m.a[0].b"#.into(),
        ),
        (&kind(), r#"{"name":"other","name":"orders"}"#, doubt("name")),
        (
            &kind(),
            r#"{"name":"orders","name":"other"}"#,
            "doing it: the server answered with another object: `//other`".into(),
        ),
        (&kind(), r#"{"name":"orders","id":7,"id":8}"#, doubt("id")),
        (&inside, r#"{"data":[{"name":"orders","x":1,"x":2}]}"#, r#"{"name":"orders","x":2} at x"#.into()),
        (&inside, r#"{"data":[{"name":"other"}],"data":[{"name":"orders"}]}"#, doubt("data[0].name")),
        (&going, r#"{"name":"orders","state":"going","state":"up"}"#, doubt("state")),
        (&expired, r#"{"name":"orders","state":"gone","state":"up"}"#, doubt("state")),
        (&expired, r#"{"name":"orders","state":"up","state":"gone"}"#, doubt("state")),
    ] {
        assert_eq!(read_of(kind, body), want, "{body}");
    }
}

/// Which object a create has made is not told by two ids: it is looked for by its name.
#[test]
fn a_new_id_that_stands_twice_is_none() {
    for (body, want) in [
        (r#"{"id":7,"id":8}"#, None),
        (r#"{"id":7,"id":7}"#, Some("7")),
        (r#"{"id":7,"x":7,"x":8}"#, Some("7")),
    ] {
        let kind = kind();
        let create = kind.create.as_ref().expect("a create");
        let told =
            with(&kind, create, |context, asked| write(context, asked, Role::Create, &answer(201, body)));
        let Answer::Accepted { server_id, .. } = told else { panic!("it was accepted") };
        assert_eq!(server_id.as_deref(), want, "{body}");
    }
}

/// Which of two members counts is left open (RFC 8259, 4): it may decide on what an object has, and not on which one
/// it is.
#[test]
fn an_element_with_a_member_that_stands_twice() {
    let mut by_filter = kind();
    by_filter.list.as_mut().expect("a list").items = Some(filter("map(.)"));
    let mut expires = kind();
    expires.absent = Some(filter(r#".body.state == "gone""#));
    let told = |kind: &Kind, element: &str, wanted: &Wanted| {
        let page = Cell::new(Some(opened(kind, &format!("[{element}]")).expect("a page")));
        let read =
            |context: &Context, of: Listed| page.take().expect("once").items(context, of, wanted, None);
        let PageItems { items, others, problems, .. } = of_list(kind, read);
        let items = items.iter().map(whole);
        let others = others.iter().map(|(key, id)| format!("{key} {}", id.as_deref().unwrap_or("-")));
        items.chain(others).chain(problems).collect::<Vec<_>>().join("; ")
    };
    let doubt = |place: &str| {
        format!(
            "doing it: item 1: it has a member twice, and so two values at `{place}`: which object it is cannot be told"
        )
    };
    for kind in [&kind(), &by_filter] {
        for (element, whole, key) in [
            (r#"{"name":"a","x":1,"x":2}"#, r#"{"name":"a","x":2} at x"#, "//a -"),
            (r#"{"name":"a","x":1,"x":1}"#, r#"{"name":"a","x":1}"#, "//a -"),
            (r#"{"name":"a","name":"a","id":3}"#, r#"{"id":3,"name":"a"}"#, "//a 3"),
        ] {
            assert_eq!(told(kind, element, &Wanted::All), whole, "{element}");
            assert_eq!(told(kind, element, &Wanted::Keys(Arc::default())), key, "{element}");
        }
        for (element, place) in
            [(r#"{"name":"b","name":"a"}"#, "name"), (r#"{"name":"a","id":3,"id":4}"#, "id")]
        {
            for wanted in [Wanted::All, Wanted::Keys(Arc::default())] {
                assert_eq!(told(kind, element, &wanted), doubt(place), "{element}");
            }
        }
    }
    for element in
        [r#"{"name":"a","state":"gone","state":"up"}"#, r#"{"name":"a","state":"up","state":"gone"}"#]
    {
        assert_eq!(told(&expires, element, &Wanted::All), doubt("."), "{element}");
    }
}

/// A listing that is another one by which of two members counts is none.
#[test]
fn an_envelope_with_a_member_that_stands_twice() {
    let mut plain = kind();
    plain.list.as_mut().expect("a list").items = Some(filter(".data.items"));
    plain.list.as_mut().expect("a list").page = Some(Page {
        by: PageBy::Cursor,
        size: None,
        param: "cursor".into(),
        size_param: "limit".into(),
        first: 1,
        next: Some(filter(".next")),
        total: None,
    });
    let mut by_filter = plain.clone();
    by_filter.list.as_mut().expect("a list").items = Some(filter(".data.items // []"));
    let failed = |kind: &Kind, body: &str| opened(kind, body).err().map(|failure| failure.message);
    let says = |name: &str| Some(format!("doing it: the answer has `{name}` twice, with different values"));
    let lists = Some("doing it: the answer has a member twice, and so two lists".to_owned());
    for (body, fast, slow) in [
        (r#"{"data":{"items":[{"name":"a"}]},"data":{"items":[]}}"#, says("data"), lists.clone()),
        (r#"{"data":{"items":[],"items":[{"name":"a"}]}}"#, says("items"), lists),
        (r#"{"data":{"items":[]},"next":"x","next":null}"#, says("next"), says("next")),
        (r#"{"data":{"items":[]},"took":1,"took":2}"#, None, None),
    ] {
        assert_eq!(failed(&plain, body), fast, "{body}");
        assert_eq!(failed(&by_filter, body), slow, "{body}");
    }
}
