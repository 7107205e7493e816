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
    /// By path: objects that some reads do not show.
    hidden: HashMap<String, Hide>,
    /// By method and address: the last true answer to a read.
    answers: HashMap<(Method, Uri), Response<Bytes>>,
}

impl Memory {
    /// Hides the object that an answer says was created.
    pub fn hide(&mut self, hide: &Hide, response: &Response<Bytes>) {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        if let (StatusCode::CREATED, Some(path)) = (response.status(), location) {
            self.hidden.insert(path.to_owned(), hide.clone());
        }
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
        if response.status() != StatusCode::OK {
            return response;
        }
        let path = canonical(uri.path());
        if self.passes_over(&path, Reads::List) {
            return Problem::not_found(format!("`{path}` does not exist")).into_response();
        }
        let names = self.hidden_below(&path);
        if names.is_empty() { response } else { without(response, &names) }
    }

    /// The names of a collection's items that a listing does not show.
    fn hidden_below(&mut self, collection: &str) -> Vec<String> {
        let prefix = format!("{collection}/");
        let below = |path: &&String| path.strip_prefix(&prefix).is_some_and(|name| !name.contains('/'));
        let paths: Vec<String> = self.hidden.keys().filter(below).cloned().collect();
        let passed = paths.into_iter().filter(|path| self.passes_over(path, Reads::Item));
        passed.filter_map(|path| decode(&path[prefix.len()..])).collect()
    }

    /// Counts a read of a hidden object, unless it is hidden from `other` reads only.
    fn passes_over(&mut self, path: &str, other: Reads) -> bool {
        match self.hidden.get_mut(path) {
            Some(hide) if hide.from != other && hide.reads > 0 => {
                hide.reads -= 1;
                true
            }
            _ => false,
        }
    }
}

/// A listing without some items. Its tag goes: it is not that of the true listing.
fn without(response: Response<Bytes>, names: &[String]) -> Response<Bytes> {
    let mut response = rewritten(response, |listing| {
        let Some(items) = listing["items"].as_array_mut() else { return };
        let before = items.len();
        items.retain(|item| !names.contains(&plain_text(&item["id"])));
        let gone = (before - items.len()) as u64;
        if let Some(total) = listing["total"].as_u64() {
            listing["total"] = Value::from(total.saturating_sub(gone));
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
