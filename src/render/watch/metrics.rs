//! Metrics in the text format of Prometheus, under the names that work queues and controllers have in the field, so
//! that dashboards and alerts that know those fit; what they have no name for begins with `trueup_`.

use std::fmt::Write as _;
use std::time::Duration;

use crate::core::escape;
use crate::core::redact::Redactor;
use crate::core::report::Requests;
use crate::core::watch::status::{BOUNDS, Counters, Histogram};
use crate::core::watch::{ConditionKind, Origin, Role, Snapshot, Truth};

/// The media type of the format.
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The value of the labels that tell queues and controllers apart.
const NAME: &str = "trueup";

/// What the system says of this process; `None` where it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Process {
    /// Bytes.
    pub resident: Option<u64>,
    /// Seconds of all cores.
    pub cpu: Option<f64>,
    pub open_files: Option<u64>,
}

/// What a number is.
#[derive(Clone, Copy)]
enum Sort {
    Counter,
    Gauge,
    Histogram,
}

/// The text that is being made.
#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, sort: Sort, help: &str) {
        let sort = match sort {
            Sort::Counter => "counter",
            Sort::Gauge => "gauge",
            Sort::Histogram => "histogram",
        };
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {sort}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{before}{label}=\"{}\"", label_text(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A family of one number.
    fn one(&mut self, name: &str, sort: Sort, help: &str, labels: &[(&str, &str)], value: f64) {
        self.family(name, sort, help);
        self.sample(name, labels, value);
    }

    fn histogram(&mut self, name: &str, help: &str, labels: &[(&str, &str)], histogram: &Histogram) {
        self.family(name, Sort::Histogram, help);
        let mut below = 0;
        let bounds = BOUNDS.iter().map(f64::to_string).chain(["+Inf".into()]);
        for (count, bound) in histogram.counts.iter().zip(bounds) {
            below += count;
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
            self.sample(&format!("{name}_bucket"), &labels, number(below));
        }
        self.sample(&format!("{name}_sum"), labels, histogram.sum.as_secs_f64());
        self.sample(&format!("{name}_count"), labels, number(below));
    }
}

