//! The files in `manifests/backends/` as documents of one's own: what they say by name (`preset: …`) and as
//! files is the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use trueup::backend::{language, preset};
use trueup::core::kind::Kind;
use trueup::core::raw::{RawDocument, Source};
use trueup::manifest::yaml;

fn documents(file: &str, text: &str) -> Vec<RawDocument> {
    let source = Arc::new(Source { file: file.into(), text: text.into() });
    yaml::parse(&source).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn kinds(document: &RawDocument) -> Vec<Kind> {
    let (mut kinds, problems) = language::kinds(document);
    assert!(problems.is_empty(), "{problems:?}");
    kinds.sort_by(|a, b| a.name.cmp(&b.name));
    kinds
}

/// All of a kind, as text.
fn shown(kinds: &[Kind]) -> Vec<String> {
    kinds.iter().map(|kind| format!("{kind:#?}")).collect()
}

#[test]
fn presets_are_whole_backends() {
    for name in preset::names() {
        let path: PathBuf = ["manifests", "backends", &format!("{name}.yaml")].iter().collect();
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("the file");
        let own = documents(name, &text);
        assert_eq!(own.len(), 1, "{name}");
        assert_eq!(
            own[0].root.get("metadata").and_then(|m| m.get("name")).and_then(|n| n.as_str()),
            Some(name)
        );

        let by_name = format!(
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: {name}}}\nspec: {{preset: {name}}}\n"
        );
        assert_eq!(shown(&kinds(&own[0])), shown(&kinds(&documents("b.yaml", &by_name)[0])), "{name}");
    }
}

#[test]
fn what_a_preset_takes_from_elsewhere_is_asked_for() {
    let text = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: mq}\nspec: {preset: rabbitmq}\n";
    let document = &documents("b.yaml", text)[0];
    let problems = language::connection(document, Path::new("")).expect_err("nothing was put in");
    let said: Vec<(&str, Option<u32>)> = problems
        .iter()
        .map(|p| (p.message.as_str(), p.origin.as_ref().map(|origin| origin.at.line)))
        .collect();
    assert_eq!(
        said,
        [
            ("`url`: `env RABBITMQ_URL` is not known", Some(4)),
            ("`username`: `env RABBITMQ_USERNAME` is not known", Some(4)),
        ]
    );
}
