//! The loop with its detector, and another writer: what is fought over is named, frozen and probed, the rest of the
//! object goes on, and nothing that triggers a pass is lost.

use std::time::Duration;

use super::super::oscillation::Freeze;
use super::super::oscillation::tests::world::{World, minutes};
use super::super::{ConditionKind, Event, Origin, Settings, Truth};
use super::make::{Rig, hint, id, seconds, subject};
use crate::core::mutant::{Mutant, plant};

/// A loop over the one object of a world.
struct Both {
    rig: Rig,
    world: World,
}

impl Both {
    fn new() -> Both {
        // No resync comes to anybody's help.
        let settings = Settings { resync: minutes(12 * 60), ..Settings::default() };
        let mut rig = Rig::level(settings, vec![subject("o")]);
        rig.now = seconds(90.0);
        Both { rig, world: World::level(&[("size", 1), ("tier", 1)]) }
    }

    /// Another writer sets a field, and a feed tells of it.
    fn set(&mut self, field: &'static str, value: u128) {
        if self.world.get(field) != value {
            self.world.set(field, value);
            self.rig.give(hint("o", Origin::Feed));
        }
    }

    /// Lets time go by: each pass does in the world what it may.
    fn go_to(&mut self, until: Duration) {
        while self.rig.next_pass(until).is_some() {
            let pass = &self.rig.begun[0];
            assert!(pass.writes && pass.most_writes.is_none());
            let freeze = Freeze {
                whole: pass.held.contains(&id("o")),
                paths: pass.frozen.get(&id("o")).cloned().unwrap_or_default(),
                until: None,
            };
            self.world.now = self.rig.now;
            let seen = self.world.look(&freeze);
            self.world.writes.extend(std::iter::repeat_n(self.rig.now, seen.writes));
            self.rig.end_with(|_| seen.clone());
        }
        self.rig.now = self.rig.now.max(until);
    }

    /// The other writer sets the field back every five seconds.
    fn fight(&mut self, time: Duration, field: &'static str, value: u128) {
        let end = self.rig.now + time;
        while self.rig.now < end {
            self.set(field, value);
            self.go_to(self.rig.now + seconds(5.0));
        }
    }

    fn holds(&self, kind: ConditionKind) -> bool {
        self.rig.status("o").holds(kind)
    }
}

#[test]
fn a_field_that_two_writers_flip_is_named_and_the_rest_goes_on() {
    let mut both = Both::new();
    both.fight(minutes(2), "size", 9);
    assert_eq!(both.world.writes.len(), 4);
    let fighting = both.rig.status("o").condition(ConditionKind::Fighting).cloned().expect("it is told of");
    assert_eq!((fighting.truth, fighting.reason), (Truth::True, "OtherWriter"));
    assert!(fighting.message.contains("`size`") && fighting.message.contains("console"), "{fighting:?}");
    assert!(!both.holds(ConditionKind::Synced));
    // A pass that ends without the object has nothing new to say of it.
    both.rig.give(hint("o", Origin::Feed));
    both.rig.next_pass(both.rig.now + seconds(2.0)).expect("a pass");
    let pass = both.rig.begun.remove(0).id;
    both.rig.give(Event::Ended(pass, Vec::new()));
    assert!(both.holds(ConditionKind::Fighting));
    both.set("tier", 5);
    both.go_to(both.rig.now + seconds(5.0));
    assert_eq!((both.world.get("tier"), both.world.get("size")), (1, 9), "the rest is kept level meanwhile");
    let before = both.world.writes.len();
    both.fight(minutes(120), "size", 9);
    let probes = both.world.writes.len() - before;
    assert!((3..=6).contains(&probes), "{probes} in two hours");
    assert!(both.holds(ConditionKind::Fighting));
}

