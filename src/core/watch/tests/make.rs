//! Objects, hints and ends of passes for the tests of the loop.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::super::digest::Digest;
use super::super::super::identity::{Key, KindName, ObjectId};
use super::super::super::node::{Origin as Place, Pos};
use super::super::super::report::Explanation;
use super::super::{
    About, Effect, Event, Hint, Loop, ObjectStatus, Origin, Pass, PassId, Retry, Seen, Settings, Subject,
    Verdict,
};

pub fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// The object `name` of a backend.
pub fn id_of(backend: &str, name: &str) -> ObjectId {
    let kind = KindName { backend: backend.into(), kind: "Queue".into() };
    ObjectId { kind, key: Key::new(vec![("name".into(), json!(name))]) }
}

pub fn id(name: &str) -> ObjectId {
    id_of("rabbit", name)
}

pub fn subject_of(backend: &str, name: &str, wish: u128) -> Subject {
    Subject {
        id: id_of(backend, name),
        group: format!("{backend}/queues").into(),
        desired: Digest(wish),
        origin: Place { file: Arc::from("a.yaml"), at: Pos { line: 1, column: 1 } },
        needs: Arc::from([]),
    }
}

pub fn subject(name: &str) -> Subject {
    subject_of("rabbit", name, 1)
}

pub fn hint(name: &str, origin: Origin) -> Event {
    Event::Hint(Hint { about: About::Object(id(name)), origin, observed: None })
}

pub fn hint_with(name: &str, digest: u128) -> Event {
    Event::Hint(Hint { about: About::Object(id(name)), origin: Origin::Poll, observed: Some(Digest(digest)) })
}

pub fn why() -> Explanation {
    Explanation { message: "for a reason".into(), ..Explanation::default() }
}

pub fn soon(fault: bool) -> Verdict {
    Verdict::Failed(why(), Retry::Soon { fault, after: None })
}

pub fn late() -> Verdict {
    Verdict::Failed(why(), Retry::Late)
}

pub fn seen(id: &ObjectId, verdict: Verdict) -> Seen {
    Seen { id: id.clone(), verdict, ready: None, uid: None, writes: 0, touched: Vec::new(), open: None }
}

/// A loop, and the time that it is there.
pub struct Rig {
    pub machine: Loop,
    pub now: Duration,
    /// When it is to be woken.
    pub wake: Option<Duration>,
    /// Passes that have begun and were not taken out.
    pub begun: Vec<Pass>,
    /// Passes that were asked what they are done with.
    pub asked: Vec<PassId>,
    pub turned: Vec<(ObjectId, super::super::Condition)>,
    pub warned: Vec<String>,
    /// Backends that went away or came back: true.
    pub backends: Vec<(String, bool)>,
}

impl Rig {
    pub fn new(settings: Settings) -> Rig {
        Rig {
            machine: Loop::new(settings),
            now: Duration::ZERO,
            wake: None,
            begun: Vec::new(),
            asked: Vec::new(),
            turned: Vec::new(),
            warned: Vec::new(),
            backends: Vec::new(),
        }
    }

    /// One in which these were found in sync at the start.
    pub fn level(settings: Settings, subjects: Vec<Subject>) -> Rig {
        let mut rig = Rig::new(settings);
        rig.give(Event::Desired(subjects));
        rig.end_all(|_| Verdict::InSync);
        rig.turned.clear();
        rig
    }

    pub fn give(&mut self, event: Event) {
        for effect in self.machine.step(self.now, event) {
            match effect {
                Effect::Pass(pass) => self.begun.push(pass),
                Effect::Collect(pass) => self.asked.push(pass),
                Effect::WakeAt(time) => self.wake = Some(time),
                Effect::Turned(id, condition) => self.turned.push((id, condition)),
                Effect::Left(backend, why) => {
                    assert!(!why.is_empty(), "it is said why");
                    self.backends.push((backend.to_string(), false));
                }
                Effect::Back(backend) => self.backends.push((backend.to_string(), true)),
                Effect::Warned(text) => self.warned.push(text),
            }
        }
    }

    /// Lets time go by until a pass begins, `until` at the latest; the names of its objects.
    pub fn next_pass(&mut self, until: Duration) -> Option<Vec<String>> {
        while self.begun.is_empty() {
            let wake = self.wake.filter(|wake| *wake <= until)?;
            (self.wake, self.now) = (None, self.now.max(wake));
            self.give(Event::Woke);
        }
        Some(names(&self.begun[0]))
    }

    /// Lets time go by until a pass begins, `until` at the latest.
    pub fn go_to_first_pass(&mut self, until: Duration) {
        if self.next_pass(until).is_none() {
            self.now = self.now.max(until);
        }
    }

    /// Lets time go by; passes that begin end at once in this way.
    pub fn go_to(&mut self, until: Duration, verdict: impl Fn(&ObjectId) -> Verdict) -> usize {
        let mut passes = 0;
        while self.next_pass(until).is_some() {
            passes += self.begun.len();
            self.end_all(&verdict);
        }
        self.now = self.now.max(until);
        passes
    }

    /// Ends the first pass that has begun; each object as it is said.
    pub fn end(&mut self, verdict: impl Fn(&ObjectId) -> Verdict) -> Pass {
        self.end_with(|id| seen(id, verdict(id)))
    }

    pub fn end_with(&mut self, tell: impl Fn(&ObjectId) -> Seen) -> Pass {
        let pass = self.begun.remove(0);
        let all = pass.objects.iter().map(|(id, _)| tell(id)).collect();
        self.give(Event::Ended(pass.id, all));
        pass
    }

    pub fn end_all(&mut self, verdict: impl Fn(&ObjectId) -> Verdict) {
        while !self.begun.is_empty() {
            self.end(&verdict);
        }
    }

    pub fn status(&self, name: &str) -> ObjectStatus {
        let status = self.machine.status();
        status.objects.into_iter().find(|object| object.id == id(name)).expect("it is wanted")
    }
}

pub fn names(pass: &Pass) -> Vec<String> {
    pass.objects.iter().map(|(id, _)| id.key.to_string()).collect()
}
