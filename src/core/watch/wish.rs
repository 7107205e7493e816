//! What is wanted of an object, as one number: another digest is another wish.
//!
//! Places do not count, as a comment above a document changes nothing that is wanted. Secrets count by their texts, so
//! that a new password is a new wish; what goes into a digest begins with a salt of the process, so that none can be
//! held against guesses.

use super::super::base::Base;
use super::super::digest::Digest;
use super::super::document::{Document, Policy};
use super::super::identity::ObjectId;
use super::super::node::{Node, Outside, Want};
use super::super::value::{Value, canonical_text};

/// What is wanted of the object of `document`: its body with references as they are written, what its annotations say,
/// and its base. `salt` is one number for the life of a process, which nobody else knows: the digest is shown.
pub fn wish(document: &Document, salt: u128) -> Digest {
    let mut bytes = Bytes(salt.to_be_bytes().to_vec());
    bytes.identity(&document.id);
    bytes.node(&document.spec);
    bytes.policy(&document.policy);
    match &document.base {
        Base::None => bytes.tag(b'0'),
        Base::New => bytes.tag(b'1'),
        Base::Absent => bytes.tag(b'2'),
        Base::Present(past) => {
            bytes.tag(b'3');
            bytes.node(&past.spec);
        }
    }
    Digest::of_bytes(&bytes.0)
}

/// What stands in a document, wherever in the file that is.
pub fn content(node: &Node, salt: u128) -> Digest {
    let mut bytes = Bytes(salt.to_be_bytes().to_vec());
    bytes.node(node);
    Digest::of_bytes(&bytes.0)
}

/// What a digest is made of: everything with its length before it, so that two wishes have two texts.
struct Bytes(Vec<u8>);

