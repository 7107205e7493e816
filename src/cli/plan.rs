//! `trueup plan` and `trueup drift`: one pass, by a client that cannot write.

use std::time::Instant;

use super::options::{Consents, Drift, Effort, Output, Plan, Sources};
use super::start;
use crate::core::exit::{self, Exit, FailOn, Verb, exit};
use crate::core::prune::Gates;
use crate::core::report::Report;
use crate::render::out::Out;
use crate::render::text::View;
use crate::run::input::Reach;

pub fn plan(options: &Plan, output: &Output, out: &mut Out) -> Exit {
    let pass = Pass {
        verb: Verb::Plan,
        sources: &options.sources,
        effort: options.effort,
        consents: &options.consents,
        pruning: options.pruning,
        tells_extra: false,
        output,
    };
    let code = |report: &Report| exit(report, Verb::Plan, options.detailed_exitcode);
    pass.run(&code, out).unwrap_or_else(|exit| exit)
}

pub fn drift(options: &Drift, output: &Output, out: &mut Out) -> Exit {
    let pass = Pass {
        verb: Verb::Drift,
        sources: &options.sources,
        effort: options.effort,
        consents: &Consents::default(),
        pruning: options.pruning,
        tells_extra: options.fail_on.contains(&FailOn::Extra),
        output,
    };
    pass.run(&|report| exit::drift(report, &options.fail_on), out).unwrap_or_else(|exit| exit)
}

/// One pass that writes nothing.
struct Pass<'o> {
    verb: Verb,
    sources: &'o Sources,
    effort: Effort,
    consents: &'o Consents,
    pruning: Gates,
    /// Whether what is in no document is told of where nothing is to be pruned.
    tells_extra: bool,
    output: &'o Output,
}

impl Pass<'_> {
    fn run(&self, code: &dyn Fn(&Report) -> Exit, out: &mut Out) -> Result<Exit, Exit> {
        let began = Instant::now();
        let loaded = start::load(self.verb.word(), self.sources, Reach::Used, out)?;
        let mut runner = start::open(self.verb.word(), loaded, self.effort, self.consents, out)?;
        start::block_on(start::one_thread(), self.effort, out, async |limits, out| {
            if self.pruning.deletes || self.tells_extra {
                start::sweep(&mut runner, &self.pruning, limits, out).await?;
            }
            let bar = start::bar(self.output);
            let report = runner.plan_once(limits, &|done, all| bar.observing(done, all)).await;
            bar.clear();
            let report = report.map_err(|problem| start::failed(&problem, out))?;
            let elapsed = start::told(began.elapsed());
            let verbose = self.output.verbose > 0;
            out.report(&report, &View { verb: self.verb, objects: true, fields: true, verbose, elapsed });
            Ok(code(&report))
        })?
    }
}
