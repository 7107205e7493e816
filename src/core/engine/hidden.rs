//! Secrets that only a run comes to know: what a server has in a secret's place, and what references copy.
//!
//! No list of secrets has them, so what the edge hides by value it cannot hide here; and a refusal may repeat
//! any of what the server has or was sent.

use super::super::exchange::Failure;
use super::super::redact::Redactor;
use super::super::report::Entry;
use super::super::scrub;
use super::super::veil::{Veil, is_telling};
use super::Engine;
use super::decide::Seen;

impl Engine {
    /// A failure of a write, without the secrets of its objects.
    pub(super) fn without_secrets(&self, objects: impl Iterator<Item = usize>, failure: Failure) -> Failure {
        let secrets: Vec<String> = objects.flat_map(|object| self.secrets_seen(object)).collect();
        let redactor = Redactor::for_few_texts(secrets);
        let text = |text: String| redactor.text(&text).into_owned();
        Failure { message: text(failure.message), hint: failure.hint.map(text), ..failure }
    }

    /// The secrets of an object that are hidden wherever else they stand in it: as in an annotation in which some
    /// other tool keeps all that it has sent. Everyday words are not taken for secrets there.
    pub(super) fn own_secrets(&self, at: usize) -> Vec<String> {
        let mut texts = self.secrets_seen(at);
        texts.retain(|text| is_telling(text));
        texts
    }

    /// Whether the report shows anything of an object that could hold a secret: without a change nothing is.
    pub(super) fn shows(&self, at: usize) -> bool {
        !self.objects[at].context && !self.objects[at].changes.is_empty()
    }

    /// Keeps what must stay hidden of an object whose observed value is let go: because it is seen anew, as after
    /// its deletion, where the server may refuse the new one and tell of the old one; or because it is settled.
    pub(super) fn keep_secrets(&mut self, at: usize) {
        if matches!(self.objects[at].seen, Seen::Present(_)) {
            self.objects[at].seen_secrets = self.secrets_seen(at);
        }
    }

    fn secrets_seen(&self, at: usize) -> Vec<String> {
        let object = &self.objects[at];
        let mut texts = object.seen_secrets.clone();
        let rules = Veil::of_rules(&object.kind.fields);
        // What stands in clear in the file of a field that is secret by its kind.
        rules.hidden(&object.spec.known(), &mut texts);
        if let Seen::Present(item) = &object.seen {
            let mut veil = Veil::of(&object.spec);
            veil.join(&rules);
            veil.hidden(&item.value, &mut texts);
        }
        object.spec.each_ref(&mut |reference, _| {
            if !reference.secrets.is_empty()
                && let Some(value) = self.look(at, reference)
            {
                reference.secrets.hidden(&value, &mut texts);
            }
        });
        texts.sort_unstable();
        texts.dedup();
        texts
    }
}

/// An entry without these secrets of its object. Its identity stays: the object is known by it.
pub(super) fn without(entry: Entry, secrets: Vec<String>) -> Entry {
    if secrets.is_empty() {
        return entry;
    }
    let shown = scrub::entry(&entry, &Redactor::for_few_texts(secrets));
    Entry { id: entry.id, ..shown }
}
