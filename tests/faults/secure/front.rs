//! A TLS listener in front of the built-in server, which speaks HTTP/2 or HTTP/1.1, and does to single connections and
//! requests what bad days do.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::StreamExt;
use h2::Reason;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::authority::{self, Made, Shows};
use super::{streams, upstream};
use crate::middle::Moment;
use crate::servers::Served;

/// What befalls a request.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    /// The connection ends, with no word that it does.
    Cut(Moment),
    /// The same in the middle of the answer.
    CutInside,
    /// The stream is reset.
    Reset(Reason, Moment),
    /// The same in the middle of the answer.
    ResetInside(Reason),
    /// The head of an answer comes, and nothing more.
    Stall,
    /// The connection falls silent, though it stays open. The server does not see the request.
    Silent,
    /// The server says that it goes, while this request and others are under way: it has processed the older half.
    Leave(Reason, Below),
}

/// What becomes of those that a leaving server says it has processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Below {
    Answered,
    /// The connection ends before their answers.
    Lost(Moment),
}

/// Which requests are befallen by what.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The beginning of `METHOD path`.
    pub on: &'static str,
    pub count: usize,
    pub trouble: Trouble,
}

/// What comes before any request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// The connection is reset at once.
    Reset,
    /// The connection is reset when the client has said what it wants.
    ResetAfterHello,
}

/// How a listener is.
#[derive(Clone, Debug)]
pub struct Settings {
    pub shows: Shows,
    /// Whether clients have to show a certificate as well.
    pub mutual: bool,
    /// The protocols that are offered, the best first.
    pub protocols: &'static [&'static str],
    /// What so many connections meet first.
    pub greeting: Option<(Greeting, usize)>,
    /// So many streams at once.
    pub streams: Option<u32>,
    /// So many writes meet a window that lets no body through.
    pub shut: usize,
    /// What is said to every request instead, and whether it is said that this was all.
    pub says: Option<(String, bool)>,
}

impl Settings {
    pub const HTTP2: &[&str] = &["h2", "http/1.1"];
    pub const HTTP1: &[&str] = &["http/1.1"];

    pub fn new(protocols: &'static [&'static str]) -> Settings {
        Settings {
            shows: Shows::Good,
            mutual: false,
            protocols,
            greeting: None,
            streams: None,
            shut: 0,
            says: None,
        }
    }
}

/// A port in front of a server. It closes with the value.
pub struct Front {
    address: String,
    /// The PEM text of what is to be trusted.
    pub trusted: String,
    /// A certificate that is let in where one is demanded, and its key.
    pub client: (String, String),
    pub inner: Arc<Inner>,
    _runtime: Runtime,
}

pub struct Inner {
    pub server: String,
    pub settings: Settings,
    scripts: Mutex<Vec<Script>>,
    pub connections: AtomicUsize,
    came: Mutex<Vec<String>>,
    passed: Mutex<Vec<String>>,
    /// The most that were under way at once on one connection.
    pub most: AtomicUsize,
    /// Writes that came, on all connections.
    pub writes: AtomicUsize,
}

impl Front {
    pub fn before(served: &Served, settings: Settings, scripts: &[Script]) -> Front {
        let Made { config, trusted, client } =
            authority::server(settings.shows, settings.protocols, settings.mutual);
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let inner = Arc::new(Inner {
            server: served.url().replace("http://", ""),
            settings,
            scripts: Mutex::new(scripts.to_vec()),
            connections: AtomicUsize::new(0),
            came: Mutex::default(),
            passed: Mutex::default(),
            most: AtomicUsize::new(0),
            writes: AtomicUsize::new(0),
        });
        let (serving, acceptor) = (inner.clone(), TlsAcceptor::from(config));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A connection that breaks is what this is about.
                let (inner, acceptor) = (serving.clone(), acceptor.clone());
                tokio::spawn(async move { drop(inner.greet(stream, acceptor).await) });
            }
        });
        Front { address, trusted, client, inner, _runtime: runtime }
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// From now on nothing befalls anything.
    pub fn calm(&self) {
        self.inner.scripts.lock().expect("nothing panics with it").clear();
    }

    pub fn connections(&self) -> usize {
        self.inner.connections.load(Ordering::SeqCst)
    }

    /// All requests that came, as `METHOD path`.
    pub fn came(&self) -> Vec<String> {
        self.inner.came.lock().expect("nothing panics with it").clone()
    }

    /// Those that were passed on to the server.
    pub fn passed(&self) -> Vec<String> {
        self.inner.passed.lock().expect("nothing panics with it").clone()
    }

    pub fn most(&self) -> usize {
        self.inner.most.load(Ordering::SeqCst)
    }
}

