//! Requests whose senders believe them lost, carried out after newer ones.

use bytes::Bytes;
use http::{Method, Request};

use super::rules::Late;

/// What waits, in the order of arrival.
#[derive(Default)]
pub struct Delayed(Vec<Waiting>);

struct Waiting {
    request: Request<Bytes>,
    left: u64,
    method: Option<String>,
}

impl Delayed {
    pub fn push(&mut self, request: Request<Bytes>, late: &Late) {
        self.0.push(Waiting { request, left: late.after, method: late.method.clone() });
    }

    /// Counts a request that was carried out, and hands out those that follow it.
    pub fn due(&mut self, method: &Method) -> Vec<Request<Bytes>> {
        let counts = |waiting: &Waiting| {
            waiting.method.as_ref().is_none_or(|m| m.eq_ignore_ascii_case(method.as_str()))
        };
        self.0.iter_mut().filter(|waiting| counts(waiting)).for_each(|waiting| waiting.left -= 1);
        self.0.extract_if(.., |waiting| waiting.left == 0).map(|waiting| waiting.request).collect()
    }
}
