//! The change feed over HTTP: `GET /teams?watch` and `GET /?watch`, as server-sent events, as lines of JSON, or as
//! a long poll. Events carry names and revisions, no bodies.
//!
//! Positions are opaque. A stream begins with the one where it stands, and tells it again with each heartbeat, so
//! that a client that saw nothing for long can still come back. What is no longer known is a `410`.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::server::store::{Event, Follower, Key, Next, NoFeed, Position, Store};

use super::problem::{Problem, header_value, respond};
use super::route::pairs;

/// The parameter of the query that asks for the feed.
const WATCH: &str = "watch";
/// On a listing: the place in the feed behind which everything is that the listing does not show.
pub const FEED_POSITION: HeaderName = HeaderName::from_static("feed-position");
/// Where a client of server-sent events says what it has seen.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A stream says at least so often that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a long poll waits where the request does not say, and at most.
const WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The events of one answer to a long poll, and of one piece of a stream.
const MOST: usize = 1000;

const SSE: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";

/// How the feed is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Sse,
    Lines,
    Poll,
}

/// What a request asks of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub way: Way,
    since: Option<Position>,
    wait: Duration,
}

impl Asked {
    /// Reads a request; `None` where it is not about the feed.
    ///
    /// # Errors
    /// A parameter that means nothing; a position of another opening of the store.
    pub fn of(request: &Request<Bytes>) -> Result<Option<Asked>, Problem> {
        let query = request.uri().query().unwrap_or_default();
        if !query.contains(WATCH) {
            return Ok(None);
        }
        let pairs = pairs(query)?;
        let Some((_, way)) = pairs.iter().find(|(name, _)| name == WATCH) else { return Ok(None) };
        let Some(way) = way_of(way, request.headers())? else { return Ok(None) };
        let mut asked = Asked { way, since: None, wait: WAIT };
        if let Some(seen) = request.headers().get(LAST_EVENT_ID) {
            asked.since = Some(position(&String::from_utf8_lossy(seen.as_bytes()))?);
        }
        for (name, value) in &pairs {
            match name.as_str() {
                WATCH => {}
                "since" => asked.since = Some(position(value)?),
                "wait" => asked.wait = wait(value)?,
                _ => {
                    let detail = format!("the feed has no `{name}`: it takes `watch`, `since` and `wait`");
                    return Err(Problem::bad_request(detail));
                }
            }
        }
        Ok(Some(asked))
    }

    fn follow(&self, store: &Store, within: Option<Key>) -> Result<Follower, Problem> {
        if let Some(collection) = &within {
            store.read(|index| index.expect_parent(&collection.parent()))?;
        }
        store.feed().follow(self.since, within).map_err(|error| match error {
            NoFeed::Gone => gone(),
            NoFeed::Full => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too-many-feeds",
                "as many follow the changes as can",
                "try again later, or list",
            )
            .with(RETRY_AFTER, "30"),
        })
    }

    /// A stream of what changes in one collection, or everywhere.
    ///
    /// # Errors
    /// A position that is no longer known, a collection that cannot be, too many who follow.
    pub fn stream(&self, store: &Store, within: Option<Key>) -> Result<Response<Following>, Problem> {
        let follower = self.follow(store, within)?;
        let mut response = Response::new(Following::new(follower, self.way));
        let media = if self.way == Way::Sse { SSE } else { LINES };
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        unstored(response.headers_mut());
        // Proxies that gather answers would hold events back.
        response
            .headers_mut()
            .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        Ok(response)
    }

    /// What has changed since, as soon as something has. Without a position: the position.
    ///
    /// # Errors
    /// As [`Asked::stream`].
    pub async fn poll(&self, store: &Store, within: Option<Key>) -> Result<Response<Bytes>, Problem> {
        let mut follower = self.follow(store, within)?;
        let mut events = Vec::new();
        if self.since.is_some() {
            // A wait that has run out, and a server that stops, answer that nothing has happened.
            match timeout_at(Instant::now() + self.wait, follower.next(MOST)).await {
                Ok(Next::Events(told)) => events = told,
                Ok(Next::Behind) => return Err(gone()),
                Ok(Next::Closed) | Err(_) => {}
            }
        }
        let position = follower.position();
        let told: Vec<Value> = events.iter().map(|event| shown(event, &follower)).collect();
        let body = json!({"events": told, "position": position.to_string()});
        let mut response = respond(StatusCode::OK, "application/json", body.to_string());
        unstored(response.headers_mut());
        response.headers_mut().insert(FEED_POSITION, header_value(&position.to_string()));
        Ok(response)
    }
}

