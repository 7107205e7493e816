//! What a schedule is about: kinds of every make, and documents over them drawn from a seed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::model::document;
use super::dice::Dice;
use super::makes::{KINDS, MAKES, Manner, PROFILES, Profile};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Drift, Ensure, OnConflict, Policy};
use crate::core::graph::Graph;
use crate::core::kind::Kind;
use crate::core::node::{Node, Pos, Reference, Secret, Want};
use crate::core::path::Path;
use crate::core::value::Value;

/// What stands in the secret field of a document, in clear: the kind says that it is secret. A server that echoes
/// it must not bring it into any report.
pub const CANARY: &str = "canary-5f1d9c3b7a2e4608-canary-5f1d9c3b7a2e4608-canary-5f1d9c3b7a2e";
/// What stands there by `!secret`: the client keeps it out of all that it hands on, so it is not echoed here.
pub const SEALED: &str = "sealed-7b1e0d52c8f94a63-sealed-7b1e0d52c8f94a63-sealed-7b1e0d52c8f9";

/// The field that the base has, and no document any more; and what the base says of it.
pub const GONE: (&str, &str) = ("gone", "b");

/// What stands on the server when a schedule begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stands {
    /// A matter of chance.
    Perhaps,
    Not,
    AsWanted,
    Otherwise,
}

/// The documents of a schedule and how they are linked.
pub struct Scene {
    pub documents: Vec<Document>,
    pub selected: Vec<bool>,
    pub stands: Vec<Stands>,
    pub graph: Graph,
    /// Objects that may be replaced, as an option names them.
    pub replace: BTreeSet<String>,
    pub manners: Vec<Manner>,
    /// Whether any document has a secret that a report could show.
    pub has_secrets: bool,
}

impl Scene {
    pub fn draw(dice: &mut Dice) -> Scene {
        let most = dice.one(&[6, 6, 20]);
        let count = 1 + dice.below(most);
        // Few makes in one schedule, so that objects share collections.
        let among = if dice.chance(0.4) { MAKES.len() } else { PROFILES.len() };
        let makes: Vec<usize> = (0..1 + dice.below(4)).map(|_| dice.below(among)).collect();
        let mut documents: Vec<Document> = Vec::new();
        for i in 0..count {
            let (name, parent) = MAKES[makes[dice.below(makes.len())]];
            draw_document(dice, &mut documents, i, name, parent);
        }
        tie(dice, &mut documents);
        dice.shuffle(&mut documents);
        let few = dice.chance(0.15);
        let selected = documents.iter().map(|_| !few || dice.chance(0.6)).collect();
        let consent = dice.chance(0.3);
        let replace = documents.iter().filter(|_| consent).map(|document| document.id.slashed()).collect();
        let stands = vec![Stands::Perhaps; documents.len()];
        Scene { selected, replace, ..Scene::of(documents, stands) }
    }

    /// All documents are selected, and none may be replaced but as they say.
    pub fn of(documents: Vec<Document>, stands: Vec<Stands>) -> Scene {
        let graph = Graph::build(&documents, &KINDS).expect("the documents fit together");
        let manners = documents.iter().map(|document| Manner::of(&document.id.kind.kind)).collect();
        let selected = vec![true; documents.len()];
        let is_secret = |document: &Document| declared(document).any(|(name, _)| name == "token");
        let has_secrets = documents.iter().any(is_secret);
        Scene { documents, selected, stands, graph, replace: BTreeSet::new(), manners, has_secrets }
    }

    /// What a story begins with: the documents, and what each needs.
    pub fn told(&self) -> Vec<String> {
        let told = |(at, document): (usize, &Document)| {
            let named = |at: &usize| self.documents[*at].id.slashed();
            let node = &self.graph.nodes[at];
            let needs: Vec<String> = node.needs().iter().map(named).collect();
            let later: Vec<String> = node.later.iter().map(named).collect();
            let has_base = document.base.spec().is_some();
            let Policy { ensure, drift, .. } = &document.policy;
            format!("{} {ensure:?} {drift:?}, base {has_base}, needs {needs:?}, later {later:?}", document.id)
        };
        self.documents.iter().enumerate().map(told).collect()
    }

    pub fn kind(&self, at: usize) -> &Arc<Kind> {
        KINDS.get(&self.documents[at].id.kind).expect("a kind")
    }
}

/// References against the order of drawing, which may close a cycle, and to the object itself.
fn tie(dice: &mut Dice, documents: &mut [Document]) {
    for at in 0..documents.len() {
        let to = at + dice.below(documents.len() - at);
        let updates = KINDS.get(&documents[at].id.kind).is_some_and(|kind| kind.update.is_some());
        if !dice.chance(0.1) || !updates || documents[to].policy.ensure == Ensure::Absent {
            continue;
        }
        let reference = reference_to(&documents[to]);
        let Want::Map(fields) = &mut documents[at].spec_mut().want else { unreachable!("a spec is a map") };
        fields.insert("mate", Node::new(Pos::default(), Want::Ref(reference.into())));
    }
}

