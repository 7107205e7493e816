//! What a saved plan says of one difference, without secrets.

use serde::{Deserialize, Serialize};

use crate::core::base::{Side as Who, Since};
use crate::core::change::{Change, Reason, Shown};
use crate::core::node::Pos;
use crate::core::path::Path;
use crate::core::value::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedChange {
    pub path: String,
    pub before: Option<Side>,
    pub after: Option<Side>,
    pub reason: Reason,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub set_by: Vec<String>,
    /// Who made the difference, where there is a base.
    pub since: Option<SavedSince>,
}

/// What became of a place since the base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSince {
    pub side: Who,
    pub base: Option<Side>,
}

/// A side of a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    Value(Value),
    Secret,
    Later(String),
}

impl SavedChange {
    /// What is shown of a change. A value of which some is hidden is a secret as a whole.
    pub fn of(change: &Change, shown: &Change) -> SavedChange {
        let side = |side: &Option<Shown>, shown: &Option<Shown>| Side::of(side.as_ref(), shown.as_ref());
        let since = change.since.as_ref().zip(shown.since.as_ref());
        let since =
            since.map(|(since, shown)| SavedSince { side: shown.side, base: side(&since.base, &shown.base) });
        SavedChange {
            path: shown.path.to_string(),
            before: side(&change.before, &shown.before),
            after: side(&change.after, &shown.after),
            reason: shown.reason.clone(),
            line: shown.at.map(|at| at.line),
            column: shown.at.map(|at| at.column),
            set_by: shown.set_by.iter().map(|name| name.to_string()).collect(),
            since,
        }
    }

    /// The change as the plan's report had it.
    pub fn change(&self) -> Change {
        Change {
            // A path that is not ours covers nothing: then what it stood for has moved.
            path: Path::parse(&self.path).unwrap_or_default(),
            before: self.before.as_ref().map(Side::shown),
            after: self.after.as_ref().map(Side::shown),
            reason: self.reason.clone(),
            at: self.line.zip(self.column).map(|(line, column)| Pos { line, column }),
            set_by: self.set_by.iter().map(|name| name.as_str().into()).collect(),
            since: self
                .since
                .as_ref()
                .map(|since| Since { side: since.side, base: since.base.as_ref().map(Side::shown) }),
        }
    }

    /// What was observed, for the hash of it.
    pub fn observed(&self) -> Value {
        match &self.before {
            Some(Side::Value(value)) => serde_json::json!([self.path, value]),
            _ => serde_json::json!([self.path]),
        }
    }
}

impl Side {
    /// A side as it may be shown. A value of which some is hidden is a secret as a whole.
    pub fn of(side: Option<&Shown>, shown: Option<&Shown>) -> Option<Side> {
        let hidden = side != shown;
        shown.map(|shown| match shown {
            _ if hidden => Side::Secret,
            Shown::Value(value) => Side::Value(value.clone()),
            Shown::Secret => Side::Secret,
            Shown::Later(text) => Side::Later(text.to_string()),
        })
    }

    pub fn shown(&self) -> Shown {
        match self {
            Side::Value(value) => Shown::Value(value.clone()),
            Side::Secret => Shown::Secret,
            Side::Later(text) => Shown::Later(text.as_str().into()),
        }
    }
}
