//! A schedule: one world, one or two loops, and all that happens in the order of its time.

use std::collections::BTreeMap;
use std::time::Duration;

use super::super::super::{
    About, Condition, ConditionKind, Effect, Event, Hint, Loop, Origin, Pass, Seen, Settings,
};
use super::super::make::seconds;
use super::monitor::Monitor;
use super::passes::{PassOf, Pieces};
use super::scene::{Act, Scene};
use super::world::World;
use crate::core::digest::Digest;
use crate::core::engine::tests::simulation::dice::Dice;
use crate::core::identity::ObjectId;

/// Something that happens at its time.
pub enum What {
    Act(Act),
    Back(usize),
    /// Hints, and again after a while until a time.
    Hints {
        about: Option<usize>,
        every: Duration,
        until: Duration,
        is_status: bool,
    },
    /// Changes, likewise.
    Churn {
        about: usize,
        every: Duration,
        until: Duration,
    },
    /// A hint reaches an instance.
    Hint(usize, Hint),
    /// Objects of a pass are looked at and written; a pass is done with objects; it gives back what it is done with.
    Look(PassOf, Pass, Vec<u64>),
    Done(PassOf, Vec<ObjectId>, Vec<Seen>),
    Give(PassOf),
    Wake(usize, u32, u64),
    Calm,
}

impl What {
    fn is_by_others(&self) -> bool {
        matches!(self, What::Act(_) | What::Back(_) | What::Hints { .. } | What::Churn { .. } | What::Calm)
    }
}

pub struct Instance {
    pub machine: Loop,
    pub monitor: Monitor,
    /// How often it started.
    pub life: u32,
    /// The wish to be woken that holds.
    wish: u64,
}

pub struct Run<'r> {
    pub scene: Scene,
    pub world: World,
    pub dice: &'r mut Dice,
    pub now: Duration,
    pub instances: Vec<Instance>,
    pub passes: BTreeMap<PassOf, Pieces>,
    /// Passes give nothing back before they end, as they once did.
    pub keeps_all: bool,
    agenda: BTreeMap<(Duration, u64), What>,
    last: u64,
    /// What others still do.
    acts: usize,
    pub broken: Vec<String>,
    /// Effects that conditions turned.
    pub turns: u64,
    pub steps: u64,
    pub log: Option<Vec<String>>,
}

