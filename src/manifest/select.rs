//! Which documents a run is about: `-l`, `--only`, `--exclude`.
//!
//! Reads what documents say of themselves; what the chosen ones need besides is the planner's to add.

use std::collections::BTreeMap;

use super::glob::Glob;
use crate::core::document::Document;
use crate::core::identity::ObjectId;

/// The choice that the flags make. The default takes everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub(super) labels: Vec<Label>,
    pub(super) only: Vec<Glob>,
    exclude: Vec<Glob>,
    /// The flags as they were given, with the values of `--only` apart.
    pub(super) said: Vec<String>,
    pub(super) said_only: Vec<String>,
}

/// One condition of `-l`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Label {
    Equal(String, String),
    NotEqual(String, String),
    Has(String),
    HasNot(String),
}

/// A flag that says nothing that can be understood: a usage error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{flag} {value}`: {problem}")]
pub struct SelectError {
    pub flag: &'static str,
    pub value: String,
    pub problem: &'static str,
}

impl Selection {
    /// Reads the flags: `labels` are the values of `-l`, each a list of conditions; all of them must hold.
    /// Of `only`, one must match; of `exclude`, none.
    pub fn new(labels: &[String], only: &[String], exclude: &[String]) -> Result<Selection, SelectError> {
        let mut selection = Selection::default();
        for value in labels {
            for condition in value.split(',') {
                let wrong = |problem| SelectError { flag: "-l", value: value.clone(), problem };
                selection.labels.push(Label::parse(condition.trim()).map_err(wrong)?);
            }
        }
        selection.only = globs("--only", only)?;
        selection.exclude = globs("--exclude", exclude)?;
        let flags = [("-l", labels), ("--only", only), ("--exclude", exclude)];
        let given = flags.iter().flat_map(|(flag, values)| values.iter().map(move |v| format!("{flag} {v}")));
        selection.said = given.collect();
        selection.said_only = only.to_vec();
        Ok(selection)
    }

    /// Whether the choice takes everything.
    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.only.is_empty() && self.exclude.is_empty()
    }

    /// Whether the choice takes this document.
    pub fn takes(&self, document: &Document) -> bool {
        if self.is_everything() {
            return true;
        }
        let hit = |glob: &Glob| hits(glob, document);
        self.labels.iter().all(|label| label.holds(&document.labels))
            && (self.only.is_empty() || self.only.iter().any(hit))
            && !self.exclude.iter().any(hit)
    }
}

impl Selection {
    /// Whether the choice takes a live object, which stands in no file.
    pub fn takes_object(&self, id: &ObjectId, labels: &BTreeMap<String, String>) -> bool {
        if self.is_everything() {
            return true;
        }
        let names = [id.slashed(), id.kind.kind.to_string()];
        let hit = |glob: &Glob| names.iter().any(|name| glob.matches(name));
        self.labels.iter().all(|label| label.holds(labels))
            && (self.only.is_empty() || self.only.iter().any(hit))
            && !self.exclude.iter().any(hit)
    }
}

/// Whether a pattern stands for a document: for its object, its kind or its file.
pub(super) fn hits(glob: &Glob, document: &Document) -> bool {
    let file: &str = &document.origin.file;
    let names = [document.id.slashed(), document.id.kind.kind.to_string(), file.into()];
    let below_here = file.strip_prefix("./").unwrap_or(file);
    names.iter().any(|name| glob.matches(name)) || glob.matches(below_here)
}

fn globs(flag: &'static str, values: &[String]) -> Result<Vec<Glob>, SelectError> {
    let glob = |value: &String| match value.trim() {
        "" => Err(SelectError { flag, value: value.clone(), problem: "the pattern is empty" }),
        pattern => Ok(Glob::new(pattern.strip_prefix("./").unwrap_or(pattern))),
    };
    values.iter().map(glob).collect()
}

