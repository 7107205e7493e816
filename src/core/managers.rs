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

    /// The change that the field is about, of those that there are.
    pub fn change<'c>(&self, changes: &'c [Change]) -> Option<&'c Change> {
        let told = plain_text_of(&self.path);
        changes.iter().find(|change| {
            let ours = spelling(&change.path);
            begins(&told, &ours) || begins(&ours, &told)
        })
    }
}

/// A field manager, and the paths that it set.
#[derive(Clone, Debug)]
pub struct Manager {
    pub name: Arc<str>,
    pub paths: Vec<Path>,
    /// Whether what it set leaves the object once it no longer sends it.
    pub leaves: bool,
}

impl Manager {
    /// What a kind's `managers` makes of an item. Of a manager's paths those that are none of ours are passed
    /// over: no change is there.
    ///
    /// # Errors
    /// A filter that fails.
    pub fn of(filter: &Filter, item: &Value) -> Result<Vec<Manager>, FilterError> {
        let told = filter.one(item, &Vars::default())?;
        let manager = |value: &Value| {
            let paths = value.get("paths")?.as_array()?.iter().filter_map(Value::as_str);
            Some(Manager {
                name: value.get("name")?.as_str()?.into(),
                paths: paths.filter_map(|path| Path::parse(path).ok()).collect(),
                leaves: value.get("leaves").and_then(Value::as_bool).unwrap_or(true),
            })
        };
        Ok(told.iter().filter_map(Value::as_array).flatten().filter_map(manager).collect())
    }

    /// Whether it set the path, or something above or below it.
    pub fn sets(&self, path: &Path) -> bool {
        self.paths.iter().any(|owned| meet(owned, path))
    }
}

/// Notes on each change who set what the server has.
pub fn name_setters(changes: &mut [Change], managers: &[Manager]) {
    for change in changes.iter_mut().filter(|change| change.before.is_some()) {
        let setters = managers.iter().filter(|manager| manager.sets(&change.path));
        change.set_by = setters.map(|manager| manager.name.clone()).collect();
        change.set_by.sort();
        change.set_by.dedup();
    }
}

/// The paths that the manager `us` alone set, and that `sent` no longer has: they leave with the next write.
pub fn left<'m>(managers: &'m [Manager], us: &str, sent: &Value) -> Vec<&'m Path> {
    let (ours, others): (Vec<_>, Vec<_>) =
        managers.iter().partition(|manager| *manager.name == *us && manager.leaves);
    let paths = ours.into_iter().flat_map(|manager| &manager.paths);
    // A member of a set is known by its value alone: the set is compared as a whole.
    let gone = paths.filter(|path| !path.0.contains(&Step::Each) && !is_sent(sent, path));
    gone.filter(|path| !others.iter().any(|other| other.sets(path))).collect()
}

/// Whether a body holds something at a path, or has above it what is sent whole.
fn is_sent(sent: &Value, path: &Path) -> bool {
    let mut value = sent;
    for step in &path.0 {
        if !value.is_object() && !value.is_array() {
            return true;
        }
        let Some(below) = Path(vec![step.clone()]).get(value) else { return false };
        value = below;
    }
    true
}

/// Whether one path is at the other, or above it.
fn meet(one: &Path, other: &Path) -> bool {
    one.covers(other) || other.covers(one)
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
            since: None,
        }
    }

    fn managed(managers: Value) -> Vec<Manager> {
        let filter = Filter::parse(".managers").expect("a filter");
        Manager::of(&filter, &json!({ "managers": managers })).expect("it runs")
    }

    fn named(path: &str, managers: Value) -> Vec<String> {
        let mut changes = [change(path, Some(json!(1)))];
        name_setters(&mut changes, &managed(managers));
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
        name_setters(&mut changes, &managed(json!([{"name": "x", "paths": ["a"]}])));
        assert!(changes[0].set_by.is_empty());
    }

    #[test]
    fn what_we_alone_set_and_send_no_longer_leaves() {
        let managers = managed(json!([
            {"name": "us", "paths": ["kept", "gone.a", "gone.shared", "list[name=x].n", "list[name=y].n", "set[*]", "whole.part"]},
            {"name": "us", "leaves": false, "paths": ["updated"]},
            {"name": "other", "paths": ["gone.shared", "theirs"]},
        ]));
        let sent = json!({"kept": 1, "list": [{"name": "x", "n": 2}], "gone": {}, "whole": "text"});
        let told: Vec<String> = left(&managers, "us", &sent).into_iter().map(ToString::to_string).collect();
        assert_eq!(told, ["gone.a", "list[name=y].n"]);
        assert!(left(&managers, "nobody", &sent).is_empty());
    }

    #[test]
    fn a_field_in_conflict_is_found_among_the_changes_however_it_is_spelt() {
        let changes = [change("metadata.labels[\"app.io/x\"]", Some(json!("theirs"))), change("n", None)];
        for (path, found) in [
            (".metadata.labels.app.io/x", Some("metadata.labels[\"app.io/x\"]")),
            (".n", Some("n")),
            (".n.below", Some("n")),
            (".spec.x", None),
        ] {
            let contested = Contested { path: path.into(), by: "kubectl".into() };
            let change = contested.change(&changes);
            assert_eq!(change.map(|change| change.path.to_string()).as_deref(), found, "{path}");
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
