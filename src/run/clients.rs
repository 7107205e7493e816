//! The clients of all backends of a run, behind the one interface that the engine's driver knows.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::drive::{Act, Look};
use super::embedded::InProcess;
use crate::api::client::{Client, Options, ReadOnly, ReadWrite, connect};
use crate::api::transport::Transport;
use crate::backend::connection::{Address, Connection};
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, Write};
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::core::kind::{Kind, Kinds};
use crate::core::problem::Problem;
use crate::core::report::Requests;
use crate::server::{Embedded, Server, Store};

/// The ways to all backends, opened once: a plan and its application share them.
pub struct Transports {
    all: Vec<(Connection, Arc<dyn Transport>)>,
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
        let (mut all, mut unopened) = (Vec::new(), Unopened::new(Exit::Failed, Vec::new()));
        for mut connection in connections {
            connection.limits.concurrency = parallel.or(connection.limits.concurrency);
            match open(&connection, may_write) {
                Ok(transport) => all.push((connection, transport)),
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
        Self::make(transports, kinds, |connection, transport| {
            Client::read_only(connection, options.clone(), transport)
        })
    }
}

impl Clients<ReadWrite> {
    /// Clients that can write.
    pub fn read_write(transports: &Transports, kinds: &Kinds, options: &Options) -> Result<Self, Problem> {
        Self::make(transports, kinds, |connection, transport| {
            Client::read_write(connection, options.clone(), transport)
        })
    }
}

impl<Mode> Clients<Mode> {
    fn make<E: std::fmt::Display>(
        transports: &Transports,
        kinds: &Kinds,
        client: impl Fn(&Connection, Arc<dyn Transport>) -> Result<Client<Mode>, E>,
    ) -> Result<Self, Problem> {
        let mut clients = HashMap::new();
        for (connection, transport) in &transports.all {
            let made = client(connection, transport.clone()).map_err(|error| {
                Problem::new(format!("opening the backend `{}`: {error}", connection.name))
            })?;
            clients.insert(connection.name.clone(), made);
        }
        Ok(Clients { clients, kinds: kinds.clone() })
    }

    /// The requests that all clients sent.
    pub fn requests(&self) -> Requests {
        let mut sum = Requests::default();
        for client in self.clients.values() {
            sum += client.requests();
        }
        sum
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
