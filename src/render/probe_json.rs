//! What `probe` found out, for machines: one document, or one kind a line and the summary last.

use serde::Serialize;

use crate::core::probe::{Place, Probe, Probed, Suggestion};
use crate::core::report::Finding;

use super::json::{self, SCHEMA_VERSION};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'p> {
    schema_version: u32,
    command: &'static str,
    summary: Summary,
    kinds: Vec<Kind<'p>>,
}

/// A line of NDJSON.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Row<'p> {
    Kind(Kind<'p>),
    #[serde(rename_all = "camelCase")]
    Summary {
        schema_version: u32,
        command: &'static str,
        summary: Summary,
    },
}

#[derive(Serialize)]
struct Summary {
    kinds: usize,
    contradictions: usize,
    unconfirmed: usize,
    suggestions: usize,
    failures: usize,
    skipped: usize,
    requests: Requests,
}

#[derive(Serialize)]
struct Requests {
    list: u64,
    read: u64,
    login: u64,
}

#[derive(Serialize)]
struct Kind<'p> {
    backend: &'p str,
    kind: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'p str>,
    understood: Vec<Fact<'p>>,
    failures: Vec<Note<'p>>,
    contradictions: Vec<Note<'p>>,
    unconfirmed: Vec<Note<'p>>,
    suggestions: Vec<Line<'p>>,
}

#[derive(Serialize)]
struct Fact<'p> {
    fact: &'static str,
    text: &'p str,
}

#[derive(Serialize)]
struct Note<'p> {
    code: &'static str,
    message: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'p str>,
}

/// A line for the backend's document, and where it goes.
#[derive(Serialize)]
struct Line<'p> {
    place: &'static str,
    line: &'p str,
    why: &'p str,
}

/// The probe as one JSON document.
pub fn document(probe: &Probe) -> String {
    json::pretty(&Document {
        schema_version: SCHEMA_VERSION,
        command: "probe",
        summary: summary(probe),
        kinds: probe.kinds.iter().map(kind).collect(),
    })
}

/// The probe as JSON, one kind a line.
pub fn lines(probe: &Probe) -> String {
    let mut text: String = probe.kinds.iter().map(|one| json::line(&Row::Kind(kind(one)))).collect();
    let summary = summary(probe);
    text.push_str(&json::line(&Row::Summary { schema_version: SCHEMA_VERSION, command: "probe", summary }));
    text
}

fn summary(probe: &Probe) -> Summary {
    let counts = probe.counts();
    Summary {
        kinds: probe.kinds.len(),
        contradictions: counts.contradictions,
        unconfirmed: counts.unconfirmed,
        suggestions: counts.suggestions,
        failures: counts.failures,
        skipped: counts.skipped,
        requests: Requests {
            list: probe.requests.list,
            read: probe.requests.read,
            login: probe.requests.login,
        },
    }
}

fn kind(probed: &Probed) -> Kind<'_> {
    Kind {
        backend: &probed.kind.backend,
        kind: &probed.kind.kind,
        skipped: probed.skipped.as_deref(),
        understood: probed.understood.iter().map(|(fact, text)| Fact { fact, text }).collect(),
        failures: notes(&probed.failures),
        contradictions: notes(&probed.contradictions),
        unconfirmed: notes(&probed.unconfirmed),
        suggestions: probed.suggestions.iter().map(line).collect(),
    }
}

fn notes(findings: &[Finding]) -> Vec<Note<'_>> {
    findings.iter().map(note).collect()
}

fn note(finding: &Finding) -> Note<'_> {
    Note { code: finding.code, message: &finding.message, hint: finding.hint.as_deref() }
}

fn line(suggestion: &Suggestion) -> Line<'_> {
    let place = match suggestion.place {
        Place::Kind => "kind",
        Place::List => "list",
        Place::Fields => "fields",
    };
    Line { place, line: &suggestion.line, why: &suggestion.why }
}
