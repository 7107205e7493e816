//! How a kind makes a key of an object's parts, the same way for desired and for observed objects.

use std::sync::Arc;

use super::compare;
use super::fields::Comparer;
use super::filter::Filter;
use super::identity::{Key, KindName};
use super::kind::{Kind, Parent, Part};
use super::value::Value;

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

    /// Whether `value` in the place of a part makes the same key: comparers may fold it.
    pub fn same_part(&self, key: &Key, name: &str, value: &Value) -> bool {
        let replaced = key
            .parts()
            .iter()
            .map(|(part, have)| (part.clone(), if **part == *name { value.clone() } else { have.clone() }));
        self.key_of(replaced.collect()) == *key
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
