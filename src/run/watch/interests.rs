//! Which documents a collection concerns: what a poll of it is held against.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::desired::Desired;
use crate::core::exchange::Collection;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::kind::Kind;
use crate::core::node::Node;
use crate::core::path::Path;
use crate::core::watch::owned::{Bodies, Interest, Interests};

impl Bodies for Desired {
    fn body(&self, at: usize) -> &Node {
        &self.documents[at].spec
    }
}

/// The documents of a desired set that were chosen, by what is asked about together.
pub struct Index {
    desired: Arc<Desired>,
    by_id: HashMap<ObjectId, usize>,
    /// By collection: its kind, and what its listing names of the key.
    by_scope: HashMap<(KindName, Key), Vec<usize>>,
    /// By document: the fields that others refer to.
    referred: HashMap<usize, Vec<Path>>,
    /// Kinds in which Sets claim what no document names.
    claimed: BTreeSet<KindName>,
}

impl Index {
    pub fn new(desired: Arc<Desired>) -> Index {
        let (mut by_id, mut by_scope) = (HashMap::new(), HashMap::<_, Vec<usize>>::new());
        for at in desired.places(desired.subjects.iter().map(|subject| &subject.id)) {
            let document = &desired.documents[at];
            let Some(kind) = desired.kinds.get(&document.id.kind).filter(|_| !document.policy.paused) else {
                continue;
            };
            let scope = kind.listing_scope(&document.id.key);
            by_scope.entry((kind.name.clone(), scope)).or_default().push(at);
            by_id.insert(document.id.clone(), at);
        }
        let claimed = desired.claims().map(|claim| claim.kind.clone()).collect();
        Index { by_id, by_scope, referred: referred(&desired), claimed, desired }
    }

    pub fn kind(&self, name: &KindName) -> Option<&Arc<Kind>> {
        self.desired.kinds.get(name)
    }

    /// What a document wants of this object; `None` where none names it.
    pub fn object(&self, id: &ObjectId) -> Option<Interest> {
        self.by_id.get(id).map(|at| self.interest(*at))
    }

    /// Whether a Set claims what no document names of this kind.
    pub fn is_claimed(&self, kind: &KindName) -> bool {
        self.claimed.contains(kind)
    }

    /// The objects of a collection that documents name.
    pub fn of(&self, collection: &Collection) -> Interests {
        let places = self.by_scope.get(&(collection.kind.clone(), collection.scope.clone()));
        let places = places.map_or(&[][..], Vec::as_slice);
        let one = |at: &usize| (self.desired.documents[*at].id.key.clone(), self.interest(*at));
        Interests::new(places.iter().map(one).collect())
    }

    fn interest(&self, at: usize) -> Interest {
        let bodies: Arc<dyn Bodies> = self.desired.clone();
        let interest = Interest::of(&self.desired.documents[at], &bodies, at);
        Interest { referred: self.referred.get(&at).cloned().unwrap_or_default(), ..interest }
    }
}

/// By document: the fields that others refer to, each once.
fn referred(desired: &Desired) -> HashMap<usize, Vec<Path>> {
    let mut referred = HashMap::<usize, Vec<Path>>::new();
    for (document, node) in desired.documents.iter().zip(&desired.graph.nodes) {
        document.spec.each_ref(&mut |reference, _| {
            if let Some(named) = node.references.get(&reference.text) {
                let fields = referred.entry(*named).or_default();
                if !fields.contains(&reference.field) {
                    fields.push(reference.field.clone());
                }
            }
        });
    }
    referred
}
