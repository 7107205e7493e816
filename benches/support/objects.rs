//! The objects of the benchmarks, as the API has them and as documents.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Objects on a page.
pub const PAGE: usize = 100;

pub fn name(i: usize) -> String {
    format!("widget-{i:06}")
}

/// About 600 bytes of JSON.
pub fn body(i: usize) -> Value {
    json!({
        "description": format!("Widget number {i}, made to measure how fast things are compared and written"),
        "enabled": !i.is_multiple_of(3),
        "replicas": i % 7,
        "labels": {"team": format!("team-{}", i % 50), "tier": "backend", "region": "eu-central-1"},
        "limits": {"cpu": "500m", "memory": "256Mi", "connections": 100 + i % 100, "timeout": "30s"},
        "hosts": [format!("w{i}.example.org"), format!("w{i}.internal.example.org")],
        "containers": [
            {"name": "app", "image": format!("registry.example.org/widgets/app:1.{}.0", i % 40), "port": 8080},
            {"name": "sidecar", "image": "registry.example.org/widgets/proxy:2.4.1", "port": 9090},
        ],
    })
}

/// A folder below `folder` with a backend and so many documents, 500 to a file. `more` gives lines of a
/// document's spec besides its body.
pub fn manifests(folder: &Path, url: &str, objects: usize, more: &dyn Fn(usize) -> String) -> PathBuf {
    let manifests = folder.join(format!("manifests-{objects}"));
    std::fs::create_dir_all(&manifests).expect("a folder");
    let backend = format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: bench}}\nspec:\n  url: {url}\n  kinds:\n    Widget:\n      \
         key: {{name: .id}}\n      list: {{request: GET /widgets, items: .items, page: {{by: cursor, next: .next, size: {PAGE}}}}}\n      \
         read: GET /widgets/{{name}}\n      create: PUT /widgets/{{name}}\n      update: PATCH /widgets/{{name}}\n      \
         delete: DELETE /widgets/{{name}}\n      version: .revision\n"
    );
    std::fs::write(manifests.join("backend.yaml"), backend).expect("a file");
    for (file, chunk) in (0..objects).collect::<Vec<_>>().chunks(500).enumerate() {
        let documents: Vec<String> = chunk.iter().map(|&i| document(i) + &more(i)).collect();
        let path = manifests.join(format!("widgets-{file:03}.yaml"));
        std::fs::write(path, documents.join("---\n")).expect("a file");
    }
    manifests
}

/// A document in block style, as people write them.
pub fn document(i: usize) -> String {
    let mut text = format!("apiVersion: bench\nkind: Widget\nmetadata:\n  name: {}\nspec:\n", name(i));
    members(&body(i), 2, &mut text);
    text
}

fn members(value: &Value, indent: usize, out: &mut String) {
    for (name, value) in value.as_object().into_iter().flatten() {
        out.push_str(&format!("{:indent$}{name}:", ""));
        below(value, indent, out);
    }
}

/// What stands after `name:` of a line with this indent.
fn below(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(_) => {
            out.push('\n');
            members(value, indent + 2, out);
        }
        Value::Array(items) => {
            out.push('\n');
            for item in items {
                let mut text = String::new();
                match item {
                    Value::Object(_) => members(item, indent + 2, &mut text),
                    scalar => text = format!("{:1$}{scalar}\n", "", indent + 2),
                }
                // The dash takes the place of the first line's indent.
                out.push_str(&format!("{:indent$}- {}", "", &text[indent + 2..]));
            }
        }
        scalar => out.push_str(&format!(" {scalar}\n")),
    }
}
