//! The command line: flags in, exit code out. One file a verb; each takes its options and the way out.
//!
//! The environment and the terminal are looked at here and handed on as values.

mod apply;
mod args;
mod asked;
pub mod color;
mod completions;
pub mod confirm;
mod explain;
mod export;
mod folder;
mod get;
mod help;
mod instances;
pub mod options;
mod panics;
mod parse;
mod plan;
mod probe;
mod saved;
mod serve;
mod start;
mod status;
mod validate;
mod watch;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Mutex;

use crate::core::exit::Exit;
use crate::render::ci::Places;
use crate::render::out::{Format, Out, Stream};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

use color::decide;
use options::{Command, Invocation, Output};
use parse::Stop;

/// Carries out a command line, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    match parse::parse(args) {
        Ok(invocation) => {
            let places = match invocation.output.format {
                Format::Ci(_) => places(),
                _ => Places::default(),
            };
            let mut out = open(&invocation.output).of(invocation.command.word(), places);
            panics::guard(&out);
            log(&invocation.output, &out);
            let exit = dispatch(&invocation, &mut out);
            out.exit(exit)
        }
        Err(stop) => {
            let exit = stop.exit();
            let mut out = open(&Output::default());
            match stop {
                Stop::Clap(error) => out.usage(&error.render().to_string(), error.use_stderr()),
                Stop::Usage(problem) => out.error(&problem),
            }
            exit
        }
    }
}

/// Standard output and standard error, coloured as asked for.
fn open(output: &Output) -> Out {
    let colour = |is_terminal| decide(output.color, is_terminal, |name| std::env::var_os(name));
    let stdout = Stream::new(io::stdout(), colour(io::stdout().is_terminal()));
    let stderr = Stream::new(io::stderr(), colour(io::stderr().is_terminal()));
    let runner = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    Out::new(stdout, stderr, output.format).quiet(output.quiet).read_by_runner(runner)
}

/// The folder of the run, and the root of the repository that it is in.
fn places() -> Places {
    let Ok(folder) = std::env::current_dir() else { return Places::default() };
    let root = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(&folder);
    let text = |path: &Path| path.to_string_lossy().replace('\\', "/");
    Places { folder: text(&folder), root: text(root) }
}

fn dispatch(invocation: &Invocation, out: &mut Out) -> Exit {
    let output = &invocation.output;
    match &invocation.command {
        Command::Plan(options) => plan::plan(options, output, out),
        Command::Show(file) => saved::show(file, output, out),
        Command::Drift(options) => plan::drift(options, output, out),
        Command::Apply(options) => apply::apply(options, output, out),
        Command::ApplyPlan(options) => saved::apply(options, output, out),
        Command::Watch(options) => watch::watch(options, output, out),
        Command::Validate(options) => validate::validate(options, output, out),
        Command::Get(options) => get::get(options, out),
        Command::Export(options) => export::export(options, out),
        Command::Explain(options) => explain::explain(options, out),
        Command::Probe(options) => probe::probe(options, out),
        Command::Delete(options) => apply::delete(options, output, out),
        Command::Status(options) => status::run(options, output, out),
        Command::Serve(options) => serve::run(options, out),
        Command::Completions(shell) => completions::run(*shell, out),
    }
}

/// `-vv`: each request, on standard error, through the same choke point as everything else. Libraries have no
/// say: what they log of a request is not known to be free of secrets, and is noise.
fn log(output: &Output, out: &Out) {
    let level = match output.verbose {
        0 => return,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let guard = Mutex::new(out.guard(io::stderr()));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(guard);
    let ours = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level);
    let subscriber = tracing_subscriber::registry().with(lines).with(ours);
    // Another subscriber can only be a test's own.
    drop(tracing::subscriber::set_global_default(subscriber));
}
