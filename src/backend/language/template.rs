//! Requests as one line: `GET /queues/{vhost}?page=1`. Literals and placeholders, nothing else.

use crate::core::kind::{Method, Piece, Template};

/// A request line taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct RequestLine {
    pub method: Method,
    pub path: Template,
    pub query: Vec<(String, Template)>,
}

/// Why a text is no request.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct TemplateError {
    pub problem: String,
    pub hint: Option<&'static str>,
}

impl TemplateError {
    fn new(problem: impl Into<String>) -> TemplateError {
        TemplateError { problem: problem.into(), hint: None }
    }

    fn hint(self, hint: &'static str) -> TemplateError {
        TemplateError { hint: Some(hint), ..self }
    }
}

/// The methods of the language.
const METHODS: [Method; 6] =
    [Method::Get, Method::Head, Method::Post, Method::Put, Method::Patch, Method::Delete];

/// The placeholders that are no parts of a key.
pub const WORDS: [(&str, Piece); 5] = [
    ("id", Piece::Id),
    ("version", Piece::Version),
    ("changed", Piece::Changed),
    ("owner", Piece::Owner),
    ("position", Piece::Position),
];

/// Reads `METHOD /path/{part}?name=value`. `parts` are the parts of the kind's key, which come before the
/// words `id`, `version`, `changed`, `owner` and `position` where a part has such a name.
pub fn request(text: &str, parts: &[&str]) -> Result<RequestLine, TemplateError> {
    let (method, target) = text.trim().split_once(' ').ok_or_else(|| {
        TemplateError::new(format!("`{text}` is not a request"))
            .hint("write `METHOD /path`, as in `GET /things/{name}`")
    })?;
    let method = METHODS.into_iter().find(|m| m.as_str() == method).ok_or_else(|| {
        TemplateError::new(format!("`{method}` is not a method"))
            .hint("the methods are GET, HEAD, POST, PUT, PATCH and DELETE, in capitals")
    })?;
    let target = target.trim();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(RequestLine { method, path: self::path(path, parts)?, query: self::query(query, parts)? })
}

/// A path below the backend's URL.
fn path(text: &str, parts: &[&str]) -> Result<Template, TemplateError> {
    if !text.starts_with('/') {
        return Err(TemplateError::new(format!("the path `{text}` does not start with `/`"))
            .hint("paths stand below the backend's `url`"));
    }
    let template = template(text, parts)?;
    for piece in &template.0 {
        let Piece::Literal(literal) = piece else { continue };
        if let Some(c) = literal.chars().find(|c| !is_path_char(*c)) {
            return Err(TemplateError::new(format!("the path `{text}` holds `{}`", c.escape_debug()))
                .hint("write it percent-encoded"));
        }
        if literal.split('/').any(|segment| matches!(segment, "." | "..")) {
            return Err(TemplateError::new(format!("the path `{text}` holds a `.` or `..` segment")));
        }
    }
    Ok(template)
}

/// The characters of a path (RFC 3986, 3.3), percent-encoding among them.
fn is_path_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@%".contains(c)
}

/// Pairs of a query. Names and values are taken as they would be encoded; they are encoded again when sent.
fn query(text: &str, parts: &[&str]) -> Result<Vec<(String, Template)>, TemplateError> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let mut value = template(value, parts)?;
            for piece in &mut value.0 {
                if let Piece::Literal(literal) = piece {
                    *literal = decoded(literal);
                }
            }
            Ok((decoded(name), value))
        })
        .collect()
}

/// A text without its percent-encoding.
fn decoded(text: &str) -> String {
    let pair = format!("{}=", text.replace('+', "%2B"));
    let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
    decoded.map_or_else(|| text.into(), |(name, _)| name.into_owned())
}

