//! The table of scripts: a fault, the requests that it befalls, and what must come of it.

use crate::world::Creates;

/// What kind of request is befallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Listings of teams and of spaces.
    List,
    /// Reads of one object.
    Read,
    Create,
    /// Creates by POST, and creates by PUT.
    Post,
    Put,
    Update,
    /// Updates and reads of the space `u3`.
    Space,
    SpaceRead,
    Delete,
}

/// What must come of a run.
#[derive(Clone, Copy, Debug)]
pub enum Comes {
    /// All is done in this run, by so many writes more than without the fault, at most.
    Right(usize),
    /// What is befallen ends with this result; what is done besides is right, and the next run without the fault
    /// brings the rest. So many writes that count for nothing, at most.
    Ends(&'static str, usize),
    /// The message was delivered twice to a server that keeps both: a run says so, and none makes it worse.
    Twins,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As in the tables of faults.
    pub name: &'static str,
    pub on: On,
    /// When it fires, of the requests that it may befall.
    pub when: &'static str,
    /// The faults, in the language of `src/server/faults/rules.rs`. `METHOD` is that of the request.
    pub faults: &'static [&'static str],
    pub comes: Comes,
    pub creates: Creates,
}

const fn row(
    name: &'static str,
    on: On,
    when: &'static str,
    faults: &'static [&'static str],
    comes: Comes,
) -> Row {
    Row { name, on, when, faults, comes, creates: Creates::Plain }
}

const fn keyed(mut row: Row) -> Row {
    row.creates = Creates::Keyed;
    row
}

const ONCE: &str = "count: 1";
const ALWAYS: &str = "count: 100000";

const HTML: &[&str] = &["html: '<html>Sign in</html>'"];
const LATE: &[&str] = &["late: {after: 1, of: METHOD}"];
const HALF: &[&str] =
    &["status: {status: 200, at: after, body: '{\"items\": [', content-type: application/json}"];
const NOTE: &[&str] = &["meanwhile: {method: PATCH, path: /spaces/u3, body: {mark: by-others}}"];
const RESET: &[&str] = &["meanwhile: {method: PATCH, path: /spaces/u3, body: {description: of-others}}"];
const NEW_UID: &[&str] = &[
    "meanwhile: {method: DELETE, path: /spaces/u3}",
    "meanwhile: {method: PUT, path: /spaces/u3, body: {name: u3, description: old, note: not ours}}",
];

pub fn all() -> Vec<Row> {
    [transport(), answers(), storms(), values(), consistency(), actors()].concat()
}

/// The same fault on each of these.
fn on(
    all: &[On],
    name: &'static str,
    when: &'static str,
    faults: &'static [&'static str],
    comes: Comes,
) -> Vec<Row> {
    all.iter().map(|on| row(name, *on, when, faults, comes)).collect()
}

const EACH: &[On] = &[On::List, On::Read, On::Create, On::Update, On::Delete];
const ASKS: &[On] = &[On::List, On::Read];
const WRITES: &[On] = &[On::Create, On::Update, On::Delete];

