//! Injected faults, for tests: answers that real servers give on bad days, at exact points.
//!
//! Stands between a connection and the server, and only when it was asked for. Besides the rules (replaced by
//! `PUT /_faults`) it keeps `GET /_log`: the accepted writes in the order in which they were committed, which
//! tests compare with what a client believes to have done.

mod effects;
mod memory;
mod rules;
#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use serde_json::json;

use super::api::{Accepted, Problem, Server, empty, respond};
use super::listen::Reply;
use effects::{answered, html, redirected, with_repeated_cursor, with_total};
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
            match fault {
                Fault::Delay(time) => tokio::time::sleep(*time).await,
                Fault::Drop(Moment::Before) => return Reply::Drop,
                Fault::Status(answer) if answer.at == Moment::Before => {
                    return Reply::Whole(answered(answer));
                }
                Fault::Redirect(redirect) => return Reply::Whole(redirected(redirect)),
                Fault::Html(page) => return Reply::Whole(html(page)),
                _ => {}
            }
        }
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let response = server.call(request).await;
        let mut state = self.state();
        state.note(&method, uri.path(), &response);
        let stale = fired.iter().any(|fault| matches!(fault, Fault::Stale(_)));
        let response = match method == Method::GET || method == Method::HEAD {
            true => state.memory.seen_through(&method, &uri, response, stale),
            false => response,
        };
        state.finish(&fired, uri.query().unwrap_or_default(), uri.path(), response)
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
    fn finish(&mut self, fired: &[Fault], query: &str, path: &str, mut response: Response<Bytes>) -> Reply {
        let mut cut = None;
        for fault in fired {
            match fault {
                Fault::Hide(hide) => self.memory.hide(hide, &response),
                Fault::Status(answer) => response = answered(answer),
                Fault::Drop(_) => return Reply::Drop,
                Fault::Truncate(at) => cut = Some(*at),
                Fault::RepeatCursor(_) => response = with_repeated_cursor(response, path, query),
                Fault::Total(total) => response = with_total(response, *total),
                Fault::Delay(_) | Fault::Html(_) | Fault::Redirect(_) | Fault::Stale(_) => {}
            }
        }
        match cut {
            Some(at) => Reply::Cut(response, at),
            None => Reply::Whole(response),
        }
    }
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
