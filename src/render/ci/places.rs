//! Where files are for those who read a run from outside: below the root of the repository, not below the folder that
//! the run began in.

use std::fmt::Write as _;

/// What is known of the folder of the run. The default knows nothing, and leaves files as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The folder of the run, from the root of the machine, with `/`.
    pub folder: String,
    /// The root of its repository: the folder or one above it.
    pub root: String,
}

impl Places {
    /// A file as it stands below the root, or from the root of the machine where it is elsewhere. Standard input is
    /// no file.
    pub fn of(&self, file: &str) -> Option<String> {
        if file == "-" {
            return None;
        }
        let file = file.replace('\\', "/");
        let whole = match file.starts_with('/') || self.folder.is_empty() {
            true => file,
            false => format!("{}/{file}", self.folder),
        };
        let whole = straight(&whole);
        let root = self.root.trim_end_matches('/');
        let below = whole.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        Some(match below {
            Some(below) if !self.root.is_empty() => below.to_owned(),
            _ => whole,
        })
    }

    /// The same as a URI: relative, or with the scheme `file`.
    pub fn uri(&self, file: &str) -> Option<String> {
        let place = self.of(file)?;
        let mut uri = String::from(if place.starts_with('/') { "file://" } else { "" });
        for byte in place.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(byte));
                }
                byte => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
        Some(uri)
    }
}

/// A path without `.`, and without what `..` takes back. Links are not looked at.
fn straight(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if steps.last().is_some_and(|last| *last != "..") => drop(steps.pop()),
            ".." if path.starts_with('/') => {}
            step => steps.push(step),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", steps.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_below_the_repository() {
        let places = Places { folder: "/work/repo/infra".into(), root: "/work/repo".into() };
        for (file, place, uri) in [
            ("a.yaml", "infra/a.yaml", "infra/a.yaml"),
            ("./x/../a b.yaml", "infra/a b.yaml", "infra/a%20b.yaml"),
            ("../dev/ä:1,#.yaml", "dev/ä:1,#.yaml", "dev/%C3%A4%3A1%2C%23.yaml"),
            ("/work/repo/b.yaml", "b.yaml", "b.yaml"),
            ("/work/repository/b.yaml", "/work/repository/b.yaml", "file:///work/repository/b.yaml"),
            ("../../../../etc/x", "/etc/x", "file:///etc/x"),
        ] {
            assert_eq!(places.of(file).as_deref(), Some(place), "{file}");
            assert_eq!(places.uri(file).as_deref(), Some(uri), "{file}");
        }
        assert_eq!(places.of("-"), None);
        assert_eq!(Places::default().of("./a/../../b.yaml").as_deref(), Some("../b.yaml"));
        let top = Places { folder: "/".into(), root: "/".into() };
        assert_eq!(top.of("a.yaml").as_deref(), Some("a.yaml"));
    }
}
