use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::channel;
use tokio::time::Instant;

use super::*;
use crate::core::secrets::Secrets;
use crate::core::watch::Snapshot;
use crate::render::watch::sample;
use crate::run::watch::hook::Hooks;
use crate::run::watch::outbox::Outbox;
use crate::run::watch::shown::Shown;

struct Port {
    address: SocketAddr,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Port {
    async fn new(snapshot: Snapshot) -> Port {
        let shown = Shown::new(Instant::now(), Secrets::default());
        shown.publish(snapshot);
        let face = Face::new(shown, Outbox::new(channel(16).0)).with_hooks("k", Hooks::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (address, stop) = (listener.local_addr().expect("an address"), CancellationToken::new());
        Port { address, task: tokio::spawn(serve(listener, Arc::new(face), stop.clone())), stop }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Sends bytes, and reads until the connection ends.
    async fn exchange(&self, request: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The end may come before all was taken.
        let _ = stream.write_all(request).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

#[tokio::test]
async fn a_connection_carries_many_requests() {
    let port = Port::new(sample::well()).await;
    let answer = port
        .exchange(
            b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\nHEAD /status HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n\
              GET /readyz HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n",
        )
        .await;
    let statuses: Vec<_> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
    assert_eq!(statuses, ["200", "200", "200"], "{answer}");
    assert!(!answer.contains("schemaVersion"), "HEAD has no body: {answer}");
}

#[tokio::test]
async fn huge_heads_and_what_is_no_http_are_refused() {
    let port = Port::new(sample::well()).await;
    let head = |more: &str| format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{more}connection: close\r\n\r\n");
    let large = port.exchange(head(&format!("x: {}\r\n", "a".repeat(HEAD_SIZE))).as_bytes()).await;
    assert!(large.starts_with("HTTP/1.1 431 "), "{large}");
    let many: String = (0..HEADERS + 1).map(|at| format!("x{at}: 1\r\n")).collect();
    let many = port.exchange(head(&many).as_bytes()).await;
    assert!(many.starts_with("HTTP/1.1 431 "), "{many}");
    assert!(port.exchange(b"hello\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
}

/// Row 22 of the bad inputs: a gigabyte is refused before it is sent, and no more than the limit is ever held.
#[tokio::test]
async fn a_gigabyte_is_not_waited_for() {
    let port = Port::new(sample::well()).await;
    let head =
        "POST /hook/shop HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: sha256=00\r\nconnection: close\r\n";
    let announced = port.exchange(format!("{head}content-length: 1073741824\r\n\r\n").as_bytes()).await;
    assert!(announced.starts_with("HTTP/1.1 413 "), "{announced}");
    let mut endless = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..40 {
        endless.extend(b"10000\r\n");
        endless.extend(vec![b'x'; 0x10000]);
        endless.extend(b"\r\n");
    }
    let endless = port.exchange(&endless).await;
    assert!(endless.starts_with("HTTP/1.1 413 ") || endless.is_empty(), "{endless}");
}

#[tokio::test(start_paused = true)]
async fn who_sends_nothing_is_let_go() {
    let port = Port::new(sample::well()).await;
    let began = Instant::now();
    let mut slow = port.connect().await;
    slow.write_all(b"GET /healthz HTTP/1.1\r\n").await.expect("sent");
    let mut answer = String::new();
    let _ = slow.read_to_string(&mut answer).await;
    let took = began.elapsed();
    assert!(took <= HEAD_TIME + Duration::from_secs(1), "{took:?}");
    let mut body = port.connect().await;
    let head = b"POST /hook/shop HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: sha256=00\r\ncontent-length: 10\r\n\r\n";
    body.write_all(head).await.expect("sent");
    let mut answer = vec![0; 1024];
    let read = body.read(&mut answer).await.expect("an answer");
    assert!(answer[..read].starts_with(b"HTTP/1.1 408 "), "{}", String::from_utf8_lossy(&answer));
}

/// However many hold their connections, the next one gets its turn.
#[tokio::test(start_paused = true)]
async fn connections_are_bounded_and_end() {
    let port = Port::new(sample::well()).await;
    let mut idle = Vec::new();
    for _ in 0..CONNECTIONS + 10 {
        idle.push(port.connect().await);
    }
    let answer = port.exchange(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Half heads need no token: they must not keep a probe of the watch's health from its answer.
#[tokio::test]
async fn half_heads_make_room_for_others() {
    let port = Port::new(sample::well()).await;
    let mut half = Vec::new();
    for _ in 0..300 {
        let mut stream = port.connect().await;
        stream.write_all(b"GET /status HTTP/1.1\r\n").await.expect("sent");
        half.push(stream);
    }
    let answer = port.exchange(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let is_open = |stream: &&TcpStream| {
        stream.try_read(&mut [0; 1]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let open = half.iter().filter(is_open).count();
    assert!(open >= CONNECTIONS / 2, "it was not their end that was waited for: {open} of them are open");
}

/// While all places are busy, nothing else is served, and that it is well is told.
#[tokio::test]
async fn beside_all_that_are_busy_it_is_told_whether_it_is_well() {
    let port = Port::new(sample::well()).await;
    let head = b"POST /hook/shop HTTP/1.1\r\nhost: x\r\nx-hub-signature-256: sha256=00\r\ncontent-length: 10\r\n\r\n";
    let mut busy = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = port.connect().await;
        stream.write_all(head).await.expect("sent");
        busy.push(stream);
    }
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    for (path, status) in [("/healthz", "200"), ("/readyz", "200"), ("/metrics", "503")] {
        let answer = port.exchange(ask(path).as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
    }
}

#[tokio::test]
async fn it_ends_when_it_is_told_to() {
    let port = Port::new(sample::well()).await;
    let idle = port.connect().await;
    port.stop.cancel();
    tokio::time::timeout(Duration::from_secs(10), port.task)
        .await
        .expect("it ends")
        .expect("without a panic");
    drop(idle);
    assert!(TcpStream::connect(port.address).await.is_err(), "nobody listens any more");
}
