//! The table of conditions, and that they are only touched when they change.

use std::time::Duration;

use super::super::super::digest::Digest;
use super::super::super::path::Path;
use super::super::super::report::Explanation;
use super::super::conditions::{Conditions, LONGEST, Reading, reason};
use super::super::oscillation::Found;
use super::super::{Condition, ConditionKind, Retry, Truth, Verdict};
use super::make::{late, seconds, soon, why};
use ConditionKind::{Conflict, Fighting, NotEffective, Ready, Stalled, Synced, Unknown};

fn reading(verdict: &Verdict) -> Reading<'_> {
    Reading {
        desired: Digest(1),
        verdict: Some(verdict),
        ready: None,
        found: &[],
        row: 1,
        is_limited: false,
        is_dry: false,
        is_away: false,
        is_stale: false,
    }
}

/// Kind, truth and reason of all that stands there after one reading.
fn told(reading: &Reading) -> Vec<(ConditionKind, Truth, &'static str)> {
    let mut conditions = Conditions::new(Duration::ZERO);
    conditions.update(seconds(1.0), reading);
    conditions.all().iter().map(|it| (it.kind, it.truth, it.reason)).collect()
}

#[test]
fn what_each_verdict_says() {
    use Truth::{False, True};
    let unknown = |retry| Verdict::Unknown(why(), retry);
    let fault = Retry::Soon { fault: true, after: None };
    let rows = [
        (Verdict::InSync, vec![(Synced, True, "InSync")]),
        (Verdict::Differs(why()), vec![(Synced, False, "Differs")]),
        (Verdict::Conflict(why()), vec![(Synced, False, "Conflict"), (Conflict, True, "Conflict")]),
        (Verdict::Refused(why()), vec![(Synced, False, "Refused"), (Stalled, True, "Refused")]),
        (
            Verdict::NotEffective(why()),
            vec![(Synced, False, "NotEffective"), (NotEffective, True, "NotEffective")],
        ),
        (unknown(fault), vec![(Synced, Truth::Unknown, "NotProved"), (Unknown, True, "NotProved")]),
        (
            unknown(Retry::Late),
            vec![
                (Synced, Truth::Unknown, "NotProved"),
                (Stalled, True, "NoRetry"),
                (Unknown, True, "NotProved"),
            ],
        ),
        (soon(false), vec![(Synced, False, "Failed")]),
        (late(), vec![(Synced, False, "Failed"), (Stalled, True, "NoRetry")]),
        (Verdict::Blocked(why()), vec![(Synced, False, "Blocked")]),
    ];
    for (verdict, wanted) in rows {
        assert_eq!(told(&reading(&verdict)), wanted, "{verdict:?}");
    }
    let interrupted = Reading { verdict: None, ..reading(&Verdict::InSync) };
    assert_eq!(told(&interrupted), [(Synced, Truth::Unknown, "Interrupted")]);
}

#[test]
fn what_the_loop_adds() {
    use Truth::{False, True};
    let differs = Verdict::Differs(why());
    let limited = Reading { is_limited: true, ..reading(&differs) };
    assert_eq!(told(&limited), [(Synced, False, "ChangeLimit"), (Stalled, True, "ChangeLimit")]);
    let dry = Reading { is_dry: true, ..reading(&differs) };
    assert_eq!(told(&dry), [(Synced, False, "DryRun")]);
    let failed = soon(true);
    let away = Reading { is_away: true, ..reading(&failed) };
    assert_eq!(told(&away), [(Synced, False, "Failed"), (Stalled, True, "BackendAway")]);
    let often = Reading { row: 5, ..reading(&failed) };
    assert_eq!(told(&often), [(Synced, False, "Failed"), (Stalled, True, "Failing")]);
    let blocked = Verdict::Blocked(why());
    let long = Reading { row: 5, ..reading(&blocked) };
    assert_eq!(told(&long), [(Synced, False, "Blocked"), (Stalled, True, "Blocked")]);
    let ready = Reading { ready: Some(false), ..reading(&Verdict::InSync) };
    assert_eq!(told(&ready), [(Synced, True, "InSync"), (Ready, False, "NotReady")]);
}