#[test]
fn what_changed_while_it_was_frozen_is_repaired_when_the_freeze_ends() {
    for mutant in [None, Some(Mutant::M12), Some(Mutant::M14)] {
        let _planted = mutant.map(plant);
        let mut both = Both::new();
        both.fight(minutes(1), "size", 9);
        let frozen = both.world.writes.len();
        // The last word of the other writer, and of the feed, comes while the path is frozen.
        assert_eq!(both.world.get("size"), 9);
        both.go_to(both.rig.now + minutes(7));
        assert_eq!(both.world.get("size") == 1, mutant.is_none(), "{mutant:?}");
        if mutant.is_some() {
            continue;
        }
        assert_eq!(both.world.writes.len(), frozen + 1);
        both.go_to(both.rig.now + minutes(7));
        assert!(!both.holds(ConditionKind::Fighting), "{:?}", both.rig.status("o"));
        assert!(both.holds(ConditionKind::Synced));
        assert_eq!(both.world.writes.len(), frozen + 1);
    }
}

#[test]
fn an_object_that_is_always_deleted_is_made_a_few_times_and_told_of() {
    let mut both = Both::new();
    both.go_to(seconds(91.0));
    both.rig.give(hint("o", Origin::Feed));
    both.go_to(seconds(95.0));
    for _ in 0..60 {
        both.world.stored = None;
        both.rig.give(hint("o", Origin::Feed));
        both.go_to(both.rig.now + seconds(4.0));
    }
    assert_eq!(both.world.writes.len(), 3, "{:?}", both.world.writes);
    let fighting = both.rig.status("o").condition(ConditionKind::Fighting).cloned().expect("it is told of");
    assert!(fighting.message.contains("deleted"), "{fighting:?}");
    both.go_to(both.rig.now + minutes(20));
    assert!(both.world.stored.is_some() && both.holds(ConditionKind::Synced));
    assert!(!both.holds(ConditionKind::Fighting));
}

#[test]
fn a_value_that_does_not_hold_is_written_twice_and_another_wish_tries_again() {
    let mut both = Both::new();
    both.world.makes.insert("size", 7);
    both.set("size", 9);
    both.go_to(minutes(200));
    assert_eq!(both.world.writes.len(), 2);
    for n in 1..4 {
        both.set("tier", 5);
        both.go_to(minutes(200 + 20 * n));
        assert_eq!(both.world.get("tier"), 1, "the rest goes on");
    }
    assert!(both.holds(ConditionKind::NotEffective));
    assert_eq!(both.world.writes.len(), 2 + 3);
    let before = both.world.writes.len();
    both.world.makes.clear();
    let mut other = subject("o");
    other.desired.0 += 1;
    both.rig.give(Event::Desired(vec![other]));
    both.go_to(both.rig.now + minutes(1));
    assert_eq!(both.world.writes.len(), before + 1);
    assert!(!both.holds(ConditionKind::NotEffective) && both.holds(ConditionKind::Synced));
}

/// Somebody who wants something else each time fights over nothing, and is told of before anything is held.
#[test]
fn five_writes_for_one_wish_are_a_warning_until_they_are_over() {
    let mut both = Both::new();
    for n in 0..4 {
        both.set("size", 100 + n);
        both.go_to(both.rig.now + seconds(20.0));
    }
    assert_eq!(both.rig.machine.status().warnings, Vec::<String>::new());
    both.set("size", 200);
    both.go_to(both.rig.now + seconds(20.0));
    let [warning] = &both.rig.machine.status().warnings[..] else { panic!("one warning") };
    assert!(
        warning.contains(&format!("`{}`", id("o"))) && warning.contains("5 writes in ten minutes"),
        "{warning}"
    );
    both.set("size", 201);
    both.go_to(both.rig.now + seconds(20.0));
    assert_eq!(
        both.rig.warned.iter().filter(|told| told.contains("writes in ten minutes")).count(),
        1,
        "once"
    );
    both.go_to(both.rig.now + minutes(11));
    both.rig.give(hint("o", Origin::Feed));
    both.go_to(both.rig.now + seconds(5.0));
    assert_eq!(both.rig.machine.status().warnings, Vec::<String>::new(), "it is over");
}
