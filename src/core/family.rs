//! What goes along when an object goes: servers delete what is below an object together with it.
//!
//! The rule is one, whatever the way an object goes (`trueup delete`, `trueup/ensure: absent`, a Set's prune, a
//! ReplicaSet's surplus, a replacement that was consented to), and whatever was selected, as a selection limits what is
//! written and never what is protected:
//!
//! - A child with a document that ties it to its place protects what it is below: [`Tie`] says by what. The others go by
//!   a deletion of their own, or with a parent that is replaced, and are made again.
//! - A child that no document names keeps its parent, where no person asked for the parent by name: nothing proves that
//!   it may go. Where a person did, it is counted and named, in the plan and in the question.
//! - Where nobody can list what is below, or the listing is not whole, nothing is known of it: see [`Way`].
//!
//! Here are the kinds below a kind, and how they are looked for. `engine/family.rs` judges what documents name,
//! `engine/below.rs` looks for the rest and `engine/along.rs` judges it; `prune/family.rs` keeps beforehand what the
//! sweep alone shows to stay.

use std::collections::HashMap;
use std::sync::Arc;

use super::exchange::{Collection, Item, ParentIds};
use super::identity::{Key, KindName, ObjectId};
use super::kind::{Kind, Kinds, Op, Parent, Part, Piece};
use super::report::{Explanation, HELD};
use super::value::Value;

/// What ties a child that a document names to its place: why what it is below does not go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tie {
    /// `trueup/prune: "false"`.
    Protected,
    /// `trueup/paused`.
    Paused,
    /// `trueup/ensure: exists`.
    Exists,
    /// `trueup/drift: report`: what is missing would only be reported.
    OnlyReported,
    /// `trueup/report`: fields of it are only reported, and a new one would have them as its document says.
    Reported,
    /// What it needs to be made again is not there, and why.
    Needs(Explanation),
    /// What would have to be sent to make it again is not there, and why.
    Unmade(Explanation),
    /// Its own change is refused, and why: it would be done to it by the way.
    Refused(Explanation),
    /// It is in conflict: what others changed of it would be lost.
    InConflict,
    /// `--only`, `--exclude` or `-l` leaves it out.
    NotSelected,
    /// This run only looks at it.
    Held,
    /// It is pinned to this id of the server's, which a new one would not have.
    Pinned(Arc<str>),
    /// The API has no way to make it again.
    NotMade,
    /// It stands below an object in no document, which nobody would make again.
    Orphaned(ObjectId),
}

impl Tie {
    /// Why `child` keeps what it is below from going.
    pub fn keeps(&self, child: &ObjectId) -> Explanation {
        let why = match self {
            Tie::Protected => "is protected by `trueup/prune: \"false\"`".into(),
            Tie::Paused => "is paused by the annotation `trueup/paused`".into(),
            Tie::Exists => "must be there, by `trueup/ensure: exists`".into(),
            Tie::OnlyReported => "would not be created again, by `trueup/drift: report`".into(),
            Tie::Reported => "has fields that are only reported, by `trueup/report`".into(),
            Tie::Needs(why) | Tie::Unmade(why) => format!("could not be created again: {}", why.message),
            Tie::Refused(why) => format!("its own change is refused: {}", why.message),
            Tie::InConflict => "is in conflict: what others changed of it would be lost".into(),
            Tie::NotSelected => "is not selected".into(),
            Tie::Held => "is only looked at for now".into(),
            Tie::Pinned(id) => format!("is pinned to the id `{id}`, which a new one would not have"),
            Tie::NotMade => format!("the API has no way to create a {} again", child.kind.kind),
            Tie::Orphaned(parent) => {
                format!("could not be created again: `{parent}`, above it, is in no document")
            }
        };
        let why = Explanation::new(format!("`{child}` would go with it, and {why}"));
        match self {
            Tie::NotSelected => why.hint(format!("select it as well: {SELECTORS} leaves it out")),
            Tie::Held => why.because(HELD),
            // What a refused change wants is told by the child's own entry.
            Tie::Needs(reason) | Tie::Unmade(reason) => Explanation { hint: reason.hint.clone(), ..why },
            _ => why,
        }
    }
}

const SELECTORS: &str = "`--only`, `--exclude` or `-l`";

