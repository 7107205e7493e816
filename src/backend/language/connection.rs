//! How a backend is reached: everything in its `spec` but the kinds. Values from elsewhere were put in before.

use std::path::{Path, PathBuf};

use super::auth::auth;
use super::operation::header_name;
use super::reader::Reader;
use crate::backend::base64;
use crate::backend::connection::{Address, Connection, Limits, Pins, Text, Tls};
use crate::backend::preset;
use crate::core::facts::Stated;
use crate::core::node::{Node, Pos, Want};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::value::{Value, plain_text};

/// What a URL of the built-in server starts with.
pub const EMBEDDED: &str = "embedded:";

/// The members of `tls`.
pub const TLS: [&str; 4] = ["ca", "cert", "key", "pin"];

/// The members of `limits`.
pub const LIMITS: [&str; 3] = ["concurrency", "rate", "timeout"];

/// The connection of a Backend document, its preset's part of it included. Relative paths are below `folder`,
/// where the document stands.
///
/// # Errors
/// Everything that is wrong, each at its place; also values from elsewhere that have not been put in.
pub fn connection(doc: &RawDocument, folder: &Path) -> Result<Connection, Vec<Problem>> {
    let whole = preset::apply(doc).map_err(|problem| vec![problem])?;
    let mut reader = Reader::new(&whole.source);
    match read(&mut reader, &whole, folder) {
        Some(connection) if reader.problems.is_empty() => Ok(connection),
        _ => Err(reader.problems),
    }
}

/// Everything that is wrong with the connection of a backend that is not to be reached: what is not known of
/// the environment and of files is passed over.
pub fn check_connection(doc: &RawDocument, folder: &Path) -> Vec<Problem> {
    let whole = match preset::apply(doc) {
        Ok(whole) => whole,
        Err(problem) => return vec![problem],
    };
    let mut reader = Reader::lenient(&whole.source);
    read(&mut reader, &whole, folder);
    reader.problems
}

fn read(reader: &mut Reader, whole: &RawDocument, folder: &Path) -> Option<Connection> {
    let name = super::name(reader, whole)?;
    let Some(spec) = whole.root.get("spec") else {
        reader.wrong(whole.root.at, format!("the backend `{name}` has no `spec`"));
        return None;
    };
    let spec = reader.map(spec, "a backend's `spec`", &super::SPEC)?;
    let address = match spec.get("url") {
        Some(node) => address(reader, node, folder),
        None => {
            reader.wrong(spec.at(), format!("the backend `{name}` has no `url`"));
            None
        }
    };
    let auth = spec.get("auth").and_then(|node| auth(reader, node, folder));
    let tls = spec.get("tls").map_or_else(Tls::default, |node| tls(reader, node, folder));
    let headers = spec.get("headers").map_or_else(Vec::new, |node| headers(reader, node));
    let limits = spec.get("limits").map_or_else(Limits::default, |node| limits(reader, node));
    let owner = super::owner(reader, spec)?.to_owned();
    if let (Some(node), Some(pins), Some(Address::Http(url))) = (spec.get("url"), &tls.pins, &address)
        && !url.starts_with("https:")
    {
        let message = format!("`url` has no TLS, and `tls.pin` ({}) is of a server that has", pins.stated);
        reader.wrong(node.at, message).hint = Some("is it `https`?".into());
    }
    Some(Connection { name, owner, address: address?, auth, tls, headers, limits })
}

fn address(reader: &mut Reader, node: &Node, folder: &Path) -> Option<Address> {
    let Text::Plain(text) = text(reader, node, "`url`")? else {
        reader.wrong(node.at, "`url` cannot be a secret: it stands in messages");
        return None;
    };
    if let Some(path) = text.strip_prefix(EMBEDDED) {
        if path.is_empty() {
            reader.wrong(node.at, "`embedded:` names no path").hint =
                Some("as in `embedded:state/demo`".into());
            return None;
        }
        return Some(Address::Embedded(folder.join(path)));
    }
    match http_url(&text) {
        Ok(url) => Some(Address::Http(url)),
        Err((problem, hint)) => {
            reader.wrong(node.at, problem).hint = Some(hint.into());
            None
        }
    }
}

