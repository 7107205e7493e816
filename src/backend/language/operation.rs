//! Operations: a request in one line, or a record of everything about it.

use std::time::Duration;

use super::reader::{Reader, Record};
use super::template::{self, TemplateError};
use crate::backend::form;
use crate::core::idempotency::Idempotency;
use crate::core::kind::{Forced, Method, Op, Send, Template, Wait};
use crate::core::node::{Node, Pos, Want};
use crate::core::path::{Path, Step};

/// The members of an operation's record.
pub const OPERATION: [&str; 12] = [
    "request",
    "query",
    "headers",
    "type",
    "body",
    "item",
    "id",
    "send",
    "batch",
    "wait",
    "forced",
    "idempotency",
];

/// The members of `idempotency`: where the key goes.
pub const IDEMPOTENCY: [&str; 3] = ["header", "query", "body"];

/// The members of `wait`.
pub const WAIT: [&str; 5] = ["done", "failed", "url", "every", "limit"];

/// The words of `send`.
pub const SEND: [(&str, Send); 5] = [
    ("ours", Send::Ours),
    ("merge", Send::Merge),
    ("json-patch", Send::JsonPatch),
    ("full", Send::Full),
    ("none", Send::None),
];

/// How long the end of a write is waited for, and how often it is looked at, where nothing is said
/// (AIP-151 has operations of minutes; the first look is the usual second).
const WAIT_EVERY: Duration = Duration::from_secs(1);
const WAIT_LIMIT: Duration = Duration::from_secs(30 * 60);

/// What an operation is for: it decides what is sent where nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Observe,
    Create,
    Update,
    Delete,
}

/// Reads `op`: a text, or a map.
pub fn read(reader: &mut Reader, node: &Node, what: &str, role: Role, parts: &[&str]) -> Option<Op> {
    match &node.want {
        Want::Map(_) => {
            let record = reader.map(node, what, &OPERATION)?;
            self::record(reader, record, what, role, parts)
        }
        _ => {
            let text = reader.text(node, what)?;
            bare(reader, text, node.at, role, parts)
        }
    }
}

/// What is sent where nothing is said: everything by PUT, differences by PATCH, ours alone by a creating POST.
/// An update by POST carries the whole object, as the POST of a create does.
pub fn default_send(method: Method, role: Role) -> Send {
    match (role, method) {
        (Role::Observe | Role::Delete, _) | (_, Method::Get | Method::Head | Method::Delete) => Send::None,
        (Role::Create, Method::Post) => Send::Ours,
        (_, Method::Put | Method::Post) => Send::Full,
        (_, Method::Patch) => Send::Merge,
    }
}

fn bare(reader: &mut Reader, text: &str, at: Pos, role: Role, parts: &[&str]) -> Option<Op> {
    let line = or_wrong(reader, at, template::request(text, parts))?;
    Some(Op {
        method: line.method,
        path: line.path,
        query: line.query,
        headers: Vec::new(),
        media: None,
        body: None,
        item: None,
        id: None,
        send: default_send(line.method, role),
        batch: None,
        wait: None,
        forced: None,
        idempotency: None,
    })
}

