//! From flags to options, with the checks that clap cannot make.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use super::args::{
    ApplyArgs, Cli, ConsentArgs, DeleteArgs, DriftArgs, EffortArgs, GetArgs, OutputFormat, PlanArgs,
    ProbeArgs, ServeArgs, SourceArgs, ValidateArgs, Verb,
};
use super::options::{
    Apply, Command, Consents, Delete, Drift, Effort, Get, Invocation, Output, Plan, Probe, Serve, Sources,
    Validate,
};
use crate::core::exit::Exit;
use crate::core::problem::Problem;
use crate::render::out::Format;

/// Why a command line is not carried out.
#[derive(Debug)]
pub enum Stop {
    /// Help, a version, or clap's own complaint: it prints itself.
    Clap(clap::Error),
    /// A complaint of ours, with the format that was asked for.
    Usage(Problem),
}

impl Stop {
    /// Help that was asked for is a success; all else is wrong usage.
    pub fn exit(&self) -> Exit {
        match self {
            Stop::Clap(error) => match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Success,
                _ => Exit::Usage,
            },
            Stop::Usage(_) => Exit::Usage,
        }
    }
}

/// Reads a command line, the program's name first.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, Stop> {
    let cli = Cli::try_parse_from(args).map_err(Stop::Clap)?;
    let format = match cli.output.output {
        OutputFormat::Text => Format::Text,
        OutputFormat::Json => Format::Json,
        OutputFormat::Ndjson => Format::Ndjson,
    };
    let output =
        Output { format, color: cli.output.color, verbose: cli.output.verbose, quiet: cli.output.quiet };
    Ok(Invocation { command: command(cli.command).map_err(Stop::Usage)?, output })
}

fn command(verb: Verb) -> Result<Command, Problem> {
    Ok(match verb {
        Verb::Plan(PlanArgs { detail, consents, sources, effort: pace }) => Command::Plan(Plan {
            sources: with_files(sources, "plan")?,
            effort: effort(&pace),
            consents: agreed(consents),
            detailed_exitcode: detail.detailed_exitcode,
        }),
        Verb::Drift(DriftArgs { sources, effort: pace }) => {
            Command::Drift(Drift { sources: with_files(sources, "drift")?, effort: effort(&pace) })
        }
        Verb::Apply(ApplyArgs { yes, detail, consents, sources, effort: pace }) => Command::Apply(Apply {
            sources: with_files(sources, "apply")?,
            effort: effort(&pace),
            consents: agreed(consents),
            detailed_exitcode: detail.detailed_exitcode,
            yes: yes.yes,
        }),
        Verb::Validate(ValidateArgs { sources }) => {
            Command::Validate(Validate { sources: with_files(sources, "validate")? })
        }
        Verb::Get(GetArgs { objects, sources, effort: pace }) => {
            Command::Get(Get { sources: with_backends(sources, "get")?, effort: effort(&pace), objects })
        }
        Verb::Probe(ProbeArgs { kinds, limit, sources, effort: pace }) => Command::Probe(Probe {
            sources: with_backends(sources, "probe")?,
            effort: effort(&pace),
            kinds,
            limit: limit.into(),
        }),
        Verb::Delete(DeleteArgs { yes, sources, effort: pace }) => Command::Delete(Delete {
            sources: with_files(sources, "delete")?,
            effort: effort(&pace),
            yes: yes.yes,
        }),
        Verb::Serve(ServeArgs { listen, store, faults, token_env, no_sync }) => {
            Command::Serve(Serve { listen, store, faults, token_env, no_sync })
        }
        Verb::Completions(args) => Command::Completions(args.shell),
    })
}

/// Manifests are never guessed: a run in the wrong folder would be about the wrong objects.
fn with_files(args: SourceArgs, verb: &str) -> Result<Sources, Problem> {
    if args.file.is_empty() {
        let hint = format!("name the files or folders: `trueup {verb} -f manifests/`");
        return Err(Problem::new("no manifests are given").hint(hint));
    }
    Ok(sources(args))
}

fn with_backends(args: SourceArgs, verb: &str) -> Result<Sources, Problem> {
    if args.file.is_empty() && args.backends.is_empty() {
        let hint = format!(
            "name where the Backend documents are: `trueup {verb} --backends FILE` or `-f manifests/`"
        );
        return Err(Problem::new("no backends are given").hint(hint));
    }
    Ok(sources(args))
}

fn sources(args: SourceArgs) -> Sources {
    Sources {
        files: args.file,
        labels: args.selector,
        only: args.only,
        exclude: args.exclude,
        backends: args.backends,
        allow_env: args.allow_env,
    }
}

fn effort(args: &EffortArgs) -> Effort {
    Effort { parallel: args.parallel.map(usize::from), timeout: args.timeout }
}

fn agreed(args: ConsentArgs) -> Consents {
    Consents { replace: args.replace.into_iter().collect(), rotate: args.rotate.into_iter().collect() }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