fn transport() -> Vec<Row> {
    use Comes::*;
    let mut all = on(EACH, "T3 done, answer lost", ONCE, &["drop: after"], Right(0));
    all.extend(on(EACH, "T4 lost", ONCE, &["drop: before"], Right(0)));
    all.extend(on(EACH, "T4 no answer in time", ONCE, &["delay: 60s"], Right(0)));
    all.extend([
        row("T5 done later, answer lost", On::Post, ONCE, LATE, Twins),
        keyed(row("T5 done later, answer lost", On::Post, ONCE, LATE, Right(0))),
        row("T5 done later, answer lost", On::Put, ONCE, LATE, Right(0)),
        row("T5 done later, answer lost", On::Update, ONCE, LATE, Right(0)),
        row("T5 done later, answer lost", On::Delete, ONCE, LATE, Right(0)),
        row("T6 delivered twice", On::Post, ONCE, &["twice: true"], Twins),
        keyed(row("T6 delivered twice", On::Post, ONCE, &["twice: true"], Right(0))),
        row("T6 delivered twice", On::Put, ONCE, &["twice: true"], Right(0)),
        row("T6 delivered twice", On::Update, ONCE, &["twice: true"], Right(0)),
        row("T6 delivered twice", On::Delete, ONCE, &["twice: true"], Right(0)),
        row(
            "T12 a redirect elsewhere",
            On::Update,
            ALWAYS,
            &["redirect: {to: 'http://127.0.0.1:9/'}"],
            Ends("failed", 0),
        ),
        row(
            "T12 a redirect elsewhere",
            On::Delete,
            ALWAYS,
            &["redirect: {to: 'http://127.0.0.1:9/'}"],
            Ends("failed", 0),
        ),
        row("T12 a redirect in a circle", On::List, ALWAYS, &["redirect: {to: /teams}"], Ends("unknown", 0)),
    ]);
    all.extend(on(EACH, "T7 cut off", ONCE, &["truncate: 5"], Right(0)));
    all.extend(on(WRITES, "T7 done, answer garbled", ONCE, HALF, Right(0)));
    all.extend(on(ASKS, "T7 done, answer garbled", ALWAYS, HALF, Ends("unknown", 0)));
    all.extend(on(ASKS, "T8 a login page", ALWAYS, HTML, Ends("unknown", 0)));
    all.extend(on(WRITES, "T8 a login page", ALWAYS, HTML, Ends("failed", 0)));
    all.extend(on(EACH, "T9 slow drip", ONCE, &["drip: 100ms"], Right(0)));
    all.extend(on(ASKS, "T10 too large", ALWAYS, &["flood: 100000000"], Ends("unknown", 0)));
    all.extend(on(WRITES, "T10 too large", ONCE, &["flood: 100000000"], Right(0)));
    all
}

fn answers() -> Vec<Row> {
    use Comes::*;
    let mut all = Vec::new();
    all.extend(on(EACH, "S1 429", ONCE, &["status: {status: 429}"], Right(0)));
    all.extend(on(EACH, "S1 429, 1 s", ONCE, &["status: {status: 429, retry-after: '1'}"], Right(0)));
    all.extend(on(EACH, "S1 429, no time", ONCE, &["status: {status: 429, retry-after: soon}"], Right(0)));
    all.extend(on(WRITES, "S2 500 after it was done", ONCE, &["status: {status: 500, at: after}"], Right(0)));
    all.extend(on(WRITES, "S2 502 after it was done", ONCE, &["status: {status: 502, at: after}"], Right(0)));
    all.extend(on(EACH, "S3 500", ONCE, &["status: {status: 500}"], Right(0)));
    all.extend(on(EACH, "S3 503", ONCE, &["status: {status: 503}"], Right(0)));
    all.extend(on(EACH, "S3 503, 1 s", ONCE, &["status: {status: 503, retry-after: '1'}"], Right(0)));
    all.extend(on(EACH, "S3 504", ONCE, &["status: {status: 504}"], Right(0)));
    all.extend(on(EACH, "S3 408", ONCE, &["status: {status: 408}"], Right(0)));
    all.extend(on(WRITES, "S7 403", ALWAYS, &["status: {status: 403}"], Ends("failed", 0)));
    all.extend(on(ASKS, "S7 403", ALWAYS, &["status: {status: 403}"], Ends("unknown", 0)));
    all.extend(on(&[On::List], "S8 404", ALWAYS, &["status: {status: 404}"], Ends("unknown", 0)));
    all.extend(on(WRITES, "S9 401", ALWAYS, &["status: {status: 401}"], Ends("failed", 0)));
    all.extend(on(ASKS, "S9 401", ALWAYS, &["status: {status: 401}"], Ends("unknown", 0)));
    all.extend(on(WRITES, "S13 422", ALWAYS, &["status: {status: 422}"], Ends("failed", 0)));
    all
}

