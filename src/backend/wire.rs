//! HTTP as values: what is sent and what comes back, so that both can be tested without a server.

use std::fmt;

use crate::core::kind::Method;

/// What a request is for. Commands that never write can send only those that [`Role::is_read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    List,
    Read,
    /// A declared dry run.
    Check,
    Login,
    Create,
    Update,
    Delete,
}

impl Role {
    /// Whether the operation is declared to change nothing, whatever its method.
    pub fn is_read(self) -> bool {
        matches!(self, Role::List | Role::Read | Role::Check | Role::Login)
    }
}

/// A request below a backend's URL. Its body may hold secrets, so `Debug` leaves it out.
#[derive(Clone, PartialEq)]
pub struct HttpRequest {
    pub role: Role,
    pub method: Method,
    /// Path and query, escaped, to be appended to the backend's URL; or an absolute URL of the same origin
    /// that the server gave (paging).
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.url)
    }
}

/// An answer, whole.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    pub status: u16,
    /// Names in lower case, in the order received.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Asks only whether it is another answer than the one that had this ETag (RFC 9110, 13.1.2).
    pub fn unless(mut self, tag: Option<&str>) -> HttpRequest {
        let have = self.headers.iter().any(|(name, _)| name == "if-none-match");
        if let Some(tag) = tag.filter(|_| !have) {
            self.headers.push(("if-none-match".into(), tag.into()));
        }
        self
    }
}

impl HttpAnswer {
    /// The first header of this lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HttpAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {} bytes", self.status, self.body.len())
    }
}
