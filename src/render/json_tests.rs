use super::super::sample::{applied, plan};
use super::*;

#[test]
fn a_plan() {
    let mut report = plan();
    report.objects.remove(1);
    report.objects[0].changes.drain(1..4);
    report.objects.truncate(2);
    insta::assert_snapshot!(document(&report, Verb::Plan, false), @r#"
        {
          "schemaVersion": 1,
          "command": "plan",
          "summary": {
            "total": 2,
            "actions": {
              "none": 0,
              "create": 1,
              "update": 1,
              "replace": 0,
              "delete": 0
            },
            "results": {
              "in-sync": 0,
              "planned": 2,
              "done": 0,
              "refused": 0,
              "conflict": 0,
              "failed": 0,
              "unknown": 0,
              "not-effective": 0,
              "skipped": 0,
              "extra": 0
            },
            "seen": 1001,
            "requests": {
              "list": 5,
              "read": 1,
              "login": 0,
              "create": 0,
              "update": 0,
              "delete": 0,
              "total": 6
            },
            "interrupted": false,
            "notCompared": 0
          },
          "objects": [
            {
              "identity": {
                "backend": "rabbitmq",
                "kind": "Exchange",
                "key": {
                  "vhost": "/",
                  "name": "orders"
                }
              },
              "position": {
                "file": "manifests/exchange.yaml",
                "line": 14,
                "column": 1
              },
              "action": "update",
              "result": "planned",
              "wrote": false,
              "changes": [
                {
                  "path": "arguments.alternate-exchange",
                  "before": "old",
                  "after": "dead",
                  "reason": "declared",
                  "line": 16
                },
                {
                  "path": "probes[name=live].path",
                  "before": "/x",
                  "reason": "unset"
                },
                {
                  "path": "password",
                  "secret": true,
                  "reason": "declared"
                }
              ],
              "findings": [
                {
                  "code": "PossibleOverwrite",
                  "message": "the API offers no precondition",
                  "hint": "declare `version` if it has one"
                }
              ]
            },
            {
              "identity": {
                "backend": "rabbitmq",
                "kind": "Exchange",
                "key": {
                  "vhost": "/",
                  "name": "billing"
                }
              },
              "position": {
                "file": "manifests/exchange.yaml",
                "line": 31,
                "column": 1
              },
              "action": "create",
              "result": "planned",
              "wrote": false,
              "changes": [
                {
                  "path": "durable",
                  "after": true,
                  "reason": "declared",
                  "line": 16
                },
                {
                  "path": "teamId",
                  "later": "Team/platform .id",
                  "reason": "declared",
                  "line": 35
                }
              ],
              "findings": []
            }
          ]
        }
        "#);
}

#[test]
fn an_apply_as_lines() {
    insta::assert_snapshot!(lines(&applied(), Verb::Apply, false), @r#"
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Queue","key":{"vhost":"/","name":"a"}},"position":{"file":"manifests/queue.yaml","line":1,"column":1},"action":"create","result":"done","wrote":true,"changes":[],"findings":[]}
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Queue","key":{"vhost":"/","name":"b"}},"position":{"file":"manifests/queue.yaml","line":5,"column":1},"action":"update","result":"done","wrote":true,"changes":[],"findings":[]}
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Queue","key":{"vhost":"/","name":"slow"}},"position":{"file":"manifests/queue.yaml","line":9,"column":1},"action":"update","result":"not-effective","message":"sent 5, the server stores 6","wrote":true,"changes":[],"findings":[]}
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Exchange","key":{"vhost":"/","name":"c"}},"position":{"file":"manifests/exchange.yaml","line":1,"column":1},"action":"create","result":"failed","message":"creating it was answered 403","hint":"give the user the permission `configure`","wrote":false,"changes":[],"findings":[]}
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Binding","key":{"vhost":"/","name":"d"}},"position":{"file":"manifests/binding.yaml","line":1,"column":1},"action":"create","result":"skipped","message":"`Exchange //c` is not settled","wrote":false,"changes":[],"findings":[]}
        {"type":"object","identity":{"backend":"rabbitmq","kind":"Policy","key":{"vhost":"/","name":"e"}},"position":{"file":"manifests/policy.yaml","line":1,"column":1},"action":"none","result":"unknown","message":"the listing is not complete","wrote":false,"changes":[],"findings":[]}
        {"type":"summary","schemaVersion":1,"command":"apply","summary":{"total":7,"actions":{"none":2,"create":3,"update":2,"replace":0,"delete":0},"results":{"in-sync":1,"planned":0,"done":2,"refused":0,"conflict":0,"failed":1,"unknown":1,"not-effective":1,"skipped":1,"extra":0},"seen":5,"requests":{"list":4,"read":2,"login":0,"create":2,"update":2,"delete":0,"total":10},"interrupted":false,"notCompared":0}}
        "#);
}

#[test]
fn objects_in_sync_are_there_when_asked_for() {
    let count = |verbose| lines(&plan(), Verb::Plan, verbose).lines().count();
    assert_eq!((count(false), count(true)), (4 + 1, 1_001 + 1));
}

#[test]
fn numbers_keep_their_digits() {
    let mut report = plan();
    let digits: Value = serde_json::from_str("18446744073709551617.10").expect("a number");
    report.objects[0].changes[0].after = Some(Shown::Value(digits));
    assert!(document(&report, Verb::Plan, false).contains(r#""after": 18446744073709551617.10"#));
}
