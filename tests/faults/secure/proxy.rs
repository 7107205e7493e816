//! Tunnels: a proxy that opens them, refuses, or cuts them.

use std::io::{BufRead, BufReader, Read, Write, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::front::{Front, Settings};
use crate::rows::Comes;
use crate::scripts::{judge, reference};
use crate::support::Done;
use crate::world::{APPLY, Creates, Workload, World, of_others};

/// How a proxy answers.
#[derive(Clone, Copy, Debug)]
struct Answers {
    /// What it says to so many that ask for a tunnel.
    refusal: Option<(&'static str, usize)>,
    /// So many tunnels are cut after so many bytes of the server's.
    cut: Option<(usize, u64)>,
}

/// A proxy on loopback, and the heads of what it was asked.
struct Proxy {
    address: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(answers: Answers) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = heads.clone();
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heads = kept.clone();
                thread::spawn(move || drop(tunnel(stream, answers, &heads)));
            }
        });
        Proxy { address, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("nothing panics with it").clone()
    }
}

fn tunnel(client: TcpStream, answers: Answers, heads: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let number = {
        let mut heads = heads.lock().expect("nothing panics with it");
        heads.push(head.clone());
        heads.len()
    };
    if let Some((status, _)) = answers.refusal.filter(|(_, count)| number <= *count) {
        let refusal = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return (&client).write_all(refusal.as_bytes());
    }
    let target = head.split(' ').nth(1).unwrap_or_default();
    let server = TcpStream::connect(target)?;
    (&client).write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut there, from) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        // It ends when either side does.
        drop(copy(&mut reader, &mut there));
        drop((there.shutdown(Shutdown::Write), from));
    });
    match answers.cut.filter(|(count, _)| number <= *count) {
        Some((_, bytes)) => drop(copy(&mut (&server).take(bytes), &mut &client)),
        None => drop(copy(&mut &server, &mut &client)),
    }
    drop(server.shutdown(Shutdown::Both));
    client.shutdown(Shutdown::Both)
}

const PASSWORD: &str = "pr0xy-pass";
const TOKEN: &str = "t0ken-for-the-server";

/// A run through a proxy, with a credential for each of the two.
fn through(answers: Answers, no_proxy: &str) -> (World, Front, Proxy, Done) {
    let world = World::new(Workload::CreateThree, Creates::Plain);
    let front = Front::before(&world.served, Settings::new(Settings::HTTP2), &[]);
    world.secured(&front.url(), &front.trusted, Creates::Plain);
    let backend = std::fs::read_to_string(world.scratch.path("backend.yaml")).expect("it was written");
    let auth = "  auth: {bearer: !secret env:TOKEN}\n  kinds:\n";
    world.scratch.write("backend.yaml", backend.replace("  kinds:\n", auth));
    let proxy = Proxy::start(answers);
    let url = format!("http://me:{PASSWORD}@{}", proxy.address);
    let run = world.scratch.trueup(APPLY).env("TOKEN", TOKEN).env("HTTPS_PROXY", &url);
    let done = run.env("NO_PROXY", no_proxy).done();
    for secret in [TOKEN, PASSWORD] {
        assert!(!done.told().contains(secret), "{}", done.told());
    }
    for head in proxy.heads() {
        assert!(head.starts_with("CONNECT 127.0.0.1:") && !head.contains(TOKEN), "{head}");
    }
    (world, front, proxy, done)
}

fn judged(world: &World, first: &Done, comes: Comes) {
    let before = of_others(&world.state());
    world.through(&world.served.url(), Creates::Plain);
    judge(world, &before, comes, Workload::CreateThree, &reference(Workload::CreateThree), first)
        .unwrap_or_else(|what| panic!("{what}"));
}

const OPEN: Answers = Answers { refusal: None, cut: None };
const ALWAYS: usize = 100_000;

#[test]
fn a_tunnel_is_as_good_as_the_way_itself() {
    let (world, front, proxy, first) = through(OPEN, "");
    assert!(!proxy.heads().is_empty());
    assert_eq!(proxy.heads().len(), front.connections(), "nothing goes past it");
    judged(&world, &first, Comes::Right(0));
}

#[test]
fn what_no_proxy_names_needs_no_tunnel() {
    for names in ["127.0.0.1", "127.0.0.0/8", "*"] {
        let (world, _front, proxy, first) =
            through(Answers { refusal: Some(("407 No", ALWAYS)), ..OPEN }, names);
        assert_eq!(proxy.heads(), Vec::<String>::new(), "{names}");
        judged(&world, &first, Comes::Right(0));
    }
}

#[test]
fn a_proxy_that_refuses() {
    for (status, said, hint) in [
        ("407 Proxy Authentication Required", "demands a login (407)", "`HTTPS_PROXY=http:"),
        ("502 Bad Gateway", "the proxy opens no way to it", "`NO_PROXY`"),
    ] {
        let (world, front, proxy, first) = through(Answers { refusal: Some((status, ALWAYS)), ..OPEN }, "");
        assert!(first.out.contains(said) && first.out.contains(hint), "{}", first.told());
        assert_eq!(front.connections(), 0);
        // Three questions, three times each, and each of those twice.
        assert!(proxy.heads().len() <= 18, "{} tunnels were asked for", proxy.heads().len());
        judged(&world, &first, Comes::Ends("unknown", 0));
        let (world, _front, _proxy, first) = through(Answers { refusal: Some((status, 1)), ..OPEN }, "");
        judged(&world, &first, Comes::Right(0));
    }
}

/// Every few bytes, through the handshake and beyond.
#[test]
fn a_tunnel_that_is_cut() {
    let places: Vec<u64> = (0..20).map(|step| step * 150).collect();
    crate::crowd::each(&places, 4, |bytes| {
        let (world, _front, proxy, first) = through(Answers { cut: Some((1, *bytes)), ..OPEN }, "");
        assert!(proxy.heads().len() >= 2, "it was not cut after {bytes} bytes");
        judged(&world, &first, Comes::Right(0));
    });
}
