//! A server that answers from a list: what a case says that the API answers, request by request.
//!
//! `server.yaml` maps a request line to its answers in order. An answer holds until the next one's turn: after
//! `times` requests (1 where nothing is said), or, when the next one says `after: REQUEST`, once that request
//! was received. The last one holds for ever. A request that is not in the list is answered with 501, and the
//! transcript shows it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde::Deserialize;
use serde_json::Value;

/// The answers to one request line.
pub type Script = BTreeMap<String, Vec<Answer>>;

/// One answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// JSON; an explicit null is the body `null`, none is an empty answer.
    #[serde(default, deserialize_with = "present")]
    body: Option<Value>,
    /// A body that is not JSON.
    text: Option<String>,
    /// The request is taken, and the connection ends without an answer.
    #[serde(default)]
    lost: bool,
    /// Its turn comes once this request was received.
    after: Option<String>,
    times: Option<usize>,
}

fn ok() -> u16 {
    200
}

fn present<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(reader).map(Some)
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET /teams?page=2`
    pub line: String,
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// The server; its thread ends with the process.
pub struct Server {
    address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    script: Script,
    /// For each request line, which answer holds, and how often it was given.
    turns: BTreeMap<String, (usize, usize)>,
    seen: Vec<Request>,
}

impl Server {
    pub fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = shared.clone();
                thread::spawn(move || converse(&stream, &state));
            }
        });
        Server { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers from this list from now on, from its beginning.
    pub fn answer_from(&self, mut script: Script) {
        for answer in script.values_mut().flatten() {
            answer.headers.values_mut().for_each(|value| *value = value.replace("URL", &self.url()));
        }
        let mut state = self.state.lock().expect("no thread panics with it");
        state.script = script;
        state.turns.clear();
    }

    /// The requests since the last call.
    pub fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().expect("no thread panics with it").seen)
    }
}

impl State {
    fn answer(&mut self, request: Request) -> Option<Answer> {
        // The list cannot know which key will come.
        let line = crate::case::key().replace_all(&request.line, "KEY").into_owned();
        self.seen.push(request);
        let answers = self.script.get(&line)?;
        let (turn, given) = self.turns.entry(line).or_default();
        while let Some(next) = answers.get(*turn + 1) {
            let over = match &next.after {
                Some(after) => self.seen.iter().any(|request| request.line == *after),
                None => *given >= answers[*turn].times.unwrap_or(1),
            };
            if !over {
                break;
            }
            (*turn, *given) = (*turn + 1, 0);
        }
        *given += 1;
        answers.get(*turn).cloned()
    }
}

fn converse(stream: &TcpStream, state: &Mutex<State>) {
    let Some(request) = receive(stream) else { return };
    let line = request.line.clone();
    let answer = state.lock().expect("no thread panics with it").answer(request);
    let text = match answer {
        Some(answer) if answer.lost => return,
        Some(answer) => wire(&answer),
        None => format!(
            "HTTP/1.1 501 Not In The Case\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\n\
             the case has no answer to {line}"
        ),
    };
    // The client may be gone.
    drop((&mut &*stream).write_all(text.as_bytes()));
}

fn receive(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut next = || {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    };
    let line = next()?.split(" HTTP/").next()?.to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let header = next()?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8_lossy(&body).into_owned() })
}

fn wire(answer: &Answer) -> String {
    let json = answer.body.as_ref().map(Value::to_string);
    let kind = if json.is_some() { "application/json" } else { "text/plain" };
    let body = json.or_else(|| answer.text.clone()).unwrap_or_default();
    let mut text = format!(
        "HTTP/1.1 {} Answer\r\nconnection: close\r\ncontent-length: {}\r\n",
        answer.status,
        body.len()
    );
    if !body.is_empty() && !answer.headers.contains_key("content-type") {
        text.push_str(&format!("content-type: {kind}\r\n"));
    }
    for (name, value) in &answer.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text + "\r\n" + &body
}
