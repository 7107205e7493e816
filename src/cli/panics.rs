//! A panic is a bug, and what it says may hold anything: a piece of a text that was sliced, the value that an
//! error was made of. So only a message that stands in the program as it is is said, and where it happened.

use std::any::Any;
use std::io::{self, Write};
use std::panic::{self, Location};
use std::sync::{Mutex, PoisonError};

use crate::render::out::Out;

/// From now on a panic goes out as everything else does.
pub fn guard(out: &Out) {
    let guard = Mutex::new(out.guard(io::stderr()));
    panic::set_hook(Box::new(move |panic| {
        let text = told(panic.location(), panic.payload());
        let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere left to say that this did not work.
        drop(guard.write_all(text.as_bytes()));
    }));
}

fn told(location: Option<&Location>, payload: &dyn Any) -> String {
    let place = location.map_or(String::new(), |place| format!(" at {place}"));
    format!("error: this is a bug in trueup, please report it\npanicked{place}: {}\n", words(payload))
}

/// A message that stands in the program as it is; of one that was put together nobody knows which part came from
/// where.
fn words(payload: &dyn Any) -> &'static str {
    payload.downcast_ref::<&'static str>().unwrap_or(&"(the message is left out: it may hold data)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: impl FnOnce() + panic::UnwindSafe) -> String {
        let payload = panic::catch_unwind(run).expect_err("it panics");
        told(None, &*payload)
    }

    fn fails(text: String) -> Result<(), String> {
        Err(text)
    }

    const BUG: &str = "error: this is a bug in trueup, please report it\npanicked: ";

    #[test]
    fn what_was_put_in_is_not_said() {
        let secret = String::from("s3cr3t-é-value");
        let (a, b, c) = (secret.clone(), secret.clone(), secret.clone());
        let left_out = format!("{BUG}(the message is left out: it may hold data)\n");
        assert_eq!(said(move || panic!("the value {a} is odd")), left_out);
        assert_eq!(said(move || fails(b).expect("reading it")), left_out);
        assert_eq!(said(move || drop(c[..8].to_owned())), left_out, "a slice shows what is sliced");
        assert_eq!(said(move || panic::panic_any(secret)), left_out);
        assert_eq!(
            said(|| panic!("in its own words: all of them")),
            format!("{BUG}in its own words: all of them\n")
        );
    }
}
