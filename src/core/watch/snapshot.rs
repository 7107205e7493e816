//! All that a running watch shows of itself, at one moment: where the objects stand, whether the files are good, and
//! which process it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::identity::ObjectId;
use super::super::problem::Problem;
use super::super::redact::Redactor;
use super::super::report::{Finding, Requests};
use super::super::scrub;
use super::hour::Lately;
use super::status::{Condition, ObjectStatus, Refused, Status, TargetStatus, Truth};

/// Everything that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub instance: Instance,
    pub desired: Desired,
    pub status: Status,
    /// A pass has ended for every object since it was last wanted otherwise.
    pub seen_all: bool,
    /// Requests that were sent since the backends were opened.
    pub requests: Requests,
    pub feeds: Feeds,
    /// Backends of which polls find out nothing for several intervals, and since when.
    pub silent: Vec<(Arc<str>, Duration)>,
    /// What the last pass of an object found worth knowing, whatever came of it.
    pub findings: BTreeMap<ObjectId, Vec<Finding>>,
    /// The writes of the last hour, where there is a limit: when they leave it, and how many.
    pub changes: Vec<Lately>,
    /// The wall clock when the time of the loop was zero, since 1970: what turns the times of [`Status`] into dates.
    /// See [`zero`].
    pub zero: Duration,
}

/// The process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Who it is among several: host and process, say.
    pub name: String,
    pub version: &'static str,
    pub role: Role,
    /// Nothing is ever written.
    pub dry_run: bool,
    /// The wall clock at the start of the process, since 1970.
    pub started: Duration,
}

/// What a process is among several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It was not told of others.
    #[default]
    Alone,
    /// It holds the lease.
    Leader,
    /// Another holds the lease; this one stands by.
    Follower,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Alone => "alone",
            Role::Leader => "leader",
            Role::Follower => "follower",
        }
    }
}

/// The files that say what is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Desired {
    /// Whether the files were good when they were last read. While they are not, the last good ones hold, and nothing
    /// is pruned.
    pub valid: bool,
    /// What is wrong with them.
    pub problems: Vec<Problem>,
    /// Since when they are good, or not.
    pub since: Duration,
    /// How often good files were taken.
    pub loads: u64,
    /// How often they were found to be no good.
    pub failures: u64,
}

/// The change feeds that are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feeds {
    /// By backend, kind and scope; so many of a backend as are followed at most.
    pub all: Vec<FeedStatus>,
    /// Events that came, of all feeds that there were; only grows.
    pub events: u64,
    /// Of these, what was malformed, of an unknown sort or about no object of the kind.
    pub ignored: u64,
}

/// Where one feed stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedStatus {
    /// What it is about, as groups are named: backend, kind and what its request names of the key.
    pub name: Arc<str>,
    pub up: bool,
    /// Since when it is up, or not.
    pub since: Duration,
    /// Why it is not, where it failed.
    pub message: Option<String>,
    /// When it is tried again, while it is down.
    pub next: Option<Duration>,
    /// Its events that were passed over.
    pub ignored: u64,
}

/// The wall clock at zero of the loop's time, from a look at both clocks. The earlier answer stands while it is within
/// two seconds: the dates of what has not changed must not change either, and the wall clock drifts against the other.
pub fn zero(earlier: Option<Duration>, wall: Duration, now: Duration) -> Duration {
    let fresh = wall.saturating_sub(now);
    earlier.filter(|earlier| earlier.abs_diff(fresh) <= Duration::from_secs(2)).unwrap_or(fresh)
}

impl Snapshot {
    /// Whether this tells a reader what another one does. Counters of the queue make no difference: where something
    /// happens, an object changes.
    pub fn tells_as(&self, other: &Snapshot) -> bool {
        let counted = |status: &Status| (status.counters.writes, status.counters.missed_events);
        let Status { objects, targets, counters: _, warnings, refused } = &self.status;
        *objects == other.status.objects
            && *targets == other.status.targets
            && *warnings == other.status.warnings
            && *refused == other.status.refused
            && counted(&self.status) == counted(&other.status)
            && self.feeds.all == other.feeds.all
            && (&self.silent, &self.findings) == (&other.silent, &other.findings)
            && (&self.instance, &self.desired) == (&other.instance, &other.desired)
            && (self.seen_all, self.zero) == (other.seen_all, other.zero)
    }

