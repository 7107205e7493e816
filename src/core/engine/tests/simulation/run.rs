//! One run of the engine against a world, its answers in any order, with faults, meddlers and an early end.

use std::time::Duration;

use super::audit::Audit;
use super::dice::Dice;
use super::world::World;
use crate::core::engine::{Effect, Engine, Event, Mode, Options, RequestId, Stop};
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Write};
use crate::core::report::{Action, Explanation, Outcome, Report};

/// How a run is disturbed, and what was confirmed for it.
#[derive(Clone, Default)]
pub struct Trouble<'r> {
    /// The share of requests that fail.
    pub faults: f64,
    /// The share of steps in which another actor does something.
    pub meddling: f64,
    /// The step at which the run is asked to end.
    pub stop_at: Option<u32>,
    pub agreed: Option<&'r Report>,
}

/// What a run came to, and what it wrote, by document.
pub struct Ended {
    pub report: Report,
    pub writes: Vec<Vec<Action>>,
    pub conflicts: u32,
}

enum Request {
    Ask(Ask),
    Write(Write),
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Well,
    /// It does not reach the server, or is refused.
    Fails(FailureClass, Option<Duration>),
    /// It is done, and the answer does not tell.
    DoneAndLost(FailureClass),
    /// It is accepted, and nothing comes of it.
    Ignored,
    Incomplete,
    Problem,
}

/// More steps than any run needs, and more time than patience lasts after an end was asked for.
const STEPS: u32 = 20_000;
const LONGEST: Duration = Duration::from_secs(3 * 3600);
const LONGEST_END: Duration = Duration::from_secs(60);

pub struct Run<'w> {
    pub world: &'w mut World,
    pub dice: &'w mut Dice,
    pub log: &'w mut Vec<String>,
    /// Whether the log is kept.
    pub loud: bool,
}

struct Flight {
    id: RequestId,
    request: Request,
    fate: Fate,
    answer: Option<Answer>,
}

