//! What a kind says of its fields: who owns them, whether they can change, how they compare.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::facts::Said;
use super::filter::Filter;
use super::path::{Path, Step};
use super::value::Value;

/// The field words of a kind, as a tree that is walked beside the values.
///
/// A rule at a node holds for the node; [`FieldRules::below`] finds the rules of a child.
#[derive(Clone, Debug, Default)]
pub struct FieldRules {
    pub here: FieldRule,
    fields: BTreeMap<String, FieldRules>,
    /// By index or by key, as written in the pattern.
    elements: Vec<(Step, FieldRules)>,
    /// `[*]`
    each: Option<Box<FieldRules>>,
}

/// The words at one path.
#[derive(Clone, Debug, Default)]
pub struct FieldRule {
    /// Never sent, never compared.
    pub server_owned: bool,
    /// Sent, never compared: the server does not return it.
    pub write_only: bool,
    /// Never printed.
    pub secret: bool,
    /// No secret, whatever its name and those below it say.
    pub plain: bool,
    /// An observed text that matches means "set, hidden": not comparable.
    pub mask: Option<Mask>,
    /// Copied from the observed object into each full body.
    pub copy: bool,
    pub immutable: Option<Immutable>,
    /// Nothing undeclared may stand below this path.
    pub closed: bool,
    /// A list whose undeclared elements are left alone.
    pub open: bool,
    /// Never compared.
    pub ignore: bool,
    /// How "must not be set" is said to the server.
    pub clear: Option<Clear>,
    /// Missing on one side equals this value.
    pub default: Option<Value>,
    pub compare: Option<Comparer>,
    /// The words as they were written, and where: for explaining.
    pub said: Vec<Said>,
}

/// What a change of an immutable field means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Immutable {
    /// Delete and create again, with consent.
    Replace,
    Refuse,
}

/// How a field is cleared.
#[derive(Clone, Debug, PartialEq)]
pub enum Clear {
    Null,
    /// The empty value of the observed type: `""`, `[]`, `{}`, `0`, `false`.
    Empty,
    Omit,
    Value(Value),
}

/// Decides equality, and nothing else: what is sent is always the user's own value.
#[derive(Clone, Debug)]
pub enum Comparer {
    /// A list without order.
    Set,
    /// A list in order.
    Ordered,
    /// A list whose elements are paired by this member.
    KeyedBy(String),
    /// Kubernetes quantities: `1000m` = `1`, `1Gi` = `1073741824`.
    Quantity,
    /// `90s` = `1m30s` = `PT1M30S`.
    Duration,
    /// RFC 3339 instants: `2026-01-01T01:00:00+01:00` = `2026-01-01T00:00:00Z`.
    Timestamp,
    /// IP addresses and prefixes: `2001:DB8:0:0::1` = `2001:db8::1`.
    Cidr,
    /// RFC 3986 normalisation: case of scheme and host, default port, percent-encoding, dot segments.
    Url,
    /// A filter that is run on both sides.
    Filter(Filter),
}

/// As it is written in a backend.
impl fmt::Display for Comparer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparer::Set => "set",
            Comparer::Ordered => "ordered",
            Comparer::KeyedBy(name) => return write!(f, "key={name}"),
            Comparer::Quantity => "quantity",
            Comparer::Duration => "duration",
            Comparer::Timestamp => "timestamp",
            Comparer::Cidr => "cidr",
            Comparer::Url => "url",
            Comparer::Filter(filter) => filter.text(),
        })
    }
}

/// A regular expression that a hidden value matches.
#[derive(Clone, Debug)]
pub struct Mask(pub regex_lite::Regex);

/// The rules where nothing is said.
static NOTHING: FieldRules = FieldRules {
    here: FieldRule {
        server_owned: false,
        write_only: false,
        secret: false,
        plain: false,
        mask: None,
        copy: false,
        immutable: None,
        closed: false,
        open: false,
        ignore: false,
        clear: None,
        default: None,
        compare: None,
        said: Vec::new(),
    },
    fields: BTreeMap::new(),
    elements: Vec::new(),
    each: None,
};

impl FieldRules {
    /// Whether nothing is said of what is below.
    pub fn is_leaf(&self) -> bool {
        self.fields.is_empty() && self.elements.is_empty() && self.each.is_none()
    }

