//! Builds document trees out of events, whichever reader they come from, within limits.
//!
//! Here stand the rules that hold for YAML and JSON alike: duplicate keys, keys that are no texts, merge keys,
//! aliases under a budget, and how large and deep a document may be. Knows no parser and no file system.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::leaf::{self, Name, Scalar, Tag};
use super::open_map::{Key, OpenMap};
use crate::core::node::{Node, Origin, Pos, Want};
use crate::core::problem::Problem;
use crate::core::value::Value;

/// Nesting of maps and lists; everything that walks a document may recurse.
pub const MAX_DEPTH: usize = 128;
/// Values in one document, those that aliases stand for among them.
pub const MAX_NODES: usize = 250_000;
/// Values in one document that stand there by alias.
pub const MAX_ALIAS_NODES: usize = 100_000;
/// Warnings for one file; a file in which every line is worth one says nothing more after these.
const MAX_WARNINGS: usize = 10;

/// The file cannot be read on: why is in the problems.
pub struct Stop;

/// The trees under construction of one file.
pub struct Tree {
    file: Arc<str>,
    /// Whether the text holds any `*`: without, no anchor needs to be kept.
    aliases: bool,
    stack: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Anchor>,
    nodes: usize,
    alias_nodes: usize,
    anchor_nodes: usize,
    /// Names of members so far.
    names: HashSet<Arc<str>>,
    pub problems: Vec<Problem>,
    /// Problems that are more than a warning, so far and before this document.
    errors: usize,
    errors_before: usize,
    /// Texts that were warned of; `None` where nothing is warned of.
    warned: Option<BTreeSet<String>>,
}

/// A finished value that aliases may name.
struct Anchor {
    node: Node,
    size: usize,
    height: usize,
}

/// A map or list that is not at its end yet.
struct Frame {
    at: Pos,
    tag: Option<Tag>,
    anchor: usize,
    nodes_before: usize,
    /// Levels of maps and lists below.
    height: usize,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    Map(OpenMap),
}

/// The two shapes of collection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    List,
    Map,
}

impl Tree {
    /// For a YAML text; `aliases`: whether it holds any.
    pub fn yaml(file: Arc<str>, aliases: bool) -> Tree {
        Tree { warned: Some(BTreeSet::new()), aliases, ..Tree::json(file) }
    }

    /// For a JSON text, in which scalars have one reading.
    pub fn json(file: Arc<str>) -> Tree {
        Tree {
            file,
            aliases: false,
            stack: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            nodes: 0,
            alias_nodes: 0,
            anchor_nodes: 0,
            problems: Vec::new(),
            names: HashSet::new(),
            errors: 0,
            errors_before: 0,
            warned: None,
        }
    }

    pub fn problem(&mut self, at: Pos, problem: Problem) {
        self.errors += usize::from(!problem.warning);
        self.problems.push(problem.at(Origin { file: self.file.clone(), at }));
    }

    fn stop<T>(&mut self, at: Pos, message: String, hint: &str) -> Result<T, Stop> {
        self.problem(at, Problem::new(message).hint(hint));
        Err(Stop)
    }

    /// Begins a document.
    pub fn begin(&mut self) {
        self.stack.clear();
        self.root = None;
        self.anchors.clear();
        (self.nodes, self.alias_nodes, self.anchor_nodes) = (0, 0, 0);
        self.errors_before = self.errors;
    }

    /// Ends a document: its tree, unless it is empty or something is wrong with it.
    pub fn end(&mut self) -> Option<Node> {
        let root = self.root.take().filter(|root| !root.is_blank());
        root.filter(|_| self.errors == self.errors_before)
    }

    fn count(&mut self, size: usize, at: Pos) -> Result<(), Stop> {
        self.nodes += size;
        if self.nodes > MAX_NODES {
            return self.stop(
                at,
                format!("the document has more than {MAX_NODES} values"),
                "split it into several documents",
            );
        }
        Ok(())
    }

    /// Begins a map or a list.
    pub fn open(&mut self, shape: Shape, at: Pos, tag: Option<Tag>, anchor: usize) -> Result<(), Stop> {
        self.count(1, at)?;
        if self.stack.len() >= MAX_DEPTH {
            return self.too_deep(at);
        }
        let items = match shape {
            Shape::List => Items::List(Vec::new()),
            Shape::Map => Items::Map(OpenMap::default()),
        };
        self.stack.push(Frame { at, tag, anchor, nodes_before: self.nodes, height: 1, items });
        Ok(())
    }

    pub fn too_deep<T>(&mut self, at: Pos) -> Result<T, Stop> {
        self.stop(at, format!("the document is nested more than {MAX_DEPTH} levels deep"), "make it flatter")
    }

