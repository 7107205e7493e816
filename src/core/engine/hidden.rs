//! Secrets that only a run comes to know: what a server has in a secret's place, and what references copy.
//!
//! No list of secrets has them, so what the edge hides by value it cannot hide here; and a refusal may repeat
//! any of what the server has or was sent.

use super::super::exchange::Failure;
use super::super::redact::Redactor;
use super::super::veil::Veil;
use super::Engine;
use super::decide::Seen;
use super::queue::Queued;

impl Engine {
    /// A failure of a write, without the secrets of its objects.
    pub(super) fn without_secrets(&self, bundle: &[Queued], failure: Failure) -> Failure {
        let secrets: Vec<String> =
            bundle.iter().flat_map(|queued| self.secrets_seen(queued.object)).collect();
        let redactor = Redactor::new(secrets);
        let text = |text: String| redactor.text(&text).into_owned();
        Failure { message: text(failure.message), hint: failure.hint.map(text), ..failure }
    }

    fn secrets_seen(&self, at: usize) -> Vec<String> {
        let object = &self.objects[at];
        let mut texts = Vec::new();
        if let Seen::Present(item) = &object.seen {
            let mut veil = Veil::of(&object.spec);
            veil.join(&Veil::of_rules(&object.kind.fields));
            veil.hidden(&item.value, &mut texts);
        }
        object.spec.each_ref(&mut |reference, _| {
            if !reference.secrets.is_empty()
                && let Some(value) = self.look(at, reference)
            {
                reference.secrets.hidden(&value, &mut texts);
            }
        });
        texts
    }
}
