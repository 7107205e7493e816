//! What is said of an answer that is an error: one line that names what was being done, what the server
//! said about it, and the next step.
//!
//! A body is never shown raw. It may be a page of HTML, repeat the request with its passwords, or hold
//! control sequences: its message is looked for, secrets are taken out of the whole, then it is cut.

use std::time::Duration;

use serde::Deserialize;

use crate::core::escape;
use crate::core::exchange::{Failure, FailureClass, PATIENCE};
use crate::core::managers::Contested;
use crate::core::redact::Redactor;
use crate::core::value::{Value, plain_text};

use super::request::Site;
use super::scan::Unpicked;
use super::twice::{self, Reading};
use super::wire::HttpAnswer;

/// What an answer is judged with.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub site: &'a Site,
    /// `creating Queue //orders`
    pub doing: &'a str,
    /// The time, since the beginning of 1970.
    pub now: Duration,
    pub redactor: &'a Redactor,
}

/// The longest message, in bytes.
const LONGEST: usize = 1024;
/// The longest piece of a text that is no JSON.
const LONGEST_TEXT: usize = 200;
/// A longer `Retry-After` is taken for this.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Context<'_> {
    /// A failure of this class; `what` may come from the server.
    pub fn fail(&self, class: FailureClass, what: &str, hint: Option<String>) -> Failure {
        let whole = format!("{}: {what}", self.doing);
        let message = cut(&escape::inline(&self.redactor.text(&whole)), LONGEST);
        Failure { class, message, hint, retry_after: None }
    }

    /// The same failure, with what was being done in front.
    pub fn wrap(&self, failure: Failure) -> Failure {
        let said = self.fail(failure.class, &failure.message, failure.hint);
        Failure { retry_after: failure.retry_after, ..said }
    }

    /// An answer whose status is an error, or that the kind takes for one.
    pub fn refused(&self, class: FailureClass, answer: &HttpAnswer) -> Failure {
        self.refused_hiding(class, answer, &[])
    }

    /// [`Context::refused`], for an answer that holds these secrets itself: what the server generated is known
    /// to no redactor.
    pub fn refused_hiding(&self, class: FailureClass, answer: &HttpAnswer, secrets: &[String]) -> Failure {
        let status = status_text(answer.status);
        // Many say no more than what the status says.
        let said = self.said(answer, secrets);
        let more = said.filter(|said| !status.to_lowercase().ends_with(&said.to_lowercase()));
        let said = more.map_or(String::new(), |said| format!(": {said}"));
        let retry_after = answer.header("retry-after").and_then(|text| retry_after(text, self.now));
        let what = format!("the server answered {status}{said}");
        match retry_after.filter(|wait| *wait > PATIENCE) {
            Some(wait) => {
                let what = format!("{what}; it asks to wait {}", humantime::format_duration(wait));
                let hint = "run it again after that time: a longer wait than a minute is not slept through";
                Failure { retry_after, ..self.fail(class, &what, Some(hint.into())) }
            }
            None => Failure { retry_after, ..self.fail(class, &what, self.hint(answer)) },
        }
    }

    /// What the body says is wrong, without any secret, these among them that only the answer holds. It is cut
    /// when they are out: half a secret is found by nobody.
    pub fn said(&self, answer: &HttpAnswer, secrets: &[String]) -> Option<String> {
        let (said, most) = message_of(answer)?;
        Some(cut(&self.words(&said, secrets), most))
    }

    /// A server's words without any secret. Pieces of secrets are taken out when the words are shown, once all secrets
    /// are known: a piece that is taken out of one that is not leaves the rest to nobody. What is far beyond the longest
    /// that is shown is left out.
    pub fn words(&self, said: &str, secrets: &[String]) -> String {
        let own = Redactor::new(secrets);
        let said = own.text(said);
        cut(&self.redactor.text(&said), 2 * LONGEST)
    }

    /// Fields that others hold, safe to be shown.
    pub fn contested(&self, fields: Vec<Contested>) -> Vec<Contested> {
        let safe = |text: String| cut(&escape::inline(&self.redactor.text(&text)), LONGEST_TEXT);
        fields.into_iter().map(|field| Contested { path: safe(field.path), by: safe(field.by) }).collect()
    }

    /// A success that is not what the API sends.
    pub fn not_the_api(&self, answer: &HttpAnswer, what: &str) -> Failure {
        let hint = is_html(answer).then(|| self.web_page());
        self.fail(FailureClass::NotTheApi, what, hint)
    }

    /// A JSON answer.
    ///
    /// # Errors
    /// Another content, or JSON that ends too early or nests too deep.
    pub fn json<'b, T: Deserialize<'b>>(&self, answer: &'b HttpAnswer) -> Result<T, Failure> {
        serde_json::from_str(text_of(answer).unwrap_or_default()).map_err(|_| self.not_json(answer))
    }

    /// [`Context::json`], whichever of the members counts that stand twice.
    ///
    /// # Errors
    /// As there.
    pub fn reading(&self, answer: &HttpAnswer) -> Result<Reading, Failure> {
        twice::read(text_of(answer).unwrap_or_default()).map_err(|_| self.not_json(answer))
    }

    /// A JSON answer of which something was to be picked.
    pub fn unpicked(&self, answer: &HttpAnswer, why: Unpicked) -> Failure {
        match why {
            Unpicked::NotJson => self.not_json(answer),
            Unpicked::Twice(name) => {
                let what = format!("the answer has `{name}` twice, with different values");
                self.not_the_api(answer, &what)
            }
        }
    }

    /// A success that should have been JSON.
    pub fn not_json(&self, answer: &HttpAnswer) -> Failure {
        let begins = text_of(answer).is_some_and(|text| text.trim_start().starts_with(['{', '[']));
        if begins && nests_too_deep(answer) {
            return self.not_the_api(answer, "the answer is nested more than 128 levels deep");
        }
        if begins && !is_html(answer) {
            let what = format!("the answer of {} bytes is not whole JSON", answer.body.len());
            return self.fail(FailureClass::Lost, &what, None);
        }
        let kind = match answer.header("content-type") {
            _ if answer.body.is_empty() => "nothing".into(),
            Some(kind) => format!("`{kind}`"),
            None => "something without a content type".into(),
        };
        let is_not = match text_of(answer) {
            None => "and its body is not UTF-8",
            // What it says is no help where the body is something else.
            Some(text) if kind.contains("json") && !text.is_empty() => "and its body is not JSON",
            Some(_) => "not with JSON",
        };
        let what = format!("the server answered {} with {kind}, {is_not}", status_text(answer.status));
        self.not_the_api(answer, &what)
    }

    fn web_page(&self) -> String {
        format!(
            "is `{}` the URL of the API, and not of a web page or a login in front of it?",
            self.site.base
        )
    }

    fn hint(&self, answer: &HttpAnswer) -> Option<String> {
        let credential = || match &self.site.credential {
            Some(source) => format!("check the credential, which comes from {source}"),
            None => "the backend states no `auth`".into(),
        };
        match answer.status {
            401 => Some(credential()),
            403 => Some(format!("the server knows who asks and does not allow it; {}", credential())),
            405 => Some("the method is not allowed there: check the operation in the backend".into()),
            429 => Some("lower `limits.concurrency`, or set `limits.rate`, in the backend".into()),
            _ if is_html(answer) => Some(self.web_page()),
            404 => Some(format!("is the path right? It is below `{}`", self.site.base)),
            _ => None,
        }
    }
}

