//! What the references of one document name: a list sorted by their texts.
//!
//! Most documents have none, and few more than some; a B-tree gives the first one room for eleven.

use std::sync::Arc;

/// By the reference as written: the place of the object that it names, each text once.
#[derive(Clone, Debug, Default)]
pub struct References(Vec<(Arc<str>, usize)>);

impl References {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, text: &str) -> Option<&usize> {
        self.find(text).ok().map(|at| &self.0[at].1)
    }

    /// Sets what `text` names.
    pub fn insert(&mut self, text: Arc<str>, named: usize) {
        match self.find(&text) {
            Ok(at) => self.0[at].1 = named,
            Err(at) => self.0.insert(at, (text, named)),
        }
    }

    pub fn values(&self) -> impl Iterator<Item = &usize> {
        self.0.iter().map(|(_, named)| named)
    }

    /// The same references, to objects that are at other places now.
    pub fn renumbered(&self, place: impl Fn(&usize) -> usize) -> References {
        References(self.0.iter().map(|(text, named)| (text.clone(), place(named))).collect())
    }

    /// The place of `text`, or where it would have to stand.
    fn find(&self, text: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(have, _)| (**have).cmp(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_names_one_object() {
        let mut all = References::default();
        assert!(all.is_empty() && all.get("a").is_none());
        for (text, named) in [("b", 1), ("c", 2), ("a", 3), ("b", 4)] {
            all.insert(text.into(), named);
        }
        assert_eq!(
            ["a", "b", "c", "d"].map(|text| all.get(text).copied()),
            [Some(3), Some(4), Some(2), None]
        );
        assert_eq!(all.values().collect::<Vec<_>>(), [&3, &4, &2], "in the order of the texts");
        assert_eq!(all.renumbered(|at| at * 10).get("c"), Some(&20));
    }
}
