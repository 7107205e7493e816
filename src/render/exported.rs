//! What an export came to, for people and for machines.

use crate::core::identity::ObjectId;
use crate::core::value::Value;

use super::json::{self, Identity, SCHEMA_VERSION};
use super::paint::{Line, Style, Text};
use super::words::counted;

/// An export at its end.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// How many documents were written.
    pub documents: usize,
    /// The documents themselves, where they are part of one JSON text.
    pub json: Vec<Value>,
    /// The files that were written, and how many documents each has; `None` on standard output.
    pub files: Option<Vec<(String, usize)>>,
    /// Objects that cannot be documents, and why.
    pub left_out: Vec<(ObjectId, String)>,
    pub requests: u64,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'e> {
    schema_version: u32,
    command: &'static str,
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<&'e [Value]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<File<'e>>>,
    left_out: Vec<LeftOut<'e>>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    documents: usize,
    left_out: usize,
    requests: u64,
}

#[derive(serde::Serialize)]
struct File<'e> {
    path: &'e str,
    documents: usize,
}

#[derive(serde::Serialize)]
struct LeftOut<'e> {
    identity: Identity<'e>,
    why: &'e str,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Row<'e> {
    Document {
        document: &'e Value,
    },
    LeftOut(LeftOut<'e>),
    #[serde(rename_all = "camelCase")]
    Summary {
        schema_version: u32,
        command: &'static str,
        summary: Summary,
    },
}

/// The whole as one document.
pub fn document(export: &Export) -> String {
    let on_stdout = export.files.is_none();
    json::pretty(&Document {
        schema_version: SCHEMA_VERSION,
        command: "export",
        summary: summary(export),
        documents: on_stdout.then_some(&export.json),
        files: export.files.as_ref().map(|files| files.iter().map(file).collect()),
        left_out: export.left_out.iter().map(left_out).collect(),
    })
}

/// One exported document on a line.
pub fn line(document: &Value) -> String {
    json::line(&Row::Document { document })
}

/// The lines after the documents: what was left out, and the summary.
pub fn last_lines(export: &Export) -> String {
    let mut text: String =
        export.left_out.iter().map(|one| json::line(&Row::LeftOut(left_out(one)))).collect();
    let (schema_version, command) = (SCHEMA_VERSION, "export");
    text.push_str(&json::line(&Row::Summary { schema_version, command, summary: summary(export) }));
    text
}

/// The files that were written, one a line.
pub fn files(files: &[(String, usize)]) -> Text {
    let width = files.iter().map(|(path, _)| Line::plain(path).width()).max().unwrap_or(0);
    let line = |(path, documents): &(String, usize)| {
        let mut line = Line::plain(path);
        line.pad(width + 3, 3);
        line.with(Style::Dim, &counted(*documents, "document"))
    };
    Text { lines: files.iter().map(line).collect() }
}

/// `3 documents exported, 1 object left out. 5 requests.`
pub fn text(export: &Export) -> Text {
    let left_out = match export.left_out.len() {
        0 => String::new(),
        some => format!(", {} left out", counted(some, "object")),
    };
    let requests = counted(usize::try_from(export.requests).unwrap_or(usize::MAX), "request");
    let said = format!("{} exported{left_out}. {requests}.", counted(export.documents, "document"));
    Text { lines: vec![Line::new().with(Style::Dim, &said)] }
}

fn summary(export: &Export) -> Summary {
    Summary { documents: export.documents, left_out: export.left_out.len(), requests: export.requests }
}

fn file((path, documents): &(String, usize)) -> File<'_> {
    File { path, documents: *documents }
}

fn left_out((id, why): &(ObjectId, String)) -> LeftOut<'_> {
    LeftOut { identity: Identity::of(id), why }
}
