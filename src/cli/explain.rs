//! `trueup explain`: what is known of a kind, offline; or why an object's plan is what it is, by a client that
//! cannot write.

use std::collections::HashSet;
use std::sync::Arc;

use super::asked::{self, Asked};
use super::options::{Consents, Explain};
use super::start;
use crate::backend::language;
use crate::core::diff::explain::explain as lines;
use crate::core::document::Document;
use crate::core::engine::Specimen;
use crate::core::exit::Exit;
use crate::core::facts::Fact;
use crate::core::identity::ObjectId;
use crate::core::kind::{Kind, Kinds};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::redact::Redactor;
use crate::core::report::{Entry, Finding, Outcome, Report, SECRET_VERSION};
use crate::core::suggest;
use crate::render::explained::Object;
use crate::render::out::Out;
use crate::run::input::{Input, Reach};

pub fn explain(options: &Explain, out: &mut Out) -> Exit {
    run(options, out).unwrap_or_else(|exit| exit)
}

fn run(options: &Explain, out: &mut Out) -> Result<Exit, Exit> {
    let asked = Asked::all(&options.objects);
    let (objects, kinds): (Vec<Asked>, Vec<Asked>) = asked.into_iter().partition(Asked::names_objects);
    let reach = if objects.is_empty() { Reach::None } else { Reach::Used };
    let loaded = start::load("explain", &options.sources, reach, out)?;
    let known = loaded.input.kinds.clone();
    asked::check(&kinds, &known, out)?;
    asked::check(&objects, &known, out)?;
    let written = loaded.input.backends.clone();
    let sheets = sheets(&kinds, &known, &written);
    let told: Vec<(&Kind, &[Fact])> = sheets.iter().map(|(kind, facts)| (&**kind, &**facts)).collect();
    if objects.is_empty() {
        out.explained(&told, &[]);
        return Ok(Exit::Success);
    }
    are_documented(&objects, &loaded.input, out)?;
    let selection = loaded.input.selection.clone();
    let versioned = |document: &&Document| document.policy.secret_version.is_some();
    let versioned = loaded.input.documents.iter().filter(versioned).map(|document| document.id.clone());
    let versioned: HashSet<ObjectId> = versioned.collect();
    let mut runner = start::open("explain", loaded, options.effort, &Consents::default(), out)?;
    start::block_on(start::one_thread(), options.effort, out, async |limits, out| {
        let takes = |document: &Document| {
            selection.chooses(document) && asked::takes(&objects, &document.id.slashed())
        };
        match runner.explain_once(&takes, limits, &|_, _| {}).await {
            Ok((mut report, specimens)) => {
                note_versions(&mut report, &versioned);
                show(&told, &report, &specimens, &written, out);
                verdict(&report)
            }
            Err(problem) => start::failed(&problem, out),
        }
    })
}

/// Says of an annotation that compares with a base that there is none here.
fn note_versions(report: &mut Report, versioned: &HashSet<ObjectId>) {
    for entry in report.objects.iter_mut().filter(|entry| versioned.contains(&entry.id)) {
        let message = "`trueup/secret-version` compares with a base, and does nothing without `--base`";
        entry.findings.push(Finding::new(SECRET_VERSION, message));
    }
}

/// The kinds that are asked for, with their members as they are written.
fn sheets(asked: &[Asked], kinds: &Kinds, written: &[RawDocument]) -> Vec<(Arc<Kind>, Vec<Fact>)> {
    let named = kinds.iter().filter(|kind| asked.iter().any(|one| *one.kind == *kind.name.kind));
    named.map(|kind| (kind.clone(), facts(kind, written))).collect()
}

fn facts(kind: &Kind, written: &[RawDocument]) -> Vec<Fact> {
    let name = |raw: &&RawDocument| {
        let name = raw.root.get("metadata").and_then(|metadata| metadata.get("name"));
        name.and_then(|name| name.as_str()) == Some(&*kind.name.backend)
    };
    written.iter().find(name).map_or_else(Vec::new, |raw| language::facts(raw, &kind.name.kind))
}

/// Says which objects stand in no document: there is no plan of them.
fn are_documented(asked: &[Asked], input: &Input, out: &mut Out) -> Result<(), Exit> {
    let names: Vec<String> = input.documents.iter().map(|document| document.id.slashed()).collect();
    let is_missing = |one: &&Asked| !names.iter().any(|name| one.takes(name));
    let Some(one) = asked.iter().find(is_missing) else { return Ok(()) };
    let of_kind = names.iter().map(String::as_str).filter(|name| name.split('/').next() == Some(&one.kind));
    let hint = suggest::hint(&one.text, "the documents are", of_kind);
    out.error(&Problem::new(format!("no document is about `{}`", one.text)).hint(hint));
    Err(Exit::Usage)
}

fn show(
    kinds: &[(&Kind, &[Fact])],
    report: &Report,
    specimens: &[Specimen],
    written: &[RawDocument],
    out: &mut Out,
) {
    let facts: Vec<Vec<Fact>> = specimens.iter().map(|specimen| facts(&specimen.kind, written)).collect();
    let each = report.objects.iter().zip(specimens).zip(&facts);
    let objects: Vec<Object> =
        each.map(|((entry, specimen), facts)| object(entry, specimen, facts)).collect();
    out.explained(kinds, &objects);
}

fn object<'s>(entry: &Entry, specimen: &'s Specimen, facts: &'s [Fact]) -> Object<'s> {
    let compared = specimen.observed.as_ref().map(|item| {
        lines(&specimen.spec, specimen.base.past(), &item.value, &specimen.kind.fields, &entry.changes)
    });
    let object = Object {
        entry: entry.clone(),
        kind: &specimen.kind,
        facts,
        present: compared.is_some(),
        lines: compared.unwrap_or_default(),
    };
    if specimen.secrets.is_empty() { object } else { object.scrubbed(&Redactor::new(&specimen.secrets)) }
}

/// What could not be known cannot be explained.
fn verdict(report: &Report) -> Exit {
    let unknown = |entry: &Entry| {
        matches!(entry.result, Outcome::Unknown(_) | Outcome::Failed(_) | Outcome::Skipped(_))
    };
    match report.objects.iter().any(unknown) {
        _ if report.interrupted => Exit::Interrupted,
        true => Exit::Failed,
        false => Exit::Success,
    }
}
