//! A server that takes long for one write: what does not hang together with it goes on, and is given out before the end.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use super::model::{Model, document, kind, reference};
use crate::core::document::Document;
use crate::core::engine::{Effect, Engine, Event, Mode, Options, RequestId};
use crate::core::exchange::Write;
use crate::core::graph::Graph;
use crate::core::kind::Serial;
use crate::core::node::Pos;
use crate::core::report::Outcome;

/// A run by hand, in which writes of objects named `slow` are not answered.
struct Hand {
    model: Model,
    engine: Engine,
    now: Duration,
    wake: Option<Duration>,
    slow: Vec<(RequestId, Write)>,
}

impl Hand {
    /// A run that has come as far as it comes without those.
    fn start(model: Model, documents: &[Document]) -> Hand {
        let graph = Graph::build(documents, &model.kinds).expect("the documents fit together");
        let options = Options { writes: 64, ..Options::default() };
        let all = &|_: &Document| true;
        let engine = Engine::new(documents.to_vec(), graph, &model.kinds, Mode::Apply, options, all, None);
        let mut hand = Hand { model, engine, now: Duration::ZERO, wake: None, slow: Vec::new() };
        hand.go(Event::Start);
        hand
    }

    fn go(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for effect in self.engine.step(self.now, event) {
                match effect {
                    Effect::Ask(id, ask) => events.push_back(Event::Answered(id, self.model.ask(&ask))),
                    Effect::Write(id, write) if &*write.target().id.key.to_string() == "slow" => {
                        self.slow.push((id, write));
                    }
                    Effect::Write(id, write) => {
                        events.push_back(Event::Answered(id, self.model.write(&write)))
                    }
                    Effect::WakeAt(at) => self.wake = Some(at),
                }
            }
        }
    }

    /// Lets so much time go by.
    fn wait(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while let Some(at) = self.wake.take_if(|wake| *wake <= end) {
            self.now = self.now.max(at);
            self.go(Event::Woke);
        }
        self.now = end;
    }

    /// The slow ones are done at last.
    fn finish(&mut self) {
        while let Some((id, write)) = self.slow.pop() {
            let answer = self.model.write(&write);
            self.go(Event::Answered(id, answer));
        }
        self.wait(0.0);
    }

    fn done(&mut self) -> Vec<String> {
        let done = self.engine.take_done();
        done.iter().map(|entry| format!("{} {}", entry.id.key, entry.result.word())).collect()
    }
}

fn team(name: &str) -> Document {
    document("Team", &[("name", name)], json!({"size": 1}))
}

/// Teams on the server that are to be changed, and others that are to be made.
fn teams(there: &[&str], new: &[&str]) -> (Model, Vec<Document>) {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    there.iter().for_each(|name| model.put("Team", &[("name", name)], json!({"size": 7})));
    let documents = there.iter().chain(new).map(|name| team(name)).collect();
    (model, documents)
}

#[test]
fn a_create_does_not_wait_for_an_update() {
    let (model, documents) = teams(&["slow", "next"], &["a", "b", "c"]);
    let mut hand = Hand::start(model, &documents);
    let made = ["create Team a", "create Team b", "create Team c"];
    assert_eq!(
        hand.model.writes(),
        made,
        "of the updates the first has to come back before there is another"
    );
    assert_eq!(hand.done(), [""; 0], "they are read back once all are written");
    hand.wait(1.0);
    assert_eq!(hand.done(), ["a done", "b done", "c done"], "or once the writes stand still");
    assert_eq!(hand.done(), [""; 0], "each is given once");
    hand.finish();
    assert!(hand.engine.is_done());
    let rest: Vec<String> =
        (hand.engine.report().objects.iter()).map(|entry| entry.id.key.to_string()).collect();
    assert_eq!(rest, ["slow", "next"], "the report has the rest");
}

/// What is written while others end costs no look before the last one, however many there are; and each time that the
/// writes stand still it takes longer to see.
#[test]
fn a_row_of_slow_writes_costs_few_looks() {
    let names: Vec<String> = (0..12).map(|n| format!("t{n}")).chain(["slow".into()]).collect();
    let (mut model, documents) = teams(&[], &names.iter().map(|name| &**name).collect::<Vec<_>>());
    model.log.clear();
    let mut hand = Hand::start(model, &documents);
    let looks = |hand: &Hand| hand.model.log.iter().filter(|line| line.starts_with("list")).count();
    assert_eq!((hand.model.writes().len(), looks(&hand)), (12, 1));
    hand.wait(0.9);
    assert_eq!(looks(&hand), 1);
    hand.wait(0.1);
    assert_eq!((looks(&hand), hand.done().len()), (2, 12));
    hand.wait(60.0);
    assert_eq!(looks(&hand), 2, "there is nothing more to read back");
    hand.finish();
    assert!(hand.engine.report().objects.iter().all(|entry| entry.result == Outcome::Done));
}

#[test]
fn what_hangs_together_with_it_is_kept() {
    let member =
        |team: &str, name: &str| document("Member", &[("in", team), ("name", name)], json!({"size": 1}));
    let mut model = Model::new(vec![kind("Team", false, None), kind("Member", false, Some("Team"))]);
    model.put("Team", &[("name", "base")], json!({"size": 1}));
    model.put("Team", &[("name", "alone")], json!({"size": 1}));
    model.put("Team", &[("name", "slow")], json!({"size": 7}));
    model.put("Member", &[("in", "alone"), ("name", "m")], json!({"size": 1}));
    let mut slow = team("slow");
    slow.policy.depends_on = vec![(reference("Team/base"), Pos::default())];
    let documents = [team("base"), slow, member("slow", "m"), team("alone"), member("alone", "m")];
    let mut hand = Hand::start(model, &documents);
    assert_eq!(hand.done(), ["alone in-sync", "alone/m in-sync"], "neither what it needs nor what needs it");
    hand.finish();
    assert!(hand.engine.is_done());
    assert_eq!(hand.engine.report().objects.len(), 3);
}

/// Writes that go one at a time wait for it: another run must not send one beside it.
#[test]
fn what_shares_its_lane_is_kept() {
    for serial in [Serial::Backend, Serial::No] {
        let is_serial = serial != Serial::No;
        let mut shared = kind("Team", false, None);
        shared.serial = serial;
        let mut model = Model::new(vec![shared]);
        model.put("Team", &[("name", "slow")], json!({"size": 7}));
        model.put("Team", &[("name", "well")], json!({"size": 1}));
        let mut hand = Hand::start(model, &[team("slow"), team("well")]);
        assert_eq!(hand.done().is_empty(), is_serial);
        hand.finish();
        assert_eq!(hand.done().len(), if is_serial { 2 } else { 1 }, "it is over");
    }
}
