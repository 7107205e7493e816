//! Values that do not hold, and values that others set back.

use std::time::Duration;

use super::super::Found;
use super::world::{World, minutes, path};
use crate::core::mutant::{Mutant, plant};

const SECOND: Duration = Duration::from_secs(1);

/// What somebody else does, for the n-th time.
type Other = fn(&mut World, u128);

fn fighting(found: &[Found]) -> Vec<String> {
    let path = |found: &Found| match found {
        Found::Fighting { path, .. } => Some(path.to_string()),
        _ => None,
    };
    found.iter().filter_map(path).collect()
}

#[test]
fn a_value_that_does_not_hold_is_written_twice_for_ever() {
    let mut world = World::level(&[("size", 1), ("tier", 1)]);
    world.makes.insert("size", 7);
    world.set("size", 9);
    world.go_on(minutes(600), minutes(1), |_| {});
    assert_eq!(world.writes.len(), 2);
    assert_eq!(world.found, [Found::NotEffective { paths: vec![path("size")] }]);
    // The rest of the object goes on.
    world.set("tier", 2);
    world.pass();
    assert_eq!((world.writes.len(), world.get("tier")), (3, 1));
    // Another wish is tried.
    world.want(&[("size", 3), ("tier", 1)]);
    world.pass();
    assert_eq!(world.writes.len(), 5);
    assert_eq!(world.freeze().paths, [path("size")]);
    // What is as it is wanted after all is nothing to tell of, and is kept so again.
    world.makes.clear();
    world.set("size", 3);
    world.pass();
    assert!(world.found.is_empty());
    world.set("size", 4);
    world.pass();
    assert_eq!(world.get("size"), 3);
}

#[test]
fn one_change_by_others_is_repaired_once_and_is_no_fight() {
    let mut world = World::level(&[("size", 1)]);
    world.set("size", 9);
    world.go_on(minutes(60), minutes(1), |_| {});
    assert_eq!((world.writes.len(), world.get("size")), (1, 1));
    assert!(world.found.is_empty());
    // The very same drift each half an hour is none either.
    world.go_on(minutes(300), minutes(30), |world| world.set("size", 9));
    assert!(world.found.is_empty(), "{:?}", world.found);
    assert_eq!(world.get("size"), 1);
}

#[test]
fn a_path_that_is_set_back_is_named_frozen_and_probed() {
    let mut world = World::level(&[("size", 1), ("tier", 1)]);
    world.go_on(minutes(4), 5 * SECOND, |world| world.set("size", 9));
    assert_eq!(world.writes.len(), 4, "the first, and three that were set back");
    let [Found::Fighting { path: fought, by, cycles, .. }] = &world.found[..] else {
        panic!("{:?}", world.found)
    };
    assert_eq!((fought, &**by, *cycles), (&path("size"), &["console".into()][..], 3));
    assert_eq!(world.freeze().paths, [path("size")]);
    assert!(!world.freeze().whole);
    // The rest of the object goes on.
    world.set("tier", 5);
    world.pass();
    assert_eq!((world.get("tier"), world.get("size")), (1, 9));
    let before = world.writes.len();
    world.go_on(minutes(24 * 60), 5 * SECOND, |world| world.set("size", 9));
    let probes = world.writes.len() - before;
    // After 5, 10, 20, 40 minutes, then hourly.
    assert!((24..=28).contains(&probes), "{probes} writes in a day");
    assert!(world.most_in_ten_minutes() <= 6, "{:?}", world.writes);
}

#[test]
fn the_writes_are_bounded_whatever_the_other_writer_does() {
    let long = minutes(6 * 60);
    for (name, every) in [("fast", SECOND), ("slow", 90 * SECOND), ("slower", minutes(3))] {
        let others: [(&str, Other); 4] = [
            ("one value", |world, _| world.set("size", 9)),
            ("two values", |world, n| world.set("size", 8 + n % 2)),
            ("a counter", |world, n| world.set("size", 100 + n)),
            ("two paths in turn", |world, n| match n % 2 {
                0 => world.set("size", 9),
                _ => world.set("tier", 9),
            }),
        ];
        for (what, other) in others {
            let mut world = World::level(&[("size", 1), ("tier", 1)]);
            let mut n = 0;
            world.go_on(long, every, |world| {
                n += 1;
                other(world, n);
            });
            assert!(world.most_in_ten_minutes() <= 21, "{name}, {what}: {}", world.most_in_ten_minutes());
            // What is set back less than three times in ten minutes, or to a new value each time, and that less than
            // ten times, is drift: it is repaired each time.
            if matches!((name, what), ("slow" | "slower", "a counter") | ("slower", "two paths in turn")) {
                continue;
            }
            assert!(world.writes.len() <= 50, "{name}, {what}: {} writes", world.writes.len());
            assert!(!world.found.is_empty(), "{name}, {what}: it is told of");
        }
    }
}

