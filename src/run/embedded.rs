//! The built-in server as a transport without sockets.

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::api::transport::{Transport, TransportClass, TransportError};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::server::Embedded;

/// A backend of `url: embedded:PATH`.
pub struct InProcess(pub Embedded);

impl Transport for InProcess {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            let response = self.0.call(to_http(request)?).await;
            let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
            let headers = response.headers().iter().map(|(name, value)| (name.to_string(), text(value)));
            Ok(HttpAnswer {
                status: response.status().as_u16(),
                headers: headers.collect(),
                body: response.into_body().to_vec(),
            })
        })
    }
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
