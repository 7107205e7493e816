//! Polling against the built-in server in process: what is hinted at, what is looked into, and what is sent.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;

use super::super::desired::Source;
use super::super::observers::{Hinted, Observer as _, hints};
use super::*;
use crate::api::client::{Client, Options, ReadOnly};
use crate::api::poll::Polled;
use crate::api::transport::{Transport, TransportError};
use crate::backend::connection::Connection;
use crate::backend::known::{Known, KnownObject};
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::exchange::{Body, Item, ParentIds, Wanted};
use crate::core::kind::Method;
use crate::core::value::Value;
use crate::core::watch::About;
use crate::run::embedded::InProcess;
use crate::server::{Server, Store};

const BACKEND: &str = r#"
apiVersion: trueup/v1
kind: Backend
metadata: {name: mq}
spec:
  url: http://127.0.0.1:1
  kinds:
    Queue:
      key: {name: .name}
      list: {request: GET /queues, items: .items, page: {by: cursor, next: .next, param: cursor, size-param: limit, size: 500}}
      read: GET /queues/{name}
      create: PUT /queues/{name}
      update: PUT /queues/{name}
      delete: DELETE /queues/{name}
    Limit:
      key: {name: .name}
      read: GET /limits/{name}
      create: PUT /limits/{name}
      update: PUT /limits/{name}
"#;

/// A server that counts, and that can be told to send no ETags or to fail.
struct World {
    server: InProcess,
    requests: AtomicUsize,
    unchanged: AtomicUsize,
    /// Requests for single objects.
    reads: AtomicUsize,
    tagless: AtomicBool,
    fails: AtomicBool,
}

impl Transport for World {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            self.requests.fetch_add(1, Ordering::SeqCst);
            self.reads.fetch_add(usize::from(request.role == Role::Read), Ordering::SeqCst);
            if self.fails.load(Ordering::SeqCst) {
                return Ok(HttpAnswer { status: 503, headers: Vec::new(), body: Vec::new() });
            }
            let mut answer = self.server.send(request).await?;
            self.unchanged.fetch_add(usize::from(answer.status == 304), Ordering::SeqCst);
            if self.tagless.load(Ordering::SeqCst) {
                answer.headers.retain(|(name, _)| name != "etag");
            }
            Ok(answer)
        })
    }
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            server: InProcess::Empty(Server::new(Store::in_memory())),
            requests: AtomicUsize::new(0),
            unchanged: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            tagless: AtomicBool::new(false),
            fails: AtomicBool::new(false),
        })
    }

    /// Somebody writes.
    async fn write(&self, method: Method, url: &str, body: Option<Value>) {
        let body = body.map(|body| body.to_string().into_bytes());
        let headers = vec![("content-type".into(), "application/json".into())];
        let request = HttpRequest { role: Role::Update, method, url: url.into(), headers, body };
        let status = self.server.send(&request).await.expect("it is in process").status;
        assert!((200..300).contains(&status), "{status}");
    }

    async fn put(&self, name: &str, durable: bool, messages: u32) {
        self.write(Method::Put, &format!("/queues/{name}"), Some(queue(name, durable, messages))).await;
    }

    /// The id that the server gave an object.
    async fn id_of(&self, url: &str) -> Option<Arc<str>> {
        let (role, method, headers) = (Role::Read, Method::Get, Vec::new());
        let request = HttpRequest { role, method, url: url.into(), headers, body: None };
        let answer = self.server.send(&request).await.expect("it is in process");
        let item: Value = serde_json::from_slice(&answer.body).expect("an item");
        item.get("id").map(|id| crate::core::value::plain_text(id).into())
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// About 600 bytes, most of which no document states.
fn queue(name: &str, durable: bool, messages: u32) -> Value {
    json!({"name": name, "durable": durable, "messages": messages, "note": "x".repeat(520)})
}

impl Polls for Client<ReadOnly> {
    fn poll<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        of: &'a Collection,
        known: &'a mut Known,
    ) -> BoxFuture<'a, Poll> {
        Box::pin(Client::poll(self, kind, of, known))
    }

    fn poll_object<'a>(
        &'a self,
        kind: &'a Arc<Kind>,
        target: &'a Target,
        known: &'a mut KnownObject,
    ) -> BoxFuture<'a, Poll> {
        Box::pin(Client::poll_object(self, kind, target, known))
    }
}

