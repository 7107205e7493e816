//! Owner marks on objects of a Set: written with each create and, where the API can change the object, with an
//! update of one that lacks it. A mark is no reason to replace an object, and another owner's is left alone.

use std::borrow::Cow;

use super::super::document::{Ensure, OnConflict};
use super::super::kind::Send;
use super::super::mark::{self, Borne};
use super::super::node::Node;
use super::super::path::Path;
use super::super::prune::Proof;
use super::super::report::{Action, Finding};
use super::super::value::Value;
use super::decide::Seen;
use super::object::Object;

/// The finding that an object of a Set lacks the mark, and is not given it.
const NO_MARK: &str = "NoOwnerMark";
/// The finding that another owner's mark is there.
const OTHER_OWNER: &str = "OtherOwner";
/// The finding that says why an object is deleted that no document names.
pub(super) const PRUNED: &str = "Pruned";

/// The finding on an object that a ReplicaSet has too much.
pub(super) const SURPLUS: &str = "Surplus";

impl Object {
    /// The mark that the object is to bear, and where.
    fn mark(&self) -> Option<(&Path, &str)> {
        let owner = self.policy.member.as_ref()?.owner.as_deref()?;
        let wanted = self.policy.ensure == Ensure::Present && !self.context;
        self.kind.owner.as_ref().filter(|_| wanted).map(|path| (path, owner))
    }

    /// What the server has.
    pub(super) fn observed(&self) -> Option<&Value> {
        match &self.seen {
            Seen::Present(item) => Some(&item.value),
            _ => None,
        }
    }

    /// What is wanted, with the mark in it.
    pub fn with_mark<'n>(&self, spec: Cow<'n, Node>) -> Cow<'n, Node> {
        let Some((path, owner)) = self.mark() else { return spec };
        let observed = self.observed();
        let wants = match observed.map(|value| mark::borne(path, owner, value)) {
            None => true,
            // Who applies a document sends all that is to stay.
            Some(Borne::Ours) => self.kind.update.as_ref().is_some_and(|op| op.send == Send::Ours),
            Some(Borne::None) => mark::can_be_added(&self.kind, path),
            Some(Borne::Theirs(_)) => {
                self.policy.on_conflict == OnConflict::Force && mark::can_be_added(&self.kind, path)
            }
        };
        let lists = mark::place(path).is_some_and(|(_, in_list)| in_list);
        let states = lists && spec_states(&spec, path);
        if !wants && !states {
            return spec;
        }
        let mut spec = spec.into_owned();
        // A list of the document's own is owned whole: without the mark in it, an update would take the mark away.
        let bears = observed.is_some_and(|value| mark::borne(path, owner, value) == Borne::Ours);
        if wants || bears {
            mark::add(&mut spec, path, owner, observed);
        }
        Cow::Owned(spec)
    }

    /// Says of an object of a Set that it bears no mark and gets none, and of a deletion what proves that it is ours.
    pub fn note_ownership(&mut self, due: Action) {
        self.findings.retain(|finding| ![NO_MARK, OTHER_OWNER].contains(&finding.code));
        let told = self.findings.iter().any(|finding| [PRUNED, SURPLUS].contains(&finding.code));
        let pruned = self.policy.pruned.as_ref().filter(|_| due == Action::Delete && !told);
        let finding = pruned.map(|pruned| match pruned.proof {
            Proof::Replica(_) => pruned.told(SURPLUS),
            _ => pruned.told(PRUNED),
        });
        let finding = finding.or_else(|| self.unmarked());
        self.findings.extend(finding);
    }

    fn unmarked(&self) -> Option<Finding> {
        let (path, owner) = self.mark()?;
        let field = mark::field(path);
        match mark::borne(path, owner, self.observed()?) {
            Borne::None if !mark::can_be_added(&self.kind, path) => {
                let why =
                    format!("`{field}` does not hold the owner `{owner}`, and the API cannot change it");
                Some(
                    Finding::new(NO_MARK, why)
                        .hint("once its document is gone, it is not pruned: delete it by hand"),
                )
            }
            Borne::Theirs(other) if self.policy.on_conflict != OnConflict::Force => {
                let why = format!("`{field}` says that it is `{other}`'s, and it is left so");
                Some(Finding::new(OTHER_OWNER, why).hint("take it over with `trueup/on-conflict: force`"))
            }
            _ => None,
        }
    }
}

/// Whether a document states the list that the mark is an element of.
fn spec_states(spec: &Node, path: &Path) -> bool {
    let Some((names, _)) = mark::place(path) else { return false };
    names.into_iter().try_fold(spec, |node, name| node.get(name)).is_some()
}
