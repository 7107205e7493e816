//! The breaker of a backend, and how objects fare behind it.

use super::super::super::engine::random::Random;
use super::super::target::{Target, Turn};
use super::super::{ConditionKind, Event, Origin, Pass, Retry, Settings, Verdict};
use super::make::{Rig, hint, late, names, seconds, soon, subject, subject_of, why};

#[test]
fn it_opens_after_five_faults_in_a_row_and_closes_on_any_answer() {
    let (mut target, mut random) = (Target::new("rabbit".into()), Random::new(1));
    let now = seconds(1.0);
    assert_eq!(target.failed(now, 4, "away", &mut random), Turn::Stays);
    assert_eq!(target.answered(now), Turn::Stays);
    assert_eq!(target.failed(now, 4, "away", &mut random), Turn::Stays, "an answer between");
    assert_eq!(target.failed(now, 1, "away", &mut random), Turn::Opens);
    assert_eq!(target.failed(now, 9, "away", &mut random), Turn::Stays);
    let open = target.open.as_ref().expect("it is open");
    assert!(open.probe <= now + seconds(1.0) && open.message == "away");
    assert_eq!(target.answered(seconds(2.0)), Turn::Closes);
    assert!(target.open.is_none() && target.since == seconds(2.0));
}

#[test]
fn probes_are_one_at_a_time_and_ever_further_apart() {
    let (mut target, mut random) = (Target::new("rabbit".into()), Random::new(1));
    target.failed(seconds(0.0), 5, "away", &mut random);
    let mut longest = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0].into_iter();
    longest.next();
    for (pass, longest) in (1..).zip(longest) {
        let open = target.open.as_mut().expect("it is open");
        let now = open.probe;
        assert!(open.admits(now));
        open.started(pass, &"a group".into());
        assert!(!open.admits(now) && open.next().is_none(), "one is under way");
        target.ended(now, pass + 100, &mut random);
        assert!(!target.open.as_ref().expect("open").admits(now), "another pass was no probe");
        target.ended(now, pass, &mut random);
        let open = target.open.as_ref().expect("it is open");
        assert!(open.probe >= now && open.probe <= now + seconds(longest));
        assert_eq!(open.tried(&"a group".into()), pass as u32);
    }
}

/// Ten objects of a backend, and one of another.
fn two_backends() -> Rig {
    let mut subjects: Vec<_> = (0..10).map(|nth| subject(&nth.to_string())).collect();
    subjects.push(subject_of("dns", "x", 1));
    Rig::level(Settings::default(), subjects)
}

fn is_probe(pass: &Pass) -> bool {
    pass.objects.len() == 1
}

#[test]
fn nothing_but_probes_is_sent_until_one_is_answered_and_then_all_at_once() {
    let mut rig = two_backends();
    rig.now = seconds(5.0);
    rig.give(hint("0", Origin::Person));
    rig.end(|_| soon(true));
    assert!(!rig.machine.holds("rabbit"), "one failure");
    rig.now = seconds(5.1);
    rig.give(Event::Hint(crate::core::watch::Hint {
        about: crate::core::watch::About::Target("rabbit".into()),
        origin: Origin::Poll,
        observed: None,
    }));
    rig.end(|_| soon(true));
    assert!(rig.machine.holds("rabbit") && !rig.machine.holds("dns"));
    let told = rig.status("4");
    assert_eq!(told.condition(ConditionKind::Stalled).expect("it is").reason, "BackendAway");
    assert_eq!(rig.backends, [("rabbit".to_owned(), false)]);

    // Hints meanwhile are not lost, and lead to no pass.
    rig.give(hint("7", Origin::Person));
    let mut probes = 0;
    while rig.next_pass(seconds(200.0)).is_some() {
        let pass = &rig.begun[0];
        if pass.objects[0].0.kind.backend == "dns".into() {
            rig.end(|_| Verdict::InSync);
            continue;
        }
        assert!(is_probe(pass) && rig.begun.len() == 1, "{pass:?}");
        rig.end(|_| soon(true));
        probes += 1;
    }
    assert!((5..40).contains(&probes), "{probes}");
    let target = rig.machine.status().targets.into_iter().find(|target| &*target.name == "rabbit");
    let target = target.expect("it is wanted");
    assert!(target.open && target.next.is_some() && target.message.as_deref() == Some("for a reason"));

    rig.next_pass(seconds(300.0)).expect("a probe");
    rig.end(|_| Verdict::InSync);
    assert!(!rig.machine.holds("rabbit"));
    assert_eq!(rig.backends[1..], [("rabbit".to_owned(), true)]);
    assert!(rig.warned.is_empty(), "what is good again is no trouble: {:?}", rig.warned);
    let begun: usize = rig.begun.iter().map(|pass| pass.objects.len()).sum();
    assert_eq!(begun, 9, "all others at once, in passes by class");
    assert!(rig.begun.len() <= 2);
    rig.end_all(|_| Verdict::InSync);
    assert!(rig.machine.status().objects.iter().all(|object| object.holds(ConditionKind::Synced)));
}

