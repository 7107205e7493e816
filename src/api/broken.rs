//! Why a request has no answer: what the layers below said of it, what that proves, and what to do about it.

use std::error::Error;
use std::io;

use rustls::{CertificateError, InvalidMessage};

use super::pin::Mismatch;
use super::transport::{TransportClass, TransportError};
use crate::core::problem::said_by_system;

const OUR_CERTIFICATE: &str =
    "the server serves clients with a certificate that it knows: `tls.cert` and `tls.key` name ours";
const MAYBE_OUR_CERTIFICATE: &str = "is it the API that listens there? If it demands a certificate of its clients, `tls.cert` and `tls.key` name ours";
const IS_IT_THE_API: &str =
    "is it the API that listens there, and is `http` or `https` in the backend's `url` right?";

/// How far a request had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// There was no connection yet.
    Connecting { timed_out: bool },
    /// It was on its way, or with the server.
    Waiting,
}

/// What became of a request to this origin that failed so before the head of its answer.
pub fn before_answer(origin: &str, error: &(dyn Error + 'static), step: Step) -> TransportError {
    if was_refused(error) {
        let what = format!("`{origin}` did not process the request: {}", cause(error));
        return TransportError::new(TransportClass::NotSent, what)
            .hint("the server is about to stop, or has more to do than it takes on");
    }
    let Step::Connecting { timed_out } = step else {
        let why = cause(error);
        // Whether the server's reason or the end of the connection is seen first is a race.
        let hint = match origin.starts_with("https:") {
            _ if is_about_our_certificate(&why) => OUR_CERTIFICATE,
            true => MAYBE_OUR_CERTIFICATE,
            false => IS_IT_THE_API,
        };
        let what = format!("the connection to `{origin}` broke before the answer: {why}");
        return TransportError::new(TransportClass::Lost, what).hint(hint);
    };
    let not_sent = |why: String, hint: &str| {
        let what = format!("cannot connect to `{origin}`: {why}");
        TransportError::new(TransportClass::NotSent, what).hint(hint)
    };
    if let Some((why, hint)) = find::<rustls::Error>(error).and_then(about_tls) {
        return not_sent(why.unwrap_or_else(|| cause(error)), hint);
    }
    if let Some((why, hint)) = about_proxy(error) {
        return not_sent(why, hint);
    }
    let hint = match timed_out {
        true => "is the server reachable from here?",
        false => "is the server running, and is the backend's `url` right?",
    };
    not_sent(cause(error), hint)
}

/// An answer whose head was there, and whose end was not.
pub fn inside_answer(error: &(dyn Error + 'static)) -> TransportError {
    TransportError::new(TransportClass::Lost, format!("the answer ended too early: {}", cause(error)))
}

/// Whether the server said that it has not begun with the request (RFC 9113, 8.7): it refused its stream, or it went
/// away and named an older stream as the last that it processed. Whatever went on before the connection ended is told
/// as the end of the connection.
fn was_refused(error: &(dyn Error + 'static)) -> bool {
    find::<h2::Error>(error).is_some_and(|error| {
        let refused = error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM);
        error.is_remote() && (refused || error.is_go_away())
    })
}

/// Whether the server ended the handshake over what we have shown of ourselves, or have not (RFC 8446, 6.2). With TLS 1.3
/// it says so after we have begun to speak, and HTTP/2 keeps the text of it alone.
fn is_about_our_certificate(why: &str) -> bool {
    const ALERTS: [&str; 8] = [
        "CertificateRequired",
        "BadCertificate",
        "UnsupportedCertificate",
        "CertificateExpired",
        "CertificateRevoked",
        "CertificateUnknown",
        "UnknownCA",
        "AccessDenied",
    ];
    why.strip_prefix("received fatal alert: ").is_some_and(|alert| ALERTS.contains(&alert))
}

/// What is wrong with TLS, where our words are better than those of the layer, and a hint.
fn about_tls(error: &rustls::Error) -> Option<(Option<String>, &'static str)> {
    use rustls::Error::{InvalidCertificate, InvalidMessage as Odd};
    Some(match error {
        InvalidCertificate(why) => about_certificate(why),
        Odd(InvalidMessage::InvalidContentType) => {
            (Some("it speaks no TLS".into()), "is the backend's `url` right, `https` and not `http`?")
        }
        _ => return None,
    })
}

fn about_certificate(error: &CertificateError) -> (Option<String>, &'static str) {
    use CertificateError::*;
    const CLOCK: &str = "the server needs another certificate, unless the clock of this machine is wrong";
    match error {
        Expired | ExpiredContext { .. } => (Some("its certificate has expired".into()), CLOCK),
        NotValidYet | NotValidYetContext { .. } => (Some("its certificate is not valid yet".into()), CLOCK),
        NotValidForNameContext { expected, presented } => {
            (Some(not_for(&expected.to_str(), presented)), "is the backend's `url` right?")
        }
        NotValidForName => (None, "is the backend's `url` right?"),
        UnknownIssuer => (
            Some("its certificate is of no authority that is trusted".into()),
            "if the certificate comes from an authority of your own, name its file in `tls.ca`",
        ),
        Other(why) if why.0.is::<Mismatch>() => (
            Some(why.0.to_string()),
            "if the server has a new key for a reason that you know, name its pin in `tls.pin`; if not, ask who stands in between",
        ),
        // Only the verifier's own kind of error tells this one.
        Other(why) if why.to_string().contains("CaUsedAsEndEntity") => (
            Some("its certificate is one of an authority, not of a server".into()),
            "make the server a certificate that may not sign others: `basicConstraints=CA:FALSE`",
        ),
        _ => (None, "the server needs another certificate, or `tls.ca` another authority"),
    }
}

/// The names that a certificate is for, as the verifier tells them: `DnsName("a.example")`.
fn not_for(expected: &str, presented: &[String]) -> String {
    let name = |told: &String| {
        let inner = told.split_once('(').map_or(told.as_str(), |(_, rest)| rest.trim_end_matches(')'));
        format!("`{}`", inner.trim_matches('"'))
    };
    match presented {
        [] => format!("its certificate is for no name, and not for `{expected}`"),
        some => {
            let names: Vec<String> = some.iter().map(name).collect();
            format!("its certificate is for {}, not for `{expected}`", names.join(", "))
        }
    }
}

/// What a proxy said when it was asked for a tunnel. Its error is known by its text alone.
fn about_proxy(error: &(dyn Error + 'static)) -> Option<(String, &'static str)> {
    let said = chain(error).map(ToString::to_string);
    let said = said.filter_map(|text| text.strip_prefix("tunnel error: ").map(str::to_owned)).next()?;
    Some(match said.as_str() {
        "proxy authorization required" => (
            "the proxy demands a login (407)".into(),
            "give it with the address of the proxy: `HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT`",
        ),
        "unsuccessful" => (
            "the proxy opens no way to it".into(),
            "does the proxy of `HTTPS_PROXY` let this address through? `NO_PROXY` names what is reached without it",
        ),
        _ => (
            format!("the proxy cannot be used: {}", cause(error)),
            "is the address in `HTTPS_PROXY` right? `NO_PROXY` names what is reached without a proxy",
        ),
    })
}

/// The error and all that caused it.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| below(*error))
}

/// What caused an error. One of the system that holds another does not name it as its source.
fn below<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    held.map(|held| held as &(dyn Error + 'static)).or_else(|| error.source())
}

fn find<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    chain(error).find_map(|error| error.downcast_ref::<E>())
}

/// The innermost cause, which says what happened; the outer ones say where.
fn cause(error: &(dyn Error + 'static)) -> String {
    match chain(error).skip(1).last() {
        Some(inner) => said_by_system(&inner.to_string()),
        None => "the request failed".into(),
    }
}
