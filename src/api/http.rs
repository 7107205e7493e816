//! One exchange over sockets: timeouts, sizes and TLS. No redirect is followed and nothing is retried but a
//! request that never left, or that the server says it has not begun with.

use std::sync::OnceLock;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use tokio::time::{Instant, timeout, timeout_at};

use super::broken::{self, Step};
use super::tls::{self, TlsError};
use super::transport::{Begun, Transport, TransportClass, TransportError};
use crate::backend::base::Base;
use crate::backend::connection::{Limits, Tls};
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::kind::Method;

/// How long each step of an exchange may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the start to the answer's headers.
    pub headers: Duration,
    /// Without a byte of the body.
    pub idle: Duration,
    pub total: Duration,
    /// Without a frame, before an HTTP/2 connection is asked whether it is still there; and how long it has for that.
    pub probe: Duration,
}

/// The longest body, unpacked.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// What this program calls itself.
const USER_AGENT: &str = concat!("trueup/", env!("CARGO_PKG_VERSION"));

impl Timeouts {
    /// The usual ones; a stated timeout is for the whole exchange.
    pub fn of(limits: &Limits) -> Timeouts {
        let usual = |seconds| Duration::from_secs(seconds);
        let total = limits.timeout.unwrap_or(usual(60));
        let headers = limits.timeout.unwrap_or(usual(30));
        Timeouts {
            connect: usual(5).min(total),
            headers,
            idle: usual(30).min(total),
            total,
            // Such a connection is given up before the first request on it is: the next one has another.
            probe: usual(15).min(headers / 4),
        }
    }
}

/// The transport over sockets.
pub struct HttpTransport {
    client: reqwest::Client,
    /// For answers that go on for long: on connections of their own, they take none of the streams of the others
    /// (RFC 9113, 5.1.2), and a connection that is given up takes nothing else along.
    streams: OnceLock<reqwest::Client>,
    tls: Tls,
    base: Base,
    timeouts: Timeouts,
}

impl HttpTransport {
    /// A transport to one backend. Proxies are taken from the environment.
    ///
    /// # Errors
    /// Certificates that cannot be used.
    pub fn new(base: Base, tls: &Tls, limits: &Limits) -> Result<HttpTransport, TlsError> {
        tls::choose_provider();
        let timeouts = Timeouts::of(limits);
        let client = client(&base, tls, &timeouts)?;
        Ok(HttpTransport { client, streams: OnceLock::new(), tls: tls.clone(), base, timeouts })
    }

    async fn exchange(&self, request: &HttpRequest) -> Result<HttpAnswer, TransportError> {
        match self.once(request).await {
            Err(error) if error.class == TransportClass::NotSent => self.once(request).await,
            told => told,
        }
    }

