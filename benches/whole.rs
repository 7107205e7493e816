//! Whole-process figures, as ratios in one run: `cargo bench --bench whole`.
//!
//! Each figure of trueup stands beside the same work done with as little as possible: a client that only
//! fetches the same pages, a load generator that only sends the same creates. Everything is on loopback, and
//! stops by itself. `TRUEUP_BENCH_OBJECTS` scales it (10,000).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::StreamExt;

const PAGE: usize = 100;
const PARALLEL: usize = 16;
const RUNS: usize = 5;

fn main() {
    let objects: usize =
        std::env::var("TRUEUP_BENCH_OBJECTS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "{objects} objects of about 600 bytes, {PAGE} to a page, {PARALLEL} requests at once, median of {RUNS}"
    );

    let version = median(RUNS, || run(folder.path(), &["--version"]).time);
    println!("start-up (--version): {version:.1?}");

    let ours = Server::start(folder.path(), "ours");
    let manifests = write_manifests(folder.path(), &ours.url, objects);
    let files = manifests.to_str().expect("a path in UTF-8");
    creates(&runtime, folder.path(), &ours, files, objects);
    plan(&runtime, folder.path(), &ours, files, objects);
}

/// `apply` of so many creates, and the same creates by a load generator on a fresh server.
fn creates(runtime: &tokio::runtime::Runtime, folder: &Path, ours: &Server, files: &str, objects: usize) {
    let parallel = PARALLEL.to_string();
    let apply = ["apply", "-f", files, "--yes", "--parallel", &parallel, "--output", "json"];
    let first = run(folder, &apply);
    assert!(first.status, "apply failed: {}", first.stdout);
    let bare = Server::start(folder, "bare");
    let load = runtime.block_on(load(&bare.url, objects));
    println!("apply of {objects} creates: {:.2?}; the load generator: {load:.2?}", first.time);
    println!("  rate against the load generator: {:.2} (target: at least 0.8)", ratio(load, first.time));
    let second = run(folder, &apply);
    let writes = ours.writes(runtime);
    println!("  the second apply: {:.2?}, {} writes", second.time, writes - objects);
}

/// `plan` of unchanged objects, against `validate` and a client that only fetches the pages.
fn plan(runtime: &tokio::runtime::Runtime, folder: &Path, ours: &Server, files: &str, objects: usize) {
    let mut plans = Vec::new();
    let mut ratios = Vec::new();
    let mut peak = 0;
    for _ in 0..RUNS {
        let plan = run(folder, &["plan", "-f", files, "--output", "json"]);
        let validate = run(folder, &["validate", "-f", files]);
        let fetch = runtime.block_on(fetch(&ours.url));
        peak = peak.max(plan.peak_kib);
        ratios.push(ratio(plan.time.saturating_sub(validate.time), fetch));
        plans.push((plan.time, validate.time, fetch));
        assert!(plan.stdout.contains("\"in-sync\""), "the plan is not clean: {}", plan.stdout);
    }
    plans.sort();
    ratios.sort_by(f64::total_cmp);
    let (plan, validate, fetch) = plans[RUNS / 2];
    println!("plan of {objects} unchanged: {plan:.2?}; validate: {validate:.2?}; a bare client: {fetch:.2?}");
    println!("  (plan - validate) / bare client: {:.2} (target: at most 1.3)", ratios[RUNS / 2]);
    println!("  peak memory of plan: {} MiB (target: at most 150 MB)", peak / 1024);
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn median(runs: usize, mut f: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..runs).map(|_| f()).collect();
    times.sort();
    times[runs / 2]
}

/// One run of the binary.
struct Run {
    status: bool,
    stdout: String,
    time: Duration,
    /// The high-water mark of resident memory, as the kernel tells it while the process lives.
    peak_kib: u64,
}

