//! How many deletions a Set may come to: a number for all of them, and numbers of their own for some kinds.
//!
//! A kind that has a number is counted by itself, the others are counted together. Where one number is passed, nothing of
//! the Set is deleted, and what is said has the numbers, the flag that lifts the limit for one run, and the key of the
//! document that lifts it for all.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::mutant::planted;
use super::super::report::Explanation;
use super::super::set::{DEFAULT, Set, limit};
use super::Gates;

/// Of one kind: so many objects are due to go, and so many are named by documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub due: usize,
    pub wanted: usize,
}

/// Objects that are counted together.
struct Group<'g> {
    /// The kind, where it is counted by itself.
    kind: Option<&'g str>,
    /// Whether other kinds are counted by themselves.
    is_rest: bool,
    count: Count,
    most: usize,
    /// Who says so.
    from: String,
    /// What stands before the number in the flag that lifts it.
    flag: String,
}

/// Why what is due is more than a limit, if it is. `counts` has the kinds of the Set.
pub fn passed(counts: &BTreeMap<Arc<str>, Count>, set: &Set, gates: &Gates) -> Option<Explanation> {
    let over: Vec<Group> = groups(counts, set, gates)
        .into_iter()
        .filter(|group| group.count.due > group.most && !planted!(NoLimit))
        .collect();
    if over.is_empty() {
        return None;
    }
    let whole = over.len() == 1 && !over[0].is_rest && over[0].kind.is_none();
    let told: Vec<String> = over.iter().map(Group::words).collect();
    let flags: Vec<String> =
        over.iter().map(|group| format!("--max-deletes {}{}", group.flag, group.count.due)).collect();
    let key = match whole {
        true => format!("max-deletes: {}", over[0].count.due),
        false => {
            let entries: Vec<String> =
                over.iter().map(|group| format!("{}: {}", group.name(), group.count.due)).collect();
            format!("{}` in `max-deletes", entries.join(", "))
        }
    };
    let of = if whole { "in" } else { "of" };
    let document = if set.replicas().is_some() { "ReplicaSet's" } else { "set's" };
    let hint = format!(
        "if that is meant: {}, or `{key}` {of} the {document} `spec`",
        match gates.saved {
            true => format!("make a new plan with `{}`", flags.join(" ")),
            false => format!("`{}` for this run", flags.join(" ")),
        }
    );
    Some(Explanation::new(told.join("; ")).hint(hint))
}

fn groups<'g>(counts: &'g BTreeMap<Arc<str>, Count>, set: &Set, gates: &Gates) -> Vec<Group<'g>> {
    let mut groups = Vec::new();
    let mut rest = Count::default();
    for (kind, count) in counts {
        // A number for all of a run stands in the place of all that the Set says.
        let flag = gates.max_deletes_of.kinds.get(kind).map(|most| (*most, "`--max-deletes`".to_owned()));
        let own = set.max_deletes.kinds.get(kind).filter(|_| gates.max_deletes.is_none());
        let own = own.map(|most| (*most, format!("`max-deletes.{kind}` of the set")));
        match flag.or(own) {
            Some((most, from)) => {
                let flag = format!("{kind}=");
                groups.push(Group { kind: Some(kind), is_rest: false, count: *count, most, from, flag });
            }
            None => {
                rest.due += count.due;
                rest.wanted += count.wanted;
            }
        }
    }
    let is_rest = !groups.is_empty();
    let (most, from) = most_of_rest(rest.wanted, is_rest, set, gates);
    // A number alone is one for all kinds, but beside another of them.
    let flag = if is_rest && gates.max_deletes.is_none() { format!("{DEFAULT}=") } else { String::new() };
    groups.push(Group { kind: None, is_rest, count: rest, most, from, flag });
    groups
}

/// The limit of what is not counted by itself, and who says so.
fn most_of_rest(wanted: usize, is_rest: bool, set: &Set, gates: &Gates) -> (usize, String) {
    let from = |text: &str| text.to_owned();
    if let Some(most) = gates.max_deletes.or(gates.max_deletes_of.default) {
        return (most, from("`--max-deletes`"));
    }
    let is_replicas = set.replicas().is_some();
    match set.max_deletes.default {
        Some(most) if is_replicas => (most, from("its `max-deletes`")),
        Some(most) if is_rest => (most, format!("`max-deletes.{DEFAULT}` of the set")),
        Some(most) => (most, from("`max-deletes` of the set")),
        None if is_replicas => (limit(wanted), from("a fifth of its `replicas`, and at least 5")),
        None => (limit(wanted), from("a fifth of what the documents name, and at least 5")),
    }
}

