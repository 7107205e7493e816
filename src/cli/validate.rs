//! `trueup validate`: everything that can be known without a network.

use super::options::Validate;
use super::start;
use crate::core::exit::Exit;
use crate::render::out::{Format, Out};
use crate::render::paint::{Line, Style, Text};
use crate::render::words::{counted, grouped};
use crate::run::input::Reach;

pub fn validate(options: &Validate, out: &mut Out) -> Exit {
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
