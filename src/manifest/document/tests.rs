use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::core::document::{Drift, Ensure, OnConflict};
use crate::core::fields::{Comparer, FieldRules};
use crate::core::filter::Filter;
use crate::core::kind::{
    DocumentType, Kind, Kinds, Method, Op, Parent, Part, Piece, Read, Send, Serial, Template, Version,
};
use crate::core::path::Path;
use crate::manifest::{sort, yaml};

fn op(method: Method, pieces: &[Piece]) -> Op {
    Op {
        method,
        path: Template(pieces.to_vec()),
        query: vec![],
        headers: vec![],
        media: None,
        body: None,
        item: None,
        id: None,
        send: Send::Ours,
        batch: None,
        wait: None,
        forced: None,
        idempotency: None,
    }
}

fn kind(name: &str, parts: &[(&str, &str)], in_path: &[&str]) -> Kind {
    let filter = |text: &str| Filter::parse(text).expect(text);
    let part = |(name, on_item): &(&str, &str)| Part {
        name: (*name).into(),
        on_item: (!on_item.is_empty()).then(|| filter(on_item)),
        parent: Parent::Own,
        fold: None,
    };
    let pieces: Vec<Piece> = in_path
        .iter()
        .map(|name| match name.strip_prefix('*') {
            Some(raw) => Piece::RawPart(raw.into()),
            None => Piece::Part((*name).into()),
        })
        .collect();
    Kind {
        us: "me".into(),
        name: KindName { backend: "rabbitmq".into(), kind: name.into() },
        parts: parts.iter().map(part).collect(),
        id: filter(".id"),
        matching: vec![],
        document: None,
        list: None,
        read: Read::Op(op(Method::Get, &pieces)),
        create: None,
        update: None,
        delete: None,
        check: None,
        fields: FieldRules::default(),
        owner: None,
        builtin: None,
        unique: Vec::new(),
        blockers: None,
        version: Version::None,
        serial: Serial::No,
        visible: Duration::ZERO,
        absent: None,
        deleting: None,
        failed: None,
        ready: None,
        exists: None,
        depends_on: None,
        managers: None,
        conflict: None,
        watch: None,
        hook: None,
        drift: Default::default(),
        lease: None,
    }
}

fn kinds() -> Kinds {
    let mut kinds = Kinds::default();
    kinds.insert(kind("VHost", &[("name", ".name")], &["name"]));
    kinds.insert(kind("Queue", &[("vhost", ".vhost"), ("name", ".name")], &["vhost", "name"]));
    kinds.insert(kind(
        "Binding",
        &[("source", ".source"), ("routing_key", ".routing_key"), ("arguments", ".arguments")],
        &["source"],
    ));
    kinds.insert(kind("Object", &[("path", ".path")], &["*path"]));
    kinds.insert(kind("Settings", &[], &[]));
    for (name, pieces) in [("Posted", vec![]), ("Put", vec![Piece::Part("name".into())])] {
        let create = Some(op(Method::Post, &pieces));
        kinds.insert(Kind { create, ..kind(name, &[("name", ".name")], &["name"]) });
    }
    let mut record = kind("Record", &[("name", ".name")], &["name"]);
    let lower = Filter::parse("ascii_downcase").expect("a filter");
    record.fields.at_mut(&Path::parse("name").expect("a path")).compare = Some(Comparer::Filter(lower));
    kinds.insert(record);
    let mut map = kind(
        "ConfigMap",
        &[("namespace", ".metadata.namespace // \"default\""), ("name", ".metadata.name")],
        &["namespace", "name"],
    );
    map.name.backend = "cluster".into();
    map.document = Some(DocumentType { api_version: "v1".into(), kind: "ConfigMap".into() });
    kinds.insert(map);
    kinds
}

fn load(text: &str) -> (Vec<Document>, Vec<Problem>) {
    load_with(text, &kinds())
}

fn load_with(text: &str, kinds: &Kinds) -> (Vec<Document>, Vec<Problem>) {
    let source = Arc::new(Source { file: "a.yaml".into(), text: text.into() });
    let raws = yaml::parse(&source).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let loaded = sort(raws);
    assert_eq!(loaded.problems, []);
    let env = |name: &str| (name == "SET").then(|| "set".into());
    let built = documents(loaded.manifests, kinds, &mut Outsides::new(&env, &[]));
    (built.documents, built.problems)
}

fn sound(text: &str) -> Vec<Document> {
    let (documents, problems) = load(text);
    assert_eq!(problems, [], "{text}");
    documents
}