fn client(world: &Arc<World>, connections: &[Connection]) -> Arc<Client<ReadOnly>> {
    let client = Client::read_only(&connections[0], Options::default(), world.clone());
    Arc::new(client.expect("a client"))
}

/// A desired set of so many queues that are to be durable, and limits; and a client of a world.
fn scene(world: &Arc<World>, queues: usize, limits: usize) -> (Arc<Desired>, Arc<Client<ReadOnly>>) {
    let mut text = BACKEND.to_owned();
    let kinds = [("Queue", "q", queues), ("Limit", "l", limits)];
    for (kind, letter, count) in kinds {
        for at in 0..count {
            let name = format!("metadata: {{name: {letter}{at}}}");
            text.push_str(&format!("---\napiVersion: mq\nkind: {kind}\n{name}\nspec: {{durable: true}}\n"));
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("all.yaml");
    std::fs::write(&file, text).expect("a file");
    let loaded = Source { files: vec![file], ..Source::default() }.load_once();
    let read = match loaded.read {
        Ok(read) => read,
        Err(problems) => panic!("{}", problems.problems[0].message),
    };
    let client = client(world, &read.connections);
    (Arc::new(read.desired), client)
}

fn kind_name(kind: &str) -> KindName {
    KindName { backend: "mq".into(), kind: kind.into() }
}

fn queues() -> Collection {
    Collection { kind: kind_name("Queue"), scope: Key::new(Vec::new()), parent_ids: ParentIds::default() }
}

fn id(kind: &str, name: &str) -> ObjectId {
    ObjectId { kind: kind_name(kind), key: Key::new(vec![("name".into(), name.into())]) }
}

/// Polls once, and gives the names that it tells.
async fn poll_once(client: &Client<ReadOnly>, index: &Index, known: &mut Known) -> Vec<String> {
    let kind = index.kind(&kind_name("Queue")).expect("a kind").clone();
    match client.poll(&kind, &queues(), known).await.polled {
        Polled::Same => Vec::new(),
        Polled::Changed(changes) => changes.keys.iter().map(|(key, _)| key.to_string()).collect(),
        Polled::Partly(_, failure) | Polled::Failed(failure) => panic!("{}", failure.message),
    }
}

#[tokio::test]
async fn of_ten_thousand_only_the_one_that_changed_is_looked_into() {
    let world = World::new();
    for at in 0..10_000 {
        world.put(&format!("q{at}"), true, 0).await;
    }
    let (desired, client) = scene(&world, 10_000, 0);
    let index = Index::new(desired);
    for tagless in [false, true] {
        world.tagless.store(tagless, Ordering::SeqCst);
        let mut known = Known::new(Arc::new(index.of(&queues())));
        assert_eq!(poll_once(&client, &index, &mut known).await, [""; 0]);
        assert_eq!(known.parsed(), 10_000);
        let (before, unchanged) = (world.requests(), world.unchanged.load(Ordering::SeqCst));
        assert_eq!(poll_once(&client, &index, &mut known).await, [""; 0]);
        assert_eq!(world.requests() - before, 20);
        let unchanged = world.unchanged.load(Ordering::SeqCst) - unchanged;
        assert_eq!(unchanged, if tagless { 0 } else { 20 }, "without a tag there is no 304");
        assert_eq!(known.parsed(), 10_000);

        world.put("q7000", false, 0).await;
        assert_eq!(poll_once(&client, &index, &mut known).await, ["q7000"]);
        world.put("q7000", true, 0).await;
        assert_eq!(poll_once(&client, &index, &mut known).await, ["q7000"]);
        world.put("q7000", true, 99).await;
        assert_eq!(poll_once(&client, &index, &mut known).await, [""; 0], "nobody states the messages");
        assert_eq!(known.parsed(), 10_003);
        world.write(Method::Delete, "/queues/q1", None).await;
        assert_eq!(poll_once(&client, &index, &mut known).await, ["q1"]);
        assert_eq!(known.parsed(), 10_003, "those on other pages by now are known");
        world.put("q1", true, 0).await;
        assert_eq!(poll_once(&client, &index, &mut known).await, ["q1"]);
    }
}

/// Polling every few milliseconds, and what it hints at.
fn polling(desired: &Arc<Desired>, client: Arc<Client<ReadOnly>>) -> (Polling, Hinted) {
    let (hints, hinted) = hints();
    let pace = Pace { interval: Some(Duration::from_millis(20)), seed: 1 };
    let polling = Polling::start(pace, hints, Backoffs::default(), Board::new(Instant::now()));
    polling.want(desired.clone(), client);
    (polling, hinted)
}

async fn next(hinted: &mut Hinted) -> Vec<About> {
    let hints = tokio::time::timeout(Duration::from_secs(20), hinted.next()).await.expect("a hint comes");
    hints.into_iter().map(|hint| hint.about).collect()
}

/// Waits until the server was asked so many times more.
async fn asked(world: &World, times: usize) {
    let until = world.requests() + times;
    let enough = async {
        while world.requests() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), enough).await.expect("it is asked");
}

fn list() -> Ask {
    Ask::List(queues(), Wanted::All)
}

#[tokio::test]
async fn what_a_pass_lists_is_polled_from_then_on() {
    let world = World::new();
    world.put("q0", true, 0).await;
    world.put("q1", true, 0).await;
    let (desired, client) = scene(&world, 2, 1);
    let (polling, mut hinted) = polling(&desired, client);
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(world.requests(), 0, "nothing was asked for");
    polling.asked(&list());
    polling.asked(&Ask::Read(Target::new(id("Queue", "q0"))));
    polling.asked(&Ask::Read(Target::new(id("Queue", "stranger"))));
    asked(&world, 3).await;
    world.put("q1", false, 0).await;
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q1"))]);
    world.write(Method::Delete, "/queues/q0", None).await;
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q0"))]);
    assert_eq!(world.reads.load(Ordering::SeqCst), 0, "no object is read that a listing shows");
}

#[tokio::test]
async fn a_crowd_is_one_hint_and_none_where_all_is_well_by_now() {
    let world = World::new();
    const ALL: usize = 300;
    for at in 0..ALL {
        world.put(&format!("q{at}"), false, 0).await;
    }
    let (desired, client) = scene(&world, ALL, 0);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&list());
    let group = desired.subjects[0].group.clone();
    assert_eq!(next(&mut hinted).await, [About::Group(group)], "all of them are wrong");
    for at in 0..ALL - 1 {
        world.put(&format!("q{at}"), true, 0).await;
    }
    // What a poll sees while they are written are few, or all well; the last one is told for sure.
    asked(&world, 3).await;
    world.put("q0", false, 1).await;
    loop {
        let told = next(&mut hinted).await;
        assert!(told.iter().all(|about| matches!(about, About::Object(_))), "{told:?}");
        if told == [About::Object(id("Queue", "q0"))] && world.reads.load(Ordering::SeqCst) == 0 {
            break;
        }
    }
}

