//! `trueup plan` and `trueup drift`: one pass, by a client that cannot write.

use std::time::Instant;

use super::options::{Consents, Drift, Effort, Output, Plan, Sources};
use super::start;
use crate::core::exit::{Exit, Verb, exit};
use crate::render::out::Out;
use crate::render::text::View;
use crate::run::input::Reach;

pub fn plan(options: &Plan, output: &Output, out: &mut Out) -> Exit {
    compare(
        Verb::Plan,
        &options.sources,
        options.effort,
        &options.consents,
        options.detailed_exitcode,
        output,
        out,
    )
    .unwrap_or_else(|exit| exit)
}

pub fn drift(options: &Drift, output: &Output, out: &mut Out) -> Exit {
    compare(Verb::Drift, &options.sources, options.effort, &Consents::default(), true, output, out)
        .unwrap_or_else(|exit| exit)
}

fn compare(
    verb: Verb,
    sources: &Sources,
    effort: Effort,
    consents: &Consents,
    detailed: bool,
    output: &Output,
    out: &mut Out,
) -> Result<Exit, Exit> {
    let began = Instant::now();
    let loaded = start::load(verb.word(), sources, Reach::Used, out)?;
    let mut runner = start::open(verb.word(), loaded, effort, consents, out)?;
    start::block_on(effort, out, async |limits, out| {
        let bar = start::bar(output);
        let report = runner.plan_once(limits, &|done, all| bar.observing(done, all)).await;
        bar.clear();
        let report = match report {
            Ok(report) => report,
            Err(problem) => return start::failed(&problem, out),
        };
        let elapsed = start::told(began.elapsed());
        out.report(
            &report,
            &View { verb, objects: true, fields: true, verbose: output.verbose > 0, elapsed },
        );
        exit(&report, verb, detailed)
    })
}
