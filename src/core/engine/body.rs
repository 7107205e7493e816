//! What a write carries: the desired object, or a patch towards it, in the form that its operation asks for.

use super::super::exchange::Body;
use super::super::fields::FieldRules;
use super::super::kind::{Op, Send};
use super::super::mutant::planted;
use super::super::node::{Node, Unavailable, Want};
use super::super::overlay::{Form, overlay, strip};
use super::super::patch::{NullTrap, json_patch, merge_patch};
use super::super::report::{Action, Explanation, Outcome};
use super::super::value::{Map, Value};
use super::changed::changed;
use super::decide::Seen;
use super::object::Object;
use super::renew::add_hidden;

/// Why a body cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Unsendable {
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    NullTrap(#[from] NullTrap),
}

impl Unsendable {
    /// Where the object stands for want of a body.
    pub fn outcome(self) -> Outcome {
        let explanation = self.explanation();
        match self {
            Unsendable::Unavailable(Unavailable::Reference { .. }) => Outcome::Failed(explanation),
            _ => Outcome::Refused(explanation),
        }
    }

    /// What is missing, and the next step.
    pub fn explanation(&self) -> Explanation {
        let hint = match self {
            Unsendable::Unavailable(Unavailable::Secret { from, .. }) => {
                let from = from.strip_prefix("env:").map(|name| format!("set the variable `{name}`"));
                from.unwrap_or_else(|| "make the file".into())
            }
            Unsendable::Unavailable(Unavailable::Reference { .. }) => {
                "the object that it names has no such field: look at it with `trueup get`".into()
            }
            Unsendable::NullTrap(_) => {
                "say `send: json-patch` or `send: full` in the backend's `update`".into()
            }
        };
        Explanation::new(self.to_string()).hint(hint)
    }
}

/// The body of a create or an update of `object` towards `spec`, and the paths that it changes where the
/// request says them; with `rotate`, also of what is hidden.
///
/// # Errors
/// What has to be sent and is not there.
pub fn body(
    object: &Object,
    spec: &Node,
    action: Action,
    rotate: bool,
) -> Result<(Body, Vec<String>), Unsendable> {
    let op = if action == Action::Create { object.kind.create.as_ref() } else { None };
    let op = op.or(object.kind.update.as_ref()).expect("a write is due only where the kind has it");
    body_for(op, object, spec, action, rotate)
}

/// The body with which `object` is created once it is gone, towards `spec`.
///
/// # Errors
/// As [`body`].
pub fn new_body(object: &Object, spec: &Node) -> Result<Body, Unsendable> {
    let op = object.kind.create.as_ref().or(object.kind.update.as_ref());
    let send = op.map_or(Send::None, |op| op.send);
    sent(send, spec, &Value::Object(Map::new()), &object.kind.fields, Action::Create)
}

/// The body in the form that an operation asks for.
///
/// # Errors
/// As [`body`].
pub fn body_for(
    op: &Op,
    object: &Object,
    spec: &Node,
    action: Action,
    rotate: bool,
) -> Result<(Body, Vec<String>), Unsendable> {
    let nothing = Value::Object(Map::new());
    let observed = match &object.seen {
        Seen::Present(item) => &*item.value,
        _ => &nothing,
    };
    let rules = &object.kind.fields;
    let mut body = sent(op.send, spec, observed, rules, action)?;
    if rotate {
        add_hidden(&mut body, spec, observed, rules)?;
    }
    let changed = if op.says_changed() { changed(spec, observed, rules, &body) } else { Vec::new() };
    Ok((body, changed))
}

/// What an operation sends towards `spec` where this is observed.
///
/// # Errors
/// As [`body`].
pub fn sent(
    send: Send,
    spec: &Node,
    observed: &Value,
    rules: &FieldRules,
    action: Action,
) -> Result<Body, Unsendable> {
    let nothing = Value::Object(Map::new());
    Ok(match send {
        Send::None => Body::None,
        Send::Ours => {
            let unset = unset_in(spec, observed).unwrap_or(nothing);
            Body::Object(overlay(spec, &unset, rules, Form::Full)?)
        }
        Send::Full => {
            let mut whole = overlay(spec, observed, rules, Form::Full)?;
            if planted!(M25)
                && let Value::Object(map) = &mut whole
            {
                map.remove("finalizers");
            }
            Body::Object(whole)
        }
        Send::Merge if action == Action::Create => Body::Object(overlay(spec, &nothing, rules, Form::Full)?),
        Send::Merge => {
            let mut patch = merge_patch(observed, &overlay(spec, observed, rules, Form::Patch)?)?;
            // A changed list goes out whole, with the elements' fields that nobody declared.
            strip(&mut patch, rules);
            Body::Merge(patch)
        }
        Send::JsonPatch => {
            Body::JsonPatch(json_patch(observed, &overlay(spec, observed, rules, Form::Patch)?))
        }
    })
}

/// What is observed where nothing must be set: what is ours alone says of these, too, how they are cleared.
fn unset_in(spec: &Node, observed: &Value) -> Option<Value> {
    match (&spec.want, observed) {
        (Want::Unset, _) => Some(observed.clone()),
        (Want::Map(declared), Value::Object(map)) => {
            let below = declared
                .iter()
                .filter_map(|(name, node)| Some((name.to_string(), unset_in(node, map.get(&**name)?)?)));
            let below: Map<String, Value> = below.collect();
            (!below.is_empty()).then_some(Value::Object(below))
        }
        _ => None,
    }
}
