//! What is told of an object that waits for another in vain.

use serde_json::json;

use super::model::{Fault, Model, document, kind, reference};
use crate::core::document::{Document, Ensure};
use crate::core::exchange::FailureClass;
use crate::core::node::{Node, Pos, Reference, Want};
use crate::core::path::Path;
use crate::core::report::{Explanation, Report};

/// A team, and a member that refers to it.
fn pair(reference: Reference) -> [Document; 2] {
    let mut member = document("Member", &[("name", "m")], json!({}));
    let Want::Map(map) = &mut member.spec_mut().want else { panic!("a map") };
    map.insert("team", Node::new(Pos { line: 4, column: 1 }, Want::Ref(Box::new(reference))));
    [document("Team", &[("name", "a")], json!({"size": 1})), member]
}

fn model() -> Model {
    Model::new(vec![kind("Team", false, None), kind("Member", false, None)])
}

/// What is told of the member, of which nothing is written.
fn told(model: &mut Model, documents: &[Document], word: &str) -> Explanation {
    let report: Report = model.apply(documents);
    assert_eq!(report.objects[1].result.word(), word, "{:?}", report.objects[1]);
    assert!(model.writes().iter().all(|write| !write.contains("Member")), "{:?}", model.writes());
    report.objects[1].result.explanation().cloned().expect("a reason")
}

#[test]
fn each_way_to_wait_in_vain_has_its_words() {
    let documents = || pair(reference("Team/a"));
    let skipped = |model: &mut Model, documents: &[Document]| told(model, documents, "skipped").message;

    let mut paused = documents();
    paused[0].policy.paused = true;
    assert_eq!(skipped(&mut model(), &paused), "it needs `Team a`, which was refused");

    let mut lacking = documents();
    lacking[0].policy.ensure = Ensure::Exists;
    assert_eq!(skipped(&mut model(), &lacking), "it needs `Team a`, which failed");

    let mut deaf = model();
    deaf.normalise = Some(|value| value["size"] = json!(7));
    assert_eq!(skipped(&mut deaf, &documents()), "it needs `Team a`, which is not as it was sent");

    let mut silent = model();
    for n in 1..40 {
        silent.faults.insert(("read", n), Fault::Fails(FailureClass::Status(500)));
    }
    assert_eq!(skipped(&mut silent, &documents()), "it needs `Team a`, which is unknown");
}

#[test]
fn a_field_that_the_other_object_does_not_have_is_an_error_with_a_next_step() {
    let nowhere = Reference {
        field: Path::parse("nowhere").expect("a path"),
        text: "Team/a .nowhere".into(),
        ..reference("Team/a")
    };
    let why = told(&mut model(), &pair(nowhere), "failed");
    assert_eq!(why.message, "`Team/a .nowhere` is not known yet");
    assert_eq!(
        why.hint.as_deref(),
        Some("the object that it names has no such field: look at it with `trueup get`")
    );
}
