//! Failures, delays, and what is forgotten when.

use std::time::Duration;

use super::super::super::engine::random::Random;
use super::super::retry::{Delays, Failures, LATE, LONGEST, STALLED};
use super::super::{ConditionKind, Origin, Retry, Settings, Truth, Verdict};
use super::make::{Rig, hint, hint_with, late, seconds, seen, soon, subject, subject_of, why};
use crate::core::watch::Event;

#[test]
fn failures_are_forgotten_after_five_minutes_in_sync_and_not_before() {
    let mut failures = Failures::default();
    (0..3).for_each(|_| failures.failed(seconds(0.0)));
    failures.in_sync(seconds(10.0));
    assert_eq!((failures.count, failures.row, failures.is_failing), (3, 0, false));
    failures.in_sync(seconds(309.9));
    assert_eq!(failures.count, 3);
    failures.in_sync(seconds(310.0));
    assert_eq!(failures.count, 0);
    failures.failed(seconds(311.0));
    failures.in_sync(seconds(312.0));
    failures.failed(seconds(500.0));
    assert_eq!(failures.count, 2, "not steady between");
    failures.in_sync(seconds(501.0));
    failures.failed(seconds(801.0));
    assert_eq!(failures.count, 1, "five minutes with nothing against it");
}

#[test]
fn delays_double_up_to_the_cap_and_are_one_for_what_failed_together() {
    let mut random = Random::new(3);
    for failures in 1..14u32 {
        let whole = seconds((0.5 * 2f64.powi(failures as i32 - 1)).min(120.0));
        let mut delays = Delays::default();
        let first = delays.after(failures, &mut random);
        assert!(first >= whole / 2 && first <= whole, "{failures}: {first:?}");
        assert_eq!(delays.after(failures, &mut random), first);
    }
}

/// The delays between the ends of passes that fail and the next ones.
fn delays(rig: &mut Rig, count: usize, verdict: impl Fn() -> Verdict) -> Vec<f64> {
    let mut delays = Vec::new();
    for _ in 0..count {
        rig.end(|_| verdict());
        let ended = rig.now;
        rig.next_pass(seconds(1e6)).expect("it is tried again");
        delays.push((rig.now - ended).as_secs_f64());
    }
    delays
}

/// One object that a hint has just brought into a pass. It is observed anew long after.
fn failing() -> Rig {
    let settings = Settings { resync: seconds(1e6), ..Settings::default() };
    let mut rig = Rig::level(settings, vec![subject("a")]);
    rig.now = seconds(400.0);
    rig.give(hint("a", Origin::Feed));
    rig
}

#[test]
fn what_fails_again_and_again_waits_longer_each_time() {
    let mut rig = failing();
    let delays = delays(&mut rig, 9, || soon(false));
    for (nth, delay) in delays.iter().enumerate() {
        let whole = 0.5 * f64::from(1 << nth);
        assert!(*delay <= whole.max(1.0) && *delay >= (whole / 2.0).max(1.0), "{nth}: {delays:?}");
    }
    let told = rig.status("a");
    assert_eq!(told.attempts, 9);
    let stalled = told.condition(ConditionKind::Stalled).expect("it fails for long");
    assert_eq!((stalled.truth, stalled.reason), (Truth::True, "Failing"));
    assert_eq!(STALLED, 5);
}

#[test]
fn what_repeating_does_not_change_waits_ten_minutes() {
    let mut rig = failing();
    assert_eq!(delays(&mut rig, 3, late), [LATE.as_secs_f64(); 3]);
    assert_eq!(rig.status("a").condition(ConditionKind::Stalled).expect("it is").reason, "NoRetry");
}

