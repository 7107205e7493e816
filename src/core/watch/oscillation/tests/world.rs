//! One object on a server, our passes over it, and whoever else writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::{Detector, Found, Freeze};
use crate::core::digest::Digest;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::node::{Origin, Pos};
use crate::core::path::Path;
use crate::core::report::Explanation;
use crate::core::watch::pass::{Retry, Seen, Touched, Verdict};
use crate::core::watch::subject::Subject;

pub fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

pub fn path(text: &str) -> Path {
    Path::parse(text).expect(text)
}

pub fn id(name: &str) -> ObjectId {
    let kind = KindName { backend: "rabbit".into(), kind: "Queue".into() };
    ObjectId { kind, key: Key::new(vec![("name".into(), json!(name))]) }
}

pub fn subject(name: &str, desired: u128) -> Subject {
    Subject {
        id: id(name),
        group: "queues".into(),
        desired: Digest(desired),
        origin: Origin { file: "a.yaml".into(), at: Pos { line: 1, column: 1 } },
        needs: std::sync::Arc::from([]),
    }
}

/// The server's object: its fields as numbers, by path.
#[derive(Clone, Debug)]
pub struct Stored {
    pub uid: u32,
    pub fields: BTreeMap<&'static str, u128>,
}

/// The server, the detector, and the time.
pub struct World {
    pub now: Duration,
    pub detector: Detector,
    pub wanted: BTreeMap<&'static str, u128>,
    /// Another number is another wish.
    pub wish: u128,
    pub stored: Option<Stored>,
    next_uid: u32,
    /// What the server makes of what it is sent at a path.
    pub makes: BTreeMap<&'static str, u128>,
    /// No write is possible, or no look.
    pub limited: bool,
    pub away: bool,
    /// When each write was accepted.
    pub writes: Vec<Duration>,
    pub found: Vec<Found>,
    pub by: Vec<Arc<str>>,
    /// Paths that were ever told to be fought over.
    pub fought: BTreeSet<String>,
}

