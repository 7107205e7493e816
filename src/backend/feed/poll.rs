//! The answer to a long poll: what has happened since the position that was asked with, or that nothing has.

use std::sync::Arc;

use crate::core::exchange::Collection;
use crate::core::kind::Kind;
use crate::core::value::Value;

use super::{Batch, FeedError, Meaning, fits, position};
use crate::backend::item::answer_vars;
use crate::backend::wire::HttpAnswer;

/// Reads an answer; `asked` is the position that the request had.
///
/// # Errors
/// A body that is no JSON.
pub fn poll(
    kind: &Arc<Kind>,
    collection: &Collection,
    asked: Option<&str>,
    answer: &HttpAnswer,
) -> Result<Batch, FeedError> {
    let mut batch = Batch::default();
    // Servers that have nothing to say may say so without a body.
    if matches!(answer.status, 204 | 304) {
        return Ok(batch);
    }
    let mut meaning = Meaning::new(kind, collection);
    meaning.vars.0.extend(answer_vars(answer));
    let body: Value = match serde_json::from_slice(&answer.body) {
        Ok(body) => body,
        Err(_) if answer.body.is_empty() => Value::Null,
        Err(_) => return Err(FeedError::NotAFeed("the answer is no JSON".into())),
    };
    let watch = meaning.watch();
    let found = watch.position.as_ref().and_then(|filter| position(filter, &body, &meaning.vars));
    let found = found.filter(fits);
    let moved = found.as_deref() != asked;
    if let (Some(asked), Some(found)) = (asked, &found) {
        meaning.goes_back(asked);
        batch.told.gone = meaning.goes_back(found);
    }
    events(&meaning, body, moved, &mut batch);
    // The events of an answer have no positions of their own: it stands behind all of them.
    batch.told.position = found;
    Ok(batch)
}

/// The events of an answer: where `items` says, else its body where that is a list. An answer of another shape is
/// one event, if it moved the position.
fn events(meaning: &Meaning, body: Value, moved: bool, batch: &mut Batch) {
    let items = match &meaning.watch().items {
        Some(filter) => match filter.one(&body, &meaning.vars) {
            Ok(found) => found.unwrap_or_default(),
            Err(_) => {
                batch.ignored += 1;
                return;
            }
        },
        None => body,
    };
    match items {
        Value::Array(items) => items.iter().for_each(|item| meaning.event(item, None, None, batch)),
        Value::Null => {}
        one if moved => meaning.event(&one, None, None, batch),
        _ => {}
    }
}