impl<'r> Run<'r> {
    pub fn new(scene: Scene, dice: &'r mut Dice, loud: bool) -> Run<'r> {
        let mut run = Run {
            world: World::new(&scene),
            dice,
            now: Duration::ZERO,
            instances: Vec::new(),
            passes: BTreeMap::new(),
            keeps_all: false,
            agenda: BTreeMap::new(),
            last: 0,
            acts: 0,
            broken: Vec::new(),
            turns: 0,
            steps: 0,
            log: loud.then(|| vec![format!("{scene:#?}")]),
            scene,
        };
        for (at, act) in run.scene.acts.clone() {
            run.plan(at, What::Act(act));
        }
        run.plan(run.scene.calm, What::Calm);
        for at in 0..run.scene.instances {
            let settings = run.settings(at, 0);
            let monitor = Monitor::new(settings.clone(), run.scene.longest_pass());
            run.instances.push(Instance { machine: Loop::new(settings), monitor, life: 0, wish: 0 });
        }
        (0..run.scene.instances).for_each(|at| run.want(at));
        run
    }

    fn settings(&self, instance: usize, life: u32) -> Settings {
        let seed = self.scene.settings.seed * 100 + instance as u64 * 10 + u64::from(life);
        Settings { seed, ..self.scene.settings.clone() }
    }

    pub fn say(&mut self, what: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(log) = &mut self.log {
            log.push(format!("{:>11.3}  {}", now.as_secs_f64(), what()));
        }
    }

    pub fn plan(&mut self, at: Duration, what: What) {
        self.last += 1;
        self.acts += usize::from(what.is_by_others());
        self.agenda.insert((at, self.last), what);
    }

    /// Goes on until a time, or until something is broken.
    pub fn go_to(&mut self, until: Duration) {
        while self.broken.is_empty() {
            let Some((&(at, _), _)) = self.agenda.first_key_value().filter(|((at, _), _)| *at <= until)
            else {
                break;
            };
            let (_, what) = self.agenda.pop_first().expect("there is one");
            self.now = self.now.max(at);
            self.happen(what);
        }
        self.now = self.now.max(until);
    }

    pub fn machine(&self, at: usize) -> &Loop {
        &self.instances[at].machine
    }

    pub fn monitor(&self, at: usize) -> &Monitor {
        &self.instances[at].monitor
    }

    /// Goes on until nobody meddles any more.
    pub fn go_to_calm(&mut self) {
        while self.acts > 0 && self.broken.is_empty() {
            let (at, _) = *self.agenda.first_key_value().expect("an act").0;
            self.go_to(at.max(self.now));
        }
    }

    fn happen(&mut self, what: What) {
        self.acts -= usize::from(what.is_by_others());
        match what {
            What::Act(act) => {
                self.say(|| format!("{act:?}"));
                self.act(act);
            }
            What::Back(at) => {
                self.world.things[at].is_wanted = true;
                self.want_all();
            }
            What::Hints { about, every, until, is_status } => self.hints(about, every, until, is_status),
            What::Churn { about, every, until } => {
                self.world.change(about);
                self.feed(about);
                if self.now + every < until {
                    self.plan(self.now + every, What::Churn { about, every, until });
                }
            }
            What::Hint(instance, hint) => self.hint(instance, hint),
            What::Look(pass, part, wishes) => self.look(pass, &part, &wishes),
            What::Done(pass, about, seen) => self.done(pass, &about, seen),
            What::Give(pass) => self.give_back(pass),
            What::Wake(instance, life, wish) => {
                let it = &self.instances[instance];
                if it.life == life && it.wish == wish {
                    self.step(instance, Event::Woke);
                }
            }
            What::Calm => {
                self.say(|| "calm".into());
                (self.world.faults, self.world.outages) = (0.0, 0.0);
                self.world.away_until.fill(Duration::ZERO);
            }
        }
    }

    fn act(&mut self, act: Act) {
        let now = self.now;
        match act {
            Act::Change(at) => {
                self.world.change(at);
                self.feed(at);
            }
            Act::Delete(at) => {
                self.world.vanish(at);
                self.feed(at);
            }
            Act::Remake(at) if !self.world.things[at].is_there() => {}
            Act::Remake(at) => {
                let value = self.world.things[at].value;
                self.world.vanish(at);
                self.world.appears(at, value);
                self.feed(at);
            }
            Act::Away(backend, during) => {
                self.world.away_until[backend] = self.world.away_until[backend].max(now + during);
            }
            Act::Hints { about, every, during } => {
                self.plan(now, What::Hints { about, every, until: now + during, is_status: false });
            }
            Act::Status { about, every, during } => {
                let about = Some(about);
                self.plan(now, What::Hints { about, every, until: now + during, is_status: true });
            }
            Act::Churn { about, every, during } => {
                self.plan(now, What::Churn { about, every, until: now + during });
            }
            Act::Wish(at) => {
                self.world.wish(at);
                self.want_all();
            }
            // Files that name what is in none are not valid.
            Act::Leave(at, _) if self.world.is_needed(at) => {}
            Act::Leave(at, during) => {
                self.world.things[at].is_wanted = false;
                self.want_all();
                self.plan(now + during, What::Back(at));
            }
            Act::Reorder => {
                self.world.order.reverse();
                self.want_all();
            }
            Act::Ask => {
                for at in 0..self.instances.len() {
                    self.hint(at, Hint { about: About::All, origin: Origin::Person, observed: None });
                }
            }
            Act::Restart => (0..self.instances.len()).for_each(|at| self.restart(at)),
            Act::Sleep(during) => self.sleep(during),
        }
    }

    /// Nothing of the process happens meanwhile; all that was to happen comes when it wakes up, in its order.
    fn sleep(&mut self, during: Duration) {
        let resume = self.now + during;
        let late: Vec<_> = self.agenda.keys().copied().filter(|(at, _)| *at < resume).collect();
        for key in late {
            let what = self.agenda.remove(&key).expect("it is there");
            self.agenda.insert((resume, key.1), what);
        }
        self.now = resume;
        for it in &mut self.instances {
            it.monitor.slept(resume);
        }
    }

    fn restart(&mut self, at: usize) {
        let life = self.instances[at].life + 1;
        let settings = self.settings(at, life);
        let monitor = Monitor::new(settings.clone(), self.scene.longest_pass());
        self.instances[at] = Instance { machine: Loop::new(settings), monitor, life, wish: 0 };
        self.want(at);
    }

    fn want_all(&mut self) {
        (0..self.instances.len()).for_each(|at| self.want(at));
    }

    fn want(&mut self, at: usize) {
        let subjects = self.world.subjects();
        self.before(at);
        self.instances[at].monitor.wanted(self.now, &subjects);
        self.step(at, Event::Desired(subjects));
    }

    /// An object has changed on the server, which the feed may tell.
    pub fn feed(&mut self, at: usize) {
        let feed = self.scene.feed;
        let observed = feed.has_digest.then(|| self.world.digest(at));
        let about = About::Object(self.world.things[at].id.clone());
        for instance in 0..self.instances.len() {
            if self.dice.chance(feed.loses) {
                continue;
            }
            let times = if self.dice.chance(feed.doubles) { 10 } else { 1 };
            for _ in 0..times {
                let late = feed.delay.mul_f64(self.dice.fraction());
                let hint = Hint { about: about.clone(), origin: Origin::Feed, observed };
                self.plan(self.now + late, What::Hint(instance, hint));
            }
        }
    }

    fn hints(&mut self, about: Option<usize>, every: Duration, until: Duration, is_status: bool) {
        let all = about.map_or(0..self.world.things.len(), |at| at..at + 1);
        for at in all {
            let about = About::Object(self.world.things[at].id.clone());
            let observed = match is_status {
                true => Some(Digest(self.now.as_nanos())),
                false => self.scene.feed.has_digest.then(|| self.world.digest(at)),
            };
            for instance in 0..self.instances.len() {
                self.hint(instance, Hint { about: about.clone(), origin: Origin::Feed, observed });
            }
        }
        if self.now + every < until {
            self.plan(self.now + every, What::Hints { about, every, until, is_status });
        }
    }

    fn hint(&mut self, instance: usize, hint: Hint) {
        self.before(instance);
        let about: Vec<ObjectId> = match &hint.about {
            About::Object(id) => vec![id.clone()],
            _ => self.world.things.iter().map(|thing| thing.id.clone()).collect(),
        };
        for id in about {
            self.instances[instance].monitor.hinted(self.now, &id, hint.origin, hint.observed);
        }
        self.step(instance, Event::Hint(hint));
    }

    fn before(&mut self, at: usize) {
        let it = &mut self.instances[at];
        it.monitor.before(self.now, &it.machine);
    }

    pub fn step(&mut self, at: usize, event: Event) {
        self.before(at);
        self.steps += 1;
        let (now, it) = (self.now, &mut self.instances[at]);
        let (ended, is_told) = match &event {
            Event::Ended(pass, seen) => (Some((*pass, seen.clone(), true)), true),
            Event::Settled(pass, seen) => (Some((*pass, seen.clone(), false)), true),
            Event::Desired(_) => (None, true),
            _ => (None, false),
        };
        let (life, effects) = (it.life, it.machine.step(now, event));
        if let Some((pass, seen, is_whole)) = ended {
            let changed = it.monitor.ended(now, pass, &seen, is_whole, &it.machine);
            it.monitor.may_hurry(&self.world.needing(&changed, &seen));
            self.broken.extend(self.world.said_too_soon(&seen, &it.machine));
        }
        let mut turned: Vec<(ObjectId, Condition)> = Vec::new();
        for effect in effects {
            match effect {
                Effect::Pass(pass) => self.begin(at, pass),
                Effect::Collect(_) if self.keeps_all => {}
                Effect::Collect(pass) => self.plan(now, What::Give((at, life, pass))),
                Effect::WakeAt(time) => self.wake_at(at, time),
                Effect::Turned(id, condition) => turned.push((id, condition)),
                Effect::Left(backend, why) => self.say(|| format!("{at}: `{backend}` is away: {why}")),
                Effect::Back(backend) => self.say(|| format!("{at}: `{backend}` answers again")),
                Effect::Warned(text) => self.say(|| format!("{at}: {text}")),
            }
        }
        self.turns += turned.len() as u64;
        let it = &mut self.instances[at];
        if is_told || !turned.is_empty() {
            it.monitor.told(now, &it.machine, &turned);
        }
        self.broken.append(&mut it.monitor.broken);
    }

    fn wake_at(&mut self, at: usize, time: Duration) {
        let it = &mut self.instances[at];
        it.wish += 1;
        let (life, wish) = (it.life, it.wish);
        self.plan(time.max(self.now), What::Wake(at, life, wish));
    }
}

/// Nothing meddles any more: all comes level, and then stays so.
pub fn quiet(run: &mut Run) -> Vec<String> {
    let resync = run.scene.settings.resync;
    let pass = run.scene.longest_pass() * 8;
    run.go_to_calm();
    // What is held for what others did is let go by the clock, at last.
    for _ in 0..24 {
        if !is_held(run) {
            break;
        }
        run.go_to(run.now + seconds(300.0));
    }
    run.go_to(run.now + seconds(180.0) + resync.mul_f64(1.1) + pass);
    if !run.broken.is_empty() {
        return std::mem::take(&mut run.broken);
    }
    let mut broken = converged(run);
    let (turns, writes) = (run.turns, written(&run.world));
    let before: Vec<_> = (0..run.scene.instances).map(|at| run.monitor(at).conditions().clone()).collect();
    run.go_to(run.now + resync * 3);
    broken.append(&mut run.broken);
    if (run.turns, written(&run.world)) != (turns, writes) && run.scene.settings.changes_an_hour.is_none() {
        broken.push(format!(
            "I2: {} turns and {} writes in silence",
            run.turns - turns,
            written(&run.world) - writes
        ));
    }
    for (at, before) in before.iter().enumerate() {
        if run.monitor(at).conditions() != before && run.scene.settings.changes_an_hour.is_none() {
            broken.push(format!("I2: instance {at} tells something else in silence"));
        }
    }
    broken
}

fn is_held(run: &Run) -> bool {
    let fights = |at: usize| {
        let status = run.machine(at).status();
        status.objects.iter().any(|object| object.holds(ConditionKind::Fighting))
    };
    (0..run.scene.instances).any(fights)
}

fn written(world: &World) -> u64 {
    world.things.iter().map(|thing| thing.writes).sum()
}

/// What should be level is level, and no more was written than that took.
fn converged(run: &Run) -> Vec<String> {
    let world = &run.world;
    let mut broken = Vec::new();
    let settings = &run.scene.settings;
    let is_free = !settings.dry_run && settings.changes_an_hour.is_none();
    for (at, thing) in world.things.iter().enumerate() {
        let lives = run.scene.acts.len() as u64 + run.scene.instances as u64;
        if thing.writes > thing.changes + lives {
            broken.push(format!("I3: {}: {} writes for {} changes", thing.id, thing.writes, thing.changes));
        }
        if settings.dry_run && thing.writes > 0 {
            broken.push(format!("{}: written in a dry run", thing.id));
        }
        let is_plain = world.can_be_level(at);
        if is_free && is_plain && thing.value != world.goal(at, thing.wish) {
            broken.push(format!("I1: {} (object {at}) is not level", thing.id));
        }
        for instance in (0..run.scene.instances).filter(|_| is_free && is_plain) {
            let status = run.machine(instance).status();
            let is_told = status.object(&thing.id).is_some_and(|object| object.holds(ConditionKind::Synced));
            if run.monitor(instance).unsynced().contains(&thing.id) || !is_told {
                broken.push(format!("I1: instance {instance} has not seen that {} is level", thing.id));
            }
        }
    }
    broken
}
