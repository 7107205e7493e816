//! The named cases: each of the troubles with events and with time, alone and at its worst.

use std::time::Duration;

use super::super::super::super::{ConditionKind, Event, Settings, Verdict};
use super::super::super::make::{Rig, hint, seconds, soon, subject};
use super::super::run::{Run, quiet};
use super::super::scene::{Act, Feed, Nature, Scene};
use crate::core::engine::tests::simulation::dice::Dice;
use crate::core::watch::Origin;

/// Runs a scene with several seeds of its choices.
fn run(scene: &Scene, look: impl Fn(&mut Run)) {
    for seed in 0..10 {
        let mut dice = Dice::new(seed);
        let mut run = Run::new(scene.clone(), &mut dice, false);
        look(&mut run);
        let broken = quiet(&mut run);
        assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
    }
}

/// Ten changes in the first minutes.
fn changing(feed: Feed) -> Scene {
    let mut scene = Scene { feed, calm: seconds(200.0), ..Scene::plain(5) };
    scene.acts = (0..10).map(|nth| (seconds(10.0 + 17.0 * nth as f64), Act::Change(nth % 5))).collect();
    scene
}

#[test]
fn e1_all_events_are_lost_and_the_resync_finds_them() {
    let feed = Feed { loses: 1.0, ..Scene::plain(1).feed };
    run(&changing(feed), |run| {
        run.go_to(seconds(200.0 + 660.0));
        assert!(run.machine(0).counters().missed_events > 0);
        assert!(run.world.things.iter().all(|thing| thing.value == thing.wish), "within eleven minutes");
    });
}

#[test]
fn e2_doubled_events_lead_to_no_more_writes() {
    let feed = Feed { doubles: 1.0, ..Scene::plain(1).feed };
    run(&changing(feed), |run| {
        run.go_to(seconds(200.0));
        for thing in &run.world.things {
            assert_eq!(thing.writes, 3, "the start, and two changes");
        }
        assert_eq!(run.machine(0).counters().missed_events, 0);
    });
}

#[test]
fn e3_events_that_overtake_each_other_end_the_same() {
    let feed = Feed { delay: seconds(9.0), ..Scene::plain(1).feed };
    run(&changing(feed), |_| {});
}

