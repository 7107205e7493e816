//! Who may ask a running watch, and who may tell it to look again.
//!
//! Whoever can reach the port may look, unless there is a token. A page of another site, open in a browser on this
//! machine, can reach a port on loopback as well: it is told apart by the headers that browsers send.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderName};
use ring::hmac;

/// What keeps others out.
pub struct Guard {
    token: Option<hmac::Tag>,
}

/// Why somebody is kept out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barred {
    /// A token is needed.
    NoToken,
    /// It has to be this machine, or a token is needed.
    NotLocal,
    /// A page of another site asks.
    OtherSite,
}

/// What a browser says of the page that asks.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Guard {
    pub fn new(token: Option<&str>) -> Guard {
        Guard { token: token.map(|token| hmac::sign(&key(), token.as_bytes())) }
    }

    /// Whether somebody may look.
    ///
    /// # Errors
    /// Why not.
    pub fn may_look(&self, headers: &HeaderMap, peer: SocketAddr) -> Result<(), Barred> {
        match &self.token {
            Some(token) if !shows(headers, token) => Err(Barred::NoToken),
            Some(_) => Ok(()),
            // A site can give its own name the address of this machine, and then look as if it were a page from here.
            None if is_local(peer) && !names_an_address(headers) => Err(Barred::OtherSite),
            None => Ok(()),
        }
    }

    /// Whether somebody may have it look again.
    ///
    /// # Errors
    /// Why not.
    pub fn may_tell(&self, headers: &HeaderMap, peer: SocketAddr) -> Result<(), Barred> {
        self.may_look(headers, peer)?;
        if self.token.is_none() && !is_local(peer) {
            return Err(Barred::NotLocal);
        }
        if is_of_other_site(headers) { Err(Barred::OtherSite) } else { Ok(()) }
    }
}

/// Tokens are compared by what this makes of them, in a time that tells nothing of them.
fn key() -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, b"token of a watch")
}

/// A bearer token, or a password: the one is what programs send, and the other what a browser asks a person for.
fn shows(headers: &HeaderMap, token: &hmac::Tag) -> bool {
    let Some((scheme, sent)) = header(headers, &AUTHORIZATION).and_then(|sent| sent.split_once(' ')) else {
        return false;
    };
    let is_it = |given: &[u8]| hmac::verify(&key(), given, token.as_ref()).is_ok();
    if scheme.eq_ignore_ascii_case("bearer") {
        return is_it(sent.trim().as_bytes());
    }
    let pair = STANDARD.decode(sent.trim()).unwrap_or_default();
    let password = pair.iter().position(|byte| *byte == b':').map(|at| &pair[at + 1..]);
    scheme.eq_ignore_ascii_case("basic") && password.is_some_and(is_it)
}

fn is_local(peer: SocketAddr) -> bool {
    peer.ip().to_canonical().is_loopback()
}

/// Whether `Host` is an address or `localhost`, which no site can have for its name. A client that sends none is no
/// browser.
fn names_an_address(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else { return true };
    let Ok(authority) = http::uri::Authority::try_from(host.as_bytes()) else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost") || name.parse::<std::net::IpAddr>().is_ok()
}

fn is_of_other_site(headers: &HeaderMap) -> bool {
    let cross = header(headers, &FETCH_SITE).is_some_and(|site| !matches!(site, "same-origin" | "none"));
    let origin = headers.get(ORIGIN).map(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        origin.split_once("://").map(|(_, authority)| authority)
    });
    cross || origin.is_some_and(|origin| origin.is_none() || origin != header(headers, &HOST))
}

fn header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