/// Reads the members of an operation from a record that may hold others besides.
pub fn record(reader: &mut Reader, record: Record, what: &str, role: Role, parts: &[&str]) -> Option<Op> {
    let Some(request) = record.get("request") else {
        reader.wrong(record.at(), format!("{what} has no `request`"));
        return None;
    };
    let text = reader.text(request, "`request`")?;
    let mut op = bare(reader, text, request.at, role, parts)?;
    if let Some(node) = record.get("query") {
        op.query.extend(pairs(reader, node, "`query`", parts));
    }
    if let Some(node) = record.get("headers") {
        op.headers = headers(reader, node, parts);
    }
    let filter = |reader: &mut Reader, name: &str| {
        record.get(name).and_then(|node| reader.filter(node, &format!("`{name}`")))
    };
    op.body = filter(reader, "body");
    op.item = filter(reader, "item");
    op.id = filter(reader, "id");
    op.media = record.get("type").and_then(|node| media(reader, node));
    if let Some(node) = record.get("send") {
        op.send = self::send(reader, node)?;
        if op.send == Send::JsonPatch && role == Role::Create {
            reader
                .wrong(node.at, "a create cannot send a JSON Patch: there is nothing that it could change")
                .hint = Some("leave `send` out, or say `ours`".into());
        }
        if op.send == Send::JsonPatch && op.media.as_deref().is_some_and(form::is_form) && op.body.is_none() {
            reader.wrong(node.at, "a JSON Patch is a list of operations, which no form can say").hint =
                Some("send `merge`, `full` or `ours` as a form".into());
        }
    }
    op.batch = record.get("batch").and_then(|node| batch(reader, node, role));
    op.wait = record.get("wait").and_then(|node| wait(reader, node));
    op.forced = record.get("forced").and_then(|node| forced(reader, node, parts));
    op.idempotency = record.get("idempotency").and_then(|node| idempotency(reader, node));
    Some(op)
}

/// More objects than this make a request too long for most servers, and a refusal too dear.
const MOST_TOGETHER: u64 = 10_000;

fn batch(reader: &mut Reader, node: &Node, role: Role) -> Option<usize> {
    if role == Role::Observe {
        reader.wrong(node.at, "`batch` is a word of `create`, `update` and `delete`");
        return None;
    }
    let most = reader.count(node, "`batch`", 2)?;
    if most > MOST_TOGETHER {
        reader.wrong(node.at, format!("`batch` is {MOST_TOGETHER} at most, not {most}"));
        return None;
    }
    usize::try_from(most).ok()
}

fn or_wrong<T>(reader: &mut Reader, at: Pos, result: Result<T, TemplateError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(e) => {
            reader.wrong(at, e.problem).hint = e.hint.map(Into::into);
            None
        }
    }
}

/// Names and templates; a value may be a text, a number or a boolean.
fn pairs(reader: &mut Reader, node: &Node, what: &str, parts: &[&str]) -> Vec<(String, Template)> {
    let mut pairs = Vec::new();
    for (name, value) in reader.members(node, what) {
        let Some(text) = reader.scalar(value, &format!("{what} `{name}`")) else { continue };
        if let Some(template) = or_wrong(reader, value.at, template::template(&text, parts)) {
            pairs.push((name.to_owned(), template));
        }
    }
    pairs
}

fn headers(reader: &mut Reader, node: &Node, parts: &[&str]) -> Vec<(String, Template)> {
    for (name, value) in reader.members(node, "`headers`") {
        header_name(reader, value.at, name);
    }
    pairs(reader, node, "`headers`", parts)
}

/// Headers that say where a message ends. They follow from what is sent: one that does not fit leaves the server
/// waiting, or lets it take a body for a request.
const FRAMING: [&str; 2] = ["content-length", "transfer-encoding"];

/// Tells what cannot be sent as a header.
pub fn header_name(reader: &mut Reader, at: Pos, name: &str) {
    if !is_header_name(name) {
        reader.wrong(at, format!("`{}` is not the name of a header", name.escape_debug()));
    } else if FRAMING.contains(&name.to_ascii_lowercase().as_str()) {
        reader.wrong(at, format!("the header `{name}` is not a backend's to say")).hint =
            Some("how a message is framed follows from what is sent; leave it out".into());
    } else if name.eq_ignore_ascii_case("content-type") {
        // A type that the body does not have is a 415 at best, and at worst a body that is read as something else.
        reader
            .wrong(
                at,
                format!("the header `{name}` is not said here: a body has the type that it is written in"),
            )
            .hint = Some(
            "an operation's `type` says in which of the known ones: `type: application/merge-patch+json`"
                .into(),
        );
    }
}

/// A token (RFC 9110, 5.6.2).
pub fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
}

