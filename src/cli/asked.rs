//! The objects that `get`, `export` and `explain` name: a kind, or `Kind/part/part` with `*` and `?`.

use crate::core::exchange::Failure;
use crate::core::exit::Exit;
use crate::core::glob::Glob;
use crate::core::identity::KindName;
use crate::core::kind::Kinds;
use crate::core::problem::Problem;
use crate::core::suggest;
use crate::render::out::Out;
use crate::render::words::counted;

/// The most failures that are told one by one.
const TOLD: usize = 20;

/// A kind, or objects of one.
pub struct Asked {
    pub text: String,
    pub kind: String,
    name: Option<Glob>,
}

impl Asked {
    pub fn all(texts: &[String]) -> Vec<Asked> {
        texts.iter().map(|text| Asked::read(text)).collect()
    }

    fn read(text: &str) -> Asked {
        match text.split_once('/') {
            Some((kind, _)) => Asked { text: text.into(), kind: kind.into(), name: Some(Glob::new(text)) },
            None => Asked { text: text.into(), kind: text.into(), name: None },
        }
    }

    /// Whether single objects are named.
    pub fn names_objects(&self) -> bool {
        self.name.is_some()
    }

    /// Whether the object of this `Kind/part/part` is meant.
    pub fn takes(&self, slashed: &str) -> bool {
        match &self.name {
            Some(glob) => glob.matches(slashed),
            None => slashed.split('/').next() == Some(self.kind.as_str()),
        }
    }
}

/// Whether an object is meant; all are where nothing is named.
pub fn takes(asked: &[Asked], slashed: &str) -> bool {
    asked.is_empty() || asked.iter().any(|one| one.takes(slashed))
}

/// Whether objects of a kind may be meant.
pub fn wants(asked: &[Asked], name: &KindName) -> bool {
    asked.is_empty() || asked.iter().any(|one| *one.kind == *name.kind)
}

/// Says which kinds do not exist.
///
/// # Errors
/// The exit code of wrong usage.
pub fn check(asked: &[Asked], kinds: &Kinds, out: &mut Out) -> Result<(), Exit> {
    for one in asked {
        if !kinds.iter().any(|kind| *kind.name.kind == *one.kind) {
            let known = kinds.iter().map(|kind| &*kind.name.kind);
            let hint = suggest::hint(&one.kind, "the kinds are", known);
            out.error(&Problem::new(format!("there is no kind `{}`", one.kind)).hint(hint));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}

/// Says of each named object that `found` does not know that there is none.
pub fn missing(asked: &[Asked], found: impl Fn(&Asked) -> bool, out: &mut Out) -> Exit {
    let missing = asked.iter().filter(|one| one.names_objects() && !found(one));
    let mut exit = Exit::Success;
    for one in missing {
        out.error(&Problem::new(format!("no object matches `{}`", one.text)));
        exit = Exit::Failed;
    }
    exit
}

/// Says what could not be seen; of very many failures the first ones.
pub fn failures(failures: &[Failure], out: &mut Out) {
    for failure in failures.iter().take(TOLD) {
        let mut problem = Problem::new(failure.message.clone());
        problem.hint = failure.hint.clone();
        out.error(&problem);
    }
    if let Some(more) = failures.len().checked_sub(TOLD).filter(|more| *more > 0) {
        out.error(&Problem::new(format!("and {} more", counted(more, "failure"))));
    }
}
