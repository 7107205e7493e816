//! Drift that is known and accepted for a time: what a file of `drift --accepted` says, laid over the report of a run.
//!
//! What is accepted is told of and counts for nothing. That is a matter of the report alone, after the run: no other
//! command reads such a file, so what is accepted is put right by the next `apply` or `watch` as ever. What the files have
//! changed since a base is no drift, and nothing that failed, is unknown, or was skipped can be accepted: what waits for a
//! difference that is accepted counts as it would without it.

use std::sync::Arc;

use super::base::Side;
use super::change::{Change, Reason};
use super::date::Date;
use super::glob::Glob;
use super::node::Origin;
use super::path::Path;
use super::problem::Problem;
use super::report::{Action, Entry, Outcome, Report};

/// One entry of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tolerance {
    /// The pattern for `KIND/NAME`, as it is written.
    pub object: Arc<str>,
    /// At this path and below; `None`: whatever differs, also that the object is there or is not.
    pub path: Option<Path>,
    /// The last day of it.
    pub until: Date,
    pub reason: Arc<str>,
    pub origin: Origin,
}

/// How an entry stands after a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Holds,
    /// Its last day is over: what it was about counts.
    Expired,
    /// It holds, and nothing differs that it is about.
    Unused,
}

impl Standing {
    /// The fixed word, as JSON says it.
    pub fn word(self) -> &'static str {
        match self {
            Standing::Holds => "holds",
            Standing::Expired => "expired",
            Standing::Unused => "unused",
        }
    }
}

/// An object with a difference that is accepted.
#[derive(Clone, Debug)]
pub struct Tolerated {
    /// The object with those of its changes that are accepted.
    pub entry: Entry,
    /// By change, what accepts it; for an object without changes the one that accepts it as a whole.
    pub by: Vec<Arc<Tolerance>>,
    /// Whether nothing else differs: then the object is in no other list.
    pub whole: bool,
}

/// What a file of accepted drift comes to.
#[derive(Clone, Debug, Default)]
pub struct Tolerances {
    /// All its entries, in their order.
    pub entries: Vec<(Arc<Tolerance>, Standing)>,
    /// In the order of the report.
    pub objects: Vec<Tolerated>,
}

impl Tolerances {
    /// Takes out of the report what the entries accept on the day `today`.
    pub fn lay(entries: Vec<Tolerance>, report: &mut Report, today: Date) -> Tolerances {
        let rows = entries.into_iter().map(|entry| Row {
            glob: Glob::new(&entry.object),
            holds: today <= entry.until,
            used: false,
            tolerance: Arc::new(entry),
        });
        let mut rows: Vec<Row> = rows.collect();
        let mut objects = Vec::new();
        let mut kept = Vec::with_capacity(report.objects.len());
        for entry in std::mem::take(&mut report.objects) {
            let (tolerated, rest) = split(entry, &mut rows);
            objects.extend(tolerated);
            kept.extend(rest);
        }
        report.objects = kept;
        let standing = |row: &Row| match (row.holds, row.used) {
            (false, _) => Standing::Expired,
            (true, true) => Standing::Holds,
            (true, false) => Standing::Unused,
        };
        let entries = rows.iter().map(|row| (row.tolerance.clone(), standing(row))).collect();
        Tolerances { entries, objects }
    }

    /// What a person is to know of the entries: which are over, and which are about nothing.
    pub fn notes(&self) -> Vec<Problem> {
        let note = |(tolerance, standing): &(Arc<Tolerance>, Standing)| {
            let Tolerance { path, until, .. } = &**tolerance;
            let what = match path {
                Some(path) => format!("`{path}` of `{}`", tolerance.object),
                None => format!("`{}`", tolerance.object),
            };
            let (message, hint) = match standing {
                Standing::Holds => return None,
                Standing::Expired => (
                    format!("what was accepted of {what} counts again: it was accepted until {until}"),
                    "accept it for longer, put it right, or take the entry out",
                ),
                Standing::Unused => (
                    format!("nothing differs that this accepts of {what}"),
                    "take the entry out, or check its name and path",
                ),
            };
            Some(Problem::new(message).at(tolerance.origin.clone()).hint(hint).warning())
        };
        self.entries.iter().filter_map(note).collect()
    }

