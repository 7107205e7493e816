//! Objects that others delete or make anew: what is counted by the name, and what is of one object.

use std::time::Duration;

use super::super::{Detector, Found, Freeze};
use super::world::{World, id, minutes, path, subject};
use crate::core::digest::Digest;
use crate::core::mutant::{Mutant, plant};
use crate::core::path::Path;
use crate::core::report::Explanation;
use crate::core::watch::pass::{Seen, Touched, Verdict};

const SECOND: Duration = Duration::from_secs(1);

fn is_lost(found: &[Found]) -> bool {
    matches!(found, [Found::Fighting { path, .. }] if path.is_root())
}

#[test]
fn one_deletion_is_repaired_once() {
    let mut world = World::level(&[("size", 1)]);
    world.stored = None;
    world.go_on(minutes(60), minutes(1), |_| {});
    assert_eq!(world.writes.len(), 1);
    assert!(world.found.is_empty() && world.stored.is_some());
}

#[test]
fn an_object_that_is_always_deleted_is_made_three_times_and_then_held() {
    let mut world = World::level(&[("size", 1)]);
    world.go_on(minutes(4), 5 * SECOND, |world| world.stored = None);
    assert_eq!(world.writes.len(), 3);
    assert!(is_lost(&world.found), "{:?}", world.found);
    assert!(world.freeze().whole && world.freeze().until.is_some());
    world.go_on(minutes(24 * 60), 5 * SECOND, |world| world.stored = None);
    assert!((27..=32).contains(&world.writes.len()), "{} writes in a day", world.writes.len());
    // They give in: by the clock it is made, and in the end nothing is held.
    let until = world.freeze().until.expect("it ends");
    world.go_on(until - world.now + minutes(1), minutes(60), |_| {});
    assert!(world.stored.is_some());
    world.go_on(minutes(10), minutes(1), |_| {});
    assert!(world.found.is_empty() && world.freeze() == Freeze::default(), "{:?}", world.found);
}

#[test]
fn one_that_others_make_anew_with_their_values_is_caught_as_well() {
    let mut world = World::level(&[("size", 1)]);
    world.go_on(minutes(4), 5 * SECOND, |world| {
        world.remake();
        world.set("size", 9);
    });
    assert_eq!(world.writes.len(), 3, "each is another object, and what is counted is the name");
    assert!(is_lost(&world.found), "{:?}", world.found);
}

#[test]
fn an_object_that_was_made_anew_starts_clean() {
    for mutant in [None, Some(Mutant::M13), Some(Mutant::M29)] {
        let _planted = mutant.map(plant);
        let mut world = World::level(&[("size", 1)]);
        world.go_on(minutes(1), 5 * SECOND, |world| world.set("size", 9));
        assert_eq!(world.freeze().paths, [path("size")]);
        world.remake();
        world.pass();
        // The first pass sees that it is another; from the next on it is kept.
        world.pass();
        let clean = world.get("size") == 1 && world.found.is_empty();
        assert_eq!(clean, mutant.is_none(), "{mutant:?}: {:?}", world.found);
    }
}

#[test]
fn what_was_counted_of_one_object_is_not_counted_of_the_next() {
    for mutant in [None, Some(Mutant::M29)] {
        let _planted = mutant.map(plant);
        let mut world = World::level(&[("size", 1)]);
        // Two cycles, and no fight yet.
        for _ in 0..3 {
            world.now += 5 * SECOND;
            world.set("size", 9);
            world.pass();
        }
        assert!(world.found.is_empty());
        world.stored = None;
        world.now += SECOND;
        world.pass();
        world.now += SECOND;
        world.set("size", 9);
        world.pass();
        assert_eq!(world.found.is_empty(), mutant.is_none(), "{mutant:?}: {:?}", world.found);
    }
}

fn seen(uid: &str, writes: usize, touched: Vec<Touched>, verdict: Verdict) -> Seen {
    Seen { id: id("o"), verdict, ready: None, uid: Some(uid.into()), writes, touched, open: None }
}

fn at(path: Path, before: Option<u128>, after: Option<u128>) -> Touched {
    Touched { path, before: before.map(Digest), after: after.map(Digest), set_by: Vec::new() }
}

#[test]
fn a_replacement_of_our_own_is_the_same_fight_and_is_no_loss() {
    let mut detector = Detector::default();
    // Each replacement is another object, and none of them keeps what it is sent.
    for n in 1..=2 {
        let touched = vec![at(Path::root(), Some(1), Some(1)), at(path("size"), Some(7), Some(1))];
        let seen = seen(&n.to_string(), 2, touched, Verdict::NotEffective(Explanation::default()));
        let found = detector.ended(minutes(n), &subject("o", 1), &seen);
        assert_eq!(found, [Found::NotEffective { paths: vec![path("size")] }]);
    }
    assert_eq!(detector.freeze(minutes(3), &id("o")).paths, [path("size")]);
}

#[test]
fn what_is_to_be_absent_and_is_always_made_is_deleted_a_few_times() {
    let mut detector = Detector::default();
    let mut deletions = 0;
    for n in 0..100u32 {
        let now = n * 5 * SECOND;
        let held = detector.freeze(now, &id("o")).whole;
        let touched = vec![at(Path::root(), Some(1), None)];
        let gone = match held {
            true => seen(&n.to_string(), 0, touched, Verdict::Differs(Explanation::default())),
            false => seen(&n.to_string(), 1, touched, Verdict::InSync),
        };
        deletions += gone.writes;
        detector.ended(now, &subject("o", 1), &gone);
        if now > minutes(4) {
            break;
        }
    }
    assert_eq!(deletions, 4, "the one that was wanted, and three of what was made since");
}
