//! Whether a saved plan may still be done, here and by this program.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::draft::{desired, targets};
use super::{Rejected, SavedPlan, Sealed};
use crate::core::engine::pledge::Pledge;
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::manifest::kept::Kept;
use crate::render::words::roughly;
use crate::run::input::Input;

/// Clocks of two machines differ; a plan from further ahead is none of a clock.
const AHEAD: Duration = Duration::from_secs(5 * 60);

/// Why a plan is not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it was edited after it was made")]
    Edited,
    #[error("it expired {0} ago")]
    Expired(String),
    #[error("its times cannot be: made {made}, expires {expires}")]
    Times { made: String, expires: String },
    #[error("trueup {made_by} made it, and this is trueup {this}")]
    Tool { made_by: String, this: String },
    #[error("its backend `{0}` is not the one that `--backends` names")]
    Backend(String),
    #[error("its backend `{name}` is at `{now}`, and the plan was made for `{then}`")]
    Target { name: String, then: String, now: String },
    #[error("its documents are not those of its objects any more")]
    Objects,
}

impl Unfit {
    /// The sentence for a plan called `name`.
    pub fn rejected(self, name: &str) -> Rejected {
        let hint = match self {
            Unfit::Backend(_) => "apply it with the backends that it was made with, or make a new plan",
            Unfit::Target { .. } => "a plan is for one server: make a new plan",
            _ => "make a new plan",
        };
        Rejected::refused(Problem::new(format!("`{name}` is not applied: {self}")).hint(hint))
    }
}

/// What can be known of the plan alone.
///
/// # Errors
/// The first thing that holds it back.
pub fn fits(sealed: &Sealed, now: SystemTime) -> Result<(), Unfit> {
    let plan = &sealed.plan;
    if !sealed.whole {
        return Err(Unfit::Edited);
    }
    let this = env!("CARGO_PKG_VERSION");
    if major(&plan.tool) != major(this) {
        return Err(Unfit::Tool { made_by: plan.tool.clone(), this: this.to_owned() });
    }
    let (made, expires) = (super::time(&plan.made), super::time(&plan.expires));
    let sound = made.zip(expires).filter(|(made, expires)| {
        *made <= now + AHEAD && expires.duration_since(*made).is_ok_and(|holds| holds <= super::HOLDS)
    });
    let Some((_, expires)) = sound else {
        return Err(Unfit::Times { made: plan.made.clone(), expires: plan.expires.clone() });
    };
    match now.duration_since(expires) {
        Ok(over) if !over.is_zero() => Err(Unfit::Expired(roughly(over))),
        _ => Ok(()),
    }
}

/// The part of a version whose change breaks things: of `0.x` the second number is it (SemVer 2.0.0, 4).
fn major(version: &str) -> (&str, &str) {
    let mut numbers = version.split('.');
    match (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()) {
        ("0", minor) => ("0", minor),
        (major, _) => (major, ""),
    }
}

/// Whether the backends that are trusted are the plan's own; it may use fewer of them.
///
/// # Errors
/// The first that is not.
pub fn same_backends(plan: &SavedPlan, trusted: &[RawDocument]) -> Result<(), Unfit> {
    let trusted: Vec<Kept> = trusted.iter().map(Kept::of).collect();
    let other = plan.backends.iter().find(|own| !trusted.iter().any(|one| one.document == own.document));
    match other {
        Some(own) => Err(Unfit::Backend(own.document["metadata"]["name"].as_str().unwrap_or("?").to_owned())),
        None => Ok(()),
    }
}

impl SavedPlan {
    /// What a run over the plan's documents, loaded again, may do to each of their objects.
    ///
    /// # Errors
    /// Another server, or other objects.
    pub fn pledges(&self, input: &Input) -> Result<Vec<Pledge>, Unfit> {
        let now: BTreeMap<String, String> = targets(&input.connections);
        for (name, now) in now {
            let then = self.targets.get(&name).cloned().unwrap_or_default();
            if then != now {
                return Err(Unfit::Target { name, then, now });
            }
        }
        let desired = desired(input);
        let (of_documents, pruned) = self.by_document();
        if desired.len() != of_documents.len() {
            return Err(Unfit::Objects);
        }
        let pledges = of_documents.iter().zip(&desired).map(|(object, desired)| object.pledge(desired));
        Ok(pledges.chain(pruned.iter().map(|object| object.pledge(&object.desired))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::saved::{HOLDS, seal};

    fn plan(made: SystemTime, tool: &str) -> Sealed {
        let time = |time| humantime::format_rfc3339_seconds(time).to_string();
        let plan = SavedPlan {
            tool: tool.to_owned(),
            made: time(made),
            expires: time(made + HOLDS),
            targets: BTreeMap::new(),
            flags: Default::default(),
            documents: Vec::new(),
            backends: Vec::new(),
            sets: Vec::new(),
            objects: Vec::new(),
            told: Vec::new(),
            left: Vec::new(),
            added: Vec::new(),
            former: None,
            seen: 0,
            requests: [0; 3],
        };
        super::super::read(&seal(&plan), "p").expect("it was just written")
    }

    #[test]
    fn times_and_versions() {
        let this = env!("CARGO_PKG_VERSION");
        let made = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        for (sealed, now, said) in [
            (plan(made, this), made + hours(23), None),
            (plan(made, this), made - Duration::from_secs(60), None),
            (plan(made, this), made + hours(25), Some("it expired 1h ago")),
            (
                plan(made, this),
                made - hours(1),
                Some("its times cannot be: made 2027-01-15T08:00:00Z, expires 2027-01-16T08:00:00Z"),
            ),
            (plan(made, "99.0.0"), made, Some("trueup 99.0.0 made it")),
            (Sealed { whole: false, ..plan(made, this) }, made, Some("it was edited after it was made")),
        ] {
            let told = fits(&sealed, now).err().map(|unfit| unfit.to_string());
            assert!(
                told.as_deref().map(|told| told.split(", and this is").next()) == said.map(Some),
                "{told:?}, not {said:?}"
            );
        }
        for (a, b, same) in [
            ("1.2.3", "1.9.0", true),
            ("1.2.3", "2.0.0", false),
            ("0.1.0", "0.1.7", true),
            ("0.1.0", "0.2.0", false),
            ("0.1.0", "1.1.0", false),
        ] {
            assert_eq!(major(a) == major(b), same, "{a} {b}");
        }
    }
}
