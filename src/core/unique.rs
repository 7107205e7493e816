//! Fields of which no two objects of a kind may have the same value, below the same parents: `unique` of the kind.
//!
//! Here is what can be told of documents alone; `engine/unique.rs` lets what frees a value go before what takes it.

use std::collections::HashMap;

use super::compare::fold;
use super::digest::Digest;
use super::document::{Document, Ensure};
use super::identity::{KindName, ObjectId};
use super::kind::{Kind, Kinds, Parent};
use super::node::{Node, Origin, Pos};
use super::path::{Path, Step};
use super::problem::Problem;
use super::value::Value;

/// A value that one object may have: the kind, the parents, which of the kind's fields, and the value, of which no more
/// is kept than tells it from another: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Held {
    kind: KindName,
    parents: String,
    /// The place of the path among the kind's.
    pub field: usize,
    value: Digest,
}

impl Held {
    /// Nothing and null are no value; an empty text is one. What the field's comparer takes for equal is one value.
    fn new(id: &ObjectId, kind: &Kind, field: usize, value: &Value) -> Option<Held> {
        if value.is_null() {
            return None;
        }
        let comparer = kind.fields.at(&kind.unique[field]).here.compare.as_ref();
        let value = comparer.map_or_else(|| Digest::of_value(value), |by| Digest::of_value(&fold(by, value)));
        Some(Held { kind: id.kind.clone(), parents: scope(id, kind), field, value })
    }

    /// What an object has that looks like this.
    pub fn by(id: &ObjectId, kind: &Kind, observed: &Value) -> Vec<Held> {
        let fields = kind.unique.iter().enumerate();
        fields.filter_map(|(field, path)| Held::new(id, kind, field, path.get(observed)?)).collect()
    }

    /// What a document wants its object to have, as far as it says so, and what it names is known.
    pub fn wanted(id: &ObjectId, kind: &Kind, spec: &Node) -> Vec<Held> {
        let fields = kind.unique.iter().enumerate();
        fields
            .filter_map(|(field, path)| Held::new(id, kind, field, &node_at(spec, path)?.to_value().ok()?))
            .collect()
    }
}

/// Among which objects of a kind a value is to be unique: those below the same parents.
pub fn scope(id: &ObjectId, kind: &Kind) -> String {
    let above = kind.parts.iter().filter(|part| part.parent != Parent::Own);
    above.filter_map(|part| kind.folded_part(&id.key, &part.name)).collect::<Value>().to_string()
}

/// The node at a path of fields.
pub fn node_at<'n>(spec: &'n Node, path: &Path) -> Option<&'n Node> {
    path.0.iter().try_fold(spec, |node, step| match step {
        Step::Field(name) => node.get(name),
        _ => None,
    })
}

/// Documents that want what only one of them can have.
pub fn doubles(documents: &[Document], kinds: &Kinds) -> Vec<Problem> {
    let mut first: HashMap<Held, &Document> = HashMap::new();
    let mut problems = Vec::new();
    for document in documents.iter().filter(|document| document.policy.ensure == Ensure::Present) {
        let Some(kind) = kinds.get(&document.id.kind).filter(|kind| !kind.unique.is_empty()) else {
            continue;
        };
        for held in Held::wanted(&document.id, kind, &document.spec) {
            let path = &kind.unique[held.field];
            let Some(other) = first.get(&held) else {
                first.insert(held, document);
                continue;
            };
            // The value may be a secret by its rule.
            let message = format!(
                "`{}` and `{}` have the same `{path}`, which is unique: the other one is at {}",
                document.id,
                other.id,
                place(other, path)
            );
            let hint = "give one of them another, or mark one `trueup/ensure: absent`";
            problems.push(Problem::new(message).at(place(document, path)).hint(hint));
        }
    }
    problems
}

