//! A server that is away for ten seconds: few connections meanwhile, and all in sync soon after.

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::{start, until_is};
use crate::servers::Served;
use crate::watch_stage::id;
use crate::world::{Creates, MANY, Workload, World, has_twins};

/// A port before a server. Closed, it takes connections and ends them at once.
struct Door {
    address: String,
    inner: Arc<Inner>,
}

struct Inner {
    server: String,
    closed: AtomicBool,
    /// Connections that came while it was closed.
    knocks: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Door {
    fn before(served: &Served) -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let server = served.url().replace("http://", "");
        let inner = Inner { server, closed: false.into(), knocks: 0.into(), open: Mutex::default() };
        let inner = Arc::new(inner);
        let serving = inner.clone();
        // The thread ends with the process.
        thread::spawn(move || listener.incoming().flatten().for_each(|client| serving.let_in(client)));
        Door { address, inner }
    }

    fn close(&self) {
        self.inner.closed.store(true, SeqCst);
        let open = std::mem::take(&mut *self.inner.open.lock().expect("nothing panics with it"));
        open.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    fn knocks(&self) -> usize {
        self.inner.knocks.load(SeqCst)
    }
}

impl Inner {
    fn let_in(&self, client: TcpStream) {
        if self.closed.load(SeqCst) {
            self.knocks.fetch_add(1, SeqCst);
            return;
        }
        let Ok(server) = TcpStream::connect(&self.server) else { return };
        let mut open = self.open.lock().expect("nothing panics with it");
        for (from, to) in [(&client, &server), (&server, &client)] {
            let ends = |stream: &TcpStream| stream.try_clone().expect("a handle");
            let (mut from, mut to) = (ends(from), ends(to));
            thread::spawn(move || {
                // A connection that breaks is the end of whoever used it.
                drop(copy(&mut from, &mut to));
                drop(to.shutdown(Shutdown::Write));
            });
        }
        open.extend([client, server]);
    }
}

#[test]
fn a_server_that_is_away_for_ten_seconds() {
    let world = World::new(Workload::Many, Creates::Plain);
    let door = Door::before(&world.served);
    world.through(&format!("http://{}", door.address), Creates::Plain);
    let watching = start(&world, "--interval 1s --resync 2s");
    watching.until_said("all objects were looked at", 1);
    let (wanted, written) = (world.state(), world.written().len());
    assert_eq!(wanted.len(), 2 + 2 * MANY, "{wanted:#?}");
    door.close();
    let began = Instant::now();
    for n in 0..4 {
        world.served.change(&format!("/spaces/s{n}"), r#"{"description": "theirs"}"#);
        let team = id(&world.served, "/teams", &format!("t{n}"));
        world.served.call("DELETE", &format!("/teams/{team}"), "");
    }
    // How long it is away is what is tested.
    thread::sleep(Duration::from_secs(10).saturating_sub(began.elapsed()));
    let (away, knocks) = (began.elapsed(), door.knocks());
    door.inner.closed.store(false, SeqCst);
    let back = Instant::now();
    until_is(&world, &watching, &wanted);
    println!("{knocks} connections in {away:?}; all in sync {:?} after", back.elapsed());
    let log = watching.ends("TERM", 0);
    // 24 objects and two listings, each looked at every second or two, would be over a hundred.
    assert!((1..=60).contains(&knocks), "{knocks} connections in {away:?}\n{log}");
    assert!(!has_twins(&world.state()));
    assert_eq!(world.written().len(), written + 8 + 8, "{:?}", &world.written()[written..]);
}
