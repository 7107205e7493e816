//! The secrets that a process knows, shared by all that print: those of its input, and those that it is told on
//! the way, as a token of a login. Whoever learns one has it hidden everywhere from then on.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::redact::Redactor;

/// So many of the secrets that were seen are kept: the last ones.
const SEEN: usize = 10_000;

/// Copies are one store. It holds the secrets in clear: its `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    texts: BTreeSet<String>,
    /// What servers have in a secret's place, in the order in which it was seen first.
    seen: VecDeque<Arc<str>>,
    are_seen: BTreeSet<Arc<str>>,
    /// Without those that came since it was made, where `is_old`.
    redactor: Arc<Redactor>,
    is_old: bool,
}

impl Secrets {
    /// Keeps these out as well. To be called as soon as they are known.
    pub fn learn<S: AsRef<str>>(&self, secrets: impl IntoIterator<Item = S>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.texts.len();
        known.texts.extend(secrets.into_iter().map(|secret| secret.as_ref().to_owned()));
        known.is_old |= known.texts.len() > before;
    }

    /// Keeps these out as well, until many others were seen: they are what a server has, which may be another one at
    /// each look.
    pub fn see(&self, secrets: impl IntoIterator<Item = String>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for secret in secrets {
            if known.texts.contains(&secret) || known.are_seen.contains(&*secret) {
                continue;
            }
            let secret: Arc<str> = secret.into();
            known.are_seen.insert(secret.clone());
            known.seen.push_back(secret);
            known.is_old = true;
        }
        while known.seen.len() > SEEN {
            if let Some(first) = known.seen.pop_front() {
                known.are_seen.remove(&first);
            }
        }
    }

    /// Knows all secrets that are known by now.
    pub fn redactor(&self) -> Arc<Redactor> {
        {
            let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if !known.is_old {
                return known.redactor.clone();
            }
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut known.is_old) {
            let all = known.texts.iter().map(String::as_str).chain(known.seen.iter().map(|seen| &**seen));
            known.redactor = Arc::new(Redactor::new(all));
        }
        known.redactor.clone()
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(..)")
    }
}

/// The password that a URL holds, as it stands in it; also of a text that is no whole URL.
pub fn password_in(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@').or_else(|| rest.rsplit_once('@'))?;
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_hidden_until_many_others_were() {
        let secrets = Secrets::default();
        secrets.learn(["of-the-input"]);
        secrets.see(["seen-first".to_owned(), "seen-second".to_owned()]);
        let shown = || secrets.redactor().text("of-the-input seen-first seen-second").into_owned();
        assert_eq!(shown(), "(redacted) (redacted) (redacted)");
        secrets.see((0..SEEN - 1).map(|n| format!("another-{n}")));
        assert_eq!(shown(), "(redacted) seen-first (redacted)");
        secrets.see(["seen-first".to_owned()]);
        assert_eq!(shown(), "(redacted) (redacted) seen-second");
    }

    #[test]
    fn a_url_may_hold_a_password() {
        for (url, want) in [
            ("https://me:pw@host/path", Some("pw")),
            ("http://me:p:w@host", Some("p:w")),
            ("socks5://:pw@host:1", Some("pw")),
            // No URL: the slash belongs to the password.
            ("https://me:p/w@host", Some("p/w")),
            ("https://me@host", None),
            ("https://me:@host", None),
            ("https://host/a:b", None),
            ("host", None),
        ] {
            assert_eq!(password_in(url), want, "{url}");
        }
    }

    #[test]
    fn what_one_learns_all_hide() {
        let (secrets, other) = (Secrets::default(), Secrets::default());
        let copy = secrets.clone();
        secrets.learn(["first-one"]);
        copy.learn(["second-one"]);
        assert_eq!(secrets.redactor().text("first-one, second-one"), "(redacted), (redacted)");
        assert_eq!(other.redactor().text("first-one"), "first-one");
        assert_eq!(format!("{copy:?}"), "Secrets(..)");
    }
}
