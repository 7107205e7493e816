//! Field words against values: lists that are none, keys of elements that are missing or stand twice, values that
//! a comparer does not understand, fields that nobody has seen.

use std::collections::HashSet;

use super::{Evidence, paths};
use crate::core::compare;
use crate::core::fields::{Comparer, FieldRule};
use crate::core::kind::Kind;
use crate::core::path::Path;
use crate::core::probe::Probed;
use crate::core::report::Finding;
use crate::core::value::{Value, canonical_text, type_name};

pub fn judge(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let values = evidence.values();
    if values.is_empty() {
        return;
    }
    kind.fields.each_rule(&mut |path, rule| {
        let found: Vec<&Value> = values.iter().flat_map(|value| paths::at(value, &path.0)).collect();
        one(path, rule, &found, probed);
    });
}

fn one(path: &Path, rule: &FieldRule, found: &[&Value], probed: &mut Probed) {
    if let Some(comparer) = &rule.compare {
        found.iter().for_each(|value| compared(path, comparer, value, probed));
    }
    if rule.open
        && let Some(other) = found.iter().find(|value| !value.is_array())
    {
        probed.contradict(not_a_list(path, "open", other));
    }
    if rule.write_only && !found.is_empty() {
        let message = format!("`{path}` is declared write-only, and the answers have it");
        let hint = "if what they have is a mask, say so with `mask=REGEX`; if it is the value, drop the word";
        probed.contradict(Finding::new("WriteOnlySeen", message).hint(hint));
    }
    if rule.server_owned && found.is_empty() {
        let message = format!("`{path}` is declared server-owned, and no object that was seen has it");
        probed.unconfirmed.push(Finding::new("ServerOwnedUnseen", message));
    }
    if let Some(mask) = &rule.mask {
        let masked = |value: &&&Value| value.as_str().is_some_and(|text| mask.0.is_match(text));
        if !found.is_empty() && found.iter().filter(masked).count() == 0 {
            let message = format!("`{path}` has a mask, and no value that was seen matches it");
            probed.unconfirmed.push(Finding::new("MaskUnseen", message));
        }
    }
}

fn not_a_list(path: &Path, word: &str, value: &Value) -> Finding {
    let message = format!("`{path}` is {}, and the word `{word}` is for lists", type_name(value));
    Finding::new("NotAList", message)
}

fn compared(path: &Path, comparer: &Comparer, value: &Value, probed: &mut Probed) {
    match comparer {
        _ if compare::understands(comparer, value) => {
            if let (Comparer::KeyedBy(name), Value::Array(elements)) = (comparer, value) {
                keyed(path, name, elements, probed);
            }
        }
        Comparer::Set | Comparer::Ordered | Comparer::KeyedBy(_) => {
            probed.contradict(not_a_list(path, &comparer.to_string(), value));
        }
        _ => {
            let message = format!("`{}` makes nothing of `{path}`, which is {}", comparer, type_name(value));
            let hint = "a value that a comparer does not understand compares as it stands";
            probed.contradict(Finding::new("ComparerFails", message).hint(hint));
        }
    }
}

fn keyed(path: &Path, name: &str, elements: &[Value], probed: &mut Probed) {
    let mut seen = HashSet::new();
    for element in elements {
        let finding = match element.get(name).filter(|key| !key.is_null()) {
            None => format!("an element of `{path}` has no `{name}`, by which `key={name}` pairs them"),
            Some(key) if !seen.insert(canonical_text(key)) => {
                format!(
                    "two elements of one `{path}` have the same `{name}`, by which `key={name}` pairs them"
                )
            }
            Some(_) => continue,
        };
        probed.contradict(Finding::new("ElementKey", finding));
    }
}
