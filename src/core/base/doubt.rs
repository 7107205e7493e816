//! Whether a base can be one that was ever applied where a run looks. One that was not makes all that it has look as if
//! somebody had deleted it.

use super::super::problem::Problem;
use super::super::report::{Action, Report};
use super::Side;

/// Of fewer objects nothing can be told: somebody may well have deleted them.
const TELLING: usize = 3;

/// A warning where more than half of the objects that the base has are not there.
pub fn doubt(report: &Report) -> Option<Problem> {
    let made = |by: Side| {
        let made = report
            .objects
            .iter()
            .filter(move |entry| matches!(entry.action, Action::Create) && entry.since == Some(by));
        made.count()
    };
    let (gone, new) = (made(Side::Drift), made(Side::Pending));
    let had = report.objects.len() - new;
    if gone < TELLING || gone * 2 <= had {
        return None;
    }
    let problem =
        Problem::new(format!("{gone} objects of the base are not there, which is more than half of them"));
    let hint =
        "if the base was never applied to this server, leave out `--base`, or name the revision that was";
    Some(problem.hint(hint).warning())
}

#[cfg(test)]
mod tests {
    use super::super::super::engine::tests::make::{key_of, kind_name};
    use super::super::super::identity::ObjectId;
    use super::super::super::report::{Entry, Outcome};
    use super::*;

    #[test]
    fn more_than_half_and_more_than_two() {
        let entries = |count: usize, action: Action, since: Option<Side>| {
            (0..count).map(move |at| Entry {
                id: ObjectId { kind: kind_name("K"), key: key_of(&[("name", &at.to_string())]) },
                origin: None,
                action,
                result: Outcome::Planned,
                changes: Vec::new(),
                conflicts: Vec::new(),
                findings: Vec::new(),
                accepted: Vec::new(),
                wrote: false,
                observed: Default::default(),
                since,
            })
        };
        for (gone, new, others, doubted) in
            [(3, 0, 2, true), (3, 9, 2, true), (3, 0, 3, false), (2, 0, 0, false), (0, 9, 0, false)]
        {
            let objects = entries(gone, Action::Create, Some(Side::Drift));
            let objects = objects.chain(entries(new, Action::Create, Some(Side::Pending)));
            let objects = objects.chain(entries(others, Action::None, None)).collect();
            let told = doubt(&Report { objects, ..Report::default() });
            assert_eq!(told.is_some(), doubted, "{gone} {new} {others}");
        }
    }
}