/// The media type of a body: JSON, or a form.
fn media(reader: &mut Reader, node: &Node) -> Option<String> {
    let text = reader.text(node, "`type`")?;
    let bare = text.split(';').next().unwrap_or(text).trim();
    // JSON is YAML, so what takes YAML takes our JSON.
    let is_json = bare.ends_with("/json") || bare.ends_with("+json") || bare.ends_with("yaml");
    if (is_json || form::is_form(bare)) && bare.contains('/') && !text.contains(char::is_control) {
        return Some(text.into());
    }
    reader.wrong(node.at, format!("a body cannot be of type `{}`", text.escape_debug())).hint = Some(
        format!("bodies are JSON in its forms, as in `application/merge-patch+json`, or `{}`", form::FORM),
    );
    None
}

fn send(reader: &mut Reader, node: &Node) -> Option<Send> {
    let text = reader.text(node, "`send`")?;
    let send = SEND.iter().find(|(word, _)| *word == text).map(|(_, send)| *send);
    if send.is_none() {
        reader.wrong(node.at, format!("`send` is not `{text}`")).hint =
            Some("it is ours, merge, json-patch, full or none".into());
    }
    send
}

fn wait(reader: &mut Reader, node: &Node) -> Option<Wait> {
    let record = reader.map(node, "`wait`", &WAIT)?;
    let Some(done) = record.get("done") else {
        reader.wrong(node.at, "`wait` has no `done`").hint = Some(
            "a filter on the object, or on the operation at `url`, that says when the server has finished"
                .into(),
        );
        return None;
    };
    let duration = |reader: &mut Reader, name: &str, default| {
        record.get(name).map_or(Some(default), |node| reader.duration(node, &format!("`{name}`")))
    };
    Some(Wait {
        url: match record.get("url") {
            Some(node) => Some(reader.filter(node, "`url`")?),
            None => None,
        },
        done: reader.filter(done, "`done`")?,
        failed: record.get("failed").and_then(|node| reader.filter(node, "`failed`")),
        every: duration(reader, "every", WAIT_EVERY)?,
        limit: duration(reader, "limit", WAIT_LIMIT)?,
    })
}

/// Where the key of a create goes: one place.
fn idempotency(reader: &mut Reader, node: &Node) -> Option<Idempotency> {
    let before = reader.problems.len();
    let record = reader.map(node, "`idempotency`", &IDEMPOTENCY).filter(|_| reader.is_sound_since(before))?;
    let said: Vec<&str> = IDEMPOTENCY.into_iter().filter(|name| record.get(name).is_some()).collect();
    let [place] = said[..] else {
        reader.wrong(node.at, "`idempotency` says one place for the key").hint =
            Some("as in `{header: Idempotency-Key}`, `{query: request_id}` or `{body: .requestId}`".into());
        return None;
    };
    let value = record.get(place)?;
    let text = reader.text(value, &format!("`{place}`"))?;
    match place {
        "header" => {
            header_name(reader, value.at, text);
            Some(Idempotency::Header(text.to_ascii_lowercase()))
        }
        "query" => Some(Idempotency::Query(text.into())),
        _ => {
            let filter = reader.filter(value, "`body`")?;
            let fields = filter.plain().filter(|fields| !fields.is_empty());
            if fields.is_none() {
                reader.wrong(value.at, format!("`{text}` is not the path of a member of the body")).hint =
                    Some("as in `.requestId`".into());
            }
            Some(Idempotency::Body(Path(fields?.iter().cloned().map(Step::Field).collect())))
        }
    }
}

fn forced(reader: &mut Reader, node: &Node, parts: &[&str]) -> Option<Forced> {
    let record = reader.map(node, "`forced`", &["query", "headers"])?;
    Some(Forced {
        query: record.get("query").map_or_else(Vec::new, |node| pairs(reader, node, "`query`", parts)),
        headers: record.get("headers").map_or_else(Vec::new, |node| headers(reader, node, parts)),
    })
}
