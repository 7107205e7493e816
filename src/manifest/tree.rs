//! Builds document trees out of events, whichever reader they come from, within limits.
//!
//! Here stand the rules that hold for YAML and JSON alike: duplicate keys, keys that are no texts, merge keys,
//! aliases under a budget, and how large and deep a document may be. Knows no parser and no file system.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{scalar, tag};
use crate::core::node::{Node, Origin, Pos, Want};
use crate::core::problem::Problem;
use crate::core::value::{Value, type_name};

/// Nesting of maps and lists; everything that walks a document may recurse.
pub const MAX_DEPTH: usize = 128;
/// Values in one document, those that aliases stand for among them.
pub const MAX_NODES: usize = 250_000;
/// Values in one document that stand there by alias.
pub const MAX_ALIAS_NODES: usize = 100_000;
/// Warnings for one file; a file in which every line is worth one says nothing more after these.
const MAX_WARNINGS: usize = 10;

/// A tag as written, without the parser's spelling of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `!name`: one of ours, or unknown.
    Local(String),
    /// `!!name`: of the core schema.
    Core(String),
    /// `!` alone: a text, whatever it looks like.
    NonSpecific,
    /// Anything else, in full.
    Other(String),
}

/// How a scalar stands in the file.
pub struct Scalar<'t> {
    pub text: &'t str,
    /// Neither quoted nor a block: its type follows from its text.
    pub plain: bool,
    pub tag: Option<Tag>,
}

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
    Map { entries: Vec<(String, Pos, Node)>, merges: Vec<(Pos, Node)>, key: Key },
}

