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
const PRESETS: [(&str, &str); 4] = [
    ("caddy", include_str!("../../manifests/backends/caddy.yaml")),
    ("kubernetes", include_str!("../../manifests/backends/kubernetes.yaml")),
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
mod tests {
    use serde_json::json;

    use super::*;
    use crate::backend::language::{self, testing::backend};
    use crate::core::filter::Vars;
    use crate::core::kind::{Kind, Op, Parent, Read};

    fn preset_kinds(name: &str) -> Vec<Kind> {
        let (kinds, problems) = language::kinds(&backend(&format!("{{preset: {name}}}")));
        assert!(problems.is_empty(), "{problems:?}");
        kinds
    }

    fn kind(name: &str) -> Kind {
        let kinds = preset_kinds("rabbitmq");
        kinds.into_iter().find(|kind| &*kind.name.kind == name).expect(name)
    }

    fn body(op: Option<&Op>, sent: Value) -> Value {
        let filter = op.and_then(|op| op.body.as_ref()).expect("a body filter");
        filter.one(&sent, &Vars::default()).expect("it runs").expect("an output")
    }

    #[test]
    fn every_preset_is_a_sound_backend() {
        for name in names() {
            assert!(!preset_kinds(name).is_empty(), "{name}");
        }
    }

    #[test]
    fn parts_keep_the_order_in_which_they_are_written() {
        let parts: Vec<String> = kind("Binding").parts.iter().map(|part| part.name.to_string()).collect();
        assert_eq!(parts, ["vhost", "source", "destination", "routing_key", "arguments"]);
        assert!(matches!(&kind("Binding").parts[2].parent, Parent::Of(of) if &*of.kind == "Queue"));
    }

    #[test]
    fn rabbitmq_users_keep_their_password() {
        let user = kind("User");
        for (sent, want) in [
            (json!({"name": "u"}), json!({"name": "u", "tags": ""})),
            (json!({"tags": ["a", "b"], "password_hash": "x"}), json!({"tags": "a,b", "password_hash": "x"})),
            (
                json!({"tags": "a,b", "password": "p", "password_hash": "x", "hashing_algorithm": "y"}),
                json!({"tags": "a,b", "password": "p"}),
            ),
        ] {
            assert_eq!(body(user.create.as_ref(), sent.clone()), want);
            assert_eq!(body(user.update.as_ref(), sent), want);
        }
    }

    #[test]
    fn rabbitmq_virtual_hosts_send_what_is_taken() {
        let vhost = kind("VHost");
        for (sent, want) in [
            (json!({}), json!({})),
            (json!({"tags": ["a", "b"]}), json!({"tags": "a,b"})),
            (json!({"tags": "a,b", "default_queue_type": "undefined"}), json!({"tags": "a,b"})),
            (json!({"default_queue_type": "quorum"}), json!({"default_queue_type": "quorum"})),
        ] {
            assert_eq!(body(vhost.create.as_ref(), sent), want);
        }
    }

    #[test]
    fn rabbitmq_lists_hold_the_items_of_their_kind() {
        let bindings = json!([
            {"source": "", "destination": "q", "destination_type": "queue"},
            {"source": "x", "destination": "q", "destination_type": "queue"},
            {"source": "x", "destination": "y", "destination_type": "exchange"},
        ]);
        let limits = json!([{"vhost": "v", "value": {"max-queues": 5, "max-connections": 6}}]);
        for (name, answer, want) in [
            ("Binding", &bindings, json!([bindings[1]])),
            ("ExchangeBinding", &bindings, json!([bindings[2]])),
            (
                "VHostLimit",
                &limits,
                json!([{"name": "max-connections", "value": 6}, {"name": "max-queues", "value": 5}]),
            ),
            ("VHostLimit", &json!([]), json!([])),
        ] {
            let items = kind(name).list.and_then(|list| list.items).expect("a filter");
            assert_eq!(items.one(answer, &Vars::default()), Ok(Some(want)), "{name}");
        }
    }

    #[test]
    fn what_stands_in_the_document_wins() {
        let doc = backend(
            "{preset: rabbitmq, url: 'http://x', auth: {bearer: t}, headers: {A: b},
              kinds: {Queue: {read: list, fields: {durable: ignore}}, Mine: {key: {n: .n}, list: GET /mine}}}",
        );
        let whole = apply(&doc).expect("the preset exists");
        let spec = whole.root.get("spec").expect("a spec");
        assert_eq!(spec.get("url").and_then(Node::as_str), Some("http://x"));
        assert!(spec.get("auth").is_some_and(|auth| auth.get("basic").is_none()));
        assert_eq!(apply(&whole).map(|again| again.root), Ok(whole.root.clone()));

        let (kinds, problems) = language::kinds(&doc);
        assert!(problems.is_empty(), "{problems:?}");
        let queue = kinds.iter().find(|kind| &*kind.name.kind == "Queue").expect("the kind");
        assert!(matches!(queue.read, Read::FromList));
        let fields: Vec<&str> = queue.fields.named_fields().map(|(name, _)| name).collect();
        assert_eq!(fields, ["arguments", "auto_delete", "durable"]);
        assert!(
            queue.fields.field("durable").here.ignore
                && queue.fields.field("durable").here.immutable.is_none()
        );
        assert!(kinds.iter().any(|kind| &*kind.name.kind == "Mine"));
    }

    #[test]
    fn problems_point_to_the_line_that_names_the_preset() {
        let doc = backend("{preset: rabbitmq, kinds: {Queue: {key: {nome: .name}}}}");
        let (_, problems) = language::kinds(&doc);
        let problem = problems.first().expect("the paths have no source for {name}");
        assert!(problem.message.starts_with("`{name}` in `read` has no source"), "{problem:?}");
        assert_eq!(problem.origin.as_ref().map(|origin| origin.at.line), Some(1));
    }
}

#[cfg(test)]
#[path = "preset_kubernetes_tests.rs"]
mod kubernetes;
