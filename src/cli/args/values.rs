//! How the values of flags and their variables are read.

use std::net::SocketAddr;
use std::time::Duration;

/// A switch in the environment; an empty variable is as good as none.
pub fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "" | "0" | "false" | "no" | "off" => Ok(false),
        "1" | "true" | "yes" | "on" => Ok(true),
        _ => Err("write true or false".into()),
    }
}

/// A duration of more than nothing.
pub fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if time.is_zero() => Err("it is no time at all".into()),
        Ok(time) => Ok(time),
        Err(error) => Err(format!("{error}; write it like 90s or 1h30m")),
    }
}

/// A duration between looks: of at least a second.
pub fn period(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        time if time < Duration::from_secs(1) => Err("it is less than a second".into()),
        time => Ok(time),
    }
}

/// An address with a port; a port alone is one of the loopback.
pub fn listen(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>();
    let address = port.map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
    address.or_else(|_| text.parse()).map_err(|_| "write it like 9090 or 127.0.0.1:9090".into())
}

/// `Kind/name:path`.
pub fn field(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        Some((object, path)) if !object.is_empty() && !object.starts_with('/') && !path.is_empty() => {
            Ok(text.to_owned())
        }
        _ => Err("write it like Queue///orders:arguments.ttl, as a plan shows both".into()),
    }
}

/// `Kind` or `Kind/name`.
pub fn object(text: &str) -> Result<String, String> {
    match text.split('/').next() {
        Some("") | None => Err("write it like Queue/orders".into()),
        Some(_) => Ok(text.to_owned()),
    }
}

/// A value of `--max-deletes`: how many objects may be deleted, of all or of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Most {
    pub kind: Option<String>,
    pub most: usize,
}

/// `N` or `KIND=N`.
pub fn most(text: &str) -> Result<Most, String> {
    let (kind, number) = text.split_once('=').map_or((None, text), |(kind, number)| (Some(kind), number));
    match (kind, number.parse()) {
        (Some(""), _) | (_, Err(_)) => Err("write it like 20 or RRset=100".into()),
        (kind, Ok(most)) => Ok(Most { kind: kind.map(str::to_owned), most }),
    }
}
