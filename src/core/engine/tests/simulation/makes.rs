//! The kinds of a schedule: one for each of ten profiles of APIs, and makes that differ from them in some way; and
//! how the server treats the objects of each.

use std::sync::LazyLock;
use std::time::Duration;

use super::super::model::kind;
use crate::core::fields::Immutable;
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Kinds, Piece, Read, Send, Serial, Version};
use crate::core::path::Path;

/// The ways in which APIs differ, as far as a tool for all of them is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// Apply-patch, with managers of fields.
    P1,
    /// A strong ETag.
    P2,
    /// A weak ETag, or one that a proxy has altered.
    P3,
    /// A revision in the body; a mismatch is refused.
    P4,
    /// PUT only, no versions.
    P5,
    /// POST with ids of the server's; the natural key can be searched.
    P6,
    /// As P6, and nothing can be searched.
    P7,
    /// Writes are operations that end later.
    P8,
    /// What is deleted stays for a while.
    P9,
    /// A listing that lags behind.
    P10,
}

pub const PROFILES: [Profile; 10] = {
    use Profile::*;
    [P1, P2, P3, P4, P5, P6, P7, P8, P9, P10]
};

impl Profile {
    /// The kind that is the profile and nothing else.
    pub fn kind(self) -> &'static str {
        MAKES[self as usize].0
    }
}

/// The kinds by name, with the parent's: the ten profiles in their order, then the others, each parent before
/// its children.
pub const MAKES: [(&str, Option<&str>); 24] = [
    ("Applied", None),
    ("Tagged", None),
    ("Weak", None),
    ("Revised", None),
    ("Plain", None),
    ("Posted", None),
    ("Blind", None),
    ("Lengthy", None),
    ("Soft", None),
    ("Lagging", None),
    ("Team", None),
    ("Repo", None),
    ("Zone", None),
    ("Rule", None),
    ("Queue", None),
    ("Page", None),
    ("Hook", None),
    ("Lone", None),
    ("Line", None),
    ("Route", None),
    ("Record", Some("Zone")),
    ("Member", Some("Repo")),
    ("Card", None),
    ("Entry", Some("Zone")),
];

pub static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let mut kinds = Kinds::default();
    profiles().into_iter().chain(others()).for_each(|kind| kinds.insert(kind));
    kinds
});

fn filter(text: &str) -> Filter {
    Filter::parse(text).expect("a filter")
}

fn profiles() -> Vec<Kind> {
    let rules = |mut kind: Kind| {
        let path = |text: &str| Path::parse(text).expect("a path");
        kind.fields.at_mut(&path("fixed")).immutable = Some(Immutable::Replace);
        kind.fields.at_mut(&path("token")).secret = true;
        kind
    };
    let plain = |profile: Profile| kind(profile.kind(), false, None);
    let named = |profile: Profile| kind(profile.kind(), true, None);
    let all = [
        with(plain(Profile::P1), |kind| {
            kind.managers = Some(filter(".managers"));
            send(kind, Send::Ours);
        }),
        with(plain(Profile::P2), |kind| kind.version = Version::ETag),
        with(plain(Profile::P3), |kind| kind.version = Version::ETag),
        with(plain(Profile::P4), |kind| kind.version = Version::OnItem(filter(".version"))),
        plain(Profile::P5),
        with(named(Profile::P6), |kind| send(kind, Send::Merge)),
        with(named(Profile::P7), |kind| kind.list = None),
        plain(Profile::P8),
        plain(Profile::P9),
        with(plain(Profile::P10), |kind| kind.visible = Duration::from_secs(30)),
    ];
    all.into_iter().map(rules).collect()
}