/// An `http` or `https` URL with nothing behind its path, and no slash at its end. The text is not repeated in
/// a problem where it may hold a password.
fn http_url(text: &str) -> Result<String, (String, &'static str)> {
    const FORM: &str = "as in `https://api.example.org/v1`, or `embedded:PATH`";
    let url = url::Url::parse(text).map_err(|e| (format!("`url` is not a URL: {e}"), FORM))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err((format!("`url` has the scheme `{}`", url.scheme()), FORM));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err((
            "`url` holds a user name or password".into(),
            "credentials stand in `auth`, as `basic: {username, password}`",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err((
            "`url` has a query or a fragment".into(),
            "a key in the query is `auth: {query: {name, value}}`",
        ));
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(("`url` holds white space or a control character".into(), FORM));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn tls(reader: &mut Reader, node: &Node, folder: &Path) -> Tls {
    let Some(record) = reader.map(node, "`tls`", &TLS) else { return Tls::default() };
    let mut file =
        |name: &str| record.get(name).and_then(|node| path(reader, node, &format!("`{name}`"), folder));
    let (ca, cert, key) = (file("ca"), file("cert"), file("key"));
    // Who writes it wants one: nothing there would let any key pass.
    let empty = node.get("pin").filter(|pin| match &pin.want {
        Want::Unset | Want::Json(Value::Null) => true,
        Want::List(items) => items.is_empty(),
        _ => false,
    });
    if let Some(pin) = empty {
        reader.wrong(pin.at, "`tls.pin` names no key: any would pass").hint =
            Some("name a pin, `sha256/` and 44 characters, or leave `pin` out".into());
    }
    let pins = record.get("pin").filter(|_| empty.is_none()).and_then(|node| pins(reader, node));
    let tls = Tls { ca, cert, key, pins };
    if record.get("cert").is_some() != record.get("key").is_some() {
        reader.wrong(node.at, "a client certificate needs both `cert` and `key`");
    }
    tls
}

/// One pin, or a list of them: the key that is there, and the one that comes next.
fn pins(reader: &mut Reader, node: &Node) -> Option<Pins> {
    let one = std::slice::from_ref(node);
    let listed = match &node.want {
        Want::List(items) if !items.is_empty() => items,
        _ => one,
    };
    let keys: Vec<[u8; 32]> = listed.iter().filter_map(|node| pin(reader, node)).collect();
    (keys.len() == listed.len()).then(|| Pins { keys, stated: Stated::At(reader.origin(node.at)) })
}

fn pin(reader: &mut Reader, node: &Node) -> Option<[u8; 32]> {
    let Text::Plain(text) = text(reader, node, "`pin`")? else {
        reader.wrong(node.at, "`pin` is no secret: it is of what the server shows to everybody");
        return None;
    };
    let digits = text.strip_prefix("sha256/").or_else(|| text.strip_prefix("sha256//"));
    let key = digits.map(|digits| digits.trim_start_matches('/')).and_then(base64::decoded);
    let key = key.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    if key.is_none() {
        reader.wrong(node.at, format!("`{text}` is no pin")).hint = Some(
            "a pin is `sha256/` and the SHA-256 of the server's public key in base64: 44 characters".into(),
        );
    }
    key
}

pub(super) fn path(reader: &mut Reader, node: &Node, what: &str, folder: &Path) -> Option<PathBuf> {
    match text(reader, node, what)? {
        Text::Plain(path) if !path.is_empty() => Some(folder.join(path)),
        _ => {
            reader.wrong(node.at, format!("{what} is the path of a file"));
            None
        }
    }
}

fn headers(reader: &mut Reader, node: &Node) -> Vec<(String, Text)> {
    let mut headers = Vec::new();
    for (name, node) in reader.members(node, "`headers`") {
        header_name(reader, node.at, name);
        if let Some(value) = text(reader, node, &format!("the header `{name}`")) {
            headers.push((name.to_owned(), value));
        }
    }
    headers
}

fn limits(reader: &mut Reader, node: &Node) -> Limits {
    let Some(record) = reader.map(node, "`limits`", &LIMITS) else { return Limits::default() };
    let concurrency = record.get("concurrency").and_then(|node| reader.count(node, "`concurrency`", 1));
    let rate = record.get("rate").and_then(|node| {
        let rate = match &node.want {
            Want::Json(value) => value.as_f64().filter(|rate| rate.is_finite() && *rate > 0.0),
            _ => None,
        };
        if rate.is_none() {
            reader.unexpected(node, "`rate`", "a number of requests a second, above 0");
        }
        rate
    });
    let timeout = record.get("timeout").and_then(|node| reader.duration(node, "`timeout`"));
    Limits { concurrency: concurrency.and_then(|n| usize::try_from(n).ok()), rate, timeout }
}

/// A value that may be a secret, without line breaks: it may stand in a header.
pub(super) fn text(reader: &mut Reader, node: &Node, what: &str) -> Option<Text> {
    let text = match &node.want {
        Want::Json(value) if value.is_string() || value.is_number() || value.is_boolean() => {
            Text::Plain(plain_text(value))
        }
        Want::Secret(secret) => Text::Secret(secret.clone()),
        Want::Outside(_) if reader.passes_over(node) => return None,
        Want::Outside(outside) => {
            reader.wrong(node.at, format!("{what}: `{outside}` is not known"));
            return None;
        }
        _ => {
            reader.unexpected(node, what, "a text");
            return None;
        }
    };
    no_line_break(reader, &text, node.at, what);
    Some(text)
}

/// A line break would end a header and start another (CWE-113). The value is not repeated.
fn no_line_break(reader: &mut Reader, text: &Text, at: Pos, what: &str) {
    if text.reveal().is_some_and(|text| text.contains(['\r', '\n', '\0'])) {
        reader.wrong(at, format!("{what} holds a line break or NUL")).hint =
            Some("a file that ends with a line break gives one, too".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::connection::{Auth, Credential};
    use crate::backend::language::testing::backend;
    use crate::core::node::{Outside, Secret};

    fn read(spec: &str) -> Result<Connection, Vec<String>> {
        connection(&backend(spec), Path::new("/etc/mq"))
            .map_err(|problems| problems.into_iter().map(|p| p.message).collect())
    }

    #[test]
    fn a_whole_connection() {
        let read = read(
            "{url: 'https://api.example.org:8443/v1/', auth: {basic: {username: me, password: 7}}, headers: {X-A: b},
              tls: {ca: ca.pem, cert: /c.pem, key: k.pem}, limits: {concurrency: 4, rate: 2.5, timeout: 5s}}",
        );
        let read = read.expect("a connection");
        assert_eq!(read.address, Address::Http("https://api.example.org:8443/v1".into()));
        let basic = Auth::Basic { username: Text::Plain("me".into()), password: Text::Plain("7".into()) };
        assert_eq!(read.auth, Some(basic));
        assert_eq!(read.tls.ca.as_deref(), Some(Path::new("/etc/mq/ca.pem")));
        assert_eq!(read.tls.cert.as_deref(), Some(Path::new("/c.pem")));
        assert_eq!((read.limits.concurrency, read.limits.rate), (Some(4), Some(2.5)));
        assert_eq!(read.headers, [("X-A".to_owned(), Text::Plain("b".into()))]);
    }

    #[test]
    fn an_empty_pin_is_no_pin() {
        for pin in ["null", "[]"] {
            let problems = read(&format!("{{url: 'https://x', tls: {{pin: {pin}}}}}")).expect_err(pin);
            assert!(problems[0].starts_with("`tls.pin` names no key: any would pass"), "{problems:?}");
        }
    }

    #[test]
    fn keys_of_the_server_are_pinned() {
        for (pin, keys) in [("sha256/PIN", 1), ("sha256//PIN", 1), ("[sha256/PIN, sha256/PIN]", 2)] {
            let spec = format!("{{url: 'https://x', tls: {{pin: {}}}}}", pin.replace("PIN", PIN));
            let pins = read(&spec).expect(pin).tls.pins.expect("pins");
            assert_eq!(pins.keys, vec![[0x11; 32]; keys], "{pin}");
        }
        let problems = read(&format!("{{url: 'http://x', tls: {{pin: sha256/{PIN}}}}}")).expect_err("no TLS");
        assert!(problems[0].starts_with("`url` has no TLS, and `tls.pin` ("), "{problems:?}");
    }

    /// Of 32 bytes 0x11.
    const PIN: &str = "ERERERERERERERERERERERERERERERERERERERERERE=";

    #[test]
    fn the_ways_to_authenticate() {
        let text = |text: &str| Credential::Text(Text::Plain(text.into()));
        for (auth, want) in [
            ("{bearer: t}", Auth::Bearer(text("t"))),
            ("{bearer: {file: token}}", Auth::Bearer(Credential::File("/etc/mq/token".into()))),
            (
                "{bearer: {command: [get, a b]}}",
                Auth::Bearer(Credential::Command(vec!["get".into(), "a b".into()])),
            ),
            (
                "{bearer: {command: get it}}",
                Auth::Bearer(Credential::Command(vec!["get".into(), "it".into()])),
            ),
            (
                "{header: {name: X-API-Key, value: k}}",
                Auth::Header { name: "X-API-Key".into(), value: text("k") },
            ),
            ("{query: {name: key, value: k}}", Auth::Query { name: "key".into(), value: text("k") }),
        ] {
            let read = read(&format!("{{url: 'http://x', auth: {auth}}}")).expect(auth);
            assert_eq!(read.auth, Some(want), "{auth}");
        }
    }

    #[test]
    fn embedded_paths_are_below_the_documents_folder() {
        let read = read("{url: 'embedded:state/demo'}").expect("a connection");
        assert_eq!(read.address, Address::Embedded("/etc/mq/state/demo".into()));
    }

    #[test]
    fn wrong_connections_say_what() {
        for (spec, want) in [
            ("{}", "the backend `mq` has no `url`"),
            ("{url: [x]}", "`url` is a text, not a list"),
            ("{url: api.example.org}", "`url` is not a URL: relative URL without a base"),
            ("{url: 'ftp://x'}", "`url` has the scheme `ftp`"),
            ("{url: 'http://me:pw@x'}", "`url` holds a user name or password"),
            ("{url: 'http://x?key=1'}", "`url` has a query or a fragment"),
            ("{url: 'embedded:'}", "`embedded:` names no path"),
            ("{url: 'http://x', auth: {}}", "`auth` is empty"),
            ("{url: 'http://x', auth: {basic: {username: a}}}", "`password` is missing"),
            (
                "{url: 'http://x', auth: {basic: {username: a, password: b}, bearer: c}}",
                "`auth` has both `basic` and `bearer`",
            ),
            ("{url: 'http://x', auth: {baerer: c}}", "`auth` has no `baerer`"),
            ("{url: 'http://x', auth: {oauth2: {}}}", "`token-url` is missing"),
            ("{url: 'http://x', auth: {login: {}}}", "`request` is missing"),
            (
                "{url: 'http://x', auth: {bearer: {file: a, command: b}}}",
                "`bearer` is a text, a `file` or a `command`",
            ),
            ("{url: 'http://x', auth: {bearer: \"a\\r\\nX: y\"}}", "`bearer` holds a line break or NUL"),
            (
                "{url: 'http://x', auth: {header: {name: 'a b', value: c}}}",
                "`a b` is not the name of a header",
            ),
            (
                "{url: 'http://x', headers: {content-length: '3'}}",
                "the header `content-length` is not a backend's to say",
            ),
            (
                "{url: 'http://x', headers: {content-type: text/xml}}",
                "the header `content-type` is not said here: a body has the type that it is written in",
            ),
            ("{url: 'http://x', headers: {a: \"b\\nc\"}}", "the header `a` holds a line break or NUL"),
            ("{url: 'https://x', tls: {pin: sha256/AAAA}}", "`sha256/AAAA` is no pin"),
            ("{url: 'https://x', tls: {pin: [md5/AAAA]}}", "`md5/AAAA` is no pin"),
            ("{url: 'https://x', tls: {pin: []}}", "`tls.pin` names no key: any would pass"),
            ("{url: 'http://x', tls: {cert: a}}", "a client certificate needs both `cert` and `key`"),
            (
                "{url: 'http://x', limits: {rate: 0}}",
                "`rate` is a number of requests a second, above 0, not 0",
            ),
            (
                "{url: 'http://x', limits: {concurrency: 0}}",
                "`concurrency` is a whole number from 1 up, not 0",
            ),
            (
                "{url: 'http://x', limits: {timeout: 5}}",
                "`timeout` is a duration such as `30s` or `1m30s`, not 5",
            ),
        ] {
            let problems = read(spec).expect_err(spec);
            assert_eq!(problems.first().map(String::as_str), Some(want), "{spec}");
        }
    }

    /// A backend in which `OUTSIDE` is a variable that is not set, and `NOTHING` an empty place.
    fn from_elsewhere(spec: &str) -> RawDocument {
        fn put(node: &mut Node) {
            match &mut node.want {
                Want::Map(map) => map.values_mut().for_each(put),
                Want::Json(value) if *value == "OUTSIDE" => {
                    node.want = Want::Outside(Outside::Env("V".into()));
                }
                Want::Json(value) if *value == "NOTHING" => node.want = Want::Outside(Outside::Nothing),
                _ => {}
            }
        }
        let mut doc = backend(spec);
        put(&mut doc.root);
        doc
    }

    #[test]
    fn what_is_not_known_is_passed_over_and_the_rest_is_not() {
        for (spec, want) in [
            ("{url: OUTSIDE, auth: {bearer: OUTSIDE}, tls: {ca: OUTSIDE}, headers: {a: OUTSIDE}}", ""),
            ("{url: OUTSIDE, auth: {basic: {username: OUTSIDE, password: OUTSIDE}}, limits: OUTSIDE}", ""),
            (
                "{url: OUTSIDE, auth: {bearer: {file: OUTSIDE}}, limits: {rate: OUTSIDE, timeout: OUTSIDE}}",
                "",
            ),
            ("{url: OUTSIDE, auth: {baerer: OUTSIDE}}", "`auth` has no `baerer`"),
            (
                "{url: OUTSIDE, limits: {concurrency: -1}}",
                "`concurrency` is a whole number from 1 up, not -1",
            ),
            ("{url: NOTHING}", "`url`: `nothing` is not known"),
        ] {
            let problems = check_connection(&from_elsewhere(spec), Path::new(""));
            assert_eq!(problems.first().map_or("", |p| p.message.as_str()), want, "{spec}");
            assert!(connection(&from_elsewhere(spec), Path::new("")).is_err(), "{spec}");
        }
    }

    #[test]
    fn secrets_stay_secrets_and_unknown_values_are_problems() {
        let with = |want: Want| {
            let mut doc = backend("{url: 'http://x', auth: {bearer: t}}");
            let Want::Map(root) = &mut doc.root.want else { unreachable!("a map") };
            let Want::Map(spec) = &mut root.get_mut("spec").expect("a spec").want else {
                unreachable!("a map")
            };
            let Want::Map(auth) = &mut spec.get_mut("auth").expect("auth").want else {
                unreachable!("a map")
            };
            auth.get_mut("bearer").expect("a token").want = want;
            connection(&doc, Path::new(""))
        };
        let secret = Secret::new("env:T", Some("s3cret".into()));
        let read = with(Want::Secret(secret.clone())).expect("a connection");
        assert_eq!(read.auth, Some(Auth::Bearer(Credential::Text(Text::Secret(secret)))));
        let problems = with(Want::Outside(Outside::Env("T".into()))).expect_err("not filled");
        assert_eq!(problems[0].message, "`bearer`: `env T` is not known");
        let problems =
            with(Want::Secret(Secret::new("env:T", Some("s3cret\n".into())))).expect_err("a line break");
        assert!(!format!("{problems:?}").contains("s3cret"));
    }
}
