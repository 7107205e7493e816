//! Finalizers, idempotency keys and demanded preconditions as a client sees them.

use serde_json::{Value, json};

use super::tests::{MERGE, body, get, header, send, server};
use super::*;
use crate::server::store::Durability;

const APPLY: (&str, &str) = ("content-type", body::APPLY_PATCH);

#[tokio::test]
async fn a_delete_waits_for_the_finalizers() {
    let server = server();
    send(&server, "PUT /zones/a", &[], r#"{"n":1,"finalizers":["backup","dns"]}"#).await;
    let marked =
        json!({"id": "a", "revision": 2, "deletionRevision": 2, "n": 1, "finalizers": ["backup", "dns"]});
    let fewer = json!({"id": "a", "revision": 3, "deletionRevision": 2, "n": 1, "finalizers": ["dns"]});
    for (line, headers, sent, status, want) in [
        ("DELETE /zones/a", &[("if-match", "\"7\"")][..], "", 412, Value::Null),
        ("DELETE /zones/a", &[], "", 202, marked.clone()),
        ("DELETE /zones/a", &[], "", 202, marked.clone()),
        ("PUT /zones/a", &[], r#"{"n":2,"finalizers":["backup","dns"]}"#, 409, Value::Null),
        ("PUT /zones/a", &[], r#"{"n":1,"finalizers":["backup","dns","more"]}"#, 409, Value::Null),
        ("PUT /zones/a", &[], r#"{"n":1,"finalizers":["other"]}"#, 409, Value::Null),
        ("PATCH /zones/a", &[MERGE], r#"{"n":null}"#, 409, Value::Null),
        ("PATCH /zones/a", &[MERGE], r#"{"n":2,"finalizers":[]}"#, 409, Value::Null),
        ("PATCH /zones/a?fieldManager=x", &[APPLY], r#"{"m":1}"#, 409, Value::Null),
        ("PUT /zones/a/records/www", &[], "{}", 409, Value::Null),
        ("POST /zones/a/records", &[], "{}", 409, Value::Null),
        ("PATCH /zones/a", &[MERGE], r#"{"n":1}"#, 200, marked.clone()),
        ("PATCH /zones/a", &[MERGE], r#"{"finalizers":["dns"]}"#, 200, fewer.clone()),
        ("GET /zones/a", &[], "", 200, fewer.clone()),
        ("GET /zones", &[], "", 200, json!({"items": [fewer], "total": 1})),
        ("PUT /zones/a", &[], r#"{"n":1,"deletionRevision":9}"#, 204, Value::Null),
        ("GET /zones/a", &[], "", 404, Value::Null),
        ("PUT /zones/a", &[], r#"{"deletionRevision":9}"#, 201, json!({"id": "a", "revision": 4})),
    ] {
        let response = send(&server, line, headers, sent).await;
        let got = if response.body().is_empty() { Value::Null } else { body(&response) };
        assert_eq!(response.status().as_u16(), status, "{line} {sent}: {got}");
        if status < 300 {
            assert_eq!(got, want, "{line} {sent}");
        }
        if status == 409 {
            assert_eq!(got["type"], "urn:trueup:problem:being-deleted", "{line} {sent}");
        }
    }
}

#[tokio::test]
async fn finalizers_are_texts_and_none_delete_at_once() {
    let server = server();
    for sent in [r#"{"finalizers":"x"}"#, r#"{"finalizers":[1]}"#, r#"{"finalizers":[""]}"#] {
        for line in ["PUT /zones/a", "POST /zones"] {
            let refused = send(&server, line, &[], sent).await;
            assert_eq!(refused.status().as_u16(), 422, "{line} {sent}");
        }
    }
    for sent in ["{}", r#"{"finalizers":[]}"#, r#"{"finalizers":null}"#] {
        send(&server, "PUT /zones/a", &[], sent).await;
        assert_eq!(send(&server, "DELETE /zones/a", &[], "").await.status().as_u16(), 204, "{sent}");
    }
    send(&server, "PUT /zones/b", &[], r#"{"finalizers":["x"]}"#).await;
    send(&server, "PUT /zones/b/records/www", &[], "{}").await;
    let refused = send(&server, "DELETE /zones/b", &[], "").await;
    assert_eq!(body(&refused)["type"], "urn:trueup:problem:has-children", "what is below goes first");
}

#[tokio::test]
async fn a_status_goes_on_while_an_item_is_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open_with_status(folder.path(), Durability::NoSync, &["apps".to_owned()]);
    let server = Server::new(store.expect("a new store"));
    send(&server, "PUT /apps/a", &[], r#"{"finalizers":["x"]}"#).await;
    send(&server, "DELETE /apps/a", &[], "").await;
    let told = send(&server, "PUT /apps/a/status", &[], r#"{"status":"draining","finalizers":[]}"#).await;
    let want =
        json!({"id": "a", "revision": 3, "deletionRevision": 2, "finalizers": ["x"], "status": "draining"});
    assert_eq!(body(&told), want);
    let gone = send(&server, "PATCH /apps/a", &[MERGE], r#"{"finalizers":[]}"#).await;
    assert_eq!(gone.status().as_u16(), 204);
}

#[tokio::test]
async fn a_repeated_create_gets_the_first_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = || Server::new(Store::open(folder.path(), Durability::NoSync).expect("the store opens"));
    let server = open();
    let key = ("idempotency-key", "\"k-1\"");
    let first = send(&server, "POST /teams", &[key], r#"{"n":1,"m":2}"#).await;
    assert_eq!((first.status().as_u16(), header(&first, "idempotent-replayed")), (201, None));
    send(&server, "PATCH /teams/1", &[MERGE], r#"{"n":5}"#).await;
    drop(server);
    for gone in [false, true] {
        let server = open();
        if gone {
            send(&server, "DELETE /teams/1", &[], "").await;
        }
        let again = send(&server, "POST /teams", &[key], r#"{"m":2.0,"n":1}"#).await;
        assert_eq!((again.status(), again.body()), (first.status(), first.body()));
        assert_eq!(header(&again, "etag"), header(&first, "etag"));
        assert_eq!(header(&again, "location"), Some("/teams/1"));
        assert_eq!(header(&again, "idempotent-replayed"), Some("true"));
        assert!(again.extensions().get::<Accepted>().is_none(), "nothing was written");
        assert_eq!(get(&server, "/teams").await["total"], u64::from(!gone));
    }
}

#[tokio::test]
async fn a_key_is_of_one_payload_and_of_one_collection() {
    let server = server();
    let key = ("idempotency-key", "k");
    send(&server, "PUT /spaces/a", &[], "{}").await;
    for (line, headers, sent, status) in [
        ("POST /teams", &[key, ("if-match", "\"c7\"")][..], r#"{"n":1}"#, 412),
        ("POST /teams", &[key], r#"{"n":1}"#, 201),
        ("POST /teams", &[key], r#"{"n":2}"#, 422),
        ("POST /teams", &[key], r#"{"n":1,"m":1}"#, 422),
        ("POST /teams", &[key], "{}", 422),
        ("POST /teams?dryRun=true", &[key], r#"{"n":2}"#, 422),
        ("POST /teams?dryRun=true", &[("idempotency-key", "dry")], r#"{"n":2}"#, 201),
        ("POST /teams", &[("idempotency-key", "dry")], r#"{"n":3}"#, 201),
        ("POST /zones", &[key], r#"{"n":2}"#, 201),
        ("POST /spaces/a/teams", &[key], r#"{"n":2}"#, 201),
        ("POST /teams", &[("idempotency-key", "\"a")], "{}", 400),
        ("PUT /teams/x", &[key], r#"{"n":2}"#, 201),
    ] {
        let answer = send(&server, line, headers, sent).await;
        assert_eq!(answer.status().as_u16(), status, "{line} {sent}");
    }
    assert_eq!(get(&server, "/teams").await["total"], 3);
}

#[tokio::test]
async fn creates_with_one_key_at_once_make_one_item() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::new(Store::open(folder.path(), Durability::Sync).expect("a new store"));
    let key = [("idempotency-key", "k")];
    let posts = (0..8).map(|_| send(&server, "POST /teams", &key, r#"{"n":1}"#));
    let answers = futures_util::future::join_all(posts).await;
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status().as_u16()).collect();
    assert_eq!(
        statuses,
        [201, 409, 409, 409, 409, 409, 409, 409],
        "the others are told that the first one runs"
    );
    assert_eq!(body(&answers[1])["type"], "urn:trueup:problem:idempotency-key-in-use");
    let again = [("idempotency-key", "z")];
    let mut given_up = Box::pin(send(&server, "POST /teams", &again, "{}"));
    let _ = futures_util::poll!(&mut given_up);
    drop(given_up);
    let last = send(&server, "POST /teams", &again, "{}").await;
    assert_eq!(last.status().as_u16(), 201, "a client that went away does not keep the key");
    assert_eq!(get(&server, "/teams").await["total"], 2);
}

#[tokio::test]
async fn a_strict_server_takes_no_write_without_a_precondition() {
    let server = server().with_preconditions();
    let (one, star) = (("if-match", "\"1\""), ("if-none-match", "*"));
    for (line, headers, status) in [
        ("PUT /teams/a", &[][..], 428),
        ("PUT /teams/a", &[star], 201),
        ("PUT /teams/a", &[], 428),
        ("PATCH /teams/a", &[MERGE], 428),
        ("PATCH /teams/a?fieldManager=x", &[APPLY], 428),
        ("PATCH /teams/a?dryRun=true", &[MERGE], 428),
        ("DELETE /teams/a", &[], 428),
        ("PATCH /teams/a", &[MERGE, one], 200),
        ("POST /teams", &[], 201),
        ("DELETE /teams/a", &[one], 204),
    ] {
        let answer = send(&server, line, headers, "{}").await;
        assert_eq!(answer.status().as_u16(), status, "{line}");
        if status == 428 {
            assert_eq!(body(&answer)["type"], "urn:trueup:problem:precondition-required", "{line}");
        }
    }
}
