//! What the server's answer to a read or a write means.
//!
//! A read proves presence or absence, or nothing. The answer to a write is a hint: that it was accepted, and
//! perhaps the new object's id.

use std::sync::Arc;

use url::Url;

use crate::core::exchange::{Answer, Failure, FailureClass, Item, Operation, Target, VersionToken};
use crate::core::filter::{Filter, FilterError, Vars};
use crate::core::kind::{Kind, Method, Op, Version};
use crate::core::managers::Contested;
use crate::core::path::{Path, Step};
use crate::core::value::Value;
use crate::core::veil::Veil;

use super::etag;
use super::item::{State, answer_vars, envelope, failed, id_text, look, one_of, version_on, version_token};
use super::operation;
use super::path::unescape;
use super::refusal::{Context, is_html, text_of};
use super::request::{backend_failure, filter_failure, target_vars};
use super::same::{has_another_name, is_as_listed, same_id, same_object};
use super::trouble;
use super::twice::{self, Reading};
use super::wire::{HttpAnswer, Role};

/// An operation on one object that has been answered.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub kind: &'a Kind,
    pub op: &'a Op,
    pub target: &'a Target,
    /// The URL that was asked.
    pub url: &'a Url,
}

/// What a read tells. `version` is the collection's own, where versions come from a request.
pub fn read(context: &Context, asked: Asked, answer: &HttpAnswer, version: Option<VersionToken>) -> Answer {
    either(context, asked, answer, version).unwrap_or_else(Answer::Failed)
}

/// What a read tells, whichever of the members counts that stand twice in it: the same of the same object.
fn either(
    context: &Context,
    asked: Asked,
    answer: &HttpAnswer,
    version: Option<VersionToken>,
) -> Result<Answer, Failure> {
    let Reading { value, first } = bodies_of(answer);
    let Some(first) = first else { return reading(context, asked, answer, value, version) };
    let ambiguous = |place: String| {
        let what = "the answer has a member twice, and so two values";
        let what = format!("{what} at `{place}`: what it tells of the object cannot be made out");
        context.not_the_api(answer, &what)
    };
    let place = twice::place(&first, &value);
    let last = reading(context, asked, answer, value, version.clone())?;
    match (reading(context, asked, answer, first, version), last) {
        (Ok(Answer::Found(first)), Answer::Found(last)) => {
            let one = one_of(Some(first), Some(last)).map_err(ambiguous)?;
            Ok(one.map_or(Answer::Absent, Answer::Found))
        }
        (Ok(Answer::Absent), Answer::Absent) => Ok(Answer::Absent),
        _ => Err(ambiguous(place)),
    }
}

/// What a write tells.
pub fn write(context: &Context, asked: Asked, role: Role, answer: &HttpAnswer) -> Answer {
    writing(context, asked, role, answer).unwrap_or_else(Answer::Failed)
}

/// What a dry run tells: the object that the server would store, where the answer holds it.
pub fn check(context: &Context, asked: Asked, answer: &HttpAnswer) -> Answer {
    match writing(context, asked, Role::Check, answer) {
        // Another answer than the object says no more than that the write would be taken.
        Ok(accepted @ Answer::Accepted { .. }) => {
            reading(context, asked, answer, body_of(answer), None).unwrap_or(accepted)
        }
        Ok(told) => told,
        Err(failure) => Answer::Failed(failure),
    }
}

/// The version that a request of its own tells; `None` where there is nothing yet to have one.
///
/// # Errors
/// An error status but 404, an answer that is no JSON, a filter that fails or finds nothing.
pub fn version(
    context: &Context,
    filter: &Filter,
    answer: &HttpAnswer,
) -> Result<Option<VersionToken>, Failure> {
    match answer.status {
        404 => return Ok(None),
        200..300 => {}
        status => return Err(context.refused(FailureClass::Status(status), answer)),
    }
    let body: Value = context.json(answer)?;
    let found = look(filter, &body, &Vars::default()).map_err(|error| context.wrap(filter_failure(error)))?;
    let token = found.as_ref().and_then(version_token);
    let missing =
        || context.not_the_api(answer, &format!("the answer has no version at `{}`", filter.text()));
    token.map(Some).ok_or_else(missing)
}

/// The parts of an answer that filters see.
struct Seen {
    envelope: Value,
    vars: Vars,
    state: State,
    /// The status of an answer that is an error by what the kind declares.
    failed: Option<u16>,
    /// What stands where the kind has secrets.
    secrets: Vec<String>,
}