#[test]
fn what_a_server_asks_for_is_obeyed_up_to_a_quarter_of_an_hour() {
    for (asked, obeyed) in [(7.0, 7.0), (600.0, 600.0), (1e5, LONGEST.as_secs_f64())] {
        let mut rig = failing();
        let verdict = || Verdict::Failed(why(), Retry::Soon { fault: false, after: Some(seconds(asked)) });
        rig.end(|_| verdict());
        let ended = rig.now;
        rig.now += seconds(2.0);
        rig.give(hint_with("a", 77));
        rig.next_pass(seconds(1e6)).expect("it is tried again");
        assert_eq!((rig.now - ended).as_secs_f64(), obeyed, "whatever is hinted at");
        let warned = rig.warned.iter().any(|line| line.contains("asks to wait for 100000 s"));
        assert_eq!(warned, asked > obeyed);
    }
    let mut rig = failing();
    rig.end(|_| Verdict::Failed(why(), Retry::Soon { fault: false, after: Some(seconds(600.0)) }));
    rig.now += seconds(2.0);
    rig.give(hint("a", Origin::Person));
    assert_eq!(rig.begun.len(), 1, "a person may ask sooner");
}

#[test]
fn while_it_fails_only_a_change_of_what_was_seen_brings_an_attempt_forward() {
    let mut rig = failing();
    rig.give(hint_with("a", 1));
    (0..7).for_each(|_| drop(delays(&mut rig, 1, || soon(false))));
    rig.end(|_| soon(false));
    let ended = rig.now;
    let next = rig.status("a").next.expect("it waits");
    assert!(next >= ended + seconds(30.0));
    for origin in [Origin::Feed, Origin::Poll, Origin::Webhook] {
        rig.now += seconds(1.0);
        rig.give(hint("a", origin));
        rig.give(hint_with("a", 1));
        assert_eq!(rig.status("a").next, Some(next), "{origin:?}: nothing else was seen");
    }
    rig.now += seconds(0.2);
    rig.give(hint_with("a", 2));
    assert_eq!(rig.begun.len(), 1, "another state: at once, as the shortest backoff is over");
    rig.end(|_| soon(false));
    let ended = rig.now;
    rig.give(hint_with("a", 3));
    assert!(rig.begun.is_empty());
    assert_eq!(
        rig.status("a").next,
        Some(ended + seconds(1.0)),
        "the floor is longer than the shortest backoff"
    );
}

#[test]
fn another_wish_forgets_the_failures_and_is_tried_at_once() {
    let mut rig = failing();
    delays(&mut rig, 6, || soon(false));
    rig.end(|_| soon(false));
    rig.now += seconds(1.0);
    rig.give(Event::Desired(vec![subject_of("rabbit", "a", 2)]));
    assert_eq!(rig.begun[0].objects[0].1, Origin::Files);
    let first = delays(&mut rig, 1, || soon(false))[0];
    assert!(first <= 1.0, "as after the first failure: {first}");
}

#[test]
fn a_success_does_not_forget_what_failed_before() {
    let mut rig = failing();
    delays(&mut rig, 6, || soon(false));
    rig.end(|_| Verdict::InSync);
    rig.now += seconds(2.0);
    rig.give(hint("a", Origin::Feed));
    let delay = delays(&mut rig, 1, || soon(false))[0];
    assert!(delay >= 16.0, "as after the seventh failure: {delay}");
}

#[test]
fn retries_are_paid_for_and_where_nothing_is_left_the_resync_comes() {
    let subjects: Vec<_> = (0..40)
        .map(|nth| {
            let name = nth.to_string();
            crate::core::watch::Subject { group: format!("g{nth}").into(), ..subject(&name) }
        })
        .collect();
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(subjects));
    rig.end(|_| soon(false));
    let next =
        |rig: &Rig| rig.machine.status().objects.iter().filter(|o| o.next < Some(seconds(2.0))).count();
    assert!(
        (13..=14).contains(&next(&rig)),
        "ten tokens, and what forty first attempts earned: {}",
        next(&rig)
    );
    rig.go_to(seconds(670.0), |_| Verdict::InSync);
    let all = rig.machine.status().objects;
    assert!(all.iter().all(|object| object.holds(ConditionKind::Synced)), "the resync came for the others");
}