#[test]
fn e4_a_flood_makes_no_more_passes_than_one_a_second_and_no_more_entries_than_objects() {
    let every = seconds(0.002);
    for about in [Some(0), None] {
        let mut scene = Scene { calm: seconds(20.0), ..Scene::plain(3) };
        scene.acts = vec![(seconds(5.0), Act::Hints { about, every, during: seconds(10.0) })];
        let mut dice = Dice::new(1);
        let mut run = Run::new(scene, &mut dice, false);
        run.go_to(seconds(20.0));
        let passes: u64 = run.machine(0).counters().passes.values().sum();
        let flooded = if about.is_some() { 1 } else { 3 };
        // The start and the echo of the first write, and then one a second.
        assert!(passes <= 6 + 12 * flooded, "{passes}");
        let broken = quiet(&mut run);
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

#[test]
fn x4_ten_minutes_of_sleep_bring_one_pass_an_object() {
    for sleep in [600.0, 3600.0, 7200.0] {
        let mut scene = Scene { calm: seconds(60.0), ..Scene::plain(5) };
        scene.acts = vec![(seconds(30.0), Act::Sleep(seconds(sleep)))];
        run(&scene, |run| {
            run.go_to(seconds(29.0));
            let before = run.monitor(0).looks;
            run.go_to_calm();
            run.go_to(run.now + seconds(1.0));
            assert!(run.monitor(0).looks <= before + 5);
            assert_eq!(run.machine(0).counters().missed_events, 0);
        });
    }
}

/// A parent with two members below it, and what refers to one of those; the feed tells of what was touched alone, if
/// anything. The loop finds the parent gone, or made anew, makes it, and knows what else has to be looked at.
#[test]
fn what_goes_with_a_parent_is_made_again_though_the_feed_tells_of_the_parent_alone() {
    use Nature::{Member, Plain, Refers};
    for act in [Act::Delete(0), Act::Remake(0)] {
        let mut scene = Scene { calm: seconds(60.0), ..Scene::plain(4) };
        scene.natures = vec![Plain, Member, Member, Refers];
        scene.settings.resync = seconds(36_000.0);
        scene.acts = vec![(seconds(30.0), act)];
        run(&scene, |run| {
            run.go_to(seconds(60.0));
            let level =
                |at: usize| run.world.things[at].value == run.world.goal(at, run.world.things[at].wish);
            assert!((0..4).all(level), "{act:?}: half a minute later, without a resync");
            assert_eq!(run.machine(0).counters().missed_events, 0);
        });
    }
}

/// And where they did, it would be seen.
#[test]
fn i13_objects_that_take_long_hold_up_no_other() {
    let mut scene = Scene { slow: Some(seconds(25.0)), calm: seconds(120.0), ..Scene::plain(6) };
    scene.settings.passes = 16;
    let changes = (0..50).map(|nth| (seconds(1.5 + 2.0 * nth as f64), Act::Change(nth % 6)));
    // A person has all of them looked at together.
    let asks = (0..10).map(|nth| (seconds(10.0 * nth as f64), Act::Ask));
    scene.acts = changes.chain(asks).collect();
    run(&scene, |_| {});
    for seed in 0..10 {
        let mut dice = Dice::new(seed);
        let mut run = Run::new(scene.clone(), &mut dice, false);
        run.keeps_all = true;
        run.go_to_calm();
        assert!(run.broken.iter().any(|line| line.starts_with("I13")), "seed {seed}: {:?}", run.broken);
    }
}

/// A server that is away for five minutes, with a thousand objects on it.
#[test]
fn i12_an_outage_costs_probes_and_all_is_level_two_minutes_after_it() {
    let names: Vec<String> = (0..1000).map(|nth| nth.to_string()).collect();
    for seed in 0..10 {
        let settings = Settings { seed, ..Settings::default() };
        let mut rig = Rig::level(settings, names.iter().map(|name| subject(name)).collect());
        let (gone, back) = (seconds(10.0), seconds(310.0));
        rig.now = gone;
        let (mut looks, mut first) = (0, 0);
        let mut hinted = 0;
        while rig.now < back {
            for pass in &rig.begun {
                looks += pass.objects.len();
                first += pass.objects.iter().filter(|(_, origin)| *origin != Origin::Retry).count();
            }
            rig.end_all(|_| soon(true));
            let next = gone + seconds(0.5) * hinted;
            if hinted < 600 {
                // Hints come all the while, as a feed of its own would bring them.
                rig.go_to_first_pass(next);
                if rig.begun.is_empty() {
                    rig.now = rig.now.max(next);
                    rig.give(hint(&names[hinted as usize], Origin::Feed));
                    hinted += 1;
                }
            } else {
                rig.go_to_first_pass(back);
                rig.now = if rig.begun.is_empty() { back } else { rig.now };
            }
        }
        let probes = 40;
        assert!(looks as f64 <= 1.1 * first as f64 + f64::from(probes), "{looks} of {first} first ones");
        assert!(looks < 1100, "{looks}: the resync may have come once");
        rig.end_all(|_| Verdict::InSync);
        rig.go_to(back + seconds(120.0), |_| Verdict::InSync);
        let status = rig.machine.status();
        assert!(!rig.machine.holds("rabbit"), "seed {seed}: it is found to be back");
        let level = status.objects.iter().filter(|object| object.holds(ConditionKind::Synced)).count();
        assert_eq!(level, 1000, "seed {seed}");
    }
}

#[test]
fn i19_ten_thousand_objects_take_hints_in_any_number_with_one_entry_each() {
    let names: Vec<String> = (0..10_000).map(|nth| nth.to_string()).collect();
    let mut rig = Rig::new(Settings::default());
    rig.give(Event::Desired(names.iter().map(|name| subject(name)).collect()));
    assert_eq!(rig.begun[0].objects.len(), 10_000, "the first pass takes all");
    for name in &names {
        (0..3).for_each(|_| rig.give(hint(name, Origin::Feed)));
    }
    assert_eq!(rig.machine.entries(), 10_000);
    rig.end(|_| Verdict::InSync);
    rig.next_pass(seconds(2.0)).expect("for the hints");
    assert_eq!(rig.begun[0].objects.len(), 10_000, "one pass for them all");
    assert_eq!(rig.now, Duration::from_secs(1));
}
