//! What a saved plan must not hold: secrets that stand in a file in the clear.
//!
//! Tags are saved as they are written, so their values are never in a plan. A literal is: where a kind says that the
//! field is secret, and where a backend's credentials stand.

use crate::core::node::{Node, Pos, Want};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::veil::Veil;

const HINT: &str = "a saved plan holds no secret: write it as `!secret env:NAME` or `!secret file:PATH`";

/// The credentials of a backend that can stand as a text, below `spec.auth`.
const CREDENTIALS: [&[&str]; 5] = [
    &["basic", "password"],
    &["bearer"],
    &["header", "value"],
    &["query", "value"],
    &["oauth2", "client-secret"],
];

/// Parts of names that say that a value is a secret, where nothing else does.
const TELLING: [&str; 6] = ["pass", "secret", "token", "key", "auth", "cookie"];

/// A document's body, where it stands, and which of it is secret by its kind.
pub struct Body<'d> {
    pub raw: &'d RawDocument,
    pub node: &'d Node,
    pub veil: Veil,
}

/// Secrets of documents and backends that stand in the clear.
pub fn in_clear<'d>(
    documents: impl Iterator<Item = Body<'d>>,
    backends: impl Iterator<Item = &'d RawDocument>,
) -> Vec<Problem> {
    let wrong = |raw: &RawDocument, at: Pos, what: &str| {
        Problem::new(format!("{what} stands here in the clear")).at(raw.place(at)).hint(HINT)
    };
    let in_body = |Body { raw, node, veil }: Body| {
        let mut texts = Vec::new();
        if !veil.is_empty() {
            veil.hidden(&node.known(), &mut texts);
        }
        (!texts.is_empty()).then(|| wrong(raw, node.at, "a field that is secret by its kind"))
    };
    let mut problems: Vec<Problem> = documents.filter_map(in_body).collect();
    for raw in backends {
        problems.extend(credentials(raw).into_iter().map(|at| wrong(raw, at, "a credential")));
    }
    problems
}

fn credentials(raw: &RawDocument) -> Vec<Pos> {
    let Some(spec) = raw.root.get("spec") else { return Vec::new() };
    let auth = spec.get("auth");
    let at = |path: &&[&str]| path.iter().try_fold(auth?, |node, name| node.get(name));
    let mut found: Vec<&Node> = CREDENTIALS.iter().filter_map(at).collect();
    let login = auth.and_then(|auth| auth.get("login")).and_then(|login| login.get("body"));
    for map in login.into_iter().chain(spec.get("headers")) {
        if let Want::Map(members) = &map.want {
            let tells = |name: &str| {
                let name = name.to_lowercase();
                TELLING.iter().any(|part| name.contains(part))
            };
            found.extend(members.iter().filter(|(name, _)| tells(name)).map(|(_, node)| node));
        }
    }
    found.retain(|node| matches!(&node.want, Want::Json(value) if !value.is_null()));
    found.into_iter().map(|node| node.at).collect()
}
