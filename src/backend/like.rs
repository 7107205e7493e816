//! `like` and `at`: a kind as another one of its backend, at another address.
//!
//! An API's kinds often differ in little but their path. `like: KIND` takes over what is not said again, as a
//! preset's kinds are taken over, and of an operation the members; `at: /path` is what `{at}` stands for in the
//! requests of the kind. Done to the document before it is read, so that the language knows whole kinds only.
//! The kinds of a preset are made whole before anything is laid over them: who changes one of them changes that
//! one.

use crate::core::members::Members;
use crate::core::node::{Node, Pos, Want};
use crate::core::problem::Problem;
use crate::core::raw::Source;
use crate::core::suggest;
use crate::core::value::Value;

use super::preset::{Level, merged};

/// The members of a kind that hold requests.
pub(super) const OPERATIONS: [&str; 8] =
    ["list", "read", "create", "update", "delete", "check", "version", "watch"];
/// What `at` stands for.
const PLACEHOLDER: &str = "{at}";

/// Gives each kind of a backend what those have that it is like. A kind for which that cannot be done is left
/// out, and told.
pub fn resolve(kinds: &mut Node, source: &Source) -> Vec<Problem> {
    each(kinds, source, |name, node, all| whole(name, node, all, all.len()))
}

/// Puts the address of each kind into its requests; otherwise as [`resolve`].
pub fn address(kinds: &mut Node, source: &Source) -> Vec<Problem> {
    each(kinds, source, |_, node, _| addressed(node.clone()))
}

fn each(
    kinds: &mut Node,
    source: &Source,
    make: impl Fn(&str, &Node, &Members) -> Result<Node, Wrong>,
) -> Vec<Problem> {
    let Want::Map(members) = &mut kinds.want else { return Vec::new() };
    let mut problems = Vec::new();
    let as_written = members.clone();
    for (name, node) in &as_written {
        match make(name, node, &as_written) {
            Ok(node) => drop(members.insert(name.clone(), node)),
            Err(Wrong { at, message, hint }) => {
                members.remove(name);
                problems.push(Problem { hint, ..source.problem(at, message) });
            }
        }
    }
    problems
}

/// What is wrong, and where.
struct Wrong {
    at: Pos,
    message: String,
    hint: Option<String>,
}

/// A kind with what those have that it is like, through so many at most.
fn whole(name: &str, node: &Node, kinds: &Members, most: usize) -> Result<Node, Wrong> {
    let Some(like) = node.get("like") else { return Ok(node.clone()) };
    let wrong = |message: String, hint| Wrong { at: like.at, message, hint };
    let other = like.as_str().unwrap_or_default();
    let Some(most) = most.checked_sub(1) else {
        return Err(wrong(format!("the kind `{name}` is like itself"), None));
    };
    let Some(base) = kinds.get(other) else {
        let known = kinds.keys().map(|known| &**known).filter(|known| *known != name);
        let hint = suggest::hint(other, "the kinds are", known);
        return Err(wrong(format!("`like` names `{}`, which is no kind", other.escape_debug()), Some(hint)));
    };
    let mut base = whole(other, base, kinds, most).map_err(|error| Wrong { at: like.at, ..error })?;
    OPERATIONS.into_iter().for_each(|name| base.get_mut(name).into_iter().for_each(long_form));
    let mut node = merged(node, &base, Level::Like);
    if let Want::Map(members) = &mut node.want {
        members.remove("like");
    }
    Ok(node)
}

/// An operation in its short form as a record, to which members can be added.
fn long_form(operation: &mut Node) {
    if operation.as_str().is_some_and(|text| text.contains(' ')) {
        let request = operation.clone();
        operation.want = Want::Map([("request".to_owned(), request)].into_iter().collect());
    }
}

