//! What the scenarios share: a folder of documents, a server that can be ended and started again on its port, a
//! watch over them, and a person with another client.

pub mod busy;
pub mod drift;
pub mod flood;
pub mod kill;
pub mod outage;
pub mod repair;
pub mod resyncs;
pub mod steady;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::support::objects::{PAGE, body, manifests, name};

/// Where the server tells what changes, as the last member of the kind.
const FEED: &str = "      watch: {request: GET /widgets?watch, by: sse, key: \"{name: .id}\", replay: true, heartbeat: 15s}\n";

/// How large a scenario is.
pub struct Size {
    pub objects: usize,
    pub time: Duration,
}

/// A server with a store, documents, and whoever looks on.
pub struct World {
    runtime: Runtime,
    client: Client,
    folder: tempfile::TempDir,
    files: PathBuf,
    port: u16,
    server: Option<Child>,
    pub objects: usize,
}

impl World {
    /// An empty server, which keeps a log of its writes, and documents for so many objects, which it may tell of.
    pub fn new(objects: usize, feed: bool) -> World {
        let mut world = World::at(objects, feed, free_port());
        world.start_server();
        world
    }

    /// Documents for so many objects of another server on this port, which has a feed.
    pub fn of(objects: usize, port: u16) -> World {
        World::at(objects, true, port)
    }

    fn at(objects: usize, feed: bool, port: u16) -> World {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let files =
            manifests(folder.path(), &format!("http://127.0.0.1:{port}"), objects, &|_| String::new());
        if feed {
            let backend = files.join("backend.yaml");
            let kinds = std::fs::read_to_string(&backend).expect("it was written");
            std::fs::write(backend, kinds + FEED).expect("a file");
        }
        std::fs::write(folder.path().join("faults.yaml"), "rules: []\n").expect("a file");
        // Another world of this process may have chosen it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().expect("a client");
        let runtime = Runtime::new().expect("a runtime");
        World { runtime, client, folder, files, port, server: None, objects }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts the server on its store and its port, and waits until it answers.
    pub fn start_server(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(["serve", "--no-sync", "--listen", &format!("127.0.0.1:{}", self.port), "--store"]);
        command
            .arg(self.folder.path().join("store"))
            .arg("--faults")
            .arg(self.folder.path().join("faults.yaml"));
        self.server = Some(command.stdout(Stdio::null()).spawn().expect("the server starts"));
        let url = format!("http://127.0.0.1:{}/healthz", self.port);
        wait_for("the server to answer", Duration::from_secs(30), || {
            self.try_send(Method::GET, &url, None).is_some()
        });
    }

    /// Kills the server: no answer that is under way is finished.
    pub fn kill_server(&mut self) {
        end(&mut self.server);
    }

    /// Starts a watch with these flags besides, and waits until all is in sync once.
    pub fn watch(&self, flags: &[&str]) -> Watch {
        let watch = self.begin_watch(flags);
        let limit = Duration::from_secs(300);
        wait_for("the first pass to end in sync", limit, || watch.out_of_sync(self) == Some(0));
        watch
    }

    /// Starts a watch with these flags besides.
    pub fn begin_watch(&self, flags: &[&str]) -> Watch {
        let port = free_port();
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.arg("watch").arg("-f").arg(&self.files).args(["--listen", &format!("127.0.0.1:{port}")]);
        command.args(flags).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("the watch starts");
        Watch { url: format!("http://127.0.0.1:{port}"), child: Some(child) }
    }

    /// A request of somebody else; `None` without an answer.
    pub fn try_send(&self, method: Method, url: &str, body: Option<&Value>) -> Option<(u16, String)> {
        let mut request = self.client.request(method, url).timeout(Duration::from_secs(10));
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        self.runtime.block_on(async {
            let response = request.send().await.ok()?;
            Some((response.status().as_u16(), response.text().await.ok()?))
        })
    }

    /// A request of somebody else to the server, which must answer, whatever it answers.
    pub fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, String) {
        let url = format!("http://127.0.0.1:{}{path}", self.port);
        self.try_send(method, &url, body).unwrap_or_else(|| panic!("no answer from {url}"))
    }

    /// Sets a declared field of an object as somebody else would.
    pub fn disturb(&self, i: usize, replicas: usize) {
        let mut whole = body(i);
        whole["replicas"] = (100 + replicas).into();
        self.send(Method::PUT, &format!("/widgets/{}", name(i)), Some(&whole));
    }

    pub fn delete(&self, i: usize) {
        self.send(Method::DELETE, &format!("/widgets/{}", name(i)), None);
    }

