//! Files with credentials that others on the machine can reach.
//!
//! Whoever can read such a file can be us, and whoever can write it decides what is sent. It is told once a file, and
//! stops nothing. What was mounted for this run alone is left out: containers and Kubernetes mount secrets readable for
//! all, where nobody else is, and nobody could change that there.

use std::ffi::OsStr;
use std::path::{Component, Path};

use crate::backend::connection::{Auth, Connection, Credential};
use crate::core::problem::Problem;

/// Where containers find their secrets.
const MOUNTED: [&str; 2] = ["/run/secrets", "/var/run/secrets"];

/// Warnings about a backend's private key and the file with its token.
pub fn warnings(connection: &Connection) -> Vec<Problem> {
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
        warning(path, &format!("{what} of the backend `{}`", connection.name))
    };
    key.into_iter().chain(token).filter_map(warning).collect()
}

/// A warning about a file that others can reach, which is `what`. Links are followed: what counts is where the secret
/// is.
pub fn warning(path: &Path, what: &str) -> Option<Problem> {
    let mode = mode(path)?;
    let may = who_may(mode)?;
    if is_mounted(path) {
        return None;
    }
    let told = format!("`{}`, {what}, {may} (mode {:04o})", path.display(), mode & 0o7777);
    Some(Problem::new(told).hint(format!("`chmod 600 {}`", path.display())).warning())
}

/// What others may do with a file of this mode.
fn who_may(mode: u32) -> Option<&'static str> {
    match mode {
        mode if mode & 0o002 != 0 => Some("can be written by everybody"),
        mode if mode & 0o020 != 0 => Some("can be written by its group"),
        mode if mode & 0o004 != 0 => Some("can be read by everybody"),
        mode if mode & 0o040 != 0 => Some("can be read by its group"),
        _ => None,
    }
}

/// Whether somebody else has put it there for this run: in a mount that cannot be written, where containers have their
/// secrets, or by the kubelet, which keeps the files of a volume in a folder `..TIME` that `..data` leads to.
fn is_mounted(path: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let of_kubelet = |part: Component| match part {
        Component::Normal(name) => name.len() > 2 && starts_with_dots(name),
        _ => false,
    };
    real.components().any(of_kubelet)
        || MOUNTED.iter().any(|folder| real.starts_with(folder) || path.starts_with(folder))
        || is_read_only(&real)
}

fn starts_with_dots(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b"..")
}

#[cfg(unix)]
fn is_read_only(path: &Path) -> bool {
    let mount = rustix::fs::statvfs(path);
    mount.is_ok_and(|mount| mount.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

/// The bits of permission; `None` of what is not there, or is no regular file.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(path).ok()?;
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
    fn what_others_may_do_is_told() {
        for (mode, may) in [
            (0o600, None),
            (0o400, None),
            (0o700, None),
            (0o611, None),
            (0o640, Some("can be read by its group")),
            (0o444, Some("can be read by everybody")),
            (0o660, Some("can be written by its group")),
            (0o666, Some("can be written by everybody")),
        ] {
            assert_eq!(who_may(mode), may, "{mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_mounts_are_left_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let set = |name: &str, mode: u32| {
            std::fs::write(at(name), "s").expect("written");
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(mode)).expect("set");
        };
        set("open", 0o644);
        set("kept", 0o600);
        symlink(at("open"), at("link")).expect("a link");
        let told = warning(&at("link"), "a secret").expect("a warning");
        let path = at("link");
        let said = format!("`{}`, a secret, can be read by everybody (mode 0644)", path.display());
        assert_eq!((told.message, told.warning), (said, true));
        assert_eq!(told.hint, Some(format!("`chmod 600 {}`", path.display())));
        for name in ["kept", "none", "."] {
            assert_eq!(warning(&at(name), "a secret"), None, "{name}");
        }
        // As a volume of Kubernetes looks like.
        std::fs::create_dir(at("..2026_12_01")).expect("a folder");
        set("..2026_12_01/token", 0o644);
        symlink("..2026_12_01", at("..data")).expect("a link");
        symlink("..data/token", at("token")).expect("a link");
        assert_eq!(warning(&at("token"), "a secret"), None);
    }
}
