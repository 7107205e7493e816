//! The answers that faults give, and what they do to those of the server.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK, LOCATION, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::core::value::Map;
use crate::server::api::{MERGE_PATCH, cursor, empty, respond};

use super::rules::{Answer, Other, Redirect};

/// The answer of a `status` fault.
pub fn answered(answer: &Answer) -> Response<Bytes> {
    let status = checked_status(answer.status);
    let body = answer.body.clone().unwrap_or_else(|| {
        json!({"type": "about:blank", "title": "an injected fault", "status": answer.status}).to_string()
    });
    let mut response = respond(status, "", body);
    response.headers_mut().insert(CONTENT_TYPE, checked_header(&answer.content_type));
    if let Some(value) = &answer.retry_after {
        response.headers_mut().insert(RETRY_AFTER, checked_header(value));
    }
    response
}

/// A page where JSON was asked for.
pub fn html(page: &str) -> Response<Bytes> {
    respond(StatusCode::OK, "text/html; charset=utf-8", page.to_owned())
}

pub fn redirected(redirect: &Redirect) -> Response<Bytes> {
    let mut response = empty(checked_status(redirect.status));
    response.headers_mut().insert(LOCATION, checked_header(&redirect.to));
    response
}

/// A listing that lies about how many there are.
pub fn with_total(response: Response<Bytes>, total: u64) -> Response<Bytes> {
    rewritten(response, |listing| {
        listing["total"] = total.into();
    })
}

/// A listing that leads back to itself, in the body and in the `Link`. The last page leads on as well.
pub fn with_repeated_cursor(response: Response<Bytes>, path: &str, query: &str) -> Response<Bytes> {
    let cursor = query.split('&').find_map(|pair| pair.strip_prefix("cursor=")).unwrap_or("c0");
    let mut response = rewritten(response, |listing| {
        listing["next"] = cursor.into();
    });
    if response.headers().contains_key(LINK) {
        let link = checked_header(&format!("<{path}?{query}>; rel=\"next\""));
        response.headers_mut().insert(LINK, link);
    }
    response
}

/// A page without items that leads to the first one, in the body and in the `Link`.
pub fn empty_page(path: &str, query: &str) -> Response<Bytes> {
    let first = cursor(0);
    let mut response =
        respond(StatusCode::OK, "application/json", json!({"items": [], "next": first}).to_string());
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let link =
        format!("<{path}?{}>; rel=\"next\"", [vec![&*format!("cursor={first}")], rest].concat().join("&"));
    response.headers_mut().insert(LINK, checked_header(&link));
    response
}

/// A request of somebody else.
pub fn others(other: &Other) -> Request<Bytes> {
    let kind = if other.method.eq_ignore_ascii_case("PATCH") { MERGE_PATCH } else { "application/json" };
    let request = Request::builder().method(&*other.method).uri(&other.path).header(CONTENT_TYPE, kind);
    let body = Value::Object(other.body.clone()).to_string();
    request.body(body.into()).expect("rules are checked when they are read")
}

/// The request of a server that keeps other values; a body of another shape stays as it is.
pub fn with_stored(mut request: Request<Bytes>, stored: &Map<String, Value>) -> Request<Bytes> {
    if let Ok(Value::Object(mut body)) = serde_json::from_slice(request.body()) {
        for (name, value) in stored {
            match value {
                Value::Null => drop(body.remove(name)),
                value => drop(body.insert(name.clone(), value.clone())),
            }
        }
        *request.body_mut() = Value::Object(body).to_string().into();
        request.headers_mut().remove(CONTENT_LENGTH);
    }
    request
}

/// Changes the tree of a listing; an answer of another shape stays as it is.
pub fn rewritten(mut response: Response<Bytes>, change: impl FnOnce(&mut Value)) -> Response<Bytes> {
    if let Ok(mut listing) = serde_json::from_slice::<Value>(response.body())
        && listing["items"].is_array()
    {
        change(&mut listing);
        *response.body_mut() = listing.to_string().into();
    }
    response
}

fn checked_status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).expect("rules are checked when they are read")
}

fn checked_header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).expect("rules are checked when they are read")
}
