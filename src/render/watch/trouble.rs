//! What is wrong with an object, worst first: the order of everything that a person reads, and the exit code.

use std::collections::BTreeSet;

use super::document::{Document, Object, State};
use crate::core::exit::Exit;

/// What an object suffers from; of several the first. `Ok` comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    Stalled,
    Unknown,
    NotEffective,
    Fighting,
    Conflict,
    /// Passes fail, and it is tried again.
    Failing,
    /// It differs, and nothing of the above is said of it.
    NotSynced,
    /// It was not looked at yet.
    Waiting,
    NotReady,
    Ok,
}

impl Trouble {
    pub const ALL: [Trouble; 10] = [
        Trouble::Stalled,
        Trouble::Unknown,
        Trouble::NotEffective,
        Trouble::Fighting,
        Trouble::Conflict,
        Trouble::Failing,
        Trouble::NotSynced,
        Trouble::Waiting,
        Trouble::NotReady,
        Trouble::Ok,
    ];

    /// As a person reads it.
    pub fn word(self) -> &'static str {
        match self {
            Trouble::Stalled => "stalled",
            Trouble::Unknown => "unknown",
            Trouble::NotEffective => "not effective",
            Trouble::Fighting => "fighting",
            Trouble::Conflict => "conflict",
            Trouble::Failing => "failing",
            Trouble::NotSynced => "not in sync",
            Trouble::Waiting => "waiting",
            Trouble::NotReady => "not ready",
            Trouble::Ok => "in sync",
        }
    }

    /// All that an object suffers from, the worst first; nothing where it is well.
    pub fn all(object: &Object) -> Vec<Trouble> {
        Trouble::ALL.into_iter().filter(|trouble| trouble.is_of(object)).collect()
    }

    /// The worst.
    pub fn of(object: &Object) -> Trouble {
        Trouble::ALL.into_iter().find(|trouble| trouble.is_of(object)).unwrap_or(Trouble::Ok)
    }

    fn is_of(self, object: &Object) -> bool {
        let status = |kind: &str| {
            let condition = object.conditions.iter().find(|condition| condition.kind == kind);
            condition.map(|condition| &*condition.status)
        };
        let holds = |kind: &str| status(kind) == Some("True");
        match self {
            Trouble::Stalled => holds("Stalled"),
            Trouble::Unknown => holds("Unknown"),
            Trouble::NotEffective => holds("NotEffective"),
            Trouble::Fighting => holds("Fighting"),
            Trouble::Conflict => holds("Conflict"),
            Trouble::Failing => status("Synced") == Some("False") && object.attempts > 0,
            Trouble::NotSynced => status("Synced") == Some("False"),
            // Whatever word another version may have.
            Trouble::Waiting => !matches!(status("Synced"), Some("True" | "False")),
            Trouble::NotReady => status("Ready").is_some_and(|status| status != "True"),
            Trouble::Ok => false,
        }
    }

    /// The condition that says more about it.
    pub fn condition(self) -> &'static str {
        match self {
            Trouble::Stalled => "Stalled",
            Trouble::Unknown => "Unknown",
            Trouble::NotEffective => "NotEffective",
            Trouble::Fighting => "Fighting",
            Trouble::Conflict => "Conflict",
            Trouble::Failing | Trouble::NotSynced | Trouble::Waiting | Trouble::Ok => "Synced",
            Trouble::NotReady => "Ready",
        }
    }

    /// What it makes of the exit, by the program's table. What a guard refuses is stalled as well.
    fn exit(self, object: &Object) -> Exit {
        let refused = |state: &&State| state.kind == "Synced" && GUARDS.contains(&&*state.reason);
        match self {
            Trouble::Stalled if object.conditions.iter().find(refused).is_some() => Exit::Refused,
            Trouble::Stalled | Trouble::Unknown | Trouble::NotEffective | Trouble::Failing => Exit::Failed,
            Trouble::Fighting | Trouble::Conflict => Exit::Conflict,
            Trouble::NotSynced | Trouble::Waiting | Trouble::NotReady => Exit::Differs,
            Trouble::Ok => Exit::Success,
        }
    }
}

/// Reasons that say that a guard holds a write back.
const GUARDS: [&str; 2] = ["Refused", "ChangeLimit"];

/// The objects with what they suffer from, the worst first; among equals by name.
pub fn worst_first(document: &Document) -> Vec<(Trouble, &Object)> {
    let mut objects: Vec<(Trouble, &Object)> =
        document.objects.iter().map(|object| (Trouble::of(object), object)).collect();
    objects.sort_by_key(|(trouble, _)| *trouble);
    objects
}

/// What makes the exit of `trueup status` another than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailOn {
    Trouble(Trouble),
    /// A guard keeps what no document names from being pruned.
    Refused,
    /// The files are no good.
    Desired,
    /// The watch gives no sign of life.
    Dead,
}

impl FailOn {
    /// What counts where nothing is said: all but objects that are in sync and not ready.
    pub fn usual() -> BTreeSet<FailOn> {
        let troubles = Trouble::ALL.into_iter().filter(|one| !matches!(one, Trouble::NotReady | Trouble::Ok));
        troubles.map(FailOn::Trouble).chain([FailOn::Refused, FailOn::Desired, FailOn::Dead]).collect()
    }
}

/// The exit of `trueup status`, by the program's table: the first that holds.
pub fn exit(document: &Document, alive: bool, fail_on: &BTreeSet<FailOn>) -> Exit {
    let counts = |what: FailOn| fail_on.contains(&what);
    let whole = [
        (FailOn::Dead, !alive, Exit::Failed),
        (FailOn::Desired, !document.desired.valid, Exit::Failed),
        (FailOn::Refused, !document.refused.is_empty(), Exit::Refused),
    ];
    let whole = whole.into_iter().filter(|(what, holds, _)| *holds && counts(*what)).map(|(.., exit)| exit);
    let objects = document.objects.iter().flat_map(|object| {
        let troubles = Trouble::all(object).into_iter();
        troubles.filter(|trouble| counts(FailOn::Trouble(*trouble))).map(|trouble| trouble.exit(object))
    });
    let exits: BTreeSet<u8> = whole.chain(objects).map(Exit::code).collect();
    let first = [Exit::Failed, Exit::Refused, Exit::Conflict, Exit::Differs].into_iter();
    first.into_iter().find(|exit| exits.contains(&exit.code())).unwrap_or(Exit::Success)
}
