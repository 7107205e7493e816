//! The conditions of one object: what holds of it, since when, and why.
//!
//! They stand in the order of their kinds, and one that is as it was is not touched: what is told of an object only
//! changes when the object does.

use std::time::Duration;

use super::super::digest::Digest;
use super::super::mutant::planted;
use super::super::report::{Explanation, UNDER_WAY};
use super::oscillation::Found;
use super::pass::Verdict;
use super::retry::STALLED;
use super::status::{Condition, ConditionKind, Truth};

/// A message is no longer than this, in bytes.
pub const LONGEST: usize = 1024;

/// What is said of an object that was in sync with what is no longer so.
const IN_DOUBT: &str = "what it refers to, or lies below, has changed since it was looked at";

/// What is said of an object that was in sync while a pass puts it right.
const AT_WORK: &str = "it differs, and a pass is at work on it";

/// The reasons that there are.
pub mod reason {
    /// No pass has ended since it was wanted so.
    pub const PENDING: &str = "Pending";
    pub const IN_SYNC: &str = "InSync";
    /// It differs, and is only looked at.
    pub const DIFFERS: &str = "Differs";
    /// It differs, and `--dry-run` writes nothing.
    pub const DRY_RUN: &str = "DryRun";
    /// It differs, and the hour's writes are spent.
    pub const CHANGE_LIMIT: &str = "ChangeLimit";
    pub const CONFLICT: &str = "Conflict";
    pub const REFUSED: &str = "Refused";
    /// The server takes the value and keeps another.
    pub const NOT_EFFECTIVE: &str = "NotEffective";
    /// Neither presence nor absence could be proved.
    pub const NOT_PROVED: &str = "NotProved";
    pub const FAILED: &str = "Failed";
    /// Repeating it would change nothing.
    pub const NO_RETRY: &str = "NoRetry";
    /// Something that it needs is not settled.
    pub const BLOCKED: &str = "Blocked";
    /// Its pass ended without it.
    pub const INTERRUPTED: &str = "Interrupted";
    pub const READY: &str = "Ready";
    pub const NOT_READY: &str = "NotReady";
    /// It failed several times in a row.
    pub const FAILING: &str = "Failing";
    /// The breaker of its backend is open.
    pub const BACKEND_AWAY: &str = "BackendAway";
    /// Another writer sets it back.
    pub const OTHER_WRITER: &str = "OtherWriter";
    /// The server is still at it.
    pub const UNDER_WAY: &str = "UnderWay";
    /// The server accepted its creation, or may have, and does not show it yet.
    pub const NOT_VISIBLE: &str = "NotVisible";
    /// Too many writes for one wish.
    pub const CHURN: &str = "Churn";
    /// Does not hold, or no longer.
    pub const NONE: &str = "None";
}

/// What a pass and the loop say of an object.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'r> {
    /// The wish that it is about.
    pub desired: Digest,
    /// `None` if the pass ended without it.
    pub verdict: Option<&'r Verdict>,
    pub ready: Option<bool>,
    pub found: &'r [Found],
    /// Failures in a row.
    pub row: u32,
    /// The hour's writes were spent.
    pub is_limited: bool,
    pub is_dry: bool,
    /// Its backend is away.
    pub is_away: bool,
    /// What it needs has changed since the pass began.
    pub is_stale: bool,
}

