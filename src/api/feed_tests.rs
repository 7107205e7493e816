//! Feeds against servers that say what a test wants said: over sockets, and without.

use std::sync::Mutex;

use futures_util::future::BoxFuture;
use futures_util::stream;

use super::super::client::{Client, Options, ReadOnly};
use super::super::testing::{RawServer, Reply, connection, http, list_ask, reader};
use super::super::transport::{Begun, Transport};
use super::*;
use crate::backend::connection::{Connection, Limits};
use crate::backend::language;
use crate::core::exchange::{Answer, ParentIds};
use crate::core::identity::Key;
use crate::core::watch::stream::Changed;

const SSE: &str = "{request: GET /events, by: sse, key: .name}";
const LINES: &str = "{request: 'GET /events?since={position}', by: lines, key: .name, position: .at}";
const POLL: &str =
    "{request: 'GET /events?since={position}', by: poll, items: .events, key: .name, position: .at}";
const KUBERNETES: &str = "{request: GET /things, by: kubernetes, key: .object.metadata.name}";

fn kind(watch: &str) -> Arc<Kind> {
    let record = format!("{{key: {{name: .name}}, list: GET /things, read: list, watch: {watch}}}");
    Arc::new(language::testing::kind(&record))
}

fn whole(kind: &Kind) -> Collection {
    Collection { kind: kind.name.clone(), scope: Key::new(Vec::new()), parent_ids: ParentIds::default() }
}

fn named(name: &str) -> Changed {
    Changed::Key(Key::new(vec![("name".into(), name.into())]))
}

async fn follow<M>(client: &Client<M>, watch: &str, position: Option<&str>) -> Result<Feed, Ended> {
    let kind = kind(watch);
    client.feed(&kind, &whole(&kind), position).await
}

