//! What came of an object in a pass, from the entry of the run's report.

use super::super::change::{Change, Shown};
use super::super::digest::Digest;
use super::super::observed::{Heard, Trouble};
use super::super::path::Path;
use super::super::report::{
    Action, CHANGE_LIMIT, CONTENDED, Entry, Explanation, FROZEN, HELD, NOT_VISIBLE, Outcome, REPORTED,
    UNDER_WAY,
};
use super::super::scrub;
use super::pass::{Retry, Seen, Touched, Verdict};

/// The digest of whatever stands in a secret's place. It tells that something stands there, and never what: no guess
/// can be held against it. Two secrets look the same by it, so that any drift of one counts as the way back.
const SECRET: Digest = Digest(0);
/// The digest of an object that is there.
const WHOLE: Digest = Digest(1);

impl Seen {
    /// What came of an object, by its entry.
    pub fn of(entry: &Entry) -> Seen {
        Seen {
            id: entry.id.clone(),
            // What it says goes into the log and the status; what is compared stays as it is.
            verdict: verdict(&scrub::by_names(entry)),
            ready: entry.observed.ready,
            uid: entry.observed.uid.clone(),
            writes: entry.observed.writes,
            touched: touched(entry),
            open: entry.observed.open.clone(),
        }
    }
}

fn verdict(entry: &Entry) -> Verdict {
    let contended = || entry.findings.iter().any(|finding| finding.code == CONTENDED);
    let heard = entry.observed.heard;
    match &entry.result {
        Outcome::InSync | Outcome::Done | Outcome::Applied => frozen(entry).unwrap_or(Verdict::InSync),
        Outcome::Planned => Verdict::Differs(Explanation::new(due(entry.action))),
        Outcome::Refused(why) if entry.observed.left_alone => Verdict::Differs(why.clone()),
        Outcome::Refused(why) if matches!(why.reason, Some(HELD | FROZEN | CHANGE_LIMIT | REPORTED)) => {
            Verdict::Differs(why.clone())
        }
        Outcome::Refused(why) | Outcome::Extra(why) => Verdict::Refused(why.clone()),
        Outcome::Conflict(why) if contended() => {
            Verdict::Failed(why.clone(), Retry::Soon { fault: false, after: None })
        }
        Outcome::Conflict(why) => Verdict::Conflict(why.clone()),
        Outcome::NotEffective(why) => Verdict::NotEffective(why.clone()),
        Outcome::Unknown(why) if matches!(why.reason, Some(UNDER_WAY | NOT_VISIBLE)) => {
            let next = entry.observed.open.as_ref().and_then(|open| open.next);
            Verdict::Progressing(why.clone(), next.unwrap_or_default())
        }
        Outcome::Unknown(why) => Verdict::Unknown(why.clone(), retry(heard, true)),
        Outcome::Failed(why) if entry.observed.waits => Verdict::Blocked(why.clone()),
        Outcome::Failed(why) => Verdict::Failed(why.clone(), retry(heard, entry.wrote)),
        // Not attempted, as others of its backend or its like failed.
        Outcome::Skipped(why) if heard.is_some() => Verdict::Failed(why.clone(), retry(heard, false)),
        Outcome::Skipped(why) => Verdict::Blocked(why.clone()),
    }
}

/// When to try again; where nothing was heard, `soon` says it.
fn retry(heard: Option<Heard>, soon: bool) -> Retry {
    match heard {
        Some(Heard { trouble: Trouble::Fault, retry_after }) => {
            Retry::Soon { fault: true, after: retry_after }
        }
        Some(Heard { trouble: Trouble::Passing, retry_after }) => {
            Retry::Soon { fault: false, after: retry_after }
        }
        // Some refuse with 403 what is only too much, and say for how long.
        Some(Heard { trouble: Trouble::Terminal | Trouble::Barred, retry_after: Some(wait) }) => {
            Retry::Soon { fault: false, after: Some(wait) }
        }
        Some(Heard { trouble: Trouble::Terminal, retry_after: None }) => Retry::Late,
        Some(Heard { trouble: Trouble::Barred, retry_after: None }) => Retry::Barred,
        None if soon => Retry::Soon { fault: false, after: None },
        None => Retry::Late,
    }
}

/// Where an object stands that is in sync but for what is frozen, or only reported.
fn frozen(entry: &Entry) -> Option<Verdict> {
    let finding = entry.findings.iter().find(|finding| matches!(finding.code, FROZEN | REPORTED))?;
    Some(Verdict::Differs(Explanation::new(finding.message.clone()).because(finding.code)))
}

fn due(action: Action) -> String {
    match action {
        Action::None => "it differs".into(),
        action => format!("to {} it is due, and this pass does not write", action.word()),
    }
}

fn touched(entry: &Entry) -> Vec<Touched> {
    let whole = |before, after| Touched { path: Path::root(), before, after, set_by: Vec::new() };
    let object = match entry.action {
        Action::Create => Some(whole(None, Some(WHOLE))),
        Action::Delete => Some(whole(Some(WHOLE), None)),
        Action::Replace => Some(whole(Some(WHOLE), Some(WHOLE))),
        Action::None | Action::Update => None,
    };
    let changes = entry.changes.iter().chain(&entry.observed.frozen).map(|change| Touched {
        path: change.path.clone(),
        before: digest(change, change.before.as_ref()),
        after: digest(change, change.after.as_ref()),
        set_by: change.set_by.clone(),
    });
    object.into_iter().chain(changes).collect()
}

fn digest(change: &Change, side: Option<&Shown>) -> Option<Digest> {
    let side = side?;
    if change.is_secret() {
        return Some(SECRET);
    }
    Some(match side {
        Shown::Value(value) => Digest::of_value(value),
        Shown::Secret => SECRET,
        Shown::Later(text) => Digest::of_bytes(text.as_bytes()),
    })
}
