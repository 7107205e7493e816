//! `trueup plan` and `trueup drift`: one pass, by a client that cannot write.

use std::time::{Instant, SystemTime};

use super::options::{Consents, Drift, Effort, Output, Plan};
use super::saved::Saving;
use super::start::{self, Loaded};
use crate::core::base;
use crate::core::date::Date;
use crate::core::exchange::Item;
use crate::core::exit::{self, Exit, FailOn, Verb, exit};
use crate::core::kind::Kind;
use crate::core::prune::Gates;
use crate::core::report::Report;
use crate::core::server_only;
use crate::core::tolerance::{Tolerance, Tolerances};
use crate::manifest::tolerances;
use crate::render::out::Out;
use crate::render::text::View;
use crate::run::input::Reach;

pub fn plan(options: &Plan, output: &Output, out: &mut Out) -> Exit {
    planned(options, output, out).unwrap_or_else(|exit| exit)
}

fn planned(options: &Plan, output: &Output, out: &mut Out) -> Result<Exit, Exit> {
    let loaded = start::load(Verb::Plan.word(), &options.sources, Reach::Used, out)?;
    let saving = Saving::of(options, &loaded, out)?;
    let (effort, consents) = (options.effort, &options.consents);
    let (pruning, tells_extra) = (options.pruning.clone(), false);
    let (accepted, undeclared) = (None, options.undeclared);
    let comparison =
        Comparison { verb: Verb::Plan, effort, consents, pruning, tells_extra, accepted, undeclared, output };
    let judge = |report: &Report| exit(report, Verb::Plan, options.detailed_exitcode);
    comparison.run(loaded, &judge, saving, out)
}

pub fn drift(options: &Drift, output: &Output, out: &mut Out) -> Exit {
    let accepted = match options.accepted.as_deref().map(tolerances::read).transpose() {
        Ok(accepted) => accepted,
        Err(problems) => {
            out.problems(&problems, Verb::Drift.word());
            return Exit::BadInput;
        }
    };
    let consents = &Consents::default();
    let comparison = Comparison {
        verb: Verb::Drift,
        effort: options.effort,
        consents,
        pruning: options.pruning.clone(),
        tells_extra: options.fail_on.contains(&FailOn::Extra),
        accepted,
        undeclared: false,
        output,
    };
    let loaded = start::load(Verb::Drift.word(), &options.sources, Reach::Used, out);
    let judge = |report: &Report| exit::drift(report, &options.fail_on);
    loaded.and_then(|loaded| comparison.run(loaded, &judge, None, out)).unwrap_or_else(|exit| exit)
}

/// How a pass is made, and told.
struct Comparison<'o> {
    verb: Verb,
    effort: Effort,
    consents: &'o Consents,
    pruning: Gates,
    /// Whether what is in no document is told of where nothing is to be pruned.
    tells_extra: bool,
    /// What does not count, where a file says so.
    accepted: Option<Vec<Tolerance>>,
    /// Whether what only the server has is listed.
    undeclared: bool,
    output: &'o Output,
}

impl Comparison<'_> {
    fn run(
        &self,
        loaded: Loaded,
        judge: &dyn Fn(&Report) -> Exit,
        saving: Option<Saving>,
        out: &mut Out,
    ) -> Result<Exit, Exit> {
        let began = Instant::now();
        let verb = self.verb;
        let mut runner = start::open(verb.word(), loaded, self.effort, self.consents, out)?;
        start::block_on(start::one_thread(), self.effort, out, async |limits, out| {
            let looks = saving.as_ref().map(|saving| &saving.looks);
            let holds = |kind: &Kind, item: &Item| looks.map_or(Ok(()), |looks| looks.note(kind, item));
            let asked = self.pruning.deletes || self.tells_extra;
            start::sweep(&mut runner, asked, &self.pruning, &holds, limits, out).await?;
            let bar = start::bar(self.output);
            let tell = |done, all| bar.observing(done, all);
            // What was seen is held to the end only where it is to be saved, or told of.
            let found = match saving.is_some() || self.undeclared {
                true => runner.plan_kept(limits, &tell).await,
                false => runner.plan_once(limits, &tell).await.map(|report| (report, Vec::new())),
            };
            bar.clear();
            let (mut report, specimens) = match found {
                Ok(found) => found,
                Err(problem) => return Err(start::failed(&problem, out)),
            };
            if let Some(entries) = &self.accepted {
                let laid = Tolerances::lay(entries.clone(), &mut report, today());
                laid.notes().iter().for_each(|note| out.error(note));
                report.tolerances = Some(laid);
            }
            if self.undeclared {
                let each = report.objects.iter().zip(&specimens);
                report.server_only =
                    each.filter_map(|(entry, specimen)| server_only::of(entry, specimen)).collect();
            }
            let elapsed = start::told(began.elapsed());
            let verbose = self.output.verbose > 0;
            out.report(&report, &View { verb, objects: true, fields: true, verbose, elapsed });
            base::doubt(&report).iter().for_each(|problem| out.error(problem));
            match saving.map(|saving| saving.save(&report, &specimens, out)) {
                Some(Err(exit)) => Err(exit),
                _ => Ok(judge(&report)),
            }
        })?
    }
}

/// The day it is, in UTC.
fn today() -> Date {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let day = now.get(..10).and_then(|day| day.parse().ok());
    day.expect("a time of RFC 3339 begins with a day")
}
