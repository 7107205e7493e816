//! Whatever a server or a file says, what reads it neither panics nor runs away: headers, answers, pages, manifests,
//! saved plans, paths and filters, from random bytes and from texts that were right before something happened to them.
//!
//! 20,000 inputs, and as many as `TRUEUP_INPUTS` says. One that panics is told as bytes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use trueup::backend::answer::{self, Asked};
use trueup::backend::base::Base;
use trueup::backend::listing::{self, Listed};
use trueup::backend::page::Pager;
use trueup::backend::refusal::{Context, retry_after};
use trueup::backend::request::Site;
use trueup::backend::wire::{HttpAnswer, Role};
use trueup::backend::{etag, language, link};
use trueup::core::exchange::{Collection, ParentIds, Target, Wanted};
use trueup::core::filter::Filter;
use trueup::core::identity::{Key, ObjectId};
use trueup::core::kind::Kind;
use trueup::core::path::Path;
use trueup::core::redact::Redactor;
use trueup::manifest;
use trueup::run::saved;

use crate::draw::Draw;

/// The inputs of an ordinary run of the tests.
const INPUTS: u64 = 20_000;

/// A byte string, and some numbers.
type Reader = fn(&[u8], &mut Draw);

/// What reads, and texts that are right.
const READERS: [(&str, Reader, &[&str]); 8] = [
    (
        "headers",
        headers,
        &[
            "<https://h/a?page=2>; rel=\"next\", </b>; rel=last; title=\"a, b; c\"",
            "Wed, 21 Oct 2099 07:28:00 GMT",
            "120",
            "99999999999999999999999999",
            "W/\"abc\"",
            "\"abc-gzip\"",
        ],
    ),
    ("a read's answer", read_answer, OBJECTS),
    ("a write's answer", write_answer, OBJECTS),
    (
        "a page",
        page,
        &[
            "{\"items\": [{\"name\": \"a\", \"id\": 1}, {\"name\": \"b\", \"id\": \"2\", \"x\": {\"y\": [1e3]}}], \"next\": \"c\", \"meta\": {\"total\": 3}}",
            "{\"items\": null, \"next\": null}",
            "{\"error\": {\"code\": 1, \"message\": \"no\"}, \"items\": []}",
            "[{\"name\": \"a\"}]",
        ],
    ),
    (
        "a manifest",
        manifest_text,
        &[
            "apiVersion: b\nkind: Thing\nmetadata: {name: a, labels: {x: y}}\nspec:\n  a: [1, 0x10, 1e3, ~]\n  b: &x {c: !secret env:N}\n  d: *x\n  e: |\n    text\n---\nkind: X\n",
            "{\"apiVersion\": \"b\", \"kind\": \"Thing\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\"n\": 1.0}}",
            "a: &a [1]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: {<<: {x: 1}, y: 'it''s'}\n",
            "spec: !ref Team/platform .id\n? complex\n: value\n",
        ],
    ),
    (
        "a backend",
        backend_text,
        &[
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec:\n  url: http://h/v1\n  kinds:\n    T:\n      key: {name: .name}\n      list: {request: 'GET /t?x={name}', items: '.a | map(.b)', page: {by: cursor, next: .n}}\n      read: GET /t/{id}\n      create: POST /t\n      update: {request: 'PATCH /t/{id}', send: merge}\n      version: etag\n      fields: {a: [secret, set], 'b[*].c': 'mask=^x+$'}\n",
        ],
    ),
    (
        "a saved plan",
        saved_plan,
        &[
            "{\"trueupPlan\":1,\"hash\":\"sha256:00\",\"plan\":{\"tool\":\"0.1.0\",\"made\":\"2026-01-01T00:00:00Z\",\"expires\":\"2026-01-02T00:00:00Z\",\"targets\":{},\"flags\":{\"labels\":[],\"only\":[],\"exclude\":[],\"replace\":[],\"rotate\":[]},\"documents\":[],\"backends\":[],\"objects\":[],\"seen\":0,\"requests\":[0,0,0]}}",
        ],
    ),
    (
        "paths and filters",
        small_languages,
        &[
            "spec.containers[name=web].image",
            "arguments[\"x.y\"][0][*]",
            ".items | map(select(.a == 1)) | .[0] // {b: [range(3)]}",
            "if .a then error(\"x\") else (.b | tostring) end",
        ],
    ),
];