impl Seen {
    /// The status that the answer has to be judged by, where it is an error.
    fn error(&self, answer: &HttpAnswer) -> Option<u16> {
        self.failed.or((!(200..300).contains(&answer.status)).then_some(answer.status))
    }
}

impl Asked<'_> {
    /// `body` is what the answer has, as filters see it.
    fn see(&self, context: &Context, answer: &HttpAnswer, body: Value) -> Result<Seen, Failure> {
        // A filter for objects need not fit the text of an error.
        let strict = (200..300).contains(&answer.status) && !body.is_string();
        let vars = self.vars(answer);
        let secrets = self.secrets(&body, &vars);
        let envelope = envelope(answer, body);
        let state = State::of(self.kind, &envelope, &vars);
        let (state, failed) = match (state, failed(self.kind, &envelope, &vars)) {
            (Ok(state), Ok(failed)) => (state, failed),
            (Err(error), _) | (_, Err(error)) if strict => return Err(context.wrap(filter_failure(error))),
            (state, failed) => (state.unwrap_or_default(), failed.unwrap_or_default()),
        };
        Ok(Seen { envelope, vars, state, failed, secrets })
    }

    /// The values of the kind's secret fields in a body, in its envelope or out of it. The text of an error has no
    /// fields.
    fn secrets(&self, body: &Value, vars: &Vars) -> Vec<String> {
        let veil = Veil::of_rules(&self.kind.fields);
        let mut secrets = Vec::new();
        let is_error = body.is_string() && !self.kind.fields.here.secret;
        if !veil.is_empty() && !is_error {
            let item = self.op.item.as_ref().and_then(|filter| filter.one(body, vars).ok().flatten());
            [Some(body), item.as_ref()].into_iter().flatten().for_each(|v| veil.hidden(v, &mut secrets));
        }
        secrets
    }

    fn vars(&self, answer: &HttpAnswer) -> Vars {
        let mut vars = target_vars(self.target);
        vars.0.extend(answer_vars(answer));
        vars
    }
}

fn reading(
    context: &Context,
    asked: Asked,
    answer: &HttpAnswer,
    body: Value,
    version: Option<VersionToken>,
) -> Result<Answer, Failure> {
    if matches!(answer.status, 404 | 410) {
        return Ok(Answer::Absent);
    }
    let mut seen = asked.see(context, answer, body)?;
    if seen.state.absent || matches!(seen.failed, Some(404 | 410)) {
        return Ok(Answer::Absent);
    }
    if let Some(status) = seen.error(answer) {
        return Err(context.refused_hiding(FailureClass::Status(status), answer, &seen.secrets));
    }
    // A 204 says that there is nothing to say. A 200 with nothing in it is a body that was lost on the way, where
    // listings tell more: what is made of it would erase what the object has.
    if asked.op.method == Method::Get && answer.status == 200 && answer.body.is_empty() && is_as_listed(asked)
    {
        return Err(context.fail(FailureClass::Lost, "the server answered 200 OK with an empty body", None));
    }
    let value = if asked.op.method == Method::Head || answer.body.is_empty() {
        presence(context, asked, &seen.vars)?
    } else {
        let body = seen.envelope["body"].take();
        // A body that is no JSON, or nested too deep to be read, is there as its text: that is no object.
        if body.as_str().is_some_and(|body| text_of(answer) == Some(body)) {
            return Err(context.not_json(answer));
        }
        shaped(context, asked, answer, body, &seen.vars)?
    };
    let Seen { vars, state, secrets, .. } = seen;
    if let Some(failure) = trouble::in_object(context, asked.kind, &value, &vars, answer, &secrets) {
        return Err(failure);
    }
    let fault = |what: String| context.not_the_api(answer, &what);
    same_object(context, asked, answer, &value, &vars)?;
    let found = look(&asked.kind.id, &value, &vars).map_err(|error| context.wrap(filter_failure(error)))?;
    let id = id_text(&asked.kind.id, found).map_err(|error| fault(error.to_string()))?;
    same_id(context, asked, id.as_deref(), &value, &vars)?;
    let on_item =
        version_on(asked.kind, &value, &vars).map_err(|error| context.wrap(filter_failure(error)))?;
    let tag = || answer.header("etag").and_then(etag::token);
    Ok(Answer::Found(Item {
        key: asked.target.id.key.clone(),
        server_id: id.or_else(|| asked.target.server_id.clone()),
        version: match asked.kind.version {
            Version::None => None,
            Version::ETag => tag(),
            Version::OnItem(_) => on_item,
            Version::Request(..) => version,
        },
        value: Arc::new(value),
        deleting: state.deleting,
        ready: state.ready,
        ambiguous: Vec::new(),
    }))
}

