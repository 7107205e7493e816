//! The file of `drift --accepted`: a list of what is known to differ, why, and for how long.
//!
//! ```yaml
//! - object: Queue/*/orders
//!   path: arguments["x-max-length"]
//!   until: 2026-12-31
//!   reason: raised by hand for the sale
//! ```

use std::path::Path as FilePath;
use std::sync::Arc;

use super::problems::Problems;
use super::{excerpt, regular, yaml};
use crate::core::date::Date;
use crate::core::members::Members;
use crate::core::node::{Node, Origin, Want};
use crate::core::path::Path;
use crate::core::problem::Problem;
use crate::core::raw::{RawDocument, Source};
use crate::core::suggest;
use crate::core::tolerance::Tolerance;

const KEYS: [&str; 4] = ["object", "path", "until", "reason"];
const EXAMPLE: &str =
    "write `- {object: Queue/orders, path: durable, until: 2026-12-31, reason: why it is so}`";

/// Reads it.
///
/// # Errors
/// All that is wrong with it.
pub fn read(file: &FilePath) -> Result<Vec<Tolerance>, Vec<Problem>> {
    let text = regular::read(file).map_err(|problem| vec![problem])?;
    let source = Arc::new(Source { file: file.display().to_string().into(), text });
    parse(&source)
}

fn parse(source: &Arc<Source>) -> Result<Vec<Tolerance>, Vec<Problem>> {
    let documents = yaml::parse(source)?;
    let mut problems = Problems::of(source);
    let mut found = Vec::new();
    for RawDocument { root, .. } in &documents {
        match &root.want {
            Want::List(items) => found.extend(items.iter().filter_map(|item| entry(item, &mut problems))),
            _ => problems.add(root.at, Problem::new("a file of accepted drift is a list").hint(EXAMPLE)),
        }
    }
    excerpt::add(&mut problems.list, std::slice::from_ref(source));
    if problems.list.is_empty() { Ok(found) } else { Err(problems.list) }
}

fn entry(node: &Node, problems: &mut Problems) -> Option<Tolerance> {
    let Want::Map(map) = &node.want else {
        problems.add(node.at, Problem::new("an entry is a map").hint(EXAMPLE));
        return None;
    };
    for (name, value) in map.iter().filter(|(name, _)| !KEYS.contains(&&***name)) {
        let hint = suggest::hint(name, "an entry has", KEYS);
        problems.add_to_name(name, value.at, Problem::new(format!("`{name}` is not known here")).hint(hint));
    }
    let object = text(map, node, "object", problems).filter(|object| {
        let named = !object.starts_with('/') && !object.contains(char::is_control);
        if !named {
            let problem = Problem::new(format!("`{object}` names no object"));
            problems.add(
                map["object"].at,
                problem.hint("write it like `Queue/orders` or `Queue/*`, as a plan shows it"),
            );
        }
        named
    });
    let path = map.get("path").map(|_| {
        let path = text(map, node, "path", problems)?;
        let read = Path::parse(&path).map_err(|error| Problem::new(error.to_string()));
        problems.ok(map["path"].at, read)
    });
    let until = text(map, node, "until", problems).and_then(|until| {
        let read = until.parse::<Date>().map_err(|error| Problem::new(format!("`{until}`: {error}")));
        problems.ok(map["until"].at, read)
    });
    let reason = text(map, node, "reason", problems);
    let path = match path {
        None => None,
        Some(path) => Some(path?),
    };
    let origin = Origin { file: problems.file.clone(), at: node.at };
    Some(Tolerance { object: object?, path, until: until?, reason: reason?, origin })
}

/// The text of a member that has to be there.
fn text(map: &Members, of: &Node, name: &str, problems: &mut Problems) -> Option<Arc<str>> {
    let Some(node) = map.get(name) else {
        problems.add(of.at, Problem::new(format!("an entry needs `{name}`")).hint(EXAMPLE));
        return None;
    };
    let text = node.as_str().map(str::trim).filter(|text| !text.is_empty());
    if text.is_none() {
        problems.add(node.at, Problem::new(format!("`{name}` is a text")).hint(EXAMPLE));
    }
    text.map(Arc::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let source = Arc::new(Source { file: "known.yaml".into(), text: text.into() });
        let problems = parse(&source).expect_err(text);
        problems
            .iter()
            .map(|problem| format!("{problem} | {}", problem.hint.as_deref().unwrap_or("")))
            .collect()
    }

    #[test]
    fn a_list_of_entries() {
        let text = "# known\n- {object: Queue/*, until: 2026-12-31, reason: 'old ones: #12'}\n\
                    - object: Queue///orders\n  path: arguments[\"x-max\"]\n  until: \"2027-01-01\"\n  reason: |\n    by hand\n";
        let source = Arc::new(Source { file: "known.yaml".into(), text: text.into() });
        let found = parse(&source).expect("a file of accepted drift");
        assert_eq!(found.len(), 2);
        assert_eq!(
            (&*found[0].object, &found[0].path, found[0].until.to_string()),
            ("Queue/*", &None, "2026-12-31".into())
        );
        assert_eq!(
            (&*found[0].reason, found[0].origin.to_string()),
            ("old ones: #12", "known.yaml:2:3".into())
        );
        assert_eq!(
            found[1].path,
            Some(
                Path::parse("arguments[x-max]").or_else(|_| Path::parse("arguments.x-max")).expect("a path")
            )
        );
        assert_eq!((&*found[1].reason, found[1].origin.at.line), ("by hand", 3));
        let empty = Arc::new(Source { file: "known.yaml".into(), text: "# nothing\n".into() });
        assert_eq!(parse(&empty), Ok(vec![]));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let all = "until: 2026-12-31, reason: r";
        for (text, want) in [
            ("object: a\n", "known.yaml:1:1: a file of accepted drift is a list"),
            ("- a\n", "known.yaml:1:3: an entry is a map"),
            (&*format!("- {{{all}}}\n"), "known.yaml:1:3: an entry needs `object`"),
            (&format!("- {{object: Queue/a, pth: b, {all}}}\n"), "known.yaml:1:21: `pth` is not known here"),
            (
                &format!("- {{object: Queue/a, path: 'a[', {all}}}\n"),
                "known.yaml:1:27: `a[` is not a field path",
            ),
            (&format!("- {{object: /a, {all}}}\n"), "known.yaml:1:12: `/a` names no object"),
            (&format!("- {{object: 7, {all}}}\n"), "known.yaml:1:12: `object` is a text"),
            (
                "- {object: Queue/a, until: soon, reason: r}\n",
                "known.yaml:1:28: `soon`: a day is written `2026-12-31`",
            ),
            (
                "- {object: Queue/a, until: 2026-02-30, reason: r}\n",
                "known.yaml:1:28: `2026-02-30`: a day is",
            ),
            ("- {object: Queue/a, until: 2026-12-31}\n", "known.yaml:1:3: an entry needs `reason`"),
            ("- {object: Queue/a, until: 2026-12-31, reason: ' '}\n", "known.yaml:1:48: `reason` is a text"),
            ("- {object: Queue/a\n", "known.yaml:1:19: the YAML is broken"),
        ] {
            let told = told(text);
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].starts_with(want), "{text}: {told:?}");
        }
        assert_eq!(told("- {}\n- {object: 1}\n").len(), 6, "all that is wrong, in one run");
    }
}
