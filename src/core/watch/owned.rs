//! What of an observed object concerns its document, as a digest: whoever polls hints at an object only where this is
//! another one than before.
//!
//! A counter that the server moves with every answer is in no document, and a value in another spelling is the same
//! value: neither may start a pass. So what is digested is the difference that the document makes, not the object.
//! For an object that agrees with its document this is always the same, whatever else is in it.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::change::Shown;
use super::super::diff;
use super::super::digest::Digest;
use super::super::document::{Document, Ensure};
use super::super::exchange::Item;
use super::super::fields::FieldRules;
use super::super::identity::Key;
use super::super::node::Node;
use super::super::path::Path;
use super::super::value::{Value, canonical_text};

/// What holds the bodies of documents: they are looked at where they are, as copies of ten thousand would be many.
pub trait Bodies: Send + Sync {
    /// The body of the document with this number.
    fn body(&self, at: usize) -> &Node;
}

impl Bodies for Vec<Document> {
    fn body(&self, at: usize) -> &Node {
        &self[at].spec
    }
}

/// One body alone.
impl Bodies for Node {
    fn body(&self, _at: usize) -> &Node {
        self
    }
}

/// What a document, and those that refer to it, have to do with an object.
#[derive(Clone, Default)]
pub struct Interest {
    /// What is wanted; `None` where only presence counts, as with `trueup/ensure`.
    pub spec: Option<(Arc<dyn Bodies>, usize)>,
    /// It is not to be there.
    pub absent: bool,
    /// Fields that others refer to.
    pub referred: Vec<Path>,
}

/// How an object was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Another one where something is another that concerns the document.
    pub digest: Digest,
    pub fit: Fit,
}

/// Whether an object is as it is wanted, as far as a look tells. Of several elements of one object the last in this
/// order holds for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is: there is nothing to do.
    #[default]
    Level,
    /// That is not known: it is not ready, or its document names fields of others, whose values are not at hand.
    Unclear,
    /// It is not.
    Wrong,
}

impl Interest {
    /// What a document wants, which is number `at` among `bodies`.
    pub fn of(document: &Document, bodies: &Arc<dyn Bodies>, at: usize) -> Interest {
        Interest {
            spec: (document.policy.ensure == Ensure::Present).then(|| (bodies.clone(), at)),
            absent: document.policy.ensure == Ensure::Absent,
            referred: Vec::new(),
        }
    }

    /// What is seen where nothing is.
    pub fn nothing(&self) -> Sight {
        let fit = if self.absent { Fit::Level } else { Fit::Wrong };
        Sight { digest: Digest::of_bytes(b"nothing"), fit }
    }

    /// What is seen of an object. Its id and its state belong to it: one that was made anew under the same name has
    /// another id.
    pub fn sight(&self, rules: &FieldRules, item: &Item) -> Sight {
        let mut text = format!("{} {}", item.server_id.as_deref().unwrap_or_default(), item.deleting);
        text.push_str(match item.ready {
            None => " -",
            Some(true) => " ready",
            Some(false) => " not ready",
        });
        for path in &self.referred {
            text.push('\n');
            text.push_str(&path.get(&item.value).map(canonical_text).unwrap_or_default());
        }
        let mut fit = match item.ready {
            _ if self.absent || item.deleting => Fit::Wrong,
            Some(false) => Fit::Unclear,
            Some(true) | None => Fit::Level,
        };
        if let Some((bodies, at)) = &self.spec {
            let spec = bodies.body(*at);
            if add_owned(&mut text, spec, rules, &item.value) {
                fit = fit.max(if has_references(spec) { Fit::Unclear } else { Fit::Wrong });
            }
        }
        Sight { digest: Digest::of_bytes(text.as_bytes()), fit }
    }
}

/// A digest of what an object has where its document states something: the same for all that agree with it.
///
/// Values are compared as the kind's rules say. A secret that differs is told from one that agrees, and not from
/// another that differs.
pub fn owned(spec: &Node, rules: &FieldRules, value: &Value) -> Digest {
    let mut text = String::new();
    add_owned(&mut text, spec, rules, value);
    Digest::of_bytes(text.as_bytes())
}

/// Adds the difference, and says whether there is one.
fn add_owned(text: &mut String, spec: &Node, rules: &FieldRules, value: &Value) -> bool {
    if diff::agrees(spec, value, rules) {
        return false;
    }
    for change in diff::diff(spec, value, rules) {
        text.push('\n');
        text.push_str(&change.path.to_string());
        text.push('\t');
        text.push_str(&match &change.before {
            None => "nothing".into(),
            Some(Shown::Value(value)) => canonical_text(value),
            Some(Shown::Secret) => "a secret".into(),
            Some(Shown::Later(name)) => name.to_string(),
        });
    }
    true
}

fn has_references(spec: &Node) -> bool {
    let mut any = false;
    spec.each_ref(&mut |_, _| any = true);
    any
}

/// The objects of one collection that documents name.
#[derive(Default)]
pub struct Interests {
    all: Vec<(Key, Interest)>,
    by_key: HashMap<Key, usize>,
}

