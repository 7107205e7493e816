//! Each row of the table over each workload that has such requests.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::crowd;
use crate::rows::{self, Comes, On, Row};
use crate::secure::{Front, Settings};
use crate::support::Done;
use crate::world::{Creates, State, Workload, World, has_twins, keeps, of_others};

const WORKLOADS: [Workload; 4] =
    [Workload::CreateThree, Workload::UpdateThree, Workload::DeleteTwo, Workload::Mixed];

/// How requests go to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// HTTP/1.1 without TLS.
    Plain,
    Tls,
    /// HTTP/2 over TLS.
    Http2,
}

/// A run without faults: what it writes, and what is there after.
pub struct Reference {
    pub written: usize,
    pub state: State,
}

pub fn reference(workload: Workload) -> Reference {
    let world = World::new(workload, Creates::Plain);
    world.apply().expect(0);
    let (written, state) = (world.written().len(), world.state());
    let again = world.apply().expect(0);
    assert_eq!(world.written().len(), written, "{}", again.told());
    Reference { written, state }
}

impl On {
    /// Method and path of each sort of request.
    fn matches(self) -> &'static [(&'static str, &'static str)] {
        match self {
            On::List => &[("GET", "/teams"), ("GET", "/spaces")],
            On::ListNew | On::ListOld | On::ListKept | On::ListGoes => &[("GET", "/teams")],
            On::Read => &[("GET", "/teams/*"), ("GET", "/spaces/*")],
            On::Create => &[("POST", "/teams"), ("PUT", "/**")],
            On::Post => &[("POST", "/teams")],
            On::Put => &[("PUT", "/**")],
            On::Update => &[("PATCH", "/**")],
            On::Space => &[("PATCH", "/spaces/u3")],
            On::Team => &[("PATCH", "/teams/*")],
            On::SpaceRead => &[("GET", "/spaces/u3")],
            On::Delete => &[("DELETE", "/**")],
        }
    }

    fn occurs_in(self, workload: Workload) -> bool {
        use Workload::*;
        match self {
            On::List | On::Read => true,
            On::Create | On::Post | On::Put | On::ListNew => matches!(workload, CreateThree | Mixed),
            On::Update | On::Space | On::SpaceRead => matches!(workload, UpdateThree | Mixed),
            On::Delete => matches!(workload, DeleteTwo | Mixed),
            On::ListOld => matches!(workload, UpdateThree | DeleteTwo),
            On::ListKept => workload == UpdateThree,
            On::ListGoes => workload == DeleteTwo,
            On::Team => workload == UpdateThree,
        }
    }
}

impl Row {
    fn rules(&self) -> String {
        let mut text = "rules:\n".to_owned();
        for (method, path) in self.on.matches() {
            for fault in self.faults {
                let (when, fault) = fault.split_once(" | ").unwrap_or((self.when, fault));
                let fault = fault.replace("METHOD", method);
                text.push_str(&format!(
                    "- {{match: {{method: {method}, path: '{path}', {when}}}, fault: {{{fault}}}}}\n"
                ));
            }
        }
        text
    }
}

/// A run's own words: the result of each object, and whether it is told once.
fn results(done: &Done) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    for object in done.json()["objects"].as_array().expect("a list") {
        let place = format!("{} {}", object["identity"]["kind"], object["identity"]["key"]);
        let result = object["result"].as_str().expect("a word").to_owned();
        assert_eq!(told.insert(place, result), None, "an object is told twice: {}", done.told());
    }
    told
}

/// What of a script was not as it should be; nothing, if all was.
fn play(row: &Row, way: Way, workload: Workload, reference: &Reference) -> Result<(), String> {
    let world = World::new(workload, row.creates);
    let protocols = if way == Way::Http2 { Settings::HTTP2 } else { Settings::HTTP1 };
    let front = (way != Way::Plain).then(|| Front::before(&world.served, Settings::new(protocols), &[]));
    if let Some(front) = &front {
        world.secured(&front.url(), &front.trusted, row.creates);
    }
    let before = of_others(&world.state());
    world.rules(&row.rules());
    let first = world.apply();
    world.rules("rules: []");
    judge(&world, &before, row.comes, workload, reference, &first)
        .map_err(|what| format!("{} on {:?}, {workload:?}, {way:?}: {what}", row.name, row.on))
}

/// What a run came to, now that nothing befalls requests any more: whether it is as it should be, and what further
/// runs make of it.
pub fn judge(
    world: &World,
    before: &State,
    comes: Comes,
    workload: Workload,
    reference: &Reference,
    first: &Done,
) -> Result<(), String> {
    let fails = |what: String| Err(format!("{what}\n{}", first.told()));
    if first.err.contains("panic") || first.code() < 0 {
        return fails("it died".into());
    }
    let results = results(first);
    let written = world.written();
    let state = world.state();
    if !keeps(before, &state) {
        return fails(format!("what is of others was changed: {state:#?}"));
    }
    if let Some(odd) = odd(comes, &results, first.code()) {
        return fails(format!("{odd}: {results:?}"));
    }
    let most = match comes {
        Comes::Right(more) | Comes::Ends(_, more) => reference.written + more,
        Comes::Twins => usize::MAX,
    };
    if written.len() > most {
        return fails(format!("{} writes, not {}: {written:?}", written.len(), reference.written));
    }
    if let Comes::Twins = comes {
        // Where the late one came before the next try, that one found it.
        let all_done = results.values().all(|result| is_done(result));
        if has_twins(&state) {
            return twins(world, first).or_else(fails);
        } else if workload == Workload::Mixed || !all_done {
            return fails("there are no two".into());
        }
    }
    if has_twins(&state) {
        return fails(format!("there are two of one name: {state:#?}"));
    }
    let second = world.apply();
    let state = without_marks(world.state());
    if second.code() != 0 || state != without_marks(reference.state.clone()) {
        return fails(format!("the next run does not bring it about: {}\n{state:#?}", second.told()));
    }
    if let Comes::Right(_) = comes
        && world.written().len() != written.len()
    {
        return fails(format!("the next run writes: {}", second.told()));
    }
    let silent = world.written().len();
    let third = world.apply();
    match world.written().len() == silent && third.code() == 0 {
        true => Ok(()),
        false => fails(format!("it is not silent: {}", third.told())),
    }
}

