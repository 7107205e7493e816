//! What a saved plan says of a field in conflict: to be shown again, and no more than that.

use serde::{Deserialize, Serialize};

use super::change::Side;
use crate::core::change::Shown;
use crate::core::conflict::{Cause, Conflict, Resolution};
use crate::core::path::Path;

/// A field in conflict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedConflict {
    path: String,
    cause: Cause,
    resolution: Resolution,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left: bool,
    base: Option<Side>,
    ours: Option<Side>,
    theirs: Option<Side>,
    by: Vec<String>,
}

impl SavedConflict {
    /// `shown` is the conflict as it may be shown.
    pub fn of(conflict: &Conflict, shown: &Conflict) -> SavedConflict {
        let side = |side: &Option<Shown>, shown: &Option<Shown>| Side::of(side.as_ref(), shown.as_ref());
        SavedConflict {
            path: shown.named.clone(),
            cause: shown.cause,
            resolution: shown.resolution,
            left: shown.left,
            base: side(&conflict.base, &shown.base),
            ours: side(&conflict.ours, &shown.ours),
            theirs: side(&conflict.theirs, &shown.theirs),
            by: shown.by.iter().map(|name| name.to_string()).collect(),
        }
    }

    pub fn conflict(&self) -> Conflict {
        Conflict {
            named: self.path.clone(),
            path: Path::parse(&self.path).ok(),
            cause: self.cause,
            resolution: self.resolution,
            left: self.left,
            base: self.base.as_ref().map(Side::shown),
            ours: self.ours.as_ref().map(Side::shown),
            theirs: self.theirs.as_ref().map(Side::shown),
            by: self.by.iter().map(|name| name.as_str().into()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conflict_is_read_back_as_it_was_shown() {
        let value = |text: &str| Some(Shown::Value(json!({"a": text})));
        let conflict = Conflict {
            named: "a.b".into(),
            path: Path::parse("a.b").ok(),
            cause: Cause::Held,
            resolution: Resolution::Forced,
            left: true,
            base: None,
            ours: value("ours"),
            theirs: value("theirs"),
            by: vec!["console".into()],
        };
        let saved = SavedConflict::of(&conflict, &conflict);
        let text = serde_json::to_string(&saved).expect("JSON");
        assert_eq!(serde_json::from_str::<SavedConflict>(&text).expect("the same").conflict(), conflict);
        let shown = Conflict { theirs: value("(redacted)"), ..conflict.clone() };
        assert_eq!(SavedConflict::of(&conflict, &shown).conflict().theirs, Some(Shown::Secret));
    }
}
