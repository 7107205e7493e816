//! Answers that show items.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ETAG, HeaderName, LOCATION};
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::server::ownership::{Managers, Mode, path};
use crate::server::store::{Done, Item};

use super::params::{MANAGERS, Params};
use super::problem::{empty, header_value, respond};

/// On an answer that was given before, to a request with the same idempotency key.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The answer to a write that was accepted, or would be.
pub fn written(done: &Done, params: &Params) -> Response<Bytes> {
    let (status, item) = match done {
        Done::Created(item) | Done::Replayed(item) => (StatusCode::CREATED, item),
        Done::Changed(item) | Done::Unchanged(item) => (StatusCode::OK, item),
        Done::Deleting(item) => (StatusCode::ACCEPTED, item),
        Done::Deleted => return empty(StatusCode::NO_CONTENT),
    };
    let mut response = shown(status, item, params);
    if status == StatusCode::CREATED {
        response.headers_mut().insert(LOCATION, header_value(item.key.as_str()));
    }
    if let Done::Replayed(_) = done {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    if params.dry_run {
        // Neither the state nor its address is there.
        response.headers_mut().remove(ETAG);
        response.headers_mut().remove(LOCATION);
    }
    response
}

/// An item, with its tag.
pub fn shown(status: StatusCode, item: &Item, params: &Params) -> Response<Bytes> {
    let json = if params.managers { with_managers(item).into_owned().into() } else { item.json.clone() };
    let mut response: Response<Bytes> = respond(status, "application/json", json);
    response.headers_mut().insert(ETAG, header_value(&format!("\"{}\"", item.tag())));
    response
}

/// An item's text, with its field managers where there are some.
pub fn with_managers(item: &Item) -> Cow<'_, [u8]> {
    let Some(managers) = &item.managers else { return Cow::Borrowed(&item.json) };
    let mut value = item.value();
    value.insert(MANAGERS.into(), told(managers));
    Cow::Owned(serde_json::to_vec(&value).expect("a map of JSON values can be written"))
}

fn told(managers: &Managers) -> serde_json::Value {
    let told = managers.sets().map(|(name, mode, held)| {
        let operation = if mode == Mode::Apply { "apply" } else { "update" };
        let paths: Vec<String> = held.iter().map(|field| path(field)).collect();
        json!({"name": name, "operation": operation, "paths": paths})
    });
    told.collect()
}
