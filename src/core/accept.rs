//! What would make a difference none: the line to add to a backend so that it takes what the server makes of a value.
//!
//! Nothing is guessed that is not tried: each word is put among the kind's rules, the object is compared again, and
//! the first word with which the difference is gone is the answer.

use std::fmt::Write;
use std::sync::LazyLock;

use super::change::{Change, Shown};
use super::diff::diff;
use super::fields::{Comparer, FieldRule, FieldRules, Mask};
use super::filter::Filter;
use super::node::Node;
use super::path::{Path, Step};
use super::value::Value;

/// A line of a kind's `fields`.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// As in the backend: elements of lists are `[*]`.
    pub path: Path,
    /// All words of the field, those that it has among them.
    pub words: Vec<String>,
    /// What the server does with the value.
    pub why: &'static str,
    set: Word,
}

/// What a word says of a field.
#[derive(Clone, Debug)]
enum Word {
    Compare(Comparer),
    Default(Value),
    Mask(Mask),
    Open,
    WriteOnly,
    Ignore,
}

impl Word {
    fn say(&self, rule: &mut FieldRule) {
        match self {
            Word::Compare(comparer) => rule.compare = Some(comparer.clone()),
            Word::Default(value) => rule.default = Some(value.clone()),
            Word::Mask(mask) => {
                rule.secret = true;
                rule.mask = Some(mask.clone());
            }
            Word::Open => rule.open = true,
            Word::WriteOnly => rule.write_only = true,
            Word::Ignore => rule.ignore = true,
        }
    }
}

/// How far a word may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Both sides mean the same: a plan asks no more.
    Spelling,
    /// What was sent is not what the server keeps, so the field may be left out of the comparison.
    Whatever,
}

/// The line with which `change`, of those between `desired` and `observed`, is none.
pub fn acceptance(
    desired: &Node,
    observed: &Value,
    rules: &FieldRules,
    change: &Change,
    reach: Reach,
) -> Option<Acceptance> {
    let path = pattern(&change.path);
    // What is in a list may be a matter of the list.
    let list = change.path.0.iter().rposition(|step| !matches!(step, Step::Field(_)));
    let lists = list.map(|at| Path(change.path.0[..at].to_vec()));
    let here = spellings(&path, change, observed);
    let above = lists.into_iter().flat_map(|list| of_lists(&pattern(&list), list.get(observed)));
    let rest = last_words(&path, change).into_iter().filter(|_| reach == Reach::Whatever);
    let mut all = here.into_iter().chain(above).chain(rest);
    all.find_map(|word| word.tried(desired, observed, rules))
}

/// The pattern of a path: elements of lists are all of the list.
fn pattern(path: &Path) -> Path {
    let step = |step: &Step| match step {
        Step::Field(_) => step.clone(),
        Step::Index(_) | Step::Keyed(..) | Step::Each => Step::Each,
    };
    Path(path.0.iter().map(step).collect())
}

/// A word to try.
struct Candidate {
    path: Path,
    words: Vec<String>,
    set: Word,
    why: &'static str,
}

impl Candidate {
    fn new(path: &Path, word: &str, why: &'static str, set: Word) -> Candidate {
        Candidate { path: path.clone(), words: vec![word.into()], set, why }
    }

    fn comparer(path: &Path, comparer: Comparer, why: &'static str) -> Candidate {
        let word = comparer.to_string();
        Candidate::new(path, &word, why, Word::Compare(comparer))
    }

    /// The acceptance, if the word makes all differences at its path go away and no new one.
    fn tried(self, desired: &Node, observed: &Value, rules: &FieldRules) -> Option<Acceptance> {
        let mut with = rules.clone();
        let rule = with.at_mut(&self.path);
        let mut words: Vec<String> = rule.said.iter().map(|said| said.word.to_string()).collect();
        let before = rule.compare.as_ref().map(ToString::to_string);
        self.set.say(rule);
        if rule.compare.as_ref().map(ToString::to_string) != before {
            words.retain(|word| Some(word) != before.as_ref());
        }
        words.retain(|word| !self.words.contains(word));
        words.extend(self.words);
        let changes = diff(desired, observed, &with);
        let gone = !changes.iter().any(|change| self.path.covers(&pattern(&change.path)));
        let fewer = changes.len() < diff(desired, observed, rules).len();
        (gone && fewer).then_some(Acceptance { path: self.path, words, why: self.why, set: self.set })
    }
}

/// Comparers, the more telling ones first. Each is compiled once: they are tried for every write that does not stick,
/// and to compile them takes longer than all else that an object costs.
static COMPARERS: LazyLock<Vec<(Comparer, &str)>> = LazyLock::new(|| {
    let compiled = |(text, why)| {
        let filter = Filter::parse(text).expect("it is in the list of filters");
        (Comparer::Filter(filter), why)
    };
    FILTERS.into_iter().map(compiled).collect()
});

const FILTERS: [(&str, &str); 10] = [
    ("html_unescape", "it escapes it for a page"),
    ("trim_dot", "it adds or drops the last dot of a name"),
    ("ascii_downcase", "it changes the case of letters"),
    ("trim_dot | ascii_downcase", "it changes the last dot and the case of a name"),
    ("tostring", "it keeps a text, or a number in place of one"),
    ("json_value", "it keeps JSON as a text"),
    ("fromjson", "it keeps JSON as a text"),
    ("trim", "it cuts spaces off"),
    ("comma_set", "it keeps names separated by commas, in an order of its own"),
    ("empty_is_missing", "it drops what is empty"),
];

