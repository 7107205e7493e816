//! The table of scripts: a fault, the requests that it befalls, and what must come of it.

use crate::world::Creates;

/// What kind of request is befallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Listings of teams and of spaces.
    List,
    /// Listings of teams, where something is to be created, and where nothing is.
    ListNew,
    ListOld,
    /// Of the latter, those where nothing goes, and where something does: another of its name may be in the part that
    /// a listing does not show.
    ListKept,
    ListGoes,
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
    /// Updates of teams, which a listing has shown.
    Team,
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
    /// The faults, in the language of `src/server/faults/rules.rs`, each perhaps with a time of its own before a
    /// bar. `METHOD` is that of the request.
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
const GONE: &[&str] = &["status: {status: 410}"];
const MISMATCH: &[&str] = &["status: {status: 412}"];
const CONFLICT: &[&str] = &["status: {status: 409}"];
/// An empty page leads to a second one, and that is gone.
const CURSOR_GONE: &[&str] = &["empty-page: true", "nth: 2 | status: {status: 410}"];
/// There and back, so that each time it is a change.
const NOTE: &[&str] = &[
    "meanwhile: {method: PATCH, path: /spaces/u3, body: {mark: one}}",
    "meanwhile: {method: PATCH, path: /spaces/u3, body: {mark: two}}",
];
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
    all.extend(on(EACH, "S1 429, 3 s", ONCE, &["status: {status: 429, retry-after: '3'}"], Right(0)));
    all.extend(on(EACH, "S1 429, no time", ONCE, &["status: {status: 429, retry-after: soon}"], Right(0)));
    all.extend(on(WRITES, "S2 500 after it was done", ONCE, &["status: {status: 500, at: after}"], Right(0)));
    all.extend(on(WRITES, "S2 502 after it was done", ONCE, &["status: {status: 502, at: after}"], Right(0)));
    all.extend(on(EACH, "S3 500", ONCE, &["status: {status: 500}"], Right(0)));
    all.extend(on(EACH, "S3 503", ONCE, &["status: {status: 503}"], Right(0)));
    all.extend(on(EACH, "S3 503, 2 s", ONCE, &["status: {status: 503, retry-after: '2'}"], Right(0)));
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
    let mut all = vec![
        row("S4 five conflicts", On::Space, "count: 5", MISMATCH, Right(0)),
        row("S4 five conflicts", On::Space, "count: 5", CONFLICT, Right(0)),
        row("S4 a conflict", On::Delete, ONCE, MISMATCH, Right(0)),
        row("S4 conflicts without end", On::Update, ALWAYS, MISMATCH, Ends("conflict", 0)),
        row("S4 conflicts without end", On::Update, ALWAYS, CONFLICT, Ends("conflict", 0)),
        row("S4 conflicts without end", On::Delete, ALWAYS, MISMATCH, Ends("conflict", 0)),
        // Refused twice at one version, and not for it: that is no race.
        row("S4 conflicts without end", On::Delete, ALWAYS, CONFLICT, Ends("failed", 0)),
        row("S5 409 of our own write", On::Post, ONCE, &["status: {status: 409, at: after}"], Right(0)),
    ];
    let own: &[&str] = &["status: {status: 412, at: after}"];
    all.extend(on(&[On::Put, On::Update, On::Delete], "S5 412 of our own write", ONCE, own, Right(0)));
    all.extend(on(&[On::Post, On::Put], "S16 it exists", ONCE, CONFLICT, Right(0)));
    // The precondition was sent already: it is sent again, once.
    let demanded: &[&str] = &["status: {status: 428}"];
    all.extend(on(&[On::Put, On::Space, On::Delete], "S6 428", ONCE, demanded, Right(0)));
    all.extend(on(&[On::Put, On::Space, On::Delete], "S6 428", ALWAYS, demanded, Ends("failed", 0)));
    // A listing has no tags: the precondition is learnt, and sent.
    all.extend(on(&[On::Team], "S6 428", ONCE, demanded, Right(0)));
    all
}

