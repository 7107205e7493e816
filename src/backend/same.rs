//! Whether an answer is about the object that was asked for: what it says of its key, its id and its type.

use crate::core::exchange::{Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::key::OTHER_TYPE;
use crate::core::kind::Kind;
use crate::core::value::Value;

use super::answer::Asked;
use super::item::{id_text, look, place_of};
use super::refusal::Context;
use super::request::filter_failure;
use super::wire::HttpAnswer;

/// Refuses an object with another id than the one that stood in the request. Where its name stood there, what has that
/// name and another id was made anew; what does not tell its name, and has another id than was seen, may be anything.
/// What an answer to a create has told is a hint, and not held against it.
pub(super) fn same_id(
    context: &Context,
    asked: Asked,
    found: Option<&str>,
    value: &Value,
    vars: &Vars,
) -> Result<(), Failure> {
    let Asked { kind, op, target, .. } = asked;
    let wanted = if op.needs_id() {
        target.server_id.clone()
    } else {
        let seen = target.observed.as_ref().filter(|_| tells_name(kind, value, vars) == Some(false));
        seen.and_then(|seen| id_text(&kind.id, look(&kind.id, seen, vars).ok()?).ok()?)
    };
    match wanted.as_deref().zip(found) {
        Some((wanted, found)) if !wanted.eq_ignore_ascii_case(found) => Err(wrong_object(
            context,
            format!("the server answered with another object: one of the id `{found}`"),
        )),
        _ => Ok(()),
    }
}

/// Whether an object tells any part of its name; `None` for a kind whose objects tell none.
fn tells_name(kind: &Kind, value: &Value, vars: &Vars) -> Option<bool> {
    let mut places = kind.own_parts().filter_map(|part| place_of(kind, part)).peekable();
    places.peek()?;
    let tells =
        |place: &Filter| look(place, value, vars).ok().flatten().is_some_and(|found| !found.is_null());
    Some(places.any(tells))
}

/// Whether an object tells another name than the one that it was asked for by.
pub(super) fn has_another_name(asked: Asked, value: &Value, vars: &Vars) -> bool {
    let Asked { kind, target, .. } = asked;
    let mut parts = target.id.key.parts().to_vec();
    for (name, part) in &mut parts {
        let own = kind.own_parts().find(|own| own.name == *name).and_then(|own| place_of(kind, own));
        let found = own.and_then(|place| look(place, value, vars).ok().flatten());
        if let Some(found) = found.filter(|found| !found.is_null()) {
            *part = found;
        }
    }
    kind.key_of(parts) != target.id.key
}

fn wrong_object(context: &Context, what: String) -> Failure {
    context.fail(
        FailureClass::WrongObject,
        &what,
        Some("check `read` and `key` of the kind in the backend".into()),
    )
}

/// Refuses an object with another key than the one that was asked for, or another type than its documents have. A
/// part that is not there says nothing, unless the same object had it before.
pub(super) fn same_object(
    context: &Context,
    asked: Asked,
    answer: &HttpAnswer,
    value: &Value,
    vars: &Vars,
) -> Result<(), Failure> {
    let key = &asked.target.id.key;
    let mut parts = key.parts().to_vec();
    // A listing may tell a key that no read does.
    let shown_alike = asked.kind.list.is_none() || is_as_listed(asked);
    for (name, part) in &mut parts {
        let place = asked.kind.part(name).and_then(|part| place_of(asked.kind, part));
        let Some(place) = place else { continue };
        let tells = |value: &Value| {
            let found = look(place, value, vars).map_err(|error| context.wrap(filter_failure(error)))?;
            Ok(found.filter(|found| !found.is_null()))
        };
        match (tells(value)?, &asked.target.observed) {
            (Some(found), _) => *part = found,
            (None, Some(before)) if shown_alike && tells(before)?.is_some() => {
                let what = "the server answered with something else: it has no";
                return Err(wrong_object(context, format!("{what} `{name}`, which the object had before")));
            }
            (None, _) => {}
        }
    }
    let kind = asked.kind.document.as_ref().map(|document| &*document.kind);
    if let Some((found, wanted)) = value["kind"].as_str().zip(kind).filter(|(found, wanted)| found != wanted)
    {
        let what = format!("the server answered with another object: a `{found}`, not a `{wanted}`");
        return Err(wrong_object(context, what));
    }
    let found = asked.kind.key_of(parts);
    if found == *key {
        return Ok(());
    }
    let respelt = asked.kind.other_type(key, &found);
    Err(match respelt {
        Some(types) => {
            let what = format!("the server answered with a key of another type: {types}");
            let failure = context.not_the_api(answer, &what);
            Failure { hint: failure.hint.or(Some(OTHER_TYPE.into())), ..failure }
        }
        None => wrong_object(context, format!("the server answered with another object: `{found}`")),
    })
}

/// Whether the objects of reads and of listings are as the API has them.
pub(super) fn is_as_listed(asked: Asked) -> bool {
    let is_plain = |items: &Option<Filter>| items.as_ref().is_none_or(|items| items.plain().is_some());
    let listed = asked.kind.list.as_ref();
    let listed = listed.filter(|list| !list.partial && list.op.item.is_none() && is_plain(&list.items));
    listed.is_some() && asked.op.item.is_none() && !asked.kind.is_singleton()
}
