//! At most so many writes an hour.

use super::super::hour::Hour;
use super::super::{ConditionKind, Event, Origin, Seen, Settings, Verdict};
use super::make::{Rig, hint, seconds, seen, subject, why};

#[test]
fn the_hour_slides_and_what_is_under_way_counts() {
    let mut hour = Hour::new(Some(5), &[]);
    assert_eq!(hour.left(seconds(0.0)), Some(5));
    hour.reserve(4);
    assert_eq!(hour.left(seconds(0.0)), Some(1));
    hour.settle(seconds(10.0), 4, 2);
    assert_eq!(hour.left(seconds(10.0)), Some(3));
    hour.reserve(3);
    assert_eq!(hour.frees(seconds(10.0)), seconds(3610.0));
    hour.settle(seconds(20.0), 3, 3);
    assert_eq!(hour.left(seconds(3609.9)), Some(0));
    assert_eq!(hour.left(seconds(3610.0)), Some(2));
    assert_eq!(hour.left(seconds(3620.0)), Some(5));
    assert_eq!(Hour::new(None, &[(seconds(9.0), 3)]).left(seconds(0.0)), None);
}

/// A watch that is started again and again does not begin with a whole hour each time.
#[test]
fn what_an_earlier_process_wrote_counts_until_its_hour_is_over() {
    let earlier = [(seconds(1e9), 1), (seconds(600.0), 2)];
    let mut hour = Hour::new(Some(4), &earlier);
    assert_eq!(hour.left(seconds(0.0)), Some(1));
    hour.settle(seconds(1.0), 0, 1);
    assert_eq!((hour.left(seconds(599.0)), hour.frees(seconds(599.0))), (Some(0), seconds(600.0)));
    assert_eq!(hour.left(seconds(600.0)), Some(2));
    assert_eq!(hour.left(seconds(3600.0)), Some(3), "an hour at most, whatever is told");
    let mut full = Hour::new(Some(4), &[(seconds(10.0), usize::MAX), (seconds(10.0), usize::MAX)]);
    assert_eq!((full.left(seconds(9.0)), full.left(seconds(10.0))), (Some(0), Some(4)));
}

#[test]
fn writes_that_follow_each_other_closely_are_one_entry() {
    let mut hour = Hour::new(Some(100_000), &[]);
    for at in 0..10_000 {
        hour.settle(seconds(f64::from(at) / 100.0), 0, 1);
    }
    assert!(hour.writes().count() <= 101, "{}", hour.writes().count());
    assert_eq!(hour.left(seconds(100.0)), Some(90_000));
    assert_eq!(hour.left(seconds(3700.0)), Some(100_000));
}

#[test]
fn what_is_over_the_limit_waits_for_the_hour_to_free_a_write() {
    let settings = Settings { changes_an_hour: Some(2), resync: seconds(1e6), ..Settings::default() };
    let mut rig = Rig::new(settings);
    rig.give(Event::Desired(["a", "b", "c"].map(subject).to_vec()));
    assert_eq!((rig.begun[0].writes, rig.begun[0].most_writes), (true, Some(2)));
    rig.end_with(|id| match id.key.to_string().as_str() {
        "c" => seen(id, Verdict::Differs(why())),
        _ => Seen { writes: 1, ..seen(id, Verdict::InSync) },
    });
    let told = rig.status("c");
    assert!(told.holds(ConditionKind::Stalled));
    assert_eq!(told.condition(ConditionKind::Stalled).expect("it is").reason, "ChangeLimit");
    assert_eq!(told.condition(ConditionKind::Synced).expect("always").reason, "ChangeLimit");
    assert_eq!(told.next, Some(seconds(3600.0)));

    rig.now = seconds(60.0);
    rig.give(hint("a", Origin::Feed));
    assert_eq!((rig.begun[0].writes, rig.begun[0].most_writes), (false, None), "it only looks");
    rig.end(|_| Verdict::Differs(why()));
    assert_eq!(rig.status("a").condition(ConditionKind::Stalled).expect("it is").reason, "ChangeLimit");

    assert_eq!(rig.next_pass(seconds(4000.0)).expect("the hour is over"), ["a", "c"]);
    assert_eq!((rig.now, rig.begun[0].most_writes), (seconds(3600.0), Some(2)));
    rig.end_with(|id| Seen { writes: 1, ..seen(id, Verdict::InSync) });
    assert!(!rig.status("c").holds(ConditionKind::Stalled));
    assert_eq!(rig.machine.counters().writes, 4);
}

#[test]
fn a_limit_of_none_never_writes_and_what_is_only_reported_is_no_matter_of_the_limit() {
    let settings = Settings { changes_an_hour: Some(0), ..Settings::default() };
    let mut rig = Rig::level(settings, vec![subject("a")]);
    rig.now = seconds(3.0);
    rig.give(hint("a", Origin::Feed));
    assert!(!rig.begun[0].writes);

    let settings = Settings { changes_an_hour: Some(9), ..Settings::default() };
    let mut rig = Rig::new(settings);
    rig.give(Event::Desired(vec![subject("a")]));
    rig.end(|_| Verdict::Differs(why()));
    let told = rig.status("a");
    assert_eq!(told.condition(ConditionKind::Synced).expect("always").reason, "Differs");
    assert!(!told.holds(ConditionKind::Stalled));
}

#[test]
fn a_dry_run_never_writes() {
    let mut rig = Rig::new(Settings { dry_run: true, ..Settings::default() });
    rig.give(Event::Desired(vec![subject("a")]));
    assert!(!rig.begun[0].writes);
    rig.end(|_| Verdict::Differs(why()));
    assert_eq!(rig.status("a").condition(ConditionKind::Synced).expect("always").reason, "DryRun");
}

/// A watch that may write nothing does not try again each second.
#[test]
fn no_writes_at_all() {
    let mut hour = Hour::new(Some(0), &[]);
    assert_eq!(hour.left(seconds(0.0)), Some(0));
    assert_eq!(hour.frees(seconds(0.0)), seconds(3600.0));
}
