//! A lease on etcd, by the backend that `deploy/` has: two instances beside a model of its JSON gateway.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::super::desired::{Read, Source};
use super::*;
use crate::api::client::{Client, Options, ReadWrite};
use crate::api::transport::{Transport, TransportError};
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::kind::Kind;
use crate::run::drive::Look;

type Keys = BTreeMap<String, (String, u64)>;

/// What etcd's gateway answers to `range` and `txn`: numbers as texts, and nothing where something is false or empty.
#[derive(Default)]
struct Gateway {
    /// By key: the value and its revision.
    keys: Mutex<(u64, Keys)>,
}

impl Gateway {
    fn answer(&self, url: &str, body: &Value) -> Value {
        let mut keys = self.keys.lock().expect("no test panics with it");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let (revision, keys) = &mut *keys;
        if url.ends_with("/v3/kv/range") {
            return range(*revision, keys.get(&text(&body["key"])));
        }
        assert!(url.ends_with("/v3/kv/txn"), "{url}");
        let compare = &body["compare"][0];
        let at = text(&compare["key"]);
        let have = keys.get(&at).map(|(_, revision)| *revision);
        let holds = match compare["target"].as_str() {
            Some("VERSION") => compare["version"] == "0" && have.is_none(),
            Some("MOD") => {
                have.is_some_and(|have| compare["mod_revision"].as_str() == Some(&*have.to_string()))
            }
            other => panic!("an unknown target: {other:?}"),
        };
        if !holds {
            let header = json!({"revision": revision.to_string()});
            return json!({"header": header, "responses": [{"response_range": range(*revision, keys.get(&at))}]});
        }
        *revision += 1;
        let put = &body["success"][0]["requestPut"];
        assert_eq!(put["key"], compare["key"]);
        keys.insert(at, (text(&put["value"]), *revision));
        let header = json!({"revision": revision.to_string()});
        json!({"header": header, "succeeded": true, "responses": [{"response_put": {"header": header}}]})
    }

    /// Whose the lease is, and the revision.
    fn lease(&self) -> (Value, u64) {
        let keys = self.keys.lock().expect("no test panics with it");
        let Some((value, revision)) = keys.1.values().next() else { return (Value::Null, 0) };
        let bytes = crate::core::filter::Filter::parse("@base64d").expect("a filter");
        let text = bytes.one(&json!(value), &Default::default()).expect("Base64").expect("a text");
        (serde_json::from_str(text.as_str().expect("a text")).expect("JSON"), *revision)
    }
}

fn range(revision: u64, found: Option<&(String, u64)>) -> Value {
    let header = json!({"revision": revision.to_string()});
    match found {
        None => json!({"header": header}),
        Some((value, at)) => json!({
            "header": header,
            "kvs": [{"value": value, "mod_revision": at.to_string(), "create_revision": "1", "version": "1"}],
            "count": "1",
        }),
    }
}

impl Transport for Gateway {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        let body = serde_json::from_slice(request.body.as_deref().unwrap_or(b"null")).expect("JSON");
        let body = self.answer(&request.url, &body).to_string().into_bytes();
        Box::pin(std::future::ready(Ok(HttpAnswer { status: 200, headers: Vec::new(), body })))
    }
}

/// One backend's client, for its one kind.
struct Way {
    client: Client<ReadWrite>,
    kind: Arc<Kind>,
}

impl Look for Way {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer> {
        Box::pin(self.client.ask(&self.kind, ask))
    }
}

impl Act for Way {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer> {
        Box::pin(self.client.write(&self.kind, write))
    }
}

/// The example of the documentation, with a document of its own kind so that there is something to watch.
fn example() -> Read {
    let example =
        include_str!("../../../deploy/etcd/backend.yaml").replace("!env ETCD_URL", "http://127.0.0.1:2379");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("etcd.yaml");
    let document = "---\napiVersion: etcd\nkind: Lease\nmetadata: {name: other}\nspec: {holder: nobody}\n";
    std::fs::write(&file, format!("{example}{document}")).expect("a file");
    let source = Source { files: vec![file], lease: Some("Lease/trueup".into()), ..Source::default() };
    source.load_once().read.unwrap_or_else(|why| panic!("{}", why.problems[0].message))
}

fn instance(gateway: &Arc<Gateway>, read: &Read, seed: u64) -> Lead {
    let client = Client::read_write(&read.connections[0], Options::default(), gateway.clone());
    let lease = read.lease.clone().expect("it was asked for");
    let way = Way { client: client.expect("a client"), kind: lease.kind.clone() };
    let sharing = Sharing { duration: Duration::from_secs(1), shards: None };
    Lead::start(&sharing, lease, Arc::new(way), "host/1", seed)
}

async fn leads(lead: &Lead) {
    let share = lead.share();
    let comes = async {
        while share.role() != Role::Leader {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), comes).await.expect("it comes to lead");
}

#[tokio::test]
async fn two_instances_take_turns_on_etcd() {
    let (gateway, read) = (Arc::<Gateway>::default(), example());
    let first = instance(&gateway, &read, 1);
    leads(&first).await;
    let second = instance(&gateway, &read, 2);
    let (lease, revision) = gateway.lease();
    assert_eq!((&lease["holder"], &lease["name"]), (&json!("host/1/0000000000000001"), &json!("trueup")));
    assert_eq!(lease.get("revision"), None, "what is the server's is not stored");
    let renewed = async {
        while gateway.lease().1 < revision + 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(20), renewed).await.expect("it is renewed");
    assert_eq!((first.share().role(), second.share().role()), (Role::Leader, Role::Follower));
    assert_eq!(second.share().holder(), "host/1/0000000000000001");
    // It dies.
    first.task.abort();
    leads(&second).await;
    assert_eq!(first.share().role(), Role::Follower, "it knows that its time is over");
    assert_eq!(gateway.lease().0["transitions"], json!(1));
    second.leave().await;
    assert_eq!(gateway.lease().0["holder"], json!(""));
}

/// One that is held up may have no lease for a moment, and have it again before it looked: what was left alone in that
/// moment must not wait for a resync.
#[tokio::test]
async fn a_lease_that_is_lost_and_held_again_between_two_looks_is_told() {
    let (gateway, read) = (Arc::<Gateway>::default(), example());
    let lead = instance(&gateway, &read, 1);
    leads(&lead).await;
    let quiet = async { while timeout(Duration::from_millis(300), lead.turned()).await.is_ok() {} };
    timeout(Duration::from_secs(20), quiet).await.expect("nothing turns any more");
    std::thread::sleep(Duration::from_millis(900));
    assert!(!lead.share().has(&read.desired.subjects[0].id), "its time is over");
    timeout(Duration::from_secs(20), lead.turned()).await.expect("it is told");
    leads(&lead).await;
    lead.leave().await;
}
