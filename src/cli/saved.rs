//! `trueup plan --out`, `trueup plan --show` and `trueup apply PLANFILE`: plans in files.
//!
//! A plan that was saved is what was agreed to: nobody is asked again, and nothing else is done.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use super::options::{ApplyPlan, Consents, Output, Plan};
use super::start::{self, Loaded};
use crate::core::document::Document;
use crate::core::engine::Specimen;
use crate::core::engine::pledge::Pledge;
use crate::core::exchange::Item;
use crate::core::exit::{Exit, Verb, exit};
use crate::core::kind::Kind;
use crate::core::problem::Problem;
use crate::core::report::Report;
use crate::core::secrets::Secrets;
use crate::core::set::OWN;
use crate::core::tally::Tally;
use crate::manifest::{self, Selection};
use crate::render::out::Out;
use crate::render::saved::Shown;
use crate::render::text::View;
use crate::run::drive::Limits;
use crate::run::input::{self, Input, Reach};
use crate::run::runner::Runner;
use crate::run::saved::{
    Deletions, Draft, Flags, Looks, Rejected, SavedLimits, SavedObject, SavedPlan, Sealed, file, fits, read,
    same_backends, seal,
};
use crate::run::sweep::Through;

/// A plan that is going to be saved.
pub struct Saving {
    file: PathBuf,
    draft: Draft,
    secrets: Secrets,
    /// What the objects look like that are to go without a document.
    pub looks: Looks,
}

impl Saving {
    /// Where the options say so; what would stand in the way is said before any request.
    ///
    /// # Errors
    /// The exit code.
    pub fn of(options: &Plan, loaded: &Loaded, out: &mut Out) -> Result<Option<Saving>, Exit> {
        let Some(path) = &options.out else { return Ok(None) };
        file::may_write(path).map_err(|rejected| told(&rejected, out))?;
        let Plan { sources, consents, pruning, .. } = options;
        let flags = Flags {
            labels: sources.labels.clone(),
            only: sources.only.clone(),
            exclude: sources.exclude.clone(),
            replace: consents.replace.clone(),
            rotate: consents.rotate.clone(),
            force_conflicts: consents.force_conflicts.clone(),
            base: sources.base.clone(),
            prune: pruning.deletes,
            max_deletes: pruning.max_deletes,
            max_deletes_of: SavedLimits::of(&pruning.max_deletes_of),
            allow_empty: pruning.allow_empty,
        };
        let draft = Draft::of(&loaded.input, flags).map_err(|problems| {
            out.problems(&problems, Verb::Plan.word());
            Exit::BadInput
        })?;
        let (secrets, looks) = (loaded.secrets.clone(), Looks::default());
        Ok(Some(Saving { file: path.clone(), draft, secrets, looks }))
    }

    /// Saves what the run came to. A plan that does not know everything is none.
    ///
    /// # Errors
    /// The exit code.
    pub fn save(self, report: &Report, specimens: &[Specimen], out: &mut Out) -> Result<(), Exit> {
        let exit = exit(report, Verb::Plan, false);
        if matches!(exit, Exit::Interrupted | Exit::Failed) {
            let why = "the plan is not saved: not all of it is known";
            out.error(&Problem::new(why).hint("mend what failed or is unknown above, or leave it out"));
            return Err(exit);
        }
        let plan = self.draft.finish(report, specimens, &self.looks, &self.secrets.redactor());
        file::write(&self.file, &seal(&plan)).map_err(|problem| start::failed(&problem, out))?;
        out.saved(&self.file.display().to_string(), &plan.expires);
        Ok(())
    }
}

