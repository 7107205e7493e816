//! One object: what was written of it, what came back, and what is held.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::super::digest::Digest;
use super::super::super::mutant::planted;
use super::super::super::path::Path;
use super::super::pass::{Seen, Touched, Verdict};
use super::breaker::{Breaker, Shown, Turn};
use super::history::{History, Times, Written};
use super::{Found, Freeze};

/// After another wish, writes are no churn for so long, up to so many: an object is made, and set up.
const GRACE: Duration = Duration::from_secs(60);
const GRACE_WRITES: u32 = 10;
/// So many writes in the window are warned of, and so many are the last.
const CHURN_WARNS: u32 = 5;
const CHURN_OPENS: u32 = 10;
/// So many writes of a path that did not hold are the last.
const STUCK: u32 = 2;
/// So many names of others are told.
const NAMES: usize = 8;

/// What is kept by the name of an object.
#[derive(Debug)]
pub struct Object {
    desired: Digest,
    /// When it was first known to be wanted so.
    since: Duration,
    uid: Option<Arc<str>>,
    /// It was seen, or written: whatever is made or deleted from now on is done once more.
    settled: bool,
    /// Deleted by others, or made anew; counted by the name, as each is another object.
    losses: Times,
    lost: u32,
    lost_breaker: Option<Breaker>,
    /// Most objects are never written.
    life: Option<Box<Life>>,
}

/// What is kept of one object that bore the name.
#[derive(Debug, Default)]
struct Life {
    history: History,
    fights: BTreeMap<Path, Fight>,
    /// Writes of a path that did not hold, in a row.
    stuck: BTreeMap<Path, u32>,
    churn: Option<Breaker>,
}

/// A path that others set back.
#[derive(Debug, Default)]
struct Fight {
    times: Times,
    cycles: u32,
    by: Vec<Arc<str>>,
    breaker: Option<Breaker>,
}

impl Object {
    pub fn new(now: Duration, desired: Digest) -> Object {
        Object {
            desired,
            since: now,
            uid: None,
            settled: false,
            losses: Times::default(),
            lost: 0,
            lost_breaker: None,
            life: None,
        }
    }

    /// It is wanted so; true if that is another wish than before, for which nothing counts that was.
    pub fn want(&mut self, now: Duration, desired: Digest) -> bool {
        if self.desired == desired {
            return false;
        }
        let (uid, settled) = (self.uid.take(), self.settled);
        *self = Object { uid, settled, ..Object::new(now, desired) };
        true
    }

    pub fn freeze(&mut self, now: Duration) -> Freeze {
        let mut until = Vec::new();
        let mut holds = |breaker: &mut Option<Breaker>| {
            let holds = breaker.as_mut().is_some_and(|breaker| breaker.holds(now));
            until.extend(breaker.as_ref().and_then(Breaker::until));
            holds
        };
        let mut freeze = Freeze { whole: holds(&mut self.lost_breaker), ..Freeze::default() };
        if let Some(life) = &mut self.life {
            freeze.whole |= holds(&mut life.churn);
            let fights = life.fights.iter_mut().filter(|(_, fight)| fight.breaker.is_some());
            let held = fights.filter_map(|(path, fight)| holds(&mut fight.breaker).then(|| path.clone()));
            freeze.paths.extend(held);
            let stuck = life.stuck.iter().filter(|(_, writes)| **writes >= STUCK);
            freeze.paths.extend(stuck.map(|(path, _)| path.clone()));
        }
        freeze.until = until.into_iter().min();
        freeze
    }

    pub fn ended(&mut self, now: Duration, seen: &Seen) -> Vec<Found> {
        let whole = seen.touched.iter().find(|touched| touched.path.is_root());
        self.count_losses(now, seen, whole);
        if seen.writes > 0 || matches!(seen.verdict, Verdict::NotEffective(_)) {
            self.life.get_or_insert_default();
        }
        if let Some(life) = &mut self.life {
            life.ended(now, self.since, seen);
            if life.is_over() {
                self.life = None;
            }
        }
        self.found(now)
    }

