//! A credential as it goes into a request: last of all, so that nothing before can print it.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::backend::base64::basic;
use crate::backend::path::push_query;
use crate::backend::token::Granted;
use crate::backend::wire::HttpRequest;

/// A credential. It has no `Debug`.
pub struct Proof {
    place: Place,
    /// The texts that must never be printed.
    secrets: Vec<String>,
    /// A server has taken it.
    accepted: AtomicBool,
}

#[derive(PartialEq, Eq)]
enum Place {
    Header { name: String, value: String },
    Query { name: String, value: String },
}

impl Proof {
    fn new(place: Place, secrets: Vec<String>) -> Proof {
        Proof { place, secrets, accepted: AtomicBool::new(false) }
    }

    pub(super) fn basic(username: &str, password: &str) -> Proof {
        let pair = basic(username, password);
        let place = Place::Header { name: "authorization".into(), value: format!("Basic {pair}") };
        // A password that is the user's name is told by the name already.
        let hidden = (password != username).then(|| password.to_owned());
        Proof::new(place, hidden.into_iter().chain([pair]).collect())
    }

    pub(super) fn bearer(token: &str) -> Proof {
        let place = Place::Header { name: "authorization".into(), value: format!("Bearer {token}") };
        Proof::new(place, vec![token.into()])
    }

    pub(super) fn header(name: &str, value: String) -> Proof {
        Proof::new(Place::Header { name: name.to_ascii_lowercase(), value: value.clone() }, vec![value])
    }

    pub(super) fn query(name: &str, value: String) -> Proof {
        Proof::new(Place::Query { name: name.into(), value: value.clone() }, vec![value])
    }

    pub(super) fn granted(granted: Granted) -> Proof {
        Proof::new(Place::Header { name: granted.header, value: granted.value }, granted.secrets)
    }

    /// Puts the credential into a request.
    pub fn put_into(&self, request: &mut HttpRequest) {
        match &self.place {
            Place::Header { name, value } => {
                request.headers.retain(|(have, _)| have != name);
                request.headers.push((name.clone(), value.clone()));
            }
            Place::Query { name, value } => {
                let (rest, query) = match request.url.split_once('?') {
                    Some((rest, query)) => (rest.to_owned(), query.to_owned()),
                    None => (request.url.clone(), String::new()),
                };
                // A server that repeats the query in the URL of its next page repeats the key as well.
                let mut own = String::new();
                push_query(&mut own, name, "");
                let mut query = query
                    .split('&')
                    .filter(|pair| !pair.is_empty() && !pair.starts_with(&own))
                    .collect::<Vec<_>>()
                    .join("&");
                push_query(&mut query, name, value);
                request.url = format!("{rest}?{query}");
            }
        }
    }

    /// The texts that must never be printed.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Notes that a server has taken it.
    pub fn accept(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    pub(super) fn was_accepted(&self) -> bool {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Whether requests look the same with the other one.
    pub(super) fn is_same(&self, other: &Proof) -> bool {
        self.place == other.place
    }
}
