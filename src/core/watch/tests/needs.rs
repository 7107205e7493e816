//! Objects that others need: who is looked at when one of them changes, and what is said meanwhile.

use std::sync::Arc;

use super::super::super::digest::Digest;
use super::super::super::path::Path;
use super::super::{
    About, ConditionKind, Event, Hint, Origin, Retry, Seen, Settings, Subject, Touched, Truth, Verdict,
};
use super::make::{Rig, hint, hint_with, id, names, seconds, seen, subject, subject_of, why};

/// `name`, which needs these.
fn needy(name: &str, needs: &[&str]) -> Subject {
    Subject { needs: needs.iter().map(|need| id(need)).collect(), ..subject(name) }
}

/// `site` refers to `team`, `page` lies below `site`, and `other` is by itself.
fn chain() -> Vec<Subject> {
    vec![subject("team"), needy("site", &["team"]), needy("page", &["site"]), subject("other")]
}

fn level() -> Rig {
    let mut rig = Rig::level(Settings::default(), chain());
    rig.now = seconds(5.0);
    rig
}

fn truth(rig: &Rig, name: &str) -> Truth {
    rig.status(name).condition(ConditionKind::Synced).expect("always").truth
}

fn wrote(id: &crate::core::identity::ObjectId) -> Seen {
    Seen { writes: 1, ..seen(id, Verdict::InSync) }
}

/// One look at `team` alone, as a resync or a retry makes it; then what begins within a second.
fn after(rig: &mut Rig, tell: impl Fn() -> Seen) -> Option<Vec<String>> {
    rig.give(hint("team", Origin::Resync));
    assert_eq!(names(&rig.begun[0]), ["team"]);
    rig.end_with(|_| tell());
    rig.next_pass(rig.now + seconds(1.5))
}

#[test]
fn what_was_written_has_those_that_need_it_looked_at() {
    let mut rig = level();
    let pass = after(&mut rig, || wrote(&id("team")));
    assert_eq!(pass, Some(vec!["site".into(), "page".into()]), "at first hand and at second, in one pass");
    assert_eq!(rig.begun[0].objects[0].1, Origin::Need);
    assert_eq!((truth(&rig, "site"), truth(&rig, "page")), (Truth::Unknown, Truth::Unknown));
    assert_eq!((truth(&rig, "team"), truth(&rig, "other")), (Truth::True, Truth::True));
    rig.end(|_| Verdict::InSync);
    assert_eq!((truth(&rig, "site"), truth(&rig, "page")), (Truth::True, Truth::True));
    assert_eq!(rig.next_pass(rig.now + seconds(30.0)), None, "once");
}

#[test]
fn another_object_of_the_same_name_and_one_that_is_gone_count_too() {
    let of = |uid: &str| Seen { uid: Some(uid.into()), ..seen(&id("team"), Verdict::InSync) };
    let gone = || {
        let touched =
            Touched { path: Path::root(), before: None, after: Some(Digest(1)), set_by: Vec::new() };
        Seen { touched: vec![touched], ..seen(&id("team"), Verdict::Refused(why())) }
    };
    let mut rig = level();
    assert_eq!(after(&mut rig, || of("1")), None, "it was not known before");
    rig.now += seconds(5.0);
    assert_eq!(after(&mut rig, || of("1")), None);
    rig.now += seconds(5.0);
    assert!(after(&mut rig, || of("2")).is_some());
    rig.end(|_| Verdict::InSync);
    rig.now += seconds(5.0);
    assert!(after(&mut rig, gone).is_some());
    rig.end(|_| Verdict::InSync);
    rig.now += seconds(5.0);
    assert_eq!(after(&mut rig, gone), None, "it was gone before");
    rig.now += seconds(5.0);
    let unknown = Verdict::Unknown(why(), Retry::Soon { fault: false, after: None });
    assert_eq!(after(&mut rig, || seen(&id("team"), unknown.clone())), Some(vec!["team".into()]), "itself");
    rig.end(|_| Verdict::InSync);
    assert!(rig.next_pass(rig.now + seconds(1.5)).is_some(), "it is there again");
}

