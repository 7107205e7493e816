//! Schedules of prunings: a sweep, a plan and its application over a server with faults and other actors, and an
//! oracle that sees every deletion. What is wrong with a run on purpose (a mutant) has to be found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::make::{document, key_of, kind, kind_name};
use super::super::model::failed;
use super::dice::Dice;
use crate::core::document::Document;
use crate::core::engine::{Effect, Engine, Event, Mode, Options, RequestId};
use crate::core::exchange::{Answer, Ask, FailureClass, Item, Listing, Target, Wanted, Write};
use crate::core::graph::Graph;
use crate::core::identity::ObjectId;
use crate::core::kind::{Kind, Kinds};
use crate::core::mutant::{Mutant, plant, planted};
use crate::core::node::{Origin, Pos};
use crate::core::path::Path;
use crate::core::prune::{Former, Gates, Known, Swept, plan};
use crate::core::report::Report;
use crate::core::set::{Claim, Limits, Member, Set};
use crate::core::value::Value;

const SEEDS: u64 = 1_500;
const LIMIT: usize = 4;

struct Stored {
    id: u64,
    owner: Option<&'static str>,
}

/// The server, the files, and what the oracle saw.
struct Scene {
    kinds: Kinds,
    objects: BTreeMap<ObjectId, Stored>,
    next_id: u64,
    set: Set,
    named: Vec<Document>,
    /// Whether every listing of the sweep was whole.
    whole: bool,
    swept: BTreeMap<ObjectId, String>,
    deleted: BTreeSet<ObjectId>,
    broken: Vec<String>,
}

fn id(kind: &str, key: &[(&str, &str)]) -> ObjectId {
    ObjectId { kind: kind_name(kind), key: key_of(key) }
}

impl Scene {
    /// Three zones with records: some have documents, some bear our mark, some are others'.
    fn draw(dice: &mut Dice) -> Scene {
        let mut kinds = Kinds::default();
        let owner = || Path::parse("owner").ok();
        kinds.insert(Kind { owner: owner(), ..kind("Zone", false, None) });
        kinds.insert(Kind { owner: owner(), ..kind("Record", false, Some("Zone")) });
        let claim = |kind: &str, within: &[(&str, &str)]| Claim {
            kind: kind_name(kind),
            within: within.iter().map(|(part, value)| ((*part).into(), Value::from(*value))).collect(),
            exclusive: false,
            replicas: None,
            origin: Origin { file: "set.yaml".into(), at: Pos { line: 1, column: 1 } },
        };
        let scope = match dice.below(3) {
            0 => vec![claim("Record", &[("in", "z0")])],
            1 => vec![claim("Record", &[("in", "z0")]), claim("Record", &[("in", "z1")])],
            _ => vec![claim("Zone", &[]), claim("Record", &[])],
        };
        let origin = scope[0].origin.clone();
        let owner = Some("me".into());
        let set = Set { name: "ours".into(), owner, scope, max_deletes: Limits::of_all(Some(LIMIT)), origin };
        let mut scene = Scene {
            kinds,
            objects: BTreeMap::new(),
            next_id: 0,
            set,
            named: Vec::new(),
            whole: true,
            swept: BTreeMap::new(),
            deleted: BTreeSet::new(),
            broken: Vec::new(),
        };
        for zone in ["z0", "z1", "z2"] {
            scene.draw_one(dice, "Zone", &[("name", zone)]);
            for record in ["r0", "r1", "r2"] {
                scene.draw_one(dice, "Record", &[("in", zone), ("name", record)]);
            }
        }
        scene
    }

    fn draw_one(&mut self, dice: &mut Dice, kind: &str, key: &[(&str, &str)]) {
        let below = key.len() == 1 || self.objects.contains_key(&id("Zone", &[("name", key[0].1)]));
        if below && dice.chance(0.8) {
            self.store(id(kind, key), dice.one(&[Some("me"), Some("me"), Some("you"), None]));
        }
        if dice.chance(if kind == "Zone" { 0.5 } else { 0.35 }) {
            let mut named = document(kind, key, json!({}));
            let member = Member { set: "ours".into(), owner: Some("me".into()) };
            named.policy.member = Some(Arc::new(member));
            self.named.push(named);
        }
    }

    fn store(&mut self, id: ObjectId, owner: Option<&'static str>) {
        self.next_id += 1;
        self.objects.insert(id, Stored { id: self.next_id, owner });
    }

    fn item(&self, id: &ObjectId) -> Option<Item> {
        let stored = self.objects.get(id)?;
        let value = json!({"owner": stored.owner, "name": id.key.get("name")});
        Some(Item {
            key: id.key.clone(),
            server_id: Some(stored.id.to_string().into()),
            version: None,
            value: Arc::new(value),
            deleting: false,
            ready: None,
            ambiguous: Vec::new(),
        })
    }

    fn items(&self, kind: &str, within: &[(Arc<str>, Value)]) -> Vec<Item> {
        let covered = |id: &&ObjectId| {
            &*id.kind.kind == kind && within.iter().all(|(part, value)| id.key.get(part) == Some(value))
        };
        self.objects.keys().filter(covered).filter_map(|id| self.item(id)).collect()
    }

