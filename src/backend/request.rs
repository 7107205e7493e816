//! Operations on objects become HTTP requests, as values: nothing here sends anything.
//!
//! A request is a template of the kind, filled; a body that went through the operation's filter; and the
//! strongest precondition that the observed version allows.

use std::borrow::Cow;

use crate::core::exchange::{Collection, Failure, FailureClass, ParentIds, Target, VersionToken, Write};
use crate::core::filter::{FilterError, Vars};
use crate::core::idempotency::{Attempt, Idempotency};
use crate::core::identity::Key;
use crate::core::kind::{Kind, ListOp, Method, Op, Version};
use crate::core::mutant::planted;
use crate::core::value::{Map, Value};

use super::base::Base;
use super::body::{self, Sent};
use super::form::{self, FormError};
use super::page::PageAt;
use super::path::{Fill, Unbuildable, build_path, build_query, fill_text, push_query};
use super::wire::{HttpRequest, Role};

/// JSON first. The rest is taken as well: resources that never answer with a body may declare another type, and
/// refuse a client that takes nothing but JSON (RFC 9110, 12.5.1; RabbitMQ's limits do).
const ACCEPT: &str = "application/json, */*;q=0.1";

/// What requests of one backend have in common.
#[derive(Clone, Debug)]
pub struct Site {
    pub base: Base,
    /// What `{owner}` stands for; empty for no owner.
    pub owner: String,
    /// Where the credential comes from, for hints; safe to print.
    pub credential: Option<String>,
}

/// A page of a listing.
///
/// # Errors
/// The backend's own faults: a placeholder without a value, a filter that fails.
pub fn list(
    site: &Site,
    list: &ListOp,
    collection: &Collection,
    version: Option<&str>,
    at: &PageAt,
) -> Result<HttpRequest, Failure> {
    let fill = Fill {
        key: &collection.scope,
        parent_ids: &collection.parent_ids,
        id: None,
        version,
        changed: &[],
        owner: &site.owner,
    };
    let mut vars = vars(&collection.scope, &collection.parent_ids, None);
    vars.0.push(("page", page_value(at)));
    let body = body::filtered(&list.op, Sent::nothing(), &vars).map_err(filter_failure)?;
    let mut request = build(site, &list.op, Role::List, &fill, body)?;
    turn_to(&mut request, list, at);
    Ok(request)
}

/// The read of one object.
///
/// # Errors
/// As [`list`].
pub fn read(site: &Site, op: &Op, target: &Target) -> Result<HttpRequest, Failure> {
    let body = body::filtered(op, Sent::nothing(), &target_vars(target)).map_err(filter_failure)?;
    build(site, op, Role::Read, &fill(site, target), body)
}

/// The request that tells the version, for kinds whose version has one of its own.
///
/// # Errors
/// As [`list`].
pub fn version(
    site: &Site,
    op: &Op,
    key: &Key,
    parent_ids: &ParentIds,
    id: Option<&str>,
) -> Result<HttpRequest, Failure> {
    let body = body::filtered(op, Sent::nothing(), &vars(key, parent_ids, id)).map_err(filter_failure)?;
    let fill = Fill { key, parent_ids, id, version: None, changed: &[], owner: &site.owner };
    build(site, op, Role::Read, &fill, body)
}

/// A write, with its precondition.
///
/// # Errors
/// As [`list`]; also a write that the kind does not have, and a body that contradicts the key.
pub fn write(site: &Site, kind: &Kind, write: &Write) -> Result<HttpRequest, Failure> {
    let (role, op, target) = operation(kind, write)?;
    let mut request = self::request(site, kind, role, op, write)?;
    request.headers.extend(precondition(kind, role, op, target));
    Ok(request)
}

/// Makes the requests that are to follow the deletion of what is created again, to see that they can be made.
///
/// # Errors
/// As [`write()`].
pub fn remake(site: &Site, kind: &Kind, write: &Write) -> Result<(), Failure> {
    for target in write.members().iter().map(Write::target) {
        let Some(body) = target.remade.as_ref().filter(|_| kind.create.is_some()) else { continue };
        // Which version it is of, and which attempt, is known later: any will do.
        let some = || Some(VersionToken { text: "0".into(), weak: false });
        let target = Target {
            parent_ids: target.parent_ids.clone(),
            version: target.version.clone().or_else(some),
            attempt: Some(Attempt::new(&Value::Null, 0)),
            ..Target::new(target.id.clone())
        };
        self::write(site, kind, &Write::Create(target, (**body).clone())).map_err(|failure| Failure {
            message: format!("once deleted, it could not be created again: {}", failure.message),
            ..failure
        })?;
    }
    Ok(())
}

/// The dry run of a create or an update, and its operation. It stores nothing, so it has no precondition.
///
/// # Errors
/// As [`write()`].
pub fn check<'k>(site: &Site, kind: &'k Kind, write: &Write) -> Result<(&'k Op, HttpRequest), Failure> {
    let Some(op) = &kind.check else {
        return Err(backend_failure(format!("the kind `{}` has no `check`", kind.name.kind)));
    };
    Ok((op, request(site, kind, Role::Check, op, write)?))
}

