//! Other actors on the same server, each with one habit and a rhythm. What they do is told apart from what we do.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use super::dice::Dice;
use super::makes::Profile;
use super::scene::{Declared, GONE, Scene, Stands, declared};
use super::world::{World, members};
use super::writes::{US, in_its_own_way, made};

/// What an actor does when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Hash)]
pub enum Habit {
    /// Writes to a field that no document declares.
    Note,
    /// Sets a declared field to a value of its own, as its manager.
    Reset,
    Delete,
    /// Deletes, and makes another of the same name.
    Recreate,
    /// Holds a finalizer.
    Guard,
    /// Makes the field its own that left our files.
    Keep,
    Create,
}

pub const HABITS: [Habit; 7] = {
    use Habit::*;
    [Note, Reset, Delete, Recreate, Guard, Keep, Create]
};

/// An actor, and when it acts next.
#[derive(Clone, Copy, Debug)]
pub struct Actor {
    pub habit: Habit,
    /// The document whose object it is after; `None`: any.
    pub after: Option<usize>,
    pub every: Duration,
    pub next: Duration,
}

/// A request and its answer take about so long: each of the four steps between up to 20 ms.
pub const ROUND_TRIP: Duration = Duration::from_millis(40);

impl Actor {
    /// None to three.
    pub fn draw(dice: &mut Dice) -> Vec<Actor> {
        let count = dice.one(&[0, 0, 1, 1, 2, 3]);
        let draw = |dice: &mut Dice| Actor {
            habit: dice.one(&HABITS),
            after: None,
            every: ROUND_TRIP.mul_f64(dice.one(&[50.0, 10.0, 2.0, 1.0, 0.5, 0.1])),
            next: ROUND_TRIP.mul_f64(dice.below(50) as f64 / 10.0),
        };
        (0..count).map(|_| draw(dice)).collect()
    }
}

impl World {
    /// A server on which some of the objects stand, as wanted or otherwise.
    pub fn draw(scene: Rc<Scene>, dice: &mut Dice) -> World {
        let mut world = World::empty(scene);
        let share = dice.one(&[0.0, 0.5, 0.9, 1.0]);
        let twins = if dice.chance(0.1) { 0.2 } else { 0.0 };
        for _ in 0..2 {
            for at in 0..world.scene.documents.len() {
                let stands = match world.scene.stands[at] {
                    Stands::Perhaps => dice.chance(share),
                    stands => stands != Stands::Not,
                };
                if stands && !world.stands(at) {
                    world.foreign_create(at, dice, true);
                    let may = world.scene.stands[at] == Stands::Perhaps && !world.scene.manners[at].unique;
                    if may && dice.chance(twins) {
                        world.foreign_create(at, dice, true);
                    }
                }
            }
        }
        world
    }

    /// An object that stands there already, perhaps as we left it; or one that another makes now.
    fn foreign_create(&mut self, at: usize, dice: &mut Dice, perhaps_ours: bool) {
        if !self.parents_stand(at) {
            return;
        }
        let scene = self.scene.clone();
        let document = &scene.documents[at];
        let stands = scene.stands[at];
        let by_chance = stands == Stands::Perhaps;
        let size = if by_chance { dice.below(3) } else { 7 };
        let mut value = json!({"size": size, "note": dice.below(100)});
        if stands == Stands::AsWanted || (by_chance && dice.chance(0.6)) {
            for (name, want) in declared(document) {
                if let Declared::Value(wanted) = want {
                    value[name] = wanted.clone();
                }
            }
        } else if let Some((_, Declared::Value(_))) = declared(document).find(|(name, _)| *name == "fixed") {
            value["fixed"] = "c".into();
        }
        in_its_own_way(&mut value);
        let base = document.base.spec().is_some();
        if base && (!by_chance || dice.chance(0.8)) {
            value[GONE.0] = if dice.chance(0.3) { "x" } else { GONE.1 }.into();
        }
        if by_chance && dice.chance(0.05) {
            value["finalizers"] = json!(["guard"]);
        }
        let ours = perhaps_ours && (!by_chance || dice.chance(0.7));
        let theirs = |name: &str, value: &serde_json::Value| {
            matches!(name, "note" | "finalizers") || (name == GONE.0 && value != GONE.1) || !ours
        };
        let mut stored = made(value, true);
        for (name, value) in members(&mut stored.value).iter() {
            let holder = if theirs(name, value) { "other" } else { US };
            stored.managers.insert(name.clone(), BTreeSet::from([holder]));
        }
        let id = document.id.clone();
        self.store(&id, stored);
    }

    /// What an actor does now; nothing where there is nothing to do it to.
    pub fn act(&mut self, actor: Actor, dice: &mut Dice) -> Option<String> {
        let at = actor.after.unwrap_or_else(|| dice.below(self.scene.documents.len()));
        let id = self.scene.documents[at].id.clone();
        let free = !self.has_children(&id);
        let there =
            self.objects.get(&id).is_some_and(|slot| slot.first().is_some_and(|s| s.gone_at.is_none()));
        let may = match actor.habit {
            Habit::Create => !self.stands(at) && self.parents_stand(at),
            Habit::Delete | Habit::Recreate => there && free,
            Habit::Note | Habit::Reset | Habit::Guard | Habit::Keep => there,
        };
        if !may {
            return None;
        }
        match actor.habit {
            Habit::Create => self.foreign_create(at, dice, false),
            Habit::Delete | Habit::Recreate => {
                self.remember(&id);
                self.objects.remove(&id);
                self.changed(&id, false);
                if actor.habit == Habit::Recreate {
                    self.foreign_create(at, dice, false);
                }
            }
            Habit::Note => self.set_field(at, "note", dice.below(100).into()),
            Habit::Reset => self.set_field(at, "size", dice.below(3).into()),
            Habit::Guard => self.set_field(at, "finalizers", json!(["guard"])),
            Habit::Keep => self.set_field(at, GONE.0, "x".into()),
        }
        self.deeds[at].others += u32::from(actor.habit != Habit::Note);
        Some(format!("another: {:?} {id}", actor.habit))
    }

    fn set_field(&mut self, at: usize, name: &str, value: serde_json::Value) {
        let id = self.scene.documents[at].id.clone();
        self.remember(&id);
        let tracks = self.scene.manners[at].profile == Profile::P1;
        let stored = &mut self.objects.get_mut(&id).expect("it is there")[0];
        members(&mut stored.value).insert(name.into(), value);
        stored.version += 1;
        if tracks {
            stored.managers.insert(name.into(), BTreeSet::from(["other"]));
        }
        self.changed(&id, false);
    }
}
