//! The main job on the example that comes with the project: validate, plan, apply, in sync, drift, get, delete.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::{Done, Scratch, copy};

/// The project's `manifests/` in a folder of its own; the store comes to lie beside them.
fn example() -> Scratch {
    let scratch = Scratch::new();
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    copy(&manifests, &scratch.path("manifests"));
    scratch
}

fn applied() -> Scratch {
    let scratch = example();
    run(&scratch, "apply --yes").expect(0);
    scratch
}

fn run(scratch: &Scratch, line: &str) -> Done {
    scratch.trueup(&format!("{line} -f manifests/")).done()
}

/// Replaces a text in a file of the example.
fn edit(scratch: &Scratch, file: &str, from: &str, to: &str) {
    let text = std::fs::read_to_string(scratch.path(file)).expect("it is there");
    assert!(text.contains(from), "{file} has no `{from}`");
    scratch.write(file, text.replace(from, to));
}

/// What somebody else does on the server: `manifests/` with one edit, applied from elsewhere.
fn foreign(scratch: &Scratch, file: &str, from: &str, to: &str) {
    edit(scratch, file, from, to);
    run(scratch, "apply --yes").expect(0);
    edit(scratch, file, to, from);
}

#[test]
fn from_nothing_to_in_sync() {
    let scratch = example();
    assert_snapshot!(run(&scratch, "validate").told(), @"
    exit 0
    6 documents are valid, 48 kinds known.
    ");
    assert_snapshot!(run(&scratch, "plan").told(), @"
    exit 0
    +   Space shop             manifests/shop/services.yaml:1
    +   Service shop/web       manifests/shop/services.yaml:7
    +   Service shop/api       manifests/shop/services.yaml:17
    +   Team platform          manifests/shop/teams.yaml:1
    +   Team storefront        manifests/shop/teams.yaml:10
    +   Webhook shop/deploys   manifests/shop/webhooks.yaml:1
    Plan: 6 to create. 0 objects seen in 2 requests.
    ");
    assert_snapshot!(run(&scratch, "apply --yes").told(), @"
    exit 0
    +   Space shop             manifests/shop/services.yaml:1    created
    +   Service shop/web       manifests/shop/services.yaml:7    created
    +   Service shop/api       manifests/shop/services.yaml:17   created
    +   Team platform          manifests/shop/teams.yaml:1       created
    +   Team storefront        manifests/shop/teams.yaml:10      created
    +   Webhook shop/deploys   manifests/shop/webhooks.yaml:1    created
    Applied: 6 created. 6 objects seen in 18 requests.
    ");
    assert_snapshot!(run(&scratch, "apply --yes").told(), @"
    exit 0
    All 6 objects are in sync; nothing was written. 6 objects seen in 5 requests.
    ");
    assert_snapshot!(run(&scratch, "apply").told(), @"
    exit 0
    All 6 objects are in sync; nothing was written. 6 objects seen in 5 requests.
    ");
    assert_snapshot!(run(&scratch, "drift").told(), @"
    exit 0
    All 6 objects are in sync. 6 objects seen in 5 requests.
    ");
}

#[test]
fn a_plan_writes_nothing() {
    let scratch = example();
    for line in ["validate", "plan", "drift", "get", "apply", "delete"] {
        run(&scratch, line);
    }
    let told = run(&scratch, "plan --detailed-exitcode").expect(2);
    assert!(told.out.ends_with("Plan: 6 to create. 0 objects seen in 2 requests.\n"), "{}", told.out);
}

#[test]
fn a_change_of_ours() {
    let scratch = applied();
    edit(&scratch, "manifests/shop/services.yaml", "shop/web:4.2.0", "shop/web:4.3.0");
    edit(&scratch, "manifests/shop/teams.yaml", "[ada, grace]", "[ada, grace, edsger]");
    assert_snapshot!(run(&scratch, "plan").told(), @r#"
    exit 0
    ~   Service shop/web   manifests/shop/services.yaml:7
          containers[name=app].image   "shop/web:4.2.0" → "shop/web:4.3.0"   differs on the server
    ~   Team platform      manifests/shop/teams.yaml:1
        + members[2]   "edsger"   missing on the server
    Plan: 2 to update, 4 in sync. 6 objects seen in 5 requests.
    "#);
    assert_snapshot!(run(&scratch, "apply --yes --detailed-exitcode").told(), @r#"
    exit 2
    ~   Service shop/web   manifests/shop/services.yaml:7   updated
          containers[name=app].image   "shop/web:4.2.0" → "shop/web:4.3.0"   differs on the server
    ~   Team platform      manifests/shop/teams.yaml:1      updated
        + members[2]   "edsger"   missing on the server
    Applied: 2 updated, 4 in sync. 6 objects seen in 14 requests.
    "#);
    assert_snapshot!(run(&scratch, "plan --detailed-exitcode").told(), @"
    exit 0
    All 6 objects are in sync. 6 objects seen in 5 requests.
    ");
}

#[test]
fn a_change_of_someone_else() {
    let scratch = applied();
    foreign(&scratch, "manifests/shop/services.yaml", "replicas: 3", "replicas: 30");
    assert_snapshot!(run(&scratch, "drift").told(), @"
    exit 2
    ~   Service shop/api   manifests/shop/services.yaml:17
          replicas   30 → 3   differs on the server
    Drift: 1 to update, 5 in sync. 6 objects seen in 5 requests.
    ");
    assert_snapshot!(run(&scratch, "apply --yes").told(), @"
    exit 0
    ~   Service shop/api   manifests/shop/services.yaml:17   updated
          replicas   30 → 3   differs on the server
    Applied: 1 updated, 5 in sync. 6 objects seen in 12 requests.
    ");
    assert_snapshot!(run(&scratch, "drift").told(), @"
    exit 0
    All 6 objects are in sync. 6 objects seen in 5 requests.
    ");
}

#[test]
fn an_object_that_went() {
    let scratch = applied();
    run(&scratch, "delete --yes --only Service/shop/api").expect(0);
    assert_snapshot!(run(&scratch, "drift").told(), @"
    exit 2
    +   Service shop/api   manifests/shop/services.yaml:17
    Drift: 1 to create, 5 in sync. 5 objects seen in 5 requests.
    ");
    assert_snapshot!(run(&scratch, "apply --yes -v").told(), @"
    exit 0
    =   Space shop             manifests/shop/services.yaml:1
    =   Service shop/web       manifests/shop/services.yaml:7
    +   Service shop/api       manifests/shop/services.yaml:17   created
    =   Team platform          manifests/shop/teams.yaml:1
    =   Team storefront        manifests/shop/teams.yaml:10
    =   Webhook shop/deploys   manifests/shop/webhooks.yaml:1
    Applied: 1 created, 5 in sync. 6 objects seen in 12 requests.
    ");
}

#[test]
fn a_part_of_it() {
    let scratch = applied();
    edit(&scratch, "manifests/shop/teams.yaml", "Keeps the lights on", "Keeps them on");
    edit(&scratch, "manifests/shop/services.yaml", "The web shop", "A web shop");
    assert_snapshot!(run(&scratch, "plan -l tier=core").told(), @r#"
    exit 0
    ~   Team platform   manifests/shop/teams.yaml:1
          description   "Keeps the lights on" → "Keeps them on"   differs on the server
    Plan: 1 to update. 2 objects seen in 1 request.
    "#);
    assert_snapshot!(run(&scratch, "plan --only Space/*").told(), @r#"
    exit 0
    ~   Space shop   manifests/shop/services.yaml:1
          description   "The web shop" → "A web shop"   differs on the server
    Plan: 1 to update. 1 object seen in 1 request.
    "#);
    assert_snapshot!(run(&scratch, "plan --exclude Team/* --exclude Space/*").told(), @"
    exit 0
    All 3 objects are in sync. 6 objects seen in 5 requests.
    ");
    assert_snapshot!(run(&scratch, "apply --yes -l tier=core").told(), @r#"
    exit 0
    ~   Team platform   manifests/shop/teams.yaml:1   updated
          description   "Keeps the lights on" → "Keeps them on"   differs on the server
    Applied: 1 updated. 2 objects seen in 4 requests.
    "#);
    assert_snapshot!(run(&scratch, "drift").told(), @r#"
    exit 2
    ~   Space shop   manifests/shop/services.yaml:1
          description   "The web shop" → "A web shop"   differs on the server
    Drift: 1 to update, 5 in sync. 6 objects seen in 5 requests.
    "#);
    assert_snapshot!(run(&scratch, "plan --only Nothing/*").told(), @"
    exit 64
    --- stderr
    error: `--only Nothing/*` selects none of the documents
    hint: the kinds are `Service`, `Space`, `Team`, `Webhook`
    ");
}

/// A part of it on an empty server: what it needs is made as well and told of, and where it is left out by name that is
/// said.
#[test]
fn a_part_whose_needs_are_not_there() {
    let scratch = example();
    assert_snapshot!(run(&scratch, "apply --yes --only Webhook/* --exclude Space").told(), @"
    exit 1
    !   Webhook shop/deploys   manifests/shop/webhooks.yaml:1
        failed: its parent `Space shop` does not exist
        hint: select it as well: `--only`, `--exclude` or `-l` leaves it out
    Applied: 1 failed. 0 objects seen in 1 request.
    ");
    assert_snapshot!(run(&scratch, "apply --yes --only Service/shop/web --exclude Team/*").told(), @"
    exit 4
    +   Space shop         manifests/shop/services.yaml:1   created
    !   Service shop/web   manifests/shop/services.yaml:7
        skipped: it needs `Team storefront`, which is not there
        hint: select it as well: `--only`, `--exclude` or `-l` leaves it out
    added: `Space shop`, needed by `Service shop/web`
    Applied: 1 created, 1 skipped. 1 object seen in 6 requests.
    ");
}

#[test]
fn live_objects() {
    let scratch = applied();
    assert_snapshot!(run(&scratch, "get").told(), @"
    exit 0
    KIND     SPACE  NAME  ID   OWNER  REVISION  REPLICAS
    Service  shop   api   api  1      1         3
    Service  shop   web   web  2      1         -

    KIND   NAME  ID    DESCRIPTION   REVISION
    Space  shop  shop  The web shop  1

    KIND  NAME        ID  DESCRIPTION          REVISION
    Team  platform    1   Keeps the lights on  1
    Team  storefront  2   What customers see   1

    KIND     SPACE  NAME     ID       REVISION  TOKEN     URL
    Webhook  shop   deploys  deploys  1         (secret)  https://chat.example.org/hooks/d…

    6 objects.
    ");
    assert_snapshot!(run(&scratch, "get Team/platform").told(), @"
    exit 0
    KIND  NAME      ID  DESCRIPTION
    Team  platform  1   Keeps the lights on

    1 object.
    ");
    assert_snapshot!(run(&scratch, "get Service/shop/* --output ndjson").told(), @r#"
    exit 0
    {"identity":{"backend":"demo","kind":"Service","key":{"space":"shop","name":"api"}},"id":"api","value":{"containers":[{"image":"shop/api:2.7.1","name":"app","port":9000}],"id":"api","owner":1,"replicas":3,"revision":1}}
    {"identity":{"backend":"demo","kind":"Service","key":{"space":"shop","name":"web"}},"id":"web","value":{"containers":[{"image":"nginx:1.29","name":"nginx","port":443},{"env":{"LOG_LEVEL":"info"},"image":"shop/web:4.2.0","name":"app","port":8080}],"hosts":["shop.example.org","www.shop.example.org"],"id":"web","owner":2,"revision":1}}
    "#);
    let done = scratch.trueup("get Team --backends manifests/backend.yaml").done();
    assert_snapshot!(done.told(), @"
    exit 0
    KIND  NAME        ID  DESCRIPTION          REVISION
    Team  platform    1   Keeps the lights on  1
    Team  storefront  2   What customers see   1

    2 objects.
    ");
}

#[test]
fn all_of_it_goes() {
    let scratch = applied();
    assert_snapshot!(run(&scratch, "delete").told(), @"
    exit 5
    -   Space shop             manifests/shop/services.yaml:1
    -   Service shop/web       manifests/shop/services.yaml:7
    -   Service shop/api       manifests/shop/services.yaml:17
    -   Team platform          manifests/shop/teams.yaml:1
    -   Team storefront        manifests/shop/teams.yaml:10
    -   Webhook shop/deploys   manifests/shop/webhooks.yaml:1
    Not deleted: 6 to delete. 6 objects seen in 7 requests.
    --- stderr
    error: nothing was written: what is planned was not confirmed
    hint: there is no terminal to ask in; add `--yes` to write without being asked
    ");
    assert_snapshot!(run(&scratch, "delete --yes").told(), @"
    exit 0
    -   Space shop             manifests/shop/services.yaml:1    deleted
    -   Service shop/web       manifests/shop/services.yaml:7    deleted
    -   Service shop/api       manifests/shop/services.yaml:17   deleted
    -   Team platform          manifests/shop/teams.yaml:1       deleted
    -   Team storefront        manifests/shop/teams.yaml:10      deleted
    -   Webhook shop/deploys   manifests/shop/webhooks.yaml:1    deleted
    Deleted: 6 deleted. 6 objects seen in 35 requests.
    ");
    assert_snapshot!(run(&scratch, "delete --yes").told(), @"
    exit 0
    All 6 objects are gone; nothing was written. 0 objects seen in 2 requests.
    ");
    assert_snapshot!(run(&scratch, "get").told(), @"
    exit 0
    0 objects.
    ");
}

#[test]
fn machines_get_the_same() {
    let scratch = applied();
    edit(&scratch, "manifests/shop/services.yaml", "replicas: 3", "replicas: 4");
    assert_snapshot!(run(&scratch, "plan --output json").told(), @r#"
    exit 0
    {
      "schemaVersion": 1,
      "command": "plan",
      "summary": {
        "total": 6,
        "actions": {
          "none": 5,
          "create": 0,
          "update": 1,
          "replace": 0,
          "delete": 0
        },
        "results": {
          "in-sync": 5,
          "planned": 1,
          "done": 0,
          "refused": 0,
          "conflict": 0,
          "failed": 0,
          "unknown": 0,
          "not-effective": 0,
          "skipped": 0,
          "extra": 0
        },
        "seen": 6,
        "requests": {
          "list": 1,
          "read": 4,
          "login": 0,
          "create": 0,
          "update": 0,
          "delete": 0,
          "total": 5
        },
        "interrupted": false,
        "notCompared": 0
      },
      "objects": [
        {
          "identity": {
            "backend": "demo",
            "kind": "Service",
            "key": {
              "space": "shop",
              "name": "api"
            }
          },
          "position": {
            "file": "manifests/shop/services.yaml",
            "line": 17,
            "column": 1
          },
          "action": "update",
          "result": "planned",
          "wrote": false,
          "changes": [
            {
              "path": "replicas",
              "before": 3,
              "after": 4,
              "reason": "declared",
              "line": 22
            }
          ],
          "findings": []
        }
      ]
    }
    "#);
    assert_snapshot!(run(&scratch, "plan --output ndjson").told(), @r#"
    exit 0
    {"type":"object","identity":{"backend":"demo","kind":"Service","key":{"space":"shop","name":"api"}},"position":{"file":"manifests/shop/services.yaml","line":17,"column":1},"action":"update","result":"planned","wrote":false,"changes":[{"path":"replicas","before":3,"after":4,"reason":"declared","line":22}],"findings":[]}
    {"type":"summary","schemaVersion":1,"command":"plan","summary":{"total":6,"actions":{"none":5,"create":0,"update":1,"replace":0,"delete":0},"results":{"in-sync":5,"planned":1,"done":0,"refused":0,"conflict":0,"failed":0,"unknown":0,"not-effective":0,"skipped":0,"extra":0},"seen":6,"requests":{"list":1,"read":4,"login":0,"create":0,"update":0,"delete":0,"total":5},"interrupted":false,"notCompared":0}}
    "#);
    let all = run(&scratch, "plan --output json -v").json();
    assert_eq!(all["objects"].as_array().map(Vec::len), Some(6));
    let done = run(&scratch, "apply --yes --output json").expect(0).json();
    assert_eq!(
        (&done["objects"][0]["result"], &done["summary"]["requests"]["update"]),
        (&"done".into(), &1.into())
    );
}

/// The exit code and the counts are one, whatever the format.
#[test]
fn formats_agree() {
    let scratch = applied();
    edit(&scratch, "manifests/shop/services.yaml", "replicas: 3", "replicas: 4");
    for format in ["text", "json", "ndjson"] {
        run(&scratch, &format!("drift --output {format}")).expect(2);
        run(&scratch, &format!("plan --output {format}")).expect(0);
        run(&scratch, &format!("plan --detailed-exitcode --output {format}")).expect(2);
    }
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let scratch = example();
    for line in ["plan", "plan -v", "plan --output json -v", "validate"] {
        let (first, second) = (run(&scratch, line), run(&scratch, line));
        assert_eq!((first.out, first.err), (second.out, second.err), "{line}");
    }
    let other = example();
    let (here, there) = (run(&scratch, "apply --yes"), run(&other, "apply --yes"));
    assert_eq!((here.out, here.err), (there.out, there.err));
    for line in ["plan -v", "get", "get --output json", "drift --output ndjson -v"] {
        let (here, there) = (run(&scratch, line), run(&other, line));
        assert_eq!((here.out, here.err), (there.out, there.err), "{line}");
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    let scratch = applied();
    edit(&scratch, "manifests/shop/services.yaml", "replicas: 3", "replicas: 4");
    let plain = run(&scratch, "plan");
    assert!(!plain.out.contains('\u{1b}'), "{:?}", plain.out);
    let coloured = run(&scratch, "plan --color always");
    assert!(coloured.out.contains("\u{1b}["), "{:?}", coloured.out);
    assert_eq!(without_colour(&coloured.out), plain.out);
    let line = "plan --color always -f manifests/";
    let forced = scratch.trueup(line).env("NO_COLOR", "1").done();
    assert_eq!(forced.out, coloured.out, "a flag is stronger than the environment");
    let twin = scratch.trueup("plan -f manifests/").env("TRUEUP_COLOR", "always").done();
    assert_eq!(twin.out, coloured.out);
    let json = run(&scratch, "plan --color always --output json");
    assert!(!json.out.contains('\u{1b}'), "{:?}", json.out);
    let problem = scratch.trueup("plan -f nowhere --color always").done();
    assert!(problem.err.contains("\u{1b}["), "{:?}", problem.err);
}

fn without_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once('m').map_or("", |(_, rest)| rest));
    }
    out
}
