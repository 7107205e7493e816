//! Who set which field of an item, pure: the structured merge of an apply-patch, and what plain writes do to it.
//!
//! An item is seen as its leaves. Maps are walked into, so each member is a field of its own; whatever else is a
//! leaf: scalars, `null`, empty maps, and lists, which are owned whole. A manager holds a set of leaves, in one
//! of two [modes](Mode).
//!
//! | rule | |
//! |---|---|
//! | conflict | an apply-patch would change or cover a leaf that a manager of another name holds |
//! | sharing | a leaf that is sent as it is already has one holder more |
//! | removal | a leaf that this manager applied, that it sends no longer, and that nobody else holds |
//! | force | takes the leaves in conflict away from those who hold them |
//! | plain writes | take what they change from all who hold it, without a word |
//!
//! These are the rules of Kubernetes' server-side apply for an object without a schema, but for one: what a
//! manager wrote plainly is no conflict for its own apply-patch, and becomes applied by it.

mod leaves;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::core::path::{Path, Step};
use crate::core::value::{Map, Value};

use leaves::{alike, at, lay, leaves, remove};

/// Who holds what nobody is known to have set: what was there before the first apply-patch.
pub const BEFORE: &str = "before-first-apply";

/// The names from the root of an item to one of its fields.
pub type Field = Vec<String>;

/// How a manager came to hold a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// By an apply-patch: it leaves with the first one that does not have it.
    Apply,
    /// By any other write: it stays until a write removes it.
    Update,
}

/// Who holds which fields of an item. Nobody who holds nothing is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Managers(BTreeMap<(String, Mode), BTreeSet<Field>>);

/// A field in which another manager keeps an apply-patch from its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Conflict {
    /// The field that the other one holds.
    pub field: Field,
    pub manager: String,
}

/// An apply-patch: what a manager wants to hold, all of it.
#[derive(Clone, Copy)]
pub struct Patch<'p> {
    pub by: &'p str,
    pub config: &'p Map<String, Value>,
    pub force: bool,
    /// Which fields this patch is about: others that the manager applied earlier are not taken for left out.
    pub about: fn(&Field) -> bool,
}

impl Managers {
    /// All that there is, held by one manager.
    pub fn of(by: &str, mode: Mode, item: &Map<String, Value>) -> Managers {
        let held: BTreeSet<Field> = leaves(item).into_keys().collect();
        Managers::from_sets([(by.to_owned(), mode, held)])
    }

    /// From sets as [`sets`](Managers::sets) gives them.
    pub fn from_sets(sets: impl IntoIterator<Item = (String, Mode, BTreeSet<Field>)>) -> Managers {
        let sets = sets.into_iter().filter(|(_, _, held)| !held.is_empty());
        Managers(sets.map(|(name, mode, held)| ((name, mode), held)).collect())
    }

    /// Each manager with its mode and what it holds, in the order of their names.
    pub fn sets(&self) -> impl Iterator<Item = (&str, Mode, &BTreeSet<Field>)> {
        self.0.iter().map(|((name, mode), held)| (name.as_str(), *mode, held))
    }

    /// The names of those who hold this very field.
    pub fn holders(&self, field: &[String]) -> BTreeSet<&str> {
        self.sets().filter(|(_, _, held)| held.contains(field)).map(|(name, ..)| name).collect()
    }

    /// What an item and its managers become by an apply-patch.
    ///
    /// # Errors
    /// The fields that others hold and that it would change, unless it forces.
    pub fn apply(
        &self,
        item: &Map<String, Value>,
        patch: Patch,
    ) -> Result<(Map<String, Value>, Managers), Vec<Conflict>> {
        let wanted = leaves(patch.config);
        let mut merged = item.clone();
        wanted.iter().for_each(|(field, value)| lay(&mut merged, field, value));
        let conflicts = self.disturbed(item, &merged, patch.by);
        if !conflicts.is_empty() && !patch.force {
            return Err(conflicts);
        }
        let mut after = self.undisturbed(item, &merged);
        let key = (patch.by.to_owned(), Mode::Apply);
        let earlier = after.0.remove(&key).unwrap_or_default();
        if let Some(plainly) = after.0.get_mut(&(patch.by.to_owned(), Mode::Update)) {
            plainly.retain(|field| !wanted.contains_key(field));
        }
        let mut holds: BTreeSet<Field> = wanted.into_keys().collect();
        let (about, apart): (Vec<_>, Vec<_>) = earlier.into_iter().partition(patch.about);
        holds.extend(apart);
        after.0.insert(key, holds);
        let free = |field: &[String]| !after.0.values().any(|held| held.contains(field));
        for field in about.iter().filter(|field| !after.0.values().any(|held| reaches(held, field))) {
            remove(&mut merged, field, &free);
        }
        after.0.retain(|_, held| !held.is_empty());
        Ok((merged, after))
    }

    /// What the managers become when a plain write makes `after` of `before`.
    pub fn updated(&self, before: &Map<String, Value>, after: &Map<String, Value>, by: &str) -> Managers {
        let mut managers = self.undisturbed(before, after);
        let changed = leaves(after).into_keys().filter(|field| !alike(at(before, field), at(after, field)));
        let changed: BTreeSet<Field> = changed.collect();
        if !changed.is_empty() {
            managers.0.entry((by.to_owned(), Mode::Update)).or_default().extend(changed);
        }
        managers
    }

    /// The fields that somebody but `by` holds, and that are not the same on both sides.
    fn disturbed(&self, before: &Map<String, Value>, after: &Map<String, Value>, by: &str) -> Vec<Conflict> {
        let others = self.sets().filter(|(name, ..)| *name != by);
        let fields = others.flat_map(|(name, _, held)| held.iter().map(move |field| (field, name)));
        let conflicts: BTreeSet<Conflict> = fields
            .filter(|(field, _)| !alike(at(before, field), at(after, field)))
            .map(|(field, name)| Conflict { field: field.clone(), manager: name.to_owned() })
            .collect();
        conflicts.into_iter().collect()
    }

    /// What remains of each set: the fields that are there as they were.
    fn undisturbed(&self, before: &Map<String, Value>, after: &Map<String, Value>) -> Managers {
        let remains = |field: &&Field| {
            let now = at(after, field);
            now.is_some() && alike(at(before, field), now)
        };
        let sets = self.sets();
        Managers::from_sets(sets.map(|(name, mode, held)| {
            (name.to_owned(), mode, held.iter().filter(remains).cloned().collect())
        }))
    }
}

/// A field in the spelling of field paths: `spec.size`, `labels["a.b"]`.
pub fn path(field: &[String]) -> String {
    Path(field.iter().cloned().map(Step::Field).collect()).to_string()
}

/// Whether the set has this field or one below it. One above it can only be a map that somebody wants to be there,
/// whatever is in it.
fn reaches(set: &BTreeSet<Field>, field: &[String]) -> bool {
    set.range(field.to_vec()..).next().is_some_and(|next| next.starts_with(field))
}
