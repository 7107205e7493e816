//! Instances that take turns by a lease in etcd: who held it when is read from the revisions that etcd keeps.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::gate::Gate;
use crate::member::Member;
use crate::watching::Watching;

const DURATION: Duration = Duration::from_secs(3);

/// A member, and a folder with one key to watch.
fn scene(word: &str) -> Option<Member> {
    let member = Member::open()?;
    let key = format!(
        "apiVersion: etcd\nkind: Key\nmetadata: {{prefix: /{}/, name: size}}\nspec: {{value: \"2\"}}\n",
        member.name(word)
    );
    member.project.file("key.yaml", &key);
    Some(member)
}

fn start(member: &Member, word: &str) -> Watching {
    let lease = format!("etcd/Lease/{}", member.name(word));
    let seconds = format!("{}s", DURATION.as_secs());
    let flags = ["--interval", "1h", "--resync", "1h", "--lease", &lease, "--lease-duration", &seconds];
    Watching::start(&member.project, &flags)
}

fn lease(member: &Member, word: &str) -> String {
    format!("/trueup/{}", member.name(word))
}

/// Whose the lease is: it is named by host, process, and a word of its own.
fn holder(member: &Member, word: &str) -> String {
    let Some(text) = member.get(&lease(member, word)) else { return String::new() };
    let record: Value = serde_json::from_str(&text).expect("a lease is JSON");
    record["holder"].as_str().expect("a text").to_owned()
}

fn is_of(holder: &str, watching: &Watching) -> bool {
    holder.contains(&format!("/{}/", watching.child.id()))
}

/// One holder's time: its first and its last stamp.
#[derive(Debug)]
struct Turn {
    holder: String,
    began: SystemTime,
    renewed: SystemTime,
}

/// The turns that the revisions of the lease tell.
fn turns(member: &Member, word: &str) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for revision in member.history(&lease(member, word)) {
        let record: Value = serde_json::from_str(&revision.value).expect("a lease is JSON");
        let stamp = record["renewed"].as_str().expect("a time");
        let stamp = humantime::parse_rfc3339(stamp).expect("RFC 3339");
        let holder = record["holder"].as_str().expect("a text");
        match turns.last_mut().filter(|turn| turn.holder == holder) {
            Some(turn) => turn.renewed = stamp,
            None => turns.push(Turn { holder: holder.into(), began: stamp, renewed: stamp }),
        }
    }
    turns
}

/// Each of these held the lease once, one after the other, and the next one not before it had run out.
fn check_turns(turns: &[Turn], holders: [&str; 2]) {
    let held: Vec<&str> = turns.iter().map(|turn| &*turn.holder).collect();
    assert_eq!(held, holders, "{turns:#?}");
    let between = turns[1].began.duration_since(turns[0].renewed).expect("one after the other");
    assert!(between >= DURATION, "taken over {between:?} after its last renewal");
    eprintln!("taken over {between:?} after the last renewal, of {DURATION:?}");
}

#[test]
fn of_two_that_start_at_once_one_leads_and_the_other_takes_over_when_it_is_killed() {
    let word = "killed";
    let Some(member) = scene(word) else { return };
    let (one, other) = (start(&member, word), start(&member, word));
    one.until("one of them holds the lease", || !holder(&member, word).is_empty());
    let first_holder = holder(&member, word);
    let (first, second) = if is_of(&first_holder, &one) { (one, other) } else { (other, one) };
    assert!(is_of(&first_holder, &first), "{first_holder}");
    let key = format!("/{}/size", member.name(word));
    first.until("the key is made", || member.get(&key).as_deref() == Some("2"));
    // It is renewed, and the other does not take it meanwhile.
    let renewals = || member.history(&lease(&member, word)).len();
    let before = renewals();
    first.until("the lease is renewed", || renewals() > before + 2);
    assert_eq!(holder(&member, word), first_holder);
    // SIGKILL: nothing is given up.
    drop(first);
    member.put(&key, "meddled with");
    second.until("the other holds the lease", || is_of(&holder(&member, word), &second));
    second.until("the key is repaired", || member.get(&key).as_deref() == Some("2"));
    let second_holder = holder(&member, word);
    check_turns(&turns(&member, word), [&first_holder, &second_holder]);
    let record: Value =
        serde_json::from_str(&member.get(&lease(&member, word)).expect("a lease")).expect("JSON");
    assert_eq!(record["transitions"], 1, "{record}");
    assert_eq!(record.get("revision"), None, "what is the server's is not stored: {record}");
}

/// What a holder sent in its time arrives when another holds the lease: etcd compares the revision, and refuses it.
#[test]
fn a_renewal_that_comes_too_late_is_refused() {
    let word = "late";
    let (Some(mut member), Some(other)) = (scene(word), scene(word)) else { return };
    let gate = Gate::before(member.address());
    member.project.set("ETCD_URL", &gate.url());
    let first = start(&member, word);
    first.until("the first holds the lease", || is_of(&holder(&other, word), &first));
    let key = format!("/{}/size", member.name(word));
    first.until("the key is made", || other.get(&key).is_some());
    let first_holder = holder(&other, word);
    let second = start(&other, word);
    gate.shut_at("POST /v3/kv/txn ");
    second.until("the second holds the lease", || is_of(&holder(&other, word), &second));
    let second_holder = holder(&other, word);
    gate.open();
    let refused = || gate.answers().contains("response_range");
    first.until("the late renewal is answered", refused);
    // It is told of the other, and waits for its turn: nothing that it sends is stored any more.
    let renewals = || other.history(&lease(&other, word)).len();
    let before = renewals();
    second.until("the second renews the lease", || renewals() > before + 4);
    assert!(!gate.answers().contains(r#""succeeded":true"#), "{}", gate.answers());
    check_turns(&turns(&other, word), [&first_holder, &second_holder]);
}