    /// Objects of which all that differs is accepted.
    pub fn whole(&self) -> usize {
        self.objects.iter().filter(|object| object.whole).count()
    }
}

/// An entry while a report is gone through.
struct Row {
    glob: Glob,
    tolerance: Arc<Tolerance>,
    holds: bool,
    used: bool,
}

/// What is accepted of an object, and what is left of it.
fn split(entry: Entry, rows: &mut [Row]) -> (Option<Tolerated>, Option<Entry>) {
    let (mut tolerated, rest) = parted(entry, rows);
    if let Some(tolerated) = &mut tolerated {
        // What is a risk of writes is none of what is not written.
        tolerated.entry.findings.retain(|finding| !finding.is_of_its_kind());
    }
    (tolerated, rest)
}

fn parted(mut entry: Entry, rows: &mut [Row]) -> (Option<Tolerated>, Option<Entry>) {
    let differs = matches!(
        entry.verdict(),
        Outcome::Planned | Outcome::Refused(_) | Outcome::Conflict(_) | Outcome::Extra(_)
    );
    let name = entry.id.slashed();
    let mut rows: Vec<&mut Row> =
        rows.iter_mut().filter(|row| row.holds && row.glob.matches(&name)).collect();
    // What is refused and would do nothing itself, as the deletions of a Set that are more than its limit, differs in
    // other objects: these are not accepted with it.
    let stops =
        entry.action == Action::None && matches!(entry.result, Outcome::Refused(_) | Outcome::Conflict(_));
    if !differs || stops || rows.is_empty() {
        return (None, Some(entry));
    }
    if entry.changes.is_empty() {
        let whole = rows.iter_mut().find(|row| row.tolerance.path.is_none());
        return match whole.filter(|_| entry.since != Some(Side::Pending)) {
            Some(row) => {
                row.used = true;
                let by = vec![row.tolerance.clone()];
                (Some(Tolerated { entry, by, whole: true }), None)
            }
            None => (None, Some(entry)),
        };
    }
    let (mut accepted, mut by, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for change in std::mem::take(&mut entry.changes) {
        match rows.iter_mut().find(|row| row.tolerance.accepts(&change)) {
            Some(row) => {
                row.used = true;
                by.push(row.tolerance.clone());
                accepted.push(change);
            }
            None => rest.push(change),
        }
    }
    let whole = rest.is_empty();
    let left = (!whole).then(|| remaining(&entry, &accepted, rest));
    let tolerated =
        (!accepted.is_empty()).then(|| Tolerated { entry: Entry { changes: accepted, ..entry }, by, whole });
    (tolerated, left)
}

impl Tolerance {
    fn accepts(&self, change: &Change) -> bool {
        let is_drift = change.since.as_ref().is_none_or(|since| since.side.is_drift());
        is_drift && self.path.as_ref().is_none_or(|path| path.covers(&change.path))
    }
}

/// An object with some of its changes: it is judged by these alone.
fn remaining(entry: &Entry, accepted: &[Change], changes: Vec<Change>) -> Entry {
    let is_fixed = |change: &Change| matches!(change.reason, Reason::Immutable(_));
    let sides = changes.iter().filter_map(|change| change.since.as_ref().map(|since| since.side));
    let since = sides.reduce(Side::with).or(entry.since);
    let still = |path: &Option<Path>| !accepted.iter().any(|change| Some(&change.path) == path.as_ref());
    let conflicts: Vec<_> = entry.conflicts.iter().filter(|one| still(&one.path)).cloned().collect();
    let (mut action, mut result) = (entry.action, entry.result.clone());
    if action == Action::Replace && !changes.iter().any(is_fixed) {
        (action, result) = (Action::Update, Outcome::Planned);
    }
    if matches!(result, Outcome::Conflict(_)) && conflicts.is_empty() {
        result = Outcome::Planned;
    }
    Entry { action, result, since, conflicts, changes, ..entry.clone() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::base::Since;
    use super::super::change::Shown;
    use super::super::exit::{self, Exit};
    use super::super::fields::Immutable;
    use super::super::identity::{Key, KindName, ObjectId};
    use super::super::node::Pos;
    use super::super::report::Explanation;
    use super::*;

    fn change(path: &str, side: Option<Side>) -> Change {
        Change {
            path: Path::parse(path).expect("a path"),
            before: Some(Shown::Value(json!(9))),
            after: Some(Shown::Value(json!(1))),
            reason: Reason::Declared,
            at: None,
            set_by: Vec::new(),
            since: side.map(|side| Since { side, base: None }),
        }
    }

    fn entry(name: &str, action: Action, result: Outcome, changes: Vec<Change>) -> Entry {
        let kind = KindName { backend: "b".into(), kind: "Thing".into() };
        Entry {
            id: ObjectId { kind, key: Key::new(vec![("name".into(), json!(name))]) },
            origin: None,
            action,
            result,
            changes,
            since: None,
            conflicts: Vec::new(),
            findings: Vec::new(),
            accepted: Vec::new(),
            wrote: false,
            observed: Default::default(),
        }
    }

    fn differs(name: &str, paths: &[&str]) -> Entry {
        entry(name, Action::Update, Outcome::Planned, paths.iter().map(|path| change(path, None)).collect())
    }

    fn accepts(object: &str, path: Option<&str>, until: &str) -> Tolerance {
        Tolerance {
            object: object.into(),
            path: path.map(|path| Path::parse(path).expect("a path")),
            until: until.parse().expect("a day"),
            reason: "known".into(),
            origin: Origin { file: "known.yaml".into(), at: Pos { line: 1, column: 3 } },
        }
    }

    /// What is accepted and what counts on the last day of 2026, and how the entries stand; and the exit of `drift`.
    fn laid(objects: Vec<Entry>, entries: Vec<Tolerance>) -> (Vec<String>, Vec<String>, Vec<Standing>, Exit) {
        let mut report = Report { objects, ..Report::default() };
        let laid = Tolerances::lay(entries, &mut report, "2026-12-31".parse().expect("a day"));
        let told = |entry: &Entry| {
            let paths: Vec<String> = entry.changes.iter().map(|change| change.path.to_string()).collect();
            format!(
                "{} {} {}: {}",
                entry.id.slashed(),
                entry.action.word(),
                entry.result.word(),
                paths.join(" ")
            )
        };
        let accepted = laid.objects.iter().map(|object| told(&object.entry)).collect();
        let standing = laid.entries.iter().map(|(_, standing)| *standing).collect();
        report.tolerances = Some(laid);
        let exit = exit::drift(&report, &Default::default());
        (accepted, report.objects.iter().map(told).collect(), standing, exit)
    }

    #[test]
    fn what_is_accepted_does_not_count_until_its_last_day_is_over() {
        for (until, exit, standing) in [
            ("2026-12-31", Exit::Success, Standing::Holds),
            ("2027-01-01", Exit::Success, Standing::Holds),
            ("2026-12-30", Exit::Differs, Standing::Expired),
        ] {
            let told = laid(vec![differs("a", &["m"])], vec![accepts("Thing/*", None, until)]);
            assert_eq!((told.2, told.3), (vec![standing], exit), "{until}");
        }
    }

    #[test]
    fn paths_are_accepted_one_by_one() {
        let object = || vec![differs("a", &["m", "n.o"])];
        let (accepted, rest, _, exit) = laid(object(), vec![accepts("Thing/a", Some("n"), "2027-01-01")]);
        assert_eq!(
            (accepted, rest),
            (vec!["Thing/a update planned: n.o".into()], vec!["Thing/a update planned: m".into()])
        );
        assert_eq!(exit, Exit::Differs);
        let both = ["n", "m"].map(|path| accepts("Thing/a", Some(path), "2027-01-01"));
        let (accepted, rest, standing, exit) = laid(object(), both.into());
        assert_eq!(accepted, ["Thing/a update planned: m n.o"]);
        assert_eq!((rest.len(), standing, exit), (0, vec![Standing::Holds; 2], Exit::Success));
    }

    #[test]
    fn what_matches_nothing_is_told_and_changes_nothing() {
        let entries = || {
            [("Thing/b", None), ("Thing/a", Some("x")), ("thing/a", None), ("Thing", None)]
                .map(|(object, path)| accepts(object, path, "2027-01-01"))
                .into()
        };
        let (accepted, rest, standing, exit) = laid(vec![differs("a", &["m"])], entries());
        assert_eq!((accepted.len(), rest.len(), exit), (0, 1, Exit::Differs));
        assert_eq!(standing, [Standing::Unused; 4]);
        let in_sync = entry("a", Action::None, Outcome::InSync, Vec::new());
        assert_eq!(laid(vec![in_sync], entries()).3, Exit::Success);
    }

    #[test]
    fn objects_that_come_and_go_are_accepted_whole() {
        let missing = || entry("a", Action::Create, Outcome::Planned, Vec::new());
        assert_eq!(laid(vec![missing()], vec![accepts("Thing/a", None, "2027-01-01")]).3, Exit::Success);
        assert_eq!(laid(vec![missing()], vec![accepts("Thing/a", Some("m"), "2027-01-01")]).3, Exit::Differs);
        let extra = entry("a", Action::None, Outcome::Extra(Explanation::new("x")), Vec::new());
        assert_eq!(laid(vec![extra], vec![accepts("Thing/a", None, "2027-01-01")]).0.len(), 1);
    }

    #[test]
    fn what_failed_or_is_pending_is_not_accepted() {
        let why = || Explanation::new("x");
        for result in [Outcome::Failed(why()), Outcome::Unknown(why()), Outcome::Skipped(why())] {
            let told = laid(
                vec![entry("a", Action::None, result, Vec::new())],
                vec![accepts("*", None, "2027-01-01")],
            );
            assert_eq!((told.0.len(), told.2), (0, vec![Standing::Unused]));
            assert_eq!(told.3, Exit::Failed);
        }
        let sides = [Some(Side::Drift), Some(Side::Pending)];
        let changes = vec![change("m", sides[0]), change("n", sides[1])];
        let both = entry("a", Action::Update, Outcome::Planned, changes);
        let (accepted, rest, ..) = laid(vec![both], vec![accepts("*", None, "2027-01-01")]);
        assert_eq!(
            (accepted, rest),
            (vec!["Thing/a update planned: m".into()], vec!["Thing/a update planned: n".into()])
        );
        let mut pending = entry("a", Action::Create, Outcome::Planned, Vec::new());
        pending.since = Some(Side::Pending);
        assert_eq!(laid(vec![pending], vec![accepts("*", None, "2027-01-01")]).0.len(), 0);
    }

    #[test]
    fn what_is_left_is_judged_by_itself() {
        let mut changes = vec![change("m", None), change("n", None)];
        changes[0].reason = Reason::Immutable(Immutable::Replace);
        let refused = Outcome::Refused(Explanation::new("not replaced"));
        let object = entry("a", Action::Replace, refused, changes);
        let told =
            |path: &str| laid(vec![object.clone()], vec![accepts("Thing/a", Some(path), "2027-01-01")]);
        assert_eq!((told("m").1, told("m").3), (vec!["Thing/a update planned: n".to_owned()], Exit::Differs));
        assert_eq!(
            (told("n").1, told("n").3),
            (vec!["Thing/a replace refused: m".to_owned()], Exit::Refused)
        );
        // What waits for it is not settled by that.
        let skipped = entry("b", Action::None, Outcome::Skipped(Explanation::new("it needs a")), Vec::new());
        let (.., exit) = laid(vec![object, skipped], vec![accepts("Thing/a", None, "2027-01-01")]);
        assert_eq!(exit, Exit::Refused);
    }

    #[test]
    fn what_stops_others_and_differs_in_nothing_is_not_accepted() {
        let refused =
            |name: &str, action| entry(name, action, Outcome::Refused(Explanation::new("x")), Vec::new());
        let skipped = entry("b", Action::Delete, Outcome::Skipped(Explanation::new("as above")), Vec::new());
        let all = || vec![accepts("*", None, "2027-01-01")];
        let (accepted, rest, standing, exit) = laid(vec![skipped, refused("set", Action::None)], all());
        assert_eq!((accepted.len(), rest.len(), exit), (0, 2, Exit::Refused));
        assert_eq!(standing, vec![Standing::Unused]);
        // That it is there is what differs.
        assert_eq!(laid(vec![refused("gone", Action::Delete)], all()).3, Exit::Success);
    }
}
