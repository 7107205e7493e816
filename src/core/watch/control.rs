//! The loop itself.

use std::time::Duration;

use super::super::identity::ObjectId;
use super::hint::Hint;
use super::oscillation::Detector;
use super::pass::{Pass, PassId, Seen};
use super::settings::Settings;
use super::status::{Condition, Status};
use super::subject::Subject;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The desired set, whole: at the start, and whenever the files have changed and are valid. In the order of the
    /// documents.
    Desired(Vec<Subject>),
    Hint(Hint),
    /// A pass has ended. An object of the pass that is not among these was not settled.
    Ended(PassId, Vec<Seen>),
    /// The time that was asked for has come.
    Woke,
    /// No new pass: what is under way ends.
    Drain,
}

/// Something to be done.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Pass(Pass),
    /// Send [`Event::Woke`] at this time, which replaces an earlier wish.
    WakeAt(Duration),
    /// A condition's truth or reason is another one: for the log.
    Turned(ObjectId, Condition),
    /// Something that holds of the loop as a whole, for the log.
    Warned(String),
}

/// The loop.
pub struct Loop {
    settings: Settings,
    detector: Detector,
}

impl Loop {
    pub fn new(settings: Settings) -> Loop {
        Loop { settings, detector: Detector::default() }
    }

    /// Takes an event at the time `now`, counted from the start of the loop by a clock that only goes forward.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        let _ = (now, event, &self.settings, &mut self.detector);
        Vec::new()
    }

    /// Where everything stands.
    pub fn status(&self) -> Status {
        Status::default()
    }

    /// Whether nothing but probes is to be sent to a backend.
    pub fn holds(&self, _target: &str) -> bool {
        false
    }

    /// Whether no pass is under way.
    pub fn is_idle(&self) -> bool {
        true
    }

    /// Whether a pass has ended for every object since it was last wanted otherwise.
    pub fn has_seen_all(&self) -> bool {
        false
    }
}