#[test]
fn a_new_value_each_time_holds_the_object() {
    let mut world = World::level(&[("size", 1), ("tier", 1)]);
    world.now = minutes(5);
    let mut n = 100;
    world.go_on(minutes(2), 5 * SECOND, |world| {
        n += 1;
        world.set("size", n);
    });
    assert_eq!(world.writes.len(), 10, "of one wish, after its first minute");
    assert!(matches!(world.found[..], [Found::Churn { writes: 10, open: Some(_) }]), "{:?}", world.found);
    assert!(world.freeze().whole && world.freeze().until.is_some());
    // Five are warned of.
    let mut world = World::level(&[("size", 1)]);
    world.now = minutes(5);
    world.go_on(25 * SECOND, 5 * SECOND, |world| {
        n += 1;
        world.set("size", n);
    });
    assert_eq!(world.found, [Found::Churn { writes: 5, open: None }]);
    assert!(!world.freeze().whole);
}

#[test]
fn what_is_set_up_after_another_wish_is_no_churn() {
    let mut world = World::level(&[("size", 1)]);
    world.now = minutes(30);
    world.want(&[("size", 1)]);
    let mut n = 100;
    world.go_on(50 * SECOND, 5 * SECOND, |world| {
        n += 1;
        world.set("size", n);
    });
    assert_eq!(world.writes.len(), 10);
    assert!(world.found.is_empty(), "{:?}", world.found);
}

#[test]
fn when_the_other_writer_gives_in_it_is_repaired_by_the_clock() {
    for mutant in [None, Some(Mutant::M14)] {
        let _planted = mutant.map(plant);
        let mut world = World::level(&[("size", 1)]);
        world.go_on(minutes(1), 5 * SECOND, |world| world.set("size", 9));
        assert_eq!(fighting(&world.found), ["size"]);
        // Nothing hints at it any more: one pass, at the time that was told.
        world.now = world.freeze().until.expect("it ends");
        world.pass();
        assert_eq!(world.get("size") == 1, mutant.is_none(), "{mutant:?}");
        if mutant.is_some() {
            continue;
        }
        let until = world.freeze().until.expect("the probe is looked at");
        assert_eq!(world.freeze().paths, [path("size")], "one write, until it has held");
        world.now = until;
        world.pass();
        assert!(world.found.is_empty() && world.freeze() == Default::default(), "{:?}", world.found);
    }
}

#[test]
fn a_probe_that_came_to_nothing_was_none() {
    let mut world = World::level(&[("size", 1)]);
    world.go_on(minutes(1), 5 * SECOND, |world| world.set("size", 9));
    world.now = world.freeze().until.expect("it ends");
    world.limited = true;
    world.pass();
    (world.limited, world.away) = (false, true);
    world.pass();
    assert_eq!(fighting(&world.found), ["size"], "nothing was learnt");
    assert_eq!(world.get("size"), 9);
    world.away = false;
    world.pass();
    assert_eq!(world.get("size"), 1, "the next pass is the probe");
    // A look that fails at the end of the trial is no look either, and another is due.
    world.now = world.freeze().until.expect("a look is due");
    world.away = true;
    world.pass();
    let again = world.freeze().until.expect("a look is due");
    assert!(again > world.now);
}

#[test]
fn two_instances_with_other_values_both_stop_and_name_the_path() {
    let mut ours = World::level(&[("size", 1)]);
    let mut theirs = World::level(&[("size", 2)]);
    for _ in 0..2000 {
        ours.now += 5 * SECOND;
        theirs.now += 5 * SECOND;
        for turn in 0..2 {
            let (one, other) = if turn == 0 { (&mut ours, &mut theirs) } else { (&mut theirs, &mut ours) };
            one.pass();
            other.stored = one.stored.clone();
        }
    }
    // Three hours, in which the one that is not frozen has its way.
    for world in [&ours, &theirs] {
        assert!(world.fought.contains("size"));
        assert!(world.writes.len() <= 30, "{:?}", world.writes);
    }
}

#[test]
fn what_is_wanted_otherwise_or_no_longer_starts_clean() {
    let mut world = World::level(&[("size", 1)]);
    world.go_on(minutes(1), 5 * SECOND, |world| world.set("size", 9));
    assert_eq!(fighting(&world.found), ["size"]);
    world.want(&[("size", 3)]);
    world.pass();
    assert_eq!(world.get("size"), 3);
    assert!(world.found.is_empty());
    world.go_on(minutes(1), 5 * SECOND, |world| world.set("size", 9));
    world.detector.forget(&super::world::id("o"));
    assert_eq!(world.freeze(), Default::default());
}

#[test]
fn after_a_restart_no_more_recurs_than_it_takes_to_find_out() {
    let minute = minutes(1);
    let others: [(&str, usize, Other); 4] = [
        ("one value", 4, |world, _| world.set("size", 9)),
        ("a deletion", 4, |world, _| world.stored = None),
        ("a new value each time", 20, |world, n| world.set("size", 100 + n)),
        ("a value that does not hold", 2, |world, _| {
            world.makes.insert("size", 7);
            if world.get("size") == 1 {
                world.set("size", 7);
            }
        }),
    ];
    for (what, most, other) in others {
        let mut world = World::level(&[("size", 1)]);
        let mut n = 0;
        for restart in 0..5 {
            let before = world.writes.len();
            world.go_on(4 * minute, 5 * SECOND, |world| {
                n += 1;
                other(world, n);
            });
            let writes = world.writes.len() - before;
            assert!(writes <= most, "{what}, restart {restart}: {writes} writes");
            assert!(writes > 0, "{what}");
            assert!(!world.found.is_empty(), "{what}, restart {restart}: it is told of");
            world.restart();
        }
    }
}
