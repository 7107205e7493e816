//! `--force-conflicts KIND/NAME:PATH`: each flag's object and path, laid on its document.
//!
//! Names and paths may hold colons, so a flag is read by the objects that there are. One that names none, or several,
//! is an error: what it overwrites must not be left to chance.

use std::collections::BTreeSet;

use crate::core::document::Document;
use crate::core::path::{Path, PathError};
use crate::core::problem::Problem;

/// Lays the paths on the documents, of today and those that `left` since the base, whose objects may be pruned; gives
/// what is wrong with the flags.
pub fn set(documents: &mut [Document], left: &mut [Document], flags: &BTreeSet<String>) -> Vec<Problem> {
    if flags.is_empty() {
        return Vec::new();
    }
    let mut documents: Vec<&mut Document> = documents.iter_mut().chain(left).collect();
    let names: Vec<String> = documents.iter().map(|document| document.id.slashed()).collect();
    let mut problems = Vec::new();
    for flag in flags {
        match meant(&names, flag) {
            Ok((at, path)) => documents[at].policy.forced_paths.push(path),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// The object and the path that a flag means.
fn meant(names: &[String], flag: &str) -> Result<(usize, Path), Problem> {
    let below = |name: &String| flag.strip_prefix(name.as_str())?.strip_prefix(':');
    let named = names.iter().enumerate().filter_map(|(at, name)| Some((at, below(name)?)));
    let read = |(at, text): (usize, &str)| Ok((at, Path::parse(text)?));
    let read: Vec<Result<(usize, Path), PathError>> = named.map(read).collect();
    let wrong = |why: String| Problem::new(format!("`--force-conflicts {flag}` {why}"));
    let mut good: Vec<(usize, Path)> = read.iter().filter_map(|one| one.clone().ok()).collect();
    match (good.len(), read.into_iter().find_map(Result::err)) {
        (1, _) if good[0].1.is_root() => Err(wrong("names the whole of an object".into())
            .hint("name its fields; for all of them there is the annotation `trueup/on-conflict: force`")),
        (1, _) => Ok(good.remove(0)),
        (0, Some(error)) => Err(wrong(format!("names no field: {error}"))),
        (0, None) => Err(wrong("names no document".into())
            .hint("write `Kind/part/part:path`, with both as a plan shows them")),
        (number, _) => Err(wrong(format!("may mean {number} objects"))
            .hint("choose one with `--only`, or say `trueup/on-conflict: force` in its document")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(flag: &str) -> Result<String, String> {
        let names = ["Queue///orders", "Zone/a", "Zone/a:b", "Acl", "Twin/x", "Twin/x"].map(str::to_owned);
        let found = meant(&names, flag).map(|(at, path)| format!("{at} {path}"));
        found.map_err(|problem| problem.message)
    }

    #[test]
    fn a_flag_means_one_object_and_a_path_of_it() {
        for (flag, want) in [
            (
                "Queue///orders:arguments[\"x-max\"].a",
                "0 arguments[\"x-max\"].a".replace("[\"x-max\"]", ".x-max"),
            ),
            ("Acl:rules[1]", "3 rules[1]".into()),
            ("Zone/a:n", "1 n".into()),
        ] {
            assert_eq!(told(flag), Ok(want), "{flag}");
        }
        for (flag, part) in [
            ("Queue/orders:n", "names no document"),
            ("Acl", "names no document"),
            ("Acl:a[", "names no field"),
            ("Acl:.", "names the whole"),
            ("Twin/x:n", "may mean 2 objects"),
            ("Zone/a:b:c", "may mean 2 objects"),
        ] {
            let told = told(flag).expect_err(flag);
            assert!(told.contains(part), "{flag}: {told}");
        }
    }
}
