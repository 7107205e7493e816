//! A field that both we and somebody else changed: what is told of it, what may be done, and the three ways out.
//!
//! Three things are a conflict: both sides changed since the base, an owned path that moved between plan and write
//! (or between two looks), and a field that another manager holds. Nobody's value is overwritten without a word.

use std::sync::Arc;

use super::base::Side;
use super::change::{Change, Reason, Shown};
use super::document::{Flags, OnConflict, Policy};
use super::identity::ObjectId;
use super::managers::{Contested, side};
use super::path::Path;
use super::report::{Explanation, Finding};

/// The code of the finding that a field is left as the server has it.
pub const GIVEN_UP: &str = "GivenUp";
/// So many fields are told of in a sentence.
const MOST: usize = 3;

/// What makes a conflict of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Both sides changed since the base.
    Base,
    /// It changed on the server since the plan, or since the look before.
    Moved,
    /// Another field manager holds it.
    Held,
}

impl Cause {
    /// The fixed word, as JSON says it.
    pub fn word(self) -> &'static str {
        match self {
            Cause::Base => "base",
            Cause::Moved => "moved",
            Cause::Held => "held",
        }
    }
}

/// What becomes of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resolution {
    /// Nothing is written.
    Reported,
    /// Theirs is overwritten: by `trueup/on-conflict: force`, or as `--force-conflicts` names the path.
    Forced,
    /// Ours is left out in this run: by `trueup/on-conflict: ignore`.
    GivenUp,
}

impl Resolution {
    /// The fixed word, as JSON says it.
    pub fn word(self) -> &'static str {
        match self {
            Resolution::Reported => "reported",
            Resolution::Forced => "forced",
            Resolution::GivenUp => "given-up",
        }
    }
}

/// A field in conflict, in printable form: no secret is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The path as it is told; of a refusal that names a field that no change has, as the server spells it.
    pub named: String,
    /// `None` where the server's spelling of it is none of ours.
    pub path: Option<Path>,
    pub cause: Cause,
    pub resolution: Resolution,
    /// Whether the files have it no longer.
    pub left: bool,
    /// What the base has; of a path that moved, what the plan or the look before had.
    pub base: Option<Shown>,
    pub ours: Option<Shown>,
    pub theirs: Option<Shown>,
    /// Who set what the server has, or holds the field, where that is known.
    pub by: Vec<Arc<str>>,
}

impl Conflict {
    fn of(change: &Change, cause: Cause, base: Option<Shown>) -> Conflict {
        Conflict {
            named: change.path.to_string(),
            path: Some(change.path.clone()),
            cause,
            resolution: Resolution::Reported,
            left: change.reason == Reason::Left,
            base,
            ours: change.after.clone(),
            theirs: change.before.clone(),
            by: change.set_by.clone(),
        }
    }

    /// A change that both sides made since the base.
    pub fn since_base(change: &Change) -> Option<Conflict> {
        let since = change.since.as_ref().filter(|since| since.side == Side::Conflict)?;
        Some(Conflict::of(change, Cause::Base, since.base.clone()))
    }

    /// A change whose observed side is not the one that was seen before.
    pub fn moved(change: &Change, before: Option<Shown>) -> Conflict {
        Conflict::of(change, Cause::Moved, before)
    }

    /// A change of what another manager has set, by the server's account.
    pub fn held(change: &Change) -> Conflict {
        Conflict::of(change, Cause::Held, None)
    }

    /// A field that a refusal names.
    pub fn refused(field: &Contested, changes: &[Change]) -> Conflict {
        let by = vec![field.by.as_str().into()];
        match field.change(changes) {
            Some(change) => Conflict { by, ..Conflict::held(change) },
            None => Conflict {
                named: field.path.trim_start_matches('.').to_owned(),
                path: Path::parse(&field.path).ok(),
                cause: Cause::Held,
                resolution: Resolution::Reported,
                left: false,
                base: None,
                ours: None,
                theirs: None,
                by,
            },
        }
    }

    /// Whether any side is a secret: then none is shown.
    pub fn is_secret(&self) -> bool {
        [&self.base, &self.ours, &self.theirs].into_iter().flatten().any(|side| *side == Shown::Secret)
    }