fn draw_document(dice: &mut Dice, documents: &mut Vec<Document>, i: usize, name: &str, parent: Option<&str>) {
    let own = format!("o{i}");
    let spec = json!({"size": dice.below(3)});
    let mut needs = Vec::new();
    let mut drawn = match parent {
        None => document(name, &[("name", &own)], spec),
        Some(parent) => {
            let is_one = |at: &usize| *documents[*at].id.kind.kind == *parent;
            let among: Vec<usize> = (0..documents.len()).filter(is_one).collect();
            if among.is_empty() {
                return draw_document(dice, documents, i, parent, None);
            }
            let parent = dice.one(&among);
            needs.push(parent);
            let parent = documents[parent].id.key.to_string();
            document(name, &[("in", &parent), ("name", &own)], spec)
        }
    };
    let Want::Map(fields) = &mut drawn.spec_mut().want else { unreachable!("a spec is a map") };
    if dice.chance(0.5) {
        fields.insert("mode", Node::from_value(Pos::default(), json!("on")));
    }
    if !documents.is_empty() && dice.chance(0.25) {
        let needed = dice.below(documents.len());
        needs.push(needed);
        let reference = reference_to(&documents[needed]);
        if dice.chance(0.5) {
            fields.insert("other", Node::new(Pos::default(), Want::Ref(reference.into())));
        } else {
            drawn.policy.depends_on.push((reference, Pos::default()));
        }
    }
    // What needs an object that is to go is to go too.
    let must_go = needs.iter().any(|need| documents[*need].policy.ensure == Ensure::Absent);
    draw_policy(dice, &mut drawn.policy, must_go);
    if PROFILES.iter().any(|profile| profile.kind() == name) {
        draw_behaviours(dice, &mut drawn, i);
    }
    documents.push(drawn);
}

/// Fields that the server treats in some way of its own, whatever the profile.
fn draw_behaviours(dice: &mut Dice, drawn: &mut Document, i: usize) {
    let profile = Manner::of(&drawn.id.kind.kind).profile;
    if profile == Profile::P7 && dice.chance(0.8) {
        drawn.policy.pinned_id = Some(pinned(i));
    }
    if dice.chance(0.2) {
        drawn.policy.on_conflict = OnConflict::Force;
    }
    if dice.chance(0.3) {
        drawn.base = base_with_more(&drawn.spec);
    }
    let Want::Map(fields) = &mut drawn.spec_mut().want else { unreachable!("a spec is a map") };
    let mut set = |name: &'static str, value: &str| {
        fields.insert(name, Node::from_value(Pos::default(), json!(value)));
    };
    if dice.chance(0.15) {
        set("fixed", dice.one(&["a", "b"]));
    }
    if dice.chance(0.1) {
        // Kept in small letters.
        set("label", dice.one(&["plain", "Mixed"]));
    }
    if dice.chance(0.04) {
        // Taken, and not kept.
        set("ghost", "there");
    }
    if dice.chance(0.04) {
        // No value that the server takes.
        set("grade", "bad");
    }
    if dice.chance(0.2) {
        let sealed = Want::Secret(Secret::new("env:TOKEN", Some(SEALED.into())));
        let secret = if dice.chance(0.5) { sealed } else { Want::Json(json!(CANARY)) };
        fields.insert("token", Node::new(Pos::default(), secret));
    }
}

/// The server's id of the object that the `i`th document is pinned to.
pub fn pinned(i: usize) -> Arc<str> {
    (9_000 + i).to_string().into()
}

/// A base that says what the document says, and one field more.
pub fn base_with_more(spec: &Node) -> Base {
    let mut had = spec.clone();
    let Want::Map(fields) = &mut had.want else { unreachable!("a spec is a map") };
    fields.insert(GONE.0, Node::from_value(Pos::default(), json!(GONE.1)));
    Base::Present(Arc::new(Past { spec: had, file: "base".into() }))
}

fn draw_policy(dice: &mut Dice, policy: &mut Policy, must_go: bool) {
    policy.ensure = match dice.below(10) {
        _ if must_go => Ensure::Absent,
        0..=2 => Ensure::Absent,
        3 => Ensure::Exists,
        _ => Ensure::Present,
    };
    policy.protected = dice.chance(0.07);
    policy.paused = dice.chance(0.05);
    policy.replace = dice.chance(0.3);
    if dice.chance(0.04) {
        policy.drift = Drift::Report;
    }
}

pub fn reference_to(document: &Document) -> Reference {
    let id = &document.id;
    Reference {
        backend: None,
        kind: id.kind.kind.clone(),
        parts: id.key.parts().to_vec(),
        field: Path::parse("id").expect("a path"),
        text: format!("{} .id", id.slashed()).into(),
        secrets: Default::default(),
    }
}

/// Whether what is to go is not as its base has it: then it stays, unless the document has the say.
pub fn stays_for_others(document: &Document, value: &Value) -> bool {
    let Some(base) = document.base.spec() else { return false };
    let goes = document.policy.ensure == Ensure::Absent;
    let changed = |(name, had): (&str, Declared)| match had {
        Declared::Value(had) => value.get(name) != Some(had),
        // Which id a reference named then, nobody knows.
        Declared::IdOf(_) => false,
    };
    goes && document.policy.on_conflict != OnConflict::Force && fields(base).any(changed)
}

/// How long the slowest server takes to show or remove an object: less than the engine's patience.
pub const SLOWEST: Duration = Duration::from_secs(20);

/// The declared fields of a document: what each must be.
pub fn declared(document: &Document) -> impl Iterator<Item = (&str, Declared<'_>)> {
    fields(&document.spec)
}

fn fields(spec: &Node) -> impl Iterator<Item = (&str, Declared<'_>)> {
    let Want::Map(map) = &spec.want else { unreachable!("a spec is a map") };
    map.iter().map(|(name, node)| {
        let want = match &node.want {
            Want::Json(value) => Declared::Value(value),
            Want::Secret(secret) => Declared::Value(secret.value().expect("it is set")),
            Want::Ref(reference) => Declared::IdOf(reference),
            _ => unreachable!("no other sort is drawn"),
        };
        (&**name, want)
    })
}

pub enum Declared<'d> {
    Value(&'d Value),
    IdOf(&'d Reference),
}
