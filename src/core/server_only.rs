//! Fields that only the server has: what it adds to an object, and no document declares. They are never a change, and
//! told of where somebody asks.

use super::change::{Change, Reason, Shown};
use super::diff::explain::{Why, explain};
use super::engine::Specimen;
use super::filter::Filter;
use super::identity::ObjectId;
use super::node::Origin;
use super::path::{Path, Step};
use super::redact::Redactor;
use super::report::Entry;
use super::scrub;
use super::veil::Veil;

/// Of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerOnly {
    pub id: ObjectId,
    pub origin: Option<Origin>,
    /// In the order of the server's answer.
    pub fields: Vec<Field>,
}

/// One of them, with all that is below it.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub path: Path,
    pub value: Shown,
    /// The backend knows it as the server's (its `id`; `server-owned`, `ignore`, `write-only`).
    pub known: bool,
}

/// What the server alone has of an object, without its secrets; `None` where that is nothing, or there is no object.
pub fn of(entry: &Entry, specimen: &Specimen) -> Option<ServerOnly> {
    let item = specimen.observed.as_ref()?;
    let redactor = Redactor::new(&specimen.secrets);
    let names = Veil::by_names(&specimen.kind.fields);
    let lines =
        explain(&specimen.spec, specimen.base.past(), &item.value, &specimen.kind.fields, &entry.changes);
    let kind = &specimen.kind;
    let is = |filter: &Filter, path: &Path| filter.plain().is_some_and(|names| of_fields(names) == *path);
    // What is told by a document's `metadata` is declared there.
    let is_key =
        |path: &Path| kind.parts.iter().filter_map(|part| part.on_item.as_ref()).any(|part| is(part, path));
    let fields =
        lines.into_iter().filter(|line| line.after.is_none() && !is_key(&line.path)).filter_map(|line| {
            let known = match line.why {
                Why::Undeclared => is(&kind.id, &line.path),
                Why::ServerOwned | Why::Ignored | Why::WriteOnly => true,
                _ => return None,
            };
            let Change { path, before, .. } =
                scrub::shown_change(&shown(line.path, line.before?), &names, &redactor);
            Some(Field { path, value: before?, known })
        });
    let fields: Vec<Field> = fields.collect();
    (!fields.is_empty()).then(|| ServerOnly { id: entry.id.clone(), origin: entry.origin.clone(), fields })
}

fn of_fields(names: &[String]) -> Path {
    Path(names.iter().cloned().map(Step::Field).collect())
}

/// The form in which secrets leave a value.
fn shown(path: Path, value: Shown) -> Change {
    let reason = Reason::Declared;
    Change { path, before: Some(value), after: None, reason, at: None, set_by: Vec::new(), since: None }
}

/// A copy without secrets.
pub fn scrubbed(one: &ServerOnly, redactor: &Redactor) -> ServerOnly {
    let field = |field: &Field| {
        let change = scrub::change(&shown(field.path.clone(), field.value.clone()), redactor);
        Field { path: change.path, value: change.before.unwrap_or(Shown::Secret), known: field.known }
    };
    let fields = one.fields.iter().map(field).collect();
    ServerOnly { id: scrub::id(&one.id, redactor), origin: one.origin.clone(), fields }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::super::base::Base;
    use super::super::engine::tests::make::{document, kind};
    use super::super::exchange::Item;
    use super::super::fields::FieldRule;
    use super::super::node::Node;
    use super::super::report::{Action, Outcome};
    use super::super::value::Value;
    use super::*;

    /// Puts a word of the backend on a field.
    type Word = fn(&mut FieldRule);

    fn told(spec: Value, observed: Option<Value>, words: &[(&str, Word)]) -> Vec<String> {
        let mut kind = kind("Thing", false, None);
        for (path, word) in words {
            word(kind.fields.at_mut(&Path::parse(path).expect("a path")));
        }
        let document = document("Thing", &[("name", "a")], spec.clone());
        let item = observed.map(|value| Item {
            key: document.id.key.clone(),
            server_id: None,
            version: None,
            value: Arc::new(value),
            deleting: false,
            ready: None,
            ambiguous: Vec::new(),
        });
        let specimen = Specimen {
            kind: Arc::new(kind),
            spec: Node::clone(&document.spec),
            observed: item,
            references: Vec::new(),
            base: Base::None,
            secret_since: false,
            pruned: None,
            secrets: vec!["hunter2-hunter2".into()],
        };
        let entry = Entry {
            id: document.id.clone(),
            origin: Some(document.origin.clone()),
            action: Action::None,
            result: Outcome::InSync,
            changes: Vec::new(),
            since: None,
            conflicts: Vec::new(),
            findings: Vec::new(),
            accepted: Vec::new(),
            wrote: false,
            observed: Default::default(),
        };
        let fields = of(&entry, &specimen).map(|told| told.fields).unwrap_or_default();
        let field = |field: &Field| {
            let value = match &field.value {
                Shown::Value(value) => value.to_string(),
                Shown::Secret => "(secret)".into(),
                Shown::Later(text) => text.to_string(),
            };
            format!("{} {value}{}", field.path, if field.known { " known" } else { "" })
        };
        fields.iter().map(field).collect()
    }

    #[test]
    fn what_the_server_adds_with_its_values_and_what_the_backend_knows_of_it() {
        let observed = json!({"id": 1, "name": "a", "n": {"x": 1, "y": {"z": 2}}, "revision": 7});
        let fields =
            told(json!({"n": {"x": 1}}), Some(observed), &[("revision", |rule| rule.server_owned = true)]);
        assert_eq!(fields, ["n.y {\"z\":2}", "id 1 known", "revision 7 known"]);
        assert_eq!(told(json!({}), Some(json!({"name": "a"})), &[]), [""; 0]);
        assert_eq!(told(json!({}), None, &[]), [""; 0], "there is no object");
    }

    #[test]
    fn secrets_are_masked_by_path_and_by_text() {
        let observed = json!({"name": "a", "key": "k-123", "deep": {"key": "k-456", "n": 1}, "log": "with hunter2-hunter2"});
        let fields = told(
            json!({"name": "a"}),
            Some(observed),
            &[("key", |rule| rule.secret = true), ("deep.key", |rule| rule.secret = true)],
        );
        let whole = fields.join("\n");
        for secret in ["k-123", "k-456", "hunter2"] {
            assert!(!whole.contains(secret), "{whole}");
        }
        assert_eq!(fields.len(), 3, "{whole}");
        assert!(whole.contains("key (secret)") && whole.contains("\"n\":1"), "{whole}");
    }
}
