//! What every verb begins with: load the input, keep its secrets out of the output, open its backends; and
//! what every run is bounded by: signals and the time for all of it.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::time::Duration;

use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::options::{Consents, Effort, Output, Sources};
use crate::api::exposed;
use crate::core::exit::{Exit, Verb};
use crate::core::problem::Problem;
use crate::core::prune::{Gates, Holds};
use crate::core::secrets::{Secrets, password_in};
use crate::manifest::{Chosen, Selection};
use crate::render::out::{Format, Out};
use crate::render::progress::{Progress, progress};
use crate::run::drive::Limits;
use crate::run::input::{self, Input, Reach};
use crate::run::runner::{Choices, Runner};
use crate::run::sweep::Through;

/// A loaded input, and the secrets that are kept out of the output.
pub struct Loaded {
    pub input: Input,
    pub secrets: Secrets,
}

/// Loads; what is wrong has been said when this fails.
///
/// # Errors
/// The exit code.
pub fn load(command: &str, sources: &Sources, reach: Reach, out: &mut Out) -> Result<Loaded, Exit> {
    let selection = Selection::new(&sources.labels, &sources.only, &sources.exclude).map_err(|error| {
        out.error(&Problem::new(error.to_string()));
        Exit::Usage
    })?;
    let chooses = !matches!(reach, Reach::Kinds(_) | Reach::Backends(_));
    let loaded = load_from(
        command,
        input::Sources {
            files: sources.files.clone(),
            backends: sources.backends.clone(),
            allow_env: sources.allow_env.clone(),
            selection,
            alone: command == Verb::Delete.word(),
            keep: sources.keep,
            base: sources.base.clone(),
            record: sources.record.clone(),
            ..input::Sources::default()
        },
        reach,
        out,
    )?;
    if chooses {
        chosen(&loaded.input, out)?;
    }
    Ok(loaded)
}

/// [`load`] without a look at what was chosen.
///
/// # Errors
/// The exit code.
pub fn load_from(
    command: &str,
    sources: input::Sources,
    reach: Reach,
    out: &mut Out,
) -> Result<Loaded, Exit> {
    out.secrets().learn(proxy_passwords());
    let loaded = input::load(sources, reach, &|name| std::env::var_os(name));
    out.secrets().learn(&loaded.secrets);
    match loaded.input {
        Ok(input) => {
            for warning in &input.warnings {
                out.error(warning);
            }
            Ok(Loaded { input, secrets: out.secrets() })
        }
        Err(problems) => {
            out.problems(&problems, command);
            Err(Exit::BadInput)
        }
    }
}

/// The token in a variable of the environment.
///
/// # Errors
/// It is not set, or empty.
pub fn token(name: &str) -> Result<String, Problem> {
    let token = std::env::var(name).ok().filter(|token| !token.is_empty());
    token.ok_or_else(|| {
        Problem::new(format!("the variable `{name}` is not set"))
            .hint("`--token-env` names the token's variable")
    })
}

/// The passwords of the proxies that the environment names: what goes wrong on the way may be told with them.
pub fn proxy_passwords() -> Vec<String> {
    const PROXIES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    let names = PROXIES.iter().flat_map(|name| [(*name).to_owned(), name.to_lowercase()]);
    let urls = names.filter_map(|name| std::env::var(name).ok());
    urls.filter_map(|url| password_in(&url).map(str::to_owned)).collect()
}

/// Says what is wrong with the choice of documents.
fn chosen(input: &Input, out: &mut Out) -> Result<(), Exit> {
    match input.selection.of(&input.documents) {
        Chosen::Some(warnings) => {
            warnings.iter().for_each(|warning| out.error(warning));
            Ok(())
        }
        Chosen::None(problem) => {
            out.error(&problem);
            Err(Exit::Usage)
        }
    }
}

/// Opens the backends of a loaded input.
///
/// # Errors
/// The exit code; what is wrong has been said.
pub fn open(
    command: &str,
    loaded: Loaded,
    effort: Effort,
    consents: &Consents,
    out: &mut Out,
) -> Result<Runner, Exit> {
    let exposed = loaded.input.connections.iter().flat_map(exposed::warnings);
    // Two backends may have one file; the hint has its name.
    let mut told = BTreeSet::new();
    exposed.filter(|warning| told.insert(warning.hint.clone())).for_each(|warning| out.error(&warning));
    let choices = Choices {
        may_write: matches!(command, "apply" | "delete" | "watch"),
        parallel: effort.parallel,
        replace: consents.replace.clone(),
        rotate: consents.rotate.clone(),
        force_conflicts: consents.force_conflicts.clone(),
        suggest: consents.suggest,
        allow_exec: std::env::var("TRUEUP_ALLOW_EXEC").ok(),
        seed: fastrand::u64(..),
    };
    Runner::open(loaded.input, loaded.secrets, choices).map_err(|unopened| {
        out.problems(&unopened.problems, command);
        unopened.exit
    })
}

