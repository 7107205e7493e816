//! ReplicaSets: so many objects alike, by fixed names; what is missing is made from below, what is too much goes from
//! above. On a kind with names of the client's, and on one whose ids the server makes.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::servers::Served;
use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: demo}
spec:
  url: URL
  limits: {concurrency: 1}
  kinds:
    Team:
      key: {name: .name}
      list: {request: GET /teams, items: .items, page: {by: cursor, next: .next, size: 100}}
      read: GET /teams/{id}
      create: POST /teams
      update: PATCH /teams/{id}
      delete: DELETE /teams/{id}
      version: .revision
      visible: 300ms
      owner: owner
      fields: {revision: server-owned}
    Space:
      key: {name: .id}
      list: {request: GET /spaces, items: .items, page: {by: cursor, next: .next, size: 100}}
      read: GET /spaces/{name}
      create: PUT /spaces/{name}
      update: PATCH /spaces/{name}
      delete: DELETE /spaces/{name}
      version: .revision
      fields: {revision: server-owned}
";

/// The kinds with the collections and the members that hold their names.
pub const KINDS: [(&str, &str, &str); 2] = [("Team", "/teams", "name"), ("Space", "/spaces", "id")];

pub struct Job {
    pub scratch: Scratch,
    pub served: Served,
    kind: &'static str,
    collection: &'static str,
    member: &'static str,
}

