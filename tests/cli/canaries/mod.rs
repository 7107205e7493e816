//! Canaries: a secret of its own in every place that takes one, through every command and format, against servers
//! that repeat what they were sent in every way that servers do. No piece of one comes out.

mod encodings;
mod stage;
mod watching;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use encodings::{ALL, Encode};
use stage::{Mood, Stage};

/// What stands between the letters of a secret that goes into a header or an address.
const HEADER: &str = "\"q\\z/<&'%41+=:;@{}";
/// And into a body.
const BODY: &str = "\"q\\z/<&'%41+é€\n ";

/// A secret of about 64 bytes, which nothing else looks like.
fn canary(name: &str, between: &str) -> String {
    let mut state = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |state, byte| {
        (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut run = |length: usize| -> String {
        let letter = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(
                b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"[(state >> 33) as usize % 56],
            )
        };
        (0..length).map(letter).collect()
    };
    format!("{}{between}{}/{}", run(18), run(16), run(12))
}

/// How the backend knows us: what stands under `auth`, and the secret's name.
const AUTHS: [&str; 8] = [
    "{basic: {username: me, password: !secret env:C_AUTH}}",
    "{bearer: !secret env:C_AUTH}",
    "{bearer: {file: token.txt}}",
    "{bearer: {command: [/bin/cat, token.txt]}}",
    "{header: {name: X-Api-Key, value: !secret env:C_AUTH}}",
    "{query: {name: key, value: !secret env:C_AUTH}}",
    "{oauth2: {token-url: /token, client-id: me, client-secret: !secret env:C_AUTH}}",
    "{login: {request: POST /session, body: {user: me, password: !secret env:C_AUTH}, token: .body.sid}}",
];

/// Every command that knows documents or a backend, in every format.
const COMMANDS: [&str; 27] = [
    "validate -f a.yaml",
    "validate -f a.yaml --output json",
    "plan -f a.yaml -vvv",
    "plan -f a.yaml -v --output json",
    "plan -f a.yaml --base old -v",
    "plan -f a.yaml --base old --output ndjson -v",
    "plan -f a.yaml --out saved.plan",
    "plan --show saved.plan -v",
    "plan --show saved.plan --output json",
    "apply saved.plan -vvv",
    "drift -f a.yaml -vvv",
    "drift -f a.yaml --output ndjson -v",
    "explain Space -f a.yaml",
    "explain Space/shop -f a.yaml",
    "explain Space Space/shop -f a.yaml --output json",
    "probe -vvv",
    "probe -f a.yaml --output json",
    "probe --output ndjson",
    "get -f a.yaml -vvv",
    "get -f a.yaml --output json",
    "get -f a.yaml --output ndjson",
    "export -f a.yaml",
    "export -f a.yaml --output json",
    "export --output ndjson",
    "apply -f a.yaml --yes -vvv",
    "apply -f a.yaml --yes --rotate Space/shop --output json",
    "delete -f a.yaml --yes -v",
];

/// The formats that are written when a run ends, each with a command.
const FORMS: [&str; 10] = [
    "plan -f a.yaml -v --output markdown",
    "plan -f a.yaml --base old -v --output html",
    "drift -f a.yaml -v --output junit",
    "plan -f a.yaml --base old -v --output sarif",
    "plan -f a.yaml -vvv --output github",
    "validate -f a.yaml -v --output junit",
    "plan -f a.yaml --out saved.plan --output markdown",
    "plan --show saved.plan --output html",
    "apply -f a.yaml --yes -v --output markdown",
    "delete -f a.yaml --yes --output junit",
];

/// What is run where something goes wrong: one command that reads and one that writes, one for people and one for
/// machines.
const IN_TROUBLE: [&str; 3] =
    ["plan -f a.yaml -vvv", "apply -f a.yaml --yes -vvv", "apply -f a.yaml --yes --output json"];

const FORMS_IN_TROUBLE: [&str; 5] = [
    "apply -f a.yaml --yes --output markdown",
    "apply -f a.yaml --yes -v --output html",
    "apply -f a.yaml --yes --output junit",
    "apply -f a.yaml --yes --output sarif",
    "apply -f a.yaml --yes --output github",
];

/// Runs each on a few threads.
fn each<T: Sync>(all: &[T], run: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    while let Some(one) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                        run(one);
                    }
                })
            })
            .collect();
        wrong
            .lock()
            .expect("one thread")
            .extend(workers.into_iter().filter_map(|worker| worker.join().err()));
    });
    assert!(wrong.into_inner().expect("one thread").is_empty(), "a thread has failed; it said why");
}

