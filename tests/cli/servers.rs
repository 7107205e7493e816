//! Servers for the tests: the built-in one on a port, with faults; and one that says any bytes at all.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::{Running, Scratch};

/// `trueup serve` on a free port, killed with the value.
pub struct Served {
    address: String,
    token: String,
    pub process: Running,
}

impl Served {
    /// On the store `store` of the folder, with a rules file of faults.
    pub fn start(scratch: &Scratch, faults: &str) -> Served {
        Served::start_with(scratch, faults, "")
    }

    /// The same with more flags.
    pub fn start_with(scratch: &Scratch, faults: &str, flags: &str) -> Served {
        scratch.write("faults.yaml", faults);
        let line = "serve --listen 127.0.0.1:0 --store store --faults faults.yaml --no-sync";
        Served::of(scratch.trueup(&format!("{line} {flags}")).start())
    }

    /// What was started otherwise.
    pub fn of(mut process: Running) -> Served {
        let stdout = process.child.stdout.as_mut().expect("it is a pipe");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("it says its address");
        let address = line.trim().strip_prefix("serving http://");
        let address = address.unwrap_or_else(|| panic!("it says `{line}`")).to_owned();
        Served { address, token: String::new(), process }
    }

    /// Demands this token of those who ask.
    pub fn with_token(self, token: &str) -> Served {
        Served { token: format!("authorization: Bearer {token}\r\n"), ..self }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The body of an answer; any status.
    pub fn call(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}",
            self.token
        );
        stream.write_all(head.as_bytes()).expect("it takes the request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer.split_once("\r\n\r\n").map_or(String::new(), |(_, body)| body.to_owned())
    }

    /// What somebody else changes of an object: members, of which `null` takes one away.
    pub fn change(&self, path: &str, members: &str) {
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        let (mut whole, members) = (parse(&self.call("GET", path, "")), parse(members));
        let map = whole.as_object_mut().expect("an object");
        for (name, value) in members.as_object().expect("an object") {
            match value.is_null() {
                true => drop(map.remove(name)),
                false => drop(map.insert(name.clone(), value.clone())),
            }
        }
        let answer = self.call("PUT", path, &whole.to_string());
        assert_eq!(parse(&answer)["error"], serde_json::Value::Null, "{answer}");
    }

    /// The accepted writes, as `METHOD path`, in their order.
    pub fn written(&self) -> Vec<String> {
        let log: serde_json::Value = serde_json::from_str(&self.call("GET", "/_log", "")).expect("a log");
        let entry = |entry: &serde_json::Value| {
            format!("{} {}", entry["method"].as_str().unwrap_or("?"), entry["path"].as_str().unwrap_or("?"))
        };
        log.as_array().expect("a list").iter().map(entry).collect()
    }

    /// The names of the objects of a collection.
    pub fn names(&self, collection: &str, member: &str) -> Vec<String> {
        let page: serde_json::Value =
            serde_json::from_str(&self.call("GET", &format!("{collection}?limit=1000"), "")).expect("a page");
        let items = page["items"].as_array().cloned().unwrap_or_default();
        let mut names: Vec<String> =
            items.iter().map(|item| item[member].as_str().unwrap_or("?").to_owned()).collect();
        names.sort();
        names
    }
}

/// What a [`Raw`] server says to a request, byte for byte; then the connection ends.
pub struct Say(pub String);

impl Say {
    /// A whole answer with headers of one's own, each with its line end.
    pub fn answer(status: &str, headers: &str, body: &str) -> Say {
        let length = body.len();
        Say(format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
        ))
    }

    pub fn json(body: &str) -> Say {
        Say::answer("200 OK", "content-type: application/json\r\n", body)
    }
}

/// A request as a [`Raw`] server sees it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `GET /teams?limit=100`
    pub line: String,
    pub head: String,
    pub body: String,
}

impl Seen {
    /// The value of a header; its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (have, value) = line.split_once(':')?;
            have.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A server that says whatever it is told to.
pub struct Raw {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Raw {
    pub fn new(answer: impl Fn(&Seen) -> Say + Send + Sync + 'static) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let (log, answer) = (seen.clone(), Arc::new(answer));
        // The thread ends with the process: there is one for each test at most.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (log.clone(), answer.clone());
                thread::spawn(move || converse(stream, &log, &*answer));
            }
        });
        Raw { address, seen }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test panics with it").clone()
    }

    /// The request lines.
    pub fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }
}

fn converse(stream: TcpStream, log: &Mutex<Vec<Seen>>, answer: &(dyn Fn(&Seen) -> Say + Send + Sync)) {
    let mut reader = BufReader::new(&stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let line = head.split(" HTTP/").next().unwrap_or_default().to_owned();
    let body = String::from_utf8_lossy(&body).into_owned();
    let seen = Seen { line, head, body };
    log.lock().expect("no test panics with it").push(seen.clone());
    // The client may be gone.
    drop((&stream).write_all(answer(&seen).0.as_bytes()));
}

/// A backend with two kinds: `Team` gets its id from the server (POST), `Space` is named by us (PUT). `more`
/// goes into its `spec`.
pub fn backend(url: &str, more: &str) -> String {
    format!(
        "apiVersion: trueup/v1
kind: Backend
metadata: {{name: demo}}
spec:
  url: {url}
{more}
  kinds:
    Team:
      key: {{name: .name}}
      list: {{request: GET /teams, items: .items, page: {{by: cursor, next: .next, size: 100}}}}
      read: GET /teams/{{id}}
      create: POST /teams
      update: PATCH /teams/{{id}}
      delete: DELETE /teams/{{id}}
      version: .revision
      visible: 300ms
    Space:
      key: {{name: .id}}
      list: {{request: GET /spaces, items: .items, page: {{by: cursor, next: .next, size: 100}}}}
      read: GET /spaces/{{name}}
      create: PUT /spaces/{{name}}
      update: PATCH /spaces/{{name}}
      delete: DELETE /spaces/{{name}}
      version: .revision
"
    )
}

/// One object of each kind.
pub const TEAM_AND_SPACE: &str = "apiVersion: demo
kind: Team
metadata: {name: red}
spec: {description: The red team}
---
apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {description: The shop}
";
