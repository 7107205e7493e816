//! Lines of the log of a watch: one an event, with a constant message and fields, as text or as NDJSON.
//!
//! The message never holds a name, so that lines can be counted by it; what it is about stands in the fields.

use std::time::Duration;

use serde_json::{Map, Value};

use super::super::json::line;
use super::super::paint::{Line, Style, Text};
use super::time::date_in_millis;
use crate::core::escape;
use crate::core::identity::ObjectId;
use crate::core::node::Origin;
use crate::core::problem::Problem;
use crate::core::redact::Redactor;
use crate::core::watch::{Condition, ConditionKind, Role, Truth};

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Text,
    Json,
}

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        }
    }
}

/// Something to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub level: Level,
    pub message: &'static str,
    /// In the order in which they are told. No secret gets out of them, but none should be in them.
    pub fields: Vec<(&'static str, Value)>,
}

impl Event {
    pub fn new(level: Level, message: &'static str) -> Event {
        Event { level, message, fields: Vec::new() }
    }

    pub fn info(message: &'static str) -> Event {
        Event::new(Level::Info, message)
    }

    pub fn warn(message: &'static str) -> Event {
        Event::new(Level::Warn, message)
    }

    pub fn error(message: &'static str) -> Event {
        Event::new(Level::Error, message)
    }

    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Event {
        self.fields.push((name, value.into()));
        self
    }

    /// A copy without secrets.
    pub fn scrubbed(&self, redactor: &Redactor) -> Event {
        let fields = self.fields.iter().map(|(name, value)| (*name, redactor.value(value))).collect();
        Event { fields, ..*self }
    }
}

/// A condition of an object has turned, or has another reason.
pub fn turned(id: &ObjectId, origin: Option<&Origin>, condition: &Condition) -> Event {
    let (level, message) = words(condition.kind, condition.truth);
    let mut event = Event::new(level, message)
        .with("backend", &*id.kind.backend)
        .with("kind", &*id.kind.kind)
        .with("name", id.key.to_string())
        .with("condition", condition.kind.word())
        .with("status", condition.truth.word())
        .with("reason", condition.reason);
    if !condition.message.is_empty() {
        event = event.with("detail", condition.message.as_str());
    }
    match origin {
        Some(origin) => event.with("at", origin.to_string()),
        None => event,
    }
}

fn words(kind: ConditionKind, truth: Truth) -> (Level, &'static str) {
    use ConditionKind as Kind;
    match (kind, truth) {
        (Kind::Synced, Truth::True) => (Level::Info, "object is in sync"),
        (Kind::Synced, Truth::False) => (Level::Warn, "object is not in sync"),
        (Kind::Synced, Truth::Unknown) => (Level::Info, "object waits to be looked at"),
        (Kind::Ready, Truth::True) => (Level::Info, "object is ready"),
        (Kind::Ready, Truth::False) => (Level::Warn, "object is not ready"),
        (Kind::Ready, Truth::Unknown) => (Level::Info, "it is not known whether the object is ready"),
        (Kind::Stalled, Truth::True) => (Level::Error, "object is stalled"),
        (Kind::Conflict, Truth::True) => (Level::Warn, "object is in conflict"),
        (Kind::Fighting, Truth::True) => (Level::Warn, "another writer fights over the object"),
        (Kind::NotEffective, Truth::True) => (Level::Warn, "server keeps another value"),
        (Kind::Unknown, Truth::True) => (Level::Warn, "nothing certain is known of the object"),
        (Kind::Stalled, _) => (Level::Info, "object is no longer stalled"),
        (Kind::Conflict, _) => (Level::Info, "object is no longer in conflict"),
        (Kind::Fighting, _) => (Level::Info, "nobody fights over the object any more"),
        (Kind::NotEffective, _) => (Level::Info, "server keeps the value"),
        (Kind::Unknown, _) => (Level::Info, "the object is known again"),
    }
}

/// A backend is away: nothing but probes is sent to it.
pub fn left(backend: &str, why: &str) -> Event {
    Event::warn("backend is away and only probed").with("backend", backend).with("detail", why)
}

/// A backend that was away has answered.
pub fn back(backend: &str) -> Event {
    Event::info("backend answers again").with("backend", backend)
}

/// Something that is wrong with the loop as a whole.
pub fn warned(what: &str) -> Event {
    Event::warn("watch is in trouble").with("detail", what)
}

/// The files are good: so many objects are wanted.
pub fn loaded(objects: usize) -> Event {
    Event::info("files are loaded").with("objects", objects)
}

/// The files are no good: one line a problem.
pub fn invalid(problem: &Problem) -> Event {
    let event = Event::error("files are not valid").with("detail", problem.message.as_str());
    match &problem.origin {
        Some(origin) => event.with("at", origin.to_string()),
        None => event,
    }
}

/// The process is another one among several.
pub fn turned_role(role: Role, holder: &str) -> Event {
    Event::info("role has changed").with("role", role.word()).with("holder", holder)
}

/// `2026-12-01T12:00:00.000Z warn "object is not in sync" kind=Queue name=//orders reason=Failed`
pub fn text(event: &Event, wall: Duration) -> Text {
    let style = match event.level {
        Level::Info => Style::Good,
        Level::Warn => Style::Change,
        Level::Error => Style::Bad,
    };
    let mut line = Line::new().with(Style::Dim, &date_in_millis(wall)).with(Style::Plain, " ");
    line.push(style, event.level.word());
    line.push(Style::Plain, " ");
    line.push(Style::Strong, &quoted(event.message));
    for (name, value) in &event.fields {
        line.push(Style::Dim, &format!(" {name}="));
        let shown = match value {
            Value::String(text) => quoted(text),
            other => other.to_string(),
        };
        line.push(Style::Plain, &shown);
    }
    Text { lines: vec![line] }
}

/// As it stands where that is plain, in quotes as JSON has them where it is not: a line is read back by its spaces.
fn quoted(text: &str) -> String {
    let plain = |c: char| !c.is_whitespace() && !matches!(c, '"' | '=' | '\\') && !escape::is_unsafe(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => escape::json(Value::from(text).to_string()),
    }
}

/// `{"time": …, "level": …, "message": …, …}`
pub fn json(event: &Event, wall: Duration) -> String {
    let mut members = Map::new();
    members.insert("time".into(), date_in_millis(wall).into());
    members.insert("level".into(), event.level.word().into());
    members.insert("message".into(), event.message.into());
    members.extend(event.fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    line(&members)
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
