//! Injected faults, for tests: answers that real servers give on bad days, at exact points.
//!
//! Stands between a connection and the server, and only when it was asked for. Besides the rules (replaced by
//! `PUT /_faults`) it keeps `GET /_log`: the accepted writes in the order in which they were committed, which
//! tests compare with what a client believes to have done.

mod effects;
#[cfg(test)]
mod feed_tests;
mod late;
mod memory;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{Method, Request, Response, StatusCode, Uri};
use serde_json::json;

use super::api::{Accepted, Following, Opened, Problem, Server, empty, respond};
use super::listen::{Reply, Spoiled};
use effects::{
    answered, empty_page, html, others, redirected, with_repeated_cursor, with_stored, with_total,
};
use late::Delayed;
use memory::Memory;
use rules::{Fault, Moment, Rule};
pub use rules::{Rules, RulesError};

/// Rules at work, and what they must remember.
pub struct Faults {
    state: Mutex<State>,
}

struct State {
    rules: Vec<Active>,
    random: fastrand::Rng,
    memory: Memory,
    delayed: Delayed,
    log: Vec<Logged>,
}

/// A rule with its counters.
struct Active {
    rule: Rule,
    seen: u64,
    fired: u64,
}

/// An accepted write.
struct Logged {
    number: Accepted,
    method: Method,
    path: String,
    status: u16,
}

impl Faults {
    pub fn new(rules: Rules) -> Faults {
        let state = State {
            rules: Vec::new(),
            random: fastrand::Rng::new(),
            memory: Memory::default(),
            delayed: Delayed::default(),
            log: Vec::new(),
        };
        let faults = Faults { state: Mutex::new(state) };
        faults.state().load(rules);
        faults
    }

    /// Answers a request, through whatever rules fire.
    pub async fn reply(&self, server: &Server, request: Request<Bytes>) -> Reply {
        if matches!(request.uri().path(), "/_faults" | "/_log") {
            let admitted = server.admit(request.headers());
            return Reply::Whole(
                admitted.and_then(|()| self.admin(&request)).unwrap_or_else(Problem::into_response),
            );
        }
        let fired = self.state().fired(&request);
        for fault in &fired {
            if let Some(reply) = self.instead(server, fault, &request).await {
                return reply;
            }
        }
        self.carried_out(server, request, &fired).await
    }

    /// What a fault does before a request is carried out; a reply, if it is not carried out.
    async fn instead(&self, server: &Server, fault: &Fault, request: &Request<Bytes>) -> Option<Reply> {
        let whole = |response| Some(Reply::Whole(response));
        match fault {
            Fault::Delay(time) => tokio::time::sleep(*time).await,
            Fault::Meanwhile(other) => drop(server.call(others(other)).await),
            Fault::Drop(Moment::Before) => return Some(Reply::Drop),
            Fault::Late(late) => {
                self.state().delayed.push(request.clone(), late);
                return Some(Reply::Drop);
            }
            Fault::Status(answer) if answer.at == Moment::Before => return whole(answered(answer)),
            Fault::Redirect(redirect) => return whole(redirected(redirect)),
            Fault::Html(page) => return whole(html(page)),
            Fault::Flood(size) => return Some(Reply::Flood(*size)),
            Fault::EmptyPage(_) if !request.uri().query().unwrap_or_default().contains("cursor=") => {
                return whole(empty_page(request.uri().path(), request.uri().query().unwrap_or_default()));
            }
            _ => {}
        }
        None
    }

    async fn carried_out(&self, server: &Server, mut request: Request<Bytes>, fired: &[Fault]) -> Reply {
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let reads = method == Method::GET || method == Method::HEAD;
        for fault in fired {
            if let Fault::Stored(stored) = fault {
                request = with_stored(request, stored);
            }
        }
        let hides = fired.iter().any(|fault| matches!(fault, Fault::Hide(_)));
        let before = if hides && !reads { Some(server.call(look(&request)).await) } else { None };
        if fired.iter().any(|fault| matches!(fault, Fault::Twice(_))) {
            let first = server.call(request.clone()).await;
            self.state().note(&method, uri.path(), &first);
        }
        let response = match server.open(request).await {
            Opened::Whole(response) => response,
            Opened::Stream(response) => return spoiled(response, fired),
        };
        self.state().note(&method, uri.path(), &response);
        let due = self.state().delayed.due(&method);
        for late in due {
            let (method, path) = (late.method().clone(), late.uri().path().to_owned());
            let response = server.call(late).await;
            self.state().note(&method, &path, &response);
        }
        let mut state = self.state();
        let stale = fired.iter().any(|fault| matches!(fault, Fault::Stale(_)));
        let response = match reads {
            true => state.memory.seen_through(&method, &uri, response, stale),
            false => response,
        };
        state.finish(fired, &uri, before, response)
    }