    async fn once(&self, request: &HttpRequest) -> Result<HttpAnswer, TransportError> {
        let end = Instant::now() + self.timeouts.total;
        let sent = self.client.execute(self.request(request)?);
        let sent = timeout(self.timeouts.headers.min(self.timeouts.total), sent).await;
        let response = match sent {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.explain(&error)),
            Err(_) => return Err(self.timed_out(self.timeouts.headers)),
        };
        let head = head(&response);
        let body = self.body(response, end).await.map_err(|error| match (error.class, request.role) {
            (TransportClass::TooLarge, Role::List) => {
                error.hint("declare paging for the listing, or narrow it by its query")
            }
            _ => error,
        });
        Ok(HttpAnswer { body: body?, ..head })
    }

    /// Made when the first feed is opened: few commands ever open one.
    fn streams(&self) -> Result<reqwest::Client, TransportError> {
        if let Some(client) = self.streams.get() {
            return Ok(client.clone());
        }
        let made = client(&self.base, &self.tls, &self.timeouts)
            .map_err(|error| TransportError::new(TransportClass::Setup, error.to_string()))?;
        Ok(self.streams.get_or_init(|| made).clone())
    }

    /// The head of an answer whose body comes by and by, never packed: what packs gathers first.
    async fn begin(&self, request: &HttpRequest) -> Result<Begun, TransportError> {
        let mut asked = self.request(request)?;
        asked.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let response = self.streams()?.execute(asked).await.map_err(|error| self.explain(&error))?;
        let head = head(&response);
        let pieces =
            response.bytes_stream().map(|piece| piece.map_err(|error| broken::inside_answer(&error)));
        Ok(Begun { head, pieces: pieces.boxed() })
    }

    fn request(&self, request: &HttpRequest) -> Result<reqwest::Request, TransportError> {
        let refuse = |what: String| TransportError::new(TransportClass::Refused, what);
        let url = self.base.locate(&request.url).map_err(|error| refuse(error.to_string()))?;
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Head => reqwest::Method::HEAD,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let mut out = reqwest::Request::new(method, url);
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let odd = || {
                refuse(format!(
                    "the header `{name}` cannot be sent: it has characters that headers cannot hold"
                ))
            };
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| odd())?;
            headers.insert(header, HeaderValue::from_str(value).map_err(|_| odd())?);
        }
        // Proxies weaken the ETag of what they compress (nginx, Apache): only listings, whose tags guard
        // nothing, are asked for in packed form.
        if request.role != Role::List {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        *out.headers_mut() = headers;
        *out.body_mut() = request.body.clone().map(Into::into);
        Ok(out)
    }

    async fn body(&self, mut response: reqwest::Response, end: Instant) -> Result<Vec<u8>, TransportError> {
        let mut body = Vec::new();
        loop {
            let idle = Instant::now() + self.timeouts.idle;
            let chunk = match timeout_at(idle.min(end), response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err(broken::inside_answer(&error)),
                Err(_) => {
                    return Err(self.timed_out(if idle < end {
                        self.timeouts.idle
                    } else {
                        self.timeouts.total
                    }));
                }
            };
            if body.len() + chunk.len() > LARGEST_BODY {
                let what = format!("the answer is larger than {} MB", LARGEST_BODY / 1024 / 1024);
                return Err(TransportError::new(TransportClass::TooLarge, what));
            }
            body.extend_from_slice(&chunk);
        }
    }

    fn explain(&self, error: &reqwest::Error) -> TransportError {
        let step = match error.is_connect() {
            true => Step::Connecting { timed_out: error.is_timeout() },
            false => Step::Waiting,
        };
        broken::before_answer(&self.base.origin(), error, step)
    }

    fn timed_out(&self, after: Duration) -> TransportError {
        let what =
            format!("no answer from `{}` within {}", self.base.origin(), humantime::format_duration(after));
        TransportError::new(TransportClass::TimedOut, what)
            .hint("`limits.timeout` of the backend sets how long to wait")
    }
}

/// What sends requests to one backend.
fn client(base: &Base, tls: &Tls, timeouts: &Timeouts) -> Result<reqwest::Client, TlsError> {
    let builder = reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        // What is sent again is decided, counted and limited here.
        .retry(reqwest::retry::never())
        // A request that is given up ends its stream alone: without this a connection that nobody serves any more
        // would get all that come after it.
        .http2_keep_alive_interval(timeouts.probe)
        .http2_keep_alive_timeout(timeouts.probe)
        .connect_timeout(timeouts.connect);
    let builder = if base.origin().starts_with("https:") {
        tls::configure(builder, tls)?
    } else {
        // The system's certificates are not read where none is checked.
        builder.tls_certs_only(std::iter::empty())
    };
    let builder = if goes_directly() { builder.no_proxy() } else { builder };
    Ok(builder.build()?)
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(self.exchange(request))
    }

    fn open<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<Begun, TransportError>> {
        Box::pin(self.begin(request))
    }
}

/// Whether no proxy is to be used for anything: the client's own matcher takes the `*` of `NO_PROXY` for names
/// alone, and not for addresses.
fn goes_directly() -> bool {
    let all = |list: String| list.split(',').any(|entry| entry.trim() == "*");
    ["NO_PROXY", "no_proxy"].iter().any(|name| std::env::var(name).is_ok_and(all))
}

/// The head of an answer, without its body.
fn head(response: &reqwest::Response) -> HttpAnswer {
    let headers = response.headers().iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    HttpAnswer { status: response.status().as_u16(), headers: headers.collect(), body: Vec::new() }
}
