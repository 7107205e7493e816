//! Instances that share leases, in virtual time: answers are late or lost, processes stand still and die, clocks run
//! apart and are set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::super::lease::Stamps;
use super::*;

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// What happens to one instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// Its round begins, or goes on with this slot.
    Look(usize),
    /// A look reaches the server: of which slot, and when it was asked.
    Reach(usize, Duration),
    Looked(usize, Duration, Option<Option<(Seen, u64)>>),
    /// A write reaches the server.
    Write(usize, Seen, u64),
    /// Its answer, if one comes: whether it was taken.
    Written(usize, bool),
}

/// Whether an instance waits until the others have seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// A record as a value that is ordered.
type Seen = (String, String, u64);

struct Process {
    leases: Leases,
    stamps: Stamps,
    /// How its clock reads: where it began, and how fast it goes.
    offset: f64,
    rate: f64,
    /// What its wall clock is off, which changes.
    wall: f64,
    stands_until: Duration,
    dead: bool,
    /// The versions that it saw.
    versions: Vec<u64>,
}

struct World {
    now: Duration,
    events: BinaryHeap<Reverse<(Duration, u64, usize, What)>>,
    count: u64,
    objects: Vec<Option<(Seen, u64)>>,
    processes: Vec<Process>,
    random: Random,
    /// Hundredths of the messages that are lost.
    loses: u64,
    /// The longest way of a message.
    slowest: Duration,
    /// When somebody held something first, after the last reset.
    acted: Option<Duration>,
    violations: Vec<String>,
    /// Objects that two held to be theirs at a time.
    doubled: Vec<String>,
    /// Whether they are looked for, and whether instances wait until others know of them.
    looks_for_doubles: Option<Waits>,
}

fn record(seen: &Seen) -> Record {
    Record { holder: (*seen.0).into(), renewed: (*seen.1).into(), transitions: seen.2, ..Record::default() }
}

impl World {
    fn new(processes: usize, slots: usize, times: Times, seed: u64) -> World {
        let mut world = World {
            now: Duration::ZERO,
            events: BinaryHeap::new(),
            count: 0,
            objects: vec![None; slots],
            processes: Vec::new(),
            random: Random::new(seed),
            loses: 0,
            slowest: Duration::from_millis(20),
            acted: None,
            violations: Vec::new(),
            doubled: Vec::new(),
            looks_for_doubles: None,
        };
        for at in 0..processes {
            world.start(slots, times, seed * 31 + at as u64);
        }
        world
    }

    /// A process starts.
    fn start(&mut self, slots: usize, times: Times, seed: u64) {
        let at = self.processes.len();
        let process = Process {
            leases: Leases::new(format!("p{at}").into(), slots, times, seed),
            stamps: Stamps::default(),
            offset: self.random.unit() * 1e6,
            rate: 0.99 + 0.02 * self.random.unit(),
            wall: self.random.unit() * 1e6,
            stands_until: Duration::ZERO,
            dead: false,
            versions: vec![0; slots],
        };
        self.processes.push(process);
        let first = self.now + seconds(self.random.unit());
        self.at(first, at, What::Look(0));
    }

    fn at(&mut self, time: Duration, process: usize, what: What) {
        self.count += 1;
        self.events.push(Reverse((time, self.count, process, what)));
    }

    fn way(&mut self) -> Duration {
        self.slowest.mul_f64(self.random.unit())
    }

    fn is_lost(&mut self) -> bool {
        self.random.unit() * 100.0 < self.loses as f64
    }

    /// What the clock of a process says.
    fn clock(&self, process: usize, time: Duration) -> Duration {
        let process = &self.processes[process];
        seconds(process.offset + time.as_secs_f64() * process.rate)
    }

    /// When the clock of a process will say this.
    fn when(&self, process: usize, clock: Duration) -> Duration {
        let process = &self.processes[process];
        seconds(((clock.as_secs_f64() - process.offset) / process.rate).max(0.0)) + Duration::from_nanos(1)
    }

    fn run(&mut self, until: Duration) {
        while let Some(Reverse((time, ..))) = self.events.peek() {
            if *time > until {
                break;
            }
            let Reverse((time, _, process, what)) = self.events.pop().expect("it was there");
            // Looked at twice: the moment before, when deadlines may not have passed yet, and after.
            self.look();
            self.now = time;
            self.look();
            self.happen(process, what);
            self.look();
            if let Some(waits) = self.looks_for_doubles {
                self.look_for_doubles(waits);
            }
        }
        self.now = until;
        self.look();
    }

