use base64::Engine as _;
use http::Request;
use http_body_util::Full;
use ring::hmac;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::Instant;

use super::*;
use crate::core::filter::Filter;
use crate::core::secrets::Secrets;
use crate::core::watch::Desired;
use crate::render::watch::sample;

const HERE: &str = "127.0.0.1:4711";
const FAR: &str = "192.0.2.7:4711";

struct Watch {
    shown: Shown,
    face: Face,
    hints: Receiver<Hint>,
}

impl Watch {
    fn new(snapshot: Snapshot) -> Watch {
        let secrets = Secrets::default();
        secrets.learn([sample::CANARY]);
        let shown = Shown::new(Instant::now(), secrets);
        shown.publish(snapshot);
        let (sender, hints) = channel(16);
        Watch { face: Face::new(shown.clone(), Outbox::new(sender)), shown, hints }
    }

    fn with(mut self, change: impl FnOnce(Face) -> Face) -> Watch {
        self.face = change(self.face);
        self
    }

    /// `METHOD PATH`, from this machine, with these headers.
    async fn ask(&self, what: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask_from(HERE, what, headers, "").await
    }

    async fn ask_from(&self, peer: &str, what: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (method, path) = what.split_once(' ').expect("a method and a path");
        let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8081");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).expect("a request").into_parts();
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        self.face.answer(head, body, peer.parse().expect("an address")).await
    }

    fn heard(&mut self) -> Vec<About> {
        std::iter::from_fn(|| self.hints.try_recv().ok()).map(|hint| hint.about).collect()
    }
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body().to_vec()).expect("text")
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[tokio::test]
async fn status_is_json_for_programs_and_a_page_for_browsers() {
    let watch = Watch::new(sample::hostile());
    for accept in [None, Some("*/*"), Some("application/json")] {
        let headers: Vec<_> = accept.map(|accept| ("accept", accept)).into_iter().collect();
        let answer = watch.ask("GET /status", &headers).await;
        assert_eq!((answer.status(), header(&answer, "content-type")), (StatusCode::OK, "application/json"));
        sample::harmless(&text(&answer));
        let document = json::read(&text(&answer)).expect("a document");
        assert_eq!(document.objects.len(), 1);
    }
    let answer = watch
        .ask("GET /status?condition=Synced", &[("accept", "text/html,application/xml;q=0.9,*/*;q=0.8")])
        .await;
    assert_eq!(header(&answer, "content-type"), "text/html; charset=utf-8");
    sample::harmless(&text(&answer));
    assert!(text(&answer).contains("Look again now"), "this machine may tell");
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cache-control", "no-store"),
        ("vary", "accept"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(header(&answer, name), value);
    }
    let far = watch.ask_from(FAR, "GET /status", &[("accept", "text/html")], "").await;
    assert!(!text(&far).contains("Look again now"), "others may not");
    let root = watch.ask("GET /", &[]).await;
    assert_eq!((root.status(), header(&root, "location")), (StatusCode::SEE_OTHER, "status"));
}

