//! Field managers: who set which field, as a server tells it, and who keeps us from changing one.
//!
//! In refusals servers spell paths in their own ways, some of which cannot be read back without doubt (`.a.b.c`
//! may be the member `b.c` of `a`). So those are compared by a plain spelling that all have in common.

use std::sync::Arc;

use super::change::{Change, Shown};
use super::filter::{Filter, FilterError, Vars};
use super::path::{Path, Step};
use super::value::{Value, canonical_text};

/// A field that another manager holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contested {
    /// As the server spells it.
    pub path: String,
    pub by: String,
}

impl Contested {
    /// What a kind's `conflict` makes of an answer. Outputs that name no path are none.
    ///
    /// # Errors
    /// A filter that fails.
    pub fn of(filter: &Filter, answer: &Value, vars: &Vars) -> Result<Vec<Contested>, FilterError> {
        let contested = |value: &Value| {
            let path = value.get("path")?.as_str()?.to_owned();
            let by = value.get("by").and_then(Value::as_str).unwrap_or("another manager").to_owned();
            Some(Contested { path, by })
        };
        Ok(filter.all(answer, vars)?.iter().filter_map(contested).collect())
    }

    /// The field as a person reads it: ours and theirs where a change tells them, and who holds it.
    pub fn describe(&self, changes: &[Change]) -> String {
        let told = plain_text_of(&self.path);
        let change = changes.iter().find(|change| {
            let ours = spelling(&change.path);
            begins(&told, &ours) || begins(&ours, &told)
        });
        let Some(change) = change else {
            return format!("`{}` is held by `{}`", self.path.trim_start_matches('.'), self.by);
        };
        let (ours, theirs) = (side(change.after.as_ref()), side(change.before.as_ref()));
        format!("`{}`: ours {ours}, theirs {theirs}, held by `{}`", change.path, self.by)
    }
}

/// Notes on each change who set what the server has, as the kind's `managers` makes it of the item.
///
/// # Errors
/// A filter that fails.
pub fn name_managers(changes: &mut [Change], filter: &Filter, item: &Value) -> Result<(), FilterError> {
    let Some(told) = filter.one(item, &Vars::default())? else { return Ok(()) };
    let managers: Vec<(Arc<str>, Vec<Path>)> =
        told.as_array().into_iter().flatten().filter_map(manager).collect();
    for change in changes.iter_mut().filter(|change| change.before.is_some()) {
        let sets = |owned: &Path| owned.covers(&change.path) || change.path.covers(owned);
        let setters = managers.iter().filter(|(_, paths)| paths.iter().any(sets));
        change.set_by = setters.map(|(name, _)| name.clone()).collect();
        change.set_by.sort();
        change.set_by.dedup();
    }
    Ok(())
}

/// A side of a change, as a sentence has it.
pub fn side(side: Option<&Shown>) -> String {
    match side {
        Some(Shown::Value(value)) => canonical_text(value),
        Some(Shown::Secret) => "a secret".into(),
        Some(Shown::Later(text)) => text.to_string(),
        None => "nothing".into(),
    }
}

/// A manager; what is no path of ours it sets somewhere that no change is.
fn manager(value: &Value) -> Option<(Arc<str>, Vec<Path>)> {
    let paths = value.get("paths")?.as_array()?;
    let paths = paths.iter().filter_map(Value::as_str).filter_map(|path| Path::parse(path).ok()).collect();
    Some((value.get("name")?.as_str()?.into(), paths))
}

/// Whether `path` is at `above` or below it.
fn begins(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A path in the plain spelling: `.spec.containers[name=web].image`, nothing in quotes.
fn spelling(path: &Path) -> String {
    let step = |step: &Step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Index(at) => format!("[{at}]"),
        Step::Keyed(name, value) => format!("[{name}={value}]"),
        Step::Each => "[*]".into(),
    };
    path.0.iter().map(step).collect()
}

/// The plain spelling of a path as a server writes it.
fn plain_text_of(path: &str) -> String {
    match Path::parse(path) {
        Ok(path) => spelling(&path),
        Err(_) => format!(".{}", path.trim_start_matches('.').replace('"', "")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::change::Reason;
    use super::*;

    fn change(path: &str, before: Option<Value>) -> Change {
        Change {
            path: Path::parse(path).expect(path),
            before: before.map(Shown::Value),
            after: Some(Shown::Value(json!("ours"))),
            reason: Reason::Declared,
            at: None,
            set_by: Vec::new(),
        }
    }

    fn named(path: &str, managers: Value) -> Vec<String> {
        let mut changes = [change(path, Some(json!(1)))];
        let filter = Filter::parse(".managers").expect("a filter");
        name_managers(&mut changes, &filter, &json!({ "managers": managers })).expect("it runs");
        changes[0].set_by.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn who_set_a_field_is_found_at_it_above_it_and_below_it() {
        let managers = json!([
            {"name": "b", "paths": ["metadata.labels[\"x.y/z\"]", "spec.list[name=web].image"]},
            {"name": "a", "paths": ["spec.whole", "spec.list[name=\"web\"].image"]},
            {"name": "odd", "paths": 3}, 4, {"paths": ["spec"]},
        ]);
        for (path, names) in [
            ("metadata.labels[\"x.y/z\"]", &["b"][..]),
            ("metadata.labels.x", &[]),
            ("spec.list[name=web].image", &["a", "b"]),
            ("spec.list[name=web]", &["a", "b"]),
            ("spec.list[name=we]", &[]),
            ("spec.whole.part[0]", &["a"]),
            ("spec.wholesale", &[]),
        ] {
            assert_eq!(named(path, managers.clone()), names, "{path}");
        }
    }

    #[test]
    fn what_is_not_on_the_server_nobody_set() {
        let mut changes = [change("a", None)];
        let filter = Filter::parse("[{name: \"x\", paths: [\"a\"]}]").expect("a filter");
        name_managers(&mut changes, &filter, &json!({})).expect("it runs");
        assert!(changes[0].set_by.is_empty());
    }

    #[test]
    fn a_conflict_names_both_sides_where_a_change_tells_them() {
        let changes = [change("metadata.labels[\"app.io/x\"]", Some(json!("theirs"))), change("n", None)];
        for (path, said) in [
            (
                ".metadata.labels.app.io/x",
                "`metadata.labels[\"app.io/x\"]`: ours \"ours\", theirs \"theirs\", held by `kubectl`",
            ),
            (".n", "`n`: ours \"ours\", theirs nothing, held by `kubectl`"),
            (".spec.x", "`spec.x` is held by `kubectl`"),
        ] {
            let contested = Contested { path: path.into(), by: "kubectl".into() };
            assert_eq!(contested.describe(&changes), said);
        }
    }

    #[test]
    fn an_answer_that_names_no_field_is_no_conflict() {
        let filter = Filter::parse(".causes[]? | {path: .field, by: .who}").expect("a filter");
        for (answer, count) in [
            (json!({"causes": [{"field": ".a", "who": "k"}, {"who": "k"}, {"field": ".b"}]}), 2),
            (json!({"causes": 1}), 0),
            (json!({}), 0),
        ] {
            let found = Contested::of(&filter, &answer, &Vars::default()).expect("it runs");
            assert_eq!(found.len(), count, "{answer}");
        }
    }
}