/// The request of a write, or of its dry run, as far as its operation says it.
fn request(site: &Site, kind: &Kind, role: Role, op: &Op, write: &Write) -> Result<HttpRequest, Failure> {
    let target = write.target();
    let vars = write_vars(op, target);
    let sent = body::of_write(kind, op, write).map_err(|e| backend_failure(e.to_string()))?;
    let body = body::filtered(op, sent, &vars).map_err(filter_failure)?;
    let op = match op.forced.as_ref().filter(|_| target.forced) {
        None => Cow::Borrowed(op),
        Some(forced) => {
            let mut op = op.clone();
            op.query.extend(forced.query.iter().cloned());
            op.headers.extend(forced.headers.iter().cloned());
            Cow::Owned(op)
        }
    };
    match &op.idempotency {
        Some(place) if role == Role::Create => with_idempotency_key(site, &op, place, target, body),
        _ => build(site, &op, role, &fill(site, target), body),
    }
}

/// A create that carries the key by which the server knows it again.
fn with_idempotency_key(
    site: &Site,
    op: &Op,
    place: &Idempotency,
    target: &Target,
    mut body: Option<Sent>,
) -> Result<HttpRequest, Failure> {
    let fill = fill(site, target);
    let missing = || backend_failure("the create has no idempotency key".into());
    let key = target.attempt.ok_or_else(missing)?.key(&address(site, op, &fill)?, &target.id);
    if let Idempotency::Body(path) = place {
        let sent = body.get_or_insert_with(|| Sent { value: Value::Object(Map::new()), ..Sent::nothing() });
        if !path.lay(&mut sent.value, key.as_str().into()) {
            return Err(backend_failure(format!("the body has no place for its key at `{path}`")));
        }
    }
    let mut request = build(site, op, Role::Create, &fill, body)?;
    match place {
        Idempotency::Header(name) => request.headers.push((name.clone(), key)),
        Idempotency::Query(name) => add_to_query(&mut request.url, |query| push_query(query, name, &key)),
        Idempotency::Body(_) => {}
    }
    Ok(request)
}

/// What the filter of a write's body sees beside its input.
pub(super) fn write_vars(op: &Op, target: &Target) -> Vars {
    match op.batch {
        Some(_) => vars(&Key::new(Vec::new()), &target.parent_ids, None),
        None => target_vars(target),
    }
}

/// The question how far an operation is, at the URL that the server gave.
pub fn operation_under_way(url: &str) -> HttpRequest {
    plain_read(url)
}

/// A question for JSON at this place, which no kind declares.
pub fn plain_read(url: &str) -> HttpRequest {
    let headers = vec![("accept".into(), ACCEPT.into())];
    HttpRequest { role: Role::Read, method: Method::Get, url: url.into(), headers, body: None }
}

/// The operation that performs a write, and what it is about; of several objects the first.
///
/// # Errors
/// A write that the kind does not have.
pub fn operation<'a>(kind: &'a Kind, write: &'a Write) -> Result<(Role, &'a Op, &'a Target), Failure> {
    let (role, op, target, word) = match write {
        Write::Create(target, _) => (Role::Create, &kind.create, target, "create"),
        Write::Update(target, _) => (Role::Update, &kind.update, target, "update"),
        Write::Delete(target) => (Role::Delete, &kind.delete, target, "delete"),
        Write::Batch(writes) => return operation(kind, writes.first().expect("a batch is not empty")),
    };
    match op {
        Some(op) => Ok((role, op, target)),
        None => Err(backend_failure(format!("the kind `{}` has no `{word}`", kind.name.kind))),
    }
}

/// The variables that filters of a request and of its answer may name.
pub fn target_vars(target: &Target) -> Vars {
    let mut vars = vars(&target.id.key, &target.parent_ids, target.server_id.as_deref());
    vars.0.push(("observed", target.observed.as_deref().cloned().unwrap_or(Value::Null)));
    vars.0.push(("version", target.version.as_ref().map_or(Value::Null, |v| (*v.text).into())));
    vars.0.push(("changed", target.changed.iter().map(String::as_str).map(Value::from).collect()));
    vars
}

/// `$key` has the parts of the key by name, `$parent` the server ids of the parents (`$parent.team.id`).
pub fn vars(key: &Key, parent_ids: &ParentIds, id: Option<&str>) -> Vars {
    let parts: Map<String, Value> =
        key.parts().iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let parents: Map<String, Value> =
        parent_ids.0.iter().map(|(part, id)| (part.to_string(), serde_json::json!({"id": **id}))).collect();
    let id = id.map_or(Value::Null, Value::from);
    Vars(vec![("key", Value::Object(parts)), ("parent", Value::Object(parents)), ("id", id)])
}