/// The server asked for patience, and a person has none.
#[test]
fn a_person_need_not_wait_for_the_next_probe() {
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired((0..9).map(|nth| subject(&nth.to_string())).collect()));
    let hour = Some(seconds(3600.0));
    let patience = || Verdict::Failed(why(), Retry::Soon { fault: true, after: hour });
    rig.end(|_| patience());
    assert!(rig.machine.holds("rabbit"));
    assert_eq!(rig.next_pass(seconds(890.0)), None, "it is heeded, for a quarter of an hour at most");
    assert!(
        rig.status("3").next.is_some_and(|next| next >= seconds(899.0)),
        "and the status says until when"
    );
    rig.now = seconds(890.0);
    rig.give(hint("3", Origin::Feed));
    assert!(rig.begun.is_empty());
    rig.give(hint("3", Origin::Person));
    assert_eq!(names(&rig.begun[0]), ["3"]);
    rig.end(|_| Verdict::InSync);
    assert!(!rig.machine.holds("rabbit"));
}

#[test]
fn probes_go_round_the_groups_so_that_a_broken_one_hides_no_other() {
    let mut subjects: Vec<_> = (0..30).map(|nth| subject(&nth.to_string())).collect();
    let odd = crate::core::watch::Subject { group: "odd".into(), ..subject("odd") };
    subjects.push(odd);
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(subjects));
    rig.end(|_| soon(true));
    assert!(rig.machine.holds("rabbit"));
    let mut probed = Vec::new();
    for _ in 0..4 {
        probed.extend(rig.next_pass(seconds(300.0)).expect("a probe"));
        rig.end(|_| soon(true));
    }
    assert!(probed.contains(&"odd".to_string()), "{probed:?}");
}

#[test]
fn a_listing_that_fails_beside_others_opens_nothing() {
    let mut rig = two_backends();
    rig.now = seconds(5.0);
    rig.give(Event::Hint(crate::core::watch::Hint {
        about: crate::core::watch::About::All,
        origin: Origin::Person,
        observed: None,
    }));
    rig.end(|id| if id.key.to_string() == "9" { late() } else { soon(true) });
    assert!(!rig.machine.holds("rabbit"), "something was answered");
}

#[test]
fn a_backend_that_hangs_leaves_passes_for_the_others() {
    let mut rig = two_backends();
    rig.now = seconds(5.0);
    for nth in 0..10 {
        rig.give(hint(&nth.to_string(), Origin::Feed));
    }
    let mut settings = Settings { passes: 4, ..Settings::default() };
    assert_eq!(rig.begun.len(), 8, "half of sixteen");
    settings.seed = 1;
    let mut rig = Rig::level(settings.clone(), vec![subject("a"), subject("b"), subject("c")]);
    rig.now = seconds(5.0);
    ["a", "b", "c"].iter().for_each(|name| rig.give(hint(name, Origin::Feed)));
    assert_eq!(rig.begun.len(), 3, "with no other backend there is nobody to leave any for");
    assert_eq!(names(&rig.begun[2]), ["c"]);
}
