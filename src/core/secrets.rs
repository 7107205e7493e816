//! The secrets that a process knows, shared by all that print: those of its input, and those that it is told on
//! the way, as a token of a login. Whoever learns one has it hidden everywhere from then on.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::redact::Redactor;

/// Copies are one store. It holds the secrets in clear: its `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    texts: BTreeSet<String>,
    redactor: Arc<Redactor>,
}

impl Secrets {
    /// Keeps these out as well. To be called as soon as they are known.
    pub fn learn<S: AsRef<str>>(&self, secrets: impl IntoIterator<Item = S>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.texts.len();
        known.texts.extend(secrets.into_iter().map(|secret| secret.as_ref().to_owned()));
        if known.texts.len() > before {
            known.redactor = Arc::new(Redactor::new(&known.texts));
        }
    }

    /// Knows all secrets that are known by now.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).redactor.clone()
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
