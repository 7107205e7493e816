//! The REST API: from a request to an answer, with or without a socket between.
//!
//! Collections and items for any kind, server ids or natural keys, tags and preconditions, paging, patches,
//! problem documents; field managers, a status apart, finalizers, idempotency keys, a change feed. What a request means in terms of the store is decided here; the store decides the rest.

mod answer;
mod body;
mod feed;
#[cfg(test)]
mod feed_tests;
mod listing;
#[cfg(test)]
mod ownership_tests;
mod params;
mod problem;
mod query;
#[cfg(test)]
mod reliable_tests;
mod route;
mod running;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CONTENT_LENGTH, IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;

use super::store::{Action, Committed, Condition, Done, Key, Part, Patch, Refusal, Store, Tags, Write};
use body::{ACCEPT_PATCH, PATCHES};
pub(super) use body::{MERGE_PATCH, too_large};
pub use feed::Following;
use feed::{Asked, Way};
use params::Params;
pub(super) use problem::{Problem, empty, respond};
use query::ListQuery;
pub(super) use query::cursor;
use route::Target;
use running::Running;

/// On the answer to an accepted write, among its extensions: its place in the order of all writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Accepted(pub u64);

/// The reference server: a store behind the rules of HTTP.
pub struct Server {
    store: Store,
    token: Option<String>,
    /// Whether a write needs a precondition.
    strict: bool,
    running: Running,
}

/// An answer that is there as a whole, or that goes on.
pub enum Opened {
    Whole(Response<Bytes>),
    Stream(Response<Following>),
}

impl Server {
    pub fn new(store: Store) -> Server {
        Server { store, token: None, strict: false, running: Running::default() }
    }

    /// Demands this bearer token from every request but `GET /healthz`.
    pub fn with_token(mut self, token: impl Into<String>) -> Server {
        self.token = Some(token.into());
        self
    }

    /// Demands a precondition from every write to what has a tag: 428 without one (RFC 6585).
    pub fn with_preconditions(mut self) -> Server {
        self.strict = true;
        self
    }