fn storms() -> Vec<Row> {
    use Comes::*;
    vec![
        row("S4 five conflicts", On::Space, "count: 5", &["status: {status: 412}"], Right(0)),
        row("S4 five conflicts", On::Space, "count: 5", &["status: {status: 409}"], Right(0)),
        row("S4 a conflict", On::Delete, ONCE, &["status: {status: 412}"], Right(0)),
        row("S4 conflicts without end", On::Update, ALWAYS, &["status: {status: 412}"], Ends("conflict", 0)),
        row("S4 conflicts without end", On::Update, ALWAYS, &["status: {status: 409}"], Ends("conflict", 0)),
        row("S4 conflicts without end", On::Delete, ALWAYS, &["status: {status: 412}"], Ends("conflict", 0)),
        row("S5 412 of our own write", On::Put, ONCE, &["status: {status: 412, at: after}"], Right(0)),
        row("S5 409 of our own write", On::Post, ONCE, &["status: {status: 409, at: after}"], Right(0)),
        row("S5 412 of our own write", On::Update, ONCE, &["status: {status: 412, at: after}"], Right(0)),
        row("S5 412 of our own write", On::Delete, ONCE, &["status: {status: 412, at: after}"], Right(0)),
        row("S6 428", On::Update, ONCE, &["status: {status: 428}"], Right(0)),
        row("S6 428", On::Delete, ONCE, &["status: {status: 428}"], Right(0)),
        row("S6 428", On::Put, ONCE, &["status: {status: 428}"], Right(0)),
    ]
}

fn values() -> Vec<Row> {
    use Comes::*;
    vec![
        row("S10 defaults", On::Create, ALWAYS, &["stored: {size: 1}"], Right(0)),
        row("S10 defaults", On::Update, ALWAYS, &["stored: {size: 1}"], Right(0)),
        row(
            "S11 another form",
            On::Create,
            ALWAYS,
            &["stored: {description: WANTED}"],
            Ends("not_effective", 3),
        ),
        row(
            "S11 another form",
            On::Update,
            ALWAYS,
            &["stored: {description: WANTED}"],
            Ends("not_effective", 6),
        ),
        row(
            "S12 accepted and ignored",
            On::Create,
            ALWAYS,
            &["stored: {description: null}"],
            Ends("not_effective", 3),
        ),
        row(
            "S12 accepted and ignored",
            On::Update,
            ALWAYS,
            &["stored: {description: null}"],
            Ends("not_effective", 6),
        ),
    ]
}

fn consistency() -> Vec<Row> {
    use Comes::*;
    let mut all = on(WRITES, "C1 an old state, once", ALWAYS, &["hide: {reads: 1}"], Right(0));
    all.extend(on(
        &[On::Update, On::Delete],
        "C1 an old state, three times",
        ALWAYS,
        &["hide: {reads: 3}"],
        Right(1),
    ));
    all.extend(on(&[On::Put], "C3 not shown, three times", ALWAYS, &["hide: {reads: 3}"], Right(0)));
    all.extend(on(&[On::Post], "C3 not shown, three times", ALWAYS, &["hide: {reads: 3}"], Right(0)));
    all.extend(on(ASKS, "C2 older after newer", "every: 2", &["stale: true"], Right(1)));
    all.extend(on(WRITES, "C4 list and read disagree", ALWAYS, &["hide: {reads: 3, from: list}"], Right(0)));
    all.extend(on(WRITES, "C4 list and read disagree", ALWAYS, &["hide: {reads: 3, from: item}"], Right(1)));
    all.extend(on(&[On::List], "C6 an empty page", ALWAYS, &["empty-page: true"], Right(0)));
    all.extend(on(&[On::List], "C6 a page for ever", ALWAYS, &["repeat-cursor: true"], Right(0)));
    all.extend(on(&[On::List], "C6 the cursor is gone", ONCE, &["status: {status: 410}"], Right(0)));
    all.extend(on(
        &[On::Update],
        "C7 it never catches up",
        ALWAYS,
        &["hide: {reads: 100000}"],
        Ends("not_effective", 6),
    ));
    all.extend(on(
        &[On::Create],
        "C7 it never shows",
        ALWAYS,
        &["hide: {reads: 100000}"],
        Ends("unknown", 3),
    ));
    all
}

fn actors() -> Vec<Row> {
    use Comes::*;
    vec![
        row("S17 S18 a new one of the name, versions go back", On::Space, ONCE, NEW_UID, Right(0)),
        row("X7 others write elsewhere", On::Space, "count: 5", NOTE, Right(0)),
        row("X8 others write elsewhere without end", On::Space, ALWAYS, NOTE, Ends("conflict", 0)),
        row("X9 others reset it once", On::SpaceRead, "nth: 2", RESET, Right(1)),
        row("X9 others reset it always", On::SpaceRead, ALWAYS, RESET, Ends("not_effective", 3)),
    ]
}