impl World {
    /// All is in sync and was seen so.
    pub fn level(fields: &[(&'static str, u128)]) -> World {
        let fields: BTreeMap<&'static str, u128> = fields.iter().copied().collect();
        let mut world = World {
            now: Duration::ZERO,
            detector: Detector::default(),
            stored: Some(Stored { uid: 1, fields: fields.clone() }),
            wanted: fields,
            wish: 1,
            next_uid: 2,
            makes: BTreeMap::new(),
            limited: false,
            away: false,
            writes: Vec::new(),
            found: Vec::new(),
            by: vec!["console".into()],
            fought: BTreeSet::new(),
        };
        world.pass();
        assert!(world.found.is_empty() && world.writes.is_empty());
        world
    }

    /// The files say something else.
    pub fn want(&mut self, fields: &[(&'static str, u128)]) {
        self.wish += 1;
        self.wanted = fields.iter().copied().collect();
        self.detector.forget(&id("o"));
    }

    /// The process ends, and another begins.
    pub fn restart(&mut self) {
        self.detector = Detector::default();
    }

    /// Somebody else sets a field.
    pub fn set(&mut self, field: &'static str, value: u128) {
        self.stored.as_mut().expect("it is there").fields.insert(field, value);
    }

    pub fn get(&self, field: &str) -> u128 {
        self.stored.as_ref().expect("it is there").fields[field]
    }

    /// Somebody else deletes the object and makes it anew, as it was.
    pub fn remake(&mut self) {
        self.stored.as_mut().expect("it is there").uid = self.new_uid();
    }

    fn new_uid(&mut self) -> u32 {
        self.next_uid += 1;
        self.next_uid
    }

    pub fn freeze(&mut self) -> Freeze {
        self.detector.freeze(self.now, &id("o"))
    }

    /// One pass: it looks, writes what it may, and looks again.
    pub fn pass(&mut self) -> Seen {
        let freeze = self.freeze();
        let seen = if self.away { self.failed() } else { self.look(&freeze) };
        self.writes.extend(std::iter::repeat_n(self.now, seen.writes));
        self.found = self.detector.ended(self.now, &subject("o", self.wish), &seen);
        let late = self.found.iter().filter_map(|found| match found {
            Found::Fighting { until, .. } => Some(*until),
            Found::Churn { open, .. } => *open,
            Found::NotEffective { .. } => None,
        });
        late.for_each(|until| assert!(until >= self.now, "{until:?} is over: {:?}", self.found));
        let fought = self.found.iter().filter_map(|found| match found {
            Found::Fighting { path, .. } => Some(path.to_string()),
            _ => None,
        });
        self.fought.extend(fought);
        seen
    }

    fn failed(&self) -> Seen {
        let verdict = Verdict::Failed(Explanation::default(), Retry::Soon { fault: true, after: None });
        Seen { id: id("o"), verdict, ready: None, uid: None, writes: 0, touched: Vec::new(), open: None }
    }

    /// One pass in which this must not be written.
    pub fn look(&mut self, freeze: &Freeze) -> Seen {
        let may_write = !freeze.whole && !self.limited;
        let (mut writes, touched) = match &self.stored {
            None => (0, vec![touched(Path::root(), None, Some(1))]),
            Some(stored) => (0, self.differences(&stored.fields)),
        };
        let mut rest = touched.clone();
        if may_write && self.stored.is_none() {
            let uid = self.new_uid();
            self.stored = Some(Stored { uid, fields: self.sent() });
            writes = 1;
        }
        let is_frozen = |touched: &Touched| freeze.paths.contains(&touched.path);
        // As the engine does: what does not hold is written twice in a pass.
        let is_there = self.stored.is_some();
        while may_write && writes < 2 && is_there {
            let stored = self.stored.as_ref().expect("it is there");
            rest = self.differences(&stored.fields);
            if rest.iter().all(is_frozen) {
                break;
            }
            let sent = self.sent();
            let stored = self.stored.as_mut().expect("it is there");
            for one in rest.iter().filter(|one| !is_frozen(one)) {
                let field = *sent.keys().find(|field| path(field) == one.path).expect("one of ours");
                stored.fields.insert(field, sent[field]);
            }
            writes += 1;
            rest = self.differences(&self.stored.as_ref().expect("it is there").fields);
        }
        let open: Vec<&Touched> = rest.iter().filter(|one| !is_frozen(one)).collect();
        let verdict = match (rest.is_empty(), open.is_empty()) {
            _ if !may_write && !touched.is_empty() => Verdict::Differs(Explanation::default()),
            (true, _) => Verdict::InSync,
            (_, true) => Verdict::Differs(Explanation::default()),
            _ => Verdict::NotEffective(Explanation::default()),
        };
        let is_stuck = matches!(verdict, Verdict::NotEffective(_));
        Seen {
            id: id("o"),
            verdict,
            ready: None,
            uid: self.stored.as_ref().map(|stored| stored.uid.to_string().into()),
            writes,
            touched: if is_stuck { rest } else { touched },
            open: None,
        }
    }

    /// What the server stores of what it is sent.
    fn sent(&self) -> BTreeMap<&'static str, u128> {
        let stored = |(field, value): (&&'static str, &u128)| {
            (*field, self.makes.get(field).copied().unwrap_or(*value))
        };
        self.wanted.iter().map(stored).collect()
    }

    fn differences(&self, fields: &BTreeMap<&'static str, u128>) -> Vec<Touched> {
        let differs = |(field, want): (&&'static str, &u128)| {
            let have = fields.get(field).copied();
            let touched = touched(path(field), have, Some(*want));
            (have != Some(*want)).then(|| Touched { set_by: self.by.clone(), ..touched })
        };
        self.wanted.iter().filter_map(differs).collect()
    }

    /// Lets time go by in steps: before each pass, others do what they do. Passes also come when a freeze ends.
    pub fn go_on(&mut self, until: Duration, every: Duration, mut others: impl FnMut(&mut World)) {
        let end = self.now + until;
        let mut next = self.now + every;
        while self.now < end {
            let thaws = self.freeze().until.filter(|until| *until > self.now);
            self.now = thaws.map_or(next, |thaws| thaws.min(next));
            if self.now >= next {
                next += every;
                others(self);
            }
            self.pass();
        }
    }

    /// The most writes in any ten minutes.
    pub fn most_in_ten_minutes(&self) -> usize {
        let within = |from: &Duration| {
            self.writes.iter().filter(|at| **at >= *from && **at < *from + minutes(10)).count()
        };
        self.writes.iter().map(within).max().unwrap_or_default()
    }
}

fn touched(path: Path, before: Option<u128>, after: Option<u128>) -> Touched {
    Touched { path, before: before.map(Digest), after: after.map(Digest), set_by: Vec::new() }
}
