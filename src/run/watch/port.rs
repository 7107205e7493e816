//! The sockets of the port: HTTP/1.1, so many connections and no more, each bounded in its time and its headers.
//!
//! Whoever sends half a head holds a place and needs no token for it. So those that wait for a head make room for others,
//! the longest waiting first; and beside all that are busy, there are places from which it is told whether the watch is
//! well, and nothing else.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::face::{self, Face};

/// Connections at once.
const CONNECTIONS: usize = 128;
/// And so many more, which serve nothing but what says whether the watch is well.
const RESERVE: usize = 16;
/// The head of a request comes within this time; so long may a connection be idle.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// A connection that has waited for a head so long makes room for another, where there is none.
const PATIENCE: Duration = Duration::from_millis(500);
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
    let mut connections = JoinSet::new();
    let mut guests: Vec<Weak<Guest>> = Vec::new();
    loop {
        guests.retain(|guest| guest.strong_count() > 0);
        let is_full = guests.len() >= CONNECTIONS + RESERVE;
        if is_full {
            make_room(&guests);
        }
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept(), if !is_full => accepted,
            Some(_) = connections.join_next() => continue,
            () = tokio::time::sleep(ACCEPT_PAUSE), if is_full => continue,
        };
        let Ok((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let guest = Arc::new(Guest::new(guests.len() >= CONNECTIONS));
        guests.push(Arc::downgrade(&guest));
        let (face, stop) = (face.clone(), stop.clone());
        connections.spawn(async move {
            let connection = connection(stream, peer, face, stop, &guest);
            tokio::select! {
                _ends = tokio::time::timeout(WHOLE_TIME, connection) => {}
                () = guest.leave.cancelled() => {}
            }
        });
    }
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    // Those that are still open after this are aborted with the set.
    let _ = tokio::time::timeout(GRACE, finished).await;
}

/// A connection, as far as others need its place.
struct Guest {
    /// All other places were taken.
    is_in_reserve: bool,
    /// Since when it waits for a head; `None` while it is answered.
    waits: Mutex<Option<Instant>>,
    leave: CancellationToken,
}

impl Guest {
    fn new(is_in_reserve: bool) -> Guest {
        Guest { is_in_reserve, waits: Mutex::new(Some(Instant::now())), leave: CancellationToken::new() }
    }

    fn waits(&self, since: Option<Instant>) {
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn waits_since(&self) -> Option<Instant> {
        *self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the one leave that has waited for a head for the longest time.
fn make_room(guests: &[Weak<Guest>]) {
    let guests = guests.iter().filter_map(Weak::upgrade).filter(|guest| !guest.leave.is_cancelled());
    let waiting = guests.filter_map(|guest| Some((guest.waits_since()?, guest)));
    let longest = waiting.min_by_key(|(since, _)| *since);
    if let Some((_, guest)) = longest.filter(|(since, _)| since.elapsed() >= PATIENCE) {
        guest.leave.cancel();
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    face: Arc<Face>,
    stop: CancellationToken,
    guest: &Guest,
) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(|request: http::Request<hyper::body::Incoming>| {
        let face = face.clone();
        async move {
            guest.waits(None);
            let (head, body) = request.into_parts();
            let answer = match guest.is_in_reserve && !face::is_of_health(head.uri.path()) {
                true => face::busy(),
                false => face.answer(head, body, peer).await,
            };
            guest.waits(Some(Instant::now()));
            Ok::<_, Infallible>(answer.map(Full::new))
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
