//! Whole-process figures, as ratios in one run: `cargo bench --bench whole`.
//!
//! Each figure of trueup stands beside the same work done with as little as possible: a client that only
//! fetches the same pages, a load generator that only sends the same requests. Everything is on loopback, and
//! ends by itself. `TRUEUP_BENCH_OBJECTS` scales it (10,000).

mod support;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::Value;
use support::objects::{PAGE, body, manifests, name};
use support::process::{Run, Server, run};
use support::{RUNS, median, middle, ratio, verdict};
use tokio::runtime::Runtime;

const PARALLEL: usize = 16;

fn main() {
    let bench = Bench::new(support::number("TRUEUP_BENCH_OBJECTS", 10_000));
    println!("{} objects of about 600 bytes, {PAGE} to a page; medians of {RUNS} runs", bench.objects);
    bench.start_up();
    bench.creates();
    bench.plan();
    bench.references(10 * bench.objects);
}

/// A server, and documents of objects that are to be on it.
struct Bench {
    runtime: Runtime,
    folder: tempfile::TempDir,
    server: Server,
    files: PathBuf,
    objects: usize,
}

impl Bench {
    fn new(objects: usize) -> Bench {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let server = Server::start(folder.path(), "ours");
        let files = manifests(folder.path(), &server.url, objects, &|_| String::new());
        Bench { runtime: Runtime::new().expect("a runtime"), folder, server, files, objects }
    }

    /// Runs a verb on the documents; it must succeed.
    fn verb(&self, verb: &[&str], files: &Path) -> Run {
        let files = files.to_str().expect("a path in UTF-8");
        let done = run(self.folder.path(), &[verb, &["-f", files]].concat());
        assert!(done.success, "{verb:?} failed: {}", done.stdout);
        done
    }

    fn start_up(&self) {
        let time = median(|| run(self.folder.path(), &["--version"]).time);
        println!(
            "--version: {time:.1?} (target: under 10 ms, {})",
            verdict(time < Duration::from_millis(10))
        );
        let one = manifests(self.folder.path(), &self.server.url, 1, &|_| String::new());
        let time = median(|| self.verb(&["plan"], &one).time);
        let met = verdict(time < Duration::from_millis(30));
        println!("plan of one object: {time:.1?} (target: under 30 ms, {met})");
    }

    /// `apply` of so many creates, and the same requests by a load generator on a fresh server.
    fn creates(&self) {
        let parallel = PARALLEL.to_string();
        let apply = ["apply", "--yes", "--output", "json", "--parallel", &parallel];
        let (mut times, mut first) = (Vec::new(), None);
        for at in 0..RUNS {
            let validate = self.verb(&["validate"], &self.files).time;
            let server = Server::start(self.folder.path(), &format!("bare-{at}"));
            let load = self.runtime.block_on(load(&server.url, self.objects));
            // The first run is on the server that the plans are made against.
            let apply = match at {
                0 => self.verb(&apply, &self.files),
                _ => {
                    let server = Server::start(self.folder.path(), &format!("fresh-{at}"));
                    let folder = self.folder.path().join(format!("fresh-{at}-files"));
                    let files = manifests(&folder, &server.url, self.objects, &|_| String::new());
                    self.verb(&apply, &files)
                }
            };
            times.push((ratio(load, apply.time), ratio(load, apply.time - validate), apply.time, load));
            first.get_or_insert(apply);
        }
        let (whole, without_load, apply_time, load) = middle(times);
        let requests = summary(&first.expect("there was a run"))["requests"].clone();
        println!(
            "apply of {} creates, {PARALLEL} requests at once: {apply_time:.2?}, {requests}",
            self.objects
        );
        println!("  the load generator, with the same requests: {load:.2?}");
        let met = verdict(whole >= 0.8);
        println!(
            "  rate against it: {whole:.2} (target: at least 0.8, {met}); without reading files: {without_load:.2}"
        );
        let second = self.verb(&apply, &self.files);
        let requests = &summary(&second)["requests"];
        let writes = ["create", "update", "delete"].map(|role| requests[role].as_u64().expect("a count"));
        let writes: u64 = writes.iter().sum();
        println!(
            "  the second apply: {:.2?}, {writes} writes (target: 0, {})",
            second.time,
            verdict(writes == 0)
        );
    }