#[tokio::test]
async fn an_object_without_a_listing_is_polled_by_its_own_read() {
    let world = World::new();
    let (desired, client) = scene(&world, 1, 2);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&Ask::Read(Target::new(id("Limit", "l0"))));
    assert_eq!(next(&mut hinted).await, [About::Object(id("Limit", "l0"))], "it is not there");
    let body = json!({"name": "l0", "durable": true});
    world.write(Method::Put, "/limits/l0", Some(body)).await;
    assert_eq!(next(&mut hinted).await, [About::Object(id("Limit", "l0"))]);
    asked(&world, 3).await;
    assert!(world.unchanged.load(Ordering::SeqCst) > 0);
    polling.asked(&Ask::Read(Target::new(id("Queue", "q0"))));
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q0"))]);
    polling.asked(&list());
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q0"))], "once by the listing, too");
}

/// What a pass read after its write is what the next poll is held against, by a listing and by a read of its own.
#[tokio::test]
async fn what_was_made_anew_since_a_pass_wrote_it_is_told() {
    let world = World::new();
    world.put("q0", true, 0).await;
    let (desired, client) = scene(&world, 2, 1);
    let (polling, mut hinted) = polling(&desired, client);
    let read = |kind: &str, name: &str, server_id: Option<Arc<str>>| {
        let body = json!({"name": name, "durable": true});
        let write = Write::Update(Target::new(id(kind, name)), Body::Object(body.clone()));
        polling.writes(&write);
        let item = Item {
            key: id(kind, name).key,
            server_id,
            version: None,
            value: Arc::new(body),
            deleting: false,
            ready: None,
            ambiguous: Vec::new(),
        };
        polling.answered(&Ask::Read(Target::new(id(kind, name))), &Answer::Found(item));
        polling.wrote(&[id(kind, name)]);
    };
    polling.asked(&list());
    // The other is not there.
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q1"))]);
    read("Queue", "q0", world.id_of("/queues/q0").await);
    asked(&world, 3).await;
    read("Queue", "q0", Some("another".into()));
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q0"))], "and not for the first write");
    world.write(Method::Put, "/limits/l0", Some(json!({"name": "l0", "durable": true}))).await;
    polling.asked(&Ask::Read(Target::new(id("Limit", "l0"))));
    asked(&world, 6).await;
    read("Limit", "l0", Some("another".into()));
    assert_eq!(next(&mut hinted).await, [About::Object(id("Limit", "l0"))]);
}