impl Job {
    pub fn new((kind, collection, member): (&'static str, &'static str, &'static str), faults: &str) -> Job {
        let scratch = Scratch::new();
        let served = Served::start(&scratch, faults);
        scratch.write("backend.yaml", BACKEND.replace("URL", &served.url()));
        Job { scratch, served, kind, collection, member }
    }

    /// Writes the ReplicaSet `web`, with more lines of its `spec` and of the template's `metadata`.
    pub fn wants(&self, replicas: usize, spec: &str, metadata: &str) -> &Job {
        let text = format!(
            "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: web}}\nspec:\n  replicas: {replicas}\n{spec}\
             \x20 template:\n    apiVersion: demo\n    kind: {}\n    metadata: {{{metadata}}}\n    spec: {{size: 1}}\n",
            self.kind
        );
        self.scratch.write("a.yaml", text);
        self
    }

    pub fn run(&self, line: &str) -> Done {
        let (verb, flags) = line.split_once(' ').unwrap_or((line, ""));
        self.scratch.trueup(&format!("{verb} -f a.yaml -f backend.yaml {flags}")).done()
    }

    pub fn applied(&self, replicas: usize) -> Done {
        self.wants(replicas, "", "").run("apply --yes")
    }

    pub fn names(&self) -> Vec<String> {
        self.served.names(self.collection, self.member)
    }

    /// The path of an object; by its id where the server makes that.
    fn path(&self, name: &str) -> String {
        let page = self.served.call("GET", &format!("{}?limit=1000", self.collection), "");
        let page: serde_json::Value = serde_json::from_str(&page).expect("a page");
        let items = page["items"].as_array().expect("a list");
        let item = items.iter().find(|item| item[self.member] == name).expect("it is there");
        let id = item["id"].as_str().map_or_else(|| item["id"].to_string(), str::to_owned);
        format!("{}/{id}", self.collection)
    }

    /// What somebody else makes.
    pub fn make(&self, name: &str) {
        match self.kind {
            "Team" => {
                self.served.call("POST", self.collection, &format!("{{\"name\": \"{name}\", \"size\": 1}}"))
            }
            _ => self.served.call("PUT", &format!("{}/{name}", self.collection), "{\"size\": 1}"),
        };
    }

    fn lose(&self, name: &str) {
        let path = self.path(name);
        self.served.call("DELETE", &path, "");
    }

    /// The writes since there were `before` of them.
    fn since(&self, before: usize) -> Vec<String> {
        self.served.written().split_off(before)
    }
}

fn web(numbers: std::ops::Range<usize>) -> Vec<String> {
    let names: BTreeSet<String> = numbers.map(|number| format!("web-{number}")).collect();
    names.into_iter().collect()
}

#[test]
fn it_goes_up_and_down_and_a_lost_one_is_made_again() {
    for kind in KINDS {
        let job = Job::new(kind, "rules: []");
        job.applied(3).expect(0);
        assert_eq!(job.names(), web(0..3));
        let silent = job.served.written().len();
        job.applied(3).expect(0);
        assert_eq!(job.since(silent).len(), 0, "a second run writes nothing");
        job.applied(5).expect(0);
        assert_eq!(job.names(), web(0..5));
        job.lose("web-1");
        let lost = job.served.written().len();
        job.applied(5).expect(0);
        assert_eq!((job.names(), job.since(lost).len()), (web(0..5), 1));
        let paths = [job.path("web-4"), job.path("web-3"), job.path("web-2")];
        let down = job.served.written().len();
        job.applied(2).expect(0);
        assert_eq!(job.names(), web(0..2));
        assert_eq!(job.since(down), paths.map(|path| format!("DELETE {path}")), "the highest first");
    }
}

#[test]
fn what_is_missing_comes_from_below_and_before_anything_goes() {
    for kind in KINDS {
        let job = Job::new(kind, "rules: []");
        job.applied(6).expect(0);
        job.lose("web-0");
        job.lose("web-2");
        for other in ["web", "web-x", "web-01", "web-1-0", "webs-9"] {
            job.make(other);
        }
        job.wants(4, "", "");
        let plan = job.run("plan").expect(0);
        assert_eq!(plan.out.matches("one too many: the ReplicaSet").count(), 2, "{}", plan.told());
        let before = job.served.written().len();
        job.run("apply --yes").expect(0);
        let since = job.since(before);
        let creates = since.iter().take_while(|line| !line.starts_with("DELETE ")).count();
        assert_eq!((creates, since.len()), (2, 4), "{since:?}");
        let mut want = web(0..4);
        want.extend(["web", "web-x", "web-01", "web-1-0", "webs-9"].map(str::to_owned));
        want.sort();
        assert_eq!(job.names(), want);
    }
}

#[test]
fn nothing_goes_while_one_cannot_be_made() {
    for (kind, method) in KINDS.into_iter().zip(["POST", "PUT"]) {
        let job = Job::new(kind, "rules: []");
        job.applied(4).expect(0);
        job.lose("web-0");
        let fault = format!("rules: [{{match: {{method: {method}}}, fault: {{status: {{status: 422}}}}}}]");
        job.served.call("PUT", "/_faults", &fault);
        let run = job.applied(2).expect(1);
        assert!(run.out.contains("which is missing"), "{}", run.told());
        assert_eq!(job.names(), ["web-1", "web-2", "web-3"]);
        job.served.call("PUT", "/_faults", "rules: []");
        job.applied(2).expect(0);
        assert_eq!(job.names(), web(0..2));
    }
}

#[test]
fn nothing_goes_beside_a_listing_that_is_not_whole() {
    for kind in KINDS {
        let job = Job::new(kind, "rules: []");
        job.applied(4).expect(0);
        let fault = format!("rules: [{{match: {{method: GET, path: {}}}, fault: {{truncate: 20}}}}]", kind.1);
        job.served.call("PUT", "/_faults", &fault);
        let run = job.applied(2).expect(1);
        assert!(run.out.contains("what is in its scope is not known whole"), "{}", run.told());
        job.served.call("PUT", "/_faults", "rules: []");
        assert_eq!(job.names(), web(0..4));
    }
}

#[test]
fn a_limit_holds_and_says_how_to_lift_it() {
    let job = Job::new(KINDS[1], "rules: []");
    job.applied(9).expect(0);
    let refused = job.wants(2, "", "").run("plan").expect(5);
    assert_snapshot!(refused.out, @"
    !   ReplicaSet Space/web   a.yaml:1
        refused: 7 objects would be deleted, and the limit is 5 (a fifth of its `replicas`, and at least 5)
        hint: if that is meant: `--max-deletes 7` for this run, or `max-deletes: 7` in the ReplicaSet's `spec`
    -   Space web-8            a.yaml:1
        skipped: nothing of the ReplicaSet `Space/web` is deleted
    -   Space web-7            a.yaml:1
        skipped: as above
    -   Space web-6            a.yaml:1
        skipped: as above
    -   Space web-5            a.yaml:1
        skipped: as above
    -   Space web-4            a.yaml:1
        skipped: as above
    -   Space web-3            a.yaml:1
        skipped: as above
    -   Space web-2            a.yaml:1
        skipped: as above
    Plan: 1 refused, 7 skipped, 2 in sync. 9 objects seen in 3 requests.
    ");
    job.run("apply --yes").expect(5);
    job.run("apply --yes --max-deletes 6").expect(5);
    assert_eq!(job.names(), web(0..9));
    job.wants(2, "  max-deletes: 7\n", "").run("apply --yes").expect(0);
    assert_eq!(job.names(), web(0..2));
    job.wants(0, "", "").run("apply --yes").expect(0);
    assert_eq!(job.names().len(), 0, "none at all is said, and below the limit");
}

#[test]
fn a_protected_template_keeps_what_is_too_much() {
    let job = Job::new(KINDS[0], "rules: []");
    job.applied(3).expect(0);
    let run = job.wants(1, "", "annotations: {trueup/prune: \"false\"}").run("apply --yes").expect(0);
    assert!(run.out.contains("and stays: the template has `trueup/prune: \"false\"`"), "{}", run.told());
    job.wants(1, "", "annotations: {trueup/paused: \"true\"}").run("apply --yes");
    assert_eq!(job.names(), web(0..3));
}

#[test]
fn a_deletion_takes_all_of_them() {
    for kind in KINDS {
        let job = Job::new(kind, "rules: []");
        job.applied(4).expect(0);
        job.make("theirs");
        job.wants(2, "", "").run("delete --yes").expect(0);
        assert_eq!(job.names(), ["theirs"]);
        job.applied(2).expect(0);
        job.wants(2, "", "annotations: {trueup/ensure: absent}").run("apply --yes").expect(0);
        assert_eq!(job.names(), ["theirs"]);
    }
}

#[test]
fn a_saved_plan_deletes_what_it_says_and_no_more() {
    for kind in KINDS {
        let job = Job::new(kind, "rules: []");
        job.applied(4).expect(0);
        job.wants(2, "", "").run("plan --out p.plan").expect(0);
        job.make("web-9");
        let shown = job.scratch.trueup("plan --show p.plan").done().expect(0);
        assert_eq!(shown.out.matches("one too many").count(), 2, "{}", shown.told());
        let run = job.scratch.trueup("apply p.plan").done();
        assert!(run.out.contains("it is too much only since it was made"), "{}", run.told());
        assert_eq!(job.names(), ["web-0", "web-1", "web-9"]);
        job.run("apply --yes").expect(0);
        assert_eq!(job.names(), web(0..2));
    }
}

#[test]
fn a_choice_of_others_leaves_them_alone() {
    let job = Job::new(KINDS[1], "rules: []");
    job.wants(3, "", "labels: {tier: front}").run("apply --yes").expect(0);
    job.wants(1, "", "labels: {tier: front}");
    let other =
        "---\napiVersion: demo\nkind: Team\nmetadata: {name: other, labels: {tier: back}}\nspec: {size: 1}\n";
    let both = std::fs::read_to_string(job.scratch.path("a.yaml")).expect("it was written") + other;
    job.scratch.write("a.yaml", both);
    for choice in ["-l tier=back", "--only Team", "--only Space/web-0"] {
        job.run(&format!("apply --yes {choice}")).expect(0);
        assert_eq!(job.names(), web(0..3), "{choice}");
    }
    job.run("apply --yes -l tier=front").expect(0);
    assert_eq!(job.names(), web(0..1));
}

#[test]
fn a_set_leaves_what_a_replica_set_counts_to_it() {
    let job = Job::new(KINDS[0], "rules: []");
    let set = "---\napiVersion: trueup/v1\nkind: Set\nmetadata: {name: all}\nspec: {owner: me, scope: [{kind: Team, exclusive: true}]}\n";
    job.wants(3, "", "");
    let with_set = |job: &Job| {
        let text = std::fs::read_to_string(job.scratch.path("a.yaml")).expect("it was written") + set;
        job.scratch.write("a.yaml", text);
    };
    with_set(&job);
    job.run("apply --yes").expect(0);
    job.make("other");
    job.wants(2, "", "");
    with_set(&job);
    let plan = job.run("plan --prune").expect(0);
    assert_snapshot!(plan.out, @"
    -   Team other   a.yaml:15
        Pruned: no document names it; it is in the set `all`, whose scope here is exclusive
    -   Team web-2   a.yaml:1
        Surplus: one too many: the ReplicaSet `Team/web` wants 2
    Plan: 2 to delete, 2 in sync. 4 objects seen in 3 requests.
    ");
    job.run("apply --yes").expect(0);
    assert_eq!(job.names(), ["other", "web-0", "web-1"]);
}

#[test]
fn what_somebody_changed_since_the_base_is_not_deleted() {
    let job = Job::new(KINDS[1], "rules: []");
    job.applied(3).expect(0);
    std::fs::create_dir(job.scratch.path("base")).expect("a folder");
    std::fs::copy(job.scratch.path("a.yaml"), job.scratch.path("base/a.yaml")).expect("a copy");
    job.served.change("/spaces/web-2", "{\"size\": 7}");
    let run = job.wants(1, "", "").run("apply --yes --base base");
    assert_eq!(run.code(), 3, "{}", run.told());
    assert_eq!(job.names(), ["web-0", "web-2"]);
}
