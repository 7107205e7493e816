//! Pruning: what a Set claims and no document names goes, with a proof, through all gates, and nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::servers::{Raw, Say, Seen};
use crate::support::{Done, Scratch};

pub const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: api}
spec:
  url: URL
  limits: {concurrency: 1}
  kinds:
    Zone:
      key: {name: .name}
      list: GET /zones
      read: GET /zones/{name}
      create: PUT /zones/{name}
      update: PUT /zones/{name}
      delete: DELETE /zones/{name}
    Record:
      parent: {zone: Zone}
      key: {name: .name}
      list: GET /zones/{zone}/records
      read: GET /zones/{zone}/records/{name}
      create: PUT /zones/{zone}/records/{name}
      update: PUT /zones/{zone}/records/{name}
      delete: DELETE /zones/{zone}/records/{name}
      owner: meta.owner
    Page:
      key: {name: .name}
      list: {request: GET /pages, items: .items, page: {by: page, size: 100}}
      read: GET /pages/{name}
      create: PUT /pages/{name}
      delete: DELETE /pages/{name}
";

pub const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: dns}
spec:
  owner: me
  scope: [{kind: Record, zone: a.org}]
---
apiVersion: api
kind: Record
metadata: {zone: a.org, name: www}
spec: {ttl: 60}
";

/// Objects by their paths, and answers that are given in place of them, by request line.
#[derive(Default)]
pub struct Store {
    objects: BTreeMap<String, Value>,
    instead: Vec<(String, String)>,
    /// What happens to objects when a request comes for the n-th time.
    moves: Vec<(String, usize, String, Value)>,
    counts: BTreeMap<String, usize>,
}

#[derive(Clone)]
pub struct Shop(Arc<Mutex<Store>>);

impl Shop {
    pub fn new(objects: &[(&str, Value)]) -> (Raw, Shop) {
        let objects = objects.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        let shop = Shop(Arc::new(Mutex::new(Store { objects, ..Store::default() })));
        let held = shop.clone();
        (Raw::new(move |seen| held.0.lock().expect("no test panics with it").answer(seen)), shop)
    }

    pub fn instead(&self, line: &str, status: &str) {
        self.0.lock().expect("no test panics with it").instead.push((line.into(), status.into()));
    }

    /// When `line` comes for the n-th time, `path` becomes this.
    pub fn moves(&self, line: &str, nth: usize, path: &str, value: Value) {
        let mut store = self.0.lock().expect("no test panics with it");
        store.moves.push((line.into(), nth, path.into(), value));
    }

    pub fn paths(&self) -> Vec<String> {
        self.0.lock().expect("no test panics with it").objects.keys().cloned().collect()
    }

    pub fn value(&self, path: &str) -> Value {
        self.0.lock().expect("no test panics with it").objects[path].clone()
    }
}

impl Store {
    fn answer(&mut self, seen: &Seen) -> Say {
        let count = self.counts.entry(seen.line.clone()).or_default();
        *count += 1;
        let due = |(line, nth, _, _): &&(String, usize, String, Value)| *line == seen.line && *nth == *count;
        for (_, _, path, value) in self.moves.iter().filter(due) {
            self.objects.insert(path.clone(), value.clone());
        }
        if let Some((_, status)) = self.instead.iter().find(|(line, _)| *line == seen.line) {
            return Say::answer(status, "", "");
        }
        let (method, path) = seen.line.split_once(' ').expect("a request");
        let path = path.split('?').next().expect("a path");
        match method {
            "DELETE" => {
                self.objects.retain(|have, _| have != path && !have.starts_with(&format!("{path}/")));
                Say::answer("204 No Content", "", "")
            }
            "PUT" => {
                let mut value: Value = serde_json::from_str(&seen.body).expect("JSON");
                value["name"] = path.rsplit('/').next().expect("a name").into();
                self.objects.insert(path.into(), value);
                Say::json("{}")
            }
            _ if path.split('/').count() % 2 == 1 => match self.objects.get(path) {
                Some(value) => Say::json(&value.to_string()),
                None => Say::answer("404 Not Found", "", ""),
            },
            _ => {
                let below = |have: &&String| have.rsplit_once('/').is_some_and(|(above, _)| above == path);
                let keys: Vec<&String> = self.objects.keys().filter(below).collect();
                let items: Vec<&Value> = keys.into_iter().map(|key| &self.objects[key]).collect();
                match path {
                    "/pages" => Say::json(&json!({"items": items}).to_string()),
                    _ => Say::json(&json!(items).to_string()),
                }
            }
        }
    }
}

