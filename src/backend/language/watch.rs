//! `watch`: where an API says what has changed, and how its events are to be read.

use std::time::Duration;

use super::operation::{self, Role};
use super::reader::{Reader, Record};
use crate::core::feed::{Watch, WatchBy};
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Method, Op, Parent, Piece, Template};
use crate::core::node::{Node, Pos, Want};
use crate::core::suggest;

/// The members of `watch`.
pub const WATCH: [&str; 13] = [
    "request",
    "query",
    "headers",
    "type",
    "body",
    "by",
    "items",
    "key",
    "position",
    "gone",
    "replay",
    "heartbeat",
    "hold",
];

/// The forms of a feed.
pub const WATCH_BY: [(&str, WatchBy); 4] = [
    ("sse", WatchBy::Sse),
    ("lines", WatchBy::Lines),
    ("poll", WatchBy::Poll),
    ("kubernetes", WatchBy::Kubernetes),
];

/// The word for what is no feed: the API sends something when something happens.
pub const WEBHOOK: &str = "webhook";

/// What `watch` declares.
pub enum Declared {
    Feed(Box<Watch>),
    /// By the filter that finds the object in a webhook's body.
    Hook(Filter),
}

/// Three heartbeats are a minute, which is how long a dead stream stays undetected. Kubernetes sends bookmarks about
/// once a minute.
const HEARTBEAT: Duration = Duration::from_secs(20);
const BOOKMARKS: Duration = Duration::from_secs(60);
/// How long servers usually hold a poll back.
const HOLD: Duration = Duration::from_secs(30);
/// Longer than this nobody waits, and a feed that dies must be found out some day.
const LONGEST: Duration = Duration::from_secs(10 * 60);
/// What a feed's request can name.
const ONE_FEED: &str = "it can name parents, or nothing: one feed for the whole kind";

/// Reads `watch`.
pub fn read(reader: &mut Reader, node: &Node, parts: &[&str]) -> Option<Declared> {
    let Want::Map(_) = node.want else {
        reader.wrong(node.at, "`watch` is a map with `request` and `by`").hint =
            Some("as in {request: GET /events, by: sse}".into());
        return None;
    };
    let record = reader.map(node, "`watch`", &WATCH)?;
    if record.get("by").and_then(Node::as_str) == Some(WEBHOOK) {
        return hook(reader, node, record).map(Declared::Hook);
    }
    feed(reader, node, record, parts).map(|watch| Declared::Feed(Box::new(watch)))
}

/// `by: webhook`, which has a filter and nothing else.
fn hook(reader: &mut Reader, node: &Node, record: Record) -> Option<Filter> {
    for name in WATCH.into_iter().filter(|name| !matches!(*name, "by" | "key")) {
        if let Some(node) = record.get(name).filter(|node| node.want != Want::Unset) {
            reader.wrong(node.at, format!("`{name}` of `watch` has no use with `by: {WEBHOOK}`"));
        }
    }
    let Some(key) = record.get("key") else {
        reader.wrong(node.at, "`watch` by webhook has no `key`").hint = Some(
            "a filter on its body, as in `key: .name`; a webhook that names nothing needs no `watch`".into(),
        );
        return None;
    };
    reader.filter(key, "`key`")
}

fn feed(reader: &mut Reader, node: &Node, record: Record, parts: &[&str]) -> Option<Watch> {
    let op = operation::record(reader, record, "`watch`", Role::Observe, parts);
    let by = by(reader, node, record);
    let filter = |reader: &mut Reader, name: &str| {
        record.get(name).and_then(|node| reader.filter(node, &format!("`{name}`")))
    };
    let (items, key) = (filter(reader, "items"), filter(reader, "key"));
    let (position, gone) = (filter(reader, "position"), filter(reader, "gone"));
    let (mut op, by) = (op?, by?);
    let duration = |reader: &mut Reader, name: &str, default| match record.get(name) {
        Some(node) => short(reader, node, name),
        None => Some(default),
    };
    let heartbeat = if by == WatchBy::Kubernetes { BOOKMARKS } else { HEARTBEAT };
    if by == WatchBy::Kubernetes {
        ask_for_events(&mut op);
    }
    Some(Watch {
        heartbeat: duration(reader, "heartbeat", heartbeat)?,
        hold: duration(reader, "hold", HOLD)?,
        replay: match record.get("replay") {
            Some(node) => reader.boolean(node, "`replay`")?,
            None => matches!(by, WatchBy::Poll | WatchBy::Kubernetes),
        },
        op,
        by,
        items,
        key,
        position,
        gone,
    })
}

fn by(reader: &mut Reader, node: &Node, record: Record) -> Option<WatchBy> {
    let words = || WATCH_BY.iter().map(|(word, _)| *word).chain([WEBHOOK]);
    let Some(by) = record.get("by") else {
        reader.wrong(node.at, "`watch` has no `by`").hint =
            Some("it is sse, lines, poll, kubernetes or webhook".into());
        return None;
    };
    let text = reader.text(by, "`by`")?;
    let found = WATCH_BY.iter().find(|(word, _)| *word == text).map(|(_, by)| *by);
    if found.is_none() {
        let hint = suggest::hint(text, "it is", words());
        reader.wrong(by.at, format!("a feed is not told by `{}`", text.escape_debug())).hint = Some(hint);
    }
    found
}

fn short(reader: &mut Reader, node: &Node, name: &str) -> Option<Duration> {
    let duration = reader.duration(node, &format!("`{name}`"))?;
    let fits = !duration.is_zero() && duration <= LONGEST;
    if !fits {
        let most = humantime::format_duration(LONGEST);
        reader.wrong(node.at, format!("`{name}` of `watch` is {most} at most, and longer than nothing"));
    }
    fits.then_some(duration)
}