/// Whether the reader of JSON has stopped for the sake of the stack.
fn nests_too_deep(answer: &HttpAnswer) -> bool {
    let read = serde_json::from_str::<Value>(text_of(answer).unwrap_or_default());
    read.is_err_and(|error| error.to_string().starts_with("recursion limit"))
}

/// The body as text, without a byte order mark; `None` for what is not UTF-8.
pub fn text_of(answer: &HttpAnswer) -> Option<&str> {
    std::str::from_utf8(&answer.body).ok().map(|text| text.trim_start_matches('\u{feff}'))
}

/// `403 Forbidden`; the bare number where the status has no name.
pub fn status_text(status: u16) -> String {
    let name = match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        207 => "Multi-Status",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Content",
        423 => "Locked",
        425 => "Too Early",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => return status.to_string(),
    };
    format!("{status} {name}")
}

/// How long the server asks to wait: seconds or a date (RFC 9110, 10.2.3), clamped. What is neither, or lies
/// in the past, is taken for nothing.
pub fn retry_after(text: &str, now: Duration) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().map_or(LONGEST_WAIT, Duration::from_secs).min(LONGEST_WAIT));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    // Whole seconds, as in a number: what is said of it stays short.
    Some(Duration::from_secs(date.checked_sub(now)?.min(LONGEST_WAIT).as_secs_f64().ceil() as u64))
}