/// Where a document says what it wants at a path.
fn place(document: &Document, path: &Path) -> Origin {
    let at: Pos = node_at(&document.spec, path).map_or(document.origin.at, |node| node.at);
    Origin { at, ..document.origin.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::engine::tests::make::{document, kind};
    use super::super::fields::Comparer;
    use super::super::filter::Filter;
    use super::super::node::{Secret, Want};
    use super::*;

    fn told(documents: &[Document]) -> Vec<String> {
        let mut kinds = Kinds::default();
        let unique = ["code", "deep.code"].map(|path| Path::parse(path).expect("a path")).to_vec();
        kinds.insert(kind("Zone", false, None));
        kinds.insert(Kind { unique: unique.clone(), ..kind("Team", false, None) });
        kinds.insert(Kind { unique, ..kind("Record", false, Some("Zone")) });
        doubles(documents, &kinds).iter().map(ToString::to_string).collect()
    }

    fn team(name: &str, spec: Value) -> Document {
        document("Team", &[("name", name)], spec)
    }

    #[test]
    fn two_documents_that_want_one_value_are_told_with_both_places() {
        let double = [
            team("a", json!({"code": "7"})),
            team("b", json!({"code": "8"})),
            team("c", json!({"code": "7"})),
        ];
        let found = told(&double);
        assert_eq!(found.len(), 1);
        let want =
            "`Team c` and `Team a` have the same `code`, which is unique: the other one is at test.yaml:";
        assert!(found[0].starts_with("test.yaml:") && found[0].contains(want), "{found:?}");
        let deep =
            [team("a", json!({"deep": {"code": 7}})), team("b", json!({"code": 7, "deep": {"code": 7}}))];
        assert_eq!(told(&deep).len(), 1, "another field is another value");
    }

    #[test]
    fn what_is_no_double() {
        let mut gone = team("gone", json!({"code": "7"}));
        gone.policy.ensure = Ensure::Absent;
        let record = |zone: &str| document("Record", &[("in", zone), ("name", "r")], json!({"code": "7"}));
        let documents = [
            gone,
            team("a", json!({"code": "7"})),
            team("b", json!({"code": 7})),
            team("c", json!({"code": null})),
            team("d", json!({"code": null})),
            team("e", json!({})),
            record("x"),
            record("y"),
        ];
        assert_eq!(told(&documents), [""; 0], "of another type, unset, absent, below another parent");
        assert_eq!(
            told(&[record("x"), document("Record", &[("in", "x"), ("name", "s")], json!({"code": "7"}))])
                .len(),
            1
        );
    }

    #[test]
    fn equal_is_what_compares_as_equal() {
        let secret = |text: &str| {
            let mut node = team("s", json!({}));
            let secret = Node::new(Pos::default(), Want::Secret(Secret::new("env:S", Some(text.into()))));
            let map = [(Arc::<str>::from("code"), secret)].into_iter().collect();
            node.spec = Node::new(Pos::default(), Want::Map(map)).into();
            node
        };
        let code = |code: Value| team("a", json!({"code": code}));
        for (one, other, same) in [
            (code(json!(1)), team("b", json!({"code": 1.0})), true),
            (code(json!("")), team("b", json!({"code": ""})), true),
            (code(json!("tell-nobody")), secret("tell-nobody"), true),
            (code(json!("tell-nobody")), secret("another"), false),
            (code(json!("A")), team("b", json!({"code": "a"})), false),
        ] {
            let told = told(&[one, other]);
            assert_eq!(told.len(), usize::from(same), "{told:?}");
            assert!(!told.iter().any(|line| line.contains("tell-nobody")), "{told:?}");
        }
        let mut folds =
            Kind { unique: vec![Path::parse("code").expect("a path")], ..kind("Team", false, None) };
        let lower = Filter::parse("ascii_downcase").expect("a filter");
        folds.fields.at_mut(&folds.unique[0].clone()).compare = Some(Comparer::Filter(lower));
        let id = code(json!("A")).id;
        let by = |value: &str| Held::by(&id, &folds, &json!({"code": value}));
        assert_eq!(by("A"), by("a"), "by the comparer of the field");
        assert!(!format!("{:?}", by("tell-nobody")).contains("tell-nobody"));
    }
}
