//! The HTTP/2 side of a front: each stream is passed on, or befallen.

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response};
use http_body_util::BodyExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until};

use super::between::{Between, Inlet};
use super::front::{Below, Inner, Trouble, line};
use super::upstream::Answered;
use crate::middle::Moment;

/// For so long requests are gathered before the server goes: a client sends all that it may at once.
const GATHER: Duration = Duration::from_millis(300);
/// So long after its last word a connection ends.
const LINGER: Duration = Duration::from_millis(50);

type Stream = (Request<RecvStream>, SendResponse<Bytes>);

/// A leave that is being taken.
struct Leave {
    reason: Reason,
    below: Below,
    /// What has come since it was decided.
    held: Vec<Stream>,
    at: Instant,
}

struct Line<S> {
    connection: Connection<Between<S>, Bytes>,
    inlet: Inlet,
    inner: Arc<Inner>,
    under_way: Arc<AtomicUsize>,
    /// Its window lets no body through.
    shut: bool,
    leave: Option<Leave>,
    /// The last stream that counts, once it was said.
    last: Option<u32>,
    /// What nobody will answer. Dropping one would reset it.
    forgotten: Vec<Stream>,
    end: Arc<Notify>,
}

/// Serves a connection to its end.
///
/// # Errors
/// It broke.
pub async fn serve<S>(stream: S, inner: Arc<Inner>) -> Result<(), h2::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (inlet, stream) = Between::new(stream);
    let mut builder = Builder::new();
    if let Some(streams) = inner.settings.streams {
        builder.max_concurrent_streams(streams);
    }
    let shut = inner.writes.load(Ordering::SeqCst) < inner.settings.shut;
    if shut {
        builder.initial_window_size(0);
    }
    let connection = builder.handshake(stream).await?;
    let (leave, last, forgotten) = (None, None, Vec::new());
    let line = Line {
        connection,
        inlet,
        inner,
        under_way: Arc::default(),
        shut,
        leave,
        last,
        forgotten,
        end: Arc::default(),
    };
    line.run().await
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Line<S> {
    async fn run(mut self) -> Result<(), h2::Error> {
        loop {
            let at = self.leave.as_ref().map(|leave| leave.at);
            let end = self.end.clone();
            let next = tokio::select! {
                next = self.connection.accept() => next,
                () = until(at) => {
                    self.take_leave();
                    continue;
                }
                () = end.notified() => return Ok(()),
            };
            let Some(next) = next else { return Ok(()) };
            let (request, respond) = next?;
            let is_write = usize::from(request.method() != http::Method::GET);
            let writes = self.inner.writes.fetch_add(is_write, Ordering::SeqCst) + is_write;
            // Once: it cannot be said again before the client has confirmed it.
            if self.shut && writes > self.inner.settings.shut {
                self.shut = false;
                self.connection.set_initial_window_size(65_535)?;
            }
            if self.last.is_some_and(|last| respond.stream_id().as_u32() > last) {
                self.forgotten.push((request, respond));
                continue;
            }
            let line = line(&request);
            let trouble = self.inner.befalls(&line);
            if let Some(leave) = &mut self.leave {
                leave.held.push((request, respond));
                continue;
            }
            match trouble {
                Some(Trouble::Silent) => pending().await,
                Some(Trouble::Leave(reason, below)) => {
                    let at = Instant::now() + GATHER;
                    self.leave = Some(Leave { reason, below, held: vec![(request, respond)], at });
                }
                trouble => self.answer(line, (request, respond), trouble),
            }
        }
    }

    fn answer(&self, line: String, stream: Stream, trouble: Option<Trouble>) {
        let (inner, under_way, end) = (self.inner.clone(), self.under_way.clone(), self.end.clone());
        let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
        inner.most.fetch_max(now, Ordering::SeqCst);
        tokio::spawn(async move {
            // A stream whose client has gone is what some of this is about.
            let ended = answer(&inner, &line, stream, trouble).await;
            under_way.fetch_sub(1, Ordering::SeqCst);
            if let Ok(true) = ended {
                end.notify_one();
            }
        });
    }

    /// The older half of what is under way was processed, and the rest was not.
    fn take_leave(&mut self) {
        let Some(Leave { reason, below, held, .. }) = self.leave.take() else { return };
        let half = held.len().div_ceil(2);
        let last = held[half - 1].1.stream_id().as_u32();
        self.inner.most.fetch_max(held.len(), Ordering::SeqCst);
        self.inlet.go_away(last, reason);
        self.last = Some(last);
        let mut held = held.into_iter();
        let older: Vec<Stream> = held.by_ref().take(half).collect();
        self.forgotten.extend(held);
        let moment = match below {
            Below::Answered => {
                let answer = |stream: Stream| self.answer(line(&stream.0), stream, None);
                return older.into_iter().for_each(answer);
            }
            Below::Lost(moment) => moment,
        };
        let (inner, end) = (self.inner.clone(), self.end.clone());
        tokio::spawn(async move {
            let mut silent = Vec::new();
            for (request, respond) in older {
                if moment == Moment::After {
                    drop(pass(&inner, &line(&request), request).await);
                }
                silent.push(respond);
            }
            sleep(LINGER).await;
            end.notify_one();
        });
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}

async fn pass(
    inner: &Inner,
    line: &str,
    request: Request<RecvStream>,
) -> Result<Answered, Box<dyn std::error::Error + Send + Sync>> {
    let (head, mut body) = request.into_parts();
    let mut bytes = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        bytes.extend(piece);
    }
    Ok(inner.pass(line, Request::from_parts(head, bytes.into())).await?)
}

