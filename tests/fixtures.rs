//! Runs the folders of `tests/fixtures/`: a case of the difference needs no code. Their README says what is in
//! a folder. `TRUEUP_BLESS=1 cargo test --test fixtures` writes what came out in the place of what was expected.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trueup::core::change::{Change, Reason, Shown};
use trueup::core::diff::diff;
use trueup::core::fields::{FieldRules, Immutable};
use trueup::core::node::{Node, Secret, Want};
use trueup::core::overlay::{Form, overlay, strip};
use trueup::core::patch::{Operation, apply_json, json_patch, merge_patch};
use trueup::core::problem::Problem;
use trueup::core::raw::Source;
use trueup::core::value::Value;

/// What a folder may hold besides `README.md`.
const FILES: [&str; 7] =
    ["desired.yaml", "observed.json", "fields.yaml", "changes.txt", "merge.json", "patch.json", "full.json"];

#[test]
fn fixtures() {
    let mut wrong = Vec::new();
    let folders = folders();
    assert!(folders.len() > 50, "the fixtures were not found");
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        match Fixture::read(&folder) {
            Ok(fixture) => wrong.extend(fixture.check().into_iter().map(|text| format!("{name}: {text}"))),
            Err(text) => wrong.push(format!("{name}: {text}")),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = fs::read_dir(root).expect("the folder of fixtures");
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

struct Fixture {
    folder: PathBuf,
    desired: Node,
    observed: Value,
    rules: FieldRules,
}

impl Fixture {
    fn read(folder: &Path) -> Result<Fixture, String> {
        for entry in fs::read_dir(folder).expect("a folder") {
            let name = entry.expect("an entry").file_name();
            if !FILES.iter().any(|known| *known == name) {
                return Err(format!("`{}` means nothing here", name.to_string_lossy()));
            }
        }
        let text = |file: &str| fs::read_to_string(folder.join(file)).map_err(|e| format!("{file}: {e}"));
        let rules = match fs::read_to_string(folder.join("fields.yaml")) {
            Ok(fields) => rules(&fields)?,
            Err(_) => FieldRules::default(),
        };
        Ok(Fixture {
            folder: folder.to_owned(),
            desired: with_secrets(document("desired.yaml", text("desired.yaml")?)?),
            observed: serde_json::from_str(&text("observed.json")?).map_err(|e| e.to_string())?,
            rules,
        })
    }

    /// What is not as expected.
    fn check(&self) -> Vec<String> {
        let changes = diff(&self.desired, &self.observed, &self.rules);
        let lines: String = changes.iter().map(|change| line(change) + "\n").collect();
        let mut wrong = self.compare("changes.txt", lines);
        let sent = [
            ("merge.json", self.merge()),
            ("patch.json", self.patch()),
            (
                "full.json",
                overlay(&self.desired, &self.observed, &self.rules, Form::Full).map_err(|e| e.to_string()),
            ),
        ];
        for (file, made) in sent {
            if self.folder.join(file).exists() {
                let text = match made {
                    Ok(value) => pretty(&value),
                    Err(error) => format!("{error}\n"),
                };
                wrong.extend(self.compare(file, text));
            }
        }
        wrong.extend(self.unsettled());
        wrong
    }

    /// A merge patch, as it goes out.
    fn merge(&self) -> Result<Value, String> {
        let mut patch = merge_patch(&self.observed, &self.target()?).map_err(|e| e.to_string())?;
        strip(&mut patch, &self.rules);
        Ok(patch)
    }

    fn patch(&self) -> Result<Value, String> {
        let operations = json_patch(&self.observed, &self.target()?);
        let landed = apply_json(&self.observed, &operations).map_err(|e| e.to_string())?;
        let left = diff(&self.desired, &landed, &self.rules);
        assert!(left.is_empty(), "the patch leaves {left:?}");
        Ok(operations.iter().map(Operation::to_json).collect())
    }

    fn target(&self) -> Result<Value, String> {
        overlay(&self.desired, &self.observed, &self.rules, Form::Patch).map_err(|e| e.to_string())
    }

    /// What would differ after the write.
    fn unsettled(&self) -> Option<String> {
        let left = diff(&self.desired, &self.target().ok()?, &self.rules);
        (!left.is_empty()).then(|| format!("a second run would change: {left:?}"))
    }

    fn compare(&self, file: &str, text: String) -> Vec<String> {
        let path = self.folder.join(file);
        if std::env::var_os("TRUEUP_BLESS").is_some() {
            fs::write(&path, &text).expect("a file that can be written");
        }
        match fs::read_to_string(&path) {
            Ok(expected) if expected.replace("\r\n", "\n") == text => Vec::new(),
            Ok(expected) => vec![format!("{file}: expected\n{expected}--- but it is\n{text}")],
            Err(e) => vec![format!("{file}: {e}")],
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value can be written") + "\n"
}

fn document(file: &str, text: String) -> Result<Node, String> {
    let source = Arc::new(Source { file: file.into(), text });
    let documents = trueup::manifest::yaml::parse(&source).map_err(|problems| list(&problems))?;
    let first = documents.into_iter().next().ok_or_else(|| format!("{file} is empty"))?;
    Ok(first.root)
}

/// The words of `fields.yaml`, read as those of a kind in a Backend document.
fn rules(fields: &str) -> Result<FieldRules, String> {
    let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: fixture}\nspec:\n  url: http://fixture\n  \
                kinds:\n    Thing:\n      read: GET /thing\n      update: PUT /thing\n      fields:\n";
    let fields: String = fields.lines().map(|line| format!("        {line}\n")).collect();
    let source = Arc::new(Source { file: "fields.yaml".into(), text: format!("{head}{fields}") });
    let documents = trueup::manifest::yaml::parse(&source).map_err(|problems| list(&problems))?;
    let (kinds, problems) = trueup::backend::language::kinds(&documents[0]);
    if problems.iter().any(|problem| !problem.warning) {
        return Err(list(&problems));
    }
    Ok(kinds.into_iter().next().expect("one kind").fields)
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{}\n", problem.message)).collect()
}

/// Secrets get a text that tells where they come from, but for those whose name says that they are missing.
fn with_secrets(mut node: Node) -> Node {
    node.want = match node.want {
        Want::Secret(secret) if !secret.source.contains("MISSING") => {
            Want::Secret(Secret::new(&secret.source, Some(format!("the value of {}", secret.source))))
        }
        Want::List(items) => Want::List(items.into_iter().map(with_secrets).collect()),
        Want::Map(map) => Want::Map(map.into_iter().map(|(name, item)| (name, with_secrets(item))).collect()),
        other => other,
    };
    node
}

/// `path: before → after, why, line:column`.
fn line(change: &Change) -> String {
    let side = |side: &Option<Shown>| match side {
        None => "nothing".into(),
        Some(Shown::Value(value)) => value.to_string(),
        Some(Shown::Secret) => "(secret)".into(),
        Some(Shown::Later(text)) => format!("(later: {text})"),
    };
    let why = match change.reason {
        Reason::Declared => "declared",
        Reason::Unset => "unset",
        Reason::Closed => "closed",
        Reason::Left => "left",
        Reason::ListOwned => "list owned",
        Reason::Reordered => "reordered",
        Reason::Immutable(Immutable::Replace) => "immutable, can be replaced",
        Reason::Immutable(Immutable::Refuse) => "immutable",
    };
    let at = change.at.map(|at| format!(", {}:{}", at.line, at.column)).unwrap_or_default();
    format!("{}: {} → {}, {why}{at}", change.path, side(&change.before), side(&change.after))
}
