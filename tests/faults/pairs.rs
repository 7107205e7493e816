//! Two processes at once, on the same objects.

use std::collections::BTreeMap;

use crate::kills::Reference;
use crate::world::{APPLY, Creates, Workload, World, has_twins, keeps, of_others};

/// The same files, at the same time: with keys of creates, nothing is there twice, and no update is lost.
#[test]
fn two_that_want_the_same() {
    let reference = Reference::of(Creates::Keyed);
    for round in 0..8 {
        let world = World::new(Workload::Twenty, Creates::Keyed);
        let before = of_others(&world.state());
        let runs = [world.scratch.trueup(APPLY).start(), world.scratch.trueup(APPLY).start()];
        let done = runs.map(|run| run.done());
        for done in &done {
            // One may find that the other was faster, and says so.
            assert!([0, 1, 3, 4].contains(&done.code()), "round {round}: {}", done.told());
        }
        let (state, written) = (world.state(), world.written());
        assert!(!has_twins(&state) && keeps(&before, &state), "round {round}: {state:#?}");
        assert!(written.len() <= 2 * reference.written.len(), "round {round}: {written:?}");
        let mut deleted: BTreeMap<&String, usize> = BTreeMap::new();
        written
            .iter()
            .filter(|line| line.starts_with("DELETE "))
            .for_each(|line| *deleted.entry(line).or_default() += 1);
        assert!(deleted.values().all(|times| *times == 1), "round {round}: {written:?}");
        let again = world.apply().expect(0);
        assert_eq!(world.state(), reference.state, "round {round}: {}", again.told());
    }
}

/// Different values for the same fields: whoever is second says so or is right, and the writes have an end.
#[test]
fn two_that_want_different_things() {
    for round in 0..8 {
        let world = World::new(Workload::UpdateThree, Creates::Plain);
        let before = of_others(&world.state());
        world.scratch.write("b.yaml", Workload::UpdateThree.files().replace("wanted", "otherwise"));
        let other = APPLY.replace("a.yaml", "b.yaml");
        let runs = [world.scratch.trueup(APPLY).start(), world.scratch.trueup(&other).start()];
        let done = runs.map(|run| run.done());
        let state = world.state();
        assert!(keeps(&before, &state), "round {round}: {state:#?}");
        assert!(world.written().len() <= 12, "round {round}: {:?}", world.written());
        for name in ["Team \"u1\"", "Team \"u2\"", "Space \"u3\""] {
            let value = &state[name]["description"];
            assert!(value == "wanted" || value == "otherwise", "round {round}: {name} {value}");
        }
        for done in &done {
            assert!([0, 3, 4].contains(&done.code()), "round {round}: {}", done.told());
        }
    }
}
