//! Sorts documents by whom they are for: the tool itself, or a backend; and opens lists of documents.

use super::{Loaded, excerpt, replicas};
use crate::core::node::Want;
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::set::OWN;
use crate::core::suggest;

/// The tool's own kinds that can be used.
const OWN_KINDS: [&str; 3] = ["Backend", "Set", "ReplicaSet"];

/// Splits documents into backends and manifests; what can be neither is a problem.
pub fn sort(raws: Vec<RawDocument>) -> Loaded {
    let mut loaded = Loaded::default();
    for raw in raws {
        one(raw, &mut loaded);
    }
    loaded
}

fn one(raw: RawDocument, loaded: &mut Loaded) {
    let (version, kind) = (raw.text("apiVersion").unwrap_or_default(), raw.text("kind").unwrap_or_default());
    match (version, kind) {
        ("v1", "List") if matches!(raw.root.get("items").map(|node| &node.want), Some(Want::List(_))) => {
            open_list(raw, loaded);
        }
        (OWN, "Backend") => loaded.backends.push(raw),
        (OWN, "Set") => loaded.sets.push(raw),
        // Its objects are documents like others.
        (OWN, replicas::KIND) => loaded.manifests.push(raw),
        (OWN, kind) => {
            let problem = Problem::new(format!("`{OWN}` has no kind `{kind}`"));
            let hint = suggest::hint(kind, "its kinds are", OWN_KINDS);
            add(&raw, "kind", problem.hint(hint), loaded);
        }
        (version, _) if version.starts_with("trueup/") => {
            let problem = Problem::new(format!("`apiVersion: {version}` is not known"));
            add(&raw, "apiVersion", problem.hint(format!("this version of trueup knows `{OWN}`")), loaded);
        }
        _ => loaded.manifests.push(raw),
    }
}

/// `kubectl get -o yaml` wraps objects so. The depth of a document bounds the nesting.
fn open_list(raw: RawDocument, loaded: &mut Loaded) {
    let Want::Map(mut top) = raw.root.want else { return };
    if let Some(Want::List(items)) = top.remove("items").map(|node| node.want) {
        for root in items {
            one(RawDocument { source: raw.source.clone(), root }, loaded);
        }
    }
}

fn add(raw: &RawDocument, key: &str, problem: Problem, loaded: &mut Loaded) {
    let at = raw.root.get(key).map_or(raw.root.at, |node| node.at);
    let mut problems = [problem.at(raw.place(at))];
    excerpt::add(&mut problems, std::slice::from_ref(&raw.source));
    loaded.problems.extend(problems);
}