impl Interests {
    pub fn new(all: Vec<(Key, Interest)>) -> Interests {
        let by_key = all.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
        Interests { all, by_key }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Where a key stands among them.
    pub fn find(&self, key: &Key) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    pub fn at(&self, at: usize) -> &(Key, Interest) {
        &self.all[at]
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Key, Interest)> {
        self.all.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::fields::Comparer;
    use crate::core::node::{Pos, Reference, Secret, Want};
    use crate::core::veil::Veil;

    fn spec(value: Value) -> Node {
        Node::from_value(Pos::default(), value)
    }

    fn rules(path: &str, set: impl Fn(&mut crate::core::fields::FieldRule)) -> FieldRules {
        let mut rules = FieldRules::default();
        set(rules.at_mut(&Path::parse(path).expect("a path")));
        rules
    }

    fn item(value: Value) -> Item {
        Item {
            key: Key::new(vec![("name".into(), "a".into())]),
            server_id: Some("1".into()),
            version: None,
            value: Arc::new(value),
            deleting: false,
            ready: None,
            ambiguous: Vec::new(),
        }
    }

    #[test]
    fn only_what_the_document_states_counts() {
        let (spec, none) = (spec(json!({"durable": true, "arguments": {"max": 10}})), FieldRules::none());
        let digest = |value: Value| owned(&spec, none, &value);
        let agreed = digest(json!({"durable": true, "arguments": {"max": 10.0}, "messages": 1}));
        assert_eq!(
            agreed,
            digest(json!({"durable": true, "arguments": {"max": 10, "x": 1}, "messages": 99}))
        );
        let drifted = digest(json!({"durable": true, "arguments": {"max": 11}, "messages": 1}));
        assert_ne!(agreed, drifted);
        assert_eq!(drifted, digest(json!({"durable": true, "arguments": {"max": 11}, "messages": 7})));
        assert_ne!(drifted, digest(json!({"durable": true, "arguments": {"max": 12}})), "drift that goes on");
        assert_ne!(drifted, digest(json!({"durable": true, "arguments": {}})));
    }

    #[test]
    fn what_the_rules_say_holds() {
        let value = |memory: &str| json!({"memory": memory});
        let want = spec(value("1Gi"));
        let quantity = rules("memory", |rule| rule.compare = Some(Comparer::Quantity));
        assert_eq!(owned(&want, &quantity, &value("1024Mi")), owned(&want, &quantity, &value("1Gi")));
        assert_ne!(
            owned(&want, FieldRules::none(), &value("1024Mi")),
            owned(&want, FieldRules::none(), &value("1Gi"))
        );
        let closed = rules("arguments", |rule| rule.closed = true);
        let want = spec(json!({"arguments": {"a": 1}}));
        let (clean, more) = (json!({"arguments": {"a": 1}}), json!({"arguments": {"a": 1, "b": 2}}));
        assert_ne!(
            owned(&want, &closed, &clean),
            owned(&want, &closed, &more),
            "nothing undeclared may be there"
        );
        assert_eq!(owned(&want, FieldRules::none(), &clean), owned(&want, FieldRules::none(), &more));
    }

    #[test]
    fn secrets_and_references_are_looked_at_as_far_as_they_are_known() {
        let place = |want: Want| Node::new(Pos::default(), want);
        let map = |name: &str, want| place(Want::Map([(Arc::from(name), place(want))].into_iter().collect()));
        let none = FieldRules::none();
        let secret = map("password", Want::Secret(Secret::new("env:P", Some("right".into()))));
        let digest = |value: &str| owned(&secret, none, &json!({"password": value}));
        assert_ne!(digest("right"), digest("wrong"));
        let missing = map("password", Want::Secret(Secret::new("env:P", None)));
        assert_eq!(
            owned(&missing, none, &json!({"password": "a"})),
            owned(&missing, none, &json!({"password": "b"}))
        );
        let reference = Reference {
            backend: None,
            kind: "Team".into(),
            parts: vec![("".into(), "a".into())],
            field: Path::parse("id").expect("a path"),
            text: "Team/a .id".into(),
            secrets: Veil::default(),
        };
        let interest = |spec| Interest { spec: Some((Arc::new(spec), 0)), ..Interest::default() };
        let refers = interest(map("team", Want::Ref(Box::new(reference))));
        let sight = |team: u32| refers.sight(none, &item(json!({"team": team})));
        assert_eq!(sight(7).fit, Fit::Unclear, "what it should be is not known here");
        assert_ne!(sight(7).digest, sight(8).digest);
        assert_eq!(sight(7), sight(7));
    }

    #[test]
    fn presence_state_and_what_others_refer_to_count_as_well() {
        let none = FieldRules::none();
        let exists = Interest { referred: vec![Path::parse("slug").expect("a path")], ..Interest::default() };
        let seen = |value: Value| exists.sight(none, &item(value));
        assert_eq!((exists.nothing().fit, seen(json!({})).fit), (Fit::Wrong, Fit::Level));
        assert_eq!(seen(json!({"slug": "a", "n": 1})), seen(json!({"slug": "a", "n": 2})));
        assert_ne!(seen(json!({"slug": "a"})), seen(json!({"slug": "b"})));
        let again = Item { server_id: Some("2".into()), ..item(json!({"slug": "a"})) };
        assert_ne!(seen(json!({"slug": "a"})), exists.sight(none, &again), "made anew");
        let unready = Item { ready: Some(false), ..item(json!({"slug": "a"})) };
        assert_ne!(seen(json!({"slug": "a"})), exists.sight(none, &unready));
        assert_eq!(exists.sight(none, &unready).fit, Fit::Unclear);
        let leaves = Item { deleting: true, ..unready };
        assert_eq!(exists.sight(none, &leaves).fit, Fit::Wrong, "and no matter whether it is ready");
        let absent = Interest { absent: true, ..Interest::default() };
        assert_eq!(
            (absent.nothing().fit, absent.sight(none, &item(json!({}))).fit),
            (Fit::Level, Fit::Wrong)
        );
    }
}
