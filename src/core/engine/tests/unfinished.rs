//! Runs that leave what is not finished to the next one, as the passes of `watch` do: nothing is begun twice, and no
//! run waits for long.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::model::{Fault, Model, document, failed, kind};
use crate::core::document::Document;
use crate::core::engine::{Options, Stop};
use crate::core::exchange::{Answer, FailureClass, Progress};
use crate::core::filter::Filter;
use crate::core::kind::{Kind, Read, Wait};
use crate::core::report::{CREATE_UNCERTAIN, NOT_VISIBLE, Outcome, Report, UNDER_WAY};
use crate::core::unfinished::Unfinished;
use crate::core::watch::{Seen, Verdict};

/// How long one of these runs waits for what comes later.
const WAITS: Duration = Duration::from_secs(10);

/// A server, and the passes of one process over it.
struct Process {
    model: Model,
    documents: Vec<Document>,
    open: Option<Unfinished>,
}

impl Process {
    fn new(kind: Kind) -> Process {
        let documents = vec![document("Team", &[("name", "a")], json!({"size": 1}))];
        Process { model: Model::new(vec![kind]), documents, open: None }
    }

    /// One pass.
    fn pass(&mut self) -> Report {
        let id = self.documents[0].id.clone();
        let open = self.open.take().map(|open| (id, open)).into_iter().collect();
        let options = Options { attempts: Some(1), waits: Some(WAITS), open, ..Options::default() };
        let report = self.model.apply_with(&self.documents, options, None);
        self.open = report.objects[0].observed.open.as_deref().cloned();
        report
    }

    /// Lets time go by between two passes.
    fn idle(&mut self, time: Duration) {
        self.model.now += time;
        if let Some(open) = &mut self.open {
            open.age += time;
        }
    }

    /// Passes until one is not told to wait, each when the one before says; that one.
    fn last_pass(&mut self, reasons: &[&str]) -> Report {
        for _ in 0..1_000 {
            let report = self.pass();
            assert!(self.model.took <= WAITS + Duration::from_secs(6), "{:?}", self.model.took);
            let seen = Seen::of(&report.objects[0]);
            let Verdict::Progressing(why, next) = seen.verdict else { return report };
            assert!(why.reason.is_some_and(|reason| reasons.contains(&reason)), "{why:?}");
            assert!(next >= Duration::from_secs(1) && next <= Duration::from_secs(60), "{next:?}");
            self.idle(next);
        }
        panic!("it never ends: {:?}", self.model.log);
    }