type Body = UnsyncBoxBody<Bytes, io::Error>;

impl Inner {
    /// What befalls a request that has come.
    pub fn befalls(&self, line: &str) -> Option<Trouble> {
        self.came.lock().expect("nothing panics with it").push(line.to_owned());
        let mut scripts = self.scripts.lock().expect("nothing panics with it");
        let script = scripts.iter_mut().find(|script| script.count > 0 && line.starts_with(script.on))?;
        script.count -= 1;
        Some(script.trouble)
    }

    /// # Errors
    /// As [`upstream::send`].
    pub async fn pass(&self, line: &str, request: Request<Bytes>) -> io::Result<upstream::Answered> {
        self.passed.lock().expect("nothing panics with it").push(line.to_owned());
        upstream::send(&self.server, request).await
    }

    async fn greet(self: Arc<Inner>, stream: TcpStream, acceptor: TlsAcceptor) -> io::Result<()> {
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        if let Some((greeting, _)) = self.settings.greeting.filter(|(_, count)| number < *count) {
            if greeting == Greeting::ResetAfterHello {
                stream.readable().await?;
            }
            return stream.set_zero_linger();
        }
        let mut stream = acceptor.accept(stream).await?;
        if let Some((bytes, ends)) = &self.settings.says {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).await?;
            let line = String::from_utf8_lossy(&request[..length]).into_owned();
            self.befalls(line.split(" HTTP/").next().unwrap_or_default());
            stream.write_all(bytes.as_bytes()).await?;
            stream.flush().await?;
            return if *ends { stream.shutdown().await } else { Ok(()) };
        }
        match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => streams::serve(stream, self).await.map_err(io::Error::other),
            _ => self.plain(stream).await,
        }
    }

    /// HTTP/1.1.
    async fn plain(self: Arc<Inner>, stream: TlsStream<TcpStream>) -> io::Result<()> {
        let service = service_fn(|request| self.answer(request));
        http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.map_err(io::Error::other)
    }

    /// An error ends the connection.
    async fn answer(&self, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let line = line(&request);
        let trouble = self.befalls(&line);
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        if let Some(Trouble::Cut(Moment::Before)) = trouble {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let answered = self.pass(&line, Request::from_parts(head, body)).await?;
        match trouble {
            None => Ok(whole(answered)),
            Some(Trouble::CutInside) => Ok(half(answered)),
            Some(Trouble::Cut(_)) => {
                // It is done once its answer is whole.
                drop(answered.response.into_body().collect().await);
                Err(io::ErrorKind::ConnectionAborted.into())
            }
            Some(other) => panic!("{other:?} is not for HTTP/1.1"),
        }
    }
}

/// `METHOD path`
pub fn line<B>(request: &Request<B>) -> String {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    format!("{} {target}", request.method())
}

fn whole(answered: upstream::Answered) -> Response<Body> {
    let line = answered.line;
    answered.response.map(|body| {
        let body = body.map_err(io::Error::other).into_data_stream().map(move |data| {
            let _open = &line;
            data.map(Frame::data)
        });
        StreamBody::new(body).boxed_unsync()
    })
}

/// The head, one byte, and then the end.
fn half(answered: upstream::Answered) -> Response<Body> {
    answered.response.map(|_| {
        let end = Err(io::ErrorKind::ConnectionAborted.into());
        let pieces = [Ok(Frame::data(Bytes::from_static(b"{"))), end];
        StreamBody::new(futures_util::stream::iter(pieces)).boxed_unsync()
    })
}
