use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::core::document::Ensure;
use crate::core::engine::tests::make::{document, key_of, kind, kind_name};
use crate::core::identity::KindName;
use crate::core::kind::{Kind, Piece, Template};
use crate::core::node::Pos;
use crate::core::path::Path;
use crate::core::value::Value;

fn origin() -> Origin {
    Origin { file: "set.yaml".into(), at: Pos { line: 3, column: 5 } }
}

fn claim(kind: &str, within: &[(&str, &str)], exclusive: bool) -> Claim {
    let within = within.iter().map(|(part, value)| ((*part).into(), Value::from(*value))).collect();
    Claim { kind: kind_name(kind), within, exclusive, replicas: None, origin: origin() }
}

fn set(scope: Vec<Claim>) -> Set {
    let (owner, max_deletes) = (Some("me".into()), Limits::default());
    Set { name: "ours".into(), owner, scope, max_deletes, origin: origin() }
}

fn item(key: &[(&str, &str)], value: Value) -> Item {
    Item {
        key: key_of(key),
        server_id: Some(key.iter().map(|(_, value)| *value).collect::<Vec<_>>().join("-").into()),
        version: None,
        value: Arc::new(value),
        deleting: false,
        ready: None,
        ambiguous: Vec::new(),
    }
}

/// The record `old` of the zone `a.org`.
fn pruned(proof: Proof) -> Pruned {
    let (owner, server_id) = (Some("me".into()), Some("a.org-old".into()));
    Pruned { set: "ours".into(), owner, proof, server_id, rank: Rank::default(), unique: Vec::new() }
}

/// Zones with records in them; a record bears a mark.
fn kinds() -> Kinds {
    let mut kinds = Kinds::default();
    kinds.insert(kind("Zone", false, None));
    kinds.insert(Kind { owner: Path::parse("owner").ok(), ..kind("Record", false, Some("Zone")) });
    kinds.insert(Kind { delete: None, ..kind("Note", false, Some("Zone")) });
    kinds
}

struct World {
    kinds: Kinds,
    sets: Vec<Set>,
    documents: Vec<Document>,
    swept: Vec<Swept>,
    gates: Gates,
    former: Former,
}

impl World {
    /// A Set over the records of one zone, of which a document names one.
    fn new(items: Vec<Item>) -> World {
        World {
            kinds: kinds(),
            sets: vec![set(vec![claim("Record", &[("in", "a.org")], false)])],
            documents: vec![document("Record", &[("in", "a.org"), ("name", "www")], json!({}))],
            swept: vec![Swept { items, doubts: Vec::new() }],
            gates: Gates { deletes: true, ..Gates::default() },
            former: Former::default(),
        }
    }

    /// What is to go, and what is said of the rest: `Kind key: word: message`.
    fn plan(&self) -> (Vec<String>, Vec<String>) {
        let graph = Graph::build(&self.documents, &self.kinds).expect("documents that fit together");
        let known = Known {
            sets: &self.sets,
            documents: &self.documents,
            graph: &graph,
            kinds: &self.kinds,
            former: &self.former,
            holds: &|_, _| Ok(()),
        };
        let plan = plan(&known, self.swept.clone(), &self.gates);
        let told = plan.told.iter().map(|entry| {
            let why = entry.result.explanation().expect("a reason");
            format!("{}: {}: {}", entry.id, entry.result.word(), why.message)
        });
        (plan.doomed.iter().map(|document| document.id.to_string()).collect(), told.collect())
    }

    fn doomed(&self) -> Vec<String> {
        self.plan().0
    }

    fn told(&self) -> Vec<String> {
        self.plan().1
    }
}

fn record(name: &str, value: Value) -> Item {
    item(&[("in", "a.org"), ("name", name)], value)
}

fn ours(name: &str) -> Item {
    record(name, json!({"owner": "me"}))
}

#[test]
fn what_bears_the_mark_and_is_in_no_document_goes() {
    let world = World::new(vec![
        ours("www"),
        ours("old"),
        record("theirs", json!({"owner": "you"})),
        record("nobodys", json!({})),
        item(&[("in", "b.org"), ("name", "elsewhere")], json!({"owner": "me"})),
    ]);
    assert_eq!(world.doomed(), ["Record a.org/old"]);
    assert_eq!(
        world.told(),
        [
            "Record a.org/theirs: extra: nothing proves that it is ours: `owner` says that it is `you`'s",
            "Record a.org/nobodys: extra: nothing proves that it is ours: `owner` does not hold the owner `me`",
        ]
    );
}

