//! The watch of Kubernetes: a line an event, `{type, object}`.

use crate::core::value::Value;

use super::{Batch, FeedError, Meaning, fits};

/// Reads one line.
///
/// # Errors
/// An error that the server reports, other than that its history is gone.
pub fn line(meaning: &mut Meaning, line: &[u8], batch: &mut Batch) -> Result<(), FeedError> {
    let Ok(event) = serde_json::from_slice::<Value>(line) else {
        batch.ignored += 1;
        return Ok(());
    };
    let object = &event["object"];
    match event["type"].as_str().unwrap_or_default() {
        "ADDED" | "MODIFIED" | "DELETED" => changed(meaning, &event, object, batch),
        "BOOKMARK" => {
            go_on(meaning, object, batch);
        }
        "ERROR" => {
            let expired =
                object["code"] == 410 || matches!(object["reason"].as_str(), Some("Expired" | "Gone"));
            if !expired {
                let message = object["message"].as_str().unwrap_or("it does not say which");
                return Err(FeedError::Server(message.to_owned()));
            }
            batch.told.gone = true;
        }
        _ => batch.ignored += 1,
    }
    Ok(())
}

fn changed(meaning: &mut Meaning, event: &Value, object: &Value, batch: &mut Batch) {
    let foreign = meaning
        .kind
        .document
        .as_ref()
        .is_some_and(|document| object["kind"].as_str().is_some_and(|kind| kind != document.kind));
    if foreign || !object.is_object() {
        batch.ignored += 1;
        return;
    }
    if !go_on(meaning, object, batch) {
        return;
    }
    if meaning.watch().key.is_some() {
        let name = event["type"].as_str().map(str::to_owned);
        let position = batch.told.position.clone();
        return meaning.event(event, name, position, batch);
    }
    match meaning.key_of_item(object) {
        Some(key) => batch.changed(super::Changed::Key(key)),
        None => batch.ignored += 1,
    }
}

/// Moves on to the object's version; false where that is older than what was seen before.
fn go_on(meaning: &mut Meaning, object: &Value, batch: &mut Batch) -> bool {
    let Some(version) = object["metadata"]["resourceVersion"].as_str() else { return true };
    if meaning.goes_back(version) {
        batch.told.gone = true;
        return false;
    }
    batch.told.position = Some(version.into()).filter(fits).or(batch.told.position.take());
    true
}
