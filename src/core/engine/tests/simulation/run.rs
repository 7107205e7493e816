//! One run of the engine against a world: its answers in any order, with faults, other actors, an early end, or
//! none at all.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::audit::Audit;
use super::dice::Dice;
use super::fate::{Fate, Hit, Op, Request, failure};
use super::makes::{KINDS, Manner, Profile};
use super::scene::{CANARY, SEALED, SLOWEST};
use super::trouble::{Moment, Trouble};
use super::world::{Sight, World};
use crate::core::engine::{Effect, Engine, Event, Mode, Options, RequestId, Stop};
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Write};
use crate::core::report::{Action, Explanation, Outcome, Report};

/// What a run came to, and what it wrote, by document.
pub struct Ended {
    /// Of a run that was killed, nothing.
    pub report: Report,
    pub writes: Vec<Vec<Action>>,
    pub conflicts: u32,
    pub requests: u32,
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
    pub hits: Vec<Hit>,
    /// Requests of this run so far.
    pub sent: u32,
    /// The states that were met, where it matters, and whether this run came to one of them.
    pub met: Option<&'w mut HashSet<u64>>,
    pub again: bool,
    /// All that was asked and told, by what it was about.
    past: BTreeMap<String, u64>,
}

struct Flight {
    id: RequestId,
    number: u32,
    request: Request,
    fate: Fate,
    answer: Option<Answer>,
}

/// What happens next.
enum Next {
    Nothing,
    Event(Event, Option<u32>),
    Death,
}

