//! The port of a running watch: whether it is well (`/healthz`, `/readyz`), what it sees (`/status`, `/metrics`), and the
//! two ways to have it look again: a person's (`POST /resync`) and a webhook (`POST /hook/BACKEND`).
//!
//! Nothing that is sent here is believed: a request can make the loop look, and never tell it what is so.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{
    ACCEPT, ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Body;
use tokio::sync::Semaphore;
use tokio::sync::watch::Sender;
use url::form_urlencoded;

use crate::core::watch::{About, Hint, Origin, Role, Snapshot};
use crate::render::watch::page::{self, Ask, POLICY};
use crate::render::watch::{json, metrics};

use super::guard::{Barred, Guard};
use super::hook::{Claim, Hook, Hooks, LARGEST, Secret};
use super::outbox::Outbox;
use super::shown::Shown;

/// A loop that is silent for so long is not well. It gives a sign of life every few seconds.
pub const SILENCE: Duration = Duration::from_secs(60);
/// A body comes within this time.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Answers that are made at once: each holds all objects in memory.
const RENDERINGS: usize = 2;
/// Bodies that are searched for keys at once.
const SEARCHES: usize = 4;
/// Objects that are hinted at one by one; of more, their backends are.
const MOST: usize = 100;

/// What answers.
pub struct Face {
    shown: Shown,
    outbox: Outbox,
    guard: Guard,
    secret: Option<Secret>,
    hooks: Sender<Arc<Hooks>>,
    renderings: Semaphore,
    searches: Arc<Semaphore>,
}

/// What is sent back.
pub type Answer = Response<Bytes>;

impl Face {
    pub fn new(shown: Shown, outbox: Outbox) -> Face {
        Face {
            shown,
            outbox,
            guard: Guard::new(None),
            secret: None,
            hooks: Sender::default(),
            renderings: Semaphore::new(RENDERINGS),
            searches: Arc::new(Semaphore::new(SEARCHES)),
        }
    }

    /// Demands this token for all but `/healthz`, `/readyz` and webhooks.
    pub fn with_token(mut self, token: &str) -> Face {
        self.guard = Guard::new(Some(token));
        self
    }

    /// Takes webhooks that are signed with this secret, for these backends.
    pub fn with_hooks(mut self, secret: &str, hooks: Hooks) -> Face {
        self.secret = Some(Secret::new(secret));
        self.hook_by(hooks);
        self
    }

    /// The backends of webhooks are these from now on.
    pub fn hook_by(&self, hooks: Hooks) {
        self.hooks.send_replace(Arc::new(hooks));
    }