/// Why what nobody asked for by name stays: a child of it that no document names.
pub fn stays_for(child: &ObjectId) -> Explanation {
    Explanation::new(format!("`{child}`, which is below it, stays"))
}

/// Whether an object that no document names can keep its parent: not one that is on its way out, nor one that the API
/// has no way to delete, as it goes with its parent or not at all.
pub fn can_keep(kind: &Kind, item: &Item) -> bool {
    !item.deleting && kind.delete.is_some()
}

/// A kind below another, and the part of its key that stands for the parent.
pub type Under = (Arc<Kind>, Arc<str>);

/// The kinds below each kind, each with the part of its key that stands for the parent.
#[derive(Debug, Default)]
pub struct Offspring {
    below: HashMap<KindName, Vec<Under>>,
    kinds: Kinds,
}

impl Offspring {
    /// Of kinds that are all known.
    pub fn of(kinds: &Kinds) -> Offspring {
        let mut below: HashMap<KindName, Vec<Under>> = HashMap::new();
        for kind in kinds.iter().filter(|kind| !comes_with_parent(kind)) {
            for part in &kind.parts {
                if let Parent::Of(parent) = &part.parent {
                    below.entry(parent.clone()).or_default().push((kind.clone(), part.name.clone()));
                }
            }
        }
        Offspring { below, kinds: kinds.clone() }
    }

    /// The kinds right below a kind.
    pub fn below(&self, kind: &KindName) -> &[Under] {
        self.below.get(kind).map_or(&[], Vec::as_slice)
    }

    /// A kind by its name.
    pub fn kind(&self, name: &KindName) -> Option<&Arc<Kind>> {
        self.kinds.get(name)
    }

    /// Whether objects of `kind` are below such of `above`, right below or further down.
    fn is_below(&self, kind: &KindName, above: &KindName) -> bool {
        let mut next = vec![above];
        let mut seen: Vec<&KindName> = Vec::new();
        while let Some(name) = next.pop() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            for (child, _) in self.below(name) {
                if child.name == *kind {
                    return true;
                }
                next.push(&child.name);
            }
        }
        false
    }

    /// How the objects of `kind` below an object of the kind `above` are looked for, with what is known of their keys.
    pub fn way(&self, kind: &Arc<Kind>, above: &KindName, known: &Known) -> Way {
        let Some(list) = &kind.list else {
            return match kind.own_parts().next() {
                Some(_) => Way::Untold("its backend declares no `list`".into()),
                None if kind.readable_by_key() => {
                    let id = ObjectId { kind: kind.name.clone(), key: kind.key_of(known.parts.clone()) };
                    Way::Read(known.collection(kind, None), id)
                }
                None => Way::Untold("its `read` needs an id that only the server knows".into()),
            };
        };
        let Some(missing) = missing(kind, &list.op, known) else {
            return Way::List(known.collection(kind, Some(&list.op)));
        };
        let Parent::Of(other) = &missing.parent else {
            return Way::Untold(format!("its `list` needs `{}`", missing.name));
        };
        // It is shown below what is below, and found there.
        if other != above && self.is_below(other, above) {
            return Way::Further;
        }
        let listed = self.kinds.get(other).and_then(|kind| Some((kind, kind.list.as_ref()?)));
        match listed.filter(|_| known.each.is_empty()) {
            Some((other, others)) if self::missing(other, &others.op, known).is_none() => {
                let list = known.of(other).collection(other, Some(&others.op));
                Way::Each { part: missing.name.clone(), kind: other.clone(), list }
            }
            _ => Way::Untold(format!("its `list` needs `{}`, of which there may be several", missing.name)),
        }
    }
}

/// How what is below an object is looked for.
#[derive(Debug)]
pub enum Way {
    /// One listing shows it, and maybe more.
    List(Collection),
    /// There is one or none: it is read.
    Read(Collection, ObjectId),
    /// There is a listing for each object of another kind, which `list` shows: its name is the value of `part`.
    Each { part: Arc<str>, kind: Arc<Kind>, list: Collection },
    /// It is found below what is below.
    Further,
    /// Nobody can tell what there is, and why.
    Untold(String),
}