/// Finds what is in the scope of the Sets and in no document, where that is `asked`, and what ReplicaSets have too
/// much; adds to the run what is to be deleted. `holds` has the last word on each of it.
///
/// # Errors
/// The exit code; what is wrong has been said.
pub async fn sweep(
    runner: &mut Runner,
    asked: bool,
    gates: &Gates,
    holds: Holds<'_>,
    limits: &Limits,
    out: &mut Out,
) -> Result<(), Exit> {
    if !asked && !runner.has_replicas() {
        return Ok(());
    }
    if asked && !runner.has_sets() {
        let problem = Problem::new("there is no Set: nothing says what is to be looked through");
        out.error(&problem.hint("add a document of `apiVersion: trueup/v1`, `kind: Set`, with a `scope`"));
        return Err(Exit::Usage);
    }
    if let Some(problem) = runner.unknown_limit(&gates.max_deletes_of) {
        out.error(&problem);
        return Err(Exit::Usage);
    }
    let what = if asked { Through::All } else { Through::Replicas };
    match in_time(runner.sweep(what, gates, holds), limits).await {
        Ok(swept) => swept.map_err(|problem| failed(&problem, out)),
        Err(ended) => Err(ended.told(out)),
    }
}

/// Says what a run could not begin with.
pub fn failed(problem: &Problem, out: &mut Out) -> Exit {
    out.error(problem);
    Exit::Failed
}

/// Ends when the time for a run is over; never where there is none.
pub async fn over(timeout: Option<Duration>) {
    match timeout {
        Some(timeout) => tokio::time::sleep(timeout).await,
        None => std::future::pending().await,
    }
}

/// The bar of a run, shown to a person who waits.
pub fn bar(output: &Output) -> Box<dyn Progress> {
    progress(output.format == Format::Text && !output.quiet && io::stderr().is_terminal())
}

/// The time that a run took, as far as it is to be told: the same state gives the same bytes elsewhere.
pub fn told(elapsed: Duration) -> Option<Duration> {
    io::stdout().is_terminal().then_some(elapsed)
}

/// The runtime of a run: one thread, on which engine and connections hand each other their work without waking
/// another thread for every request. Pages are read on threads of their own.
pub fn one_thread() -> Builder {
    Builder::new_current_thread()
}

/// The runtime of the server: a thread for each core, as its requests have nothing to do with each other.
pub fn all_threads() -> Builder {
    Builder::new_multi_thread()
}

/// Runs asynchronous work to its end, bounded by `effort` and by signals: the first ends the run in good
/// order, the second at once.
///
/// # Errors
/// The exit code, when there can be no runtime.
pub fn block_on<T>(
    mut threads: Builder,
    effort: Effort,
    out: &mut Out,
    work: impl AsyncFnOnce(&Limits, &mut Out) -> T,
) -> Result<T, Exit> {
    let runtime = threads.enable_all().build();
    let runtime =
        runtime.map_err(|error| failed(&Problem::new(format!("starting the runtime: {error}")), out))?;
    let limits = Limits { timeout: effort.timeout, ..Limits::default() };
    let done = runtime.block_on(async {
        // Caught before any work begins: a signal that comes at once must not end the process in its middle.
        if let Some(ends) = Ends::new() {
            tokio::spawn(heed_signals(ends, limits.stop.clone(), limits.abort.clone()));
        }
        work(&limits, out).await
    });
    // A request that nobody waits for any more must not hold up the end.
    runtime.shutdown_background();
    Ok(done)
}

/// Why something did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Interrupted,
    TimedOut,
}

impl Ended {
    /// Says why, where a person does not know.
    pub fn told(self, out: &mut Out) -> Exit {
        match self {
            Ended::Interrupted => Exit::Interrupted,
            Ended::TimedOut => failed(&Problem::new("listing took longer than `--timeout` allows"), out),
        }
    }
}

/// Does something that takes no signal itself, unless a signal or the time for the whole run ends it.
///
/// # Errors
/// What ended it.
pub async fn in_time<T>(work: impl Future<Output = T>, limits: &Limits) -> Result<T, Ended> {
    tokio::select! {
        done = work => Ok(done),
        () = limits.stop.cancelled() => Err(Ended::Interrupted),
        () = over(limits.timeout) => Err(Ended::TimedOut),
    }
}

async fn heed_signals(mut ends: Ends, stop: CancellationToken, abort: CancellationToken) {
    ends.next().await;
    stop.cancel();
    ends.next().await;
    abort.cancel();
}

/// Interrupts and requests to end. They are caught from the moment this is made, each of them once.
#[cfg(unix)]
struct Ends([tokio::signal::unix::Signal; 2]);

#[cfg(unix)]
impl Ends {
    /// `None` where the system does not let them be caught: then they end the process, as they do anyway.
    fn new() -> Option<Ends> {
        use tokio::signal::unix::{SignalKind, signal};
        Some(Ends([signal(SignalKind::interrupt()).ok()?, signal(SignalKind::terminate()).ok()?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Ends;

#[cfg(not(unix))]
impl Ends {
    fn new() -> Option<Ends> {
        Some(Ends)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
