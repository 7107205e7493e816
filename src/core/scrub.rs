//! Takes secrets out of what is shown: by path, where a kind's fields say so, and by value, everywhere.

mod names;

use std::sync::Arc;

use super::base::Since;
use super::change::{Change, Shown};
use super::conflict::Conflict;
use super::fields::FieldRules;
use super::identity::{Key, ObjectId};
use super::needed::Added;
use super::observed::Observed;
use super::path::{Path, Step};
use super::problem::Problem;
use super::redact::Redactor;
use super::report::{Entry, Explanation, Finding, LeftFiles, Outcome, Report};
use super::server_only;
use super::tolerance::{Tolerance, Tolerances, Tolerated};
use super::value::{Value, plain_text};

pub use names::{by_names, quoted, shown_change};

/// What stands in place of the value of a secret field.
pub const SECRET: &str = "(secret)";

/// A copy in which the value of each secret field is [`SECRET`]. An absent field stays absent.
pub fn mask(value: &Value, rules: &FieldRules) -> Value {
    let mut masked = value.clone();
    rules.each_rule(&mut |path, rule| {
        if rule.secret {
            mask_at(&mut masked, &path.0);
        }
    });
    masked
}

fn mask_at(value: &mut Value, steps: &[Step]) {
    let Some((step, below)) = steps.split_first() else {
        *value = Value::String(SECRET.into());
        return;
    };
    match (step, value) {
        (Step::Field(name), Value::Object(map)) => {
            map.get_mut(name).into_iter().for_each(|v| mask_at(v, below));
        }
        (Step::Index(at), Value::Array(items)) => {
            items.get_mut(*at).into_iter().for_each(|v| mask_at(v, below));
        }
        (Step::Keyed(name, want), Value::Array(items)) => {
            let named = |item: &&mut Value| item.get(name).is_some_and(|v| plain_text(v) == *want);
            items.iter_mut().filter(named).for_each(|v| mask_at(v, below));
        }
        (Step::Each, Value::Array(items)) => items.iter_mut().for_each(|v| mask_at(v, below)),
        (Step::Each, Value::Object(map)) => map.values_mut().for_each(|v| mask_at(v, below)),
        _ => {}
    }
}

/// A copy of a report without secrets. Whole values are looked at, before anything is cut or compared.
pub fn report(report: &Report, redactor: &Redactor) -> Report {
    let objects = report.objects.iter().map(|entry| shown(entry, redactor)).collect();
    let left = |left: &LeftFiles| LeftFiles { id: self::id(&left.id, redactor), origin: left.origin.clone() };
    let added = |added: &Added| Added {
        id: self::id(&added.id, redactor),
        needed_by: self::id(&added.needed_by, redactor),
    };
    Report {
        objects,
        left: report.left.iter().map(left).collect(),
        added: report.added.iter().map(added).collect(),
        server_only: report.server_only.iter().map(|one| server_only::scrubbed(one, redactor)).collect(),
        tolerances: report.tolerances.as_ref().map(|all| tolerances(all, redactor)),
        recorded: report.recorded.clone(),
        requests: report.requests,
        seen: report.seen.clone(),
        interrupted: report.interrupted,
    }
}

fn tolerances(all: &Tolerances, redactor: &Redactor) -> Tolerances {
    let text = |text: &str| Arc::from(&*redactor.text(text));
    let one = |one: &Tolerance| {
        Arc::new(Tolerance { object: text(&one.object), reason: text(&one.reason), ..one.clone() })
    };
    let object = |object: &Tolerated| Tolerated {
        entry: shown(&object.entry, redactor),
        by: object.by.iter().map(|by| one(by)).collect(),
        whole: object.whole,
    };
    Tolerances {
        entries: all.entries.iter().map(|(entry, standing)| (one(entry), *standing)).collect(),
        objects: all.objects.iter().map(object).collect(),
    }
}

