//! JSON texts to the same trees, with a position for every value.
//!
//! The library checks the grammar first, in one fast pass; this reader then only has to find its way, and
//! counts lines and columns, which the library does not tell.

use serde::de::IgnoredAny;

use super::leaf::Scalar;
use super::tree::{Shape, Stop, Tree};
use crate::core::node::{Node, Pos};
use crate::core::problem::Problem;

/// Whether a text is to be read as JSON: by its name, or because it is JSON and nothing else.
pub fn is_json(file: &str, text: &str) -> bool {
    let by_name = file.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("json"));
    by_name || (text.trim_start().starts_with(['{', '[']) && check(text).is_ok())
}

/// Reads the values of a text, one document each.
pub fn read(text: &str, tree: &mut Tree, roots: &mut Vec<Node>) {
    let end = match check(text) {
        Ok(()) => text.len(),
        Err(error) => {
            let at = Pos { line: error.line().max(1) as u32, column: error.column().max(1) as u32 };
            let said = error.to_string();
            let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
            tree.problem(at, Problem::new(format!("the JSON is broken: {said}")));
            return;
        }
    };
    let mut reader = Reader { text: &text[..end], at: 0, pos: Pos { line: 1, column: 1 } };
    loop {
        reader.skip(|byte| byte.is_ascii_whitespace());
        if reader.peek().is_none() {
            return;
        }
        tree.begin();
        if let Err(Stop) = reader.value(tree) {
            return;
        }
        roots.extend(tree.end());
    }
}

/// The library's word on the whole text; it is deep-safe, as it keeps no tree.
fn check(text: &str) -> Result<(), serde_json::Error> {
    serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().try_for_each(|value| value.map(|_| ()))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    pos: Pos,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves on by one byte.
    fn step(&mut self) {
        match self.peek() {
            Some(b'\n') => self.pos = Pos { line: self.pos.line + 1, column: 1 },
            // Bytes that continue a character are no column of their own.
            Some(byte) if byte & 0xC0 != 0x80 => self.pos.column += 1,
            _ => {}
        }
        self.at += 1;
    }

    fn skip(&mut self, while_: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&while_) {
            self.step();
        }
    }

    /// One whole value. Not recursive: the tree keeps the stack.
    fn value(&mut self, tree: &mut Tree) -> Result<(), Stop> {
        let mut depth = 0;
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b':'));
            let at = self.pos;
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    self.step();
                    tree.open(if open == b'{' { Shape::Map } else { Shape::List }, at, None, 0)?;
                    depth += 1;
                }
                Some(b'}' | b']') => {
                    self.step();
                    tree.close()?;
                    depth -= 1;
                }
                Some(b'"') => self.string(tree, at)?,
                Some(_) => {
                    let start = self.at;
                    self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
                    let text = &self.text[start..self.at];
                    tree.scalar(Scalar { text, plain: true, tag: None }, at, 0)?;
                }
                None => return Ok(()),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn string(&mut self, tree: &mut Tree, at: Pos) -> Result<(), Stop> {
        let start = self.at;
        let mut escaped = false;
        self.step();
        while let Some(byte) = self.peek() {
            self.step();
            match byte {
                b'\\' => {
                    escaped = true;
                    self.step();
                }
                b'"' => break,
                _ => {}
            }
        }
        let quoted = &self.text[start..self.at];
        if !escaped {
            let text = &quoted[1..quoted.len() - 1];
            return tree.scalar(Scalar { text, plain: false, tag: None }, at, 0);
        }
        match serde_json::from_str::<String>(quoted) {
            Ok(text) => tree.scalar(Scalar { text: &text, plain: false, tag: None }, at, 0),
            // The check lets half a surrogate pair pass.
            Err(_) => {
                let problem = Problem::new(
                    "the text has half a surrogate pair: a `\\uD800` to `\\uDFFF` that stands alone",
                );
                tree.problem(at, problem.hint("a character beyond U+FFFF is two such escapes, or itself; U+FFFD stands for what is not known"));
                Err(Stop)
            }
        }
    }
}