    fn happen(&mut self, at: usize, what: What) {
        let server = matches!(what, What::Reach(..) | What::Write(..));
        if self.processes[at].dead && !server {
            return;
        }
        let stands = self.processes[at].stands_until;
        if stands > self.now && !server {
            return self.at(stands, at, what);
        }
        match what {
            What::Look(slot) => {
                let (asked, way) = (self.clock(at, self.now), self.way());
                if self.is_lost() {
                    let late = self.now + seconds(1.0);
                    return self.at(late, at, What::Looked(slot, asked, None));
                }
                let then = self.now + way;
                self.at(then, at, What::Reach(slot, asked));
            }
            What::Reach(slot, asked) => {
                let object = self.objects[slot].clone();
                let then = self.now + self.way();
                let told = if self.is_lost() { None } else { Some(object) };
                let late = if told.is_none() { seconds(1.0) } else { Duration::ZERO };
                self.at(then + late, at, What::Looked(slot, asked, told));
            }
            What::Looked(slot, asked, told) => self.looked(at, slot, asked, told),
            What::Write(slot, record, version) => {
                let have = self.objects[slot].as_ref().map_or(0, |(_, version)| *version);
                if have == version {
                    self.objects[slot] = Some((record, version + 1));
                }
                let then = self.now + self.way();
                if !self.is_lost() {
                    self.at(then, at, What::Written(slot, have == version));
                }
            }
            What::Written(slot, taken) => {
                let now = self.clock(at, self.now);
                if !taken {
                    self.processes[at].leases.refused(slot, now);
                }
            }
        }
    }

    fn looked(&mut self, at: usize, slot: usize, asked: Duration, told: Option<Option<(Seen, u64)>>) {
        let (now, wall) = (self.clock(at, self.now), self.now.as_secs_f64() + self.processes[at].wall);
        let process = &mut self.processes[at];
        let looked = match &told {
            None => Looked::Unknown,
            Some(None) => Looked::Nothing,
            Some(Some((seen, _))) => Looked::Found(record(seen)),
        };
        if let Some(told) = &told {
            process.versions[slot] = told.as_ref().map_or(0, |(_, version)| *version);
        }
        let stamp = process.stamps.next(seconds(wall.max(0.0))).as_micros().to_string();
        let version = process.versions[slot];
        let claim = process.leases.looked(slot, asked, now, looked, &stamp);
        if let Some(Claim { record, .. }) = claim {
            let way = self.way();
            let seen = (record.holder.to_string(), record.renewed.to_string(), record.transitions);
            if !self.is_lost() {
                let then = self.now + way;
                self.at(then, at, What::Write(slot, seen, version));
            }
        }
        // The next look, or the next round, after the write had its time.
        let rest = self.now + self.slowest * 3;
        if slot + 1 < self.objects.len() {
            return self.at(rest, at, What::Look(slot + 1));
        }
        let process = &mut self.processes[at];
        process.leases.looked_at_all(now);
        let next = process.leases.next();
        let next = self.when(at, next).max(rest);
        self.at(next, at, What::Look(0));
    }

    /// Who may act now, by slot.
    fn acting(&self) -> Vec<(usize, usize)> {
        let acts = |(at, process): (usize, &Process)| {
            let runs = !process.dead && process.stands_until <= self.now;
            let slot = process.leases.holds(self.clock(at, self.now)).filter(|_| runs)?;
            Some((slot, at))
        };
        self.processes.iter().enumerate().filter_map(acts).collect()
    }

    fn look(&mut self) {
        let mut acting = self.acting();
        acting.sort_unstable();
        if acting.windows(2).any(|two| two[0].0 == two[1].0) {
            self.violations.push(format!("at {:.1} s: {acting:?}", self.now.as_secs_f64()));
        }
        if !acting.is_empty() {
            self.acted.get_or_insert(self.now);
        }
    }

    /// Whether an object is the business of two.
    fn look_for_doubles(&mut self, waits: Waits) {
        let mut shares: Vec<(usize, usize, BTreeSet<usize>)> = Vec::new();
        for (at, process) in self.processes.iter().enumerate() {
            let now = self.clock(at, self.now);
            let (acts, holds) = (process.leases.acts(now), process.leases.holds(now));
            let mine = if waits == Waits::Yes { acts } else { holds };
            if let Some(slot) = mine.filter(|_| !process.dead && process.stands_until <= self.now) {
                shares.push((at, slot, process.leases.live(now)));
            }
        }
        // Those who see the same agree.
        if shares.windows(2).all(|two| two[0].2 == two[1].2) {
            return;
        }
        for name in 0..4 {
            let key = crate::core::identity::Key::new(vec![("name".into(), format!("o{name}").into())]);
            let kind = crate::core::identity::KindName { backend: "b".into(), kind: "K".into() };
            let id = crate::core::identity::ObjectId { kind, key };
            let owns = |(_, slot, live): &&(usize, usize, BTreeSet<usize>)| {
                super::super::shard::owner(&id, live.iter().copied()) == Some(*slot)
            };
            let owners: Vec<usize> = shares.iter().filter(owns).map(|(at, ..)| *at).collect();
            if owners.len() > 1 {
                self.doubled.push(format!("o{name} at {:.1} s: {owners:?}", self.now.as_secs_f64()));
            }
        }
    }