#[test]
fn what_failed_as_one_is_one_retry() {
    let names: Vec<String> = (0..40).map(|nth| nth.to_string()).collect();
    let mut rig = Rig::new(Settings::default());
    let mut all: Vec<_> = names.iter().map(|name| subject(name)).collect();
    all.push(crate::core::watch::Subject { group: "another".into(), ..subject("other") });
    rig.give(Event::Desired(all));
    rig.end(|id| if id.key.to_string() == "other" { Verdict::InSync } else { soon(true) });
    rig.next_pass(seconds(2.0)).expect("a retry");
    assert_eq!(rig.begun[0].objects.len(), 40, "one listing serves them all");
}

#[test]
fn what_is_blocked_is_tried_again_when_something_comes_level() {
    let mut rig = Rig::new(Settings { resync: seconds(1e6), ..Settings::default() });
    rig.give(Event::Desired(["a", "b"].map(subject).to_vec()));
    rig.end(|id| if id.key.to_string() == "a" { late() } else { Verdict::Blocked(why()) });
    rig.go_to(seconds(100.0), |_| Verdict::Blocked(why()));
    let next = rig.status("b").next.expect("with backoff");
    assert!(next > seconds(110.0), "{next:?}");
    assert_eq!(rig.status("b").condition(ConditionKind::Stalled).expect("for long").reason, "Blocked");
    rig.now = seconds(101.0);
    rig.give(hint_with("a", 5));
    rig.end_with(|id| seen(id, Verdict::InSync));
    assert_eq!(rig.begun.len(), 1);
    assert_eq!(super::make::names(&rig.begun[0]), ["b"], "at once");
    assert!(rig.now - seconds(101.0) == Duration::ZERO);
}

/// What waits for ten minutes, as its listing is forbidden, waits no longer once a poll gets it. What a server refuses
/// to write is no matter of that.
#[test]
fn what_polls_see_again_is_looked_at_soon() {
    let mut rig = Rig::new(Settings { resync: seconds(1e6), ..Settings::default() });
    rig.give(Event::Desired(["a", "b"].map(subject).to_vec()));
    rig.end_all(|id| if id.key.to_string() == "a" { late() } else { Verdict::InSync });
    rig.now = seconds(60.0);
    let again = |group: &str| {
        let about = crate::core::watch::About::Failing(group.into());
        Event::Hint(crate::core::watch::Hint { about, origin: Origin::Poll, observed: None })
    };
    rig.give(again("rabbit/others"));
    assert!(rig.begun.is_empty());
    rig.give(again("rabbit/queues"));
    assert_eq!(super::make::names(&rig.begun[0]), ["a"], "what is in sync is not looked at for it");
    rig.end_all(|_| late());
    rig.give(again("rabbit/queues"));
    assert!(rig.begun.is_empty(), "not faster than the shortest backoff");
    assert_eq!(rig.status("a").next, Some(seconds(61.0)));
    assert_eq!(rig.machine.counters().foreign, 0);
}

/// A pass that is cut short by the end of the loop has shown nothing.
#[test]
fn what_the_end_cuts_short_stays_as_it_was_known() {
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(["a", "b"].map(subject).to_vec()));
    let unknown = || Verdict::Unknown(why(), Retry::Soon { fault: false, after: None });
    rig.end_all(|id| if id.key.to_string() == "a" { Verdict::InSync } else { unknown() });
    rig.now = seconds(100.0);
    ["a", "b"].iter().for_each(|name| rig.give(hint(name, Origin::Person)));
    let before = ["a", "b"].map(|name| rig.status(name).conditions);
    rig.turned.clear();
    rig.give(Event::Drain);
    while let Some(pass) = rig.begun.pop() {
        rig.give(Event::Ended(pass.id, Vec::new()));
    }
    assert_eq!(["a", "b"].map(|name| rig.status(name).conditions), before);
    assert!(rig.turned.is_empty() && rig.machine.is_idle());
}

