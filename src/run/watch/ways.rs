//! The clients of all backends, opened once and kept: all passes share their limits and credentials.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::api::auth::Credentials;
use crate::api::client::{Options, ReadOnly, ReadWrite};
use crate::api::exposed;
use crate::backend::connection::Connection;
use crate::core::exchange::{Answer, Ask, Failure, FailureClass, LONGEST_PATIENCE, Write};
use crate::core::exit::Exit;
use crate::core::identity::KindName;
use crate::core::kind::Kinds;
use crate::core::problem::Problem;
use crate::core::report::Requests;
use crate::core::secrets::Secrets;
use crate::core::veil::Veil;
use crate::core::watch::About;
use crate::render::watch::time::date;
use crate::run::clients::{Clients, Transports, Unopened};
use crate::run::drive::{Act, Look};

/// What ways are opened with.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// The clients cannot write.
    pub read_only: bool,
    /// Requests at once, to each backend.
    pub parallel: Option<usize>,
    /// The value of `TRUEUP_ALLOW_EXEC`.
    pub allow_exec: Option<String>,
    pub secrets: Secrets,
}

/// The ways to all backends of a desired set.
pub struct Ways {
    transports: Transports,
    pub clients: Held,
    kinds: Kinds,
    secrets: Secrets,
}

/// Whether anything can be written is a matter of type: a dry run holds clients that take no write.
pub enum Held {
    ReadOnly(Clients<ReadOnly>),
    ReadWrite(Clients<ReadWrite>),
}

impl Look for Ways {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Answer> {
        match &self.clients {
            Held::ReadOnly(clients) => clients.ask(ask),
            Held::ReadWrite(clients) => clients.ask(ask),
        }
    }
}

impl Act for Ways {
    fn write<'a>(&'a self, write: &'a Write) -> BoxFuture<'a, Answer> {
        match &self.clients {
            Held::ReadWrite(clients) => clients.write(write),
            Held::ReadOnly(_) => Box::pin(std::future::ready(Answer::Failed(Failure {
                class: FailureClass::Backend,
                message: "this command never writes".into(),
                hint: None,
                retry_after: None,
            }))),
        }
    }
}

impl Ways {
    /// Opens the ways; those of `before` that lead to the same place with the same credentials are kept.
    ///
    /// # Errors
    /// Backends that cannot be opened.
    pub fn open(
        opening: &Opening,
        connections: Vec<Connection>,
        kinds: &Kinds,
        before: Option<&Ways>,
    ) -> Result<Ways, Unopened> {
        let nothing = Transports::default();
        let known = before.map_or(&nothing, |before| &before.transports);
        let transports = known.renewed(connections, opening.parallel, !opening.read_only)?;
        let options = Options {
            allow_exec: opening.allow_exec.clone(),
            secrets: opening.secrets.clone(),
            // Those that are kept have their own.
            credentials: Credentials::default(),
            patience: Some(LONGEST_PATIENCE),
        };
        let clients = match (opening.read_only, before.map(|before| &before.clients)) {
            (true, Some(Held::ReadOnly(old))) => {
                old.read_only_renewed(known, &transports, kinds, &options).map(Held::ReadOnly)
            }
            (true, _) => Clients::read_only(&transports, kinds, &options).map(Held::ReadOnly),
            (false, Some(Held::ReadWrite(old))) => {
                old.read_write_renewed(known, &transports, kinds, &options).map(Held::ReadWrite)
            }
            (false, _) => Clients::read_write(&transports, kinds, &options).map(Held::ReadWrite),
        };
        let clients = clients.map_err(|problem| Unopened::new(Exit::Failed, vec![problem]))?;
        Ok(Ways { transports, clients, kinds: kinds.clone(), secrets: opening.secrets.clone() })
    }

    /// The backends that are reached otherwise than before, or were not reached before.
    pub fn other_than(&self, before: &Ways) -> Vec<Arc<str>> {
        self.transports.other_than(&before.transports)
    }

    /// What is to be said of files with credentials that others can reach.
    pub fn exposed(&self) -> Vec<Problem> {
        self.transports.connections().flat_map(exposed::warnings).collect()
    }

    /// The backends that ask for patience, and until when they are not asked: sentences, by the backend's name.
    pub fn closed(&self) -> Vec<String> {
        let told = |(name, until): (&Arc<str>, Duration)| {
            let date = date(until);
            format!("backend `{name}` asks for patience (`Retry-After`): it is asked again at {date}")
        };
        let mut all: Vec<String> = match &self.clients {
            Held::ReadOnly(clients) => clients.closed().map(told).collect(),
            Held::ReadWrite(clients) => clients.closed().map(told).collect(),
        };
        all.sort_unstable();
        all
    }

    /// A person wants this looked at, whatever patience the servers asked for.
    pub fn ask_anyway(&self, about: &About) {
        let backend = match about {
            About::All => None,
            About::Target(name) => Some(&**name),
            About::Object(id) => Some(&*id.kind.backend),
            // It begins with the backend.
            About::Group(name) | About::Failing(name) => name.split('/').next(),
        };
        match &self.clients {
            Held::ReadOnly(clients) => clients.open_closed(backend),
            Held::ReadWrite(clients) => clients.open_closed(backend),
        }
    }

    /// Keeps what the server has in the place of secrets out of all output from now on: a later answer may repeat it
    /// where nothing shows that it is one, and the pass that saw it is over by then.
    pub fn remember(&self, kind: &KindName, answer: &Answer) {
        let items = match answer {
            Answer::Listed(listing) => &listing.items[..],
            Answer::Found(item) => std::slice::from_ref(item),
            _ => return,
        };
        let Some(kind) = self.kinds.get(kind) else { return };
        let veil = Veil::of_rules(&kind.fields);
        if !veil.is_empty() {
            self.secrets.remember(items.iter().flat_map(|item| Veil::telling(&[&veil], &item.value)));
        }
    }

    /// The requests that were sent, by role.
    pub fn requests(&self) -> Requests {
        match &self.clients {
            Held::ReadOnly(clients) => clients.requests(),
            Held::ReadWrite(clients) => clients.requests(),
        }
    }
}
