//! Presets: Backend documents that are compiled in, used by name.
//!
//! `preset: NAME` puts what the preset says where the document says nothing. The document's own word wins:
//! for `url`, `auth` and `tls` as a whole, for `headers`, `limits` and each kind member by member, for
//! `fields` path by path.

use crate::core::members::Members;
use crate::core::node::{Node, Outside, Pos, Secret, Want};
use crate::core::problem::Problem;
use crate::core::raw::RawDocument;
use crate::core::suggest;
use crate::core::value::Value;

use super::like;

/// The presets, by name; each is a whole Backend document in `manifests/backends/`.
const PRESETS: [(&str, &str); 6] = [
    ("caddy", include_str!("../../manifests/backends/caddy.yaml")),
    ("json-server", include_str!("../../manifests/backends/json-server.yaml")),
    ("kubernetes", include_str!("../../manifests/backends/kubernetes.yaml")),
    ("powerdns", include_str!("../../manifests/backends/powerdns.yaml")),
    ("rabbitmq", include_str!("../../manifests/backends/rabbitmq.yaml")),
    ("syncthing", include_str!("../../manifests/backends/syncthing.yaml")),
];

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset.
pub fn text(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(have, _)| *have == name).map(|(_, text)| *text)
}

/// The document with what its preset says; as it is where it names none. Done before values from elsewhere
/// are put in, as a preset names some; doing it again changes nothing.
///
/// What comes from the preset stands where the document names the preset.
///
/// # Errors
/// A preset that does not exist.
pub fn apply(doc: &RawDocument) -> Result<RawDocument, Problem> {
    let Some(spec) = doc.root.get("spec") else { return Ok(doc.clone()) };
    let Some(named) = spec.get("preset") else { return Ok(doc.clone()) };
    let Some(text) = named.as_str().and_then(text) else {
        let name = named.as_str().unwrap_or_default();
        let problem = doc.source.problem(named.at, format!("there is no preset `{}`", name.escape_debug()));
        return Err(problem.hint(suggest::hint(name, "the presets are", names())));
    };
    let yaml: serde_yaml::Value = serde_yaml::from_str(text).expect("a preset is YAML");
    let mut preset = Placed { next: named.at }.node(yaml);
    let preset = preset.get_mut("spec").expect("a preset is a Backend document");
    if let Some(kinds) = preset.get_mut("kinds") {
        let problems = like::resolve(kinds, &doc.source);
        debug_assert!(problems.is_empty(), "a preset is sound: {problems:?}");
    }
    let mut whole = doc.clone();
    if let Want::Map(root) = &mut whole.root.want {
        root.insert("spec", merged(spec, preset, Level::Spec));
    }
    Ok(whole)
}

/// Where in a document a map stands: it decides how deep two maps are merged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Spec,
    /// `headers`, `limits`, `fields`: member by member.
    Members,
    Kinds,
    Kind,
    /// A kind that is like another: its operations too are merged member by member.
    Like,
}

/// `own`, with what only the preset has.
pub(super) fn merged(own: &Node, preset: &Node, level: Level) -> Node {
    let (Want::Map(mine), Want::Map(theirs)) = (&own.want, &preset.want) else { return own.clone() };
    let mut all: Members = theirs.clone();
    for (name, node) in mine {
        let deeper = match (level, &**name) {
            (Level::Spec, "kinds") => Some(Level::Kinds),
            (Level::Spec, "headers" | "limits") | (Level::Kind | Level::Like, "fields") => {
                Some(Level::Members)
            }
            (Level::Like, name) if like::OPERATIONS.contains(&name) => Some(Level::Members),
            (Level::Kinds, _) => Some(Level::Kind),
            _ => None,
        };
        let node = match (deeper, theirs.get(name)) {
            (Some(deeper), Some(theirs)) => merged(node, theirs, deeper),
            _ => node.clone(),
        };
        all.insert(name.clone(), node);
    }
    Node::new(own.at, Want::Map(all))
}

/// Gives each value of a preset a place: the line that names the preset, and a column that keeps their order.
struct Placed {
    next: Pos,
}

impl Placed {
    fn node(&mut self, yaml: serde_yaml::Value) -> Node {
        let at = self.next;
        self.next.column += 1;
        let want = match yaml {
            serde_yaml::Value::Sequence(items) => {
                Want::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            serde_yaml::Value::Mapping(members) => Want::Map(
                members
                    .into_iter()
                    .map(|(name, value)| {
                        let name = name.as_str().expect("the members of a preset have names");
                        (name.to_owned(), self.node(value))
                    })
                    .collect(),
            ),
            serde_yaml::Value::Tagged(tagged) => outside(&tagged),
            scalar => Want::Json(serde_json::to_value(scalar).unwrap_or(Value::Null)),
        };
        Node::new(at, want)
    }
}

/// `!env NAME`, `!secret env:NAME`: the tags that a preset may use.
fn outside(tagged: &serde_yaml::value::TaggedValue) -> Want {
    let text = tagged.value.as_str().expect("the tags of a preset hold texts");
    match tagged.tag.to_string().as_str() {
        "!secret" => Want::Secret(Secret::new(text, None)),
        _ => Want::Outside(Outside::Env(text.into())),
    }
}

#[cfg(test)]
#[path = "preset_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "preset_kubernetes_tests.rs"]
mod kubernetes;
