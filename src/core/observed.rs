//! What a run saw of an object besides its difference: for whoever makes the next run. No report shows it.

use std::sync::Arc;
use std::time::Duration;

use super::change::Change;
use super::digest::Digest;
use super::exchange::{Failure, FailureClass};
use super::identity::ObjectId;
use super::unfinished::Unfinished;
use super::veil::Veil;

/// What a run saw of an object.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The server's own id of the object, as last seen; `None` where the API has none, or there is no object.
    pub uid: Option<Arc<str>>,
    /// What an object that is to be deleted or replaced looked like, as far as its document speaks of it: whoever
    /// agreed to its loss agreed to the loss of this. `None` for any other.
    pub look: Option<Digest>,
    /// What the kind's `ready` said last; `None` where there is none, or there is no object.
    pub ready: Option<bool>,
    /// The failure that it ended with, where one did.
    pub heard: Option<Heard>,
    /// Writes of this run that were accepted for it.
    pub writes: usize,
    /// Differences at frozen paths. They were not written.
    pub frozen: Vec<Change>,
    /// What it needs has a document, and is not there.
    pub waits: bool,
    /// Its document says that it is not to be written: it is paused, or its drift is only reported.
    pub left_alone: bool,
    /// What is below it, in no document, and goes along with it.
    pub along: Vec<ObjectId>,
    /// What this run began and did not see the end of.
    pub open: Option<Arc<Unfinished>>,
    /// What of it is not shown, by the names of its fields; `None` where nothing is known of its kind.
    pub names: Option<Arc<Veil>>,
}

/// A failure, as far as it says when to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    pub trouble: Trouble,
    /// The wait that the server asked for.
    pub retry_after: Option<Duration>,
}

/// What a failure says of the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The server's or the network's own: other objects of the backend share it.
    Fault,
    /// It may pass, and says nothing of the backend: too many requests, a race, an answer that is not the API's.
    Passing,
    /// Repeating it would change nothing.
    Terminal,
    /// The same, as the credential was refused: that befalls all that is asked for with it.
    Barred,
}

impl Heard {
    pub fn of(failure: &Failure) -> Heard {
        Heard { trouble: Trouble::of(failure.class), retry_after: failure.retry_after }
    }
}

impl Trouble {
    fn of(class: FailureClass) -> Trouble {
        match class {
            FailureClass::NotSent | FailureClass::Lost => Trouble::Fault,
            FailureClass::Status(401) => Trouble::Barred,
            FailureClass::Status(408 | 425 | 429) => Trouble::Passing,
            // What the server does not know how to do, it will not know in a minute.
            FailureClass::Status(501 | 505) => Trouble::Terminal,
            FailureClass::Status(500..) => Trouble::Fault,
            FailureClass::Exists | FailureClass::KeyUsed => Trouble::Passing,
            FailureClass::Conflict | FailureClass::Mismatch => Trouble::Passing,
            // A page of a proxy, a notice of maintenance: it is there for a while.
            FailureClass::NotTheApi | FailureClass::WrongObject => Trouble::Passing,
            FailureClass::Status(_) | FailureClass::Refused | FailureClass::Backend | FailureClass::Setup => {
                Trouble::Terminal
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table() {
        use FailureClass::*;
        for class in [NotSent, Lost, Status(500), Status(502), Status(503), Status(504), Status(599)] {
            assert_eq!(Trouble::of(class), Trouble::Fault, "{class:?}");
        }
        for class in
            [Status(408), Status(425), Status(429), Exists, KeyUsed, Conflict, NotTheApi, WrongObject]
        {
            assert_eq!(Trouble::of(class), Trouble::Passing, "{class:?}");
        }
        assert_eq!(Trouble::of(Status(401)), Trouble::Barred);
        for status in [400, 403, 404, 405, 413, 415, 422, 428, 501, 505] {
            assert_eq!(Trouble::of(Status(status)), Trouble::Terminal, "{status}");
        }
        for class in [Refused, Backend, Setup] {
            assert_eq!(Trouble::of(class), Trouble::Terminal, "{class:?}");
        }
    }
}
