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
use std::sync::Mutex;

use crate::core::exit::Exit;
use crate::render::out::{Out, Stream};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

use color::decide;
use options::{Command, Invocation, Output};
use parse::Stop;

/// Carries out a command line, the program's name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> Exit {
    match parse::parse(args) {
        Ok(invocation) => {
            let mut out = open(&invocation.output);
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
    Out::new(stdout, stderr, output.format).quiet(output.quiet)
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
