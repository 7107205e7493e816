//! `trueup watch`: the loop as a process, or one turn of it.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use ring::rand::{SecureRandom as _, SystemRandom};
use tokio::runtime::Builder;
use tokio::sync::Notify;

use super::options::{Consents, Output, Watch};
use super::start;
use crate::core::exit::{Exit, Verb, exit};
use crate::core::problem::{Problem, said_by_system};
use crate::core::watch::settings;
use crate::manifest::Selection;
use crate::render::out::Out;
use crate::render::text::View;
use crate::run::bounded::Bound;
use crate::run::input::Reach;
use crate::run::watch::desired::Source;
use crate::run::watch::lead::Sharing;
use crate::run::watch::showing::Places;
use crate::run::watch::ways::Opening;
use crate::run::watch::{self, Settings, once, status_file};

pub fn watch(options: &Watch, output: &Output, out: &mut Out) -> Exit {
    if let Some(problem) = misplaced(options) {
        out.error(&problem);
        return Exit::Usage;
    }
    let done = if options.once { one_pass(options, output, out) } else { forever(options, output, out) };
    done.unwrap_or_else(|exit| exit)
}

/// A status file that would be read as a manifest, the next time the files are.
fn misplaced(options: &Watch) -> Option<Problem> {
    let (path, sources) = (options.status_file.as_ref()?, &options.sources);
    let base = sources.base.as_ref().map(PathBuf::from);
    let roots = sources.files.iter().chain(&sources.backends).chain(&base);
    let root = status_file::read_by(path, roots)?;
    let (path, root) = (path.display(), root.display());
    let problem = Problem::new(format!("the status file `{path}` would be read as a manifest, by `{root}`"));
    Some(
        problem.hint("keep it in another folder, or let its name end otherwise than in .json, .yaml or .yml"),
    )
}

fn forever(options: &Watch, output: &Output, out: &mut Out) -> Result<Exit, Exit> {
    out.secrets().learn(start::proxy_passwords());
    let settings = settings(options, output, out)?;
    let done = start::block_on(lasting(), options.effort, out, async |limits, out| {
        let resyncs = Arc::new(Notify::new());
        hear_hangups(&resyncs);
        watch::watch(settings, &resyncs, limits, out).await
    })?;
    done.map_err(|not_begun| {
        out.problems(&not_begun.problems, "watch");
        not_begun.exit
    })
}

fn settings(options: &Watch, output: &Output, out: &mut Out) -> Result<Settings, Exit> {
    let sources = &options.sources;
    let selection = Selection::new(&sources.labels, &sources.only, &sources.exclude).map_err(|error| {
        out.error(&Problem::new(error.to_string()));
        Exit::Usage
    })?;
    let reads_stdin = sources.files.iter().any(|file| file.as_os_str() == "-");
    let stdin = reads_stdin.then(|| standard_input(out)).transpose()?;
    let source = Source {
        files: sources.files.clone(),
        backends: sources.backends.clone(),
        allow_env: sources.allow_env.clone(),
        selection,
        base: sources.base.clone(),
        lease: options.lease.clone(),
        stdin,
        salt: salt(),
    };
    let opening = Opening {
        read_only: options.dry_run,
        parallel: options.effort.parallel,
        allow_exec: std::env::var("TRUEUP_ALLOW_EXEC").ok(),
        secrets: out.secrets(),
    };
    let machine = settings::Settings {
        resync: options.resync,
        dry_run: options.dry_run,
        changes_an_hour: options.max_changes,
        seed: fastrand::u64(..),
        ..settings::Settings::default()
    };
    let mut secret = |name: &Option<String>, hint: &str| {
        let found = name.as_deref().map(start::token).transpose();
        found.map_err(|problem| start::failed(&problem.hint(hint), out))
    };
    let token = secret(&options.listen_token_env, "`--listen-token-env` names the token's variable")?;
    let hook_secret = secret(&options.hook_secret_env, "`--hook-secret-env` names the secret's variable")?;
    out.secrets().learn(token.iter().chain(&hook_secret));
    let status_file = options.status_file.clone();
    Ok(Settings {
        places: Places { status_file, listen: options.listen, token, hook_secret },
        source,
        opening,
        pruning: options.pruning.clone(),
        machine,
        interval: options.interval,
        sharing: Sharing { duration: options.lease_duration, shards: options.shards },
        bound: Bound::new(watch::COMMAND_TIME),
        form: options.log,
        quiet: output.quiet,
    })
}