/// Whether an answer is a web page: by how it begins, as many servers call whatever they say themselves HTML.
pub fn is_html(answer: &HttpAnswer) -> bool {
    text_of(answer).is_some_and(|text| text.trim_start().starts_with('<'))
}

/// The members in which APIs say what is wrong, in the order of reading (RFC 9457 among them).
const FIELDS: [&str; 9] =
    ["title", "error", "message", "detail", "reason", "error_description", "description", "msg", "errors"];

/// What the body says is wrong, whole, and how much of it is to be shown; `None` where it says nothing that a
/// line can hold.
fn message_of(answer: &HttpAnswer) -> Option<(String, usize)> {
    if is_html(answer) {
        return None;
    }
    let text = text_of(answer)?.trim();
    let (said, most) = match serde_json::from_str::<Value>(text) {
        Ok(value) => (says(&value), LONGEST),
        Err(_) => (text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_TEXT),
    };
    (!said.is_empty()).then_some((said, most))
}

/// What a value says is wrong; empty where it says nothing.
pub fn says(value: &Value) -> String {
    match said_by(value, 0) {
        said if said.is_empty() => signs_of(value).join(", "),
        said => said.join(": "),
    }
}

/// What is left to show of an error without words: its state and its code.
fn signs_of(value: &Value) -> Vec<String> {
    let sign = |name: &&str| match value.get(name)? {
        found @ (Value::String(_) | Value::Number(_)) => Some(format!("{name} {}", plain_text(found))),
        _ => None,
    };
    ["status", "state", "code"].iter().filter_map(sign).collect()
}

fn said_by(value: &Value, depth: usize) -> Vec<String> {
    const DEEPEST: usize = 3;
    const MOST: usize = 3;
    let mut said: Vec<String> = Vec::new();
    match value {
        _ if depth > DEEPEST => {}
        Value::String(text) if !text.trim().is_empty() => said.push(text.trim().into()),
        Value::Array(items) => said.extend(items.iter().take(MOST).flat_map(|item| said_by(item, depth + 1))),
        Value::Object(map) => {
            let named = FIELDS.iter().filter_map(|name| map.get(*name));
            said.extend(named.flat_map(|value| said_by(value, depth + 1)));
            if let (Some(field), false) = (map.get("field").and_then(Value::as_str), said.is_empty()) {
                said.insert(0, field.to_owned());
            }
        }
        _ => {}
    }
    let mut unique: Vec<String> = Vec::new();
    for one in said {
        if !unique.contains(&one) {
            unique.push(one);
        }
    }
    unique
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.into();
    }
    let end = (0..=most - '…'.len_utf8()).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

#[cfg(test)]
#[path = "refusal_tests.rs"]
mod tests;