    /// Whether an object is as its document says.
    pub fn is_level(&self, i: usize) -> bool {
        let (status, text) = self.send(Method::GET, &format!("/widgets/{}", name(i)), None);
        status == 200 && level(i, &serde_json::from_str(&text).expect("an object is JSON"))
    }

    /// How many objects are not as their documents say.
    pub fn uneven(&self) -> usize {
        let mut next = Some(format!("/widgets?limit={PAGE}"));
        let mut found = BTreeMap::new();
        while let Some(path) = next {
            let (_, text) = self.send(Method::GET, &path, None);
            let page: Value = serde_json::from_str(&text).expect("a page is JSON");
            for item in page["items"].as_array().expect("items") {
                found.insert(item["id"].as_str().expect("a name").to_owned(), item.clone());
            }
            next = page["next"].as_str().map(|cursor| format!("/widgets?limit={PAGE}&cursor={cursor}"));
        }
        (0..self.objects).filter(|&i| !found.get(&name(i)).is_some_and(|item| level(i, item))).count()
    }

    /// The accepted writes of the server's life: method and status.
    pub fn writes(&self) -> Vec<(String, u64)> {
        let (_, text) = self.send(Method::GET, "/_log", None);
        let log: Value = serde_json::from_str(&text).expect("the log is JSON");
        let row = |row: &Value| {
            (row["method"].as_str().unwrap_or("").to_owned(), row["status"].as_u64().unwrap_or(0))
        };
        log.as_array().or(log["writes"].as_array()).expect("a list").iter().map(row).collect()
    }

    /// Makes the server fail by these rules from now on.
    pub fn faults(&self, rules: &Value) {
        assert_eq!(self.send(Method::PUT, "/_faults", Some(rules)).0, 204, "the rules are taken");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        end(&mut self.server);
    }
}

/// A running watch.
pub struct Watch {
    pub url: String,
    child: Option<Child>,
}

impl Watch {
    pub fn kill(&mut self) {
        end(&mut self.child);
    }

    fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Objects that are not in sync by its own word; `None` while it does not answer.
    pub fn out_of_sync(&self, world: &World) -> Option<u64> {
        let (_, text) = world.try_send(Method::GET, &format!("{}/readyz", self.url), None)?;
        let _ = text;
        let metrics = self.metrics(world)?;
        let not = metrics.get(r#"trueup_objects{condition="Synced",status="False"}"#)?;
        let unknown = metrics.get(r#"trueup_objects{condition="Synced",status="Unknown"}"#)?;
        Some((not + unknown) as u64)
    }

    /// Its metrics, by name and labels as they stand there.
    pub fn metrics(&self, world: &World) -> Option<BTreeMap<String, f64>> {
        let (status, text) = world.try_send(Method::GET, &format!("{}/metrics", self.url), None)?;
        let line = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        (status == 200).then(|| text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect())
    }

    /// Requests that it has sent, by its own count.
    pub fn requests(&self, world: &World) -> u64 {
        let metrics = self.metrics(world).unwrap_or_default();
        let requests = metrics.iter().filter(|(name, _)| name.starts_with("trueup_requests_total"));
        requests.map(|(_, count)| *count as u64).sum()
    }

    /// Processor time since its start.
    pub fn processor(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("Linux tells");
        let fields: Vec<&str> = stat.rsplit_once(") ").expect("its name").1.split(' ').collect();
        let ticks: u64 =
            fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks");
        // The kernel counts in hundredths of a second on every Linux that Rust runs on.
        Duration::from_millis(ticks * 10)
    }

    /// Resident memory in MB.
    pub fn memory(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// The most resident memory so far, in MB.
    pub fn memory_peak(&self) -> f64 {
        self.status("VmHWM:")
    }

    fn status(&self, field: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("Linux tells");
        let line = status.lines().find(|line| line.starts_with(field)).expect("it has memory");
        let kib: f64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number");
        kib * 1024.0 / 1e6
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Whether an object of the server has what its document declares.
fn level(i: usize, item: &Value) -> bool {
    let wanted = body(i);
    wanted.as_object().expect("an object").iter().all(|(field, value)| item.get(field) == Some(value))
}

fn end(child: &mut Option<Child>) {
    if let Some(mut child) = child.take() {
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Waits for something, for a time at most; how long it took.
pub fn wait_for(what: &str, limit: Duration, mut holds: impl FnMut() -> bool) -> Duration {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < limit, "waited {limit:?} for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
    began.elapsed()
}
