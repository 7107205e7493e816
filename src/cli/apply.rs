//! `trueup apply` and `trueup delete`: a plan, a question, and runs until every object is settled.

use std::io::{self, IsTerminal};
use std::time::Instant;

use super::confirm::{self, Consent};
use super::options::{Apply, Consents, Delete, Effort, Output, Sources};
use super::start;
use crate::core::base;
use crate::core::conflict::Resolution;
use crate::core::exit::{Exit, Verb, exit};
use crate::core::problem::Problem;
use crate::core::prune::Gates;
use crate::core::report::{Entry, Outcome, Report};
use crate::core::tally::Tally;
use crate::render::out::{Format, Out};
use crate::render::text::View;
use crate::run::drive::Limits;
use crate::run::input::Reach;
use crate::run::runner::Runner;

pub fn apply(options: &Apply, output: &Output, out: &mut Out) -> Exit {
    let job = Job {
        verb: Verb::Apply,
        sources: &options.sources,
        effort: options.effort,
        consents: &options.consents,
        pruning: options.pruning.clone(),
        detailed: options.detailed_exitcode,
        yes: options.yes,
        output,
    };
    job.run(out).unwrap_or_else(|exit| exit)
}

pub fn delete(options: &Delete, output: &Output, out: &mut Out) -> Exit {
    let job = Job {
        verb: Verb::Delete,
        sources: &options.sources,
        effort: options.effort,
        consents: &Consents::default(),
        pruning: Gates::default(),
        detailed: false,
        yes: options.yes,
        output,
    };
    job.run(out).unwrap_or_else(|exit| exit)
}

/// A run that may write.
struct Job<'o> {
    verb: Verb,
    sources: &'o Sources,
    effort: Effort,
    consents: &'o Consents,
    pruning: Gates,
    detailed: bool,
    yes: bool,
    output: &'o Output,
}

impl Job<'_> {
    fn run(&self, out: &mut Out) -> Result<Exit, Exit> {
        let began = Instant::now();
        let loaded = start::load(self.verb.word(), self.sources, Reach::Used, out)?;
        let mut runner = start::open(self.verb.word(), loaded, self.effort, self.consents, out)?;
        if self.verb == Verb::Delete {
            runner.wish_all_gone();
        }
        start::block_on(start::one_thread(), self.effort, out, async |limits, out| {
            let prunes = self.pruning.deletes;
            start::sweep(&mut runner, prunes, &self.pruning, &|_, _| Ok(()), limits, out).await?;
            match self.passes(&mut runner, limits, out).await {
                Ok((mut report, shown)) => {
                    let unrecorded = record(&runner, &mut report);
                    let elapsed = start::told(began.elapsed());
                    let (objects, fields) = (shown != Shown::Whole, shown == Shown::Nothing);
                    let verbose = self.output.verbose > 0;
                    out.report(&report, &View { verb: self.verb, objects, fields, verbose, elapsed });
                    match unrecorded {
                        None => Ok(exit(&report, self.verb, self.detailed)),
                        Some(problem) if problem.warning => {
                            out.error(&problem);
                            Ok(exit(&report, self.verb, self.detailed))
                        }
                        Some(problem) => {
                            out.error(&problem);
                            Ok(if Tally::of(&report).wrote > 0 { Exit::Partial } else { Exit::Failed })
                        }
                    }
                }
                Err(problem) => Err(start::failed(&problem, out)),
            }
        })?
    }

    /// The plan, and with consent its application; and what the preview has shown of it already.
    async fn passes(
        &self,
        runner: &mut Runner,
        limits: &Limits,
        out: &mut Out,
    ) -> Result<(Report, Shown), Problem> {
        let bar = start::bar(self.output);
        let plan = runner.plan(limits, &|done, all| bar.observing(done, all)).await;
        bar.clear();
        let mut plan = plan?;
        base::doubt(&plan).iter().for_each(|problem| out.error(problem));
        let due = plan.objects.iter().any(|entry| entry.result == Outcome::Planned);
        if !due || plan.interrupted {
            return Ok((plan, Shown::Nothing));
        }
        let mut shown = Shown::Nothing;
        if !self.yes {
            let previewed = self.preview(&plan, out);
            match self.ask(&plan, limits, out).await {
                Consent::Given if previewed => shown = Shown::Fields,
                Consent::Given => {}
                Consent::Withheld | Consent::NoTerminal | Consent::Interrupted => {
                    plan.interrupted = limits.stop.is_cancelled();
                    return Ok((plan, if previewed { Shown::Whole } else { Shown::Nothing }));
                }
            }
        }
        let bar = start::bar(self.output);
        let report = runner.apply_once(&plan, limits, &|done, all| bar.applying(done, all)).await;
        bar.clear();
        Ok((report?, shown))
    }

    /// Shows the plan to a person who is to confirm it; false where nobody is there, or a machine reads.
    fn preview(&self, plan: &Report, out: &mut Out) -> bool {
        let shows = io::stderr().is_terminal() && self.output.format == Format::Text;
        if shows {
            let (verb, verbose) = (Verb::Plan, self.output.verbose > 0);
            out.preview(plan, &View { verb, objects: true, fields: true, verbose, elapsed: None });
        }
        shows
    }

    /// Asks for consent; where nobody can be asked, that is said.
    async fn ask(&self, plan: &Report, limits: &Limits, out: &mut Out) -> Consent {
        let question = confirm::question(plan, self.verb, &out.secrets().redactor());
        let consent = confirm::ask(&question, io::stderr().is_terminal(), &limits.stop).await;
        if consent == Consent::NoTerminal {
            let message = "nothing was written: what is planned was not confirmed";
            out.error(&Problem::new(message).hint(confirm::HINT));
        }
        consent
    }
}

/// Moves the ref that is to follow what is applied, if all of it is; why it could not be moved.
fn record(runner: &Runner, report: &mut Report) -> Option<Problem> {
    // What is in a Set's scope and is left alone is another's: the files say nothing of it.
    let settled =
        |entry: &Entry| matches!(entry.verdict(), Outcome::InSync | Outcome::Done | Outcome::Extra(_));
    let record = runner.record().filter(|_| !report.interrupted && report.objects.iter().all(settled))?;
    let gives_up = |entry: &&Entry| entry.conflicts.iter().any(|one| one.resolution == Resolution::GivenUp);
    if let Some(entry) = report.objects.iter().find(gives_up) {
        // Recorded as applied, what was given up would be overwritten as drift the next time.
        let why =
            format!("the ref is not moved: of `{}` not all is applied, as fields were given up", entry.id);
        let mut problem = Problem::new(why).hint("decide the conflict, then apply again");
        problem.warning = true;
        return Some(problem);
    }
    match record.done() {
        Ok(recorded) => {
            report.recorded = Some(recorded);
            None
        }
        Err(problem) => Some(problem.hint("all is applied: only the ref is not where it should be")),
    }
}

/// What of a report a preview has shown already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    /// What is to change in each object; what came of it is new.
    Fields,
    /// All of it: nothing came of it.
    Whole,
}
