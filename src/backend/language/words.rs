//! `fields:`: paths, and the words that say what is special about them.

use super::reader::Reader;
use crate::core::facts::Said;
use crate::core::fields::{Clear, Comparer, FieldRule, FieldRules, Immutable, Mask};
use crate::core::filter::Filter;
use crate::core::node::{Node, Pos, Want};
use crate::core::path::Path;
use crate::core::suggest;
use crate::core::value::Value;

/// The words without a value, the comparers last.
pub const PLAIN: [&str; 15] = [
    "server-owned",
    "write-only",
    "secret",
    "plain",
    "copy",
    "closed",
    "open",
    "ignore",
    "set",
    "ordered",
    "quantity",
    "duration",
    "timestamp",
    "cidr",
    "url",
];
/// The words with a value.
pub const WITH_VALUE: [&str; 5] = ["mask", "immutable", "clear", "default", "key"];

/// Reads the words of all paths.
pub fn read(reader: &mut Reader, node: &Node) -> FieldRules {
    let mut rules = FieldRules::default();
    let mut seen: Vec<(Path, Pos)> = Vec::new();
    for (at_path, words) in reader.members(node, "`fields`") {
        let path = match Path::parse(at_path) {
            Ok(path) => path,
            Err(e) => {
                reader.wrong(words.at, e.to_string());
                continue;
            }
        };
        if seen.iter().any(|(have, _)| *have == path) {
            reader.wrong(words.at, format!("`fields` has `{path}` twice, in two spellings"));
        }
        let rule = rules.at_mut(&path);
        let mut said: Vec<&str> = Vec::new();
        for word in listed(words) {
            if let Some(text) = reader.text(word, &format!("the word for `{path}`")) {
                let name = name_of(text);
                if said.contains(&name) {
                    reader.wrong(word.at, format!("`{path}` is said to be `{name}` twice"));
                }
                said.push(name);
                self::word(reader, rule, text, word.at);
                rule.said.push(Said { word: text.into(), from: reader.stated(at_path, word.at) });
            }
        }
        contradictions(reader, rule, &path, words.at);
        seen.push((path, words.at));
    }
    without_effect(reader, &rules, &seen);
    rules
}

/// One word, or a list of them.
fn listed(node: &Node) -> &[Node] {
    match &node.want {
        Want::List(words) => words,
        _ => std::slice::from_ref(node),
    }
}

/// A word without its value.
fn name_of(text: &str) -> &str {
    text.split_once('=').map(|(name, _)| name).filter(|name| WITH_VALUE.contains(name)).unwrap_or(text)
}

fn word(reader: &mut Reader, rule: &mut FieldRule, text: &str, at: Pos) {
    match text {
        "server-owned" => rule.server_owned = true,
        "write-only" => rule.write_only = true,
        "secret" => rule.secret = true,
        "plain" => rule.plain = true,
        "copy" => rule.copy = true,
        "closed" => rule.closed = true,
        "open" => rule.open = true,
        "ignore" => rule.ignore = true,
        _ => match text.split_once('=').filter(|(word, _)| WITH_VALUE.contains(word)) {
            Some((word, value)) => with_value(reader, rule, word, value, at),
            None => {
                if let Some(comparer) = comparer(reader, text, at) {
                    compare(reader, rule, comparer, at);
                }
            }
        },
    }
}

fn with_value(reader: &mut Reader, rule: &mut FieldRule, word: &str, value: &str, at: Pos) {
    match word {
        "mask" => match regex_lite::Regex::new(value) {
            Ok(regex) => rule.mask = Some(Mask(regex)),
            Err(e) => drop(reader.wrong(at, format!("`{value}` is not a regular expression: {e}"))),
        },
        "immutable" => match value {
            "replace" => rule.immutable = Some(Immutable::Replace),
            "refuse" => rule.immutable = Some(Immutable::Refuse),
            _ => {
                reader.wrong(at, format!("a field is not `immutable={value}`")).hint =
                    Some("it is immutable=replace or immutable=refuse".into());
            }
        },
        "clear" => match value.split_once(':') {
            None if value == "null" => rule.clear = Some(Clear::Null),
            None if value == "empty" => rule.clear = Some(Clear::Empty),
            None if value == "omit" => rule.clear = Some(Clear::Omit),
            Some(("value", json)) => rule.clear = self::json(reader, json, at).map(Clear::Value),
            _ => {
                reader.wrong(at, format!("a field is not cleared by `{value}`")).hint =
                    Some("it is clear=null, clear=empty, clear=omit or clear=value:JSON".into());
            }
        },
        "default" => rule.default = json(reader, value, at),
        _ if value.is_empty() => {
            reader.wrong(at, "`key=` names no member").hint = Some("as in `key=name`".into());
        }
        _ => compare(reader, rule, Comparer::KeyedBy(value.into()), at),
    }
}

