//! Listings: an operation, where the items stand in the answer, and how it goes on.

use super::operation::{self, OPERATION, Role};
use super::reader::Reader;
use crate::core::kind::{ListOp, Page, PageBy};
use crate::core::node::{Node, Want};

/// The members that a listing has besides those of an operation.
pub const LISTING: [&str; 3] = ["items", "partial", "page"];

/// The members of `page`.
pub const PAGE: [&str; 7] = ["by", "size", "param", "size-param", "first", "next", "total"];

/// The ways in which a listing goes on.
pub const PAGE_BY: [(&str, PageBy); 5] = [
    ("page", PageBy::Page),
    ("offset", PageBy::Offset),
    ("cursor", PageBy::Cursor),
    ("url", PageBy::Url),
    ("link", PageBy::Link),
];

/// Reads `list`.
pub fn read(reader: &mut Reader, node: &Node, parts: &[&str]) -> Option<ListOp> {
    let Want::Map(_) = node.want else {
        let op = operation::read(reader, node, "`list`", Role::Observe, parts)?;
        return Some(ListOp { op, items: None, partial: false, page: None });
    };
    let known: Vec<&str> = OPERATION.into_iter().chain(LISTING).collect();
    let record = reader.map(node, "`list`", &known)?;
    let op = operation::record(reader, record, "`list`", Role::Observe, parts);
    let items = record.get("items").and_then(|node| reader.filter(node, "`items`"));
    let partial = record.get("partial").and_then(|node| reader.boolean(node, "`partial`"));
    let page = record.get("page").and_then(|node| page(reader, node));
    Some(ListOp { op: op?, items, partial: partial.unwrap_or(false), page })
}

fn page(reader: &mut Reader, node: &Node) -> Option<Page> {
    let record = reader.map(node, "`page`", &PAGE)?;
    let Some(by_node) = record.get("by") else {
        reader.wrong(node.at, "`page` has no `by`").hint =
            Some("it is page, offset, cursor, url or link".into());
        return None;
    };
    let by = page_by(reader, by_node)?;
    let next = record.get("next").and_then(|node| reader.filter(node, "`next`"));
    if matches!(by, PageBy::Cursor | PageBy::Url) && record.get("next").is_none() {
        reader.wrong(node.at, "`page` has no `next`").hint = Some(
            "a filter on the answer's body that gives the next cursor or URL, and null at the end".into(),
        );
    }
    if by == PageBy::Page && record.get("size").is_none() && record.get("total").is_none() {
        reader.wrong(node.at, "`page` has neither `size` nor `total`").hint =
            Some("without one of them the last page cannot be told".into());
    }
    if by == PageBy::Offset && record.get("size").is_none() {
        reader.wrong(node.at, "`page` has no `size`").hint = Some("an offset moves on by it".into());
    }
    let name = |reader: &mut Reader, name: &str, default: &str| {
        let node = record.get(name);
        node.map_or(Some(default.to_owned()), |node| {
            reader.text(node, &format!("`{name}`")).map(str::to_owned)
        })
    };
    Some(Page {
        by,
        size: record.get("size").and_then(|node| reader.count(node, "`size`", 1)),
        param: name(reader, "param", default_param(by))?,
        size_param: name(reader, "size-param", if by == PageBy::Page { "page_size" } else { "limit" })?,
        first: match record.get("first") {
            Some(node) => reader.count(node, "`first`", 0)?,
            None => u64::from(by == PageBy::Page),
        },
        next,
        total: record.get("total").and_then(|node| reader.filter(node, "`total`")),
    })
}

fn page_by(reader: &mut Reader, node: &Node) -> Option<PageBy> {
    let text = reader.text(node, "`by`")?;
    let by = PAGE_BY.iter().find(|(word, _)| *word == text).map(|(_, by)| *by);
    if by.is_none() {
        reader.wrong(node.at, format!("a listing is not paged by `{text}`")).hint =
            Some("it is page, offset, cursor, url or link".into());
    }
    by
}

fn default_param(by: PageBy) -> &'static str {
    match by {
        PageBy::Page => "page",
        PageBy::Offset => "offset",
        PageBy::Cursor | PageBy::Url | PageBy::Link => "cursor",
    }
}
