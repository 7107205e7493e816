//! Request bodies: their media type, their size, and the JSON object in them.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Request};

use crate::core::value::{Map, Value, type_name};
use crate::server::store::MAX_SIZE;

use super::problem::Problem;

/// The media type of RFC 7396.
pub const MERGE_PATCH: &str = "application/merge-patch+json";
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

/// The object in a body that is a merge patch.
pub fn merge_patch(request: &Request<Bytes>) -> Result<Map<String, Value>, Problem> {
    match media_type(request.headers())? {
        Some(MERGE_PATCH) => object(request.body()),
        other => {
            let sent = other.map_or("no content type".into(), |other| format!("`{other}`"));
            Err(Problem::media_type(format!("{sent} is sent where `{MERGE_PATCH}` is read"))
                .with(ACCEPT_PATCH, MERGE_PATCH))
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
    if body.len() > MAX_SIZE {
        return Err(too_large());
    }
    if body.is_empty() {
        return Err(Problem::bad_request("the body is empty; a JSON object is needed"));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(other) => {
            Err(Problem::unprocessable(format!("the body is {}; a JSON object is needed", type_name(&other))))
        }
        Err(error) => Err(Problem::bad_request(format!("the body is not JSON: {error}"))),
    }
}

/// The answer to a body over the limit, wherever that is seen first.
pub fn too_large() -> Problem {
    Problem::too_large(format!("the body has more than {MAX_SIZE} bytes"))
}
