//! What a write carries, as the operation's filter sees it, and the media type that it has.

use crate::core::exchange::{Body, Write};
use crate::core::filter::{FilterError, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Op};
use crate::core::patch::Operation;
use crate::core::path::{Path, Step};
use crate::core::value::Value;

/// A body and its media type.
pub struct Sent {
    pub value: Value,
    pub media: &'static str,
}

/// The body says another name than the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` in the body is not the `{part}` of the key")]
pub struct Contradiction {
    pub part: String,
    pub path: Path,
}

const JSON: &str = "application/json";

/// The value that a write sends, before the operation's filter. `null` stands for nothing.
///
/// Key parts that the request does not carry are laid into it at their place on the item, where that is a
/// plain path. An update that names the object by its server id needs no key. An operation with a `batch` sends
/// the list of what it would send for each.
///
/// # Errors
/// A body that states another value for a part of the key.
pub fn of_write(kind: &Kind, op: &Op, write: &Write) -> Result<Sent, Contradiction> {
    if op.batch.is_some() {
        let members = write.members().iter().map(|write| in_batch(kind, op, write));
        return Ok(Sent { value: Value::Array(members.collect::<Result<_, _>>()?), media: JSON });
    }
    let nothing = Body::None;
    let (key, body) = match write {
        Write::Create(target, body) | Write::Update(target, body) => (&target.id.key, body),
        Write::Delete(_) | Write::Batch(_) => (&write.target().id.key, &nothing),
    };
    let sent = |value, media| Ok(Sent { value, media });
    match body {
        Body::Object(value) if matches!(write, Write::Update(..)) && op.needs_id() => {
            sent(value.clone(), JSON)
        }
        Body::Object(value) => sent(with_key(kind, op, key, value.clone())?, JSON),
        Body::Merge(value) => sent(value.clone(), "application/merge-patch+json"),
        Body::JsonPatch(operations) => sent(json_patch(operations), "application/json-patch+json"),
        // A filter may make a body of the key alone; without one, presence is all that is said.
        Body::None if op.body.is_some() => sent(with_key(kind, op, key, Value::Null)?, JSON),
        Body::None => sent(Value::Null, JSON),
    }
}

/// What a batch sends of one object: always with its key, as nothing else says which one is meant; of one that
/// is to go, all that was observed.
fn in_batch(kind: &Kind, op: &Op, write: &Write) -> Result<Value, Contradiction> {
    let target = write.target();
    let value = match write {
        Write::Create(_, Body::Object(value) | Body::Merge(value))
        | Write::Update(_, Body::Object(value) | Body::Merge(value)) => value.clone(),
        Write::Delete(_) => target.observed.as_deref().cloned().unwrap_or_default(),
        Write::Create(..) | Write::Update(..) | Write::Batch(_) => Value::Null,
    };
    with_key(kind, op, &target.id.key, value)
}

/// The body after the operation's filter, whose input is what is sent; `None` for no body.
///
/// # Errors
/// A filter that fails.
pub fn filtered(op: &Op, sent: Sent, vars: &Vars) -> Result<Option<Sent>, FilterError> {
    let value = match &op.body {
        Some(filter) => filter.one(&sent.value, vars)?,
        None => Some(sent.value).filter(|value| !value.is_null()),
    };
    Ok(value.map(|value| Sent { value, media: sent.media }))
}

impl Sent {
    /// Nothing, for operations that send only what their filter makes.
    pub fn nothing() -> Sent {
        Sent { value: Value::Null, media: JSON }
    }
}

fn with_key(kind: &Kind, op: &Op, key: &Key, mut body: Value) -> Result<Value, Contradiction> {
    for part in &kind.parts {
        let (false, Some(plain), Some(value)) = (op.carries(&part.name), part.place(), key.get(&part.name))
        else {
            continue;
        };
        let path = Path(plain.iter().cloned().map(Step::Field).collect());
        if !path.lay(&mut body, value.clone())
            && !path.get(&body).is_some_and(|value| kind.same_part(key, &part.name, value))
        {
            return Err(Contradiction { part: part.name.to_string(), path });
        }
    }
    Ok(body)
}

fn json_patch(operations: &[Operation]) -> Value {
    let operation = |op: &str, pointer: &str, value: Option<&Value>| {
        let mut out = serde_json::json!({"op": op, "path": pointer});
        if let Some(value) = value {
            out["value"] = value.clone();
        }
        out
    };
    let each = operations.iter().map(|o| match o {
        Operation::Test { pointer, value } => operation("test", pointer, Some(value)),
        Operation::Add { pointer, value } => operation("add", pointer, Some(value)),
        Operation::Replace { pointer, value } => operation("replace", pointer, Some(value)),
        Operation::Remove { pointer } => operation("remove", pointer, None),
    });
    each.collect()
}
