//! One request to its final answer: credentials, limits, redirects of the same origin, one renewal after a
//! 401, counting, and what the log says of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use url::Url;

use super::auth::{AuthError, Authenticator, Proof};
use super::closed::Closed;
use super::issuer::Issuer;
use super::limit::{Limiter, Load};
use super::transport::{Begun, Pieces, Transport, TransportClass, TransportError};
use crate::backend::connection::Text;
use crate::backend::refusal::retry_after;
use crate::backend::request::Site;
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::exchange::PATIENCE;
use crate::core::kind::Method;
use crate::core::redact::Redactor;
use crate::core::report::Requests;
use crate::core::secrets::Secrets;

/// So many redirects are followed.
const MOST_REDIRECTS: usize = 5;

/// A transport that refuses what can write, unless it was made for writing.
pub struct Guarded {
    inner: Arc<dyn Transport>,
    writes: bool,
}

/// A backend that can be asked.
pub struct Line {
    pub site: Site,
    auth: Arc<Authenticator>,
    headers: Vec<(String, Text)>,
    limiter: Limiter,
    /// What the server said to the last read and the last write when it asked for a long wait.
    closed: Closed,
    transport: Guarded,
    /// Where tokens come from, if that is another origin.
    pub(super) issuer: Option<Issuer>,
    counts: Mutex<Requests>,
    /// What must never be printed; the credentials are added once they are known.
    secrets: Secrets,
}

impl Guarded {
    pub fn new(inner: Arc<dyn Transport>, writes: bool) -> Guarded {
        Guarded { inner, writes }
    }
}

impl Transport for Guarded {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        if self.writes || request.role.is_read() {
            return self.inner.send(request);
        }
        Box::pin(std::future::ready(Err(never_writes())))
    }

    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        if self.writes || request.role.is_read() {
            return self.inner.open(request);
        }
        Box::pin(std::future::ready(Err(never_writes())))
    }
}

fn never_writes() -> TransportError {
    TransportError::new(TransportClass::Refused, "this command never writes")
}

/// How much of an answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Whole,
    /// The head. What goes on after it takes none of the places of requests: it would hold one for as long as it
    /// lasts.
    Head,
}

/// An answer, and what is still to come of it.
pub struct Got {
    pub answer: HttpAnswer,
    pub pieces: Option<Pieces>,
}

impl Line {
    pub fn new(
        site: Site,
        auth: Arc<Authenticator>,
        headers: Vec<(String, Text)>,
        limiter: Limiter,
        transport: Guarded,
        issuer: Option<Issuer>,
        secrets: Secrets,
    ) -> Line {
        let counts = Mutex::default();
        let closed = Closed::new(None);
        Line { site, auth, headers, limiter, closed, transport, issuer, counts, secrets }
    }

    /// The same, which obeys a server for so long at most; `None`: for as long as it says.
    #[must_use]
    pub fn obeying(self, longest: Option<Duration>) -> Line {
        Line { closed: Closed::new(longest), ..self }
    }

    /// What the server refuses for a time.
    pub fn closed(&self) -> &Closed {
        &self.closed
    }

    /// The requests that were sent, by role.
    pub fn counts(&self) -> Requests {
        *lock(&self.counts)
    }

