//! Everything is observed anew in each interval, and what only that found is counted.

use super::super::{Effect, Event, Loop, Origin, Seen, Settings, Subject, Verdict};
use super::make::{Rig, hint, id, names, seconds, seen, subject, why};

fn grouped(count: usize) -> Vec<Subject> {
    let of = |nth: usize| Subject { group: format!("group {}", nth / 2).into(), ..subject(&nth.to_string()) };
    (0..count).map(of).collect()
}

#[test]
fn each_group_comes_once_in_each_interval_with_all_its_objects_in_one_pass() {
    let mut rig = Rig::level(Settings::default(), grouped(100));
    let mut moments: Vec<Vec<f64>> = vec![Vec::new(); 50];
    while let Some(pass) = rig.next_pass(seconds(6000.0)) {
        for pair in pass.chunks(2) {
            let first: usize = pair[0].parse().expect("a number");
            assert_eq!(pair[1], (first + 1).to_string(), "a group is asked about together");
            moments[first / 2].push(rig.now.as_secs_f64());
        }
        rig.end(|_| Verdict::InSync);
    }
    let mut per_minute = [0; 10];
    for moments in &moments {
        assert!(moments[0] <= 600.0 && moments.len() >= 9, "{moments:?}");
        let apart = moments.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(apart.clone().all(|apart| (539.0..661.0).contains(&apart)), "{moments:?}");
        per_minute[(moments[0] / 60.0) as usize % 10] += 1;
    }
    assert!(per_minute.iter().all(|count| *count < 15), "spread over the interval: {per_minute:?}");
    assert!(moments.windows(2).any(|pair| (pair[0][1] - pair[0][0] - pair[1][1] + pair[1][0]).abs() > 5.0));
}

#[test]
fn drift_that_nothing_announced_is_counted_and_no_other() {
    let missed = |rig: &Rig| rig.machine.counters().missed_events;
    let wrote = |id: &_| Seen { writes: 1, ..seen(id, Verdict::InSync) };
    let mut rig = Rig::level(Settings::default(), vec![subject("a")]);
    rig.next_pass(seconds(700.0)).expect("a resync");
    rig.end_with(wrote);
    assert_eq!(missed(&rig), 1);

    rig.next_pass(seconds(1400.0)).expect("a resync");
    rig.give(hint("a", Origin::Feed));
    rig.end_with(wrote);
    assert_eq!(missed(&rig), 1, "it was announced meanwhile");
    rig.go_to(rig.now + seconds(2.0), |_| Verdict::InSync);

    rig.give(hint("a", Origin::Feed));
    rig.end_with(wrote);
    assert_eq!(missed(&rig), 1, "a hint led to it");

    rig.next_pass(seconds(2100.0)).expect("a resync");
    rig.end(|_| Verdict::Differs(why()));
    assert_eq!(missed(&rig), 2, "it is only reported, and nothing told of it");
    rig.next_pass(seconds(2800.0)).expect("a resync");
    rig.end(|_| Verdict::Differs(why()));
    assert_eq!(missed(&rig), 2, "it is known by now");

    for (verdict, count) in [(Verdict::Refused(why()), 3), (Verdict::Conflict(why()), 4)] {
        rig.give(hint("a", Origin::Person));
        rig.go_to(rig.now + seconds(2.0), |_| Verdict::InSync);
        rig.next_pass(rig.now + seconds(700.0)).expect("a resync");
        rig.end(|_| verdict.clone());
        assert_eq!(missed(&rig), count, "{verdict:?}: it is left, and nothing told of it");
    }
}

#[test]
fn after_a_long_sleep_each_object_is_looked_at_once() {
    let mut rig = Rig::level(Settings::default(), grouped(20));
    rig.now = seconds(86_400.0);
    rig.give(Event::Woke);
    let looked: usize = rig.begun.iter().map(|pass| pass.objects.len()).sum();
    assert_eq!(looked, 20);
    rig.end_all(|_| Verdict::InSync);
    rig.next_pass(rig.now + seconds(500.0));
    assert!(rig.begun.is_empty(), "and not again at once");
}

#[test]
fn time_that_goes_back_is_taken_for_no_time() {
    let mut machine = Loop::new(Settings::default());
    machine.step(seconds(100.0), Event::Desired(vec![subject("a")]));
    let effects = machine.step(seconds(10.0), Event::Ended(1, vec![seen(&id("a"), Verdict::InSync)]));
    let wakes = |effect: &Effect| matches!(effect, Effect::WakeAt(at) if *at >= seconds(100.0));
    assert!(effects.iter().all(|effect| !matches!(effect, Effect::WakeAt(_)) || wakes(effect)));
    assert_eq!(machine.status().objects[0].synced, Some(seconds(100.0)));
}

#[test]
fn nothing_begins_while_it_drains_and_what_is_under_way_is_taken_in() {
    let mut rig = Rig::level(Settings::default(), vec![subject("a"), subject("b")]);
    rig.now = seconds(5.0);
    rig.give(hint("a", Origin::Feed));
    rig.give(Event::Drain);
    rig.give(hint("b", Origin::Person));
    assert_eq!(names(&rig.begun[0]), ["a"]);
    assert_eq!(rig.begun.len(), 1);
    assert!(!rig.machine.is_idle());
    rig.end(|_| Verdict::Refused(why()));
    assert!(rig.machine.is_idle() && rig.begun.is_empty());
    assert_eq!(rig.status("a").conditions[0].reason, "Refused");
}