#[tokio::test]
async fn a_feed_makes_it_rest_and_a_breaker_stops_it() {
    let world = World::new();
    world.put("q0", true, 0).await;
    let (desired, client) = scene(&world, 1, 0);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&list());
    asked(&world, 2).await;
    polling.feed("mq/Queue".into(), Feed::Replays);
    tokio::time::sleep(Duration::from_millis(60)).await;
    let before = world.requests();
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(world.requests(), before);
    polling.feed("mq/Queue".into(), Feed::None);
    asked(&world, 2).await;
    hinted.hold(BTreeSet::from(["mq".into()]));
    tokio::time::sleep(Duration::from_millis(60)).await;
    let before = world.requests();
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(world.requests(), before);
    hinted.hold(BTreeSet::new());
    world.put("q0", false, 0).await;
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q0"))]);
}

#[tokio::test]
async fn failures_are_waited_out_and_what_changed_meanwhile_is_told() {
    let world = World::new();
    world.put("q0", true, 0).await;
    let (desired, client) = scene(&world, 1, 0);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&list());
    asked(&world, 2).await;
    world.fails.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = world.requests();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(world.requests() - before <= 1, "the first wait is 800 ms");
    world.put("q0", false, 0).await;
    world.fails.store(false, Ordering::SeqCst);
    let again = About::Failing("mq/Queue".into());
    assert_eq!(next(&mut hinted).await, [again, About::Object(id("Queue", "q0"))]);
}

/// A server that is away is not passed over until the next resync: a pass looks, and tells.
#[tokio::test]
async fn failures_in_a_row_are_a_reason_to_look() {
    let world = World::new();
    world.put("q0", true, 0).await;
    let (desired, client) = scene(&world, 1, 0);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&list());
    asked(&world, 2).await;
    world.fails.store(true, Ordering::SeqCst);
    assert_eq!(next(&mut hinted).await, [About::Group("mq/Queue".into())]);
}

#[tokio::test]
async fn another_wish_is_what_is_looked_for() {
    let world = World::new();
    world.put("q0", true, 0).await;
    world.put("q1", false, 0).await;
    let (desired, client) = scene(&world, 1, 0);
    let (polling, mut hinted) = polling(&desired, client);
    polling.asked(&list());
    asked(&world, 3).await;
    let (more, client) = scene(&world, 2, 0);
    polling.want(more, client);
    assert_eq!(next(&mut hinted).await, [About::Object(id("Queue", "q1"))]);
    let (none, client) = scene(&world, 0, 1);
    polling.want(none, client);
    tokio::time::sleep(Duration::from_millis(60)).await;
    let before = world.requests();
    tokio::time::sleep(Duration::from_millis(120)).await;
    assert_eq!(world.requests(), before, "nobody wants a queue any more");
}