    /// Sees whether another object bears the name, and whose doing that is.
    fn count_losses(&mut self, now: Duration, seen: &Seen, whole: Option<&Touched>) {
        let is_other = match (&self.uid, &seen.uid) {
            (Some(known), Some(uid)) => known != uid,
            _ => false,
        };
        let wrote = seen.writes > 0;
        // To replace it is our own doing.
        let replaced = wrote && whole.is_some_and(|whole| whole.before.is_some() && whole.after.is_some());
        let made_or_gone = wrote && whole.is_some() && !replaced;
        let is_new = made_or_gone || (is_other && !replaced);
        let is_lost = self.settled && wrote && is_new;
        if is_new {
            self.bury();
        }
        if let Some(breaker) = &mut self.lost_breaker {
            let shown = match &seen.verdict {
                _ if is_lost => Shown::Wrote,
                _ if whole.is_some() => Shown::Differs,
                verdict if looked(verdict) => Shown::Level,
                _ => Shown::Nothing,
            };
            match breaker.shown(now, shown) {
                Turn::Stays => {}
                Turn::Reopened => self.lost += 1,
                Turn::Closed => (self.lost_breaker, self.losses, self.lost) = (None, Times::default(), 0),
            }
        } else if is_lost {
            self.lost += 1;
            if self.losses.add(now) {
                self.lost_breaker = Some(Breaker::open(now));
            }
        }
        self.settled |= wrote || seen.uid.is_some() || seen.verdict.is_in_sync();
        self.uid = seen.uid.clone().or(self.uid.take());
    }

    /// What was known of the fields of an object is of no use for the next of its name.
    fn bury(&mut self) {
        let Some(mut life) = self.life.take() else { return };
        let (keeps_breakers, keeps_counts) = (planted!(M13), planted!(M29));
        if !keeps_breakers && !keeps_counts {
            return;
        }
        for fight in life.fights.values_mut() {
            fight.breaker = fight.breaker.take().filter(|_| keeps_breakers);
            fight.times = if keeps_counts { std::mem::take(&mut fight.times) } else { Times::default() };
        }
        life.churn = life.churn.take().filter(|_| keeps_breakers);
        life.history = if keeps_counts { life.history } else { History::default() };
        self.life = Some(life);
    }

    /// What holds of it now.
    pub fn found(&mut self, now: Duration) -> Vec<Found> {
        let until = |breaker: &Breaker| breaker.until().unwrap_or(now);
        let mut found = Vec::new();
        if let Some(breaker) = &self.lost_breaker {
            found.push(Found::Fighting {
                path: Path::root(),
                by: Vec::new(),
                cycles: self.lost,
                until: until(breaker),
            });
        }
        let Some(life) = &mut self.life else { return found };
        let stuck = life.stuck.iter().filter(|(_, writes)| **writes >= STUCK);
        let stuck: Vec<Path> = stuck.map(|(path, _)| path.clone()).collect();
        if !stuck.is_empty() {
            found.push(Found::NotEffective { paths: stuck });
        }
        for (path, fight) in &life.fights {
            if let Some(breaker) = &fight.breaker {
                let (path, by, cycles) = (path.clone(), fight.by.clone(), fight.cycles);
                found.push(Found::Fighting { path, by, cycles, until: until(breaker) });
            }
        }
        let writes = life.churned(now, self.since);
        match &life.churn {
            Some(breaker) => found.push(Found::Churn { writes, open: Some(until(breaker)) }),
            None if writes >= CHURN_WARNS => found.push(Found::Churn { writes, open: None }),
            None => {}
        }
        found
    }
}

/// Whether a pass has compared the object.
fn looked(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::InSync
        | Verdict::Differs(_)
        | Verdict::Conflict(_)
        | Verdict::Refused(_)
        | Verdict::NotEffective(_) => true,
        Verdict::Unknown(..) | Verdict::Failed(..) | Verdict::Progressing(..) | Verdict::Blocked(_) => false,
    }
}

impl Life {
    fn ended(&mut self, now: Duration, since: Duration, seen: &Seen) {
        let looked = looked(&seen.verdict);
        let touched: Vec<&Touched> = seen.touched.iter().filter(|touched| !touched.path.is_root()).collect();
        // What was frozen in this pass was not written.
        let written: Vec<&Touched> = match seen.writes {
            0 => Vec::new(),
            _ => touched.iter().copied().filter(|touched| !self.is_frozen(&touched.path)).collect(),
        };
        self.show(now, seen, looked, &touched, &written);
        self.stick(seen, looked, &touched);
        if seen.writes > 0 {
            self.write(now, seen, &written);
        } else if seen.verdict.is_in_sync() {
            self.history.confirm();
        }
        if self.churn.is_none() && self.churned(now, since) >= CHURN_OPENS {
            self.churn = Some(Breaker::open(now));
        }
        self.fights.retain(|_, fight| fight.breaker.is_some() || fight.times.recent(now) > 0);
    }