    fn claims(&self, id: &ObjectId) -> bool {
        let within = |claim: &Claim| claim.within.iter().all(|(part, value)| id.key.get(part) == Some(value));
        self.set.scope.iter().any(|claim| claim.kind == id.kind && within(claim))
    }

    /// What is ours and in no document.
    fn too_much(&self, counts: impl Fn(&ObjectId) -> bool) -> Vec<ObjectId> {
        let named = |id: &ObjectId| self.named.iter().any(|document| document.id == *id);
        let ours = self.objects.iter().filter(|(_, stored)| stored.owner == Some("me")).map(|(id, _)| id);
        ours.filter(|id| self.claims(id) && !named(id) && counts(id)).cloned().collect()
    }

    /// Whether a zone has records, or documents of some.
    fn has_below(&self, id: &ObjectId) -> bool {
        let documents = self.named.iter().map(|document| &document.id);
        let mut records = self.objects.keys().chain(documents);
        &*id.kind.kind == "Zone" && records.any(|record| record.key.get("in") == id.key.get("name"))
    }

    /// What other actors do: take a mark away, put another object in its place, make and delete some.
    fn meddle(&mut self, dice: &mut Dice) {
        let ids: Vec<ObjectId> = self.objects.keys().cloned().collect();
        if ids.is_empty() {
            return;
        }
        let at = ids[dice.below(ids.len())].clone();
        let leaf = &*at.kind.kind == "Record";
        match dice.below(4) {
            0 => self.objects.get_mut(&at).expect("it is there").owner = Some("you"),
            1 if leaf => self.store(at, Some("me")),
            2 if leaf => drop(self.objects.remove(&at)),
            _ => self.objects.get_mut(&at).expect("it is there").owner = Some("me"),
        }
    }

    /// Every deletion passes here.
    fn judge(&mut self, target: &Target) {
        let id = &target.id;
        let ours = target.observed.as_ref().is_some_and(|value| value["owner"] == "me");
        let swept_as = self.swept.get(id).map(String::as_str);
        let (below, in_scope) = (self.has_below(id), self.claims(id));
        let mut hold = |holds: bool, what: &str| {
            if !holds {
                self.broken.push(format!("delete {id}: {what}"));
            }
        };
        hold(in_scope, "it is out of the scope");
        hold(!self.named.iter().any(|document| document.id == *id), "a document names it");
        hold(ours, "nothing proves that it is ours");
        hold(self.whole, "a listing was not whole");
        hold(swept_as == target.server_id.as_deref(), "it is another object than the one that was listed");
        hold(!below, "something is below it");
        self.deleted.insert(id.clone());
        hold(self.deleted.len() <= LIMIT, "it is one more than the limit");
    }

    fn ask(&self, ask: &Ask) -> Answer {
        match ask {
            Ask::List(collection, wanted) => {
                let mut listing = whole(self.items(&collection.kind.kind, collection.scope.parts()));
                if let Wanted::Keys(keys) = wanted {
                    let (items, others) =
                        listing.items.into_iter().partition(|item| keys.contains(&item.key));
                    let others: Vec<Item> = others;
                    listing.others = others.into_iter().map(|item| item.key).collect();
                    listing.items = items;
                }
                Answer::Listed(listing)
            }
            Ask::Read(target) => self.item(&target.id).map_or(Answer::Absent, Answer::Found),
            Ask::Check(_) | Ask::Operation(..) => unreachable!("no kind here has such"),
        }
    }

    fn write(&mut self, write: &Write) -> Answer {
        let target = write.target();
        let there = self.objects.contains_key(&target.id);
        match write {
            Write::Delete(target) => {
                self.judge(target);
                if self.objects.remove(&target.id).is_none() {
                    return Answer::Absent;
                }
            }
            Write::Create(..) if there => return failed(FailureClass::Exists),
            Write::Update(..) if !there => return failed(FailureClass::Status(404)),
            _ => self.store(target.id.clone(), Some("me")),
        }
        Answer::Accepted { server_id: None, pending: false, inside: None }
    }
}

fn whole(items: Vec<Item>) -> Listing {
    Listing { seen: items.len(), items, others: Vec::new(), incomplete: None, problems: Vec::new() }
}

/// The sweep of all claims, some of whose listings fail or show a part.
fn sweep(scene: &mut Scene, dice: &mut Dice, faults: f64) -> Vec<Swept> {
    let claims = scene.set.scope.clone();
    let mut swept = Vec::new();
    for claim in &claims {
        let within = if planted!(NoScope) { &[][..] } else { &claim.within[..] };
        let mut found = Swept { items: scene.items(&claim.kind.kind, within), doubts: Vec::new() };
        if dice.chance(faults) {
            scene.whole = false;
            found.items.truncate(dice.below(found.items.len() + 1));
            found.doubts.push("there is more".into());
        }
        for item in &found.items {
            let id = ObjectId { kind: claim.kind.clone(), key: item.key.clone() };
            scene.swept.insert(id, item.server_id.as_deref().unwrap_or_default().to_owned());
        }
        swept.push(found);
    }
    swept
}