/// What the next value of a map is.
enum Key {
    /// The next key.
    Due,
    /// The value of this key.
    Of(String, Pos),
    /// The value of `<<`.
    Merge(Pos),
    /// The value of a key that was refused.
    Refused,
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
        let root = self.root.take().filter(|root| !matches!(root.want, Want::Empty | Want::Unset));
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
            Shape::Map => Items::Map { entries: Vec::new(), merges: Vec::new(), key: Key::Due },
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
            Items::List(items) => self.tagged_list(at, tag, items),
            Items::Map { entries, merges, .. } => {
                let map = self.map(entries, merges);
                self.tagged_map(at, tag, map)
            }
        };
        let size = self.nodes - nodes_before + 1;
        self.deliver(Node::new(at, want), anchor, size, height)
    }

    /// Takes a scalar: a key or a value.
    pub fn scalar(&mut self, scalar: Scalar<'_>, at: Pos, anchor: usize) -> Result<(), Stop> {
        self.count(1, at)?;
        if self.key_is_due() {
            let node = Node::new(at, Want::Json(Value::String(scalar.text.into())));
            let key = self.key(&scalar, at);
            self.keep(anchor, &node, 1, 0, at)?;
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
            self.set_key(Key::Of(text, at));
            return Ok(());
        }
        self.deliver(node, 0, size, height)
    }

    fn key_is_due(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { items: Items::Map { key: Key::Due, .. }, .. }))
    }

    fn set_key(&mut self, new: Key) {
        if let Some(Frame { items: Items::Map { key, .. }, .. }) = self.stack.last_mut() {
            *key = new;
        }
    }

    /// Puts a finished value where it belongs.
    fn deliver(&mut self, mut node: Node, anchor: usize, size: usize, height: usize) -> Result<(), Stop> {
        self.keep(anchor, &node, size, height, node.at)?;
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.height = frame.height.max(height + 1);
        let Items::Map { entries, merges, key } = &mut frame.items else {
            if let Items::List(items) = &mut frame.items {
                items.push(node);
            }
            return Ok(());
        };
        match std::mem::replace(key, Key::Due) {
            Key::Of(name, at) => {
                // A block that begins below its key is known by its key.
                if node.at.line > at.line && matches!(node.want, Want::Map(_) | Want::List(_))
                    || node.want == Want::Empty
                {
                    node.at = at;
                }
                entries.push((name, at, node));
            }
            Key::Merge(at) => merges.push((at, node)),
            Key::Refused => {}
            Key::Due => {
                *key = Key::Refused;
                let problem = Problem::new("a key must be a text, and here a map or a list is one").hint(
                    "put the text in quotes if it begins with `{` or `[`; render the file first if it is a template",
                );
                self.problem(node.at, problem);
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
        let text = scalar.text;
        match &scalar.tag {
            None if scalar.plain => {}
            None | Some(Tag::NonSpecific) => return Key::Of(text.into(), at),
            Some(Tag::Core(name)) if name == "str" => return Key::Of(text.into(), at),
            Some(_) => {
                self.problem(at, Problem::new("a tag cannot stand on a key").hint("put it on the value"));
                return Key::Refused;
            }
        }
        if text == "<<" {
            return Key::Merge(at);
        }
        let quoting = format!("keys are texts: write \"{text}\"");
        let problem = match scalar::read(text) {
            Ok(scalar::Scalar::Text) => return Key::Of(text.into(), at),
            Ok(scalar::Scalar::Empty) => {
                Problem::new("a key is missing before the `:`").hint("write \"\" for the empty key")
            }
            Ok(scalar::Scalar::Null) => Problem::new(format!("the key `{text}` is null")).hint(quoting),
            Ok(scalar::Scalar::Bool(_)) => {
                Problem::new(format!("the key `{text}` is a boolean")).hint(quoting)
            }
            Ok(scalar::Scalar::Number(_)) | Err(_) => {
                Problem::new(format!("the key `{text}` is a number")).hint(quoting)
            }
        };
        self.problem(at, problem);
        Key::Refused
    }

    fn value(&mut self, scalar: &Scalar<'_>, at: Pos) -> Want {
        let want = match &scalar.tag {
            None if scalar.plain => {
                self.warn_of_other_reading(scalar.text, at);
                plain(scalar.text)
            }
            None | Some(Tag::NonSpecific) => Ok(Want::Json(Value::String(scalar.text.into()))),
            Some(Tag::Local(name)) => tag::of_text(name, scalar.text),
            Some(Tag::Core(name)) => core_scalar(name, scalar.text),
            Some(Tag::Other(name)) => Err(tag::unknown(name)),
        };
        want.unwrap_or_else(|problem| {
            self.problem(at, problem);
            Want::Empty
        })
    }

    fn warn_of_other_reading(&mut self, text: &str, at: Pos) {
        let Some(warned) = &mut self.warned else { return };
        let Some(other) = scalar::other_reading(text) else { return };
        if warned.len() >= MAX_WARNINGS || !warned.insert(text.into()) {
            return;
        }
        let here = if other == "a text" { "a number" } else { "a text" };
        let problem = Problem::new(format!("`{text}` is {here} here, and {other} to readers of YAML 1.1"));
        let hint = match other {
            "a boolean" => format!("write `true` or `false`, or \"{text}\" for the text"),
            _ => format!("write \"{text}\" for the text"),
        };
        self.problem(at, problem.hint(hint).warning());
    }

    fn tagged_list(&mut self, at: Pos, tag: Option<Tag>, items: Vec<Node>) -> Want {
        match tag {
            Some(Tag::Local(name)) => self.problem(at, tag::not_a(&name, "a list")),
            Some(Tag::Core(name)) if name != "seq" => self.problem(at, tag::unknown(&format!("!!{name}"))),
            Some(Tag::Other(name)) => self.problem(at, tag::unknown(&name)),
            None | Some(Tag::NonSpecific | Tag::Core(_)) => {}
        }
        Want::List(items)
    }

    fn tagged_map(&mut self, at: Pos, tag: Option<Tag>, map: BTreeMap<String, Node>) -> Want {
        match tag {
            Some(Tag::Local(name)) => match tag::of_map(&name, &map) {
                Ok(want) => return want,
                Err(problem) => self.problem(at, problem),
            },
            Some(Tag::Core(name)) if name != "map" => self.problem(at, tag::unknown(&format!("!!{name}"))),
            Some(Tag::Other(name)) => self.problem(at, tag::unknown(&name)),
            None | Some(Tag::NonSpecific | Tag::Core(_)) => {}
        }
        Want::Map(map)
    }

    /// The map of these entries, laid over what is merged in.
    fn map(
        &mut self,
        mut entries: Vec<(String, Pos, Node)>,
        merges: Vec<(Pos, Node)>,
    ) -> BTreeMap<String, Node> {
        entries.sort_by(|(a, _, _), (b, _, _)| a.cmp(b));
        for pair in entries.windows(2) {
            if let [(first, at, _), (second, again, _)] = pair
                && first == second
            {
                self.twice(first, *at, *again);
            }
        }
        for pair in merges.windows(2) {
            self.twice("<<", pair[0].0, pair[1].0);
        }
        let mut map: BTreeMap<String, Node> =
            entries.into_iter().map(|(name, _, node)| (name, node)).collect();
        for (at, node) in merges {
            self.merge(&mut map, at, node);
        }
        map
    }

    fn twice(&mut self, name: &str, first: Pos, again: Pos) {
        let message = format!(
            "the key `{name}` stands twice in one map, first in line {}, column {}",
            first.line, first.column
        );
        self.problem(again, Problem::new(message).hint("remove one of the two"));
    }

    /// `<<`: members that are not there yet; of several maps the first wins (the YAML merge key type, 2005).
    fn merge(&mut self, into: &mut BTreeMap<String, Node>, at: Pos, node: Node) {
        let maps = match node.want {
            Want::List(items) => items,
            _ => vec![node],
        };
        for node in maps {
            match node.want {
                Want::Map(map) => map.into_iter().for_each(|(name, node)| {
                    into.entry(name).or_insert(node);
                }),
                other => {
                    let problem =
                        Problem::new(format!("`<<` merges maps, and this is {}", described(&other)));
                    self.problem(at, problem.hint("write `<<: *NAME`, or \"<<\" for a key of this name"));
                }
            }
        }
    }
}

fn described(want: &Want) -> &'static str {
    match want {
        Want::Json(value) => type_name(value),
        Want::Unset | Want::Empty => "nothing",
        Want::List(_) => "a list",
        Want::Map(_) => "a map",
        Want::Secret(_) | Want::Ref(_) | Want::Outside(_) => "a value from elsewhere",
    }
}

