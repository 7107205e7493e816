//! Writes that do not stick: two at most, what was sent and what is stored, and a line that makes an end of it.

use serde_json::{Value, json};

use super::model::{Model, document, kind};
use crate::core::engine::Options;
use crate::core::report::{Outcome, Report};

/// A team that the server makes something of, and the run about it, with suggestions.
fn applied(server_ids: bool, normalise: fn(&mut Value)) -> (Report, Model) {
    let mut model = Model::new(vec![kind("Team", server_ids, None)]);
    model.normalise = Some(normalise);
    let spec = json!({"size": 5, "title": "Shop", "tags": ["b", "a"], "note": "a long text"});
    let documents = [document("Team", &[("name", "a")], spec)];
    let options = Options { suggest: true, ..Options::default() };
    let report = model.apply_with(&documents, options, None);
    if let Outcome::NotEffective(_) = report.objects[0].result {
        // With the lines the same state is in sync.
        let mut accepting = kind("Team", server_ids, None);
        report.objects[0].accepted.iter().for_each(|line| line.add_to(&mut accepting.fields));
        model.kinds.insert(accepting);
        let plan = model.plan(&documents);
        assert_eq!(plan.objects[0].result, Outcome::InSync, "{:?}", report.objects[0].accepted);
    }
    (report, model)
}

/// What the server makes of a team, what is said of it, and the lines.
type Makes = (fn(&mut Value), &'static str, &'static [&'static str]);

#[test]
fn two_writes_and_a_line_for_each_field() {
    let makes: [Makes; 5] = [
        (
            |v| v["title"] = json!("shop"),
            "`title`: sent \"Shop\", the server stores \"shop\"",
            &["title: ascii_downcase"],
        ),
        (
            |v| v["note"] = json!("a long"),
            "`note`: sent \"a long text\", the server stores \"a long\"",
            &["note: ignore"],
        ),
        (
            |v| drop(v.as_object_mut().and_then(|map| map.remove("note"))),
            "`note`: sent \"a long text\", the server stores nothing",
            &["note: write-only"],
        ),
        (|v| v["tags"] = json!(["a", "b"]), "`tags", &["tags: set"]),
        (
            |v| {
                v["size"] = json!("5");
                v["title"] = json!("Shop ");
            },
            "`size`: sent 5, the server stores \"5\", and 1 more like it",
            &["size: tostring", "title: trim"],
        ),
    ];
    for server_ids in [false, true] {
        for (make, says, lines) in makes {
            let (report, model) = applied(server_ids, make);
            let Outcome::NotEffective(why) = &report.objects[0].result else { panic!("{says}: {report:?}") };
            assert!(why.message.starts_with(says), "{}", why.message);
            let told: Vec<String> = report.objects[0].accepted.iter().map(|line| line.line()).collect();
            assert_eq!(told, lines);
            assert!(why.hint.as_deref().is_some_and(|hint| hint.contains(lines[0])), "{why:?}");
            assert_eq!(model.writes(), ["create Team a", "update Team a"], "{says}");
            let stored = model.get("Team", "a").expect("it is there");
            assert!(
                lines.iter().any(|line| line.starts_with("size")) || stored["size"] == 5,
                "the others stick"
            );
        }
    }
}

#[test]
fn what_sticks_has_no_line() {
    let (report, model) = applied(false, |_| {});
    assert_eq!(report.objects[0].result, Outcome::Done);
    assert!(report.objects[0].accepted.is_empty());
    assert_eq!(model.writes().len(), 1);
}

#[test]
fn a_plan_suggests_spellings_when_it_is_asked() {
    let mut model = Model::new(vec![kind("Team", false, None)]);
    model.put("Team", &[("name", "a")], json!({"title": "shop", "size": 4}));
    let documents = [document("Team", &[("name", "a")], json!({"title": "Shop", "size": 5}))];
    let lines = |report: &Report| -> Vec<String> {
        report.objects[0].accepted.iter().map(|line| line.line()).collect()
    };
    assert_eq!(lines(&model.plan(&documents)), [""; 0]);
    let asked = model.plan_with(&documents, Options { suggest: true, ..Options::default() });
    assert_eq!(lines(&asked), ["title: ascii_downcase"], "another size is another size");
}