fn run(folder: &Path, arguments: &[&str]) -> Run {
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || std::io::read_to_string(stdout).unwrap_or_default());
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    let status = loop {
        peak_kib = peak_kib.max(high_water(&status_file));
        if let Some(status) = child.try_wait().expect("the child is ours") {
            break status;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let time = began.elapsed();
    Run { status: status.success(), stdout: reader.join().unwrap_or_default(), time, peak_kib }
}

fn high_water(status_file: &str) -> u64 {
    let status = std::fs::read_to_string(status_file).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

/// The built-in server on a port of its own; ended when dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(folder: &Path, name: &str) -> Server {
        let store = folder.join(name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_trueup"))
            .args(["serve", "--listen", "127.0.0.1:0", "--no-sync", "--store"])
            .arg(&store)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("a line");
        let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("an address");
        Server { url: url.trim_end_matches('/').to_owned(), child }
    }

    /// The writes that the server has accepted: revisions add up to them when nothing was deleted.
    fn writes(&self, runtime: &tokio::runtime::Runtime) -> usize {
        runtime.block_on(async {
            let mut sum = 0;
            for page in pages(&self.url).await {
                let page: serde_json::Value = serde_json::from_slice(&page).expect("a page is JSON");
                let items = page["items"].as_array().into_iter().flatten();
                sum += items.filter_map(|item| item["revision"].as_u64()).sum::<u64>() as usize;
            }
            sum
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The pages of the collection, one after the other.
async fn pages(url: &str) -> Vec<Vec<u8>> {
    let client = client();
    let mut bodies = Vec::new();
    let mut next = Some(format!("{url}/widgets?limit={PAGE}"));
    while let Some(page) = next {
        let answer = client.get(&page).send().await.expect("a page");
        let link = answer.headers().get("link").and_then(|link| link.to_str().ok()).map(str::to_owned);
        bodies.push(answer.bytes().await.expect("a body").to_vec());
        next = link.and_then(|link| {
            let target = link.split_once('<')?.1.split_once('>')?.0.to_owned();
            Some(if target.starts_with('/') { format!("{url}{target}") } else { target })
        });
    }
    bodies
}

async fn fetch(url: &str) -> Duration {
    let began = Instant::now();
    let fetched = pages(url).await;
    assert!(!fetched.is_empty());
    began.elapsed()
}

async fn load(url: &str, objects: usize) -> Duration {
    let client = client();
    let began = Instant::now();
    futures_util::stream::iter(0..objects)
        .map(|i| {
            let put = client.put(format!("{url}/widgets/{}", name(i)));
            let put = put.header("if-none-match", "*").header("content-type", "application/json");
            put.body(body(i).to_string()).send()
        })
        .buffer_unordered(PARALLEL)
        .for_each(|answer| async move { assert!(answer.expect("an answer").status().is_success()) })
        .await;
    began.elapsed()
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().build().expect("a client")
}

fn name(i: usize) -> String {
    format!("widget-{i:06}")
}

/// About 600 bytes of JSON.
fn body(i: usize) -> serde_json::Value {
    serde_json::json!({
        "description": format!("Widget number {i}, made to measure how fast things are compared and written"),
        "enabled": !i.is_multiple_of(3),
        "replicas": i % 7,
        "labels": {"team": format!("team-{}", i % 50), "tier": "backend", "region": "eu-central-1"},
        "limits": {"cpu": "500m", "memory": "256Mi", "connections": 100 + i % 100, "timeout": "30s"},
        "hosts": [format!("w{i}.example.org"), format!("w{i}.internal.example.org")],
        "containers": [
            {"name": "app", "image": format!("registry.example.org/widgets/app:1.{}.0", i % 40), "port": 8080},
            {"name": "sidecar", "image": "registry.example.org/widgets/proxy:2.4.1", "port": 9090},
        ],
    })
}

fn write_manifests(folder: &Path, url: &str, objects: usize) -> PathBuf {
    let manifests = folder.join("manifests");
    std::fs::create_dir_all(&manifests).expect("a folder");
    let backend = format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: bench}}\nspec:\n  url: {url}\n  kinds:\n    Widget:\n      \
         key: {{name: .id}}\n      list: {{request: GET /widgets, items: .items, page: {{by: cursor, next: .next, size: {PAGE}}}}}\n      \
         read: GET /widgets/{{name}}\n      create: PUT /widgets/{{name}}\n      update: PATCH /widgets/{{name}}\n      \
         delete: DELETE /widgets/{{name}}\n      version: .revision\n"
    );
    std::fs::write(manifests.join("backend.yaml"), backend).expect("a file");
    for (file, chunk) in (0..objects).collect::<Vec<_>>().chunks(500).enumerate() {
        let documents: Vec<String> = chunk.iter().map(|&i| document(i)).collect();
        std::fs::write(manifests.join(format!("widgets-{file:03}.yaml")), documents.join("---\n"))
            .expect("a file");
    }
    manifests
}

/// A document in block style, as people write them.
fn document(i: usize) -> String {
    let mut text = format!("apiVersion: bench\nkind: Widget\nmetadata: {{name: {}}}\nspec:\n", name(i));
    block(&body(i), 2, &mut text);
    text
}

fn block(value: &serde_json::Value, indent: usize, out: &mut String) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match value {
            serde_json::Value::Object(_) => {
                out.push_str(&format!("{:indent$}{name}:\n", ""));
                block(value, indent + 2, out);
            }
            other => out.push_str(&format!("{:indent$}{name}: {other}\n", "")),
        }
    }
}
