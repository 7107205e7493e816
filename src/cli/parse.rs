//! From flags to options, with the checks that clap cannot make.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use super::args::{
    ApplyArgs, BaseArgs, Cli, ConsentArgs, DeleteArgs, DriftArgs, EffortArgs, ExplainArgs, ExportArgs,
    FailOn, GetArgs, LogForm, Most, OutputFormat, PlanArgs, ProbeArgs, PruneArgs, ServeArgs, SourceArgs,
    StatusArgs, StatusFailOn, ValidateArgs, Verb, WatchArgs,
};
use super::options::{
    Apply, ApplyPlan, Command, Consents, Delete, Drift, Effort, Explain, Export, Get, Invocation, Output,
    Plan, Probe, Serve, Sources, Status, Validate, Watch, Watched,
};
use crate::core::exit::{self, Exit};
use crate::core::problem::Problem;
use crate::core::prune::Gates;
use crate::core::set::{DEFAULT, Limits};
use crate::render::ci::Ci;
use crate::render::out::Format;
use crate::render::watch::log::Form;
use crate::render::watch::trouble::{self, Trouble};

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
        OutputFormat::Markdown => Format::Ci(Ci::Markdown),
        OutputFormat::Html => Format::Ci(Ci::Html),
        OutputFormat::Junit => Format::Ci(Ci::Junit),
        OutputFormat::Sarif => Format::Ci(Ci::Sarif),
        OutputFormat::Github => Format::Ci(Ci::Github),
    };
    let output =
        Output { format, color: cli.output.color, verbose: cli.output.verbose, quiet: cli.output.quiet };
    let name = clap::ValueEnum::to_possible_value(&cli.output.output);
    let command = command(cli.command).map_err(Stop::Usage)?;
    if matches!(format, Format::Ci(_)) && !command.reports() {
        let name = name.as_ref().map_or("", |name| name.get_name());
        let problem = Problem::new(format!("`trueup {}` has no output `{name}`", command.word()));
        return Err(Stop::Usage(problem.hint(
            "it has text, json and ndjson; markdown, html, junit, sarif and github are of plan, drift, apply, delete and validate",
        )));
    }
    Ok(Invocation { command, output })
}

fn command(verb: Verb) -> Result<Command, Problem> {
    Ok(match verb {
        Verb::Plan(args) => plan(args)?,
        Verb::Drift(args) => Command::Drift(drift(args)?),
        Verb::Apply(args) => apply(args)?,
        Verb::Watch(args) => Command::Watch(watch(args)?),
        Verb::Validate(ValidateArgs { sources }) => {
            Command::Validate(Validate { sources: with_files(sources, "validate")? })
        }
        Verb::Get(GetArgs { objects, sources, effort: pace }) => {
            Command::Get(Get { sources: with_backends(sources, "get")?, effort: effort(&pace), objects })
        }
        Verb::Export(ExportArgs { objects, out, sources, effort: pace }) => Command::Export(Export {
            sources: with_backends(sources, "export")?,
            effort: effort(&pace),
            objects,
            folder: out,
        }),
        Verb::Explain(ExplainArgs { objects, sources, base, effort: pace }) => Command::Explain(Explain {
            sources: with_base(with_backends(sources, "explain KIND")?, base)?,
            effort: effort(&pace),
            objects,
        }),
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
        Verb::Status(args) => Command::Status(status(args)?),
        Verb::Serve(args) => Command::Serve(serve(args)),
        Verb::Completions(args) => Command::Completions(args.shell),
    })
}

fn plan(args: PlanArgs) -> Result<Command, Problem> {
    let PlanArgs { out, show, undeclared, detail, consents, pruning, sources, base, effort: pace } = args;
    Ok(match show {
        Some(file) => Command::Show(file),
        None => Command::Plan(Plan {
            pruning: gates(&pruning, &sources)?,
            sources: Sources { keep: out.is_some(), ..with_base(with_files(sources, "plan")?, base)? },
            effort: effort(&pace),
            consents: agreed(consents),
            detailed_exitcode: detail.detailed_exitcode,
            out,
            undeclared,
        }),
    })
}