    /// Whether both are about one thing.
    pub fn is_same(&self, other: &Conflict) -> bool {
        self.named == other.named && self.cause == other.cause
    }

    /// `1 at the base, 2 here, 3 there`, each side as `shown` writes it.
    pub fn sides(&self, shown: &dyn Fn(&Shown) -> String) -> String {
        let by: Vec<String> = self.by.iter().map(|name| format!("`{name}`")).collect();
        let held = match self.cause {
            Cause::Held => format!(", held by {}", by.join(", ")),
            Cause::Base | Cause::Moved => String::new(),
        };
        if self.is_secret() {
            return format!("a secret{held}");
        }
        let told = |side: &Option<Shown>| side.as_ref().map_or("nothing".into(), shown);
        let base = match (self.cause, &self.base) {
            (Cause::Moved, base) => format!("{} before, ", told(base)),
            (_, Some(base)) => format!("{} at the base, ", shown(base)),
            (_, None) => String::new(),
        };
        format!("{base}{} here, {} there{held}", told(&self.ours), told(&self.theirs))
    }

    fn as_a_sentence_has_it(&self) -> String {
        self.sides(&|shown| side(Some(shown)))
    }

    /// The sentence about a field that a refusal names.
    fn holder(&self) -> String {
        let by: Vec<String> = self.by.iter().map(|name| format!("`{name}`")).collect();
        match (&self.ours, &self.theirs) {
            (None, None) => format!("`{}` is held by {}", self.named, by.join(", ")),
            (ours, theirs) => {
                let (ours, theirs) = (side(ours.as_ref()), side(theirs.as_ref()));
                format!("`{}`: ours {ours}, theirs {theirs}, held by {}", self.named, by.join(", "))
            }
        }
    }
}

impl Policy {
    /// Whether theirs may be overwritten at a path.
    pub fn forces(&self, path: Option<&Path>) -> bool {
        self.on_conflict == OnConflict::Force
            || path.is_some_and(|path| self.forced_paths.iter().any(|named| named.covers(path)))
    }
}

/// What becomes of conflicts that were found together: forced, when every one of them may be; else none is.
pub fn resolved(policy: &Policy, mut conflicts: Vec<Conflict>) -> Vec<Conflict> {
    if conflicts.iter().all(|conflict| policy.forces(conflict.path.as_ref())) {
        conflicts.iter_mut().for_each(|conflict| conflict.resolution = Resolution::Forced);
    }
    conflicts
}

/// Whether any of them stands in the way.
pub fn stand(conflicts: &[Conflict]) -> bool {
    conflicts.iter().any(|conflict| conflict.resolution == Resolution::Reported)
}

/// What conflicts leave of an object. `stays` is why they could not be given up, where that was asked for.
pub fn explanation(
    id: &ObjectId,
    policy: &Policy,
    conflicts: &[Conflict],
    stays: Option<&str>,
) -> Explanation {
    let mut message = sentences(conflicts).join("; ");
    let missed: Vec<&Conflict> = match policy.forced_paths.is_empty() {
        true => Vec::new(),
        false => conflicts.iter().filter(|one| !policy.forces(one.path.as_ref())).collect(),
    };
    if !missed.is_empty() {
        message.push_str(&format!("; `--force-conflicts` does not name {}", listed(&missed)));
    }
    if let Some(why) = stays {
        message.push_str(&format!("; it cannot be given up: {why}"));
    }
    let all: Vec<&Conflict> = conflicts.iter().collect();
    Explanation::new(message).hint(ways_out(id, policy, if missed.is_empty() { &all } else { &missed }))
}

/// What conflicts leave of an object that is to go.
pub fn of_deletion(id: &ObjectId, policy: &Policy, conflicts: &[Conflict]) -> Explanation {
    let told = |one: &Conflict| format!("`{}`: {}", one.named, one.as_a_sentence_has_it());
    let mut fields: Vec<String> = conflicts.iter().take(MOST).map(told).collect();
    let more = conflicts.len().saturating_sub(MOST);
    fields.extend((more > 0).then(|| format!("and {more} more")));
    let why = format!("it is to go, and was changed on the server since the base: {}", fields.join("; "));
    let flags: Vec<String> = conflicts.iter().map(|conflict| flag(id, &conflict.named)).collect();
    let stays =
        if policy.pruned.is_some() { "write a document for it" } else { "take `trueup/ensure: absent` away" };
    Explanation::new(why).hint(format!(
        "if it is to stay, {stays}; if it is to go all the same{}: `{}`",
        by(policy),
        flags.join(" ")
    ))
}

