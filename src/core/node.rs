//! A desired value as it stands in a file: a tree in which each value knows its place, with the things
//! that JSON cannot say: "must not be set", a secret, a field of another object.

use std::fmt;
use std::sync::Arc;

use super::members::Members;
use super::path::Path;
use super::value::{Map, Value};
use super::veil::Veil;

/// A place in a file, both 1-based; the column counts characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pos {
    pub line: u32,
    pub column: u32,
}

/// A file and a place in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The path as the user gave it, `-` for standard input.
    pub file: Arc<str>,
    pub at: Pos,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.at.line, self.at.column)
    }
}

/// A desired value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub at: Pos,
    pub want: Want,
}

/// What is wanted at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    /// An explicit `null`: must not be set.
    Unset,
    /// A scalar, JSON null (`!null`) among them. Never a list or a map.
    Json(Value),
    /// `!secret`, or what a reference copies from one: a scalar that is never printed, wherever it travels.
    Secret(Secret),
    /// `!ref`: a field of another document's observed object. Boxed, as it is rare and large: a document has
    /// very many nodes.
    Ref(Box<Reference>),
    /// What loading puts in or takes away. None is left in a loaded document.
    Outside(Outside),
    List(Vec<Node>),
    Map(Members),
}

/// A value that the document does not state itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Outside {
    /// A key with nothing behind it: an error, or not declared, as the kind of document says.
    Nothing,
    /// `!env NAME`
    Env(Arc<str>),
    /// `!file PATH`
    File(Arc<str>),
    /// In a list: an element that left the document since the base, and must not be there any more.
    Gone(Box<Node>),
}

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outside::Nothing => f.write_str("nothing"),
            Outside::Env(name) => write!(f, "env {name}"),
            Outside::File(path) => write!(f, "file {path}"),
            Outside::Gone(_) => f.write_str("gone"),
        }
    }
}

/// A secret from the environment, a file or another object. It has no `Display`, no `Serialize`, and a `Debug` without its text.
#[derive(Clone, PartialEq)]
pub struct Secret {
    /// Where it comes from, as written: `env:NAME`, `file:PATH` or a reference. Safe to print.
    pub source: Arc<str>,
    /// `None` when it is not there: a plan needs none, a body that needs it is refused. A thin pointer, as it
    /// is part of every node.
    value: Option<Arc<Value>>,
}

impl Secret {
    pub fn new(source: &str, value: Option<String>) -> Secret {
        Secret { source: source.into(), value: value.map(|text| Arc::new(text.into())) }
    }

    /// A secret scalar, which is sent as the JSON that it is.
    pub fn of_value(source: &str, value: Value) -> Secret {
        Secret { source: source.into(), value: Some(Arc::new(value)) }
    }

    /// The scalar itself, for comparing and for a request's body and nothing else.
    pub fn value(&self) -> Option<&Value> {
        self.value.as_deref()
    }

    /// The text itself, for a request and nothing else; `None` as well for a scalar that is no text.
    pub fn reveal(&self) -> Option<&str> {
        self.value().and_then(Value::as_str)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({})", self.source)
    }
}

/// `!ref Team/platform .id`, or its long form.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The backend's name; `None` means the one of the document it stands in.
    pub backend: Option<Arc<str>>,
    pub kind: Arc<str>,
    /// Key parts by name (long form), or in the kind's order with empty names (short form, decoded).
    pub parts: Vec<(Arc<str>, Value)>,
    pub field: Path,
    /// As written, for messages and for plans in which the value is not known yet.
    pub text: Arc<str>,
    /// Which parts of the value are secrets where they come from: they are secrets here too.
    pub secrets: Veil,
}

impl Node {
    pub fn new(at: Pos, want: Want) -> Node {
        Node { at, want }
    }

    /// Whether a key has nothing behind it.
    pub fn is_nothing(&self) -> bool {
        self.want == Want::Outside(Outside::Nothing)
    }

    /// Whether nothing is stated here that could be sent.
    pub fn is_blank(&self) -> bool {
        self.want == Want::Unset || self.is_nothing()
    }

    /// The member `name` of a map.
    pub fn get(&self, name: &str) -> Option<&Node> {
        match &self.want {
            Want::Map(map) => map.get(name),
            _ => None,
        }
    }

    /// Of an element of a list that must not be there, what it is; else the element.
    pub fn element(&self) -> &Node {
        match &self.want {
            Want::Outside(Outside::Gone(node)) => node,
            _ => self,
        }
    }

    /// Whether it is an element of a list that must not be there.
    pub fn is_gone(&self) -> bool {
        matches!(self.want, Want::Outside(Outside::Gone(_)))
    }

