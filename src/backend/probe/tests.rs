//! What each declared fact, each answer and each name comes to; whole runs are tested with servers.

use std::slice::from_ref;

use serde_json::json;

use super::*;
use crate::backend::language::testing::kind;
use crate::core::exchange::VersionToken;

fn item(kind: &Kind, value: Value) -> Item {
    let name = value.get("name").cloned().unwrap_or_default();
    Item {
        key: kind.key_of(vec![("name".into(), name)]),
        server_id: value.get("id").map(|id| id.to_string().into()),
        version: None::<VersionToken>,
        value: value.into(),
        deleting: false,
        ready: None,
        ambiguous: Vec::new(),
    }
}

fn page(kind: &Kind, values: &[Value]) -> SeenPage {
    let body = json!({"items": values}).to_string().into_bytes();
    SeenPage {
        answer: HttpAnswer { status: 200, headers: Vec::new(), body },
        facts: PageFacts { count: values.len() as u64, ..PageFacts::default() },
        items: values.iter().map(|value| item(kind, value.clone())).collect(),
        problems: Vec::new(),
    }
}

/// A kind with these words, whose listing shows these values: first, and a moment later.
fn listed(words: &str, first: &[Value], later: &[Value]) -> Probed {
    let kind = kind(&format!("{{key: {{name: .name}}, list: {{request: GET /t, items: .items}}, {words}}}"));
    let listing = SeenListing {
        pages: vec![page(&kind, first)],
        again: Some(page(&kind, later)),
        whole: true,
        ..SeenListing::default()
    };
    judge(&kind, &Evidence { listings: vec![listing], objects: Vec::new() })
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.code).collect()
}

fn lines(probed: &Probed) -> Vec<&str> {
    probed.suggestions.iter().map(|one| one.line.as_str()).collect()
}

#[test]
fn words_are_held_against_values() {
    for (fields, value, want) in [
        ("t: set", json!({"t": "a"}), vec!["NotAList"]),
        ("t: set", json!({"t": ["a"]}), vec![]),
        ("t: set", json!({}), vec![]),
        ("t: set", json!({"t": null}), vec![]),
        ("t: open", json!({"t": {}}), vec!["NotAList"]),
        ("t: key=n", json!({"t": {"n": 1}}), vec!["NotAList"]),
        ("t: key=n", json!({"t": [{"n": 1}, {"m": 1}]}), vec!["ElementKey"]),
        ("t: key=n", json!({"t": [{"n": 1}, {"n": 1.0}]}), vec!["ElementKey"]),
        ("t: key=n", json!({"t": [{"n": 1}, {"n": 2}]}), vec![]),
        ("'l[*].t': key=n", json!({"l": [{"t": [{"n": 1}]}, {"t": [{"n": 1}]}]}), vec![]),
        ("t: duration", json!({"t": "soon"}), vec!["ComparerFails"]),
        ("t: duration", json!({"t": "1m30s"}), vec![]),
        ("t: ascii_downcase", json!({"t": 5}), vec!["ComparerFails"]),
        ("t: write-only", json!({"t": 5}), vec!["WriteOnlySeen"]),
        ("t: write-only", json!({}), vec![]),
    ] {
        let mut whole = value.clone();
        whole["name"] = json!("x");
        let probed = listed(&format!("fields: {{{fields}}}"), &[whole], &[]);
        assert_eq!(codes(&probed.contradictions), want, "{fields} {value}");
    }
}

#[test]
fn what_no_object_has_is_not_confirmed() {
    let probed = listed(
        "fields: {a: server-owned, b: [secret, 'mask=^x+$']}",
        &[json!({"name": "n", "b": "clear"})],
        &[],
    );
    assert_eq!(codes(&probed.unconfirmed), ["ServerOwnedUnseen", "MaskUnseen"]);
    assert!(probed.contradictions.is_empty());
    let nothing = listed("fields: {a: server-owned}", &[], &[]);
    assert!(nothing.unconfirmed.is_empty(), "of no object nothing is known");
}

#[test]
fn what_changes_by_itself_is_the_servers() {
    let before = json!({"name": "n", "load": 1, "x": {"hits": 1}, "nodes": [{"name": "a", "up": 1}]});
    let after = json!({"name": "n", "load": 2, "x": {"hits": 2}, "nodes": [{"name": "a", "up": 2}]});
    let probed = listed("fields: {load: ignore}", from_ref(&before), from_ref(&after));
    assert_eq!(lines(&probed), ["'nodes[*].up': server-owned", "x.hits: server-owned"]);
    let settled = "fields: {load: server-owned, x: server-owned, nodes: closed, 'nodes[*].up': copy}";
    assert_eq!(lines(&listed(settled, &[before], &[after])), [""; 0]);
}

#[test]
fn names_and_shapes_that_suggest_a_word() {
    let value = json!({
        "id": 7, "name": "n", "clientSecret": "s", "api_key": "k", "monkey": "m", "tokens": 5, "password": "",
        "auth": {"token": "t"}, "pin": "••••", "created_at": "2026-01-01T00:00:00Z", "createdBy": "me",
        "updateTime": 1_700_000_000, "time": "2026-01-01T00:00:00Z", "hooks": [{"id": 1}, {"id": 2}],
        "pairs": [{"name": "a"}, {"name": "a"}], "one": [{"name": "a"}],
    });
    let probed = listed("create: POST /t", from_ref(&value), &[]);
    assert_eq!(
        lines(&probed),
        [
            "api_key: secret",
            "auth.token: secret",
            "clientSecret: secret",
            "pin: [secret, 'mask=^•+$']",
            "id: server-owned",
            "created_at: server-owned",
            "updateTime: server-owned",
            "hooks: key=id",
        ]
    );
    let said = format!("{probed:?}");
    for secret in ["\"s\"", "\"k\"", "\"t\"", "••••", "2026"] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
}

#[test]
fn totals_and_versions_that_are_not_declared() {
    let kind =
        kind("{key: {name: .name}, list: {request: GET /t, items: .items, page: {by: page, size: 2}}}");
    let mut seen = page(&kind, &[json!({"name": "a", "revision": 3})]);
    seen.answer.body = br#"{"items": [], "meta": {"total": 9}}"#.to_vec();
    let listing = SeenListing { pages: vec![seen], whole: true, ..SeenListing::default() };
    let probed = judge(&kind, &Evidence { listings: vec![listing], objects: Vec::new() });
    assert_eq!(lines(&probed), ["page: {…, total: .meta.total}", "version: .revision"]);
}
