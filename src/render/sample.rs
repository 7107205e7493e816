//! Reports made by hand, for the tests of the renderers.

use std::sync::Arc;

use serde_json::json;

use crate::core::census::Census;
use crate::core::change::{Change, Reason, Shown};
use crate::core::fields::Immutable;
use crate::core::identity::{Key, KindName, ObjectId};
use crate::core::node::{Origin, Pos};
use crate::core::path::Path;
use crate::core::report::{Action, Entry, Explanation, Finding, Outcome, Report, Requests};
use crate::core::value::Value;

/// An object of backend `rabbitmq`, its key as `vhost` and `name`.
pub fn id(kind: &str, vhost: &str, name: &str) -> ObjectId {
    let part = |name: &str, value: &str| (Arc::from(name), json!(value));
    let key = Key::new(vec![part("vhost", vhost), part("name", name)]);
    ObjectId { kind: KindName { backend: "rabbitmq".into(), kind: kind.into() }, key }
}

/// An object of vhost `/` with no changes yet, from a line of a file.
pub fn entry(kind: &str, name: &str, line: u32, action: Action, result: Outcome) -> Entry {
    let file = format!("manifests/{}.yaml", kind.to_lowercase());
    let origin = Some(Origin { file: file.into(), at: Pos { line, column: 1 } });
    let wrote = result == Outcome::Done;
    Entry {
        id: id(kind, "/", name),
        origin,
        action,
        result,
        changes: vec![],
        since: None,
        conflicts: vec![],
        findings: vec![],
        accepted: vec![],
        wrote,
        observed: Default::default(),
    }
}

/// A change from one value to another; `Null` in place of a side that is not there is up to the caller.
pub fn change(path: &str, before: Option<Value>, after: Option<Value>, reason: Reason) -> Change {
    let path = Path::parse(path).expect("a path");
    let at = after.as_ref().map(|_| Pos { line: 16, column: 7 });
    Change {
        path,
        before: before.map(Shown::Value),
        after: after.map(Shown::Value),
        reason,
        at,
        set_by: Vec::new(),
        since: None,
    }
}

/// A plan with something of everything.
pub fn plan() -> Report {
    let mut exchange = entry("Exchange", "orders", 14, Action::Update, Outcome::Planned);
    exchange.changes = vec![
        change(
            r#"arguments["alternate-exchange"]"#,
            Some(json!("old")),
            Some(json!("dead")),
            Reason::Declared,
        ),
        change(r#"arguments["x-delay"]"#, Some(json!(60000)), None, Reason::Closed),
        change("auto_delete", None, Some(json!(false)), Reason::Declared),
        change("tags", Some(json!(["b", "a"])), Some(json!(["a", "b"])), Reason::Reordered),
        change("probes[name=live].path", Some(json!("/x")), None, Reason::Unset),
    ];
    exchange.changes.push(Change {
        path: Path::parse("password").expect("a path"),
        before: Some(Shown::Value(json!("old-clear-text"))),
        after: Some(Shown::Secret),
        reason: Reason::Declared,
        at: None,
        set_by: Vec::new(),
        since: None,
    });
    exchange.findings = vec![Finding {
        code: "PossibleOverwrite",
        message: "the API offers no precondition".into(),
        hint: Some("declare `version` if it has one".into()),
    }];
    let refusal = Explanation::new("replacing it loses its messages").hint("--replace Queue///orders");
    let mut queue = entry("Queue", "orders", 3, Action::Replace, Outcome::Refused(refusal));
    queue.changes =
        vec![change("durable", Some(json!(false)), Some(json!(true)), Reason::Immutable(Immutable::Replace))];
    let mut created = entry("Exchange", "billing", 31, Action::Create, Outcome::Planned);
    created.changes = vec![change("durable", None, Some(json!(true)), Reason::Declared)];
    created.changes.push(Change {
        path: Path::parse("teamId").expect("a path"),
        before: None,
        after: Some(Shown::Later("Team/platform .id".into())),
        reason: Reason::Declared,
        at: Some(Pos { line: 35, column: 11 }),
        set_by: Vec::new(),
        since: None,
    });
    let both = Explanation::new(r#"`pattern` is "^ha-" at the base, "^ha\." here, "^h" there"#);
    let policy = entry("Policy", "ha", 2, Action::Update, Outcome::Conflict(both));
    let same = (0..997).map(|i| entry("Binding", &format!("b{i}"), i + 1, Action::None, Outcome::InSync));
    let objects = [exchange, queue, created, policy].into_iter().chain(same).collect();
    let requests = Requests { list: 5, read: 1, ..Requests::default() };
    Report { objects, requests, seen: Census::of(1_001), ..Report::default() }
}

/// An apply with every outcome.
pub fn applied() -> Report {
    let why = |message: &str| Explanation::new(message);
    let mut wrote =
        entry("Queue", "slow", 9, Action::Update, Outcome::NotEffective(why("sent 5, the server stores 6")));
    wrote.wrote = true;
    let failure = why("creating it was answered 403").hint("give the user the permission `configure`");
    let objects = vec![
        entry("Queue", "a", 1, Action::Create, Outcome::Done),
        entry("Queue", "b", 5, Action::Update, Outcome::Done),
        wrote,
        entry("Exchange", "c", 1, Action::Create, Outcome::Failed(failure)),
        entry("Binding", "d", 1, Action::Create, Outcome::Skipped(why("`Exchange //c` is not settled"))),
        entry("Policy", "e", 1, Action::None, Outcome::Unknown(why("the listing is not complete"))),
        entry("Policy", "f", 7, Action::None, Outcome::InSync),
    ];
    let requests = Requests { list: 4, read: 2, create: 2, update: 2, ..Requests::default() };
    Report { objects, requests, seen: Census::of(5), ..Report::default() }
}
