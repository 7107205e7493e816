//! Operations that a server is at after a write: where they are, and what their answers mean.
//!
//! What a kind declares is followed. An API that declares nothing and answers 202 with an address (RFC 9110,
//! 15.3.3) is asked there as well, for what common words say: it must not be taken for done, and a failure that
//! can be seen is told.

use std::sync::Arc;

use url::Url;

use crate::core::exchange::{Answer, Failure, FailureClass, Operation, Progress, Target};
use crate::core::filter::Vars;
use crate::core::kind::Wait;
use crate::core::value::{Value, type_name};

use super::answer::{Asked, body_of};
use super::base::Elsewhere;
use super::item::{envelope, id_text, look};
use super::path::unescape;
use super::refusal::{Context, retry_after};
use super::request::{backend_failure, filter_failure, target_vars};
use super::wire::{HttpAnswer, Role};

/// Headers in which a 202 names its operation. The first is the more precise one where both are there.
const NAMED_IN: [&str; 2] = ["operation-location", "location"];

/// The operation that an accepted write has begun; `None` where it is done, or nothing tells of it.
///
/// # Errors
/// An address that is declared and is no text, or of another origin.
pub fn begun(
    context: &Context,
    asked: Asked,
    role: Role,
    answer: &HttpAnswer,
    around: &Value,
    vars: &Vars,
) -> Result<Option<Operation>, Failure> {
    let operation = |url: Url, wait: Option<Wait>| Operation {
        url: String::from(url).into(),
        wait,
        id: asked.op.id.clone().filter(|_| role == Role::Create),
        retry_after: asks_to_wait(context, answer),
    };
    let declared = asked.op.wait.as_ref().and_then(|wait| Some((wait, wait.url.as_ref()?)));
    if let Some((wait, filter)) = declared {
        let found = look(filter, around, vars).map_err(|error| context.wrap(filter_failure(error)))?;
        match found {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                let url = context.site.base.resolve(asked.url, &text).map_err(|e| elsewhere(context, &e))?;
                return Ok(Some(operation(url, Some(wait.clone()))));
            }
            Some(other) => {
                let what =
                    format!("`{}` gives {}, not the URL of an operation", filter.text(), type_name(&other));
                return Err(context.wrap(backend_failure(what)));
            }
        }
    }
    if answer.status != 202 {
        return Ok(None);
    }
    let named = NAMED_IN.iter().find_map(|name| answer.header(name));
    let url = named.and_then(|text| context.site.base.resolve(asked.url, text).ok());
    Ok(url.map(|url| operation(url, None)))
}

fn elsewhere(context: &Context, error: &Elsewhere) -> Failure {
    let hint = "credentials never go to another origin; `wait: {done: FILTER}` without `url` waits for the object itself";
    let what = format!("the server has begun it, and its operation is not followed: {error}");
    context.fail(FailureClass::Refused, &what, Some(hint.into()))
}

/// Whether the last segment of the URL is this id: then it is the operation's own.
pub fn names(url: &str, id: &str) -> bool {
    let url = Url::parse(url).ok();
    let last = url.as_ref().and_then(|url| url.path().trim_end_matches('/').rsplit('/').next());
    last.is_some_and(|last| unescape(last) == *id)
}

fn asks_to_wait(context: &Context, answer: &HttpAnswer) -> Option<std::time::Duration> {
    answer.header("retry-after").and_then(|text| retry_after(text, context.now))
}

/// What an operation's answer means. [`Answer::Absent`]: it is not there any more.
pub fn progress(context: &Context, target: &Target, operation: &Operation, answer: &HttpAnswer) -> Answer {
    judged(context, target, operation, answer).unwrap_or_else(Answer::Failed)
}

/// Where an operation is on its way.
enum Stage {
    Running,
    Done,
    Failed,
}

fn judged(
    context: &Context,
    target: &Target,
    operation: &Operation,
    answer: &HttpAnswer,
) -> Result<Answer, Failure> {
    if matches!(answer.status, 404 | 410) {
        return Ok(Answer::Absent);
    }
    let around = envelope(answer, body_of(answer));
    let mut vars = target_vars(target);
    vars.0.push(("status", around["status"].clone()));
    vars.0.push(("headers", around["headers"].clone()));
    let stage = match &operation.wait {
        Some(wait) => declared(context, wait, answer, &around["body"], &vars)?,
        None => shown(context, answer, &around["body"])?,
    };
    Ok(Answer::Progress(match stage {
        Stage::Running => Progress::Running { retry_after: asks_to_wait(context, answer) },
        Stage::Done => Progress::Done { server_id: new_id(context, operation, &around, &vars)? },
        Stage::Failed => {
            let said = context.said(answer, &[]).map_or(String::new(), |said| format!(": {said}"));
            let what = format!("the server began it, and it failed{said}");
            Progress::Failed(context.fail(FailureClass::Status(answer.status), &what, None))
        }
    }))
}

fn declared(
    context: &Context,
    wait: &Wait,
    answer: &HttpAnswer,
    body: &Value,
    vars: &Vars,
) -> Result<Stage, Failure> {
    let failed = wait.failed.as_ref();
    let by_status = wait.done.uses("status") || failed.is_some_and(|failed| failed.uses("status"));
    let passes = matches!(answer.status, 408 | 425 | 429) || answer.status >= 500;
    if passes || !((200..300).contains(&answer.status) || by_status) {
        return Err(context.refused(FailureClass::Status(answer.status), answer));
    }
    let fault = |error| match body.is_string() {
        true => context.not_json(answer),
        false => context.wrap(filter_failure(error)),
    };
    if failed.map_or(Ok(false), |failed| failed.holds(body, vars)).map_err(fault)? {
        return Ok(Stage::Failed);
    }
    Ok(if wait.done.holds(body, vars).map_err(fault)? { Stage::Done } else { Stage::Running })
}

/// Members that say how far an operation is, where nothing is declared, and the words that say it.
const STATES: [&str; 2] = ["status", "state"];
const RUNNING: [&str; 16] = [
    "accepted",
    "creating",
    "deleting",
    "inprogress",
    "new",
    "notstarted",
    "pending",
    "processing",
    "provisioning",
    "queued",
    "running",
    "scheduled",
    "started",
    "starting",
    "updating",
    "waiting",
];
const FAILED: [&str; 8] =
    ["aborted", "canceled", "cancelled", "error", "errored", "failed", "failure", "rejected"];

fn shown(context: &Context, answer: &HttpAnswer, body: &Value) -> Result<Stage, Failure> {
    if !(200..300).contains(&answer.status) {
        return Err(context.refused(FailureClass::Status(answer.status), answer));
    }
    let state = STATES.iter().find_map(|name| body.get(name)?.as_str());
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).collect::<String>();
    let state = state.map(|state| letters(state).to_ascii_lowercase()).unwrap_or_default();
    Ok(match &*state {
        state if FAILED.contains(&state) => Stage::Failed,
        state if answer.status == 202 || RUNNING.contains(&state) => Stage::Running,
        _ => Stage::Done,
    })
}

/// The new object's id, where the kind says how the operation tells it.
fn new_id(
    context: &Context,
    operation: &Operation,
    around: &Value,
    vars: &Vars,
) -> Result<Option<Arc<str>>, Failure> {
    let Some(filter) = &operation.id else { return Ok(None) };
    let found = look(filter, around, vars).map_err(|error| context.wrap(filter_failure(error)))?;
    id_text(filter, found).map_err(|error| context.wrap(backend_failure(error.to_string())))
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