impl<'w> Run<'w> {
    pub fn new(world: &'w mut World, dice: &'w mut Dice, log: &'w mut Vec<String>, loud: bool) -> Run<'w> {
        Run {
            world,
            dice,
            log,
            loud,
            hits: Vec::new(),
            sent: 0,
            met: None,
            again: false,
            past: BTreeMap::new(),
        }
    }

    pub fn say(&mut self, line: impl FnOnce() -> String) {
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
        let most = 1 + if trouble.scope.is_some() { 3 } else { self.dice.below(6) };
        let options = Options {
            replace: scene.replace.clone(),
            writes: most,
            seed: if trouble.scope.is_some() { 0 } else { self.dice.below(1 << 30) as u64 },
            ..Options::default()
        };
        let selected = |document: &crate::core::document::Document| {
            let at = scene.documents.iter().position(|d| d.id == document.id).expect("it is one of them");
            scene.selected[at]
        };
        let documents = scene.documents.clone();
        let graph = scene.graph.clone();
        let engine = Engine::new(documents, graph, &KINDS, mode, options, &selected, trouble.agreed);
        self.say(|| format!("{mode:?} begins"));
        self.world.begin_run();
        self.world.troubled = trouble.faults > 0.0;
        self.sent = 0;
        let mut audit = Audit::new(scene.clone(), mode, most, trouble.agreed);
        let ended = self.steps(engine, &mut audit, trouble);
        let mut broken = std::mem::take(&mut audit.broken);
        broken.append(&mut self.world.broken);
        let report = match ended {
            Ok(Some(report)) => {
                self.judge(&report, &audit, &mut broken);
                report
            }
            Ok(None) => Report::default(),
            Err(endless) => {
                broken.push(endless);
                return Err(broken);
            }
        };
        let writes = (0..scene.documents.len()).map(|at| audit.written(at).to_vec()).collect();
        let (conflicts, requests) = (audit.conflicts, self.sent);
        if broken.is_empty() { Ok(Ended { report, writes, conflicts, requests }) } else { Err(broken) }
    }

    /// The report, or nothing of a process that died.
    fn steps(
        &mut self,
        mut engine: Engine,
        audit: &mut Audit,
        trouble: &Trouble,
    ) -> Result<Option<Report>, String> {
        let began = self.world.now;
        let mut trouble = trouble.clone();
        trouble.actors.iter_mut().for_each(|actor| actor.next += began);
        let mut stopped_at = None;
        let mut flights: Vec<Flight> = Vec::new();
        let mut wake = None;
        let mut next = Next::Event(Event::Start, None);
        for step in 0..STEPS {
            let stop_due = trouble.stop_at.is_some_and(|at| at <= step) && stopped_at.is_none();
            if stop_due && matches!(next, Next::Nothing) {
                let why = self.dice.one(&[Stop::Signal, Stop::Timeout]);
                self.say(|| format!("stop: {why:?}"));
                audit.stopped();
                stopped_at = Some(self.world.now);
                next = Next::Event(Event::Stop(why), None);
            }
            if let Next::Event(event, of) = next {
                wake = None;
                let effects = engine.step(self.world.now - began, event);
                let kill = trouble.kill;
                let dies = |moment| of.is_some() && kill == of.map(|number| (number, moment));
                if dies(Moment::Answered) {
                    return self.die(flights);
                }
                for effect in effects {
                    match effect {
                        Effect::Ask(id, ask) => {
                            audit.asked(id, &ask);
                            flights.push(self.depart(id, Request::Ask(ask), &mut trouble));
                        }
                        Effect::Write(id, write) => {
                            audit.wrote(id, &write);
                            flights.push(self.depart(id, Request::Write(write), &mut trouble));
                        }
                        Effect::WakeAt(at) => wake = Some(began + at),
                    }
                }
                if let Some((number, Moment::Sent)) = trouble.kill
                    && number < self.sent
                {
                    flights.retain(|flight| flight.number != number);
                    return self.die(flights);
                }
                if dies(Moment::Acted) {
                    return self.die(flights);
                }
                if engine.is_done() {
                    let killed = matches!(trouble.kill, Some((_, Moment::Output)));
                    return Ok((!killed).then(|| engine.report()));
                }
            }
            if self.world.now - began > LONGEST
                || stopped_at.is_some_and(|at| self.world.now - at > LONGEST_END)
            {
                return Err("the run takes too long".into());
            }
            if self.was_met(&flights, &trouble) {
                return Ok(None);
            }
            next = self.happen(&mut flights, wake, audit, &mut trouble)?;
            if matches!(next, Next::Death) {
                return self.die(flights);
            }
        }
        Err("the run does not end".into())
    }

    /// Whether this very state was met before. Only what is chosen makes states differ, so it is asked only where
    /// something is.
    fn was_met(&mut self, flights: &[Flight], trouble: &Trouble) -> bool {
        let Some(met) = self.met.as_mut().filter(|_| !self.dice.follows()) else { return false };
        let mut hasher = DefaultHasher::new();
        let flight =
            |flight: &Flight| (told(&flight.request), format!("{:?}{:?}", flight.fate, flight.answer));
        let under_way: Vec<_> = flights.iter().map(flight).collect();
        let habits: Vec<_> = trouble.actors.iter().map(|one| one.habit).collect();
        (under_way, &self.past, trouble.scope, habits).hash(&mut hasher);
        let looks_back = trouble.scope.is_some_and(|scope| scope.has(scope.stale))
            || flights.iter().any(|flight| matches!(flight.fate, Fate::Stale));
        self.world.fingerprint(looks_back).hash(&mut hasher);
        self.again = !met.insert(hasher.finish());
        self.again
    }

    fn note(&mut self, about: String, what: impl Hash) {
        if self.met.is_some() {
            let past = self.past.entry(about).or_default();
            let mut hasher = DefaultHasher::new();
            (*past, what).hash(&mut hasher);
            *past = hasher.finish();
        }
    }

    /// The process dies: what it has sent arrives, and nobody hears of it.
    fn die(&mut self, flights: Vec<Flight>) -> Result<Option<Report>, String> {
        self.say(|| "the process dies".into());
        for flight in flights.iter().filter(|flight| flight.answer.is_none()) {
            self.arrive(flight);
        }
        Ok(None)
    }

    /// The next thing that happens: a request arrives, an answer returns, time passes, or somebody meddles.
    fn happen(
        &mut self,
        flights: &mut Vec<Flight>,
        wake: Option<Duration>,
        audit: &mut Audit,
        trouble: &mut Trouble,
    ) -> Result<Next, String> {
        self.others_act(trouble);
        let small = trouble.scope.is_some();
        let pause = if small { 10 } else { self.dice.below(20) as u64 };
        self.world.pass(Duration::from_millis(pause));
        self.world.deliver(self.dice);
        if let Some(scope) = &mut trouble.scope
            && scope.has(scope.kills)
            && self.dice.chance(0.5)
        {
            (scope.kills, scope.all) = (scope.kills - 1, scope.all - 1);
            return Ok(Next::Death);
        }
        let due = wake.is_some_and(|at| at <= self.world.now);
        if flights.is_empty() || (due && (small || self.dice.chance(0.5))) {
            let Some(at) = wake else { return Err("the run waits for nothing".into()) };
            self.world.pass(at.saturating_sub(self.world.now));
            return Ok(Next::Event(Event::Woke, None));
        }
        let at = self.dice.below(flights.len());
        if flights[at].answer.is_none() {
            let answer = self.arrive(&flights[at]);
            let dies = trouble.kill == Some((flights[at].number, Moment::Committed));
            flights[at].answer = Some(answer);
            return Ok(if dies { Next::Death } else { Next::Nothing });
        }
        let Flight { id, number, request, answer, .. } = flights.swap_remove(at);
        let answer = answer.expect("it has arrived");
        if small {
            self.note(about(&request), format!("{answer:?}"));
        }
        self.say(|| format!("  {id} answered: {}", brief(&answer)));
        audit.answered(id, &answer);
        Ok(Next::Event(Event::Answered(id, answer), Some(number)))
    }

    fn others_act(&mut self, trouble: &mut Trouble) {
        for nth in 0..trouble.actors.len() {
            let actor = trouble.actors[nth];
            if let Some(scope) = &mut trouble.scope {
                if !scope.has(scope.acts) || !self.dice.chance(0.5) {
                    continue;
                }
                (scope.acts, scope.all) = (scope.acts - 1, scope.all - 1);
            } else if actor.next > self.world.now {
                continue;
            }
            trouble.actors[nth].next = self.world.now.max(actor.next + actor.every);
            if let Some(what) = self.world.act(actor, self.dice) {
                self.say(|| what);
            }
        }
    }

    fn depart(&mut self, id: RequestId, request: Request, trouble: &mut Trouble) -> Flight {
        let number = self.sent;
        self.sent += 1;
        let (row, fate) = match trouble.at.iter().find(|(at, _)| *at == number) {
            Some((_, row)) => Fate::of_row(*row, &request),
            None if self.dice.chance(trouble.faults) => Fate::draw(&request, self.dice),
            None => (None, self.small_fate(&request, trouble)),
        };
        if let Some(row) = row {
            self.hits.push((row, request.op(), Manner::of(request.kind()).profile));
        }
        self.say(|| format!("{id} {} ({fate:?})", told(&request)));
        if trouble.scope.is_some() {
            self.note(about(&request), told(&request));
        }
        Flight { id, number, request, fate, answer: None }
    }

    /// Of a small scope: one of its few faults.
    fn small_fate(&mut self, request: &Request, trouble: &mut Trouble) -> Fate {
        let Some(scope) = &mut trouble.scope else { return Fate::Well };
        let is_look = matches!(request.op(), Op::List | Op::Read);
        let lost = FailureClass::Lost;
        if is_look && scope.has(scope.stale) && self.dice.chance(0.5) {
            (scope.stale, scope.all) = (scope.stale - 1, scope.all - 1);
            return Fate::Stale;
        }
        if is_look || !scope.has(scope.lost) {
            return Fate::Well;
        }
        let fate = self.dice.one(&[Fate::Well, Fate::Fails(lost, None), Fate::DoneAndLost(lost)]);
        let taken = u32::from(fate != Fate::Well);
        (scope.lost, scope.all) = (scope.lost - taken, scope.all - taken);
        fate
    }

    fn arrive(&mut self, flight: &Flight) -> Answer {
        let request = &flight.request;
        self.say(|| format!("  {} arrives", flight.id));
        match (flight.fate, request) {
            (Fate::Fails(class, seconds), _) => failure(class, seconds, request),
            (Fate::Ignored, _) => Answer::Accepted { server_id: None, pending: false, inside: None },
            (Fate::Late, Request::Write(write)) => {
                let delay = SLOWEST.mul_f64(self.dice.fraction());
                self.world.late.push((self.world.now + delay, write.clone()));
                failure(FailureClass::Lost, None, request)
            }
            (Fate::Twice, Request::Write(write)) => {
                let answer = self.world.write(write, self.dice);
                self.world.again(write, self.dice);
                answer
            }
            (Fate::Inside, Request::Write(Write::Batch(writes))) => {
                let undone = self.dice.below(writes.len());
                for (nth, write) in writes.iter().enumerate().filter(|(nth, _)| *nth != undone) {
                    self.say(|| format!("  its part {nth}"));
                    self.world.write(write, self.dice);
                }
                let class = FailureClass::Status(422);
                let message = "one of them was not done".into();
                let inside = Some(Failure { class, message, hint: None, retry_after: None });
                Answer::Accepted { server_id: None, pending: false, inside }
            }
            (_, Request::Ask(ask)) => self.look(flight, ask),
            (Fate::DoneAndLost(class), Request::Write(write)) => {
                self.world.write(write, self.dice);
                failure(class, None, request)
            }
            (_, Request::Write(write)) => self.world.write(write, self.dice),
        }
    }

    fn look(&mut self, flight: &Flight, ask: &Ask) -> Answer {
        let lags = Manner::of(flight.request.kind()).profile == Profile::P10 && matches!(ask, Ask::List(..));
        let sight = match flight.fate {
            Fate::Stale => Sight::Stale(Duration::from_millis(self.dice.one(&[20, 100, 1_000, 20_000]))),
            Fate::Hidden => Sight::Blind,
            _ if lags => Sight::Stale(SLOWEST.mul_f64(self.dice.fraction())),
            _ => Sight::Clear,
        };
        let mut answer = self.world.ask(ask, sight);
        if let Answer::Listed(listing) = &mut answer {
            match flight.fate {
                Fate::Incomplete => {
                    let kept = self.dice.below(listing.items.len() + 1);
                    listing.items.truncate(kept);
                    listing.others.clear();
                    listing.incomplete = Some(Box::new(Explanation::new("there is more")));
                }
                Fate::Problem => {
                    listing.items.pop();
                    listing.problems.push("an item has no name".into());
                }
                _ => {}
            }
        }
        answer
    }

    /// What must hold of the report.
    fn judge(&mut self, report: &Report, audit: &Audit, broken: &mut Vec<String>) {
        let scene = self.world.scene.clone();
        let wanted = scene.documents.iter().zip(&scene.selected).filter(|(_, selected)| **selected);
        let wanted: Vec<_> = wanted.map(|(document, _)| &document.id).collect();
        let told: Vec<_> = report.objects.iter().map(|entry| &entry.id).collect();
        if wanted != told {
            broken.push(format!("O5: the report tells of {told:?}, and the documents are {wanted:?}"));
        }
        for entry in &report.objects {
            self.say(|| format!("{}: {} {:?}", entry.id, entry.action.word(), entry.result));
            let at = self.world.at[&entry.id];
            let settled = matches!(entry.result, Outcome::InSync | Outcome::Done);
            let mut hold = |holds: bool, what: &str| {
                if !holds {
                    broken.push(format!("{} is said to be {}: {what}", entry.id, entry.result.word()));
                }
            };
            hold(!settled || self.world.was_right[at], "I15: it never was so");
            hold(!settled || audit.was_read_back(at), "I15: nobody looked after the last write");
            let (surely, perhaps) = audit.was_accepted(at);
            hold(entry.wrote || !surely, "O5: it was written, and that is not told");
            hold(!entry.wrote || perhaps, "O5: it was not written, and that is told");
            let why = entry.result.explanation().map(|why| &*why.message);
            hold(why != Some(""), "I14: nothing says why");
            hold(!why.is_some_and(|why| why.contains("before it was settled")), "I14: it was left unsettled");
        }
        if scene.has_secrets {
            let text = format!("{report:?}");
            if [CANARY, SEALED].iter().any(|secret| text.contains(&secret[..16])) {
                broken.push("I16: a secret is in the report".into());
            }
        }
    }
}

/// What a request is about, as far as states are compared.
fn about(request: &Request) -> String {
    match request {
        Request::Ask(Ask::Read(target)) => target.id.to_string(),
        Request::Write(write) => write.target().id.to_string(),
        Request::Ask(ask) => ask.kind().kind.to_string(),
    }
}

fn told(request: &Request) -> String {
    match request {
        Request::Ask(Ask::List(collection, _)) => {
            format!("list {} {}", collection.kind.kind, collection.scope)
        }
        Request::Ask(Ask::Check(write)) => format!("check {}", write.target().id),
        Request::Ask(Ask::Read(target)) => format!("read {} {:?}", target.id, target.server_id),
        Request::Ask(Ask::Operation(target, of)) => format!("ask {} of {}", of.url, target.id),
        Request::Write(write) => {
            let ids = write.members().iter().map(|one| one.target());
            let ids = ids.map(|target| format!("{} {:?}", target.id, target.server_id));
            format!("{:?} {}", request.op(), ids.collect::<Vec<_>>().join(", "))
        }
    }
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
