//! Creates: the five ways of not making an object twice, lost answers, late visibility, and processes that are killed.

use std::time::Duration;

use serde_json::json;

use super::memory::Memory;
use super::model::{Fault, Model, document, kind};
use crate::core::document::Document;
use crate::core::engine::Options;
use crate::core::exchange::FailureClass;
use crate::core::fields::FieldRule;
use crate::core::idempotency::Idempotency;
use crate::core::kind::Kind;
use crate::core::mutant::{Mutant, plant};
use crate::core::path::Path;
use crate::core::report::{CREATE_UNCERTAIN, DUPLICATE_FOUND, Outcome, Report};

/// How long a new object is hidden: less than what is waited for, and more.
const HIDDEN: [u64; 4] = [1, 10, 29, 60];

/// A kind whose ids are the server's, and whose creates it knows by a key.
fn keyed() -> Kind {
    let mut kind = kind("Team", true, None);
    let create = kind.create.as_mut().expect("it has a create");
    create.idempotency = Some(Idempotency::Header("idempotency-key".into()));
    kind
}

fn model(kind: Kind, hidden: u64) -> (Model, [Document; 1]) {
    let mut model = Model::new(vec![kind]);
    model.hidden_for = Duration::from_secs(hidden);
    if model.kinds.iter().any(|kind| kind.knows_creates()) {
        model.memory = Some(Memory::default());
    }
    (model, [document("Team", &[("name", "a")], json!({"size": 1}))])
}

fn stored(model: &Model) -> usize {
    model.objects.values().map(Vec::len).sum()
}

fn result(report: &Report) -> (&'static str, Option<&'static str>) {
    let result = &report.objects[0].result;
    (result.word(), result.explanation().and_then(|why| why.reason))
}

#[test]
fn a_new_object_that_is_hidden_for_a_while_is_made_once() {
    for hidden in HIDDEN {
        let (mut model, documents) = model(kind("Team", true, None), hidden);
        let report = model.apply(&documents);
        let want = if hidden < 30 { ("done", None) } else { ("unknown", Some(CREATE_UNCERTAIN)) };
        assert_eq!(result(&report), want, "{hidden}");
        assert_eq!(model.writes(), ["create Team a"], "{hidden}");
    }
}

#[test]
fn a_lost_answer_and_a_hidden_object_are_waited_for() {
    for hidden in HIDDEN {
        let (mut model, documents) = model(kind("Team", true, None), hidden);
        model.faults.insert(("create", 1), Fault::DoneAndLost);
        let report = model.apply(&documents);
        if hidden < 30 {
            assert_eq!(result(&report), ("done", None), "{hidden}: {:?}", model.log);
            assert_eq!(stored(&model), 1, "{hidden}");
        } else {
            // Beyond what the kind says of visibility one more is sent, and no third.
            assert_eq!(model.writes().len(), 2, "{hidden}");
            assert_eq!(result(&report), ("failed", Some(DUPLICATE_FOUND)), "{report:?}");
        }
    }
}

/// Servers do answer 500 after they have created; M4 takes that for "not created".
#[test]
fn a_500_after_the_creation_makes_no_second_object() {
    let stored_after_500 = || {
        let (mut model, documents) = model(kind("Team", true, None), 10);
        model.faults.insert(("create", 1), Fault::DoneAndFails(FailureClass::Status(500)));
        model.apply(&documents);
        stored(&model)
    };
    assert_eq!(stored_after_500(), 1);
    let _planted = plant(Mutant::M4);
    assert_eq!(stored_after_500(), 2, "M4 is not found");
}

#[test]
fn with_a_key_there_is_one_object_whatever_is_lost_or_hidden() {
    for hidden in HIDDEN {
        for lost in 0..3 {
            let (mut model, documents) = model(keyed(), hidden);
            (1..=lost).for_each(|n| {
                model.faults.insert(("create", n), Fault::DoneAndLost);
            });
            let report = model.apply(&documents);
            assert_eq!(result(&report), ("done", None), "{hidden} {lost}: {report:?}");
            assert_eq!(stored(&model), 1, "{hidden} {lost}");
        }
    }
}

#[test]
fn with_a_name_of_ours_the_server_refuses_the_second_and_we_look() {
    for hidden in HIDDEN {
        let mut team = kind("Team", true, None);
        team.visible = Duration::from_secs(90);
        let (mut model, documents) = model(team, hidden);
        model.put("Team", &[("name", "a")], json!({"size": 1}));
        // It was made just now by a run that was killed, and is hidden.
        model.hide("Team");
        model.refuses_doubles = true;
        let report = model.apply(&documents);
        assert_eq!(result(&report), ("in-sync", None), "{hidden}: {:?}", model.log);
        assert_eq!((stored(&model), model.writes().len()), (1, 1), "{hidden}");
    }
}