fn wrong(text: &str) -> Vec<String> {
    let problems = load(text).1;
    let told = |p: &Problem| {
        assert!(p.excerpt.is_some(), "{p}");
        format!("{} | {}", p.to_string().replace("a.yaml:", ""), p.hint.as_deref().unwrap_or(""))
    };
    problems.iter().map(told).collect()
}

/// A queue document, with more lines.
fn queue(lines: &str) -> String {
    format!("apiVersion: rabbitmq\nkind: Queue\nmetadata: {{vhost: /, name: orders}}\n{lines}")
}

fn annotated(annotation: &str) -> String {
    format!(
        "apiVersion: rabbitmq\nkind: VHost\nmetadata:\n  name: a\n  annotations:\n    {annotation}\nspec: {{q: 1}}\n"
    )
}

#[test]
fn a_document_becomes_an_object() {
    let text = "---\n\n# c\napiVersion: rabbitmq\nkind: Queue\nmetadata:\n  name: orders\n  vhost: /\n  labels: {team: shop}\n  annotations: {other/x: 1}\nspec:\n  durable: true\n  arguments: {x: ~, y: !null }\n";
    let all = sound(text);
    let [document] = all.as_slice() else { panic!("one document") };
    assert_eq!(document.id.to_string(), "Queue //orders");
    let parts: Vec<String> =
        document.id.key.parts().iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(parts, ["vhost=\"/\"", "name=\"orders\""]);
    assert_eq!(document.origin.to_string(), "a.yaml:4:1");
    assert_eq!(document.labels, [("team".to_owned(), "shop".to_owned())].into());
    assert_eq!(
        document.spec.to_value().expect("values").to_string(),
        r#"{"arguments":{"y":null},"durable":true}"#
    );
    assert_eq!(sound("apiVersion: rabbitmq\nkind: Settings\nspec: {a: 1}")[0].id.to_string(), "Settings");
    assert_eq!(
        sound("apiVersion: rabbitmq\nkind: Settings\nmetadata:\n")[0].spec.want,
        Want::Map(Members::default())
    );
}

#[test]
fn values_are_laid_at_paths() {
    for annotation in [
        r#"trueup/values: {"spec.a.b": env SET, "spec.c": null, "spec.d": "ref VHost/b .id"}"#,
        r#"trueup/values: '{"spec.a.b": "env SET", "spec.c": "null", "spec.d": "ref VHost/b .id"}'"#,
    ] {
        let annotation = annotation.replace("\"spec.c\": null", "\"spec.c\": \"null\"");
        let all = sound(&annotated(&annotation));
        let spec = &all[0].spec;
        assert_eq!(spec.get("a").and_then(|a| a.get("b")).and_then(Node::as_str), Some("set"));
        assert_eq!(spec.get("c").expect("c").want, Want::Json(serde_json::Value::Null));
        assert!(
            matches!(&spec.get("d").expect("d").want, Want::Ref(reference) if &*reference.kind == "VHost")
        );
    }
}

