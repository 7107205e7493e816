//! How a kind makes a key of an object's parts, the same way for desired and for observed objects.

use std::sync::Arc;

use super::compare;
use super::fields::Comparer;
use super::filter::Filter;
use super::identity::{Key, KindName};
use super::kind::{Kind, Parent, Part};
use super::value::{Number, Value, canonical, plain_text, type_name};

/// What helps where a key is a number on one side and a text on the other.
pub const OTHER_TYPE: &str =
    "write it as the server does, or let the field compare as a text with the word `tostring`";

impl Kind {
    /// The key of these parts. A comparer on the field where a part lies also compares the key: with
    /// `fields: {name: ascii_downcase}`, two spellings of a DNS name are one key.
    pub fn key_of(&self, parts: Vec<(Arc<str>, Value)>) -> Key {
        if self.fields.is_empty() && self.parts.iter().all(|part| part.fold.is_none()) {
            return Key::new(parts);
        }
        let folded: Vec<Value> = parts.iter().map(|(name, value)| self.fold_part(name, value)).collect();
        Key::folded(parts, &folded)
    }

    /// What of a key the kind's listing names: objects that have this in common are told by one listing. One that
    /// names a part of the object's own is a search, with a scope for each object.
    pub fn listing_scope(&self, key: &Key) -> Key {
        let scoped = self.parts.iter().filter(|part| {
            let shared = part.parent != Parent::Own && (self.list.is_none() || part.on_item.is_none());
            shared || self.list.as_ref().is_some_and(|list| list.op.says_part(&part.name))
        });
        let named = |part: &Part| key.get(&part.name).map(|value| (part.name.clone(), value.clone()));
        self.key_of(scoped.filter_map(named).collect())
    }

    /// Whether `value` in the place of a part makes the same key: comparers may fold it.
    pub fn same_part(&self, key: &Key, name: &str, value: &Value) -> bool {
        let replaced = key
            .parts()
            .iter()
            .map(|(part, have)| (part.clone(), if **part == *name { value.clone() } else { have.clone() }));
        self.key_of(replaced.collect()) == *key
    }

    /// Keys that read like this one, and have a number where it has a text or the other way round: servers that
    /// are not sure of a type show one object under two of these.
    pub fn look_alikes(&self, key: &Key) -> Vec<Key> {
        let turned = |at: Option<usize>| {
            let parts = key.parts().iter().enumerate().map(|(i, (name, value))| {
                let other = other_scalar(value).filter(|_| at.is_none_or(|at| at == i));
                (name.clone(), other.unwrap_or_else(|| value.clone()))
            });
            self.key_of(parts.collect())
        };
        let numbers = key.parts().iter().enumerate().filter(|(_, (_, value))| other_scalar(value).is_some());
        let one_by_one: Vec<usize> = numbers.map(|(at, _)| at).collect();
        let all = (one_by_one.len() > 1).then_some(None);
        let each = one_by_one.into_iter().map(Some).chain(all);
        each.map(turned).filter(|other| other != key).collect()
    }

    /// How the types of two keys differ that read alike: `` `7` is a number there, and a text here ``.
    pub fn other_type(&self, ours: &Key, theirs: &Key) -> Option<String> {
        if !self.look_alikes(ours).contains(theirs) {
            return None;
        }
        let mut pairs = ours.parts().iter().zip(theirs.parts());
        let ((_, ours), (_, theirs)) =
            pairs.find(|((_, ours), (_, theirs))| other_scalar(ours).as_ref() == Some(theirs))?;
        let (there, here) = (type_name(theirs), type_name(ours));
        Some(format!("`{}` is {there} there, and {here} in the file", plain_text(ours)))
    }

    /// A part of a key as it compares: what two spellings of it have in common.
    pub fn folded_part(&self, key: &Key, name: &str) -> Option<Value> {
        key.get(name).map(|value| canonical(&self.fold_part(name, value)))
    }

    fn fold_part(&self, part: &str, value: &Value) -> Value {
        match self.part(part).and_then(|part| self.comparer_of(part)) {
            Some(comparer) => compare::fold(comparer, value),
            None => value.clone(),
        }
    }

    /// What a part compares by. Only a part that lies at a plain path lies on a field.
    fn comparer_of<'k>(&'k self, part: &'k Part) -> Option<&'k Comparer> {
        let place = part.on_item.as_ref().and_then(Filter::plain);
        let rules = place.map(|names| names.iter().fold(&self.fields, |rules, name| rules.field(name)));
        rules.and_then(|rules| rules.here.compare.as_ref()).or(part.fold.as_ref())
    }

    /// Lets the parts that stand for parents compare as the parents' own names do. Done once all kinds are
    /// known.
    pub fn fold_as_parents<'k>(&mut self, parent: impl Fn(&KindName) -> Option<&'k Kind>) {
        for part in &mut self.parts {
            let Parent::Of(name) = &part.parent else { continue };
            let Some(parent) = parent(name) else { continue };
            part.fold = parent.own_parts().last().and_then(|own| parent.comparer_of(own)).cloned();
        }
    }
}

/// The number that a text spells, or the text of a number.
fn other_scalar(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(plain_text(value).into()),
        Value::String(text) => {
            let number = serde_json::from_str::<Number>(text).ok().map(Value::Number)?;
            (plain_text(&number) == *text).then_some(number)
        }
        _ => None,
    }
}