impl Run<'_> {
    fn say(&mut self, line: impl FnOnce() -> String) {
        if self.loud {
            let now = self.world.now;
            self.log.push(format!("{now:>12.3?}  {}", line()));
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// The invariants that were broken.
    pub fn go(&mut self, mode: Mode, trouble: &Trouble) -> Result<Ended, Vec<String>> {
        let scene = self.world.scene.clone();
        let most = 1 + self.dice.below(6);
        let options = Options {
            replace: scene.replace.clone(),
            writes: most,
            seed: self.dice.below(1 << 30) as u64,
            ..Options::default()
        };
        let selected = |document: &crate::core::document::Document| {
            let at = scene.documents.iter().position(|d| d.id == document.id).expect("it is one of them");
            scene.selected[at]
        };
        let documents = scene.documents.clone();
        let kinds = super::scene::Scene::kinds();
        let graph = scene.graph.clone();
        let engine = Engine::new(documents, graph, kinds, mode, options, &selected, trouble.agreed);
        self.say(|| format!("{mode:?} begins"));
        self.world.begin_run();
        self.world.troubled = trouble.faults > 0.0;
        let mut audit = Audit::new(scene.clone(), mode, most, trouble.agreed);
        let report = self.steps(engine, &mut audit, trouble);
        let mut broken = std::mem::take(&mut audit.broken);
        broken.append(&mut self.world.broken);
        let report = match report {
            Ok(report) => report,
            Err(endless) => {
                broken.push(endless);
                return Err(broken);
            }
        };
        self.judge(&report, &mut broken);
        let writes = (0..scene.documents.len()).map(|at| audit.written(at).to_vec()).collect();
        if broken.is_empty() { Ok(Ended { report, writes, conflicts: audit.conflicts }) } else { Err(broken) }
    }

    fn steps(&mut self, mut engine: Engine, audit: &mut Audit, trouble: &Trouble) -> Result<Report, String> {
        let began = self.world.now;
        let mut stopped_at = None;
        let mut flights: Vec<Flight> = Vec::new();
        let mut wake = None;
        let mut event = Some(Event::Start);
        for step in 0..STEPS {
            let stop_due = trouble.stop_at.is_some_and(|at| at <= step) && stopped_at.is_none();
            if stop_due && event.is_none() {
                let why = self.dice.one(&[Stop::Signal, Stop::Timeout]);
                self.say(|| format!("stop: {why:?}"));
                audit.stopped();
                stopped_at = Some(self.world.now);
                event = Some(Event::Stop(why));
            }
            if let Some(event) = event.take() {
                wake = None;
                for effect in engine.step(self.world.now - began, event) {
                    match effect {
                        Effect::Ask(id, ask) => {
                            audit.asked(id, &ask);
                            flights.push(self.depart(id, Request::Ask(ask), trouble));
                        }
                        Effect::Write(id, write) => {
                            audit.wrote(id, &write);
                            flights.push(self.depart(id, Request::Write(write), trouble));
                        }
                        Effect::WakeAt(at) => wake = Some(began + at),
                    }
                }
                if engine.is_done() {
                    return Ok(engine.report());
                }
            }
            if self.world.now - began > LONGEST
                || stopped_at.is_some_and(|at| self.world.now - at > LONGEST_END)
            {
                return Err("the run takes too long".into());
            }
            event = self.happen(&mut flights, wake, audit, trouble)?;
        }
        Err("the run does not end".into())
    }

    /// The next thing that happens: a request arrives, an answer returns, time passes, or somebody meddles.
    fn happen(
        &mut self,
        flights: &mut Vec<Flight>,
        wake: Option<Duration>,
        audit: &mut Audit,
        trouble: &Trouble,
    ) -> Result<Option<Event>, String> {
        if self.dice.chance(trouble.meddling) {
            let what = self.world.meddle(self.dice);
            if !what.is_empty() {
                self.say(|| what);
            }
        }
        let pause = Duration::from_millis(self.dice.below(20) as u64);
        self.world.pass(pause);
        let due = wake.is_some_and(|at| at <= self.world.now);
        if flights.is_empty() || (due && self.dice.chance(0.5)) {
            let Some(at) = wake else { return Err("the run waits for nothing".into()) };
            self.world.pass(at.saturating_sub(self.world.now));
            return Ok(Some(Event::Woke));
        }
        let at = self.dice.below(flights.len());
        if flights[at].answer.is_none() {
            let answer = self.arrive(&flights[at]);
            flights[at].answer = Some(answer);
            return Ok(None);
        }
        let Flight { id, answer, .. } = flights.swap_remove(at);
        let answer = answer.expect("it has arrived");
        self.say(|| format!("  {id} answered: {}", brief(&answer)));
        audit.answered(id, &answer);
        Ok(Some(Event::Answered(id, answer)))
    }

    fn depart(&mut self, id: RequestId, request: Request, trouble: &Trouble) -> Flight {
        let fate = if self.dice.chance(trouble.faults) { self.fate(&request) } else { Fate::Well };
        self.say(|| {
            let what = match &request {
                Request::Ask(Ask::List(collection, _)) => {
                    format!("list {} {}", collection.kind.kind, collection.scope)
                }
                Request::Ask(Ask::Check(write)) => format!("check {}", write.target().id),
                Request::Ask(Ask::Read(target)) => format!("read {} {:?}", target.id, target.server_id),
                Request::Ask(Ask::Operation(target, of)) => format!("ask {} of {}", of.url, target.id),
                Request::Write(write) => {
                    let word = match write {
                        Write::Create(..) => "create",
                        Write::Update(..) => "update",
                        Write::Delete(_) => "delete",
                        Write::Batch(writes) => {
                            let ids = writes.iter().map(|one| one.target().id.to_string());
                            return format!("{id} batch {:?} ({fate:?})", ids.collect::<Vec<_>>());
                        }
                    };
                    format!("{word} {} {:?}", write.target().id, write.target().server_id)
                }
            };
            format!("{id} {what} ({fate:?})")
        });
        Flight { id, request, fate, answer: None }
    }

    fn fate(&mut self, request: &Request) -> Fate {
        use FailureClass::*;
        let later = self.dice.chance(0.3).then(|| Duration::from_secs(self.dice.below(30) as u64));
        let common = [NotSent, Lost, Status(500), Status(503), Status(429), Status(403), NotTheApi];
        match request {
            Request::Ask(Ask::List(..)) if self.dice.chance(0.3) => {
                self.dice.one(&[Fate::Incomplete, Fate::Problem, Fate::Fails(Status(404), None)])
            }
            Request::Ask(_) => Fate::Fails(self.dice.one(&common), later),
            Request::Write(Write::Update(..)) if self.dice.chance(0.2) => Fate::Ignored,
            Request::Write(_) if self.dice.chance(0.4) => {
                Fate::DoneAndLost(self.dice.one(&[Lost, Status(500), Status(502), NotTheApi]))
            }
            Request::Write(write) => {
                let odd = self.dice.one(&[Status(422), Conflict, Conflict]);
                let class = if self.dice.chance(0.3) { odd } else { self.dice.one(&common) };
                let exists = matches!(write, Write::Create(..)) && self.dice.chance(0.1);
                Fate::Fails(if exists { Exists } else { class }, later)
            }
        }
    }

    fn arrive(&mut self, flight: &Flight) -> Answer {
        if let Fate::Fails(class, retry_after) = flight.fate {
            return failure(class, retry_after);
        }
        if flight.fate == Fate::Ignored {
            return Answer::Accepted { server_id: None, pending: false, inside: None };
        }
        let mut answer = match &flight.request {
            Request::Ask(ask) => self.world.ask(ask),
            Request::Write(write) => self.world.write(write, self.dice),
        };
        self.say(|| format!("  {} arrives", flight.id));
        match (flight.fate, &mut answer) {
            (Fate::DoneAndLost(class), _) => failure(class, None),
            (Fate::Incomplete, Answer::Listed(listing)) => {
                let kept = self.dice.below(listing.items.len() + 1);
                listing.items.truncate(kept);
                listing.others.clear();
                listing.incomplete = Some(Box::new(Explanation::new("there is more")));
                answer
            }
            (Fate::Problem, Answer::Listed(listing)) => {
                listing.items.pop();
                listing.problems.push("an item has no name".into());
                answer
            }
            _ => answer,
        }
    }

    /// What must hold of the report.
    fn judge(&mut self, report: &Report, broken: &mut Vec<String>) {
        let scene = self.world.scene.clone();
        let wanted = scene.documents.iter().zip(&scene.selected).filter(|(_, selected)| **selected);
        let wanted: Vec<_> = wanted.map(|(document, _)| &document.id).collect();
        let told: Vec<_> = report.objects.iter().map(|entry| &entry.id).collect();
        if wanted != told {
            broken.push(format!("the report tells of {told:?}, and the documents are {wanted:?}"));
        }
        for entry in &report.objects {
            self.say(|| format!("{}: {} {:?}", entry.id, entry.action.word(), entry.result));
            let at = scene.documents.iter().position(|d| d.id == entry.id).expect("it is a document");
            let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
            if settled && !self.world.was_right[at] {
                broken.push(format!("{} is said to be {}, and never was", entry.id, entry.result.word()));
            }
            if entry.result.explanation().is_some_and(|e| e.message.contains("before it was settled")) {
                broken.push(format!("{} was left unsettled", entry.id));
            }
        }
    }
}

fn failure(class: FailureClass, retry_after: Option<Duration>) -> Answer {
    Answer::Failed(Failure { class, message: format!("the server said {class:?}"), hint: None, retry_after })
}

fn brief(answer: &Answer) -> String {
    match answer {
        Answer::Listed(listing) => {
            let items = listing.items.iter().map(|item| format!("{}={}", item.key, item.value));
            let items: Vec<String> = items.collect();
            format!("{} ({:?})", items.join(" "), listing.incomplete)
        }
        Answer::Found(item) => format!("{} v{:?}", item.value, item.version.as_ref().map(|v| &v.text)),
        Answer::Failed(failure) => format!("failed: {:?}", failure.class),
        other => format!("{other:?}"),
    }
}
