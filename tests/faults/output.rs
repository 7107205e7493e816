//! A standard output that is closed, full, or goes away in the middle of a run that writes.

use std::process::Command;

use crate::kills::{Reference, ends_well};
use crate::world::{APPLY, Creates, Workload, World, of_others};

/// Redirections of the shell, and what the exit code says: all was written to the server, and only what is said of
/// it may be lost: then something was written and something failed (4).
const OUTPUTS: [(&str, &str, i32); 6] = [
    ("", ">/dev/full", 4),
    ("", "2>/dev/full", 0),
    ("", ">/dev/full 2>/dev/full", 4),
    ("", ">&- 2>&-", 0),
    ("--output json", ">/dev/full", 4),
    // What is closed from the start is as good as the null device.
    ("--output json", ">&- 2>&-", 0),
];

#[test]
fn a_run_that_cannot_say_what_it_did() {
    let reference = Reference::of(Creates::Plain);
    for (flags, output, code) in OUTPUTS {
        let world = World::new(Workload::Twenty, Creates::Plain);
        let before = of_others(&world.state());
        let run = format!("{} apply --yes {flags} -f a.yaml -f backend.yaml", env!("CARGO_BIN_EXE_trueup"));
        let shell = format!("{run} {output}");
        let ran = Command::new("sh")
            .args(["-c", &shell])
            .current_dir(world.scratch.path("."))
            .env_clear()
            .output()
            .expect("`sh` runs");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!told.contains("panic"), "{flags} {output}: {told}");
        assert_eq!(ran.status.code(), Some(code), "{flags} {output}: {told}");
        assert_eq!(world.state(), reference.state, "{flags} {output}");
        ends_well(&world, &before, &reference, APPLY).unwrap_or_else(|error| panic!("{output}: {error}"));
    }
}
