//! The members of a kind as they are written, each with where: what `explain` shows. The words of fields know
//! their places themselves.

use super::kind::MEMBERS;
use crate::backend::preset;
use crate::core::facts::{Fact, Stated};
use crate::core::node::{Node, Origin, Pos, Want};
use crate::core::raw::RawDocument;
use crate::core::value::Value;

/// Tells what stands in a Backend document from what its preset says, for the kind that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whence<'d> {
    /// The document's own record of the kind.
    own: Option<&'d Node>,
    preset: Option<&'d str>,
}

impl<'d> Whence<'d> {
    /// For one kind of a document, as it stands before its preset is put in.
    pub fn of(doc: &'d RawDocument, kind: &str) -> Whence<'d> {
        let spec = doc.root.get("spec");
        let kinds = spec.and_then(|spec| spec.get("kinds"));
        let preset = spec.and_then(|spec| spec.get("preset")).and_then(Node::as_str);
        Whence { own: kinds.and_then(|kinds| kinds.get(kind)), preset }
    }

    /// Where a member of the kind is stated, which stands at `at` of `file` if it is in the document.
    pub fn member(&self, name: &str, file: &str, at: Pos) -> Stated {
        self.stated(self.own.is_some_and(|own| own.get(name).is_some()), file, at)
    }

    /// Where a word of the field at `path` is stated, likewise.
    pub fn field(&self, path: &str, file: &str, at: Pos) -> Stated {
        let fields = self.own.and_then(|own| own.get("fields"));
        self.stated(fields.is_some_and(|fields| fields.get(path).is_some()), file, at)
    }

    fn stated(&self, is_own: bool, file: &str, at: Pos) -> Stated {
        match self.preset {
            Some(preset) if !is_own => Stated::Preset(preset.into()),
            _ if at == Pos::default() => Stated::BuiltIn,
            _ => Stated::At(Origin { file: file.into(), at }),
        }
    }
}

/// The members of a kind's record but `fields`, in the order of the language; empty for a kind that no document
/// describes.
pub fn facts(doc: &RawDocument, kind: &str) -> Vec<Fact> {
    let Ok(whole) = preset::apply(doc) else { return Vec::new() };
    let record = whole.root.get("spec").and_then(|spec| spec.get("kinds")).and_then(|kinds| kinds.get(kind));
    let whence = Whence::of(doc, kind);
    let mut facts = Vec::new();
    for member in MEMBERS.into_iter().filter(|member| *member != "fields") {
        let Some(node) = record.and_then(|record| record.get(member)) else { continue };
        let fact = |within: Option<&str>, node: &Node| Fact {
            member: member.into(),
            within: within.map(str::to_owned),
            text: text(node),
            from: whence.member(member, &doc.source.file, node.at),
        };
        match &node.want {
            Want::Map(map) => {
                let mut members: Vec<_> = map.iter().collect();
                members.sort_by_key(|(_, node)| node.at);
                facts.extend(members.into_iter().map(|(name, node)| fact(Some(&**name), node)));
            }
            _ => facts.push(fact(None, node)),
        }
    }
    facts
}

/// A node on one line: texts bare, all else as flow collections.
fn text(node: &Node) -> String {
    match &node.want {
        Want::Json(Value::String(text)) => text.clone(),
        Want::Json(value) => value.to_string(),
        Want::Unset => "null".into(),
        Want::Secret(secret) => format!("!secret {}", secret.source),
        Want::Ref(reference) => format!("!ref {}", reference.text),
        Want::Outside(outside) => format!("!{outside}"),
        Want::List(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
        Want::Map(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by_key(|(_, node)| node.at);
            let members = members.into_iter().map(|(name, node)| format!("{name}: {}", text(node)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::language::{self, testing::backend};

    fn told(spec: &str, kind: &str) -> Vec<String> {
        let told = |fact: Fact| {
            let within = fact.within.map_or(String::new(), |name| format!(".{name}"));
            format!("{}{within} = {} | {}", fact.member, fact.text, fact.from)
        };
        facts(&backend(spec), kind).into_iter().map(told).collect()
    }

    #[test]
    fn members_know_their_place() {
        let spec = "{url: 'http://x', kinds: {T: {update: none, key: {b: .b, a: .a},
            list: {request: GET /t, page: {by: page, size: 5}}}}}";
        assert_eq!(
            told(spec, "T"),
            [
                "key.b = .b | b.yaml:1:10",
                "key.a = .a | b.yaml:1:11",
                "list.request = GET /t | b.yaml:1:13",
                "list.page = {by: page, size: 5} | b.yaml:1:14",
                "update = none | b.yaml:1:8",
            ]
        );
        assert_eq!(told(spec, "U"), [""; 0]);
    }

    #[test]
    fn a_preset_is_told_from_the_document() {
        let spec = "{preset: rabbitmq, kinds: {VHostLimit: {update: none, fields: {value: quantity}},
            Policy: {fields: {definition: open}}}}";
        let limit = told(spec, "VHostLimit");
        assert!(limit.contains(&"key.name = .name | preset rabbitmq".to_owned()), "{limit:?}");
        assert!(limit.iter().any(|fact| fact.starts_with("update = none | b.yaml:1:")), "{limit:?}");

        let (kinds, problems) = language::kinds(&backend(spec));
        assert!(problems.is_empty(), "{problems:?}");
        let policy = kinds.iter().find(|kind| &*kind.name.kind == "Policy").expect("the kind");
        let said = |path: &str| policy.fields.field(path).here.said.first().cloned().expect("a word");
        assert_eq!(
            (&*said("vhost").word, said("vhost").from.to_string()),
            ("server-owned", "preset rabbitmq".into())
        );
        assert!(matches!(said("definition").from, Stated::At(_)));
    }

    #[test]
    fn the_kinds_of_the_built_in_server_are_stated_nowhere() {
        let kind = language::generic_kind("demo", "Team", &["name"]).expect("a kind");
        assert_eq!(kind.fields.field("id").here.said[0].from, Stated::BuiltIn);
    }
}