#[test]
fn a_hint_about_it_is_one_about_those_that_need_it() {
    let mut rig = level();
    rig.give(hint_with("team", 7));
    let all: Vec<String> = rig.begun.iter().flat_map(names).collect();
    assert_eq!(all, ["team", "site", "page"]);
    rig.end_all(|_| Verdict::InSync);
    rig.now = seconds(15.0);
    rig.give(hint_with("team", 7));
    assert_eq!(names(&rig.begun[0]), ["team"], "the same was told before");
    rig.end_all(|_| Verdict::InSync);
    rig.now = seconds(25.0);
    rig.give(hint("page", Origin::Feed));
    assert_eq!(names(&rig.begun[0]), ["page"], "what it needs does not follow from it");
}

/// What is judged in the same pass is judged after what it needs, and is no drift that nobody announced.
#[test]
fn in_one_pass_nothing_is_looked_at_twice_and_nothing_was_missed() {
    let mut rig = level();
    rig.give(Event::Hint(Hint {
        about: About::Group("rabbit/queues".into()),
        origin: Origin::Resync,
        observed: None,
    }));
    assert_eq!(rig.begun[0].objects.len(), 4);
    rig.end_with(|id| if id.key.to_string() == "other" { seen(id, Verdict::InSync) } else { wrote(id) });
    assert_eq!(rig.machine.counters().missed_events, 1, "the first of them");
    assert_eq!(rig.next_pass(rig.now + seconds(1.5)), None);
    assert_eq!(truth(&rig, "page"), Truth::True);
}

#[test]
fn a_pass_that_began_before_the_change_says_nothing_of_what_came_of_it() {
    let mut rig = level();
    rig.give(hint("team", Origin::Resync));
    rig.give(hint("site", Origin::Resync));
    rig.end_with(wrote);
    assert_eq!(names(&rig.begun[0]), ["site"], "it was under way");
    rig.end(|_| Verdict::InSync);
    assert_eq!(truth(&rig, "site"), Truth::Unknown);
    assert_eq!(names(&rig.begun[0]), ["page"], "it was not under way");
    rig.end(|_| Verdict::InSync);
    let again = rig.next_pass(rig.now + seconds(1.5));
    assert_eq!(again, Some(vec!["site".to_string()]), "it is looked at again");
    // The second pass may find what the first one could not.
    rig.end_with(wrote);
    assert_eq!((truth(&rig, "site"), rig.machine.counters().missed_events), (Truth::True, 1));
}

#[test]
fn what_is_wanted_otherwise_has_those_that_need_it_looked_at_with_it() {
    let mut rig = level();
    let mut subjects = chain();
    subjects[0].desired = Digest(2);
    rig.give(Event::Desired(subjects));
    assert_eq!(names(&rig.begun[0]), ["team", "site", "page"]);
    assert_eq!(truth(&rig, "site"), Truth::Unknown);
    rig.end(|_| Verdict::InSync);
    assert_eq!(truth(&rig, "page"), Truth::True);
}

#[test]
fn ten_thousand_are_one_pass_and_a_circle_ends() {
    let hub = subject_of("hub", "team", 1);
    let mut subjects: Vec<Subject> = (0..10_000).map(|nth| subject(&nth.to_string())).collect();
    subjects.iter_mut().for_each(|one| one.needs = Arc::from([hub.id.clone()]));
    let circle = Subject { needs: Arc::from([subjects[0].id.clone()]), ..hub.clone() };
    subjects.push(circle);
    let mut rig = Rig::level(Settings::default(), subjects);
    for nth in 0..5 {
        rig.now = seconds(5.0 + f64::from(nth) / 100.0);
        let about = About::Object(hub.id.clone());
        rig.give(Event::Hint(Hint { about, origin: Origin::Poll, observed: None }));
    }
    let mut looked = 0;
    while rig.next_pass(seconds(8.0)).is_some() {
        looked += rig.begun.len();
        rig.end_all(|_| Verdict::InSync);
    }
    assert!(looked <= 4, "{looked} passes of two backends for five hints in one moment");
}
