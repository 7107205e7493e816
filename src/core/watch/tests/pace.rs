//! The window of hints, the floor, and objects that are looked at for nothing.

use super::super::hint::{Class, Origin};
use super::super::pace::Pace;
use super::super::{Seen, Settings, Verdict};
use super::make::{Rig, hint, seconds, seen, subject};

#[test]
fn the_window_opens_with_the_first_hint_and_does_not_move() {
    let mut pace = Pace::default();
    assert_eq!(pace.hinted(seconds(5.0)), seconds(5.0), "at once");
    for hint in [5.01, 5.05, 5.099] {
        assert_eq!(pace.hinted(seconds(hint)), seconds(5.1), "the end of the window");
    }
    assert_eq!(pace.hinted(seconds(5.1)), seconds(5.1), "the next window");
}

#[test]
fn passes_start_a_second_apart_and_a_trickle_of_hints_delays_none() {
    let mut rig = Rig::level(Settings::default(), vec![subject("a")]);
    let mut starts = Vec::new();
    for step in 0..1000 {
        rig.now = seconds(5.0 + f64::from(step) * 0.01);
        if rig.wake.is_some_and(|wake| wake <= rig.now) {
            rig.give(crate::core::watch::Event::Woke);
        }
        rig.give(hint("a", Origin::Feed));
        if !rig.begun.is_empty() {
            starts.push(rig.now.as_secs_f64());
            rig.end_with(|id| Seen { writes: 1, ..seen(id, Verdict::InSync) });
        }
    }
    assert!((9..=10).contains(&starts.len()), "{starts:?}");
    assert_eq!(starts[0], 5.0, "the first one at once");
    let apart = starts.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(apart.clone().all(|apart| (0.999..1.111).contains(&apart)), "{starts:?}");
}

#[test]
fn thirty_passes_for_nothing_make_the_floor_ten_seconds() {
    let mut pace = Pace::default();
    for pass in 0..29 {
        pace.started(seconds(f64::from(pass)));
    }
    assert!(!pace.is_idle(seconds(29.0)));
    pace.started(seconds(29.0));
    assert!(pace.is_idle(seconds(29.0)));
    assert_eq!(pace.earliest(seconds(29.0), Class::Event), seconds(39.0));
    assert_eq!(pace.earliest(seconds(29.0), Class::User), seconds(30.0), "a person does not wait");
    assert!(pace.is_idle(seconds(300.0)) && !pace.is_idle(seconds(300.1)), "of the last five minutes");
    pace.wrote();
    assert!(!pace.is_idle(seconds(29.0)));
    assert_eq!(pace.earliest(seconds(29.0), Class::Event), seconds(30.0));
}

#[test]
fn an_idle_object_is_warned_of_with_the_most_frequent_origin() {
    let mut rig = Rig::level(Settings::default(), vec![subject("a"), subject("b")]);
    for second in 1..=29 {
        rig.go_to(seconds(f64::from(second)), |_| Verdict::InSync);
        rig.give(hint("a", if second % 3 == 0 { Origin::Poll } else { Origin::Webhook }));
        rig.go_to(seconds(f64::from(second) + 0.9), |_| Verdict::InSync);
    }
    let warned = [rig.warned.join("\n"), rig.machine.status().warnings.join("\n")];
    for warned in warned {
        assert!(warned.contains("`Queue a`") && warned.contains("by webhook"), "{warned}");
    }
    rig.give(hint("a", Origin::Feed));
    let next = rig.status("a").next.expect("it waits");
    assert!(next >= seconds(38.0), "{next:?}");
    rig.go_to(seconds(400.0), |_| Verdict::InSync);
    rig.give(crate::core::watch::Event::Woke);
    assert_eq!(rig.machine.status().warnings, Vec::<String>::new(), "it is over");
}
