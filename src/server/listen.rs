//! The server on a port: HTTP/1.1 connections, a limit on bodies, a clean stop.
//!
//! One level below a web framework, because injected faults must be able to cut a connection before, or in the
//! middle of, an answer. Prints nothing.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::api::{Following, Opened, Server, too_large};
use super::faults::Faults;
use super::store::MAX_SIZE;

/// How long open requests may take once the server was asked to stop.
const GRACE: Duration = Duration::from_secs(5);
/// How long what is written takes to leave, before a stream is cut.
const FLUSHED: Duration = Duration::from_millis(20);
/// What was sent is to be taken within this time, as TCP counts it. A heartbeat every 15 seconds makes a reader that is
/// gone notice, and gives its place to another; without it TCP takes a quarter of an hour to give up.
const TAKEN: Duration = Duration::from_secs(60);
/// How long to wait when no connection can be accepted (no file handles left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What answers on a port: a server, and the faults to inject if that was asked for.
#[derive(Clone)]
pub struct Service {
    server: Arc<Server>,
    faults: Option<Arc<Faults>>,
}

/// What becomes of a connection that has sent a request.
pub enum Reply {
    Whole(Response<Bytes>),
    /// The head and so many bytes of the body, then the end of the connection.
    Cut(Response<Bytes>, usize),
    /// The head at once, and so long before each byte of the body.
    Drip(Response<Bytes>, Duration),
    /// `200` with so many blanks, whose length is not announced.
    Flood(u64),
    /// The head at once, and the change feed as it comes.
    Stream(Response<Following>, Spoiled),
    /// The end of the connection, without a byte.
    Drop,
}