impl Bytes {
    fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    fn count(&mut self, count: usize) {
        self.0.extend(u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        self.text(&canonical_text(value));
    }

    fn opt<T>(&mut self, thing: Option<T>, put: impl FnOnce(&mut Bytes, T)) {
        match thing {
            None => self.tag(0),
            Some(thing) => {
                self.tag(1);
                put(self, thing);
            }
        }
    }

    fn all<T>(&mut self, things: impl ExactSizeIterator<Item = T>, mut put: impl FnMut(&mut Bytes, T)) {
        self.count(things.len());
        things.for_each(|thing| put(self, thing));
    }

    /// Two objects have two digests, whatever is wanted of them: nobody is to see that they have one password.
    fn identity(&mut self, id: &ObjectId) {
        self.text(&id.kind.backend);
        self.text(&id.kind.kind);
        self.all(id.key.parts().iter(), |bytes, (name, value)| {
            bytes.text(name);
            bytes.value(value);
        });
    }

    fn node(&mut self, node: &Node) {
        match &node.want {
            Want::Unset => self.tag(b'u'),
            Want::Json(value) => {
                self.tag(b'j');
                self.value(value);
            }
            Want::Secret(secret) => {
                self.tag(b's');
                self.text(&secret.source);
                self.opt(secret.value(), Bytes::value);
            }
            Want::Ref(reference) => {
                self.tag(b'r');
                self.text(&reference.text);
            }
            Want::Outside(Outside::Gone(node)) => {
                self.tag(b'g');
                self.node(node);
            }
            Want::Outside(outside) => {
                self.tag(b'o');
                self.text(&outside.to_string());
            }
            Want::List(items) => {
                self.tag(b'l');
                self.all(items.iter(), Bytes::node);
            }
            Want::Map(map) => {
                self.tag(b'm');
                self.count(map.len());
                for (name, node) in map.iter() {
                    self.text(name);
                    self.node(node);
                }
            }
        }
    }

    fn policy(&mut self, policy: &Policy) {
        let Policy {
            ensure,
            pinned_id,
            protected,
            on_conflict,
            forced_paths,
            // What is added for another is replaced by no annotation.
            replace: _,
            added_for: _,
            drift,
            report,
            depends_on,
            paused,
            secret_version,
            secret_since,
            was,
            member,
            // No document says so, and it follows from what one says.
            pruned: _,
            flags: _,
            replica: _,
        } = policy;
        self.0.extend([*ensure as u8, *on_conflict as u8, *drift as u8]);
        self.0.extend([*protected, policy.lets_replace(), *paused, *secret_since].map(u8::from));
        self.opt(pinned_id.as_deref(), Bytes::text);
        self.opt(secret_version.as_deref(), Bytes::text);
        self.all(forced_paths.iter(), |bytes, path| bytes.text(&path.to_string()));
        self.all(report.iter(), |bytes, path| bytes.text(&path.to_string()));
        self.all(depends_on.iter(), |bytes, (reference, _)| bytes.text(&reference.text));
        self.opt(was.as_ref(), |bytes, was| {
            bytes.all(was.parts.iter(), |bytes, (name, value)| {
                bytes.opt(name.as_deref(), Bytes::text);
                bytes.value(value);
            });
        });
        self.opt(member.as_deref(), |bytes, member| {
            bytes.text(&member.set);
            bytes.opt(member.owner.as_deref(), Bytes::text);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use serde_json::json;

    use super::super::super::base::Past;
    use super::super::super::document::{Drift, Ensure};
    use super::super::super::identity::{Key, KindName};
    use super::super::super::node::{Origin, Pos, Secret};
    use super::super::super::path::Path;
    use super::*;

    fn node(want: Want) -> Node {
        Node::new(Pos::default(), want)
    }

    fn document(want: Want) -> Document {
        let kind = KindName { backend: "b".into(), kind: "K".into() };
        Document {
            id: ObjectId { kind, key: Key::new(vec![("name".into(), json!("a"))]) },
            origin: Origin { file: "a.yaml".into(), at: Pos::default() },
            spec: node(want).into(),
            labels: BTreeMap::new(),
            policy: Policy::default(),
            base: Base::None,
        }
    }

    #[test]
    fn each_change_of_a_wish_is_another_digest() {
        let plain = || document(Want::Json(json!("x")));
        let changed = |change: &dyn Fn(&mut Document)| {
            let mut document = plain();
            change(&mut document);
            wish(&document, 7)
        };
        let past = |want| Base::Present(Arc::new(Past { spec: node(want), file: "b".into() }));
        let secret = |text: Option<&str>| Want::Secret(Secret::new("env:X", text.map(str::to_owned)));
        let all = [
            wish(&plain(), 7),
            changed(&|d| *d.spec_mut() = node(Want::Unset)),
            changed(&|d| *d.spec_mut() = node(Want::List(vec![node(Want::Json(json!("x")))]))),
            changed(&|d| *d.spec_mut() = node(secret(Some("x")))),
            changed(&|d| *d.spec_mut() = node(secret(Some("y")))),
            changed(&|d| *d.spec_mut() = node(secret(None))),
            changed(&|d| d.policy.ensure = Ensure::Absent),
            changed(&|d| d.policy.drift = Drift::Report),
            changed(&|d| d.policy.report = vec![Path::root()]),
            changed(&|d| d.policy.paused = true),
            changed(&|d| d.policy.replace = true),
            changed(&|d| d.policy.pinned_id = Some("1".into())),
            changed(&|d| d.policy.secret_version = Some("1".into())),
            changed(&|d| d.base = Base::New),
            changed(&|d| d.base = past(Want::Unset)),
            changed(&|d| d.base = past(Want::Json(json!("x")))),
        ];
        let different: std::collections::BTreeSet<&Digest> = all.iter().collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn places_and_spellings_are_no_wish() {
        let mut moved = document(Want::Json(json!({"a": 1.0, "b": 2})));
        moved.spec_mut().at = Pos { line: 9, column: 9 };
        moved.origin.at = Pos { line: 9, column: 1 };
        assert_eq!(wish(&moved, 7), wish(&document(Want::Json(json!({"b": 2, "a": 1}))), 7));
    }

    #[test]
    fn the_same_wish_for_two_objects_is_two_digests() {
        let mut other = document(Want::Unset);
        other.id.key = Key::new(vec![("name".into(), json!("b"))]);
        assert_ne!(wish(&other, 7), wish(&document(Want::Unset), 7));
    }

    /// One process's digest is of no use in another, so it tells nothing of a secret.
    #[test]
    fn another_salt_is_another_digest() {
        let document = document(Want::Unset);
        assert_ne!(wish(&document, 7), wish(&document, 8));
    }
}