/// Literals and placeholders. `{{` and `}}` have no meaning: an API's literal braces are percent-encoded.
pub fn template(text: &str, parts: &[&str]) -> Result<Template, TemplateError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((literal, tail)) = rest.split_once('{') {
        push_literal(&mut pieces, literal, text)?;
        let (name, tail) = tail
            .split_once('}')
            .ok_or_else(|| TemplateError::new(format!("in `{text}` a `{{` has no `}}`")))?;
        pieces.push(placeholder(name.trim(), parts).ok_or_else(|| {
            TemplateError::new(format!("in `{text}` `{{{name}}}` is not a placeholder"))
                .hint("placeholders are {part}, {part.id}, {*part}, {id}, {version}, {changed}, {owner} and {position}")
        })?);
        rest = tail;
    }
    push_literal(&mut pieces, rest, text)?;
    Ok(Template(pieces))
}

fn push_literal(pieces: &mut Vec<Piece>, literal: &str, text: &str) -> Result<(), TemplateError> {
    if literal.contains('}') {
        return Err(TemplateError::new(format!("in `{text}` a `}}` has no `{{`")));
    }
    if literal.contains(char::is_control) {
        return Err(TemplateError::new(format!("`{}` holds a control character", text.escape_debug())));
    }
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal.into()));
    }
    Ok(())
}

fn placeholder(name: &str, parts: &[&str]) -> Option<Piece> {
    let (raw, bare) = match name.strip_prefix('*') {
        Some(bare) => (true, bare),
        None => (false, name),
    };
    if bare.is_empty() || bare.contains(|c: char| c.is_whitespace() || "*{}".contains(c)) {
        return None;
    }
    Some(match bare {
        part if raw => Piece::RawPart(part.into()),
        part if parts.contains(&part) => Piece::Part(part.into()),
        name => match (WORDS.into_iter().find(|(word, _)| *word == name), name.strip_suffix(".id")) {
            (Some((_, piece)), _) => piece,
            (None, Some(part)) => Piece::PartId(part.into()),
            (None, None) => Piece::Part(name.into()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.into())
    }

    #[test]
    fn requests_are_taken_apart() {
        let line = request("GET /a/{vhost}/{team.id}/{*rest}/{id}?x=1&q=a%20b+{name}&flag", &["vhost"]);
        let line = line.expect("a request");
        assert_eq!(line.method, Method::Get);
        assert_eq!(
            line.path.0,
            [
                literal("/a/"),
                Piece::Part("vhost".into()),
                literal("/"),
                Piece::PartId("team".into()),
                literal("/"),
                Piece::RawPart("rest".into()),
                literal("/"),
                Piece::Id
            ]
        );
        assert_eq!(line.query[0], ("x".into(), Template(vec![literal("1")])));
        assert_eq!(line.query[1], ("q".into(), Template(vec![literal("a b+"), Piece::Part("name".into())])));
        assert_eq!(line.query[2], ("flag".into(), Template(vec![])));
    }

    #[test]
    fn a_part_comes_before_a_word() {
        assert_eq!(template("{id}", &["id"]), Ok(Template(vec![Piece::Part("id".into())])));
        assert_eq!(template("{version}", &[]), Ok(Template(vec![Piece::Version])));
    }

    #[test]
    fn wrong_requests_say_why() {
        for (text, want) in [
            ("/things", "`/things` is not a request"),
            ("get /things", "`get` is not a method"),
            ("GET things", "the path `things` does not start with `/`"),
            ("GET /a b", "the path `/a b` holds ` `"),
            ("GET /ä", "the path `/ä` holds `ä`"),
            ("GET /a#b", "the path `/a#b` holds `#`"),
            ("GET /a/../b", "the path `/a/../b` holds a `.` or `..` segment"),
            ("GET /{a", "in `/{a` a `{` has no `}`"),
            ("GET /a}", "in `/a}` a `}` has no `{`"),
            ("GET /{}", "in `/{}` `{}` is not a placeholder"),
            ("GET /{a b}", "in `/{a b}` `{a b}` is not a placeholder"),
        ] {
            assert_eq!(request(text, &[]).expect_err(text).problem, want);
        }
    }
}
