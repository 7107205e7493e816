//! What a steady poll costs: `cargo bench --bench polls`. `TRUEUP_BENCH_OBJECTS` scales it (10,000).
//!
//! The processor time of this process alone; the server is another. With ETags nothing is sent but 304, without them
//! every page is digested, and where a counter moves in every object each of them is parsed and compared.

#[allow(dead_code)] // what only the other benchmarks need
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use support::objects::{body, manifests, name};
use support::process::Server;
use tokio::runtime::Runtime;
use trueup::api::client::{Client, Options, ReadOnly, connect};
use trueup::api::poll::Polled;
use trueup::api::transport::{Transport, TransportError};
use trueup::backend::known::Known;
use trueup::backend::wire::{HttpAnswer, HttpRequest};
use trueup::core::exchange::{Collection, ParentIds};
use trueup::core::identity::Key;
use trueup::core::watch::owned::{Bodies, Interest, Interests};
use trueup::run::input::{self, Reach, Sources};

/// Polls of each measurement.
const POLLS: u32 = 20;

fn main() {
    let objects = support::number("TRUEUP_BENCH_OBJECTS", 10_000);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let server = Server::start(folder.path(), "polled");
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(load(&server.url, objects));
    let files = vec![manifests(folder.path(), &server.url, objects, &|_| String::new())];
    let input = input::load(Sources { files, ..Sources::default() }, Reach::Used, &|_| None).input;
    let input = input.expect("the documents are sound");
    let transport = connect(&input.connections[0]).expect("a transport");
    let kind = input.kinds.iter().next().expect("a kind").clone();
    let documents = Arc::new(input.documents);
    println!("{objects} objects of about 600 bytes, 100 to a page; the mean of {POLLS} polls");
    for (what, strips, moves) in [
        ("with ETags", false, false),
        ("without ETags", true, false),
        ("a counter moves in every object", true, true),
    ] {
        let bodies: Arc<dyn Bodies> = documents.clone();
        let interest = |at: usize| (documents[at].id.key.clone(), Interest::of(&documents[at], &bodies, at));
        let mut known = Known::new(Arc::new(Interests::new((0..objects).map(interest).collect())));
        let altered = Arc::new(Altered { inner: transport.clone(), strips, moves, count: AtomicU64::new(0) });
        let client = Client::<ReadOnly>::read_only(&input.connections[0], Options::default(), altered);
        let client = client.expect("a client");
        let collection = Collection {
            kind: kind.name.clone(),
            scope: Key::new(Vec::new()),
            parent_ids: ParentIds::default(),
        };
        let mut poll = || runtime.block_on(client.poll(&kind, &collection, &mut known)).polled;
        assert!(matches!(poll(), Polled::Same), "what the documents say is there");
        let before = processor_time();
        for _ in 0..POLLS {
            assert!(matches!(poll(), Polled::Same));
        }
        let each = (processor_time() - before) / POLLS;
        let share = each.as_secs_f64() / 30.0 * 100.0;
        println!("  {what}: {each:.1?} of processor time a poll, {share:.2} % of one core every 30 s");
    }
}

/// A transport that takes ETags off answers, or lets a counter move.
struct Altered {
    inner: Arc<dyn Transport>,
    strips: bool,
    moves: bool,
    count: AtomicU64,
}

impl Transport for Altered {
    fn send<'a>(&'a self, request: &'a HttpRequest) -> BoxFuture<'a, Result<HttpAnswer, TransportError>> {
        Box::pin(async move {
            let mut answer = self.inner.send(request).await?;
            if self.strips {
                answer.headers.retain(|(name, _)| name != "etag");
            }
            if self.moves {
                let count = self.count.fetch_add(1, Ordering::Relaxed);
                let text = String::from_utf8(answer.body).expect("JSON");
                let moved = format!("{{\"messages\":{count},\"description\"");
                answer.body = text.replace("{\"description\"", &moved).into_bytes();
            }
            Ok(answer)
        })
    }
}

async fn load(url: &str, objects: usize) {
    let client = reqwest::Client::new();
    let put = |at: usize| {
        let request = client.put(format!("{url}/widgets/{}", name(at)));
        let request = request.header("content-type", "application/json").body(body(at).to_string());
        async move { assert!(request.send().await.expect("an answer").status().is_success()) }
    };
    futures_util::stream::iter(0..objects).for_each_concurrent(16, put).await;
}

/// The processor time that this process has had, in all its threads.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux tells it");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}
