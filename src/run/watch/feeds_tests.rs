//! Feeds followed, over a transport that the test holds both ends of, in virtual time.

use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};

use super::super::desired::Source;
use super::super::observers::{Hinted, hints};
use super::super::polling::{Pace, Polling};
use super::*;
use crate::api::client::{Options, ReadOnly};
use crate::api::transport::{Begun, Transport, TransportError};
use crate::backend::connection::{Address, Connection as Backend, Limits, Tls};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::exchange::Wanted;
use crate::core::mutant::{Mutant, plant};

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
      watch: {request: GET /events, by: sse, key: .name, gone: .gone == true, replay: REPLAY}
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
    board: Board,
    wire: Arc<Wire>,
    task: JoinHandle<()>,
    _folder: tempfile::TempDir,
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The desired set, with its folder.
fn desired(replay: bool) -> (Arc<Desired>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a.yaml");
    std::fs::write(&file, FILES.replace("REPLAY", &replay.to_string())).expect("a file");
    let source = Source { files: vec![file], ..Source::default() };
    (Arc::new(source.load_once().read.expect("a valid set").desired), folder)
}

fn client(transport: Arc<dyn Transport>) -> Arc<Client<ReadOnly>> {
    let backend = Backend {
        owner: "me".into(),
        name: "demo".into(),
        address: Address::Http("http://127.0.0.1:1".into()),
        auth: None,
        tls: Tls::default(),
        headers: Vec::new(),
        limits: Limits::default(),
    };
    Arc::new(Client::read_only(&backend, Options::default(), transport).expect("a client"))
}

/// The one feed that there is.
fn follower(
    client: Arc<Client<ReadOnly>>,
    desired: &Arc<Desired>,
    hints: Hints,
    backoffs: Backoffs,
    standing: Arc<Standing>,
) -> Follower {
    let all = places(desired);
    standing.wanted(groups(&all));
    let ((name, scope), of) = all.into_iter().next().expect("one feed");
    let board = Board::new(Instant::now());
    board.begins(&(name.clone(), scope.clone()));
    Follower {
        client,
        kind: desired.kinds.get(&name).expect("the kind").clone(),
        collection: Collection { kind: name, scope, parent_ids: ParentIds::default() },
        ground: Arc::new(Mutex::new(Ground { desired: desired.clone(), groups: of, ended: false })),
        hints,
        board,
        backoffs,
        standing,
        told: Alive::No,
        heard: false,
    }
}

impl Rig {
    fn new(replay: bool) -> Rig {
        let (desired, folder) = desired(replay);
        let (sender, asked) = unbounded_channel();
        let wire = Arc::new(Wire(sender, AtomicUsize::new(0)));
        let client = client(wire.clone());
        let (hints, hinted) = hints();
        let said = Said::default();
        let kept = said.clone();
        let standing =
            Arc::new(Standing::new(Arc::new(move |_, alive| kept.lock().expect("no panic").push(alive))));
        let follower = follower(client, &desired, hints, Backoffs::default(), standing);
        let board = follower.board.clone();
        let task = tokio::spawn(follower.run());
        Rig { asked, hinted, said, board, wire, task, _folder: folder }
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

/// Fails whatever is asked, and keeps when that was and whether it was for the feed.
#[derive(Default)]
struct Broken(Mutex<Vec<(Instant, bool)>>);

impl Broken {
    fn asked(&self, feed: bool) -> HttpAnswer {
        self.0.lock().expect("no panic").push((Instant::now(), feed));
        HttpAnswer { status: 503, headers: Vec::new(), body: Vec::new() }
    }
}

impl Transport for Broken {
    fn send<'a>(&'a self, _: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(std::future::ready(Ok(self.asked(false))))
    }

    fn open<'a>(&'a self, _: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        let begun = Begun { head: self.asked(true), pieces: stream::empty().boxed() };
        Box::pin(std::future::ready(Ok(begun)))
    }
}

