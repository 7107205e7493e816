//! The objects that a run saw, each once: however often it looked, by listings or by reads.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::exchange::Listing;
use super::identity::{Key, KindName};

/// What stands for an object: some bytes each, so that a million of them are cheap to keep.
type Face = u64;

/// Counts what was seen.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// The most that one look has shown of a name: two objects may answer to one.
    seen: HashMap<Face, usize>,
    /// Names of one object before and after it was renamed.
    same: HashMap<Face, Face>,
}

impl Census {
    /// So many, of which nothing else is known.
    pub fn of(count: usize) -> Census {
        let mut census = Census::default();
        census.note(face(&"", &""), count);
        census
    }

    /// How many objects were seen.
    pub fn count(&self) -> usize {
        self.seen.values().sum()
    }

    /// What has this name now is the object that has the other one.
    pub fn is_same(&mut self, kind: &KindName, former: &Key, key: &Key) {
        self.same.insert(face(kind, former), face(kind, key));
    }

    /// A read has shown an object.
    pub fn saw(&mut self, kind: &KindName, key: &Key) {
        let face = self.face_of(kind, key);
        self.note(face, 1);
    }

    /// A look has shown all these.
    pub fn saw_all<'k>(&mut self, kind: &KindName, keys: impl Iterator<Item = &'k Key>) {
        let mut faces: Vec<Face> = keys.map(|key| self.face_of(kind, key)).collect();
        faces.sort_unstable();
        for same in faces.chunk_by(|one, other| one == other) {
            self.note(same[0], same.len());
        }
    }

    /// A listing of a collection has come. What of it has no name is not told apart from what had none in an earlier
    /// one.
    pub fn listed(&mut self, kind: &KindName, scope: &Key, listing: &Listing) {
        let named = listing.items.len() + listing.others.len();
        self.saw_all(kind, listing.items.iter().map(|item| &item.key).chain(&listing.others));
        self.note(face(&(kind, "nameless"), scope), listing.seen.saturating_sub(named));
    }

    /// Adds what another run saw.
    pub fn join(&mut self, other: &Census) {
        self.same.extend(&other.same);
        for (face, count) in &other.seen {
            self.note(*face, *count);
        }
    }

    fn face_of(&self, kind: &KindName, key: &Key) -> Face {
        let face = face(kind, key);
        self.same.get(&face).copied().unwrap_or(face)
    }

    fn note(&mut self, face: Face, count: usize) {
        if count > 0 {
            let most = self.seen.entry(face).or_default();
            *most = count.max(*most);
        }
    }
}

fn face(kind: &impl Hash, key: &impl Hash) -> Face {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(name: &str) -> KindName {
        KindName { backend: "b".into(), kind: name.into() }
    }

    fn key(name: &str) -> Key {
        Key::new(vec![("name".into(), json!(name))])
    }

    fn listed(names: &[&str], seen: usize) -> Listing {
        Listing { others: names.iter().map(|name| key(name)).collect(), seen, ..Listing::default() }
    }

    #[test]
    fn each_object_counts_once() {
        let (team, none) = (kind("Team"), Key::new(Vec::new()));
        let mut census = Census::default();
        for (look, count) in [
            (listed(&["a", "b"], 2), 2),
            (listed(&["a", "b"], 2), 2),
            (listed(&["b", "c"], 2), 3),
            // Two of one name, and one without.
            (listed(&["a", "a", "b"], 4), 5),
            (listed(&["a"], 3), 6),
            (listed(&[], 0), 6),
        ] {
            census.listed(&team, &none, &look);
            assert_eq!(census.count(), count, "{look:?}");
        }
        census.saw(&team, &key("a"));
        assert_eq!(census.count(), 6);
        census.saw(&kind("Space"), &key("a"));
        assert_eq!(census.count(), 7, "one of another kind is another");
        let mut other = Census::of(3);
        other.saw(&team, &key("z"));
        other.saw(&team, &key("a"));
        census.join(&other);
        assert_eq!(census.count(), 11);
    }

    #[test]
    fn an_object_that_is_renamed_is_one() {
        let team = kind("Team");
        let mut census = Census::default();
        census.is_same(&team, &key("old"), &key("new"));
        census.saw(&team, &key("old"));
        census.saw(&team, &key("new"));
        assert_eq!(census.count(), 1);
        census.saw_all(&team, [&key("old"), &key("new")].into_iter());
        assert_eq!(census.count(), 2, "one look has shown both");
    }
}