fn apply(args: ApplyArgs) -> Result<Command, Problem> {
    let ApplyArgs { plan, yes, detail, consents, record, pruning, sources, base, effort: pace } = args;
    let Some(plan) = plan else {
        let pruning = gates(&pruning, &sources)?;
        let sources = with_base(with_files(sources, "apply")?, base)?;
        return Ok(Command::Apply(Apply {
            pruning,
            sources: recorded(sources, record)?,
            effort: effort(&pace),
            consents: agreed(consents),
            detailed_exitcode: detail.detailed_exitcode,
            yes: yes.yes,
        }));
    };
    let given = [
        ("-f", sources.file.is_empty()),
        ("-l", sources.selector.is_empty()),
        ("--only", sources.only.is_empty()),
        ("--exclude", sources.exclude.is_empty()),
        ("--replace", consents.replace.is_empty()),
        ("--rotate", consents.rotate.is_empty()),
        ("--force-conflicts", consents.force_conflicts.is_empty()),
        ("--base", base.base.is_none()),
        ("--record", record.is_none()),
        ("--prune", !pruning.prune),
        ("--max-deletes", pruning.max_deletes.is_empty()),
        ("--allow-empty", !pruning.allow_empty),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, none)| !none) {
        let problem = Problem::new(format!("`apply PLANFILE` takes no `{flag}`: the plan says it"));
        return Err(problem.hint("a flag may come from its twin in the environment; manifests need `-f`"));
    }
    Ok(Command::ApplyPlan(ApplyPlan {
        plan,
        suggest: consents.suggest,
        backends: sources.backends,
        allow_env: sources.allow_env,
        effort: effort(&pace),
        detailed_exitcode: detail.detailed_exitcode,
    }))
}

