//! Faults planted on purpose, to see that the tests find them. They exist only in test builds.
//!
//! Each is named after a trouble that users of comparable tools had. Where the code is right, it asks
//! `planted!(M3)`; outside of test builds that is the word `false`, and what it would do is not compiled in.

/// What can be planted.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mutant {
    /// A listing that failed is taken for an empty one.
    M1,
    /// An empty page is taken for the last one (AIP-158).
    M2,
    /// A create whose answer did not come is sent again at once.
    M3,
    /// A 500 to a create is taken for "not created".
    M4,
    /// An object counts as in sync by the answer to its write, with no look.
    M5,
    /// Two writes in one pass, the second from what is remembered of before the first.
    M6,
    /// A deletion by name, whatever object bears it by then.
    M7,
    /// A deletion by what was seen when it was decided, with no live read.
    M8,
    /// A debounce that slides: each hint moves the pass.
    M9,
    /// Strict priority: what waits does not age.
    M10,
    /// Failures are forgotten at the first success.
    M11,
    /// What comes while a path is frozen is dropped: nobody looks when the freeze is over.
    M12,
    /// What holds a path is kept by the name of the object, whichever bears it.
    M13,
    /// A freeze ends at the next event after its time, not by the clock.
    M14,
    /// An event brings forward what is backing off.
    M15,
    /// Conditions are written anew in each pass, in no order.
    M16,
    /// A whole body that is sent over what others have changed since.
    M17,
    /// `1` and `1.0` differ.
    M18,
    /// A weak entity tag is sent as `If-Match`.
    M19,
    /// An idempotency key that does not change with the generation of the object.
    M20,
    /// A resync believes what is remembered, and observes nothing.
    M21,
    /// A change feed that was cut off goes on with no look at what was missed (whatwg/html 8297).
    M22,
    /// A listing and the feed beside it wait each by its own failures, and hammer the server in turn (kubernetes
    /// 118129).
    M23,
    /// What a file that could not be read says is missed, and pruned.
    M24,
    /// Another's finalizer is taken off.
    M25,
    /// A conflict is tried again with the version that was refused (AIP-194).
    M26,
    /// The next page is asked of another origin, with the credentials of this one.
    M27,
    /// A field that left the file is removed, although somebody else has changed it.
    M28,
    /// An object that was made anew inherits what was counted of the one before.
    M29,
    /// Output that could not be written counts as success.
    M30,
    /// What is to go is deleted, whatever others changed since the base.
    Unasked,
    /// What no document names is pruned without a mark.
    NoProof,
    /// What is pruned is looked for beyond the scope of the Set.
    NoScope,
    /// As many as there are are pruned at once.
    NoLimit,
}

#[cfg(test)]
mod switch {
    use std::cell::Cell;

    use super::Mutant;

    thread_local! {
        static PLANTED: Cell<Option<Mutant>> = const { Cell::new(None) };
    }

    /// Whether this thread runs with the fault.
    pub fn is_planted(mutant: Mutant) -> bool {
        PLANTED.get() == Some(mutant)
    }

    /// Plants a fault in this thread until what is given back is dropped.
    #[must_use]
    pub fn plant(mutant: Mutant) -> Planted {
        PLANTED.set(Some(mutant));
        Planted(())
    }

    /// A planted fault; dropped, it is gone.
    pub struct Planted(());

    impl Drop for Planted {
        fn drop(&mut self) {
            PLANTED.set(None);
        }
    }
}

#[cfg(test)]
pub use switch::{Planted, is_planted, plant};

/// Whether a fault is planted: in test builds what this thread says, else `false`.
#[cfg(test)]
macro_rules! planted {
    ($mutant:ident) => {
        $crate::core::mutant::is_planted($crate::core::mutant::Mutant::$mutant)
    };
}

/// Whether a fault is planted: in test builds what this thread says, else `false`.
#[cfg(not(test))]
macro_rules! planted {
    ($mutant:ident) => {
        false
    };
}

pub(crate) use planted;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_there_while_it_is_planted_and_only_that_one() {
        assert!(!planted!(M3));
        {
            let _planted = plant(Mutant::M3);
            assert!(planted!(M3) && !planted!(M4));
        }
        assert!(!planted!(M3));
    }
}
