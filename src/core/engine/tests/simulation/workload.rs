//! Twelve workloads, each over any of the ten profiles: what a run is about in exhaustive campaigns.

use std::sync::Arc;

use serde_json::json;

use super::super::model::document;
use super::makes::Profile;
use super::scene::{Scene, Stands, base_with_more, pinned, reference_to};
use crate::core::base::{Base, Past};
use crate::core::document::{Document, Drift, Ensure, OnConflict};
use crate::core::node::{Node, Pos, Want};

/// What a run has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    CreateThree,
    UpdateThree,
    DeleteThree,
    /// Nothing is to be done.
    InSync,
    /// One of each.
    Mixed,
    /// Each needs the one before.
    CreateChain,
    DeleteChain,
    /// One refers to the id of the other.
    References,
    /// Two refer to each other.
    Cycle,
    /// A field that cannot be changed, and consent.
    Replace,
    /// So many that they are listed.
    Many,
    /// A field has left the files since the base.
    Left,
    /// One update, for storms.
    Storm,
    /// A create and an update, for small scopes.
    Pair,
    /// A deletion and an update.
    PairToGo,
    /// A replacement by a change of the files, where drift is only reported.
    ReplacePending,
    /// Two that refer to each other, of which one is to be replaced, and the other may not be made.
    ReplaceInVain,
}

pub const WORKLOADS: [Workload; 12] = {
    use Workload::*;
    [
        CreateThree,
        UpdateThree,
        DeleteThree,
        InSync,
        Mixed,
        CreateChain,
        DeleteChain,
        References,
        Cycle,
        Replace,
        Many,
        Left,
    ]
};

impl Workload {
    pub fn scene(self, profile: Profile) -> Scene {
        let count = match self {
            Workload::References
            | Workload::Cycle
            | Workload::Pair
            | Workload::PairToGo
            | Workload::ReplaceInVain => 2,
            Workload::Many => 6,
            Workload::Replace | Workload::ReplacePending | Workload::Storm => 1,
            _ => 3,
        };
        let mut documents: Vec<Document> = (0..count).map(|i| plain(profile, i)).collect();
        let stands = (0..count).map(|i| self.stands(i)).collect();
        match self {
            Workload::DeleteThree | Workload::DeleteChain => documents.iter_mut().for_each(to_go),
            Workload::Mixed => to_go(&mut documents[2]),
            Workload::PairToGo => to_go(&mut documents[1]),
            _ => {}
        }
        match self {
            Workload::CreateChain | Workload::DeleteChain => {
                for at in 1..count {
                    let needed = reference_to(&documents[at - 1]);
                    documents[at].policy.depends_on.push((needed, Pos::default()));
                }
            }
            Workload::References => refer(&mut documents, 1, 0),
            Workload::Cycle => {
                refer(&mut documents, 1, 0);
                refer(&mut documents, 0, 1);
            }
            Workload::Replace => set(&mut documents[0], "fixed", Want::Json(json!("a"))),
            Workload::ReplacePending => {
                set(&mut documents[0], "fixed", Want::Json(json!("a")));
                let base = Node::from_value(Pos::default(), json!({"size": 7, "fixed": "c"}));
                documents[0].base = Base::Present(Arc::new(Past { spec: base, file: "base".into() }));
                documents[0].policy.drift = Drift::Report;
            }
            Workload::ReplaceInVain => {
                set(&mut documents[0], "fixed", Want::Json(json!("a")));
                refer(&mut documents, 0, 1);
                let needed = reference_to(&documents[0]);
                documents[1].policy.depends_on.push((needed, Pos::default()));
                documents[1].policy.drift = Drift::Report;
            }
            Workload::Left => documents.iter_mut().for_each(|one| one.base = base_with_more(&one.spec)),
            _ => {}
        }
        if self == Workload::Mixed {
            documents[1].policy.on_conflict = OnConflict::Force;
        }
        let replaces = matches!(self, Workload::Replace | Workload::ReplaceInVain | Workload::ReplacePending);
        documents.iter_mut().for_each(|one| one.policy.replace = replaces);
        Scene::of(documents, stands)
    }

    fn stands(self, i: usize) -> Stands {
        match (self, i) {
            (Workload::CreateThree | Workload::CreateChain | Workload::References | Workload::Cycle, _)
            | (Workload::Mixed | Workload::Pair, 0)
            | (Workload::ReplaceInVain, 1) => Stands::Not,
            (Workload::Many, i) if i % 3 == 0 => Stands::Not,
            (Workload::InSync, _) => Stands::AsWanted,
            _ => Stands::Otherwise,
        }
    }
}

fn plain(profile: Profile, i: usize) -> Document {
    let name = format!("o{i}");
    let mut document = document(profile.kind(), &[("name", &name)], json!({"size": i, "mode": "on"}));
    if profile == Profile::P7 {
        document.policy.pinned_id = Some(pinned(i));
    }
    document
}

fn to_go(document: &mut Document) {
    document.policy.ensure = Ensure::Absent;
}

fn refer(documents: &mut [Document], from: usize, to: usize) {
    let reference = reference_to(&documents[to]);
    set(&mut documents[from], "mate", Want::Ref(reference.into()));
}

fn set(document: &mut Document, name: &'static str, want: Want) {
    let Want::Map(fields) = &mut document.spec_mut().want else { unreachable!("a spec is a map") };
    fields.insert(name, Node::new(Pos::default(), want));
}
