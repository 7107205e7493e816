//! The seam between requests as values and the world: one exchange, nothing more. Redirects, credentials and
//! retries are the business of those above; the built-in server is a transport without sockets.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt};

use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::exchange::FailureClass;

/// The body of an answer, piece by piece, for as long as it goes.
pub type Pieces = BoxStream<'static, Result<Bytes, TransportError>>;

/// An answer whose head is there.
pub struct Begun {
    /// Without the body, unless it was read already.
    pub head: HttpAnswer,
    pub pieces: Pieces,
}

/// Sends one request and waits for the whole answer, whatever its status.
pub trait Transport: Send + Sync {
    /// # Errors
    /// Why there is no answer.
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>>;

    /// Sends one request and waits for the head of the answer. How long that, and each piece, may take is the
    /// caller's business. A transport that knows only whole answers gives one of a single piece.
    ///
    /// # Errors
    /// Why there is no answer.
    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        Box::pin(async move {
            let mut head = self.send(request).await?;
            let body = Bytes::from(std::mem::take(&mut head.body));
            Ok(Begun { head, pieces: futures_util::stream::iter([Ok(body)]).boxed() })
        })
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TransportError {
    pub class: TransportClass,
    /// What came of it, in lower case; may hold text of the server.
    pub message: String,
    pub hint: Option<String>,
}

/// What is known of a request without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportClass {
    /// It never left, or the server did not take it.
    NotSent,
    /// It was sent, and nobody knows what the server made of it.
    Lost,
    /// Lost to a timeout: the server may be overloaded.
    TimedOut,
    /// It was answered, and the answer is larger than what is taken.
    TooLarge,
    /// It was not sent, or its redirect not followed, by a rule of ours.
    Refused,
    /// The backend is not set up: a credential that is not there.
    Setup,
}

impl TransportError {
    pub fn new(class: TransportClass, message: impl Into<String>) -> TransportError {
        TransportError { class, message: message.into(), hint: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> TransportError {
        self.hint = Some(hint.into());
        self
    }
}

impl TransportClass {
    /// The class as the engine knows it.
    pub fn failure(self) -> FailureClass {
        match self {
            TransportClass::NotSent => FailureClass::NotSent,
            TransportClass::Lost | TransportClass::TimedOut => FailureClass::Lost,
            TransportClass::TooLarge => FailureClass::NotTheApi,
            TransportClass::Refused => FailureClass::Refused,
            TransportClass::Setup => FailureClass::Setup,
        }
    }
}
