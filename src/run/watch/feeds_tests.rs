//! Feeds followed, over a transport that the test holds both ends of, in virtual time.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::super::desired::Source;
use super::super::observers::{Hinted, hints};
use super::*;
use crate::api::client::Options;
use crate::api::transport::{Begun, Transport, TransportError};
use crate::backend::connection::{Address, Connection as Backend, Limits, Tls};
use crate::backend::wire::{HttpAnswer, HttpRequest};

const FILES: &str = "
apiVersion: trueup/v1
kind: Backend
metadata: {name: demo}
spec:
  url: http://127.0.0.1:1
  kinds:
    Team:
      key: {name: .name}
      list: GET /teams
      read: GET /teams/{name}
      create: PUT /teams/{name}
      watch: {request: GET /events, by: sse, key: .name, replay: REPLAY}
---
{apiVersion: demo, kind: Team, metadata: {name: a}, spec: {}}
---
{apiVersion: demo, kind: Team, metadata: {name: b}, spec: {}}
";

/// A connection that was asked for: where it is to go on, and the way to say something in it.
struct Asked {
    seen: Option<String>,
    pieces: UnboundedSender<Bytes>,
}

/// Gives each connection to the test.
struct Wire(UnboundedSender<Asked>, AtomicUsize);

impl Transport for Wire {
    fn send<'a>(&'a self, _: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        panic!("a feed is opened, not sent")
    }

    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let (pieces, said) = unbounded_channel::<Bytes>();
        let seen = request.headers.iter().find(|(name, _)| name == "last-event-id");
        let asked = Asked { seen: seen.map(|(_, value)| value.clone()), pieces };
        self.0.send(asked).unwrap_or_else(|_| panic!("the test is over"));
        let said =
            stream::unfold(said, |mut said| async { said.recv().await.map(|piece| (Ok(piece), said)) });
        let head = HttpAnswer { status: 200, headers: Vec::new(), body: Vec::new() };
        Box::pin(std::future::ready(Ok(Begun { head, pieces: said.boxed() })))
    }
}

type Said = Arc<Mutex<Vec<Alive>>>;

