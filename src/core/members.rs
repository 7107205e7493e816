//! The members of a map of a document: a list sorted by name.
//!
//! A document has very many small maps, and they are read far more often than changed. A B-tree gives each of
//! them a node with room for eleven members; a list takes what it holds, and finds a name as fast.

use std::ops::Index;
use std::slice;
use std::sync::Arc;

use super::node::Node;

/// Names and values, each name once, in the order of their bytes.
///
/// Names are shared: documents of one file repeat them. Adding a member moves those after it, so a map that
/// grows member by member is collected elsewhere first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members(Vec<(Arc<str>, Node)>);

impl Members {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of `name`, or where it would have to stand.
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(have, _)| (**have).cmp(name))
    }

    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    pub fn get(&self, name: &str) -> Option<&Node> {
        self.find(name).ok().map(|at| &self.0[at].1)
    }

    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.find(name).ok().map(|at| &mut self.0[at].1)
    }

    /// The value of `name`, which is `make`'s where there was none.
    pub fn get_or_insert_with(&mut self, name: &str, make: impl FnOnce() -> Node) -> &mut Node {
        let at = self.find(name).unwrap_or_else(|at| {
            self.0.insert(at, (name.into(), make()));
            at
        });
        &mut self.0[at].1
    }

    /// Sets the value of `name`; gives the one that it had.
    pub fn insert(&mut self, name: impl Into<Arc<str>>, node: Node) -> Option<Node> {
        let name = name.into();
        match self.find(&name) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, node)),
            Err(at) => {
                self.0.insert(at, (name, node));
                None
            }
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<Node> {
        self.find(name).ok().map(|at| self.0.remove(at).1)
    }

    /// Keeps the members of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Node) -> bool) {
        self.0.retain(|(name, node)| keep(name, node));
    }

    pub fn iter(&self) -> Iter<'_> {
        self.0.iter().map(|(name, node)| (name, node))
    }

    pub fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.iter().map(|(name, _)| name)
    }

    pub fn values(&self) -> impl Iterator<Item = &Node> {
        self.iter().map(|(_, node)| node)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.0.iter_mut().map(|(_, node)| node)
    }
}

/// The members of a map, in their order.
pub type Iter<'m> = std::iter::Map<slice::Iter<'m, (Arc<str>, Node)>, Parted>;

/// Makes a pair of references of a reference to a pair.
type Parted = fn(&(Arc<str>, Node)) -> (&Arc<str>, &Node);

impl<'m> IntoIterator for &'m Members {
    type Item = (&'m Arc<str>, &'m Node);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.iter()
    }
}

impl IntoIterator for Members {
    type Item = (Arc<str>, Node);
    type IntoIter = std::vec::IntoIter<(Arc<str>, Node)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Extend<(Arc<str>, Node)> for Members {
    fn extend<I: IntoIterator<Item = (Arc<str>, Node)>>(&mut self, members: I) {
        self.0.extend(members);
        if !self.0.is_sorted_by(|(one, _), (next, _)| one < next) {
            // The sort is stable, and of several values of a name the last one is kept.
            self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
            self.0.dedup_by(|next, kept| {
                next.0 == kept.0 && {
                    std::mem::swap(next, kept);
                    true
                }
            });
        }
    }
}

/// Of several values of a name the last one counts.
impl<N: Into<Arc<str>>> FromIterator<(N, Node)> for Members {
    fn from_iter<I: IntoIterator<Item = (N, Node)>>(members: I) -> Members {
        let mut all = Members::default();
        all.extend(members.into_iter().map(|(name, node)| (name.into(), node)));
        all.0.shrink_to_fit();
        all
    }
}

impl Index<&str> for Members {
    type Output = Node;

    /// # Panics
    /// Where there is no such member.
    fn index(&self, name: &str) -> &Node {
        self.get(name).expect("the member is there")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::core::node::Pos;

    fn node(value: u32) -> Node {
        Node::from_value(Pos::default(), value.into())
    }

    fn list(members: &Members) -> Vec<(String, Node)> {
        members.iter().map(|(name, node)| (name.to_string(), node.clone())).collect()
    }

    proptest! {
        #[test]
        fn they_are_a_map(
            first in prop::collection::vec(("[a-d]{0,2}", any::<u32>()), 0..12),
            then in prop::collection::vec(("[a-d]{0,2}", 0..3_u8, any::<u32>()), 0..12),
        ) {
            let pairs = || first.iter().map(|(name, value)| (name.clone(), node(*value)));
            let (mut ours, mut theirs): (Members, BTreeMap<String, Node>) = (pairs().collect(), pairs().collect());
            for (name, action, value) in then {
                match action {
                    0 => prop_assert_eq!(ours.insert(&*name, node(value)), theirs.insert(name, node(value))),
                    1 => prop_assert_eq!(ours.remove(&name), theirs.remove(&name)),
                    _ => prop_assert_eq!(
                        ours.get_or_insert_with(&name, || node(value)).clone(),
                        theirs.entry(name).or_insert_with(|| node(value)).clone()
                    ),
                }
            }
            for (name, _) in &first {
                prop_assert_eq!(ours.get(name), theirs.get(name));
                prop_assert_eq!(ours.contains_key(name), theirs.contains_key(name));
            }
            prop_assert_eq!(list(&ours), theirs.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_collected_map_takes_what_it_holds() {
        let members: Members = (0..5).map(|i| (format!("m{i}"), node(i))).filter(|_| true).collect();
        assert_eq!((members.0.len(), members.0.capacity()), (5, 5));
    }
}
