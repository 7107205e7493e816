//! The breaker of a backend: after a row of failures that are the server's or the network's, across all objects,
//! nothing goes to it but one probe at a time, until something is answered. What is due waits; nothing is dropped.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::engine::random::Random;
use super::super::identity::ObjectId;
use super::pass::PassId;

/// So many failures in a row open it.
const IN_A_ROW: usize = 5;
/// The longest wait before the first probe, and before any.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// One backend.
#[derive(Clone, Debug)]
pub struct Target {
    pub name: Arc<str>,
    faults: usize,
    pub open: Option<Open>,
    /// When it opened or closed last.
    pub since: Duration,
    /// Passes under way for it alone.
    pub passes: usize,
    /// It refuses its credential (401): the object that asks again and again whether it still does.
    pub asker: Option<ObjectId>,
}

/// What is known of a backend that is away.
#[derive(Clone, Debug)]
pub struct Open {
    pub message: String,
    /// When the next probe may start.
    pub probe: Duration,
    probes: u32,
    under_way: Option<PassId>,
    /// How often each group was probed: one that fails for itself must not hide that the others are back.
    tried: BTreeMap<Arc<str>, u32>,
}

/// What a pass says of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Stays,
    Opens,
    Closes,
}

impl Target {
    pub fn new(name: Arc<str>) -> Target {
        Target { name, faults: 0, open: None, since: Duration::ZERO, passes: 0, asker: None }
    }

    /// Nothing is wanted of it any more.
    pub fn forget(&mut self) {
        (self.faults, self.open, self.since, self.asker) = (0, None, Duration::ZERO, None);
    }

    /// Something was answered, whatever it says of an object.
    pub fn answered(&mut self, now: Duration) -> Turn {
        self.faults = 0;
        if self.open.take().is_none() {
            return Turn::Stays;
        }
        self.since = now;
        Turn::Closes
    }

    /// So many objects failed by the fault of the server or the network, and nothing was answered.
    pub fn failed(&mut self, now: Duration, faults: usize, why: &str, random: &mut Random) -> Turn {
        self.faults += faults;
        if self.open.is_some() || self.faults < IN_A_ROW {
            return Turn::Stays;
        }
        self.since = now;
        self.open = Some(Open {
            message: why.to_string(),
            probe: now + jittered(0, random),
            probes: 0,
            under_way: None,
            tried: BTreeMap::new(),
        });
        Turn::Opens
    }

    /// The server asks for patience until then.
    pub fn patience(&mut self, until: Duration) {
        if let Some(open) = &mut self.open {
            open.probe = open.probe.max(until);
        }
    }

    /// A person wants to know: the next probe may start now.
    pub fn hurry(&mut self, now: Duration) {
        if let Some(open) = &mut self.open {
            open.probe = open.probe.min(now);
        }
    }

    /// A pass has ended; if it was the probe, and in vain, the next one is due later.
    pub fn ended(&mut self, now: Duration, pass: PassId, random: &mut Random) {
        if let Some(open) = self.open.as_mut().filter(|open| open.under_way == Some(pass)) {
            open.under_way = None;
            open.probes += 1;
            open.probe = now + jittered(open.probes, random);
        }
    }
}

impl Open {
    /// Whether a probe may start now.
    pub fn admits(&self, now: Duration) -> bool {
        self.under_way.is_none() && now >= self.probe
    }

    /// When a probe may start; `None` while one is under way.
    pub fn next(&self) -> Option<Duration> {
        self.under_way.is_none().then_some(self.probe)
    }

    pub fn started(&mut self, pass: PassId, group: &Arc<str>) {
        self.under_way = Some(pass);
        *self.tried.entry(Arc::clone(group)).or_default() += 1;
    }

    /// How often a group was probed.
    pub fn tried(&self, group: &Arc<str>) -> u32 {
        self.tried.get(group).copied().unwrap_or_default()
    }
}

/// With full jitter: many clients may share the fate of one server.
fn jittered(probes: u32, random: &mut Random) -> Duration {
    FIRST.saturating_mul(1 << probes.min(5)).min(LONGEST).mul_f64(random.unit())
}
