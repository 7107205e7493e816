//! The flags, as clap declares them. Nothing but [`super`] sees this module: it turns into
//! [`super::options`] at once.

mod groups;
mod values;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::help;
use super::instances::InstanceArgs;
use values::{listen, object, period, switch};

pub use groups::{
    BaseArgs, ConsentArgs, DetailArgs, EffortArgs, FailOn, OutputArgs, OutputFormat, PruneArgs, SourceArgs,
    YesArgs,
};
pub use values::{Most, duration};

/// Make any REST API match what YAML files say.
#[derive(Debug, Parser)]
#[command(name = "trueup", version, after_help = help::TOP, max_term_width = 110, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Verb,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show what would change, field by field; writes nothing
    #[command(after_help = help::PLAN)]
    Plan(PlanArgs),
    /// Check for differences in CI: exit code 2 when there are any; writes nothing
    #[command(after_help = help::DRIFT)]
    Drift(DriftArgs),
    /// Make the server match the files, and read it back
    #[command(after_help = help::APPLY)]
    Apply(ApplyArgs),
    /// Keep the server so: look again and again, and put right what differs
    #[command(after_help = help::WATCH)]
    Watch(WatchArgs),
    /// Check the files without a network
    #[command(after_help = help::VALIDATE)]
    Validate(ValidateArgs),
    /// Show live objects
    #[command(after_help = help::GET)]
    Get(GetArgs),
    /// Write live objects as manifests whose plan is empty
    #[command(after_help = help::EXPORT)]
    Export(ExportArgs),
    /// Tell what is known of a kind, or why an object's plan is what it is; writes nothing
    #[command(after_help = help::EXPLAIN)]
    Explain(ExplainArgs),
    /// Hold a backend against live answers; writes nothing
    #[command(after_help = help::PROBE)]
    Probe(ProbeArgs),
    /// Delete what the files name, in reverse order
    #[command(after_help = help::DELETE)]
    Delete(DeleteArgs),
    /// Show where a running or past watch stands
    #[command(after_help = help::STATUS)]
    Status(StatusArgs),
    /// Run the built-in REST server
    #[command(after_help = help::SERVE)]
    Serve(ServeArgs),
    /// Print the completions for a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Save the plan to this file, for `trueup apply FILE`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "show", env = "TRUEUP_OUT")]
    pub out: Option<PathBuf>,
    /// Show a saved plan, offline; -f is not needed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "TRUEUP_SHOW")]
    pub show: Option<PathBuf>,
    /// List the fields that the server has and no document declares; they are never a change
    #[arg(long, value_parser = switch, conflicts_with = "show", env = "TRUEUP_UNDECLARED")]
    pub undeclared: bool,
    #[command(flatten)]
    pub detail: DetailArgs,
    #[command(flatten)]
    pub consents: ConsentArgs,
    #[command(flatten)]
    pub pruning: PruneArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub base: BaseArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct DriftArgs {
    /// What makes the exit code 2; can be repeated [default: difference]
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', env = "TRUEUP_FAIL_ON")]
    pub fail_on: Vec<FailOn>,
    /// A file of drift that is known, and does not count until a day
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "TRUEUP_ACCEPTED")]
    pub accepted: Option<PathBuf>,
    #[command(flatten)]
    pub pruning: PruneArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub base: BaseArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct ApplyArgs {
    /// A plan that `plan --out` saved: does that and nothing else, without -f and without asking
    #[arg(value_name = "PLANFILE", value_hint = ValueHint::FilePath)]
    pub plan: Option<PathBuf>,
    #[command(flatten)]
    pub yes: YesArgs,
    #[command(flatten)]
    pub detail: DetailArgs,
    #[command(flatten)]
    pub consents: ConsentArgs,
    /// Once all is settled, move this Git ref to the last commit, to be a later base
    #[arg(long, value_name = "REF", env = "TRUEUP_RECORD")]
    pub record: Option<String>,
    #[command(flatten)]
    pub pruning: PruneArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub base: BaseArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct WatchArgs {
    /// One pass over everything, then end, with the exit codes of `apply --yes`: for cron
    #[arg(long, value_parser = switch, env = "TRUEUP_ONCE")]
    pub once: bool,
    /// Never write: tell what differs
    #[arg(long, value_parser = switch, env = "TRUEUP_DRY_RUN")]
    pub dry_run: bool,
    /// How often listings are polled for changes [default: adapts, from 10s to 5m]
    #[arg(long, value_name = "DURATION", value_parser = period, env = "TRUEUP_INTERVAL")]
    pub interval: Option<Duration>,
    /// How often everything is looked at, whatever is heard of it
    #[arg(long, value_name = "DURATION", value_parser = period, default_value = "10m", env = "TRUEUP_RESYNC")]
    pub resync: Duration,
    /// So many writes an hour at most [default: no limit]
    #[arg(long, value_name = "N", env = "TRUEUP_MAX_CHANGES")]
    pub max_changes: Option<usize>,
    #[command(flatten)]
    pub instances: InstanceArgs,
    /// Keep the status in this file, for `trueup status`
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, env = "TRUEUP_STATUS_FILE")]
    pub status_file: Option<PathBuf>,
    /// Serve status and metrics here: a port of this machine alone, or an address with a port
    #[arg(long, value_name = "ADDRESS", value_parser = listen, env = "TRUEUP_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// Variable of the environment that holds the token which those who ask at the port must show
    #[arg(long, value_name = "NAME", env = "TRUEUP_LISTEN_TOKEN_ENV")]
    pub listen_token_env: Option<String>,
    /// Variable of the environment that holds the secret by which webhooks are signed; without it there are none
    #[arg(long, value_name = "NAME", requires = "listen", env = "TRUEUP_HOOK_SECRET_ENV")]
    pub hook_secret_env: Option<String>,
    /// How lines of the log are written
    #[arg(long, value_enum, default_value_t, value_name = "FORM", env = "TRUEUP_LOG")]
    pub log: LogForm,
    #[command(flatten)]
    pub pruning: PruneArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub base: BaseArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogForm {
    #[default]
    Text,
    /// One JSON object a line
    Ndjson,
}

