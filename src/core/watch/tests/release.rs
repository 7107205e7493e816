//! A pass that takes long, and gives back what it is done with.

use super::super::{ConditionKind, Event, Origin, Pass, Seen, Settings, Truth, Verdict};
use super::make::{Rig, hint, names, seconds, seen, subject};

/// A loop with a pass over these that goes on, which began at zero.
fn under_way(settings: Settings, all: &[&str]) -> (Rig, Pass) {
    let mut rig = Rig::new(Settings { resync: seconds(1e6), ..settings });
    rig.give(Event::Desired(all.iter().map(|name| subject(name)).collect()));
    let pass = rig.begun.remove(0);
    (rig, pass)
}

fn wake(rig: &mut Rig, at: f64) {
    rig.now = seconds(at);
    rig.give(Event::Woke);
}

/// What came of those of these names.
fn of(pass: &Pass, all: &[&str], writes: usize) -> Vec<Seen> {
    let ids = pass.objects.iter().map(|(id, _)| id).filter(|id| all.contains(&&*id.key.to_string()));
    ids.map(|id| Seen { writes, ..seen(id, Verdict::InSync) }).collect()
}

#[test]
fn what_is_given_back_goes_on_beside_the_rest() {
    let (mut rig, pass) = under_way(Settings::default(), &["slow", "swift"]);
    assert_eq!((rig.wake, rig.asked.len()), (Some(seconds(1.0)), 0));
    rig.now = seconds(0.5);
    rig.give(hint("swift", Origin::Feed));
    assert!(rig.begun.is_empty(), "it is in a pass");
    wake(&mut rig, 1.0);
    assert_eq!(rig.asked, [pass.id]);
    rig.give(Event::Settled(pass.id, of(&pass, &["swift"], 0)));
    assert!(rig.status("swift").holds(ConditionKind::Synced), "it is told before the pass ends");
    assert_eq!(names(&rig.begun[0]), ["swift"], "the hint of meanwhile");
    rig.give(hint("slow", Origin::Feed));
    assert_eq!(rig.begun.len(), 1, "never twice at a time");
    rig.end(|_| Verdict::InSync);
    rig.now = seconds(30.0);
    rig.give(Event::Ended(pass.id, of(&pass, &["slow"], 1)));
    assert_eq!(rig.status("slow").writes, 1);
    assert_eq!(names(&rig.begun[0]), ["slow"], "and then the hint of meanwhile");
    rig.end(|_| Verdict::InSync);
    assert!(rig.machine.is_idle());
    let counters = rig.machine.counters();
    assert_eq!((counters.running, counters.passes["success"]), (0, 4));
}

#[test]
fn it_is_asked_once_a_second_to_its_end() {
    let (mut rig, pass) = under_way(Settings::default(), &["a", "b", "c"]);
    wake(&mut rig, 1.0);
    wake(&mut rig, 5.0);
    assert_eq!(rig.asked, [pass.id], "not again before it has answered");
    rig.give(Event::Settled(pass.id, Vec::new()));
    assert_eq!(rig.wake, Some(seconds(6.0)));
    wake(&mut rig, 6.0);
    assert_eq!(rig.asked, [pass.id; 2]);
    rig.give(Event::Settled(pass.id, of(&pass, &["a", "b"], 0)));
    wake(&mut rig, 60.0);
    assert_eq!(rig.asked.len(), 3, "of one alone it is told that it is at work on it");
    rig.give(Event::Settled(pass.id + 1, of(&pass, &["c"], 0)));
    assert!(!rig.status("c").holds(ConditionKind::Synced), "it is of no such pass");
}

#[test]
fn the_hour_keeps_what_the_rest_may_still_write() {
    let settings = Settings { changes_an_hour: Some(10), ..Settings::default() };
    let (mut rig, pass) = under_way(settings, &["a", "b", "slow"]);
    assert_eq!(pass.most_writes, Some(6));
    let left = |rig: &mut Rig| rig.machine.writes_left(rig.now);
    assert_eq!(left(&mut rig), Some(4));
    wake(&mut rig, 1.0);
    rig.give(Event::Settled(pass.id, of(&pass, &["a", "b"], 1)));
    assert_eq!(
        left(&mut rig),
        Some(10 - 2 - 2),
        "two are written, and one object may be deleted and made anew"
    );
    rig.give(Event::Ended(pass.id, of(&pass, &["slow"], 1)));
    assert_eq!(left(&mut rig), Some(7));
    assert_eq!(rig.machine.counters().writes, 3);
}

#[test]
fn what_was_given_back_may_leave_the_files_and_change_there() {
    let (mut rig, pass) = under_way(Settings::default(), &["slow", "swift"]);
    wake(&mut rig, 1.0);
    rig.give(Event::Settled(pass.id, of(&pass, &["swift"], 0)));
    rig.now = seconds(2.0);
    rig.give(Event::Desired(vec![subject("new"), subject("slow")]));
    assert_eq!(names(&rig.begun[0]), ["new"], "the slow one is where it was");
    rig.end(|_| Verdict::InSync);
    rig.give(Event::Ended(pass.id, of(&pass, &["slow"], 0)));
    assert!(rig.machine.is_idle() && rig.machine.has_seen_all());
}

/// The end of the process waits for the rest, and takes what it is told.
#[test]
fn a_part_that_comes_after_the_first_signal_is_taken() {
    let (mut rig, pass) = under_way(Settings::default(), &["slow", "swift"]);
    wake(&mut rig, 1.0);
    rig.give(Event::Drain);
    rig.give(Event::Settled(pass.id, of(&pass, &["swift"], 1)));
    assert!(!rig.machine.is_idle());
    rig.give(Event::Ended(pass.id, of(&pass, &["slow"], 1)));
    assert!(rig.machine.is_idle() && rig.begun.is_empty());
    assert_eq!(rig.machine.counters().writes, 2);
}

#[test]
fn what_a_pass_is_at_work_on_is_not_said_to_be_in_sync() {
    let all = ["slow", "swift"].map(subject).to_vec();
    let mut rig = Rig::level(Settings { resync: seconds(1e6), ..Settings::default() }, all);
    rig.now = seconds(5.0);
    rig.give(hint("slow", Origin::Feed));
    let pass = rig.begun.remove(0);
    wake(&mut rig, 6.0);
    assert_eq!(rig.asked, [pass.id]);
    rig.give(Event::Settled(pass.id, Vec::new()));
    assert!(rig.status("slow").holds(ConditionKind::Synced), "nothing is known yet");
    // What it does not hold any more is no matter of its.
    rig.give(Event::AtWork(pass.id, vec![super::make::id("slow"), super::make::id("swift")]));
    let told = rig.status("slow");
    let synced = told.condition(ConditionKind::Synced).expect("always");
    assert_eq!((synced.truth, synced.reason), (Truth::Unknown, "Pending"));
    assert_eq!(synced.message, "it differs, and a pass is at work on it");
    assert!(rig.status("swift").holds(ConditionKind::Synced));
    assert_eq!(rig.machine.longest_under_way(), Some((&super::make::id("slow"), seconds(5.0))));
    rig.give(Event::Ended(pass.id, of(&pass, &["slow"], 1)));
    assert!(rig.status("slow").holds(ConditionKind::Synced));
}
