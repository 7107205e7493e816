//! How a backend is reached: URL, credentials, TLS, limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::core::facts::Stated;
use crate::core::filter::Filter;
use crate::core::kind::Method;
use crate::core::node::{Node, Secret};

use super::base::Base;

/// Everything about a backend but its kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    pub name: Arc<str>,
    /// What `{owner}` stands for: who we are, to a server that asks.
    pub owner: String,
    pub address: Address,
    pub auth: Option<Auth>,
    pub tls: Tls,
    pub headers: Vec<(String, Text)>,
    pub limits: Limits,
}

impl Connection {
    /// Where the backend is, for comparison with others: the URL as it is normalised, or the path of the store.
    pub fn site(&self) -> String {
        match &self.address {
            Address::Http(text) => Base::parse(text).map_or_else(|_| text.clone(), |base| base.to_string()),
            Address::Embedded(path) => format!("embedded:{}", path.display()),
        }
    }

    /// The name of the user, where it stands in the clear.
    pub fn username(&self) -> Option<&str> {
        match &self.auth {
            Some(Auth::Basic { username: Text::Plain(name), .. }) => Some(name),
            _ => None,
        }
    }
}
/// The owner where a backend names none.
pub const OWNER: &str = "trueup";

/// Where a backend is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `http://…` or `https://…`, without a slash at the end.
    Http(String),
    /// `embedded:PATH`: the built-in server in this process, on a store at this path.
    Embedded(PathBuf),
}

/// A text that may be a secret.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    Plain(String),
    Secret(Secret),
}

/// How requests prove who sends them.
#[derive(Clone, Debug, PartialEq)]
pub enum Auth {
    Basic {
        username: Text,
        password: Text,
    },
    Bearer(Credential),
    Header {
        name: String,
        value: Credential,
    },
    /// A key in the query, under this name.
    Query {
        name: String,
        value: Credential,
    },
    /// A token that a request of its own gets: OAuth2 client credentials, or a login.
    Token(Box<TokenCall>),
}

/// How a token is asked for, found in the answer, and sent with every other request. `token` makes the request
/// and reads the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenCall {
    pub method: Method,
    /// A path below the backend's URL; or an absolute URL, whose origin may be another: then it was stated.
    pub url: String,
    /// The client's id and secret, sent by Basic (RFC 6749, 2.3.1).
    pub client: Option<(Text, Text)>,
    pub body: TokenBody,
    /// What the answer calls the type of its token: one that is not Bearer cannot be sent as such.
    pub token_type: Option<Filter>,
    pub carry: Carry,
    /// How long a token holds; `None`: until the server refuses it.
    pub expires: Option<Expires>,
}

/// What a [`TokenCall`] sends.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenBody {
    None,
    Json(Node),
    /// `application/x-www-form-urlencoded`
    Form(Vec<(String, Text)>),
}

/// How a token goes into requests. The filters find it in the answer `{status, headers, body}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Carry {
    /// `Authorization: Bearer TOKEN`
    Bearer(Filter),
    /// `NAME: TOKEN`
    Header(String, Filter),
    /// `Cookie: NAME=TOKEN`
    Cookie(String, Filter),
    /// All cookies that the answer sets.
    Cookies,
}

/// When a token is renewed before a server refuses it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expires {
    After(Duration),
    /// From the answer `{status, headers, body}` to seconds from now, seconds since 1970, or an RFC 3339 time.
    Told(Filter),
}

/// Where a token comes from. All but `Text` can be renewed once after a 401.
#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    Text(Text),
    /// Read anew for each run, and after a 401.
    File(PathBuf),
    /// A command that prints the token; only with `TRUEUP_ALLOW_EXEC`.
    Command(Vec<String>),
}

/// An own authority, and a client certificate: paths of PEM files. And the keys that the server may have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    pub ca: Option<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub pins: Option<Pins>,
}

/// The keys of which the server must have one, whatever its certificate is worth besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pins {
    /// SHA-256 of each, in the form of its certificate (`SubjectPublicKeyInfo`, RFC 7469, 2.4).
    pub keys: Vec<[u8; 32]>,
    /// Where they are stated.
    pub stated: Stated,
}

/// `limits:`; `None` leaves the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// Requests at once to this backend.
    pub concurrency: Option<usize>,
    /// Requests a second.
    pub rate: Option<f64>,
    /// For one request.
    pub timeout: Option<Duration>,
}

impl Text {
    /// The text itself, for a header and nothing else; `None` for a secret that is not there.
    pub fn reveal(&self) -> Option<&str> {
        match self {
            Text::Plain(text) => Some(text),
            Text::Secret(secret) => secret.reveal(),
        }
    }
}
