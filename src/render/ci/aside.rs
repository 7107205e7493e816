//! What is told of an object and counts for nothing: what is accepted of it, and what only the server has.

use crate::core::identity::ObjectId;
use crate::core::node::Origin;
use crate::core::report::Report;
use crate::render::paint::Text;
use crate::render::{server_only, tolerated};

/// One object, with what is told.
pub struct Aside<'t> {
    pub id: &'t ObjectId,
    pub origin: Option<&'t Origin>,
    /// `accepted` or `undeclared`: the rule of findings.
    pub rule: &'static str,
    /// Whether the object stands nowhere else, as all that differs is accepted.
    pub whole: bool,
    pub lines: Vec<String>,
}

/// First what is accepted, then what only the server has, each in the order of the report.
pub fn all(report: &Report) -> Vec<Aside<'_>> {
    let accepted = report.tolerances.iter().flat_map(|all| &all.objects).map(|one| Aside {
        id: &one.entry.id,
        origin: one.entry.origin.as_ref(),
        rule: "accepted",
        whole: one.whole,
        lines: plain(&tolerated::details(one)),
    });
    let undeclared = report.server_only.iter().map(|one| Aside {
        id: &one.id,
        origin: one.origin.as_ref(),
        rule: "undeclared",
        whole: false,
        lines: plain(&server_only::details(&one.fields)),
    });
    accepted.chain(undeclared).collect()
}

fn plain(text: &Text) -> Vec<String> {
    text.to_plain().lines().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned()).collect()
}