    /// `PUT /_faults` and `GET /_log`. Rules cannot be read back: they are the tester's own.
    fn admin(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Problem> {
        match (request.uri().path(), request.method().as_str()) {
            ("/_faults", "PUT") => {
                let text = std::str::from_utf8(request.body())
                    .map_err(|_| Problem::bad_request("the rules of faults are not UTF-8"))?;
                let rules = Rules::parse(text).map_err(|error| Problem::unprocessable(error.to_string()))?;
                self.state().load(rules);
                Ok(empty(StatusCode::NO_CONTENT))
            }
            ("/_log", "GET") => Ok(self.state().log()),
            ("/_log", _) => Err(Problem::not_allowed("GET")),
            _ => Err(Problem::not_allowed("PUT")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the faults")
    }
}

impl State {
    /// Puts new rules in force. What was hidden or remembered under the old ones is forgotten, the log stays.
    fn load(&mut self, rules: Rules) {
        self.random = fastrand::Rng::with_seed(rules.seed);
        self.rules = rules.rules.into_iter().map(|rule| Active { rule, seen: 0, fired: 0 }).collect();
        self.memory = Memory::default();
        self.delayed = Delayed::default();
    }

    fn fired(&mut self, request: &Request<Bytes>) -> Vec<Fault> {
        let State { rules, random, .. } = self;
        let fires = |rule: &mut Active| rule.fires(request, random).then(|| rule.rule.fault.clone());
        rules.iter_mut().filter_map(fires).collect()
    }

    fn note(&mut self, method: &Method, path: &str, response: &Response<Bytes>) {
        if let Some(number) = response.extensions().get::<Accepted>() {
            let (method, path, status) = (method.clone(), path.to_owned(), response.status().as_u16());
            self.log.push(Logged { number: *number, method, path, status });
        }
    }

    fn log(&mut self) -> Response<Bytes> {
        self.log.sort_by_key(|entry| entry.number);
        let entry = |Logged { method, path, status, .. }: &Logged| {
            let method = method.as_str();
            json!({"method": method, "path": path, "status": status})
        };
        let entries: serde_json::Value = self.log.iter().map(entry).collect();
        respond(StatusCode::OK, "application/json", entries.to_string())
    }

    /// What of an answer reaches the client.
    fn finish(
        &mut self,
        fired: &[Fault],
        uri: &Uri,
        before: Option<Response<Bytes>>,
        mut response: Response<Bytes>,
    ) -> Reply {
        let (path, query) = (uri.path(), uri.query().unwrap_or_default());
        let (mut cut, mut pause) = (None, None);
        for fault in fired {
            match fault {
                Fault::Hide(hide) => {
                    if let Some(before) = &before {
                        self.memory.hide(hide, path, before, &response);
                    }
                }
                Fault::Status(answer) => response = answered(answer),
                Fault::Drop(_) => return Reply::Drop,
                Fault::Truncate(at) => cut = Some(*at),
                Fault::RepeatCursor(_) => response = with_repeated_cursor(response, path, query),
                Fault::Total(total) => response = with_total(response, *total),
                Fault::Drip(time) => pause = Some(*time),
                _ => {}
            }
        }
        match (cut, pause) {
            (Some(at), _) => Reply::Cut(response, at),
            (None, Some(pause)) => Reply::Drip(response, pause),
            (None, None) => Reply::Whole(response),
        }
    }
}

/// What of a stream reaches the client.
fn spoiled(stream: Response<Following>, fired: &[Fault]) -> Reply {
    let mut spoiled = Spoiled::default();
    for fault in fired {
        match fault {
            Fault::Drop(_) => return Reply::Drop,
            Fault::Status(answer) => return Reply::Whole(answered(answer)),
            Fault::Truncate(at) => spoiled.cut = Some(*at),
            Fault::Drip(time) => spoiled.drip = Some(*time),
            _ => {}
        }
    }
    Reply::Stream(stream, spoiled)
}

/// A read of what a write is about to change.
fn look(request: &Request<Bytes>) -> Request<Bytes> {
    let mut look = Request::new(Bytes::new());
    *look.uri_mut() = request.uri().clone();
    *look.headers_mut() = request.headers().clone();
    for condition in [IF_MATCH, IF_NONE_MATCH] {
        look.headers_mut().remove(condition);
    }
    look
}

impl Active {
    /// Counts a request that matches, and says whether the fault happens to it.
    fn fires(&mut self, request: &Request<Bytes>, random: &mut fastrand::Rng) -> bool {
        let when = &self.rule.when;
        let method = when.method.as_ref().is_none_or(|m| m.eq_ignore_ascii_case(request.method().as_str()));
        let path = when.path.as_ref().is_none_or(|pattern| rules::fits(pattern, request.uri().path()));
        if !method || !path {
            return false;
        }
        self.seen += 1;
        let fires = when.nth.is_none_or(|nth| self.seen == nth)
            && when.every.is_none_or(|every| self.seen.is_multiple_of(every))
            && when.probability.is_none_or(|chance| random.f64() < chance)
            && when.count.is_none_or(|count| self.fired < count);
        self.fired += u64::from(fires);
        fires
    }
}