struct Rig {
    asked: UnboundedReceiver<Asked>,
    hinted: Hinted,
    said: Said,
    wire: Arc<Wire>,
    task: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Rig {
    fn new(replay: bool) -> Rig {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.yaml");
        std::fs::write(&file, FILES.replace("REPLAY", &replay.to_string())).expect("a file");
        let source = Source { files: vec![file], ..Source::default() };
        let desired = Arc::new(source.load(false).read.expect("a valid set").desired);
        let (sender, asked) = unbounded_channel();
        let wire = Arc::new(Wire(sender, AtomicUsize::new(0)));
        let backend = Backend {
            owner: "me".into(),
            name: "demo".into(),
            address: Address::Http("http://127.0.0.1:1".into()),
            auth: None,
            tls: Tls::default(),
            headers: Vec::new(),
            limits: Limits::default(),
        };
        let client = Client::read_only(&backend, Options::default(), wire.clone()).expect("a client");
        let (hints, hinted) = hints();
        let said = Said::default();
        let kept = said.clone();
        let standing =
            Arc::new(Standing::new(Arc::new(move |_, alive| kept.lock().expect("no panic").push(alive))));
        let all = places(&desired);
        standing.wanted(groups(&all));
        let ((name, scope), of) = all.into_iter().next().expect("one feed");
        let follower = Follower {
            client: Arc::new(client),
            kind: desired.kinds.get(&name).expect("the kind").clone(),
            collection: Collection { kind: name, scope, parent_ids: ParentIds::default() },
            ground: Arc::new(Mutex::new(Ground { desired, groups: of, ended: false })),
            hints,
            standing,
            told: Alive::No,
            failing: false,
        };
        let task = tokio::spawn(follower.run());
        Rig { asked, hinted, said, wire, task, _folder: folder }
    }

    async fn connected(&mut self) -> Asked {
        self.asked.recv().await.expect("a connection")
    }

    async fn hints(&mut self) -> Vec<About> {
        let hints = self.hinted.next().await;
        assert!(hints.iter().all(|hint| hint.origin == Origin::Feed && hint.observed.is_none()));
        hints.into_iter().map(|hint| hint.about).collect()
    }

    fn said(&self) -> Vec<Alive> {
        std::mem::take(&mut *self.said.lock().expect("no panic"))
    }
}

fn team(name: &str) -> About {
    let kind = crate::core::identity::KindName { backend: "demo".into(), kind: "Team".into() };
    let key = crate::core::identity::Key::new(vec![("name".into(), name.into())]);
    About::Object(ObjectId { kind, key })
}

fn everything() -> Vec<About> {
    vec![About::Group("demo/Team".into())]
}

fn say(connection: &Asked, text: &str) {
    connection.pieces.send(Bytes::from(text.to_owned())).expect("it is open");
}

#[tokio::test(start_paused = true)]
async fn an_event_is_a_hint_at_what_a_document_names() {
    let mut rig = Rig::new(false);
    let connection = rig.connected().await;
    assert_eq!(rig.hints().await, everything(), "what was missed is looked at");
    say(&connection, "id: 1\ndata: {\"name\": \"stranger\"}\n\ndata: {\"name\": \"b\"}\n\n");
    assert_eq!(rig.hints().await, [team("b")]);
    assert_eq!(rig.said(), [Alive::Lossy]);
    drop(connection);
    let connection = rig.connected().await;
    assert_eq!(connection.seen.as_deref(), Some("1"));
    assert_eq!(rig.hints().await, everything());
    assert_eq!(rig.said(), [Alive::No, Alive::Lossy]);
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_promises_replay_goes_on_where_it_was() {
    let mut rig = Rig::new(true);
    let connection = rig.connected().await;
    assert_eq!(rig.hints().await, everything());
    say(&connection, "id: 1\ndata: {\"name\": \"a\"}\n\n");
    assert_eq!(rig.hints().await, [team("a")]);
    drop(connection);
    let connection = rig.connected().await;
    assert_eq!(connection.seen.as_deref(), Some("1"));
    say(&connection, "id: 2\ndata: {\"name\": \"b\"}\n\n");
    assert_eq!(rig.hints().await, [team("b")], "and nothing else");
    assert_eq!(rig.said(), [Alive::Replays, Alive::No, Alive::Replays]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_left_within_a_minute() {
    let mut rig = Rig::new(false);
    let connection = rig.connected().await;
    assert_eq!(rig.hints().await, everything());
    for _ in 0..4 {
        sleep(Duration::from_secs(50)).await;
        say(&connection, ": alive\n\n");
    }
    assert!(rig.asked.try_recv().is_err(), "it is alive");
    let before = Instant::now();
    let _second = rig.connected().await;
    assert!(before.elapsed() <= Duration::from_secs(60), "{:?}", before.elapsed());
    assert!(connection.pieces.is_closed(), "the silent one is closed");
    assert_eq!(rig.hints().await, everything());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_at_once_is_not_hammered() {
    let mut rig = Rig::new(false);
    let end = Instant::now() + Duration::from_secs(600);
    while let Ok(Some(connection)) = tokio::time::timeout_at(end, rig.asked.recv()).await {
        drop(connection);
    }
    let connections = rig.wire.1.load(Ordering::Relaxed);
    assert!((8..=26).contains(&connections), "{connections} in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_one_wish_to_look_at_everything() {
    let mut rig = Rig::new(false);
    let connection = rig.connected().await;
    rig.hints().await;
    for _ in 0..3000 {
        say(&connection, "data: {\"name\": \"a\"}\n\n");
    }
    sleep(Duration::from_secs(1)).await;
    let all: Vec<About> = rig.hinted.next().await.into_iter().map(|hint| hint.about).collect();
    assert_eq!(all, [About::All]);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_is_not_to_be_asked_is_not_asked() {
    let mut rig = Rig::new(false);
    let connection = rig.connected().await;
    rig.hints().await;
    sleep(Duration::from_secs(5)).await;
    rig.hinted.hold(["demo".into()].into());
    drop(connection);
    assert!(timeout(Duration::from_secs(300), rig.asked.recv()).await.is_err(), "its breaker is open");
    rig.hinted.hold(BTreeSet::new());
    assert!(timeout(Duration::from_secs(2), rig.asked.recv()).await.is_ok());
}
