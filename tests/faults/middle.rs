//! Between the binary and the server: it passes everything on, and stops at one request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::servers::Served;

/// At which side of the deed a request is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It has arrived, and the server does not see it.
    Before,
    /// The server has done it, and its answer does not arrive.
    After,
}

/// Which request is held.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Its number among those that count, from 1.
    pub at: usize,
    pub moment: Moment,
    /// Whether only writes count.
    pub writes: bool,
}

/// A port in front of a server.
pub struct Middle {
    address: String,
    inner: Arc<Inner>,
    held: Receiver<Sender<()>>,
}

struct Inner {
    server: String,
    stop: Option<Stop>,
    count: AtomicUsize,
    lines: Mutex<Vec<String>>,
    /// The writes that the server has answered with a success.
    accepted: Mutex<Vec<String>>,
    hold: Mutex<Sender<Sender<()>>>,
}

impl Middle {
    pub fn before(served: &Served, stop: Option<Stop>) -> Middle {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let (hold, held) = channel();
        let server = served.url().replace("http://", "");
        let (count, lines, accepted) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        let inner = Arc::new(Inner { server, stop, count, lines, accepted, hold: Mutex::new(hold) });
        let serving = inner.clone();
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let inner = serving.clone();
                // A connection that breaks is the end of whoever used it.
                thread::spawn(move || drop(inner.pass(stream)));
            }
        });
        Middle { address, inner, held }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All request lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.inner.lines.lock().expect("nothing panics with it").clone()
    }

    /// The writes so far that the server took, whether or not their answers arrived.
    pub fn accepted(&self) -> Vec<String> {
        self.inner.accepted.lock().expect("nothing panics with it").clone()
    }

    /// The held request, once it is there. It goes on when the value is sent something, and never if it is dropped.
    pub fn held(&self) -> Option<Sender<()>> {
        self.held.try_recv().ok()
    }
}

impl Inner {
    fn pass(&self, client: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(client.try_clone()?);
        let (line, request) = read_request(&mut reader)?;
        self.lines.lock().expect("nothing panics with it").push(line.clone());
        let stops = self.stops(&line);
        if stops == Some(Moment::Before) && !self.wait() {
            return client.shutdown(Shutdown::Both);
        }
        let mut server = TcpStream::connect(&self.server)?;
        server.write_all(&request)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        if !line.starts_with("GET ") && answer.starts_with(b"HTTP/1.1 2") {
            self.accepted.lock().expect("nothing panics with it").push(line);
        }
        if stops == Some(Moment::After) && !self.wait() {
            return client.shutdown(Shutdown::Both);
        }
        (&client).write_all(&answer)
    }

    fn stops(&self, line: &str) -> Option<Moment> {
        let stop = self.stop?;
        if stop.writes && line.starts_with("GET ") {
            return None;
        }
        (self.count.fetch_add(1, Ordering::SeqCst) + 1 == stop.at).then_some(stop.moment)
    }

    /// Hands the request over, and waits for word to go on.
    fn wait(&self) -> bool {
        let (go, gone_on) = channel();
        let told = self.hold.lock().expect("nothing panics with it").send(go);
        told.is_ok() && gone_on.recv().is_ok()
    }
}

/// A request as it came, but for its connection, which ends with the answer.
fn read_request(reader: &mut impl BufRead) -> std::io::Result<(String, Vec<u8>)> {
    let (mut line, mut head, mut length) = (String::new(), String::new(), 0);
    if reader.read_line(&mut line)? == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if header == "\r\n" {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
        if !name.eq_ignore_ascii_case("connection") {
            head.push_str(&header);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut request = format!("{line}{head}connection: close\r\n\r\n").into_bytes();
    request.extend(body);
    Ok((line.split(" HTTP/").next().unwrap_or_default().to_owned(), request))
}
