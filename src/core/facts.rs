//! What is known of a kind, as it was written, and where: for explaining, and for nothing else.

use std::fmt;
use std::sync::Arc;

use super::node::Origin;

/// Where something about a kind is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// In a Backend document.
    At(Origin),
    /// In the preset of this name.
    Preset(Arc<str>),
    /// Nowhere: it is the kind that the built-in server gives to every name.
    BuiltIn,
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stated::At(origin) => origin.fmt(f),
            Stated::Preset(name) => write!(f, "preset {name}"),
            Stated::BuiltIn => f.write_str("built-in server"),
        }
    }
}

/// A word that a kind says of a field, as written.
#[derive(Clone, PartialEq, Eq)]
pub struct Said {
    pub word: Arc<str>,
    pub from: Stated,
}

/// Without the place: what a kind says is the same wherever it stands.
impl fmt::Debug for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Said({})", self.word)
    }
}

/// A member of a kind's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// `list`
    pub member: String,
    /// `request`, where the member is a record itself.
    pub within: Option<String>,
    /// What stands there, on one line.
    pub text: String,
    pub from: Stated,
}
