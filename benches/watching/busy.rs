//! A server on which very much happens: its change feed tells of so many events each second, most of them of objects
//! that are as they were. It has no store and no log, so that it keeps up with itself.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::support::objects::{PAGE, body, name};

/// How often a piece of the feed is sent.
const PIECE: Duration = Duration::from_millis(10);

/// The server; it ends with the value.
pub struct Busy {
    pub port: u16,
    pub shared: Arc<Shared>,
    _runtime: Runtime,
}

/// What the connections of the server have in common.
pub struct Shared {
    widgets: Mutex<BTreeMap<String, Value>>,
    /// Names whose change was not told yet.
    changed: Mutex<Vec<String>>,
    revision: AtomicU64,
    /// Events each second, while it is busy.
    rate: usize,
    /// The first so many objects have events.
    among: AtomicU64,
    busy: AtomicBool,
    pub told: AtomicU64,
    pub requests: AtomicU64,
    pub writes: AtomicU64,
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

impl Busy {
    /// Begins with all objects as their documents say.
    pub fn start(objects: usize, rate: usize) -> Busy {
        let runtime = Runtime::new().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let widgets = (0..objects).map(|i| (name(i), with_id(body(i), &name(i), 0)));
        let shared = Arc::new(Shared {
            widgets: Mutex::new(widgets.collect()),
            changed: Mutex::default(),
            revision: AtomicU64::new(1),
            rate,
            among: AtomicU64::new(1),
            busy: AtomicBool::new(false),
            told: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            writes: AtomicU64::new(0),
        });
        let serving = shared.clone();
        runtime.spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let shared = serving.clone();
                let answer = service_fn(move |request| answer(shared.clone(), request));
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(socket), answer));
            }
        });
        Busy { port, shared, _runtime: runtime }
    }
}

impl Shared {
    /// From now on there are events, spread over the first so many objects.
    pub fn flood(&self, among: usize) {
        self.among.store(among as u64, Ordering::Relaxed);
        self.busy.store(true, Ordering::Relaxed);
    }

    pub fn calm(&self) {
        self.busy.store(false, Ordering::Relaxed);
    }

    /// Somebody changes a declared field; the feed tells of it once.
    pub fn disturb(&self, i: usize) {
        let mut widgets = self.widgets.lock().expect("nobody panicked");
        let widget = widgets.get_mut(&name(i)).expect("it is there");
        widget["replicas"] = 1_000.into();
        widget["revision"] = self.revision.fetch_add(1, Ordering::Relaxed).into();
        self.changed.lock().expect("nobody panicked").push(name(i));
    }

    /// Whether an object is as its document says.
    pub fn is_level(&self, i: usize) -> bool {
        self.widgets.lock().expect("nobody panicked")[&name(i)]["replicas"] == body(i)["replicas"]
    }

    /// What is said of the next moment.
    fn piece(&self, at: &mut u64) -> String {
        let mut names = std::mem::take(&mut *self.changed.lock().expect("nobody panicked"));
        if self.busy.load(Ordering::Relaxed) {
            let among = self.among.load(Ordering::Relaxed);
            let count = self.rate as u64 * PIECE.as_millis() as u64 / 1000;
            names.extend((0..count).map(|i| name(((*at + i) % among) as usize)));
            *at += count;
        }
        self.told.fetch_add(names.len() as u64, Ordering::Relaxed);
        let event = |(i, name): (usize, &String)| {
            format!("id: {}-{i}\nevent: updated\ndata: {{\"id\":\"{name}\"}}\n\n", *at)
        };
        names.iter().enumerate().map(event).collect()
    }

    fn page(&self, query: &str) -> Value {
        let after = query.split('&').find_map(|pair| pair.strip_prefix("cursor=")).unwrap_or_default();
        let widgets = self.widgets.lock().expect("nobody panicked");
        let from = widgets.range(after.to_owned()..).filter(|(name, _)| **name != after);
        let items: Vec<&Value> = from.take(PAGE).map(|(_, widget)| widget).collect();
        let next = items.last().filter(|_| items.len() == PAGE).map(|last| &last["id"]);
        json!({"items": items, "next": next})
    }

    fn write(&self, name: &str, sent: Value) -> Value {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let mut widgets = self.widgets.lock().expect("nobody panicked");
        let widget = widgets.entry(name.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        merge(widget, sent);
        *widget = with_id(widget.take(), name, self.revision.fetch_add(1, Ordering::Relaxed));
        self.changed.lock().expect("nobody panicked").push(name.to_owned());
        widget.clone()
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    shared.requests.fetch_add(1, Ordering::Relaxed);
    let (parts, sent) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default();
    if query.starts_with("watch") {
        return Ok(feed(shared));
    }
    let name = parts.uri.path().strip_prefix("/widgets").unwrap_or_default().trim_start_matches('/');
    let found = match parts.method {
        Method::GET if name.is_empty() => Some(shared.page(query)),
        Method::GET => shared.widgets.lock().expect("nobody panicked").get(name).cloned(),
        _ => {
            let sent = sent.collect().await.map(|all| all.to_bytes()).unwrap_or_default();
            Some(shared.write(name, serde_json::from_slice(&sent).unwrap_or_default()))
        }
    };
    let status = if found.is_some() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let text = found.unwrap_or_else(|| json!({"error": "there is none"})).to_string();
    let response = Response::builder().status(status).header("content-type", "application/json");
    Ok(response.body(Full::from(text).boxed_unsync()).expect("a response"))
}

/// The change feed, as server-sent events without an end.
fn feed(shared: Arc<Shared>) -> Response<Body> {
    let mut ticks = interval(PIECE);
    // What could not be sent in time is sent later: the rate holds on the whole.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let begin = (shared, ticks, 0, Some(": alive\nid: 0-0\n\n".to_owned()));
    let pieces = stream::unfold(begin, |(shared, mut ticks, mut at, first)| async move {
        let piece = match first {
            Some(first) => first,
            None => next(&shared, &mut ticks, &mut at).await,
        };
        Some((Ok(Frame::data(piece.into())), (shared, ticks, at, None)))
    });
    let response = Response::builder().header("content-type", "text/event-stream");
    response.body(BodyExt::boxed_unsync(StreamBody::new(pieces))).expect("a response")
}

async fn next(shared: &Shared, ticks: &mut Interval, at: &mut u64) -> String {
    loop {
        ticks.tick().await;
        let piece = shared.piece(at);
        if !piece.is_empty() {
            return piece;
        }
    }
}

/// RFC 7396, for maps: all that is sent here.
fn merge(into: &mut Value, sent: Value) {
    match (into.as_object_mut(), sent) {
        (Some(have), Value::Object(sent)) => {
            for (name, value) in sent {
                match value {
                    Value::Null => drop(have.remove(&name)),
                    value => merge(have.entry(name).or_insert(Value::Null), value),
                }
            }
        }
        (_, sent) => *into = sent,
    }
}

fn with_id(mut widget: Value, name: &str, revision: u64) -> Value {
    widget["id"] = name.into();
    widget["revision"] = revision.into();
    widget
}
