//! Webhooks: whether a request comes from somebody who knows the secret, and what it is about.
//!
//! Two ways of signing are known, both HMAC-SHA256:
//! - Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature: v1,BASE64`), whose signature covers the
//!   time at which it was made. It holds for five minutes.
//! - GitHub's (`x-hub-signature-256: sha256=HEX`), of the body alone. It has no time, so it can be sent again by whoever
//!   saw it. All that this brings about is another look.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use ring::hmac;

use super::desired::Desired;
use crate::backend::feed::key_named;
use crate::core::filter::{Filter, Vars};
use crate::core::identity::{Key, ObjectId};
use crate::core::value::Value;
use crate::core::watch::{About, Hint, Origin};

/// The largest body, in bytes.
pub const LARGEST: usize = 1024 * 1024;
/// A signature holds for so long, before and after.
pub const FRESH: Duration = Duration::from_secs(5 * 60);
/// Objects of one request; one that names more is about the whole backend.
const MOST: usize = 100;

/// The secret that senders know.
pub struct Secret(hmac::Key);

/// How the signature of a request is to be checked: known before its body is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What is signed before the body.
    before: Vec<u8>,
    /// One of these is right.
    signatures: Vec<Vec<u8>>,
}

/// Why a request is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disbelieved {
    #[error(
        "it is not signed: send `x-hub-signature-256`, or `webhook-id`, `webhook-timestamp` and `webhook-signature`"
    )]
    Unsigned,
    #[error("its signature is more than 5 minutes old, or was made in the future")]
    Old,
    #[error("its signature is wrong")]
    Wrong,
}

impl Secret {
    /// A secret as it was agreed on. `whsec_…` is base64, as Standard Webhooks have it; all else stands for itself.
    pub fn new(text: &str) -> Secret {
        let bytes = text.strip_prefix("whsec_").and_then(|packed| STANDARD.decode(packed).ok());
        Secret(hmac::Key::new(hmac::HMAC_SHA256, bytes.as_deref().unwrap_or(text.as_bytes())))
    }

    /// Whether the claim holds for this body.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self, claim: &Claim, body: &[u8]) -> Result<(), Disbelieved> {
        let signed = [&claim.before, body].concat();
        let right = |signature: &Vec<u8>| hmac::verify(&self.0, &signed, signature).is_ok();
        if claim.signatures.iter().any(right) { Ok(()) } else { Err(Disbelieved::Wrong) }
    }
}

impl Claim {
    /// What a request's headers claim, at `now` since 1970. A signature with a time goes before one without.
    ///
    /// # Errors
    /// There is no signature, or it is too old.
    pub fn of(headers: &HeaderMap, now: Duration) -> Result<Claim, Disbelieved> {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(signatures) = header("webhook-signature") {
            let id = header("webhook-id").ok_or(Disbelieved::Unsigned)?;
            let time = header("webhook-timestamp").ok_or(Disbelieved::Unsigned)?;
            let made = time.parse().map(Duration::from_secs).map_err(|_| Disbelieved::Old)?;
            if now.abs_diff(made) > FRESH {
                return Err(Disbelieved::Old);
            }
            // Where a secret is being changed, there is one signature for each.
            let signatures =
                signatures.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
            return Ok(Claim {
                before: format!("{id}.{time}.").into_bytes(),
                signatures: signatures.collect(),
            });
        }
        let signature = header("x-hub-signature-256").ok_or(Disbelieved::Unsigned)?;
        let signature = signature.strip_prefix("sha256=").and_then(hex).ok_or(Disbelieved::Wrong)?;
        Ok(Claim { before: Vec::new(), signatures: vec![signature] })
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).ok()).collect()
}

/// Which object the output of a filter names.
pub type Finder = Arc<dyn Fn(&Value) -> Option<ObjectId> + Send + Sync>;

/// What a backend's webhooks are about.
#[derive(Clone, Default)]
pub enum Hook {
    /// The backend as a whole.
    #[default]
    Whole,
    /// What the filters find in a body, as far as the finder of each knows it; the backend as a whole where that is
    /// nothing.
    Keyed(Vec<(Filter, Finder)>),
}

/// The backends that may have webhooks, by name.
pub type Hooks = BTreeMap<Arc<str>, Hook>;

impl Hook {
    /// What a body is about. It is a hint: nothing in it is taken for true.
    pub fn hints(&self, backend: &Arc<str>, body: &[u8]) -> Vec<Hint> {
        let hint = |about| Hint { about, origin: Origin::Webhook, observed: None };
        let objects = match self {
            Hook::Whole => Vec::new(),
            Hook::Keyed(all) => match serde_json::from_slice::<Value>(body) {
                Ok(body) => all.iter().flat_map(|(filter, find)| named(filter, find, &body)).collect(),
                Err(_) => Vec::new(),
            },
        };
        // More of them are no names.
        let objects = if objects.len() > MOST { Vec::new() } else { objects };
        match objects.is_empty() {
            true => vec![hint(About::Target(backend.clone()))],
            false => objects.into_iter().map(|id| hint(About::Object(id))).collect(),
        }
    }
}

/// What a filter names: an object, or a list of them.
fn named(filter: &Filter, find: &Finder, body: &Value) -> Vec<ObjectId> {
    let vars = Vars(vec![("event", Value::Null)]);
    let found = filter.all(body, &vars).unwrap_or_default().into_iter();
    let one_by_one = found.flat_map(|one| match one {
        Value::Array(all) => all,
        one => vec![one],
    });
    one_by_one.take(MOST + 1).filter_map(|name| find(&name)).collect()
}

/// The hooks of all backends of a desired set.
pub fn hooks(desired: &Desired) -> Hooks {
    let mut all: Hooks = desired.targets().iter().map(|target| (target.clone(), Hook::Whole)).collect();
    for kind in desired.kinds.iter() {
        let (Some(filter), Some(hook)) = (&kind.hook, all.get_mut(&kind.name.backend)) else { continue };
        let of = kind.clone();
        let find: Finder = Arc::new(move |named| {
            let key = key_named(&of, &Key::new(Vec::new()), named)?;
            Some(ObjectId { kind: of.name.clone(), key })
        });
        match hook {
            Hook::Keyed(all) => all.push((filter.clone(), find)),
            Hook::Whole => *hook = Hook::Keyed(vec![(filter.clone(), find)]),
        }
    }
    all
}

#[cfg(test)]
#[path = "hook_tests.rs"]
mod tests;
