//! What is known of a kind, and from where: a sheet of rows that text and JSON are made of.

use crate::core::facts::{Fact, Said, Stated};
use crate::core::fields::VISIBLE;
use crate::core::kind::{Kind, Op, PageBy, Parent, Read, Serial, Version};
use crate::core::path::Path;
use crate::core::report::LOST_UPDATE_RISK;

use super::json::Position;
use super::paint::{Line, Style, Text};

/// One thing that is known: `from` is `None` for what nobody stated.
struct Row {
    name: String,
    value: String,
    from: Option<Stated>,
}

/// The rows of one subject.
struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

/// Members that say how an object is known; they are in the rows of the parts.
const OF_IDENTITY: [&str; 5] = ["key", "parent", "id", "match", "document"];
/// Members that send requests, in the order in which they are told.
const OPERATIONS: [&str; 7] = ["list", "read", "create", "update", "delete", "check", "watch"];

/// A kind, for people.
pub fn text(kind: &Kind, facts: &[Fact]) -> Text {
    let mut text = Text::new();
    let head = Line::new().with(Style::Strong, &kind.name.kind);
    text.push(head.with(Style::Plain, &format!(" of the backend {}", kind.name.backend)));
    for section in sections(kind, facts) {
        text.push(Line::new());
        text.push(Line::new().with(Style::Strong, section.title));
        text.append(rows(&section.rows));
    }
    text
}

/// Names in a column; what is long pushes the place where it is stated, and does not widen the column.
fn rows(rows: &[Row]) -> Text {
    const WIDEST: usize = 80;
    let width = |cell: &dyn Fn(&Row) -> &str| {
        let widths = rows.iter().map(|row| Line::plain(cell(row)).width());
        widths.filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let (names, values) = (width(&|row| &row.name), width(&|row| &row.value));
    let mut text = Text::new();
    for row in rows {
        let mut line = Line::plain("  ").with(Style::Plain, &row.name);
        line.pad(2 + names + 3, 3);
        line.push(Style::Good, &row.value);
        line.pad(2 + names + 3 + values + 3, 3);
        let from = row.from.as_ref().map_or("default".into(), Stated::to_string);
        line.push(Style::Dim, &from);
        text.push(line);
    }
    text
}

fn sections(kind: &Kind, facts: &[Fact]) -> Vec<Section> {
    let sections = [
        Section { title: "identity", rows: identity(kind, facts) },
        Section { title: "operations", rows: operations(kind, facts) },
        Section { title: "paging", rows: paging(kind, facts) },
        Section { title: "behaviour", rows: behaviour(kind, facts) },
        Section { title: "fields", rows: fields(kind) },
    ];
    sections.into_iter().filter(|section| !section.rows.is_empty()).collect()
}

/// Where a member, or what stands within it, is stated.
fn from(facts: &[Fact], member: &str, within: Option<&str>) -> Option<Stated> {
    let is = |fact: &&Fact| {
        fact.member == member && within.is_none_or(|name| fact.within.as_deref() == Some(name))
    };
    facts.iter().find(is).map(|fact| fact.from.clone())
}

fn row(name: &str, value: impl Into<String>, from: Option<Stated>) -> Row {
    Row { name: name.into(), value: value.into(), from }
}

fn identity(kind: &Kind, facts: &[Fact]) -> Vec<Row> {
    let mut rows = Vec::new();
    for part in &kind.parts {
        let place = part.on_item.as_ref().map(|filter| format!("`{}` of an item", filter.text()));
        let (value, member) = match (&part.parent, place) {
            (Parent::Own, place) => (place.unwrap_or_default(), "key"),
            (Parent::Scope, place) => (format!("a scope without a kind{}", and(place)), "parent"),
            (Parent::Of(of), place) => (format!("the parent: a {}{}", of.kind, and(place)), "parent"),
        };
        rows.push(row(&part.name, value, from(facts, member, Some(&part.name))));
    }
    for (name, filter) in &kind.matching {
        let value = format!("found by `{}` of an item", filter.text());
        rows.push(row(name, value, from(facts, "match", Some(name))));
    }
    if kind.ops().any(|op| op.needs_id()) {
        rows.push(row(
            "(id)",
            format!("the server's: `{}` of an item", kind.id.text()),
            from(facts, "id", None),
        ));
    }
    if let Some(document) = &kind.document {
        let value = format!("documents of {}, {} are taken verbatim", document.api_version, document.kind);
        rows.push(row("(document)", value, from(facts, "document", None)));
    }
    rows.push(row("(found)", found(kind), from(facts, "read", None)));
    rows
}

fn and(place: Option<String>) -> String {
    place.map_or(String::new(), |place| format!(", {place}"))
}

/// How an object is found.
fn found(kind: &Kind) -> &'static str {
    match &kind.read {
        _ if kind.is_singleton() => "there is one, at its own address",
        Read::FromList => "in the listing, by its key",
        Read::Op(op) if op.needs_id() => "in the listing, by its key; then at its own address, by its id",
        Read::Op(_) if kind.list.is_none() => "at its own address, by its key",
        Read::Op(_) => "at its own address, by its key; where many are wanted, in the listing",
    }
}

