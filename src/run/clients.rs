//! The clients of all backends of a run, behind the one interface that the engine's driver knows.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::drive::{Act, Look};
use super::embedded::InProcess;
use crate::api::client::{Client, Options, ReadOnly, ReadWrite, connect};
use crate::api::tls;
use crate::api::transport::Transport;
use crate::backend::connection::{Address, Connection};
use crate::core::digest::Digest;
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Write};
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::core::kind::{Kind, Kinds};
use crate::core::problem::Problem;
use crate::core::report::Requests;
use crate::server::{Embedded, Server, Store};

/// The ways to all backends, opened once: a plan and its application share them.
#[derive(Default)]
pub struct Transports {
    all: Vec<Way>,
}

/// The way to one backend.
struct Way {
    connection: Connection,
    /// Of its certificates and keys, which may change in their files.
    certificates: Digest,
    transport: Arc<dyn Transport>,
}

impl Transports {
    /// Opens all. Where nothing is going to be written, no store is made either.
    ///
    /// # Errors
    /// What cannot be opened, each with its backend: bad input, where that is the cause of any of them.
    pub fn open(
        connections: Vec<Connection>,
        parallel: Option<usize>,
        may_write: bool,
    ) -> Result<Transports, Unopened> {
        Transports::default().renewed(connections, parallel, may_write)
    }

    /// The ways to these backends: those that are as they were are kept, the others are opened.
    ///
    /// # Errors
    /// As [`Transports::open`].
    pub fn renewed(
        &self,
        connections: Vec<Connection>,
        parallel: Option<usize>,
        may_write: bool,
    ) -> Result<Transports, Unopened> {
        let (mut all, mut unopened) = (Vec::new(), Unopened::new(Exit::Failed, Vec::new()));
        for mut connection in connections {
            connection.limits.concurrency = parallel.or(connection.limits.concurrency);
            let certificates = tls::fingerprint(&connection.tls);
            let kept = self.all.iter().find(|way| way.serves(&connection, certificates));
            match kept.map_or_else(|| open(&connection, may_write), |way| Ok(way.transport.clone())) {
                Ok(transport) => all.push(Way { connection, certificates, transport }),
                Err((exit, problem)) => {
                    unopened.problems.push(problem);
                    if exit == Exit::BadInput {
                        unopened.exit = exit;
                    }
                }
            }
        }
        if unopened.problems.is_empty() { Ok(Transports { all }) } else { Err(unopened) }
    }

    /// The backends to which the way is another one than before, or new.
    pub fn other_than(&self, before: &Transports) -> Vec<Arc<str>> {
        let is_new = |way: &&Way| !before.all.iter().any(|old| old.is(way));
        self.all.iter().filter(is_new).map(|way| way.connection.name.clone()).collect()
    }

    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.all.iter().map(|way| &way.connection)
    }
}

impl Way {
    /// Whether it is the way to `connection`. A store is opened once in a process, whatever else is said of it.
    fn serves(&self, connection: &Connection, certificates: Digest) -> bool {
        let embedded = matches!(connection.address, Address::Embedded(_));
        let same = self.connection == *connection && self.certificates == certificates;
        same || (embedded && self.connection.address == connection.address)
    }

    /// Whether a client of the other one can be used here as well.
    fn is(&self, other: &Way) -> bool {
        self.connection == other.connection && Arc::ptr_eq(&self.transport, &other.transport)
    }
}

/// Why a run cannot begin.
#[derive(Debug)]
pub struct Unopened {
    /// Whether the input is wrong, or a backend cannot be had now.
    pub exit: Exit,
    pub problems: Vec<Problem>,
}

impl Unopened {
    pub fn new(exit: Exit, problems: Vec<Problem>) -> Unopened {
        Unopened { exit, problems }
    }
}

/// A store that is in use, is damaged or cannot be read is no fault of the input.
fn open(connection: &Connection, may_write: bool) -> Result<Arc<dyn Transport>, (Exit, Problem)> {
    let doing = format!("opening the backend `{}`", connection.name);
    match &connection.address {
        Address::Embedded(path) if !may_write && !path.exists() => {
            Ok(Arc::new(InProcess::Empty(Server::new(Store::in_memory()))))
        }
        Address::Embedded(path) => {
            let embedded = Embedded::open(path).map_err(|error| {
                (Exit::Failed, Problem::new(format!("{doing}: {error}")).hint(error.hint()))
            })?;
            Ok(Arc::new(InProcess::Stored(embedded)))
        }
        Address::Http(_) => {
            connect(connection).map_err(|error| (Exit::BadInput, Problem::new(format!("{doing}: {error}"))))
        }
    }
}

