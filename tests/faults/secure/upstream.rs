//! One request to the built-in server, for those in front of it.

use std::io;

use bytes::Bytes;
use http::{HeaderValue, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// An answer; its connection ends with it, as does that of a request that nobody waits for any more.
pub struct Answered {
    pub response: Response<Incoming>,
    pub line: Open,
}

/// An open connection.
pub struct Open(JoinHandle<()>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends a request as it came, but for its version.
///
/// # Errors
/// The server ended the connection before its answer.
pub async fn send(server: &str, request: Request<Bytes>) -> io::Result<Answered> {
    let stream = TcpStream::connect(server).await?;
    let (mut sender, connection) =
        http1::handshake::<_, Full<Bytes>>(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let line = Open(tokio::spawn(async move { drop(connection.await) }));
    let (head, body) = request.into_parts();
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    let mut out = Request::builder().method(head.method).uri(target).body(Full::new(body));
    let out = out.as_mut().expect("a request that came is one that can be sent");
    *out.headers_mut() = head.headers;
    out.headers_mut().insert("host", HeaderValue::from_static("x"));
    let out = std::mem::take(out);
    let response = sender.send_request(out).await.map_err(io::Error::other)?;
    Ok(Answered { response, line })
}
