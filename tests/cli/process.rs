//! The process itself: pipes that close, signals, time limits, kills, and nobody there to ask.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::servers::{Raw, Say, Served, TEAM_AND_SPACE, backend};
use crate::support::{Done, Scratch};

/// Teams `t00` and on, in one file.
fn teams(count: usize) -> String {
    let team = |i| {
        format!(
            "---\napiVersion: demo\nkind: Team\nmetadata: {{name: t{i:02}}}\nspec: {{description: One of many}}\n"
        )
    };
    (0..count).map(team).collect()
}

/// A server with these faults and a folder with so many teams.
fn start(count: usize, faults: &str) -> (Scratch, Served) {
    let scratch = Scratch::new();
    let served = Served::start(&scratch, faults);
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("a.yaml", teams(count));
    (scratch, served)
}

const APPLY: &str = "apply --yes -f a.yaml -f backend.yaml --parallel 2";
const SLOW: &str = "rules: [{match: {method: POST, path: /teams}, fault: {delay: 200ms}}]";

/// Applies once more, now without faults: each team is there, and there once.
fn converges(scratch: &Scratch, served: &Served, count: usize) {
    served.call("PUT", "/_faults", "rules: []");
    scratch.trueup(APPLY).done().expect(0);
    let expected: Vec<String> = (0..count).map(|i| format!("t{i:02}")).collect();
    assert_eq!(served.names("/teams", "name"), expected);
    let again = scratch.trueup(APPLY).done().expect(0);
    assert!(again.out.contains("nothing was written"), "{}", again.out);
}

/// Waits until the server has taken a write.
fn first_write(served: &Served) {
    let end = Instant::now() + Duration::from_secs(20);
    while served.written().is_empty() {
        assert!(Instant::now() < end, "nothing is written");
        thread::sleep(Duration::from_millis(10));
    }
}

/// As `| head -1` does: the reader goes, and the writer has nothing to complain about.
#[test]
fn a_reader_that_goes_away() {
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend("embedded:store", ""));
    scratch.write("a.yaml", teams(99));
    let told = |line: &str, code: i32| {
        let mut run = scratch.trueup(line).start();
        let stdout = run.child.stdout.take().expect("it is a pipe");
        drop(stdout);
        let done = run.done();
        assert_eq!((done.code(), done.err.as_str()), (code, ""), "{line}");
    };
    told("plan -f a.yaml -f backend.yaml --detailed-exitcode", 2);
    told("validate -f a.yaml -f backend.yaml", 0);
    told("apply --yes -f a.yaml -f backend.yaml", 0);
    told("get -f backend.yaml", 0);
    // A machine that got half a document has not got the result.
    told("get -f backend.yaml --output json", 1);
    let after = scratch.trueup("plan -f a.yaml -f backend.yaml --detailed-exitcode").done().expect(0);
    assert!(after.out.starts_with("All 99 objects are in sync."), "{}", after.out);
}

