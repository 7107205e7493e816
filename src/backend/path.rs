//! The one builder of paths and queries: a name can never change the shape of a URL.
//!
//! The usual ways are traps: a URL type drops a pushed `..` in silence, so that the request hits the whole
//! collection, and formatted strings let `%2e%2e` climb. So each value is checked, escaped once into one
//! segment, and the finished path is read back by a URL parser and must have come out unchanged.

use crate::core::exchange::ParentIds;
use crate::core::forms::BARE_IN_QUERY;
use crate::core::identity::Key;
use crate::core::kind::{Piece, Template};
use crate::core::value::{Value, plain_text, type_name};

use super::base::Base;

/// What placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct Fill<'a> {
    pub key: &'a Key,
    pub parent_ids: &'a ParentIds,
    /// The server's id of the object.
    pub id: Option<&'a str>,
    pub version: Option<&'a str>,
    /// The paths that a write changes.
    pub changed: &'a [String],
    pub owner: &'a str,
}

/// Why a request cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbuildable {
    #[error("`{{{0}}}` has no value")]
    NoValue(String),
    #[error("`{placeholder}` cannot stand in a request: {problem}")]
    Value { placeholder: String, problem: SegmentProblem },
    #[error("the path `{0}` would not reach the server as it is")]
    Shape(String),
}

/// Why a value cannot be one segment of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentProblem {
    #[error("it is empty or blank, and would name the collection")]
    Blank,
    #[error("`.` and `..` name a folder")]
    Dots,
    #[error("it has a control character")]
    Control,
    #[error("it is {0}, not a text, a number or a boolean")]
    NotScalar(&'static str),
}

/// Whether a key part can be one segment of a path: not blank, not `.` or `..`, no control character.
///
/// # Errors
/// Which of these it is; callers that know the file add the position.
pub fn check_segment(value: &str) -> Result<(), SegmentProblem> {
    if value.trim().is_empty() {
        return Err(SegmentProblem::Blank);
    }
    if value == "." || value == ".." {
        return Err(SegmentProblem::Dots);
    }
    check_text(value)
}

fn check_text(value: &str) -> Result<(), SegmentProblem> {
    if value.chars().any(char::is_control) { Err(SegmentProblem::Control) } else { Ok(()) }
}

/// Escapes everything but RFC 3986's unreserved characters.
pub fn escape(value: &str) -> String {
    escape_but(value, |_| false)
}

fn escape_but(value: &str, keep: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep(byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Undoes percent-escapes; what is not UTF-8 behind them becomes U+FFFD.
pub fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|&b| (b as char).to_digit(16));
        rest = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                &after[2..]
            }
            _ => {
                bytes.push(first);
                after
            }
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Fills the path of an operation and checks what came out of it.
///
/// # Errors
/// A placeholder without a value, a value that is no segment, a path that a URL parser would change.
pub fn build_path(template: &Template, fill: &Fill, base: &Base) -> Result<String, Unbuildable> {
    let mut path = String::new();
    for piece in &template.0 {
        match piece {
            Piece::Literal(text) => path.push_str(&escape_but(text, |b| b"/%!$&'()*+,;=:@".contains(&b))),
            Piece::RawPart(name) => {
                let text = part(fill, name)?;
                let segments = text.split('/').map(|segment| checked(name, segment).map(escape));
                path.push_str(&segments.collect::<Result<Vec<_>, _>>()?.join("/"));
            }
            piece => path.push_str(&escape(checked(&name_of(piece), &value_of(piece, fill)?)?)),
        }
    }
    let unchanged = path.starts_with('/')
        && base.locate(&path).is_ok_and(|url| {
            url.query().is_none() && url.path().strip_prefix(base.prefix()) == Some(path.as_str())
        });
    if unchanged { Ok(path) } else { Err(Unbuildable::Shape(path)) }
}

/// Fills the query of an operation, without the `?`; empty where there is none.
///
/// # Errors
/// A placeholder without a value, or a value with a control character.
pub fn build_query(query: &[(String, Template)], fill: &Fill) -> Result<String, Unbuildable> {
    let mut out = String::new();
    for (name, template) in query {
        push_query(&mut out, name, &fill_text(template, fill)?);
    }
    Ok(out)
}

/// Adds one parameter to a query.
pub fn push_query(query: &mut String, name: &str, value: &str) {
    if !query.is_empty() {
        query.push('&');
    }
    query.push_str(&escape(name));
    query.push('=');
    query.push_str(&escape_but(value, |b| BARE_IN_QUERY.contains(&b)));
}