#[test]
fn no_command_shows_a_piece_of_one() {
    each(&AUTHS, |auth| {
        let stage = Stage::new(auth, Mood::Works);
        COMMANDS.iter().for_each(|line| stage.silent(line));
        FORMS.iter().for_each(|line| stage.silent(line));
        stage.has_told_the_server();
        stage.holds_none("saved.plan");
    });
}

#[test]
fn no_refusal_is_shown_with_a_piece_of_one() {
    let mut all: Vec<(&str, Mood, &[&str])> = Vec::new();
    for (i, auth) in AUTHS.iter().enumerate() {
        let logs_in = auth.contains("oauth2") || auth.contains("login");
        for (j, (name, encode)) in ALL.into_iter().enumerate() {
            // Each way of repeating with some of the credentials, and each credential with some of the ways: what
            // is repeated has all other secrets in it every time.
            let moods: &[fn(Encode) -> Mood] = match (i + j) % 4 {
                0 => &[Mood::Refuses],
                1 | 3 => &[Mood::Fails],
                _ => &[],
            };
            let lines = if name == "plain" { &IN_TROUBLE[..] } else { &IN_TROUBLE[1..2] };
            // Each way of repeating in each of the formats that are written at the end, with one of the credentials.
            if i == j % AUTHS.len() {
                all.push((*auth, Mood::Refuses(encode), &FORMS_IN_TROUBLE[..]));
                all.push((*auth, Mood::Fails(encode), &FORMS_IN_TROUBLE[..]));
            }
            let more: &[fn(Encode) -> Mood] = if logs_in { &[Mood::RefusesLogins] } else { &[] };
            all.extend(moods.iter().chain(more).map(|mood| (*auth, mood(encode), lines)));
        }
    }
    each(&all, |(auth, mood, lines)| {
        let stage = Stage::new(auth, *mood);
        lines.iter().for_each(|line| stage.silent(line));
    });
}

#[test]
fn no_odd_answer_is_shown_with_a_piece_of_one() {
    let moods = [Mood::Headers, Mood::NoJson, Mood::HalfJson, Mood::Page, Mood::Redirects, Mood::NextPage];
    let all: Vec<_> = AUTHS.iter().flat_map(|auth| moods.map(|mood| (*auth, mood))).collect();
    each(&all, |(auth, mood)| {
        let stage = Stage::new(auth, *mood);
        IN_TROUBLE[..2].iter().for_each(|line| stage.silent(line));
        stage.silent("get -f a.yaml");
        stage.told_nobody_else();
    });
}

/// Where the input itself is wrong, a line of it is shown; what it names from elsewhere is not.
#[test]
fn no_wrong_input_is_shown_with_a_piece_of_one() {
    let stage = Stage::new(AUTHS[0], Mood::Works);
    for (name, text) in [
        ("key.yaml", "apiVersion: demo\nkind: Space\nmetadata: {name: !secret env:C_ENV}\nspec: {}\n"),
        (
            "member.yaml",
            "apiVersion: demo\nkind: Space\nmetadata: {name: a}\nspec: {? !secret env:C_ENV : 1}\n",
        ),
        (
            "url.yaml",
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec: {url: !env C_URL, preset: caddy}\n",
        ),
        (
            "secret-url.yaml",
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec: {url: !secret env:C_URL, preset: caddy}\n",
        ),
    ] {
        stage.scratch.write(name, text);
        for line in [
            "validate",
            "plan",
            "plan --output json",
            "validate --output junit",
            "plan --output sarif",
            "plan --output github",
        ] {
            stage.silent(&format!("{line} -f a.yaml -f {name} -f backend.yaml"));
        }
    }
    // An address in a file of its own, with a password that nobody took for a secret.
    let url = stage.secret("C_URL");
    let text = format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: b}}\nspec: {{url: '{}', preset: caddy}}\n",
        url.replace('\'', "''")
    );
    stage.scratch.write("clear.yaml", text);
    for line in [
        "validate -f clear.yaml",
        "plan -f a.yaml -f clear.yaml --backends backend.yaml",
        "probe -f clear.yaml",
    ] {
        stage.silent(line);
    }
}