/// What a stream suffers from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spoiled {
    /// It breaks off after so many bytes.
    pub cut: Option<usize>,
    /// So long before each byte.
    pub drip: Option<Duration>,
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Service {
    pub fn new(server: Server) -> Service {
        Service { server: Arc::new(server), faults: None }
    }

    /// Answers through injected faults, and answers `/_faults` and `/_log`. For tests only.
    pub fn with_faults(mut self, faults: Faults) -> Service {
        self.faults = Some(Arc::new(faults));
        self
    }

    /// Answers a request whose body has been read.
    pub async fn reply(&self, request: Request<Bytes>) -> Reply {
        match &self.faults {
            Some(faults) => faults.reply(&self.server, request).await,
            None => match self.server.open(request).await {
                Opened::Whole(response) => Reply::Whole(response),
                Opened::Stream(response) => Reply::Stream(response, Spoiled::default()),
            },
        }
    }

    async fn serve(&self, request: Request<Incoming>) -> Result<Response<Body>, io::Error> {
        let (head, body) = request.into_parts();
        if body.size_hint().lower() > MAX_SIZE as u64 {
            return Ok(too_large().into_response().map(whole));
        }
        let reply = match Limited::new(body, MAX_SIZE).collect().await {
            Ok(body) => self.reply(Request::from_parts(head, body.to_bytes())).await,
            Err(error) if error.is::<LengthLimitError>() => Reply::Whole(too_large().into_response()),
            Err(error) => return Err(io::Error::other(error)),
        };
        match reply {
            Reply::Whole(response) => Ok(response.map(whole)),
            Reply::Cut(response, at) => Ok(cut(response, at)),
            Reply::Drip(response, pause) => Ok(dripping(response, pause)),
            Reply::Flood(size) => Ok(flood(size)),
            Reply::Stream(response, spoiled) => Ok(response.map(|feed| following(feed, spoiled))),
            Reply::Drop => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

/// Serves until `shutdown` is ready, then finishes what is open, for a few seconds at most.
pub async fn serve(listener: TcpListener, service: Service, shutdown: impl Future<Output = ()>) {
    let stop = CancellationToken::new();
    let server = service.server.clone();
    let mut connections = JoinSet::new();
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, service.clone(), stop.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    server.close_feeds();
    stop.cancel();
    let finished = async { while connections.join_next().await.is_some() {} };
    // Those that are still open after this are aborted with the set.
    let _ = tokio::time::timeout(GRACE, finished).await;
}

async fn connection(stream: TcpStream, service: Service, stop: CancellationToken) {
    // Answers are small and whole: waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    give_up_after(&stream, TAKEN);
    let answer = service_fn(|request| service.serve(request));
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
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

/// Ends the connection when what was sent is not taken for so long. Systems other than Linux give up by their own
/// measure.
fn give_up_after(stream: &TcpStream, time: Duration) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(
        stream,
        u32::try_from(time.as_millis()).unwrap_or(u32::MAX),
    );
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (stream, time);
}

fn whole(body: Bytes) -> Body {
    Full::new(body).map_err(|never: Infallible| match never {}).boxed_unsync()
}

/// A body that announces its whole length and breaks off before.
fn cut(response: Response<Bytes>, at: usize) -> Response<Body> {
    let length = response.body().len();
    let mut response = response.map(|body| {
        let part = Ok(Frame::data(body.slice(..at.min(body.len()))));
        let end = Err(io::ErrorKind::ConnectionAborted.into());
        BodyExt::boxed_unsync(StreamBody::new(futures_util::stream::iter([part, end])))
    });
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

fn dripping(response: Response<Bytes>, pause: Duration) -> Response<Body> {
    response.map(|body| {
        let bytes = futures_util::stream::iter(0..body.len()).then(move |at| {
            let byte = body.slice(at..=at);
            async move {
                tokio::time::sleep(pause).await;
                Ok(Frame::data(byte))
            }
        });
        BodyExt::boxed_unsync(StreamBody::new(bytes))
    })
}

/// The feed for as long as it goes. A reader that does not read stops it, and costs no more than its place.
fn following(feed: Following, spoiled: Spoiled) -> Body {
    let pieces = futures_util::stream::unfold(feed, |mut feed| async {
        let piece = feed.next().await?;
        Some((piece, feed))
    });
    let frame = |piece| Ok(Frame::data(piece));
    let Spoiled { cut, drip } = spoiled;
    if cut.is_none() && drip.is_none() {
        return BodyExt::boxed_unsync(StreamBody::new(pieces.map(frame)));
    }
    let bytes = pieces
        .flat_map(|piece| futures_util::stream::iter((0..piece.len()).map(move |at| piece.slice(at..=at))));
    let bytes = bytes.enumerate().then(move |(at, byte)| async move {
        if let Some(pause) = drip {
            tokio::time::sleep(pause).await;
        }
        match cut {
            Some(cut) if at >= cut => {
                // What came before is sent first; an error alone would take it along.
                tokio::time::sleep(FLUSHED).await;
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            _ => Ok(Frame::data(byte)),
        }
    });
    BodyExt::boxed_unsync(StreamBody::new(bytes))
}

/// Blanks in pieces, of which only one is in memory.
fn flood(size: u64) -> Response<Body> {
    const PIECE: usize = 64 * 1024;
    let piece = Bytes::from(vec![b' '; PIECE]);
    let pieces = (0..size / PIECE as u64).map(move |_| Ok(Frame::data(piece.clone())));
    let mut response =
        Response::new(BodyExt::boxed_unsync(StreamBody::new(futures_util::stream::iter(pieces))));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::server::Store;

    /// Sends bytes to a server of its own, and reads until the connection ends.
    async fn exchange(request: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let service = Service::new(Server::new(Store::in_memory()));
        let server = tokio::spawn(serve(listener, service, std::future::pending()));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer in text");
        server.abort();
        answer
    }

    #[tokio::test]
    async fn a_connection_carries_many_requests() {
        let answer = exchange(
            "PUT /t/a HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n\
             HEAD /t/a HTTP/1.1\r\nhost: x\r\n\r\n\
             DELETE /t/a HTTP/1.1\r\nhost: x\r\n\r\n\
             GET /_log HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        )
        .await;
        let statuses: Vec<_> = answer.split("HTTP/1.1 ").skip(1).map(|part| &part[..3]).collect();
        assert_eq!(statuses, ["201", "200", "204", "200"], "{answer}");
        assert_eq!(answer.matches("content-length: 23\r\n").count(), 2, "of PUT and of HEAD: {answer}");
        assert_eq!(answer.matches(r#"{"id":"a","revision":1}"#).count(), 1, "of PUT alone: {answer}");
        assert!(
            answer.ends_with(r#"{"items":[],"total":0}"#),
            "without faults `_log` is a collection: {answer}"
        );
    }

    #[tokio::test]
    async fn what_is_not_http_is_refused() {
        assert!(exchange("hello\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_before_it_is_read() {
        let size = MAX_SIZE + 1;
        let answer = exchange(&format!(
            "PUT /t/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n"
        ))
        .await;
        assert!(
            answer.starts_with("HTTP/1.1 413 ") && answer.contains("more than 16777216 bytes"),
            "{answer}"
        );
    }

    /// A peer that takes nothing is one whose machine is gone, to TCP: no byte is acknowledged.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_reader_that_takes_nothing_loses_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let _reader =
            TcpStream::connect(listener.local_addr().expect("an address")).await.expect("connected");
        let (mut stream, _) = listener.accept().await.expect("accepted");
        give_up_after(&stream, Duration::from_millis(500));
        let piece = vec![b' '; 1 << 20];
        let ended = async {
            loop {
                if let Err(error) = stream.write_all(&piece).await {
                    return error;
                }
            }
        };
        let error = tokio::time::timeout(Duration::from_secs(60), ended).await.expect("it is given up");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
