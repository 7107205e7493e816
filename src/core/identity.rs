//! What names an object: backend, kind, and the parts of its key, the parents' among them.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::value::{Value, canonical, canonical_text, plain_text};

/// A kind of one backend.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindName {
    pub backend: Arc<str>,
    pub kind: Arc<str>,
}

/// The parts of an object's key in the order of its kind: its parents' first, then its own.
///
/// Two keys are one when their *folded* parts are equal: what the kind's comparers make of the parts
/// (a DNS name in lower case, say), with numbers in canonical form.
#[derive(Clone, Debug)]
pub struct Key {
    parts: Arc<[(Arc<str>, Value)]>,
    /// Canonical JSON of the folded values.
    fold: Arc<str>,
}

impl Key {
    /// A key that compares by its parts as they stand.
    pub fn new(parts: Vec<(Arc<str>, Value)>) -> Key {
        let folded: Vec<Value> = parts.iter().map(|(_, value)| canonical(value)).collect();
        Key::folded(parts, &folded)
    }

    /// A key that compares by `folded`, one value for each part.
    pub fn folded(parts: Vec<(Arc<str>, Value)>, folded: &[Value]) -> Key {
        let fold = Value::Array(folded.iter().map(canonical).collect()).to_string().into();
        Key { parts: parts.into(), fold }
    }

    pub fn parts(&self) -> &[(Arc<str>, Value)] {
        &self.parts
    }

    /// The value of the part called `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.parts.iter().find(|(part, _)| **part == *name).map(|(_, value)| value)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.fold == other.fold
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fold.hash(state);
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.fold.cmp(&other.fold)
    }
}

/// The parts joined by `/`, as a person reads them; not an encoding. A singleton's key is empty.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (_, value)) in self.parts.iter().enumerate() {
            let slash = if i == 0 { "" } else { "/" };
            match value {
                Value::Object(_) | Value::Array(_) => write!(f, "{slash}{}", canonical_text(value))?,
                scalar => write!(f, "{slash}{}", plain_text(scalar))?,
            }
        }
        Ok(())
    }
}

/// One object of one backend.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    pub kind: KindName,
    pub key: Key,
}

/// `Queue //orders`.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.key.parts().is_empty() {
            return f.write_str(&self.kind.kind);
        }
        write!(f, "{} {}", self.kind.kind, self.key)
    }
}

impl ObjectId {
    /// `Queue///orders`: the form that flags such as `--only` and `--replace` match. A singleton is its kind.
    pub fn slashed(&self) -> String {
        if self.key.parts().is_empty() {
            return self.kind.kind.to_string();
        }
        format!("{}/{}", self.kind.kind, self.key)
    }
}