    /// `plan` of unchanged objects, against `validate` and a client that only fetches the pages.
    fn plan(&self) {
        let told = summary(&self.verb(&["plan", "--output", "json"], &self.files));
        assert_eq!(told["results"]["in-sync"], self.objects, "the plan is not clean: {told}");
        let requests = told["requests"]["total"].as_u64().expect("a count");
        let most = self.objects as u64 * 110 / 10_000;
        let parse = median(|| self.runtime.block_on(fetch(&self.server.url, self.objects, true)));
        let mut runs = Vec::new();
        let mut peak = 0;
        for _ in 0..RUNS {
            let fetch = self.runtime.block_on(fetch(&self.server.url, self.objects, false));
            let validate = self.verb(&["validate"], &self.files).time;
            let plan = self.verb(&["plan"], &self.files);
            peak = peak.max(plan.peak_kib);
            runs.push((ratio(plan.time.saturating_sub(validate), fetch), plan.time, validate, fetch));
        }
        let (times, plan, validate, fetch) = middle(runs);
        println!(
            "plan of {} unchanged: {plan:.0?}; validate: {validate:.0?}; a bare client: {fetch:.0?}",
            self.objects
        );
        println!("  requests: {requests} (target: at most {most}, {})", verdict(requests <= most));
        println!(
            "  (plan - validate) / bare client: {times:.2} (target: at most 1.3, {})",
            verdict(times <= 1.3)
        );
        let again = ratio(plan.saturating_sub(validate), parse);
        println!("  against a client that parses the pages too ({parse:.0?}): {again:.2}");
        let megabytes = peak * 1024 / 1_000_000;
        println!("  most memory: {megabytes} MB (target: at most 150 MB, {})", verdict(megabytes <= 150));
    }

    /// `validate` of documents with two references each.
    fn references(&self, objects: usize) {
        let references = |i: usize| match i {
            0 | 1 => String::new(),
            _ => {
                format!("  one: !ref Widget/{} .id\n  other: !ref Widget/{} .id\n", name(i - 1), name(i / 2))
            }
        };
        let files = manifests(self.folder.path(), &self.server.url, objects, &references);
        let done = self.verb(&["validate"], &files);
        let peak = done.peak_kib / 1024;
        println!("validate of {objects} documents with two references each: {:.2?}", done.time);
        println!("  most memory: {peak} MiB (target: under 500 MiB, {})", verdict(peak < 500));
    }
}

fn summary(run: &Run) -> Value {
    let report: Value = serde_json::from_str(&run.stdout).expect("the report is JSON");
    report["summary"].clone()
}

/// The time of fetching so many objects, and perhaps of making JSON trees of them, page by page.
async fn fetch(url: &str, objects: usize, parse: bool) -> Duration {
    let began = Instant::now();
    let mut trees: Vec<Value> = Vec::new();
    let mut take = |body: &[u8]| {
        trees.extend(parse.then(|| serde_json::from_slice(body).expect("a page is JSON")));
    };
    let fetched = pages(&client(), url, &mut take).await;
    let time = began.elapsed();
    assert_eq!(fetched, objects.div_ceil(PAGE));
    time
}

/// Fetches the pages of the collection, one after the other, as the `Link` header says; how many they were.
async fn pages(client: &reqwest::Client, url: &str, take: &mut dyn FnMut(&[u8])) -> usize {
    let mut count = 0;
    let mut next = Some(format!("{url}/widgets?limit={PAGE}"));
    while let Some(page) = next {
        let answer = client.get(&page).send().await.expect("a page");
        assert!(answer.status().is_success());
        let link = answer.headers().get("link").and_then(|link| link.to_str().ok()).map(str::to_owned);
        take(&answer.bytes().await.expect("a body"));
        count += 1;
        next = link.and_then(|link| Some(format!("{url}{}", link.split_once('<')?.1.split_once('>')?.0)));
    }
    count
}

/// A listing of nothing, the creates, and a listing of all: the requests of an `apply`.
async fn load(url: &str, objects: usize) -> Duration {
    let client = client();
    let began = Instant::now();
    pages(&client, url, &mut |_| {}).await;
    futures_util::stream::iter(0..objects)
        .map(|i| {
            let put = client.put(format!("{url}/widgets/{}", name(i)));
            let put = put.header("if-none-match", "*").header("content-type", "application/json");
            put.body(body(i).to_string()).send()
        })
        .buffer_unordered(PARALLEL)
        .for_each(|answer| async move {
            let answer = answer.expect("an answer");
            assert!(answer.status().is_success());
            answer.bytes().await.expect("a body");
        })
        .await;
    pages(&client, url, &mut |_| {}).await;
    began.elapsed()
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    // As in the client under test: no certificates are read where none is checked.
    reqwest::Client::builder().tls_certs_only(std::iter::empty()).build().expect("a client")
}