/// All that a feed says until it ends.
async fn all(mut feed: Feed) -> (Vec<Changed>, Ended) {
    let mut changed = Vec::new();
    loop {
        match feed.next().await {
            Ok(batch) => changed.extend(batch.told.changed),
            Err(ended) => return (changed, ended),
        }
    }
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

#[tokio::test]
async fn events_come_while_the_stream_is_open() {
    let server = RawServer::start(|_, _| {
        let head = format!("{HEAD}transfer-encoding: chunked\r\n\r\n");
        Reply::Stall(format!("{head}1b\r\nid: 7\ndata: {{\"name\":\"x\"}}\n\n\r\n").into_bytes())
    })
    .await;
    let mut feed = follow(&reader(&connection(&server.url)), SSE, Some("6")).await.expect("a feed");
    let batch = feed.next().await.expect("an event");
    assert_eq!((batch.told.changed, batch.told.position.as_deref()), (vec![named("x")], Some("7")));
    let request = server.requests().remove(0).to_lowercase();
    for wanted in ["last-event-id: 6\r\n", "accept: text/event-stream\r\n", "accept-encoding: identity\r\n"] {
        assert!(request.contains(wanted), "{wanted} in {request}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_told_from_one_that_ends() {
    let event = "data: {\"name\":\"x\"}\n\n";
    for (length, end) in [(event.len(), End::Closed), (1000, End::Failed { after: None })] {
        let server = RawServer::start(move |_, _| {
            Reply::Bytes(format!("{HEAD}content-length: {length}\r\n\r\n{event}").into_bytes())
        })
        .await;
        let feed = follow(&reader(&connection(&server.url)), SSE, None).await.expect("a feed");
        let (changed, ended) = all(feed).await;
        assert_eq!((changed, &ended.end), (vec![named("x")], &end));
        let said = ended.failure.map(|failure| failure.message);
        assert_eq!(said.is_some_and(|said| said.contains("ended too early")), end != End::Closed);
    }
}

#[tokio::test]
async fn a_line_without_an_end_ends_the_feed_and_not_the_memory() {
    let server = RawServer::start(|_, _| {
        let head = format!("{HEAD}\r\ndata: ").into_bytes();
        Reply::Repeat(head, vec![b'x'; 64 * 1024], Duration::ZERO)
    })
    .await;
    let feed = follow(&reader(&connection(&server.url)), SSE, None).await.expect("a feed");
    let (changed, ended) = all(feed).await;
    assert_eq!((changed, ended.end), (vec![], End::Failed { after: None }));
    let said = ended.failure.expect("a reason").message;
    assert_eq!(said, "following Thing: a line or an event has more than 1048576 bytes");
}

#[tokio::test]
async fn each_refusal_has_its_end() {
    for (status, headers, position, end) in [
        ("410 Gone", vec![], Some("1"), End::Gone),
        ("410 Gone", vec![], None, End::Gone),
        ("404 Not Found", vec![], None, End::Unfit),
        ("404 Not Found", vec![], Some("1"), End::Gone),
        ("400 Bad Request", vec![], Some("1"), End::Gone),
        ("403 Forbidden", vec![], Some("1"), End::Unfit),
        ("405 Method Not Allowed", vec![], None, End::Unfit),
        (
            "429 Too Many Requests",
            vec![("retry-after", "7")],
            None,
            End::Failed { after: Some(Duration::from_secs(7)) },
        ),
        ("503 Service Unavailable", vec![], Some("1"), End::Failed { after: None }),
        ("200 OK", vec![("content-type", "text/html")], None, End::Unfit),
    ] {
        let server = RawServer::start(move |_, _| http(status, &headers, "{\"error\":\"why not\"}")).await;
        let client = reader(&connection(&server.url));
        let Err(ended) = follow(&client, SSE, position).await else { panic!("{status} is a feed") };
        assert_eq!(ended.end, end, "{status} {position:?}");
        let said = ended.failure.expect("a reason").message;
        assert!(said.starts_with("following Thing: "), "{said}");
        assert!(status.starts_with("200") || said.contains("why not"), "{said}");
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = RawServer::start(|_, _| Reply::Hang).await;
    let to = format!("{}/events", other.url);
    let server = RawServer::start(move |_, _| http("302 Found", &[("location", &*to)], "")).await;
    let Err(ended) = follow(&reader(&connection(&server.url)), SSE, None).await else { panic!("a feed") };
    assert_eq!(ended.end, End::Unfit);
    assert_eq!(other.requests(), [] as [&str; 0]);
    let server = RawServer::start(|request, _| match request.starts_with("GET /events ") {
        true => http("307 Temporary Redirect", &[("location", "/new")], ""),
        false => Reply::Stall(format!("{HEAD}\r\ndata: {{\"name\":\"x\"}}\n\n").into_bytes()),
    })
    .await;
    let mut feed = follow(&reader(&connection(&server.url)), SSE, None).await.expect("a feed");
    assert_eq!(feed.next().await.expect("an event").told.changed, [named("x")]);
}

#[tokio::test]
async fn an_open_feed_takes_no_place_among_the_requests() {
    let server = RawServer::start(|request, _| match request.starts_with("GET /events") {
        true => Reply::Stall(format!("{HEAD}\r\n").into_bytes()),
        false => http("200 OK", &[("content-type", "application/json")], "[]"),
    })
    .await;
    let one = Limits { concurrency: Some(1), ..Limits::default() };
    let client = reader(&Connection { limits: one, ..connection(&server.url) });
    let _feeds = [follow(&client, SSE, None).await.ok(), follow(&client, SSE, None).await.ok()];
    let answer = client.ask(&Arc::new(crate::backend::testing::kind()), &list_ask()).await;
    assert!(matches!(answer, Answer::Listed(_)), "{answer:?}");
    assert_eq!(client.requests().list, 3, "a feed counts as a listing");
}

/// A server without sockets: each answer is a status and a body, the last one again and again.
struct Script {
    answers: Mutex<Vec<(u16, &'static str)>>,
    asked: Mutex<Vec<String>>,
}

impl Script {
    fn client(answers: &[(u16, &'static str)]) -> (Arc<Script>, Client<ReadOnly>) {
        let script = Arc::new(Script { answers: Mutex::new(answers.to_vec()), asked: Mutex::default() });
        let client = Client::read_only(&connection("http://x"), Options::default(), script.clone());
        (script, client.expect("a client"))
    }

    fn answer(&self, request: &HttpRequest) -> HttpAnswer {
        self.asked.lock().expect("no panic").push(request.url.clone());
        let mut answers = self.answers.lock().expect("no panic");
        let (status, body) = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
        HttpAnswer { status, headers: Vec::new(), body: body.into() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

impl Transport for Script {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(std::future::ready(Ok(self.answer(request))))
    }

    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        let HttpAnswer { status, headers, body } = self.answer(request);
        let pieces: Vec<_> = body.chunks(5).map(|piece| Ok(piece.to_vec().into())).collect();
        let head = HttpAnswer { status, headers, body: Vec::new() };
        Box::pin(std::future::ready(Ok(Begun { head, pieces: stream::iter(pieces).boxed() })))
    }
}

#[tokio::test(start_paused = true)]
async fn polls_go_on_from_where_they_are_and_do_not_hammer() {
    let (script, client) = Script::client(&[
        (200, r#"{"events": [], "at": "1"}"#),
        (200, r#"{"events": [{"name": "x"}], "at": "2"}"#),
        (200, r#"{"events": [], "at": "2"}"#),
    ]);
    let mut feed = follow(&client, POLL, None).await.expect("a feed");
    assert_eq!(feed.next().await.expect("a position").told.position.as_deref(), Some("1"));
    assert_eq!(feed.next().await.expect("an event").told.changed, [named("x")]);
    let before = Instant::now();
    for _ in 0..60 {
        assert_eq!(feed.next().await.expect("nothing").told.changed, []);
    }
    assert!(before.elapsed() >= Duration::from_secs(55), "a server that does not hold polls back");
    assert_eq!(script.asked()[..3], ["/events", "/events?since=1", "/events?since=2"]);
}

#[tokio::test(start_paused = true)]
async fn a_poll_ends_with_what_the_server_says() {
    let events = (200, r#"{"events": [], "at": "1"}"#);
    for (bad, end) in [
        ((410, ""), End::Gone),
        ((500, ""), End::Failed { after: None }),
        ((200, "<html>"), End::Failed { after: None }),
    ] {
        let (_, client) = Script::client(&[events, bad]);
        let feed = follow(&client, POLL, None).await.expect("a feed");
        assert_eq!(all(feed).await.1.end, end);
    }
}

#[tokio::test]
async fn kubernetes_is_watched_from_where_the_listing_stands() {
    let events = concat!(
        r#"{"type":"ADDED","object":{"metadata":{"name":"x","resourceVersion":"11"}}}"#,
        "\n",
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"15"}}}"#,
        "\n",
    );
    let (script, client) =
        Script::client(&[(200, r#"{"metadata": {"resourceVersion": "10"}, "items": []}"#), (200, events)]);
    let mut feed = follow(&client, KUBERNETES, None).await.expect("a feed");
    assert_eq!(feed.next().await.expect("where it stands").told.position.as_deref(), Some("10"));
    let (mut changed, mut position) = (Vec::new(), None);
    while let Ok(batch) = feed.next().await {
        changed.extend(batch.told.changed);
        position = batch.told.position.or(position);
    }
    assert_eq!((changed, position.as_deref()), (vec![named("x")], Some("15")));
    let asked = script.asked();
    assert_eq!(asked[0], "/things?limit=1");
    let (start, seconds) = asked[1].split_once("&timeoutSeconds=").expect("a limit");
    assert_eq!(start, "/things?watch=true&allowWatchBookmarks=true&resourceVersion=10");
    assert!((300..600).contains(&seconds.parse().expect("a number")), "{seconds}");
    let (_, client) = Script::client(&[(200, r#"{"items": []}"#)]);
    let Err(ended) = follow(&client, KUBERNETES, None).await else { panic!("from nowhere") };
    assert_eq!(
        ended.failure.expect("a reason").message,
        "following Thing: the listing has no `metadata.resourceVersion`"
    );
    let (_, client) = Script::client(&[(410, "")]);
    let Err(ended) = follow(&client, KUBERNETES, Some("3")).await else { panic!("from long ago") };
    assert_eq!(ended.end, End::Gone);
}

#[tokio::test]
async fn lines_say_where_they_are() {
    let (script, client) = Script::client(&[(200, "{\"name\":\"x\",\"at\":4}\n{\"name\":\"y\",\"at\":5}\n")]);
    let (changed, ended) = all(follow(&client, LINES, Some("3")).await.expect("a feed")).await;
    assert_eq!((changed, ended.end), (vec![named("x"), named("y")], End::Closed));
    assert_eq!(script.asked(), ["/events?since=3"]);
}
