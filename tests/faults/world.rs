//! A server with objects of others on it, what is to be applied, and what must be there in the end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::servers::Served;
use crate::support::{Done, Scratch};

/// Objects of one server by their names, without what the server sets by itself; ids of teams are their names.
pub type State = BTreeMap<String, Value>;

/// How a team is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creates {
    /// By POST: the server makes the id, and refuses no second one of a name.
    Plain,
    /// The same with an `Idempotency-Key`.
    Keyed,
}

/// What a run has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    CreateThree,
    UpdateThree,
    DeleteTwo,
    /// A parent with two children, a reference to its id, an update and a deletion.
    Mixed,
    /// Twenty objects of every sort.
    Twenty,
    /// [`MANY`] teams, and as many spaces, that do not need each other.
    Many,
}

/// How many teams and how many spaces [`Workload::Many`] has.
pub const MANY: usize = 12;

/// Who else is there: their objects, and a field of theirs in an object of ours.
const THEIRS: &str = "not ours";

fn document(kind: &str, names: &str, policy: &str, spec: &str) -> String {
    format!("---\napiVersion: demo\nkind: {kind}\nmetadata: {{{names}{policy}}}\nspec: {spec}\n")
}

fn wanted(kind: &str, names: &str) -> String {
    document(kind, names, "", "{description: wanted}")
}

fn gone(kind: &str, names: &str) -> String {
    document(kind, names, ", annotations: {trueup/ensure: absent}", "{}")
}

impl Workload {
    /// The documents.
    pub fn files(self) -> String {
        let text = match self {
            Workload::CreateThree => {
                vec![wanted("Team", "name: c1"), wanted("Team", "name: c2"), wanted("Space", "name: c3")]
            }
            Workload::UpdateThree => {
                vec![wanted("Team", "name: u1"), wanted("Team", "name: u2"), wanted("Space", "name: u3")]
            }
            Workload::DeleteTwo => vec![gone("Team", "name: d1"), gone("Space", "name: d2")],
            Workload::Mixed => vec![
                wanted("Team", "name: p1"),
                wanted("Member", "team: p1, user: ann"),
                wanted("Member", "team: p1, user: bob"),
                document("Space", "name: r1", "", "{description: wanted, team: !ref Team/p1 .id}"),
                wanted("Space", "name: u3"),
                gone("Team", "name: d1"),
            ],
            Workload::Twenty => twenty(),
            Workload::Many => (0..MANY)
                .flat_map(|n| {
                    [wanted("Team", &format!("name: t{n}")), wanted("Space", &format!("name: s{n}"))]
                })
                .collect(),
        };
        text.concat()
    }

    /// What is there before.
    fn seeds(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Workload::CreateThree | Workload::Many => &[],
            Workload::UpdateThree => &[("/teams", "u1"), ("/teams", "u2"), ("/spaces", "u3")],
            Workload::DeleteTwo => &[("/teams", "d1"), ("/spaces", "d2")],
            Workload::Mixed => &[("/spaces", "u3"), ("/teams", "d1")],
            Workload::Twenty => &[
                ("/teams", "u1"),
                ("/teams", "u2"),
                ("/spaces", "u3"),
                ("/spaces", "u4"),
                ("/teams", "d1"),
                ("/spaces", "d2"),
            ],
        }
    }
}

fn twenty() -> Vec<String> {
    let mut all: Vec<String> =
        ["u1", "u2", "c1", "c2", "c3", "p1", "p2"].map(|n| wanted("Team", &format!("name: {n}"))).into();
    all.extend(["u3", "u4", "s1", "s2", "s3"].map(|n| wanted("Space", &format!("name: {n}"))));
    let members =
        ["team: p1, user: ann", "team: p1, user: bob", "team: p2, user: ann", "team: u1, user: eve"];
    all.extend(members.map(|names| wanted("Member", names)));
    all.push(document("Space", "name: r1", "", "{description: wanted, team: !ref Team/p1 .id}"));
    all.push(document("Team", "name: r2", "", "{description: wanted, other: !ref Team/p2 .id}"));
    all.extend([gone("Team", "name: d1"), gone("Space", "name: d2")]);
    all
}

/// A folder, and a server that has what a workload begins with.
pub struct World {
    pub scratch: Scratch,
    pub served: Served,
    /// How many accepted writes made the beginning.
    seeded: usize,
}

impl World {
    pub fn new(workload: Workload, creates: Creates) -> World {
        let scratch = Scratch::new();
        let served = Served::start(&scratch, "rules: []");
        scratch.write("backend.yaml", backend(&served.url(), creates));
        scratch.write("a.yaml", workload.files());
        let mut world = World { scratch, served, seeded: 0 };
        world.make("/teams", "theirs", THEIRS);
        world.make("/spaces", "theirs", THEIRS);
        workload.seeds().iter().for_each(|(collection, name)| world.make(collection, name, "old"));
        world.seeded = world.served.written().len();
        world
    }

    pub fn make(&self, collection: &str, name: &str, description: &str) {
        let body = json!({"name": name, "description": description, "note": THEIRS}).to_string();
        match collection {
            "/teams" => self.served.call("POST", collection, &body),
            _ => self.served.call("PUT", &format!("{collection}/{name}"), &body),
        };
    }