/// A condition before it is known since when it holds.
type Wanted = (ConditionKind, Truth, &'static str, String);

/// In the order of their kinds.
#[derive(Clone, Debug, PartialEq)]
pub struct Conditions(Vec<Condition>);

impl Conditions {
    /// Of an object that was never seen.
    pub fn new(now: Duration) -> Conditions {
        let message = String::new();
        let (kind, truth, reason) = (ConditionKind::Synced, Truth::Unknown, reason::PENDING);
        Conditions(vec![Condition { kind, truth, reason, message, since: now, observed: None }])
    }

    pub fn get(&self, kind: ConditionKind) -> Option<&Condition> {
        self.0.iter().find(|condition| condition.kind == kind)
    }

    pub fn all(&self) -> &[Condition] {
        &self.0
    }

    /// The object is wanted otherwise, and nothing is known of that yet.
    pub fn wanted_otherwise(&mut self, now: Duration) -> Option<Condition> {
        self.set(now, (ConditionKind::Synced, Truth::Unknown, reason::PENDING, String::new()), None)
    }

    /// What it needs has changed since it was looked at: it is no longer said to be in sync.
    pub fn is_in_doubt(&mut self, now: Duration) -> Option<Condition> {
        self.is_pending(now, IN_DOUBT)
    }

    /// A pass that goes on has found that it differs: it is no longer said to be in sync.
    pub fn is_at_work(&mut self, now: Duration) -> Option<Condition> {
        self.is_pending(now, AT_WORK)
    }

    fn is_pending(&mut self, now: Duration, why: &str) -> Option<Condition> {
        let synced = self.get(ConditionKind::Synced)?;
        if synced.truth != Truth::True {
            return None;
        }
        self.set(now, (ConditionKind::Synced, Truth::Unknown, reason::PENDING, why.into()), None)
    }

    /// Takes over what a pass says. What is given back has another truth or reason than before.
    pub fn update(&mut self, now: Duration, reading: &Reading) -> Vec<Condition> {
        if planted!(M16) {
            self.0.reverse();
            self.0.iter_mut().for_each(|condition| condition.since = now);
        }
        let wanted = [
            Some(synced(reading)),
            ready(reading),
            Some(stalled(reading)),
            Some(conflict(reading)),
            fighting(reading),
            not_effective(reading),
            Some(unknown(reading)),
        ];
        wanted
            .into_iter()
            .flatten()
            .filter_map(|wanted| self.set(now, wanted, Some(reading.desired)))
            .collect()
    }

    /// `observed`: the wish that was looked at for it; `None` where nothing was, so that it speaks of what it spoke of.
    fn set(&mut self, now: Duration, wanted: Wanted, observed: Option<Digest>) -> Option<Condition> {
        let (kind, truth, reason, message) = wanted;
        let message = shortened(message);
        let Some(there) = self.0.iter_mut().find(|condition| condition.kind == kind) else {
            let is_always_told = matches!(kind, ConditionKind::Synced | ConditionKind::Ready);
            if truth == Truth::False && !is_always_told {
                return None;
            }
            let condition = Condition { kind, truth, reason, message, since: now, observed };
            let at = self.0.partition_point(|other| other.kind < kind);
            self.0.insert(at, condition.clone());
            return Some(condition);
        };
        let turns = there.truth != truth || there.reason != reason;
        let since = if there.truth == truth { there.since } else { now };
        let observed = observed.or(there.observed);
        if turns || there.message != message || there.observed != observed {
            *there = Condition { kind, truth, reason, message, since, observed };
        }
        turns.then(|| there.clone())
    }
}

fn sentence(why: &Explanation) -> String {
    match &why.hint {
        Some(hint) => format!("{}; {hint}", why.message),
        None => why.message.clone(),
    }
}

/// At most [`LONGEST`] bytes, cut between two characters.
fn shortened(mut message: String) -> String {
    const MORE: char = '…';
    if message.len() > LONGEST {
        let most = LONGEST - MORE.len_utf8();
        let end = (0..=most).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
        message.truncate(end);
        message.push(MORE);
    }
    message
}

fn synced(reading: &Reading) -> Wanted {
    if reading.is_stale && reading.verdict == Some(&Verdict::InSync) {
        return (ConditionKind::Synced, Truth::Unknown, reason::PENDING, IN_DOUBT.into());
    }
    let (truth, reason) = match reading.verdict {
        Some(Verdict::InSync) => (Truth::True, reason::IN_SYNC),
        Some(Verdict::Differs(_)) if reading.is_limited => (Truth::False, reason::CHANGE_LIMIT),
        Some(Verdict::Differs(_)) if reading.is_dry => (Truth::False, reason::DRY_RUN),
        Some(Verdict::Differs(_)) => (Truth::False, reason::DIFFERS),
        Some(Verdict::Conflict(_)) => (Truth::False, reason::CONFLICT),
        Some(Verdict::Refused(_)) => (Truth::False, reason::REFUSED),
        Some(Verdict::NotEffective(_)) => (Truth::False, reason::NOT_EFFECTIVE),
        Some(Verdict::Failed(..)) => (Truth::False, reason::FAILED),
        Some(Verdict::Blocked(_)) => (Truth::False, reason::BLOCKED),
        Some(Verdict::Unknown(..)) => (Truth::Unknown, reason::NOT_PROVED),
        Some(Verdict::Progressing(why, _)) => (Truth::Unknown, progress(why)),
        None => (Truth::Unknown, reason::INTERRUPTED),
    };
    (ConditionKind::Synced, truth, reason, explained(reading))
}

fn explained(reading: &Reading) -> String {
    match reading.verdict {
        Some(verdict) => verdict.explanation().map(sentence).unwrap_or_default(),
        None => "the pass ended before it was settled".into(),
    }
}

/// What is not said of it stays as it was: a read that failed says nothing of readiness.
fn ready(reading: &Reading) -> Option<Wanted> {
    let (truth, reason) = match reading.ready? {
        true => (Truth::True, reason::READY),
        false => (Truth::False, reason::NOT_READY),
    };
    Some((ConditionKind::Ready, truth, reason, String::new()))
}

fn stalled(reading: &Reading) -> Wanted {
    use Verdict::{Blocked, Failed, Refused, Unknown};
    let reason = match reading.verdict {
        _ if reading.is_limited => Some(reason::CHANGE_LIMIT),
        Some(Refused(_)) => Some(reason::REFUSED),
        Some(verdict) if verdict.is_final() => Some(reason::NO_RETRY),
        Some(verdict) if verdict.is_fault() && reading.is_away => Some(reason::BACKEND_AWAY),
        Some(Blocked(_)) if reading.row >= STALLED => Some(reason::BLOCKED),
        Some(Failed(..) | Unknown(..)) | None if reading.row >= STALLED => Some(reason::FAILING),
        _ => None,
    };
    holds(ConditionKind::Stalled, reason, || explained(reading))
}

fn conflict(reading: &Reading) -> Wanted {
    let reason = matches!(reading.verdict, Some(Verdict::Conflict(_))).then_some(reason::CONFLICT);
    holds(ConditionKind::Conflict, reason, || explained(reading))
}

/// Whether the server says that it is at it, or says nothing.
fn progress(why: &Explanation) -> &'static str {
    if why.reason == Some(UNDER_WAY) { reason::UNDER_WAY } else { reason::NOT_VISIBLE }
}

