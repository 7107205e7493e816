//! What is wrong with a choice of documents: it takes none, or a part of it is about none. A misspelt name must
//! not look like a success.

use std::collections::BTreeSet;

use super::select::{FILE, Pattern, Selection};
use crate::core::document::Document;
use crate::core::problem::Problem;
use crate::core::suggest;

/// What the choice comes to for some documents.
#[derive(Debug, PartialEq, Eq)]
pub enum Chosen {
    /// Documents, and what is to be said beside.
    Some(Vec<Problem>),
    /// There are documents, and none is taken: a usage error.
    None(Problem),
}

impl Selection {
    /// Looks at what the choice takes of `documents`.
    pub fn of(&self, documents: &[Document]) -> Chosen {
        if self.is_everything() || documents.is_empty() {
            return Chosen::Some(Vec::new());
        }
        let vain = |patterns: &[Pattern], said: &[String]| -> Vec<String> {
            let all = patterns.iter().zip(said);
            let vain = all.filter(|(pattern, _)| !documents.iter().any(|d| pattern.hits(d)));
            vain.map(|(_, said)| said.clone()).collect()
        };
        let only = vain(&self.only, &self.said_only);
        if documents.iter().any(|document| self.chooses(document)) {
            let warning = |flag: &str, pattern: &String| {
                let problem = Problem::new(format!("`{flag} {pattern}` is about no document"));
                problem.hint(like(pattern, documents)).warning()
            };
            let exclude = vain(&self.exclude, &self.said_exclude);
            let only = only.iter().map(|pattern| warning("--only", pattern));
            return Chosen::Some(
                only.chain(exclude.iter().map(|pattern| warning("--exclude", pattern))).collect(),
            );
        }
        let said = self.said.join(" ");
        let problem = Problem::new(format!("`{said}` selects none of the documents"));
        Chosen::None(match only.first() {
            Some(pattern) => problem.hint(like(pattern, documents)),
            None if self.labels.is_empty() => problem.hint("`--exclude` leaves out all that there is"),
            None => problem.hint(labels(documents)),
        })
    }
}

/// The nearest name: of an object for the name of one, else of a kind; of a file for a file.
fn like(pattern: &str, documents: &[Document]) -> String {
    if let Some(file) = pattern.trim().strip_prefix(FILE) {
        let files: BTreeSet<&str> = documents.iter().map(|document| &*document.origin.file).collect();
        return suggest::hint(file.trim(), "the files are", files);
    }
    let names: BTreeSet<String> = documents.iter().map(|document| document.id.slashed()).collect();
    let kinds: BTreeSet<&str> = documents.iter().map(|document| &*document.id.kind.kind).collect();
    let (kind, rest) = pattern.split_once('/').map_or((pattern, None), |(kind, rest)| (kind, Some(rest)));
    if kinds.contains(kind) && rest.is_some() {
        let of_kind = names.iter().map(String::as_str).filter(|name| name.split('/').next() == Some(kind));
        return suggest::hint(pattern, "the documents are", of_kind);
    }
    match (suggest::nearest(kind, kinds.iter().copied()), rest) {
        (Some(near), Some(rest)) if near != kind => format!("did you mean `{near}/{rest}`?"),
        _ => suggest::hint(kind, "the kinds are", kinds),
    }
}

/// What `-l` could ask for.
fn labels(documents: &[Document]) -> String {
    let pairs = documents.iter().flat_map(|document| &document.labels);
    let known: BTreeSet<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    suggest::hint("", "the labels are", known.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::core::document::Policy;
    use crate::core::identity::{Key, KindName, ObjectId};
    use crate::core::node::{Node, Origin, Pos};
    use crate::core::value::Value;

    fn document(kind: &str, name: &str) -> Document {
        let key = Key::new(vec![("name".into(), name.into())]);
        Document {
            id: ObjectId { kind: KindName { backend: "mon".into(), kind: kind.into() }, key },
            origin: Origin { file: "a.yaml".into(), at: Pos { line: 1, column: 1 } },
            spec: Arc::new(Node::from_value(Pos::default(), Value::Object(Default::default()))),
            labels: [("team".into(), "shop".into())].into(),
            policy: Policy::default(),
            base: Default::default(),
        }
    }

    fn told(labels: &[&str], only: &[&str], exclude: &[&str]) -> Vec<String> {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let selection =
            Selection::new(&owned(labels), &owned(only), &owned(exclude)).expect("flags that can be read");
        let documents = [document("Project", "p1"), document("Monitor", "m1")];
        let (problems, word) = match selection.of(&documents) {
            Chosen::Some(warnings) => (warnings, "warning"),
            Chosen::None(problem) => (vec![problem], "error"),
        };
        assert_eq!(selection.of(&[]), Chosen::Some(vec![]));
        let told = |p: &Problem| format!("{word}: {} | {}", p.message, p.hint.as_deref().unwrap_or(""));
        problems.iter().map(told).collect()
    }

    #[test]
    fn a_choice_that_takes_nothing_is_an_error_with_what_is_near() {
        for (labels, only, exclude, want) in [
            (
                &[][..],
                &["Porject/*"][..],
                &[][..],
                "`--only Porject/*` selects none of the documents | did you mean `Project/*`?",
            ),
            (
                &[],
                &["Project/p2"],
                &[],
                "`--only Project/p2` selects none of the documents | did you mean `Project/p1`? the documents are `Project/p1`",
            ),
            (
                &[],
                &["["],
                &[],
                "`--only [` selects none of the documents | the kinds are `Monitor`, `Project`",
            ),
            (
                &[],
                &["file:b.yaml"],
                &[],
                "`--only file:b.yaml` selects none of the documents | did you mean `a.yaml`? the files are `a.yaml`",
            ),
            (&["n=zzz"], &[], &[], "`-l n=zzz` selects none of the documents | the labels are `team=shop`"),
            (
                &[],
                &["Project"],
                &["*"],
                "`--only Project --exclude *` selects none of the documents | `--exclude` leaves out all that there is",
            ),
        ] {
            assert_eq!(told(labels, only, exclude), [format!("error: {want}")]);
        }
    }

    #[test]
    fn a_pattern_that_is_about_nothing_is_a_warning() {
        assert_eq!(told(&["team"], &["Project", "*/m1"], &["Project/p1"]), [""; 0]);
        assert_eq!(
            told(&[], &["Moniter/m1", "Project"], &["Project/p2", "*/m1"])[1..],
            [
                "warning: `--exclude Project/p2` is about no document | did you mean `Project/p1`? the documents are `Project/p1`"
            ]
        );
        assert_eq!(
            told(&[], &["Project", "Moniter/m1"], &[]),
            ["warning: `--only Moniter/m1` is about no document | did you mean `Monitor/m1`?"]
        );
    }
}
