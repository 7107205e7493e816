//! What a schedule is about: kinds of every make, and documents over them drawn from a seed.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::json;

use super::super::model::{document, kind};
use super::dice::Dice;
use crate::core::document::{Document, Drift, Ensure, Policy};
use crate::core::filter::Filter;
use crate::core::graph::Graph;
use crate::core::kind::{Kind, Kinds, Piece, Read, Send, Serial, Version};
use crate::core::node::{Node, Pos, Reference, Want};
use crate::core::path::Path;
use crate::core::value::Value;

/// Kinds of every make. Parents come before their children.
static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let mut kinds = Kinds::default();
    [
        with(kind("Team", false, None), |kind| kind.check = kind.update.clone()),
        with(kind("Repo", true, None), |kind| send(kind, Send::Merge)),
        kind("Zone", false, None),
        with(kind("Record", false, Some("Zone")), |kind| kind.serial = Serial::Part("in".into())),
        with(kind("Member", true, Some("Repo")), |kind| {
            kind.list.as_mut().expect("a listing").op.path.0.push(Piece::PartId("in".into()));
        }),
        with(kind("Rule", true, None), |kind| {
            kind.read = Read::FromList;
            kind.serial = Serial::Backend;
        }),
        with(kind("Queue", false, None), |kind| kind.update = None),
        with(kind("Page", false, None), |kind| {
            kind.version = Version::ETag;
            kind.list.as_mut().expect("a listing").partial = true;
        }),
        with(kind("Hook", true, None), |kind| kind.list.as_mut().expect("a listing").partial = true),
        with(kind("Lone", false, None), |kind| {
            kind.list = None;
            kind.version = Version::OnItem(Filter::parse(".version").expect("a filter"));
            send(kind, Send::JsonPatch);
        }),
        with(kind("Line", false, None), |kind| {
            let told = kind.list.as_ref().expect("a listing").op.clone();
            kind.version = Version::Request(Box::new(told), Filter::parse(".").expect("a filter"));
            kind.serial = Serial::Backend;
        }),
        with(kind("Route", false, None), |kind| {
            kind.version = Version::ETag;
            kind.serial = Serial::Backend;
        }),
        with(kind("Entry", false, Some("Zone")), |kind| {
            kind.serial = Serial::Part("in".into());
            batches(kind, 3);
        }),
        with(kind("Card", true, None), |kind| {
            kind.read = Read::FromList;
            batches(kind, 8);
        }),
    ]
    .into_iter()
    .for_each(|kind| kinds.insert(kind));
    kinds
});

/// The kinds by name, with the parent's, in the order in which documents are drawn.
const MAKES: [(&str, Option<&str>); 14] = [
    ("Team", None),
    ("Repo", None),
    ("Zone", None),
    ("Rule", None),
    ("Queue", None),
    ("Page", None),
    ("Hook", None),
    ("Lone", None),
    ("Line", None),
    ("Route", None),
    ("Record", Some("Zone")),
    ("Member", Some("Repo")),
    ("Card", None),
    ("Entry", Some("Zone")),
];

fn with(mut kind: Kind, change: impl FnOnce(&mut Kind)) -> Kind {
    change(&mut kind);
    kind
}

fn batches(kind: &mut Kind, most: usize) {
    for op in [&mut kind.create, &mut kind.update, &mut kind.delete] {
        op.as_mut().expect("it has all operations").batch = Some(most);
    }
}

fn send(kind: &mut Kind, send: Send) {
    kind.update.as_mut().expect("an update").send = send;
}

/// What the server does with objects of a kind beyond what the kind says.
pub struct Manner {
    /// A second object of the same name is refused.
    pub unique: bool,
    /// A deletion takes a while.
    pub slow: bool,
    /// What was created is not shown for a while.
    pub hides: bool,
    /// Some writes are operations that end later.
    pub operates: bool,
}

impl Manner {
    pub fn of(kind: &str) -> Manner {
        Manner {
            unique: !matches!(kind, "Repo" | "Member" | "Rule" | "Card"),
            slow: matches!(kind, "Zone" | "Queue"),
            hides: matches!(kind, "Repo" | "Hook" | "Card"),
            operates: matches!(kind, "Team" | "Rule" | "Queue" | "Record" | "Hook"),
        }
    }
}

/// The documents of a schedule and how they are linked.
pub struct Scene {
    pub documents: Vec<Document>,
    pub selected: Vec<bool>,
    pub graph: Graph,
    /// Objects that may be replaced, as an option names them.
    pub replace: BTreeSet<String>,
}

impl Scene {
    pub fn kinds() -> &'static Kinds {
        &KINDS
    }

    pub fn draw(dice: &mut Dice) -> Scene {
        let most = dice.one(&[6, 6, 20]);
        let count = 1 + dice.below(most);
        // Few makes in one schedule, so that objects share collections.
        let makes: Vec<usize> = (0..1 + dice.below(4)).map(|_| dice.below(MAKES.len())).collect();
        let mut documents: Vec<Document> = Vec::new();
        for i in 0..count {
            let (name, parent) = MAKES[makes[dice.below(makes.len())]];
            draw_document(dice, &mut documents, i, name, parent);
        }
        tie(dice, &mut documents);
        dice.shuffle(&mut documents);
        let few = dice.chance(0.15);
        let selected = documents.iter().map(|_| !few || dice.chance(0.6)).collect();
        let graph = Graph::build(&documents, &KINDS).expect("the documents fit together");
        let consent = dice.chance(0.3);
        let replace = documents.iter().filter(|_| consent).map(|document| document.id.slashed()).collect();
        Scene { documents, selected, graph, replace }
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
        let Want::Map(fields) = &mut documents[at].spec.want else { unreachable!("a spec is a map") };
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
    let Want::Map(fields) = &mut drawn.spec.want else { unreachable!("a spec is a map") };
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
    documents.push(drawn);
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

fn reference_to(document: &Document) -> Reference {
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

/// How long the slowest server takes to show or remove an object: less than the engine's patience.
pub const SLOWEST: Duration = Duration::from_secs(20);

/// The declared fields of a document: what each must be.
pub fn declared(document: &Document) -> impl Iterator<Item = (&str, Declared<'_>)> {
    let Want::Map(map) = &document.spec.want else { unreachable!("a spec is a map") };
    map.iter().map(|(name, node)| {
        let want = match &node.want {
            Want::Json(value) => Declared::Value(value),
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
