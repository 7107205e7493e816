//! Small files that a backend names: a token, a certificate, a key. Regular files only, up to a size.
//!
//! A named pipe waits for a writer, standard input for a person, and some devices never end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, ErrorKind, Read};
use std::path::Path;

/// Larger than any token or chain of certificates.
pub const LARGEST: u64 = 1024 * 1024;

/// The bytes of a regular file.
///
/// # Errors
/// What the system says; a file that is something else, or larger than [`LARGEST`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    // Looked at before it is opened, as that alone may act on a device; and once more when it is open, as it may
    // be another one by then.
    regular(&fs::metadata(path)?)?;
    let file = open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Error::new(ErrorKind::FileTooLarge, "it is larger than 1 MB"));
    }
    Ok(bytes)
}

/// The text of a regular file.
///
/// # Errors
/// As [`read`]; and a file that is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}

fn regular(metadata: &fs::Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Opens a file without waiting for anybody.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("token"), "tok-1\n").expect("written");
        assert_eq!(read_text(&at("token")).expect("it is read"), "tok-1\n");
        fs::write(at("odd"), b"\xff").expect("written");
        File::create(at("large")).and_then(|file| file.set_len(LARGEST + 1)).expect("a large file");
        let said = |name: &str| read_text(&at(name)).expect_err(name).to_string();
        assert_eq!(said("odd"), "it is not UTF-8");
        assert_eq!(said("large"), "it is larger than 1 MB");
        assert_eq!(said("."), "it is not a regular file");
        assert!(said("none").starts_with("No such file"), "{}", said("none"));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero")).expect("a link");
        for path in
            [pipe.as_path(), Path::new("/dev/stdin"), Path::new("/dev/zero"), &folder.path().join("zero")]
        {
            // Standard input is a regular file where the caller has made it one.
            if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
                let error = read(path).expect_err("it is refused");
                assert_eq!(error.to_string(), "it is not a regular file", "{}", path.display());
            }
        }
        // Between the look and the opening a pipe may have come into the place: that is not waited for either.
        assert!(!open(&pipe).expect("nobody is waited for").metadata().expect("its type").is_file());
    }
}