/// Requests as they are written, and what is not there.
fn operations(kind: &Kind, facts: &[Fact]) -> Vec<Row> {
    let mut rows = Vec::new();
    for member in OPERATIONS {
        let mut stated = facts.iter().filter(|fact| fact.member == member).peekable();
        if stated.peek().is_none() {
            rows.extend(unstated(kind, member).map(|value| row(member, value, None)));
            continue;
        }
        for fact in stated {
            let name = match fact.within.as_deref() {
                None | Some("request") => member.to_owned(),
                Some(within) => format!("  {within}"),
            };
            rows.push(Row { name, value: fact.text.clone(), from: Some(fact.from.clone()) });
        }
    }
    rows
}

/// What holds of an operation that is not stated.
fn unstated(kind: &Kind, member: &str) -> Option<String> {
    let request = |op: &Op| format!("{} {}", op.method.as_str(), op.path);
    let read = kind.read.op();
    let op = match member {
        "list" => kind.list.as_ref().map(|list| &list.op),
        "read" if read.is_none() => return Some("list".into()),
        "read" => read,
        "create" => kind.create.as_ref(),
        "update" => kind.update.as_ref(),
        "delete" => kind.delete.as_ref(),
        "watch" => return kind.watch.as_ref().map(|watch| request_of_feed(&watch.op)),
        _ => return None,
    };
    Some(op.map_or("none".into(), request))
}

/// The request of a feed, whose query says what makes it one.
fn request_of_feed(op: &Op) -> String {
    let pairs: Vec<String> = op.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mark = if pairs.is_empty() { "" } else { "?" };
    format!("{} {}{mark}{}", op.method.as_str(), op.path, pairs.join("&"))
}

fn paging(kind: &Kind, facts: &[Fact]) -> Vec<Row> {
    let Some(list) = &kind.list else { return Vec::new() };
    let Some(page) = &list.page else {
        return vec![row("by", "nothing: the first answer is all there is", None)];
    };
    let from = from(facts, "list", None);
    let by = match page.by {
        PageBy::Page => format!("the page's number, in `{}`, from {}", page.param, page.first),
        PageBy::Offset => format!("an offset, in `{}`, from {}", page.param, page.first),
        PageBy::Cursor => format!("a cursor, in `{}`", page.param),
        PageBy::Url => "the next page's URL in the body".into(),
        PageBy::Link => "the header `Link`, rel=next".into(),
    };
    let mut rows = vec![row("by", by, from.clone())];
    if let Some(size) = page.size {
        rows.push(row("size", format!("{size}, in `{}`", page.size_param), from.clone()));
    }
    for (name, filter) in [("next", &page.next), ("total", &page.total)] {
        rows.extend(
            filter.as_ref().map(|filter| row(name, format!("`{}` of the body", filter.text()), from.clone())),
        );
    }
    rows
}

/// Versions, order, patience, and every other member as it is written.
fn behaviour(kind: &Kind, facts: &[Fact]) -> Vec<Row> {
    let version = match &kind.version {
        Version::None => "none: writes have no precondition".to_owned(),
        Version::ETag => "the ETag of the object's own read, in `If-Match`".into(),
        Version::OnItem(filter) => format!("`{}` of an item, in `{{version}}` or `If-Match`", filter.text()),
        Version::Request(op, filter) => {
            format!("`{}` of {} {}", filter.text(), op.method.as_str(), op.path)
        }
    };
    let serial = match &kind.serial {
        Serial::No => "writes go side by side".to_owned(),
        Serial::Part(part) => format!("one write at a time within one `{part}`"),
        Serial::Backend => "one write at a time in the whole backend".into(),
    };
    let mut rows = vec![
        row("version", version, from(facts, "version", None)),
        row("serial", serial, from(facts, "serial", None)),
    ];
    if kind.may_lose_updates() {
        let value = format!("{LOST_UPDATE_RISK}: updates are unguarded");
        rows.push(row("(risk)", value, None));
    }
    if !kind.visible.is_zero() {
        let value =
            format!("for {} after a create a 404 is not absence", humantime::format_duration(kind.visible));
        rows.push(row("visible", value, from(facts, "visible", None).filter(|_| kind.visible != VISIBLE)));
    }
    let told = |member: &str| {
        OF_IDENTITY.contains(&member)
            || OPERATIONS.contains(&member)
            || matches!(member, "version" | "serial" | "visible")
    };
    for fact in facts.iter().filter(|fact| !told(&fact.member)) {
        let name = fact.within.as_ref().map_or(fact.member.clone(), |name| format!("{}.{name}", fact.member));
        rows.push(Row { name, value: fact.text.clone(), from: Some(fact.from.clone()) });
    }
    rows
}

