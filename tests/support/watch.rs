//! A watch that shows itself on a port of this process, with objects in trouble and names that would do harm.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::mpsc::{Receiver, channel};
use tokio_util::sync::CancellationToken;
use trueup::core::digest::Digest;
use trueup::core::identity::{Key, KindName, ObjectId};
use trueup::core::node::{Origin, Pos};
use trueup::core::problem::Problem;
use trueup::core::secrets::Secrets;
use trueup::core::watch::{
    Condition, ConditionKind, Desired, Hint, Instance, ObjectStatus, Snapshot, Status, TargetStatus, Truth,
};
use trueup::run::watch::face::Face;
use trueup::run::watch::outbox::Outbox;
use trueup::run::watch::port;
use trueup::run::watch::shown::Shown;

/// What acts on a browser, a terminal or a reader.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'\u{202e}evil\u{1b}[2J";

pub fn object(name: &str, held: &[(ConditionKind, Truth, &'static str, &str)]) -> ObjectStatus {
    let kind = KindName { backend: "rabbitmq".into(), kind: "Queue".into() };
    let conditions = held.iter().map(|(kind, truth, reason, message)| Condition {
        kind: *kind,
        truth: *truth,
        reason,
        message: (*message).into(),
        since: Duration::ZERO,
        observed: Some(Digest(7)),
    });
    ObjectStatus {
        id: ObjectId { kind, key: Key::new(vec![("name".into(), name.into())]) },
        origin: Origin { file: "manifests/queues.yaml".into(), at: Pos { line: 14, column: 1 } },
        desired: Digest(7),
        conditions: conditions.collect(),
        attempts: 3,
        next: Some(Duration::from_secs(300)),
        synced: Some(Duration::ZERO),
        writes: 1,
    }
}

/// Trouble of several sorts, and three hundred objects that are well.
pub fn snapshot() -> Snapshot {
    use ConditionKind::{Conflict, Fighting, Ready, Stalled, Synced};
    let long = format!("{HOSTILE} {}", "a-name-without-any-place-to-break-it".repeat(8));
    let mut objects: Vec<ObjectStatus> =
        (0..300).map(|at| object(&format!("orders-{at}"), &[(Synced, Truth::True, "InSync", "")])).collect();
    objects.extend([
        object(&long, &[(Synced, Truth::False, "Failed", &long), (Stalled, Truth::True, "NoRetry", &long)]),
        object(
            "contested",
            &[(Synced, Truth::False, "Conflict", HOSTILE), (Conflict, Truth::True, "Conflict", "both")],
        ),
        object(
            "fought",
            &[(Synced, Truth::False, "Differs", "x"), (Fighting, Truth::True, "OtherWriter", "y")],
        ),
        object("starting", &[(Synced, Truth::True, "InSync", ""), (Ready, Truth::False, "NotReady", "")]),
    ]);
    let problem = Problem::new(HOSTILE).hint(long.clone());
    let target = TargetStatus {
        name: "rabbitmq".into(),
        open: true,
        message: Some(long.clone()),
        since: Duration::ZERO,
        next: Some(Duration::from_secs(15)),
    };
    Snapshot {
        instance: Instance { name: HOSTILE.into(), version: "0.1.0", ..Instance::default() },
        desired: Desired {
            valid: false,
            problems: vec![problem],
            loads: 1,
            failures: 1,
            ..Desired::default()
        },
        status: Status { objects, targets: vec![target], warnings: vec![long], ..Status::default() },
        seen_all: true,
        ..Snapshot::default()
    }
}

/// The port, and what is heard on it.
pub struct Watch {
    pub address: SocketAddr,
    pub hints: Receiver<Hint>,
}

impl Watch {
    /// Runs until the runtime around it ends.
    pub async fn start(snapshot: Snapshot) -> Watch {
        let shown = Shown::new(tokio::time::Instant::now(), Secrets::default());
        shown.publish(snapshot);
        let (sender, hints) = channel(16);
        let face = Face::new(shown, Outbox::new(sender));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(port::serve(listener, Arc::new(face), CancellationToken::new()));
        Watch { address, hints }
    }
}
