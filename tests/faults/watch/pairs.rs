//! Two watches without a lease: over the same files (X5), and over files that say otherwise (X6).

use super::{start, started, until_is};
use crate::kills::Reference;
use crate::middle::Middle;
use crate::watch_stage::{id, until};
use crate::world::{Creates, Workload, World, has_twins, keeps, of_others};

#[test]
fn two_watches_over_the_same_files() {
    let reference = Reference::of(Creates::Keyed);
    let world = World::new(Workload::Twenty, Creates::Keyed);
    let before = of_others(&world.state());
    let both = [start(&world, "--interval 1s"), start(&world, "--interval 1s")];
    both.iter().for_each(|one| drop(one.until_said("all objects were looked at", 1)));
    until_is(&world, &both[0], &reference.state);
    let made = world.written();
    assert!(made.len() <= 2 * reference.written.len(), "{made:?}");
    // Others change what is theirs and what is ours, of the same objects, while both look.
    let served = &world.served;
    let mut wanted = reference.state.clone();
    for n in 0..2 {
        let team = format!("/teams/{}", id(served, "/teams", "u1"));
        for path in [&*team, "/spaces/u3"] {
            served.change(path, &format!(r#"{{"description": "theirs", "count": {n}}}"#));
        }
        served.call("DELETE", "/spaces/s1", "");
        ["Team \"u1\"", "Space \"u3\""]
            .iter()
            .for_each(|place| wanted.get_mut(*place).expect("it is there")["count"] = n.into());
        until_is(&world, &both[0], &wanted);
    }
    for one in both {
        one.ends("TERM", 0);
    }
    let (state, written) = (world.state(), world.written());
    assert!(state == wanted && !has_twins(&state) && keeps(&before, &state), "{state:#?}");
    // Six of others, and at most one for each of these by each of the two.
    assert!(written.len() <= made.len() + 6 + 2 * 6, "{:?}", &written[made.len()..]);
    let left = world.apply().expect(0);
    assert_eq!(world.written().len(), written.len(), "{}", left.told());
}

/// They write in turn until one has found out that it is a fight; then the other's value stands, and both are quiet.
#[test]
fn two_watches_that_want_otherwise() {
    let world = World::new(Workload::UpdateThree, Creates::Plain);
    let middle = Middle::before(&world.served, None);
    world.through(&middle.url(), Creates::Plain);
    let ours = started(&world, "--interval 1s --resync 2s --status-file ours.json");
    let text = std::fs::read_to_string(world.scratch.path("a.yaml")).expect("it was written");
    world.scratch.write("b.yaml", text.replace("{description: wanted}", "{description: other}"));
    let line =
        "watch -f b.yaml -f backend.yaml --log ndjson --interval 1s --resync 2s --status-file other.json";
    let other = crate::watch_stage::Watching::of(world.scratch.trueup(line).start());
    let fights = || -> usize {
        let named = |name: &str| {
            let text = std::fs::read_to_string(world.scratch.path(name)).unwrap_or_default();
            let status: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let objects = status["objects"].as_array().cloned().unwrap_or_default();
            let fights = |object: &&serde_json::Value| {
                object["conditions"].as_array().into_iter().flatten().any(|condition| {
                    condition["type"] == "Fighting"
                        && condition["status"] == "True"
                        && condition["message"].as_str().is_some_and(|text| text.contains("description"))
                })
            };
            objects.iter().filter(fights).map(|object| object["name"].to_string()).collect::<Vec<_>>()
        };
        let mut all = [named("ours.json"), named("other.json")].concat();
        all.sort();
        all.dedup();
        all.len()
    };
    let logs = || format!("all three are fought over\n{}\n---\n{}", ours.text(), other.text());
    until(&logs, || fights() == 3);
    let writes = || middle.accepted().len();
    let looks = || middle.lines().iter().filter(|line| line.starts_with("GET /teams?")).count();
    let (written, looked) = (writes(), looks());
    until(&logs, || looks() >= looked + 4);
    assert!(writes() <= written + 3, "a write was under way at most: {:?}", middle.lines());
    // Of each path the first write, and three that were set back, by each of the two; and what ours were before.
    assert!(writes() <= 3 * (2 * 4 + 1), "{:?}", middle.accepted());
    println!("{} writes", writes());
    ours.ends("TERM", 0);
    other.ends("TERM", 0);
}
