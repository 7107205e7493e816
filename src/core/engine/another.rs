//! Answers about something else. A success from another API, a proxy or a login page in JSON is an object like any
//! other to whoever asked; written back whole with ours laid over it, it erases what the object has.

use super::super::kind::{Kind, Part};
use super::super::node::Want;
use super::super::report::{Explanation, WRONG_OBJECT};
use super::super::value::Value;
use super::object::Object;

const HINT: &str = "is the backend's `url` right? If the API shows no more of such an object, add its key to what is \
                    read, in the backend: `item: '. + $key'`";

impl Object {
    /// Why what a read of the object's own shows is taken for another thing: it has nothing by which anybody could
    /// know it, neither the key, where items tell it, nor an id, nor any field that the document or the kind names.
    /// A key that differs is refused before. Asked only where an update sends the whole object: what sends our fields
    /// alone erases nothing.
    pub fn is_of_another(&self, shown: &Value) -> Option<Explanation> {
        let kind = &self.kind;
        let places = kind.own_parts().map(|part| place_of(kind, part)).collect::<Option<Vec<&[String]>>>()?;
        let Want::Map(members) = &self.spec.want else { return None };
        let rules = &self.kind.fields;
        let compared = |name: &&str| !rules.field(name).here.not_compared();
        let ours: Vec<&str> = members.keys().map(|name| &**name).filter(compared).collect();
        if !kind.updates_whole() || places.is_empty() || ours.is_empty() {
            return None;
        }
        let stands = |path: &[String]| {
            let found = path.iter().try_fold(shown, |value, name| value.get(name));
            found.is_some_and(|value| !value.is_null())
        };
        let id = self.kind.id.plain()?;
        let known = places.iter().any(|path| stands(path))
            || stands(id)
            || ours.iter().any(|name| shown.get(name).is_some())
            || rules.named_fields().any(|(name, _)| shown.get(name).is_some());
        let what = "the server answered with something else: neither the object's key nor any field of the document \
                    is in it";
        (!known).then(|| Explanation::new(what).hint(HINT).because(WRONG_OBJECT))
    }
}

/// Where an item tells the part, at a plain path. `None` where that takes more to tell, or the item does not.
fn place_of<'k>(kind: &'k Kind, part: &'k Part) -> Option<&'k [String]> {
    match kind.matching.iter().find(|(name, _)| *name == part.name) {
        Some((_, filter)) => filter.plain().filter(|path| !path.is_empty()),
        None => part.place(),
    }
}
