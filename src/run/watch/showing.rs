//! The status file and the port, fed by the driver: where everything stands, whenever that changed.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::NotBegun;
use super::desired::Desired;
use super::face::Face;
use super::hook;
use super::observers::Hints;
use super::outbox::Outbox;
use super::shown::Shown;
use super::{port, status_file};
use crate::core::exit::Exit;
use crate::core::problem::{Problem, said_by_system};
use crate::core::secrets::Secrets;
use crate::core::watch::{Instance, Role, Snapshot};
use crate::render::watch::log::Event;

/// What is shown, and where.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub status_file: Option<PathBuf>,
    /// The address of the port.
    pub listen: Option<SocketAddr>,
    /// What those who ask there must show.
    pub token: Option<String>,
    /// The secret of those who send webhooks; without one there are none.
    pub hook_secret: Option<String>,
}

/// All that shows the watch.
pub struct Showing {
    shown: Shown,
    /// What answers on the port.
    served: Option<Arc<Face>>,
    instance: Instance,
    stop: CancellationToken,
    tasks: JoinSet<()>,
    events: UnboundedReceiver<Event>,
    /// Whether anything is shown anywhere.
    somewhere: bool,
}

impl Showing {
    /// Opens the port and begins with the file. `start` is zero of the loop's time.
    ///
    /// # Errors
    /// An address that cannot be listened on.
    pub async fn begin(
        places: &Places,
        start: Instant,
        secrets: Secrets,
        dry_run: bool,
        hints: &Hints,
        desired: &Desired,
    ) -> Result<Showing, NotBegun> {
        let shown = Shown::new(start, secrets);
        let stop = CancellationToken::new();
        let (log, events) = unbounded_channel();
        let (mut tasks, mut served) = (JoinSet::new(), None);
        if let Some(address) = places.listen {
            let listener =
                TcpListener::bind(address).await.map_err(|error| cannot_listen(address, &error))?;
            let address = listener.local_addr().unwrap_or(address);
            let mut face = Face::new(shown.clone(), Outbox::new(hints.sender()));
            if let Some(token) = &places.token {
                face = face.with_token(token);
            }
            if let Some(secret) = &places.hook_secret {
                face = face.with_hooks(secret, hook::hooks(desired));
            }
            let face = Arc::new(face);
            tasks.spawn(port::serve(listener, face.clone(), stop.clone()));
            served = Some(face);
            // The driver hears of it before anything else.
            let _ = log.send(Event::info("status is served").with("address", format!("http://{address}")));
        }
        if let Some(path) = places.status_file.clone() {
            let (shown, stop) = (shown.clone(), stop.clone());
            let say = move |event| {
                // The driver is there as long as this is.
                let _ = log.send(event);
            };
            tasks.spawn(status_file::keep(shown, path, say, stop));
        }
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let version = env!("CARGO_PKG_VERSION");
        let instance = Instance { name: name(), version, role: Role::Alone, dry_run, started };
        let somewhere = !tasks.is_empty();
        Ok(Showing { shown, served, instance, stop, tasks, events, somewhere })
    }

    /// Whether it is worth making a snapshot.
    pub fn is_of_use(&self) -> bool {
        self.somewhere
    }

    /// This is wanted from now on.
    pub fn want(&self, desired: &Desired) {
        if let Some(face) = &self.served {
            face.hook_by(hook::hooks(desired));
        }
    }

    /// Shows this from now on.
    pub fn publish(&self, snapshot: Snapshot) {
        self.shown.publish(Snapshot { instance: self.instance.clone(), ..snapshot });
    }

    /// Who this process is among others.
    pub fn name(&self) -> &str {
        &self.instance.name
    }

    /// What it is to the others from now on; whether it was something else.
    pub fn turn(&mut self, role: Role) -> bool {
        std::mem::replace(&mut self.instance.role, role) != role
    }

    /// The loop goes on.
    pub fn alive(&self) {
        self.shown.alive();
    }

    /// What is to be said in the log. Never ends.
    pub async fn event(&mut self) -> Event {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    /// Shows what was published last, and ends.
    pub async fn end(mut self) {
        self.stop.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> NotBegun {
    let why = said_by_system(&error.to_string());
    let problem = Problem::new(format!("listening on `{address}`: {why}"));
    NotBegun { exit: Exit::Failed, problems: vec![problem.hint("choose another port with `--listen`")] }
}

/// Who this process is among others: host and process.
pub fn name() -> String {
    format!("{}/{}", host(), std::process::id())
}

#[cfg(unix)]
fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn host() -> String {
    "host".into()
}
