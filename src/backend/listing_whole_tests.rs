//! When a listing is not known to be whole, and what is no list at all.

use url::Url;

use super::open;
use super::tests::{URL, answer, opened, paged, with};
use crate::backend::page::Pager;
use crate::backend::testing::{filter, kind};
use crate::core::kind::{Kind, ListOp, PageBy};

#[test]
fn a_part_of_a_list_is_not_the_whole() {
    let of = |kind: &Kind, range: Option<&str>| {
        let headers: Vec<(&str, &str)> = range.iter().map(|range| ("content-range", *range)).collect();
        let request = Url::parse(URL).expect("a URL");
        let page = with(kind, |context, listed| {
            open(context, listed, &request, answer(206, &headers, r#"[{"name":"a"}]"#))
        });
        let facts = page.expect("a page").facts;
        let mut pager = Pager::new(kind.list.as_ref().and_then(|list| list.page.as_ref()));
        pager.next(&facts).expect("a page");
        pager.incomplete().map(str::to_owned)
    };
    let part = "the answer shows more (its status is 206, a part of the whole), and the backend declares no paging; check `page` of the listing";
    let more = "the server counts 9 in all, and its pages held 1";
    for (range, why) in [
        (None, Some(part)),
        (Some("items 0-0/9"), Some(more)),
        (Some("0-0/*"), Some(part)),
        (Some("bytes 0-9/10"), Some(part)),
        (Some("odd"), Some(part)),
        (Some("items 0-0/1"), None),
    ] {
        assert_eq!(of(&kind(), range).as_deref(), why, "{range:?}");
    }
    let link = Kind {
        list: Some(ListOp { items: None, ..paged(PageBy::Link, None, None).list.expect("a list") }),
        ..kind()
    };
    assert_eq!(of(&link, Some("0-0/*")), None, "each page is a part");
}

/// What a listing of the undeclared is found to lack.
fn lacks(kind: &Kind, status: u16, headers: &[(&str, &str)], body: &str) -> Option<String> {
    let request = Url::parse(URL).expect("a URL");
    let page = with(kind, |context, listed| open(context, listed, &request, answer(status, headers, body)));
    let mut pager = Pager::new(kind.list.as_ref().and_then(|list| list.page.as_ref()));
    pager.next(&page.expect(body).facts).expect("a page");
    pager.incomplete().map(str::to_owned)
}

#[test]
fn a_listing_that_shows_more_in_any_way_is_not_whole() {
    let mut enveloped = kind();
    enveloped.list.as_mut().expect("a list").items = Some(filter(".items"));
    let item = r#""items":[{"name":"a"}]"#;
    for (status, headers, more) in [
        (200, vec![("x-next-page", "2")], ""),
        (200, vec![("x-total-pages", "2")], ""),
        (200, vec![("x-total", "2")], ""),
        (200, vec![], r#","total":"50""#),
        (200, vec![], r#","count":2"#),
        (200, vec![], r#","page":1,"pages":2"#),
        (200, vec![], r#","total_pages":2"#),
        (200, vec![], r#","pagination":{"page":1,"pageCount":2}"#),
        (200, vec![], r#","response":{"total":2}"#),
        (202, vec![], ""),
        (203, vec![], ""),
        (207, vec![], ""),
    ] {
        assert!(
            lacks(&enveloped, status, &headers, &format!("{{{item}{more}}}")).is_some(),
            "{status} {headers:?} {more}"
        );
    }
    for (headers, whole) in [
        (vec![("x-next-page", ""), ("x-total-pages", "1"), ("x-total", "1")], ""),
        (vec![], r#","total":"1","count":1"#),
        (vec![], r#","page":1,"pages":1"#),
        (vec![], r#","page":{"number":0,"totalPages":1,"totalElements":1}"#),
        // All of it, by its own count, however many pages others would make of it.
        (vec![], r#","total":1,"total_pages":7"#),
    ] {
        assert_eq!(
            lacks(&enveloped, 200, &headers, &format!("{{{item}{whole}}}")),
            None,
            "{headers:?} {whole}"
        );
    }
}

/// Of a filter that is no plain path, null says that something on its way was not there.
#[test]
fn null_of_a_filter_is_no_empty_list() {
    let of = |items: &str, body: &str| {
        let mut kind = kind();
        kind.list.as_mut().expect("a list").items = Some(filter(items));
        opened(&kind, &[], body).map(|page| page.facts.count)
    };
    for items in [".data | .items", ".data.items?", r#".data["items"] | ."#, "[][0]"] {
        for body in ["{}", "null", r#"{"data":null}"#] {
            let failure = of(items, body).expect_err("no list");
            assert!(failure.message.contains("null at"), "{items} {body}: {}", failure.message);
            let hint = failure.hint.unwrap_or_default();
            assert!(hint.contains(&format!("({items}) // []")), "{hint}");
        }
    }
    assert_eq!(of("(.data | .items) // []", "{}"), Ok(0));
    assert_eq!(of(".data | .items", r#"{"data":{"items":[]}}"#), Ok(0));
}
