//! Answers that do not match the backend: each is an error with a name for the objects that it is about, nothing
//! is written to them, and the rest goes on.

use insta::assert_snapshot;

use crate::servers::{Raw, Say, Seen, backend};
use crate::support::Scratch;

/// Teams are found in a listing, spaces are read by their name.
const OBJECTS: &str = "apiVersion: demo
kind: Team
metadata: {name: blue}
spec: {description: The blue team}
---
apiVersion: demo
kind: Team
metadata: {name: red}
spec: {description: The red team}
---
apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {description: The shop}
";

const RED: &str = r#"{"id": "1", "name": "red", "description": "The red team", "revision": 1}"#;
const SHOP: &str = r#"{"id": "shop", "description": "The shop", "revision": 1}"#;

/// `apply` to a server that answers `GET` like this, and would take any write: what it said, after checking that
/// nothing was written.
fn apply(edit: impl Fn(String) -> String, answer: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> String {
    let raw = Raw::new(move |seen| match seen.line.starts_with("GET ") {
        true => answer(seen),
        false => Say::json("{}"),
    });
    let scratch = Scratch::with("backend.yaml", edit(backend(&raw.url(), "")));
    scratch.write("a.yaml", OBJECTS);
    let told = scratch.trueup("apply --yes -v -f a.yaml -f backend.yaml").done().told();
    let written: Vec<String> = raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect();
    assert_eq!(written, [""; 0], "{told}");
    told
}

/// Teams answer like this, and the one space is as it should be.
fn teams(answer: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> String {
    paged("page: {by: cursor, next: .next, size: 100}", answer)
}

fn paged(page: &str, answer: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> String {
    let edit = |text: String| text.replacen("page: {by: cursor, next: .next, size: 100}", page, 1);
    apply(edit, move |seen| if seen.line == "GET /spaces/shop" { Say::json(SHOP) } else { answer(seen) })
}

fn items(items: &str) -> Say {
    Say::json(&format!(r#"{{"items": [{items}]}}"#))
}

#[test]
fn an_item_without_its_key() {
    let told = teams(|_| items(&format!(r#"{RED}, {{"id": "2", "title": "blue"}}"#)));
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: whether it exists cannot be told: listing Team: item 2: it has no `name` at `.name`
        hint: check `list` and `key` of the kind in the backend
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 unknown, 2 in sync. 3 objects seen in 2 requests.
    ");
}

#[test]
fn a_list_that_is_a_text() {
    assert_snapshot!(teams(|_| Say::json(r#"{"items": "none"}"#)), @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: listing Team: the answer has a string at `.items`, not a list
    !   Team red     a.yaml:6
        unknown: as above
    =   Space shop   a.yaml:11
    Applied: 2 unknown, 1 in sync. 1 object seen in 2 requests.
    ");
}

#[test]
fn items_that_are_texts() {
    assert_snapshot!(teams(|_| items(&format!(r#"{RED}, "blue", 7"#))), @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: whether it exists cannot be told: listing Team: item 2: it is a string, not a map; if it is the `name`, write `items: '.items | map({name: .})'`
        hint: check `list` and `key` of the kind in the backend
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 unknown, 2 in sync. 4 objects seen in 2 requests.
    ");
}

#[test]
fn two_items_with_one_key() {
    let blue = r#"{"id": "2", "name": "blue"}, {"id": "3", "name": "blue"}"#;
    assert_snapshot!(teams(move |_| items(&format!("{RED}, {blue}"))), @"
    exit 1
    !   Team blue    a.yaml:1
        failed: 2 objects answer to `Team blue`: ids 2, 3
        hint: say which one is meant with the annotation `trueup/id`
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 failed, 2 in sync. 4 objects seen in 2 requests.
    ");
}

/// Without ids no document can say which one is meant: it is the key that does not tell them apart.
#[test]
fn two_items_with_one_key_and_no_id() {
    let blue = r#"{"name": "blue"}, {"name": "blue"}"#;
    assert_snapshot!(teams(move |_| items(&format!("{RED}, {blue}"))), @"
    exit 1
    !   Team blue    a.yaml:1
        failed: 2 objects answer to `Team blue`, and none of them has an id
        hint: check `key` of the kind in the backend: it does not tell them apart
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 failed, 2 in sync. 4 objects seen in 2 requests.
    ");
}

/// A server that does not know the parameter shows the first page for ever.
#[test]
fn a_page_that_repeats() {
    assert_snapshot!(paged("page: {by: page, size: 1}", |_| items(RED)), @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the server answers with the same page again and again; it may not know `page`
        hint: check `page` of the kind's `list` in the backend
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 unknown, 2 in sync. 2 objects seen in 3 requests.
    ");
}

#[test]
fn a_total_that_is_too_high() {
    let page = "page: {by: offset, size: 100, total: .total}";
    let told = paged(page, |seen| match seen.line.contains("offset=0") {
        true => Say::json(&format!(r#"{{"items": [{RED}], "total": 3}}"#)),
        false => Say::json(r#"{"items": [], "total": 3}"#),
    });
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the server counts 3 in all, and its pages held 1
        hint: check `page` of the kind's `list` in the backend
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 unknown, 2 in sync. 2 objects seen in 4 requests.
    ");
}

#[test]
fn a_total_that_is_too_low() {
    let page = "page: {by: offset, size: 100, total: .total}";
    let told = paged(page, |_| {
        Say::json(&format!(r#"{{"items": [{RED}, {{"id": "4", "name": "x"}}], "total": 1}}"#))
    });
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: whether it exists cannot be told: listing Team: the server counts 1 in all, and its pages held 2: it has changed
        hint: check `page` of the kind's `list` in the backend
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    Applied: 1 unknown, 2 in sync. 3 objects seen in 2 requests.
    ");
}

/// An id is the same as a number and as a text.
#[test]
fn an_id_that_is_a_number_here_and_a_text_there() {
    let told = apply(
        |text| text.replace("visible: 300ms", "fields: {id: server-owned}"),
        |seen| match seen.line.as_str() {
            "GET /spaces/shop" => Say::json(SHOP),
            "GET /teams/1" => Say::json(RED),
            _ => items(&format!(
                r#"{}, {{"id": 2, "name": "blue", "description": "The blue team"}}"#,
                RED.replace("\"1\"", "1")
            )),
        },
    );
    assert_snapshot!(told, @"
    exit 0
    =   Team blue    a.yaml:1
    =   Team red     a.yaml:6
    =   Space shop   a.yaml:11
    All 3 objects are in sync; nothing was written. 3 objects seen in 2 requests.
    ");
}

/// A name is not: it may be two objects.
#[test]
fn a_name_that_is_a_number_here_and_a_text_there() {
    let numbers = "apiVersion: demo
kind: Team
metadata: {name: '7'}
spec: {}
---
apiVersion: demo
kind: Space
metadata: {name: 8}
spec: {}
";
    let raw = Raw::new(|seen| match seen.line.as_str() {
        "GET /spaces/8" => Say::json(r#"{"id": "8"}"#),
        _ => items(r#"{"id": "1", "name": 7}"#),
    });
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), ""));
    scratch.write("a.yaml", numbers);
    assert_snapshot!(scratch.trueup("apply --yes -f a.yaml -f backend.yaml").done().told(), @"
    exit 1
    !   Team 7    a.yaml:1
        unknown: whether it exists cannot be told: the listing shows a key of another type: `7` is a number there, and a string in the file
        hint: write it as the server does, or let the field compare as a text with the word `tostring`
    !   Space 8   a.yaml:6
        unknown: reading Space 8: the server answered with a key of another type: `8` is a string there, and a number in the file
        hint: write it as the server does, or let the field compare as a text with the word `tostring`
    Applied: 2 unknown. 1 object seen in 2 requests.
    ");
    assert!(raw.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", raw.lines());
}

#[test]
fn an_error_inside_a_200_in_the_place_of_a_list() {
    let told = teams(|_| Say::json(r#"{"error": {"code": 17, "message": "the index is being built"}}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: listing Team: the server answered 200 OK with an error: the index is being built
        hint: if that is no error, say in the backend what one looks like: `failed: .body.error != null`
    !   Team red     a.yaml:6
        unknown: as above
    =   Space shop   a.yaml:11
    Applied: 2 unknown, 1 in sync. 1 object seen in 2 requests.
    ");
    let told = teams(|_| Say::json(r#"{"items": [], "errors": ["shard 3 did not answer"]}"#));
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: listing Team: the server answered 200 OK with an error: shard 3 did not answer
        hint: if that is no error, say in the backend what one looks like: `failed: .body.error != null`
    !   Team red     a.yaml:6
        unknown: as above
    =   Space shop   a.yaml:11
    Applied: 2 unknown, 1 in sync. 1 object seen in 2 requests.
    ");
    let told =
        teams(|_| Say::json(&format!(r#"{{"items": [{RED}], "success": false, "message": "partial"}}"#)));
    assert_snapshot!(told, @"
    exit 1
    !   Team blue    a.yaml:1
        unknown: listing Team: the server answered 200 OK with an error: partial
        hint: if that is no error, say in the backend what one looks like: `failed: .body.error != null`
    !   Team red     a.yaml:6
        unknown: as above
    =   Space shop   a.yaml:11
    Applied: 2 unknown, 1 in sync. 1 object seen in 2 requests.
    ");
}

#[test]
fn an_error_inside_a_200_in_the_place_of_an_object() {
    for error in [
        r#"{"error": "the database is down"}"#,
        r#"{"status": "error", "message": "the database is down"}"#,
        r#"{"success": false, "message": "the database is down"}"#,
        r#"{"errors": [{"detail": "the database is down"}]}"#,
    ] {
        let told = apply(
            |text| text,
            move |seen| match seen.line.as_str() {
                "GET /spaces/shop" => Say::json(error),
                _ => items(&format!("{RED}, {}", RED.replace("\"1\"", "\"2\"").replace("red", "blue"))),
            },
        );
        assert!(told.contains("the server answered 200 OK with an error: "), "{told}");
        assert!(told.contains("the database is down"), "{told}");
        assert!(told.contains("Applied: 1 unknown, 2 in sync."), "{told}");
    }
}

#[test]
fn a_list_or_a_text_in_the_place_of_an_object() {
    let both = format!("{RED}, {}", RED.replace("\"1\"", "\"2\"").replace("red", "blue"));
    for (answer, what) in
        [("[]", "a list"), (r#"[{"id": "shop"}]"#, "a list"), (r#""shop""#, "a string"), ("7", "a number")]
    {
        let both = both.clone();
        let told = apply(
            |text| text,
            move |seen| match seen.line.as_str() {
                "GET /spaces/shop" => Say::json(answer),
                _ => items(&both),
            },
        );
        assert!(
            told.contains(&format!("unknown: the server answered with {what}, and its document says a map")),
            "{told}"
        );
        assert!(told.contains("Applied: 1 unknown, 2 in sync."), "{told}");
    }
}

/// What the answer to a create says does not count as done.
#[test]
fn an_error_inside_the_200_of_a_write() {
    let raw = Raw::new(|seen| match seen.line.starts_with("GET ") {
        true => items(""),
        false => Say::json(r#"{"success": false, "error": "the quota is used up"}"#),
    });
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), ""));
    scratch.write("a.yaml", OBJECTS);
    let done = scratch.trueup("apply --yes -f a.yaml -f backend.yaml --only Team/red").done();
    assert_snapshot!(done.told(), @"
    exit 1
    !   Team red   a.yaml:6
        failed: creating Team red: the server answered 200 OK with an error: the quota is used up
        hint: if that is no error, say in the backend what one looks like: `failed: .body.error != null`
    Applied: 1 failed. 0 objects seen in 10 requests.
    ");
}

/// A field called `error` is a field.
#[test]
fn an_object_that_tells_of_an_error_of_its_own() {
    let told = apply(
        |text| text,
        |seen| match seen.line.as_str() {
            "GET /spaces/shop" => {
                Say::json(r#"{"id": "shop", "description": "The shop", "error": "last run failed"}"#)
            }
            _ => items(&format!("{RED}, {}", RED.replace("\"1\"", "\"2\"").replace("red", "blue"))),
        },
    );
    assert!(told.contains("All 3 objects are in sync"), "{told}");
}

/// Where the backend says what an error looks like, nothing is guessed.
#[test]
fn an_error_that_the_backend_describes() {
    let failed = |text: String| text.replace("visible: 300ms", "failed: .body.reason != null");
    let told = apply(failed, |seen| match seen.line.as_str() {
        "GET /spaces/shop" => Say::json(SHOP),
        _ => Say::json(r#"{"items": [], "reason": "no shard answers"}"#),
    });
    assert!(told.contains("unknown: listing Team: the server answered 200 OK: no shard answers\n"), "{told}");
    let told = apply(failed, |seen| match seen.line.as_str() {
        "GET /spaces/shop" => Say::json(SHOP),
        _ => {
            let blue = RED.replace("\"1\"", "\"2\"").replace("red", "blue");
            Say::json(&format!(r#"{{"items": [{RED}, {blue}], "errors": ["an old one"]}}"#))
        }
    });
    assert!(told.contains("All 3 objects are in sync"), "{told}");
}

/// A proxy, a gateway or another API that answers 200 with JSON of its own: written back whole with ours laid over
/// it, it would erase what the object has.
#[test]
fn an_answer_of_another_api() {
    let whole = |text: String| text.replace("update: PATCH /spaces/{name}", "update: PUT /spaces/{name}");
    for body in [r#"{"status": "ok", "uptime": 17}"#, "{}", r#"["shop"]"#] {
        let told = apply(whole, |seen| match &*seen.line {
            "GET /spaces/shop" => Say::json(body),
            _ => items(&format!(r#"{RED}, {{"id": "2", "name": "blue", "description": "The blue team"}}"#)),
        });
        assert!(
            told.starts_with("exit 1\n") && told.contains("unknown: the server answered with something else"),
            "{told}"
        );
    }
}

/// What a machine reads of it, and of a key that is another's.
#[test]
fn a_wrong_object_has_its_reason() {
    for (body, reason) in [
        (r#"{"status": "ok"}"#, "WrongObject"),
        (r#"{"id": "other", "description": "The shop"}"#, "WrongObject"),
        ("null", "NotTheApi"),
    ] {
        let raw = Raw::new(|_| Say::json(body));
        let whole = backend(&raw.url(), "").replace("update: PATCH /spaces", "update: PUT /spaces");
        let scratch = Scratch::with("backend.yaml", whole);
        scratch.write("a.yaml", OBJECTS.rsplit("---\n").next().expect("the space"));
        let told = scratch.trueup("plan --output json -f a.yaml -f backend.yaml").done().expect(1).json();
        let object = &told["objects"][0];
        assert_eq!((&object["result"], &object["reason"]), (&"unknown".into(), &reason.into()), "{told}");
    }
}