fn plain(text: &str) -> Result<Want, Problem> {
    Ok(match scalar::read(text)? {
        scalar::Scalar::Empty => Want::Empty,
        scalar::Scalar::Null => Want::Unset,
        scalar::Scalar::Bool(value) => Want::Json(Value::Bool(value)),
        scalar::Scalar::Number(number) => Want::Json(Value::Number(number)),
        scalar::Scalar::Text => Want::Json(Value::String(text.into())),
    })
}

/// `!!str 017` is a text; the other tags of the core schema must agree with what the scalar is anyway.
fn core_scalar(name: &str, text: &str) -> Result<Want, Problem> {
    if name == "str" {
        return Ok(Want::Json(Value::String(text.into())));
    }
    if !matches!(name, "int" | "float" | "bool" | "null") {
        let problem = tag::unknown(&format!("!!{name}"));
        return Err(if name == "binary" {
            problem.hint("write the Base64 text as a string")
        } else {
            problem
        });
    }
    let want = plain(text)?;
    let agrees = match &want {
        Want::Empty | Want::Unset => name == "null",
        Want::Json(Value::Bool(_)) => name == "bool",
        Want::Json(Value::Number(number)) => {
            name == "float" || (name == "int" && !number.as_str().contains(['.', 'e', 'E']))
        }
        _ => false,
    };
    match want {
        Want::Empty if agrees => Ok(Want::Unset),
        want if agrees => Ok(want),
        _ => Err(Problem::new(format!("`{text}` is no `!!{name}`")).hint("leave the tag out")),
    }
}