    pub fn rules(&self, rules: &str) {
        let said = self.served.call("PUT", "/_faults", rules);
        assert_eq!(said, "", "{rules}");
    }

    /// Sends what the backend names to another address.
    pub fn through(&self, url: &str, creates: Creates) {
        self.scratch.write("backend.yaml", backend(url, creates));
    }

    /// The same over TLS, to who shows a certificate of this authority.
    pub fn secured(&self, url: &str, trusted: &str, creates: Creates) {
        self.scratch.write("ca.pem", trusted);
        let tls = format!("  url: {url}\n  tls: {{ca: ca.pem}}\n");
        self.scratch.write("backend.yaml", backend(url, creates).replace(&format!("  url: {url}\n"), &tls));
    }

    pub fn apply(&self) -> Done {
        self.scratch.trueup(APPLY).done()
    }

    /// The accepted writes of the runs, in their order.
    pub fn written(&self) -> Vec<String> {
        self.served.written().split_off(self.seeded)
    }

    fn items(&self, collection: &str) -> Vec<Value> {
        let page = self.served.call("GET", &format!("{collection}?limit=1000"), "");
        let page: Value = serde_json::from_str(&page).expect("a page");
        // What goes while it is looked at has no list any more.
        page["items"].as_array().cloned().unwrap_or_default()
    }

    /// What is there; of several with one name, each has a number.
    pub fn state(&self) -> State {
        let teams = self.items("/teams");
        let name = |id: &Value| teams.iter().find(|team| team["id"] == *id).map(|team| team["name"].clone());
        let mut state = State::new();
        let mut put = |place: String, mut item: Value| {
            for own in ["id", "revision"] {
                item.as_object_mut().expect("an object").remove(own);
            }
            for reference in ["team", "other"] {
                if let Some(team) = item.get(reference).and_then(name) {
                    item[reference] = team;
                }
            }
            let copies = (2..).map(|n| format!("{place} ({n})"));
            let free = [place.clone()].into_iter().chain(copies).find(|place| !state.contains_key(place));
            state.insert(free.expect("there are numbers enough"), item);
        };
        for team in &teams {
            for member in self.items(&format!("/teams/{}/members", team["id"])) {
                put(format!("Member {}/{}", team["name"], member["id"]), member);
            }
            put(format!("Team {}", team["name"]), team.clone());
        }
        for space in self.items("/spaces") {
            put(format!("Space {}", space["id"]), space);
        }
        state
    }
}

pub const APPLY: &str = "apply --yes --output json -f a.yaml -f backend.yaml";

/// What is so of others, whatever happens: their objects, and their field in ours.
pub fn of_others(state: &State) -> State {
    let theirs = |(place, item): (&String, &Value)| {
        let whole = place.ends_with("\"theirs\"");
        (whole || item.get("note").is_some())
            .then(|| (place.clone(), if whole { item.clone() } else { item["note"].clone() }))
    };
    state.iter().filter_map(theirs).collect()
}

/// Whether all that was there of others still is, but for their field in what is deleted.
pub fn keeps(of_others: &State, after: &State) -> bool {
    of_others.iter().all(|(place, value)| match after.get(place) {
        Some(item) if place.ends_with("\"theirs\"") => item == value,
        Some(item) => item["note"] == *value,
        None => !place.ends_with("\"theirs\""),
    })
}

/// Whether two stand under one name.
pub fn has_twins(state: &State) -> bool {
    state.keys().any(|place| place.ends_with(')'))
}

fn backend(url: &str, creates: Creates) -> String {
    let key = if creates == Creates::Keyed { ", idempotency: {header: Idempotency-Key}" } else { "" };
    let page = "items: .items, page: {by: cursor, next: .next, size: 100}";
    format!(
        "apiVersion: trueup/v1
kind: Backend
metadata: {{name: demo}}
spec:
  url: {url}
  limits: {{timeout: 2s}}
  kinds:
    Team:
      key: {{name: .name}}
      list: {{request: GET /teams, {page}}}
      read: GET /teams/{{id}}
      create: {{request: POST /teams{key}}}
      update: PATCH /teams/{{id}}
      delete: DELETE /teams/{{id}}
      version: .revision
      visible: 1500ms
    Space:
      key: {{name: .id}}
      list: {{request: GET /spaces, {page}}}
      read: GET /spaces/{{name}}
      create: PUT /spaces/{{name}}
      update: PATCH /spaces/{{name}}
      delete: DELETE /spaces/{{name}}
      version: .revision
      visible: 1500ms
    Member:
      parent: {{team: Team}}
      key: {{user: .id}}
      list: {{request: \"GET /teams/{{team.id}}/members\", {page}}}
      read: GET /teams/{{team.id}}/members/{{user}}
      create: PUT /teams/{{team.id}}/members/{{user}}
      update: PATCH /teams/{{team.id}}/members/{{user}}
      delete: DELETE /teams/{{team.id}}/members/{{user}}
      version: .revision
      visible: 1500ms
"
    )
}
