//! What an oracle lets pass is no more than what no client can know. The other side of each is shown here: the fault that
//! looks like it, and is still found.

use std::rc::Rc;
use std::time::Duration;

use super::actors::{Actor, Habit};
use super::dice::Dice;
use super::makes::Profile;
use super::workload::Workload;
use super::world::{Sight, Stored, World};
use crate::core::exchange::{Answer, Ask, Target, Write};

/// An old state: from before what was done last.
const BEHIND: Sight = Sight::Stale(Duration::from_millis(50));

fn world(workload: Workload, profile: Profile) -> (World, Dice) {
    let mut dice = Dice::replay(Vec::new());
    let mut world = World::draw(Rc::new(workload.scene(profile)), &mut dice);
    world.begin_run();
    world.pass(Duration::from_secs(1));
    (world, dice)
}

fn other(world: &mut World, dice: &mut Dice, habit: Habit) {
    let actor = Actor { habit, after: Some(0), every: Duration::ZERO, next: Duration::ZERO };
    world.act(actor, dice).expect("there is something to do");
}

fn target(world: &World, server_id: Option<u64>) -> Target {
    let id = world.scene.documents[0].id.clone();
    Target { server_id: server_id.map(|id| id.to_string().into()), ..Target::new(id) }
}

fn id(world: &World) -> u64 {
    world.slot(0).expect("it stands")[0].id
}

#[test]
fn a_second_deletion_is_let_pass_only_where_every_look_hid_the_first() {
    for (looks, counted) in [
        (&[][..], 2),
        (&[Sight::Clear], 2),
        (&[BEHIND], 1),
        (&[Sight::Clear, BEHIND], 2),
        (&[BEHIND, Sight::Clear], 2),
    ] {
        let (mut world, mut dice) = world(Workload::DeleteThree, Profile::P1);
        other(&mut world, &mut dice, Habit::Guard);
        world.pass(Duration::from_secs(1));
        let object = target(&world, Some(id(&world)));
        world.write(&Write::Delete(object.clone()), &mut dice);
        world.pass(Duration::from_millis(10));
        for sight in looks {
            let Answer::Found(item) = world.ask(&Ask::Read(object.clone()), *sight) else {
                panic!("it is there")
            };
            assert_eq!(item.deleting, *sight == Sight::Clear);
        }
        world.write(&Write::Delete(object), &mut dice);
        assert_eq!(world.deeds[0].deletes, counted, "{looks:?}");
    }
}

/// An object that another has made anew, and so under another id; with a second one of its name, or without.
fn made_anew(with_twin: bool) -> (World, u64) {
    let (mut world, mut dice) = world(Workload::DeleteThree, Profile::P6);
    let old = id(&world);
    let name = world.scene.documents[0].id.clone();
    let beside = |world: &mut World, id| {
        let slot = world.objects.get_mut(&name).expect("it stands");
        slot.push(Stored { id, ..slot[0].clone() });
    };
    if with_twin {
        beside(&mut world, 4_711);
    }
    other(&mut world, &mut dice, Habit::Recreate);
    if with_twin {
        beside(&mut world, 4_712);
    }
    world.begin_run();
    world.pass(Duration::from_millis(10));
    (world, old)
}

#[test]
fn an_absence_is_let_pass_only_where_the_object_of_that_very_id_was_hidden() {
    let read = |world: &mut World, id, sight| {
        let answer = world.ask(&Ask::Read(target(world, Some(id))), sight);
        assert!(matches!(answer, Answer::Absent), "{answer:?}");
        (world.was_right[0], world.unseen[0])
    };
    let (mut world, old) = made_anew(false);
    let new = id(&world);
    // An id that names nothing says nothing of the object that bears the name.
    assert_eq!(read(&mut world, old, Sight::Clear), (false, false));
    assert_eq!(read(&mut world, 4_713, BEHIND), (false, false));
    assert_eq!(read(&mut world, new, BEHIND), (true, true));
    // Nor does what hid one of two: the other is there.
    let (mut world, _) = made_anew(true);
    let new = id(&world);
    assert_eq!(read(&mut world, new, BEHIND), (false, false));
}
