//! K5: all that can happen in a small scope: two objects, one other writer who acts once, a death, two stale looks
//! and two lost messages, in every order.
//!
//! A state is met twice if the server with all that it remembers, the messages under way, the faults that are left and
//! all that each object has asked and been told are the same: from there on all is the same, and the second time is
//! left. In what order things were asked and told that have nothing to do with each other makes no other state. What
//! comes after the run, and after a death, depends on the server alone, and is looked at once for each that is left.

use std::collections::HashSet;
use std::rc::Rc;

use super::super::actors::{Actor, HABITS};
use super::super::dice::Dice;
use super::super::makes::{PROFILES, Profile};
use super::super::trouble::{Scope, Trouble};
use super::super::workload::Workload;
use super::super::world::World;
use super::super::{Live, schedule_with, tell};
use crate::core::engine::Mode;

const WORKLOADS: [Workload; 3] = [Workload::Pair, Workload::PairToGo, Workload::References];

fn one(
    live: &mut Live,
    profile: Profile,
    workload: Workload,
    scope: Scope,
    met: &mut HashSet<u64>,
) -> Result<(), Vec<String>> {
    let scene = Rc::new(workload.scene(profile));
    let mut world = World::draw(scene, &mut Dice::replay(Vec::new()));
    let habit = live.dice.one(&HABITS);
    let actor = Actor { habit, after: None, every: Default::default(), next: Default::default() };
    let trouble = Trouble { scope: Some(scope), actors: vec![actor], ..Trouble::default() };
    let ended = live.run_once(&mut world, Mode::Apply, &trouble, met)?;
    if ended.is_none() || !met.insert(world.fingerprint(false)) {
        return Ok(());
    }
    let mut plain = Dice::replay(Vec::new());
    let mut after = Live { dice: &mut plain, log: live.log, loud: live.loud, hits: Vec::new(), requests: 0 };
    after.settle_down(&mut world);
    let broken = after.quiet(&mut world)?;
    live.requests += after.requests;
    if broken.is_empty() { Ok(()) } else { Err(broken) }
}

/// The schedules and the states of a scope; or the first that breaks something. Ends after `most` schedules.
fn explore(
    profile: Profile,
    workload: Workload,
    scope: Scope,
    most: u64,
) -> (u64, usize, bool, Option<String>) {
    let mut met = HashSet::new();
    let mut next = Some(Vec::new());
    let mut schedules = 0;
    while let Some(choices) = next.take() {
        let known = std::cell::RefCell::new(std::mem::take(&mut met));
        let live = |live: &mut Live| one(live, profile, workload, scope, &mut known.borrow_mut());
        let mut dice = Dice::every(choices);
        let outcome = schedule_with(&mut dice, false, live);
        met = known.into_inner();
        schedules += 1;
        if !outcome.broken.is_empty() {
            let again = |live: &mut Live| one(live, profile, workload, scope, &mut HashSet::new());
            let what = format!("{profile:?}, {workload:?}");
            return (schedules, met.len(), false, Some(tell(&what, &outcome.choices, again)));
        }
        next = dice.successor();
        if schedules == most {
            return (schedules, met.len(), next.is_none(), None);
        }
    }
    (schedules, met.len(), true, None)
}

/// Of all scopes those of a share: the first number of the second.
fn campaign(scope: Scope, most: u64, share: (usize, usize)) {
    let scopes = PROFILES.into_iter().flat_map(|profile| WORKLOADS.map(|one| (profile, one)));
    let (mut all, mut count, mut wholes) = ((0, 0), 0, 0);
    for (profile, workload) in scopes.skip(share.0).step_by(share.1) {
        let (schedules, states, whole, broken) = explore(profile, workload, scope, most);
        let much = if whole { "all" } else { "not all" };
        println!("K5 {profile:?} {workload:?}: {schedules} schedules, {states} states, {much}");
        assert!(broken.is_none(), "{}", broken.unwrap_or_default());
        all = (all.0 + schedules, all.1 + states);
        (count, wholes) = (count + 1, wholes + usize::from(whole));
    }
    println!("K5: {} schedules, {} states, {wholes} of {count} scopes whole", all.0, all.1);
}

#[test]
fn one_fault_in_a_small_scope_in_every_order() {
    campaign(Scope { stale: 0, lost: 1, acts: 0, kills: 0, all: 1 }, u64::MAX, (0, 1));
}

/// The whole scope with so many faults in all, with at most so many schedules for each profile and workload.
///
/// # Panics
/// At the first that fails, with its log.
pub fn whole(faults: u32, most: u64, share: (usize, usize)) {
    campaign(Scope { stale: 2, lost: 2, acts: 1, kills: 1, all: faults }, most, share);
}
