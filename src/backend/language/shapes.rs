//! Field words against what is known of a field without a server: whether it is a list, a map or a scalar, by
//! the other words and paths, and whether it is a part of the object's identity.

use super::reader::Reader;
use crate::core::fields::{Comparer, FieldRule};
use crate::core::kind::{Kind, Part, Piece};
use crate::core::node::{Node, Pos};
use crate::core::path::{Path, Step};

/// Checks the words of all fields of a kind.
pub fn check(reader: &mut Reader, kind: &Kind, node: &Node) {
    let Some(fields) = node.get("fields") else { return };
    let paths: Vec<(Path, Pos)> = reader
        .members(fields, "`fields`")
        .into_iter()
        .filter_map(|(text, words)| Some((Path::parse(text).ok()?, words.at)))
        .collect();
    let mut claims = Claims(named_in_path(kind));
    for (path, at) in &paths {
        claims.of_steps(path, *at);
        claims.of_words(path, &kind.fields.at(path).here, *at);
    }
    claims.check(reader);
    for (path, at) in &paths {
        identity(reader, kind, path, *at);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    List,
    Map,
    Scalar,
    /// A list or a map.
    Many,
}

impl Shape {
    fn fits(self, other: Shape) -> bool {
        match (self, other) {
            (Shape::Many, shape) | (shape, Shape::Many) => shape != Shape::Scalar,
            (one, other) => one == other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Shape::List => "a list",
            Shape::Map => "a map",
            Shape::Scalar => "a single value",
            Shape::Many => "a list or a map",
        }
    }
}

/// That a field is of a shape, and what says so.
struct Claim {
    path: Path,
    shape: Shape,
    by: String,
    at: Option<Pos>,
}

struct Claims(Vec<Claim>);

/// A part of the key that stands in a path is one segment of it.
fn named_in_path(kind: &Kind) -> Vec<Claim> {
    let in_path = |part: &Part| {
        let mut pieces = kind.ops().flat_map(|op| op.path.pieces());
        pieces.any(|piece| matches!(piece, Piece::Part(name) | Piece::RawPart(name) if *name == part.name))
    };
    let claim = |part: &Part| {
        let by = format!("`{{{}}}` in a path", part.name);
        Some(Claim { path: place(part)?, shape: Shape::Scalar, by, at: None })
    };
    kind.parts.iter().filter(|part| in_path(part)).filter_map(claim).collect()
}

fn place(part: &Part) -> Option<Path> {
    Some(Path(part.place()?.iter().cloned().map(Step::Field).collect()))
}

impl Claims {
    fn add(&mut self, path: Path, shape: Shape, by: String, at: Pos) {
        self.0.push(Claim { path, shape, by, at: Some(at) });
    }

    /// What the steps of a path say of what stands above.
    fn of_steps(&mut self, path: &Path, at: Pos) {
        for (depth, step) in path.0.iter().enumerate() {
            let above = Path(path.0[..depth].to_vec());
            let shape = match step {
                Step::Field(_) => Shape::Map,
                Step::Index(_) | Step::Keyed(..) => Shape::List,
                Step::Each => Shape::Many,
            };
            self.add(above, shape, format!("the path `{path}`"), at);
        }
    }

    fn of_words(&mut self, path: &Path, rule: &FieldRule, at: Pos) {
        let mut add = |shape, word: &str| self.add(path.clone(), shape, format!("the word `{word}`"), at);
        if rule.open {
            add(Shape::List, "open");
        }
        if rule.mask.is_some() {
            add(Shape::Scalar, "mask");
        }
        match &rule.compare {
            Some(Comparer::Set) => add(Shape::List, "set"),
            Some(Comparer::Ordered) => add(Shape::List, "ordered"),
            Some(Comparer::Quantity) => add(Shape::Scalar, "quantity"),
            Some(Comparer::Duration) => add(Shape::Scalar, "duration"),
            Some(Comparer::Timestamp) => add(Shape::Scalar, "timestamp"),
            Some(Comparer::Cidr) => add(Shape::Scalar, "cidr"),
            Some(Comparer::Url) => add(Shape::Scalar, "url"),
            Some(Comparer::KeyedBy(name)) => {
                let word = format!("key={name}");
                add(Shape::List, &word);
                self.add(path.with(Step::Each), Shape::Map, format!("the word `{word}` of its list"), at);
            }
            Some(Comparer::Filter(_)) | None => {}
        }
    }

    /// Says of each field that is two things at once what makes it so, at the later place.
    fn check(&self, reader: &mut Reader) {
        let mut told: Vec<&Path> = Vec::new();
        for (later, claim) in self.0.iter().enumerate() {
            let against =
                |earlier: &&Claim| same(&earlier.path, &claim.path) && !earlier.shape.fits(claim.shape);
            let Some(earlier) = self.0[..later].iter().find(against) else { continue };
            let Some(at) = claim.at.filter(|_| !told.iter().any(|path| same(path, &claim.path))) else {
                continue;
            };
            told.push(&claim.path);
            let message = format!(
                "`{}` cannot be {} by {}, and {} by {}",
                claim.path,
                earlier.shape.name(),
                earlier.by,
                claim.shape.name(),
                claim.by
            );
            reader.wrong(at, message);
        }
    }
}

/// Whether two patterns stand for the same field: elements of one list are alike.
fn same(one: &Path, other: &Path) -> bool {
    let alike = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Field(a), Step::Field(b)) => a == b,
        (Step::Field(_), _) | (_, Step::Field(_)) => false,
        _ => true,
    };
    one.0.len() == other.0.len() && one.0.iter().zip(&other.0).all(alike)
}

/// Words that cannot hold for a field that is a part of the identity, or lies above it.
fn identity(reader: &mut Reader, kind: &Kind, path: &Path, at: Pos) {
    let rule = &kind.fields.at(path).here;
    for part in &kind.parts {
        let Some(place) = place(part).filter(|place| path.covers(place)) else { continue };
        let in_body =
            kind.create.as_ref().is_some_and(|create| create.body.is_none() && !create.carries(&part.name));
        let wrong = [
            (rule.server_owned && in_body, "server-owned", "`create` has to send it"),
            (rule.write_only, "write-only", "it is read to find the object again"),
            (rule.secret, "secret", "names are printed"),
            (rule.mask.is_some() && place == *path, "masked", "it is read to find the object again"),
            (rule.clear.is_some(), "cleared", "an object without its name is another"),
        ];
        for (_, word, why) in wrong.into_iter().filter(|(wrong, ..)| *wrong) {
            reader.wrong(
                at,
                format!("`{path}` cannot be {word}: it is the `{}` of the key, and {why}", part.name),
            );
        }
    }
}
