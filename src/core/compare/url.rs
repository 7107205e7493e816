//! URLs by the normalisation of RFC 3986, section 6.2.2 and 6.2.3: case of scheme and host, default port,
//! percent-encoding, dot segments, the empty path. What is no absolute URL stays text.

use crate::core::value::Value;

pub(super) fn normal(text: &str) -> Option<Value> {
    let (scheme, rest) = text.split_once(':')?;
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if !named || text.contains(char::is_whitespace) || !well_encoded(text) {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    let (rest, fragment) = split_at(rest, '#');
    let (rest, query) = split_at(rest, '?');
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        None => (None, rest),
    };
    let mut url = format!("{scheme}:");
    match authority {
        Some(authority) => {
            url.push_str("//");
            url.push_str(&normal_authority(&scheme, authority));
            url.push_str(if path.is_empty() { "/" } else { "" });
            url.push_str(&without_dots(&decoded(path)));
        }
        None => url.push_str(&decoded(path)),
    }
    url.push_str(&decoded(query));
    url.push_str(&decoded(fragment));
    Some(Value::String(url))
}

/// The text before the first `mark`, and the rest with it.
fn split_at(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

fn normal_authority(scheme: &str, authority: &str) -> String {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (format!("{}@", decoded(user)), host),
        None => (String::new(), authority),
    };
    // The colons of an IPv6 address stand before its `]`.
    let port_at = host.rfind(':').filter(|at| !host[*at..].contains(']'));
    let (host, port) = match port_at {
        Some(at) => (&host[..at], &host[at + 1..]),
        None => (host, ""),
    };
    let port = if port.is_empty() || Some(port) == default_port(scheme) { "" } else { &format!(":{port}") };
    // Twice: a decoded letter has a case too, and the hex digits that stay are upper case everywhere.
    format!("{user}{}{port}", decoded(&decoded(host).to_ascii_lowercase()))
}

/// Whether two hex digits follow each `%`.
fn well_encoded(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| code(rest).is_some())
}

/// The byte that the two hex digits at the beginning stand for.
fn code(text: &str) -> Option<u8> {
    let hex = text.get(..2).filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u8::from_str_radix(hex, 16).ok()
}

fn default_port(scheme: &str) -> Option<&'static str> {
    Some(match scheme {
        "http" | "ws" => "80",
        "https" | "wss" => "443",
        "ftp" => "21",
        "amqp" => "5672",
        "amqps" => "5671",
        "ldap" => "389",
        "ldaps" => "636",
        _ => return None,
    })
}

/// Percent-encoding only where it is needed, its hex digits in upper case (6.2.2.1 and 6.2.2.2).
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut out = String::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        let byte = code(piece).expect("a well encoded text");
        match char::from(byte) {
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~') => out.push(c),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
        out.push_str(&piece[2..]);
    }
    out
}

/// An absolute path without `.` and `..` (5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    kept.iter().map(|segment| format!("/{segment}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use crate::core::fields::Comparer;

    #[test]
    fn urls_are_normalised() {
        check(
            &Comparer::Url,
            &[
                &[
                    "HTTP://Example.ORG",
                    "http://example.org/",
                    "http://example.org:80/",
                    "http://example.org:/",
                ],
                &["https://a.b/x/./y/../z", "https://a.b:443/x/z"],
                &["https://a.b/%7euser/%c3%a9", "https://a.b/~user/%C3%A9"],
                &["https://a.b/..", "https://a.b/"],
                &["https://a.b/c/.", "https://a.b/c/"],
                &["http://[2001:DB8::1]:80/", "http://[2001:db8::1]/"],
                &["https://U:p@Host/x", "https://U:p@host/x"],
                &["mailto:a@b", "MAILTO:a@b"],
                &["/relative/../path", "/relative/../path"],
                &["http://%4A%C3.b/", "http://j%c3.b/"],
                &["http://a/%zz%", "http://a/%zz%"],
            ],
            &[
                ("https://a.b/X", "https://a.b/x"),
                ("https://a.b/x", "https://a.b/x/"),
                ("https://a.b:8443/", "https://a.b/"),
                ("http://a.b/", "https://a.b/"),
                ("https://a.b/%2F", "https://a.b//"),
                ("https://a.b/?q=1", "https://a.b/?q=2"),
                ("https://U@a.b/", "https://u@a.b/"),
                ("http://a/%%411", "http://a/%A1"),
            ],
        );
    }
}