#[derive(Debug, Args)]
pub struct ValidateArgs {
    #[command(flatten)]
    pub sources: SourceArgs,
}

#[derive(Debug, Args)]
pub struct GetArgs {
    /// Kinds, or single objects by their Kind/name; all when none is given
    #[arg(value_name = "KIND[/NAME]", value_parser = object)]
    pub objects: Vec<String>,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Kinds, or single objects by their Kind/name; all when none is given
    #[arg(value_name = "KIND[/NAME]", value_parser = object)]
    pub objects: Vec<String>,
    /// Write one file a kind into this folder, in place of standard output
    #[arg(short = 'o', long, value_name = "DIR", value_hint = ValueHint::DirPath, env = "TRUEUP_OUT")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Kinds, offline, or single objects by their Kind/name, against the server
    #[arg(value_name = "KIND[/NAME]", value_parser = object, required = true)]
    pub objects: Vec<String>,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub base: BaseArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// Backends, or single kinds of them; all when none is given
    #[arg(value_name = "BACKEND[/KIND]", value_parser = object)]
    pub kinds: Vec<String>,
    /// Objects of each kind that are read by themselves
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000), env = "TRUEUP_LIMIT")]
    pub limit: u16,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct DeleteArgs {
    #[command(flatten)]
    pub yes: YesArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub effort: EffortArgs,
}

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// The status file of the watch
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, env = "TRUEUP_STATUS_FILE")]
    pub status_file: Option<PathBuf>,
    /// The port of a running watch: http://127.0.0.1:8081
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "status_file", env = "TRUEUP_URL")]
    pub url: Option<String>,
    /// Variable of the environment that holds the token of the running watch
    #[arg(long, value_name = "NAME", env = "TRUEUP_TOKEN_ENV")]
    pub token_env: Option<String>,
    /// What makes the exit code another than 0; can be repeated [default: all but not-ready]
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', env = "TRUEUP_FAIL_ON")]
    pub fail_on: Vec<StatusFailOn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatusFailOn {
    /// An object is stalled: trying again changes nothing
    Stalled,
    /// Nothing certain is known of an object
    Unknown,
    /// A server keeps another value than the one it was sent
    NotEffective,
    /// Another writer sets an object back, again and again
    Fighting,
    /// Somebody else changed an object
    Conflict,
    /// Passes of an object fail, and are tried again
    Failing,
    /// An object differs
    NotSynced,
    /// An object was not looked at yet
    Waiting,
    /// An object is not ready
    NotReady,
    /// A guard keeps what no document names from being pruned
    Refused,
    /// The files are not valid
    Desired,
    /// The watch gives no sign of life
    Dead,
    /// Nothing at all
    Nothing,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", env = "TRUEUP_LISTEN")]
    pub listen: SocketAddr,
    /// Folder that keeps the objects
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, env = "TRUEUP_STORE")]
    pub store: PathBuf,
    /// Faults to inject, for tests
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, env = "TRUEUP_FAULTS")]
    pub faults: Option<PathBuf>,
    /// Variable of the environment that holds the token which clients must send
    #[arg(long, value_name = "NAME", env = "TRUEUP_TOKEN_ENV")]
    pub token_env: Option<String>,
    /// Collections whose items keep `status` apart, by name, with commas; the store remembers them
    #[arg(long, value_name = "COLLECTIONS", value_delimiter = ',', env = "TRUEUP_STATUS_APART")]
    pub status_apart: Vec<String>,
    /// Refuse changes and deletes without a precondition (428)
    #[arg(long, value_parser = switch, env = "TRUEUP_REQUIRE_PRECONDITIONS")]
    pub require_preconditions: bool,
    /// Do not wait for the disk before answering a write: faster, and a crash of the machine may lose some
    #[arg(long, value_parser = switch, env = "TRUEUP_NO_SYNC")]
    pub no_sync: bool,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: Shell,
}
