//! What must hold at the end: the plan and what was done, convergence, silence, and the same end as without troubles.

use super::makes::Profile;
use super::run::Ended;
use super::scene::{Declared, GONE, declared, stays_for_others};
use super::world::World;
use crate::core::document::{Drift, Ensure};
use crate::core::report::{Action, Entry, Outcome};

/// A plan lists exactly the writes of an undisturbed run.
pub fn as_planned(world: &World, plan: &Ended, done: &Ended) -> Vec<String> {
    let planned = |entry: &Entry| match (&entry.result, entry.action) {
        (Outcome::Planned, Action::Replace) => vec![Action::Delete, Action::Create],
        (Outcome::Planned, action) => vec![action],
        _ => Vec::new(),
    };
    let mut broken = Vec::new();
    if done.conflicts > 1 {
        broken.push(format!(
            "{} writes were refused for our own: that is learnt from the first",
            done.conflicts
        ));
    }
    let selected = (0..world.scene.documents.len()).filter(|at| world.scene.selected[*at]);
    for (entry, at) in plan.report.objects.iter().zip(selected) {
        let (planned, mut written) = (planned(entry), &done.writes[at][..]);
        let makes = matches!(entry.action, Action::Create | Action::Replace);
        if makes && !world.scene.graph.nodes[at].later.is_empty() {
            // What a cycle puts off is set by a second write.
            written = written.strip_suffix(&[Action::Update]).unwrap_or(written);
        }
        // The server may refuse what a plan cannot know: a parent whose other children stay, say.
        if planned != written && !was_refused(done, entry) {
            broken.push(format!("I15: {}: planned {planned:?}, done {written:?}", entry.id));
        }
    }
    broken
}

/// Whether the object's write came to nothing, or one of a run in which the object was then left alone.
fn was_refused(ended: &Ended, entry: &Entry) -> bool {
    let told = &ended.report.objects;
    let failed = |entry: &Entry| {
        use Outcome::{Conflict, Failed, NotEffective, Unknown};
        matches!(entry.result, Failed(_) | Conflict(_) | NotEffective(_) | Unknown(_))
    };
    let entry = told.iter().find(|told| told.id == entry.id).expect("it is told of");
    failed(entry) || (matches!(entry.result, Outcome::Skipped(_)) && told.iter().any(failed))
}

/// What cannot be made right without a person, and what is tied to it.
fn stubborn(world: &World) -> Vec<bool> {
    let scene = &world.scene;
    let count = scene.documents.len();
    let mut stubborn: Vec<bool> = (0..count)
        .map(|at| {
            let document = &scene.documents[at];
            let policy = &document.policy;
            let several = world.slot(at).is_some_and(|slot| slot.len() > 1);
            let fixed = scene.kind(at).update.is_none();
            !scene.selected[at]
                || is_refused_by_nature(world, at)
                || policy.paused
                || policy.protected
                || policy.drift == Drift::Report
                || policy.ensure == Ensure::Exists
                || several
                || fixed
        })
        .collect();
    for _ in 0..count {
        for at in 0..count {
            let node = &scene.graph.nodes[at];
            for need in node.needs().into_iter().chain(node.later.iter().copied()) {
                let either = stubborn[at] || stubborn[need];
                (stubborn[at], stubborn[need]) = (either, either);
            }
        }
    }
    stubborn
}

/// Whether the server takes no such object, or others stand in the way.
fn is_refused_by_nature(world: &World, at: usize) -> bool {
    let scene = &world.scene;
    let document = &scene.documents[at];
    let manner = scene.manners[at];
    let slot = world.slot(at).map_or(&[][..], |slot| slot);
    let says = |name: &str, wanted: &str| {
        declared(document).any(|(field, want)| {
            field == name && matches!(want, Declared::Value(value) if wanted.is_empty() || value == wanted)
        })
    };
    let unfit = says("ghost", "") || says("grade", "bad") || says("label", "Mixed");
    let differs = |name: &str| {
        slot.iter().any(|one| {
            declared(document).any(|(field, want)| {
                field == name && matches!(want, Declared::Value(value) if one.value.get(name) != Some(value))
            })
        })
    };
    let held = slot.iter().any(|one| {
        let others =
            one.managers.iter().filter(|(_, names)| names.iter().any(|name| *name != super::writes::US));
        others.into_iter().any(|(field, _)| differs(field))
    });
    let goes = document.policy.ensure == Ensure::Absent;
    let kept = manner.profile != Profile::P1
        && document.base.spec().is_some()
        && !goes
        && slot.iter().any(|one| one.value.get(GONE.0).is_some_and(|value| value != GONE.1));
    let pinned = document.policy.pinned_id.as_deref();
    let astray = pinned.is_some_and(|id| !slot.iter().any(|one| one.id.to_string() == id));
    unfit
        || differs("fixed")
        || (manner.profile == Profile::P1 && held)
        || kept
        // What others changed since the base does not go unasked.
        || slot.iter().any(|one| stays_for_others(document, &one.value))
        || slot.iter().any(|one| one.gone_at.is_some())
        || (manner.profile == Profile::P7 && (astray || pinned.is_none()))
}

