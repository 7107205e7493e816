//! The status document for machines, and back.

use super::super::json::{SCHEMA_VERSION, line, pretty};
use std::time::Duration;

use super::document::{Document, Object, Summary, Writes};
use super::time;

/// Why a text is no status document.
#[derive(Debug, thiserror::Error)]
pub enum NoStatus {
    #[error("it is not the status of a watch: {0}")]
    Other(serde_json::Error),
    #[error("it was made by a later version of the program")]
    Later,
}

/// A line of NDJSON.
#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Row<'d> {
    Object(&'d Object),
    #[serde(rename_all = "camelCase")]
    Summary {
        schema_version: u32,
        command: &'static str,
        alive: bool,
        time: &'d str,
        summary: &'d Summary,
    },
}

/// One document, as `/status` and the status file have it.
pub fn document(document: &Document) -> String {
    pretty(document)
}

/// The document as a person asked for it, who is also told whether the watch is alive.
pub fn told(document: &Document, alive: bool) -> String {
    #[derive(serde::Serialize)]
    struct Told<'d> {
        #[serde(flatten)]
        document: &'d Document,
        alive: bool,
    }
    pretty(&Told { document, alive })
}

/// One object a line, the summary last.
pub fn lines(document: &Document, alive: bool) -> String {
    let mut text: String = document.objects.iter().map(|object| line(&Row::Object(object))).collect();
    text.push_str(&line(&Row::Summary {
        schema_version: SCHEMA_VERSION,
        command: "status",
        alive,
        time: &document.time,
        summary: &document.summary,
    }));
    text
}

/// The writes that a status document tells of: when, since 1970, and how many.
///
/// # Errors
/// As [`read`].
pub fn changes(text: &str) -> Result<Vec<(Duration, usize)>, NoStatus> {
    #[derive(serde::Deserialize)]
    struct Told {
        command: String,
        #[serde(default)]
        changes: Vec<Writes>,
    }
    let told: Told = serde_json::from_str(text).map_err(NoStatus::Other)?;
    if told.command != "status" {
        return Err(NoStatus::Other(serde::de::Error::custom("it is of another command")));
    }
    let when = |one: &Writes| Some((time::read(&one.time)?, one.count));
    let all: Option<Vec<_>> = told.changes.iter().map(when).collect();
    all.ok_or_else(|| NoStatus::Other(serde::de::Error::custom("the time of a change is none")))
}

/// Reads a document back.
///
/// # Errors
/// A text that is none, or that a later version made.
pub fn read(text: &str) -> Result<Document, NoStatus> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        schema_version: u32,
    }
    let version: Version = serde_json::from_str(text).map_err(NoStatus::Other)?;
    if version.schema_version > SCHEMA_VERSION {
        return Err(NoStatus::Later);
    }
    serde_json::from_str(text).map_err(NoStatus::Other)
}
