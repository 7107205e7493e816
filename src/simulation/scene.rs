//! What is desired of the model server, drawn from choices, and whether it is so.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::api::{Api, PASSWORD};
use super::dice::Dice;
use super::world::{NOTE, World};
use crate::core::diff::diff;
use crate::core::document::{Document, Ensure, Policy};
use crate::core::graph::Graph;
use crate::core::identity::{Key, ObjectId};
use crate::core::kind::{Kind, Kinds};
use crate::core::node::{Node, Origin, Pos, Secret, Want};
use crate::core::value::Value;

/// The documents of a schedule.
pub struct Scene {
    pub kinds: Kinds,
    pub kind: Arc<Kind>,
    pub documents: Vec<Document>,
    /// Of all objects that there may be, those without a document among them.
    pub names: Vec<String>,
    /// Whether the words of the fields say what is right, and not equality alone.
    pub by_rules: bool,
}

/// A document of an object.
pub fn document(kind: &Kind, name: &str, spec: Node) -> Document {
    let id = ObjectId { kind: kind.name.clone(), key: Key::new(vec![("name".into(), name.into())]) };
    Document {
        id,
        origin: Origin { file: "test.yaml".into(), at: Pos { line: 1, column: 1 } },
        spec: spec.into(),
        labels: BTreeMap::new(),
        policy: Policy::default(),
        base: Default::default(),
    }
}

impl Scene {
    pub fn of(kind: Arc<Kind>, documents: Vec<Document>, names: Vec<String>) -> Scene {
        let mut kinds = Kinds::default();
        kinds.insert((*kind).clone());
        Scene { kinds, kind, documents, names, by_rules: false }
    }

    pub fn draw(dice: &mut Dice, api: Api) -> Scene {
        let kind = api.kind();
        let count = 1 + dice.below(5);
        let names: Vec<String> = (0..count + dice.below(3)).map(|at| name(at, dice)).collect();
        let documents = names[..count].iter().map(|name| {
            let mut document = document(&kind, name, spec(dice));
            if dice.percent(25) {
                document.policy.ensure = Ensure::Absent;
            }
            document
        });
        let documents = documents.collect();
        Scene::of(kind, documents, names)
    }

    pub fn graph(&self) -> Graph {
        Graph::build(&self.documents, &self.kinds).expect("the documents fit together")
    }

    pub fn name(&self, at: usize) -> &str {
        self.documents[at].id.key.get("name").and_then(Value::as_str).expect("a name")
    }

    /// Whether an object is as its document says.
    pub fn is_right(&self, at: usize, world: &World) -> bool {
        let mut found = world.of(self.name(at));
        match self.documents[at].policy.ensure {
            Ensure::Absent => found.next().is_none(),
            _ => found.any(|stored| {
                let stored = Value::Object(stored.value.clone());
                if self.by_rules {
                    return diff(&self.documents[at].spec, &stored, &self.kind.fields).is_empty();
                }
                holds(&self.documents[at].spec.known(), &stored)
            }),
        }
    }

    /// Puts objects there that others have made: some as desired, some near it, some that nobody speaks of.
    pub fn furnish(&self, world: &mut World, dice: &mut Dice) {
        for (at, name) in self.names.iter().enumerate() {
            let mut value = match self.documents.get(at) {
                Some(document) if dice.percent(50) => {
                    let mut value = document.spec.known();
                    value.as_object_mut().expect("a map").retain(|_, member| !member.is_null());
                    value
                }
                Some(_) => json!({"size": dice.below(3), "conf": {"deep": {"kept": 1}}}),
                None => json!({"size": 7}),
            };
            if !dice.percent(60) {
                continue;
            }
            value[NOTE] = dice.below(90).into();
            if dice.percent(30) {
                value["mode"] = dice.one(&["on", "off"]).into();
            }
            world.store(name, value, true);
        }
    }
}

/// Names that a URL has to spell otherwise among them.
fn name(at: usize, dice: &mut Dice) -> String {
    dice.one(&["o", "o", "a b", "ä/", "50%", "q?x=", "h#"]).to_owned() + &at.to_string()
}

fn spec(dice: &mut Dice) -> Node {
    let number = |text: &str| serde_json::from_str::<Value>(text).expect("a number");
    let mut value = json!({"size": number(dice.one(&["0", "1", "1.0", "2e0"]))});
    if dice.percent(40) {
        value["mode"] = dice.one(&["on", "off"]).into();
    }
    if dice.percent(40) {
        value["tags"] = (0..dice.below(4)).map(|tag| Value::from(format!("t{tag}"))).rev().collect();
    }
    if dice.percent(40) {
        let port = |at: usize, dice: &mut Dice| json!({"name": format!("p{at}"), "to": dice.below(3)});
        value["ports"] = (0..dice.below(4)).map(|at| port(at, dice)).collect();
    }
    if dice.percent(30) {
        value["conf"] = json!({"deep": {"a/b~c": dice.below(3)}});
    }
    let mut spec = Node::from_value(Pos { line: 2, column: 1 }, value);
    if dice.percent(40) {
        let Want::Map(members) = &mut spec.want else { unreachable!("it is a map") };
        let secret = Want::Secret(Secret::new("env:PASSWORD", Some(PASSWORD.into())));
        members.insert("token", Node::new(Pos { line: 3, column: 1 }, secret));
    }
    spec
}

/// Whether a stored value is as wanted: told by other code than the one under test. Null is not compared.
pub fn holds(want: &Value, have: &Value) -> bool {
    match (want, have) {
        (Value::Null, _) => true,
        (Value::Object(want), Value::Object(have)) => want
            .iter()
            .all(|(name, want)| want.is_null() || have.get(name).is_some_and(|have| holds(want, have))),
        (Value::Array(want), Value::Array(have)) => {
            want.len() == have.len() && want.iter().all(|want| have.iter().any(|have| holds(want, have)))
        }
        (Value::Number(want), Value::Number(have)) => want.as_f64() == have.as_f64(),
        (want, have) => want == have,
    }
}