fn sentences(conflicts: &[Conflict]) -> Vec<String> {
    let of = |cause: Cause| conflicts.iter().filter(move |conflict| conflict.cause == cause);
    let verb = |fields: &[&Conflict]| if fields.len() == 1 { "was" } else { "were" };
    let mut told = Vec::new();
    let base: Vec<&Conflict> = of(Cause::Base).collect();
    if !base.is_empty() {
        let (paths, verb) = (listed(&base), verb(&base));
        told.push(format!("{paths} {verb} changed both in the files and on the server since the base"));
    }
    let moved: Vec<&Conflict> = of(Cause::Moved).collect();
    if !moved.is_empty() {
        let (paths, verb) = (listed(&moved), verb(&moved));
        told.push(format!("{paths} {verb} changed on the server between plan and write"));
    }
    told.extend(of(Cause::Held).take(MOST).map(Conflict::holder));
    let more = of(Cause::Held).count().saturating_sub(MOST);
    told.extend((more > 0).then(|| format!("and {more} more like it")));
    told
}

fn listed(conflicts: &[&Conflict]) -> String {
    let named = conflicts.iter().map(|conflict| format!("`{}`", conflict.named));
    named.collect::<Vec<_>>().join(", ")
}

/// The three ways out: give up the field, take theirs, force.
fn ways_out(id: &ObjectId, policy: &Policy, conflicts: &[&Conflict]) -> String {
    let it = if conflicts.len() == 1 { "it" } else { "them" };
    let flags: Vec<String> = conflicts.iter().take(MOST).map(|conflict| flag(id, &conflict.named)).collect();
    let more = if conflicts.len() > MOST { " and so on" } else { "" };
    // What the files no longer have cannot be left out of them.
    let leave = if conflicts.iter().all(|conflict| conflict.left) {
        String::new()
    } else {
        format!("leave {it} out, or ")
    };
    format!(
        "take theirs into the file, give {it} up ({leave}`trueup/on-conflict: ignore`), or overwrite {it}{}: \
         `{}`{more}",
        by(policy),
        flags.join(" ")
    )
}

/// Where the flags are given that follow: not to a run that takes none.
fn by(policy: &Policy) -> &'static str {
    match policy.flags {
        Flags::Here => "",
        Flags::NewPlan => ", by a new plan with",
        Flags::Apply => ", by `trueup/on-conflict: force` in its document or a run of `trueup apply` with",
    }
}

/// What names a path on the command line, as a shell takes it.
pub fn flag(id: &ObjectId, path: &str) -> String {
    let text = format!("{}:{path}", id.slashed());
    let plain = |c: char| c.is_alphanumeric() || "/._-:=@%+,".contains(c);
    match text.chars().all(plain) {
        true => format!("--force-conflicts {text}"),
        false => format!("--force-conflicts '{}'", text.replace('\'', r"'\''")),
    }
}

