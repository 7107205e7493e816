//! The client against servers that mean harm: bodies without an end, stacks of brackets, the way to somewhere else.

use std::sync::Arc;
use std::time::Duration;

use super::super::testing::*;
use super::*;
use crate::backend::connection::{Auth, Credential, Limits, Text};
use crate::backend::testing::kind;
use crate::core::node::Secret;

fn read() -> Ask {
    Ask::Read(target())
}

async fn ask(connection: &Connection, ask: &Ask) -> Answer {
    reader(connection).ask(&Arc::new(kind()), ask).await
}

fn with_key(url: &str) -> Connection {
    let secret = |name: &str| Text::Secret(Secret::new(name, Some("c4n4ry-of-64".into())));
    let auth = Auth::Header { name: "private-token".into(), value: Credential::Text(secret("env:KEY")) };
    let headers = vec![("X-Api-Key".into(), secret("env:OTHER"))];
    Connection { headers, ..with_auth(url, auth) }
}

/// Deep enough to end the stack of a parser that recurses without a limit.
#[tokio::test]
async fn an_answer_that_is_nested_too_deep_is_no_answer() {
    for depth in [200, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for body in [deep.clone(), format!(r#"{{"name":"orders","arguments":{deep}}}"#), format!("[{deep}]")]
        {
            for status in ["200 OK", "422 Unprocessable Content"] {
                let body = body.clone();
                let server = RawServer::start(move |_, _| {
                    http(status, &[("content-type", "application/json")], &body)
                })
                .await;
                for asked in [read(), list_ask()] {
                    let told = ask(&connection(&server.url), &asked).await;
                    let unknown = match &told {
                        Answer::Failed(_) => true,
                        // An element that cannot be read leaves the listing without proof of anything.
                        Answer::Listed(listing) => {
                            listing.incomplete.is_some() || !listing.problems.is_empty()
                        }
                        _ => false,
                    };
                    assert!(unknown, "{status}, {depth}: {:.300}", format!("{told:?}"));
                }
            }
        }
    }
}

#[tokio::test]
async fn a_body_without_an_end_is_not_read_on() {
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    let megabyte = [b"100000\r\n".to_vec(), vec![b' '; 1 << 20], b"\r\n".to_vec()].concat();
    let server =
        RawServer::start(move |_, _| Reply::Repeat(head.clone(), megabyte.clone(), Duration::ZERO)).await;
    let (said, _) = failed(ask(&connection(&server.url), &list_ask()).await);
    assert_eq!(said, "NotTheApi: listing Queue of `/`: the answer is larger than 64 MB");
}

/// A byte now and then is no progress: the time for the whole exchange is bounded.
#[tokio::test]
async fn a_slow_drip_is_not_waited_for() {
    for head in ["HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", "HTTP/1.1 200 OK\r\nx: "] {
        let head = head.as_bytes().to_vec();
        let server = RawServer::start(move |_, _| {
            Reply::Repeat(head.clone(), b" ".to_vec(), Duration::from_millis(20))
        })
        .await;
        let limits = Limits { timeout: Some(Duration::from_millis(300)), ..Limits::default() };
        let (said, _) = failed(ask(&Connection { limits, ..connection(&server.url) }, &read()).await);
        assert_eq!(
            said,
            format!("Lost: reading Queue //orders: no answer from `{}` within 300ms", server.url)
        );
    }
}

/// Whatever the status, the method and the way in which the other place is written.
#[tokio::test]
async fn no_redirect_takes_a_credential_elsewhere() {
    let other = RawServer::start(|_, _| http("200 OK", &[], "{}")).await;
    let host = other.url.trim_start_matches("http://").to_owned();
    for status in ["301 M", "302 F", "303 S", "307 T", "308 P"] {
        for to in [
            format!("http://{host}/x"),
            format!("//{host}/x"),
            format!("https://{host}/x"),
            format!("http://user:pass@{host}/x"),
            format!("\\\\{host}/x"),
            format!("  http://{host}/x"),
        ] {
            let server = RawServer::start(move |_, _| http(status, &[("location", &to)], "")).await;
            let client = writer(&with_key(&server.url));
            let read = client.ask(&Arc::new(kind()), &read()).await;
            let wrote = client.write(&Arc::new(kind()), &create()).await;
            for told in [read, wrote] {
                let (said, _) = failed(told);
                assert!(
                    said.contains("a redirect is not followed") || said.contains("is not followed for PUT"),
                    "{said}"
                );
            }
            assert_eq!(server.requests().len(), 2);
        }
    }
    assert_eq!(other.requests(), [""; 0], "nobody called there");
}

/// A redirect to a name of the same host that only looks like its origin, and one that begins with the same text.
#[tokio::test]
async fn an_origin_is_scheme_host_and_port() {
    let server = RawServer::start(|_, number| {
        let places =
            ["https://127.0.0.1", "http://127.0.0.1:1", "http://localhost", "http://127.0.0.1.example.org"];
        http("302 Found", &[("location", places[number % places.len()])], "")
    })
    .await;
    for _ in 0..4 {
        let (said, _) = failed(ask(&with_key(&server.url), &read()).await);
        assert!(said.contains("is not at the backend's origin"), "{said}");
    }
}
