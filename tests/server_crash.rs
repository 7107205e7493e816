//! Kills a writing server at random moments, and looks at what is left.
//!
//! The test runs its own binary again as the victim, which says on its output what was acknowledged. Each
//! writer works through a fixed list of operations, so what must be there after `n` of them is known: all that
//! was acknowledged, and of the one in flight either everything or nothing. Creates carry idempotency keys, some
//! writes are apply-patches, and some items are deleted while a finalizer keeps them.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use trueup::server::{Durability, Embedded, OpenError, Store};

const NAME: &str = "nothing_acknowledged_is_lost_and_nothing_half_written_is_seen";
/// Set for the victim: the store's path and the number of the round.
const VICTIM: &str = "TRUEUP_TEST_CRASH_VICTIM";
const ROUNDS: u32 = 20;
const WRITERS: usize = 6;

/// What a writer's collection holds: by id, the number of the operation that wrote it, and whether it is being
/// deleted.
type State = BTreeMap<String, (u64, bool)>;

#[test]
fn nothing_acknowledged_is_lost_and_nothing_half_written_is_seen() {
    if let Ok(order) = std::env::var(VICTIM) {
        return victim(&order);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = fastrand::Rng::with_seed(20);
    let mut settled: BTreeMap<String, State> = BTreeMap::new();
    for round in 0..ROUNDS {
        let acknowledged = kill_after(folder.path(), round, random.usize(1..120));
        let store = Embedded::open(folder.path()).expect("the store opens after a kill");
        for (collection, want) in &settled {
            assert_eq!(&state(&store, collection), want, "round {round}: an earlier round changed");
        }
        for (writer, done) in acknowledged.into_iter().enumerate() {
            let collection = format!("/r{round}w{writer}");
            let found = state(&store, &collection);
            let allowed = [model(done), model(done + 1)];
            assert!(allowed.contains(&found), "round {round}: {done} acknowledged, {found:?}");
            repeat_the_last_create(&store, &collection, done);
            assert_eq!(state(&store, &collection), found, "round {round}: a repetition made something");
            settled.insert(collection, found);
        }
    }
}

/// Runs a victim until it has acknowledged so many writes, kills it, and tells how many each writer had.
fn kill_after(folder: &Path, round: u32, enough: usize) -> Vec<u64> {
    let mut child = spawn(folder, round);
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut acknowledged = vec![0; WRITERS];
    let mut seen = 0;
    for line in lines.by_ref() {
        let line = line.expect("text");
        let Some(words) = line.strip_prefix("done ") else { continue };
        let (writer, number) = words.split_once(' ').expect("a writer and a number");
        acknowledged[writer.parse::<usize>().expect("a writer")] = number.parse().expect("a number");
        seen += 1;
        if seen == enough {
            let Err(error) = Store::open(folder, Durability::Sync) else { panic!("two owners of one store") };
            assert!(matches!(error, OpenError::InUse(_)), "{error}");
            child.kill().expect("killed");
        }
    }
    let status = child.wait().expect("ended");
    assert!(!status.success() && seen >= enough, "the victim ended by itself after {seen}: {status}");
    acknowledged
}

fn spawn(folder: &Path, round: u32) -> Child {
    Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", NAME, "--nocapture"])
        .env(VICTIM, format!("{round} {}", folder.display()))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the victim starts")
}

/// Writes until it is killed.
fn victim(order: &str) {
    let (round, folder) = order.split_once(' ').expect("a round and a path");
    let server = Embedded::open(Path::new(folder)).expect("the store opens");
    let writers = (0..WRITERS).map(|writer| write_on(&server, format!("/r{round}w{writer}"), writer));
    block_on(futures_util::future::join_all(writers));
}

async fn write_on(server: &Embedded, collection: String, writer: usize) {
    for number in 1.. {
        let request = operation(&collection, number);
        let method = request.method().clone();
        let status = server.call(request).await.status();
        assert!(status.is_success() || (method == "DELETE" && status == 404), "{number}: {status}");
        let mut out = std::io::stdout().lock();
        writeln!(out, "done {writer} {number}").expect("the pipe is read");
        out.flush().expect("the pipe is read");
    }
}

/// The n-th operation of every writer. The two members of a body belong together.
fn operation(collection: &str, number: u64) -> Request<Bytes> {
    let item = format!("{collection}/k{}", number % 5);
    let mut body = json!({"number": number, "same": number.to_string().repeat(100)});
    let request = match number % 7 {
        0 => Request::delete(item),
        1 => Request::post(collection).header("idempotency-key", format!("\"{number}\"")),
        2 => Request::patch(format!("{item}?fieldManager=crash&force=true"))
            .header("content-type", "application/apply-patch+json"),
        5 => {
            body["finalizers"] = json!(["keep"]);
            Request::put(format!("{collection}/f{number}"))
        }
        6 => Request::delete(format!("{collection}/f{}", number - 1)),
        _ => Request::put(item),
    };
    request.body(Bytes::from(body.to_string())).expect("a request")
}

/// What is there after so many operations.
fn model(done: u64) -> State {
    let (mut state, mut last_id) = (State::new(), 0);
    for number in 1..=done {
        let name = format!("k{}", number % 5);
        match number % 7 {
            0 => drop(state.remove(&name)),
            1 => {
                last_id += 1;
                state.insert(last_id.to_string(), (number, false));
            }
            5 => drop(state.insert(format!("f{number}"), (number, false))),
            6 => drop(state.entry(format!("f{}", number - 1)).and_modify(|(_, deleting)| *deleting = true)),
            _ => drop(state.insert(name, (number, false))),
        }
    }
    state
}

/// Sends the last create once more that was acknowledged: it gets the same answer.
fn repeat_the_last_create(server: &Embedded, collection: &str, done: u64) {
    let Some(number) = (1..=done).rev().find(|number| number % 7 == 1) else { return };
    let answer = block_on(server.call(operation(collection, number)));
    let item: Value = serde_json::from_slice(answer.body()).expect("an item");
    assert!(answer.headers().contains_key("idempotent-replayed"), "{collection} {number}: {item}");
    assert_eq!((&item["number"], &item["id"]), (&json!(number), &json!(number / 7 + 1)));
}

/// What is there.
fn state(server: &Embedded, collection: &str) -> State {
    let request = Request::get(format!("{collection}?limit=1000&fieldManagers=true"))
        .body(Bytes::new())
        .expect("a request");
    let answer = block_on(server.call(request));
    let page: Value = serde_json::from_slice(answer.body()).expect("a listing");
    assert_eq!(page.get("next"), None, "one page holds all");
    let items = page["items"].as_array().expect("items").iter();
    let entry = |item: &Value| {
        let number = item["number"].as_u64().expect("a number");
        assert_eq!(item["same"], json!(number.to_string().repeat(100)), "half an item");
        let holds = |manager: &Value| manager["paths"] == json!(["number", "same"]);
        let managers = item["fieldManagers"].as_array().map_or(&[][..], Vec::as_slice);
        match number % 7 {
            2 => assert!(matches!(managers, [one] if one["name"] == "crash" && holds(one)), "{item}"),
            _ => assert!(managers.iter().all(|one| one["name"] == "unknown" && holds(one)), "{item}"),
        }
        let id = item["id"].as_str().map_or_else(|| item["id"].to_string(), str::to_owned);
        (id, (number, item.get("deletionRevision").is_some()))
    };
    items.map(entry).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}