pub fn folder(raw: &Raw, manifests: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", BACKEND.replace("URL", &raw.url()));
    scratch.write("a.yaml", manifests);
    scratch
}

pub fn run(scratch: &Scratch, line: &str) -> Done {
    let (verb, flags) = line.split_once(' ').unwrap_or((line, ""));
    scratch.trueup(&format!("{verb} -f a.yaml -f backend.yaml {flags}")).done()
}

pub fn record(name: &str, owner: Option<&str>) -> Value {
    match owner {
        Some(owner) => json!({"name": name, "ttl": 60, "meta": {"owner": owner}}),
        None => json!({"name": name, "ttl": 60}),
    }
}

pub fn zone(name: &str) -> (String, Value) {
    (format!("/zones/{name}"), json!({"name": name}))
}

/// A zone with the record of the file, one that left it, and one of somebody else.
pub fn stocked() -> (Raw, Shop) {
    let (a, zone) = zone("a.org");
    Shop::new(&[
        (&a, zone),
        ("/zones/a.org/records/www", record("www", Some("me"))),
        ("/zones/a.org/records/old", record("old", Some("me"))),
        ("/zones/a.org/records/users", record("users", None)),
        ("/zones/a.org/records/yours", record("yours", Some("you"))),
    ])
}

pub fn writes(raw: &Raw) -> Vec<String> {
    raw.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect()
}

#[test]
fn only_what_is_ours_goes_and_only_when_asked() {
    let (raw, shop) = stocked();
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "apply --yes");
    assert_eq!((done.code(), writes(&raw)), (0, vec![]), "{}", done.out);
    let done = run(&scratch, "apply --prune");
    assert_eq!((done.code(), writes(&raw)), (5, vec![]), "nobody agreed: {}", done.out);
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(
        (done.code(), writes(&raw)),
        (0, vec!["DELETE /zones/a.org/records/old".into()]),
        "{}",
        done.out
    );
    assert_eq!(run(&scratch, "apply --yes --prune").code(), 0);
    assert_eq!(writes(&raw).len(), 1, "{:?}", shop.paths());
}