/// Closed altogether, as by `>&-`.
#[test]
fn no_standard_output_at_all() {
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend("embedded:store", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let shell = format!("{} apply --yes -f a.yaml -f backend.yaml >&- 2>&-", env!("CARGO_BIN_EXE_trueup"));
    let status =
        Command::new("sh").args(["-c", &shell]).current_dir(scratch.path(".")).status().expect("`sh` runs");
    assert_eq!(status.code(), Some(0));
    scratch.trueup("plan -f a.yaml -f backend.yaml --detailed-exitcode").done().expect(0);
}

/// A disk that is full must not look like a success.
#[test]
fn a_standard_output_that_takes_nothing() {
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend("embedded:store", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let shell = format!("{} plan -f a.yaml -f backend.yaml >/dev/full", env!("CARGO_BIN_EXE_trueup"));
    let output =
        Command::new("sh").args(["-c", &shell]).current_dir(scratch.path(".")).output().expect("`sh` runs");
    assert_snapshot!(format!("{:?}\n{}", output.status.code(), String::from_utf8_lossy(&output.stderr)), @"
    Some(1)
    error: writing the output: no space left on device
    ");
    let shell = shell.replace(" plan ", " apply --yes ");
    let output =
        Command::new("sh").args(["-c", &shell]).current_dir(scratch.path(".")).output().expect("`sh` runs");
    assert_eq!(output.status.code(), Some(4), "something was written");
}

/// The input is as it should be.
#[test]
fn a_store_that_another_process_has() {
    let (scratch, _served) = start(1, "rules: []");
    scratch.write("embedded.yaml", backend("embedded:store", ""));
    assert_snapshot!(scratch.trueup("plan -f a.yaml -f embedded.yaml").done().told(), @"
    exit 1
    --- stderr
    error: opening the backend `demo`: cannot open the store `store`: it is in use by another process
    hint: stop the other process, or use another path
    1 error.
    ");
}

/// What was under way ends and is read back, nothing new is begun.
#[test]
fn an_interrupt_in_the_middle() {
    let (scratch, served) = start(40, SLOW);
    let run = scratch.trueup(APPLY).start();
    first_write(&served);
    run.signal("INT");
    let done = run.done().expect(130);
    let made = served.names("/teams", "name").len();
    assert!(0 < made && made < 40, "{made} of 40");
    assert!(
        done.out.contains("Interrupted: what has no result above was not settled; run the command again.")
    );
    let line = done.out.lines().last().unwrap_or_default();
    assert!(line.starts_with(&format!("Applied: {made} created, {} skipped.", 40 - made)), "{}", done.out);
    converges(&scratch, &served, 40);
}

#[test]
fn a_request_to_end_is_an_interrupt() {
    let (scratch, served) = start(40, SLOW);
    let run = scratch.trueup(APPLY).start();
    first_write(&served);
    run.signal("TERM");
    run.done().expect(130);
    converges(&scratch, &served, 40);
}

/// The second interrupt waits for nothing. It is sent until it has been noticed as a second one.
#[test]
fn a_second_interrupt() {
    let (scratch, served) = start(4, "rules: []");
    let (served, posts) = (Arc::new(served), AtomicUsize::new(0));
    let behind = served.clone();
    // It stands in front of the server, so that it is known when a write is under way that is never answered.
    let front = Raw::new(move |seen| {
        let (method, path) = seen.line.split_once(' ').expect("a request line");
        if method == "POST" && posts.fetch_add(1, Ordering::SeqCst) == 1 {
            loop {
                thread::park();
            }
        }
        Say::json(&behind.call(method, path, &seen.body))
    });
    scratch.write("backend.yaml", backend(&front.url(), ""));
    let mut run = scratch.trueup(APPLY).start();
    let second = || front.lines().iter().filter(|line| line.starts_with("POST")).count() >= 2;
    assert!((0..2000).any(|_| second() || pause(10)), "there is no second write");
    let ended = (0..100).any(|_| {
        run.signal("INT");
        pause(200) || run.child.try_wait().expect("it can be waited for").is_some()
    });
    assert!(ended, "it waited for the server");
    let done = run.done().expect(130);
    assert!(done.out.contains("the run ended before it was settled"), "{}", done.out);
    scratch.write("backend.yaml", backend(&served.url(), ""));
    converges(&scratch, &served, 4);
}

/// Always false, after so many milliseconds.
fn pause(milliseconds: u64) -> bool {
    thread::sleep(Duration::from_millis(milliseconds));
    false
}

#[test]
fn an_interrupt_while_it_plans() {
    let server = Raw::new(|_| {
        thread::sleep(Duration::from_secs(60));
        Say::json("{\"items\": []}")
    });
    let scratch = Scratch::with("backend.yaml", backend(&server.url(), ""));
    scratch.write("a.yaml", teams(1));
    let run = scratch.trueup("plan -f a.yaml -f backend.yaml").start();
    let asked = (0..2000).any(|_| {
        thread::sleep(Duration::from_millis(10));
        !server.lines().is_empty()
    });
    assert!(asked, "nothing was asked");
    run.signal("INT");
    assert_snapshot!(run.done().told(), @"
    exit 130
    !   Team t00   a.yaml:2
        skipped: the run was interrupted
    Interrupted: what has no result above was not settled; run the command again.
    Plan: 1 skipped. 0 objects seen in 0 requests.
    ");
}

#[test]
fn time_for_the_whole_run_that_is_over() {
    let (scratch, served) = start(40, SLOW);
    let done = scratch.trueup(&format!("{APPLY} --timeout 1s")).done();
    let made = served.names("/teams", "name").len();
    assert!(0 < made && made < 40, "{made} of 40");
    assert_eq!(done.code(), 4, "{}", done.told());
    assert!(done.out.contains("the time for the whole run was over"), "{}", done.out);
    converges(&scratch, &served, 40);
}

/// A kill leaves nothing behind that a further run does not find out by looking.
#[test]
fn a_run_that_is_killed() {
    let (scratch, served) = start(40, SLOW);
    let run = scratch.trueup(APPLY).start();
    first_write(&served);
    run.signal("KILL");
    assert_eq!(run.done().code(), -1);
    converges(&scratch, &served, 40);
}

/// The server goes in the middle: what it acknowledged is there after, and nothing is there twice.
#[test]
fn a_server_that_is_killed() {
    let (scratch, served) = start(40, SLOW);
    let run = scratch.trueup(&format!("{APPLY} --output json")).start();
    first_write(&served);
    served.process.signal("KILL");
    let done = run.done();
    assert!([1, 4].contains(&done.code()), "{}", done.told());
    let report = done.json();
    drop(served);
    let served = Served::start(&scratch, "rules: []");
    scratch.write("backend.yaml", backend(&served.url(), ""));
    let there = served.names("/teams", "name");
    for object in report["objects"].as_array().expect("a list") {
        let name = object["identity"]["key"]["name"].as_str().expect("a name").to_owned();
        assert!(object["result"] != "done" || there.contains(&name), "{name} was acknowledged and is gone");
    }
    converges(&scratch, &served, 40);
}

/// The same on the store in the own process.
#[test]
fn a_run_on_an_embedded_store_that_is_killed() {
    let scratch = Scratch::new();
    scratch.write("backend.yaml", backend("embedded:store", ""));
    scratch.write("a.yaml", teams(99));
    let run = scratch.trueup(APPLY).start();
    let log = scratch.path("store");
    let end = Instant::now() + Duration::from_secs(20);
    let size = || {
        let files = std::fs::read_dir(&log).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum::<u64>()
    };
    while size() < 500 && Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
    run.signal("KILL");
    assert_eq!(run.done().code(), -1);
    scratch.trueup(APPLY).done().expect(0);
    let teams = scratch.trueup("get Team -f backend.yaml --output json").done().expect(0).json();
    assert_eq!(teams["items"].as_array().map(Vec::len), Some(99));
}

fn unattended(scratch: &Scratch, line: &str) -> Done {
    scratch.trueup(line).stdin("yes\n").done()
}

/// A "yes" on standard input is no consent: it may be anything, manifests among it.
#[test]
fn nobody_to_ask() {
    let (scratch, served) = start(1, "rules: []");
    let line = "apply -f a.yaml -f backend.yaml";
    assert_snapshot!(unattended(&scratch, line).told(), @"
    exit 5
    +   Team t00   a.yaml:2
    Not applied: 1 to create. 0 objects seen in 1 request.
    --- stderr
    error: nothing was written: what is planned was not confirmed
    hint: there is no terminal to ask in; add `--yes` to write without being asked
    ");
    assert_snapshot!(unattended(&scratch, "delete -f a.yaml -f backend.yaml").told(), @"
    exit 0
    The one object is gone; nothing was written. 0 objects seen in 1 request.
    ");
    let json = unattended(&scratch, &format!("{line} --output json"));
    assert_eq!(json.code(), 5);
    assert_eq!(json.json()["summary"]["results"]["planned"], 1);
    assert_eq!(served.written(), [""; 0]);
    scratch.trueup(APPLY).done().expect(0);
    assert_snapshot!(unattended(&scratch, line).told(), @"
    exit 0
    The one object is in sync; nothing was written. 1 object seen in 1 request.
    ");
}

#[test]
fn a_server_that_cannot_start() {
    let (scratch, served) = start(1, "rules: []");
    let address = served.url().replace("http://", "");
    let line = format!("serve --store other --listen {address}");
    assert_snapshot!(scratch.trueup(&line).done().told(), @"
    exit 1
    --- stderr
    error: listening on `127.0.0.1:PORT`: address already in use
    hint: choose another port with `--listen`
    ");
    assert_snapshot!(scratch.trueup("serve --store store --listen 127.0.0.1:0").done().told(), @"
    exit 1
    --- stderr
    error: cannot open the store `store`: it is in use by another process
    hint: stop the other process, or use another path
    ");
    scratch.write("wrong.yaml", "rules: [{fault: {explode: true}}]");
    let line = "serve --store other --listen 127.0.0.1:0 --faults wrong.yaml";
    assert_snapshot!(scratch.trueup(line).done().told(), @"
    exit 1
    --- stderr
    error: reading the faults `wrong.yaml`: the rules of faults cannot be read: rules[0].fault: unknown variant `explode`, expected one of `status`, `delay`, `drop`, `truncate`, `html`, `redirect`, `hide`, `repeat-cursor`, `total`, `stale`, `late`, `twice`, `drip`, `flood`, `meanwhile`, `stored`, `empty-page` at line 1 column 18
    ");
    let line = "serve --store other --listen 127.0.0.1:0 --token-env NO_TOKEN";
    assert_snapshot!(scratch.trueup(line).done().told(), @"
    exit 1
    --- stderr
    error: the variable `NO_TOKEN` is not set
    hint: `--token-env` names the token's variable
    ");
}

#[test]
fn a_server_ends_on_a_signal() {
    let (_scratch, mut served) = start(1, "rules: []");
    served.process.signal("INT");
    let stdout = served.process.child.stdout.take().expect("it is a pipe");
    let rest: Vec<String> = BufReader::new(stdout).lines().map_while(Result::ok).collect();
    assert_eq!(rest, [""; 0]);
    assert_eq!(served.process.child.wait().expect("it ends").code(), Some(0));
}