    fn is_frozen(&self, path: &Path) -> bool {
        let fights = |(fought, fight): (&Path, &Fight)| {
            fought.covers(path) && fight.breaker.as_ref().is_some_and(Breaker::is_holding)
        };
        let stuck = |(stuck, writes): (&Path, &u32)| stuck.covers(path) && *writes >= STUCK;
        self.fights.iter().any(fights) || self.stuck.iter().any(stuck)
    }

    /// Tells each breaker what the pass showed of what it holds.
    fn show(&mut self, now: Duration, seen: &Seen, looked: bool, touched: &[&Touched], written: &[&Touched]) {
        let took = matches!(seen.verdict, Verdict::InSync | Verdict::Differs(_));
        let shown = |any_written: bool, differs: Option<&Touched>| match differs {
            _ if any_written && took => Shown::Wrote,
            _ if any_written || !looked => Shown::Nothing,
            Some(_) => Shown::Differs,
            None => Shown::Level,
        };
        for (path, fight) in &mut self.fights {
            let Some(breaker) = &mut fight.breaker else { continue };
            let is_here = |touched: &&&Touched| path.covers(&touched.path) || touched.path.covers(path);
            let here = touched.iter().find(is_here).copied();
            let shown = shown(written.iter().any(|written| is_here(&written)), here);
            if let Some(here) = here {
                name(&mut fight.by, here);
            }
            match breaker.shown(now, shown) {
                Turn::Stays => {}
                Turn::Reopened => fight.cycles += 1,
                Turn::Closed => *fight = Fight::default(),
            }
        }
        let open = |touched: &&&Touched| !self.is_frozen(&touched.path);
        let differs = touched.iter().find(open).copied();
        if let Some(mut breaker) = self.churn.take() {
            let turn = breaker.shown(now, shown(seen.writes > 0, differs));
            self.churn = (turn != Turn::Closed).then_some(breaker);
        }
    }

    /// Class A.
    fn stick(&mut self, seen: &Seen, looked: bool, touched: &[&Touched]) {
        if looked {
            self.stuck.retain(|path, _| touched.iter().any(|touched| path.covers(&touched.path)));
        }
        if !matches!(seen.verdict, Verdict::NotEffective(_)) {
            // What was written and held is no row.
            self.stuck.retain(|_, writes| seen.writes == 0 || *writes >= STUCK);
            return;
        }
        let writes = (seen.writes as u32).clamp(1, STUCK);
        for touched in touched {
            if self.fights_over(&touched.path) {
                continue;
            }
            let before = self.stuck.entry(touched.path.clone()).or_default();
            *before = (*before + writes).min(STUCK);
        }
    }

    fn fights_over(&self, path: &Path) -> bool {
        self.fights.iter().any(|(fought, fight)| fought == path && fight.breaker.is_some())
    }

    /// Class B.
    fn write(&mut self, now: Duration, seen: &Seen, written: &[&Touched]) {
        for touched in written {
            if self.fights_over(&touched.path) || !self.history.is_back(&touched.path, &touched.before) {
                continue;
            }
            let fight = self.fights.entry(touched.path.clone()).or_default();
            fight.cycles += 1;
            name(&mut fight.by, touched);
            if fight.times.add(now) {
                fight.breaker = Some(Breaker::open(now));
            }
        }
        let paths = written.iter().map(|touched| (touched.path.clone(), touched.before));
        self.history.push(Written {
            at: now,
            writes: seen.writes as u32,
            paths: paths.collect(),
            confirmed: matches!(seen.verdict, Verdict::InSync | Verdict::Differs(_)),
        });
    }

    /// Class C: writes for one wish, without those of what is frozen by now.
    fn churned(&mut self, now: Duration, since: Duration) -> u32 {
        let (mut early, mut late) = (0, 0);
        let Life { history, fights, stuck, .. } = self;
        let is_known = |path: &Path| {
            fights.get(path).is_some_and(|fight| fight.breaker.is_some())
                || stuck.get(path).is_some_and(|writes| *writes >= STUCK)
        };
        for written in history.recent(now) {
            let all_known = !written.paths.is_empty() && written.paths.iter().all(|(path, _)| is_known(path));
            let count = if written.at < since + GRACE { &mut early } else { &mut late };
            *count += if all_known { 0 } else { written.writes };
        }
        late + u32::saturating_sub(early, GRACE_WRITES)
    }

    fn is_over(&self) -> bool {
        self.history.is_empty() && self.fights.is_empty() && self.stuck.is_empty() && self.churn.is_none()
    }
}

/// Names who set what the server had.
fn name(by: &mut Vec<Arc<str>>, touched: &Touched) {
    for one in &touched.set_by {
        if by.len() < NAMES && !by.contains(one) {
            by.push(one.clone());
        }
    }
}
