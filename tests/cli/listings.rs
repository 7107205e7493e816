//! Listings that say less than there is: nothing is created again, and nothing runs for ever.

use insta::assert_snapshot;

use crate::servers::{Raw, Say, Seen, backend};
use crate::support::{Done, Scratch};

/// The team that stands on the second page.
const SECOND: &str = "apiVersion: demo\nkind: Team\nmetadata: {name: t4}\nspec: {}\n";

/// `plan` for that team, with a listing that is paged as `page` says.
fn plan(server: &Raw, page: &str) -> Done {
    let declared = "page: {by: cursor, next: .next, size: 100}";
    let text = backend(&server.url(), "").replace(declared, page);
    let scratch = Scratch::with("backend.yaml", text);
    scratch.write("a.yaml", SECOND);
    scratch.trueup("plan -f a.yaml -f backend.yaml").done()
}

/// What stands behind `name=` in a query.
fn asked(seen: &Seen, name: &str) -> Option<usize> {
    let (_, query) = seen.line.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// Five teams, three on a page whatever is asked for; the way on is `meta.next` in the body.
fn by_threes() -> Raw {
    Raw::new(|seen| {
        let from = asked(seen, "cursor").unwrap_or(0);
        let team = |n: usize| format!(r#"{{"id":"{n}","name":"t{n}"}}"#);
        let items: Vec<String> = (from..5.min(from + 3)).map(team).collect();
        let next = if from + 3 < 5 { format!("\"{}\"", from + 3) } else { "null".into() };
        Say::json(&format!(r#"{{"items":[{}],"meta":{{"next":{next}}}}}"#, items.join(",")))
    })
}

#[test]
fn a_listing_cut_short_proves_no_absence() {
    assert_snapshot!(plan(&by_threes(), "page: {by: cursor, next: .meta.nxt}").told(), @"
    exit 1
    !   Team t4   a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the last page shows more (`.meta.next` in its body), which `page` as declared does not follow; declare `page: {by: cursor, next: .meta.next}`
        hint: check `list` and `key` of the kind in the backend
    Plan: 1 unknown. 3 objects seen in 1 request.
    ");
    let linked = plan(&by_threes(), "page: {by: link}").told();
    assert!(linked.contains("the last page shows more (`.meta.next` in its body)"), "{linked}");
    let unpaged = plan(&by_threes(), "").told();
    assert!(
        unpaged.contains("the backend declares no paging; declare `page: {by: cursor, next: .meta.next}`"),
        "{unpaged}"
    );
    for page in ["page: {by: cursor, next: .meta.next}", "page: {by: offset, size: 100, param: cursor}"] {
        let done = plan(&by_threes(), page);
        assert_eq!(done.code(), 0, "{page}: {}", done.told());
    }
    let lost = plan(&by_threes(), "page: {by: page, size: 100}").told();
    assert!(lost.contains("same page again and again; it may not know `page`"), "{lost}");
}

/// Ten teams, and a server that refuses every page but the first, as RabbitMQ does.
#[test]
fn a_round_count_is_not_undone_by_a_page_that_is_not_there() {
    let server = Raw::new(|seen| {
        if asked(seen, "page") != Some(1) {
            return Say::answer(
                "400 Bad Request",
                "content-type: application/json\r\n",
                r#"{"error":"no such page"}"#,
            );
        }
        let items: Vec<String> = (0..10).map(|n| format!(r#"{{"id":"{n}","name":"t{n}"}}"#)).collect();
        Say::json(&format!(r#"{{"items":[{}],"total":10}}"#, items.join(",")))
    });
    let done = plan(&server, "page: {by: page, size: 500, total: .total}");
    assert_eq!(done.code(), 0, "{}", done.told());
}

#[test]
fn cursors_that_are_always_new_end() {
    let server = Raw::new(|seen| {
        let cursor = asked(seen, "cursor").unwrap_or(0) + 1;
        Say::json(&format!(r#"{{"items":[{{"id":"1","name":"t1"}}],"next":"{cursor}"}}"#))
    });
    assert_snapshot!(plan(&server, "page: {by: cursor, next: .next}").told(), @"
    exit 1
    !   Team t4   a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the pages bring nothing new: each has a next one, and the last 3 held what was seen before
        hint: check `list` and `key` of the kind in the backend
    Plan: 1 unknown. 1 object seen in 4 requests.
    ");
    assert_eq!(server.lines().len(), 4, "the first page, and three that are the same");
}

#[test]
fn a_day_is_not_waited_for() {
    let server = Raw::new(|_| Say::answer("429 Too Many Requests", "retry-after: 86400\r\n", ""));
    assert_snapshot!(plan(&server, "").told(), @"
    exit 1
    !   Team t4   a.yaml:1
        unknown: listing Team: the server answered 429 Too Many Requests; it asks to wait 1day
        hint: run it again after that time: a longer wait than a minute is not slept through
    Plan: 1 unknown. 0 objects seen in 1 request.
    ");
    assert_eq!(server.lines().len(), 1);
}

#[test]
fn a_parent_that_goes_between_its_listing_and_its_childrens() {
    let scratch = Scratch::new();
    let told = |gone: bool| {
        let raw = Raw::new(move |seen| match seen.line.as_str() {
            "GET /teams" => Say::json(r#"[{"name":"a"},{"name":"b"}]"#),
            "GET /teams/a/members" => Say::json(r#"[{"name":"x"}]"#),
            "GET /teams/b" if !gone => Say::json(r#"{"name":"b"}"#),
            _ => Say::answer("404 Not Found", "", ""),
        });
        let kinds = "
    Team: {key: {name: .name}, list: GET /teams, read: 'GET /teams/{name}'}
    Member: {parent: {team: Team}, key: {name: .name}, list: 'GET /teams/{team}/members'}";
        let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: api}\nspec:\n  url: ";
        scratch.write("backend.yaml", format!("{head}{}\n  kinds:{kinds}\n", raw.url()));
        scratch.trueup("get Member --backends backend.yaml").done().told()
    };
    assert_snapshot!(told(true), @"
    exit 0
    KIND    TEAM  NAME
    Member  a     x

    1 object.
    ");
    assert_snapshot!(told(false), @"
    exit 1
    KIND    TEAM  NAME
    Member  a     x

    1 object.
    --- stderr
    error: listing Member of `b`: the server answered 404 Not Found
    hint: is the path right? It is below `http://127.0.0.1:PORT`
    ");
}
