//! Files with credentials that others on the machine can reach.
//!
//! Whoever can write such a file decides what is sent. Whoever can read it can be us; but CI and containers mount
//! secrets readable for all, where nobody else is: that is told only where a person is there to see it.

use std::fs;
use std::path::Path;

use crate::backend::connection::{Auth, Connection, Credential};
use crate::core::problem::Problem;

/// Warnings about a backend's private key and the files with its tokens. `person` says whether somebody reads them.
pub fn warnings(connection: &Connection, person: bool) -> Vec<Problem> {
    let credential = match &connection.auth {
        Some(Auth::Bearer(of) | Auth::Header { value: of, .. } | Auth::Query { value: of, .. }) => Some(of),
        Some(Auth::Basic { .. } | Auth::Token(_)) | None => None,
    };
    let token = credential.and_then(|credential| match credential {
        Credential::File(path) => Some((path, "the token")),
        Credential::Text(_) | Credential::Command(_) => None,
    });
    let key = connection.tls.key.as_ref().map(|path| (path, "the private key"));
    let warning = |(path, what): (&std::path::PathBuf, &str)| {
        let may = who_may(mode(path)?, person)?;
        let told = format!("`{}`, {what} of the backend `{}`, {may}", path.display(), connection.name);
        Some(Problem::new(told).hint(format!("`chmod 600 {}`", path.display())).warning())
    };
    key.into_iter().chain(token).filter_map(warning).collect()
}

/// What others may do with a file of this mode, where it is worth a word.
fn who_may(mode: u32, person: bool) -> Option<&'static str> {
    match mode {
        mode if mode & 0o002 != 0 => Some("can be written by everybody"),
        mode if mode & 0o077 != 0 && person => Some("can be read by others"),
        _ => None,
    }
}

/// The bits of permission; `None` of what is not there, or is no regular file.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).ok()?;
    metadata.is_file().then(|| metadata.permissions().mode())
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_do_is_told_to_whom_it_helps() {
        for (mode, person, nobody) in [
            (0o600, None, None),
            (0o400, None, None),
            (0o640, Some("can be read by others"), None),
            (0o444, Some("can be read by others"), None),
            (0o660, Some("can be read by others"), None),
            (0o666, Some("can be written by everybody"), Some("can be written by everybody")),
        ] {
            assert_eq!((who_may(mode, true), who_may(mode, false)), (person, nobody), "{mode:o}");
        }
    }
}
