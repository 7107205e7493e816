//! The backend language: `Backend` documents into kinds and connections.
//!
//! Reading goes in three steps that all report every problem at its place: the words of the language
//! (`reader`), the records of a kind (`kind`, `operation`, `listing`, `template`, `words`), and what only
//! shows when all kinds are there (`check`). Nothing here knows an API, a file or the network.

#[cfg(test)]
mod accepted_tests;
mod address;
mod auth;
mod batch;
mod check;
#[cfg(test)]
mod check_tests;
mod connection;
mod facts;
mod generic;
mod kind;
mod listing;
mod operation;
mod reader;
#[cfg(test)]
mod reference_tests;
mod shapes;
mod template;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod token;
mod useless;
mod watch;
#[cfg(test)]
mod watch_tests;
mod words;

use std::sync::Arc;

pub use self::connection::{check_connection, connection};
pub use self::facts::facts;
pub use self::generic::generic_kind;

use self::check::Found;
use self::facts::Whence;
use self::reader::{Reader, Record};
use super::connection::OWNER;
use super::{like, preset};
use crate::core::kind::Kind;
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;

/// What a Backend document's `spec` may hold.
const SPEC: [&str; 8] = ["url", "preset", "auth", "tls", "headers", "limits", "owner", "kinds"];

/// The kinds of a Backend document, its preset's among them. Kinds with problems are left out.
///
/// A document without `preset` and `kinds` has no kinds: only one of `url: embedded:PATH` can do with that
/// (see [`generic_kind`]).
pub fn kinds(doc: &RawDocument) -> (Vec<Kind>, Vec<Problem>) {
    let mut reader = Reader::new(&doc.source);
    let mut whole = match preset::apply(doc) {
        Ok(whole) => whole,
        Err(problem) => return (Vec::new(), vec![problem]),
    };
    let mut names = Vec::new();
    if let Some(kinds) = whole.root.get_mut("spec").and_then(|spec| spec.get_mut("kinds")) {
        names.extend(reader.names(kinds).into_iter().map(str::to_owned));
        reader.problems.extend(like::resolve(kinds, &doc.source));
        reader.problems.extend(like::address(kinds, &doc.source));
    }
    let Some(backend) = name(&mut reader, &whole) else { return (Vec::new(), reader.problems) };
    let Some(spec) = whole.root.get("spec") else {
        reader.wrong(whole.root.at, format!("the backend `{backend}` has no `spec`"));
        return (Vec::new(), reader.problems);
    };
    let Some(spec) = reader.map(spec, "a backend's `spec`", &SPEC) else {
        return (Vec::new(), reader.problems);
    };
    let owner: Arc<str> = owner(&mut reader, spec).unwrap_or_default().into();
    let mut kinds = Vec::new();
    if let Some(node) = spec.get("kinds") {
        for (name, node) in reader.members(node, "`kinds`") {
            let before = reader.problems.len();
            reader.whence = Whence::of(doc, name);
            if let Some(kind) = kind::read(&mut reader, &backend, name, node) {
                let kind = Kind { us: owner.clone(), ..kind };
                kinds.push(Found { kind, node, sound: reader.is_sound_since(before) });
            }
        }
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        check::kinds(&mut reader, &mut kinds, &known);
    } else if !is_embedded(&whole) {
        let message = format!("the backend `{backend}` says nothing of its kinds");
        reader.wrong(whole.root.at, message).hint = Some("give `preset` or `kinds`".into());
    }
    (related(kinds.into_iter().map(|found| found.kind).collect()), reader.problems)
}

/// The kinds, each knowing what it has to know of its parents.
fn related(kinds: Vec<Kind>) -> Vec<Kind> {
    let mut all = kinds.clone();
    all.iter_mut().for_each(|kind| kind.fold_as_parents(|name| kinds.iter().find(|kind| kind.name == *name)));
    all
}

/// Who we are to the backend: a name that is known before anything is taken from elsewhere, and that can stand in
/// a URL and in a header.
fn owner<'n>(reader: &mut Reader, spec: Record<'n>) -> Option<&'n str> {
    let Some(node) = spec.get("owner") else { return Some(OWNER) };
    let text = reader.text(node, "`owner`")?;
    let is_sound = !text.trim().is_empty() && !text.chars().any(char::is_control);
    if !is_sound {
        reader.wrong(node.at, "`owner` is a name, without control characters").hint =
            Some("it is what `{owner}` stands for in requests".into());
    }
    is_sound.then_some(text)
}

/// `metadata.name`, which documents use as their `apiVersion`.
fn name(reader: &mut Reader, doc: &RawDocument) -> Option<Arc<str>> {
    let node = doc.root.get("metadata").and_then(|metadata| metadata.get("name"));
    let Some(node) = node else {
        reader.wrong(doc.root.at, "a backend has no `metadata.name`").hint =
            Some("documents name it as their `apiVersion`".into());
        return None;
    };
    match reader.text(node, "`metadata.name`")? {
        "" | "trueup" | "trueup/v1" => {
            reader.wrong(node.at, "a backend cannot have this name");
            None
        }
        name => Some(name.into()),
    }
}

fn is_embedded(doc: &RawDocument) -> bool {
    let url = doc.root.get("spec").and_then(|spec| spec.get("url"));
    url.and_then(|url| url.as_str()).is_some_and(|url| url.starts_with(connection::EMBEDDED))
}
