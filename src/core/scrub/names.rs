//! Takes out of what is shown what is called like a secret, where no kind says that it is one. What is compared is left as
//! it is.

use std::borrow::Cow;

use super::SECRET;
use crate::core::base::Since;
use crate::core::change::{Change, Shown};
use crate::core::managers;
use crate::core::path::{Path, Step};
use crate::core::redact::Redactor;
use crate::core::report::Entry;
use crate::core::value::Value;
use crate::core::veil::{self, Veil};

/// An entry without what is called like a secret. What else is compared with it needs it as it was.
pub fn by_names(entry: &Entry) -> Cow<'_, Entry> {
    let veil = entry.observed.names.as_deref().unwrap_or(Veil::by_names_alone());
    let mut texts = Vec::new();
    for (path, side) in sides(entry) {
        if let Shown::Value(value) = side {
            veil.at(path).hidden(value, &mut texts);
        }
        texts.extend(secret_keys(path, veil));
    }
    if texts.is_empty() {
        return Cow::Borrowed(entry);
    }
    // The sentences about the object have the same values in them, whole or cut. Other fields may well have a short word
    // in common with one.
    let said = Redactor::for_few_texts(&texts);
    let redactor = Redactor::for_few_texts(texts.iter().filter(|text| veil::is_telling(text)));
    let mut hushed = super::entry(entry, &redactor);
    let cover = |path: &Path, side: &mut Option<Shown>, original: Option<&Shown>| {
        if let Some(Shown::Value(value)) = original {
            let veil = veil.at(path);
            *side = Some(if veil.hides(value) {
                Shown::Secret
            } else {
                Shown::Value(veil.cover(&redactor.value(value)))
            });
        }
    };
    let each = hushed.changes.iter_mut().zip(&entry.changes);
    for (change, was) in each.chain(hushed.observed.frozen.iter_mut().zip(&entry.observed.frozen)) {
        cover(&was.path, &mut change.before, was.before.as_ref());
        cover(&was.path, &mut change.after, was.after.as_ref());
        if let Some((since, base)) =
            change.since.as_mut().zip(was.since.as_ref().and_then(|since| since.base.as_ref()))
        {
            cover(&was.path, &mut since.base, Some(base));
        }
        change.path = unkeyed(&change.path, veil);
    }
    for (conflict, was) in hushed.conflicts.iter_mut().zip(&entry.conflicts) {
        let Some(path) = &was.path else { continue };
        conflict.path = conflict.path.as_ref().map(|path| unkeyed(path, veil));
        cover(path, &mut conflict.base, was.base.as_ref());
        cover(path, &mut conflict.ours, was.ours.as_ref());
        cover(path, &mut conflict.theirs, was.theirs.as_ref());
    }
    if let Some(why) = hushed.result.explanation_mut() {
        why.message = said.words(&why.message);
        why.hint = why.hint.as_ref().map(|hint| said.words(hint));
    }
    for finding in &mut hushed.findings {
        finding.message = said.words(&finding.message);
    }
    for accepted in &mut hushed.accepted {
        accepted.words.iter_mut().for_each(|word| *word = said.words(word));
    }
    Cow::Owned(hushed)
}

/// A copy of a change, to be shown: as [`super::shown`].
pub fn shown_change(change: &Change, names: &Veil, redactor: &Redactor) -> Change {
    let veil = names.at(&change.path);
    let side = |side: &Shown| covered(veil, side);
    let covered = Change {
        path: unkeyed(&change.path, names),
        before: change.before.as_ref().map(side),
        after: change.after.as_ref().map(side),
        since: change
            .since
            .as_ref()
            .map(|since| Since { side: since.side, base: since.base.as_ref().map(side) }),
        ..change.clone()
    };
    super::change(&covered, redactor)
}

/// A side of a change as a sentence quotes it. Where a sentence about an object has the value of a field in it, that
/// comes from here: no one else knows what is called like a secret.
pub fn quoted(names: &Veil, path: &Path, side: Option<&Shown>) -> String {
    managers::side(side.map(|side| covered(names.at(path), side)).as_ref())
}

fn covered(veil: &Veil, side: &Shown) -> Shown {
    match side {
        Shown::Value(value) if veil.hides(value) => Shown::Secret,
        Shown::Value(value) => Shown::Value(veil.cover(value)),
        other => other.clone(),
    }
}

/// The values of an entry, with their places.
fn sides(entry: &Entry) -> impl Iterator<Item = (&Path, &Shown)> {
    let changes = entry.changes.iter().chain(&entry.observed.frozen).flat_map(|change| {
        let base = change.since.as_ref().and_then(|since| since.base.as_ref());
        let sides = [change.before.as_ref(), change.after.as_ref(), base];
        sides.into_iter().flatten().map(|side| (&change.path, side))
    });
    let conflicts = entry.conflicts.iter().flat_map(|conflict| {
        let sides = [&conflict.base, &conflict.ours, &conflict.theirs];
        let path = conflict.path.as_ref();
        sides.into_iter().flatten().filter_map(move |side| Some((path?, side)))
    });
    changes.chain(conflicts)
}

/// A path without the values of keys that are secrets.
fn unkeyed(path: &Path, veil: &Veil) -> Path {
    let step = |(at, step): (usize, &Step)| match step {
        Step::Keyed(name, _) if is_secret_key(path, at, veil) => Step::Keyed(name.clone(), SECRET.into()),
        other => other.clone(),
    };
    Path(path.0.iter().enumerate().map(step).collect())
}

/// What names elements of lists, where the member that does so is a secret.
fn secret_keys<'p>(path: &'p Path, veil: &'p Veil) -> impl Iterator<Item = String> + 'p {
    path.0.iter().enumerate().filter_map(move |(at, step)| match step {
        Step::Keyed(_, value) if is_secret_key(path, at, veil) => Some(value.clone()),
        _ => None,
    })
}

fn is_secret_key(path: &Path, at: usize, veil: &Veil) -> bool {
    let element = path.0[..=at].iter().fold(veil, |veil, step| veil.step(step));
    match &path.0[at] {
        Step::Keyed(name, value) => element.field(name).hides(&Value::String(value.clone())),
        _ => false,
    }
}
