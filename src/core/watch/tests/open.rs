//! What passes leave open: carried from pass to pass, for as long as it says something.

use std::sync::Arc;

use super::super::super::report::{Action, Explanation, NOT_VISIBLE, UNDER_WAY};
use super::super::super::unfinished::Unfinished;
use super::super::{ConditionKind, Origin, Seen, Settings, Truth, Verdict};
use super::make::{Rig, hint, id, seconds, seen, subject};
use crate::core::watch::Event;

fn open(age: f64) -> Option<Arc<Unfinished>> {
    Some(Arc::new(Unfinished {
        action: Action::Create,
        accepted: true,
        server_id: Some("7".into()),
        operation: None,
        shown: false,
        age: seconds(age),
        next: Some(seconds(4.0)),
    }))
}

fn progressing(reason: &'static str) -> Verdict {
    Verdict::Progressing(Explanation::new("it takes a while").because(reason), seconds(4.0))
}

/// One object, in a pass that a hint has begun at 100 s; it ends 20 s later and leaves something open that is 15 s old.
fn rig(reason: &'static str) -> Rig {
    let settings = Settings { resync: seconds(1e6), ..Settings::default() };
    let mut rig = Rig::level(settings, vec![subject("a")]);
    rig.now = seconds(100.0);
    rig.give(hint("a", Origin::Feed));
    rig.now = seconds(120.0);
    rig.end_with(|id| Seen { open: open(15.0), writes: 1, ..seen(id, progressing(reason)) });
    rig
}

#[test]
fn it_is_looked_at_when_the_pass_says_and_is_no_failure() {
    for reason in [UNDER_WAY, NOT_VISIBLE] {
        let mut rig = rig(reason);
        for _ in 0..40 {
            let status = rig.status("a");
            let synced = status.condition(ConditionKind::Synced).expect("it is always told");
            assert_eq!((synced.truth, synced.reason), (Truth::Unknown, reason));
            assert!(!status.holds(ConditionKind::Stalled) && status.attempts == 0);
            assert!(status.holds(ConditionKind::Unknown));
            let ended = rig.now;
            assert_eq!(status.next, Some(ended + seconds(4.0)));
            rig.next_pass(seconds(1e6)).expect("it is looked at again");
            assert_eq!(rig.now, ended + seconds(4.0));
            rig.end_with(|id| Seen { open: open(15.0), ..seen(id, progressing(reason)) });
        }
        assert_eq!(rig.warned, Vec::<String>::new());
        rig.next_pass(seconds(1e6)).expect("it is looked at again");
        rig.end(|_| Verdict::InSync);
        assert!(!rig.status("a").holds(ConditionKind::Unknown));
    }
}

#[test]
fn the_next_pass_is_told_and_how_old_it_is() {
    let mut rig = rig(UNDER_WAY);
    rig.next_pass(seconds(1e6)).expect("it is looked at again");
    let told = &rig.begun[0].open[&id("a")];
    assert_eq!((told.age, told.server_id.as_deref()), (seconds(19.0), Some("7")));
    // A pass that ends without the object says nothing of it.
    let pass = rig.begun.remove(0);
    rig.give(Event::Ended(pass.id, Vec::new()));
    rig.next_pass(seconds(1e6)).expect("it is tried again");
    assert!(rig.begun[0].open.contains_key(&id("a")));
    rig.end(|_| Verdict::InSync);
    rig.give(hint("a", Origin::Feed));
    rig.next_pass(seconds(1e6)).expect("the hint");
    assert!(rig.begun[0].open.is_empty(), "it has come to an end");
}

#[test]
fn it_outlives_another_wish_and_a_document_that_is_missing_for_a_moment() {
    let mut rig = rig(NOT_VISIBLE);
    rig.give(Event::Desired(Vec::new()));
    rig.now += seconds(30.0);
    rig.give(Event::Desired(vec![super::make::subject_of("rabbit", "a", 2)]));
    rig.next_pass(seconds(1e6)).expect("it is wanted");
    assert_eq!(rig.begun[0].open[&id("a")].age, seconds(45.0));
    rig.end_with(|id| Seen { open: open(50.0), ..seen(id, progressing(NOT_VISIBLE)) });
    rig.give(Event::Desired(Vec::new()));
    rig.now += seconds(4_000.0);
    rig.give(Event::Desired(Vec::new()));
    rig.give(Event::Desired(vec![subject("a")]));
    rig.next_pass(seconds(1e6)).expect("it is wanted");
    assert!(rig.begun[0].open.is_empty(), "nobody wanted it for an hour");
}

#[test]
fn it_says_nothing_of_a_backend_that_is_somewhere_else_now() {
    let mut rig = rig(UNDER_WAY);
    rig.machine.moved("other");
    rig.next_pass(seconds(1e6)).expect("it is looked at again");
    assert_eq!(rig.begun[0].open.len(), 1);
    rig.end_with(|id| Seen { open: open(15.0), ..seen(id, progressing(UNDER_WAY)) });
    rig.machine.moved("rabbit");
    rig.next_pass(seconds(1e6)).expect("it is looked at again");
    assert!(rig.begun[0].open.is_empty());
}
