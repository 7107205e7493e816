//! A server of JSON objects at paths, with versions, a feed by long polls, and whatever a test wants it to do besides.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::servers::{Raw, Say, Seen};

/// What is on the server.
#[derive(Default)]
pub struct State {
    pub items: BTreeMap<String, Value>,
    /// Of each object, how often it was written.
    pub versions: BTreeMap<String, u64>,
    /// Paths that somebody touched.
    events: Vec<String>,
    /// Answers, by their status lines, that come before anything is done: to requests of such lines.
    pub refusals: Vec<(String, &'static str)>,
    /// What somebody else does just before the next write of an object.
    pub meanwhile: Option<(String, Value)>,
}

/// The server, and a hand on what is on it.
pub struct Shelf {
    pub server: Raw,
    inner: Arc<(Mutex<State>, Condvar)>,
}

impl Shelf {
    pub fn new() -> Shelf {
        let inner: Arc<(Mutex<State>, Condvar)> = Arc::default();
        let behind = inner.clone();
        Shelf { server: Raw::new(move |seen| answer(&behind, seen)), inner }
    }

    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.inner.0.lock().expect("no test panics with it"))
    }

    /// What stands at a path; null where nothing does.
    pub fn get(&self, path: &str) -> Value {
        self.with(|state| state.items.get(path).cloned().unwrap_or_default())
    }

    /// Somebody else puts this there.
    pub fn put(&self, path: &str, item: Value) {
        self.with(|state| state.put(path, item));
        self.inner.1.notify_all();
    }

    /// Somebody else deletes it, with what is below it: the feed tells of the object alone.
    pub fn delete(&self, path: &str) {
        self.with(|state| state.delete(path));
        self.inner.1.notify_all();
    }

    pub fn count(&self, line: &str) -> usize {
        self.server.lines().iter().filter(|seen| *seen == line).count()
    }

    /// The accepted and the refused writes.
    pub fn writes(&self) -> Vec<Seen> {
        self.server.seen().into_iter().filter(|seen| !seen.line.starts_with("GET ")).collect()
    }
}

impl State {
    fn put(&mut self, path: &str, item: Value) {
        self.items.insert(path.to_owned(), item);
        *self.versions.entry(path.to_owned()).or_default() += 1;
        self.events.push(path.to_owned());
    }

    fn delete(&mut self, path: &str) {
        let below = format!("{path}/");
        self.items.retain(|other, _| other != path && !other.starts_with(&below));
        self.events.push(path.to_owned());
    }

    fn tag(&self, path: &str) -> String {
        format!("\"{}\"", self.versions.get(path).copied().unwrap_or_default())
    }

    /// Nothing is below what is not there.
    fn has_place(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        parts.len() < 4 || self.items.contains_key(&parts[..3].join("/"))
    }
}

fn answer(inner: &(Mutex<State>, Condvar), seen: &Seen) -> Say {
    let (method, path) = seen.line.split_once(' ').expect("a request line");
    if let Some(position) = path.strip_prefix("/feed") {
        return events(inner, position);
    }
    let mut state = inner.0.lock().expect("no test panics with it");
    if let Some(at) = state.refusals.iter().position(|(line, _)| *line == seen.line) {
        let (_, status) = state.refusals.remove(at);
        return Say::answer(status, "", "");
    }
    let missing = || Say::answer("404 Not Found", "", "");
    if !state.has_place(path) {
        return missing();
    }
    if method != "GET"
        && let Some((_, item)) = state.meanwhile.take_if(|(at, _)| at == path)
    {
        state.put(path, item);
    }
    let stale = seen.header("if-match").is_some_and(|tag| tag != state.tag(path));
    match method {
        "GET" if path.split('/').count() % 2 == 0 => {
            let below = format!("{path}/");
            let is_one = |at: &&String| at.strip_prefix(&below).is_some_and(|rest| !rest.contains('/'));
            let items: Vec<&Value> =
                state.items.iter().filter(|(at, _)| is_one(at)).map(|(_, item)| item).collect();
            Say::json(&json!({ "items": items }).to_string())
        }
        "GET" => match state.items.get(path) {
            Some(item) => {
                let head = format!("content-type: application/json\r\netag: {}\r\n", state.tag(path));
                Say::answer("200 OK", &head, &item.to_string())
            }
            None => missing(),
        },
        _ if stale => Say::answer("412 Precondition Failed", "", ""),
        "PUT" => {
            let item: Value = serde_json::from_str(&seen.body).expect("it sends JSON");
            state.put(path, item);
            inner.1.notify_all();
            Say::json(&seen.body)
        }
        _ => Say::answer("405 Method Not Allowed", "", ""),
    }
}

/// A long poll: all paths that were touched after a position.
fn events(inner: &(Mutex<State>, Condvar), query: &str) -> Say {
    let position = query.rsplit('=').next().and_then(|text| text.parse::<usize>().ok());
    let state = inner.0.lock().expect("no test panics with it");
    let from = position.unwrap_or(state.events.len());
    let waits = |state: &mut State| state.events.len() <= from;
    let (state, _) =
        inner.1.wait_timeout_while(state, Duration::from_secs(2), waits).expect("no test panics with it");
    let news: Vec<Value> = state.events.iter().skip(from).map(|path| json!({ "path": path })).collect();
    Say::json(&json!({ "events": news, "position": state.events.len() }).to_string())
}