    /// The member `name` of a map, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        match &mut self.want {
            Want::Map(map) => map.get_mut(name),
            _ => None,
        }
    }

    /// What stands here in clear: secrets, references and what comes from elsewhere are null.
    pub fn known(&self) -> Value {
        match &self.want {
            Want::Json(value) => value.clone(),
            Want::List(items) => items.iter().map(Node::known).collect(),
            Want::Map(map) => {
                let members = map.iter().map(|(name, node)| (name.to_string(), node.known()));
                Value::Object(members.collect())
            }
            Want::Unset | Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => Value::Null,
        }
    }

    /// The text of a string scalar.
    pub fn as_str(&self) -> Option<&str> {
        match &self.want {
            Want::Json(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Calls `f` for each secret below this node.
    pub fn each_secret<'n>(&'n self, f: &mut impl FnMut(&'n Secret)) {
        match &self.want {
            Want::Secret(secret) => f(secret),
            Want::List(items) => items.iter().for_each(|item| item.each_secret(f)),
            Want::Map(map) => map.values().for_each(|item| item.each_secret(f)),
            Want::Unset | Want::Json(_) | Want::Ref(_) | Want::Outside(_) => {}
        }
    }

    /// Calls `f` for each reference below this node, with its place.
    pub fn each_ref<'n>(&'n self, f: &mut impl FnMut(&'n Reference, Pos)) {
        match &self.want {
            Want::Ref(reference) => f(reference, self.at),
            Want::List(items) => items.iter().for_each(|item| item.each_ref(f)),
            Want::Map(map) => map.values().for_each(|item| item.each_ref(f)),
            Want::Unset | Want::Json(_) | Want::Secret(_) | Want::Outside(_) => {}
        }
    }

    /// Calls `f` for each reference below this node, to change it.
    pub fn each_ref_mut(&mut self, f: &mut impl FnMut(&mut Reference)) {
        match &mut self.want {
            Want::Ref(reference) => f(reference),
            Want::List(items) => items.iter_mut().for_each(|item| item.each_ref_mut(f)),
            Want::Map(map) => map.values_mut().for_each(|item| item.each_ref_mut(f)),
            Want::Unset | Want::Json(_) | Want::Secret(_) | Want::Outside(_) => {}
        }
    }

    /// The tree with every reference that `look` knows put in its place; the others stay symbolic.
    pub fn resolve(&self, look: &impl Fn(&Reference) -> Option<Value>) -> Node {
        let want = match &self.want {
            Want::Ref(reference) => match look(reference) {
                Some(value) => return reference.secrets.node(self.at, value, &reference.text),
                None => self.want.clone(),
            },
            Want::List(items) => Want::List(items.iter().map(|item| item.resolve(look)).collect()),
            Want::Map(map) => {
                Want::Map(map.iter().map(|(name, item)| (name.clone(), item.resolve(look))).collect())
            }
            other => other.clone(),
        };
        Node::new(self.at, want)
    }

    /// A JSON value as a tree whose every node stands at `at`; null becomes JSON null.
    pub fn from_value(at: Pos, value: Value) -> Node {
        let want = match value {
            Value::Array(items) => {
                Want::List(items.into_iter().map(|item| Node::from_value(at, item)).collect())
            }
            Value::Object(map) => {
                Want::Map(map.into_iter().map(|(name, item)| (name, Node::from_value(at, item))).collect())
            }
            scalar => Want::Json(scalar),
        };
        Node::new(at, want)
    }

    /// The JSON that a request would carry, secrets revealed. Members that must not be set are left out.
    ///
    /// # Errors
    /// The first secret that is not there, or the first reference whose value is not known.
    pub fn to_value(&self) -> Result<Value, Unavailable> {
        Ok(match &self.want {
            Want::Unset | Want::Outside(Outside::Nothing) => Value::Null,
            Want::Json(value) => value.clone(),
            Want::Secret(secret) => match secret.value() {
                Some(value) => value.clone(),
                None => return Err(Unavailable::Secret { from: secret.source.clone(), at: self.at }),
            },
            Want::Ref(reference) => {
                return Err(Unavailable::Reference { text: reference.text.clone(), at: self.at });
            }
            Want::Outside(outside) => {
                return Err(Unavailable::Reference { text: outside.to_string().into(), at: self.at });
            }
            Want::List(items) => Value::Array(items.iter().map(Node::to_value).collect::<Result<_, _>>()?),
            Want::Map(map) => {
                let mut object = Map::new();
                for (name, item) in map.iter().filter(|(_, item)| !item.is_blank()) {
                    object.insert(name.to_string(), item.to_value()?);
                }
                Value::Object(object)
            }
        })
    }
}

/// A value that a request needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("the secret `{from}` is not set")]
    Secret { from: Arc<str>, at: Pos },
    #[error("`{text}` is not known yet")]
    Reference { text: Arc<str>, at: Pos },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred thousand documents have millions of nodes.
    #[test]
    fn a_node_is_a_value_and_a_place() {
        assert_eq!(size_of::<Node>(), size_of::<Value>() + size_of::<Pos>());
    }
}
