//! A saved plan: made by one run, shown by anybody, done by another run, perhaps elsewhere.
//!
//! It holds the documents with their tags unresolved, the backends and where they are, and what was found of each
//! object: no secret. It is bound to all of them, and expires. `draft` makes one, `object` is what it says of an
//! object, `seal` its text, `file` the file, `fit` whether it may still be done, `secrets` what it must not hold.

mod change;
mod conflict;
mod draft;
pub mod file;
mod fit;
mod former;
mod limits;
mod object;
mod past;
mod pruned;
mod seal;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub use draft::Draft;
pub use fit::{Unfit, fits, same_backends};
pub use limits::SavedLimits;
pub use object::{SavedAdded, SavedLeft, SavedObject};
pub use pruned::{Deletions, Looks};
pub use seal::{Sealed, read, seal};

use crate::core::base::Base;
use crate::core::census::Census;
use crate::core::exit::Exit;
use crate::core::problem::Problem;
use crate::core::prune::Gates;
use crate::core::report::{LeftFiles, Report, Requests};
use crate::manifest::Loaded;
use crate::manifest::kept::{Kept, NotADocument};
use crate::run::input::SavedSide;
use former::SavedFormer;
use past::SavedBase;

/// How long a plan holds.
pub const HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

/// All that a saved plan says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedPlan {
    /// The version of the program that made it.
    pub tool: String,
    /// RFC 3339, to the second.
    pub made: String,
    pub expires: String,
    /// Where each backend is, by its name.
    pub targets: BTreeMap<String, String>,
    pub flags: Flags,
    pub documents: Vec<Kept>,
    pub backends: Vec<Kept>,
    pub sets: Vec<Kept>,
    /// One for each document that was selected, in their order; then what no document names and is to be deleted.
    pub objects: Vec<SavedObject>,
    /// What is only told of: what is too much and stays, and Sets of which nothing is deleted.
    pub told: Vec<SavedObject>,
    /// What the base has and the files have no longer.
    pub left: Vec<SavedLeft>,
    /// What nobody chose, and takes part as something chosen needs it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<SavedAdded>,
    /// The same as far as the deletions rest on it, where there are any.
    pub former: Option<SavedFormer>,
    /// Items that were seen, and requests of the roles list, read and login.
    pub seen: usize,
    pub requests: [u64; 3],
}

/// The flags that a plan was made with, as far as they matter for what is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flags {
    pub labels: Vec<String>,
    pub only: Vec<String>,
    pub exclude: Vec<String>,
    pub replace: BTreeSet<String>,
    pub rotate: BTreeSet<String>,
    pub force_conflicts: BTreeSet<String>,
    /// As it was given: where the plan is applied, it need not be there.
    pub base: Option<String>,
    pub prune: bool,
    pub max_deletes: Option<usize>,
    #[serde(default)]
    pub max_deletes_of: SavedLimits,
    pub allow_empty: bool,
}

/// Why a plan is not taken, and the exit code that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    pub exit: Exit,
    pub problem: Problem,
}

impl Rejected {
    /// It is no plan, or not one that can be read.
    fn bad(problem: Problem) -> Rejected {
        Rejected { exit: Exit::BadInput, problem }
    }

    /// It is a plan, and a guard holds it back.
    fn refused(problem: Problem) -> Rejected {
        Rejected { exit: Exit::Refused, problem }
    }
}

impl SavedPlan {
    /// The documents, as if they had just been read; without the backends where others are given in their place.
    ///
    /// # Errors
    /// A form of none.
    pub fn loaded(&self, with_backends: bool) -> Result<Loaded, NotADocument> {
        let raws = |kept: &[Kept]| kept.iter().map(Kept::raw).collect::<Result<Vec<_>, _>>();
        let backends = if with_backends { raws(&self.backends)? } else { Vec::new() };
        Ok(Loaded {
            backends,
            manifests: raws(&self.documents)?,
            problems: Vec::new(),
            sources: Vec::new(),
            sets: raws(&self.sets)?,
        })
    }

    /// What the base says, secrets not looked up.
    ///
    /// # Errors
    /// A form of none.
    pub fn base(&self) -> Result<SavedSide, NotADocument> {
        let (of_documents, _) = self.by_document();
        let base = |object: &SavedObject| {
            let base = object.base.as_ref().map_or(Ok(Base::None), SavedBase::base)?;
            Ok((base, object.secret_since))
        };
        Ok(SavedSide {
            documents: of_documents.iter().map(base).collect::<Result<_, _>>()?,
            former: self.former.as_ref().map(SavedFormer::former).unwrap_or_default(),
        })
    }

    /// The objects of documents, and those that no document names.
    pub fn by_document(&self) -> (&[SavedObject], &[SavedObject]) {
        let documents = self.objects.iter().take_while(|object| object.pruned.is_none()).count();
        self.objects.split_at(documents)
    }

    /// What may be deleted without a document, and how much of it.
    pub fn gates(&self) -> Gates {
        let Flags { prune, max_deletes, max_deletes_of, allow_empty, .. } = &self.flags;
        let (deletes, max_deletes, allow_empty) = (*prune, *max_deletes, *allow_empty);
        Gates { deletes, max_deletes, max_deletes_of: max_deletes_of.limits(), allow_empty, saved: true }
    }

    /// What the base has and the files have no longer.
    pub fn left(&self) -> Vec<LeftFiles> {
        self.left.iter().map(SavedLeft::left).collect()
    }

    /// The report of the run that made it.
    pub fn report(&self) -> Report {
        let [list, read, login] = self.requests;
        Report {
            objects: self.objects.iter().chain(&self.told).map(SavedObject::entry).collect(),
            left: self.left(),
            added: self.added.iter().map(SavedAdded::added).collect(),
            requests: Requests { list, read, login, ..Requests::default() },
            seen: Census::of(self.seen),
            ..Report::default()
        }
    }

    /// How long ago it was made; `None` where it was made later than `now`, or its time cannot be read.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        now.duration_since(time(&self.made)?).ok()
    }

    /// For how long it still holds; `None` where it has expired.
    pub fn rest(&self, now: SystemTime) -> Option<Duration> {
        time(&self.expires)?.duration_since(now).ok()
    }
}

fn time(text: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(text).ok()
}