#[test]
fn an_exclusive_scope_is_a_proof_and_no_owner_is_none() {
    let mut world = World::new(vec![record("old", json!({}))]);
    world.sets[0].owner = None;
    assert_eq!(world.doomed(), [""; 0]);
    assert_eq!(
        world.told(),
        ["Record a.org/old: extra: nothing proves that it is ours: the set `ours` names no `owner`"]
    );
    world.sets[0].scope[0].exclusive = true;
    assert_eq!(world.doomed(), ["Record a.org/old"]);
}

#[test]
fn a_closed_gate_is_said_with_numbers() {
    let many: Vec<Item> = (0..7).map(|i| ours(&format!("old{i}"))).collect();
    let mut world = World::new(many);
    let (doomed, told) = world.plan();
    assert_eq!(doomed, [""; 0]);
    assert_eq!(told.len(), 8);
    assert_eq!(
        told[0],
        "Set ours: refused: 7 objects would be deleted, and the limit is 5 (a fifth of what the documents name, and at least 5)"
    );
    assert_eq!(told[1], "Record a.org/old0: skipped: nothing of the set `ours` is deleted");
    world.sets[0].max_deletes = Limits::of_all(Some(6));
    assert!(world.told()[0].ends_with("the limit is 6 (`max-deletes` of the set)"));
    world.gates.max_deletes = Some(7);
    assert_eq!(world.doomed().len(), 7);
    world.gates.max_deletes = Some(0);
    assert!(world.told()[0].ends_with("the limit is 0 (`--max-deletes`)"));
}

#[test]
fn an_empty_desired_set_needs_to_be_meant() {
    let mut world = World::new(vec![ours("old")]);
    world.documents[0].policy.ensure = Ensure::Absent;
    assert_eq!(world.doomed(), [""; 0]);
    world.documents.clear();
    assert_eq!(
        world.told()[0],
        "Set ours: refused: no document names an object in its scope: 1 object would be deleted"
    );
    world.gates.allow_empty = true;
    assert_eq!(world.doomed(), ["Record a.org/old"]);
}

/// A scope that is not known whole stops the pruning of every Set.
#[test]
fn one_listing_that_is_not_whole_stops_everything() {
    let mut world = World::new(vec![ours("old")]);
    let other = Set { name: "zones".into(), ..set(vec![claim("Zone", &[], true)]) };
    world.sets.push(other);
    let doubts = vec!["GET /zones: 403 Forbidden".to_owned()];
    world.swept.push(Swept { items: vec![item(&[("name", "x.org")], json!({}))], doubts });
    let (doomed, told) = world.plan();
    assert_eq!(doomed, [""; 0]);
    assert_eq!(
        told,
        [
            "Set zones: unknown: what is in its scope is not known whole: GET /zones: 403 Forbidden",
            "Record a.org/old: skipped: nothing of the set `ours` is deleted",
            "Zone x.org: skipped: nothing of the set `zones` is deleted",
        ]
    );
}

#[test]
fn nothing_goes_that_documents_stand_below_or_were_named() {
    let mut world = World::new(Vec::new());
    world.sets = vec![set(vec![claim("Zone", &[], true)])];
    world.swept = vec![Swept {
        items: vec![item(&[("name", "a.org")], json!({})), item(&[("name", "b.org")], json!({}))],
        doubts: Vec::new(),
    }];
    world.documents.push(document("Zone", &[("name", "c.org")], json!({})));
    assert_eq!(world.plan(), (vec!["Zone b.org".to_owned()], Vec::new()));
    world.documents[1].policy.pinned_id = Some("b.org".into());
    assert_eq!(world.plan(), (Vec::new(), Vec::new()));
}

#[test]
fn a_name_that_differs_in_letter_case_alone_is_left() {
    let world = World::new(vec![ours("WWW")]);
    assert_eq!(world.doomed(), [""; 0]);
    assert_eq!(
        world.told(),
        [
            "Record a.org/WWW: extra: the name of `Record a.org/www`, which has a document, differs in letter case, composition or type alone"
        ]
    );
    assert_eq!(World::new(vec![ours("\u{ff57}ww")]).doomed(), [""; 0], "in another composition");
}

