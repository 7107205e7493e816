//! How a kind makes a key of an object's parts, the same way for desired and for observed objects.

use std::sync::Arc;

use super::compare;
use super::filter::Filter;
use super::identity::Key;
use super::kind::Kind;
use super::value::Value;

impl Kind {
    /// The key of these parts. A comparer on the field where a part lies also compares the key: with
    /// `fields: {name: ascii_downcase}`, two spellings of a DNS name are one key.
    pub fn key_of(&self, parts: Vec<(Arc<str>, Value)>) -> Key {
        if self.fields.is_empty() {
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

    /// What a part compares by. Only a part that lies at a plain path lies on a field.
    fn fold_part(&self, part: &str, value: &Value) -> Value {
        let place = self.part(part).and_then(|part| part.on_item.as_ref()).and_then(Filter::plain);
        let rules = place.map(|names| names.iter().fold(&self.fields, |rules, name| rules.field(name)));
        match rules.and_then(|rules| rules.here.compare.as_ref()) {
            Some(comparer) => compare::fold(comparer, value),
            None => value.clone(),
        }
    }
}