#[test]
fn wrong_documents_are_told_with_their_place() {
    for (text, want) in [
        ("- a", "1:1: a document must be a map | it begins with `apiVersion: BACKEND` and `kind: KIND`"),
        ("kind: Queue", "1:1: `apiVersion` is missing | it names the backend: `apiVersion: rabbitmq`"),
        (
            "apiVersion: 1\nkind: Queue",
            "1:13: `apiVersion` must be a text | it names the backend: `apiVersion: rabbitmq`",
        ),
        (
            "apiVersion: rabbitmq",
            "1:1: `kind` is missing | it names one of the backend's kinds: `kind: Queue`",
        ),
        (
            "apiVersion: rabbitmq\nkind: Queu",
            "2:7: the backend `rabbitmq` has no kind `Queu` | did you mean `Queue`? its kinds are `Binding`, `Object`, `Posted`, `Put`, `Queue`, `Record`, `Settings`, `VHost`",
        ),
        (
            "apiVersion: rabitmq\nkind: Queue",
            "2:7: there is no backend `rabitmq` | did you mean `rabbitmq`? the backends are `cluster`, `rabbitmq`",
        ),
        (
            "apiVersion: apps/v1\nkind: Deployment",
            "2:7: no backend takes documents of `apps/v1`, `Deployment` | a kind takes them verbatim when it declares `document: {apiVersion: apps/v1, kind: Deployment}`",
        ),
        (
            &queue("spce: {a: 1}"),
            "4:1: `spce` is not a key of a document | did you mean `spec`? a document has `apiVersion`, `kind`, `metadata`, `spec`",
        ),
        (
            &queue("status:\n  a: 1"),
            "4:1: `status` is not a key of a document | a document has `apiVersion`, `kind`, `metadata`, `spec`",
        ),
        (
            &queue("spec:"),
            "4:1: `spec` has nothing behind it | write the value, `null` for \"must not be set\", `!null` for JSON null, or `\"\"`, `[]` or `{}`",
        ),
        (
            &queue("spec:\n  a:\n  b: [1]"),
            "5:3: `a` has nothing behind it | write the value, `null` for \"must not be set\", `!null` for JSON null, or `\"\"`, `[]` or `{}`",
        ),
        (&queue("spec: 5"), "4:7: `spec` must be a map or a list | write `spec: {}` for an empty body"),
        (
            "apiVersion: rabbitmq\nkind: Queue\nmetadata: 5",
            "3:11: `metadata` must be a map | it holds the parts of the key",
        ),
        (
            "apiVersion: rabbitmq\nkind: Queue\nmetadata: {name: a}",
            "1:1: `metadata` of a `Queue` needs `vhost` | the parts of its key are `vhost`, `name`",
        ),
        (
            "apiVersion: rabbitmq\nkind: Queue\nmetadata: {name: a, vhost: b, vhots: c}",
            "3:31: `vhots` is no part of the key of a `Queue` | did you mean `vhost`? the parts of its key are `vhost`, `name`",
        ),
        (
            "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: a, labels: {b: 1}}",
            "3:33: the label `b` must be a text | put it in quotes",
        ),
        (
            "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: }",
            "3:12: `name` is part of the key and has no value | ",
        ),
        (
            "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: !ref VHost/a .id}",
            "3:18: `name` is part of the key, and must not be a secret or a `!ref` | write the value itself, or take it from `!env`",
        ),
        (
            &queue("spec: {a: !env NONE}"),
            "4:11: the environment variable `NONE` is not set | set it, or write the value in its place",
        ),
        (
            &queue("spec: {a: !ref Team/a .id}"),
            "4:11: the backend `rabbitmq` has no kind `Team` | its kinds are `Binding`, `Object`, `Posted`, `Put`, `Queue`, `Record`, `Settings`, `VHost`",
        ),
        (
            &queue("spec: {a: !ref Queue/a .id}"),
            "4:11: `Queue/a .id` names 1 part of the key of a `Queue` | its form is `Queue/VHOST/NAME`; a `/` inside a name is written `%2F`",
        ),
        (
            &queue("spec: {a: !ref {kind: Queue, vhots: a, name: b, field: .id}}"),
            "4:11: `vhots` is no part of the key of a `Queue` | did you mean `vhost`? the parts of its key are `vhost`, `name`",
        ),
        (
            &queue("spec: {a: !ref {kind: Queue, name: b, field: .id}}"),
            "4:11: the `!ref` to a `Queue` needs `vhost` | its form is `Queue/VHOST/NAME`; a `/` inside a name is written `%2F`",
        ),
        (
            &queue("spec: {a: !ref {backend: other, kind: Queue, name: b, field: .id}}"),
            "4:11: there is no backend `other` | the backends are `cluster`, `rabbitmq`",
        ),
    ] {
        assert_eq!(wrong(text), [want], "{text}");
    }
    assert_eq!(wrong("kind: 1\nx: 2").len(), 2, "all at once");
}

#[test]
fn names_that_change_a_url_are_refused() {
    for (name, want) in [
        ("'..'", "the `name` of a `VHost` is `..` | in a URL, this is a step to another path"),
        ("'.'", "the `name` of a `VHost` is `.` | in a URL, this is a step to another path"),
        (
            "''",
            "the `name` of a `VHost` is empty | in a URL, the object's path would be the path of the whole collection",
        ),
        (
            "' '",
            "the `name` of a `VHost` is empty | in a URL, the object's path would be the path of the whole collection",
        ),
        (
            r#""a\r\nX: y""#,
            "the `name` of a `VHost` holds the control character U+000D | URLs drop such characters: two names would be one",
        ),
        (
            r#""a\tb""#,
            "the `name` of a `VHost` holds the control character U+0009 | URLs drop such characters: two names would be one",
        ),
    ] {
        let text = format!("apiVersion: rabbitmq\nkind: VHost\nmetadata:\n  name: {name}");
        assert_eq!(wrong(&text), [format!("4:9: {want}")], "{name}");
    }
    for name in ["a/b", "%2e%2e", "..%2f..%2fadmin", "a?x=1", "a#f", "...", "é ü"] {
        let text = format!("apiVersion: rabbitmq\nkind: VHost\nmetadata:\n  name: \"{name}\"");
        assert_eq!(sound(&text).len(), 1, "{name}: one segment, escaped");
    }
    let object = |path: &str| format!("apiVersion: rabbitmq\nkind: Object\nmetadata: {{path: \"{path}\"}}");
    assert_eq!(sound(&object("a/b")).len(), 1);
    for path in ["a/../b", "a//b", "/a", "a/./b"] {
        assert_eq!(wrong(&object(path)).len(), 1, "{path}");
    }
    let binding =
        "apiVersion: rabbitmq\nkind: Binding\nmetadata: {source: a, routing_key: '', arguments: {x: 1}}";
    assert_eq!(sound(binding).len(), 1, "a part that stands in no path may be empty");
}