/// A fault of the backend's document.
pub fn backend_failure(message: String) -> Failure {
    let hint = Some("the fault is in the backend's document".into());
    Failure { class: FailureClass::Backend, message, hint, retry_after: None }
}

/// A filter of the backend's document that does not work.
pub fn filter_failure(error: FilterError) -> Failure {
    backend_failure(error.to_string())
}

fn unbuildable(error: Unbuildable) -> Failure {
    let hint = match error {
        Unbuildable::NoValue(_) => Some("it is known once the object, or its parent, has been read".into()),
        Unbuildable::Value { .. } => Some("names that change the shape of a URL are never sent".into()),
        Unbuildable::Shape(_) => Some("the fault is in the path of the backend's document".into()),
    };
    Failure { class: FailureClass::Backend, message: error.to_string(), hint, retry_after: None }
}

fn fill<'a>(site: &'a Site, target: &'a Target) -> Fill<'a> {
    Fill {
        key: &target.id.key,
        parent_ids: &target.parent_ids,
        id: target.server_id.as_deref(),
        version: target.version.as_ref().map(|version| &*version.text),
        changed: &target.changed,
        owner: &site.owner,
    }
}

/// The URL of an operation.
fn address(site: &Site, op: &Op, fill: &Fill) -> Result<String, Failure> {
    let url = build_path(&op.path, fill, &site.base).map_err(unbuildable)?;
    let query = build_query(&op.query, fill).map_err(unbuildable)?;
    Ok(if query.is_empty() { url } else { format!("{url}?{query}") })
}

pub(super) fn build(
    site: &Site,
    op: &Op,
    role: Role,
    fill: &Fill,
    body: Option<Sent>,
) -> Result<HttpRequest, Failure> {
    let url = address(site, op, fill)?;
    let mut headers = Vec::new();
    for (name, template) in &op.headers {
        headers.push((name.to_ascii_lowercase(), fill_text(template, fill).map_err(unbuildable)?));
    }
    let mut default = |name: &str, value: &str| {
        if !headers.iter().any(|(have, _)| have == name) {
            headers.push((name.into(), value.into()));
        }
    };
    default("accept", ACCEPT);
    let Some(sent) = body else {
        return Ok(HttpRequest { role, method: op.method, url, headers, body: None });
    };
    default("content-type", op.media.as_deref().unwrap_or(sent.media));
    let is_form = headers.iter().any(|(name, media)| name == "content-type" && form::is_form(media));
    let text = if is_form { form::encode(&sent.value).map_err(unsayable)? } else { sent.value.to_string() };
    Ok(HttpRequest { role, method: op.method, url, headers, body: Some(text.into_bytes()) })
}

/// A value that has no place in a form.
fn unsayable(error: FormError) -> Failure {
    let hint = Some("leave it out, or give it another shape with the operation's `body` filter".into());
    Failure { class: FailureClass::Backend, message: error.to_string(), hint, retry_after: None }
}

/// Puts the page into the request: into the query, or nowhere where the body names `$page`.
fn turn_to(request: &mut HttpRequest, list: &ListOp, at: &PageAt) {
    if let PageAt::Url(url) = at {
        request.url.clone_from(url);
        return;
    }
    let Some(page) = &list.page else { return };
    let in_body = list.op.body.as_ref().is_some_and(|body| body.uses("page"));
    add_to_query(&mut request.url, |query| {
        match at {
            PageAt::Number(number) if !in_body => push_query(query, &page.param, &number.to_string()),
            PageAt::Cursor(cursor) if !in_body => push_query(query, &page.param, cursor),
            _ => {}
        }
        if let Some(size) = page.size.filter(|_| !in_body) {
            push_query(query, &page.size_param, &size.to_string());
        }
    });
}

/// Adds what `more` makes to the query of a URL.
fn add_to_query(url: &mut String, more: impl FnOnce(&mut String)) {
    let mut query = String::new();
    more(&mut query);
    if !query.is_empty() {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&query);
    }
}

fn page_value(at: &PageAt) -> Value {
    match at {
        PageAt::First => Value::Null,
        PageAt::Number(number) => (*number).into(),
        PageAt::Cursor(text) | PageAt::Url(text) => text.as_str().into(),
    }
}

/// The strongest precondition that the API offers (RFC 9110, 13.1).
fn precondition(kind: &Kind, role: Role, op: &Op, target: &Target) -> Option<(String, String)> {
    if matches!(kind.version, Version::None) {
        return None;
    }
    if role == Role::Create {
        return (op.method == Method::Put).then(|| ("if-none-match".into(), "*".into()));
    }
    // By the rule a weak tag never matches in If-Match (RFC 9110, 13.1.1).
    let usable = |version: &&VersionToken| !version.weak || target.tries_weak || planted!(M19);
    let version = target.version.as_ref().filter(usable).filter(|_| !op.says_version())?;
    let quoted = version.weak || version.text.starts_with('"');
    let text = if quoted { version.text.to_string() } else { format!("\"{}\"", version.text) };
    Some(("if-match".into(), text))
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