#[test]
fn the_mark_is_written_with_a_create_and_for_what_lacks_it() {
    let (a, zone) = zone("a.org");
    let (raw, shop) = Shop::new(&[(&a, zone), ("/zones/a.org/records/www", record("www", None))]);
    let more = "---\napiVersion: api\nkind: Record\nmetadata: {zone: a.org, name: new}\nspec: {ttl: 5}\n";
    let scratch = folder(&raw, &format!("{SET}{more}"));
    assert_snapshot!(run(&scratch, "plan").out, @r#"
    ~   Record a.org/www   a.yaml:8
        + meta   {"owner":"me"}   missing on the server
    +   Record a.org/new   a.yaml:13
        LostUpdateRisk: `api/Record`: an update sends the whole object as it was read, and no version guards what others change meanwhile
        hint: if the API has versions, say where: `version: etag` or `version: .FIELD`
    Plan: 1 to create, 1 to update. 2 objects seen in 3 requests.
    "#);
    assert_eq!(run(&scratch, "apply --yes").code(), 0);
    assert_eq!(shop.value("/zones/a.org/records/www")["meta"], json!({"owner": "me"}));
    assert_eq!(
        shop.value("/zones/a.org/records/new"),
        json!({"meta": {"owner": "me"}, "name": "new", "ttl": 5})
    );
    let before = writes(&raw).len();
    assert_eq!(run(&scratch, "apply --yes").code(), 0);
    assert_eq!(writes(&raw).len(), before);
}

#[test]
fn the_mark_of_another_owner_is_left() {
    let (a, zone) = zone("a.org");
    let (raw, shop) = Shop::new(&[(&a, zone), ("/zones/a.org/records/www", record("www", Some("you")))]);
    let scratch = folder(&raw, &SET.replace("ttl: 60", "ttl: 5"));
    assert_snapshot!(run(&scratch, "apply --yes").out, @"
    ~   Record a.org/www   a.yaml:8   updated
          ttl   60 → 5   differs on the server
        OtherOwner: `meta.owner` says that it is `you`'s, and it is left so
        hint: take it over with `trueup/on-conflict: force`
        LostUpdateRisk: `api/Record`: an update sends the whole object as it was read, and no version guards what others change meanwhile
        hint: if the API has versions, say where: `version: etag` or `version: .FIELD`
    Applied: 1 updated. 2 objects seen in 6 requests.
    ");
    let www = shop.value("/zones/a.org/records/www");
    assert_eq!((&www["ttl"], &www["meta"]["owner"]), (&json!(5), &json!("you")));
}

#[test]
fn a_listing_that_fails_keeps_everything_and_the_rest_goes_on() {
    let (raw, shop) = stocked();
    shop.instead("GET /zones/a.org/records", "503 Service Unavailable");
    let scratch = folder(&raw, &SET.replace("ttl: 60", "ttl: 5"));
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 1, "{}", done.out);
    assert!(done.out.contains("what is in its scope is not known whole"), "{}", done.out);
    assert_eq!(writes(&raw), ["PUT /zones/a.org/records/www"]);
}

#[test]
fn a_parent_that_is_not_there_has_nothing_below_it() {
    let (raw, _) = Shop::new(&[]);
    let scratch =
        folder(&raw, &format!("{SET}---\napiVersion: api\nkind: Zone\nmetadata: {{name: a.org}}\n"));
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 0, "{}", done.out);
    assert_eq!(writes(&raw), ["PUT /zones/a.org", "PUT /zones/a.org/records/www"]);
}

#[test]
fn what_changed_hands_before_its_deletion_stays() {
    let (raw, shop) = stocked();
    // The listing, the plan's read and the first one of the application saw the mark; the last one does not.
    let old = "GET /zones/a.org/records/old";
    shop.moves(old, 3, "/zones/a.org/records/old", record("old", Some("you")));
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.out);
    assert!(done.out.contains("refused: it does not bear the owner's mark any more"), "{}", done.out);
}

#[test]
fn nothing_goes_beside_what_is_unknown_and_all_goes_beside_what_failed() {
    let (raw, shop) = stocked();
    shop.instead("GET /zones/a.org/records/www", "403 Forbidden");
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!((done.code(), writes(&raw)), (1, vec![]), "{}", done.out);
    assert!(
        done.out.contains("nothing is deleted beside `Record a.org/www`, which is unknown"),
        "{}",
        done.out
    );

    let (raw, shop) = stocked();
    shop.instead("PUT /zones/a.org/records/www", "422 Unprocessable Content");
    let scratch = folder(&raw, &SET.replace("ttl: 60", "ttl: 5"));
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 4, "{}", done.out);
    assert_eq!(writes(&raw), ["PUT /zones/a.org/records/www", "DELETE /zones/a.org/records/old"]);
}

#[test]
fn a_listing_by_page_numbers_is_made_twice() {
    let set = "apiVersion: trueup/v1
kind: Set
metadata: {name: pages}
spec: {scope: [{kind: Page, exclusive: true}]}
---
apiVersion: api
kind: Page
metadata: {name: home}
";
    let (raw, shop) =
        Shop::new(&[("/pages/home", json!({"name": "home"})), ("/pages/old", json!({"name": "old"}))]);
    let scratch = folder(&raw, set);
    assert_eq!(run(&scratch, "plan --prune --detailed-exitcode").code(), 2);
    let lists = raw.lines().into_iter().filter(|line| line.starts_with("GET /pages?")).count();
    assert_eq!(lists, 2);
    let line = raw.lines().into_iter().find(|line| line.starts_with("GET /pages?")).expect("a listing");
    shop.moves(&line, 4, "/pages/more", json!({"name": "more"}));
    let done = run(&scratch, "apply --prune --yes");
    assert_eq!((done.code(), writes(&raw)), (1, vec![]), "{}", done.out);
    assert!(done.out.contains("two listings of every Page showed different objects"), "{}", done.out);
}