/// A copy of a problem without secrets.
pub fn problem(problem: &Problem, redactor: &Redactor) -> Problem {
    let text = |text: &String| redactor.text(text).into_owned();
    // What is no matter of the files may be a server's own words.
    let message = match problem.origin {
        Some(_) => text(&problem.message),
        None => redactor.words(&problem.message),
    };
    Problem {
        origin: problem.origin.clone(),
        message,
        hint: problem.hint.as_ref().map(text),
        excerpt: problem.excerpt.as_ref().map(text),
        column: problem.column,
        warning: problem.warning,
    }
}

/// A copy of an identity without secrets.
pub fn id(id: &ObjectId, redactor: &Redactor) -> ObjectId {
    let parts = id.key.parts().iter().map(|(name, value)| (name.clone(), redactor.value(value))).collect();
    ObjectId { kind: id.kind.clone(), key: Key::new(parts) }
}

/// A copy of an entry of a report, to be shown: without secrets, and without what is called like one.
pub fn shown(entry: &Entry, redactor: &Redactor) -> Entry {
    self::entry(&by_names(entry), redactor)
}

/// A copy of an entry of a report without secrets.
pub fn entry(entry: &Entry, redactor: &Redactor) -> Entry {
    let text = |text: &String| redactor.text(text).into_owned();
    let why = |why: &Explanation| Explanation {
        message: text(&why.message),
        hint: why.hint.as_ref().map(text),
        reason: why.reason,
    };
    // A server's own words may have pieces of secrets in them.
    let said = |e: &Explanation| Explanation { message: redactor.words(&e.message), ..why(e) };
    let result = match &entry.result {
        Outcome::InSync => Outcome::InSync,
        Outcome::Planned => Outcome::Planned,
        Outcome::Done => Outcome::Done,
        Outcome::Applied => Outcome::Applied,
        Outcome::Refused(e) => Outcome::Refused(why(e)),
        Outcome::Conflict(e) => Outcome::Conflict(why(e)),
        Outcome::Failed(e) => Outcome::Failed(said(e)),
        Outcome::Unknown(e) => Outcome::Unknown(said(e)),
        Outcome::NotEffective(e) => Outcome::NotEffective(why(e)),
        Outcome::Skipped(e) => Outcome::Skipped(why(e)),
        Outcome::Extra(e) => Outcome::Extra(why(e)),
    };
    let finding = |finding: &Finding| Finding {
        code: finding.code,
        message: text(&finding.message),
        hint: finding.hint.as_ref().map(text),
    };
    Entry {
        id: id(&entry.id, redactor),
        origin: entry.origin.clone(),
        action: entry.action,
        result,
        changes: entry.changes.iter().map(|change| self::change(change, redactor)).collect(),
        since: entry.since,
        conflicts: entry.conflicts.iter().map(|conflict| self::conflict(conflict, redactor)).collect(),
        findings: entry.findings.iter().map(finding).collect(),
        // Of values these say what is empty, or how a server hides them.
        accepted: entry.accepted.clone(),
        wrote: entry.wrote,
        observed: Observed {
            frozen: entry.observed.frozen.iter().map(|change| self::change(change, redactor)).collect(),
            along: entry.observed.along.iter().map(|id| self::id(id, redactor)).collect(),
            ..entry.observed.clone()
        },
    }
}

/// Both sides of a change are masked when one is a secret: the old value is as secret as the new one
/// (deck #2140).
pub fn change(change: &Change, redactor: &Redactor) -> Change {
    let secret = change.is_secret();
    let side = |shown: &Shown| side(shown, secret, redactor);
    Change {
        path: path(&change.path, redactor),
        before: change.before.as_ref().map(side),
        after: change.after.as_ref().map(side),
        reason: change.reason.clone(),
        at: change.at,
        set_by: change.set_by.iter().map(|name| redactor.text(name).into()).collect(),
        since: change
            .since
            .as_ref()
            .map(|since| Since { side: since.side, base: since.base.as_ref().map(side) }),
    }
}