/// One number for the life of the process. What is wanted is shown as a digest with it, secrets among that, so nobody may
/// come to know it by other numbers of the process that are shown.
fn salt() -> u128 {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).expect("a system without random numbers has no TLS either");
    u128::from_be_bytes(bytes)
}

/// Standard input is read once: nobody says it again.
fn standard_input(out: &mut Out) -> Result<Arc<[u8]>, Exit> {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes.into()),
        Err(error) => {
            let why = said_by_system(&error.to_string());
            out.error(&Problem::new(format!("reading the standard input: {why}")));
            Err(Exit::BadInput)
        }
    }
}

/// SIGHUP is the wish of a person that everything be read and looked at now.
#[cfg(unix)]
fn hear_hangups(resyncs: &Arc<Notify>) {
    use tokio::signal::unix::{SignalKind, signal};
    // Where the system does not let it be caught, it ends the process, as it does anyway.
    let Ok(mut hangups) = signal(SignalKind::hangup()) else { return };
    let resyncs = resyncs.clone();
    tokio::spawn(async move {
        while hangups.recv().await.is_some() {
            resyncs.notify_one();
        }
    });
}

#[cfg(not(unix))]
fn hear_hangups(_: &Arc<Notify>) {}

/// The runtime of a process that lasts. Each thread that reads pages keeps what it has once needed, so there are no more
/// of them than can work at the same time.
fn lasting() -> Builder {
    let mut threads = start::one_thread();
    threads.max_blocking_threads(thread::available_parallelism().map_or(2, usize::from).clamp(2, 8));
    threads
}

/// One pass over everything, as `apply --yes` makes it, and the same report.
fn one_pass(options: &Watch, output: &Output, out: &mut Out) -> Result<Exit, Exit> {
    let began = Instant::now();
    let verb = if options.dry_run { Verb::Plan } else { Verb::Apply };
    let loaded = start::load("watch", &options.sources, Reach::Used, out)?;
    let mut runner = start::open(
        if options.dry_run { "plan" } else { "watch" },
        loaded,
        options.effort,
        &Consents::default(),
        out,
    )?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let start = tokio::time::Instant::now();
        let subjects = options.status_file.as_ref().map(|_| runner.subjects(salt()));
        let changes = once::Changes::of(options.max_changes, options.status_file.as_deref());
        changes.unknown.iter().for_each(|warning| out.error(warning));
        let prunes = options.pruning.deletes && runner.has_sets();
        start::sweep(&mut runner, prunes, &options.pruning, &|_, _| Ok(()), limits, out).await?;
        let bar = start::bar(output);
        let done = match options.dry_run {
            true => runner.plan_once(limits, &|done, all| bar.observing(done, all)).await,
            false => {
                let tell = |done, all| bar.applying(done, all);
                runner.pass_once(changes.left(), limits, &tell).await
            }
        };
        bar.clear();
        let report = done.map_err(|problem| start::failed(&problem, out))?;
        if let (Some(path), Some(subjects)) = (&options.status_file, subjects) {
            let kept = once::keep(path, subjects, &report, changes, start, out.secrets(), options.dry_run);
            kept.unwrap_or_else(|problem| out.error(&problem.warning()));
        }
        let (elapsed, verbose) = (start::told(began.elapsed()), output.verbose > 0);
        out.report(&report, &View { verb, objects: true, fields: true, verbose, elapsed });
        Ok(exit(&report, verb, false))
    })?
}
