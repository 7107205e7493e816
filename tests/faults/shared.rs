//! The faults of the simulator and those of the scripts are the same by name: each is played over HTTP as well, or
//! it is said where it is shown.
//!
//! What is asked of both is the same too: once the fault is over, a run brings about what an undisturbed one does,
//! nothing is there twice, and the run after that writes nothing.

use std::collections::BTreeSet;

use crate::rows;

/// Rows of the simulator that are no script here, and the test that shows them over HTTP, if any does.
const ELSEWHERE: [(&str, &str); 4] = [
    ("T1 not sent", "an_address_that_refuses"),
    // It would be waited out in real time: the simulator's alone.
    ("S1 429, 15 min", ""),
    ("S19 an error inside", "an_error_inside_the_200_of_a_write"),
    ("C5 an item without a name", "items_without_a_key"),
];

/// The names in the simulator's table.
fn simulated() -> BTreeSet<String> {
    let source = include_str!("../../src/core/engine/tests/simulation/fate.rs");
    let table = source.split("pub const ROWS").nth(1).and_then(|rest| rest.split("\n};").next());
    let rows = table.expect("the simulator has a table of faults").split("(\"").skip(1);
    rows.filter_map(|row| Some(row.split_once('"')?.0.to_owned())).collect()
}

#[test]
fn each_fault_of_the_simulator_is_played_over_http() {
    let scripts: BTreeSet<String> = rows::all().into_iter().map(|row| row.name.to_owned()).collect();
    let shown = [include_str!("../cli/answers.rs"), include_str!("../cli/mismatch.rs")].concat();
    let simulated = simulated();
    assert!(simulated.len() >= 29, "{simulated:?}");
    for (name, test) in ELSEWHERE {
        assert!(simulated.contains(name) && !scripts.contains(name), "`{name}` is named in vain");
        assert!(test.is_empty() || shown.contains(&format!("fn {test}()")), "there is no `{test}`");
    }
    let elsewhere = |name: &&String| ELSEWHERE.iter().any(|(other, _)| other == name);
    let missing: Vec<&String> = simulated.difference(&scripts).filter(|name| !elsewhere(name)).collect();
    assert!(missing.is_empty(), "no script plays {missing:?}");
}
