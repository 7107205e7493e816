//! The ends of a watch: in good order, at once, and by a kill; and what a service manager is told of it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::servers::{Raw, Say, Served, backend};
use crate::support::Scratch;
use crate::watch::stage::{Watching, descriptions, id, teams, two_teams, until};

const ASKED: &str = "a person asks for everything to be looked at";
const MANY: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];

/// A server that takes its time for each write.
fn slow() -> (Scratch, Served) {
    let scratch = Scratch::new();
    let rules = "rules: [{match: {method: POST, path: /teams}, fault: {delay: 300ms}}]";
    let served = Served::start(&scratch, rules);
    scratch.write("backend.yaml", backend(&served.url(), ""));
    scratch.write("m/a.yaml", teams(&MANY, "one"));
    (scratch, served)
}

#[test]
fn the_first_signal_lets_end_what_is_under_way() {
    for signal in ["TERM", "INT"] {
        let (scratch, served) = slow();
        let watching = Watching::start(&scratch, "--parallel 1");
        until("a write", || !served.written().is_empty());
        let log = watching.ends(signal, 0);
        let made = descriptions(&served).len();
        assert!(0 < made && made < MANY.len(), "{made} of {}: {log}", MANY.len());
        assert!(log.contains("\"stopping\"") && log.contains("\"stopped\""), "{log}");
        // Nothing is lost, nothing is there twice.
        served.call("PUT", "/_faults", "rules: []");
        scratch.trueup("apply --yes -f m -f backend.yaml").done().expect(0);
        assert_eq!(served.written().len(), MANY.len());
    }
}

#[test]
fn the_second_signal_waits_for_nothing() {
    let scratch = Scratch::new();
    let posts: &'static AtomicUsize = Box::leak(Box::default());
    let server = Raw::new(move |seen| match seen.line.starts_with("POST") {
        true => {
            posts.fetch_add(1, Ordering::SeqCst);
            loop {
                thread::park();
            }
        }
        false => Say::json("{\"items\": []}"),
    });
    scratch.write("backend.yaml", backend(&server.url(), ""));
    scratch.write("m/a.yaml", teams(&["a"], "one"));
    let mut watching = Watching::start(&scratch, "");
    until("a write", || posts.load(Ordering::SeqCst) == 1);
    watching.running.signal("TERM");
    watching.until_said("stopping", 1);
    let mut ended = || watching.running.child.try_wait().expect("it can be waited for").is_some();
    assert!(!ended(), "it waits for what is under way");
    let log = watching.ends("TERM", 130);
    assert!(log.contains("\"stopping\""), "{log}");
}

/// A kill at any time, and a start: the same end, with nothing made twice.
#[test]
fn a_kill_and_a_start() {
    let (scratch, served) = slow();
    let watching = Watching::start(&scratch, "--parallel 2");
    until("a write", || !served.written().is_empty());
    watching.ends("KILL", -1);
    let watching = Watching::started(&scratch, "");
    until("all is there", || descriptions(&served).len() == MANY.len());
    watching.ends("TERM", 0);
    assert_eq!(served.written().len(), MANY.len(), "each was made once");
}

#[test]
fn a_time_for_the_whole_run() {
    let (scratch, served) = two_teams();
    let log = Watching::start(&scratch, "--timeout 3s").ended(0);
    assert!(log.contains("\"stopped\""), "{log}");
    assert_eq!(descriptions(&served).len(), 2);
}

/// Ready once all was looked at, alive while it turns, stopping when it ends.
#[test]
fn what_a_service_manager_is_told() {
    let (scratch, _served) = two_teams();
    let path = scratch.path("notify");
    let manager = UnixDatagram::bind(&path).expect("a socket");
    manager.set_read_timeout(Some(Duration::from_secs(40))).expect("a limit");
    let run = scratch.trueup("watch -f m -f backend.yaml --log ndjson");
    let run = run.env("NOTIFY_SOCKET", path.to_str().expect("UTF-8")).env("WATCHDOG_USEC", "2000000");
    let watching = Watching::of(run.start());
    let hear = |wanted: &str| {
        let mut bytes = [0; 4096];
        loop {
            let length = manager.recv(&mut bytes).unwrap_or_else(|error| panic!("no {wanted}: {error}"));
            if String::from_utf8_lossy(&bytes[..length]).lines().any(|line| line == wanted) {
                return;
            }
        }
    };
    hear("READY=1");
    hear("WATCHDOG=1");
    hear("WATCHDOG=1");
    watching.running.signal("TERM");
    hear("STOPPING=1");
    watching.ended(0);
}

/// Whoever rings three hundred times is heard: once, and once more for what came meanwhile.
#[test]
fn a_storm_of_hangups_is_one_wish_a_second() {
    let (scratch, served) = two_teams();
    let watching = Watching::started(&scratch, "--resync 1h --interval 1h");
    let began = Instant::now();
    for _ in 0..300 {
        watching.hangup();
    }
    // What others did while it rang is put right by the last of these.
    served.call("DELETE", &format!("/teams/{}", id(&served, "/teams", "red")), "");
    watching.hangup();
    until("the team is there again", || descriptions(&served) == ["blue=one", "red=one"]);
    let (said, seconds) = (watching.said(ASKED).len(), began.elapsed().as_secs());
    assert!(said as u64 <= seconds + 2, "{said} lines in {seconds} s:\n{}", watching.text());
    watching.ends("TERM", 0);
}

/// What came to its end while the process was stopped is not taken for a server that is away.
#[test]
fn a_process_that_was_stopped_finds_its_connections_closed_and_goes_on() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let open: &'static AtomicUsize = Box::leak(Box::default());
    thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| drop(thread::spawn(|| keep(stream, open))))
    });
    scratch.write("backend.yaml", backend(&format!("http://{address}"), ""));
    scratch.write("m/a.yaml", teams(&["a", "b", "c", "d", "e", "f"], "one"));
    let watching = Watching::started(&scratch, "--resync 2s");
    watching.running.signal("STOP");
    let stopped = Instant::now();
    until("the server has closed all", || open.load(Ordering::SeqCst) == 0);
    until("it was stopped for long", || stopped.elapsed() > Duration::from_secs(7));
    watching.running.signal("CONT");
    let told = watching.until_said("process was held up", 1);
    assert!(told["seconds"].as_u64() >= Some(5), "{told}");
    until("it looks again", || open.load(Ordering::SeqCst) > 0);
    let log = watching.ends("TERM", 0);
    assert!(!log.contains("nothing certain") && !log.contains("backend is away"), "{log}");
}

/// Answers as a server that has these teams, and closes a connection on which nothing is asked for a second.
fn keep(stream: TcpStream, open: &AtomicUsize) {
    open.fetch_add(1, Ordering::SeqCst);
    let item = |name: &str| format!("{{\"id\": \"{name}\", \"name\": \"{name}\", \"description\": \"one\"}}");
    let items: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(item).to_vec();
    let body = format!("{{\"items\": [{}]}}", items.join(", "));
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.set_read_timeout(Some(Duration::from_secs(1))).expect("a limit");
    let mut lines = BufReader::new(&stream).lines();
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() && (&stream).write_all(answer.as_bytes()).is_err() {
            break;
        }
    }
    open.fetch_sub(1, Ordering::SeqCst);
}