impl Group<'_> {
    /// As the keys of `max-deletes` name it.
    fn name(&self) -> &str {
        self.kind.unwrap_or(DEFAULT)
    }

    fn words(&self) -> String {
        let objects = if self.count.due == 1 { "object" } else { "objects" };
        let what = match self.kind {
            Some(kind) => format!("{} {objects} of the kind `{kind}`", self.count.due),
            None if self.is_rest => format!("{} {objects} of the other kinds", self.count.due),
            None => format!("{} {objects}", self.count.due),
        };
        format!("{what} would be deleted, and the limit is {} ({})", self.most, self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::identity::KindName;
    use super::super::super::node::{Origin, Pos};
    use super::super::super::set::{Claim, Limits};
    use super::*;

    fn set(default: Option<usize>, kinds: &[(&str, usize)]) -> Set {
        let origin = Origin { file: "set.yaml".into(), at: Pos { line: 3, column: 5 } };
        let claim = |kind: &str| Claim {
            kind: KindName { backend: "dns".into(), kind: kind.into() },
            within: Vec::new(),
            exclusive: true,
            replicas: None,
            origin: origin.clone(),
        };
        let scope = ["Zone", "RRset", "Key"].map(claim).into();
        Set { name: "dns".into(), owner: None, scope, max_deletes: limits(default, kinds), origin }
    }

    fn limits(default: Option<usize>, kinds: &[(&str, usize)]) -> Limits {
        Limits { kinds: kinds.iter().map(|(kind, most)| ((*kind).into(), *most)).collect(), default }
    }

    /// What is said of so many deletions due, ten documents naming objects of each kind.
    fn told(due: [(&str, usize); 3], set: &Set, gates: &Gates) -> Option<String> {
        let count = |(kind, due): (&str, usize)| (kind.into(), Count { due, wanted: 10 });
        let why = passed(&due.map(count).into(), set, gates)?;
        Some(format!("{} | {}", why.message, why.hint.expect("what lifts it")))
    }

    fn all(most: usize) -> Gates {
        Gates { deletes: true, max_deletes: Some(most), ..Gates::default() }
    }

    fn of(default: Option<usize>, kinds: &[(&str, usize)]) -> Gates {
        Gates { deletes: true, max_deletes_of: limits(default, kinds), ..Gates::default() }
    }

    const DUE: [(&str, usize); 3] = [("Zone", 1), ("RRset", 20), ("Key", 3)];

    #[test]
    fn a_kind_with_a_number_is_counted_by_itself_and_the_others_together() {
        let none = &Gates::default();
        assert_eq!(told(DUE, &set(Some(4), &[("RRset", 20)]), none), None);
        let why = "20 objects of the kind `RRset` would be deleted, and the limit is 19 (`max-deletes.RRset` of the set) | if \
                   that is meant: `--max-deletes RRset=20` for this run, or `RRset: 20` in `max-deletes` of the set's `spec`";
        assert_eq!(told(DUE, &set(Some(4), &[("RRset", 19)]), none).as_deref(), Some(why));
        let why = "4 objects of the other kinds would be deleted, and the limit is 3 (`max-deletes.default` of the set) | if \
                   that is meant: `--max-deletes default=4` for this run, or `default: 4` in `max-deletes` of the set's `spec`";
        assert_eq!(told(DUE, &set(Some(3), &[("RRset", 20)]), none).as_deref(), Some(why));
        let both = told(DUE, &set(None, &[("RRset", 0), ("Zone", 0)]), none).expect("two are passed");
        assert!(
            both.contains("(`max-deletes.RRset` of the set); 1 object of the kind `Zone` would"),
            "{both}"
        );
        assert!(both.contains("`--max-deletes RRset=20 --max-deletes Zone=1`"), "{both}");
        assert!(both.contains("`RRset: 20, Zone: 1` in `max-deletes`"), "{both}");
    }

    #[test]
    fn without_a_default_the_others_have_the_limit_of_their_documents() {
        let none = &Gates::default();
        assert_eq!(told([("Zone", 3), ("RRset", 9), ("Key", 2)], &set(None, &[("RRset", 9)]), none), None);
        let why = told([("Zone", 4), ("RRset", 9), ("Key", 2)], &set(None, &[("RRset", 9)]), none);
        let why = why.expect("one is passed");
        assert!(
            why.starts_with("6 objects of the other kinds would be deleted, and the limit is 5 (a fifth"),
            "{why}"
        );
    }

    #[test]
    fn a_number_alone_is_about_all_kinds() {
        let why = "24 objects would be deleted, and the limit is 23 (`max-deletes` of the set) | if that is meant: \
                   `--max-deletes 24` for this run, or `max-deletes: 24` in the set's `spec`";
        assert_eq!(told(DUE, &set(Some(23), &[]), &Gates::default()).as_deref(), Some(why));
        let lenient = set(Some(100), &[("RRset", 100)]);
        assert_eq!(told(DUE, &lenient, &all(24)), None);
        let why = told(DUE, &lenient, &all(23)).expect("one is passed");
        assert!(
            why.starts_with("24 objects would be deleted, and the limit is 23 (`--max-deletes`)"),
            "{why}"
        );
    }

    #[test]
    fn a_flag_for_a_kind_lifts_that_limit_alone() {
        let strict = set(Some(4), &[("RRset", 1), ("Zone", 0)]);
        let why = told(DUE, &strict, &of(None, &[("RRset", 20)])).expect("the other is passed");
        assert!(why.starts_with("1 object of the kind `Zone` would be deleted, and the limit is 0"), "{why}");
        assert_eq!(told(DUE, &strict, &of(None, &[("RRset", 20), ("Zone", 1)])), None);
        let why = told(DUE, &strict, &of(Some(2), &[("RRset", 19), ("Zone", 1)])).expect("two are passed");
        assert!(
            why.contains("`RRset` would be deleted, and the limit is 19 (`--max-deletes`); 3 objects of"),
            "{why}"
        );
        let saved = told(DUE, &set(None, &[]), &Gates { saved: true, ..all(23) }).expect("a refusal");
        assert!(saved.contains("if that is meant: make a new plan with `--max-deletes 24`, or"), "{saved}");
        let why = told(DUE, &set(None, &[]), &Gates { max_deletes: Some(3), ..of(None, &[("RRset", 20)]) });
        assert!(
            why.expect("the rest is passed").starts_with("4 objects of the other kinds"),
            "a number beside it"
        );
    }
}