#[test]
fn verbatim_documents_are_their_own_body() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  labels: {app: web}\n  creationTimestamp:\n  annotations:\n    trueup/prune: \"false\"\n    trueup/values: '{\"data.x\": \"env SET\"}'\ndata:\n  y: \"1\"\n  z:\nstatus: {}\n";
    let all = sound(text);
    let [document] = all.as_slice() else { panic!("one document") };
    assert_eq!(document.id.to_string(), "ConfigMap default/settings");
    assert_eq!(&*document.id.kind.backend, "cluster");
    assert_eq!(document.labels.get("app").map(String::as_str), Some("web"));
    assert!(document.policy.protected);
    assert_eq!(
        document.spec.to_value().expect("values").to_string(),
        r#"{"apiVersion":"v1","data":{"x":"set","y":"1"},"kind":"ConfigMap","metadata":{"labels":{"app":"web"},"name":"settings"},"status":{}}"#
    );
    let kept = sound(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {b: c, trueup/paused: true}}",
    );
    assert!(
        kept[0].spec.get("metadata").and_then(|m| m.get("annotations")).and_then(|a| a.get("b")).is_some()
    );
    for (text, want) in [
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {}",
            "1:1: the document has no `.metadata.name`, which is the `name` of a `ConfigMap` | ",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ..}",
            "1:1: the `name` of a `ConfigMap` is `..` | in a URL, this is a step to another path",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx:\n-\n- a",
            "5:2: a list element has nothing behind it | write the value, or remove the element",
        ),
    ] {
        assert_eq!(wrong(text), [want], "{text}");
    }
}

#[test]
fn lists_are_opened_and_own_kinds_sorted_out() {
    let item = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}}";
    let list = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {}\n- {}\n",
        item.replace("NAME", "a"),
        item.replace("NAME", "b")
    );
    let all = sound(&list);
    assert_eq!(all.iter().map(|d| d.origin.to_string()).collect::<Vec<_>>(), ["a.yaml:4:3", "a.yaml:5:3"]);
    let text = "apiVersion: trueup/v1\nkind: Backend\n---\napiVersion: trueup/v1\nkind: Set\n---\napiVersion: trueup/v1\nkind: Backnd\n---\napiVersion: trueup/v2\nkind: Backend\n---\nkind: X\n";
    let source = Arc::new(Source { file: "a.yaml".into(), text: text.into() });
    let loaded = sort(yaml::parse(&source).expect("YAML"));
    assert_eq!((loaded.backends.len(), loaded.sets.len(), loaded.manifests.len()), (1, 1, 1));
    let told: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "a.yaml:8:7: `trueup/v1` has no kind `Backnd`",
            "a.yaml:10:13: `apiVersion: trueup/v2` is not known",
        ]
    );
    assert_eq!(loaded.problems[0].excerpt.as_deref(), Some("kind: Backnd"));
}

/// An embedded backend makes kinds on demand.
struct OnDemand;

impl KindSource for OnDemand {
    fn kind(&self, name: &KindName, parts: &[&str]) -> Option<Arc<Kind>> {
        let parts: Vec<(&str, &str)> = parts.iter().map(|part| (*part, "")).collect();
        let mut kind = kind(&name.kind, &parts, &[]);
        kind.name = name.clone();
        Some(kind.into())
    }

    fn of_document(&self, _: &str, _: &str) -> Option<Arc<Kind>> {
        None
    }

    fn backends(&self) -> Vec<Arc<str>> {
        vec!["local".into()]
    }

    fn kinds_of(&self, _: &str) -> Vec<Arc<str>> {
        vec![]
    }
}

mod annotations;
mod key;