/// Nobody should have to end one fight to be told of the next.
#[test]
fn all_paths_that_are_fought_over_are_named() {
    let fight = |path: &str, by: &[&str], cycles| Found::Fighting {
        path: Path::parse(path).expect("a path"),
        by: by.iter().map(|name| (*name).into()).collect(),
        cycles,
        until: seconds(300.0),
    };
    let message = |found: &[Found]| {
        let mut conditions = Conditions::new(Duration::ZERO);
        conditions.update(seconds(1.0), &Reading { found, ..reading(&Verdict::InSync) });
        conditions.get(Fighting).expect("it holds").message.clone()
    };
    let two = [fight("a", &["helm"], 3), fight("b.c", &[], 4)];
    assert_eq!(
        message(&two),
        "`a` was set back 3 times by helm, `b.c` was set back 4 times by another writer: left as they are for now"
    );
    let many: Vec<Found> = (0..11).map(|n| fight(&format!("f{n}"), &[], 3)).collect();
    let told = message(&many);
    assert!(told.contains("`f7` was") && !told.contains("`f8`"), "{told}");
    assert!(told.ends_with(" and 3 more: left as they are for now"), "{told}");
    let churn = Found::Churn { writes: 10, open: Some(seconds(300.0)) };
    let both = message(&[fight("a", &[], 3), churn]);
    assert_eq!(
        both,
        "`a` was set back 3 times by another writer; 10 writes did not keep it as it is wanted: left as it is for now"
    );
    let paths = (0..11).map(|n| Path::parse(&format!("f{n}")).expect("a path")).collect();
    let kept = [Found::NotEffective { paths }];
    let mut conditions = Conditions::new(Duration::ZERO);
    conditions.update(seconds(1.0), &Reading { found: &kept, ..reading(&Verdict::InSync) });
    let told = &conditions.get(NotEffective).expect("it holds").message;
    assert!(told.contains("`f6`, `f7` and 3 more: no longer written"), "{told}");
}

#[test]
fn what_the_detector_found_has_the_path_and_the_other_writer() {
    let path = Path::parse("spec.size").expect("a path");
    let fight = Found::Fighting {
        path: path.clone(),
        by: vec!["kubectl".into(), "argo".into()],
        cycles: 3,
        until: seconds(300.0),
    };
    let churn = Found::Churn { writes: 10, open: Some(seconds(300.0)) };
    let warned = Found::Churn { writes: 5, open: None };
    let kept = Found::NotEffective { paths: vec![path] };
    let found = [kept, fight];
    let mut conditions = Conditions::new(Duration::ZERO);
    conditions.update(seconds(1.0), &Reading { found: &found, ..reading(&Verdict::InSync) });
    let message = |kind| conditions.get(kind).expect("it holds").message.clone();
    assert_eq!(message(Fighting), "`spec.size` was set back 3 times by kubectl, argo: left as it is for now");
    assert_eq!(message(NotEffective), "the server keeps another value of `spec.size`: no longer written");
    let open = Reading { found: std::slice::from_ref(&churn), ..reading(&Verdict::InSync) };
    assert_eq!(told(&open)[1], (Fighting, Truth::True, "Churn"));
    let warned = Reading { found: &[warned], ..reading(&Verdict::InSync) };
    assert_eq!(told(&warned).len(), 1, "a warning is no condition");
}