/// Shows a saved plan. Nothing is asked of any server, and it need not be one that could still be applied.
pub fn show(path: &Path, output: &Output, out: &mut Out) -> Exit {
    let name = path.display().to_string();
    let sealed = file::read_any(path).and_then(|text| read(&text, &name));
    match sealed {
        Ok(sealed) => {
            let shown = shown(&sealed, name);
            let view = View {
                verb: Verb::Plan,
                objects: true,
                fields: true,
                verbose: output.verbose > 0,
                elapsed: None,
            };
            out.plan(&sealed.plan.report(), &shown, &view);
            Exit::Success
        }
        Err(rejected) => told(&rejected, out),
    }
}

fn shown(sealed: &Sealed, name: String) -> Shown {
    let (plan, now) = (&sealed.plan, SystemTime::now());
    let Flags { labels, only, exclude, replace, rotate, force_conflicts, .. } = &plan.flags;
    let Flags { base, prune, max_deletes, max_deletes_of, allow_empty, .. } = &plan.flags;
    let flags = labels.iter().map(|value| format!("-l {value}"));
    let flags = flags.chain(only.iter().map(|value| format!("--only {value}")));
    let flags = flags.chain(exclude.iter().map(|value| format!("--exclude {value}")));
    let flags = flags.chain(replace.iter().map(|value| format!("--replace {value}")));
    let flags = flags.chain(rotate.iter().map(|value| format!("--rotate {value}")));
    let flags = flags.chain(force_conflicts.iter().map(|value| format!("--force-conflicts {value}")));
    let flags = flags.chain(base.iter().map(|value| format!("--base {value}")));
    let flags = flags.chain(prune.then(|| "--prune".to_owned()));
    let flags = flags.chain(max_deletes.iter().map(|value| format!("--max-deletes {value}")));
    let flags = flags.chain(max_deletes_of.words().map(|words| format!("--max-deletes {words}")));
    let flags = flags.chain(allow_empty.then(|| "--allow-empty".to_owned()));
    Shown {
        name,
        tool: plan.tool.clone(),
        made: plan.made.clone(),
        age: plan.age(now),
        expires: plan.expires.clone(),
        rest: plan.rest(now),
        stale: fits(sealed, now).err().map(|unfit| unfit.to_string()),
        targets: plan.targets.iter().map(|(name, place)| (name.clone(), place.clone())).collect(),
        flags: flags.collect(),
        hash: sealed.hash.clone(),
        hashes: plan
            .objects
            .iter()
            .chain(&plan.told)
            .map(|object| [object.desired.clone(), object.observed.clone()])
            .collect(),
    }
}

/// Does what a saved plan says.
pub fn apply(options: &ApplyPlan, output: &Output, out: &mut Out) -> Exit {
    run(options, output, out).unwrap_or_else(|exit| exit)
}

fn run(options: &ApplyPlan, output: &Output, out: &mut Out) -> Result<Exit, Exit> {
    let began = Instant::now();
    let name = options.plan.display().to_string();
    let plan = trusted(options, &name).map_err(|rejected| told(&rejected, out))?;
    let loaded = load(&plan, options, out)?;
    let mut pledges = pledges(&plan, &loaded.input, &name).map_err(|rejected| told(&rejected, out))?;
    let Flags { replace, rotate, force_conflicts, .. } = plan.flags.clone();
    let consents = Consents { replace, rotate, force_conflicts, suggest: options.suggest };
    let mut runner = start::open(Verb::Apply.word(), loaded, options.effort, &consents, out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        sweep(&mut runner, &plan, &mut pledges, limits, out).await?;
        let bar = start::bar(output);
        let tell = |done, all| bar.applying(done, all);
        let report = runner.apply_saved(pledges, plan.left(), limits, &tell).await;
        bar.clear();
        let report = report.map_err(|problem| start::failed(&problem, out))?;
        let verbose = output.verbose > 0;
        let elapsed = start::told(began.elapsed());
        out.report(&report, &View { verb: Verb::Apply, objects: true, fields: true, verbose, elapsed });
        let exit = exit(&report, Verb::Apply, options.detailed_exitcode);
        let tally = Tally::of(&report);
        if exit == Exit::Refused && tally.applied > 0 && tally.refused == 0 {
            let why = format!("nothing is left to do of `{name}`: it was applied already");
            out.error(&Problem::new(why).hint("make a new plan"));
        }
        Ok(exit)
    })?
}

