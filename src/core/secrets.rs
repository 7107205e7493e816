//! The secrets that a process knows, shared by all that print: those of its input, and those that it is told on
//! the way, as a token of a login. Whoever learns one has it hidden everywhere from then on.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use super::redact::Redactor;

/// So many secrets that only servers have are remembered: there may be any number of them, and each is looked for in
/// many forms.
const REMEMBERED: usize = 256;

/// Copies are one store. It holds the secrets in clear: its `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Secrets(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    texts: BTreeSet<String>,
    /// What servers have, the latest last.
    remembered: VecDeque<String>,
    redactor: Arc<Redactor>,
}

impl Secrets {
    /// Keeps these out as well. To be called as soon as they are known.
    pub fn learn<S: AsRef<str>>(&self, secrets: impl IntoIterator<Item = S>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.texts.len();
        known.texts.extend(secrets.into_iter().map(|secret| secret.as_ref().to_owned()));
        if known.texts.len() > before {
            known.build();
        }
    }

    /// Keeps these out as well, until there are too many later ones: what a server was seen to have in a secret's
    /// place, and may repeat in any later answer. It is kept in memory, and nowhere else.
    pub fn remember(&self, secrets: impl IntoIterator<Item = String>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let Known { texts, remembered, .. } = &mut *known;
        let mut news = false;
        for secret in secrets {
            if !texts.contains(&secret) && !remembered.contains(&secret) {
                news = true;
                remembered.push_back(secret);
            }
            if remembered.len() > REMEMBERED {
                remembered.pop_front();
            }
        }
        if news {
            known.build();
        }
    }

    /// Knows all secrets that are known by now.
    pub fn redactor(&self) -> Arc<Redactor> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).redactor.clone()
    }
}

impl Known {
    fn build(&mut self) {
        self.redactor = Arc::new(Redactor::new(self.texts.iter().chain(&self.remembered)));
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
    fn what_servers_have_is_remembered_as_far_as_there_is_room() {
        let secrets = Secrets::default();
        secrets.learn(["ours-for-ever"]);
        secrets.remember(["theirs-0000".to_owned()]);
        assert_eq!(secrets.redactor().text("theirs-0000"), "(redacted)");
        secrets.remember((1..=REMEMBERED).map(|nth| format!("theirs-{nth:04}")));
        let text = format!("theirs-0000 theirs-0001 theirs-{REMEMBERED:04} ours-for-ever");
        assert_eq!(secrets.redactor().text(&text), "theirs-0000 (redacted) (redacted) (redacted)");
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
