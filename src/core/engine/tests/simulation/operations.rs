//! What the server is at: operations that end, fail, are forgotten, or never end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::super::model::failed;
use super::dice::Dice;
use super::scene::SLOWEST;
use crate::core::exchange::{Answer, FailureClass, Operation, Progress};
use crate::core::filter::Filter;
use crate::core::kind::Wait;

/// All operations that were begun, by address.
#[derive(Clone, Default, Hash)]
pub struct Operations(BTreeMap<Arc<str>, End>);

#[derive(Clone, Hash)]
struct End {
    at: Duration,
    how: How,
}

#[derive(Clone, Copy, Hash)]
enum How {
    Well,
    Badly,
    /// It is not told of, from now on.
    Forgotten,
}

impl Operations {
    /// Of a write that has been done.
    pub fn begin(
        &mut self,
        now: Duration,
        server_id: Option<Arc<str>>,
        troubled: bool,
        dice: &mut Dice,
    ) -> Answer {
        let end = match () {
            () if troubled && dice.chance(0.1) => End { at: Duration::ZERO, how: How::Forgotten },
            () if troubled && dice.chance(0.1) => End { at: Duration::MAX, how: How::Well },
            () => End { at: now + SLOWEST.mul_f64(dice.fraction()), how: How::Well },
        };
        let declared = dice.chance(0.5);
        self.note(end, declared, server_id)
    }

    /// Of a write that is never done.
    pub fn begin_in_vain(&mut self, now: Duration) -> Answer {
        self.note(End { at: now, how: How::Badly }, true, None)
    }

    fn note(&mut self, end: End, declared: bool, server_id: Option<Arc<str>>) -> Answer {
        let url: Arc<str> = format!("/ops/{}", self.0.len()).into();
        self.0.insert(url.clone(), end);
        let filter = || Filter::parse(".").expect("a filter");
        let (every, limit) = (Duration::from_secs(1), Duration::from_secs(60));
        let wait = Wait { url: Some(filter()), done: filter(), failed: None, every, limit };
        let operation = Operation { url, wait: declared.then_some(wait), id: None, retry_after: None };
        Answer::Begun { operation, server_id }
    }

    pub fn tell(&self, url: &str, now: Duration) -> Answer {
        let end = &self.0[url];
        let progress = match end.how {
            How::Forgotten => return Answer::Absent,
            _ if now < end.at => Progress::Running { retry_after: None },
            How::Well => Progress::Done { server_id: None },
            How::Badly => match failed(FailureClass::Status(200)) {
                Answer::Failed(failure) => Progress::Failed(failure),
                other => return other,
            },
        };
        Answer::Progress(progress)
    }
}