    /// Answers a request. A write is durable when this returns.
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        let mut response = self.answer(&request).await.unwrap_or_else(Problem::into_response);
        if request.method() == Method::HEAD {
            let length = response.body().len().into();
            response.headers_mut().insert(CONTENT_LENGTH, length);
            *response.body_mut() = Bytes::new();
        }
        response
    }

    /// Answers a request as [`call`](Server::call) does; a stream of the change feed as it comes.
    pub async fn open(&self, request: Request<Bytes>) -> Opened {
        match self.stream(&request) {
            None => Opened::Whole(self.call(request).await),
            Some(Ok(response)) => Opened::Stream(response),
            Some(Err(problem)) => Opened::Whole(problem.into_response()),
        }
    }

    /// Ends all streams and long polls, so that nothing holds up a stop.
    pub fn close_feeds(&self) {
        self.store.feed().close();
    }

    /// The stream that a request asks for, if it asks for one.
    fn stream(&self, request: &Request<Bytes>) -> Option<Result<Response<Following>, Problem>> {
        let asked = Asked::of(request).ok().flatten();
        let asked = asked.filter(|asked| asked.way != Way::Poll && request.method() == Method::GET)?;
        let stream = || {
            self.admit(request.headers())?;
            asked.stream(&self.store, self.followed(request)?)
        };
        Some(stream())
    }

    /// The collection that a request for the feed is about; `None` for all.
    fn followed(&self, request: &Request<Bytes>) -> Result<Option<Key>, Problem> {
        match self.store.read(|index| route::target(request.uri().path())?.resolved(index))? {
            Target::Root => Ok(None),
            Target::Collection(key) => Ok(Some(key)),
            _ => Err(Problem::bad_request(
                "a feed is of a collection, or of everything: `/teams?watch`, `/?watch`",
            )),
        }
    }

    async fn followed_whole(
        &self,
        request: &Request<Bytes>,
        asked: &Asked,
    ) -> Result<Response<Bytes>, Problem> {
        let within = self.followed(request)?;
        match asked.way {
            Way::Poll => asked.poll(&self.store, within).await,
            _ => {
                Err(Problem::bad_request("a stream is asked for by GET; `watch=poll` is answered as a whole"))
            }
        }
    }

    /// Whether the request carries the token, if one is demanded.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(token) = &self.token else { return Ok(()) };
        let sent = headers.get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes());
        let (scheme, sent) = sent.split_at_checked("Bearer ".len()).unwrap_or_default();
        match scheme.eq_ignore_ascii_case(b"Bearer ") && same(sent, token.as_bytes()) {
            true => Ok(()),
            false => Err(Problem::unauthorized()),
        }
    }

    async fn answer(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Problem> {
        let target = route::target(request.uri().path())?;
        if target != Target::Health {
            self.admit(request.headers())?;
        }
        let target = self.store.read(|index| target.resolved(index))?;
        if request.method() == Method::OPTIONS {
            return Ok(options(&target));
        }
        let reads = request.method() == Method::GET || request.method() == Method::HEAD;
        if let Some(asked) = if reads { Asked::of(request)? } else { None } {
            return self.followed_whole(request, &asked).await;
        }
        match &target {
            Target::Root if reads => Ok(self.overview()),
            Target::Health if reads => Ok(json_answer(&json!({"status": "ok"}))),
            Target::Collection(key) if reads => {
                let query = ListQuery::parse(request.uri().query().unwrap_or_default())?;
                listing::list(&self.store, key, &query, &condition(request.headers())?)
            }
            Target::Item(key) | Target::Status(key) if reads => {
                let params = Params::parse(request.uri().query().unwrap_or_default())?;
                self.read(key, &condition(request.headers())?, &params)
            }
            target => self.write(target, request).await,
        }
    }

    async fn write(&self, target: &Target, request: &Request<Bytes>) -> Result<Response<Bytes>, Problem> {
        let headers = request.headers();
        let params = Params::parse(request.uri().query().unwrap_or_default())?;
        let (key, action) = match (target, request.method().as_str()) {
            (Target::Collection(key), "POST") => {
                let idempotency_key = params::idempotency_key(headers)?;
                (key, Action::Create { body: body::whole(request)?, idempotency_key })
            }
            (Target::Item(key) | Target::Status(key), "PUT") => (key, Action::Put(body::whole(request)?)),
            (Target::Item(key) | Target::Status(key), "PATCH") => {
                (key, Action::Patch(body::patch(request, params.force)?))
            }
            (Target::Item(key), "DELETE") => (key, Action::Delete),
            _ => return Err(Problem::not_allowed(allowed(target))),
        };
        if let (Action::Patch(Patch::Apply { .. }), None) = (&action, &params.manager) {
            return Err(Problem::bad_request("an apply-patch says who applies: `?fieldManager=NAME`"));
        }
        let condition = condition(headers)?;
        let creates = matches!(action, Action::Create { .. });
        if self.strict && !creates && condition == Condition::default() {
            return Err(Problem::precondition_required());
        }
        let part = if let Target::Status(_) = target { Part::Status } else { Part::Main };
        let write = Write { key: key.clone(), part, by: params.writer(headers), condition, action };
        if params.dry_run {
            return Ok(answer::written(&self.store.rehearse(write)?, &params));
        }
        let Committed { number, done } = self.commit(write).await?;
        let mut response = answer::written(&done, &params);
        if !matches!(done, Done::Replayed(_)) {
            response.extensions_mut().insert(Accepted(number));
        }
        Ok(response)
    }

    /// Waits for a write; a create with an idempotency key runs once at a time.
    async fn commit(&self, write: Write) -> Result<Committed, Problem> {
        let _run = match &write.action {
            Action::Create { idempotency_key: Some(sent), .. } => {
                Some(self.running.begin(&write.key, sent).ok_or_else(Problem::still_running)?)
            }
            _ => None,
        };
        Ok(self.store.write(write).await?)
    }

    fn read(&self, key: &Key, condition: &Condition, params: &Params) -> Result<Response<Bytes>, Problem> {
        let item = self.store.read(|index| {
            index.expect_parent(&key.parent().parent())?;
            index.item(key).cloned().ok_or_else(|| Refusal::NotFound(key.clone()))
        })?;
        if !condition.match_holds(Some(&item.tag())) {
            let detail = format!("`{key}` is at revision {}", item.revision);
            return Err(Refusal::Precondition(detail).into());
        }
        if condition.none_match_fails(Some(&item.tag())) {
            let mut response = answer::shown(StatusCode::NOT_MODIFIED, &item, params);
            *response.body_mut() = Bytes::new();
            return Ok(response);
        }
        Ok(answer::shown(StatusCode::OK, &item, params))
    }

    /// The top-level collections, with the number of items in each.
    fn overview(&self) -> Response<Bytes> {
        let collections: Vec<_> = self.store.read(|index| {
            let top = index.collections().filter(|(key, _)| key.depth() == 1);
            top.map(|(key, collection)| json!({"path": key.as_str(), "items": collection.len()})).collect()
        });
        json_answer(&json!({"collections": collections}))
    }
}

fn json_answer(value: &serde_json::Value) -> Response<Bytes> {
    respond(StatusCode::OK, "application/json", value.to_string())
}

fn allowed(target: &Target) -> &'static str {
    match target {
        Target::Root | Target::Health => "GET, HEAD, OPTIONS",
        Target::Collection(_) => "GET, HEAD, POST, OPTIONS",
        Target::Item(_) => "GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
        Target::Status(_) => "GET, HEAD, PUT, PATCH, OPTIONS",
    }
}

fn options(target: &Target) -> Response<Bytes> {
    let mut response = empty(StatusCode::NO_CONTENT);
    response.headers_mut().insert(ALLOW, problem::header_value(allowed(target)));
    if let Target::Item(_) | Target::Status(_) = target {
        response.headers_mut().insert(ACCEPT_PATCH, problem::header_value(PATCHES));
    }
    response
}

fn condition(headers: &HeaderMap) -> Result<Condition, Problem> {
    let tags = |name| {
        let values: Vec<&[u8]> = headers.get_all(&name).iter().map(|value| value.as_bytes()).collect();
        if values.is_empty() {
            return Ok(None);
        }
        let text = values.join(&b", "[..]);
        let tags = std::str::from_utf8(&text).ok().and_then(Tags::parse);
        tags.map(Some).ok_or_else(|| Problem::bad_request(format!("`{name}` is no list of entity tags")))
    };
    Ok(Condition { if_match: tags(IF_MATCH)?, if_none_match: tags(IF_NONE_MATCH)? })
}

/// Compares without stopping at the first difference, so that the time taken tells nothing about the token.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