fn others() -> Vec<Kind> {
    vec![
        with(kind("Team", false, None), |kind| kind.check = kind.update.clone()),
        with(kind("Repo", true, None), |kind| send(kind, Send::Merge)),
        kind("Zone", false, None),
        with(kind("Record", false, Some("Zone")), |kind| kind.serial = Serial::Part("in".into())),
        with(kind("Member", true, Some("Repo")), |kind| {
            kind.list.as_mut().expect("a listing").op.path.0.push(Piece::PartId("in".into()));
        }),
        with(kind("Rule", true, None), |kind| {
            kind.read = Read::FromList;
            kind.serial = Serial::Backend;
        }),
        with(kind("Queue", false, None), |kind| kind.update = None),
        with(kind("Page", false, None), |kind| {
            kind.version = Version::ETag;
            kind.list.as_mut().expect("a listing").partial = true;
        }),
        with(kind("Hook", true, None), |kind| kind.list.as_mut().expect("a listing").partial = true),
        with(kind("Lone", false, None), |kind| {
            kind.list = None;
            kind.version = Version::OnItem(filter(".version"));
            send(kind, Send::JsonPatch);
        }),
        with(kind("Line", false, None), |kind| {
            let told = kind.list.as_ref().expect("a listing").op.clone();
            kind.version = Version::Request(Box::new(told), filter("."));
            kind.serial = Serial::Backend;
        }),
        with(kind("Route", false, None), |kind| {
            kind.version = Version::ETag;
            kind.serial = Serial::Backend;
        }),
        with(kind("Entry", false, Some("Zone")), |kind| {
            kind.serial = Serial::Part("in".into());
            batches(kind, 3);
        }),
        with(kind("Card", true, None), |kind| {
            kind.read = Read::FromList;
            batches(kind, 8);
        }),
    ]
}

fn with(mut kind: Kind, change: impl FnOnce(&mut Kind)) -> Kind {
    change(&mut kind);
    kind
}

fn batches(kind: &mut Kind, most: usize) {
    for op in [&mut kind.create, &mut kind.update, &mut kind.delete] {
        op.as_mut().expect("it has all operations").batch = Some(most);
    }
}

fn send(kind: &mut Kind, send: Send) {
    kind.update.as_mut().expect("an update").send = send;
}

/// What the version of an object is worth to the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Versions {
    None,
    /// Told, and no precondition.
    Weak,
    Strong,
    /// That of all objects of the sort together.
    Shared,
}

/// What the server does with objects of a kind beyond what the kind says.
#[derive(Clone, Copy)]
pub struct Manner {
    pub profile: Profile,
    /// A second object of the same name is refused.
    pub unique: bool,
    /// A deletion takes a while.
    pub slow: bool,
    /// What was created is not shown for a while.
    pub hides: bool,
    /// The share of writes that are operations that end later.
    pub operates: f64,
    pub versions: Versions,
}

impl Manner {
    pub fn of(kind: &str) -> Manner {
        let mut manner = Manner {
            profile: profile(kind),
            unique: true,
            slow: matches!(kind, "Zone" | "Queue" | "Soft"),
            hides: matches!(kind, "Repo" | "Hook" | "Card" | "Posted" | "Blind"),
            operates: match kind {
                "Lengthy" => 1.0,
                "Team" | "Rule" | "Queue" | "Record" | "Hook" => 0.4,
                _ => 0.0,
            },
            versions: match kind {
                "Tagged" | "Revised" | "Page" | "Lone" => Versions::Strong,
                "Weak" => Versions::Weak,
                "Line" | "Route" => Versions::Shared,
                _ => Versions::None,
            },
        };
        manner.unique = !matches!(kind, "Repo" | "Member" | "Rule" | "Card" | "Posted" | "Blind");
        manner
    }

    /// Whether a write that rests on what others have changed since is refused.
    pub fn guards(&self) -> bool {
        matches!(self.versions, Versions::Strong | Versions::Shared) || self.profile == Profile::P1
    }
}

/// The profile, or for the other makes the one that they are nearest to.
fn profile(kind: &str) -> Profile {
    use Profile::*;
    match kind {
        "Applied" => P1,
        "Tagged" | "Page" | "Line" | "Route" => P2,
        "Weak" => P3,
        "Revised" | "Lone" => P4,
        "Repo" | "Member" | "Rule" | "Hook" | "Card" | "Posted" => P6,
        "Blind" => P7,
        "Lengthy" => P8,
        "Soft" => P9,
        "Lagging" => P10,
        _ => P5,
    }
}
