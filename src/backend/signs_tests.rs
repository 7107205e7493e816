//! What is taken for a sign of more, and what is not.

use serde_json::json;

use super::*;

fn signs(body: &Value, on_the_way: &[&str]) -> Signs {
    let names: Vec<String> = on_the_way.iter().map(|name| (*name).to_owned()).collect();
    of(&body.to_string(), &names, &|text| text == "sent")
}

#[test]
fn more_is_seen_in_the_names_that_apis_have() {
    for (body, place) in [
        (json!({"NextToken": "x"}), ".NextToken"),
        (json!({"next-page-token": "x"}), ".[\"next-page-token\"]"),
        (json!({"IsTruncated": true, "NextMarker": "x"}), ".IsTruncated"),
        (json!({"IsTruncated": "true"}), ".IsTruncated"),
        (json!({"NextMarker": "x"}), ".NextMarker"),
        (json!({"cursor": "x"}), ".cursor"),
        (json!({"paging": {"cursor": "x"}}), ".paging.cursor"),
        (json!({"metadata": {"remainingItemCount": 3}}), ".metadata.remainingItemCount"),
        (json!({"metadata": {"remainingItemCount": "3"}}), ".metadata.remainingItemCount"),
        (json!({"pagination": {"next_url": "/b"}}), ".pagination.next_url"),
        (json!({"incomplete_results": true, "items": []}), ".incomplete_results"),
        (json!({"response_metadata": {"next_cursor": "x"}}), ".response_metadata.next_cursor"),
        (json!({"Meta": {"HasNextPage": true}}), ".Meta.HasNextPage"),
        // Two that disagree are no proof.
        (json!({"has_more": true, "last": true}), ".has_more"),
    ] {
        let more = signs(&body, &[]).more;
        assert_eq!(more, Some(format!("`{place}` in its body")), "{body}");
    }
}

#[test]
fn what_says_nothing_of_more_is_none() {
    for body in [
        json!({"NextToken": "", "IsTruncated": false}),
        json!({"cursor": ""}),
        json!({"cursor": null, "continuationToken": null}),
        json!({"cursor": "0"}),
        // Where the page stands, not where it goes on.
        json!({"cursor": "sent"}),
        json!({"cursor": "x", "has_more": false}),
        json!({"cursor": "x", "next": null}),
        json!({"has_more": "false", "paging": {"cursor": "x"}}),
        json!({"metadata": {"remainingItemCount": 0}}),
        json!({"incomplete_results": false}),
        json!({"nested": {"deeper": {"next": "x"}}}),
    ] {
        assert_eq!(signs(&body, &[]).more, None, "{body}");
    }
}

#[test]
fn totals_and_pages_are_counted_as_numbers_or_texts() {
    for (body, total, pages) in [
        (json!({"total": "50"}), Some(50), None),
        (json!({"count": 50}), Some(50), None),
        (json!({"count": 2, "total": 50}), Some(50), None),
        (json!({"response": {"total": 50}}), Some(50), None),
        (json!({"Total-Count": 50}), Some(50), None),
        (json!({"page": 1, "pages": 3}), None, Some(3)),
        (json!({"total_pages": 3}), None, Some(3)),
        (json!({"pagination": {"page": 1, "pageCount": "3"}}), None, Some(3)),
        (json!({"meta": {"pages": 3}}), None, Some(3)),
        (json!({"current_page": 1, "last_page": 3}), None, Some(3)),
        (json!({"count": "many", "total": -1, "pages": 300}), None, None),
        (json!({"page": {"number": 0, "totalPages": 1, "totalElements": 2}}), Some(2), Some(1)),
    ] {
        let signs = signs(&body, &[]);
        assert_eq!((signs.total, signs.pages), (total, pages), "{body}");
    }
}

/// Whatever they are called, the maps on the way to a list speak of it.
#[test]
fn the_maps_on_the_way_to_the_list_are_looked_at() {
    let body = json!({"body": {"set": {"items": [], "total": 9, "paging": {"next": "c"}}}});
    let at = signs(&body, &["body", "set"]);
    assert_eq!(at.total, Some(9));
    assert_eq!(at.more.as_deref(), Some("`.body.set.paging.next` in its body"));
    assert_eq!(at.declare.as_deref(), Some("{by: cursor, next: .body.set.paging.next}"));
    assert_eq!(signs(&body, &[]).more, None);
    // A member that stands twice may mean either.
    let twice = of(r#"{"next": "x", "next": null}"#, &[], &|_| false);
    assert!(twice.more.is_some());
}
