//! Request bodies: their media type, their size, and the JSON in them.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Request};

use crate::core::patch::Operation;
use crate::core::value::{Map, Value, type_name};
use crate::server::store::{MAX_SIZE, Patch};

use super::params::MANAGERS;
use super::problem::Problem;

/// The media type of RFC 7396.
pub const MERGE_PATCH: &str = "application/merge-patch+json";
/// The media type of RFC 6902.
pub const JSON_PATCH: &str = "application/json-patch+json";
/// The media type of a structured merge: all that a field manager wants to hold.
pub const APPLY_PATCH: &str = "application/apply-patch+json";
/// All of them, as `Accept-Patch` lists them.
pub const PATCHES: &str =
    "application/merge-patch+json, application/json-patch+json, application/apply-patch+json";
/// The header of RFC 5789 that says which patches are understood.
pub const ACCEPT_PATCH: HeaderName = HeaderName::from_static("accept-patch");

/// The object in a body that is a whole item.
pub fn whole(request: &Request<Bytes>) -> Result<Map<String, Value>, Problem> {
    match media_type(request.headers())? {
        None | Some("application/json") => object(request.body()),
        Some(other) => {
            Err(Problem::media_type(format!("`{other}` is sent where `application/json` is read"))
                .with(ACCEPT, "application/json"))
        }
    }
}

/// The patch in a body. `force` is of apply-patches only.
pub fn patch(request: &Request<Bytes>, force: bool) -> Result<Patch, Problem> {
    match media_type(request.headers())? {
        Some(APPLY_PATCH) => object(request.body()).map(|config| Patch::Apply { config, force }),
        Some(MERGE_PATCH) => object(request.body()).map(Patch::Merge),
        Some(JSON_PATCH) => operations(request.body()).map(Patch::Json),
        other => {
            let sent = other.map_or("no content type".into(), |other| format!("`{other}`"));
            Err(Problem::media_type(format!("{sent} is sent where one of {PATCHES} is read"))
                .with(ACCEPT_PATCH, PATCHES))
        }
    }
}

/// The media type without its parameters.
fn media_type(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get(CONTENT_TYPE) else { return Ok(None) };
    let text = value.to_str().map_err(|_| Problem::media_type("the content type is not text"))?;
    Ok(Some(text.split(';').next().unwrap_or_default().trim()))
}

fn object(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    match json(body)? {
        Value::Object(map) if map.get(MANAGERS).is_some_and(|value| !value.is_null()) => {
            Err(Problem::unprocessable(format!("`{MANAGERS}` is told by the server, and cannot be written")))
        }
        Value::Object(map) => Ok(map),
        other => Err(wrong_type(&other, "object")),
    }
}

fn operations(body: &[u8]) -> Result<Vec<Operation>, Problem> {
    match json(body)? {
        Value::Array(items) => items
            .iter()
            .map(|item| Operation::from_json(item).map_err(|error| Problem::unprocessable(error.to_string())))
            .collect(),
        other => Err(wrong_type(&other, "list")),
    }
}

fn json(body: &[u8]) -> Result<Value, Problem> {
    if body.len() > MAX_SIZE {
        return Err(too_large());
    }
    if body.is_empty() {
        return Err(Problem::bad_request("the body is empty; JSON is needed"));
    }
    serde_json::from_slice(body)
        .map_err(|error| Problem::bad_request(format!("the body is not JSON: {error}")))
}

fn wrong_type(value: &Value, needed: &str) -> Problem {
    Problem::unprocessable(format!("the body is {}; a JSON {needed} is needed", type_name(value)))
}

/// The answer to a body over the limit, wherever that is seen first.
pub fn too_large() -> Problem {
    Problem::too_large(format!("the body has more than {MAX_SIZE} bytes"))
}
