//! `export`: live objects as manifests; what is adopted so is in sync, and stays the same when it is done again.

mod left_out;

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::servers::{Raw, Say, Seen};
use crate::support::{Done, Scratch, copy};

/// The example, applied to the built-in server.
fn applied() -> Scratch {
    let scratch = Scratch::new();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests"), &scratch.path("manifests"));
    scratch.trueup("apply --yes -f manifests/").done().expect(0);
    scratch
}

/// A backend whose kinds stand in `kinds`, at this address.
fn backend(url: &str, kinds: &str) -> String {
    format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: demo}}\nspec:\n  url: {url}\n  kinds:\n{kinds}"
    )
}

const THINGS: &str = "    Thing: {key: {name: .name}, list: GET /things, read: 'GET /things/{name}', create: 'PUT /things/{name}'}\n";

/// A server that says this of `/things`, and of each thing by its name.
fn things(body: Value) -> Raw {
    Raw::new(move |seen| match seen.line.strip_prefix("GET /things/") {
        Some(name) => {
            let all = body.as_array().expect("a list");
            Say::json(&all.iter().find(|thing| thing["name"] == name).expect("a thing").to_string())
        }
        None => Say::json(&body.to_string()),
    })
}

fn export(scratch: &Scratch, line: &str) -> Done {
    scratch.trueup(&format!("export --backends b.yaml {line}")).done()
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    let file = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path()).expect("a text");
        (entry.file_name().to_string_lossy().into_owned(), text)
    };
    let mut files: Vec<_> = entries.map(|entry| file(entry.expect("an entry"))).collect();
    files.sort();
    files
}

