//! Runs of the engine against the model server, in virtual time.

use std::collections::VecDeque;
use std::time::Duration;

use super::model::Model;
use crate::core::document::{Document, Ensure};
use crate::core::engine::pledge::Pledge;
use crate::core::engine::{Effect, Engine, Event, Mode, Options, RequestId};
use crate::core::exchange::Answer;
use crate::core::graph::Graph;
use crate::core::report::Report;

impl Model {
    /// Runs an engine to its end in virtual time.
    pub fn run(&mut self, mut engine: Engine) -> Report {
        let (began, mut now) = (self.now, Duration::ZERO);
        let mut answers: VecDeque<(RequestId, Answer)> = VecDeque::new();
        let mut event = Event::Start;
        for count in 0..100_000 {
            let mut wake = None;
            if let Some((_, why)) = self.stop.take_if(|(at, _)| *at == count)
                && let Event::Answered(id, answer) = std::mem::replace(&mut event, Event::Stop(why))
            {
                answers.push_front((id, answer));
            }
            let effects = engine.step(now, event);
            let writes = effects.iter().filter(|effect| matches!(effect, Effect::Write(..))).count();
            self.most_writes = self.most_writes.max(writes);
            self.now = began + now;
            for effect in effects {
                match effect {
                    Effect::Ask(id, ask) => answers.push_back((id, self.ask(&ask))),
                    Effect::Write(id, write) => answers.push_back((id, self.write(&write))),
                    Effect::WakeAt(at) => wake = Some(at),
                }
            }
            if engine.is_done() {
                self.took = now;
                return engine.report();
            }
            event = match answers.pop_front() {
                Some((id, answer)) => Event::Answered(id, answer),
                None => {
                    now = wake.expect("a run that is not done waits for something").max(now);
                    Event::Woke
                }
            };
            now += Duration::from_micros(100);
        }
        panic!("the run does not end: {:?}", self.log);
    }

    /// Runs an engine until so many requests were performed; then the process is gone, and nobody hears the last
    /// answer. Whether the run had ended before.
    pub fn crash(&mut self, documents: &[Document], options: Options, requests: usize) -> bool {
        let mut engine = self.engine(documents, Mode::Apply, Options { writes: 8, ..options }, None);
        let (mut now, mut event, mut performed) = (Duration::ZERO, Event::Start, 0);
        let mut answers: VecDeque<(RequestId, Answer)> = VecDeque::new();
        let began = self.now;
        for _ in 0..100_000 {
            let mut wake = None;
            self.now = began + now;
            for effect in engine.step(now, event) {
                let answer = match effect {
                    Effect::Ask(id, ask) => (id, self.ask(&ask)),
                    Effect::Write(id, write) => (id, self.write(&write)),
                    Effect::WakeAt(at) => {
                        wake = Some(at);
                        continue;
                    }
                };
                performed += 1;
                if performed == requests {
                    return false;
                }
                answers.push_back(answer);
            }
            if engine.is_done() {
                return true;
            }
            event = match answers.pop_front() {
                Some((id, answer)) => Event::Answered(id, answer),
                None => {
                    now = wake.expect("a run that is not done waits for something").max(now);
                    Event::Woke
                }
            };
        }
        panic!("the run does not end: {:?}", self.log);
    }

    pub fn plan(&mut self, documents: &[Document]) -> Report {
        self.plan_with(documents, Options::default())
    }

    pub fn plan_with(&mut self, documents: &[Document], options: Options) -> Report {
        let engine = self.engine(documents, Mode::Plan, options, None);
        self.run(engine)
    }

    pub fn apply(&mut self, documents: &[Document]) -> Report {
        self.apply_with(documents, Options::default(), None)
    }

    pub fn apply_with(
        &mut self,
        documents: &[Document],
        options: Options,
        agreed: Option<&Report>,
    ) -> Report {
        let engine = self.engine(documents, Mode::Apply, Options { writes: 8, ..options }, agreed);
        self.run(engine)
    }

    /// Wishes all of the documents gone once they are linked, as `delete` does.
    pub fn delete(&mut self, documents: &[Document], agreed: Option<&Report>) -> Report {
        let graph = Graph::build(documents, &self.kinds).expect("the documents fit together");
        let mut documents = documents.to_vec();
        documents.iter_mut().for_each(|document| document.policy.ensure = Ensure::Absent);
        let (mode, writes) = if agreed.is_some() { (Mode::Apply, 8) } else { (Mode::Plan, 0) };
        let options = Options { writes, ..Options::default() };
        let engine = Engine::new(documents, graph, &self.kinds, mode, options, &|_| true, agreed);
        self.run(engine)
    }

    /// Does what a saved plan says.
    pub fn apply_saved(&mut self, documents: &[Document], pledges: Vec<Pledge>, options: Options) -> Report {
        let mut engine = self.engine(documents, Mode::Apply, Options { writes: 8, ..options }, None);
        engine.hold_to(pledges);
        self.run(engine)
    }

    pub fn engine(
        &self,
        documents: &[Document],
        mode: Mode,
        options: Options,
        agreed: Option<&Report>,
    ) -> Engine {
        let graph = Graph::build(documents, &self.kinds).expect("the documents fit together");
        Engine::new(documents.to_vec(), graph, &self.kinds, mode, options, &|_| true, agreed)
    }
}