    /// Ends the innermost map or list.
    pub fn close(&mut self) -> Result<(), Stop> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let Frame { at, tag, anchor, nodes_before, height, items } = frame;
        let want = match items {
            Items::List(mut items) => {
                // Most lists are short, and grow to four at once.
                items.shrink_to_fit();
                if let Err(problem) = leaf::list(tag) {
                    self.problem(at, problem);
                }
                Want::List(items)
            }
            Items::Map(members) => {
                let map = members.finish(&mut |at, problem| self.problem(at, problem));
                leaf::map(tag, map).unwrap_or_else(|problem| {
                    self.problem(at, problem);
                    Want::Unset
                })
            }
        };
        let size = self.nodes - nodes_before + 1;
        self.deliver(Node::new(at, want), anchor, size, height)
    }

    /// Takes a scalar: a key or a value.
    pub fn scalar(&mut self, scalar: Scalar<'_>, at: Pos, anchor: usize) -> Result<(), Stop> {
        self.count(1, at)?;
        if self.key_is_due() {
            if anchor != 0 {
                let node = Node::new(at, Want::Json(Value::String(scalar.text.into())));
                self.keep(anchor, &node, 1, 0, at)?;
            }
            let key = self.key(&scalar, at);
            self.set_key(key);
            return Ok(());
        }
        let want = self.value(&scalar, at);
        self.deliver(Node::new(at, want), anchor, 1, 0)
    }

    /// Takes an alias: a copy of the value that its anchor names.
    pub fn alias(&mut self, anchor: usize, at: Pos) -> Result<(), Stop> {
        let Some(Anchor { size, height, .. }) = self.anchors.get(&anchor) else {
            return self.stop(
                at,
                "the alias stands for nothing".into(),
                "an alias names an anchor (`&name`) whose value ends before it, in the same document",
            );
        };
        let (size, height) = (*size, *height);
        self.alias_nodes += size;
        if self.alias_nodes > MAX_ALIAS_NODES {
            let message = format!("aliases stand for more than {MAX_ALIAS_NODES} values");
            return self.stop(at, message, "write the values out, or split the document");
        }
        self.count(size, at)?;
        if self.stack.len() + height > MAX_DEPTH {
            return self.too_deep(at);
        }
        let node = self.anchors[&anchor].node.clone();
        if self.key_is_due()
            && let Want::Json(Value::String(text)) = node.want
        {
            let name = self.name(&text);
            self.set_key(Key::Of(name, at));
            return Ok(());
        }
        self.deliver(node, 0, size, height)
    }

    fn key_is_due(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { items: Items::Map(members), .. }) if members.key_is_due())
    }

    fn set_key(&mut self, key: Key) {
        if let Some(Frame { items: Items::Map(members), .. }) = self.stack.last_mut() {
            members.set_key(key);
        }
    }

    /// Puts a finished value where it belongs.
    fn deliver(&mut self, node: Node, anchor: usize, size: usize, height: usize) -> Result<(), Stop> {
        self.keep(anchor, &node, size, height, node.at)?;
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.height = frame.height.max(height + 1);
        match &mut frame.items {
            Items::List(items) => items.push(node),
            Items::Map(members) => {
                if let Err((at, problem)) = members.add(node) {
                    self.problem(at, problem);
                }
            }
        }
        Ok(())
    }

    /// Keeps a copy of an anchored value.
    fn keep(&mut self, anchor: usize, node: &Node, size: usize, height: usize, at: Pos) -> Result<(), Stop> {
        if anchor == 0 || !self.aliases {
            return Ok(());
        }
        // Anchors inside anchors would be kept once for each level.
        self.anchor_nodes += size;
        if self.anchor_nodes > MAX_NODES {
            let message = format!("anchors name more than {MAX_NODES} values");
            return self.stop(at, message, "anchor only what an alias needs");
        }
        self.anchors.insert(anchor, Anchor { node: node.clone(), size, height });
        Ok(())
    }

    fn key(&mut self, scalar: &Scalar<'_>, at: Pos) -> Key {
        match leaf::key(scalar) {
            Ok(Name::Text) => Key::Of(self.name(scalar.text), at),
            Ok(Name::Merge) => Key::Merge(at),
            Err(problem) => {
                self.problem(at, problem);
                Key::Refused
            }
        }
    }

    /// The name of a member: one text for all the maps of the file that have it.
    fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.names.insert(name.clone());
        name
    }

    fn value(&mut self, scalar: &Scalar<'_>, at: Pos) -> Want {
        if let Some(warned) = &mut self.warned
            && let Some(problem) = leaf::warning(scalar)
            && warned.len() < MAX_WARNINGS
            && warned.insert(scalar.text.into())
        {
            self.problem(at, problem);
        }
        leaf::value(scalar).unwrap_or_else(|problem| {
            self.problem(at, problem);
            Want::Unset
        })
    }
}