#[test]
fn what_a_document_names_as_another_kind_of_the_same_listing_is_left() {
    let mut world = World::new(vec![ours("old")]);
    world.documents.push(document("Note", &[("in", "a.org"), ("name", "old")], json!({})));
    assert_eq!(world.doomed(), [""; 0]);
    let why = "Record a.org/old: extra: `Note a.org/old`, which has a document, is listed by the same request, and may be this object";
    assert_eq!(world.told(), [why]);
    let mut note = Kind { delete: None, ..kind("Note", false, Some("Zone")) };
    note.list.as_mut().expect("a listing").op.path = Template(vec![Piece::Literal("/notes".into())]);
    world.kinds.insert(note);
    assert_eq!(world.doomed(), ["Record a.org/old"]);
}

#[test]
fn what_a_document_of_another_backend_at_the_same_url_names_is_left() {
    let mut world = World::new(vec![ours("old")]);
    let twin = |kind: &KindName| KindName { backend: "twin".into(), ..kind.clone() };
    for kind in ["Zone", "Record"] {
        let kind = world.kinds.get(&kind_name(kind)).expect("a kind").as_ref().clone();
        world.kinds.insert(Kind { name: twin(&kind.name), ..kind });
    }
    let mut named = document("Record", &[("in", "a.org"), ("name", "old")], json!({}));
    named.id.kind = twin(&named.id.kind);
    world.documents.push(named);
    assert_eq!(world.doomed(), ["Record a.org/old"], "nobody knows that both are one server");
    let here = kind_name("Record").backend;
    world.kinds.sites = [(here, "http://h/a".into()), ("twin".into(), "http://h/b".into())].into();
    assert_eq!(world.doomed(), ["Record a.org/old"], "they are two");
    // An address is one however it is divided between a backend and a path.
    let apart = world.kinds.get(&twin(&kind_name("Record"))).expect("a kind").as_ref().clone();
    let mut divided = apart.clone();
    let list = &mut divided.list.as_mut().expect("a listing").op.path;
    list.0.insert(0, Piece::Literal("/a".into()));
    world.kinds.insert(divided);
    world.kinds.sites.insert("twin".into(), "http://h".into());
    assert_eq!(world.doomed(), [""; 0], "both ask http://h/a");
    world.kinds.insert(apart);
    world.kinds.sites.insert("twin".into(), "http://h/a".into());
    assert_eq!(world.doomed(), [""; 0]);
    let why =
        "of the backend `twin`, which has a document, is listed by the same request, and may be this object";
    assert!(world.told()[0].contains(why), "{:?}", world.told());
    let named = world.documents.last_mut().expect("it was added");
    named.id.key = key_of(&[("in", "a.org"), ("name", "new")]);
    assert_eq!(world.doomed(), ["Record a.org/old"], "it names another");
    world.documents.last_mut().expect("it was added").policy.pinned_id = Some("7".into());
    world.swept[0].items[0].server_id = Some("7".into());
    assert_eq!(world.doomed(), [""; 0], "its id is pinned");
}

#[test]
fn several_of_one_name_are_left_and_one_that_was_listed_twice_is_one() {
    let mut twin = ours("old");
    let world = World::new(vec![ours("old"), twin.clone()]);
    assert_eq!(world.doomed(), ["Record a.org/old"]);
    twin.server_id = Some("another".into());
    let world = World::new(vec![ours("old"), twin]);
    assert_eq!(
        world.plan(),
        (vec![], vec!["Record a.org/old: extra: 2 objects answer to its name".to_owned()])
    );
}

#[test]
fn what_the_server_made_for_itself_is_not_too_much() {
    let mut world = World::new(vec![ours("amq.topic"), ours("old")]);
    let builtin = |text: &str| crate::core::filter::Filter::parse(text).ok();
    let kind = kind("Record", false, Some("Zone"));
    let owner = Path::parse("owner").ok();
    let filter = r#".owner == "me""#;
    world.kinds.insert(Kind { owner: owner.clone(), builtin: builtin(filter), ..kind.clone() });
    assert_eq!(world.plan(), (vec![], vec![]));
    world.kinds.insert(Kind { owner, builtin: builtin("error(1)"), ..kind });
    assert!(world.told()[0].contains("extra: whether it is the server's own cannot be told"));
    assert_eq!(world.doomed(), [""; 0]);
}