/// A run with its plan first; the report of the application.
fn run(scene: &mut Scene, dice: &mut Dice, faults: f64, meddling: f64) -> Report {
    scene.whole = true;
    scene.swept.clear();
    scene.deleted.clear();
    let swept = sweep(scene, dice, faults);
    let mut documents = scene.named.clone();
    if planted!(M24) && !documents.is_empty() {
        documents.truncate(dice.below(documents.len()));
    }
    let gates = Gates {
        deletes: true,
        max_deletes: None,
        max_deletes_of: Limits::default(),
        allow_empty: true,
        saved: false,
    };
    let graph = Graph::build(&documents, &scene.kinds).expect("documents that fit together");
    let sets = [scene.set.clone()];
    let former = Former::default();
    let known = Known {
        sets: &sets,
        documents: &documents,
        graph: &graph,
        kinds: &scene.kinds,
        former: &former,
        holds: &|_, _| Ok(()),
    };
    documents = [documents.clone(), plan(&known, swept, &gates).doomed].concat();
    let graph = Graph::build(&documents, &scene.kinds).expect("what is too much is needed by nobody");
    let engine = |mode, agreed: Option<&Report>| {
        let options = Options { writes: 3, ..Options::default() };
        Engine::new(documents.clone(), graph.clone(), &scene.kinds, mode, options, &|_| true, agreed)
    };
    let (first, kinds) = (engine(Mode::Plan, None), scene.kinds.clone());
    let agreed = drive(scene, first, dice, faults / 4.0, meddling);
    let options = Options { writes: 3, ..Options::default() };
    let second = Engine::new(documents, graph, &kinds, Mode::Apply, options, &|_| true, Some(&agreed));
    drive(scene, second, dice, faults, meddling)
}

/// Runs an engine to its end, answers in any order.
fn drive(scene: &mut Scene, mut engine: Engine, dice: &mut Dice, faults: f64, meddling: f64) -> Report {
    let (mut now, mut wake, mut event) = (Duration::ZERO, None, Event::Start);
    let mut flights: Vec<(RequestId, Result<Ask, Write>)> = Vec::new();
    for _ in 0..20_000 {
        for effect in engine.step(now, event) {
            match effect {
                Effect::Ask(id, ask) => flights.push((id, Ok(ask))),
                Effect::Write(id, write) => flights.push((id, Err(write))),
                Effect::WakeAt(at) => wake = Some(at),
            }
        }
        if engine.is_done() {
            return engine.report();
        }
        if dice.chance(meddling) {
            scene.meddle(dice);
        }
        if flights.is_empty() {
            now = now.max(wake.take().expect("a run that is not done waits for something"));
            event = Event::Woke;
            continue;
        }
        let (id, request) = flights.swap_remove(dice.below(flights.len()));
        let fails = dice.chance(faults);
        let class = dice.one(&[FailureClass::Lost, FailureClass::Status(503), FailureClass::Status(403)]);
        let answer = match request {
            Ok(_) if fails => failed(class),
            Ok(ask) => scene.ask(&ask),
            Err(write) => {
                let answer = scene.write(&write);
                if fails { failed(FailureClass::Lost) } else { answer }
            }
        };
        event = Event::Answered(id, answer);
    }
    panic!("the run does not end")
}

/// One schedule; what broke in it.
fn schedule(seed: u64) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let mut scene = Scene::draw(&mut dice);
    let faults = dice.one(&[0.0, 0.1, 0.4]);
    let meddling = dice.one(&[0.0, 0.0, 0.2]);
    run(&mut scene, &mut dice, faults, meddling);
    // Once the troubles are over, what is too much goes, unless it is too many.
    let due = scene.too_much(|_| true).len();
    run(&mut scene, &mut dice, 0.0, 0.0);
    let left = scene.too_much(|id| !scene.has_below(id));
    if due <= LIMIT && !left.is_empty() {
        scene.broken.push(format!("{left:?} are ours, in no document, and still there"));
    }
    scene.broken
}

#[test]
fn nothing_is_deleted_without_proof_or_out_of_scope() {
    for seed in 0..SEEDS {
        let broken = schedule(seed);
        assert!(broken.is_empty(), "seed {seed}:\n{}", broken.join("\n"));
    }
}

#[test]
fn every_mutant_is_found() {
    use Mutant::*;
    for (mutant, what) in [
        (M1, "a listing was not whole"),
        (M24, "a document names it"),
        (NoProof, "nothing proves that it is ours"),
        (NoScope, "it is out of the scope"),
        (NoLimit, "it is one more than the limit"),
    ] {
        let _planted = plant(mutant);
        let found = (0..SEEDS).find(|seed| schedule(*seed).iter().any(|line| line.contains(what)));
        println!("{mutant:?}: found after {} schedules", found.map_or(SEEDS, |seed| seed + 1));
        assert!(found.is_some(), "{mutant:?} is not found");
    }
}
