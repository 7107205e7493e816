//! `trueup plan` and `trueup drift`: one pass, by a client that cannot write.

use std::time::Instant;

use super::options::{Consents, Drift, Effort, Output, Plan, Sources};
use super::start;
use crate::core::exit::{Exit, Verb, exit, exit_on};
use crate::core::report::Report;
use crate::render::out::Out;
use crate::render::text::View;
use crate::run::input::Reach;

pub fn plan(options: &Plan, output: &Output, out: &mut Out) -> Exit {
    let job = Job {
        verb: Verb::Plan,
        sources: &options.sources,
        effort: options.effort,
        consents: &options.consents,
        output,
    };
    job.run(out, &|report| exit(report, Verb::Plan, options.detailed_exitcode)).unwrap_or_else(|exit| exit)
}

pub fn drift(options: &Drift, output: &Output, out: &mut Out) -> Exit {
    let job = Job {
        verb: Verb::Drift,
        sources: &options.sources,
        effort: options.effort,
        consents: &Consents::default(),
        output,
    };
    job.run(out, &|report| exit_on(report, &options.fail_on)).unwrap_or_else(|exit| exit)
}

/// A run that cannot write.
struct Job<'o> {
    verb: Verb,
    sources: &'o Sources,
    effort: Effort,
    consents: &'o Consents,
    output: &'o Output,
}

impl Job<'_> {
    fn run(&self, out: &mut Out, judge: &dyn Fn(&Report) -> Exit) -> Result<Exit, Exit> {
        let (began, verb) = (Instant::now(), self.verb);
        let loaded = start::load(verb.word(), self.sources, Reach::Used, out)?;
        let mut runner = start::open(verb.word(), loaded, self.effort, self.consents, out)?;
        start::block_on(start::one_thread(), self.effort, out, async |limits, out| {
            let bar = start::bar(self.output);
            let report = runner.plan_once(limits, &|done, all| bar.observing(done, all)).await;
            bar.clear();
            let report = match report {
                Ok(report) => report,
                Err(problem) => return start::failed(&problem, out),
            };
            let (verbose, elapsed) = (self.output.verbose > 0, start::told(began.elapsed()));
            out.report(&report, &View { verb, objects: true, fields: true, verbose, elapsed });
            judge(&report)
        })
    }
}
