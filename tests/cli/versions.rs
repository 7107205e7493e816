//! One version for a whole set, told by a request of its own: a server that refuses every write but that at the
//! version of now, wherever a request says it.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use crate::servers::{Raw, Say, Seen};
use crate::support::{Done, Scratch};

#[derive(Default)]
struct Set {
    version: u64,
    things: Map<String, Value>,
    refused: usize,
    /// So many writes come just after one of somebody else's.
    meddlings: usize,
}

impl Set {
    fn answer(&mut self, seen: &Seen) -> Say {
        let (method, url) = seen.line.split_once(' ').expect("a request line");
        let path = url.split('?').next().unwrap_or(url);
        let name = path.trim_start_matches("/things").trim_start_matches('/').to_owned();
        match (method, path) {
            ("GET", "/version") => Say::json(&self.version.to_string()),
            ("GET", "/things") => Say::json(&self.things.values().cloned().collect::<Value>().to_string()),
            ("GET", _) => match self.things.get(&name) {
                Some(thing) => Say::json(&thing.to_string()),
                None => Say::answer("404 Not Found", "", ""),
            },
            _ => self.write(method, &name, seen),
        }
    }

    fn write(&mut self, method: &str, name: &str, seen: &Seen) -> Say {
        if self.meddlings > 0 {
            self.meddlings -= 1;
            self.version += 1;
            self.things.values_mut().for_each(|thing| thing["theirs"] = json!(self.version));
        }
        let mut body: Value = serde_json::from_str(&seen.body).unwrap_or(Value::Null);
        if said(seen, &body) != Some(self.version.to_string()) {
            self.refused += 1;
            return Say::answer(
                "409 Conflict",
                "content-type: application/json\r\n",
                r#"{"message": "stale"}"#,
            );
        }
        self.version += 1;
        if method == "DELETE" {
            self.things.remove(name);
            return Say::answer("204 No Content", "", "");
        }
        body.as_object_mut().expect("a map").remove("_version");
        self.things.insert(body["name"].as_str().expect("a name").to_owned(), body);
        Say::json("{}")
    }
}

/// The version that a request says: in its query, a header, its body, or as a precondition.
fn said(seen: &Seen, body: &Value) -> Option<String> {
    let header = |name: &str| {
        let lines = seen.head.lines().filter_map(|line| line.split_once(':'));
        let mut values =
            lines.filter(|(have, _)| have.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim());
        values.next().map(|value| value.trim_matches('"').to_owned())
    };
    let query = seen.line.split_once("version=").map(|(_, version)| version.to_owned());
    let in_body = body["_version"].as_str().map(str::to_owned);
    query.or(in_body).or_else(|| header("x-version")).or_else(|| header("if-match"))
}

struct Job {
    raw: Raw,
    set: Arc<Mutex<Set>>,
    scratch: Scratch,
}

impl Job {
    /// A set of nine things, all of size 1; of six is said that their size is 2, and three more are wanted.
    fn new(operations: &str) -> Job {
        let thing = |n: usize| json!({"name": format!("t{n}"), "size": 1, "theirs": 0});
        let things = (0..9).map(|n| (format!("t{n}"), thing(n))).collect();
        let set = Arc::new(Mutex::new(Set { version: 5, things, ..Set::default() }));
        let shared = set.clone();
        let raw = Raw::new(move |seen| shared.lock().expect("no thread panics with it").answer(seen));
        let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: api}\nspec:\n";
        let kind = "      key: {name: .name}\n      list: GET /things\n      read: GET /things/{name}\n";
        let backend = format!("{head}  url: {}\n  kinds:\n    Thing:\n{kind}{operations}", raw.url());
        let document = |name: &str, size: u8| {
            format!("---\napiVersion: api\nkind: Thing\nmetadata: {{name: {name}}}\nspec: {{size: {size}}}\n")
        };
        let old = (0..9).map(|n| document(&format!("t{n}"), if n < 6 { 2 } else { 1 }));
        let new = (0..3).map(|n| document(&format!("new{n}"), 2));
        let scratch = Scratch::with("backend.yaml", backend);
        scratch.write("things.yaml", old.chain(new).collect::<String>());
        Job { raw, set, scratch }
    }

    fn run(&self, verb: &str) -> Done {
        self.scratch.trueup(&format!("{verb} -f things.yaml -f backend.yaml")).done()
    }

    /// What a part of the server's state is.
    fn now<T>(&self, look: impl Fn(&mut Set) -> T) -> T {
        look(&mut self.set.lock().expect("no thread panics with it"))
    }
}