#[test]
fn since_is_when_the_truth_flipped_and_what_is_equal_is_not_touched() {
    let mut conditions = Conditions::new(seconds(0.0));
    let failed = soon(false);
    let since = |conditions: &Conditions| conditions.get(Synced).expect("always").since;
    assert_eq!(conditions.update(seconds(1.0), &reading(&failed)).len(), 1);
    assert_eq!(since(&conditions), seconds(1.0));
    let before = conditions.clone();
    assert_eq!(conditions.update(seconds(2.0), &reading(&failed)), Vec::<Condition>::new());
    assert_eq!(conditions, before, "the same again");
    let refused = Verdict::Refused(why());
    let turned = conditions.update(seconds(3.0), &reading(&refused));
    assert_eq!(turned.len(), 2, "another reason, and a stall");
    assert_eq!(since(&conditions), seconds(1.0), "another reason is no flip");
    let other = Verdict::Refused(Explanation { message: "otherwise".into(), ..why() });
    assert!(conditions.update(seconds(4.0), &reading(&other)).is_empty(), "another message is no news");
    assert_eq!(conditions.get(Synced).expect("always").message, "otherwise");
    let turned = conditions.update(seconds(5.0), &reading(&Verdict::InSync));
    let turned: Vec<_> = turned.iter().map(|it| (it.kind, it.truth, it.since)).collect();
    assert_eq!(
        turned,
        [(Synced, Truth::True, seconds(5.0)), (Stalled, Truth::False, seconds(5.0))],
        "what held stays, as no longer so"
    );
    assert_eq!(conditions.get(Stalled).expect("it stays").reason, reason::NONE);
    let pending = conditions.wanted_otherwise(seconds(6.0)).expect("it turns");
    assert_eq!((pending.truth, pending.reason), (Truth::Unknown, "Pending"));
    assert!(conditions.wanted_otherwise(seconds(7.0)).is_none());
}

#[test]
fn messages_are_cut_between_characters() {
    for filler in ["x", "é", "€", "𝕏"] {
        for shift in 0..4 {
            let message = format!("{}{}", "x".repeat(shift), filler.repeat(3000));
            let verdict = Verdict::Refused(Explanation { message, hint: Some("look".into()), reason: None });
            let mut conditions = Conditions::new(Duration::ZERO);
            conditions.update(seconds(1.0), &reading(&verdict));
            let message = &conditions.get(Synced).expect("always").message;
            assert!(message.len() <= LONGEST && message.len() > LONGEST - 8 && message.ends_with('…'));
        }
    }
    let verdict = Verdict::Refused(Explanation { hint: Some("do this".into()), ..why() });
    let mut conditions = Conditions::new(Duration::ZERO);
    conditions.update(seconds(1.0), &reading(&verdict));
    assert_eq!(conditions.get(Synced).expect("always").message, "for a reason; do this");
}

/// A reader is to know whether a condition speaks of what is wanted now.
#[test]
fn each_says_which_wish_it_speaks_of() {
    let told = |conditions: &Conditions| -> Vec<(ConditionKind, Option<Digest>)> {
        conditions.all().iter().map(|it| (it.kind, it.observed)).collect()
    };
    let mut conditions = Conditions::new(Duration::ZERO);
    assert_eq!(told(&conditions), [(Synced, None)], "nothing was seen");
    conditions.update(seconds(1.0), &Reading { ready: Some(true), ..reading(&Verdict::InSync) });
    let first = Some(Digest(1));
    assert_eq!(told(&conditions), [(Synced, first), (Ready, first)]);
    conditions.wanted_otherwise(seconds(2.0));
    assert_eq!(told(&conditions), [(Synced, first), (Ready, first)], "of the new wish nothing is known");
    let failed = soon(true);
    let second = Some(Digest(2));
    conditions.update(seconds(3.0), &Reading { desired: Digest(2), ..reading(&failed) });
    assert_eq!(told(&conditions), [(Synced, second), (Ready, first)], "a failure says nothing of readiness");
    let turned = conditions.update(seconds(4.0), &Reading { desired: Digest(3), ..reading(&failed) });
    assert_eq!(turned, [], "another wish alone is no turn");
    assert_eq!(told(&conditions)[0], (Synced, Some(Digest(3))));
    assert_eq!(conditions.all()[0].since, seconds(2.0).max(seconds(3.0)));
}