const OBJECTS: &[&str] = &[
    "{\"name\": \"a\", \"id\": 7, \"rev\": 3, \"token\": \"secret\", \"tags\": [\"x\"]}",
    "{\"type\": \"about:blank\", \"title\": \"no\", \"status\": 422, \"detail\": \"x\", \"errors\": [{\"field\": \"a\", \"message\": \"b\"}]}",
    "{\"results\": [{\"status\": 201}, {\"status\": 422, \"message\": \"no\"}]}",
    "<!doctype html><title>Sign in</title>",
    "",
];

static KIND: LazyLock<Kind> = LazyLock::new(|| {
    let text = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: b}\nspec:\n  url: http://h/v1\n  kinds:\n    T:\n      \
         key: {name: .name}\n      list: {request: GET /t, items: .items, page: {by: cursor, next: .next}}\n      read: GET /t/{name}\n      \
         create: POST /t\n      update: PUT /t/{name}\n      delete: DELETE /t/{name}\n      version: etag\n      fields: {token: secret, tags: set}\n";
    let source = manifest::source("b.yaml", text.as_bytes()).expect("a text");
    let loaded = manifest::read(vec![source]);
    let (mut kinds, problems) = language::kinds(&loaded.backends[0]);
    assert!(problems.iter().all(|problem| problem.warning), "{problems:?}");
    kinds.remove(0)
});

static SITE: LazyLock<Site> = LazyLock::new(|| Site {
    base: Base::parse("http://h/v1").expect("a URL"),
    owner: "me".into(),
    credential: None,
});

/// Runs with what judges answers.
fn judged(run: impl FnOnce(&Context)) {
    let redactor = Redactor::new(["secret"]);
    let now = Duration::from_secs(1_800_000_000);
    run(&Context { site: &SITE, doing: "reading T a", now, redactor: &redactor });
}

fn headers(bytes: &[u8], _: &mut Draw) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(next) = link::next([&*text].into_iter()) {
        assert!(text.contains(next));
        let request = SITE.base.locate("/t").expect("a URL");
        if let Ok(url) = SITE.base.resolve(&request, next) {
            assert_eq!((url.scheme(), url.host_str(), url.port()), ("http", Some("h"), None), "{next}");
        }
    }
    if let Some(wait) = retry_after(&text, Duration::from_secs(1_800_000_000)) {
        assert!(wait <= Duration::from_secs(366 * 24 * 3600), "{wait:?}");
    }
    if let Some(token) = etag::token(&text) {
        assert!(!token.text.chars().any(char::is_control), "{text:?}");
    }
}

fn told(bytes: &[u8], draw: &mut Draw) -> HttpAnswer {
    let status = draw.one(&[200, 200, 200, 201, 202, 204, 207, 301, 404, 409, 410, 412, 422, 429, 500, 503]);
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    for name in ["etag", "link", "location", "operation-location", "retry-after", "x-total-count"] {
        if draw.chance(20) {
            let any = draw.bytes(20);
            headers.push((name.into(), String::from_utf8_lossy(&any).into_owned()));
        }
    }
    HttpAnswer { status, headers, body: bytes.to_vec() }
}

fn target() -> Target {
    let key = Key::new(vec![("name".into(), "a".into())]);
    Target::new(ObjectId { kind: KIND.name.clone(), key })
}

fn read_answer(bytes: &[u8], draw: &mut Draw) {
    let (told, target) = (told(bytes, draw), target());
    let url = SITE.base.locate("/t/a").expect("a URL");
    let op = KIND.read.op().expect("a read");
    judged(|context| {
        let asked = Asked { kind: &KIND, op, target: &target, url: &url };
        let said = format!("{:?}", answer::read(context, asked, &told, None));
        assert!(said.len() < 1 << 20);
        context.said(&told, &[]);
    });
}

fn write_answer(bytes: &[u8], draw: &mut Draw) {
    let (told, target) = (told(bytes, draw), target());
    let url = SITE.base.locate("/t/a").expect("a URL");
    let (role, op) = match draw.below(3) {
        0 => (Role::Create, &KIND.create),
        1 => (Role::Update, &KIND.update),
        _ => (Role::Delete, &KIND.delete),
    };
    judged(|context| {
        let asked = Asked { kind: &KIND, op: op.as_ref().expect("it has all"), target: &target, url: &url };
        answer::write(context, asked, role, &told);
        answer::check(context, asked, &told);
    });
}

