//! The process dies at each request while a ReplicaSet makes what is missing and deletes what is too much, on a kind
//! with names of the client's and on one whose ids the server makes. There is never one more than are wanted, besides
//! what was too much before, and none twice; the next run brings about just what is wanted.

use crate::crowd;
use crate::kills::is_held;
use crate::middle::{Middle, Moment, Stop};
use crate::world::{APPLY, Creates, Workload, World, has_twins};

/// Wanted: `web-0`, `web-1` and `web-2`.
const WANTED: usize = 3;

/// What there is of it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The first one, and three that are too many.
    SomeAndSurplus,
}

impl Before {
    fn names(self) -> &'static [&'static str] {
        match self {
            Before::Nothing => &[],
            Before::SomeAndSurplus => &["web-0", "web-3", "web-4", "web-10"],
        }
    }

    /// How many there may be of them at any time.
    fn most(self) -> usize {
        WANTED + self.names().iter().filter(|name| **name != "web-0").count()
    }
}

#[derive(Clone, Copy, Debug)]
struct Sort {
    kind: &'static str,
    collection: &'static str,
    creates: Creates,
}

const SORTS: [Sort; 3] = [
    Sort { kind: "Team", collection: "/teams", creates: Creates::Plain },
    Sort { kind: "Team", collection: "/teams", creates: Creates::Keyed },
    Sort { kind: "Space", collection: "/spaces", creates: Creates::Plain },
];

fn world(sort: Sort, before: Before) -> World {
    let world = World::new(Workload::CreateThree, sort.creates);
    before.names().iter().for_each(|name| world.make(sort.collection, name, "wanted"));
    let text = format!(
        "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: web}}\nspec:\n  replicas: {WANTED}\n  template:\n    \
         apiVersion: demo\n    kind: {}\n    spec: {{description: wanted}}\n",
        sort.kind
    );
    world.scratch.write("a.yaml", text);
    world
}

/// The names of the replicas that are there, of twins both.
fn names(world: &World) -> Vec<String> {
    let state = world.state();
    assert!(!has_twins(&state), "{state:#?}");
    let name = |place: &String| place.split(' ').nth(1).map(|name| name.trim_matches('"').to_owned());
    state.keys().filter_map(name).filter(|name| name.starts_with("web-")).collect()
}

fn killed_at(stop: Stop, sort: Sort, before: Before) -> Result<bool, String> {
    let world = world(sort, before);
    let middle = Middle::before(&world.served, Some(stop));
    world.through(&middle.url(), sort.creates);
    let mut run = world.scratch.trueup(APPLY).start();
    let held = is_held(&mut run, &middle);
    run.child.kill().expect("it can be killed");
    run.child.wait().expect("it can be waited for");
    let was_killed = held.is_some();
    drop(held);
    let then = names(&world);
    world.through(&world.served.url(), sort.creates);
    let again = world.scratch.trueup(APPLY).done();
    let (after, written) = (names(&world), world.written().len());
    let silent = world.scratch.trueup(APPLY).done();
    // A deletion begins only once all that is missing was made and seen.
    let lacks = (0..WANTED).any(|number| !then.contains(&format!("web-{number}")));
    let deleted = before.names().iter().any(|name| !then.iter().any(|there| there == name));
    let wrong = match () {
        () if then.len() > before.most() => "there are too many after the kill",
        () if lacks && deleted => "something was deleted while something was missing",
        () if again.code() != 0 => "the next run does not succeed",
        () if after != ["web-0", "web-1", "web-2"] => "it is not what is wanted",
        () if silent.code() != 0 || world.written().len() != written => "the run after that is not silent",
        () => return Ok(was_killed),
    };
    Err(format!("{stop:?}, {sort:?}, {before:?}: {wrong}: {then:?}, {after:?}\n{}", again.told()))
}

fn requests(sort: Sort, before: Before) -> usize {
    let world = world(sort, before);
    let middle = Middle::before(&world.served, None);
    world.through(&middle.url(), sort.creates);
    world.apply().expect(0);
    assert_eq!(names(&world), ["web-0", "web-1", "web-2"]);
    middle.lines().len()
}

fn killed_everywhere(before: Before) {
    let mut all: Vec<(Stop, Sort)> = Vec::new();
    for sort in SORTS {
        for at in 1..=requests(sort, before) {
            let stop = |moment| (Stop { at, moment, writes: false }, sort);
            all.extend([Moment::Before, Moment::After].map(stop));
        }
    }
    let came = crowd::each(&all, 3, |(stop, sort)| killed_at(*stop, *sort, before));
    let failed: Vec<&String> = came.iter().filter_map(|one| one.as_ref().err()).collect();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), all.len());
    let killed = came.iter().filter(|one| matches!(one, Ok(true))).count();
    println!("{before:?}: {killed} kills at {} places", all.len());
    // A run may need a look less, so that the last requests do not come.
    assert!(killed + 8 >= all.len() && killed > 40, "{killed} of {}", all.len());
}

#[test]
fn going_up() {
    killed_everywhere(Before::Nothing);
}

#[test]
fn going_up_and_down_at_once() {
    killed_everywhere(Before::SomeAndSurplus);
}
