//! A server that says exactly the bytes that a test wants said. Only for tests; loopback only.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;

use super::client::{Client, Options, ReadOnly, ReadWrite, connect};
use crate::backend::connection::{Address, Auth, Connection, Limits, Tls};
use crate::backend::testing::kind;
use crate::core::exchange::{Answer, Ask, Body, Collection, ParentIds, Target, Wanted, Write};
use crate::core::identity::{Key, ObjectId};
use crate::core::value::Value;

/// What a server does with a request.
pub enum Reply {
    /// These bytes, then the connection ends.
    Bytes(Vec<u8>),
    /// Nothing, for ever.
    Hang,
    /// These bytes, then nothing for ever.
    Stall(Vec<u8>),
    /// These bytes, then those again and again, after a pause each time, for ever.
    Repeat(Vec<u8>, Vec<u8>, Duration),
}

/// A server on loopback, and what it was asked.
pub struct RawServer {
    pub url: String,
    pub log: Arc<Mutex<Vec<String>>>,
}

impl RawServer {
    /// Answers each request by `reply`, which is given its text and its number from 0.
    pub async fn start(reply: impl Fn(&str, usize) -> Reply + Send + Sync + 'static) -> RawServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let (kept, reply) = (log.clone(), Arc::new(reply));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, kept.clone(), reply.clone()));
            }
        });
        RawServer { url, log }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.log.lock().expect("no test panics while it logs").clone()
    }
}

/// Reads one request, logs it, and replies.
pub async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    log: Arc<Mutex<Vec<String>>>,
    reply: Arc<impl Fn(&str, usize) -> Reply>,
) {
    let Some(request) = read_request(&mut stream).await else { return };
    let number = {
        let mut log = log.lock().expect("no test panics while it logs");
        log.push(request.clone());
        log.len() - 1
    };
    // A client that has gone is what some tests are about.
    match reply(&request, number) {
        Reply::Bytes(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Reply::Hang => std::future::pending().await,
        Reply::Stall(bytes) => {
            let _ = stream.write_all(&bytes).await;
            std::future::pending::<()>().await;
        }
        Reply::Repeat(bytes, more, pause) => {
            let mut written = stream.write_all(&bytes).await;
            while written.is_ok() {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                written = stream.write_all(&more).await;
            }
        }
    }
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut chunk = [0; 4096];
        let read = stream.read(&mut chunk).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&chunk[..read]);
    }
}

/// A whole answer that ends its connection.
pub fn http(status: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    Reply::Bytes(
        format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
            .into_bytes(),
    )
}

pub fn connection(url: &str) -> Connection {
    Connection {
        owner: "me".into(),
        name: "mq".into(),
        address: Address::Http(url.into()),
        auth: None,
        tls: Tls::default(),
        headers: Vec::new(),
        limits: Limits::default(),
    }
}

pub fn with_auth(url: &str, auth: Auth) -> Connection {
    Connection { auth: Some(auth), ..connection(url) }
}

pub fn reader(connection: &Connection) -> Client<ReadOnly> {
    let transport = connect(connection).expect("a transport");
    Client::read_only(connection, Options::default(), transport).expect("a client")
}

pub fn writer(connection: &Connection) -> Client<ReadWrite> {
    let transport = connect(connection).expect("a transport");
    Client::read_write(connection, Options::default(), transport).expect("a client")
}

pub fn list_ask() -> Ask {
    let scope = Key::new(vec![("vhost".into(), "/".into())]);
    Ask::List(Collection { kind: kind().name, scope, parent_ids: ParentIds::default() }, Wanted::All)
}

pub fn target() -> Target {
    let key = Key::new(vec![("vhost".into(), "/".into()), ("name".into(), "orders".into())]);
    Target::new(ObjectId { kind: kind().name, key })
}

pub fn create() -> Write {
    Write::Create(target(), Body::Object(Value::Object(Default::default())))
}

/// The class and message of a failure, and its hint.
pub fn failed(answer: Answer) -> (String, String) {
    match answer {
        Answer::Failed(failure) => {
            (format!("{:?}: {}", failure.class, failure.message), failure.hint.unwrap_or_default())
        }
        other => panic!("it did not fail: {other:?}"),
    }
}