    fn creates(&self) -> usize {
        self.model.writes().iter().filter(|line| line.starts_with("create")).count()
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn by_id() -> Kind {
    kind("Team", true, None)
}

#[test]
fn what_is_hidden_for_longer_than_a_run_waits_is_made_once() {
    let mut process = Process::new(by_id());
    process.model.hidden_for = seconds(150);
    let first = process.pass();
    assert_eq!(Seen::of(&first.objects[0]).writes, 1);
    process.idle(seconds(5));
    let last = process.last_pass(&[NOT_VISIBLE]);
    assert_eq!(last.objects[0].result, Outcome::InSync);
    assert!(!last.objects[0].wrote, "the write was the first pass's");
    assert!(process.open.is_none() && process.model.now >= seconds(150));
    assert_eq!(process.creates(), 1);
}

#[test]
fn what_its_own_read_shows_is_there_whatever_the_listing_says() {
    let mut process = Process::new(by_id());
    (process.model.hidden_for, process.model.lists_lag) = (seconds(3_000), true);
    for _ in 0..40 {
        let report = process.pass();
        assert!(matches!(report.objects[0].result, Outcome::InSync | Outcome::Done), "{report:?}");
        process.idle(seconds(30));
    }
    assert_eq!(process.creates(), 1);
    assert!(process.open.as_ref().is_some_and(|open| open.shown), "no listing shows it yet");
    // Somebody deletes it before any listing has shown it: its own read says so, and that is enough.
    process.model.objects.clear();
    assert_eq!(process.pass().objects[0].result, Outcome::Done);
    assert_eq!(process.creates(), 2);
}

/// A run that ends by itself asks for it as well, before it gives up.
#[test]
fn a_run_of_its_own_asks_for_what_no_listing_shows() {
    let mut process = Process::new(by_id());
    (process.model.hidden_for, process.model.lists_lag) = (seconds(3_000), true);
    assert_eq!(process.model.apply(&process.documents).objects[0].result, Outcome::Done);
    assert_eq!(process.creates(), 1);
}

/// It was made, and deleted by somebody before anybody saw it.
fn gone_at_once(kind: Kind) -> Process {
    let mut process = Process::new(kind);
    process.model.hidden_for = seconds(5);
    process.model.at_look = Some(|model| {
        if model.writes().len() == 1 {
            model.objects.clear();
        }
    });
    process
}

#[test]
fn after_the_time_that_the_kind_says_it_is_made_again() {
    let mut kind = by_id();
    kind.visible = seconds(90);
    let mut process = gone_at_once(kind);
    let last = process.last_pass(&[NOT_VISIBLE]);
    assert_eq!((last.objects[0].result.clone(), process.creates()), (Outcome::Done, 2));
    assert!(process.model.now >= seconds(90) && process.model.now < seconds(240), "{:?}", process.model.now);
}

#[test]
fn where_the_kind_says_nothing_it_is_ten_minutes_and_a_read_of_its_own() {
    let mut process = gone_at_once(by_id());
    let last = process.last_pass(&[NOT_VISIBLE]);
    assert_eq!((last.objects[0].result.clone(), process.creates()), (Outcome::Done, 2));
    assert!(process.model.now >= seconds(600) && process.model.now < seconds(750), "{:?}", process.model.now);
}

#[test]
fn what_only_a_listing_could_show_is_never_made_again_unless_the_kind_says_when() {
    for says in [false, true] {
        let mut kind = by_id();
        kind.read = Read::FromList;
        kind.visible = if says { seconds(90) } else { seconds(30) };
        let mut process = gone_at_once(kind);
        let last = process.last_pass(&[NOT_VISIBLE]);
        if says {
            assert_eq!((last.objects[0].result.clone(), process.creates()), (Outcome::Done, 2));
            continue;
        }
        for _ in 0..20 {
            let report = process.pass();
            let why = report.objects[0].result.explanation().expect("it is not known");
            assert_eq!(why.reason, Some(CREATE_UNCERTAIN));
            assert!(matches!(Seen::of(&report.objects[0]).verdict, Verdict::Unknown(..)));
            process.idle(seconds(600));
        }
        assert_eq!(process.creates(), 1);
    }
}

#[test]
fn a_create_whose_answer_was_lost_is_looked_for_by_the_next_run_as_well() {
    let mut process = Process::new(by_id());
    process.model.hidden_for = seconds(25);
    process.model.faults.insert(("create", 1), Fault::DoneAndLost);
    // The pass is ended while it waits.
    process.model.stop = Some((4, Stop::Signal));
    let first = process.pass();
    assert_eq!(first.objects[0].result.word(), "unknown", "{:?}", process.model.log);
    assert!(process.open.as_ref().is_some_and(|open| !open.accepted));
    let last = process.last_pass(&[NOT_VISIBLE]);
    assert!(matches!(last.objects[0].result, Outcome::Done), "{last:?}");
    assert_eq!(process.creates(), 1);
}

/// A server at which a create runs for so many answers.
fn at_it(limit: u64, answers: impl IntoIterator<Item = Answer>) -> Process {
    let filter = || Filter::parse(".").expect("a filter");
    let (every, limit) = (seconds(1), seconds(limit));
    let wait = Wait { url: Some(filter()), done: filter(), failed: None, every, limit };
    let mut process = Process::new(by_id());
    process.model.operations = Some((Some(wait), VecDeque::from_iter(answers)));
    process
}

fn running(count: usize) -> Vec<Answer> {
    (0..count).map(|_| Answer::Progress(Progress::Running { retry_after: None })).collect()
}

#[test]
fn an_operation_is_asked_for_from_pass_to_pass_and_begun_once() {
    let mut process = at_it(1_800, running(40));
    process.model.hidden_for = seconds(900);
    let last = process.last_pass(&[UNDER_WAY, NOT_VISIBLE]);
    // It has ended, and the object does not show at once.
    assert_eq!(last.objects[0].result.word(), "in-sync", "{:?}", last.objects[0].result);
    assert_eq!(process.creates(), 1);
    let from = process.model.log.iter().position(|line| line.starts_with("create")).expect("it was created");
    let asked = process.model.log[from + 1..].iter().take_while(|line| line.starts_with("ask")).count();
    assert_eq!(asked, 41, "nothing else is asked meanwhile");
}

#[test]
fn an_operation_that_is_over_its_limit_forbids_nothing_more() {
    let mut process = at_it(60, running(70));
    process.model.hidden_for = seconds(10_000);
    let last = process.last_pass(&[UNDER_WAY]);
    assert_eq!((last.objects[0].result.word(), process.creates()), ("unknown", 1));
    assert!(process.model.now >= seconds(59), "{:?}", process.model.now);
    assert!(process.open.is_none());
}

#[test]
fn an_operation_that_failed_is_begun_anew() {
    let Answer::Failed(failure) = failed(FailureClass::Status(200)) else { unreachable!("it is one") };
    let mut answers = running(30);
    answers.push(Answer::Progress(Progress::Failed(failure)));
    let mut process = at_it(1_800, answers);
    process.model.hidden_for = seconds(10_000);
    let last = process.last_pass(&[UNDER_WAY]);
    assert_eq!((last.objects[0].result.word(), process.creates()), ("failed", 1));
    assert!(process.open.is_none());
    process.pass();
    assert_eq!(process.creates(), 2);
}

#[test]
fn an_operation_that_cannot_be_heard_of_for_a_while_is_not_forgotten() {
    let mut answers = running(15);
    answers.extend((0..9).map(|_| failed(FailureClass::Status(503))));
    answers.extend(running(9));
    let mut process = at_it(1_800, answers);
    process.model.hidden_for = seconds(20);
    for _ in 0..60 {
        if process.pass().objects[0].result == Outcome::InSync {
            break;
        }
        process.idle(seconds(2));
    }
    assert_eq!((process.creates(), process.open.is_none()), (1, true), "{:?}", process.model.log);
}