    /// Answers a request of this peer.
    pub async fn answer<B>(&self, head: Parts, body: B, peer: SocketAddr) -> Answer
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = head.uri.path();
        let answer = match (path, path.strip_prefix("/hook/")) {
            (_, Some(backend)) => match not_by(&head.method, &[Method::POST]) {
                None => self.hook(&head, body, backend).await,
                Some(refused) => refused,
            },
            ("/resync", _) => match not_by(&head.method, &[Method::POST]) {
                None => self.resync(&head, peer),
                Some(refused) => refused,
            },
            ("/healthz" | "/readyz" | "/metrics" | "/status" | "/", _) => {
                match not_by(&head.method, &[Method::GET, Method::HEAD]) {
                    None => self.look(path, &head, peer).await,
                    Some(refused) => refused,
                }
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                "there is nothing here: try /status, /metrics, /healthz or /readyz",
            ),
        };
        sealed(answer)
    }

    async fn look(&self, path: &str, head: &Parts, peer: SocketAddr) -> Answer {
        match path {
            "/healthz" => return self.health(),
            "/readyz" => return self.readiness(),
            _ => {}
        }
        if let Err(barred) = self.guard.may_look(&head.headers, peer) {
            return refused(barred);
        }
        match path {
            "/" => elsewhere("status"),
            "/metrics" => typed(metrics::MEDIA_TYPE, self.rendered(|shown| shown.metrics()).await),
            _ if wants_html(&head.headers) => {
                let ask = Ask::of(head.uri.query().unwrap_or_default());
                let may_resync = self.guard.may_tell(&head.headers, peer).is_ok();
                let text = self.rendered(move |shown| page::page(&shown.document(), &ask, may_resync)).await;
                typed("text/html; charset=utf-8", text)
            }
            _ => typed("application/json", self.rendered(|shown| json::document(&shown.document())).await),
        }
    }

    /// Makes a text of the last snapshot, on a thread of its own: there may be very many objects.
    async fn rendered(&self, make: impl FnOnce(&Shown) -> String + Send + 'static) -> Result<String, Answer> {
        let failed = || plain(StatusCode::INTERNAL_SERVER_ERROR, "the answer could not be made");
        let _turn = self.renderings.acquire().await.map_err(|_| failed())?;
        let shown = self.shown.clone();
        tokio::task::spawn_blocking(move || make(&shown)).await.map_err(|_| failed())
    }

    /// The loop goes on.
    fn health(&self) -> Answer {
        let silence = self.shown.silence();
        match silence < SILENCE {
            true => plain(StatusCode::OK, "ok"),
            false => {
                let words = format!("the loop has given no sign of life for {} seconds", silence.as_secs());
                plain(StatusCode::SERVICE_UNAVAILABLE, &words)
            }
        }
    }

    fn readiness(&self) -> Answer {
        match unready(&self.shown.latest()) {
            None => plain(StatusCode::OK, "ready"),
            Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, why),
        }
    }

    /// A person wants it to look again: at all, at a backend, a kind, or one object.
    fn resync(&self, head: &Parts, peer: SocketAddr) -> Answer {
        if let Err(barred) = self.guard.may_tell(&head.headers, peer) {
            return refused(barred);
        }
        let snapshot = self.shown.latest();
        if snapshot.instance.role == Role::Follower {
            return plain(StatusCode::CONFLICT, "this instance stands by: ask the one that holds the lease");
        }
        let Some(wanted) = Wanted::of(head.uri.query().unwrap_or_default()) else {
            return plain(
                StatusCode::BAD_REQUEST,
                "the query takes `backend`, `kind` and `name`; `name` needs `kind`",
            );
        };
        let hints = wanted.hints(&snapshot);
        if hints.is_empty() {
            return plain(StatusCode::NOT_FOUND, "no such object is in the files");
        }
        for about in hints {
            self.outbox.send(Hint { about, origin: Origin::Person, observed: None });
        }
        match wants_html(&head.headers) {
            true => elsewhere("status"),
            false => plain(StatusCode::ACCEPTED, "it will be looked at again"),
        }
    }

    /// Somebody says that something may have changed.
    async fn hook<B>(&self, head: &Parts, body: B, backend: &str) -> Answer
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let Some(secret) = &self.secret else {
            return plain(
                StatusCode::NOT_FOUND,
                "webhooks are not taken: `--hook-secret-env` names their secret",
            );
        };
        let large = || plain(StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 1 MiB");
        if body.size_hint().lower() > LARGEST as u64 {
            return large();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let disbelieved = |why: &dyn std::fmt::Display| plain(StatusCode::UNAUTHORIZED, &why.to_string());
        let claim = match Claim::of(&head.headers, now) {
            Ok(claim) => claim,
            Err(why) => return disbelieved(&why),
        };
        let body = match tokio::time::timeout(BODY_TIME, Limited::new(body, LARGEST).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return large(),
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "the body broke off"),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        if let Err(why) = secret.check(&claim, &body) {
            return disbelieved(&why);
        }
        // Told only to those who know the secret.
        let latest = self.shown.latest();
        let hooks = self.hooks.borrow().clone();
        let Some((backend, hook)) = hooks.get_key_value(backend) else {
            return plain(StatusCode::NOT_FOUND, "there is no backend of this name");
        };
        if latest.instance.role == Role::Follower {
            let mut answer =
                plain(StatusCode::SERVICE_UNAVAILABLE, "this instance stands by: another one works");
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
            return answer;
        }
        self.work(backend.clone(), hook.clone(), body);
        plain(StatusCode::ACCEPTED, "taken")
    }

    /// Finds out what a body is about, after it was answered. Where too many come at once, it is not searched.
    fn work(&self, backend: Arc<str>, hook: Hook, body: Bytes) {
        let outbox = self.outbox.clone();
        let turn = self.searches.clone().try_acquire_owned();
        tokio::spawn(async move {
            let whole =
                Hint { about: About::Target(backend.clone()), origin: Origin::Webhook, observed: None };
            let hints = match (turn, hook) {
                (Ok(_turn), hook @ Hook::Keyed(..)) => {
                    let found = tokio::task::spawn_blocking(move || hook.hints(&backend, &body));
                    found.await.unwrap_or_else(|_| vec![whole])
                }
                _ => vec![whole],
            };
            hints.into_iter().for_each(|hint| outbox.send(hint));
        });
    }
}

/// What a person wants to be looked at.
struct Wanted {
    backend: Option<String>,
    kind: Option<String>,
    name: Option<String>,
}