fn is_done(result: &str) -> bool {
    matches!(result, "done" | "in_sync")
}

/// What of the run's own words is not as the row says.
fn odd(comes: Comes, results: &BTreeMap<String, String>, code: i32) -> Option<String> {
    match comes {
        Comes::Right(_) if code != 0 || !results.values().all(|result| is_done(result)) => {
            Some("it does not end well".into())
        }
        Comes::Right(_) | Comes::Twins => None,
        Comes::Ends(word, _) if !results.values().any(|result| result == word) => {
            Some(format!("nothing is `{word}`"))
        }
        Comes::Ends(..) if code == 0 => Some("it calls that a success".into()),
        Comes::Ends(word, _) => {
            let odd = results.values().find(|r| ![word, "done", "in_sync", "skipped"].contains(&r.as_str()));
            odd.map(|odd| format!("something is `{odd}`"))
        }
    }
}

/// A second one was made by no fault of the run: it or the next one names both, and nothing more is written.
fn twins(world: &World, first: &Done) -> Result<(), String> {
    let written = world.written().len();
    let second = world.apply();
    let says = |done: &Done| done.out.contains("DuplicateFound") && done.code() != 0;
    match says(first) || says(&second) {
        true if says(&second) && world.written().len() == written => Ok(()),
        _ => Err(format!("the two are not told: {}", second.told())),
    }
}

/// Without what scripts let others or the server add.
fn without_marks(mut state: State) -> State {
    for item in state.values_mut() {
        let item: &mut serde_json::Map<String, Value> = item.as_object_mut().expect("an object");
        ["mark", "size"].iter().for_each(|mark| drop(item.remove(*mark)));
    }
    state
}

fn play_all(scripts: &[(Row, Way, Workload)]) {
    let references: BTreeMap<Workload, Reference> =
        WORKLOADS.iter().map(|workload| (*workload, reference(*workload))).collect();
    let came =
        crowd::each(scripts, 12, |(row, way, workload)| play(row, *way, *workload, &references[workload]));
    println!("{} rows, {} scripts", rows::all().len(), came.len());
    let failed: Vec<String> = came.into_iter().filter_map(Result::err).collect();
    assert!(failed.is_empty(), "{} of {} scripts:\n\n{}", failed.len(), scripts.len(), failed.join("\n\n"));
}

/// Each row that was asked for, with the workloads that have such requests.
fn asked_for() -> impl Iterator<Item = (Row, Vec<Workload>)> {
    let only = std::env::var("TRUEUP_ROW").unwrap_or_default();
    rows::all()
        .into_iter()
        .filter(move |row| row.name.contains(&only))
        .map(|row| (row, WORKLOADS.into_iter().filter(|workload| row.on.occurs_in(*workload)).collect()))
}

#[test]
fn every_row_over_every_workload() {
    let scripts: Vec<(Row, Way, Workload)> = asked_for()
        .flat_map(|(row, workloads)| workloads.into_iter().map(move |workload| (row, Way::Plain, workload)))
        .collect();
    play_all(&scripts);
}

/// The same must come of a row whichever way requests go. In turn over TLS and over HTTP/2, and over its workloads;
/// over all of them with `TRUEUP_WAYS=all`.
#[test]
fn every_row_over_tls_and_http2() {
    let all = std::env::var("TRUEUP_WAYS").is_ok_and(|ways| ways == "all");
    let mut scripts = Vec::new();
    for (at, (row, workloads)) in asked_for().enumerate() {
        let ways = workloads.iter().flat_map(|workload| [(Way::Http2, *workload), (Way::Tls, *workload)]);
        let ways: Vec<(Way, Workload)> = ways.collect();
        match all {
            true => scripts.extend(ways.into_iter().map(|(way, workload)| (row, way, workload))),
            false => {
                let (way, workload) = ways[at % ways.len()];
                scripts.push((row, way, workload));
            }
        }
    }
    play_all(&scripts);
}

/// A table that nothing can contradict would prove nothing: wrong expectations are found.
#[test]
fn a_wrong_row_is_found() {
    let reference = reference(Workload::UpdateThree);
    let lost = Row {
        name: "a wrong row",
        on: On::Update,
        when: "count: 1",
        faults: &["drop: before"],
        comes: Comes::Right(0),
        creates: Creates::Plain,
    };
    let refused: &[&str] = &["status: {status: 403}"];
    let other: &[&str] = &["meanwhile: {method: PATCH, path: /spaces/theirs, body: {description: mine}}"];
    for (row, want) in [
        (Row { comes: Comes::Ends("failed", 0), ..lost }, "nothing is `failed`"),
        (Row { faults: refused, ..lost }, "it does not end well"),
        (Row { faults: other, ..lost }, "what is of others was changed"),
        (Row { faults: &["stored: {note: mine}"], ..lost }, "what is of others was changed"),
        (Row { faults: &["stored: {description: x}"], ..lost }, "4 writes, not 3"),
    ] {
        let found = play(&row, Way::Plain, Workload::UpdateThree, &reference).expect_err(want);
        assert!(found.contains(want), "{want}: {found}");
    }
    assert_eq!(play(&lost, Way::Http2, Workload::UpdateThree, &reference), Ok(()));
}
