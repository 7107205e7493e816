//! The sockets of the port: HTTP/1.1, so many connections and no more, each bounded in its time and its headers.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::face::Face;

/// Connections at once. One more waits until one of these ends.
const CONNECTIONS: usize = 128;
/// The head of a request comes within this time; so long may a connection be idle.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// A connection ends after this, whatever it does: a reader that takes its answer byte by byte holds all of it.
const WHOLE_TIME: Duration = Duration::from_secs(60);
/// The largest head of a request, in bytes.
const HEAD_SIZE: usize = 16 * 1024;
const HEADERS: usize = 64;
/// How long open requests may take at the end.
const GRACE: Duration = Duration::from_secs(2);
/// How long to wait when no connection can be accepted (no file handles left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop`, then finishes what is open, for a moment.
pub async fn serve(listener: TcpListener, face: Arc<Face>, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            () = stop.cancelled() => break,
            (place, accepted) = next => match (place, accepted) {
                (Ok(place), Ok((stream, peer))) => {
                    let connection = connection(stream, peer, face.clone(), stop.clone());
                    connections.spawn(async move {
                        let _ends = tokio::time::timeout(WHOLE_TIME, connection).await;
                        drop(place);
                    });
                }
                _ => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    // Those that are still open after this are aborted with the set.
    let _ = tokio::time::timeout(GRACE, finished).await;
}

async fn connection(stream: TcpStream, peer: SocketAddr, face: Arc<Face>, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request: http::Request<hyper::body::Incoming>| {
        let face = face.clone();
        async move {
            let (head, body) = request.into_parts();
            Ok::<_, Infallible>(face.answer(head, body, peer).await.map(Full::new))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_SIZE).max_headers(HEADERS);
    let connection = http.serve_connection(TokioIo::new(stream), answer);
    tokio::pin!(connection);
    // A connection that fails has no one left to be told.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
#[path = "port_tests.rs"]
mod tests;