fn json(reader: &mut Reader, text: &str, at: Pos) -> Option<Value> {
    let value = serde_json::from_str(text).ok();
    if value.is_none() {
        reader.wrong(at, format!("`{text}` is not JSON")).hint =
            Some("a text needs double quotes, as in 'default=\"all\"'".into());
    }
    value
}

fn comparer(reader: &mut Reader, text: &str, at: Pos) -> Option<Comparer> {
    Some(match text {
        "set" => Comparer::Set,
        "ordered" => Comparer::Ordered,
        "quantity" => Comparer::Quantity,
        "duration" => Comparer::Duration,
        "timestamp" => Comparer::Timestamp,
        "cidr" => Comparer::Cidr,
        "url" => Comparer::Url,
        _ => match Filter::parse(text) {
            Ok(filter) => Comparer::Filter(filter),
            Err(e) => {
                let meant = suggest::nearest(text, PLAIN.into_iter().chain(WITH_VALUE));
                let problem =
                    reader.wrong(at, format!("`{text}` is neither a field word nor a filter: {}", e.problem));
                problem.hint = Some(match meant {
                    Some(word) if WITH_VALUE.contains(&word) => format!("did you mean `{word}=…`?"),
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!(
                        "the words are {}, and a value after {}=",
                        PLAIN.join(", "),
                        WITH_VALUE.join("=, ")
                    ),
                });
                return None;
            }
        },
    })
}

fn compare(reader: &mut Reader, rule: &mut FieldRule, comparer: Comparer, at: Pos) {
    if rule.compare.is_some() {
        reader.wrong(at, "a field has one comparer, and this is a second").hint =
            Some("join filters with `|`".into());
    }
    rule.compare = Some(comparer);
}

fn contradictions(reader: &mut Reader, rule: &FieldRule, path: &Path, at: Pos) {
    let of_lists = matches!(rule.compare, Some(Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_)));
    let pairs = [
        (rule.closed && rule.open, "closed and open"),
        (rule.secret && rule.plain, "secret and plain"),
        (rule.server_owned && rule.write_only, "server-owned and write-only"),
        (rule.server_owned && rule.immutable.is_some(), "server-owned and immutable"),
        (rule.not_compared() && rule.compare.is_some(), "never compared, and has a comparer"),
        (rule.not_compared() && rule.mask.is_some() && !rule.write_only, "never compared, and has a mask"),
        (path.is_root() && of_lists, "the object itself, which is no list,"),
        (rule.server_owned && rule.clear.is_some(), "server-owned and cleared"),
        (rule.immutable == Some(Immutable::Refuse) && rule.clear.is_some(), "immutable=refuse and cleared"),
        (rule.not_compared() && rule.default.is_some(), "never compared, and has a default"),
        (rule.copy && rule.write_only, "write-only and copied from what is read"),
    ];
    for (_, what) in pairs.into_iter().filter(|(wrong, _)| *wrong) {
        reader.wrong(at, format!("`{path}` cannot be {what} at once"));
    }
    if rule.mask.is_some() && !rule.secret && !rule.write_only {
        let message = format!("`{path}` is masked by the server, and yours would be printed");
        let problem = reader.wrong(at, message);
        problem.warning = true;
        problem.hint = Some("add the word `secret`".into());
    }
}

/// Comparers below a path that is never compared would be ignored without a word.
fn without_effect(reader: &mut Reader, rules: &FieldRules, paths: &[(Path, Pos)]) {
    for (path, at) in paths {
        if rules.at(path).here.compare.is_none() {
            continue;
        }
        let above = paths.iter().find(|(other, _)| {
            other.0.len() < path.0.len() && other.covers(path) && rules.at(other).here.not_compared()
        });
        if let Some((above, _)) = above {
            reader.wrong(*at, format!("the comparer of `{path}` has no effect: `{above}` is never compared"));
        }
    }
}
