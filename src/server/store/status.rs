//! `status` apart from the rest, in the collections that were declared so: each side writes its own part only.

use crate::core::value::{Map, Value};
use crate::server::ownership::Field;

use super::index::{Change, Index};
use super::key::Key;
use super::write::Part;

/// The member that is kept apart, and the last segment of the path that writes it.
pub const STATUS: &str = "status";

/// What a body means when only one part of it counts: that part, and the other one as it is.
pub fn arranged(part: Part, before: &Map<String, Value>, body: Map<String, Value>) -> Map<String, Value> {
    let (mut main, mut status) = match part {
        Part::Main => (body, before.clone()),
        Part::Status => (before.clone(), body),
    };
    match status.remove(STATUS) {
        Some(status) => drop(main.insert(STATUS.into(), status)),
        None => drop(main.remove(STATUS)),
    }
    main
}

/// Which fields are those of a part.
pub fn about(part: Part) -> fn(&Field) -> bool {
    let is_status = |field: &Field| field.first().is_some_and(|name| name == STATUS);
    match part {
        Part::Main => |field| field.first().is_none_or(|name| name != STATUS),
        Part::Status => is_status,
    }
}

impl Index {
    /// Whether the items of a collection keep their status apart: collections of that name do, wherever they are.
    pub fn is_apart(&self, collection: &Key) -> bool {
        self.has_apart() && self.apart().contains(&collection.segment())
    }

    /// The item whose status a path names, where that is what it names.
    pub fn status_of(&self, path: &Key) -> Option<Key> {
        let item = path.parent();
        let names = self.has_apart() && path.depth() > 2 && path.depth() % 2 == 1 && path.segment() == STATUS;
        (names && self.is_apart(&item.parent())).then_some(item)
    }

    /// The steps that keep the status of these collections apart from now on.
    ///
    /// # Errors
    /// A collection of items that already stands where a status would be.
    pub fn declare_apart(&self, names: &[String]) -> Result<Vec<Change>, Key> {
        let in_the_way = |path: &Key, count: usize| {
            let owner = path.parent().parent();
            count > 0 && path.depth() > 2 && path.segment() == STATUS && names.contains(&owner.segment())
        };
        match self.collections().find(|(path, collection)| in_the_way(path, collection.len())) {
            Some((path, _)) => Err(path.clone()),
            None => {
                let new = names.iter().filter(|name| !self.apart().contains(*name));
                Ok(new.map(|name| Change::Apart(name.clone())).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().expect("a map").clone()
    }

    #[test]
    fn each_part_keeps_the_other() {
        let before = map(json!({"n": 1, "status": "up"}));
        for (part, body, want) in [
            (Part::Main, json!({"m": 2}), json!({"m": 2, "status": "up"})),
            (Part::Main, json!({"m": 2, "status": "down"}), json!({"m": 2, "status": "up"})),
            (Part::Status, json!({"m": 2, "status": "down"}), json!({"n": 1, "status": "down"})),
            (Part::Status, json!({"m": 2}), json!({"n": 1})),
        ] {
            assert_eq!(arranged(part, &before, map(body)), map(want));
        }
        assert_eq!(arranged(Part::Main, &Map::new(), map(json!({"status": 1}))), Map::new());
    }
}