/// What takes longer than a run waits, and the next run says what is left of it; and what was skipped for want of that.
fn takes_longer(world: &World, done: &Ended) -> Vec<bool> {
    let scene = &world.scene;
    let told = |at: usize| done.report.objects.iter().find(|entry| entry.id == scene.documents[at].id);
    let longer = |at: usize| {
        told(at).is_some_and(|entry| {
            // A name is taken for a while after its object was deleted.
            let taken = scene.manners[at].profile == Profile::P9 && entry.action == Action::Replace;
            // What another's finalizer kept went later, after the run had said that it was going.
            let going =
                matches!(&entry.result, Outcome::Unknown(why) if why.message.contains("is deleting it"));
            taken || (going && world.is_right(at))
        })
    };
    let mut all: Vec<bool> = (0..scene.documents.len()).map(longer).collect();
    let is_skipped = |at: usize| told(at).is_some_and(|entry| matches!(entry.result, Outcome::Skipped(_)));
    for _ in 0..all.len() {
        for at in (0..all.len()).filter(|at| is_skipped(*at)) {
            all[at] = all[at] || scene.graph.nodes[at].needs().into_iter().any(|need| all[need]);
        }
    }
    all
}

/// Once the troubles are over, one run is enough.
pub fn converged(world: &World, done: &Ended) -> Vec<String> {
    let (stubborn, longer) = (stubborn(world), takes_longer(world, done));
    let mut broken = Vec::new();
    for at in (0..stubborn.len()).filter(|at| !stubborn[*at] && !longer[*at]) {
        let document = &world.scene.documents[at];
        let entry = done.report.objects.iter().find(|entry| entry.id == document.id).expect("it is told of");
        let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
        if !settled || !world.is_right(at) {
            broken.push(format!("I1: {} did not converge: {:?}", entry.id, entry.result));
        }
    }
    broken
}

/// And the next one writes nothing.
pub fn nothing_left(world: &World, done: &Ended, again: &Ended) -> Vec<String> {
    let refused = |at: usize| {
        let id = &world.scene.documents[at].id;
        done.report.objects.iter().any(|entry| entry.id == *id && was_refused(done, entry))
    };
    let at = (0..again.writes.len()).filter(|at| !again.writes[*at].is_empty() && !refused(*at));
    at.map(|at| format!("I2, I17: {} is written again: {:?}", world.scene.documents[at].id, again.writes[at]))
        .collect()
}

/// What a server came to: of each object the fields that its document declares, and how often it was made and
/// deleted.
pub struct End(Vec<String>);

impl End {
    pub fn of(world: &World) -> End {
        let told = |at: usize| {
            let document = &world.scene.documents[at];
            let slot = world.slot(at).map_or(&[][..], |slot| slot);
            let stays = slot.iter().filter(|one| one.gone_at.is_none());
            let objects = stays.map(|one| {
                let field = |(name, want): (&str, Declared)| match want {
                    // Ids differ from run to run.
                    Declared::IdOf(_) => format!("{name}: {}", one.value.get(name).is_some()),
                    Declared::Value(_) => format!("{name}: {:?}", one.value.get(name)),
                };
                declared(document).map(field).collect::<Vec<_>>().join(", ")
            });
            objects.collect::<Vec<_>>().join(" / ")
        };
        End((0..world.scene.documents.len()).map(told).collect())
    }
}

/// What is to go, and went since a look did not show what needs it: that proves absence, as the contract has it.
fn let_go(world: &World) -> Vec<bool> {
    let scene = &world.scene;
    let count = scene.documents.len();
    let mut let_go = vec![false; count];
    for _ in 0..count {
        for at in 0..count {
            let went = scene.documents[at].policy.ensure == Ensure::Absent && world.is_right(at);
            let is_over = |holder: usize| {
                scene.graph.nodes[holder].needs().contains(&at) && (world.unseen[holder] || let_go[holder])
            };
            let_go[at] = let_go[at] || (went && (0..count).any(is_over));
        }
    }
    let_go
}

/// O1 and O2: the end without troubles is the end with them, and nothing was made or deleted more often than that,
/// but for what others did.
pub fn as_undisturbed(world: &World, reference: &World) -> Vec<String> {
    let mut broken = Vec::new();
    let others: u32 = world.deeds.iter().map(|deeds| deeds.others).sum();
    let (end, wanted) = (End::of(world), End::of(reference));
    let let_go = let_go(world);
    for at in (0..world.scene.documents.len()).filter(|at| !let_go[*at]) {
        let id = &world.scene.documents[at].id;
        if others == 0 && end.0[at] != wanted.0[at] {
            broken.push(format!("O1: {id} ended as [{}], and undisturbed as [{}]", end.0[at], wanted.0[at]));
        }
        let (did, would) = (world.deeds[at], reference.deeds[at]);
        if did.creates > would.creates + others || did.deletes > would.deletes + others {
            broken.push(format!("O2: {id}: {did:?} of {others} by others, and undisturbed {would:?}"));
        }
    }
    broken
}

/// I6: more than one object of a name is told of.
pub fn doubles_are_told(world: &World, done: &Ended) -> Vec<String> {
    let mut broken = Vec::new();
    for entry in &done.report.objects {
        let at = world.at[&entry.id];
        let pinned = world.scene.documents[at].policy.pinned_id.is_some();
        let several = world.slot(at).is_some_and(|slot| slot.len() > 1) && !pinned;
        if several && matches!(entry.result, Outcome::InSync | Outcome::Done) {
            broken.push(format!("I6: {} is there twice, and nothing says so", entry.id));
        }
    }
    broken
}