/// What the log would be told, each line with its group.
fn lines(board: &Board) -> Vec<String> {
    let line = |event: crate::render::watch::log::Event| {
        let field = |name| event.fields.iter().find(|(have, _)| *have == name).map(|(_, value)| value);
        assert_eq!(field("group").and_then(|group| group.as_str()), Some("demo/Team"));
        event.message.to_owned()
    };
    board.lines().into_iter().map(line).collect()
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_is_down_is_shown_and_told_once() {
    let (desired, _folder) = desired(true);
    let (hints, _hinted) = hints();
    let standing = Arc::new(Standing::new(Arc::new(|_, _| {})));
    let client = client(Arc::new(Broken::default()));
    let follower = follower(client, &desired, hints, Backoffs::default(), standing);
    let board = follower.board.clone();
    assert_eq!(board.shown().all[0].message, None, "it has not been asked for");
    let task = tokio::spawn(follower.run());
    sleep(Duration::from_secs(600)).await;
    let shown = board.shown();
    let feed = &shown.all[0];
    assert!(!feed.up && feed.message.as_ref().is_some_and(|why| why.contains("503")), "{feed:?}");
    assert!(feed.next > Some(Duration::from_secs(600)), "{feed:?}");
    assert!(feed.since < Duration::from_secs(1), "{feed:?}");
    assert_eq!(lines(&board), ["change feed is down: its objects are polled"]);
    task.abort();
}

#[tokio::test(start_paused = true)]
async fn a_feed_that_is_open_is_shown_and_its_events_are_counted() {
    let mut rig = Rig::new(true);
    let connection = rig.connected().await;
    rig.hints().await;
    say(&connection, "data: {\"name\": \"a\"}\n\ndata: {\"other\": 1}\n\n");
    rig.hints().await;
    let shown = rig.board.shown();
    assert!(shown.all[0].up && shown.all[0].next.is_none(), "{shown:?}");
    assert_eq!((shown.events, shown.ignored), (2, 1));
    assert_eq!(lines(&rig.board), ["change feed has events that were passed over"]);
    // An end that was to be expected is not told, and one before anything was said is: once.
    drop(connection);
    drop(rig.connected().await);
    drop(rig.connected().await);
    let connection = rig.connected().await;
    assert_eq!(lines(&rig.board), ["change feed is down: its objects are polled"]);
    say(&connection, "id: 7\ndata: {\"name\": \"a\"}\n\n");
    sleep(Duration::from_millis(10)).await;
    assert!(rig.board.shown().all[0].up);
    assert_eq!(lines(&rig.board), [""; 0], "it may end at once");
    sleep(Duration::from_secs(10)).await;
    assert_eq!(lines(&rig.board), ["change feed is open again"]);
    assert_eq!(lines(&rig.board), [""; 0], "once");
}

/// A server whose history is gone whenever it is asked: shown as down, told once, and asked less and less.
#[tokio::test(start_paused = true)]
async fn a_feed_that_is_gone_after_each_connect_is_down() {
    let mut rig = Rig::new(true);
    let (began, mut connections, mut told) = (Instant::now(), 0, Vec::new());
    while began.elapsed() < Duration::from_secs(600) {
        let connection = rig.connected().await;
        connections += 1;
        say(&connection, "id: 7\ndata: {\"name\": \"b\"}\n\n");
        sleep(Duration::from_millis(1500)).await;
        say(&connection, "id: 8\ndata: {\"gone\": true}\n\n");
        sleep(Duration::from_millis(100)).await;
        let shown = rig.board.shown();
        let feed = &shown.all[0];
        assert!(!feed.up && feed.next > Some(began.elapsed()), "{feed:?}");
        assert_eq!(feed.message.as_deref(), Some("the change feed of `Team`: its history is gone"));
        told.extend(lines(&rig.board));
    }
    assert!(connections <= 25, "{connections} in ten minutes");
    assert_eq!(told, ["change feed is down: its objects are polled"]);
}

/// Twenty minutes of a feed and of polls beside it, while the server fails: how long it was left alone before each
/// request after the first two minutes, and how many of these were for the feed.
async fn rhythm() -> (Vec<Duration>, usize) {
    let broken = Arc::new(Broken::default());
    let (desired, _folder) = desired(true);
    let client = client(broken.clone());
    let (hints, _hinted) = hints();
    let backoffs = Backoffs::default();
    let pace = Pace { interval: Some(Duration::from_secs(1)), seed: 1 };
    let polling = Polling::start(pace, hints.clone(), backoffs.clone(), Board::new(Instant::now()));
    polling.want(desired.clone(), client.clone());
    let standing = Arc::new(Standing::new(Arc::new(|_, _| {})));
    let follower = follower(client, &desired, hints, backoffs, standing);
    polling.asked(&Ask::List(follower.collection.clone(), Wanted::All));
    let (began, task) = (Instant::now(), tokio::spawn(follower.run()));
    sleep(Duration::from_secs(20 * 60)).await;
    task.abort();
    let asked = broken.0.lock().expect("no panic").clone();
    let late = |at: &Instant| at.duration_since(began) > Duration::from_secs(120);
    let waits = asked.windows(2).filter(|pair| late(&pair[0].0)).map(|pair| pair[1].0 - pair[0].0).collect();
    (waits, asked.iter().filter(|(at, feed)| late(at) && *feed).count())
}

/// The law: nobody asks within half a minute of anybody.
fn is_one_rhythm(waits: &[Duration]) -> bool {
    waits.iter().all(|wait| *wait >= Duration::from_secs(30))
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_sees_one_rhythm_of_feed_and_polls() {
    let (waits, of_feed) = rhythm().await;
    assert!(is_one_rhythm(&waits), "{waits:?}");
    assert!((15..=36).contains(&waits.len()), "{waits:?}");
    assert!(of_feed >= 5 && of_feed + 5 <= waits.len(), "both ask: {of_feed} of {}", waits.len());
}

#[tokio::test(start_paused = true)]
async fn two_rhythms_in_turn_are_found() {
    let _planted = plant(Mutant::M23);
    assert!(!is_one_rhythm(&rhythm().await.0));
}
