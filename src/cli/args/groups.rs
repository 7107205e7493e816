//! Flags that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, ValueEnum, ValueHint};

use super::values::{Most, duration, field, most, object, switch};
use crate::cli::color::Color;

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Text for people, JSON (one document, or one object a line), or for CI: the rest, of plan, drift, apply, delete and validate
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", env = "TRUEUP_OUTPUT")]
    pub output: OutputFormat,
    /// Whether to colour; auto: in a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", env = "TRUEUP_COLOR")]
    pub color: Color,
    /// Show objects in sync too; twice: log requests
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet", env = "TRUEUP_VERBOSE")]
    pub verbose: u8,
    /// No progress, no talk: the result only
    #[arg(short, long, global = true, value_parser = switch, env = "TRUEUP_QUIET")]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    Ndjson,
    /// A comment for a pull request
    Markdown,
    /// One page
    Html,
    /// Results of tests
    Junit,
    /// Findings for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct SourceArgs {
    /// A file or folder of manifests, or - for standard input; can be repeated
    #[arg(short, long = "file", value_name = "PATH", value_hint = ValueHint::AnyPath, env = "TRUEUP_FILE")]
    pub file: Vec<PathBuf>,
    /// Objects with these labels: app=web,tier!=db; can be repeated, all must hold
    #[arg(short = 'l', long = "selector", value_name = "LABELS", env = "TRUEUP_SELECTOR")]
    pub selector: Vec<String>,
    /// Only objects whose Kind/name matches, or whose file: file:queues*.yaml, and what they need; can be repeated
    #[arg(long, value_name = "GLOB", env = "TRUEUP_ONLY")]
    pub only: Vec<String>,
    /// No objects whose Kind/name matches, nor whose file: file:old*.yaml; can be repeated
    #[arg(long, value_name = "GLOB", env = "TRUEUP_EXCLUDE")]
    pub exclude: Vec<String>,
    /// Take Backend documents from here and nowhere else; can be repeated
    #[arg(long, value_name = "FILE", value_hint = ValueHint::AnyPath, env = "TRUEUP_BACKENDS")]
    pub backends: Vec<PathBuf>,
    /// Let manifests read only these variables of the environment; can be repeated
    #[arg(long, value_name = "GLOB", env = "TRUEUP_ALLOW_ENV")]
    pub allow_env: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub struct BaseArgs {
    /// What the same files said before: a revision of their Git repository, or a folder
    #[arg(long, value_name = "REV|DIR", value_hint = ValueHint::DirPath, env = "TRUEUP_BASE")]
    pub base: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Something is to be created, changed or deleted
    Difference,
    /// The files changed since the base
    Pending,
    /// The server changed since the base
    Drift,
    /// Both changed, to different ends
    Conflict,
    /// Something is in the scope of a Set and in no document
    Extra,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub struct EffortArgs {
    /// Requests at once, to each backend [default: adapts to the server]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), env = "TRUEUP_PARALLEL")]
    pub parallel: Option<u16>,
    /// Time for the whole run, such as 90s or 5m
    #[arg(long, value_name = "DURATION", value_parser = duration, env = "TRUEUP_TIMEOUT")]
    pub timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct ConsentArgs {
    /// Allow this object to be deleted and created again; can be repeated
    #[arg(long, value_name = "KIND/NAME", value_parser = object, env = "TRUEUP_REPLACE")]
    pub replace: Vec<String>,
    /// Send the write-only values of this object again; can be repeated
    #[arg(long, value_name = "KIND/NAME", value_parser = object, env = "TRUEUP_ROTATE")]
    pub rotate: Vec<String>,
    /// Overwrite what somebody else changed at this path; can be repeated, all of an object must be named
    #[arg(long, value_name = "KIND/NAME:PATH", value_parser = field, env = "TRUEUP_FORCE_CONFLICTS")]
    pub force_conflicts: Vec<String>,
    /// Print the lines for the backend that would accept what the server makes of a value
    #[arg(long, value_parser = switch, env = "TRUEUP_SUGGEST")]
    pub suggest: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Pruning")]
pub struct PruneArgs {
    /// Delete what is in the scope of a Set and in no document
    #[arg(long, value_parser = switch, env = "TRUEUP_PRUNE")]
    pub prune: bool,
    /// So many objects of a Set or a ReplicaSet may be deleted, or of a kind of it; can be repeated [default: its `max-deletes`]
    #[arg(long, value_name = "[KIND=]N", value_parser = most, value_delimiter = ',', env = "TRUEUP_MAX_DELETES")]
    pub max_deletes: Vec<Most>,
    /// Let all objects of a Set be pruned, none being left in the documents
    #[arg(long, value_parser = switch, env = "TRUEUP_ALLOW_EMPTY")]
    pub allow_empty: bool,
}

#[derive(Debug, Args)]
pub struct YesArgs {
    /// Write without asking
    #[arg(long, value_parser = switch, env = "TRUEUP_YES")]
    pub yes: bool,
}

#[derive(Debug, Args)]
pub struct DetailArgs {
    /// Exit with 2 when there are differences, or changes were made
    #[arg(long, value_parser = switch, env = "TRUEUP_DETAILED_EXITCODE")]
    pub detailed_exitcode: bool,
}
