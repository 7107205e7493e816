//! Which objects a command is about: label selectors (`-l`) and globs over identities (`--only`).

use std::collections::BTreeMap;

use super::identity::ObjectId;

/// A label selector as `kubectl` reads it: `app=web,tier!=db,team,!legacy,env in (a,b),env notin (c)`.
/// All terms must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    label: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    There,
    NotThere,
    In(Vec<String>),
    /// Also of objects that have no such label.
    NotIn(Vec<String>),
}

/// Why a text is no selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{term}` is no label selector: write `name=value`, `name!=value`, `name`, `!name`, `name in (a,b)` or `name notin (a,b)`"
)]
pub struct SelectorError {
    pub term: String,
}

impl Selector {
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        split(text).into_iter().map(|term| Term::parse(term.trim())).collect::<Result<_, _>>().map(Selector)
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|term| {
            let value = labels.get(&term.label);
            match &term.test {
                Test::There => value.is_some(),
                Test::NotThere => value.is_none(),
                Test::In(values) => value.is_some_and(|value| values.contains(value)),
                Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            }
        })
    }
}

/// At the commas that stand in no parentheses.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0usize;
    text.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

impl Term {
    fn parse(text: &str) -> Result<Term, SelectorError> {
        let fail = || SelectorError { term: text.into() };
        let one = |value: &str| vec![value.trim().to_owned()];
        let (label, test) = if let Some((label, value)) = text.split_once("!=") {
            (label, Test::NotIn(one(value)))
        } else if let Some((label, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
            (label, Test::In(one(value)))
        } else if let Some((head, list)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            let values = list.split(',').map(|value| value.trim().to_owned()).collect();
            match head.trim().rsplit_once(char::is_whitespace) {
                Some((label, "in")) => (label, Test::In(values)),
                Some((label, "notin")) => (label, Test::NotIn(values)),
                _ => return Err(fail()),
            }
        } else if let Some(label) = text.strip_prefix('!') {
            (label, Test::NotThere)
        } else {
            (text, Test::There)
        };
        let label = label.trim();
        let odd = |c: char| c.is_whitespace() || "!=(),".contains(c);
        if label.is_empty() || label.contains(odd) {
            return Err(fail());
        }
        Ok(Term { label: label.into(), test })
    }
}

/// A pattern in which `*` stands for any text and `?` for any one character, `/` among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<char>);

impl Glob {
    pub fn new(pattern: &str) -> Glob {
        Glob(pattern.chars().collect())
    }

    pub fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let (mut p, mut t) = (0, 0);
        // Where the last `*` stands, and how far it reaches: the only place to come back to.
        let mut star: Option<(usize, usize)> = None;
        while t < text.len() {
            match self.0.get(p) {
                Some('*') => {
                    star = Some((p, t));
                    p += 1;
                }
                Some(c) if *c == '?' || *c == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => match &mut star {
                    Some((at, reach)) => {
                        *reach += 1;
                        (p, t) = (*at + 1, *reach);
                    }
                    None => return false,
                },
            }
        }
        self.0[p..].iter().all(|c| *c == '*')
    }

    /// Whether an object is meant: by `Kind/key`, or by `Kind` for all of a kind.
    pub fn selects(&self, id: &ObjectId) -> bool {
        self.matches(&id.slashed()) || self.matches(&id.kind.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::super::identity::{Key, KindName};
    use super::super::value::Value;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn selectors() {
        let labels: BTreeMap<String, String> =
            [("app", "web"), ("env", "prod")].map(|(k, v)| (k.into(), v.into())).into();
        for (text, want) in [
            ("app=web", true),
            ("app==web", true),
            ("app=db", false),
            ("app=web,env=prod", true),
            ("app=web,env=test", false),
            ("app!=db", true),
            ("team!=a", true),
            ("team", false),
            ("!team", true),
            ("app", true),
            ("env in (test, prod),app", true),
            ("env notin (test,prod)", false),
            ("team notin (a)", true),
        ] {
            assert_eq!(Selector::parse(text).expect(text).matches(&labels), want, "{text}");
        }
        for text in ["", "a,", "=b", "a b", "a in b", "a in (b", "in (b)", "!"] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn globs() {
        for (pattern, text, want) in [
            ("Queue/*", "Queue///orders", true),
            ("Queue/*/orders", "Queue///orders", true),
            ("*orders", "Queue///orders", true),
            ("Queue", "Queue///orders", false),
            ("Q?eue*", "Queue/x", true),
            ("*a*b*c", "xaxbxbxc", true),
            ("*a*b*c", "xaxbxbx", false),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), want, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_kind_alone_means_all_of_it() {
        let kind = KindName { backend: "b".into(), kind: "Queue".into() };
        let key = Key::new(vec![("name".into(), Value::String("orders".into()))]);
        let id = ObjectId { kind, key };
        assert!(Glob::new("Queue").selects(&id));
        assert!(Glob::new("Queue/orders").selects(&id));
        assert!(!Glob::new("Queue/o").selects(&id));
        assert!(!Glob::new("Que").selects(&id));
    }

    proptest! {
        #[test]
        fn a_text_without_wildcards_matches_itself_alone(a in "[a-c/]{0,6}", b in "[a-c/]{0,6}") {
            prop_assert_eq!(Glob::new(&a).matches(&b), a == b);
            let around = format!("*{a}*");
            prop_assert_eq!(Glob::new(&around).matches(&b), b.contains(&a));
        }
    }
}