impl Label {
    fn parse(text: &str) -> Result<Label, &'static str> {
        let name = |name: &str| match name.trim() {
            "" => Err("a label's name is missing: write `key=value`, `key!=value`, `key` or `!key`"),
            name if name.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '!' | '=')) => {
                Err("a condition is `key=value`, `key!=value`, `key` or `!key`, with commas between")
            }
            name => Ok(name.to_owned()),
        };
        if let Some((key, value)) = text.split_once("!=") {
            return Ok(Label::NotEqual(name(key)?, value.trim().into()));
        }
        if let Some((key, value)) = text.split_once('=') {
            let value = value.strip_prefix('=').unwrap_or(value);
            return Ok(Label::Equal(name(key)?, value.trim().into()));
        }
        match text.strip_prefix('!') {
            Some(key) => Ok(Label::HasNot(name(key)?)),
            None => Ok(Label::Has(name(text)?)),
        }
    }

    /// As in other tools, `!=` also holds where the label is missing.
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        match self {
            Label::Equal(key, value) => labels.get(key) == Some(value),
            Label::NotEqual(key, value) => labels.get(key) != Some(value),
            Label::Has(key) => labels.contains_key(key),
            Label::HasNot(key) => !labels.contains_key(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::core::document::Policy;
    use crate::core::identity::{Key, KindName, ObjectId};
    use crate::core::node::{Node, Origin, Pos, Want};

    fn document() -> Document {
        let kind = KindName { backend: "rabbitmq".into(), kind: "Queue".into() };
        let key = Key::new(vec![("vhost".into(), "/".into()), ("name".into(), "orders".into())]);
        Document {
            id: ObjectId { kind, key },
            origin: Origin { file: "./manifests/queues.yaml".into(), at: Pos { line: 1, column: 1 } },
            spec: Arc::new(Node::new(Pos::default(), Want::Map(Default::default()))),
            labels: [("team".into(), "shop".into()), ("tier".into(), "1".into())].into(),
            policy: Policy::default(),
            base: Default::default(),
        }
    }

    fn takes(labels: &str, only: &[&str], exclude: &[&str]) -> bool {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let labels: Vec<String> = if labels.is_empty() { vec![] } else { vec![labels.into()] };
        Selection::new(&labels, &owned(only), &owned(exclude)).expect("a selection").takes(&document())
    }

    #[test]
    fn labels() {
        for (labels, want) in [
            ("", true),
            ("team=shop", true),
            ("team==shop", true),
            ("team=shop,tier!=2", true),
            ("team=shop, tier=2", false),
            ("tier", true),
            ("!tier", false),
            ("owner", false),
            ("!owner", true),
            ("owner!=me", true),
            ("team=", false),
        ] {
            assert_eq!(takes(labels, &[], &[]), want, "{labels}");
        }
    }

    #[test]
    fn globs_match_object_kind_and_file() {
        for (only, want) in [
            ("Queue///orders", true),
            ("Queue", true),
            ("Queue/*", true),
            ("*/orders", true),
            ("manifests/*", true),
            ("./manifests/queues.yaml", true),
            ("orders", false),
            ("Exchange", false),
            ("queue", false),
        ] {
            assert_eq!(takes("", &[only], &[]), want, "{only}");
            assert_eq!(takes("", &[], &[only]), !want, "{only}");
        }
        assert!(takes("", &["Exchange", "Queue"], &["User"]));
        assert!(!takes("", &["Queue"], &["*/orders"]));
    }

    #[test]
    fn wrong_flags_are_errors() {
        for (labels, only, message) in [
            ("=x", None, "`-l =x`: a label's name is missing"),
            ("a,,b", None, "`-l a,,b`: a label's name is missing"),
            ("a in (b)", None, "`-l a in (b)`: a condition is"),
            ("a", Some(" "), "`--only  `: the pattern is empty"),
        ] {
            let only: Vec<String> = only.map(str::to_owned).into_iter().collect();
            let error = Selection::new(&[labels.into()], &only, &[]).expect_err(message);
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