/// A kind whose requests say its address.
fn addressed(mut kind: Node) -> Result<Node, Wrong> {
    let Want::Map(members) = &mut kind.want else { return Ok(kind) };
    let address = members.remove("at");
    if let Some(node) = &address
        && !node.as_str().is_some_and(|text| text.starts_with('/') && !text.ends_with('/'))
    {
        let message = "`at` is a path: it begins with `/`, and has none at its end".into();
        return Err(Wrong { at: node.at, message, hint: Some("as in `at: /v1/things`".into()) });
    }
    for name in OPERATIONS {
        let Some(operation) = members.get_mut(name) else { continue };
        let at = operation.at;
        let is_record = matches!(operation.want, Want::Map(_));
        let request = if is_record { operation.get_mut("request") } else { Some(operation) };
        let Some(Want::Json(Value::String(text))) = request.map(|node| &mut node.want) else { continue };
        if !text.contains(PLACEHOLDER) {
            continue;
        }
        let Some(address) = address.as_ref().and_then(Node::as_str) else {
            let message = format!("`{PLACEHOLDER}` in `{name}` has no source");
            let hint = Some("say with `at` where the kind is: `at: /v1/things`".into());
            return Err(Wrong { at, message, hint });
        };
        *text = text.replace(PLACEHOLDER, address);
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use crate::backend::language::{self, testing::backend};
    use crate::core::kind::{Kind, Piece};

    fn read(kinds: &str) -> (Vec<Kind>, Vec<String>) {
        let (kinds, problems) =
            language::kinds(&backend(&format!("{{url: 'http://x', kinds: {{{kinds}}}}}")));
        let said = problems.iter().map(|p| format!("{}: {}", p, p.hint.as_deref().unwrap_or("-")));
        (kinds, said.collect())
    }

    const TEAM: &str = "Team: {key: {name: .name}, at: /v1/teams, list: 'GET {at}', read: 'GET {at}/{name}',
        create: {request: 'PUT {at}/{name}', send: ours}, fields: {tags: set, id: server-owned}}";

    fn literal(op: &crate::core::kind::Op) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            other => format!("{other:?}"),
        };
        op.path.0.iter().map(piece).collect()
    }

    #[test]
    fn a_kind_is_as_another_at_its_own_address() {
        let (kinds, problems) = read(&format!(
            "{TEAM}, User: {{like: Team, at: /v1/users, fields: {{tags: ordered}}}}, Robot: {{like: User, create: none, at: /robots}}"
        ));
        assert_eq!(problems, [""; 0]);
        let kind = |name: &str| kinds.iter().find(|kind| *kind.name.kind == *name).expect(name);
        for (name, address) in [("Team", "/v1/teams"), ("User", "/v1/users"), ("Robot", "/robots")] {
            assert_eq!(literal(&kind(name).list.as_ref().expect("a list").op), address);
        }
        let create = kind("User").create.as_ref().expect("a create");
        assert_eq!(literal(create), "/v1/users/Part(\"name\")");
        assert_eq!(create.send, crate::core::kind::Send::Ours);
        assert!(kind("Robot").create.is_none());
        let fields: Vec<&str> = kind("Robot").fields.named_fields().map(|(name, _)| name).collect();
        assert_eq!(fields, ["id", "tags"]);
    }

    #[test]
    fn wrong_use_is_told() {
        for (kinds, said) in [
            ("A: {like: B, at: /a}".into(), "`like` names `B`, which is no kind: "),
            ("A: {like: B}, B: {like: A}".into(), "the kind `A` is like itself"),
            (
                format!("{TEAM}, User: {{like: Teem}}"),
                "`like` names `Teem`, which is no kind: did you mean `Team`?",
            ),
            (format!("{TEAM}, User: {{like: [Team]}}"), "`like` names ``, which is no kind: "),
            (format!("{TEAM}, User: {{like: Team, at: users}}"), "`at` is a path: "),
            ("A: {key: {n: .n}, list: 'GET {at}'}".into(), "`{at}` in `list` has no source: say with `at`"),
        ] {
            let (_, problems) = read(&kinds);
            assert!(problems.iter().any(|problem| problem.contains(said)), "{kinds}: {problems:?}");
        }
    }
}