    /// Trouble for a while: pauses, steps of wall clocks, losses.
    fn trouble(&mut self, until: Duration) {
        while self.now < until {
            let at = (self.random.unit() * self.processes.len() as f64) as usize;
            match (self.random.unit() * 4.0) as u32 {
                0 => self.processes[at].stands_until = self.now + seconds(40.0 * self.random.unit()),
                1 => self.processes[at].wall += 2e5 * (self.random.unit() - 0.5),
                2 => self.loses = (self.random.unit() * 60.0) as u64,
                _ => self.slowest = seconds(2.0 * self.random.unit()),
            }
            let pause = seconds(10.0 * self.random.unit());
            self.run(self.now + pause);
        }
    }
}

#[test]
fn at_most_one_acts_whatever_happens() {
    for seed in 0..150 {
        let mut world = World::new(2 + (seed % 2) as usize, 1, Times::default(), seed);
        world.trouble(seconds(400.0));
        assert_eq!(world.violations, [""; 0], "seed {seed}");
        (world.loses, world.slowest) = (0, Duration::from_millis(20));
        world.run(world.now + seconds(80.0));
        assert_eq!(world.acting().len(), 1, "seed {seed}: when it is quiet, one acts");
    }
}

#[test]
fn the_simulation_finds_holders_that_act_for_too_long() {
    let late = Times { renew: seconds(25.0), ..Times::default() };
    let found = (0..60).any(|seed| {
        let mut world = World::new(2, 1, late, seed);
        world.trouble(seconds(400.0));
        !world.violations.is_empty()
    });
    assert!(found);
}

#[test]
fn another_takes_over_when_one_dies() {
    for seed in 0..100 {
        let mut world = World::new(3, 1, Times::default(), seed);
        world.run(seconds(30.0 + seed as f64 / 10.0));
        let [(_, leader)] = world.acting()[..] else { panic!("seed {seed}: {:?}", world.acting()) };
        world.processes[leader].dead = true;
        let died = world.now;
        world.acted = None;
        world.run(died + seconds(30.0));
        let took = world.acted.expect("somebody acts") - died;
        // Seen unchanged for 15 s, since a look that is 2 s and a fifth late at most; by a clock that may be slow.
        assert!(took > seconds(4.0) && took < seconds(17.4 * 1.011 + 0.6), "seed {seed}: {took:?}");
        assert_eq!(world.violations, [""; 0]);
    }
}

#[test]
fn one_that_leaves_is_followed_at_once() {
    for seed in 0..30 {
        let mut world = World::new(2, 1, Times::default(), seed);
        world.run(seconds(30.0));
        let [(_, leader)] = world.acting()[..] else { panic!("seed {seed}") };
        let (now, version) = (world.clock(leader, world.now), world.processes[leader].versions[0]);
        let (slot, claim) = world.processes[leader].leases.leave(now, "left").expect("it holds one");
        assert!(world.acting().is_empty(), "it acts no more before anything is sent");
        let have = world.objects[0].as_ref().map_or(0, |(_, version)| *version);
        assert!(have >= version);
        let seen =
            (claim.record.holder.to_string(), claim.record.renewed.to_string(), claim.record.transitions);
        world.at(world.now, leader, What::Write(slot, seen, have));
        let left = world.now;
        world.acted = None;
        world.run(left + seconds(10.0));
        let took = world.acted.expect("somebody acts") - left;
        assert!(took < seconds(2.4 * 1.011 + 0.3), "seed {seed}: {took:?}");
        let now = world.clock(leader, world.now);
        assert!(world.processes[leader].leases.holds(now).is_none());
    }
}