    /// Rules that say nothing.
    pub fn none() -> &'static FieldRules {
        &NOTHING
    }

    /// The rule at `path`, made when it is not there yet: how a backend document fills the tree.
    pub fn at_mut(&mut self, path: &Path) -> &mut FieldRule {
        let mut rules = self;
        for step in &path.0 {
            rules = match step {
                Step::Field(name) => rules.fields.entry(name.clone()).or_default(),
                Step::Each => rules.each.get_or_insert_default(),
                other => {
                    let at = rules.elements.iter().position(|(step, _)| step == other);
                    let at = at.unwrap_or_else(|| {
                        rules.elements.push((other.clone(), FieldRules::default()));
                        rules.elements.len() - 1
                    });
                    &mut rules.elements[at].1
                }
            };
        }
        &mut rules.here
    }

    /// The rules of a map's member.
    pub fn field(&self, name: &str) -> &FieldRules {
        self.fields.get(name).or(self.each.as_deref()).unwrap_or(&NOTHING)
    }

    /// The rules of a list's element, by how the element is known.
    pub fn element(&self, step: &Step) -> &FieldRules {
        let named = self.elements.iter().find(|(have, _)| have == step).map(|(_, rules)| rules);
        named.or(self.each.as_deref()).unwrap_or(&NOTHING)
    }

    /// The rules of a list's element, by its position or by what `member` says its members are (as text).
    pub fn element_with(&self, index: usize, member: impl Fn(&str) -> Option<String>) -> &FieldRules {
        let fits = |step: &Step| match step {
            Step::Index(at) => *at == index,
            Step::Keyed(name, value) => member(name).is_some_and(|text| text == *value),
            Step::Field(_) | Step::Each => false,
        };
        let named = self.elements.iter().find(|(step, _)| fits(step)).map(|(_, rules)| rules);
        named.or(self.each.as_deref()).unwrap_or(&NOTHING)
    }

    /// The rules one step below.
    pub fn below(&self, step: &Step) -> &FieldRules {
        match step {
            Step::Field(name) => self.field(name),
            step => self.element(step),
        }
    }

    /// The rules at a path.
    pub fn at(&self, path: &Path) -> &FieldRules {
        path.0.iter().fold(self, |rules, step| rules.below(step))
    }

    /// The members that have rules of their own, in order: where "copy" and "server-owned" are looked for.
    pub fn named_fields(&self) -> impl Iterator<Item = (&str, &FieldRules)> {
        self.fields.iter().map(|(name, rules)| (name.as_str(), rules))
    }

    /// Whether no rule stands here or anywhere below.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.elements.is_empty() && self.each.is_none() && self.here.is_empty()
    }

    /// Whether there is a field that cannot be read back.
    pub fn any_hidden(&self) -> bool {
        let mut any = false;
        self.each_rule(&mut |_, rule| any |= rule.write_only || rule.mask.is_some());
        any
    }

    /// Calls `f` with every rule of the tree and its path.
    pub fn each_rule(&self, f: &mut impl FnMut(&Path, &FieldRule)) {
        self.walk(&Path::root(), f);
    }

    fn walk(&self, path: &Path, f: &mut impl FnMut(&Path, &FieldRule)) {
        f(path, &self.here);
        for (name, rules) in &self.fields {
            rules.walk(&path.field(name), f);
        }
        for (step, rules) in &self.elements {
            rules.walk(&path.with(step.clone()), f);
        }
        if let Some(rules) = &self.each {
            rules.walk(&path.with(Step::Each), f);
        }
    }
}

impl FieldRule {
    /// Whether the field takes no part in the comparison.
    pub fn not_compared(&self) -> bool {
        self.server_owned || self.write_only || self.ignore
    }

    fn is_empty(&self) -> bool {
        !self.not_compared()
            && !self.secret
            && !self.plain
            && !self.copy
            && !self.closed
            && !self.open
            && self.mask.is_none()
            && self.immutable.is_none()
            && self.clear.is_none()
            && self.default.is_none()
            && self.compare.is_none()
    }
}

/// The default of `visible:` for kinds whose ids are the server's (Crossplane's creation grace).
pub const VISIBLE: Duration = Duration::from_secs(30);
