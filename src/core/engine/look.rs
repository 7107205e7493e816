//! What an object looks like to its document: what a deletion that was agreed to rests on.
//!
//! A deletion and a replacement have no difference that tells what was there. So what the document declares of the
//! object is taken down when the plan is made, with the owner's mark, and held against what is there when the time
//! comes. What nobody declared is left out: counters of the server's would keep every queue from being deleted.

use std::sync::Arc;

use super::super::diff::scope::Scope;
use super::super::digest::Digest;
use super::super::exchange::Item;
use super::super::mark;
use super::super::node::{Node, Want};
use super::super::report::{Action, Outcome};
use super::super::value::{Map, Value};
use super::decide::Seen;
use super::object::{Object, conflict};

/// What was seen of the object when the run was agreed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    pub uid: Option<Arc<str>>,
    pub look: Option<Digest>,
}

impl Object {
    /// Takes down what is to go, before it is forgotten.
    pub fn note_look(&mut self) {
        if matches!(self.action, Action::Delete | Action::Replace) {
            self.observed.look = self.look();
        }
    }

    /// What is there, as the document and the mark of its owner speak of it; `None` where nothing is there.
    fn look(&self) -> Option<Digest> {
        let Seen::Present(Item { value: observed, .. }) = &self.seen else { return None };
        let declared = declared(&self.spec, observed, Scope::root(&self.kind.fields));
        let mark = self.kind.owner.as_ref().and_then(|path| mark::field(path).get(observed));
        Some(Digest::of_value(&Value::Array(vec![declared, mark.cloned().unwrap_or_default()])))
    }

    /// Whether another object stands there than the one that was agreed to, or, where it is to go, another state.
    pub(super) fn is_another(&self, action: Action) -> Option<Outcome> {
        let then = &self.agreed.as_ref()?.sight;
        let destroys = matches!(action, Action::Delete | Action::Replace);
        if !destroys && action != Action::Update {
            return None;
        }
        if then.uid.is_some() && self.server_id.is_some() && then.uid != self.server_id {
            return Some(conflict("another object has its name since the plan was made"));
        }
        if destroys && then.look.is_some() && then.look != self.look() {
            return Some(conflict("it has changed since the plan was made, and would be lost as it is now"));
        }
        None
    }
}

/// What is there of what is declared. Secrets and what is not compared are left out.
fn declared(spec: &Node, observed: &Value, scope: Scope) -> Value {
    if scope.secret || scope.here().not_compared() || scope.here().mask.is_some() {
        return Value::Null;
    }
    match (&spec.want, observed) {
        (Want::Secret(_), _) => Value::Null,
        (Want::Map(members), Value::Object(map)) => {
            let members = members.iter().map(|(name, spec)| {
                let value = map.get(&**name).unwrap_or(&Value::Null);
                (name.to_string(), declared(spec, value, scope.field(name)))
            });
            Value::Object(members.collect::<Map<String, Value>>())
        }
        _ => observed.clone(),
    }
}
