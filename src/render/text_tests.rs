use proptest::prelude::*;
use serde_json::json;

use super::super::sample::{applied, change, entry, plan};
use super::*;
use crate::core::census::Census;
use crate::core::change::{Change, Reason};
use crate::core::redact::Redactor;
use crate::core::scrub;

fn view(verb: Verb) -> View {
    View { verb, objects: true, fields: true, verbose: false, elapsed: None }
}

/// As `Out` shows it: secrets are taken out first.
fn shown(report: &Report, view: &View) -> String {
    super::report(&scrub::report(report, &Redactor::default()), view).to_plain()
}

fn of(objects: Vec<Entry>) -> Report {
    Report { seen: Census::of(objects.len()), objects, ..Report::default() }
}

/// Lines on which a change begins: the only ones with something in the seventh column and nothing, or a
/// sign, before it.
fn change_lines(text: &str) -> usize {
    let begins = |line: &&str| {
        let chars: Vec<char> = line.chars().collect();
        chars.len() > 6
            && chars[..4] == [' '; 4]
            && " +-".contains(chars[4])
            && chars[5] == ' '
            && chars[6] != ' '
    };
    text.lines().filter(begins).count()
}

#[test]
fn a_plan() {
    let view = View { elapsed: Some(Duration::from_millis(210)), ..view(Verb::Plan) };
    insta::assert_snapshot!(shown(&plan(), &view), @r#"
        ~   Exchange //orders    manifests/exchange.yaml:14
              arguments.alternate-exchange   "old" → "dead"          differs on the server
            - arguments.x-delay              60000                   closed: not declared
            + auto_delete                    false                   missing on the server
              tags                           ["b","a"] → ["a","b"]   order: the same elements, in another order
            - probes[name=live].path         "/x"                    null: must not be set
              password                       (secret, changed)       differs on the server
            PossibleOverwrite: the API offers no precondition
            hint: declare `version` if it has one
        -/+ Queue //orders       manifests/queue.yaml:3
              durable   false → true   immutable: refused, needs --replace Queue///orders
            refused: replacing it loses its messages
            hint: --replace Queue///orders
        +   Exchange //billing   manifests/exchange.yaml:31
              durable   true
              teamId    (known after Team/platform is there)
        !   Policy //ha          manifests/policy.yaml:2
            conflict: `pattern` is "^ha-" at the base, "^ha\." here, "^h" there
        Plan: 1 to create, 1 to update, 1 refused, 1 conflict, 997 in sync. 1,001 objects seen in 6 requests, 0.2 s.
        "#);
}

#[test]
fn a_plan_in_colour() {
    let mut report = plan();
    report.objects.truncate(2);
    let text = super::report(&scrub::report(&report, &Redactor::default()), &view(Verb::Plan));
    insta::assert_snapshot!(text.write(true, str::to_owned).replace('\u{1b}', "␛"), @r#"
        ␛[33m~␛[0m   ␛[1mExchange //orders␛[0m   ␛[36mmanifests/exchange.yaml:14␛[0m
              arguments.alternate-exchange   ␛[31m"old"␛[0m␛[2m → ␛[0m␛[32m"dead"␛[0m          ␛[2mdiffers on the server␛[0m
            ␛[31m- ␛[0marguments.x-delay              ␛[31m60000␛[0m                   ␛[2mclosed: not declared␛[0m
            ␛[32m+ ␛[0mauto_delete                    ␛[32mfalse␛[0m                   ␛[2mmissing on the server␛[0m
              tags                           ␛[31m["b","a"]␛[0m␛[2m → ␛[0m␛[32m["a","b"]␛[0m   ␛[2morder: the same elements, in another order␛[0m
            ␛[31m- ␛[0mprobes[name=live].path         ␛[31m"/x"␛[0m                    ␛[2mnull: must not be set␛[0m
              password                       ␛[33m(secret, changed)␛[0m       ␛[2mdiffers on the server␛[0m
            ␛[33mPossibleOverwrite␛[0m: the API offers no precondition
            ␛[36mhint␛[0m: declare `version` if it has one
        ␛[31m-/+␛[0m ␛[1mQueue //orders␛[0m      ␛[36mmanifests/queue.yaml:3␛[0m
              durable   ␛[31mfalse␛[0m␛[2m → ␛[0m␛[32mtrue␛[0m   ␛[31mimmutable: refused, needs --replace Queue///orders␛[0m
            ␛[31mrefused␛[0m: replacing it loses its messages
            ␛[36mhint␛[0m: --replace Queue///orders
        ␛[1mPlan: ␛[0m␛[33m1 to update␛[0m, ␛[31m1 refused␛[0m.␛[2m 1,001 objects seen in 6 requests.␛[0m
        "#);
}

#[test]
fn an_apply() {
    insta::assert_snapshot!(shown(&applied(), &view(Verb::Apply)), @"
        +   Queue //a      manifests/queue.yaml:1      created
        ~   Queue //b      manifests/queue.yaml:5      updated
        !   Queue //slow   manifests/queue.yaml:9
            not effective: sent 5, the server stores 6
        !   Exchange //c   manifests/exchange.yaml:1
            failed: creating it was answered 403
            hint: give the user the permission `configure`
        +   Binding //d    manifests/binding.yaml:1
            skipped: `Exchange //c` is not settled
        !   Policy //e     manifests/policy.yaml:1
            unknown: the listing is not complete
        Applied: 1 created, 1 updated, 1 failed, 1 not effective, 1 unknown, 1 skipped, 1 in sync. 5 objects seen in 10 requests.
        ");
}

#[test]
fn a_cause_that_many_share_is_told_once() {
    let why =
        || Outcome::Unknown(Explanation::new("listing Queue: connection refused").hint("is it running?"));
    let report = of((1..=3).map(|n| entry("Queue", &format!("q{n}"), n, Action::None, why())).collect());
    insta::assert_snapshot!(shown(&report, &view(Verb::Plan)), @"
    !   Queue //q1   manifests/queue.yaml:1
        unknown: listing Queue: connection refused
        hint: is it running?
    !   Queue //q2   manifests/queue.yaml:2
        unknown: as above
    !   Queue //q3   manifests/queue.yaml:3
        unknown: as above
    Plan: 3 unknown. 3 objects seen in 0 requests.
    ");
}

#[test]
fn summaries() {
    let same = |n: u32| {
        of((0..n).map(|i| entry("Queue", &format!("{i}"), i, Action::None, Outcome::InSync)).collect())
    };
    let due = || of(vec![entry("Queue", "a", 1, Action::Delete, Outcome::Planned)]);
    let mut gone = due();
    gone.objects[0].result = Outcome::Done;
    for (report, verb, want) in [
        (of(vec![]), Verb::Plan, "No objects are selected. 0 objects seen in 0 requests.\n"),
        (same(1), Verb::Plan, "The one object is in sync. 1 object seen in 0 requests.\n"),
        (same(12), Verb::Drift, "All 12 objects are in sync. 12 objects seen in 0 requests.\n"),
        (
            same(12),
            Verb::Apply,
            "All 12 objects are in sync; nothing was written. 12 objects seen in 0 requests.\n",
        ),
        (
            same(2),
            Verb::Delete,
            "All 2 objects are gone; nothing was written. 2 objects seen in 0 requests.\n",
        ),
        (due(), Verb::Apply, "Not applied: 1 to delete. 1 object seen in 0 requests.\n"),
        (gone, Verb::Delete, "Deleted: 1 deleted. 1 object seen in 0 requests.\n"),
    ] {
        let text = shown(&report, &view(verb));
        assert_eq!(text.lines().last().map(|line| format!("{line}\n")).as_deref(), Some(want));
    }
}

/// After a preview that was not agreed to, the plan is not told again.
#[test]
fn what_was_shown_before() {
    let mut report = of(vec![entry("Queue", "a", 1, Action::Create, Outcome::Planned)]);
    let view = View { objects: false, ..view(Verb::Apply) };
    assert_eq!(shown(&report, &view), "Not applied: 1 to create. 1 object seen in 0 requests.\n");
    report.interrupted = true;
    let told = shown(&report, &view);
    assert!(told.starts_with("Interrupted: nothing was written.\nNot applied: 1 to create."), "{told}");
}

#[test]
fn one_changed_line_of_three_hundred_takes_few_lines() {
    let doc = |word: &str| {
        json!(
            (1..=300)
                .map(|i| if i == 150 { word.into() } else { format!("line {i}") })
                .collect::<Vec<String>>()
                .join("\n")
        )
    };
    let mut object = entry("Page", "a", 1, Action::Update, Outcome::Planned);
    object.changes = vec![change("doc", Some(doc("old")), Some(doc("new")), Reason::Declared)];
    let text = shown(&of(vec![object]), &view(Verb::Plan));
    assert!(text.lines().count() <= 12, "{text}");
    assert!(text.contains("- old") && text.contains("+ new"), "{text}");
}

#[test]
fn backends_are_named_when_there_are_several() {
    let mut other = entry("Queue", "a", 1, Action::Create, Outcome::Planned);
    other.id.kind.backend = "second".into();
    let report = of(vec![entry("Queue", "a", 1, Action::Create, Outcome::Planned), other]);
    insta::assert_snapshot!(shown(&report, &view(Verb::Plan)), @"
        +   rabbitmq/Queue //a   manifests/queue.yaml:1
        +   second/Queue //a     manifests/queue.yaml:1
        Plan: 2 to create. 2 objects seen in 0 requests.
        ");
}

#[test]
fn what_the_server_says_cannot_act() {
    let evil = "\u{1b}[2J\u{202e}x\r\n";
    let mut object =
        entry("Queue", evil, 1, Action::Update, Outcome::Failed(crate::core::report::Explanation::new(evil)));
    object.changes = vec![change("a", Some(json!(evil)), Some(json!("b")), Reason::Declared)];
    insta::assert_snapshot!(shown(&of(vec![object]), &view(Verb::Plan)), @r#"
        !   Queue //\u{1b}[2J\u{202e}x\u{d}\n   manifests/queue.yaml:1
              a   "\u001b[2J\u{202e}x\r\n" → "b"   differs on the server
            failed: \u{1b}[2J\u{202e}x\u{d}\n
        Plan: 1 failed. 1 object seen in 0 requests.
        "#);
}

fn any_change() -> impl Strategy<Value = Change> {
    let text = prop_oneof![".{0,12}", "(?s).{0,200}", "([a-z ]{0,9}\n){0,30}"];
    let side = prop_oneof![
        Just(None),
        text.prop_map(|t| Some(json!(t))),
        any::<i64>().prop_map(|n| Some(json!({"n": [n]}))),
    ];
    let reason = prop_oneof![Just(Reason::Declared), Just(Reason::Closed), Just(Reason::Unset)];
    (side.clone(), side, reason)
        .prop_map(|(before, after, reason)| change("spec.field", before, after, reason))
}

proptest! {
    /// What is said to change is what is shown, no more and no less (argo-cd #15898).
    #[test]
    fn as_many_lines_as_changes(changes in prop::collection::vec(any_change(), 0..6)) {
        let mut object = entry("Queue", "a", 1, Action::Update, Outcome::Planned);
        object.changes = changes.clone();
        let text = shown(&of(vec![object]), &view(Verb::Plan));
        prop_assert_eq!(change_lines(&text), changes.len(), "{}", text);
    }
}