fn unstored(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

fn gone() -> Problem {
    Problem::new(
        StatusCode::GONE,
        "history-gone",
        "what happened since is no longer known",
        "list, and follow from the `Feed-Position` of the listing, or from now on",
    )
}

fn way_of(text: &str, headers: &HeaderMap) -> Result<Option<Way>, Problem> {
    let accepts = |media: &str| {
        headers.get_all(ACCEPT).iter().any(|value| value.to_str().is_ok_and(|value| value.contains(media)))
    };
    Ok(match text {
        "sse" => Some(Way::Sse),
        "lines" => Some(Way::Lines),
        "poll" => Some(Way::Poll),
        "" | "true" if (accepts(LINES) || accepts("application/jsonl")) && !accepts(SSE) => Some(Way::Lines),
        "" | "true" => Some(Way::Sse),
        "false" => None,
        other => {
            let detail = format!("`watch` is `sse`, `lines` or `poll`, not `{other}`");
            return Err(Problem::bad_request(detail));
        }
    })
}

fn position(text: &str) -> Result<Position, Problem> {
    Position::parse(text)
        .ok_or_else(|| Problem::bad_request(format!("`{text}` is not a position in the feed of this server")))
}

fn wait(text: &str) -> Result<Duration, Problem> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().map(Duration::from_secs);
    let wait = seconds.map_err(|_| Problem::bad_request(format!("`wait` is seconds, not `{text}`")))?;
    Ok(wait.min(LONGEST_WAIT))
}

/// An event as it is sent.
fn shown(event: &Event, follower: &Follower) -> Value {
    let segment = event.key.segment();
    let id = match segment.parse::<u64>() {
        Ok(id) if !event.natural => id.into(),
        _ => Value::String(segment),
    };
    json!({
        "event": event.what.word(),
        "path": event.key.as_str(),
        "collection": event.key.parent().as_str(),
        "id": id,
        "revision": event.revision,
        "position": follower.feed_position(event).to_string(),
    })
}

/// A stream of the feed, piece by piece.
pub struct Following {
    follower: Follower,
    way: Way,
    /// When to say next that it is alive.
    beat: Instant,
    begun: bool,
    ended: bool,
}

impl Following {
    fn new(follower: Follower, way: Way) -> Following {
        Following { follower, way, beat: Instant::now() + HEARTBEAT, begun: false, ended: false }
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if !self.begun {
            self.begun = true;
            return Some(self.alive());
        }
        let beat = self.beat;
        let next = tokio::select! {
            next = self.follower.next(MOST) => Some(next),
            () = sleep_until(beat) => None,
        };
        self.beat = Instant::now() + HEARTBEAT;
        match next {
            None => Some(self.alive()),
            Some(Next::Events(events)) => Some(events.iter().flat_map(|event| self.piece(event)).collect()),
            Some(Next::Behind) => {
                self.ended = true;
                Some(self.behind())
            }
            Some(Next::Closed) => {
                self.ended = true;
                None
            }
        }
    }

    fn piece(&self, event: &Event) -> Vec<u8> {
        let data = shown(event, &self.follower);
        match self.way {
            Way::Sse => {
                let id = self.follower.feed_position(event);
                format!("id: {id}\nevent: {}\ndata: {data}\n\n", event.what.word()).into_bytes()
            }
            Way::Lines | Way::Poll => format!("{data}\n").into_bytes(),
        }
    }

    /// Where it stands, in a form that is no event: a comment and an id alone, or a bookmark.
    fn alive(&self) -> Bytes {
        let position = self.follower.position();
        match self.way {
            Way::Sse => format!(": alive\nid: {position}\n\n").into(),
            Way::Lines | Way::Poll => {
                format!("{}\n", json!({"event": "bookmark", "position": position.to_string()})).into()
            }
        }
    }

    fn behind(&self) -> Bytes {
        let data = json!({"event": "behind", "detail": "too far behind: list, and follow anew"});
        match self.way {
            Way::Sse => format!("event: behind\ndata: {data}\n\n").into(),
            Way::Lines | Way::Poll => format!("{data}\n").into(),
        }
    }
}
