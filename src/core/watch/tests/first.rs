//! The loop from end to end: what is wanted is looked at, hints lead to passes, failures to later ones.

use std::time::Duration;

use super::super::{ConditionKind, Event, Origin, Settings, Truth, Verdict};
use super::make::{Rig, hint, id, names, seconds, soon, subject};

#[test]
fn all_is_looked_at_in_one_pass_then_each_after_a_hint_and_all_again_at_the_resync() {
    let mut rig = Rig::new(Settings::default());
    assert!(!rig.machine.has_seen_all());
    rig.give(Event::Desired(["a", "b", "c"].map(subject).to_vec()));
    assert_eq!(names(&rig.begun[0]), ["a", "b", "c"]);
    assert!(rig.begun[0].writes && !rig.machine.is_idle());
    rig.end(|_| Verdict::InSync);
    assert!(rig.machine.has_seen_all() && rig.machine.is_idle());

    rig.now = seconds(5.0);
    rig.give(hint("b", Origin::Feed));
    let pass = rig.end(|_| Verdict::InSync);
    assert_eq!(pass.objects, [(id("b"), Origin::Feed)], "at once");

    let first = rig.next_pass(seconds(600.0)).expect("within an interval");
    assert_eq!(first, ["a", "b", "c"]);
    assert!(rig.begun[0].objects.iter().all(|(_, origin)| *origin == Origin::Resync));
}

#[test]
fn what_failed_is_tried_again_with_backoff_and_told_of() {
    let mut rig = Rig::level(Settings::default(), vec![subject("a"), subject("b")]);
    rig.now = seconds(5.0);
    rig.give(hint("a", Origin::Feed));
    rig.end(|_| soon(false));
    let told = rig.status("a");
    let synced = told.condition(ConditionKind::Synced).expect("always");
    assert_eq!((synced.truth, synced.reason), (Truth::False, "Failed"));
    assert_eq!(synced.message, "for a reason");
    assert_eq!(told.attempts, 1);
    let again = rig.next_pass(seconds(10.0)).expect("a retry");
    assert_eq!(again, ["a"]);
    let waited = rig.now - seconds(5.0);
    assert!(waited >= Duration::from_secs(1), "the floor: {waited:?}");
    rig.end(|_| Verdict::InSync);
    assert!(rig.status("a").holds(ConditionKind::Synced));
    assert_eq!(rig.machine.counters().retries, 1);
}

#[test]
fn of_work_under_way_it_is_told_when_it_began() {
    let mut rig = Rig::level(Settings::default(), vec![subject("a"), subject("b")]);
    let told = |rig: &Rig| {
        let counters = rig.machine.counters();
        (counters.running, counters.longest, counters.begun)
    };
    assert_eq!(told(&rig), (0, None, Some(Duration::ZERO)));
    rig.now = seconds(50.0);
    rig.give(hint("a", Origin::Feed));
    rig.now = seconds(53.0);
    rig.give(hint("b", Origin::Feed));
    rig.now = seconds(60.0);
    assert_eq!(told(&rig), (2, Some(seconds(50.0)), Some(seconds(103.0))));
}