    /// A copy without secrets, for all that is shown. Whole texts are looked at, before anything is cut.
    pub fn scrubbed(&self, redactor: &Redactor) -> Snapshot {
        let text = |text: &String| redactor.text(text).into_owned();
        let status = &self.status;
        Snapshot {
            instance: Instance { name: text(&self.instance.name), ..self.instance.clone() },
            desired: Desired {
                problems: self.desired.problems.iter().map(|one| scrub::problem(one, redactor)).collect(),
                ..self.desired.clone()
            },
            status: Status {
                objects: status.objects.iter().map(|object| self::object(object, redactor)).collect(),
                targets: status.targets.iter().map(|target| self::target(target, redactor)).collect(),
                counters: status.counters.clone(),
                warnings: status.warnings.iter().map(text).collect(),
                refused: Refused {
                    first: (status.refused.first.iter())
                        .map(|(id, why)| (scrub::id(id, redactor), text(why)))
                        .collect(),
                    more: status.refused.more,
                },
            },
            feeds: Feeds {
                all: self.feeds.all.iter().map(|feed| self::feed(feed, redactor)).collect(),
                ..self.feeds
            },
            silent: self.silent.iter().map(|(name, since)| (redactor.text(name).into(), *since)).collect(),
            findings: self.findings.iter().map(|(id, all)| found(id, all, redactor)).collect(),
            changes: self.changes.clone(),
            ..*self
        }
    }
}

fn found(id: &ObjectId, all: &[Finding], redactor: &Redactor) -> (ObjectId, Vec<Finding>) {
    let text = |text: &String| redactor.text(text).into_owned();
    let finding = |finding: &Finding| Finding {
        message: text(&finding.message),
        hint: finding.hint.as_ref().map(text),
        ..*finding
    };
    (scrub::id(id, redactor), all.iter().map(finding).collect())
}

fn feed(feed: &FeedStatus, redactor: &Redactor) -> FeedStatus {
    let message = feed.message.as_ref().map(|message| redactor.text(message).into_owned());
    FeedStatus { name: redactor.text(&feed.name).into(), message, ..*feed }
}

fn object(object: &ObjectStatus, redactor: &Redactor) -> ObjectStatus {
    let conditions = object.conditions.iter().map(|condition| self::condition(condition, redactor)).collect();
    ObjectStatus { id: scrub::id(&object.id, redactor), origin: object.origin.clone(), conditions, ..*object }
}

/// A copy of a condition without secrets.
pub fn condition(condition: &Condition, redactor: &Redactor) -> Condition {
    Condition { message: redactor.text(&condition.message).into_owned(), ..*condition }
}

fn target(target: &TargetStatus, redactor: &Redactor) -> TargetStatus {
    TargetStatus {
        name: redactor.text(&target.name).into(),
        message: target.message.as_ref().map(|message| redactor.text(message).into_owned()),
        ..*target
    }
}

impl Status {
    /// How many objects have each condition, by its truth. Every kind is there; an object without a condition counts
    /// for none.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for condition in self.objects.iter().flat_map(|object| &object.conditions) {
            tally.count(condition);
        }
        tally
    }

    /// The object of this name.
    pub fn object(&self, id: &ObjectId) -> Option<&ObjectStatus> {
        self.objects.iter().find(|object| object.id == *id)
    }
}

/// Counts of objects by condition and truth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<(super::ConditionKind, Truth), usize>);

impl Tally {
    pub fn count(&mut self, condition: &Condition) {
        *self.0.entry((condition.kind, condition.truth)).or_default() += 1;
    }

    pub fn of(&self, kind: super::ConditionKind, truth: Truth) -> usize {
        self.0.get(&(kind, truth)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_stand_still_while_the_clocks_agree() {
        let seconds = Duration::from_secs_f64;
        let first = zero(None, seconds(1000.0), seconds(10.0));
        assert_eq!(first, seconds(990.0));
        assert_eq!(zero(Some(first), seconds(2001.5), seconds(1010.0)), first, "drift is not followed");
        assert_eq!(zero(Some(first), seconds(5600.0), seconds(1010.0)), seconds(4590.0), "a step is");
        assert_eq!(zero(None, seconds(1.0), seconds(10.0)), Duration::ZERO, "a clock before its time");
    }

    /// A wall clock that is set, an hour or a day, ahead or back: what is shown next has dates by the new clock, and stays
    /// as it is until the clock is set again. The time of the loop knows nothing of it.
    #[test]
    fn dates_follow_a_wall_clock_that_is_set_and_then_stand_still() {
        let seconds = Duration::from_secs;
        let (mut wall, mut now, mut before) = (1_800_000_000_u64, 0_u64, None);
        for step in [0, 3_600, -3_600, 86_400, -86_400, -3, 3] {
            wall = wall.saturating_add_signed(step);
            let first = zero(before, seconds(wall), seconds(now));
            assert_eq!(first + seconds(now), seconds(wall), "{step}: a date is what the wall clock says");
            for _ in 0..600 {
                (wall, now) = (wall + 1, now + 1);
                assert_eq!(zero(Some(first), seconds(wall), seconds(now)), first, "{step}");
            }
            before = Some(first);
        }
    }
}