/// Fills a template that is no path: a header, or a query value that is not escaped yet.
///
/// # Errors
/// As [`build_query`].
pub fn fill_text(template: &Template, fill: &Fill) -> Result<String, Unbuildable> {
    let mut out = String::new();
    for piece in &template.0 {
        if let Piece::Literal(text) = piece {
            out.push_str(text);
            continue;
        }
        let value = value_of(piece, fill)?;
        check_text(&value).map_err(|problem| Unbuildable::Value { placeholder: name_of(piece), problem })?;
        out.push_str(&value);
    }
    Ok(out)
}

fn checked<'v>(name: &str, value: &'v str) -> Result<&'v str, Unbuildable> {
    check_segment(value).map_err(|problem| Unbuildable::Value { placeholder: name.into(), problem })?;
    Ok(value)
}

fn value_of(piece: &Piece, fill: &Fill) -> Result<String, Unbuildable> {
    let missing = || Unbuildable::NoValue(name_of(piece));
    match piece {
        Piece::Literal(text) => Ok(text.clone()),
        Piece::Part(name) | Piece::RawPart(name) => part(fill, name),
        Piece::PartId(name) => fill.parent_ids.get(name).map(|id| id.to_string()).ok_or_else(missing),
        Piece::Id => fill.id.map(str::to_owned).ok_or_else(missing),
        Piece::Version => fill.version.map(str::to_owned).ok_or_else(missing),
        // An empty mask stands for every field in some APIs: it is not sent.
        Piece::Changed if fill.changed.is_empty() => Err(missing()),
        Piece::Changed => Ok(fill.changed.join(",")),
        // It is put in before, where there is one.
        Piece::Position => Err(missing()),
        Piece::Owner if fill.owner.is_empty() => Err(missing()),
        Piece::Owner => Ok(fill.owner.to_owned()),
    }
}

fn part(fill: &Fill, name: &str) -> Result<String, Unbuildable> {
    match fill.key.get(name) {
        None => Err(Unbuildable::NoValue(name.into())),
        Some(value @ (Value::Null | Value::Array(_) | Value::Object(_))) => Err(Unbuildable::Value {
            placeholder: name.into(),
            problem: SegmentProblem::NotScalar(type_name(value)),
        }),
        Some(scalar) => Ok(plain_text(scalar)),
    }
}

