//! Live objects for `get`: one table a kind, or JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::core::identity::{KindName, ObjectId};
use crate::core::value::{Value, plain_text};

use super::json::{self, Identity, SCHEMA_VERSION};
use super::paint::{Line, Style, Text};
use super::words::counted;

/// A live object as it may be shown.
#[derive(Clone, Debug)]
pub struct Listed {
    pub id: ObjectId,
    pub server_id: Option<Arc<str>>,
    /// The item, its secret fields masked by [`crate::core::scrub::mask`].
    pub value: Value,
}

/// Fields of the items that get a column, at most.
const FIELDS: usize = 4;
/// The widest cell; what is longer is cut.
const WIDEST: usize = 32;

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'i> {
    schema_version: u32,
    command: &'static str,
    items: Vec<Row<'i>>,
}

#[derive(serde::Serialize)]
struct Row<'i> {
    identity: Identity<'i>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'i str>,
    value: &'i Value,
}

/// The items as one JSON document.
pub fn document(items: &[Listed]) -> String {
    let items = items.iter().map(row).collect();
    json::pretty(&Document { schema_version: SCHEMA_VERSION, command: "get", items })
}

/// The items as JSON, one a line.
pub fn lines(items: &[Listed]) -> String {
    items.iter().map(|item| json::line(&row(item))).collect()
}

fn row(item: &Listed) -> Row<'_> {
    Row { identity: Identity::of(&item.id), id: item.server_id.as_deref(), value: &item.value }
}

/// The items as tables, in the order in which their kinds come first, and a count.
pub fn text(items: &[Listed]) -> Text {
    let mut kinds: Vec<(&KindName, Vec<&Listed>)> = Vec::new();
    for item in items {
        match kinds.iter_mut().find(|(kind, _)| **kind == item.id.kind) {
            Some((_, group)) => group.push(item),
            None => kinds.push((&item.id.kind, vec![item])),
        }
    }
    let mut text = Text::new();
    for (_, group) in kinds {
        text.append(table(&group));
        text.push(Line::new());
    }
    text.push(Line::new().with(Style::Dim, &format!("{}.", counted(items.len(), "object"))));
    text
}

fn table(items: &[&Listed]) -> Text {
    let parts: Vec<&str> = items[0].id.key.parts().iter().map(|(name, _)| &**name).collect();
    let with_id = items.iter().any(|item| item.server_id.is_some());
    let fields = columns(items, &parts);
    let mut head = vec!["KIND".to_owned()];
    head.extend(parts.iter().map(|part| part.to_uppercase()));
    head.extend(with_id.then(|| "ID".to_owned()));
    head.extend(fields.iter().map(|field| field.to_uppercase()));
    let body = items.iter().map(|item| {
        let mut cells = vec![item.id.kind.kind.to_string()];
        cells.extend(item.id.key.parts().iter().map(|(_, value)| plain_text(value)));
        cells.extend(with_id.then(|| item.server_id.as_deref().unwrap_or("-").to_owned()));
        cells.extend(fields.iter().map(|field| item.value.get(field).map_or_else(|| "-".into(), plain_text)));
        cells
    });
    padded(&head, &body.collect::<Vec<_>>())
}

/// The top-level scalars that most items have, and that the identity does not say already.
fn columns<'i>(items: &[&'i Listed], parts: &[&str]) -> Vec<&'i str> {
    let mut have: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        for (name, value) in item.value.as_object().into_iter().flatten() {
            let scalar = matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
            let is_id = item.server_id.as_deref().is_some_and(|id| *id == plain_text(value));
            if scalar && !is_id && !parts.contains(&name.as_str()) {
                *have.entry(name).or_default() += 1;
            }
        }
    }
    let mut fields: Vec<(&str, usize)> = have.into_iter().collect();
    fields.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    fields.into_iter().take(FIELDS).map(|(name, _)| name).collect()
}

fn padded(head: &[String], body: &[Vec<String>]) -> Text {
    let cell = |style: Style, text: &str| match text.char_indices().nth(WIDEST) {
        Some((at, _)) => Line::new().with(style, &format!("{}…", &text[..at])),
        None => Line::new().with(style, text),
    };
    let mut rows: Vec<Vec<Line>> = vec![head.iter().map(|text| cell(Style::Strong, text)).collect()];
    rows.extend(body.iter().map(|cells| cells.iter().map(|text| cell(Style::Plain, text)).collect()));
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(Line::width).max().unwrap_or(0))
        .collect();
    let mut text = Text::new();
    for row in rows {
        let mut line = Line::new();
        let mut start = 0;
        for (cell, width) in row.into_iter().zip(&widths) {
            line.pad(start, 0);
            line.append(cell);
            start += width + 2;
        }
        text.push(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample::id;
    use super::*;
    use serde_json::json;

    fn items() -> Vec<Listed> {
        let item = |kind: &str, name: &str, server_id: Option<&str>, value: Value| Listed {
            id: id(kind, "/", name),
            server_id: server_id.map(Arc::from),
            value,
        };
        vec![
            item(
                "Queue",
                "orders",
                None,
                json!({"name": "orders", "durable": true, "messages": 12, "x": [1]}),
            ),
            item(
                "Team",
                "platform",
                Some("17"),
                json!({"id": 17, "title": "a title that is far too long for one cell"}),
            ),
            item("Queue", "日本\u{1b}", None, json!({"name": "y", "durable": false, "password": "(secret)"})),
        ]
    }

    #[test]
    fn one_table_a_kind() {
        insta::assert_snapshot!(text(&items()).to_plain(), @r"
            KIND   VHOST  NAME        DURABLE  MESSAGES  PASSWORD
            Queue  /      orders      true     12        -
            Queue  /      日本\u{1b}  false    -         (secret)

            KIND  VHOST  NAME      ID  TITLE
            Team  /      platform  17  a title that is far too long for…

            3 objects.
            ");
        assert_eq!(text(&[]).to_plain(), "0 objects.\n");
    }

    #[test]
    fn items_as_json() {
        insta::assert_snapshot!(document(&items()[1..2]), @r#"
            {
              "schemaVersion": 1,
              "command": "get",
              "items": [
                {
                  "identity": {
                    "backend": "rabbitmq",
                    "kind": "Team",
                    "key": {
                      "vhost": "/",
                      "name": "platform"
                    }
                  },
                  "id": "17",
                  "value": {
                    "id": 17,
                    "title": "a title that is far too long for one cell"
                  }
                }
              ]
            }
            "#);
        insta::assert_snapshot!(lines(&items()[..2]), @r#"
            {"identity":{"backend":"rabbitmq","kind":"Queue","key":{"vhost":"/","name":"orders"}},"value":{"durable":true,"messages":12,"name":"orders","x":[1]}}
            {"identity":{"backend":"rabbitmq","kind":"Team","key":{"vhost":"/","name":"platform"}},"id":"17","value":{"id":17,"title":"a title that is far too long for one cell"}}
            "#);
    }
}
