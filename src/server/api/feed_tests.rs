//! The change feed as a client sees it, without sockets and in virtual time.

use super::tests::{body, header, send, server};
use super::*;

async fn opened(server: &Server, uri: &str, headers: &[(&str, &str)]) -> Response<Following> {
    let mut request = Request::get(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    match server.open(request.body(Bytes::new()).expect("a request")).await {
        Opened::Stream(response) => response,
        Opened::Whole(response) => panic!("{response:?}"),
    }
}

async fn piece(stream: &mut Response<Following>) -> String {
    let piece = stream.body_mut().next().await.expect("it goes on");
    String::from_utf8(piece.to_vec()).expect("text")
}

async fn put(server: &Server, uri: &str) {
    let answer = send(server, &format!("PUT {uri}"), &[], r#"{"x":1}"#).await;
    assert!(answer.status().is_success(), "{answer:?}");
}

#[tokio::test]
async fn a_stream_tells_what_changes_with_names_and_revisions() {
    let server = server();
    let mut stream = opened(&server, "/teams?watch", &[]).await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let hello = piece(&mut stream).await;
    let epoch = hello.strip_prefix(": alive\nid: ").and_then(|rest| rest.split_once('-')).expect(&hello).0;
    put(&server, "/teams/a").await;
    put(&server, "/others/a").await;
    let answer = send(&server, "POST /teams", &[], "{}").await;
    assert_eq!(answer.status(), 201);
    let answer = send(&server, "DELETE /teams/a", &[], "").await;
    assert_eq!(answer.status(), 204);
    let mut told = String::new();
    while told.matches("\n\n").count() < 3 {
        told += &piece(&mut stream).await;
    }
    let event = |n, word: &str, path: &str, id: &str| {
        let data = format!(
            r#"{{"collection":"/teams","event":"{word}","id":{id},"path":"{path}","position":"{epoch}-{n}","revision":1}}"#
        );
        format!("id: {epoch}-{n}\nevent: {word}\ndata: {data}\n\n")
    };
    let want = event(1, "created", "/teams/a", r#""a""#)
        + &event(3, "created", "/teams/1", "1")
        + &event(4, "deleted", "/teams/a", r#""a""#);
    let sorted = |text: &str| -> Vec<Vec<char>> {
        text.lines()
            .map(|line| {
                let mut c: Vec<char> = line.chars().collect();
                c.sort_unstable();
                c
            })
            .collect()
    };
    assert_eq!(sorted(&told), sorted(&want), "members in any order: {told}");
}

#[tokio::test]
async fn a_listing_tells_where_the_feed_goes_on() {
    let server = server();
    put(&server, "/teams/a").await;
    let listing = send(&server, "GET /teams", &[], "").await;
    let position = header(&listing, "feed-position").expect("a position").to_owned();
    put(&server, "/teams/b").await;
    for (uri, headers) in [
        (format!("/teams?watch=lines&since={position}"), vec![]),
        ("/teams?watch=lines".to_owned(), vec![("last-event-id", &*position)]),
        (format!("/?watch&since={position}"), vec![("accept", "application/x-ndjson")]),
    ] {
        let mut stream = opened(&server, &uri, &headers).await;
        assert_eq!(stream.headers()["content-type"], "application/x-ndjson");
        assert!(piece(&mut stream).await.contains(&format!(r#""position":"{position}""#)));
        let told = piece(&mut stream).await;
        assert!(told.contains(r#""path":"/teams/b""#) && !told.contains("/teams/a"), "{told}");
    }
}

#[tokio::test]
async fn what_cannot_be_told_again_is_said() {
    let server = server();
    for (uri, status, slug) in [
        ("/teams?watch&since=00000000-1", 410, "history-gone"),
        ("/teams?watch=poll&since=00000000-1", 410, "history-gone"),
        ("/teams?watch&since=17", 400, "bad-request"),
        ("/teams?watch=carrier-pigeon", 400, "bad-request"),
        ("/teams?watch&colour=red", 400, "bad-request"),
        ("/teams?watch=poll&wait=long", 400, "bad-request"),
        ("/teams/a?watch", 400, "bad-request"),
        ("/teams/a/members?watch", 404, "no-parent"),
    ] {
        let request = Request::get(uri).body(Bytes::new()).expect("a request");
        let Opened::Whole(answer) = server.open(request).await else { panic!("{uri} is a stream") };
        assert_eq!(answer.status().as_u16(), status, "{uri}");
        assert_eq!(body(&answer)["type"], format!("urn:trueup:problem:{slug}"), "{uri}");
    }
    let position = header(&send(&server, "GET /teams", &[], "").await, "feed-position").map(str::to_owned);
    let other = super::tests::server();
    let uri = format!("GET /teams?watch=poll&since={}", position.expect("a position"));
    assert_eq!(send(&other, &uri, &[], "").await.status(), 410, "a position of another store");
    let head = send(&server, "HEAD /teams?watch", &[], "").await;
    assert_eq!(head.status(), 400, "a stream needs a GET");
}

#[tokio::test]
async fn the_feed_needs_the_token_too() {
    let server = server().with_token("s3cret");
    let request = Request::get("/?watch").body(Bytes::new()).expect("a request");
    let Opened::Whole(answer) = server.open(request).await else { panic!("it is a stream") };
    assert_eq!(answer.status(), 401);
    opened(&server, "/?watch", &[("authorization", "Bearer s3cret")]).await;
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_says_that_it_is_alive_and_ends_with_the_server() {
    let server = server();
    let mut stream = opened(&server, "/teams?watch", &[]).await;
    let hello = piece(&mut stream).await;
    let before = tokio::time::Instant::now();
    assert_eq!(piece(&mut stream).await, hello, "nothing has happened");
    assert_eq!(before.elapsed().as_secs(), 15);
    server.close_feeds();
    assert_eq!(stream.body_mut().next().await, None);
}

#[tokio::test]
async fn a_reader_that_is_too_slow_is_told_so() {
    let server = server();
    let mut streams =
        [opened(&server, "/teams?watch", &[]).await, opened(&server, "/teams?watch=lines", &[]).await];
    for stream in &mut streams {
        piece(stream).await;
    }
    for chunk in 0..90 {
        let writes = (0..100).map(|n| {
            let server = &server;
            async move { put(server, &format!("/teams/{chunk}-{n}")).await }
        });
        futures_util::future::join_all(writes).await;
    }
    for stream in &mut streams {
        let told = piece(stream).await;
        assert!(told.contains("too far behind"), "{told}");
        assert_eq!(stream.body_mut().next().await, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_poll_waits_for_something_to_happen() {
    let server = server();
    let answer = send(&server, "GET /teams?watch=poll", &[], "").await;
    let position = body(&answer)["position"].as_str().expect("a position").to_owned();
    let uri = format!("GET /teams?watch=poll&since={position}&wait=20");
    let before = tokio::time::Instant::now();
    let answer = send(&server, &uri, &[], "").await;
    assert_eq!((before.elapsed().as_secs(), answer.status().as_u16()), (20, 200));
    assert_eq!(body(&answer), serde_json::json!({"events": [], "position": position}));
    put(&server, "/teams/a").await;
    let answer = body(&send(&server, &uri, &[], "").await);
    assert_eq!(answer["events"][0]["event"], "created");
    assert_ne!(answer["position"], *position);
}
