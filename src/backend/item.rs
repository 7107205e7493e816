//! From an element of an answer to an observed object: its key, id, version and state.

use std::sync::Arc;

use crate::core::exchange::{Item, VersionToken};
use crate::core::filter::{Filter, FilterError, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Parent, Part, Version};
use crate::core::value::{Map, Value, plain_text, type_name};

use super::twice;
use super::wire::HttpAnswer;

/// What is wrong with an element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    #[error("it has no `{part}`{}", .filter.as_ref().map_or(String::new(), |f| format!(" at `{f}`")))]
    NoPart { part: String, filter: Option<String> },
    #[error("it is {found}, not a map; if it is the `{part}`, write `items: '{items}'`")]
    Bare { part: String, found: &'static str, items: String },
    #[error("its id at `{filter}` is {found}, not a text or a number")]
    OddId { filter: String, found: &'static str },
    #[error("it nests too deep, or is not JSON")]
    Unreadable,
    #[error("it has a member twice, and so two values at `{0}`: which object it is cannot be told")]
    Twice(String),
    #[error(transparent)]
    Filter(#[from] FilterError),
}

/// Where a part of the key stands on an item of a listing.
pub fn place_of<'k>(kind: &'k Kind, part: &'k Part) -> Option<&'k Filter> {
    let matching = kind.matching.iter().find(|(name, _)| *name == part.name).map(|(_, filter)| filter);
    matching.or(part.on_item.as_ref())
}

/// What a filter finds on an item. A plain path that leads through something that is no map finds nothing,
/// as it does in a text.
///
/// # Errors
/// A filter that fails.
pub fn look(filter: &Filter, item: &Value, vars: &Vars) -> Result<Option<Value>, FilterError> {
    match filter.plain() {
        Some(path) => Ok(path.iter().try_fold(item, |value, name| value.get(name)).cloned()),
        None => filter.one(item, vars),
    }
}

/// The key of an item: the parents' parts that the listing's request named, and the others from the item. A
/// search finds more than what it was asked for, so the object's own parts are read from the item too.
///
/// # Errors
/// A part that is nowhere.
pub fn key_of(
    kind: &Kind,
    scope: &Key,
    find: &mut dyn FnMut(&Filter) -> Result<Option<Value>, ItemError>,
) -> Result<Key, ItemError> {
    let mut parts = Vec::with_capacity(kind.parts.len());
    for part in &kind.parts {
        let place = place_of(kind, part);
        let asked = scope.get(&part.name).filter(|_| part.parent != Parent::Own || place.is_none());
        let value = match (asked, place) {
            (Some(value), _) => Some(value.clone()),
            (None, Some(filter)) => find(filter)?,
            (None, None) => None,
        };
        let Some(value) = value.filter(|value| !value.is_null()) else {
            let filter = place.map(|filter| filter.text().to_owned());
            return Err(ItemError::NoPart { part: part.name.to_string(), filter });
        };
        parts.push((part.name.clone(), value));
    }
    Ok(kind.key_of(parts))
}

/// A server's id as text.
///
/// # Errors
/// An id that is a map, a list or a boolean.
pub fn id_text(filter: &Filter, id: Option<Value>) -> Result<Option<Arc<str>>, ItemError> {
    match id {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(id @ (Value::String(_) | Value::Number(_))) => Ok(Some(plain_text(&id).into())),
        Some(other) => Err(ItemError::OddId { filter: filter.text().into(), found: type_name(&other) }),
    }
}

/// The version that stands on an item, where the kind has it there.
///
/// # Errors
/// A filter that fails.
pub fn version_on(kind: &Kind, item: &Value, vars: &Vars) -> Result<Option<VersionToken>, FilterError> {
    match &kind.version {
        Version::OnItem(filter) => Ok(look(filter, item, vars)?.as_ref().and_then(version_token)),
        _ => Ok(None),
    }
}

/// A version that stood in JSON.
pub fn version_token(value: &Value) -> Option<VersionToken> {
    match value {
        Value::String(_) | Value::Number(_) => {
            Some(VersionToken { text: plain_text(value).into(), weak: false })
        }
        _ => None,
    }
}

/// What filters that look at a part of an answer may know of the rest: `$status` and `$headers`.
pub fn answer_vars(answer: &HttpAnswer) -> [(&'static str, Value); 2] {
    let mut around = envelope(answer, Value::Null);
    ["status", "headers"].map(|name| (name, around[name].take()))
}

/// `{status, headers, body}`, as filters on answers see it. A body that is no JSON is a text, and no body null.
pub fn envelope(answer: &HttpAnswer, body: Value) -> Value {
    let mut headers = Map::new();
    for (name, value) in &answer.headers {
        headers.entry(name.clone()).or_insert_with(|| value.as_str().into());
    }
    let mut envelope = Map::new();
    envelope.insert("status".into(), answer.status.into());
    envelope.insert("headers".into(), Value::Object(headers));
    envelope.insert("body".into(), body);
    Value::Object(envelope)
}

/// What the kind says of the state of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    pub absent: bool,
    pub deleting: bool,
    pub ready: Option<bool>,
}

impl State {
    /// Whether the kind has filters that look at the state.
    pub fn is_declared(kind: &Kind) -> bool {
        kind.absent.is_some() || kind.deleting.is_some() || kind.ready.is_some()
    }

    /// Looks at an answer `{status, headers, body}`.
    ///
    /// # Errors
    /// A filter that fails.
    pub fn of(kind: &Kind, envelope: &Value, vars: &Vars) -> Result<State, FilterError> {
        let holds = |filter: &Option<Filter>| filter.as_ref().map(|f| f.holds(envelope, vars)).transpose();
        Ok(State {
            absent: holds(&kind.absent)?.unwrap_or(false),
            deleting: holds(&kind.deleting)?.unwrap_or(false),
            ready: holds(&kind.ready)?,
        })
    }
}

/// The status of an answer `{status, headers, body}` that the kind takes for an error: the one that its `failed`
/// filter gives, as in `if .body.code == 7 then 409 else false end`, else the answer's own.
///
/// # Errors
/// A filter that fails.
pub fn failed(kind: &Kind, envelope: &Value, vars: &Vars) -> Result<Option<u16>, FilterError> {
    let Some(filter) = &kind.failed else { return Ok(None) };
    let own = || envelope["status"].as_u64().and_then(|status| u16::try_from(status).ok());
    Ok(match filter.one(envelope, vars)? {
        None | Some(Value::Null | Value::Bool(false)) => None,
        Some(told) => {
            let status = told.as_u64().and_then(|status| u16::try_from(status).ok());
            status.filter(|status| (400..600).contains(status)).or_else(own)
        }
    })
}

/// An item of a listing, with its state: there the element stands in the place of the answer's body.
///
/// # Errors
/// A filter that fails.
pub fn listed(
    kind: &Kind,
    key: Key,
    server_id: Option<Arc<str>>,
    version: Option<VersionToken>,
    value: Value,
    vars: &Vars,
) -> Result<Option<Item>, FilterError> {
    let mut state = State::default();
    let mut value = value;
    if State::is_declared(kind) {
        let found = HttpAnswer { status: 200, headers: Vec::new(), body: Vec::new() };
        let mut around = envelope(&found, value);
        state = State::of(kind, &around, vars)?;
        value = around["body"].take();
    }
    let item = Item {
        key,
        server_id,
        version,
        value: Arc::new(value),
        deleting: state.deleting,
        ready: state.ready,
        ambiguous: Vec::new(),
    };
    Ok((!state.absent).then_some(item))
}

/// The one object that a text tells of in which a member stands twice: `first` and `last` are what it is where the
/// first one counts and the last. An error names a place, where they are not the same object in the same state.
pub fn one_of(first: Option<Item>, last: Option<Item>) -> Result<Option<Item>, String> {
    let (first, last) = match (first, last) {
        (None, None) => return Ok(None),
        (Some(first), Some(last)) => (first, last),
        (Some(_), None) | (None, Some(_)) => return Err(".".into()),
    };
    let is_same =
        (&first.key, &first.server_id, first.deleting) == (&last.key, &last.server_id, last.deleting);
    match is_same {
        true => Ok(Some(Item { ambiguous: twice::differing(&first.value, &last.value), ..last })),
        false => Err(twice::place(&first.value, &last.value)),
    }
}