impl Wanted {
    /// `None` for a query that makes no sense: a name that is misspelled must not become "all".
    fn of(query: &str) -> Option<Wanted> {
        let mut wanted = Wanted { backend: None, kind: None, name: None };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let place = match &*name {
                "backend" => &mut wanted.backend,
                "kind" => &mut wanted.kind,
                "name" => &mut wanted.name,
                _ => return None,
            };
            *place = Some(value.into_owned());
        }
        (wanted.name.is_none() || wanted.kind.is_some()).then_some(wanted)
    }

    /// What that is, of what the files want; nothing where they do not have it.
    fn hints(&self, snapshot: &Snapshot) -> Vec<About> {
        if let (None, None, None) = (&self.backend, &self.kind, &self.name) {
            return vec![About::All];
        }
        let is = |asked: &Option<String>, have: &str| asked.as_ref().is_none_or(|asked| asked == have);
        let ids = snapshot.status.objects.iter().map(|object| &object.id);
        let ids = ids.filter(|id| is(&self.backend, &id.kind.backend) && is(&self.kind, &id.kind.kind));
        let ids: Vec<_> =
            ids.filter(|id| self.name.as_ref().is_none_or(|name| *name == id.key.to_string())).collect();
        if self.kind.is_some() && ids.len() <= MOST {
            return ids.into_iter().cloned().map(About::Object).collect();
        }
        let backends: std::collections::BTreeSet<_> = ids.iter().map(|id| id.kind.backend.clone()).collect();
        backends.into_iter().map(About::Target).collect()
    }
}

/// Whether a path says whether the watch is well, and nothing else.
pub fn is_of_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// The answer to whatever else is asked while there are too many connections.
pub fn busy() -> Answer {
    let mut answer = plain(StatusCode::SERVICE_UNAVAILABLE, "too many connections");
    answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    sealed(answer)
}

/// Why a watch is not ready. One that stands by is: it would take over. While the files are no good, the last good ones
/// are kept level: that is no reason either, once there are some.
fn unready(snapshot: &Snapshot) -> Option<&'static str> {
    match snapshot {
        Snapshot { instance, .. } if instance.role == Role::Follower => None,
        Snapshot { desired, .. } if desired.loads == 0 && desired.failures > 0 => {
            Some("the files are not valid")
        }
        Snapshot { desired, .. } if desired.loads == 0 => Some("the files were not read yet"),
        Snapshot { seen_all: false, .. } => Some("not every object was looked at yet"),
        _ => None,
    }
}

/// The refusal of a method that is none of these.
fn not_by(method: &Method, takes: &[Method]) -> Option<Answer> {
    if takes.contains(method) {
        return None;
    }
    let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "this is not done here by this method");
    let names: Vec<&str> = takes.iter().map(Method::as_str).collect();
    answer
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_str(&names.join(", ")).expect("methods are letters"));
    Some(answer)
}

fn refused(barred: Barred) -> Answer {
    let (status, words) = match barred {
        Barred::NoToken => (StatusCode::UNAUTHORIZED, "a token is needed: `Authorization: Bearer TOKEN`"),
        Barred::NotLocal => (
            StatusCode::FORBIDDEN,
            "this is for this machine alone, unless there is a token: `--listen-token-env`",
        ),
        Barred::OtherSite => (
            StatusCode::FORBIDDEN,
            "a page of another site asks, or the machine was asked by a name: ask by its address",
        ),
    };
    let mut answer = plain(status, words);
    if barred == Barred::NoToken {
        // A browser asks for a password at that.
        answer
            .headers_mut()
            .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"trueup\", charset=\"UTF-8\""));
    }
    answer
}

fn plain(status: StatusCode, words: &str) -> Answer {
    let mut answer = Response::new(Bytes::from(format!("{words}\n")));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

fn typed(media: &'static str, text: Result<String, Answer>) -> Answer {
    let mut answer = match text {
        Ok(text) => Response::new(Bytes::from(text)),
        Err(failed) => return failed,
    };
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    answer
}

fn elsewhere(place: &'static str) -> Answer {
    let mut answer = plain(StatusCode::SEE_OTHER, "see /status");
    answer.headers_mut().insert(LOCATION, HeaderValue::from_static(place));
    answer
}

/// Browsers ask for HTML by its name; others say that they take anything.
fn wants_html(headers: &HeaderMap) -> bool {
    headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}

/// What every answer says to a browser and to what stands between.
fn sealed(mut answer: Answer) -> Answer {
    const HEADERS: [(&str, &str); 6] = [
        ("cache-control", "no-store"),
        ("content-security-policy", POLICY),
        // With `no-referrer` a browser hides the origin of its own page when the button is pressed.
        ("referrer-policy", "same-origin"),
        ("vary", "accept"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ];
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
#[path = "face_tests.rs"]
mod tests;