/// A label's value: what would end it is escaped, and what acts on a terminal is shown.
fn label_text(text: &str) -> String {
    escape::inline(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// The format has no other numbers; beyond 2^53 nobody counts.
fn number(count: u64) -> f64 {
    count as f64
}

fn size(count: usize) -> f64 {
    number(count as u64)
}

/// All metrics at the time `now` of the loop. A number that depends on the time is right for the moment at which it is
/// asked for, also where the loop hangs.
pub fn metrics(snapshot: &Snapshot, now: Duration, process: &Process, redactor: &Redactor) -> String {
    let mut page = Page::default();
    queue(&mut page, &snapshot.status.counters, now);
    controller(&mut page, &snapshot.status.counters);
    objects(&mut page, snapshot);
    requests(&mut page, &snapshot.requests);
    hints(&mut page, &snapshot.status.counters);
    targets(&mut page, snapshot, redactor);
    feeds(&mut page, snapshot, redactor);
    own(&mut page, snapshot, process);
    page.0
}

fn queue(page: &mut Page, counters: &Counters, now: Duration) {
    let labels = [("controller", NAME), ("name", NAME)];
    page.one("workqueue_depth", Sort::Gauge, "Objects that are due and wait.", &labels, size(counters.depth));
    let help = "Entries made in the queue.";
    page.one("workqueue_adds_total", Sort::Counter, help, &labels, number(counters.adds));
    let help = "How long objects waited after they were due.";
    page.histogram("workqueue_queue_duration_seconds", help, &labels, &counters.waited);
    let help = "How long passes of objects took.";
    page.histogram("workqueue_work_duration_seconds", help, &labels, &counters.worked);
    let longest = counters.longest.map(|since| now.saturating_sub(since)).unwrap_or_default();
    let running = u32::try_from(counters.running).unwrap_or(u32::MAX);
    let all = counters.begun.map_or(longest, |begun| now.saturating_mul(running).saturating_sub(begun));
    let help = "Time spent so far on all objects that are in a pass.";
    page.one("workqueue_unfinished_work_seconds", Sort::Gauge, help, &labels, all.as_secs_f64());
    let help = "How long the longest pass runs already.";
    let name = "workqueue_longest_running_processor_seconds";
    page.one(name, Sort::Gauge, help, &labels, longest.as_secs_f64());
    let help = "Passes of an object after a failure.";
    page.one("workqueue_retries_total", Sort::Counter, help, &labels, number(counters.retries));
}

fn controller(page: &mut Page, counters: &Counters) {
    const RESULTS: [&str; 4] = ["success", "error", "terminal", "requeue"];
    let of = |result: &str| counters.passes.get(result).copied().unwrap_or_default();
    let name = "controller_runtime_reconcile_total";
    page.family(name, Sort::Counter, "Passes of an object, by their end.");
    for result in RESULTS {
        page.sample(name, &[("controller", NAME), ("result", result)], number(of(result)));
    }
    // A result that is not known here is not lost.
    for (result, count) in counters.passes.iter().filter(|(result, _)| !RESULTS.contains(result)) {
        page.sample(name, &[("controller", NAME), ("result", result)], number(*count));
    }
    let labels = [("controller", NAME)];
    let help = "Passes of an object that failed.";
    let failed = of("error") + of("terminal");
    page.one("controller_runtime_reconcile_errors_total", Sort::Counter, help, &labels, number(failed));
    let help = "Passes of an object that failed, where trying again changes nothing.";
    let name = "controller_runtime_terminal_reconcile_errors_total";
    page.one(name, Sort::Counter, help, &labels, number(of("terminal")));
    let help = "Objects that are in a pass.";
    page.one("controller_runtime_active_workers", Sort::Gauge, help, &labels, size(counters.running));
}

fn objects(page: &mut Page, snapshot: &Snapshot) {
    let tally = snapshot.status.tally();
    let name = "trueup_objects";
    page.family(name, Sort::Gauge, "Objects, by condition and its status.");
    for kind in ConditionKind::ALL {
        for truth in Truth::ALL {
            let labels = [("condition", kind.word()), ("status", truth.word())];
            page.sample(name, &labels, size(tally.of(kind, truth)));
        }
    }
    let wanted = size(snapshot.status.objects.len());
    page.one("trueup_desired_objects", Sort::Gauge, "Objects that the files want.", &[], wanted);
    let counters = &snapshot.status.counters;
    page.one(
        "trueup_writes_total",
        Sort::Counter,
        "Writes that were accepted.",
        &[],
        number(counters.writes),
    );
}

fn requests(page: &mut Page, requests: &Requests) {
    let name = "trueup_requests_total";
    page.family(name, Sort::Counter, "Requests that were sent, by role.");
    let Requests { list, read, login, create, update, delete } = *requests;
    let roles = [("list", list), ("read", read), ("login", login)];
    let writes = [("create", create), ("update", update), ("delete", delete)];
    for (role, count) in roles.into_iter().chain(writes) {
        page.sample(name, &[("role", role)], number(count));
    }
}

fn hints(page: &mut Page, counters: &Counters) {
    let name = "trueup_hints_total";
    page.family(name, Sort::Counter, "Hints that something may have changed, by where they came from.");
    for origin in Origin::HINTS {
        let count = counters.hints.get(&origin).copied().unwrap_or_default();
        page.sample(name, &[("origin", origin.word())], number(count));
    }
    let help = "Hints about what is in no document.";
    page.one("trueup_foreign_hints_total", Sort::Counter, help, &[], number(counters.foreign));
    let help = "Drift that no hint announced, found by a resync alone.";
    page.one("trueup_missed_events_total", Sort::Counter, help, &[], number(counters.missed_events));
}

fn targets(page: &mut Page, snapshot: &Snapshot, redactor: &Redactor) {
    let name = "trueup_target_open";
    page.family(name, Sort::Gauge, "Whether nothing but probes is sent to a backend.");
    for target in &snapshot.status.targets {
        page.sample(name, &[("backend", &*redactor.text(&target.name))], flag(target.open));
    }
}

fn feeds(page: &mut Page, snapshot: &Snapshot, redactor: &Redactor) {
    let name = "trueup_feed_up";
    page.family(name, Sort::Gauge, "Whether a change feed is open.");
    for feed in &snapshot.feeds.all {
        page.sample(name, &[("group", &*redactor.text(&feed.name))], flag(feed.up));
    }
    let help = "Events of change feeds.";
    page.one("trueup_feed_events_total", Sort::Counter, help, &[], number(snapshot.feeds.events));
    let help = "Events that were passed over: malformed, unknown, or about no object of the kind.";
    page.one("trueup_feed_ignored_total", Sort::Counter, help, &[], number(snapshot.feeds.ignored));
}

fn own(page: &mut Page, snapshot: &Snapshot, process: &Process) {
    let desired = &snapshot.desired;
    let help = "Whether the files were valid when they were last read.";
    page.one("trueup_desired_valid", Sort::Gauge, help, &[], flag(desired.valid));
    let name = "trueup_desired_loads_total";
    page.family(name, Sort::Counter, "How often the files were read, by whether they were valid.");
    page.sample(name, &[("result", "valid")], number(desired.loads));
    page.sample(name, &[("result", "invalid")], number(desired.failures));
    let help = "Whether this process may act: it holds the lease, or there is none.";
    page.one("trueup_leader", Sort::Gauge, help, &[], flag(snapshot.instance.role != Role::Follower));
    let help = "Whether every object was looked at.";
    page.one("trueup_first_pass_ended", Sort::Gauge, help, &[], flag(snapshot.seen_all));
    let help = "The program that runs.";
    let labels = [("version", snapshot.instance.version)];
    page.one("trueup_build_info", Sort::Gauge, help, &labels, 1.0);
    let started = snapshot.instance.started.as_secs_f64();
    let help = "When the process started, since 1970.";
    page.one("process_start_time_seconds", Sort::Gauge, help, &[], started);
    if let Some(bytes) = process.resident {
        page.one("process_resident_memory_bytes", Sort::Gauge, "Memory in use.", &[], number(bytes));
    }
    if let Some(seconds) = process.cpu {
        page.one("process_cpu_seconds_total", Sort::Counter, "Time of all cores, in seconds.", &[], seconds);
    }
    if let Some(files) = process.open_files {
        page.one("process_open_fds", Sort::Gauge, "Open files and sockets.", &[], number(files));
    }
}

fn flag(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