#[test]
fn leaves_go_before_what_they_hang_on() {
    let (a, kept) = zone("a.org");
    let (b, gone) = zone("b.org");
    let (raw, shop) = Shop::new(&[
        (&a, kept),
        ("/zones/a.org/records/www", record("www", Some("me"))),
        (&b, gone),
        ("/zones/b.org/records/r", record("r", Some("me"))),
    ]);
    let set = SET.replace("[{kind: Record, zone: a.org}]", "[{kind: Record}, {kind: Zone, exclusive: true}]");
    let scratch = folder(&raw, &set);
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 0, "{}", done.out);
    assert_eq!(writes(&raw), ["DELETE /zones/b.org/records/r", "DELETE /zones/b.org"]);
    assert_eq!(shop.paths(), ["/zones/a.org", "/zones/a.org/records/www"]);
}

#[test]
fn json_and_text_count_alike() {
    let (raw, _) = stocked();
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "plan --prune --output json --max-deletes 0");
    assert_eq!(done.code(), 5, "{}", done.out);
    let told: Value = serde_json::from_str(&done.out).expect("JSON");
    let results = &told["summary"]["results"];
    assert_eq!(
        [&results["extra"], &results["refused"], &results["skipped"]],
        [&json!(2), &json!(1), &json!(1)]
    );
    assert_eq!(
        told["objects"][0]["identity"],
        json!({"backend": "trueup/v1", "kind": "Set", "key": {"name": "dns"}})
    );
}

#[test]
fn drift_fails_on_what_it_is_told_to() {
    let (raw, _) = stocked();
    let scratch = folder(&raw, SET);
    for (line, code) in [
        ("drift", 0),
        ("drift --fail-on extra", 2),
        ("drift --fail-on difference", 0),
        ("drift --prune", 2),
        ("drift --prune --fail-on extra", 2),
        ("drift --prune --fail-on difference,extra", 2),
    ] {
        let done = run(&scratch, line);
        assert_eq!(done.code(), code, "{line}: {}{}", done.out, done.err);
    }
    scratch.write("a.yaml", SET.replace("ttl: 60", "ttl: 5"));
    assert_eq!(run(&scratch, "drift").code(), 2);
    assert_eq!(writes(&raw), [""; 0]);
}

#[test]
fn what_makes_no_sense_with_pruning_is_refused() {
    let (raw, _) = stocked();
    let scratch = folder(&raw, SET);
    for (line, told) in [
        ("plan --prune -l a=b", "error: `--prune` does not go with `-l`"),
        ("apply --prune --only Record --yes", "error: `--prune` does not go with `--only`"),
        ("drift --fail-on extra --exclude Record", "error: `--fail-on extra` does not go with `--exclude`"),
    ] {
        let done = run(&scratch, line);
        assert_eq!(done.code(), 64, "{line}");
        assert!(done.err.starts_with(told), "{line}: {}", done.err);
    }
    scratch.write("a.yaml", SET.split_once("---\n").expect("two documents").1);
    let done = run(&scratch, "plan --prune");
    assert_eq!(done.code(), 64);
    assert!(done.err.starts_with("error: there is no Set"), "{}", done.err);
    // A file that cannot be read may name what would be too much.
    scratch.write("a.yaml", format!("{SET}---\napiVersion: api\nkind: Record\nmetadata: {{zone: a.org}}\n"));
    assert_eq!(run(&scratch, "apply --yes --prune").code(), 65);
    assert_eq!(raw.lines(), [""; 0]);
}

