//! Limits of deletions that flags have lifted for some kinds: they hold for this plan, and for no other.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::core::set::{DEFAULT, Limits};

/// By kind, and by `default` for all others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedLimits(BTreeMap<String, usize>);

impl SavedLimits {
    pub fn of(limits: &Limits) -> SavedLimits {
        let kinds = limits.kinds.iter().map(|(kind, most)| (kind.to_string(), *most));
        SavedLimits(kinds.chain(limits.default.map(|most| (DEFAULT.to_owned(), most))).collect())
    }

    pub fn limits(&self) -> Limits {
        let kinds = self.0.iter().filter(|(kind, _)| *kind != DEFAULT);
        let kinds = kinds.map(|(kind, most)| (kind.as_str().into(), *most)).collect();
        Limits { kinds, default: self.0.get(DEFAULT).copied() }
    }

    /// The values of the flag.
    pub fn words(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(kind, most)| format!("{kind}={most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_back_as_they_were() {
        for default in [None, Some(3)] {
            let limits = Limits { kinds: [("Zone".into(), 1), ("RRset".into(), 0)].into(), default };
            assert_eq!(SavedLimits::of(&limits).limits(), limits);
        }
        let saved = SavedLimits::of(&Limits { kinds: [("RRset".into(), 7)].into(), default: Some(3) });
        assert_eq!(saved.words().collect::<Vec<_>>(), ["RRset=7", "default=3"]);
    }
}