/// The item inside a read's answer.
fn shaped(
    context: &Context,
    asked: Asked,
    answer: &HttpAnswer,
    body: Value,
    vars: &Vars,
) -> Result<Value, Failure> {
    let item = match &asked.op.item {
        Some(filter) => filter.one(&body, vars).map_err(|error| context.wrap(filter_failure(error)))?,
        None => Some(body),
    };
    item.filter(|item| !item.is_null()).ok_or_else(|| {
        let failure = context.not_the_api(answer, "the answer holds no object");
        let sign = match &asked.op.item {
            None => ".body == null".into(),
            Some(item) => format!("'.body | ({}) == null'", item.text()),
        };
        let hint = format!("if that is how the API says that it does not exist, declare `absent: {sign}`");
        Failure { hint: failure.hint.or(Some(hint)), ..failure }
    })
}

/// An object of which nothing but its presence is known, as the answer has no body: what the operation's `item`
/// makes of nothing, else its key.
fn presence(context: &Context, asked: Asked, vars: &Vars) -> Result<Value, Failure> {
    if let Some(filter) = &asked.op.item {
        let made = filter.one(&Value::Null, vars).map_err(|error| context.wrap(filter_failure(error)))?;
        if let Some(item) = made.filter(|item| !item.is_null()) {
            return Ok(item);
        }
    }
    let mut value = Value::Object(Default::default());
    for part in &asked.kind.parts {
        let plain = part.on_item.as_ref().and_then(Filter::plain).filter(|path| !path.is_empty());
        if let (Some(path), Some(name)) = (plain, asked.target.id.key.get(&part.name)) {
            Path(path.iter().cloned().map(Step::Field).collect()).lay(&mut value, name.clone());
        }
    }
    Ok(value)
}

fn writing(context: &Context, asked: Asked, role: Role, answer: &HttpAnswer) -> Result<Answer, Failure> {
    let Reading { value, first } = bodies_of(answer);
    let seen = asked.see(context, answer, value)?;
    let error = seen.error(answer);
    // An answer without a body shows no object, neither one that is there nor one that is not.
    let absent = seen.state.absent && !answer.body.is_empty();
    if role == Role::Delete && (matches!(error, Some(404 | 410)) || absent) {
        return Ok(Answer::Absent);
    }
    let is_error = !(200..300).contains(&answer.status);
    if is_error && let Some(filter) = &asked.kind.conflict {
        let fields = Contested::of(filter, &seen.envelope, &seen.vars).unwrap_or_default();
        if !fields.is_empty() {
            return Ok(Answer::Contested(context.contested(fields)));
        }
    }
    let refused = |class| Err(context.refused_hiding(class, answer, &seen.secrets));
    if role == Role::Create && asked.op.idempotency.is_some() && is_of_another(error, answer) {
        return refused(FailureClass::KeyUsed);
    }
    if exists(context, asked, role, error, &seen)? {
        return refused(FailureClass::Exists);
    }
    match error {
        Some(409) => return refused(FailureClass::Conflict),
        Some(412) => return refused(FailureClass::Mismatch),
        // A bare 500 may come after the deed; here the kind says that nothing was done, and nothing will be.
        Some(500) if seen.failed.is_some() => return refused(FailureClass::Refused),
        Some(status) => return refused(FailureClass::Status(status)),
        None => {}
    }
    if is_html(answer) {
        return Err(context.not_the_api(answer, "the server answered with a web page"));
    }
    let body = &seen.envelope["body"];
    if let Some(failure) = trouble::in_object(context, asked.kind, body, &seen.vars, answer, &seen.secrets) {
        return Err(failure);
    }
    let operation = operation::begun(context, asked, role, answer, &seen.envelope, &seen.vars)?;
    let id_of = |seen: &Seen| told_id(context, asked, role, answer, operation.as_ref(), seen);
    let mut server_id = id_of(&seen)?;
    if let Some(first) = first {
        // An id that depends on which of two members counts is none: the object is looked for by its name.
        let other = asked.see(context, answer, first).and_then(|seen| id_of(&seen)).ok().flatten();
        server_id = server_id.filter(|id| other.as_ref() == Some(id));
    }
    Ok(match operation {
        Some(operation) => Answer::Begun { operation, server_id },
        None => {
            let inside = trouble::inside(context, asked, answer, &seen.secrets);
            Answer::Accepted { server_id, pending: answer.status == 202, inside }
        }
    })
}