fn spellings(path: &Path, change: &Change, observed: &Value) -> Vec<Candidate> {
    let secret = change.is_secret();
    let mut found = Vec::new();
    let stored = change.path.get(observed).and_then(Value::as_str);
    if let Some(mask) = stored.and_then(mask_of) {
        let set = Word::Mask(Mask(regex_lite::Regex::new(&mask).expect("an expression")));
        let why = "it hides the value";
        let words = vec!["secret".into(), format!("mask={mask}")];
        found.push(Candidate { words, ..Candidate::new(path, "secret", why, set) });
    }
    // Whether a secret is equal to another text in some way is nobody's to know.
    if secret {
        return found;
    }
    let comparer = |comparer, why| Candidate::comparer(path, comparer, why);
    found.extend(of_lists(path, change.path.get(observed)));
    found.extend([
        comparer(Comparer::Timestamp, "it writes times in its own way"),
        comparer(Comparer::Duration, "it writes durations in its own way"),
        comparer(Comparer::Cidr, "it writes addresses in its own way"),
    ]);
    if let Some(empty) = default_of(change) {
        let word = format!("default={empty}");
        found.push(Candidate::new(path, &word, "it drops what is empty", Word::Default(empty)));
    }
    found.extend(COMPARERS.iter().map(|(filter, why)| comparer(filter.clone(), why)));
    found.extend([
        comparer(Comparer::Quantity, "it writes quantities in its own way"),
        comparer(Comparer::Url, "it writes URLs in its own way"),
    ]);
    found
}

/// What may be said of a list that has the difference in it, or is it.
fn of_lists(path: &Path, stored: Option<&Value>) -> Vec<Candidate> {
    let Some(Value::Array(elements)) = stored else { return Vec::new() };
    let named = |element: &Value| match element {
        Value::Object(map) => {
            map.iter().filter(|(_, v)| v.is_string() || v.is_number()).map(|(k, _)| k.clone()).collect()
        }
        _ => Vec::new(),
    };
    let names: Vec<String> = elements.first().map(named).unwrap_or_default();
    let keyed = names.into_iter().map(|name| {
        Candidate::comparer(path, Comparer::KeyedBy(name), "it keeps a list in an order of its own")
    });
    let mut found: Vec<Candidate> = keyed.collect();
    found.push(Candidate::comparer(path, Comparer::Set, "it keeps a list without order"));
    found.push(Candidate::new(path, "open", "it adds elements of its own", Word::Open));
    found
}

/// The field takes no part in the comparison.
fn last_words(path: &Path, change: &Change) -> Vec<Candidate> {
    let write_only = Candidate::new(path, "write-only", "it does not show it", Word::WriteOnly);
    let ignore =
        Candidate::new(path, "ignore", "it keeps a value of its own: then nobody keeps yours", Word::Ignore);
    if change.before.is_none() { vec![write_only, ignore] } else { vec![ignore] }
}

/// The empty value that was sent, where the server shows none.
fn default_of(change: &Change) -> Option<Value> {
    let Shown::Value(sent) = change.after.as_ref().filter(|_| change.before.is_none())? else { return None };
    let empty = match sent {
        Value::Null => false,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    };
    empty.then(|| sent.clone())
}

/// The expression for a text that hides a value: one character over and over.
pub fn mask_of(text: &str) -> Option<String> {
    let first = text.chars().next().filter(|c| ['*', '•', '●', 'x', 'X'].contains(c))?;
    let masked = text.chars().count() >= 3 && text.chars().all(|c| c == first);
    let literal = if first == '*' { "\\*".to_owned() } else { first.to_string() };
    masked.then(|| format!("^{literal}+$"))
}

impl Acceptance {
    /// Whether the two values are in some way the same.
    pub fn is_of_spelling(&self) -> bool {
        !matches!(self.set, Word::WriteOnly | Word::Ignore)
    }

    /// Whether it takes the field out of what is kept.
    pub fn is_ignored(&self) -> bool {
        matches!(self.set, Word::Ignore)
    }

    /// Whether it speaks of what is at `path`.
    pub fn covers(&self, path: &Path) -> bool {
        self.path.covers(&pattern(path))
    }

    /// Says it among the rules of a kind.
    pub fn add_to(&self, rules: &mut FieldRules) {
        self.set.say(rules.at_mut(&self.path));
    }

    /// As it stands below the kind's `fields`.
    pub fn line(&self) -> String {
        let mut line = as_yaml(&self.path.to_string());
        let words: Vec<String> = self.words.iter().map(|word| as_yaml(word)).collect();
        let all = if words.len() == 1 { words.concat() } else { format!("[{}]", words.join(", ")) };
        let _ = write!(line, ": {all}");
        line
    }
}

/// A text as YAML: in quotes where it has anything but what words and plain paths are made of.
pub fn as_yaml(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '=');
    match text.starts_with(char::is_alphabetic) && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
