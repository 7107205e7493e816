//! Between the bytes: frames of one's own, put between those that an HTTP/2 server writes (RFC 9113, 4.1). The server
//! itself never says a GOAWAY that leaves out what it has already taken.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use h2::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Length, type, flags and number of the stream.
const HEAD: usize = 9;
const GOAWAY: u8 = 7;

/// Where frames are put in.
#[derive(Clone, Default)]
pub struct Inlet(Arc<Mutex<Vec<u8>>>);

impl Inlet {
    /// "No stream above `last` was or will be processed" (RFC 9113, 6.8); goes out with the next flush.
    pub fn go_away(&self, last: u32, reason: Reason) {
        let mut waiting = self.0.lock().expect("nothing panics with it");
        waiting.extend([0, 0, 8, GOAWAY, 0, 0, 0, 0, 0]);
        waiting.extend(last.to_be_bytes());
        waiting.extend(u32::from(reason).to_be_bytes());
    }
}

/// A stream of bytes that knows where the written frames end.
pub struct Between<S> {
    inner: S,
    inlet: Inlet,
    /// The head of the frame that is being written, as far as it was written.
    head: Vec<u8>,
    /// What of its payload is still to come.
    left: usize,
}

impl<S> Between<S> {
    pub fn new(inner: S) -> (Inlet, Between<S>) {
        let inlet = Inlet::default();
        (inlet.clone(), Between { inner, inlet, head: Vec::new(), left: 0 })
    }

    fn count(&mut self, mut written: &[u8]) {
        while !written.is_empty() {
            let payload = self.left.min(written.len());
            self.left -= payload;
            written = &written[payload..];
            let head = (HEAD - self.head.len()).min(written.len());
            self.head.extend(&written[..head]);
            written = &written[head..];
            if let [a, b, c, _, _, _, _, _, _] = self.head[..] {
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
                self.head.clear();
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Between<S> {
    /// Writes what was put in, where a frame has just ended.
    fn let_in(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.left == 0 && self.head.is_empty() {
            let mut waiting = self.inlet.0.lock().expect("nothing panics with it");
            if waiting.is_empty() {
                break;
            }
            let written = ready!(Pin::new(&mut self.inner).poll_write(cx, &waiting))?;
            waiting.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Between<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Between<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.let_in(cx))?;
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, bytes))?;
        self.count(&bytes[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.let_in(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