fn barred() -> Verdict {
    Verdict::Failed(why(), Retry::Barred)
}

/// Twenty objects of three groups, of which all were refused their credential; and one of another backend.
fn locked_out() -> Rig {
    let group = |nth: usize| crate::core::watch::Subject {
        group: format!("rabbit/g{}", nth % 3).into(),
        ..subject(&nth.to_string())
    };
    let mut all: Vec<_> = (0..20).map(group).collect();
    all.push(subject_of("dns", "x", 1));
    let mut rig = Rig::new(Settings { resync: seconds(1e6), ..Settings::default() });
    rig.give(Event::Desired(all));
    rig.end_all(|id| if &*id.kind.backend == "rabbit" { barred() } else { Verdict::InSync });
    rig
}

/// A server that knows nobody for a while: one object asks again, and once it is answered all others are looked at.
#[test]
fn a_credential_that_is_taken_again_brings_all_that_was_refused() {
    let mut rig = locked_out();
    assert_eq!(rig.status("3").condition(ConditionKind::Stalled).expect("it is").reason, "NoRetry");
    let mut asked = 0;
    while rig.next_pass(seconds(590.0)).is_some() {
        assert_eq!(rig.begun.iter().map(|pass| pass.objects.len()).sum::<usize>(), 1, "one asks for all");
        rig.end_all(|_| barred());
        asked += 1;
    }
    assert!((10..=16).contains(&asked), "with backoff: {asked}");
    // Ten minutes after they were refused, the others ask as well.
    rig.go_to(seconds(610.0), |_| barred());
    assert!(rig.next_pass(rig.now + seconds(120.0)).is_some(), "two minutes at most");
    rig.end_all(|_| Verdict::InSync);
    let healed = rig.now;
    rig.go_to(healed + seconds(2.0), |_| Verdict::InSync);
    let all = rig.machine.status().objects;
    assert!(all.iter().all(|object| object.holds(ConditionKind::Synced)), "all within two seconds");
    assert!(all.iter().all(|object| !object.holds(ConditionKind::Stalled)));
}

/// Whoever is answered tells that the credential is taken: another object too. What was refused for itself waits on.
#[test]
fn any_look_with_the_same_credential_brings_what_was_refused_for_it() {
    let mut rig = Rig::new(Settings { resync: seconds(1e6), ..Settings::default() });
    rig.give(Event::Desired(["a", "b", "c"].map(subject).to_vec()));
    let mixed = |id: &crate::core::identity::ObjectId| match &*id.key.to_string() {
        "a" => Verdict::InSync,
        "b" => late(),
        _ => barred(),
    };
    rig.end_all(mixed);
    let passes = rig.go_to(seconds(300.0), |_| barred());
    assert!(passes >= 5, "the one that is refused asks: {passes}");
    let next = |rig: &Rig, name| rig.status(name).next.expect("it waits");
    let (b, c) = (next(&rig, "b"), next(&rig, "c"));
    rig.give(hint("a", Origin::Feed));
    rig.end_all(|_| Verdict::InSync);
    assert!(next(&rig, "c") <= c && next(&rig, "c") <= rig.now + seconds(120.0));
    assert_eq!(next(&rig, "b"), b, "another refusal is no matter of the credential");
    // One that goes on being refused beside others that are not is asked for every two minutes at most.
    let mut passes = 0;
    for _ in 0..60 {
        let until = rig.now + seconds(10.0);
        passes += rig.go_to(until, mixed);
        rig.give(hint("a", Origin::Feed));
        passes += rig
            .begun
            .iter()
            .filter(|pass| pass.objects.iter().any(|(id, _)| id.key.to_string() == "c"))
            .count();
        rig.end_all(mixed);
    }
    assert!(passes <= 14, "{passes} in ten minutes");
}
