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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::api::client::{Client, Options};
    use crate::backend::connection::{Address, Connection, Limits, Tls};
    use crate::backend::language::generic_kind;
    use crate::core::exchange::{Collection, ParentIds};
    use crate::core::identity::Key;
    use crate::core::watch::stream::{Changed, End};

    async fn put(store: &Embedded, name: &str) {
        let request = http::Request::put(format!("/Team/{name}")).body(Bytes::from("{}")).expect("a request");
        assert_eq!(store.call(request).await.status(), 201);
    }

    #[tokio::test]
    async fn a_kind_that_nobody_describes_has_a_feed_with_replay() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = || Embedded::open(folder.path()).expect("a store");
        let store = opened();
        let connection = Connection {
            owner: "me".into(),
            name: "local".into(),
            address: Address::Embedded(folder.path().to_owned()),
            auth: None,
            tls: Tls::default(),
            headers: Vec::new(),
            limits: Limits::default(),
        };
        let transport = Arc::new(InProcess::Stored(opened()));
        let client = Client::read_only(&connection, Options::default(), transport).expect("a client");
        let kind = Arc::new(generic_kind("local", "Team", &["name"]).expect("a kind"));
        let all = Collection {
            kind: kind.name.clone(),
            scope: Key::new(Vec::new()),
            parent_ids: ParentIds::default(),
        };
        let mut feed = client.feed(&kind, &all, None).await.expect("a feed");
        let here = feed.next().await.expect("where it stands").told.position.expect("a position");
        put(&store, "a").await;
        let key = |name: &str| Changed::Key(Key::new(vec![("name".into(), name.into())]));
        let told = feed.next().await.expect("an event").told;
        assert_eq!(told.changed, [key("a")]);
        assert_ne!(told.position.as_ref(), Some(&here));
        put(&store, "b").await;
        let mut again = client.feed(&kind, &all, Some(&here)).await.expect("the position is known");
        let mut seen = Vec::new();
        while seen.len() < 2 {
            seen.extend(again.next().await.expect("what came after").told.changed);
        }
        assert_eq!(seen, [key("a"), key("b")]);
        drop((feed, again, client, store));
        let store = opened();
        let transport = Arc::new(InProcess::Stored(opened()));
        let client = Client::read_only(&connection, Options::default(), transport).expect("a client");
        let Err(ended) = client.feed(&kind, &all, Some(&here)).await else { panic!("of another opening") };
        assert_eq!(ended.end, End::Gone);
        drop(store);
    }
}