#[test]
fn shards_are_shared_by_those_who_are_there() {
    for seed in 0..30 {
        let mut world = World::new(3, 4, Times::default(), seed);
        world.run(seconds(40.0));
        assert_eq!(world.acting().len(), 3, "seed {seed}");
        let slots: BTreeSet<usize> = world.acting().iter().map(|(slot, _)| *slot).collect();
        for at in 0..3 {
            let now = world.clock(at, world.now);
            assert_eq!(world.processes[at].leases.live(now), slots, "seed {seed}: all see the same");
        }
        world.processes[0].dead = true;
        world.run(world.now + seconds(25.0));
        assert_eq!(world.acting().len(), 2);
        let now = world.clock(1, world.now);
        assert_eq!(world.processes[1].leases.live(now).len(), 2);
        world.start(4, Times::default(), seed + 1000);
        world.start(4, Times::default(), seed + 2000);
        world.start(4, Times::default(), seed + 3000);
        world.run(world.now + seconds(20.0));
        assert_eq!(world.acting().len(), 4, "of five, one waits for a free one");
        world.trouble(world.now + seconds(300.0));
        assert_eq!(world.violations, [""; 0], "seed {seed}");
    }
}

/// Instances come, stand still, die and come again, and answers are late or lost.
fn crowd(seed: u64, waits: Waits) -> World {
    let mut world = World::new(3, 4, Times::default(), seed);
    world.looks_for_doubles = Some(waits);
    world.run(seconds(20.0 + seed as f64));
    world.processes[(seed % 3) as usize].dead = true;
    (0..2).for_each(|n| world.start(4, Times::default(), seed * 7 + n));
    world.trouble(seconds(200.0));
    (world.loses, world.slowest) = (0, Duration::from_millis(20));
    world
}

/// A create by POST has no condition that would keep two from making the same.
#[test]
fn no_object_is_the_business_of_two() {
    for seed in 0..6 {
        let mut world = crowd(seed, Waits::Yes);
        assert_eq!(world.doubled, [""; 0], "seed {seed}");
        world.run(world.now + seconds(120.0));
        let acts = |at: usize| world.processes[at].leases.acts(world.clock(at, world.now)).is_some();
        let acting = (0..world.processes.len()).filter(|at| !world.processes[*at].dead && acts(*at)).count();
        assert_eq!(acting, 4, "seed {seed}: when it is quiet, all act");
    }
}

#[test]
fn the_simulation_finds_instances_that_act_before_others_know_of_them() {
    assert!((0..6).any(|seed| !crowd(seed, Waits::No).doubled.is_empty()));
}

#[test]
fn a_record_that_claims_to_last_is_believed_within_reason() {
    let mut leases = Leases::new("me".into(), 1, Times::default(), 1);
    let held = |duration: f64| {
        Looked::Found(Record {
            holder: "other".into(),
            renewed: "1".into(),
            duration: Some(seconds(duration)),
            ..Record::default()
        })
    };
    let mut look = |at: f64, duration: f64| leases.looked(0, seconds(at), seconds(at), held(duration), "2");
    assert_eq!(look(0.0, 60.0), None);
    assert_eq!(look(59.0, 60.0), None);
    let claim = look(60.0, 60.0).expect("it is free");
    assert_eq!((&*claim.record.holder, claim.record.transitions, claim.creates), ("me", 1, false));
    let mut leases = Leases::new("me".into(), 1, Times::default(), 1);
    let mut look = |at: f64, duration: f64| leases.looked(0, seconds(at), seconds(at), held(duration), "2");
    assert_eq!((look(0.0, 1e6), look(14.0, 1e6), look(599.0, 1e6)), (None, None, None));
    assert!(look(600.0, 1e6).is_some());
}

#[test]
fn what_was_written_counts_when_it_was_read_back() {
    let mut leases = Leases::new("me".into(), 1, Times::default(), 1);
    let claim = leases.looked(0, seconds(1.0), seconds(1.1), Looked::Nothing, "1").expect("it is free");
    assert!(claim.creates);
    leases.looked_at_all(seconds(1.2));
    assert_eq!(leases.holds(seconds(1.2)), None, "the answer to a write is a hint");
    assert_eq!(leases.next(), seconds(1.2));
    assert_eq!(leases.looked(0, seconds(1.2), seconds(1.3), Looked::Found(claim.record.clone()), "2"), None);
    assert_eq!(leases.holds(seconds(1.3)), Some(0));
    assert_eq!(leases.until(), Some(seconds(11.1)), "counted from before it was sent");
    assert_eq!(leases.holds(seconds(11.1)), None);
    let other = Record { holder: "other".into(), ..claim.record };
    leases.looked(0, seconds(3.0), seconds(3.1), Looked::Found(other), "3");
    assert_eq!(leases.holds(seconds(3.1)), None, "another's is not ours, whenever ours would have ended");
}