#[test]
fn what_is_wrong_with_a_set_is_said_offline() {
    let (raw, _) = stocked();
    let scratch = folder(
        &raw,
        "apiVersion: trueup/v1
kind: Set
metadata: {name: one}
spec: {owner: me, scope: [{kind: Record, zone: a.org}, {kind: Zone}, {kind: Zone, name: b.org}]}
---
apiVersion: trueup/v1
kind: Set
metadata: {name: two}
spec: {owner: '', scop: [], max-deletes: many}
---
apiVersion: trueup/v1
kind: Set
spec: {scope: [{kind: Recrod}, {kind: Record, zon: x, exclusive: maybe}, {zone: x}, {kind: Record, zone: [1]}]}
---
apiVersion: trueup/v1
kind: Set
metadata: {name: three}
spec: {owner: me, scope: [{kind: Record, zone: b.org}]}
---
apiVersion: trueup/v1
kind: Set
metadata: {name: four}
spec: {owner: you, scope: [{kind: Record, name: www}]}
---
apiVersion: api
kind: Record
metadata: {zone: b.org, name: x}
spec: {meta: {owner: other}}
",
    );
    let done = run(&scratch, "validate");
    assert_eq!(done.code(), 65);
    assert_snapshot!(done.err, @r#"
    error: a.yaml:4:70: the scope is claimed twice, first in a.yaml:4:56
      |
    4 | spec: {owner: me, scope: [{kind: Record, zone: a.org}, {kind: Zone}, {kind: Zone, name: b.org}]}
      |                                                                      ^
    hint: keep one of the two entries
    error: a.yaml:9:7: `scope` is a list of what the set claims
      |
    9 | spec: {owner: '', scop: [], max-deletes: many}
      |       ^
    hint: write `spec: {owner: payments, scope: [{kind: Queue, vhost: /}]}`
    error: a.yaml:9:15: `owner` is a name, without control characters
      |
    9 | spec: {owner: '', scop: [], max-deletes: many}
      |               ^
    hint: it is the mark of the set's objects: `owner: payments`
    error: a.yaml:9:25: `scop` is not known here
      |
    9 | spec: {owner: '', scop: [], max-deletes: many}
      |                         ^
    hint: did you mean `scope`? a set's `spec` has `owner`, `scope`, `max-deletes`
    error: a.yaml:9:42: `max-deletes` is a whole number of objects, or one for each of some kinds
      |
    9 | spec: {owner: '', scop: [], max-deletes: many}
      |                                          ^
    hint: so many may be deleted in one run: `max-deletes: 20`, or `{default: 20, RRset: 100}`
    error: a.yaml:11:1: a set needs `metadata.name`
       |
    11 | apiVersion: trueup/v1
       | ^
    hint: reports call it by this name
    error: a.yaml:13:23: no backend has a kind `Recrod`
       |
    13 | spec: {scope: [{kind: Recrod}, {kind: Record, zon: x, exclusive: maybe}, {zone: x}, {kind: Record, z…
       |                       ^
    hint: did you mean `Record`? the kinds are `Page`, `Record`, `Zone`
    error: a.yaml:13:66: `exclusive` is `true` or `false`
       |
    13 | … {scope: [{kind: Recrod}, {kind: Record, zon: x, exclusive: maybe}, {zone: x}, {kind: Record, zone: …
       |                                                              ^
    error: a.yaml:13:74: an entry of `scope` needs `kind`
       |
    13 | … [{kind: Recrod}, {kind: Record, zon: x, exclusive: maybe}, {zone: x}, {kind: Record, zone: [1]}]}
       |                                                              ^
    hint: write `spec: {owner: payments, scope: [{kind: Queue, vhost: /}]}`
    error: a.yaml:13:106: `zone` of a scope is a text or a number
       |
    13 | … zon: x, exclusive: maybe}, {zone: x}, {kind: Record, zone: [1]}]}
       |                                                              ^
    error: a.yaml:23:28: the set `three` claims a `Record` of `name` www too (a.yaml:18:27)
       |
    23 | spec: {owner: you, scope: [{kind: Record, name: www}]}
       |                            ^
    hint: what one set names would be too much for the other: let one scope be in one set
    error: a.yaml:28:22: `meta.owner` is the place of the owner mark, and the set `three` names the owner `me`
       |
    28 | spec: {meta: {owner: other}}
       |                      ^
    hint: leave it out of the document: it is written with the object
    12 errors.
    "#);
}