#[test]
fn what_is_on_its_way_out_is_no_deletion_of_ours() {
    let world = World::new(vec![Item { deleting: true, ..ours("old") }]);
    assert_eq!(world.doomed(), [""; 0]);
    assert!(world.told()[0].ends_with("the server is deleting it, and has not finished"));
}

/// A zone, its records and notes, which go with it only.
fn family() -> World {
    let mut world = World::new(Vec::new());
    world.sets =
        vec![set(vec![claim("Zone", &[], true), claim("Record", &[], false), claim("Note", &[], true)])];
    let swept = |items: Vec<Item>| Swept { items, doubts: Vec::new() };
    let old = |kind: &str, value: Value| item(&[("in", "old.org"), ("name", kind)], value);
    world.swept = vec![
        swept(vec![item(&[("name", "old.org")], json!({}))]),
        swept(vec![old("r", json!({"owner": "me"}))]),
        swept(vec![old("n", json!({}))]),
    ];
    world
}

#[test]
fn children_go_before_their_parents_and_one_that_stays_keeps_them() {
    let mut world = family();
    let (doomed, told) = world.plan();
    assert_eq!(doomed, ["Zone old.org", "Record old.org/r"]);
    assert_eq!(told, ["Note old.org/n: extra: the API has no way to delete a Note"]);
    let graph = Graph::build(&world.documents, &world.kinds).expect("documents");
    let known = Known {
        sets: &world.sets,
        documents: &world.documents,
        graph: &graph,
        kinds: &world.kinds,
        former: &world.former,
        holds: &|_, _| Ok(()),
    };
    let made = plan(&known, world.swept.clone(), &world.gates);
    let rank = |at: usize| made.doomed[at].policy.pruned.as_ref().expect("it is pruned").rank;
    assert!(rank(1) > rank(0), "a record is deleted before its zone");

    world.swept[1].items[0].value = Arc::new(json!({"owner": "you"}));
    assert_eq!(world.doomed(), [""; 0]);
    assert!(world.told()[0].ends_with("Zone old.org: extra: `Record old.org/r`, which is below it, stays"));
}

#[test]
fn what_is_below_an_object_that_is_to_be_absent_goes_with_it() {
    let mut world = family();
    let mut zone = document("Zone", &[("name", "old.org")], json!({}));
    zone.policy.ensure = Ensure::Absent;
    world.documents.push(zone);
    assert_eq!(world.doomed(), [""; 0]);
    assert!(world.told()[0].ends_with("it goes with `Zone old.org`, which is to be absent"));
}

#[test]
fn without_pruning_all_that_is_too_much_is_told() {
    let mut world = World::new(vec![ours("old"), record("theirs", json!({}))]);
    world.gates.deletes = false;
    assert_eq!(world.doomed(), [""; 0]);
    assert_eq!(world.told().len(), 2);
    assert!(world.told().iter().all(|line| line.contains(": extra: ")));
}

#[test]
fn the_last_look_before_a_deletion_needs_the_proof_as_well() {
    let kinds = kinds();
    let kind = kinds.get(&kind_name("Record")).expect("a kind");
    let word = |proof, item: &Item| pruned(proof).stays(kind, item).map(|outcome| outcome.word());
    assert_eq!(word(Proof::Mark, &ours("old")), None);
    assert_eq!(word(Proof::Mark, &record("old", json!({"owner": "you"}))), Some("refused"));
    assert_eq!(word(Proof::Exclusive, &record("old", json!({}))), None);
    assert_eq!(word(Proof::Exclusive, &Item { server_id: None, ..ours("old") }), Some("conflict"));
}

/// A world in which the owner mark is no proof, with a base that has two records.
fn with_base(standing: Standing) -> World {
    let mut world = World::new(vec![record("old", json!({})), record("users", json!({}))]);
    world.sets[0].owner = None;
    let left = document("Record", &[("in", "a.org"), ("name", "old")], json!({"ttl": 5}));
    world.former = Former { standing, left: vec![left], moved: Vec::new() };
    world
}

fn recorded() -> Standing {
    Standing::Recorded("refs/trueup/x".into())
}

#[test]
fn what_stood_in_a_recorded_base_is_ours() {
    let world = with_base(recorded());
    assert_eq!(world.doomed(), ["Record a.org/old"]);
    assert_eq!(
        world.told(),
        [
            "Record a.org/users: extra: nothing proves that it is ours: the set `ours` names no `owner`, and `refs/trueup/x` has no document of it"
        ]
    );
    // Of any other base nobody knows that it was applied.
    let unproved = Standing::Unproved(Explanation::new("`HEAD~1` is no such ref"));
    for standing in [unproved, Standing::None] {
        let world = with_base(standing);
        assert_eq!(world.doomed(), [""; 0]);
        assert!(world.told()[0].starts_with("Record a.org/old: extra: nothing proves that it is ours"));
    }
}