/// Answers one stream; whether the connection is to end now.
async fn answer(
    inner: &Inner,
    line: &str,
    (request, mut respond): Stream,
    trouble: Option<Trouble>,
) -> Result<bool, h2::Error> {
    match trouble {
        Some(Trouble::Reset(reason, Moment::Before)) => {
            respond.send_reset(reason);
            return Ok(false);
        }
        Some(Trouble::Cut(Moment::Before)) => return Ok(true),
        _ => {}
    }
    // What the client has given up is given up here.
    let answered = tokio::select! {
        answered = pass(inner, line, request) => answered,
        gone = poll_fn(|cx| respond.poll_reset(cx)) => return gone.map(|_| false),
    };
    let Ok(Answered { response, line: _open }) = answered else {
        respond.send_reset(Reason::INTERNAL_ERROR);
        return Ok(false);
    };
    let (mut head, mut body) = response.into_parts();
    // HTTP/2 has no such header (RFC 9113, 8.2.2).
    for name in ["connection", "transfer-encoding", "keep-alive"] {
        head.headers.remove(name);
    }
    let head = Response::from_parts(head.clone(), ());
    match trouble {
        Some(Trouble::Reset(reason, _)) => {
            drop(body.collect().await);
            respond.send_reset(reason);
            return Ok(false);
        }
        Some(Trouble::Cut(_)) => {
            drop(body.collect().await);
            return Ok(true);
        }
        _ => {}
    }
    let mut send = respond.send_response(head, false)?;
    match trouble {
        Some(Trouble::Stall) => {
            poll_fn(|cx| send.poll_reset(cx)).await?;
            return Ok(false);
        }
        Some(Trouble::ResetInside(reason)) => {
            send.send_data(Bytes::from_static(b"{"), false)?;
            sleep(LINGER).await;
            send.send_reset(reason);
            return Ok(false);
        }
        Some(Trouble::CutInside) => {
            send.send_data(Bytes::from_static(b"{"), false)?;
            sleep(LINGER).await;
            return Ok(true);
        }
        _ => {}
    }
    while let Some(frame) = body.frame().await {
        let Some(data) = frame.ok().and_then(|frame| frame.into_data().ok()) else {
            send.send_reset(Reason::INTERNAL_ERROR);
            return Ok(false);
        };
        give(&mut send, data).await?;
    }
    send.send_data(Bytes::new(), true)?;
    Ok(false)
}

/// Gives a piece of a body as the client takes it.
async fn give(send: &mut SendStream<Bytes>, mut data: Bytes) -> Result<(), h2::Error> {
    while !data.is_empty() {
        send.reserve_capacity(data.len());
        let Some(room) = poll_fn(|cx| send.poll_capacity(cx)).await else {
            return Err(Reason::CANCEL.into());
        };
        send.send_data(data.split_to(room?.min(data.len())), false)?;
    }
    Ok(())
}
