//! Documents for the tests of the language.

use std::sync::Arc;

use crate::core::kind::Kind;
use crate::core::members::Members;
use crate::core::node::{Node, Pos, Want};
use crate::core::problem::Problem;
use crate::core::raw::{RawDocument, Source};

/// A Backend document called `mq` with this `spec`, in the JSON-like half of YAML.
pub fn backend(spec: &str) -> RawDocument {
    document(&format!("{{metadata: {{name: mq}}, spec: {spec}}}"))
}

/// A document from YAML. Every value stands at its own column of the first line, in the order of writing.
pub fn document(text: &str) -> RawDocument {
    let yaml: serde_yaml::Value = serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut next = Pos { line: 1, column: 1 };
    let root = node(yaml, &mut next);
    RawDocument { source: Arc::new(Source { file: "b.yaml".into(), text: text.into() }), root }
}

fn node(yaml: serde_yaml::Value, next: &mut Pos) -> Node {
    let at = *next;
    next.column += 1;
    let want = match yaml {
        serde_yaml::Value::Sequence(items) => {
            Want::List(items.into_iter().map(|item| node(item, next)).collect())
        }
        serde_yaml::Value::Mapping(members) => {
            let member = |(name, value): (serde_yaml::Value, _)| {
                (name.as_str().expect("a name").to_owned(), node(value, next))
            };
            Want::Map(members.into_iter().map(member).collect::<Members>())
        }
        scalar => Want::Json(serde_json::to_value(scalar).expect("a scalar")),
    };
    Node::new(at, want)
}

/// The kinds of a backend, which must be without problems.
pub fn kinds(kinds: &str) -> Vec<Kind> {
    let (kinds, problems) = super::kinds(&backend(&format!("{{url: 'http://x', kinds: {kinds}}}")));
    assert!(problems.is_empty(), "{problems:?}");
    kinds
}

/// The one kind of a backend.
pub fn kind(record: &str) -> Kind {
    let mut kinds = kinds(&format!("{{Thing: {record}}}"));
    assert_eq!(kinds.len(), 1);
    kinds.remove(0)
}

/// The problems of a backend's kinds.
pub fn problems(kinds: &str) -> Vec<Problem> {
    super::kinds(&backend(&format!("{{url: 'http://x', kinds: {kinds}}}"))).1
}
