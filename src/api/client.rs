//! The client of one backend: the engine's questions and writes, answered.
//!
//! What may write is a matter of type. [`Client<ReadOnly>`] has no `write`, and its transport refuses every
//! request that is not declared to change nothing, whatever its HTTP method.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::auth::Credentials;
use super::exchange::{Guarded, Line, now};
use super::feed::{self, Ended, Feed};
use super::http::HttpTransport;
use super::issuer::Issuer;
use super::limit::Limiter;
use super::list::{self, Job};
use super::tls::TlsError;
use super::transport::{Transport, TransportError};
use crate::backend::answer::{self, Asked};
use crate::backend::base::{Base, BaseError};
use crate::backend::connection::{Auth, Connection, Text};
use crate::backend::derived;
use crate::backend::operation;
use crate::backend::probe::{SeenListing, SeenRead};
use crate::backend::refusal::Context;
use crate::backend::request::{self, Site, backend_failure};
use crate::backend::token;
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::exchange::{
    Answer, Ask, Collection, Failure, Operation, ParentIds, Target, VersionToken, Wanted, Write,
};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Op, Read, Version};
use crate::core::redact::Redactor;
use crate::core::report::Requests;
use crate::core::secrets::Secrets;

/// Holds what can ask and cannot write.
#[derive(Clone, Copy, Debug)]
pub enum ReadOnly {}

/// Holds what can write.
#[derive(Clone, Copy, Debug)]
pub enum ReadWrite {}

/// A client of one backend. Cheap to clone; its clones share limits and credentials.
pub struct Client<Mode> {
    line: Arc<Line>,
    mode: PhantomData<Mode>,
}