/// Says of a field that it is left as the server has it; `whole` is the list that is left with it, and `owned`
/// says that the field is ours as well by the server's account.
pub fn given_up(id: &ObjectId, conflict: &Conflict, whole: Option<&Path>, owned: bool) -> Finding {
    let mut message =
        format!("`{}` is left as the server has it: {}", conflict.named, conflict.as_a_sentence_has_it());
    if let Some(whole) = whole {
        message.push_str(&format!("; the whole of `{whole}` is left with it"));
    }
    if owned {
        message.push_str("; it is left out of what is applied, so it is no longer ours on the server");
    }
    let flag = flag(id, &conflict.named);
    Finding::new(GIVEN_UP, message)
        .hint(format!("to decide it, take theirs into the file, or overwrite it: `{flag}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::base::Since;
    use super::super::change::Reason;
    use super::super::identity::{Key, KindName};
    use super::*;

    fn id() -> ObjectId {
        let kind = KindName { backend: "b".into(), kind: "Queue".into() };
        ObjectId { kind, key: Key::new(vec![("vhost".into(), json!("/")), ("name".into(), json!("o"))]) }
    }

    fn conflict(path: &str) -> Conflict {
        let value = |n: i32| Some(Shown::Value(json!(n)));
        let change = Change {
            path: Path::parse(path).expect(path),
            before: value(3),
            after: value(2),
            reason: Reason::Declared,
            at: None,
            set_by: vec!["console".into()],
            since: Some(Since { side: Side::Conflict, base: value(1) }),
        };
        Conflict::since_base(&change).expect("it is one")
    }

    fn policy(paths: &[&str]) -> Policy {
        let forced_paths = paths.iter().map(|path| Path::parse(path).expect(path)).collect();
        Policy { forced_paths, ..Policy::default() }
    }

    #[test]
    fn all_are_forced_or_none() {
        for (named, forced) in [
            (&[][..], false),
            (&["a.b"], false),
            (&["c"], false),
            (&["a.b", "c"], true),
            (&["a", "c"], true),
            (&["a.b.x", "c"], false),
            (&["ab", "c"], false),
        ] {
            let found = resolved(&policy(named), vec![conflict("a.b"), conflict("c")]);
            let all = found.iter().all(|one| one.resolution == Resolution::Forced);
            let none = found.iter().all(|one| one.resolution == Resolution::Reported);
            assert!(if forced { all } else { none }, "{named:?}");
            assert_eq!(stand(&found), !forced, "{named:?}");
        }
        let force = Policy { on_conflict: OnConflict::Force, ..Policy::default() };
        assert!(!stand(&resolved(&force, vec![conflict("a")])));
    }

    #[test]
    fn what_is_not_named_is_told() {
        let told = explanation(&id(), &policy(&["a"]), &[conflict("a"), conflict("c")], None);
        assert_eq!(
            told.message,
            "`a`, `c` were changed both in the files and on the server since the base; `--force-conflicts` does not \
             name `c`"
        );
        let hint = told.hint.expect("a hint");
        assert!(hint.ends_with("or overwrite it: `--force-conflicts Queue///o:c`"), "{hint}");
    }

    #[test]
    fn a_run_that_takes_no_flags_is_not_told_to_be_given_one() {
        let by_plan = Policy { flags: Flags::NewPlan, ..policy(&[]) };
        let hint = explanation(&id(), &by_plan, &[conflict("c")], None).hint.expect("a hint");
        assert!(
            hint.ends_with("or overwrite it, by a new plan with: `--force-conflicts Queue///o:c`"),
            "{hint}"
        );
        let hint = of_deletion(&id(), &by_plan, &[conflict("c")]).hint.expect("a hint");
        assert!(
            hint.ends_with("all the same, by a new plan with: `--force-conflicts Queue///o:c`"),
            "{hint}"
        );
        let by_watch = Policy { flags: Flags::Apply, ..policy(&[]) };
        let hint = explanation(&id(), &by_watch, &[conflict("c")], None).hint.expect("a hint");
        assert!(hint.ends_with("or a run of `trueup apply` with: `--force-conflicts Queue///o:c`"), "{hint}");
    }

    #[test]
    fn a_flag_is_quoted_where_a_shell_needs_it() {
        assert_eq!(flag(&id(), "a.b"), "--force-conflicts Queue///o:a.b");
        assert_eq!(flag(&id(), r#"a["x y"]"#), r#"--force-conflicts 'Queue///o:a["x y"]'"#);
        assert_eq!(flag(&id(), "a'b"), r"--force-conflicts 'Queue///o:a'\''b'");
    }

    #[test]
    fn the_sides_are_told_by_their_cause_and_secrets_are_not() {
        let base = conflict("a");
        let moved = Conflict { cause: Cause::Moved, ..base.clone() };
        let held = Conflict { cause: Cause::Held, base: None, ..base.clone() };
        let secret = Conflict { theirs: Some(Shown::Secret), ..moved.clone() };
        let new = Conflict { base: None, theirs: None, ..moved.clone() };
        for (one, told) in [
            (base, "1 at the base, 2 here, 3 there"),
            (moved, "1 before, 2 here, 3 there"),
            (new, "nothing before, 2 here, nothing there"),
            (held, "2 here, 3 there, held by `console`"),
            (secret, "a secret"),
        ] {
            assert_eq!(one.as_a_sentence_has_it(), told);
        }
    }
}
