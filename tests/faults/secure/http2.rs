//! Streams that are reset, servers that go, streams that must wait: what was not processed is sent again at once,
//! whatever its method (RFC 9113, 8.7), and what perhaps was is looked at.

use h2::Reason;

use super::front::{Below, Front, Script, Settings, Trouble};
use crate::crowd;
use crate::middle::Moment;
use crate::rows::Comes;
use crate::scripts::{judge, reference};
use crate::world::{Creates, Workload, World, of_others};

/// What happens to which requests over HTTP/2, and what must come of it.
#[derive(Clone, Copy, Debug)]
struct Row {
    on: &'static str,
    count: usize,
    trouble: Trouble,
    workload: Workload,
    comes: Comes,
    /// Whether as many requests go to the server as without it: what was refused is known not to be done.
    no_more: bool,
}

/// The beginning of such a request, and a workload that has it.
const EACH: [(&str, Workload); 6] = [
    ("GET /teams?", Workload::CreateThree),
    ("GET /spaces/", Workload::UpdateThree),
    ("POST /teams", Workload::CreateThree),
    ("PUT /spaces/", Workload::CreateThree),
    ("PATCH /", Workload::UpdateThree),
    ("DELETE /", Workload::DeleteTwo),
];

const ALWAYS: usize = 100_000;

fn resets() -> Vec<Row> {
    use Moment::*;
    let right = Comes::Right(0);
    let mut all = Vec::new();
    for (on, workload) in EACH {
        let mut add = |count, trouble, comes, no_more| {
            all.push(Row { on, count, trouble, workload, comes, no_more });
        };
        add(1, Trouble::Reset(Reason::REFUSED_STREAM, Before), right, true);
        add(1, Trouble::Reset(Reason::INTERNAL_ERROR, Before), right, false);
        add(1, Trouble::Reset(Reason::INTERNAL_ERROR, After), right, false);
        add(1, Trouble::Reset(Reason::CANCEL, After), right, false);
        add(1, Trouble::Reset(Reason::NO_ERROR, After), right, false);
        add(1, Trouble::ResetInside(Reason::INTERNAL_ERROR), right, false);
        // It was answered: no word takes that back.
        add(1, Trouble::ResetInside(Reason::REFUSED_STREAM), right, false);
        add(1, Trouble::Cut(Before), right, false);
        add(1, Trouble::Cut(After), right, false);
        add(1, Trouble::CutInside, right, false);
        add(1, Trouble::Stall, right, false);
        add(1, Trouble::Silent, right, false);
        let word = if on.starts_with("GET") { "unknown" } else { "failed" };
        add(ALWAYS, Trouble::Reset(Reason::REFUSED_STREAM, Before), Comes::Ends(word, 0), false);
    }
    all
}

fn leaves() -> Vec<Row> {
    let mut all = Vec::new();
    for reason in [Reason::NO_ERROR, Reason::ENHANCE_YOUR_CALM] {
        for on in ["POST /teams", "PUT /spaces/", "GET /"] {
            for below in [Below::Answered, Below::Lost(Moment::Before), Below::Lost(Moment::After)] {
                all.push(Row {
                    on,
                    count: 1,
                    trouble: Trouble::Leave(reason, below),
                    workload: Workload::Many,
                    comes: Comes::Right(0),
                    no_more: below == Below::Answered,
                });
            }
        }
    }
    all
}

/// What of a row was not as it should be.
fn play(row: &Row) -> Result<(), String> {
    let undisturbed = undisturbed(row.workload);
    let world = World::new(row.workload, Creates::Plain);
    let script = Script { on: row.on, count: row.count, trouble: row.trouble };
    let front = Front::before(&world.served, Settings::new(Settings::HTTP2), &[script]);
    world.secured(&front.url(), &front.trusted, Creates::Plain);
    let before = of_others(&world.state());
    let first = world.apply();
    front.calm();
    let (came, passed) = (front.came(), front.passed());
    let fails = |what: &str| Err(format!("{row:?}: {what}\n{came:#?}\n{}", first.told()));
    let befallen = came.iter().filter(|line| line.starts_with(row.on)).count();
    if befallen == 0 {
        return fails("nothing was befallen");
    }
    if row.no_more && passed.len() > undisturbed {
        return fails(&format!("{} requests, not {undisturbed}", passed.len()));
    }
    // An object is tried three times where nothing can be sent, and each time twice.
    if row.count == ALWAYS && befallen > 3 * 3 * 2 {
        return fails("a storm");
    }
    judge(&world, &before, row.comes, row.workload, &reference(row.workload), &first).or_else(|e| fails(&e))
}

/// The requests of a run that nothing befalls.
fn undisturbed(workload: Workload) -> usize {
    let world = World::new(workload, Creates::Plain);
    let front = Front::before(&world.served, Settings::new(Settings::HTTP2), &[]);
    world.secured(&front.url(), &front.trusted, Creates::Plain);
    world.apply().expect(0);
    assert!(front.most() > 1 || workload != Workload::Many, "no two were under way at once");
    front.passed().len()
}

fn play_all(rows: &[Row]) {
    let failed: Vec<String> = crowd::each(rows, 8, play).into_iter().filter_map(Result::err).collect();
    println!("{} scripts", rows.len());
    assert!(failed.is_empty(), "{} of {}:\n\n{}", failed.len(), rows.len(), failed.join("\n\n"));
}

#[test]
fn streams_that_are_reset() {
    play_all(&resets());
}

#[test]
fn a_server_that_goes_in_the_middle_of_many_streams() {
    play_all(&leaves());
}

#[test]
fn one_stream_at_a_time() {
    let world = World::new(Workload::Many, Creates::Plain);
    let settings = Settings { streams: Some(1), ..Settings::new(Settings::HTTP2) };
    let front = Front::before(&world.served, settings, &[]);
    world.secured(&front.url(), &front.trusted, Creates::Plain);
    let before = of_others(&world.state());
    let first = world.apply();
    judge(&world, &before, Comes::Right(0), Workload::Many, &reference(Workload::Many), &first)
        .unwrap_or_else(|what| panic!("{what}"));
    assert_eq!(front.most(), 1);
}

/// A window that lets no body through: writes are never sent in whole, and the next ones are, once it opens. Two begin at
/// once, one of each kind.
#[test]
fn a_window_that_is_shut() {
    for (shut, comes) in [(2, Comes::Right(0)), (ALWAYS, Comes::Ends("failed", 0))] {
        let world = World::new(Workload::CreateThree, Creates::Plain);
        let settings = Settings { shut, ..Settings::new(Settings::HTTP2) };
        let front = Front::before(&world.served, settings, &[]);
        world.secured(&front.url(), &front.trusted, Creates::Plain);
        let before = of_others(&world.state());
        let first = world.apply();
        let written = world.written().len();
        assert!(shut != ALWAYS || written == 0, "{}", first.told());
        world.through(&world.served.url(), Creates::Plain);
        judge(&world, &before, comes, Workload::CreateThree, &reference(Workload::CreateThree), &first)
            .unwrap_or_else(|what| panic!("{shut}: {what}"));
    }
}