#[test]
fn killed_at_any_request_the_next_run_makes_it_once() {
    for (kind, hidden) in
        [(keyed(), 0), (keyed(), 10), (kind("Team", true, None), 0), (kind("Team", false, None), 0)]
    {
        for requests in 1..8 {
            let (mut model, documents) = model(kind.clone(), hidden);
            model.crash(&documents, Options::default(), requests);
            let report = model.apply(&documents);
            assert!(matches!(result(&report).0, "done" | "in-sync"), "{requests}: {report:?}");
            assert_eq!(stored(&model), 1, "killed after {requests}: {:?}", model.log);
        }
    }
}

/// Stripe gives a stored 500 again for as long as it remembers the key.
#[test]
fn a_failure_that_the_server_remembers_takes_another_key() {
    let (mut model, documents) = model(keyed(), 0);
    model.memory = Some(Memory { failures: true, ..Memory::default() });
    model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(500)));
    let report = model.apply(&documents);
    assert_eq!(result(&report), ("done", None), "{:?}", model.log);
    assert_eq!(stored(&model), 1);
    let creates: Vec<usize> = (0..model.log.len()).filter(|&i| model.log[i].starts_with("create")).collect();
    assert_eq!(creates.len(), 3, "the same key twice, then the next one: {:?}", model.log);
    assert!(creates[2] - creates[1] > 2, "it is looked for before another key is taken: {:?}", model.log);
    // The next run begins with the first key again, and finds its way.
    model.objects.clear();
    assert_eq!(result(&model.apply(&documents)), ("done", None));
}

/// An object is made, deleted, and made again while the server still remembers the first.
fn made_again() -> (Report, Model) {
    let (mut model, documents) = model(keyed(), 0);
    model.apply(&documents);
    model.objects.clear();
    (model.apply(&documents), model)
}

#[test]
fn an_answer_about_an_object_that_is_gone_takes_another_key() {
    let (report, model) = made_again();
    assert_eq!(result(&report), ("done", None), "{:?}", model.log);
    assert_eq!((stored(&model), model.writes().len()), (1, 3), "{:?}", model.log);
}

#[test]
fn without_generations_what_is_gone_stays_gone() {
    let _planted = plant(Mutant::M20);
    let (report, model) = made_again();
    assert_ne!(result(&report), ("done", None), "a key without its generation is found out: {:?}", model.log);
    assert_eq!(stored(&model), 0);
}

#[test]
fn a_key_that_was_used_for_another_payload_gives_way_to_the_next() {
    let mut team = keyed();
    let rule = team.fields.at_mut(&Path::parse("password").expect("a path"));
    *rule = FieldRule { secret: true, write_only: true, ..FieldRule::default() };
    let (mut model, _) = model(team, 0);
    let with = |password: &str| [document("Team", &[("name", "a")], json!({"password": password}))];
    assert_eq!(result(&model.apply(&with("one"))), ("done", None));
    model.objects.clear();
    assert_eq!(result(&model.apply(&with("two"))), ("done", None), "{:?}", model.log);
    assert_eq!(model.get("Team", "a").map(|team| team["password"].clone()), Some(json!("two")));
    assert_eq!(
        model.writes().len(),
        3,
        "a password makes no other key, so the server has to say it: {:?}",
        model.log
    );
}

#[test]
fn a_create_that_is_still_under_way_is_waited_for() {
    let (mut model, documents) = model(keyed(), 0);
    (1..=3).for_each(|n| {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::Exists));
    });
    assert_eq!(result(&model.apply(&documents)), ("done", None), "{:?}", model.log);
    assert_eq!((stored(&model), model.writes().len()), (1, 4));
}

#[test]
fn what_cannot_be_looked_for_is_uncertain_and_not_made_again() {
    let (mut model, documents) = model(kind("Team", true, None), 0);
    model.faults.insert(("create", 1), Fault::DoneAndLost);
    (2..20).for_each(|n| {
        model.faults.insert(("list", n), Fault::Fails(FailureClass::Status(403)));
    });
    let report = model.apply(&documents);
    assert_eq!(result(&report), ("unknown", Some(CREATE_UNCERTAIN)), "{report:?}");
    assert_eq!(model.writes().len(), 1);
    let Outcome::Unknown(why) = &report.objects[0].result else { panic!("{report:?}") };
    assert!(
        why.hint.is_some() && why.message.starts_with("whether it was created is not known: "),
        "{why:?}"
    );
}

#[test]
fn two_uncertain_creates_are_not_followed_by_a_third() {
    let (mut model, documents) = model(kind("Team", true, None), 0);
    (1..9).for_each(|n| {
        model.faults.insert(("create", n), Fault::Fails(FailureClass::Lost));
    });
    let report = model.apply(&documents);
    assert_eq!(result(&report), ("failed", Some(CREATE_UNCERTAIN)), "{report:?}");
    assert_eq!(model.writes().len(), 2);
}

#[test]
fn several_of_one_name_are_told_by_their_ids() {
    let (mut model, documents) = model(kind("Team", true, None), 0);
    model.put("Team", &[("name", "a")], json!({}));
    model.put("Team", &[("name", "a")], json!({}));
    let report = model.apply(&documents);
    assert_eq!(result(&report), ("failed", Some(DUPLICATE_FOUND)));
    assert!(model.writes().is_empty());
}