fn watch(args: WatchArgs) -> Result<Watch, Problem> {
    Ok(Watch {
        pruning: gates(&args.pruning, &args.sources)?,
        sources: with_base(with_files(args.sources, "watch")?, args.base)?,
        effort: effort(&args.effort),
        once: args.once,
        dry_run: args.dry_run,
        interval: args.interval,
        resync: args.resync,
        max_changes: args.max_changes,
        lease: args.instances.lease,
        lease_duration: args.instances.lease_duration,
        shards: args.instances.shards.map(usize::from),
        status_file: args.status_file,
        listen: args.listen,
        listen_token_env: args.listen_token_env,
        hook_secret_env: args.hook_secret_env,
        log: match args.log {
            LogForm::Text => Form::Text,
            LogForm::Ndjson => Form::Json,
        },
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
        keep: false,
        base: None,
        record: None,
    }
}

fn with_base(sources: Sources, BaseArgs { base }: BaseArgs) -> Result<Sources, Problem> {
    if base.as_deref() == Some("") {
        let problem = Problem::new("`--base` names nothing");
        return Err(problem.hint("it takes a revision of the files' Git repository, or a folder"));
    }
    Ok(Sources { base, ..sources })
}

/// What is recorded is all that the files say, so all of it has to be applied.
fn recorded(sources: Sources, record: Option<String>) -> Result<Sources, Problem> {
    let chosen = !(sources.labels.is_empty() && sources.only.is_empty() && sources.exclude.is_empty());
    match record.as_deref() {
        Some("") => Err(Problem::new("`--record` names no ref").hint("write it like `--record production`")),
        Some(_) if chosen => {
            let problem =
                Problem::new("`--record` is about all of the files, and only some objects are chosen");
            Err(problem.hint("leave out `-l`, `--only` and `--exclude`, or `--record`"))
        }
        _ => Ok(Sources { record, ..sources }),
    }
}

fn effort(args: &EffortArgs) -> Effort {
    Effort { parallel: args.parallel.map(usize::from), timeout: args.timeout }
}

fn drift(args: DriftArgs) -> Result<Drift, Problem> {
    let DriftArgs { fail_on, accepted, pruning, sources, base, effort: pace } = args;
    let fail_on: BTreeSet<exit::FailOn> = fail_on.into_iter().map(what).collect();
    if fail_on.contains(&exit::FailOn::Extra) {
        whole("--fail-on extra", &sources)?;
    }
    let pruning = gates(&pruning, &sources)?;
    let sources = with_base(with_files(sources, "drift")?, base)?;
    let by_base = |what: &&exit::FailOn| matches!(what, exit::FailOn::Pending | exit::FailOn::Drift);
    if let Some(what) = fail_on.iter().find(by_base).filter(|_| sources.base.is_none()) {
        // Without a base nobody knows who made a difference.
        let problem = Problem::new(format!("`--fail-on {}` needs a base to tell it by", what.word()));
        return Err(problem.hint("say what the files were when they were applied: `--base REV`"));
    }
    Ok(Drift { sources, effort: effort(&pace), pruning, fail_on, accepted })
}

fn what(word: FailOn) -> exit::FailOn {
    match word {
        FailOn::Difference => exit::FailOn::Difference,
        FailOn::Pending => exit::FailOn::Pending,
        FailOn::Drift => exit::FailOn::Drift,
        FailOn::Conflict => exit::FailOn::Conflict,
        FailOn::Extra => exit::FailOn::Extra,
    }
}

/// Pruning is about all documents: with some of them left out, what they name would be too much.
fn gates(args: &PruneArgs, sources: &SourceArgs) -> Result<Gates, Problem> {
    if args.prune {
        whole("--prune", sources)?;
    }
    let (max_deletes, max_deletes_of) = limits(&args.max_deletes)?;
    Ok(Gates {
        deletes: args.prune,
        max_deletes,
        max_deletes_of,
        allow_empty: args.allow_empty,
        saved: false,
    })
}

/// The limit of all deletions of a Set, and those of some kinds.
fn limits(given: &[Most]) -> Result<(Option<usize>, Limits), Problem> {
    let (mut all, mut some) = (None, Limits::default());
    for Most { kind, most } in given {
        let before = match kind.as_deref() {
            None => all.replace(*most),
            Some(DEFAULT) => some.default.replace(*most),
            Some(kind) => some.kinds.insert(kind.into(), *most),
        };
        if before.is_some() {
            let what = kind.as_ref().map_or("all objects".into(), |kind| format!("`{kind}`"));
            return Err(Problem::new(format!(
                "`--max-deletes` says twice how many of {what} may be deleted"
            )));
        }
    }
    if all.is_some() && some.default.is_some() {
        let problem = Problem::new("`--max-deletes N` is about all kinds, and leaves none for `default=N`");
        return Err(problem.hint("give one of the two"));
    }
    Ok((all, some))
}

fn whole(flag: &str, sources: &SourceArgs) -> Result<(), Problem> {
    let chosen = [
        ("-l", !sources.selector.is_empty()),
        ("--only", !sources.only.is_empty()),
        ("--exclude", !sources.exclude.is_empty()),
    ];
    match chosen.into_iter().find(|(_, given)| *given) {
        Some((other, _)) => Err(Problem::new(format!("`{flag}` does not go with `{other}`"))
            .hint("what is too much is known of all documents only: run it without a choice of them")),
        None => Ok(()),
    }
}

fn agreed(args: ConsentArgs) -> Consents {
    Consents {
        replace: args.replace.into_iter().collect(),
        rotate: args.rotate.into_iter().collect(),
        force_conflicts: args.force_conflicts.into_iter().collect(),
        suggest: args.suggest,
    }
}

fn status(args: StatusArgs) -> Result<Status, Problem> {
    let from = match (args.status_file, args.url) {
        (Some(file), _) => Watched::File(file),
        (None, Some(url)) => Watched::Url(url),
        (None, None) => {
            let problem = Problem::new("no watch is named");
            return Err(problem.hint("name its status file, `--status-file PATH`, or its port, `--url URL`"));
        }
    };
    let fail_on = match args.fail_on.is_empty() {
        true => trouble::FailOn::usual(),
        false => args.fail_on.into_iter().filter_map(trouble_of).collect(),
    };
    Ok(Status { from, token_env: args.token_env, fail_on })
}

fn trouble_of(word: StatusFailOn) -> Option<trouble::FailOn> {
    Some(trouble::FailOn::Trouble(match word {
        StatusFailOn::Stalled => Trouble::Stalled,
        StatusFailOn::Unknown => Trouble::Unknown,
        StatusFailOn::NotEffective => Trouble::NotEffective,
        StatusFailOn::Fighting => Trouble::Fighting,
        StatusFailOn::Conflict => Trouble::Conflict,
        StatusFailOn::Failing => Trouble::Failing,
        StatusFailOn::NotSynced => Trouble::NotSynced,
        StatusFailOn::Waiting => Trouble::Waiting,
        StatusFailOn::NotReady => Trouble::NotReady,
        StatusFailOn::Refused => return Some(trouble::FailOn::Refused),
        StatusFailOn::Desired => return Some(trouble::FailOn::Desired),
        StatusFailOn::Dead => return Some(trouble::FailOn::Dead),
        StatusFailOn::Nothing => return None,
    }))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;

fn serve(args: ServeArgs) -> Serve {
    Serve {
        listen: args.listen,
        store: args.store,
        faults: args.faults,
        token_env: args.token_env,
        status_apart: args.status_apart.into_iter().filter(|name| !name.is_empty()).collect(),
        require_preconditions: args.require_preconditions,
        no_sync: args.no_sync,
    }
}