#[test]
fn a_document_elsewhere_or_a_protection_at_the_base_keeps_it_whatever_else_proves() {
    for exclusive in [true, false] {
        let mut world = with_base(recorded());
        world.sets[0].scope[0].exclusive = exclusive;
        let users = world.swept[0].items.remove(1);
        let left = world.former.left.remove(0);
        world.former.moved = vec![(left.id.clone(), origin())];
        assert_eq!(world.doomed(), [""; 0]);
        assert_eq!(
            world.told(),
            ["Record a.org/old: extra: its document left `-f` and stands in set.yaml:3:5"]
        );
        world.former.moved.clear();
        world.former.left = vec![left];
        world.former.left[0].policy.protected = true;
        world.swept[0].items.push(users);
        assert!(!world.doomed().contains(&"Record a.org/old".into()));
        let why =
            "Record a.org/old: extra: its document at the base, test.yaml:1:1, has `trueup/prune: \"false\"`";
        assert_eq!(world.told()[0], why);
    }
}

#[test]
fn a_mark_that_is_gone_or_anothers_outweighs_a_recorded_base() {
    for (value, why) in [
        (json!({}), "`owner` does not hold the owner `me`"),
        (json!({"owner": "you"}), "`owner` says that it is `you`'s"),
    ] {
        let mut world = with_base(recorded());
        world.sets[0].owner = Some("me".into());
        world.swept[0].items = vec![record("old", value)];
        assert_eq!(world.doomed(), [""; 0]);
        assert_eq!(world.told(), [format!("Record a.org/old: extra: nothing proves that it is ours: {why}")]);
    }
    // Where no update could have written a mark, its absence says nothing.
    let mut world = with_base(recorded());
    world.sets[0].owner = Some("me".into());
    let record = world.kinds.get(&kind_name("Record")).expect("a kind").as_ref().clone();
    world.kinds.insert(Kind { update: None, ..record });
    assert_eq!(world.doomed(), ["Record a.org/old"]);
}

#[test]
fn another_object_of_the_name_is_not_the_one_of_the_base() {
    let mut world = with_base(recorded());
    world.former.left[0].policy.pinned_id = Some("77".into());
    assert_eq!(world.doomed(), [""; 0]);
    let why = "Record a.org/old: extra: nothing proves that it is ours: the document at the base is about an object with another id";
    assert_eq!(world.told()[0], why);
    world.former.left[0].policy.pinned_id = Some("a.org-old".into());
    assert_eq!(world.doomed(), ["Record a.org/old"]);
}

#[test]
fn a_mark_of_another_owner_stops_a_deletion_by_a_recorded_base_at_the_last_look() {
    let world = with_base(recorded());
    let pruned = pruned(Proof::Recorded("refs/trueup/x".into(), origin()));
    let kind = world.kinds.get(&kind_name("Record")).expect("a kind");
    assert_eq!(pruned.stays(kind, &record("old", json!({}))), None);
    let why = Outcome::Refused(Explanation::new("it bears the mark of `you` by now"));
    assert_eq!(pruned.stays(kind, &record("old", json!({"owner": "you"}))), Some(why));
    assert!(matches!(pruned.stays(kind, &record("new", json!({}))), Some(Outcome::Conflict(_))));
}

#[test]
fn what_forces_a_deletion_goes_with_it() {
    let mut world = with_base(recorded());
    world.former.left[0].policy.forced_paths = vec![Path::parse("ttl").expect("a path")];
    let graph = Graph::build(&world.documents, &world.kinds).expect("documents");
    let known = Known {
        sets: &world.sets,
        documents: &world.documents,
        graph: &graph,
        kinds: &world.kinds,
        holds: &|_, _| Ok(()),
        former: &world.former,
    };
    let made = plan(&known, world.swept.clone(), &world.gates);
    assert!(made.doomed[0].policy.forces(Path::parse("ttl").ok().as_ref()));
    assert!(made.doomed[0].base.spec().is_some_and(|spec| spec.get("ttl").is_some()));
}