fn page(bytes: &[u8], draw: &mut Draw) {
    let told = told(bytes, draw);
    let list = KIND.list.as_ref().expect("a listing");
    let url = SITE.base.locate("/t").expect("a URL");
    let collection =
        Collection { kind: KIND.name.clone(), scope: Key::new(Vec::new()), parent_ids: ParentIds::default() };
    let listed = Listed { kind: &KIND, list, collection: &collection };
    judged(|context| {
        let Ok(page) = listing::open(context, listed, &url, told) else { return };
        let _ = Pager::new(list.page.as_ref()).next(&page.facts);
        page.items(context, listed, &Wanted::All, None);
    });
}

fn manifest_text(bytes: &[u8], _: &mut Draw) {
    for name in ["m.yaml", "m.json"] {
        if let Ok(source) = manifest::source(name, bytes) {
            manifest::read(vec![source]);
        }
    }
}

fn backend_text(bytes: &[u8], _: &mut Draw) {
    let Ok(source) = manifest::source("b.yaml", bytes) else { return };
    let loaded = manifest::read(vec![source]);
    for raw in &loaded.backends {
        language::kinds(raw);
        language::check_connection(raw, std::path::Path::new(""));
    }
}

fn saved_plan(bytes: &[u8], _: &mut Draw) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(sealed) = saved::read(&text, "plan") {
        sealed.plan.report();
        drop(sealed.plan.loaded(true));
    }
}

fn small_languages(bytes: &[u8], draw: &mut Draw) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(path) = Path::parse(&text) {
        path.get(&draw.value(3));
    }
    if let Ok(filter) = Filter::parse(&text) {
        let _ = filter.one(&draw.value(3), &Default::default());
    }
}

/// A text with a few things done to it; sometimes bytes that never were one.
fn mutated(draw: &mut Draw, texts: &[&str]) -> Vec<u8> {
    const ODD: [&[u8]; 12] = [
        b"\0",
        b"\"",
        b"\\",
        b"{",
        b"[",
        b"]",
        b"\xff\xfe",
        b"\r\n",
        b"\xef\xbb\xbf",
        b"1e999",
        b"\\ud800",
        b"&*!%",
    ];
    if draw.chance(5) {
        return draw.bytes(200);
    }
    let mut bytes = draw.one(texts).as_bytes().to_vec();
    for _ in 0..draw.below(5) {
        let at = draw.below(bytes.len() + 1);
        let to = (at + draw.below(12)).min(bytes.len());
        match draw.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => drop(bytes.splice(at..at, draw.one(&ODD).iter().copied())),
            3 => {
                let piece = bytes[at..to].repeat(draw.one(&[1, 2, 300]));
                drop(bytes.splice(at..at, piece));
            }
            4 => {
                let other = draw.one(texts).as_bytes();
                let from = draw.below(other.len() + 1);
                drop(bytes.splice(at..at, other[from..].iter().copied()));
            }
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << draw.below(8)),
        }
    }
    bytes
}

#[test]
fn no_input_makes_a_reader_panic() {
    let inputs = std::env::var("TRUEUP_INPUTS").map_or(INPUTS, |text| text.parse().expect("a number"));
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let run = |case: u64| {
        let mut draw = Draw::new(case);
        let (name, read, texts) = READERS[(case % READERS.len() as u64) as usize];
        let bytes = mutated(&mut draw, texts);
        let told = catch_unwind(AssertUnwindSafe(|| read(&bytes, &mut draw)));
        assert!(told.is_ok(), "input {case}: {name}: {:?}", String::from_utf8_lossy(&bytes));
    };
    thread::scope(|scope| {
        for first in 0..threads {
            scope.spawn(move || (first..inputs).step_by(threads as usize).for_each(run));
        }
    });
}

/// Depth, aliases and length are bounded before anything is built of them.
#[test]
fn input_that_grows_is_refused() {
    let aliases: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
    for text in
        ["[".repeat(50_000), "{a: ".repeat(50_000), "- ".repeat(50_000), format!("a0: &a0 [x]\n{aliases}")]
    {
        let source: Arc<_> = manifest::source("m.yaml", text.as_bytes()).expect("a text");
        let loaded = manifest::read(vec![source]);
        assert!(loaded.problems.iter().any(|problem| !problem.warning), "{}", &text[..20]);
    }
    let mut draw = Draw::new(1);
    for body in
        ["[".repeat(100_000), "{\"items\":".repeat(50_000), format!("{{\"name\": {}1}}", "[".repeat(200))]
    {
        read_answer(body.as_bytes(), &mut draw);
        page(body.as_bytes(), &mut draw);
    }
}
