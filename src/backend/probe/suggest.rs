//! Field words that the answers suggest: fields of the server's, secrets and masks, lists with a key.
//!
//! A suggestion is a guess by name and by behaviour, for a person to judge; it is never a fault.

use std::collections::{BTreeMap, HashSet};

use super::paths::{self, as_yaml, is_settled};
use super::{Evidence, changes};
use crate::core::accept::mask_of;
use crate::core::compare;
use crate::core::fields::Comparer;
use crate::core::kind::{Kind, Part, Version};
use crate::core::path::{Path, Step};
use crate::core::probe::{Place, Probed};
use crate::core::value::{Value, canonical_text};

/// Members that name an element, the best first.
const NAMES: [&str; 3] = ["name", "id", "key"];
/// Words in the name of a field that holds a secret.
const SECRET: [&str; 8] =
    ["password", "passwd", "passphrase", "secret", "token", "apikey", "credential", "credentials"];
/// Words that make a secret of the word `key` after them.
const BEFORE_KEY: [&str; 4] = ["api", "private", "access", "signing"];
/// Words at the end of the name of a field that holds a time of the server's.
const TIMES: [&str; 5] = ["created", "updated", "modified", "changed", "seen"];

pub fn judge(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let values = evidence.values();
    secrets(kind, &values, probed);
    for (before, after) in evidence.twice() {
        for path in changes::between(before, after) {
            own(kind, &path, "it changed between two reads", probed);
        }
    }
    ids(kind, evidence, probed);
    for value in &values {
        paths::each(value, &mut |path, name, value| {
            if is_time_of_server(name, value) {
                own(kind, path, "a time that the server sets, by its name and value", probed);
            }
        });
    }
    lists(kind, &values, probed);
}

/// Suggests that a field is the server's, unless something is said of it that settles the matter.
fn own(kind: &Kind, path: &Path, why: &str, probed: &mut Probed) {
    let rule = &kind.fields.at(path).here;
    let is_key = kind.parts.iter().filter_map(Part::place).any(|place| path.covers(&fields(place)));
    if !path.is_root() && !is_key && !is_settled(kind, path) && !rule.copy && rule.compare.is_none() {
        probed.suggest(Place::Fields, format!("{}: server-owned", as_yaml(path)), why);
    }
}

fn fields(names: &[String]) -> Path {
    Path(names.iter().cloned().map(Step::Field).collect())
}

/// The id and the version that stand on the item.
fn ids(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let values = evidence.values();
    let seen = |path: &Path| values.iter().any(|value| path.get(value).is_some());
    if let Some(path) = kind.id.plain().map(fields).filter(seen) {
        own(kind, &path, "the server's id", probed);
    }
    if let Version::OnItem(filter) = &kind.version
        && let Some(path) = filter.plain().map(fields).filter(seen)
    {
        own(kind, &path, "the version, which moves with each update", probed);
    }
}

/// The words of a field's name: `clientSecret` and `client_secret` are `client` and `secret`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let starts = c.is_uppercase() && before.is_lowercase();
        if !c.is_alphanumeric() || starts {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is one from the start").extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a field holds a secret, by its name.
pub fn is_secret(name: &str) -> bool {
    let words = words(name);
    let key = |pair: &[String]| BEFORE_KEY.contains(&pair[0].as_str()) && pair[1] == "key";
    words.iter().any(|word| SECRET.contains(&word.as_str())) || words.windows(2).any(key)
}

fn secrets(kind: &Kind, values: &[&Value], probed: &mut Probed) {
    for value in values {
        paths::each(value, &mut |path, name, value| {
            let rule = &kind.fields.at(path).here;
            let covered = rule.secret || rule.plain || is_secret_above(kind, path);
            let mask = value.as_str().and_then(mask_of).filter(|_| rule.mask.is_none());
            match (is_secret(name), mask) {
                (_, Some(mask)) => {
                    let line = format!("{}: [secret, 'mask={mask}']", as_yaml(path));
                    probed.suggest(Place::Fields, line, "the server hides its value");
                }
                (true, None) if !covered && matches!(value, Value::String(text) if !text.is_empty()) => {
                    probed.suggest(
                        Place::Fields,
                        format!("{}: secret", as_yaml(path)),
                        "a secret, by its name",
                    );
                }
                _ => {}
            }
        });
    }
}

fn is_secret_above(kind: &Kind, path: &Path) -> bool {
    (0..path.0.len()).any(|end| kind.fields.at(&Path(path.0[..end].to_vec())).here.secret)
}

fn is_time_of_server(name: &str, value: &Value) -> bool {
    let words = words(name);
    let last = words.last().map(String::as_str).unwrap_or_default();
    let named = TIMES.contains(&last)
        || (matches!(last, "at" | "on" | "time" | "date" | "timestamp")
            && words
                .iter()
                .any(|word| TIMES.contains(&word.as_str()) || word == "creation" || word == "update"));
    named && (value.is_u64() || compare::understands(&Comparer::Timestamp, value))
}

/// Lists of maps whose elements all have a name of their own.
fn lists(kind: &Kind, values: &[&Value], probed: &mut Probed) {
    let mut found: BTreeMap<String, (Path, Vec<&Vec<Value>>)> = BTreeMap::new();
    for value in values {
        paths::each(value, &mut |path, _, value| {
            if let Value::Array(elements) = value {
                found.entry(path.to_string()).or_insert_with(|| (path.clone(), Vec::new())).1.push(elements);
            }
        });
    }
    for (path, lists) in found.into_values() {
        let rule = &kind.fields.at(&path).here;
        if rule.compare.is_some() || is_settled(kind, &path) || lists.iter().all(|list| list.len() < 2) {
            continue;
        }
        if let Some(name) = NAMES.iter().find(|name| lists.iter().all(|list| is_keyed(list, name))) {
            let why = format!("its elements have a `{name}` each, and no two the same");
            probed.suggest(Place::Fields, format!("{}: key={name}", as_yaml(&path)), why);
        }
    }
}

fn is_keyed(elements: &[Value], name: &str) -> bool {
    let mut seen = HashSet::new();
    elements.iter().all(|element| {
        let key = element.get(name).filter(|key| key.is_string() || key.is_number());
        key.is_some_and(|key| seen.insert(canonical_text(key)))
    })
}
