//! A log that nobody takes and a disk that is full (X3): what is to be done is done.

use std::process::{Command, Stdio};

use super::{started, until_is};
use crate::kills::Reference;
use crate::support::Running;
use crate::watch_stage::until;
use crate::world::{Creates, Workload, World, has_twins};

/// Redirections of the shell, and what it is told before. No file can grow under `ulimit -f 0`, as on a full disk.
const OUTPUTS: [(&str, &str); 5] = [
    ("", ">/dev/full"),
    ("", ">/dev/full 2>/dev/full"),
    ("", ">&- 2>&-"),
    ("trap '' XFSZ; ulimit -f 0;", ">/dev/null"),
    ("trap '' XFSZ; ulimit -f 0;", ">/dev/full 2>/dev/full"),
];

#[test]
fn a_watch_that_cannot_say_what_it_does() {
    let reference = Reference::of(Creates::Plain);
    for (before, output) in OUTPUTS {
        let world = World::new(Workload::Twenty, Creates::Plain);
        let run = format!(
            "{before} exec {} watch -f a.yaml -f backend.yaml --interval 1s --status-file status.json {output}",
            env!("CARGO_BIN_EXE_trueup")
        );
        let mut command = Command::new("sh");
        command.args(["-c", &run]).current_dir(world.scratch.path(".")).env_clear();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let running = Running { child: command.spawn().expect("`sh` runs") };
        let case = format!("{before} {output}");
        until(&|| case.clone(), || world.state() == reference.state);
        world.served.call("DELETE", "/spaces/s1", "");
        until(&|| format!("{case}: a deletion is repaired"), || world.state() == reference.state);
        running.signal("TERM");
        let done = running.done();
        assert!(!done.err.contains("panic"), "{case}: {}", done.err);
        assert!([0, 1].contains(&done.code()), "{case}: {}", done.told());
        assert_eq!(world.written().len(), reference.written.len() + 2, "{case}: {:?}", world.written());
        let full = before.contains("ulimit");
        assert_eq!(world.scratch.path("status.json").exists(), !full, "{case}");
    }
}

/// Whoever read the log is gone in the middle of it.
#[test]
fn a_log_whose_reader_goes_away() {
    let reference = Reference::of(Creates::Plain);
    let world = World::new(Workload::Twenty, Creates::Plain);
    let mut running = super::watch(&world, "--interval 1s").start();
    drop(running.child.stdout.take());
    until(&|| "all is there".into(), || world.state() == reference.state);
    world.served.call("DELETE", "/spaces/s1", "");
    until(&|| "a deletion is repaired".into(), || world.state() == reference.state);
    running.signal("TERM");
    let done = running.done();
    assert!(!done.err.contains("panic") && [0, 1].contains(&done.code()), "{}", done.told());
    assert!(!has_twins(&world.state()));
    let again = started(&world, "");
    until_is(&world, &again, &reference.state);
    again.ends("TERM", 0);
    assert_eq!(world.written().len(), reference.written.len() + 2, "{:?}", world.written());
}
