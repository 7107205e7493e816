//! Stands between trueup and the server, passes on what comes, and lets somebody else be faster than the first
//! request that writes: what two people who edit at once come to, with no luck needed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What somebody else does before the first write goes on.
type Meddle = Box<dyn FnOnce() + Send>;

pub struct Between {
    pub url: String,
    /// `PATCH /id/a "…": 412`: the writes, their preconditions and how they were answered.
    seen: Arc<Mutex<Vec<String>>>,
}

impl Between {
    /// In front of the server at `url`; its thread ends with the process.
    pub fn start(url: &str, meddle: impl FnOnce() + Send + 'static) -> Between {
        let server = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = seen.clone();
        thread::spawn(move || {
            let mut meddle: Option<Meddle> = Some(Box::new(meddle));
            for stream in listener.incoming().flatten() {
                pass(&stream, &server, &mut meddle, &told);
            }
        });
        Between { url: format!("http://{address}"), seen }
    }

    pub fn writes(&self) -> Vec<String> {
        self.seen.lock().expect("no thread panics with it").clone()
    }
}

/// One request and its answer.
fn pass(stream: &TcpStream, server: &str, meddle: &mut Option<Meddle>, told: &Mutex<Vec<String>>) {
    let Some((line, head, body)) = receive(stream, server) else { return };
    let writes = !line.starts_with("GET ");
    if let Some(meddle) = meddle.take_if(|_| writes) {
        meddle();
    }
    let Some(answer) = (0..50).find_map(|_| ask(server, head.as_bytes(), &body)) else { return };
    if writes {
        let status = String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or_default().to_owned();
        let condition = head.lines().find_map(|line| line.strip_prefix("if-match: ")).unwrap_or("-");
        let request = line.trim_end_matches(" HTTP/1.1");
        told.lock().expect("no thread panics with it").push(format!("{request} {condition}: {status}"));
    }
    // The client may be gone.
    drop((&mut &*stream).write_all(&answer));
}

/// The answer; `None` from a server that is about to open its admin API anew, as it does after each change.
fn ask(server: &str, head: &[u8], body: &[u8]) -> Option<Vec<u8>> {
    let mut answer = Vec::new();
    let asked = TcpStream::connect(server).and_then(|mut onward| {
        onward.write_all(head)?;
        onward.write_all(body)?;
        onward.read_to_end(&mut answer)
    });
    if asked.is_err() || answer.is_empty() {
        thread::sleep(Duration::from_millis(20));
        return None;
    }
    Some(answer)
}

/// The request line, the head as the server is to see it, and the body.
fn receive(stream: &TcpStream, server: &str) -> Option<(String, String, Vec<u8>)> {
    let mut reader = BufReader::new(stream);
    let mut next = || {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    };
    let line = next()?;
    let mut head = format!("{line}\r\nhost: {server}\r\nconnection: close\r\n");
    let mut length = 0;
    loop {
        let header = next()?;
        let Some((name, value)) = header.split_once(": ") else { break };
        match name {
            "host" | "connection" => continue,
            "content-length" => length = value.parse().ok()?,
            _ => {}
        }
        head += &format!("{name}: {value}\r\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((line, head + "\r\n", body))
}
