//! A door in front of a server that can be shut in the middle of a conversation: what was said before it opens arrives
//! late, whether or not its sender still waits for the answer.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The door.
pub struct Gate {
    address: SocketAddr,
    door: Arc<Door>,
}

#[derive(Default)]
struct Door {
    state: Mutex<State>,
    turned: Condvar,
}

#[derive(Default)]
struct State {
    /// It shuts in front of a request that begins so.
    shuts_at: Option<&'static str>,
    is_shut: bool,
    /// What the server said since the door was opened.
    answers: Vec<u8>,
}

impl Gate {
    /// Open, in front of the server at `host:port`.
    pub fn before(server: &str) -> Gate {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let gate = Gate { address: listener.local_addr().expect("an address"), door: Arc::default() };
        let (server, door) = (server.to_owned(), gate.door.clone());
        // It lives as long as the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server).expect("the server answers");
                let (to, from) = (server.try_clone().expect("a handle"), server);
                let (heard, told) = (client.try_clone().expect("a handle"), client);
                let (going, coming) = (door.clone(), door.clone());
                std::thread::spawn(move || going.forward(heard, to));
                std::thread::spawn(move || coming.answer(from, told));
            }
        });
        gate
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Shuts in front of the next request that begins so, and waits until there was one.
    pub fn shut_at(&self, request: &'static str) {
        let mut state = self.door.state.lock().expect("no thread panics with it");
        state.shuts_at = Some(request);
        let minute = Duration::from_secs(60);
        let waiting = self.door.turned.wait_timeout_while(state, minute, |state| !state.is_shut);
        assert!(waiting.expect("no thread panics with it").0.is_shut, "nobody sends a {request}");
    }

    /// Lets through what was held.
    pub fn open(&self) {
        let mut state = self.door.state.lock().expect("no thread panics with it");
        (state.is_shut, state.answers) = (false, Vec::new());
        self.door.turned.notify_all();
    }

    /// What the server has said since the door was opened.
    pub fn answers(&self) -> String {
        let state = self.door.state.lock().expect("no thread panics with it");
        String::from_utf8_lossy(&state.answers).into_owned()
    }
}

impl Door {
    fn forward(&self, mut client: TcpStream, mut server: TcpStream) {
        let mut buffer = [0; 64 * 1024];
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            self.pass(&buffer[..count]);
            if server.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // The server is not told that its client is gone: it would leave what was late undone.
    }

    /// Returns once the door is open.
    fn pass(&self, said: &[u8]) {
        let mut state = self.state.lock().expect("no thread panics with it");
        if state.shuts_at.is_some_and(|request| said.starts_with(request.as_bytes())) {
            (state.is_shut, state.shuts_at) = (true, None);
            self.turned.notify_all();
        }
        drop(self.turned.wait_while(state, |state| state.is_shut).expect("no thread panics with it"));
    }

    fn answer(&self, mut server: TcpStream, mut client: TcpStream) {
        let mut buffer = [0; 64 * 1024];
        while let Ok(count @ 1..) = server.read(&mut buffer) {
            self.state.lock().expect("no thread panics with it").answers.extend(&buffer[..count]);
            // Whoever asked may have given up.
            let _ = client.write_all(&buffer[..count]);
        }
        let _ = client.shutdown(Shutdown::Write);
    }
}