/// A row a word; what no row is about is compared where a document declares it.
fn fields(kind: &Kind) -> Vec<Row> {
    let mut rows = Vec::new();
    each_field(kind, &mut |path, said| {
        for (at, said) in said.iter().enumerate() {
            let name = if at == 0 { path.to_string() } else { String::new() };
            let value = format!("{}: {}", said.word, meaning(&said.word));
            rows.push(Row { name, value, from: Some(said.from.clone()) });
        }
    });
    rows.push(row(
        "(others)",
        "compared where a document declares them, and left alone where none does",
        None,
    ));
    rows
}

fn each_field(kind: &Kind, f: &mut dyn FnMut(&Path, &[Said])) {
    kind.fields.each_rule(&mut |path, rule| {
        if !rule.said.is_empty() {
            f(path, &rule.said);
        }
    });
}

/// What a word of a field means, in short.
pub fn meaning(word: &str) -> &'static str {
    match word.split_once('=').map_or(word, |(name, _)| name) {
        "server-owned" => "never sent, never compared",
        "write-only" => "sent, never compared: the server does not show it",
        "secret" => "never printed",
        "plain" => "printed, whatever its name",
        "copy" => "goes back as it was seen with each full body",
        "closed" => "nothing undeclared may stand below",
        "open" => "elements that no document declares are left alone",
        "ignore" => "never compared",
        "mask" => "a text that matches is hidden, and not compared",
        "immutable" if word.ends_with("refuse") => "cannot be changed",
        "immutable" => "changes only by deleting and creating again",
        "clear" => "how `null` is said to the server",
        "default" => "missing on one side equals this",
        "set" => "a list without order",
        "ordered" => "a list in order",
        "key" => "a list whose elements are paired by this member",
        "quantity" | "duration" | "timestamp" | "cidr" | "url" => "compared by what it stands for",
        _ => "compared by what this filter makes of it",
    }
}

#[derive(serde::Serialize)]
struct Sheet<'k> {
    backend: &'k str,
    kind: &'k str,
    #[serde(flatten)]
    sections: serde_json::Map<String, serde_json::Value>,
}

/// Where something is stated, as JSON: a place, a preset, or a word.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum From<'k> {
    Place(Position<'k>),
    Preset { preset: &'k str },
    Word(&'static str),
}

impl<'k> From<'k> {
    pub fn of(stated: Option<&'k Stated>) -> From<'k> {
        match stated {
            Some(Stated::At(origin)) => From::Place(Position::of(origin)),
            Some(Stated::Preset(preset)) => From::Preset { preset },
            Some(Stated::BuiltIn) => From::Word("built-in"),
            None => From::Word("default"),
        }
    }
}

/// A kind, for machines.
pub fn value(kind: &Kind, facts: &[Fact]) -> serde_json::Value {
    let row = |row: &Row| serde_json::json!({"name": row.name.trim_start(), "value": row.value, "from": From::of(row.from.as_ref())});
    let mut sections = serde_json::Map::new();
    for section in sections_but_fields(kind, facts) {
        sections.insert(section.title.into(), section.rows.iter().map(row).collect());
    }
    let mut fields = Vec::new();
    each_field(kind, &mut |path, said| {
        let word = |said: &Said| serde_json::json!({"word": *said.word, "from": From::of(Some(&said.from))});
        let words: Vec<_> = said.iter().map(word).collect();
        fields.push(serde_json::json!({"path": path.to_string(), "words": words}));
    });
    sections.insert("fields".into(), fields.into());
    let sheet = Sheet { backend: &kind.name.backend, kind: &kind.name.kind, sections };
    serde_json::to_value(sheet).expect("what is printed has text keys only")
}

fn sections_but_fields(kind: &Kind, facts: &[Fact]) -> Vec<Section> {
    sections(kind, facts).into_iter().filter(|section| section.title != "fields").collect()
}
