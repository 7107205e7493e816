//! What a request says beside its path and its body: who writes, and whether it is a rehearsal.

use http::header::USER_AGENT;
use http::{HeaderMap, HeaderName};

use super::problem::Problem;
use super::route::pairs;

/// The query's parameter that asks for the field managers of items, and the member that tells them.
pub const MANAGERS: &str = "fieldManagers";
/// The header of draft-ietf-httpapi-idempotency-key-header-06.
pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Characters of a manager's name and of an idempotency key, at most.
const LONGEST: usize = 255;
/// The manager of those who do not say who they are.
const UNKNOWN: &str = "unknown";

/// The parameters of a request on an item, or of a create. Others mean nothing, and are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Params {
    pub manager: Option<String>,
    pub force: bool,
    pub dry_run: bool,
    /// Whether the answer tells the field managers.
    pub managers: bool,
}

impl Params {
    pub fn parse(query: &str) -> Result<Params, Problem> {
        let mut params = Params::default();
        for (name, value) in pairs(query)? {
            match name.as_str() {
                "fieldManager" => params.manager = Some(named("`fieldManager`", &value)?),
                "force" => params.force = switch(&name, &value)?,
                "dryRun" => params.dry_run = value == "All" || switch(&name, &value)?,
                MANAGERS => params.managers = switch(&name, &value)?,
                _ => {}
            }
        }
        Ok(params)
    }

    /// Who writes: the `fieldManager` of the query, else the program that `User-Agent` names.
    pub fn writer(&self, headers: &HeaderMap) -> String {
        let program = || {
            let agent = headers.get(USER_AGENT)?.to_str().ok()?;
            let program = agent.split(['/', ' ']).next()?;
            named("the program", program).ok()
        };
        self.manager.clone().or_else(program).unwrap_or_else(|| UNKNOWN.into())
    }
}

/// The key of a create that can be repeated, if there is one: a text in quotes, as the draft has it, or bare.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none()).unwrap_or_default().trim();
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    match !bare.contains(['"', '\\']) {
        true => named("`Idempotency-Key`", bare).map(Some),
        false => Err(Problem::bad_request("`Idempotency-Key` is one text in quotes")),
    }
}

/// A text that stands for something, and that can be shown.
fn named(what: &str, text: &str) -> Result<String, Problem> {
    match text.trim().is_empty() || text.chars().count() > LONGEST || text.chars().any(char::is_control) {
        false => Ok(text.to_owned()),
        true => Err(Problem::bad_request(format!(
            "{what} needs 1 to {LONGEST} characters, none of them a control character"
        ))),
    }
}

pub fn switch(name: &str, value: &str) -> Result<bool, Problem> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Problem::bad_request(format!("`{name}` is `true` or `false`, not `{value}`"))),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).expect("a value"))])
    }

    #[test]
    fn parameters_are_read() {
        for (query, want) in [
            ("", Params::default()),
            ("x=1&fieldManager=a+b", Params { manager: Some("a b".into()), ..Params::default() }),
            ("force=true&dryRun=All", Params { force: true, dry_run: true, ..Params::default() }),
            ("dryRun=true&fieldManagers=true", Params { dry_run: true, managers: true, ..Params::default() }),
            ("dryRun=false&force=false", Params::default()),
        ] {
            assert_eq!(Params::parse(query).expect(query), want, "{query}");
        }
        let long = format!("fieldManager={}", "x".repeat(256));
        for query in ["dryRun=1", "dryRun=", "force=yes", "fieldManager=", "fieldManager=%0a", &long] {
            assert_eq!(Params::parse(query).expect_err(query).status.as_u16(), 400, "{query}");
        }
    }

    #[test]
    fn a_writer_is_known_by_its_query_or_its_program() {
        let named = Params { manager: Some("ci".into()), ..Params::default() };
        for (params, agent, want) in [
            (&named, "curl/8.5", "ci"),
            (&Params::default(), "curl/8.5", "curl"),
            (&Params::default(), "My Tool 1.0", "My"),
            (&Params::default(), "/", "unknown"),
        ] {
            assert_eq!(params.writer(&headers(USER_AGENT, agent)), want);
        }
        assert_eq!(Params::default().writer(&HeaderMap::new()), "unknown");
    }

    #[test]
    fn keys_are_texts() {
        for (value, want) in [("\"k-1\"", Some("k-1")), ("k-1", Some("k-1")), (" \"a b\" ", Some("a b"))] {
            let key = idempotency_key(&headers(IDEMPOTENCY_KEY, value)).expect(value);
            assert_eq!(key.as_deref(), want, "{value}");
        }
        for value in ["", "\"\"", "\"a", "\"a\", \"b\"", "a\\b", &"x".repeat(256)] {
            let problem = idempotency_key(&headers(IDEMPOTENCY_KEY, value)).expect_err(value);
            assert_eq!(problem.status.as_u16(), 400, "{value}");
        }
        assert_eq!(idempotency_key(&HeaderMap::new()).expect("no key"), None);
    }
}
