//! A backend's URL, and the one question that guards its credentials: is this other URL of the same origin?
//!
//! Every URL that a server gives (`Link`, `Location`, a redirect, the next page) is resolved here. Nothing
//! else may decide where a request goes.

use std::fmt;

use url::Url;

use crate::core::mutant::planted;

use super::connection::Address;

/// Where a backend is: scheme, host, port and a path prefix, with nothing after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    url: Url,
    /// The path without a slash at its end; empty for a backend at the root.
    prefix: String,
}

/// Why a text is no URL of a backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a backend's URL: {problem}")]
pub struct BaseError {
    /// The URL without what may be a password.
    pub text: String,
    pub problem: String,
}

/// Why a URL that the server gave is not followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Elsewhere {
    #[error("`{to}` is not at the backend's origin `{origin}`")]
    OtherOrigin { origin: String, to: String },
    #[error("the server gave a URL that cannot be read: {0}")]
    NotAUrl(String),
}

/// The origin that the built-in server answers for; `.invalid` is no host of any network (RFC 6761, 6.4).
const EMBEDDED: &str = "http://embedded.invalid";

impl Base {
    /// Takes a backend's address.
    ///
    /// # Errors
    /// A text that is not `http://…` or `https://…`, or that carries a password, a query or a fragment.
    pub fn of(address: &Address) -> Result<Base, BaseError> {
        match address {
            Address::Http(text) => Base::parse(text),
            Address::Embedded(_) => Base::parse(EMBEDDED),
        }
    }

    /// Reads `https://host:port/prefix`.
    ///
    /// # Errors
    /// As [`Base::of`].
    pub fn parse(text: &str) -> Result<Base, BaseError> {
        let fail = |text: &str, problem: String| BaseError { text: text.into(), problem };
        let mut url = Url::parse(text).map_err(|e| fail(text, e.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            // The password must not reach the message. `http` URLs always have a host, so this cannot fail.
            let _ = url.set_username("").and_then(|()| url.set_password(None));
            return Err(fail(url.as_str(), "it carries a user or a password, which belong in `auth`".into()));
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(fail(text, "it begins with neither `http://` nor `https://`".into()));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(fail(text, "it has a query or a fragment".into()));
        }
        let prefix = url.path().trim_end_matches('/').to_owned();
        Ok(Base { url, prefix })
    }

    /// The origin of a URL, without its path and query.
    ///
    /// # Errors
    /// As [`Base::of`].
    pub fn of_origin(text: &str) -> Result<Base, BaseError> {
        let fail = |problem: String| BaseError { text: text.into(), problem };
        let url = Url::parse(text).map_err(|error| fail(error.to_string()))?;
        Base::parse(&origin(&url))
    }

    /// The path that all requests share, without a slash at its end.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// `https://host:port`, the port where it is not the scheme's own.
    pub fn origin(&self) -> String {
        origin(&self.url)
    }

    /// The URL of a request: a path and query below the base, or a URL of the same origin.
    ///
    /// # Errors
    /// A URL of another origin.
    pub fn locate(&self, url: &str) -> Result<Url, Elsewhere> {
        if url.starts_with('/') {
            let text = format!("{}{}{url}", self.origin(), self.prefix);
            return Url::parse(&text).map_err(|e| Elsewhere::NotAUrl(e.to_string()));
        }
        self.resolve(&self.url, url)
    }

    /// A URL that the server gave in its answer to `request`, relative ones resolved (RFC 3986, 5).
    ///
    /// # Errors
    /// Another scheme, host or port than the backend's; a user or a password in it.
    pub fn resolve(&self, request: &Url, given: &str) -> Result<Url, Elsewhere> {
        let mut url = request.join(given).map_err(|e| Elsewhere::NotAUrl(e.to_string()))?;
        let same = url.scheme() == self.url.scheme()
            && url.host() == self.url.host()
            && url.port_or_known_default() == self.url.port_or_known_default();
        if (!same && !planted!(M27)) || !url.username().is_empty() || url.password().is_some() {
            return Err(Elsewhere::OtherOrigin { origin: self.origin(), to: origin(&url) });
        }
        url.set_fragment(None);
        Ok(url)
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin(), self.prefix)
    }
}

fn origin(url: &Url) -> String {
    let host = url.host_str().unwrap_or("");
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_is_taken_apart() {
        for (text, shown, prefix) in [
            ("http://localhost:15672/api", "http://localhost:15672/api", "/api"),
            ("http://localhost:15672/api/", "http://localhost:15672/api", "/api"),
            ("https://API.example.org:443", "https://api.example.org", ""),
            ("http://[::1]:8080/a/b", "http://[::1]:8080/a/b", "/a/b"),
        ] {
            let base = Base::parse(text).expect(text);
            assert_eq!((base.to_string().as_str(), base.prefix()), (shown, prefix), "{text}");
        }
    }

    #[test]
    fn what_is_no_base_is_named_without_its_password() {
        for (text, part) in [
            ("localhost:8080", "neither"),
            ("ftp://host/", "neither"),
            ("/api", "relative URL"),
            ("http://host/?a=1", "a query"),
            ("http://host/#a", "fragment"),
            ("http://bob:hunter2@host/", "`auth`"),
        ] {
            let message = Base::parse(text).expect_err(text).to_string();
            assert!(message.contains(part), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn only_urls_of_the_same_origin_resolve() {
        let base = Base::parse("https://host:8443/api").expect("a base");
        let request = base.locate("/items?page=1").expect("below the base");
        assert_eq!(request.as_str(), "https://host:8443/api/items?page=1");
        for (given, want) in [
            ("https://host:8443/api/items?page=2", "https://host:8443/api/items?page=2"),
            ("?page=2", "https://host:8443/api/items?page=2"),
            ("/other#x", "https://host:8443/other"),
            ("//host:8443/x", "https://host:8443/x"),
        ] {
            assert_eq!(base.resolve(&request, given).expect(given).as_str(), want);
        }
        for given in [
            "http://host:8443/api/items",
            "https://host/api/items",
            "https://host:8443.evil.example/",
            "https://evil.example:8443/api",
            "https://user@host:8443/api",
            "//evil.example/",
            "data:text/plain,x",
            "https://[",
        ] {
            assert!(base.resolve(&request, given).is_err(), "{given}");
        }
    }
}
