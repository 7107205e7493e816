//! `probe`: what is understood of live answers, what they contradict, what they suggest; and that it never writes.

use insta::assert_snapshot;
use serde_json::Value;

use crate::servers::{Raw, Say, Seen, Served};
use crate::support::{Done, Scratch};

/// A backend with these kinds, in the JSON-like half of YAML.
fn backend(url: &str, kinds: &str) -> String {
    format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: shop}}\nspec: {{url: '{url}', kinds: {kinds}}}\n"
    )
}

const GOOD: &str = "{
  Team: {key: {name: .name}, list: {request: GET /teams, items: .items, page: {by: cursor, next: .next, size: 2}},
         read: 'GET /teams/{id}', create: POST /teams, fields: {tags: set}},
  Space: {key: {name: .id}, list: {request: GET /spaces, items: .items, page: {by: cursor, next: .next, size: 100}},
          read: 'GET /spaces/{name}', create: 'PUT /spaces/{name}', version: .revision, fields: {id: server-owned, revision: server-owned}}}";

/// The built-in server with three teams and a space.
fn served(scratch: &Scratch) -> Served {
    let served = Served::start(scratch, "rules: []");
    for name in ["blue", "green", "red"] {
        let body =
            format!(r#"{{"name": "{name}", "tags": ["a"], "apiToken": "canary-4711", "pin": "****"}}"#);
        served.call("POST", "/teams", &body);
    }
    served.call("PUT", "/spaces/shop", "{}");
    scratch.write("backend.yaml", backend(&served.url(), GOOD));
    served
}

#[test]
fn a_backend_that_fits() {
    let scratch = Scratch::new();
    let served = served(&scratch);
    let before = served.written().len();
    let done = scratch.trueup("probe --backends backend.yaml").done();
    assert_snapshot!(done.told(), @r"
    exit 0
    Space of shop
      items       1 on one page, at `.items`
      keys        shop
      paging      by cursor of 100; one page, so that none was followed
      read        1 of 1 by themselves
      server id   at `.id`: a string
      version     at `.revision`; own reads have a strong `ETag` in their header

    Team of shop
      items       3 on 2 pages, at `.items`
      keys        blue, green, red
      paging      by cursor of 2; a second page was read
      read        3 of 3 by themselves
      server id   at `.id`: a number
      version     none declared; own reads have a strong `ETag` in their header
      + the answers suggest
          version: etag  # own reads have a strong `ETag`: it guards updates
          fields:
            apiToken: secret             # a secret, by its name
            pin: [secret, 'mask=^\*+$']  # the server hides its value
            id: server-owned             # the server's id

    Probed: 2 kinds, 0 contradictions, 4 suggestions. 11 requests, none of which wrote.
    ");
    assert_eq!(served.written().len(), before, "nothing is written");
    assert!(!done.out.contains("canary"), "values of fields are not shown");
}

#[test]
fn one_kind_few_objects_and_json() {
    let scratch = Scratch::new();
    let _served = served(&scratch);
    let run = scratch.trueup("probe shop/Team --output json").env("TRUEUP_BACKENDS", "backend.yaml");
    let json = run.env("TRUEUP_LIMIT", "1").done().expect(0).json();
    assert_eq!(json["command"], "probe");
    assert_eq!(json["kinds"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["kinds"][0]["understood"][3]["text"], "1 of 1 by themselves", "{json}");
    assert_eq!(json["summary"]["requests"]["read"], 2, "{json}");
    assert!(!json.to_string().contains("canary"), "{json}");
}

#[test]
fn names_that_are_not_there() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", GOOD));
    for (asked, want) in [
        (
            "shpo",
            "error: there is no backend `shpo`\nhint: did you mean `shop`? the backends with kinds are `shop`\n",
        ),
        (
            "shop/Taem",
            "error: the backend `shop` has no kind `Taem`\nhint: did you mean `Team`? the kinds are `Space`, `Team`\n",
        ),
    ] {
        let done = scratch.trueup(&format!("probe {asked} --backends backend.yaml")).done().expect(64);
        assert_eq!(done.err, want);
    }
    let none = Scratch::with(
        "backend.yaml",
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec: {url: 'embedded:x'}\n",
    );
    let done = none.trueup("probe --backends backend.yaml").done().expect(64);
    assert!(done.err.starts_with("error: there are no kinds to probe"), "{}", done.err);
}

#[test]
fn a_server_that_is_not_there() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", GOOD));
    let done = scratch.trueup("probe shop/Space --backends backend.yaml").done();
    assert_snapshot!(done.told(), @"
    exit 1
    Space of shop
      ! ListFailed: listing Space: cannot connect to `http://127.0.0.1:PORT`: connection refused
        hint: is the server running, and is the backend's `url` right?

    Probed: 1 kind, 0 contradictions, 1 not reached, 0 suggestions. 0 requests, none of which wrote.
    ");
}

/// The one kind `Team` of a server that answers like this.
fn probe(kind: &str, answer: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> Done {
    let raw = Raw::new(answer);
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), &format!("{{Team: {{{kind}}}}}")));
    let done = scratch.trueup("probe --backends backend.yaml --output json").done();
    assert!(raw.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", raw.lines());
    done
}

const TEAM: &str = "key: {name: .name}, list: {request: GET /t, items: .items}, read: 'GET /t/{name}'";

/// A listing with this body, and an own read with these headers and this body.
fn answers(list: &'static str, headers: &'static str, read: &'static str) -> impl Fn(&Seen) -> Say {
    move |seen| match seen.line.starts_with("GET /t/") {
        true if read.is_empty() => Say::answer("404 Not Found", "", ""),
        true => Say::answer("200 OK", headers, read),
        false => Say::json(list),
    }
}

fn told(done: &Done, member: &str) -> Vec<String> {
    let kind = &done.json()["kinds"][0];
    let text = |one: &Value| {
        format!("{}: {}", one["code"].as_str().unwrap_or("?"), one["message"].as_str().unwrap_or("?"))
    };
    kind[member].as_array().expect("a list").iter().map(text).collect()
}

/// A kind, its listing, headers and body of an own read, and a contradiction that is told of them.
type Row = (String, &'static str, &'static str, &'static str, &'static str);

/// A listing of one team, and that team.
const RED: &str = r#"{"items": [{"name": "red"}]}"#;
const ONE: &str = r#"{"name": "red"}"#;

fn contradicted(rows: impl IntoIterator<Item = Row>) {
    for (kind, list, headers, read, want) in rows {
        let done = probe(&kind, answers(list, headers, read)).expect(2);
        let all = told(&done, "contradictions");
        assert!(all.iter().any(|one| one == want), "{want}: {all:?}");
    }
}

#[test]
fn listings_that_contradict() {
    contradicted([
        (
            TEAM.into(),
            r#"{"items": [{"name": null}]}"#,
            "",
            ONE,
            "KeyMissing: listing Team: item 1: it has no `name` at `.name`",
        ),
        (
            TEAM.into(),
            r#"{"items": {"red": 1}}"#,
            "",
            ONE,
            "ListFailed: listing Team: the answer has a map at `.items`, not a list",
        ),
        (
            TEAM.into(),
            r#"{"items": [{"name": "red"}, {"name": "red"}]}"#,
            "",
            ONE,
            "KeyNotUnique: two items on one page have the key `red`",
        ),
        (
            TEAM.into(),
            r#"{"error": "no index"}"#,
            "",
            ONE,
            "ListFailed: listing Team: the server answered 200 OK with an error: no index",
        ),
        (
            TEAM.replace("items: .items", "items: .items, page: {by: page, size: 5, total: .count}"),
            RED,
            "",
            ONE,
            "TotalMissing: the answer has no `total` at `.count`",
        ),
        (
            TEAM.replace("items: .items", "items: .items, page: {by: page, size: 1}"),
            r#"{"items": [{"name": "red"}, {"name": "blue"}]}"#,
            "",
            "",
            "PageSizeIgnored: a page was asked to hold 1, and the first one holds 2",
        ),
        (
            TEAM.into(),
            r#"{"items": [{"name": "red"}], "meta": {"next": "x"}}"#,
            "",
            ONE,
            "PagingIncomplete: the answer shows more (`.meta.next` in its body), and the backend declares no paging; declare `page: {by: cursor, next: .meta.next}`",
        ),
    ]);
}

#[test]
fn own_reads_that_contradict() {
    contradicted([
        (
            TEAM.into(),
            RED,
            "",
            "",
            "ReadAbsent: the list shows Team red, and its own read says that it is not there",
        ),
        (
            TEAM.into(),
            RED,
            "",
            r#"{"name": "blue"}"#,
            "ReadFailed: reading Team red: the server answered with another object: `blue`",
        ),
        (
            TEAM.into(),
            RED,
            "",
            r#"{"name": "red", "size": 5, "x": null}"#,
            "PartialUndeclared: own reads have what the items of the listing lack: `size`",
        ),
        (
            format!("{TEAM}, version: etag"),
            RED,
            "",
            ONE,
            "ETagMissing: `version: etag`, and own reads have no `ETag`",
        ),
        (
            format!("{TEAM}, version: etag"),
            RED,
            "etag: W/\"1\"\r\n",
            ONE,
            "ETagWeak: `version: etag`, and the `ETag` of own reads is weak",
        ),
        (
            format!("{TEAM}, version: .rev"),
            RED,
            "",
            ONE,
            "VersionMissing: an object has no version at `.rev`",
        ),
        (
            TEAM.replace("GET /t/{name}", "GET /t/{id}"),
            RED,
            "",
            ONE,
            "IdMissing: an item has no id at `.id`, and requests of the kind need it",
        ),
    ]);
}

#[test]
fn values_that_contradict() {
    contradicted([
        (
            format!("{TEAM}, fields: {{tags: set}}"),
            r#"{"items": [{"name": "red", "tags": "a"}]}"#,
            "",
            r#"{"name": "red", "tags": "a"}"#,
            "NotAList: `tags` is a string, and the word `set` is for lists",
        ),
        (
            format!("{TEAM}, fields: {{l: key=id}}"),
            r#"{"items": [{"name": "red", "l": []}]}"#,
            "",
            r#"{"name": "red", "l": [{"x": 1}]}"#,
            "ElementKey: an element of `l` has no `id`, by which `key=id` pairs them",
        ),
        (
            format!("{TEAM}, fields: {{ttl: duration}}"),
            r#"{"items": [{"name": "red", "ttl": 5}]}"#,
            "",
            r#"{"name": "red", "ttl": []}"#,
            "ComparerFails: `duration` makes nothing of `ttl`, which is a list",
        ),
    ]);
}

#[test]
fn paging_by_a_link_that_nobody_declared() {
    let raw = Raw::new(|seen| match seen.line.as_str() {
        "GET /t" => Say::answer("200 OK", "link: </t?page=2>; rel=\"next\"\r\n", r#"[{"name": "red"}]"#),
        _ => Say::json(r#"{"name": "red"}"#),
    });
    let kind = "{Team: {key: {name: .name}, list: GET /t, read: 'GET /t/{name}'}}";
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), kind));
    assert_snapshot!(scratch.trueup("probe --backends backend.yaml").done().told(), @"
    exit 2
    Team of shop
      items       1 on one page, at the body itself
      keys        red
      paging      none declared
      read        1 of 1 by themselves
      server id   none at `.id`, and none is needed
      version     none declared; own reads have no `ETag`
      ! PagingIncomplete: the answer shows more (a `Link` header names a next page), and the backend declares no paging; declare `page: {by: link}`
        hint: a listing that is not whole proves no absence
      + the answers suggest
          list:
            page: {by: link}  # the answer shows more than it holds

    Probed: 1 kind, 1 contradiction, 1 suggestion. 3 requests, none of which wrote.
    ");
}

#[test]
fn children_below_their_first_parents_and_scopes_of_documents() {
    let kinds = "{
      Org: {key: {name: .name}, list: GET /orgs},
      Team: {parent: {org: Org}, key: {name: .name}, list: 'GET /orgs/{org}/teams'},
      Member: {parent: {org: Org, team: Team}, key: {login: .login}, list: 'GET /orgs/{org}/teams/{team.id}/members'},
      Repo: {parent: {owner: none}, key: {name: .name}, list: 'GET /repos/{owner}'}}";
    let raw = Raw::new(|seen| {
        let path = seen.line.trim_start_matches("GET ");
        match path {
            "/orgs" => Say::json(r#"[{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]"#),
            "/orgs/a/teams" => Say::json(r#"[{"name": "x", "id": 7}]"#),
            "/orgs/c/teams" => Say::json(r#"[{"name": "y", "id": 9}]"#),
            "/orgs/a/teams/7/members" => Say::json(r#"[{"login": "eve"}]"#),
            _ => Say::json("[]"),
        }
    });
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), kinds));
    assert_snapshot!(scratch.trueup("probe --backends backend.yaml").done().told(), @"
    exit 0
    Member of shop
      items       1 on 2 pages below 2 parents, at the body itself
      keys        a/x/eve
      paging      none declared
      read        taken from the list
      server id   none at `.id`, and none is needed
      version     none declared; there is no own read that could have an `ETag`

    Org of shop
      items       4 on one page, at the body itself
      keys        a, b, c, d
      paging      none declared
      read        taken from the list
      server id   none at `.id`, and none is needed
      version     none declared; there is no own read that could have an `ETag`

    Repo of shop
      not looked at: no document of it says its `owner`, below which it is listed

    Team of shop
      items       2 on 3 pages below 3 parents, at the body itself
      keys        a/x, c/y
      paging      none declared
      read        taken from the list
      server id   at `.id`: a number
      version     none declared; there is no own read that could have an `ETag`
      + the answers suggest
          fields:
            id: server-owned  # the server's id

    Probed: 4 kinds, 0 contradictions, 1 not looked at, 1 suggestion. 12 requests, none of which wrote.
    ");
    let mut lines = raw.lines();
    lines.sort();
    lines.dedup();
    assert_eq!(
        lines,
        [
            "GET /orgs",
            "GET /orgs/a/teams",
            "GET /orgs/a/teams/7/members",
            "GET /orgs/b/teams",
            "GET /orgs/c/teams",
            "GET /orgs/c/teams/9/members"
        ]
    );
    scratch.write("a.yaml", "apiVersion: shop\nkind: Repo\nmetadata: {owner: me, name: r}\nspec: {}\n");
    let done = scratch.trueup("probe shop/Repo -f .").done().expect(0);
    assert!(done.out.contains("items       0 on one page, at the body itself"), "{}", done.told());
}

#[test]
fn one_object_and_objects_that_only_documents_name() {
    let kinds = "{
      Settings: {read: GET /settings, update: PUT /settings, version: etag, fields: {port: quantity, seen: server-owned}},
      Flag: {key: {name: .name}, read: 'GET /flags/{name}', update: 'PUT /flags/{name}'}}";
    let raw = Raw::new(|seen| match seen.line.as_str() {
        "GET /settings" => {
            Say::answer("200 OK", "etag: \"1\"\r\n", r#"{"port": 80, "smtpPassword": "canary-4711"}"#)
        }
        "GET /flags/on" => Say::json(r#"{"name": "on", "value": true}"#),
        _ => Say::answer("503 Service Unavailable", "", "busy"),
    });
    let scratch = Scratch::with("backend.yaml", backend(&raw.url(), kinds));
    let flag =
        |name: &str| format!("apiVersion: shop\nkind: Flag\nmetadata: {{name: '{name}'}}\nspec: {{}}\n");
    scratch.write("a.yaml", format!("{}---\n{}", flag("on"), flag("off")));
    assert_snapshot!(scratch.trueup("probe -f .").done().told(), @"
    exit 1
    Flag of shop
      read        1 of 2 by themselves
      server id   none at `.id`, and none is needed
      version     none declared; own reads have no `ETag`
      ! ReadFailed: reading Flag off: the server answered 503 Service Unavailable: busy

    Settings of shop
      read        1 of 1 by themselves
      server id   none at `.id`, and none is needed
      version     `etag`; own reads have a strong `ETag` in their header
      ? ServerOwnedUnseen: `seen` is declared server-owned, and no object that was seen has it
      + the answers suggest
          fields:
            smtpPassword: secret  # a secret, by its name

    Probed: 2 kinds, 0 contradictions, 1 not reached, 1 not confirmed, 1 suggestion. 6 requests, none of which wrote.
    ");
}

#[test]
fn a_credential_that_the_server_does_not_take() {
    let raw = Raw::new(|_| Say::answer("401 Unauthorized", "", "canary-4711 has expired"));
    let text = backend(&raw.url(), GOOD).replace("spec: {", "spec: {auth: {bearer: !secret env:TOKEN}, ");
    let scratch = Scratch::with("backend.yaml", text);
    let run = scratch.trueup("probe shop/Team --backends backend.yaml").env("TOKEN", "canary-4711");
    assert_snapshot!(run.done().told(), @"
    exit 1
    Team of shop
      ! ListFailed: listing Team: the server answered 401 Unauthorized: (redacted) has expired
        hint: check the credential, which comes from env:TOKEN

    Probed: 1 kind, 0 contradictions, 1 not reached, 0 suggestions. 1 request, none of which wrote.
    ");
    // One that is not set contradicts nothing either.
    assert_snapshot!(scratch.trueup("probe shop/Team --backends backend.yaml").done().told(), @"
    exit 1
    Team of shop
      ! ListFailed: listing Team: the secret `env:TOKEN` is not set
        hint: set the environment variable `TOKEN`

    Probed: 1 kind, 0 contradictions, 1 not reached, 0 suggestions. 0 requests, none of which wrote.
    ");
}