/// What is known of the keys of objects below another.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Parts of the key that stand for objects above, or are their scope.
    pub parts: Vec<(Arc<str>, Value)>,
    /// The server's ids of the objects above, by part.
    pub ids: ParentIds,
    /// The parts that were gone through one by one.
    each: Vec<Arc<str>>,
}

impl Known {
    /// Of objects of `kind`, whose `part` stands for the object `id` of the kind `parent`. `server_id` and `ids` are its
    /// own id and those of the objects above it.
    pub fn below(
        kind: &Kind,
        part: &str,
        parent: &Kind,
        id: &ObjectId,
        server_id: Option<&Arc<str>>,
        ids: &ParentIds,
    ) -> Known {
        let own = parent.own_parts().last().map(|own| own.name.clone());
        let names = |name: &Arc<str>| if Some(name) == own.as_ref() { part.into() } else { name.clone() };
        let is_above = |name: &str| kind.part(name).is_some_and(|part| part.parent != Parent::Own);
        let parts = id.key.parts().iter().map(|(name, value)| (names(name), value.clone()));
        let mut known: Vec<(Arc<str>, Value)> = parts.filter(|(name, _)| is_above(name)).collect();
        known.sort_by_key(|(name, _)| kind.parts.iter().position(|part| part.name == *name));
        let mut ids: Vec<(Arc<str>, Arc<str>)> =
            ids.0.iter().filter(|(name, _)| is_above(name) && **name != *part).cloned().collect();
        ids.extend(server_id.map(|id| (part.into(), id.clone())));
        Known { parts: known, ids: ParentIds(ids), each: Vec::new() }
    }

    /// With the object `id` of the kind `parent` in the place of `part`.
    pub fn with(
        &self,
        kind: &Kind,
        part: &str,
        parent: &Kind,
        id: &ObjectId,
        server_id: Option<&Arc<str>>,
    ) -> Known {
        let other = Known::below(kind, part, parent, id, server_id, &ParentIds::default());
        let mut all = self.clone();
        all.parts.extend(other.parts.into_iter().filter(|(name, _)| self.get(name).is_none()));
        all.parts.sort_by_key(|(name, _)| kind.parts.iter().position(|part| part.name == *name));
        all.ids.0.extend(other.ids.0);
        all.each.push(part.into());
        all
    }

    /// Whether a key may be one of these: what is known of them is in it.
    pub fn fits(&self, kind: &Kind, key: &Key) -> bool {
        self.parts.iter().all(|(name, value)| kind.same_part(key, name, value))
    }

    /// As far as another kind has the same parts.
    fn of(&self, kind: &Kind) -> Known {
        let has = |name: &str| kind.part(name).is_some_and(|part| part.parent != Parent::Own);
        let parts = self.parts.iter().filter(|(name, _)| has(name)).cloned().collect();
        let ids = ParentIds(self.ids.0.iter().filter(|(name, _)| has(name)).cloned().collect());
        Known { parts, ids, each: self.each.clone() }
    }

    fn get(&self, part: &str) -> Option<&Value> {
        self.parts.iter().find(|(name, _)| **name == *part).map(|(_, value)| value)
    }

    /// The collection that holds them; of what is read and not listed, its name.
    fn collection(&self, kind: &Kind, list: Option<&Op>) -> Collection {
        let pieces: Vec<&Piece> = list.iter().flat_map(|op| op.placeholders()).collect();
        let by_id = |part: &Arc<str>| pieces.iter().any(|piece| **piece == Piece::PartId(part.clone()));
        let ids = self.ids.0.iter().filter(|(part, _)| list.is_none() || by_id(part)).cloned();
        let scope = kind.listing_scope(&kind.key_of(self.parts.clone()));
        Collection { kind: kind.name.clone(), scope, parent_ids: ParentIds(ids.collect()) }
    }
}

/// A part that a listing needs, and that is not known.
fn missing<'k>(kind: &'k Kind, list: &Op, known: &Known) -> Option<&'k Part> {
    let needs =
        |part: &&Part| list.carries(&part.name) || (part.parent != Parent::Own && part.on_item.is_none());
    kind.parts.iter().filter(needs).find(|part| known.get(&part.name).is_none())
}

/// Whether the server makes the one object of the kind along with its parent, and it goes with it: nobody made it.
fn comes_with_parent(kind: &Kind) -> bool {
    kind.is_singleton() && kind.create.is_none()
}
