//! Which documents a run is about: `-l`, `--only`, `--exclude`.
//!
//! Reads what documents say of themselves; what the chosen ones need besides is found by [`crate::core::needed`], and
//! added with [`Selection::add`].

use std::collections::{BTreeMap, HashSet};

use crate::core::document::Document;
use crate::core::glob::Glob;
use crate::core::identity::ObjectId;

/// The choice that the flags make. The default takes everything.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub(super) labels: Vec<Label>,
    pub(super) only: Vec<Pattern>,
    pub(super) exclude: Vec<Pattern>,
    /// The flags as they were given, with the values of `--only` apart.
    pub(super) said: Vec<String>,
    pub(super) said_only: Vec<String>,
    pub(super) said_exclude: Vec<String>,
    /// What the chosen ones need besides.
    added: HashSet<ObjectId>,
}

/// One value of `--only` or `--exclude`.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    /// For the object, its kind or its file.
    Any(Glob),
    /// `file:GLOB`: for the file alone. No kind's name has a colon.
    File(Glob),
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
        selection.said_exclude = exclude.to_vec();
        Ok(selection)
    }

    /// Whether the choice takes everything.
    pub fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.only.is_empty() && self.exclude.is_empty()
    }

    /// Whether the choice takes this document, or what it takes needs it.
    pub fn takes(&self, document: &Document) -> bool {
        self.chooses(document) || self.added.contains(&document.id)
    }

    /// Adds documents that were not chosen.
    pub fn add(&mut self, added: impl IntoIterator<Item = ObjectId>) {
        self.added.extend(added);
    }

    /// Whether `--exclude` leaves this document out.
    pub fn excludes(&self, document: &Document) -> bool {
        self.exclude.iter().any(|pattern| pattern.hits(document))
    }

    /// Whether the flags alone take this document.
    pub fn chooses(&self, document: &Document) -> bool {
        if self.is_everything() {
            return true;
        }
        self.labels.iter().all(|label| label.holds(&document.labels))
            && (self.only.is_empty() || self.only.iter().any(|pattern| pattern.hits(document)))
            && !self.excludes(document)
    }
}

impl Selection {
    /// Whether the choice takes a live object, which stands in no file.
    pub fn takes_object(&self, id: &ObjectId, labels: &BTreeMap<String, String>) -> bool {
        if self.is_everything() {
            return true;
        }
        let names = [id.slashed(), id.kind.kind.to_string()];
        let hit = |pattern: &Pattern| match pattern {
            Pattern::Any(glob) => names.iter().any(|name| glob.matches(name)),
            Pattern::File(_) => false,
        };
        self.labels.iter().all(|label| label.holds(labels))
            && (self.only.is_empty() || self.only.iter().any(hit))
            && !self.exclude.iter().any(hit)
    }
}

impl Pattern {
    fn parse(text: &str) -> Option<Pattern> {
        let (of, text): (fn(Glob) -> Pattern, &str) = match text.strip_prefix(FILE) {
            Some(file) => (Pattern::File, file.trim_start()),
            None => (Pattern::Any, text),
        };
        let text = text.strip_prefix("./").unwrap_or(text);
        (!text.is_empty()).then(|| of(Glob::new(text)))
    }

    /// Whether the pattern stands for a document.
    pub(super) fn hits(&self, document: &Document) -> bool {
        let file: &str = &document.origin.file;
        let of_file =
            |glob: &Glob| glob.matches(file) || glob.matches(file.strip_prefix("./").unwrap_or(file));
        match self {
            Pattern::File(glob) => of_file(glob),
            Pattern::Any(glob) => {
                glob.matches(&document.id.slashed()) || glob.matches(&document.id.kind.kind) || of_file(glob)
            }
        }
    }
}

/// Before a pattern that is for files.
pub(super) const FILE: &str = "file:";

fn globs(flag: &'static str, values: &[String]) -> Result<Vec<Pattern>, SelectError> {
    let empty = |value: &String| SelectError { flag, value: value.clone(), problem: "the pattern is empty" };
    values.iter().map(|value| Pattern::parse(value.trim()).ok_or_else(|| empty(value))).collect()
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
            ("file:manifests/queues.yaml", true),
            ("file:./manifests/q*.yaml", true),
            ("file:*/queues.yaml", true),
            ("file: *", true),
            ("file:queues.yaml", false),
            ("file:Queue*", false),
        ] {
            assert_eq!(takes("", &[only], &[]), want, "{only}");
            assert_eq!(takes("", &[], &[only]), !want, "{only}");
        }
        assert!(takes("", &["Exchange", "Queue"], &["User"]));
        assert!(!takes("", &["Queue"], &["*/orders"]));
    }

    #[test]
    fn what_is_added_is_taken_and_not_chosen() {
        let mut selection = Selection::new(&[], &["Exchange".into()], &[]).expect("a selection");
        let document = document();
        assert!(!selection.takes(&document));
        selection.add([document.id.clone()]);
        assert!(
            selection.takes(&document) && !selection.chooses(&document) && !selection.excludes(&document)
        );
        let names = &Default::default();
        let file = |flags: &[String]| Selection::new(&[], flags, &[]).expect("a selection");
        assert!(
            !file(&["file:*".into()]).takes_object(&document.id, names),
            "what is live stands in no file"
        );
        assert!(
            Selection::new(&[], &[], &["file:*".into()])
                .expect("a selection")
                .takes_object(&document.id, names)
        );
    }

    #[test]
    fn wrong_flags_are_errors() {
        for (labels, only, message) in [
            ("=x", None, "`-l =x`: a label's name is missing"),
            ("a,,b", None, "`-l a,,b`: a label's name is missing"),
            ("a in (b)", None, "`-l a in (b)`: a condition is"),
            ("a", Some(" "), "`--only  `: the pattern is empty"),
            ("a", Some("file: "), "`--only file: `: the pattern is empty"),
        ] {
            let only: Vec<String> = only.map(str::to_owned).into_iter().collect();
            let error = Selection::new(&[labels.into()], &only, &[]).expect_err(message);
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
