//! `trueup validate`: everything that can be known without a network.

use std::collections::{BTreeMap, BTreeSet};

use super::options::{Output, Validate};
use super::start;
use crate::core::exit::Exit;
use crate::core::report::LOST_UPDATE_RISK;
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
    match out.format() {
        Format::Text => {
            let mut text = Text::new();
            let numbers = format!(
                "{} {}, {} known.",
                grouped(documents as u64),
                if documents == 1 { "document is valid" } else { "documents are valid" },
                counted(kinds, "kind")
            );
            if output.verbose > 0 {
                risks(&loaded.input).iter().for_each(|risk| text.push(risk.clone()));
            }
            text.push(Line::new().with(Style::Good, &numbers));
            out.result(&text);
        }
        Format::Json | Format::Ndjson => {
            let value = serde_json::json!({
                "schemaVersion": crate::render::json::SCHEMA_VERSION,
                "command": "validate",
                "summary": {"documents": documents, "kinds": kinds},
                "problems": [],
            });
            out.verbatim(&format!("{value}\n"));
        }
    }
    Exit::Success
}

/// Of each backend the kinds of its documents whose updates nothing guards, in a line.
fn risks(input: &Input) -> Vec<Line> {
    let mut kinds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for document in &input.documents {
        let name = &document.id.kind;
        if input.kinds.get(name).is_some_and(|kind| kind.may_lose_updates()) {
            kinds.entry(&name.backend).or_default().insert(&name.kind);
        }
    }
    let line = |(backend, kinds): (&str, BTreeSet<&str>)| {
        let kinds: Vec<String> = kinds.into_iter().map(|kind| format!("`{kind}`")).collect();
        let why = "an update sends the whole object as it was read, and no `version` guards what others change \
                   meanwhile";
        let line = Line::new().with(Style::Change, LOST_UPDATE_RISK);
        line.with(Style::Plain, &format!(": {} of `{backend}`: {why}", kinds.join(", ")))
    };
    kinds.into_iter().map(line).collect()
}
