//! `auth: {oauth2: …}` and `auth: {login: …}`: requests that get a token.

use super::auth::member;
use super::connection::text;
use super::operation::{header_name, is_header_name};
use super::reader::{Reader, Record};
use super::template;
use crate::backend::connection::{Carry, Expires, Text, TokenBody, TokenCall};
use crate::core::filter::Filter;
use crate::core::kind::Method;
use crate::core::node::{Node, Outside, Pos, Want};

/// The members of `oauth2`.
pub const OAUTH2: [&str; 7] =
    ["token-url", "client-id", "client-secret", "client-auth", "scope", "audience", "resource"];
/// The members of `login`.
pub const LOGIN: [&str; 6] = ["request", "type", "body", "token", "send", "expires"];

/// OAuth2 client credentials (RFC 6749, 4.4): one call like any other, whose every part the standard fixes.
pub fn oauth2(reader: &mut Reader, node: &Node) -> Option<TokenCall> {
    let record = reader.map(node, "`oauth2`", &OAUTH2)?;
    let url = member(reader, record, "token-url").and_then(|node| endpoint(reader, node, "`token-url`"));
    let mut value = |name: &'static str| {
        member(reader, record, name).and_then(|node| text(reader, node, &format!("`{name}`")))
    };
    let (id, secret) = (value("client-id"), value("client-secret"));
    let mut form = vec![("grant_type".to_owned(), Text::Plain("client_credentials".into()))];
    // `audience` is in wide use, `resource` is RFC 8707.
    for name in ["scope", "audience", "resource"] {
        let value = record.get(name).and_then(|node| text(reader, node, &format!("`{name}`")));
        form.extend(value.map(|value| (name.to_owned(), value)));
    }
    let by_basic = record.get("client-auth").map_or(Some(true), |node| by_basic(reader, node))?;
    let (url, id, secret) = (url?, id?, secret?);
    let client = if by_basic {
        Some((id, secret))
    } else {
        form.extend([("client_id".to_owned(), id), ("client_secret".to_owned(), secret)]);
        None
    };
    let filter = |text| Filter::parse(text).expect("a plain path is a filter");
    Some(TokenCall {
        method: Method::Post,
        url,
        client,
        body: TokenBody::Form(form),
        token_type: Some(filter(".body.token_type")),
        carry: Carry::Bearer(filter(".body.access_token")),
        expires: Some(Expires::Told(filter(".body.expires_in"))),
    })
}

/// Where the client says who it is: every server must take Basic, and some take the body (RFC 6749, 2.3.1).
fn by_basic(reader: &mut Reader, node: &Node) -> Option<bool> {
    match reader.text(node, "`client-auth`")? {
        "basic" => Some(true),
        "body" => Some(false),
        other => {
            reader.wrong(node.at, format!("`client-auth` is not `{other}`")).hint =
                Some("it is basic or body".into());
            None
        }
    }
}

/// A login.
pub fn login(reader: &mut Reader, node: &Node) -> Option<TokenCall> {
    let record = reader.map(node, "`login`", &LOGIN)?;
    let request = member(reader, record, "request").and_then(|node| request(reader, node));
    let body = body(reader, record);
    let carry = carry(reader, record);
    let expires = record.get("expires").and_then(|node| expires(reader, node));
    let (method, url) = request?;
    let carry = carry?;
    if carry == Carry::Cookies && !url.starts_with('/') {
        reader.wrong(record.at(), "`send: cookie` with a login at an address of its own").hint =
            Some("cookies go back to where they were set: give a path below `url`".into());
    }
    Some(TokenCall { method, url, client: None, body: body?, token_type: None, carry, expires })
}

/// `METHOD /path?query`, or `METHOD https://…`.
fn request(reader: &mut Reader, node: &Node) -> Option<(Method, String)> {
    let text = reader.text(node, "`request`")?;
    let (method, target) = text.trim().split_once(' ').unwrap_or((text, "/"));
    let line = if text.contains(' ') { format!("{method} /") } else { text.to_owned() };
    let method = match template::request(&line, &[]) {
        Ok(line) => line.method,
        Err(error) => {
            reader.wrong(node.at, error.problem).hint = error.hint.map(Into::into);
            return None;
        }
    };
    Some((method, address(reader, node.at, target.trim(), "`request`")?))
}

fn endpoint(reader: &mut Reader, node: &Node, what: &str) -> Option<String> {
    match text(reader, node, what)? {
        Text::Plain(text) => address(reader, node.at, &text, what),
        Text::Secret(_) => {
            reader.wrong(node.at, format!("{what} cannot be a secret: it stands in messages"));
            None
        }
    }
}

