use http::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;
use crate::core::identity::KindName;

const NOW: Duration = Duration::from_secs(1_796_126_400);

fn headers(pairs: &[(&'static str, String)]) -> HeaderMap {
    let value = |text: &str| HeaderValue::from_str(text).expect("a header");
    pairs.iter().map(|(name, text)| (HeaderName::from_static(name), value(text))).collect()
}

fn sign(secret: &[u8], signed: &[u8]) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed).as_ref().to_vec()
}

fn hexed(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Headers as Standard Webhooks have them.
fn standard(secret: &[u8], time: u64, body: &[u8]) -> HeaderMap {
    let signed = [format!("msg_1.{time}.").as_bytes(), body].concat();
    headers(&[
        ("webhook-id", "msg_1".into()),
        ("webhook-timestamp", time.to_string()),
        ("webhook-signature", format!("v1,{}", STANDARD.encode(sign(secret, &signed)))),
    ])
}

fn believed(secret: &str, headers: &HeaderMap, body: &[u8]) -> Result<(), Disbelieved> {
    Secret::new(secret).check(&Claim::of(headers, NOW)?, body)
}

/// The example of GitHub's own documentation.
#[test]
fn a_signature_of_github_is_known() {
    let secret = "It's a Secret to Everybody";
    let signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17".to_owned();
    let headers = headers(&[("x-hub-signature-256", signature)]);
    assert_eq!(believed(secret, &headers, b"Hello, World!"), Ok(()));
    assert_eq!(believed(secret, &headers, b"Hello, World?"), Err(Disbelieved::Wrong));
    assert_eq!(believed("another", &headers, b"Hello, World!"), Err(Disbelieved::Wrong));
}

/// The example of the specification of Standard Webhooks, whose time is in the past.
#[test]
fn a_standard_signature_is_known() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let body = br#"{"test": 2432232314}"#;
    let pairs = [
        ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()),
        ("webhook-timestamp", "1614265330".to_owned()),
        ("webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned()),
    ];
    let claim = Claim::of(&headers(&pairs), Duration::from_secs(1_614_265_330)).expect("it is fresh");
    assert_eq!(Secret::new(secret).check(&claim, body), Ok(()));
    assert_eq!(Claim::of(&headers(&pairs), NOW), Err(Disbelieved::Old));
}

#[test]
fn a_signature_with_a_time_holds_for_five_minutes() {
    let now = NOW.as_secs();
    for (time, want) in [
        (now, Ok(())),
        (now - 300, Ok(())),
        (now + 300, Ok(())),
        (now - 301, Err(Disbelieved::Old)),
        (now + 301, Err(Disbelieved::Old)),
        (0, Err(Disbelieved::Old)),
        (u64::MAX, Err(Disbelieved::Old)),
    ] {
        assert_eq!(believed("k", &standard(b"k", time, b"{}"), b"{}"), want, "{time}");
    }
    // The time is part of what is signed.
    let mut moved = standard(b"k", now - 400, b"{}");
    moved.insert("webhook-timestamp", HeaderValue::from(now));
    assert_eq!(believed("k", &moved, b"{}"), Err(Disbelieved::Wrong));
}

#[test]
fn what_is_not_signed_well_is_not_believed() {
    let good = standard(b"k", NOW.as_secs(), b"{}");
    let without = |name: &str| {
        let mut headers = good.clone();
        headers.remove(name);
        believed("k", &headers, b"{}")
    };
    assert_eq!(believed("k", &HeaderMap::new(), b"{}"), Err(Disbelieved::Unsigned));
    for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
        assert_eq!(without(name), Err(Disbelieved::Unsigned), "{name}");
    }
    for signature in ["", "v1,", "v1", "v2,AAAA", "AAAA", "v1,~~~~"] {
        let mut headers = good.clone();
        headers.insert("webhook-signature", HeaderValue::from_static(signature));
        assert_eq!(believed("k", &headers, b"{}"), Err(Disbelieved::Wrong), "{signature}");
    }
    let right = hexed(&sign(b"k", b"{}"));
    for signature in [
        right.clone(),
        "sha256=".into(),
        format!("sha256={}", &right[..62]),
        format!("sha1={right}"),
        "sha256=é".into(),
        "sha256=abc".into(),
    ] {
        let found = believed("k", &headers(&[("x-hub-signature-256", signature.clone())]), b"{}");
        assert!(found.is_err(), "{signature}");
    }
    // Of several signatures one is enough: a secret is being changed.
    let mut both = good.clone();
    let text = format!("v1,AAAA {}", good["webhook-signature"].to_str().expect("text"));
    both.insert("webhook-signature", HeaderValue::from_str(&text).expect("a header"));
    assert_eq!(believed("k", &both, b"{}"), Ok(()));
}

fn id(name: &str) -> ObjectId {
    let kind = KindName { backend: "shop".into(), kind: "Item".into() };
    ObjectId { kind, key: Key::new(vec![("name".into(), name.into())]) }
}

#[test]
fn a_body_is_a_hint_and_nothing_more() {
    let known: Finder = Arc::new(|name| name.as_str().filter(|name| name.starts_with('a')).map(id));
    let keyed = Hook::Keyed(vec![(Filter::parse(".items[].name").expect("a filter"), known)]);
    let shop: Arc<str> = "shop".into();
    let about = |hook: &Hook, body: &str| -> Vec<About> {
        let hints = hook.hints(&shop, body.as_bytes());
        assert!(hints.iter().all(|hint| hint.origin == Origin::Webhook && hint.observed.is_none()), "{body}");
        hints.into_iter().map(|hint| hint.about).collect()
    };
    let whole = vec![About::Target(shop.clone())];
    assert_eq!(about(&Hook::Whole, "anything"), whole);
    let body =
        json!({"items": [{"name": "a1"}, {"name": "unknown"}, {"name": "a2"}, {"name": 7}]}).to_string();
    assert_eq!(about(&keyed, &body), [About::Object(id("a1")), About::Object(id("a2"))]);
    for odd in ["", "[", "7", "{}", r#"{"items": []}"#, r#"{"items": [{"name": "x"}]}"#, "\u{0}"] {
        assert_eq!(about(&keyed, odd), whole, "{odd}");
    }
    let many: Vec<_> = (0..=MOST).map(|at| json!({"name": format!("a{at}")})).collect();
    assert_eq!(about(&keyed, &json!({ "items": many }).to_string()), whole, "too many to name");
    let bomb = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(about(&keyed, &bomb), whole);
}