const IN_QUERY: &str = "
      create: POST /things?version={version}
      update: PUT /things/{name}?version={version}
      delete: DELETE /things/{name}?version={version}
      version: {request: GET /version}
";
const IN_HEADER: &str = "
      create: {request: POST /things, headers: {X-Version: '{version}'}}
      update: {request: 'PUT /things/{name}', headers: {X-Version: '{version}'}}
      delete: {request: 'DELETE /things/{name}', headers: {X-Version: '{version}'}}
      version: {request: GET /version}
";
const IN_BODY: &str = "
      create: {request: POST /things, body: '. + {_version: $version}'}
      update: {request: 'PUT /things/{name}', body: '. + {_version: $version}'}
      delete: {request: 'DELETE /things/{name}', body: '{_version: $version}'}
      version: {request: GET /version}
";

/// Each of our own writes moves the version, and none of the next is refused for that.
#[test]
fn a_version_of_a_set_in_query_header_and_body() {
    for operations in [IN_QUERY, IN_HEADER, IN_BODY] {
        let job = Job::new(operations);
        let told = job.run("apply --yes").expect(0).told();
        assert!(told.contains("Applied: 3 created, 6 updated, 3 in sync"), "{told}");
        assert_eq!(job.now(|set| (set.version, set.refused)), (5 + 9, 0), "{operations}");
        let asked = job.raw.lines().len();
        assert!(asked <= 60, "{asked} requests: four for each write, and a few for all");
        job.run("apply --yes").expect(0);
        job.run("delete --yes").expect(0);
        assert_eq!(job.now(|set| (set.things.len(), set.version, set.refused)), (0, 5 + 9 + 12, 0));
    }
}

/// Somebody else writes between our look and our write: refused, looked at again, and done at the new version,
/// with what the other one wrote still there.
#[test]
fn a_version_that_somebody_else_moves() {
    for operations in [IN_QUERY, IN_HEADER, IN_BODY] {
        let job = Job::new(operations);
        job.now(|set| set.meddlings = 2);
        job.run("apply --yes").expect(0);
        let (refused, theirs) = job.now(|set| (set.refused, set.things["t0"]["theirs"].clone()));
        assert_eq!(refused, 2, "{operations}");
        assert_ne!(theirs, json!(0), "the write of somebody else is kept");
    }
}

/// Where no request names the version it is a precondition.
#[test]
fn a_version_of_a_set_as_a_precondition() {
    let job = Job::new(
        "
      create: none
      update: PUT /things/{name}
      delete: DELETE /things/{name}
      version: {request: GET /version}
",
    );
    let told = job.run("apply --yes").told();
    assert!(told.contains("3 refused") && told.contains("6 updated"), "{told}");
    assert_eq!(job.now(|set| (set.version, set.refused)), (5 + 6, 0));
}

/// Without `version` the server's refusal is final, and says so.
#[test]
fn a_version_that_the_backend_does_not_know_of() {
    let job = Job::new("      create: POST /things\n      update: PUT /things/{name}\n");
    let told = job.run("apply --yes").told();
    assert!(told.contains("the server answered 409 Conflict: stale"), "{told}");
    assert_eq!(job.now(|set| set.version), 5);
}