#[tokio::test]
async fn metrics_are_those_of_the_snapshot_and_the_process() {
    let watch = Watch::new(sample::hostile());
    let answer = watch.ask("GET /metrics", &[("accept", "text/html")]).await;
    assert_eq!(header(&answer, "content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let metrics = text(&answer);
    sample::harmless(&metrics);
    openmetrics_parser::prometheus::parse_prometheus(&metrics).expect("a strict reader takes them");
    assert!(metrics.contains("\ntrueup_missed_events_total 4\n"), "{metrics}");
    assert!(!cfg!(target_os = "linux") || metrics.contains("\nprocess_resident_memory_bytes "), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn it_is_well_while_the_loop_goes_on() {
    let watch = Watch::new(Snapshot::default());
    assert_eq!(watch.ask("GET /healthz", &[]).await.status(), StatusCode::OK);
    tokio::time::advance(SILENCE - Duration::from_secs(1)).await;
    assert_eq!(watch.ask("GET /healthz", &[]).await.status(), StatusCode::OK);
    tokio::time::advance(Duration::from_secs(2)).await;
    let answer = watch.ask("GET /healthz", &[]).await;
    assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(text(&answer).contains("no sign of life for 61 seconds"), "{}", text(&answer));
    watch.shown.alive();
    assert_eq!(watch.ask("HEAD /healthz", &[]).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn it_is_ready_once_all_was_looked_at() {
    let loaded = |loads, failures| Desired { loads, failures, ..Desired::default() };
    let follower = crate::core::watch::Instance { role: Role::Follower, ..Default::default() };
    for (snapshot, want) in [
        (Snapshot::default(), "the files were not read yet"),
        (Snapshot { desired: loaded(0, 1), ..Snapshot::default() }, "the files are not valid"),
        (Snapshot { desired: loaded(1, 0), ..Snapshot::default() }, "not every object was looked at yet"),
        (Snapshot { desired: loaded(1, 0), seen_all: true, ..Snapshot::default() }, "ready"),
        // The last valid files hold.
        (Snapshot { desired: loaded(1, 5), seen_all: true, ..Snapshot::default() }, "ready"),
        (Snapshot { instance: follower, ..Snapshot::default() }, "ready"),
    ] {
        let answer = Watch::new(snapshot).ask("GET /readyz", &[]).await;
        assert_eq!((text(&answer).trim_end(), answer.status().is_success()), (want, want == "ready"));
    }
}

#[tokio::test]
async fn a_person_has_it_look_again() {
    let mut watch = Watch::new(sample::snapshot());
    let object = |kind, name| About::Object(sample::id(kind, name));
    for (query, want) in [
        ("", vec![About::All]),
        ("?backend=rabbitmq", vec![About::Target("rabbitmq".into())]),
        ("?kind=Policy", vec![object("Policy", "waiting"), object("Policy", "starting")]),
        ("?kind=Queue&name=%2F%2Forders", vec![object("Queue", "orders")]),
        ("?backend=rabbitmq&kind=Queue&name=//orders", vec![object("Queue", "orders")]),
    ] {
        let answer = watch.ask(&format!("POST /resync{query}"), &[]).await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED, "{query}");
        assert_eq!(watch.heard(), want, "{query}");
    }
    for (query, status) in [
        ("?kind=Queue&name=none", StatusCode::NOT_FOUND),
        ("?backend=none", StatusCode::NOT_FOUND),
        ("?name=//orders", StatusCode::BAD_REQUEST),
        ("?kin=Queue", StatusCode::BAD_REQUEST),
    ] {
        assert_eq!(watch.ask(&format!("POST /resync{query}"), &[]).await.status(), status, "{query}");
    }
    let browser =
        watch.ask("POST /resync", &[("accept", "text/html"), ("origin", "http://127.0.0.1:8081")]).await;
    assert_eq!((browser.status(), header(&browser, "location")), (StatusCode::SEE_OTHER, "status"));
    assert_eq!(watch.heard(), [About::All]);
    for (peer, headers) in [(FAR, &[][..]), (HERE, &[("origin", "https://evil.example")])] {
        assert_eq!(watch.ask_from(peer, "POST /resync", headers, "").await.status(), StatusCode::FORBIDDEN);
    }
    assert_eq!(watch.heard(), [], "who is refused is not heard");
    let mut standing_by = sample::snapshot();
    standing_by.instance.role = Role::Follower;
    let watch = Watch::new(standing_by);
    assert_eq!(watch.ask("POST /resync", &[]).await.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn of_very_many_objects_the_backend_is_hinted_at() {
    let mut snapshot = sample::well();
    let one = snapshot.status.objects[0].clone();
    snapshot.status.objects = (0..=MOST)
        .map(|at| crate::core::watch::ObjectStatus {
            id: sample::id("Queue", &format!("q{at}")),
            ..one.clone()
        })
        .collect();
    let mut watch = Watch::new(snapshot);
    watch.ask("POST /resync?kind=Queue", &[]).await;
    assert_eq!(watch.heard(), [About::Target("rabbitmq".into())]);
}

#[tokio::test]
async fn a_token_is_wanted_for_all_but_the_probes_and_webhooks() {
    let watch =
        Watch::new(sample::well()).with(|face| face.with_token("t0ken").with_hooks("k", Hooks::new()));
    for what in ["GET /status", "GET /metrics", "GET /", "POST /resync"] {
        for headers in [&[][..], &[("authorization", "Bearer other")]] {
            let answer = watch.ask(what, headers).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{what}");
            assert!(header(&answer, "www-authenticate").starts_with("Basic "), "{what}");
        }
        let answer = watch.ask_from(FAR, what, &[("authorization", "Bearer t0ken")], "").await;
        assert!(
            answer.status().is_success() || answer.status().is_redirection(),
            "{what}: {}",
            answer.status()
        );
    }
    for what in ["GET /healthz", "GET /readyz"] {
        assert_eq!(watch.ask_from(FAR, what, &[], "").await.status(), StatusCode::OK, "{what}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let watch = Watch::new(sample::well());
    for (what, status, allow) in [
        ("GET /nothing", StatusCode::NOT_FOUND, ""),
        ("GET /status/", StatusCode::NOT_FOUND, ""),
        ("GET /../etc/passwd", StatusCode::NOT_FOUND, ""),
        ("POST /status", StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD"),
        ("DELETE /healthz", StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD"),
        ("GET /resync", StatusCode::METHOD_NOT_ALLOWED, "POST"),
        ("GET /hook/shop", StatusCode::METHOD_NOT_ALLOWED, "POST"),
        ("POST /hook/shop", StatusCode::NOT_FOUND, ""),
    ] {
        let answer = watch.ask(what, &[]).await;
        assert_eq!((answer.status(), header(&answer, "allow")), (status, allow), "{what}");
        assert_eq!(header(&answer, "content-security-policy"), POLICY);
    }
    let rebound = watch.ask("GET /status", &[]).await;
    assert_eq!(rebound.status(), StatusCode::OK);
    let (head, ()) =
        Request::get("/status").header("host", "evil.example").body(()).expect("one").into_parts();
    let answer = watch.face.answer(head, Full::new(Bytes::new()), HERE.parse().expect("one")).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
}

/// What GitHub sends for a body.
fn signature(secret: &str, body: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
    let hex: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

fn hooks() -> Hooks {
    let find: super::super::hook::Finder =
        Arc::new(|name| name.as_str().filter(|name| *name == "orders").map(|name| sample::id("Queue", name)));
    let keyed = Hook::Keyed(vec![(Filter::parse(".name").expect("a filter"), find)]);
    [("shop".into(), Hook::Whole), ("rabbitmq".into(), keyed)].into()
}

async fn next(watch: &mut Watch) -> Hint {
    let heard = tokio::time::timeout(Duration::from_secs(10), watch.hints.recv()).await;
    heard.expect("it comes").expect("the face is there")
}

#[tokio::test]
async fn a_signed_webhook_is_a_hint() {
    let mut watch = Watch::new(sample::well()).with(|face| face.with_hooks("k", hooks()));
    let hint = |about| Hint { about, origin: Origin::Webhook, observed: None };
    for (backend, body, about) in [
        ("shop", "whatever", About::Target("shop".into())),
        (
            "rabbitmq",
            r#"{"name": "orders", "spec": {"durable": false}}"#,
            About::Object(sample::id("Queue", "orders")),
        ),
        ("rabbitmq", r#"{"name": "others"}"#, About::Target("rabbitmq".into())),
        ("rabbitmq", "no JSON", About::Target("rabbitmq".into())),
    ] {
        let signed = signature("k", body);
        // Whoever sends it again brings about another look.
        for _ in 0..2 {
            let what = format!("POST /hook/{backend}");
            let answer = watch.ask_from(FAR, &what, &[("x-hub-signature-256", &signed)], body).await;
            assert_eq!(answer.status(), StatusCode::ACCEPTED, "{body}");
            assert_eq!(next(&mut watch).await, hint(about.clone()), "{body}");
        }
    }
}

#[tokio::test]
async fn a_webhook_that_is_not_to_be_believed_is_refused() {
    let mut watch = Watch::new(sample::well()).with(|face| face.with_hooks("k", hooks()));
    let (good, large) = (signature("k", "{}"), " ".repeat(LARGEST + 1));
    let (fits, over) = (" ".repeat(LARGEST), signature("k", &large));
    let ago = |seconds: u64| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() - seconds;
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"k");
        let tag = hmac::sign(&key, format!("id.{now}.{{}}").as_bytes());
        (now.to_string(), format!("v1,{}", base64::engine::general_purpose::STANDARD.encode(tag.as_ref())))
    };
    let (fresh, old) = (ago(10), ago(310));
    let dated = |(time, signature): &(String, String)| {
        vec![
            ("webhook-id", "id".to_owned()),
            ("webhook-timestamp", time.clone()),
            ("webhook-signature", signature.clone()),
        ]
    };
    let hub = |signature: &str| vec![("x-hub-signature-256", signature.to_owned())];
    for (what, headers, body, status) in [
        ("unsigned", vec![], "{}", 401),
        ("of another secret", hub(&signature("other", "{}")), "{}", 401),
        ("of another body", hub(&good), "{ }", 401),
        ("old", dated(&old), "{}", 401),
        ("fresh", dated(&fresh), "{}", 202),
        ("too large", hub(&over), &large, 413),
        ("too large and unsigned", vec![], &large, 413),
        ("as large as may be", hub(&signature("k", &fits)), &fits, 202),
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = watch.ask_from(FAR, "POST /hook/shop", &headers, body).await;
        assert_eq!(answer.status(), status, "{what}: {}", text(&answer));
        if status == 202 {
            assert_eq!(next(&mut watch).await.about, About::Target("shop".into()), "{what}");
        }
        assert_eq!(watch.heard(), [], "{what}");
    }
    let answer = watch.ask_from(FAR, "POST /hook/none", &[("x-hub-signature-256", &good)], "{}").await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let answer = watch.ask_from(FAR, "POST /hook/none", &[], "{}").await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "who does not know the secret learns no names");
}

/// The files may name a backend that they did not name at the start.
#[tokio::test]
async fn a_webhook_for_a_backend_that_came_later() {
    let snapshot = sample::well();
    let name = snapshot.status.targets[0].name.clone();
    let mut watch = Watch::new(snapshot).with(|face| face.with_hooks("k", Hooks::new()));
    let signed = signature("k", "{}");
    let what = format!("POST /hook/{name}");
    let answer = watch.ask_from(FAR, &what, &[("x-hub-signature-256", &signed)], "{}").await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    watch.face.hook_by(Hooks::from([(name.clone(), Hook::Whole)]));
    let answer = watch.ask_from(FAR, &what, &[("x-hub-signature-256", &signed)], "{}").await;
    assert_eq!(answer.status(), StatusCode::ACCEPTED);
    assert_eq!(next(&mut watch).await.about, About::Target(name));
}

#[tokio::test]
async fn one_that_stands_by_takes_no_webhook() {
    let mut snapshot = sample::well();
    snapshot.instance.role = Role::Follower;
    let watch = Watch::new(snapshot).with(|face| face.with_hooks("k", hooks()));
    let signed = signature("k", "{}");
    let answer = watch.ask_from(FAR, "POST /hook/shop", &[("x-hub-signature-256", &signed)], "{}").await;
    assert_eq!((answer.status(), header(&answer, "retry-after")), (StatusCode::SERVICE_UNAVAILABLE, "1"));
}

#[tokio::test]
async fn a_flood_of_webhooks_does_not_grow() {
    let mut watch = Watch::new(sample::well()).with(|face| face.with_hooks("k", hooks()));
    let signed = signature("k", "{}");
    for _ in 0..2_000 {
        let answer =
            watch.ask_from(FAR, "POST /hook/rabbitmq", &[("x-hub-signature-256", &signed)], "{}").await;
        assert_eq!(answer.status(), StatusCode::ACCEPTED);
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let first = watch.heard();
    assert_eq!(first.len(), 16, "as many as there is room for");
    // The others are one.
    assert_eq!(next(&mut watch).await.about, About::Target("rabbitmq".into()));
}
