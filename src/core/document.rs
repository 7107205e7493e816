//! A desired object: one document of the user's files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::base::Base;
use super::identity::ObjectId;
use super::node::{Node, Origin, Pos, Reference};
use super::path::Path;
use super::prune::Pruned;
use super::replicas::Replica;
use super::set::Member;
use super::value::Value;

/// One desired object, with where it stands and what its annotations say.
#[derive(Clone, Debug)]
pub struct Document {
    pub id: ObjectId,
    pub origin: Origin,
    /// The body, exactly as the API spells it, references not resolved. Shared: a watch makes a run over its documents
    /// again and again, and bodies are most of what they take.
    pub spec: Arc<Node>,
    pub labels: BTreeMap<String, String>,
    pub policy: Policy,
    /// What the files said of it at an earlier revision.
    pub base: Base,
}

/// Where the flags are given by which a person consents to what a run refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flags {
    /// To the same command.
    #[default]
    Here,
    /// To a new plan: a saved one is applied, which takes no more flags.
    NewPlan,
    /// To a run of `apply`: a watch takes none, as nobody would be asked the next time.
    Apply,
}

impl Document {
    /// The body, to be changed in this document alone.
    pub fn spec_mut(&mut self) -> &mut Node {
        Arc::make_mut(&mut self.spec)
    }
}

/// What the `trueup/…` annotations say.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub ensure: Ensure,
    /// `trueup/id`: the server's id, pinned.
    pub pinned_id: Option<Arc<str>>,
    /// `trueup/prune: "false"`: protected against delete and replace.
    pub protected: bool,
    pub on_conflict: OnConflict,
    /// `--force-conflicts`: where theirs may be overwritten, at each path and below it.
    pub forced_paths: Vec<Path>,
    /// Where the flags are given that a hint names.
    pub flags: Flags,
    /// `trueup/replace: "true"`
    pub replace: bool,
    pub drift: Drift,
    /// `trueup/report`: paths of the body at and below which drift is told of and never written.
    pub report: Vec<Path>,
    /// `trueup/depends-on`: as written, one reference each, the field being the root.
    pub depends_on: Vec<(Reference, Pos)>,
    pub paused: bool,
    /// `trueup/secret-version`: where it is another one than at the base, what cannot be read back is sent again.
    pub secret_version: Option<Arc<str>>,
    /// It is another one than at the base.
    pub secret_since: bool,
    /// `trueup/was`: the key before a rename.
    pub was: Option<Was>,
    /// The Set whose scope the object is in.
    pub member: Option<Arc<Member>>,
    /// The ReplicaSet that the document was made of.
    pub replica: Option<Replica>,
    /// What needs the object, where nobody chose it: it takes part, and goes by no annotation.
    pub added_for: Option<ObjectId>,
    /// No document names the object: it is to go as what a Set has too much.
    pub pruned: Option<Arc<Pruned>>,
}

impl Policy {
    /// Whether the document itself consents to its object being replaced. Where only another needs the object, nobody
    /// had its loss in mind.
    pub fn lets_replace(&self) -> bool {
        self.replace && self.added_for.is_none()
    }
}

/// The parts of a key that were others before a rename.
#[derive(Clone, Debug)]
pub struct Was {
    /// What each was; without a name it is the one part of the object's own.
    pub parts: Vec<(Option<Arc<str>>, Value)>,
    pub at: Pos,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ensure {
    #[default]
    Present,
    Absent,
    /// Must be there, is never written, can be referred to.
    Exists,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    #[default]
    Report,
    Force,
    /// The field is given up for the run: it stays as the server has it.
    Ignore,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drift {
    #[default]
    Heal,
    Report,
}
