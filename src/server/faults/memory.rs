//! What faults of consistency remember: objects that are not shown yet, and what reads said before.

use std::collections::HashMap;

use bytes::Bytes;
use http::header::{ETAG, LOCATION};
use http::{Method, Response, StatusCode, Uri};
use serde_json::Value;

use crate::core::value::plain_text;
use crate::server::api::Problem;
use crate::server::store::{decode, encode};

use super::effects::rewritten;
use super::rules::{Hide, Reads};

/// Empty when new rules come into force.
#[derive(Default)]
pub struct Memory {
    /// By path: objects that some reads show as they were.
    hidden: HashMap<String, Hidden>,
    /// By method and address: the last true answer to a read.
    answers: HashMap<(Method, Uri), Response<Bytes>>,
}

/// An object with a change that some reads do not show.
struct Hidden {
    hide: Hide,
    /// The answer to a read before the change; none, if it was not there.
    before: Option<Response<Bytes>>,
}

impl Memory {
    /// Hides what a write did; `before` is what a read of its path said.
    pub fn hide(&mut self, hide: &Hide, path: &str, before: &Response<Bytes>, response: &Response<Bytes>) {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let path = match location {
            Some(made) if response.status() == StatusCode::CREATED => made.to_owned(),
            _ if response.status().is_success() => canonical(path),
            _ => return,
        };
        let before = (before.status() == StatusCode::OK && location.is_none()).then(|| before.clone());
        self.hidden.insert(path, Hidden { hide: hide.clone(), before });
    }

    /// The answer to a read as the client sees it: an older one, or without what is hidden.
    pub fn seen_through(
        &mut self,
        method: &Method,
        uri: &Uri,
        response: Response<Bytes>,
        stale: bool,
    ) -> Response<Bytes> {
        let key = (method.clone(), uri.clone());
        if stale && let Some(old) = self.answers.get(&key) {
            return old.clone();
        }
        self.answers.insert(key, response.clone());
        let path = canonical(uri.path());
        if let Some(before) = self.passes_over(&path, Reads::List) {
            let gone = || Problem::not_found(format!("`{path}` does not exist")).into_response();
            return before.unwrap_or_else(gone);
        }
        let items = self.hidden_below(&path);
        if items.is_empty() { response } else { with_old(response, items) }
    }

    /// The items of a collection that a listing shows as they were, by their names.
    fn hidden_below(&mut self, collection: &str) -> HashMap<String, Option<Value>> {
        let prefix = format!("{collection}/");
        let below = |path: &&String| path.strip_prefix(&prefix).is_some_and(|name| !name.contains('/'));
        let paths: Vec<String> = self.hidden.keys().filter(below).cloned().collect();
        let old = |path: String| {
            let before = self.passes_over(&path, Reads::Item)?;
            let item = before.and_then(|before| serde_json::from_slice(before.body()).ok());
            Some((decode(&path[prefix.len()..])?, item))
        };
        paths.into_iter().filter_map(old).collect()
    }

    /// Counts a read of a hidden object, and gives what it sees; nothing, if it sees the truth, as all do that are
    /// hidden from `other` reads only.
    fn passes_over(&mut self, path: &str, other: Reads) -> Option<Option<Response<Bytes>>> {
        let hidden = self.hidden.get_mut(path)?;
        if hidden.hide.from == other || hidden.hide.reads == 0 {
            return None;
        }
        hidden.hide.reads -= 1;
        Some(hidden.before.clone())
    }
}

/// A listing with some items as they were. Its tag goes: it is not that of the true listing.
fn with_old(response: Response<Bytes>, mut old: HashMap<String, Option<Value>>) -> Response<Bytes> {
    let mut response = rewritten(response, |listing| {
        let Some(items) = listing["items"].as_array_mut() else { return };
        let before = items.len();
        let shown =
            std::mem::take(items).into_iter().filter_map(|item| match old.remove(&plain_text(&item["id"])) {
                Some(old) => old,
                None => Some(item),
            });
        *items = shown.collect();
        // What is left of the old ones is gone in truth.
        items.extend(old.into_values().flatten());
        let (before, after) = (before as u64, items.len() as u64);
        if let Some(total) = listing["total"].as_u64() {
            listing["total"] = Value::from((total + after).saturating_sub(before));
        }
    });
    response.headers_mut().remove(ETAG);
    response
}

/// A path in the spelling of `Location`.
fn canonical(path: &str) -> String {
    let segment = |text: &str| decode(text).map_or_else(|| text.to_owned(), |name| encode(&name));
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}