fn name_of(piece: &Piece) -> String {
    match piece {
        Piece::Literal(text) => text.clone(),
        Piece::Part(name) | Piece::RawPart(name) => name.to_string(),
        Piece::PartId(name) => format!("{name}.id"),
        Piece::Id => "id".into(),
        Piece::Version => "version".into(),
        Piece::Changed => "changed".into(),
        Piece::Position => "position".into(),
        Piece::Owner => "owner".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn base() -> Base {
        Base::parse("http://host/api").expect("a base")
    }

    fn with<T>(name: Value, run: impl Fn(&Fill) -> T) -> T {
        let key = Key::new(vec![("vhost".into(), json!("/")), ("name".into(), name)]);
        let parent_ids = ParentIds(vec![("vhost".into(), "a/7".into())]);
        let changed = ["a".to_owned(), "b.c".to_owned()];
        run(&Fill {
            key: &key,
            parent_ids: &parent_ids,
            id: None,
            version: Some("3"),
            changed: &changed,
            owner: "me",
        })
    }

    fn queue() -> Template {
        let part = |name: &str| Piece::Part(name.into());
        let literal = |text: &str| Piece::Literal(text.into());
        Template(vec![literal("/queues/"), part("vhost"), literal("/"), part("name")])
    }

    fn built(name: Value) -> Result<String, Unbuildable> {
        with(name, |fill| build_path(&queue(), fill, &base()))
    }

    #[test]
    fn each_value_is_one_segment_escaped_once() {
        for (name, want) in [
            (json!("orders"), "orders"),
            (json!("%2e%2e"), "%252e%252e"),
            (json!("%2E."), "%252E."),
            (json!("a%2fb"), "a%252fb"),
            (json!("..%2f..%2fadmin"), "..%252f..%252fadmin"),
            (json!("a/b"), "a%2Fb"),
            (json!("../../admin"), "..%2F..%2Fadmin"),
            (json!("a?x=1"), "a%3Fx%3D1"),
            (json!("a#f"), "a%23f"),
            (json!("a;b"), "a%3Bb"),
            (json!("a b"), "a%20b"),
            (json!("a\\b"), "a%5Cb"),
            (json!("..."), "..."),
            (json!("é€"), "%C3%A9%E2%82%AC"),
            (json!(18446744073709551615u64), "18446744073709551615"),
            (json!(-7), "-7"),
            (json!(true), "true"),
        ] {
            assert_eq!(built(name.clone()), Ok(format!("/queues/%2F/{want}")), "{name}");
        }
        let wide: Value = serde_json::from_str("12345678901234567890123").expect("a number");
        assert_eq!(built(wide), Ok("/queues/%2F/12345678901234567890123".into()));
    }

    #[test]
    fn values_that_change_the_shape_are_refused() {
        use SegmentProblem::*;
        for (name, problem) in [
            (json!(""), Blank),
            (json!(" "), Blank),
            (json!("."), Dots),
            (json!(".."), Dots),
            (json!("a\r\nX: y"), Control),
            (json!("a\tb"), Control),
            (json!("a\u{0}"), Control),
            (json!("a\u{85}"), Control),
            (json!(null), NotScalar("null")),
            (json!({"a": 1}), NotScalar("a map")),
        ] {
            let want = Unbuildable::Value { placeholder: "name".into(), problem };
            assert_eq!(built(name.clone()), Err(want), "{name}");
        }
    }

    #[test]
    fn a_path_that_a_parser_would_change_is_refused() {
        for (literal, id, want) in [
            ("/a/.", "x", Ok("/a/.x")),
            ("/a/%2e", "x", Ok("/a/%2ex")),
            ("/a?b=", "x", Ok("/a%3Fb=x")),
            ("/a/%2e%2e/", "x", Err("/a/%2e%2e/x")),
            ("/a/../", "x", Err("/a/../x")),
            ("a/", "x", Err("a/x")),
        ] {
            let template = Template(vec![Piece::Literal(literal.into()), Piece::Id]);
            let built =
                with(json!("n"), |fill| build_path(&template, &Fill { id: Some(id), ..*fill }, &base()));
            let want = want.map(str::to_owned).map_err(|path| Unbuildable::Shape(path.into()));
            assert_eq!(built, want, "{literal}");
        }
    }

    #[test]
    fn raw_parts_are_several_segments_each_checked() {
        let template = Template(vec![Piece::Literal("/config/".into()), Piece::RawPart("name".into())]);
        let built = |name: &str| with(json!(name), |fill| build_path(&template, fill, &base()));
        assert_eq!(built("apps/http/a b"), Ok("/config/apps/http/a%20b".into()));
        for name in ["/apps", "apps/", "a//b", "a/../b", "a/./b", "..", ""] {
            assert!(built(name).is_err(), "{name}");
        }
    }

    #[test]
    fn the_other_placeholders() {
        let template = Template(vec![Piece::Literal("/t/".into()), Piece::PartId("vhost".into())]);
        assert_eq!(with(json!("n"), |fill| build_path(&template, fill, &base())), Ok("/t/a%2F7".into()));
        let template = Template(vec![Piece::Literal("/t/".into()), Piece::Id]);
        let error = with(json!("n"), |fill| build_path(&template, fill, &base())).expect_err("no id");
        assert_eq!(error.to_string(), "`{id}` has no value");
    }

    #[test]
    fn queries_are_escaped() {
        let query = [
            ("manager".to_owned(), Template(vec![Piece::Owner])),
            ("q".to_owned(), Template(vec![Piece::Literal("a&b=".into()), Piece::Part("name".into())])),
            ("v".to_owned(), Template(vec![Piece::Version])),
            ("mask".to_owned(), Template(vec![Piece::Changed])),
        ];
        let built = with(json!("x#+%y"), |fill| build_query(&query, fill));
        assert_eq!(built, Ok("manager=me&q=a%26b%3Dx%23%2B%25y&v=3&mask=a,b.c".into()));
        assert!(with(json!("x\n"), |fill| build_query(&query, fill)).is_err());
        let nothing = with(json!("x"), |fill| build_query(&query, &Fill { changed: &[], ..*fill }));
        assert_eq!(nothing, Err(Unbuildable::NoValue("changed".into())), "an empty mask may mean all");
    }

    proptest::proptest! {
        /// A server that repeats the address of a request shows no credential in it.
        #[test]
        fn a_secret_in_a_query_is_known_to_the_redactor(secret in "[!-~äß]{4,24}") {
            let mut query = String::new();
            push_query(&mut query, "key", &secret);
            let shown = crate::core::redact::Redactor::new([&secret]).text(&query).into_owned();
            proptest::prop_assert!(shown.contains("(redacted)"), "{}", query);
        }

        /// Whatever the name: it is refused, or it is one segment that reads back as the name.
        #[test]
        fn a_name_is_one_segment_or_refused(name in "[%./\\\\?#;:a2eE é\r\t]{0,8}") {
            if let Ok(path) = built(json!(name)) {
                let url = base().locate(&path).expect("a URL");
                let segments: Vec<&str> = url.path_segments().expect("segments").collect();
                proptest::prop_assert_eq!(segments.len(), 4);
                proptest::prop_assert_eq!(unescape(segments[3]), name);
            } else {
                proptest::prop_assert!(check_segment(&name).is_err());
            }
        }
    }
}