/// The id of a new object, where the answer to its create tells it.
fn told_id(
    context: &Context,
    asked: Asked,
    role: Role,
    answer: &HttpAnswer,
    operation: Option<&Operation>,
    seen: &Seen,
) -> Result<Option<Arc<str>>, Failure> {
    match operation {
        // The answer to a batch is about many objects: it tells the id of none.
        _ if role != Role::Create || asked.op.batch.is_some() => Ok(None),
        // The answer may be the operation's alone; its end is asked for the id again.
        Some(_) if asked.op.id.is_some() => Ok(new_id(context, asked, answer, seen).unwrap_or(None)),
        Some(begun) => {
            Ok(new_id(context, asked, answer, seen)?.filter(|id| !operation::names(&begun.url, id)))
        }
        None => new_id(context, asked, answer, seen),
    }
}

/// Whether a create was refused since its idempotency key belongs to one of another payload. The status alone says
/// that of nothing: 422 is the draft's, and every API's for a body that it does not like; 400 is Stripe's. So the
/// answer has to speak of it.
fn is_of_another(error: Option<u16>, answer: &HttpAnswer) -> bool {
    let speaks = || text_of(answer).is_some_and(|text| text.to_ascii_lowercase().contains("idempoten"));
    matches!(error, Some(400 | 422)) && speaks()
}

/// Whether a create was refused because the object is there: by the status (412 answers `If-None-Match: *`), or
/// by what the kind declares.
fn exists(
    context: &Context,
    asked: Asked,
    role: Role,
    error: Option<u16>,
    seen: &Seen,
) -> Result<bool, Failure> {
    if role != Role::Create {
        return Ok(false);
    }
    let declared = match &asked.kind.exists {
        None => false,
        Some(filter) => match filter.holds(&seen.envelope, &seen.vars) {
            Err(error) if seen.envelope["body"].is_object() => {
                return Err(context.wrap(filter_failure(error)));
            }
            holds => holds.unwrap_or(false),
        },
    };
    Ok(matches!(error, Some(409 | 412)) || declared)
}

/// The id of a new object, where the answer tells it: by the operation's own filter, on the item, or as the
/// last segment of `Location`. That of a 202 names the operation under way.
fn new_id(
    context: &Context,
    asked: Asked,
    answer: &HttpAnswer,
    seen: &Seen,
) -> Result<Option<Arc<str>>, Failure> {
    let fault = |error: FilterError| context.wrap(filter_failure(error));
    if let Some(filter) = &asked.op.id {
        let found = look(filter, &seen.envelope, &seen.vars).map_err(fault)?;
        let odd = |error: super::item::ItemError| context.wrap(backend_failure(error.to_string()));
        return id_text(filter, found).map_err(odd);
    }
    let body = &seen.envelope["body"];
    let item = match &asked.op.item {
        Some(filter) => filter.one(body, &seen.vars).map_err(fault)?,
        None => Some(body.clone()),
    };
    // What tells of another object tells the id of none of ours.
    if item.as_ref().is_some_and(|item| has_another_name(asked, item, &seen.vars)) {
        return Ok(None);
    }
    // What is not the id here may be one later: an answer to a write is only a hint.
    let on_item = item.and_then(|item| look(&asked.kind.id, &item, &seen.vars).ok().flatten());
    if let Ok(Some(id)) = id_text(&asked.kind.id, on_item) {
        return Ok(Some(id));
    }
    let location = answer.header("location").filter(|_| answer.status != 202);
    let url = location.and_then(|location| context.site.base.resolve(asked.url, location).ok());
    let last = url.as_ref().and_then(|url| url.path().trim_end_matches('/').rsplit('/').next());
    Ok(last.map(unescape).filter(|id| !id.is_empty()).map(Into::into))
}

/// The body as filters see it: JSON, else a text, else null.
pub(super) fn body_of(answer: &HttpAnswer) -> Value {
    bodies_of(answer).value
}

/// [`body_of`], whichever of the members counts that stand twice.
fn bodies_of(answer: &HttpAnswer) -> Reading {
    let plain = |value| Reading { value, first: None };
    match text_of(answer) {
        _ if answer.body.is_empty() => plain(Value::Null),
        Some(text) => twice::read(text).unwrap_or_else(|_| plain(text.into())),
        None => plain(Value::Null),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
