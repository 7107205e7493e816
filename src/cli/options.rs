//! What the command line asks for, as values: all that the rest of the program knows of flags.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap_complete::Shell;

use super::color::Color;
use crate::core::exit::FailOn;
use crate::core::prune::Gates;
use crate::render::out::Format;
use crate::render::watch::log::Form;
use crate::render::watch::trouble;

/// A whole command line.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    pub command: Command,
    pub output: Output,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Plan(Plan),
    /// The file of a saved plan.
    Show(PathBuf),
    Drift(Drift),
    Apply(Apply),
    ApplyPlan(ApplyPlan),
    Watch(Watch),
    Validate(Validate),
    Get(Get),
    Export(Export),
    Explain(Explain),
    Probe(Probe),
    Delete(Delete),
    Status(Status),
    Serve(Serve),
    Completions(Shell),
}

/// How to tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    pub format: Format,
    pub color: Color,
    /// How often `-v` was given.
    pub verbose: u8,
    pub quiet: bool,
}

/// Where the input is, and which of it is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Files, folders, or `-`.
    pub files: Vec<PathBuf>,
    /// Each value of `-l`; all must hold.
    pub labels: Vec<String>,
    pub only: Vec<String>,
    pub exclude: Vec<String>,
    /// The only source of Backend documents, when not empty.
    pub backends: Vec<PathBuf>,
    /// Names of the environment that manifests may read; empty: all.
    pub allow_env: Vec<String>,
    /// Whether the documents are kept as they are written: to be saved.
    pub keep: bool,
    /// What the files said before: a revision, or a folder.
    pub base: Option<String>,
    /// The ref that is to be moved once all is settled.
    pub record: Option<String>,
}

/// How hard to work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Requests at once, to each backend; `None` leaves it to the program.
    pub parallel: Option<usize>,
    /// For the whole run.
    pub timeout: Option<Duration>,
}

/// Acts that need to be asked for object by object, each `Kind/part/part`; and advice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consents {
    /// May be deleted and created again.
    pub replace: BTreeSet<String>,
    /// Their write-only values are sent again.
    pub rotate: BTreeSet<String>,
    /// Paths at which theirs may be overwritten, each `Kind/part/part:path`.
    pub force_conflicts: BTreeSet<String>,
    /// Lines for the backend are suggested.
    pub suggest: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub sources: Sources,
    pub effort: Effort,
    pub consents: Consents,
    pub pruning: Gates,
    pub detailed_exitcode: bool,
    /// The file to save the plan to.
    pub out: Option<PathBuf>,
    /// Whether what only the server has is listed.
    pub undeclared: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    pub sources: Sources,
    pub effort: Effort,
    pub pruning: Gates,
    /// What makes a difference for the exit code; empty: whatever is to be done.
    pub fail_on: BTreeSet<FailOn>,
    /// The file of what is accepted.
    pub accepted: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apply {
    pub sources: Sources,
    pub effort: Effort,
    pub consents: Consents,
    pub pruning: Gates,
    pub detailed_exitcode: bool,
    /// Do not ask.
    pub yes: bool,
}

/// A saved plan that is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApplyPlan {
    pub plan: PathBuf,
    /// Lines for the backend are suggested.
    pub suggest: bool,
    /// The only backends that it may have, when not empty.
    pub backends: Vec<PathBuf>,
    /// Names of the environment that its documents may read; empty: all.
    pub allow_env: Vec<String>,
    pub effort: Effort,
    pub detailed_exitcode: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    pub sources: Sources,
    pub effort: Effort,
    pub pruning: Gates,
    /// One pass over everything, then end.
    pub once: bool,
    /// Nothing is ever written.
    pub dry_run: bool,
    /// How often is polled; `None` leaves it to the program.
    pub interval: Option<Duration>,
    /// How often everything is looked at.
    pub resync: Duration,
    /// So many writes an hour at most.
    pub max_changes: Option<usize>,
    /// The object by which several instances take turns.
    pub lease: Option<String>,
    pub lease_duration: Duration,
    /// So many share the objects.
    pub shards: Option<usize>,
    pub status_file: Option<PathBuf>,
    /// Where status and metrics are served.
    pub listen: Option<SocketAddr>,
    /// The environment's variable that holds the token which those who ask there must show.
    pub listen_token_env: Option<String>,
    /// The environment's variable that holds the secret by which webhooks are signed.
    pub hook_secret_env: Option<String>,
    /// How lines of the log are written.
    pub log: Form,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validate {
    pub sources: Sources,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Get {
    pub sources: Sources,
    pub effort: Effort,
    /// `Kind` or `Kind/name`; empty: all that the backends have.
    pub objects: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Export {
    pub sources: Sources,
    pub effort: Effort,
    /// `Kind` or `Kind/name`; empty: all that the backends have.
    pub objects: Vec<String>,
    /// The folder to write to; `None`: standard output.
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explain {
    pub sources: Sources,
    pub effort: Effort,
    /// `Kind` or `Kind/name`; not empty.
    pub objects: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    pub sources: Sources,
    pub effort: Effort,
    /// `backend` or `backend/Kind`; empty: all.
    pub kinds: Vec<String>,
    /// Objects of a kind that are read by themselves.
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delete {
    pub sources: Sources,
    pub effort: Effort,
    pub yes: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub from: Watched,
    /// The environment's variable that holds the token of a running watch.
    pub token_env: Option<String>,
    /// What makes the exit code another than 0.
    pub fail_on: BTreeSet<trouble::FailOn>,
}

/// Where a watch tells how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Its status file.
    File(PathBuf),
    /// Its port.
    Url(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serve {
    pub listen: SocketAddr,
    /// Where the objects are kept.
    pub store: PathBuf,
    /// Faults to inject, for tests.
    pub faults: Option<PathBuf>,
    /// The environment's variable that holds the token which clients must show.
    pub token_env: Option<String>,
    /// The names of collections whose items keep their status apart.
    pub status_apart: Vec<String>,
    /// Refuse changes and deletes without a precondition.
    pub require_preconditions: bool,
    /// Answer writes before they are on the disk.
    pub no_sync: bool,
}

impl Command {
    /// Whether it ends in a report, or is to say what is wrong with the files: then it has all formats.
    pub fn reports(&self) -> bool {
        match self {
            Command::Plan(_) | Command::Show(_) | Command::Drift(_) | Command::Apply(_) => true,
            Command::ApplyPlan(_) | Command::Delete(_) | Command::Validate(_) => true,
            Command::Watch(_) | Command::Get(_) | Command::Export(_) | Command::Explain(_) => false,
            Command::Probe(_) | Command::Status(_) | Command::Serve(_) | Command::Completions(_) => false,
        }
    }

    /// The command's name.
    pub fn word(&self) -> &'static str {
        match self {
            Command::Plan(_) | Command::Show(_) => "plan",
            Command::Drift(_) => "drift",
            Command::Apply(_) | Command::ApplyPlan(_) => "apply",
            Command::Watch(_) => "watch",
            Command::Validate(_) => "validate",
            Command::Get(_) => "get",
            Command::Export(_) => "export",
            Command::Explain(_) => "explain",
            Command::Probe(_) => "probe",
            Command::Delete(_) => "delete",
            Command::Status(_) => "status",
            Command::Serve(_) => "serve",
            Command::Completions(_) => "completions",
        }
    }
}
