//! One pass for cron, with the exit codes of `apply --yes`.

use insta::assert_snapshot;

use crate::servers::{Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{descriptions, id, teams, two_teams};

const ONCE: &str = "watch --once -f m -f backend.yaml";

#[test]
fn changes_are_made_and_then_there_are_none() {
    let (scratch, served) = two_teams();
    assert_snapshot!(scratch.trueup(ONCE).done().told(), @"
    exit 0
    +   Team blue   m/a.yaml:2   created
    +   Team red    m/a.yaml:7   created
    Applied: 2 created. 2 objects seen in 4 requests.
    ");
    assert_snapshot!(scratch.trueup(ONCE).done().told(), @"
    exit 0
    All 2 objects are in sync; nothing was written. 2 objects seen in 1 request.
    ");
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    scratch.trueup(ONCE).done().expect(0);
    assert_eq!(descriptions(&served), ["blue=one", "red=one"]);
}

#[test]
fn a_dry_run_writes_nothing() {
    let (scratch, served) = two_teams();
    assert_snapshot!(scratch.trueup(&format!("{ONCE} --dry-run")).done().told(), @"
    exit 0
    +   Team blue   m/a.yaml:2
    +   Team red    m/a.yaml:7
    Plan: 2 to create. 0 objects seen in 1 request.
    ");
    assert_eq!(served.written(), [""; 0]);
}

#[test]
fn so_many_writes_and_no_more() {
    let (scratch, served) = two_teams();
    scratch.trueup(&format!("{ONCE} --max-changes 1")).done().expect(5);
    assert_eq!(descriptions(&served).len(), 1);
}

#[test]
fn what_goes_wrong_is_told_by_the_exit_code() {
    let scratch = Scratch::new();
    let rules = "rules: [{match: {method: POST, path: /teams}, fault: {status: {status: 422}}}]";
    let served = Served::start(&scratch, rules);
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("m/a.yaml", teams(&["blue"], "one"));
    scratch.trueup(ONCE).done().expect(1);
    scratch.write("m/b.yaml", "apiVersion: demo\nkind: Space\nmetadata: {name: s}\nspec: {description: x}\n");
    scratch.trueup(ONCE).done().expect(4);
    scratch.write("m/b.yaml", "a: [");
    scratch.trueup(ONCE).done().expect(65);
    drop(served);
    std::fs::remove_file(scratch.path("m/b.yaml")).expect("it is there");
    scratch.trueup(ONCE).done().expect(1);
}
