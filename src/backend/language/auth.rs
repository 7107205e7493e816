//! `auth`: how requests prove who sends them.

use std::path::Path;

use super::connection::{path, text};
use super::operation::header_name;
use super::reader::{Reader, Record};
use super::token;
use crate::backend::connection::{Auth, Credential};
use crate::core::node::{Node, Want};

/// The ways to prove it.
pub const WAYS: [&str; 6] = ["basic", "bearer", "header", "query", "login", "oauth2"];

/// Reads `auth`. Relative paths are below `folder`.
pub fn auth(reader: &mut Reader, node: &Node, folder: &Path) -> Option<Auth> {
    let record = reader.map(node, "`auth`", &WAYS)?;
    let mut given = WAYS.into_iter().filter_map(|way| record.get(way).map(|node| (way, node)));
    let Some((way, value)) = given.next() else {
        // A word that is not known was said, and was meant to be one of these.
        if reader.names(node).iter().all(|name| WAYS.contains(name)) {
            reader.wrong(node.at, "`auth` is empty").hint =
                Some("it is basic, bearer, header, query, oauth2 or login".into());
        }
        return None;
    };
    if let Some((second, node)) = given.next() {
        reader.wrong(node.at, format!("`auth` has both `{way}` and `{second}`"));
    }
    match way {
        "basic" => {
            let record = reader.map(value, "`basic`", &["username", "password"])?;
            let username =
                member(reader, record, "username").and_then(|node| text(reader, node, "`username`"));
            let password =
                member(reader, record, "password").and_then(|node| text(reader, node, "`password`"));
            Some(Auth::Basic { username: username?, password: password? })
        }
        "bearer" => Some(Auth::Bearer(credential(reader, value, "`bearer`", folder)?)),
        "header" => {
            let (name, credential) = named(reader, value, "`header`", folder)?;
            header_name(reader, value.at, &name);
            Some(Auth::Header { name, value: credential })
        }
        "query" => {
            let (name, value) = named(reader, value, "`query`", folder)?;
            Some(Auth::Query { name, value })
        }
        "oauth2" => Some(Auth::Token(Box::new(token::oauth2(reader, value)?))),
        _ => Some(Auth::Token(Box::new(token::login(reader, value)?))),
    }
}

/// `{name, value}`
fn named(reader: &mut Reader, node: &Node, what: &str, folder: &Path) -> Option<(String, Credential)> {
    let record = reader.map(node, what, &["name", "value"])?;
    let name = member(reader, record, "name").and_then(|node| reader.text(node, "`name`").map(str::to_owned));
    let value = member(reader, record, "value").and_then(|node| credential(reader, node, "`value`", folder));
    Some((name?, value?))
}

/// A member that must be there.
pub(super) fn member<'n>(reader: &mut Reader, record: Record<'n>, name: &str) -> Option<&'n Node> {
    let node = record.get(name);
    if node.is_none() {
        reader.wrong(record.at(), format!("`{name}` is missing"));
    }
    node
}

/// A value, or a file or command that gives it.
fn credential(reader: &mut Reader, node: &Node, what: &str, folder: &Path) -> Option<Credential> {
    let Want::Map(_) = node.want else { return text(reader, node, what).map(Credential::Text) };
    let record = reader.map(node, what, &["file", "command"])?;
    match (record.get("file"), record.get("command")) {
        (Some(node), None) => Some(Credential::File(path(reader, node, "`file`", folder)?)),
        (None, Some(node)) => command(reader, node).map(Credential::Command),
        _ => {
            reader.wrong(node.at, format!("{what} is a text, a `file` or a `command`"));
            None
        }
    }
}

/// A program and its arguments; no shell reads them.
fn command(reader: &mut Reader, node: &Node) -> Option<Vec<String>> {
    let words = match &node.want {
        Want::List(words) => {
            words.iter().map(|word| reader.text(word, "a word of `command`").map(str::to_owned)).collect()
        }
        _ => reader.text(node, "`command`").map(|text| text.split_whitespace().map(str::to_owned).collect()),
    };
    let words: Vec<String> = words?;
    if words.is_empty() {
        reader.wrong(node.at, "`command` is empty");
        return None;
    }
    Some(words)
}
