//! The built-in server as a transport without sockets.

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream;

use crate::api::transport::{Begun, Transport, TransportClass, TransportError};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::server::{Embedded, Opened, Server};

/// A backend of `url: embedded:PATH`.
pub enum InProcess {
    Stored(Embedded),
    /// There is no store yet, and nothing is going to be written: it is as empty as a new one.
    Empty(Server),
}

impl Transport for InProcess {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            let request = to_http(request)?;
            let response = match self {
                InProcess::Stored(embedded) => embedded.call(request).await,
                InProcess::Empty(server) => server.call(request).await,
            };
            Ok(HttpAnswer { body: response.body().to_vec(), ..head(&response) })
        })
    }

    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        Box::pin(async move {
            let request = to_http(request)?;
            let opened = match self {
                InProcess::Stored(embedded) => embedded.open_answer(request).await,
                InProcess::Empty(server) => server.open(request).await,
            };
            Ok(match opened {
                Opened::Whole(response) => {
                    let head = head(&response);
                    Begun { head, pieces: stream::iter([Ok(response.into_body())]).boxed() }
                }
                Opened::Stream(response) => {
                    let head = head(&response);
                    let pieces = stream::unfold(response.into_body(), |mut feed| async {
                        let piece = feed.next().await?;
                        Some((Ok(piece), feed))
                    });
                    Begun { head, pieces: pieces.boxed() }
                }
            })
        })
    }
}

/// Status and headers of an answer.
fn head<B>(response: &http::Response<B>) -> HttpAnswer {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value)));
    HttpAnswer { status: response.status().as_u16(), headers: headers.collect(), body: Vec::new() }
}

fn to_http(request: &HttpRequest) -> Result<http::Request<Bytes>, TransportError> {
    let mut builder = http::Request::builder().method(request.method.as_str()).uri(&request.url);
    for (name, value) in &request.headers {
        builder = builder.header(name, value);
    }
    let body = request.body.clone().unwrap_or_default();
    builder.body(body.into()).map_err(|error| {
        TransportError::new(TransportClass::Refused, format!("the request cannot be made: {error}"))
    })
}
