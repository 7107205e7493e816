//! Another desired set.

use super::super::{About, ConditionKind, Event, Hint, Origin, Seen, Settings, Verdict};
use super::make::{Rig, hint, id, names, seconds, seen, soon, subject, subject_of, why};

#[test]
fn what_is_unchanged_stays_and_what_is_changed_or_new_is_due_at_once() {
    let mut rig = Rig::level(Settings::default(), ["a", "b", "c"].map(subject).to_vec());
    rig.now = seconds(5.0);
    rig.give(hint("a", Origin::Feed));
    rig.end(|_| soon(false));
    let retry = rig.status("a").next;
    rig.now = seconds(5.5);
    rig.give(Event::Desired(vec![subject("d"), subject_of("rabbit", "c", 2), subject("a")]));
    assert_eq!(names(&rig.begun[0]), ["d", "c"]);
    assert!(!rig.machine.has_seen_all());
    let all: Vec<_> = rig.machine.status().objects.iter().map(|object| object.id.clone()).collect();
    assert_eq!(all, [id("d"), id("c"), id("a")], "in the order of the documents");
    assert_eq!(rig.status("c").conditions[0].reason, "Pending");
    assert_eq!((rig.status("a").next, rig.status("a").attempts), (retry, 1));
    rig.end(|_| Verdict::InSync);
    assert!(rig.machine.has_seen_all());

    rig.give(Event::Desired(vec![subject("d"), subject_of("rabbit", "c", 2), subject("a")]));
    assert!(rig.begun.is_empty(), "the same again is no reason to look");
    rig.give(hint("b", Origin::Feed));
    assert_eq!(rig.machine.counters().foreign, 1, "it is gone");
}

#[test]
fn what_changes_while_it_is_in_a_pass_goes_again_and_the_pass_says_nothing_of_the_new_wish() {
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(vec![subject("a")]));
    rig.give(Event::Desired(vec![subject_of("rabbit", "a", 2)]));
    assert_eq!(rig.begun.len(), 1, "one pass at a time");
    rig.end_with(|id| Seen { writes: 1, ..seen(id, Verdict::InSync) });
    assert!(!rig.status("a").holds(ConditionKind::Synced) && !rig.machine.has_seen_all());
    assert_eq!(rig.next_pass(seconds(2.0)).expect("it goes again"), ["a"]);
    assert_eq!(rig.begun[0].objects[0].1, Origin::Files);
    rig.end(|_| Verdict::InSync);
    assert!(rig.status("a").holds(ConditionKind::Synced));
    assert_eq!(rig.status("a").writes, 1);
}

#[test]
fn what_leaves_and_returns_while_it_is_in_a_pass_is_never_in_two() {
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(vec![subject("a"), subject("b")]));
    rig.give(Event::Desired(vec![subject("b")]));
    rig.give(Event::Desired(vec![subject("x"), subject_of("rabbit", "a", 3), subject("b")]));
    assert_eq!(rig.begun.len(), 2);
    assert_eq!(names(&rig.begun[1]), ["x"], "what is in no pass");
    rig.end(|_| Verdict::Refused(why()));
    assert_eq!(rig.status("a").conditions[0].reason, "Pending", "that was another wish");
    assert_eq!(rig.status("b").conditions[0].reason, "Refused");
    rig.end(|_| Verdict::InSync);
    assert_eq!(rig.next_pass(seconds(2.0)).expect("it goes again"), ["a"]);
}

#[test]
fn hints_find_objects_groups_backends_and_all() {
    let mut rig =
        Rig::level(Settings::default(), vec![subject("a"), subject("b"), subject_of("dns", "x", 1)]);
    let give = |rig: &mut Rig, about: About, origin: Origin| {
        rig.now += seconds(5.0);
        rig.give(Event::Hint(Hint { about, origin, observed: None }));
        let looked: Vec<Vec<String>> = rig.begun.iter().map(names).collect();
        rig.end_all(|_| Verdict::InSync);
        looked
    };
    assert_eq!(give(&mut rig, About::Object(id("b")), Origin::Feed), [["b"]]);
    assert_eq!(give(&mut rig, About::Group("rabbit/queues".into()), Origin::Poll), [["a", "b"]]);
    assert_eq!(give(&mut rig, About::Target("dns".into()), Origin::Poll), [["x"]]);
    assert_eq!(give(&mut rig, About::All, Origin::Person), [["a", "b", "x"]], "one pass for a person");
    let several = give(&mut rig, About::All, Origin::Poll);
    assert_eq!(several, [vec!["a", "b"], vec!["x"]], "one for each backend");
    assert_eq!(give(&mut rig, About::Group("nobody's".into()), Origin::Poll), Vec::<Vec<String>>::new());
    assert_eq!(rig.machine.counters().foreign, 1);

    rig.now += seconds(5.0);
    let hints =
        ["a", "b"].map(|name| Hint { about: About::Object(id(name)), origin: Origin::Poll, observed: None });
    rig.give(Event::Hints(hints.to_vec()));
    assert_eq!(rig.begun.iter().map(names).collect::<Vec<_>>(), [["a", "b"]], "together");
}

#[test]
fn what_a_pass_left_out_is_tried_again() {
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(vec![subject("a"), subject("b")]));
    let pass = rig.begun.remove(0);
    rig.give(Event::Ended(pass.id, vec![seen(&id("a"), Verdict::InSync)]));
    assert_eq!(rig.status("b").conditions[0].reason, "Interrupted");
    assert!(!rig.machine.has_seen_all());
    assert_eq!(rig.next_pass(seconds(2.0)).expect("it is tried again"), ["b"]);
    rig.end(|_| Verdict::InSync);
    assert!(rig.machine.has_seen_all());
    rig.give(Event::Ended(pass.id, vec![seen(&id("a"), Verdict::Refused(why()))]));
    assert!(rig.status("a").holds(ConditionKind::Synced), "a pass that has ended ends once");
}