#[test]
fn what_is_exported_is_in_sync() {
    let scratch = applied();
    let done = scratch.trueup("export -f manifests/ Team Webhook/*").done().expect(0);
    assert_snapshot!(done.told(), @"
    exit 0
    apiVersion: demo
    kind: Team
    metadata:
      name: platform
    spec:
      description: Keeps the lights on
      members:
        - ada
        - grace
    ---
    apiVersion: demo
    kind: Team
    metadata:
      name: storefront
    spec:
      description: What customers see
      members:
        - linus
    ---
    apiVersion: demo
    kind: Webhook
    metadata:
      space: shop
      name: deploys
    # left out: token (secret)
    spec:
      events:
        - deployed
        - rolled-back
      url: https://chat.example.org/hooks/deploys
    --- stderr
    3 documents exported. 3 requests.
    ");

    assert_snapshot!(scratch.trueup("export --backends manifests/backend.yaml -o adopted/demo").done().told(), @"
    exit 0
    adopted/demo/Space.yaml     1 document
    adopted/demo/Service.yaml   2 documents
    adopted/demo/Team.yaml      2 documents
    adopted/demo/Webhook.yaml   1 document
    --- stderr
    6 documents exported. 4 requests.
    ");
    let first = files(&scratch.path("adopted/demo"));
    scratch.trueup("export --backends manifests/backend.yaml -o adopted/demo -q").done().expect(0);
    assert_eq!(files(&scratch.path("adopted/demo")), first, "the same state gives the same bytes");
    let plan = scratch.trueup("drift -f adopted/ --backends manifests/backend.yaml").done().expect(0);
    assert_eq!(plan.out, "All 6 objects are in sync. 6 objects seen in 5 requests.\n");
}

#[test]
fn json_is_read_back_as_well() {
    let scratch = applied();
    let done = scratch.trueup("export --backends manifests/backend.yaml --output json").done().expect(0);
    let told = done.json();
    assert_eq!(told["summary"], json!({"documents": 6, "leftOut": 0, "requests": 4}));
    for (at, document) in told["documents"].as_array().expect("documents").iter().enumerate() {
        scratch.write(&format!("adopted/{at}.json"), document.to_string());
    }
    scratch.trueup("drift -f adopted/ --backends manifests/backend.yaml").done().expect(0);

    let lines =
        scratch.trueup("export --backends manifests/backend.yaml --output ndjson Space").done().expect(0);
    assert_snapshot!(lines.out, @r#"
    {"type":"document","document":{"apiVersion":"demo","kind":"Space","metadata":{"name":"shop"},"spec":{"description":"The web shop"}}}
    {"type":"summary","schemaVersion":1,"command":"export","summary":{"documents":1,"leftOut":0,"requests":1}}
    "#);
}

#[test]
fn a_choice_holds_and_a_stale_file_is_told() {
    let scratch = applied();
    let export = |line: &str| scratch.trueup(&format!("export -f manifests/ -o out {line}")).done();
    export("").expect(0);
    assert_snapshot!(export("--only Team/* --only Service --exclude */web").told(), @"
    exit 0
    out/Service.yaml   1 document
    out/Team.yaml      2 documents
    --- stderr
    3 documents exported. 4 requests.
    ");
    scratch.trueup("delete --yes -f manifests/ --only Webhook").done().expect(0);
    assert_snapshot!(export("").told(), @"
    exit 0
    out/Space.yaml     1 document
    out/Service.yaml   2 documents
    out/Team.yaml      2 documents
    --- stderr
    warning: `out/Webhook.yaml` is from before: there are no such objects now
    hint: remove it
    5 documents exported. 4 requests.
    ");
    assert_eq!(export("Team/nobody Taem").code(), 64);
    assert_snapshot!(export("Team/nobody -q").told(), @"
    exit 1
    --- stderr
    error: no object matches `Team/nobody`
    ");
}

#[test]
fn what_no_document_can_say_is_named() {
    let server = things(json!([
        {"name": "", "v": 1}, {"name": "..", "v": 2}, {"name": "gone", "phase": "ending"}, {"name": "twice", "v": 1},
        {"name": "twice", "v": 2}, {"v": 3}, {"name": "no", "on": "012", "n": 18446744073709551617_u128 as f64, "z": null},
    ]));
    let kinds = THINGS.replace("key:", "deleting: .body.phase == \"ending\", key:");
    let scratch = Scratch::with("b.yaml", backend(&server.url(), &kinds));
    assert_snapshot!(export(&scratch, "").told(), @r#"
    exit 1
    apiVersion: demo
    kind: Thing
    metadata:
      name: "no"
    spec:
      "n": 1.8446744073709552e+19
      "on": "012"
    --- stderr
    warning: `Thing ` is left out: no document can name it: the `name` of a `Thing` is empty
    warning: `Thing ..` is left out: no document can name it: the `name` of a `Thing` is `..`
    warning: `Thing gone` is left out: the server is deleting it
    warning: `Thing twice` is left out: another object has the same name
    warning: `Thing twice` is left out: another object has the same name
    1 document exported, 5 objects left out. 1 request.
    error: listing Thing: item 6: it has no `name` at `.name`
    "#);
}

#[test]
fn a_kind_that_fails_does_not_stop_the_others() {
    let server = Raw::new(|seen| match seen.line.split(' ').nth(1) {
        Some("/others") => Say::answer("403 Forbidden", "", ""),
        _ => Say::json(r#"[{"name": "a", "v": 1}]"#),
    });
    let kinds = format!("{THINGS}{}", THINGS.replace("things", "others").replace("Thing", "Other"));
    let scratch = Scratch::with("b.yaml", backend(&server.url(), &kinds));
    assert_snapshot!(export(&scratch, "").told(), @"
    exit 1
    apiVersion: demo
    kind: Thing
    metadata:
      name: a
    spec:
      v: 1
    --- stderr
    1 document exported. 2 requests.
    error: listing Other: the server answered 403 Forbidden
    hint: the server knows who asks and does not allow it; the backend states no `auth`
    ");
}

/// Spaces below tenants, rooms below spaces; the listing of rooms shows names only.
fn tree(seen: &Seen) -> Say {
    let path = seen.line.split(' ').nth(1).unwrap_or_default();
    let body = match path {
        "/tenants" => json!([{"name": "t1"}, {"name": "t2"}]),
        "/tenants/t1/spaces" => json!([{"name": "a"}]),
        "/tenants/t2/spaces" => json!([{"name": "b"}]),
        "/tenants/t1/spaces/a/rooms" => json!([{"name": "r2"}, {"name": "r1"}]),
        "/tenants/t2/spaces/b/rooms" => json!([]),
        "/tenants/t1/spaces/a/rooms/r1" => json!({"name": "r1", "size": 1}),
        "/tenants/t1/spaces/a/rooms/r2" => json!({"name": "r2", "size": 2}),
        "/tenants/t1/settings" => json!({"theme": "dark"}),
        _ => return Say::answer("404 Not Found", "", ""),
    };
    Say::json(&body.to_string())
}

const TREE: &str = "    Tenant: {key: {name: .name}, list: GET /tenants}
    Space: {parent: {tenant: Tenant}, key: {name: .name}, list: 'GET /tenants/{tenant}/spaces'}
    Settings: {parent: {tenant: Tenant}, read: 'GET /tenants/{tenant}/settings', update: 'PUT /tenants/{tenant}/settings'}
    Room:
      parent: {tenant: Tenant, space: Space}
      key: {name: .name}
      list: {request: 'GET /tenants/{tenant}/spaces/{space}/rooms', partial: true}
      read: GET /tenants/{tenant}/spaces/{space}/rooms/{name}
    Repo: {parent: {org: none}, key: {name: .name}, list: 'GET /orgs/{org}/repos'}
    Flag: {key: {name: .name}, read: 'GET /flags/{name}', create: 'PUT /flags/{name}'}
";

#[test]
fn children_follow_their_parents_and_partial_items_are_read() {
    let server = Raw::new(tree);
    let scratch = Scratch::with("b.yaml", backend(&server.url(), TREE));
    assert_snapshot!(export(&scratch, "Room Settings Tenant").told(), @"
    exit 0
    apiVersion: demo
    kind: Tenant
    metadata:
      name: t1
    spec: {}
    ---
    apiVersion: demo
    kind: Tenant
    metadata:
      name: t2
    spec: {}
    ---
    apiVersion: demo
    kind: Room
    metadata:
      tenant: t1
      space: a
      name: r1
    spec:
      size: 1
    ---
    apiVersion: demo
    kind: Room
    metadata:
      tenant: t1
      space: a
      name: r2
    spec:
      size: 2
    ---
    apiVersion: demo
    kind: Settings
    metadata:
      tenant: t1
    spec:
      theme: dark
    --- stderr
    5 documents exported. 9 requests.
    ");
    let asked = server.lines();
    assert!(
        !asked.iter().any(|line| line.contains("/t1/spaces/b") || line.contains("/t2/spaces/a")),
        "{asked:?}"
    );
    assert_snapshot!(export(&scratch, "Repo Flag").told(), @"
    exit 1
    --- stderr
    0 documents exported. 0 requests.
    error: no Flag is exported: its backend declares no `list`
    error: no Repo is exported: no document says which `org` is meant
    hint: give a document of a Repo with `-f`
    ");
    scratch.write("repo.yaml", "apiVersion: demo\nkind: Repo\nmetadata: {org: acme, name: x}\nspec: {}\n");
    let with_document = export(&scratch, "Repo -f repo.yaml");
    assert!(server.lines().contains(&"GET /orgs/acme/repos".to_owned()), "{}", with_document.told());
}

#[test]
fn a_secret_never_leaves_the_server() {
    const CANARY: &str = "tok-CANARY/4711";
    let server = things(json!([
        {"name": "a", "token": CANARY, "other": "x"},
        {"name": "b", "url": format!("https://u:{CANARY}@h/"), "list": [1, CANARY], "env": {"KEY": CANARY, "A": 1}},
        {"name": CANARY},
    ]));
    let kinds = THINGS.replace("key:", "fields: {env: closed}, key:");
    let scratch = Scratch::with("b.yaml", backend(&server.url(), &kinds));
    scratch.write(
        "a.yaml",
        "apiVersion: demo\nkind: Thing\nmetadata: {name: a}\nspec: {token: !secret env:CANARY}\n",
    );
    for format in ["text", "json", "ndjson"] {
        let line = format!("export --backends b.yaml -f a.yaml --output {format}");
        let done = scratch.trueup(&line).env("CANARY", CANARY).done();
        assert!(!done.told().contains("CANARY/"), "{}", done.told());
        assert_eq!(done.code(), 1, "an object whose name is a secret");
        if format == "text" {
            assert_snapshot!(done.told(), @"
            exit 1
            apiVersion: demo
            kind: Thing
            metadata:
              name: a
            # left out: token (secret)
            spec:
              other: x
            ---
            apiVersion: demo
            kind: Thing
            metadata:
              name: b
            # left out: list (secret)
            # left out: url (secret)
            spec:
              env:
                A: 1
                KEY: !secret env:THING_B_ENV_KEY
            --- stderr
            warning: `Thing (secret)` is left out: its name holds a secret
            2 documents exported, 1 object left out. 1 request.
            ");
        }
    }
    let line = "export Thing/b --backends b.yaml -f a.yaml -o out";
    scratch.trueup(line).env("CANARY", CANARY).done().expect(0);
    let drift = scratch.trueup("drift -f out --backends b.yaml").done();
    assert_eq!(drift.code(), 0, "{}", drift.told());
}

#[test]
fn verbatim_documents_are_exported_as_they_are() {
    let server = things(json!([{
        "apiVersion": "v1", "kind": "Thing",
        "metadata": {"name": "a", "uid": "7", "labels": {"app": "web"}, "annotations": {"x": "1", "trueup/was": "b"}},
        "data": {"on": "yes"}, "status": {"ready": true},
    }]));
    let kinds = "    Thing:
      document: {apiVersion: v1, kind: Thing}
      key: {name: .metadata.name}
      id: .metadata.uid
      list: GET /things
      fields: {status: server-owned}
";
    let scratch = Scratch::with("b.yaml", backend(&server.url(), kinds));
    let done = export(&scratch, "-l app=web");
    assert_snapshot!(done.told(), @r#"
    exit 0
    apiVersion: v1
    kind: Thing
    metadata:
      annotations:
        x: "1"
      labels:
        app: web
      name: a
    data:
      "on": "yes"
    --- stderr
    1 document exported. 1 request.
    "#);
    scratch.write("a.yaml", done.out);
    scratch.trueup("drift -f a.yaml --backends b.yaml").done().expect(0);
    assert_eq!(export(&scratch, "-l app=db").out, "");

    let kinds = kinds.replace("status: server-owned", "metadata: server-owned");
    scratch.write("b.yaml", backend(&server.url(), &kinds));
    let nameless = export(&scratch, "");
    assert!(
        nameless.err.contains("`Thing a` is left out: a document of it would not say its name"),
        "{}",
        nameless.told()
    );
}

#[test]
fn a_folder_that_cannot_be_written() {
    let server = things(json!([{"name": "a"}]));
    let scratch = Scratch::with("b.yaml", backend(&server.url(), THINGS));
    scratch.write("file", "");
    assert_snapshot!(export(&scratch, "-o file/below").told(), @"
    exit 1
    --- stderr
    error: writing `file/below`: not a directory
    ");
    assert_snapshot!(scratch.trueup("export").done().told(), @"
    exit 64
    --- stderr
    error: no backends are given
    hint: name where the Backend documents are: `trueup export --backends FILE` or `-f manifests/`
    ");
}

#[test]
fn many_objects_come_page_by_page() {
    let server = Raw::new(|seen| {
        let page: usize =
            seen.line.split("page=").nth(1).and_then(|n| n.split('&').next()?.parse().ok()).unwrap_or(1);
        let items: Vec<Value> =
            (0..500).map(|n| json!({"name": format!("t{page:02}-{n:03}"), "v": n})).collect();
        Say::json(&json!({"items": if page > 8 { Vec::new() } else { items }, "total": 4000}).to_string())
    });
    let kinds = THINGS.replace(
        "GET /things,",
        "{request: GET /things, items: .items, page: {by: page, size: 500, total: .total}},",
    );
    let scratch = Scratch::with("b.yaml", backend(&server.url(), &kinds));
    let done = export(&scratch, "-o out").expect(0);
    assert_eq!(done.out, "out/Thing.yaml   4,000 documents\n");
    let text = fs::read_to_string(scratch.path("out/Thing.yaml")).expect("it is there");
    let names: Vec<&str> = text.lines().filter(|line| line.starts_with("  name: ")).collect();
    assert!(names.len() == 4000 && names.is_sorted(), "{}", names.len());
    scratch.trueup("drift -f out --backends b.yaml").done().expect(0);
}

/// A search by a part of a name shows `blueish` for `blue`, too: that is one object, and it is exported once.
#[test]
fn what_a_search_finds_besides_is_not_another_object() {
    let server = Raw::new(|seen| {
        let user = |name: &str| json!({"name": name, "role": "admin"});
        let all = [user("blue"), user("blueish"), user("blueprint")];
        let line = seen.line.to_ascii_lowercase();
        let name = line.split("name=").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        let found = all.iter().filter(|user| user["name"].as_str().is_some_and(|have| have.contains(name)));
        Say::json(&Value::from(found.cloned().collect::<Vec<_>>()).to_string())
    });
    let kind =
        "    User: {key: {name: .name}, list: 'GET /users?name={name}', fields: {name: ascii_downcase}}\n";
    let scratch = Scratch::with("b.yaml", backend(&server.url(), kind));
    let document =
        |name: &str| format!("apiVersion: demo\nkind: User\nmetadata: {{name: {name}}}\nspec: {{}}\n");
    scratch.write("a.yaml", format!("{}---\n{}", document("blue"), document("blueISH")));
    assert_snapshot!(export(&scratch, "User -f a.yaml").told(), @"
    exit 0
    apiVersion: demo
    kind: User
    metadata:
      name: blue
    spec:
      role: admin
    ---
    apiVersion: demo
    kind: User
    metadata:
      name: blueish
    spec:
      role: admin
    --- stderr
    2 documents exported. 2 requests.
    ");
    assert_snapshot!(scratch.trueup("get User -f a.yaml --backends b.yaml").done().told(), @"
    exit 0
    KIND  NAME     ROLE
    User  blue     admin
    User  blueish  admin

    2 objects.
    ");
}