    /// Knows all secrets that are known by now.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.secrets.redactor()
    }

    /// Keeps these out of everything that is said from now on.
    pub(super) fn learn(&self, secrets: Vec<String>) {
        if !secrets.is_empty() {
            self.secrets.learn(secrets);
        }
    }

    /// Sends a request and gives the final answer with the URL that gave it.
    ///
    /// # Errors
    /// Why there is no answer; also a credential that is not there, and a redirect that is not followed.
    pub async fn exchange(&self, request: HttpRequest) -> Result<(Url, HttpAnswer), TransportError> {
        let (url, got) = self.obtain(request, Until::Whole).await?;
        Ok((url, got.answer))
    }

    /// Sends a request and gives the final answer as far as that is waited for.
    ///
    /// # Errors
    /// As [`Line::exchange`].
    pub async fn obtain(&self, request: HttpRequest, until: Until) -> Result<(Url, Got), TransportError> {
        let mut request = request;
        for _ in 0..=MOST_REDIRECTS {
            let url = self.site.base.locate(&request.url);
            let url = url.map_err(|e| TransportError::new(TransportClass::Refused, e.to_string()))?;
            let got = self.authorized(&request, until).await?;
            let answer = &got.answer;
            let is_redirect = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let Some(location) = answer.header("location").filter(|_| is_redirect) else {
                return Ok((url, got));
            };
            request.url = self.follow(&request, &url, answer.status, location)?;
        }
        let what = format!("the server redirects more than {MOST_REDIRECTS} times");
        Err(TransportError::new(TransportClass::Refused, what)
            .hint("`-vv` shows where they lead; make the address of the API the backend's `url`"))
    }

    /// Where a redirect leads, if it is followed: a credential never goes to another origin, and a write is
    /// repeated elsewhere only where the server says that it was not done (RFC 9110, 15.4.8 and 15.4.9).
    fn follow(
        &self,
        request: &HttpRequest,
        url: &Url,
        status: u16,
        location: &str,
    ) -> Result<String, TransportError> {
        let refuse = |what: String| TransportError::new(TransportClass::Refused, what);
        let to = self.site.base.resolve(url, location).map_err(|error| {
            refuse(format!("a redirect is not followed: {error}")).hint(
                "credentials never go to another origin; if the API is there, make it the backend's `url`",
            )
        })?;
        let safe = matches!(request.method, Method::Get | Method::Head);
        if safe || matches!(status, 307 | 308) {
            return Ok(to.into());
        }
        let method = request.method.as_str();
        Err(refuse(format!("a redirect ({status}) to `{to}` is not followed for {method}"))
            .hint("make the address that it names the one in the backend"))
    }

    /// One request with its credential, and once more with another if the server does not take the first.
    async fn authorized(&self, request: &HttpRequest, until: Until) -> Result<Got, TransportError> {
        let proof = self.auth.current(self).await.map_err(|error| no_credential(&error))?;
        self.secrets.learn(proof.iter().flat_map(|proof| proof.secrets()));
        let got = self.admitted(request, proof.as_deref(), until).await?;
        let Some(proof) = proof else { return Ok(got) };
        if got.answer.status != 401 {
            proof.accept();
            return Ok(got);
        }
        let renewed = self.auth.renewed(&proof, self).await.map_err(|error| no_credential(&error))?;
        let Some(renewed) = renewed else { return Ok(got) };
        self.secrets.learn(renewed.secrets());
        let got = self.admitted(request, Some(&renewed), until).await?;
        if got.answer.status != 401 {
            renewed.accept();
        }
        Ok(got)
    }

    /// One request among the others of the backend, with its headers.
    pub(super) async fn limited(
        &self,
        request: &HttpRequest,
        proof: Option<&Proof>,
    ) -> Result<HttpAnswer, TransportError> {
        self.admitted(request, proof, Until::Whole).await.map(|got| got.answer)
    }

    async fn admitted(
        &self,
        request: &HttpRequest,
        proof: Option<&Proof>,
        until: Until,
    ) -> Result<Got, TransportError> {
        let mut whole = request.clone();
        for (name, value) in &self.headers {
            let name = name.to_ascii_lowercase();
            let Some(value) = value.reveal() else { return Err(no_header(&name, value)) };
            if !whole.headers.iter().any(|(have, _)| *have == name) {
                whole.headers.push((name, value.into()));
            }
        }
        if let Some(proof) = proof {
            proof.put_into(&mut whole);
        }
        let permit = match until {
            Until::Whole => Some(self.limiter.enter(request.role.is_read()).await),
            Until::Head => {
                self.limiter.turn().await;
                None
            }
        };
        // What it asked for when it was asked before holds for requests of the same sort, so they are not sent.
        if let Some(answer) = self.closed.answer(request.role) {
            return Ok(Got { answer, pieces: None });
        }
        let began = Instant::now();
        let (told, pieces) = match until {
            Until::Whole => (self.transport.send(&whole).await, None),
            Until::Head => match self.transport.open(&whole).await {
                Ok(begun) => (Ok(begun.head), Some(begun.pieces)),
                Err(error) => (Err(error), None),
            },
        };
        let took = began.elapsed();
        self.log(request, &told, took);
        if !matches!(&told, Err(error) if matches!(error.class, TransportClass::NotSent | TransportClass::Refused))
        {
            self.count(request.role);
        }
        if let Some(permit) = permit {
            permit.learn(load(&told), request.role, took);
        }
        let answer = told?;
        self.pause(request.role, &answer);
        Ok(Got { answer, pieces })
    }

    /// Heeds `Retry-After` for the whole backend: by waiting, or by asking no more where the wait is too long.
    fn pause(&self, role: Role, answer: &HttpAnswer) {
        if !matches!(answer.status, 429 | 503) {
            return;
        }
        if let Some(wait) = answer.header("retry-after").and_then(|text| retry_after(text, now())) {
            match wait <= PATIENCE {
                true => self.limiter.pause(wait),
                false => self.closed.close(role, wait, answer),
            }
        }
    }

    pub(super) fn count(&self, role: Role) {
        let mut counts = lock(&self.counts);
        let slot = match role {
            Role::List => &mut counts.list,
            Role::Read | Role::Check => &mut counts.read,
            Role::Login => &mut counts.login,
            Role::Create => &mut counts.create,
            Role::Update => &mut counts.update,
            Role::Delete => &mut counts.delete,
        };
        *slot += 1;
    }

    /// Never a header or a body, and no credential: that was not in the request yet.
    pub(super) fn log(
        &self,
        request: &HttpRequest,
        told: &Result<HttpAnswer, TransportError>,
        took: Duration,
    ) {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return;
        }
        let redactor = self.redactor();
        let url = redactor.text(&request.url);
        let method = request.method.as_str();
        let milliseconds = took.as_millis() as u64;
        match told {
            Ok(answer) => tracing::debug!(method, %url, status = answer.status, milliseconds, "answered"),
            Err(error) => tracing::debug!(method, %url, class = ?error.class, milliseconds, "not answered"),
        }
    }
}

/// The time, since the beginning of 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn load(told: &Result<HttpAnswer, TransportError>) -> Load {
    match told {
        Ok(answer) if matches!(answer.status, 429 | 503) => Load::Trouble,
        Ok(_) => Load::Clean,
        Err(error) if error.class == TransportClass::TimedOut => Load::Trouble,
        Err(_) => Load::Silent,
    }
}

fn no_credential(error: &AuthError) -> TransportError {
    match error {
        AuthError::Token(error) => error.clone(),
        other => {
            TransportError { class: TransportClass::Setup, message: other.to_string(), hint: other.hint() }
        }
    }
}

fn no_header(name: &str, value: &Text) -> TransportError {
    let what = match value {
        Text::Secret(secret) => {
            format!("the secret `{}` is not set, which the header `{name}` needs", secret.source)
        }
        Text::Plain(_) => format!("the header `{name}` has no value"),
    };
    TransportError::new(TransportClass::Setup, what)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
