//! Finalizers: texts in an item's `finalizers`, each of somebody who has something to do before the item goes.
//!
//! A delete only marks an item that has some. Nothing else of it can change from then on, none can be added, and
//! it goes with the last one.

use crate::core::value::{Map, Value, equal};

use super::item::payload;
use super::key::Key;
use super::refusal::Refusal;

const FINALIZERS: &str = "finalizers";

/// The finalizers of a body; what is no list of texts has none.
pub fn finalizers(body: &Map<String, Value>) -> Vec<&str> {
    body.get(FINALIZERS).and_then(listed).unwrap_or_default()
}

fn listed(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(|entry| entry.as_str().filter(|text| !text.is_empty())).collect()
}

/// Whether `body` may take the place of `before`. `going` says that the item is being deleted, and that this
/// write is about more than its status.
///
/// # Errors
/// Finalizers that are none, and whatever else an item that is being deleted may not become. What an older store
/// holds under the name may stay as it is.
pub fn check(
    key: &Key,
    going: bool,
    before: &Map<String, Value>,
    body: &Map<String, Value>,
) -> Result<(), Refusal> {
    if let Some(new) = body.get(FINALIZERS)
        && !new.is_null()
        && listed(new).is_none()
        && !before.get(FINALIZERS).is_some_and(|old| equal(old, new))
    {
        return Err(Refusal::Finalizers);
    }
    let known = finalizers(before);
    let fewer = || finalizers(body).iter().all(|finalizer| known.contains(finalizer));
    match !going || fewer() && equal(&rest(before), &rest(body)) {
        true => Ok(()),
        false => Err(Refusal::Deleting(key.clone())),
    }
}

/// What does not change any more.
fn rest(body: &Map<String, Value>) -> Value {
    let mut rest = payload(body.clone());
    rest.remove(FINALIZERS);
    Value::Object(rest)
}
