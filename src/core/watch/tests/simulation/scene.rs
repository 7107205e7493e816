//! What a schedule is made of: the objects, how the loop is set up, how its feed behaves, and what others do and when.

use std::time::Duration;

use super::super::super::Settings;
use super::super::make::seconds;
use crate::core::engine::tests::simulation::dice::Dice;

/// What the server and the files make of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    Plain,
    /// A guard forbids every write of it.
    Refused,
    /// Both sides changed it, for ever.
    Contested,
    /// It is only reported.
    Reported,
    /// The server never takes it.
    Hopeless,
    /// It needs the object before it.
    Needy,
    /// It refers to the object before it, as that one is on the server.
    Refers,
    /// It lies below the object before it on the same backend, and goes with it.
    Member,
}

/// How a change on the server becomes hints.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    pub loses: f64,
    pub doubles: f64,
    /// A hint comes this late at most, so that hints overtake each other.
    pub delay: Duration,
    /// Whether a hint tells what was seen.
    pub has_digest: bool,
}

/// What somebody does.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Another client changes an object.
    Change(usize),
    /// Another client deletes an object, with all below it.
    Delete(usize),
    /// Another client deletes an object and makes it anew, just as it was.
    Remake(usize),
    /// A backend is away from now on for so long.
    Away(usize, Duration),
    /// Hints about one object, or all of them in turn, so often and for so long; nothing has changed.
    Hints { about: Option<usize>, every: Duration, during: Duration },
    /// Hints that tell of another state each time, and nothing has changed that matters.
    Status { about: usize, every: Duration, during: Duration },
    /// Another client changes an object so often, and for so long.
    Churn { about: usize, every: Duration, during: Duration },
    /// The files want something else of an object.
    Wish(usize),
    /// An object leaves the files, and comes back later.
    Leave(usize, Duration),
    /// The documents are in another order.
    Reorder,
    /// A person asks for a look at all.
    Ask,
    /// The process ends, and starts again.
    Restart,
    /// The machine sleeps.
    Sleep(Duration),
}

#[derive(Clone, Debug)]
pub struct Scene {
    pub settings: Settings,
    pub instances: usize,
    pub backends: usize,
    pub natures: Vec<Nature>,
    pub feed: Feed,
    /// A pass takes this long at most.
    pub pass: Duration,
    /// But for one object in three, which takes so long at most.
    pub slow: Option<Duration>,
    /// An object fails in a pass with this probability, while there are troubles.
    pub faults: f64,
    /// A whole backend does.
    pub outages: f64,
    /// Troubles end then.
    pub calm: Duration,
    /// In the order of time.
    pub acts: Vec<(Duration, Act)>,
}

impl Scene {
    /// Nothing but objects that come level at once and stay so.
    pub fn plain(objects: usize) -> Scene {
        Scene {
            settings: Settings { passes: 4, ..Settings::default() },
            instances: 1,
            backends: 1,
            natures: vec![Nature::Plain; objects],
            feed: Feed { loses: 0.0, doubles: 0.0, delay: Duration::ZERO, has_digest: false },
            pass: seconds(0.05),
            slow: None,
            faults: 0.0,
            outages: 0.0,
            calm: Duration::ZERO,
            acts: Vec::new(),
        }
    }

    /// One pass at a time, each of them slow, and an object that always has something more urgent than the others.
    fn crowded(dice: &mut Dice) -> Scene {
        let mut scene = Scene::plain(2 + dice.below(2));
        (scene.settings.passes, scene.settings.resync) = (1, seconds(60.0));
        scene.pass = seconds(30.0);
        scene.calm = seconds(700.0);
        // Longer than the floor of what is looked at for nothing: the object is due again when its pass ends.
        let hints = Act::Hints { about: Some(0), every: seconds(2.0), during: scene.calm };
        scene.acts = vec![(seconds(1.0), hints)];
        scene
    }

    pub fn draw(dice: &mut Dice) -> Scene {
        if dice.chance(0.03) {
            return Scene::crowded(dice);
        }
        let mut scene = Scene::plain(1 + dice.below(5));
        scene.settings.seed = dice.below(1000) as u64;
        scene.settings.resync = seconds(dice.one(&[60.0, 120.0, 600.0]));
        scene.settings.passes = dice.one(&[4, 1, 2]);
        scene.settings.dry_run = dice.chance(0.03);
        scene.settings.changes_an_hour = if dice.chance(0.05) { Some(dice.below(4)) } else { None };
        scene.instances = if dice.chance(0.15) { 2 } else { 1 };
        scene.backends = 1 + dice.below(2);
        let needs = dice.chance(0.3);
        for at in 0..scene.natures.len() {
            use Nature::*;
            scene.natures[at] = match dice.chance(0.25) {
                true => dice.one(&[Plain, Refused, Contested, Reported, Hopeless, Needy]),
                false if needs => dice.one(&[Plain, Refers, Member]),
                false => Plain,
            };
        }
        scene.feed = Feed {
            loses: dice.one(&[0.0, 0.3, 1.0]),
            doubles: dice.one(&[0.0, 0.5]),
            delay: seconds(dice.one(&[0.0, 0.3, 5.0])),
            has_digest: dice.chance(0.5),
        };
        scene.pass = seconds(dice.one(&[0.05, 0.01, 1.2, 8.0]));
        scene.faults = dice.one(&[0.0, 0.05, 0.3, 0.8]);
        scene.outages = dice.one(&[0.0, 0.0, 0.1]);
        scene.calm = seconds(dice.one(&[10.0, 60.0, 240.0, 600.0]));
        let count = dice.below(8);
        scene.acts = (0..count).map(|_| scene.draw_act(dice)).collect();
        scene.acts.sort_by_key(|(at, _)| *at);
        scene.slow = dice.one(&[None, None, None, Some(seconds(25.0)), Some(seconds(5.0))]);
        scene
    }

    fn draw_act(&self, dice: &mut Dice) -> (Duration, Act) {
        let at = self.calm.mul_f64(dice.fraction());
        let object = dice.below(self.natures.len());
        let rest = self.calm - at;
        let during = rest.mul_f64(dice.fraction());
        let act = match dice.below(14) {
            0..=2 => Act::Change(object),
            3 => Act::Away(dice.below(self.backends), during),
            4 => Act::Hints {
                about: dice.chance(0.5).then_some(object),
                every: seconds(dice.one(&[0.07, 0.5, 3.0])),
                during: during.min(seconds(60.0)),
            },
            5 if dice.chance(0.5) => Act::Hints { about: None, every: seconds(0.5), during },
            5 => Act::Churn { about: object, every: seconds(dice.one(&[0.7, 3.0])), during },
            6 => Act::Status { about: object, every: seconds(0.6), during: during.min(seconds(60.0)) },
            7 => Act::Wish(object),
            8 => Act::Leave(object, during.min(seconds(20.0))),
            9 => dice.one(&[Act::Reorder, Act::Ask]),
            10 => Act::Restart,
            11 => Act::Delete(object),
            12 => Act::Remake(object),
            _ => Act::Sleep(seconds(dice.one(&[600.0, 30.0, 7200.0]))),
        };
        (at, act)
    }
}
