use super::super::sample::{self, NOW, ZERO, harmless};
use super::*;

#[test]
fn a_line_has_a_constant_message_and_fields() {
    let object = &sample::snapshot().status.objects[7];
    let event = turned(&object.id, Some(&object.origin), &object.conditions[0]);
    let shown = text(&event, ZERO + NOW).to_plain();
    assert_eq!(
        shown,
        "2026-12-01T13:00:00.000Z warn \"object is not in sync\" backend=rabbitmq kind=Queue name=//failing \
         condition=Synced status=False reason=Failed detail=\"creating it: 503 service unavailable\" \
         at=manifests/queues.yaml:14:1\n"
    );
    let value: Value = serde_json::from_str(&json(&event, ZERO + NOW)).expect("JSON");
    assert_eq!(
        value,
        serde_json::json!({
            "time": "2026-12-01T13:00:00.000Z", "level": "warn", "message": "object is not in sync",
            "backend": "rabbitmq", "kind": "Queue", "name": "//failing", "condition": "Synced", "status": "False",
            "reason": "Failed", "detail": "creating it: 503 service unavailable",
            "at": "manifests/queues.yaml:14:1",
        })
    );
}

#[test]
fn every_turn_has_words_of_its_own() {
    let mut said = std::collections::BTreeSet::new();
    for kind in ConditionKind::ALL {
        assert!(
            said.insert(words(kind, Truth::True).1) && said.insert(words(kind, Truth::False).1),
            "{}",
            kind.word()
        );
    }
    assert_eq!(words(ConditionKind::Stalled, Truth::True).0, Level::Error);
}

#[test]
fn values_are_told_apart_by_their_quotes() {
    for (value, shown) in [
        ("", "\"\""),
        ("plain/text:1", "plain/text:1"),
        ("two words", "\"two words\""),
        ("a=b", "\"a=b\""),
        ("a\"b\\c", "\"a\\\"b\\\\c\""),
        ("a\nlevel=error", "\"a\\nlevel=error\""),
        ("日本", "日本"),
        ("a\u{202e}b", "\"a\\u202eb\""),
    ] {
        assert_eq!(quoted(value), shown);
    }
}

#[test]
fn what_is_hostile_stays_on_its_line() {
    let snapshot = sample::hostile();
    let object = &snapshot.status.objects[0];
    let events = [
        turned(&object.id, Some(&object.origin), &object.conditions[0]),
        warned(&snapshot.status.warnings[0]),
        invalid(&snapshot.desired.problems[0]),
        turned_role(Role::Follower, &snapshot.instance.name),
        loaded(3).with("file", snapshot.instance.name.as_str()),
    ];
    for event in events.map(|event| event.scrubbed(&sample::redactor())) {
        let (text, json) = (text(&event, ZERO).to_plain(), json(&event, ZERO));
        harmless(&text);
        harmless(&json);
        assert_eq!((text.lines().count(), json.lines().count()), (1, 1), "{text}{json}");
    }
}