/// What a client is made of besides its backend.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The value of `TRUEUP_ALLOW_EXEC`: the commands that may give credentials.
    pub allow_exec: Option<String>,
    /// What must not be printed: the secrets of the input, and those that clients are told.
    pub secrets: Secrets,
    pub credentials: Credentials,
    /// A server that asks for patience is obeyed for so long at most; `None`: for as long as it says.
    pub patience: Option<Duration>,
}

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(transparent)]
    Base(#[from] BaseError),
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A transport over sockets, for backends with a URL.
///
/// # Errors
/// A URL that is none; certificates that cannot be used.
pub fn connect(connection: &Connection) -> Result<Arc<dyn Transport>, ClientError> {
    let base = Base::of(&connection.address)?;
    Ok(Arc::new(HttpTransport::new(base, &connection.tls, &connection.limits)?))
}

impl Client<ReadOnly> {
    /// A client that cannot write.
    ///
    /// # Errors
    /// A URL that is none.
    pub fn read_only(
        connection: &Connection,
        options: Options,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, ClientError> {
        Client::new(connection, options, Guarded::new(transport, false))
    }
}

impl Client<ReadWrite> {
    /// A client that can write.
    ///
    /// # Errors
    /// A URL that is none.
    pub fn read_write(
        connection: &Connection,
        options: Options,
        transport: Arc<dyn Transport>,
    ) -> Result<Self, ClientError> {
        Client::new(connection, options, Guarded::new(transport, true))
    }

    /// Writes, once. The answer is a hint: what came of it is known after a read.
    pub async fn write(&self, kind: &Arc<Kind>, write: &Write) -> Answer {
        let written = request::operation(kind, write).map(|(role, op, target)| (role, op, target.clone()));
        match written {
            Ok((role, op, target)) => self.line.write(kind, role, op, target, write).await,
            Err(failure) => Answer::Failed(failure),
        }
    }
}

impl<Mode> Client<Mode> {
    fn new(connection: &Connection, options: Options, transport: Guarded) -> Result<Self, ClientError> {
        let auth = options.credentials.of(connection, options.allow_exec);
        let base = Base::of(&connection.address)?;
        let issuer = Issuer::of(connection, &base, auth.source())?;
        let site = Site { base, owner: connection.owner.clone(), credential: auth.source() };
        let limiter = Limiter::new(&connection.limits);
        let headers = connection.headers.clone();
        let secrets = options.secrets;
        secrets.learn(headers.iter().filter_map(|(_, value)| match value {
            Text::Secret(secret) => secret.reveal(),
            Text::Plain(_) => None,
        }));
        if let Some(Auth::Token(call)) = &connection.auth {
            secrets.learn(token::secrets(call));
        }
        let line = Line::new(site, auth, headers, limiter, transport, issuer, secrets);
        let line = line.obeying(options.patience);
        Ok(Client { line: Arc::new(line), mode: PhantomData })
    }

    /// Lists or reads.
    pub async fn ask(&self, kind: &Arc<Kind>, ask: &Ask) -> Answer {
        match ask {
            Ask::List(collection, wanted) => list::list(&self.line, kind, collection, wanted).await,
            Ask::Read(target) => self.line.read(kind, target).await.unwrap_or_else(Answer::Failed),
            Ask::Check(write) => self.line.check(kind, write).await.unwrap_or_else(Answer::Failed),
            Ask::Operation(target, operation) => {
                self.line.progress(target, operation).await.unwrap_or_else(Answer::Failed)
            }
        }
    }

    /// The first pages of a collection, at most so many, with the answers as they came.
    pub async fn sample(&self, kind: &Arc<Kind>, collection: &Collection, pages: usize) -> SeenListing {
        match Job::begin(&self.line, kind, collection, &Wanted::All).await {
            Ok(job) => job.sample(pages).await,
            Err(failure) => SeenListing { failure: Some(failure), ..SeenListing::default() },
        }
    }

    /// One object's own read, with the answer as it came.
    ///
    /// # Errors
    /// There is no answer, or no request that could have one.
    pub async fn look(&self, kind: &Kind, target: &Target) -> Result<SeenRead, Failure> {
        self.line.look(kind, target).await
    }

    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// Opens the change feed of a kind, from a position or from now on. It counts as a listing: what cannot write
    /// may follow too.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn feed(
        &self,
        kind: &Arc<Kind>,
        collection: &Collection,
        position: Option<&str>,
    ) -> Result<Feed, Ended> {
        feed::open(&self.line, kind, collection, position).await
    }

    /// The requests that were sent, by role.
    pub fn requests(&self) -> Requests {
        self.line.counts()
    }

    /// Until when the server is not asked something or other, as it wants it so; since the beginning of 1970.
    pub fn closed(&self) -> Option<Duration> {
        self.line.closed().until()
    }

    /// Asks the server again, whatever patience it asked for: a person wants it so.
    pub fn open(&self) {
        self.line.closed().open();
    }
}

impl<Mode> Clone for Client<Mode> {
    fn clone(&self) -> Self {
        Client { line: self.line.clone(), mode: PhantomData }
    }
}

impl Line {
    async fn read(&self, kind: &Kind, target: &Target) -> Result<Answer, Failure> {
        self.look(kind, target).await.map(|seen| seen.told)
    }

    async fn look(&self, kind: &Kind, target: &Target) -> Result<SeenRead, Failure> {
        let doing = format!("reading {}", target.id);
        let Read::Op(op) = &kind.read else {
            let what = format!("{} has no read of its own", kind.name.kind);
            return Err(self.judge(&doing, |context| context.wrap(backend_failure(what))));
        };
        // Before the item: a version that is older than the item leads to a conflict, a newer one to a lost
        // update.
        let id = target.server_id.as_deref();
        let version = self.version(kind, &target.id.key, &target.parent_ids, id, &doing).await?;
        let request = request::read(&self.site, op, target);
        let request = request.map_err(|failure| self.judge(&doing, |context| context.wrap(failure)))?;
        let (url, answer) = self.send(&doing, request).await?;
        let asked = Asked { kind, op, target, url: &url };
        let told = self.judge(&doing, |context| answer::read(context, asked, &answer, version));
        Ok(SeenRead { answer, told })
    }

    /// A dry run of a write.
    async fn check(&self, kind: &Kind, write: &Write) -> Result<Answer, Failure> {
        let target = write.target();
        let doing = format!("checking {}", target.id);
        let wrap = |failure| self.judge(&doing, |context| context.wrap(failure));
        let (op, request) = request::check(&self.site, kind, write).map_err(wrap)?;
        self.learn(derived::of_write(kind, op, write, &self.redactor()));
        let (url, answer) = self.send(&doing, request).await?;
        let asked = Asked { kind, op, target, url: &url };
        Ok(self.judge(&doing, |context| answer::check(context, asked, &answer)))
    }

    async fn write(&self, kind: &Kind, role: Role, op: &Op, mut target: Target, write: &Write) -> Answer {
        let verb = match role {
            Role::Create => "creating",
            Role::Update => "updating",
            _ => "deleting",
        };
        let doing = match write.members().len() {
            1 => format!("{verb} {}", target.id),
            n => format!("{verb} {} and {} more", target.id, n - 1),
        };
        let wrap = |failure| self.judge(&doing, |context| context.wrap(failure));
        let written = async {
            let mut write = write.clone();
            if target.version.is_none() && op.says_version() {
                let id = target.server_id.as_deref();
                target.version = self.version(kind, &target.id.key, &target.parent_ids, id, &doing).await?;
                // What has a version of its own goes in no batch.
                if let Write::Create(whole, _) | Write::Update(whole, _) | Write::Delete(whole) = &mut write {
                    whole.version.clone_from(&target.version);
                }
            }
            let request = request::write(&self.site, kind, &write).map_err(wrap)?;
            request::remake(&self.site, kind, &write).map_err(wrap)?;
            self.learn(derived::of_write(kind, op, &write, &self.redactor()));
            let (url, answer) = self.send(&doing, request).await?;
            let asked = Asked { kind, op, target: &target, url: &url };
            Ok(self.judge(&doing, |context| answer::write(context, asked, role, &answer)))
        };
        let answer = written.await.unwrap_or_else(Answer::Failed);
        if let Answer::Begun { operation, .. } = &answer {
            let at = self.redactor().text(&operation.url).into_owned();
            tracing::info!("{doing}: the server is at it, as {at} tells");
        }
        answer
    }

    /// How far the server is with an operation.
    async fn progress(&self, target: &Target, operation: &Operation) -> Result<Answer, Failure> {
        let doing = format!("waiting for {} at `{}`", target.id, operation.url);
        let request = request::operation_under_way(&operation.url);
        let (_, answer) = self.send(&doing, request).await?;
        Ok(self.judge(&doing, |context| operation::progress(context, target, operation, &answer)))
    }

    /// The version that a request of its own tells, for kinds that have it so.
    pub(super) async fn version(
        &self,
        kind: &Kind,
        key: &Key,
        parent_ids: &ParentIds,
        id: Option<&str>,
        doing: &str,
    ) -> Result<Option<VersionToken>, Failure> {
        let Version::Request(op, filter) = &kind.version else { return Ok(None) };
        let request = request::version(&self.site, op, key, parent_ids, id);
        let request = request.map_err(|failure| self.judge(doing, |context| context.wrap(failure)))?;
        let (_, answer) = self.send(doing, request).await?;
        self.judge(doing, |context| answer::version(context, filter, &answer))
    }

    /// Sends a request; what goes wrong is said of what was being done.
    pub(super) async fn send(
        &self,
        doing: &str,
        request: HttpRequest,
    ) -> Result<(url::Url, HttpAnswer), Failure> {
        self.exchange(request).await.map_err(|error: TransportError| {
            self.judge(doing, |context| {
                context.fail(error.class.failure(), &error.message, error.hint.clone())
            })
        })
    }

    /// Runs what judges an answer.
    pub(super) fn judge<T>(&self, doing: &str, run: impl FnOnce(&Context) -> T) -> T {
        let redactor: Arc<Redactor> = self.redactor();
        run(&Context { site: &self.site, doing, now: now(), redactor: &redactor })
    }
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "hostile_tests.rs"]
mod hostile;