/// A client for each backend; what it may do is its type's business.
pub struct Clients<Mode> {
    clients: HashMap<Arc<str>, Client<Mode>>,
    kinds: Kinds,
}

impl Clients<ReadOnly> {
    /// Clients that cannot write.
    pub fn read_only(transports: &Transports, kinds: &Kinds, options: &Options) -> Result<Self, Problem> {
        Self::make(transports, kinds, |way| {
            Client::read_only(&way.connection, options.clone(), way.transport.clone())
        })
    }

    /// The clients for `now`, those of `before` among them that are as good: they know their limits and are logged in.
    pub fn read_only_renewed(
        &self,
        before: &Transports,
        now: &Transports,
        kinds: &Kinds,
        options: &Options,
    ) -> Result<Self, Problem> {
        Self::make(now, kinds, |way| match self.kept(before, way) {
            Some(client) => Ok(client),
            None => Client::read_only(&way.connection, options.clone(), way.transport.clone()),
        })
    }
}

impl Clients<ReadWrite> {
    /// Clients that can write.
    pub fn read_write(transports: &Transports, kinds: &Kinds, options: &Options) -> Result<Self, Problem> {
        Self::make(transports, kinds, |way| {
            Client::read_write(&way.connection, options.clone(), way.transport.clone())
        })
    }

    /// The clients for `now`, those of `before` among them that are as good: they know their limits and are logged in.
    pub fn read_write_renewed(
        &self,
        before: &Transports,
        now: &Transports,
        kinds: &Kinds,
        options: &Options,
    ) -> Result<Self, Problem> {
        Self::make(now, kinds, |way| match self.kept(before, way) {
            Some(client) => Ok(client),
            None => Client::read_write(&way.connection, options.clone(), way.transport.clone()),
        })
    }
}

impl<Mode> Clients<Mode> {
    fn make<E: std::fmt::Display>(
        transports: &Transports,
        kinds: &Kinds,
        client: impl Fn(&Way) -> Result<Client<Mode>, E>,
    ) -> Result<Self, Problem> {
        let mut clients = HashMap::new();
        for way in &transports.all {
            let name = &way.connection.name;
            let made = client(way)
                .map_err(|error| Problem::new(format!("opening the backend `{name}`: {error}")))?;
            clients.insert(name.clone(), made);
        }
        Ok(Clients { clients, kinds: kinds.clone() })
    }

    /// The client of a way that is as it was.
    fn kept(&self, before: &Transports, way: &Way) -> Option<Client<Mode>> {
        let same = before.all.iter().any(|old| old.is(way));
        self.clients.get(&way.connection.name).filter(|_| same).cloned()
    }

    /// The requests that all clients sent.
    pub fn requests(&self) -> Requests {
        let mut sum = Requests::default();
        for client in self.clients.values() {
            sum += client.requests();
        }
        sum
    }

    /// The backends that are not asked something or other before a time, since the beginning of 1970, as they want
    /// it so.
    pub fn closed(&self) -> impl Iterator<Item = (&Arc<str>, Duration)> {
        self.clients.iter().filter_map(|(name, client)| Some((name, client.closed()?)))
    }

    /// Asks them again all the same: one backend, or all.
    pub fn open_closed(&self, backend: Option<&str>) {
        let all = self.clients.iter().filter(|(name, _)| backend.is_none_or(|backend| ***name == *backend));
        all.for_each(|(_, client)| client.open());
    }

    /// The client of a backend.
    pub fn client(&self, backend: &str) -> Option<&Client<Mode>> {
        self.clients.get(backend)
    }

    fn of(&self, name: &KindName) -> Result<(&Arc<Kind>, &Client<Mode>), Answer> {
        let kind = self.kinds.get(name);
        kind.zip(self.clients.get(&name.backend)).ok_or_else(|| {
            Answer::Failed(Failure {
                class: FailureClass::Backend,
                message: format!("there is no connection to the backend `{}`", name.backend),
                hint: None,
                retry_after: None,
            })
        })
    }
}

impl<Mode: Send + Sync> Look for Clients<Mode> {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self.of(ask.kind()) {
                Ok((kind, client)) => client.ask(kind, ask).await,
                Err(answer) => answer,
            }
        })
    }
}

impl Act for Clients<ReadWrite> {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            match self.of(&write.target().id.kind) {
                Ok((kind, client)) => client.write(kind, write).await,
                Err(answer) => answer,
            }
        })
    }
}
