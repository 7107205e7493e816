//! What a running `watch` costs and how soon it repairs, in one command: `cargo bench --bench watch`.
//!
//! Scenarios, each by its name (`cargo bench --bench watch -- steady repair`), all of them without one:
//!
//! - `steady`: nothing changes; writes, processor time, memory and requests.
//! - `resyncs`: nothing changes, and everything is looked at again and again; memory.
//! - `flood`: ten thousand events a second on the change feed; memory, processor time, and that none is lost.
//! - `repair`: a foreign deletion, announced by the change feed and found without one.
//! - `drift`: others change one in a hundred while one request in a hundred fails; the end, and every write.
//! - `outage`: the server is away and comes back; requests meanwhile, and the time until all is in sync.
//! - `kill`: watch and the server are killed in turn.
//!
//! Everything is on loopback, and ends by itself. `TRUEUP_BENCH_OBJECTS` (10,000) and `TRUEUP_BENCH_SECONDS` (600 for
//! `steady` and `drift`, half of it for `outage`, a tenth for each `flood`) scale it.

#[allow(dead_code)] // what only the other benchmarks need
mod support;
mod watching;

use std::time::Duration;

use watching::{drift, flood, kill, outage, repair, resyncs, steady};

/// What a scenario runs.
type Scenario = fn(&watching::Size);

fn main() {
    let size = watching::Size {
        objects: support::number("TRUEUP_BENCH_OBJECTS", 10_000),
        time: Duration::from_secs(support::number("TRUEUP_BENCH_SECONDS", 600) as u64),
    };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let scenarios: [(&str, Scenario); 7] = [
        ("steady", steady::run),
        ("resyncs", resyncs::run),
        ("flood", flood::run),
        ("repair", repair::run),
        ("drift", drift::run),
        ("outage", outage::run),
        ("kill", kill::run),
    ];
    println!("{} objects of about 600 bytes, {} to a page", size.objects, support::objects::PAGE);
    for (name, run) in scenarios {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            run(&size);
        }
    }
}
