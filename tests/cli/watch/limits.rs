//! At most so many changes an hour, over several processes as well.

use crate::watch::stage::{Watching, descriptions, teams, two_teams, until};

/// The status file carries what was written from one process to the next.
#[test]
fn a_limit_of_changes_holds_over_restarts() {
    let (scratch, served) = two_teams();
    let flags = "--max-changes 1 --status-file s.json --resync 1h --interval 1h";
    let watching = Watching::started(&scratch, flags);
    let told = watching.until_said("changes of the last hour count", 1);
    assert_eq!(
        (&told["changes"], &told["level"]),
        (&0.into(), &"info".into()),
        "no file, and no trouble: {told}"
    );
    until("one is written", || descriptions(&served) == ["blue=one"]);
    watching.ends("TERM", 0);
    for _ in 0..2 {
        let watching = Watching::started(&scratch, flags);
        let told = watching.until_said("changes of the last hour count", 1);
        assert_eq!(told["changes"], 1, "{told}");
        watching.ends("TERM", 0);
    }
    let once = scratch.trueup(&format!("watch -f m -f backend.yaml --once {flags}")).done();
    assert_eq!((once.code(), descriptions(&served)), (5, vec!["blue=one".to_owned()]), "{}", once.told());
    // Without the file each process begins anew, as the docs say.
    let watching = Watching::started(&scratch, "--max-changes 1 --resync 1h --interval 1h");
    until("the other is written", || descriptions(&served) == ["blue=one", "red=one"]);
    watching.ends("TERM", 0);
    // What --once writes counts for the next as well.
    scratch.write("m/a.yaml", teams(&["blue", "red"], "two"));
    let flags = "watch -f m -f backend.yaml --once --max-changes 1 --status-file other.json";
    scratch.trueup(flags).done();
    let after = descriptions(&served);
    assert_eq!(after.iter().filter(|team| team.ends_with("=two")).count(), 1, "{after:?}");
    scratch.trueup(flags).done().expect(5);
    assert_eq!(descriptions(&served), after);
    // A file that does not tell is a warning, and the limit is of that run alone.
    scratch.write("other.json", "{\"schemaVersion\": 1, \"command\": \"status\", \"changes\": null}");
    let done = scratch.trueup(flags).done();
    let want = "the changes of the last hour are not known, and none of them count: `other.json`";
    assert!(done.err.contains(want), "{}", done.told());
}

#[test]
fn a_status_file_among_the_manifests_is_refused_at_the_start() {
    let (scratch, served) = two_teams();
    for flags in ["", "--once"] {
        let done =
            scratch.trueup(&format!("watch -f m -f backend.yaml --status-file m/s.json {flags}")).done();
        let want = "the status file `m/s.json` would be read as a manifest, by `m`";
        assert!(done.code() == 64 && done.told().contains(want), "{}", done.told());
    }
    assert!(descriptions(&served).is_empty());
}
