//! What a failed request means for what comes next: the table of failure classes and operations.
//!
//! RFC 9110, section 9.2.2: a request whose outcome is unknown is not repeated blindly. So no row here says
//! "send it again": the most that follows is to wait, to look, and to decide anew.

use super::super::exchange::{Failure, FailureClass};
use super::super::mutant::planted;

/// After a listing or a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAsk {
    /// Wait and ask again.
    Retry,
    /// Neither presence nor absence can be known in this run.
    GiveUp,
}

/// After a create, an update or a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterWrite {
    /// The server did not act: wait, look, decide.
    NotDone,
    /// Nobody knows whether the server acted: wait, look, decide; a create waits out its visibility first.
    Uncertain,
    /// It is there already: look, and take it over.
    Exists,
    /// The key of the create is another's: look, and take the next one.
    KeyUsed,
    /// A race on the version: look at once, and see whose fields changed.
    Race,
    /// The server takes no write without a precondition: look for one.
    Unguarded,
    /// Repeating it would change nothing.
    Stop,
}

pub fn after_ask(failure: &Failure) -> AfterAsk {
    match failure.class {
        FailureClass::NotSent | FailureClass::Lost => AfterAsk::Retry,
        FailureClass::Status(status) if passes(status) || is_server_fault(status) => AfterAsk::Retry,
        _ => AfterAsk::GiveUp,
    }
}

pub fn after_write(failure: &Failure) -> AfterWrite {
    match failure.class {
        FailureClass::NotSent => AfterWrite::NotDone,
        FailureClass::Lost => AfterWrite::Uncertain,
        FailureClass::Status(status) if passes(status) => AfterWrite::NotDone,
        // A 503 that names a time was refused before it was processed.
        FailureClass::Status(503) if failure.retry_after.is_some() => AfterWrite::NotDone,
        FailureClass::Status(status) if is_server_fault(status) && planted!(M4) => AfterWrite::NotDone,
        // Servers do answer 500 after they have created.
        FailureClass::Status(status) if is_server_fault(status) => AfterWrite::Uncertain,
        FailureClass::Exists => AfterWrite::Exists,
        FailureClass::KeyUsed => AfterWrite::KeyUsed,
        FailureClass::Conflict | FailureClass::Mismatch => AfterWrite::Race,
        FailureClass::Status(428) => AfterWrite::Unguarded,
        // The body of a success that cannot be read tells nothing of what was done.
        FailureClass::NotTheApi | FailureClass::WrongObject => AfterWrite::Uncertain,
        FailureClass::Status(_) | FailureClass::Refused | FailureClass::Backend | FailureClass::Setup => {
            AfterWrite::Stop
        }
    }
}

/// Answers that ask for patience: timeout, too early, too many.
fn passes(status: u16) -> bool {
    matches!(status, 408 | 425 | 429)
}

/// Faults of the server that may pass; 501 and 505 do not.
fn is_server_fault(status: u16) -> bool {
    status >= 500 && !matches!(status, 501 | 505)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_table() {
        use FailureClass::*;
        let rows = [
            (NotSent, AfterAsk::Retry, AfterWrite::NotDone),
            (Lost, AfterAsk::Retry, AfterWrite::Uncertain),
            (Status(408), AfterAsk::Retry, AfterWrite::NotDone),
            (Status(425), AfterAsk::Retry, AfterWrite::NotDone),
            (Status(429), AfterAsk::Retry, AfterWrite::NotDone),
            (Status(500), AfterAsk::Retry, AfterWrite::Uncertain),
            (Status(502), AfterAsk::Retry, AfterWrite::Uncertain),
            (Status(503), AfterAsk::Retry, AfterWrite::Uncertain),
            (Status(504), AfterAsk::Retry, AfterWrite::Uncertain),
            (Status(501), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(400), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(401), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(403), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(404), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(422), AfterAsk::GiveUp, AfterWrite::Stop),
            (Status(428), AfterAsk::GiveUp, AfterWrite::Unguarded),
            (Exists, AfterAsk::GiveUp, AfterWrite::Exists),
            (KeyUsed, AfterAsk::GiveUp, AfterWrite::KeyUsed),
            (Conflict, AfterAsk::GiveUp, AfterWrite::Race),
            (Mismatch, AfterAsk::GiveUp, AfterWrite::Race),
            (NotTheApi, AfterAsk::GiveUp, AfterWrite::Uncertain),
            (WrongObject, AfterAsk::GiveUp, AfterWrite::Uncertain),
            (Refused, AfterAsk::GiveUp, AfterWrite::Stop),
            (Backend, AfterAsk::GiveUp, AfterWrite::Stop),
            (Setup, AfterAsk::GiveUp, AfterWrite::Stop),
        ];
        for (class, ask, write) in rows {
            let failure = Failure { class, message: String::new(), hint: None, retry_after: None };
            assert_eq!(after_ask(&failure), ask, "{class:?}");
            assert_eq!(after_write(&failure), write, "{class:?}");
        }
        let later = Failure {
            class: Status(503),
            message: String::new(),
            hint: None,
            retry_after: Some(Duration::from_secs(1)),
        };
        assert_eq!(after_write(&later), AfterWrite::NotDone);
    }
}
