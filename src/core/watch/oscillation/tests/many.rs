//! All objects together: the flood, and how much is kept.

use std::time::Duration;

use super::super::Detector;
use super::world::{World, minutes, subject};
use crate::core::watch::pass::{Seen, Verdict};

const SECOND: Duration = Duration::from_secs(1);

fn wrote(detector: &mut Detector, now: Duration, name: &str, wish: u128, writes: usize) {
    let subject = subject(name, wish);
    let id = subject.id.clone();
    let seen = Seen {
        id,
        verdict: Verdict::InSync,
        ready: None,
        uid: None,
        writes,
        touched: Vec::new(),
        open: None,
    };
    detector.ended(now, &subject, &seen);
}

#[test]
fn what_the_files_account_for_is_no_flood() {
    let mut detector = Detector::default();
    for n in 0..1000 {
        wrote(&mut detector, SECOND, &format!("o{n}"), 1, 1);
    }
    assert_eq!(detector.flood(SECOND), None);
    // The same number again, and nothing was changed meanwhile.
    let later = minutes(20);
    for n in 0..60 {
        wrote(&mut detector, later, &format!("o{n}"), 1, 1);
    }
    assert_eq!(detector.flood(later), None, "so few are nothing to tell of");
    for n in 60..1000 {
        wrote(&mut detector, later + SECOND, &format!("o{n}"), 1, 1);
    }
    let told = detector.flood(later + SECOND).expect("a flood");
    assert!(told.contains("1000 in 10 minutes"), "{told}");
    wrote(&mut detector, later + 2 * SECOND, "o1", 1, 1);
    assert_eq!(detector.flood(later + 2 * SECOND), Some(told), "one sentence for as long as it goes on");
    assert_eq!(detector.flood(later + minutes(11)), None);
    // Where as many are wanted otherwise, it is theirs.
    for n in 0..1000 {
        wrote(&mut detector, minutes(60), &format!("o{n}"), 2, 1);
    }
    assert_eq!(detector.flood(minutes(60)), None);
}

#[test]
fn what_is_kept_does_not_grow_with_time() {
    let mut world = World::level(&[("size", 1), ("tier", 1)]);
    let mut n = 0;
    let mut sizes = Vec::new();
    for _ in 0..50 {
        world.go_on(minutes(60), 20 * SECOND, |world| {
            n += 1;
            world.set("size", n);
            world.set("tier", n % 3);
        });
        sizes.push(format!("{:?}", world.detector).len());
    }
    let (early, late) = (sizes[5..15].iter().max(), sizes[40..].iter().max());
    assert!(late <= early.map(|size| size + size / 4).as_ref(), "{sizes:?}");
    // Once all is quiet, next to nothing is.
    let busy = *sizes.last().expect("there are some");
    world.go_on(minutes(180), minutes(10), |_| {});
    let quiet = format!("{:?}", world.detector).len();
    assert!(quiet < busy && world.found.is_empty(), "{quiet} of {busy}: {:?}", world.found);
}
