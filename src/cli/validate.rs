//! `trueup validate`: everything that can be known without a network.

use std::collections::{BTreeMap, BTreeSet};

use super::options::{Output, Validate};
use super::start;
use crate::core::document::Document;
use crate::core::exit::Exit;
use crate::core::problem::Problem;
use crate::core::report::LOST_UPDATE_RISK;
use crate::render::ci::Valid;
use crate::render::out::{Format, Out};
use crate::render::paint::{Line, Style, Text};
use crate::render::words::{counted, grouped};
use crate::run::input::{Input, Reach};

pub fn validate(options: &Validate, output: &Output, out: &mut Out) -> Exit {
    let loaded = match start::load("validate", &options.sources, Reach::None, out) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let documents = loaded.input.documents.len();
    let kinds = loaded.input.kinds.iter().count();
    let numbers = format!(
        "{} {}, {} known.",
        grouped(documents as u64),
        if documents == 1 { "document is valid" } else { "documents are valid" },
        counted(kinds, "kind")
    );
    match out.format() {
        Format::Ci(_) => {
            let told = if output.verbose > 0 { risks(&loaded.input) } else { Vec::new() };
            let document = |document: &Document| (document.id.clone(), document.origin.clone());
            out.valid(Valid {
                documents: loaded.input.documents.iter().map(document).collect(),
                summary: numbers,
                risks: told.iter().map(Risk::problem).collect(),
            });
        }
        Format::Text => {
            let mut text = Text::new();
            if output.verbose > 0 {
                risks(&loaded.input).iter().for_each(|risk| text.push(risk.line()));
            }
            text.push(Line::new().with(Style::Good, &numbers));
            out.result(&text);
        }
        Format::Json | Format::Ndjson => {
            let findings: Vec<_> = risks(&loaded.input).iter().map(Risk::json).collect();
            let value = serde_json::json!({
                "schemaVersion": crate::render::json::SCHEMA_VERSION,
                "command": "validate",
                "summary": {"documents": documents, "kinds": kinds},
                "problems": [],
                "findings": findings,
            });
            out.verbatim(&format!("{value}\n"));
        }
    }
    Exit::Success
}

/// The kinds of a backend's documents whose updates nothing guards.
struct Risk<'i> {
    backend: &'i str,
    kinds: BTreeSet<&'i str>,
}

const RISK: &str =
    "an update sends the whole object as it was read, and no `version` guards what others change meanwhile";

fn risks(input: &Input) -> Vec<Risk<'_>> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for document in &input.documents {
        let name = &document.id.kind;
        if input.kinds.get(name).is_some_and(|kind| kind.may_lose_updates()) {
            kinds.entry(&name.backend).or_default().insert(&name.kind);
        }
    }
    kinds.into_iter().map(|(backend, kinds)| Risk { backend, kinds }).collect()
}

impl Risk<'_> {
    fn line(&self) -> Line {
        let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("`{kind}`")).collect();
        let line = Line::new().with(Style::Change, LOST_UPDATE_RISK);
        line.with(Style::Plain, &format!(": {} of `{}`: {RISK}", kinds.join(", "), self.backend))
    }

    fn problem(&self) -> Problem {
        Problem::new(self.line().write(false, str::to_owned)).warning()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "code": LOST_UPDATE_RISK, "message": RISK, "backend": self.backend, "kinds": self.kinds,
        })
    }
}