/// A copy of a field in conflict without secrets: all sides are masked when one is a secret.
pub fn conflict(conflict: &Conflict, redactor: &Redactor) -> Conflict {
    let secret = conflict.is_secret();
    let side = |shown: &Shown| side(shown, secret, redactor);
    Conflict {
        named: redactor.text(&conflict.named).into_owned(),
        path: conflict.path.as_ref().map(|path| self::path(path, redactor)),
        cause: conflict.cause,
        resolution: conflict.resolution,
        left: conflict.left,
        base: conflict.base.as_ref().map(side),
        ours: conflict.ours.as_ref().map(side),
        theirs: conflict.theirs.as_ref().map(side),
        by: conflict.by.iter().map(|name| redactor.text(name).into()).collect(),
    }
}

fn side(shown: &Shown, secret: bool, redactor: &Redactor) -> Shown {
    match shown {
        _ if secret => Shown::Secret,
        Shown::Value(value) => Shown::Value(redactor.value(value)),
        Shown::Later(text) => Shown::Later(redactor.text(text).into()),
        Shown::Secret => Shown::Secret,
    }
}

fn path(path: &Path, redactor: &Redactor) -> Path {
    let step = |step: &Step| match step {
        Step::Field(name) => Step::Field(redactor.text(name).into_owned()),
        Step::Keyed(name, value) => {
            Step::Keyed(redactor.text(name).into_owned(), redactor.text(value).into_owned())
        }
        other => other.clone(),
    };
    Path(path.0.iter().map(step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::change::Reason;
    use crate::core::conflict::{Cause, Resolution};
    use crate::core::identity::KindName;
    use crate::core::report::Action;
    use crate::core::veil::Veil;
    use serde_json::json;

    #[test]
    fn secret_fields_are_masked_at_every_kind_of_step() {
        let mut rules = FieldRules::default();
        for path in ["password", "users[*].token", "env[name=KEY].value", "pair[1]", "headers[*]"] {
            rules.at_mut(&Path::parse(path).expect(path)).secret = true;
        }
        let value = json!({
            "name": "a", "password": "p", "users": [{"n": 1, "token": "t"}, {"n": 2}],
            "env": [{"name": "KEY", "value": "v"}, {"name": "B", "value": "w"}],
            "pair": [1, 2], "headers": {"a": "x"},
        });
        let masked = json!({
            "name": "a", "password": SECRET, "users": [{"n": 1, "token": SECRET}, {"n": 2}],
            "env": [{"name": "KEY", "value": SECRET}, {"name": "B", "value": "w"}],
            "pair": [1, SECRET], "headers": {"a": SECRET},
        });
        assert_eq!(mask(&value, &rules), masked);
    }

    #[test]
    fn the_old_side_of_a_secret_is_masked_too() {
        let change = Change {
            path: Path::parse("key").expect("a path"),
            before: Some(Shown::Value(json!("old-clear-text"))),
            after: Some(Shown::Secret),
            reason: Reason::Declared,
            at: None,
            set_by: Vec::new(),
            since: None,
        };
        let shown = self::change(&change, &Redactor::default());
        assert_eq!((shown.before, shown.after), (Some(Shown::Secret), Some(Shown::Secret)));
    }

    #[test]
    fn no_part_of_an_entry_keeps_a_secret() {
        let hidden = "s3cr3t-value";
        let text = || format!("x {hidden} y");
        let why = Explanation::new(text()).hint(text());
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let change = Change {
            path: Path(vec![Step::Field(text()), Step::Keyed("n".into(), text())]),
            before: Some(Shown::Value(json!({"a": [text()]}))),
            after: Some(Shown::Later(text().into())),
            reason: Reason::Declared,
            at: None,
            set_by: Vec::new(),
            since: None,
        };
        let entry = Entry {
            id: ObjectId { kind, key: Key::new(vec![("name".into(), json!(text()))]) },
            origin: None,
            action: Action::Update,
            result: Outcome::Failed(why),
            changes: vec![change.clone()],
            since: None,
            conflicts: vec![Conflict {
                named: text(),
                path: Some(Path(vec![Step::Field(text())])),
                cause: Cause::Held,
                resolution: Resolution::Forced,
                left: false,
                base: Some(Shown::Value(json!(text()))),
                ours: Some(Shown::Value(json!([text()]))),
                theirs: Some(Shown::Later(text().into())),
                by: vec![text().into()],
            }],
            findings: vec![Finding { code: "PossibleOverwrite", message: text(), hint: Some(text()) }],
            accepted: vec![],
            wrote: false,
            observed: Observed { frozen: vec![change], ..Observed::default() },
        };
        let all = Report { objects: vec![entry], ..Report::default() };
        assert!(format!("{all:?}").contains(hidden));
        let scrubbed = format!("{:?}", report(&all, &Redactor::new([hidden])));
        assert!(!scrubbed.contains(hidden), "{scrubbed}");
    }

    #[test]
    fn what_is_called_like_a_secret_leaves_no_trace_in_what_is_shown() {
        let (old, new) = ("old-clear-text", "new-clear-text-of-many-letters");
        let shown = |value: Value| Some(Shown::Value(value));
        let change = Change {
            path: Path::parse("users[token=old-clear-text].password").expect("a path"),
            before: shown(json!(old)),
            after: shown(json!({"password": new, "user": "me", "note": new})),
            reason: Reason::Declared,
            at: None,
            set_by: Vec::new(),
            since: Some(Since { side: crate::core::base::Side::Both, base: shown(json!(old)) }),
        };
        let whole = Change {
            path: Path::parse("deep").expect("a path"),
            before: None,
            after: shown(json!([{"api_key": new, "n": 1}])),
            since: None,
            ..change.clone()
        };
        let words = Explanation::new(format!("it was {old:?}, and is {}…", &new[..14])).hint(new);
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let entry = Entry {
            id: ObjectId { kind, key: Key::new(vec![("name".into(), json!("a"))]) },
            origin: None,
            action: Action::Update,
            result: Outcome::Conflict(words),
            changes: vec![change.clone(), whole],
            since: None,
            conflicts: vec![Conflict::moved(&change, shown(json!(old)))],
            findings: vec![Finding { code: "PossibleOverwrite", message: old.into(), hint: None }],
            accepted: vec![],
            wrote: false,
            observed: Observed { frozen: vec![change], ..Observed::default() },
        };
        let told = format!("{:?}", super::shown(&entry, &Redactor::default()));
        for piece in ["clear-text", "of-many", "letters"] {
            assert!(!told.contains(piece), "{piece} in {told}");
        }
        // What is compared with it stays as it was.
        assert!(format!("{:?}", super::entry(&entry, &Redactor::default())).contains(old));
        // A kind may say that it is none.
        let mut rules = FieldRules::default();
        rules.at_mut(&Path::parse("users[*].password").expect("a path")).plain = true;
        rules.at_mut(&Path::parse("users[*].token").expect("a path")).plain = true;
        rules.at_mut(&Path::parse("deep").expect("a path")).plain = true;
        let plain = Entry {
            observed: Observed { names: Some(Veil::by_names(&rules).into()), ..Observed::default() },
            conflicts: vec![],
            ..entry
        };
        let told = super::shown(&plain, &Redactor::default());
        assert_eq!(told.changes[0].before, shown(json!(old)));
        assert_eq!(told.changes, plain.changes);
    }

    #[test]
    fn an_identity_is_told_apart_by_what_is_shown() {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        let key = Key::new(vec![("name".into(), json!("token-1"))]);
        let shown = id(&ObjectId { kind, key }, &Redactor::new(["token-1"]));
        assert_eq!(shown.to_string(), "K (redacted)");
    }
}