/// Looks again through what the Sets claim, where the plan deletes of it: what has moved since is refused.
async fn sweep(
    runner: &mut Runner,
    plan: &SavedPlan,
    pledges: &mut [Pledge],
    limits: &Limits,
    out: &mut Out,
) -> Result<(), Exit> {
    let (documents, pruned) = plan.by_document();
    let deletes: Vec<Document> = pruned.iter().filter_map(SavedObject::doomed).collect();
    if deletes.is_empty() {
        runner.tell(plan.told.iter().map(SavedObject::entry));
        return Ok(());
    }
    let deletions = Deletions::of(pruned);
    let what = if plan.flags.prune { Through::All } else { Through::Replicas };
    let holds = |kind: &Kind, item: &Item| deletions.holds(kind, item);
    let refusals =
        match start::in_time(runner.sweep_planned(what, &plan.gates(), &holds, deletes), limits).await {
            Ok(refusals) => refusals.map_err(|problem| start::failed(&problem, out))?,
            Err(ended) => return Err(ended.told(out)),
        };
    // Of another Set than those it deletes of, nothing may be deleted by the plan.
    runner.tell(plan.told.iter().filter(|entry| entry.backend == OWN).map(SavedObject::entry));
    for (pledge, why) in pledges[documents.len()..].iter_mut().zip(refusals) {
        pledge.moved = why;
    }
    Ok(())
}

/// The plan, if it may be done by this program, here and now.
fn trusted(options: &ApplyPlan, name: &str) -> Result<SavedPlan, Rejected> {
    let sealed = read(&file::read_trusted(&options.plan)?, name)?;
    fits(&sealed, SystemTime::now()).map_err(|unfit| unfit.rejected(name))?;
    Ok(sealed.plan)
}

/// The plan's documents, loaded again. Files that they name are read below the folder of the run: who runs it says
/// where that is, and not the plan.
fn load(plan: &SavedPlan, options: &ApplyPlan, out: &mut Out) -> Result<Loaded, Exit> {
    let name = options.plan.display().to_string();
    let bad = |problem: Problem, out: &mut Out| {
        out.error(&problem);
        Exit::BadInput
    };
    if !options.backends.is_empty() {
        let trusted = manifest::load(&options.backends);
        if trusted.problems.iter().all(|problem| problem.warning) {
            same_backends(plan, &trusted.backends).map_err(|unfit| told(&unfit.rejected(&name), out))?;
        }
    }
    let own = options.backends.is_empty();
    let read =
        plan.loaded(own).map_err(|error| bad(Problem::new(format!("reading `{name}`: {error}")), out))?;
    let side = plan.base().map_err(|error| bad(Problem::new(format!("reading `{name}`: {error}")), out))?;
    let Flags { labels, only, exclude, .. } = &plan.flags;
    let selection = Selection::new(labels, only, exclude)
        .map_err(|error| bad(Problem::new(format!("reading `{name}`: {error}")), out))?;
    let sources = input::Sources {
        files: vec![".".into()],
        backends: options.backends.clone(),
        allow_env: options.allow_env.clone(),
        selection,
        read: Some(read),
        saved: Some(side),
        ..input::Sources::default()
    };
    start::load_from(Verb::Apply.word(), sources, Reach::Used, out)
}

fn pledges(plan: &SavedPlan, input: &Input, name: &str) -> Result<Vec<Pledge>, Rejected> {
    plan.pledges(input).map_err(|unfit| unfit.rejected(name))
}

fn told(rejected: &Rejected, out: &mut Out) -> Exit {
    out.error(&rejected.problem);
    rejected.exit
}
