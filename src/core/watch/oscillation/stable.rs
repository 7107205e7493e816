//! Class E: a wish that is another each time it is loaded, of the same source: a timestamp, a random name, a hash of
//! what is there. Kept level, such an object is written for ever.

use std::collections::HashMap;

use super::super::super::document::Document;
use super::super::super::identity::ObjectId;
use super::super::super::node::{Node, Origin, Want};
use super::super::super::path::{Path, Step};
use super::super::super::problem::Problem;
use super::super::super::value::canonical_text;

/// So many paths of one object are named.
const PATHS: usize = 10;

/// The reason by which such an object is told.
pub const DESIRED_NOT_STABLE: &str = "DesiredNotStable";

/// An object that two loads of one source do not say the same of.
#[derive(Clone, Debug, PartialEq)]
pub struct Unstable {
    pub id: ObjectId,
    pub origin: Origin,
    /// Where they differ, the first few; the root for an object that only one of them has.
    pub paths: Vec<Path>,
}

/// What two loads of one source say differently: objects in the order of the first, then those that only the second
/// has. Places in the files, and how a value is spelled, make no difference.
pub fn differences(first: &[Document], second: &[Document]) -> Vec<Unstable> {
    let mut others: HashMap<&ObjectId, &Document> =
        second.iter().map(|document| (&document.id, document)).collect();
    let mut found = Vec::new();
    for document in first {
        let mut paths = Vec::new();
        match others.remove(&document.id) {
            Some(other) => compare(&document.spec, &other.spec, &Path::root(), &mut paths),
            None => paths.push(Path::root()),
        }
        if !paths.is_empty() {
            found.push(Unstable { id: document.id.clone(), origin: document.origin.clone(), paths });
        }
    }
    let only = second.iter().filter(|document| others.contains_key(&document.id));
    found.extend(only.map(|document| Unstable {
        id: document.id.clone(),
        origin: document.origin.clone(),
        paths: vec![Path::root()],
    }));
    found
}

impl Unstable {
    /// As it is told of a set that is to be planned or kept.
    pub fn problem(&self) -> Problem {
        let what = match &self.paths[..] {
            [only] if only.is_root() => "it is there in one of two loads of the same files".to_owned(),
            paths => {
                let paths: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
                format!("{} differs between two loads of the same files", paths.join(", "))
            }
        };
        Problem::new(format!("`{}`: {what} ({DESIRED_NOT_STABLE})", self.id)).at(self.origin.clone()).hint(
            "take the time, the random value or the generated name out of it: it would be written each time",
        )
    }
}

fn compare(first: &Node, second: &Node, at: &Path, out: &mut Vec<Path>) {
    if out.len() >= PATHS {
        return;
    }
    match (&first.want, &second.want) {
        (Want::Map(one), Want::Map(other)) => {
            for (name, node) in one.iter() {
                let path = at.field(name);
                match other.get(name) {
                    Some(other) => compare(node, other, &path, out),
                    None => out.push(path),
                }
            }
            let only = other.iter().filter(|(name, _)| one.get(name).is_none());
            out.extend(only.map(|(name, _)| at.field(name)));
        }
        (Want::List(one), Want::List(other)) if one.len() == other.len() => {
            for (index, (node, other)) in one.iter().zip(other).enumerate() {
                compare(node, other, &at.with(Step::Index(index)), out);
            }
        }
        (Want::Json(one), Want::Json(other)) if canonical_text(one) == canonical_text(other) => {}
        (one, other) if one == other => {}
        _ => out.push(at.clone()),
    }
    out.truncate(PATHS);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::engine::tests::make::{document, reference};
    use crate::core::node::{Pos, Secret};
    use crate::core::value::Value;

    fn team(name: &str, spec: Value) -> Document {
        document("Team", &[("name", name)], spec)
    }

    fn paths(first: Value, second: Value) -> Vec<String> {
        let found = differences(&[team("a", first)], &[team("a", second)]);
        found.iter().flat_map(|one| &one.paths).map(Path::to_string).collect()
    }

    #[test]
    fn what_differs_is_named_and_what_is_only_spelled_otherwise_is_not() {
        let stamp = |at: &str| json!({"a": {"at": at, "b": [1, 2]}, "n": 1});
        assert_eq!(paths(stamp("12:00"), stamp("12:01")), ["a.at"]);
        assert!(paths(stamp("12:00"), stamp("12:00")).is_empty());
        assert!(paths(json!({"a": 1, "b": 2}), json!({"b": 2.0, "a": 1})).is_empty());
        assert_eq!(paths(json!({"l": [1, 2]}), json!({"l": [1, 3]})), ["l[1]"]);
        assert_eq!(paths(json!({"l": [1]}), json!({"l": [1, 3]})), ["l"]);
        assert_eq!(paths(json!({"a": 1}), json!({"b": 1})), ["a", "b"]);
        assert_eq!(paths(json!({"a": 1}), json!({"a": {}})), ["a"]);
    }

    #[test]
    fn objects_that_come_and_go_are_named() {
        let found = differences(
            &[team("a", json!({})), team("run-1", json!({}))],
            &[team("run-2", json!({})), team("a", json!({}))],
        );
        let names: Vec<String> = found.iter().map(|one| one.id.to_string()).collect();
        assert_eq!(names, ["Team run-1", "Team run-2"]);
        let told = found[0].problem().to_string();
        assert!(told.contains(DESIRED_NOT_STABLE) && told.contains("test.yaml:1:1"), "{told}");
    }

    #[test]
    fn secrets_and_references_are_compared_and_not_told() {
        let with = |want: Want| {
            let mut document = team("a", json!({"x": 1}));
            document.spec_mut().get_mut("x").expect("it is there").want = want;
            [document]
        };
        let secret = |text: &str| with(Want::Secret(Secret::new("env:TOKEN", Some(text.into()))));
        assert!(differences(&secret("s3cr3t"), &secret("s3cr3t")).is_empty());
        let found = differences(&secret("s3cr3t"), &secret("0ther"));
        let told = found[0].problem().to_string();
        assert!(told.contains("`x`") && !told.contains("s3cr3t") && !told.contains("0ther"), "{told}");
        let to = |name: &str| with(Want::Ref(Box::new(reference(name))));
        assert!(differences(&to("Team/b"), &to("Team/b")).is_empty());
        assert_eq!(differences(&to("Team/b"), &to("Team/c")).len(), 1);
        assert_eq!(found[0].origin.at, Pos { line: 1, column: 1 });
    }
}
