//! The change feed on a real connection, with and without faults.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::tests::Bad;

/// What a stream says until it holds `until`, or ends.
async fn read(bad: &Bad, line: &str, until: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(bad.address).await.expect("a connection");
    let head = format!("{line} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("sent");
    let mut text = String::new();
    more(&mut stream, &mut text, until).await;
    (text, stream)
}

async fn more(stream: &mut TcpStream, text: &mut String, until: &str) {
    let mut piece = [0; 1024];
    while !text.contains(until) {
        let read = timeout(Duration::from_secs(20), stream.read(&mut piece)).await.expect("it goes on");
        match read.unwrap_or(0) {
            0 => return,
            read => text.push_str(&String::from_utf8_lossy(&piece[..read])),
        }
    }
}

const EVENT: &str = "event: created";

#[tokio::test]
async fn events_come_as_they_happen_and_an_open_stream_holds_up_no_stop() {
    let bad = Bad::start("").await;
    let (mut text, mut stream) = read(&bad, "GET /teams?watch", "\nid: ").await;
    assert!(
        text.starts_with("HTTP/1.1 200 OK") && text.contains("content-type: text/event-stream"),
        "{text}"
    );
    bad.status("PUT /teams/a").await;
    more(&mut stream, &mut text, EVENT).await;
    assert!(text.contains(EVENT), "{text}");
    bad.stop.cancel();
    // Less than the time that a server waits for what is open.
    timeout(Duration::from_secs(4), bad.task).await.expect("it has stopped").expect("without a panic");
    more(&mut stream, &mut text, "nothing, but the end").await;
    assert!(text.ends_with("0\r\n\r\n"), "the stream has come to its own end: {text}");
}

#[tokio::test]
async fn a_waiting_poll_is_answered_when_the_server_stops() {
    let bad = Bad::start("").await;
    let start = bad.json("GET /teams?watch=poll").await;
    let position = start["position"].as_str().expect("a position");
    let line = format!("GET /teams?watch=poll&wait=60&since={position}");
    let poll = bad.send(&line, "");
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        bad.stop.cancel();
    };
    let (answer, ()) =
        timeout(Duration::from_secs(4), async { tokio::join!(poll, stop) }).await.expect("an answer");
    assert_eq!(answer.expect("a whole one").0, 200);
}

#[tokio::test]
async fn rules_hold_for_streams() {
    for (fault, whole) in
        [("{drop: before}", ""), ("{drop: after}", ""), ("{status: {status: 503}}", "503 Service")]
    {
        let bad = Bad::start(&format!("rules: [{{match: {{path: /teams}}, fault: {fault}}}]")).await;
        let (text, _) = read(&bad, "GET /teams?watch", if whole.is_empty() { EVENT } else { whole }).await;
        assert!(text.contains(whole) && !text.contains("200 OK"), "{fault}: {text}");
    }
    let bad = Bad::start("rules: [{match: {path: /teams}, fault: {truncate: 12}}]").await;
    let (text, _) = read(&bad, "GET /teams?watch", EVENT).await;
    let body: String = text.split("\r\n").skip_while(|line| !line.is_empty()).collect();
    assert!(body.contains('a') && !text.contains("\r\n0\r\n"), "cut, with no end of its own: {text}");
    let bad = Bad::start("rules: [{match: {path: /teams, method: GET}, fault: {drip: 1ms}}]").await;
    let (text, _) = read(&bad, "GET /teams?watch=lines", "k\r\n1\r\n\"\r\n").await;
    let pieces = text.matches("\r\n1\r\n").count();
    assert!(pieces >= 8, "byte by byte: {text}");
}