/// What every watch of Kubernetes asks for, where the request does not say it.
fn ask_for_events(op: &mut Op) {
    let literal = |text: &str| Template(vec![Piece::Literal(text.into())]);
    for (name, value) in [
        ("watch", literal("true")),
        ("allowWatchBookmarks", literal("true")),
        ("resourceVersion", Template(vec![Piece::Position])),
    ] {
        if !op.query.iter().any(|(have, _)| have == name) {
            op.query.push((name.into(), value));
        }
    }
}

/// Checks what only shows when the kind is there as a whole.
pub fn check(reader: &mut Reader, kind: &Kind, node: &Node) {
    let (Some(watch), Some(node)) = (&kind.watch, node.get("watch")) else { return };
    if !matches!(watch.op.method, Method::Get | Method::Post) {
        let message =
            format!("`watch` by {} could change something, or has no body", watch.op.method.as_str());
        reader.wrong(node.at, message).hint = Some("what only looks is a GET or a POST".into());
    }
    placeholders(reader, kind, watch, node.at);
    in_body(reader, kind, watch, node.at);
    useless(reader, watch, node);
    positions(reader, watch, node);
}

fn placeholders(reader: &mut Reader, kind: &Kind, watch: &Watch, at: Pos) {
    if watch.op.path.pieces().any(|piece| *piece == Piece::Position) {
        reader
            .wrong(at, "`{position}` in the path of `watch`: without a position there would be no address")
            .hint =
            Some("it stands in the query or a header, which is left out where no position is known".into());
    }
    for piece in watch.op.placeholders() {
        let (name, of_parent) = match piece {
            Piece::Part(name) | Piece::RawPart(name) => (name, false),
            Piece::PartId(name) => (name, true),
            Piece::Literal(_) | Piece::Position | Piece::Owner => continue,
            Piece::Id | Piece::Version | Piece::Changed => {
                let message =
                    format!("`{}` in `watch` has no source: it is about no object", piece.written());
                reader.wrong(at, message);
                continue;
            }
        };
        match kind.part(name).map(|part| &part.parent) {
            Some(Parent::Of(_)) => {}
            Some(Parent::Scope) if !of_parent => {}
            Some(Parent::Scope) => {
                reader.wrong(at, format!("`{{{name}.id}}` in `watch`: `{name}` is not a parent with a kind"));
            }
            Some(Parent::Own) => {
                let message =
                    format!("`{{{name}}}` in `watch`: a feed is of many objects, and `{name}` tells one");
                reader.wrong(at, message).hint = Some(ONE_FEED.into());
            }
            None => {
                let known =
                    kind.parts.iter().filter(|part| part.parent != Parent::Own).map(|part| &*part.name);
                let hint = suggest::hint(name, "the parents are", known);
                reader
                    .wrong(at, format!("`{{{name}}}` in `watch` has no source: it is no part of the key"))
                    .hint = Some(hint);
            }
        }
    }
}

/// The same of a body, which may name them as a filter does.
fn in_body(reader: &mut Reader, kind: &Kind, watch: &Watch, at: Pos) {
    let Some(body) = &watch.op.body else { return };
    for part in kind.own_parts().filter(|part| body.names("key", &part.name)) {
        let message =
            format!("`$key.{0}` in `watch`: a feed is of many objects, and `{0}` tells one", part.name);
        reader.wrong(at, message).hint = Some(ONE_FEED.into());
    }
}

/// Words that say nothing of a feed of this form.
fn useless(reader: &mut Reader, watch: &Watch, node: &Node) {
    let word = WATCH_BY.iter().find(|(_, by)| *by == watch.by).map_or("", |(word, _)| word);
    let has_no_use = |name: &str| match name {
        "items" | "hold" => watch.by != WatchBy::Poll,
        "heartbeat" => watch.by == WatchBy::Poll,
        "gone" => watch.by == WatchBy::Kubernetes,
        _ => false,
    };
    for name in WATCH.into_iter().filter(|name| has_no_use(name)) {
        if let Some(node) = node.get(name).filter(|node| node.want != Want::Unset) {
            reader.wrong(node.at, format!("`{name}` of `watch` has no use with `by: {word}`"));
        }
    }
}

/// A position has a source, and a place in the request.
fn positions(reader: &mut Reader, watch: &Watch, node: &Node) {
    let known = watch.position.is_some() || matches!(watch.by, WatchBy::Sse | WatchBy::Kubernetes);
    let sent = watch.says_position() || watch.by == WatchBy::Sse;
    let source = "say with `position` where an event has it, as in `position: .revision`";
    if watch.by == WatchBy::Poll && !known {
        reader.wrong(node.at, "`watch` by poll has no `position`").hint = Some(
            "a filter on the answer's body, or on `$headers`, that gives what the next poll goes on from"
                .into(),
        );
    } else if watch.says_position() && !known {
        reader.wrong(node.at, "`{position}` in `watch` has no source").hint = Some(source.into());
    } else if watch.replay && !known {
        reader.wrong(node.at, "`replay` of `watch` needs a position to go on from").hint =
            Some(source.into());
    } else if known && !sent {
        let at = node.get("position").map_or(node.at, |node| node.at);
        reader.wrong(at, "the request of `watch` does not say the position").hint =
            Some("name `{position}` in its query or a header, as in `GET /events?since={position}`".into());
    }
}
