//! The gates: what is closed for a whole Set, and how that is said. A closed gate is an entry of the Set's own in the
//! report, with the numbers and with what opens it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::document::Ensure;
use super::super::identity::{Key, KindName, ObjectId};
use super::super::replicas::{self, Number};
use super::super::report::{Action, Explanation, Outcome};
use super::super::set::{OWN, Set};
use super::super::unique::Held;
use super::limits::{self, Count};
use super::{Candidate, Gates, Index, Known, Plan, entry};

/// Lets through what may go; says of everything else why it stays.
pub fn pass(
    known: &Known,
    gates: &Gates,
    former: &Index,
    doubts: &[Option<String>],
    candidates: Vec<Candidate>,
) -> Plan {
    let candidates = in_batches(known, candidates);
    let mut plan = Plan::default();
    let mut closed = Vec::new();
    for (at, set) in known.sets.iter().enumerate() {
        let verdict = match (&doubts[at], deletes(set, gates)) {
            (Some(doubt), _) => Some(Outcome::Unknown(unknown(doubt))),
            (None, true) => refused(&counts(at, known, &candidates), set, gates).map(Outcome::Refused),
            (None, false) => None,
        };
        closed.push(verdict);
    }
    let verdicts = known.sets.iter().zip(&closed);
    plan.told.extend(verdicts.filter_map(|(set, verdict)| {
        Some(entry(id(set), set.origin.clone(), Action::None, verdict.clone()?))
    }));
    let doubtful = closed.iter().any(|verdict| matches!(verdict, Some(Outcome::Unknown(_))));
    for candidate in candidates {
        let set = candidate.set;
        let shut = doubtful || closed[set].is_some();
        let goes = candidate.verdict.is_ok() && !shut && deletes(&known.sets[set], gates);
        if let Some(kind) = known.kinds.get(&candidate.id.kind).filter(|_| !goes) {
            let held = Held::by(&candidate.id, kind, &candidate.item.value);
            plan.taken.extend(held.into_iter().map(|held| (held, candidate.id.clone())));
        }
        match (&candidate.verdict, shut) {
            (Err(why), _) => {
                let why = why.clone();
                plan.told.push(candidate.entry(Action::None, Outcome::Extra(why)));
            }
            (Ok(_), _) if !deletes(&known.sets[set], gates) => {
                let why = format!("no document names it; it is in {}", known.sets[set].words());
                let why = Explanation::new(why).hint("`--prune` deletes it");
                plan.told.push(candidate.entry(Action::None, Outcome::Extra(why)));
            }
            (Ok(_), true) => {
                let why = format!("nothing of {} is deleted", known.sets[set].words());
                let why = Outcome::Skipped(Explanation::new(why));
                plan.told.push(candidate.entry(Action::Delete, why));
            }
            (Ok(proof), false) => {
                let proof = proof.clone();
                let Some(kind) = known.kinds.get(&candidate.id.kind) else { continue };
                plan.doomed.push(candidate.doomed(&known.sets[set], kind, proof, former));
            }
        }
    }
    plan
}

/// Whether what a Set has too much is deleted: a ReplicaSet says itself how many there are to be.
fn deletes(set: &Set, gates: &Gates) -> bool {
    gates.deletes || set.replicas().is_some()
}

/// Puts the surplus of ReplicaSets in order, where it stands among the others: the highest number first, in batches of
/// which each is gone before the next.
fn in_batches<'k>(known: &Known, candidates: Vec<Candidate<'k>>) -> Vec<Candidate<'k>> {
    let mut rows: Vec<Vec<(Number, Candidate)>> = known.sets.iter().map(|_| Vec::new()).collect();
    let mut ordered = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let (replicas, kind) = (&candidate.claim.replicas, known.kinds.get(&candidate.id.kind));
        let number =
            replicas.as_ref().zip(kind).and_then(|(named, kind)| named.number(&candidate.id.key, kind));
        match number {
            Some(number) => rows[candidate.set].push((number, candidate)),
            None => ordered.push(candidate),
        }
    }
    for mut row in rows {
        row.sort_by(|(one, _), (other, _)| other.cmp(one));
        let mut due = 0;
        for (_, mut candidate) in row {
            if candidate.verdict.is_ok() {
                candidate.rank.batch = replicas::batch(due);
                due += 1;
            }
            ordered.push(candidate);
        }
    }
    ordered
}

/// How many objects of a Set documents want to be there, by kind.
fn wanted(set: &Set, known: &Known) -> Counts {
    let mut counts: Counts =
        set.scope.iter().map(|claim| (claim.kind.kind.clone(), Count::default())).collect();
    // Those of a ReplicaSet are counted by itself, also where all of them are to be absent.
    if let (Some(replicas), Some(count)) = (set.replicas(), counts.values_mut().next()) {
        count.wanted = replicas.wanted;
        return counts;
    }
    for document in known.documents.iter().filter(|document| document.policy.ensure != Ensure::Absent) {
        let kind = known.kinds.get(&document.id.kind);
        if kind.is_some_and(|kind| set.claim_of(&document.id, kind).is_some()) {
            counts.entry(document.id.kind.kind.clone()).or_default().wanted += 1;
        }
    }
    counts
}

/// By the kinds of a Set.
type Counts = BTreeMap<Arc<str>, Count>;

/// What is due to go of each kind of a Set, and how many objects of it documents name.
fn counts(at: usize, known: &Known, candidates: &[Candidate]) -> Counts {
    let set = &known.sets[at];
    let mut counts = wanted(set, known);
    for candidate in candidates.iter().filter(|one| one.set == at && one.verdict.is_ok()) {
        counts.entry(candidate.id.kind.kind.clone()).or_default().due += 1;
    }
    counts
}

/// Why so many deletions of a Set are not made.
fn refused(counts: &Counts, set: &Set, gates: &Gates) -> Option<Explanation> {
    let due: usize = counts.values().map(|count| count.due).sum();
    let wanted: usize = counts.values().map(|count| count.wanted).sum();
    if due == 0 {
        return None;
    }
    let would = |n: usize| if n == 1 { "1 object".to_owned() } else { format!("{n} objects") };
    // `replicas: 0` is said, not left out.
    if wanted == 0 && !gates.allow_empty && set.replicas().is_none() {
        let why = format!("no document names an object in its scope: {} would be deleted", would(due));
        return Some(Explanation::new(why).hint(match gates.saved {
            true => "if that is meant: make a new plan with `--allow-empty`",
            false => "if that is meant: `--allow-empty`",
        }));
    }
    limits::passed(counts, set, gates)
}

fn unknown(doubt: &str) -> Explanation {
    Explanation::new(format!("what is in its scope is not known whole: {doubt}"))
        .hint("nothing is deleted while a listing is not whole")
}

/// The name of a Set in a report.
fn id(set: &Set) -> ObjectId {
    let kind = KindName { backend: OWN.into(), kind: set.kind_word().into() };
    ObjectId { kind, key: Key::new(vec![("name".into(), (&*set.name).into())]) }
}