fn values() -> Vec<Row> {
    use Comes::*;
    let (more, form, none): (&[&str], &[&str], &[&str]) =
        (&["stored: {size: 1}"], &["stored: {description: WANTED}"], &["stored: {description: null}"]);
    vec![
        row("S10 defaults", On::Create, ALWAYS, more, Right(0)),
        row("S10 defaults", On::Update, ALWAYS, more, Right(0)),
        // What a create does not leave right, an update does: one for each at most.
        row("S11 another form", On::Create, ALWAYS, form, Right(5)),
        row("S11 another form", On::Update, ALWAYS, form, Ends("not-effective", 3)),
        row("S12 accepted and ignored", On::Create, ALWAYS, none, Right(5)),
        row("S12 accepted and ignored", On::Update, ALWAYS, none, Ends("not-effective", 3)),
    ]
}

fn consistency() -> Vec<Row> {
    use Comes::*;
    let thrice: &[&str] = &["hide: {reads: 3}"];
    let never: &[&str] = &["hide: {reads: 100000}"];
    let mut all = on(WRITES, "C1 an old state", ALWAYS, &["hide: {reads: 1}"], Right(0));
    all.extend(on(&[On::Update, On::Delete], "C1 an old state, three times", ALWAYS, thrice, Right(0)));
    all.extend(on(&[On::Post, On::Put], "C3 not shown", ALWAYS, thrice, Right(0)));
    all.extend(on(ASKS, "C2 older after newer", "every: 2", &["stale: true"], Right(0)));
    all.extend(on(WRITES, "C4 list and read disagree", ALWAYS, &["hide: {reads: 3, from: list}"], Right(0)));
    all.extend(on(WRITES, "C4 list and read disagree", ALWAYS, &["hide: {reads: 3, from: item}"], Right(0)));
    all.extend(on(&[On::List], "C6 an empty page", ALWAYS, &["empty-page: true"], Right(0)));
    all.extend([
        row("C5 a part", On::ListNew, ALWAYS, &["total: 99"], Ends("unknown", 0)),
        // What was seen is there; whether it alone has its name, the rest would have told.
        row("C5 a part", On::ListKept, ALWAYS, &["total: 99"], Ends("unknown", 0)),
        row("C5 a part", On::ListGoes, ALWAYS, &["total: 99"], Ends("unknown", 0)),
        row("C6 a page for ever", On::ListNew, ALWAYS, &["repeat-cursor: true"], Ends("unknown", 0)),
        row("C6 a page for ever", On::ListKept, ALWAYS, &["repeat-cursor: true"], Ends("unknown", 0)),
        row("C6 a page for ever", On::ListGoes, ALWAYS, &["repeat-cursor: true"], Ends("unknown", 0)),
        row("C6 the cursor is gone", On::List, ONCE, CURSOR_GONE, Right(0)),
        row("C6 the listing is gone", On::ListNew, ONCE, GONE, Ends("refused", 0)),
        row("C6 the listing is gone", On::ListOld, ONCE, GONE, Ends("refused", 0)),
        row("C7 it never catches up", On::Update, ALWAYS, never, Ends("conflict", 0)),
        row("C7 it never shows", On::Create, ALWAYS, never, Ends("unknown", 0)),
    ]);
    all
}

fn actors() -> Vec<Row> {
    use Comes::*;
    vec![
        row("S17 S18 a new one of the name, versions go back", On::Space, ONCE, NEW_UID, Right(0)),
        row("X7 others write elsewhere", On::Space, "count: 5", NOTE, Right(0)),
        row("X8 others write elsewhere without end", On::Space, ALWAYS, NOTE, Ends("conflict", 0)),
        // Between our write and our look: a race on our field is told, and the next run decides.
        row("X9 others reset it once", On::SpaceRead, "nth: 2", RESET, Ends("conflict", 0)),
        row("X9 others reset it always", On::SpaceRead, ALWAYS, RESET, Ends("not-effective", 1)),
    ]
}