fn unknown(reading: &Reading) -> Wanted {
    let reason = match reading.verdict {
        Some(Verdict::Unknown(..)) => Some(reason::NOT_PROVED),
        Some(Verdict::Progressing(why, _)) => Some(progress(why)),
        _ => None,
    };
    holds(ConditionKind::Unknown, reason, || explained(reading))
}

fn not_effective(reading: &Reading) -> Option<Wanted> {
    let paths = reading.found.iter().find_map(|found| match found {
        Found::NotEffective { paths } => Some(paths),
        _ => None,
    });
    let now = matches!(reading.verdict, Some(Verdict::NotEffective(_)));
    let reason = (now || paths.is_some()).then_some(reason::NOT_EFFECTIVE);
    Some(holds(ConditionKind::NotEffective, reason, || match paths {
        Some(paths) if !now => {
            let paths = paths.iter().map(|path| format!("`{path}`"));
            format!("the server keeps another value of {}: no longer written", listed(paths))
        }
        _ => explained(reading),
    }))
}

fn fighting(reading: &Reading) -> Option<Wanted> {
    let found = reading.found.iter();
    let fights: Vec<String> = found.clone().filter_map(fight).collect();
    let churn = found.clone().find_map(|found| match found {
        Found::Churn { writes, open: Some(_) } => {
            Some(format!("{writes} writes did not keep it as it is wanted"))
        }
        _ => None,
    });
    let reason = match (fights.is_empty(), &churn) {
        (false, _) => Some(reason::OTHER_WRITER),
        (true, Some(_)) => Some(reason::CHURN),
        (true, None) => None,
    };
    Some(holds(ConditionKind::Fighting, reason, || {
        let left = if fights.len() > 1 { "left as they are for now" } else { "left as it is for now" };
        let fights = (!fights.is_empty()).then(|| listed(fights.into_iter()));
        let told: Vec<String> = fights.into_iter().chain(churn).collect();
        format!("{}: {left}", told.join("; "))
    }))
}

/// What others do to an object, or to one of its fields.
fn fight(found: &Found) -> Option<String> {
    let Found::Fighting { path, by, cycles, .. } = found else { return None };
    let by = if by.is_empty() { "another writer".to_owned() } else { by.join(", ") };
    Some(match path.is_root() {
        true => format!("it was deleted or made anew {cycles} times by {by}"),
        false => format!("`{path}` was set back {cycles} times by {by}"),
    })
}

/// So many things are named in a message; the rest is counted.
const NAMED: usize = 8;

/// `a, b and 3 more`
fn listed(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(NAMED);
    let named: Vec<String> = all.take(NAMED).collect();
    match more {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn holds(kind: ConditionKind, reason: Option<&'static str>, message: impl FnOnce() -> String) -> Wanted {
    match reason {
        Some(reason) => (kind, Truth::True, reason, message()),
        None => (kind, Truth::False, reason::NONE, String::new()),
    }
}