/// A path below the backend's URL, or an absolute URL. The text is not repeated where it may hold a password.
fn address(reader: &mut Reader, at: Pos, text: &str, what: &str) -> Option<String> {
    if text.starts_with('/') {
        return match template::request(&format!("POST {text}"), &[]) {
            Ok(line) if line.path.pieces().next().is_none() => Some(text.into()),
            Ok(_) => {
                reader.wrong(at, format!("{what} holds a placeholder, and there is no object here"));
                None
            }
            Err(error) => {
                reader.wrong(at, error.problem).hint = error.hint.map(Into::into);
                None
            }
        };
    }
    let problem = match url::Url::parse(text) {
        Err(error) => format!("is no URL: {error}"),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => {
            format!("has the scheme `{}`", url.scheme())
        }
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "holds a user name or password".into()
        }
        Ok(url) if url.fragment().is_some() => "has a fragment".into(),
        Ok(url) => return Some(url.into()),
    };
    reader.wrong(at, format!("{what} {problem}")).hint =
        Some("it is a path below `url`, or a URL as in `https://id.example.org/token`".into());
    None
}

/// A map of YAML, sent as JSON or as a form.
fn body(reader: &mut Reader, record: Record) -> Option<TokenBody> {
    let form = record.get("type").map_or(Some(false), |node| is_form(reader, node));
    let Some(node) = record.get("body") else { return Some(TokenBody::None) };
    if form? {
        let mut fields = Vec::new();
        for (name, node) in reader.members(node, "`body`") {
            let value = text(reader, node, &format!("`{name}` in `body`"));
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
        return Some(TokenBody::Form(fields));
    }
    match &node.want {
        Want::Map(_) | Want::List(_) => {
            known(reader, node);
            Some(TokenBody::Json(node.clone()))
        }
        _ => {
            if let Some(problem) = reader.unexpected(node, "`body`", "a map") {
                problem.hint = Some("it is sent as it stands here; secrets stand in it as `!secret`".into());
            }
            None
        }
    }
}

fn is_form(reader: &mut Reader, node: &Node) -> Option<bool> {
    match reader.text(node, "`type`")? {
        "application/json" => Some(false),
        "application/x-www-form-urlencoded" => Some(true),
        other => {
            reader.wrong(node.at, format!("`type` is not `{}`", other.escape_debug())).hint =
                Some("it is application/json or application/x-www-form-urlencoded".into());
            None
        }
    }
}

/// Says of each value from elsewhere that it is not there.
fn known(reader: &mut Reader, node: &Node) {
    match &node.want {
        Want::List(items) => items.iter().for_each(|item| known(reader, item)),
        Want::Map(map) => map.values().for_each(|item| known(reader, item)),
        Want::Ref(reference) => {
            reader.wrong(node.at, format!("`body` refers to an object: `{}`", reference.text));
        }
        Want::Outside(Outside::Nothing) => {}
        Want::Outside(outside) if !reader.passes_over(node) => {
            reader.wrong(node.at, format!("`body`: `{outside}` is not known"));
        }
        Want::Json(_) | Want::Secret(_) | Want::Unset | Want::Outside(_) => {}
    }
}

/// `token` and `send` together: where the token stands, and how it goes into requests.
fn carry(reader: &mut Reader, record: Record) -> Option<Carry> {
    let send = record.get("send");
    let token = record.get("token");
    if let Some(node) = send.filter(|node| node.as_str() == Some("cookie")) {
        if token.is_some() {
            reader
                .wrong(node.at, "`send: cookie` takes no `token`: it sends the cookies that the login sets")
                .hint = Some("`send: {cookie: NAME}` sends a token under a name".into());
        }
        return Some(Carry::Cookies);
    }
    let filter = match token {
        Some(node) => reader.filter(node, "`token`"),
        None => {
            reader.wrong(record.at(), "`login` has no `token`").hint = Some(
                "a filter on {status, headers, body}, as in `.body.token`; `send: cookie` needs none".into(),
            );
            None
        }
    };
    let Some(node) = send else { return Some(Carry::Bearer(filter?)) };
    if node.as_str() == Some("bearer") {
        return Some(Carry::Bearer(filter?));
    }
    let Want::Map(_) = node.want else {
        reader.wrong(node.at, "`send` is `bearer`, `cookie`, `{header: NAME}` or `{cookie: NAME}`");
        return None;
    };
    let way = reader.map(node, "`send`", &["header", "cookie"])?;
    let (name, in_header) = match (way.get("header"), way.get("cookie")) {
        (Some(node), None) => (reader.text(node, "`header`")?, true),
        (None, Some(node)) => (reader.text(node, "`cookie`")?, false),
        _ => {
            reader.wrong(node.at, "`send` is a `header` or a `cookie`");
            return None;
        }
    };
    if in_header {
        header_name(reader, node.at, name);
    } else if !is_header_name(name) {
        reader.wrong(node.at, format!("`{}` is not the name of a cookie", name.escape_debug()));
    }
    let name = name.to_owned();
    Some(if in_header { Carry::Header(name, filter?) } else { Carry::Cookie(name, filter?) })
}

/// A duration, or a filter.
fn expires(reader: &mut Reader, node: &Node) -> Option<Expires> {
    let duration = node.as_str().and_then(|text| humantime::parse_duration(text).ok());
    match duration.filter(|duration| !duration.is_zero()) {
        Some(duration) => Some(Expires::After(duration)),
        None => reader.filter(node, "`expires`").map(Expires::Told),
    }
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
