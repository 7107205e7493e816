//! Answers: JSON bodies, and errors as problem documents (RFC 9457).

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use serde_json::json;

use crate::core::patch::PatchError;
use crate::server::ownership::{Conflict, path};
use crate::server::store::Refusal;

/// An error answer in the making.
#[derive(Debug)]
pub struct Problem {
    pub status: StatusCode,
    /// The last part of the `type`, for programs.
    slug: &'static str,
    /// The same for people; one text per slug.
    title: &'static str,
    detail: String,
    headers: Vec<(HeaderName, String)>,
    /// The fields that other managers hold.
    conflicts: Vec<Conflict>,
}

impl Problem {
    pub fn new(
        status: StatusCode,
        slug: &'static str,
        title: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { status, slug, title, detail: detail.into(), headers: Vec::new(), conflicts: Vec::new() }
    }

    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", "the request cannot be understood", detail)
    }

    pub fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", "there is no such thing", detail)
    }

    pub fn too_large(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "the body is too large", detail)
    }

    pub fn unprocessable(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "unprocessable",
            "the body does not fit the request",
            detail,
        )
    }

    pub fn unauthorized() -> Problem {
        let detail = "send `Authorization: Bearer TOKEN` with the token that the server was started with";
        Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "a valid token is needed", detail)
            .with(header::WWW_AUTHENTICATE, "Bearer")
    }

    pub fn not_allowed(allow: &str) -> Problem {
        let detail = format!("this path answers {allow}");
        Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method-not-allowed",
            "the path does not know this method",
            detail,
        )
        .with(header::ALLOW, allow)
    }

    pub fn precondition_required() -> Problem {
        let detail =
            "send `If-Match` with the tag that was read, or `If-None-Match: *` to make what is not there";
        Problem::new(
            StatusCode::PRECONDITION_REQUIRED,
            "precondition-required",
            "this server takes no write without a precondition",
            detail,
        )
    }

    /// A create with this idempotency key has not been answered yet.
    pub fn still_running() -> Problem {
        Problem::new(
            StatusCode::CONFLICT,
            "idempotency-key-in-use",
            "a request with this key is still running",
            "send it again when the first request was answered",
        )
    }

    pub fn media_type(detail: impl Into<String>) -> Problem {
        Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media-type",
            "the body is of a type that is not known here",
            detail,
        )
    }

    /// Adds a header to the answer.
    pub fn with(mut self, name: HeaderName, value: impl Into<String>) -> Problem {
        self.headers.push((name, value.into()));
        self
    }

    pub fn into_response(self) -> Response<Bytes> {
        let mut body = json!({
            "type": format!("urn:trueup:problem:{}", self.slug),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if !self.conflicts.is_empty() {
            let each = self.conflicts.iter();
            let each = each.map(|held| json!({"path": path(&held.field), "manager": held.manager}));
            body["conflicts"] = each.collect();
        }
        let mut response = respond(self.status, "application/problem+json", body.to_string());
        for (name, value) in self.headers {
            response.headers_mut().insert(name, header_value(&value));
        }
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Problem {
        let detail = refusal.to_string();
        let (status, slug, title) = match refusal {
            Refusal::NoParent(_) => (StatusCode::NOT_FOUND, "no-parent", "the parent does not exist"),
            Refusal::NotFound(_) => return Problem::not_found(detail),
            Refusal::Children { .. } => (StatusCode::CONFLICT, "has-children", "there are items below it"),
            Refusal::OtherName { .. }
            | Refusal::IdOnCreate(_)
            | Refusal::NotAnObject(_)
            | Refusal::Finalizers
            | Refusal::Patch(PatchError::Pointer(_)) => return Problem::unprocessable(detail),
            Refusal::OtherPayload(_) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "the key belongs to another request",
            ),
            Refusal::ParentDeleting(_) | Refusal::Deleting(_) => {
                (StatusCode::CONFLICT, "being-deleted", "what is being deleted does not change")
            }
            Refusal::Held(conflicts) => {
                let title = "other managers hold fields of the patch";
                let problem = Problem::new(StatusCode::CONFLICT, "field-conflict", title, detail);
                return Problem { conflicts, ..problem };
            }
            Refusal::Patch(_) => {
                (StatusCode::CONFLICT, "patch", "the patch does not apply to the item as it is")
            }
            Refusal::TooLarge(_) => return Problem::too_large(detail),
            Refusal::Precondition(_) => {
                (StatusCode::PRECONDITION_FAILED, "precondition-failed", "a precondition does not hold")
            }
            Refusal::Disk(_) => (StatusCode::INSUFFICIENT_STORAGE, "store", "the store could not be written"),
        };
        Problem::new(status, slug, title, detail)
    }
}

/// An answer with a body.
pub fn respond(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// An answer without one.
pub fn empty(status: StatusCode) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = status;
    response
}

/// A header's value from text that this server made: escaped paths, tags, lists of methods.
pub fn header_value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("headers are made of visible ASCII only")
}
