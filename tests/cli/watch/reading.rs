//! Readings of the files that do not end.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;

use super::stage::{Watching, descriptions, id, teams, two_teams, until};
use crate::repository::git;

/// Whether a process is there, and no mere entry of one that has ended.
fn runs(pid: &str) -> bool {
    let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

/// What was read before goes on being kept, a person is heard, the status says it, and nothing is left behind.
#[test]
fn a_git_that_hangs_does_not_make_it_deaf() {
    let (scratch, served) = two_teams();
    let path = env::var("PATH").expect("there is a `PATH`");
    let hangs = format!(
        "#!/bin/sh\ncd {}\nif test -e hang; then sleep 600 & echo $! > child.new; mv child.new child; wait; fi\ncd - \
         >/dev/null\nPATH={path} exec git \"$@\"\n",
        scratch.path("").display()
    );
    scratch.write("bin/git", hangs);
    fs::set_permissions(scratch.path("bin/git"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    git(Path::new(&scratch.path("")), "init --quiet --initial-branch=main .");
    git(Path::new(&scratch.path("")), "add m backend.yaml");
    git(Path::new(&scratch.path("")), "commit --quiet --message x");
    let line =
        "watch -f m -f backend.yaml --log ndjson --base HEAD --interval 1h --resync 1h --status-file s.json";
    let run = scratch.trueup(line).env("PATH", &format!("{}:{path}", scratch.path("bin").display()));
    let watching = Watching::of(run.start());
    watching.until_said("all objects were looked at", 1);
    scratch.write("hang", "");
    scratch.write("m/a.yaml", teams(&["blue", "red"], "two"));
    until("git hangs", || scratch.path("child").exists());
    let child = fs::read_to_string(scratch.path("child")).expect("it was written");
    assert!(runs(&child));
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.hangup();
    until("the last valid files are kept", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.until_said("reading of the files takes long", 1);
    until("the status has it", || {
        let status = fs::read_to_string(scratch.path("s.json")).unwrap_or_default();
        let status: Value = serde_json::from_str(&status).unwrap_or_default();
        let warning = status["warnings"][0].as_str().unwrap_or_default();
        warning.starts_with("files: a reading has taken ") && status["desired"]["valid"] == true
    });
    watching.ends("TERM", 0);
    until("what git began is gone with the watch", || !runs(&child));
}
