//! An error inside a success: status 200, and a body that says that something went wrong. Taken at its word, an
//! empty list beside an error would prove that nothing is there, and an error in the place of an object would be
//! an object to be mended.
//!
//! Where the kind declares `failed`, that filter decides and nothing is guessed.

use crate::core::exchange::{Failure, FailureClass};
use crate::core::kind::Kind;
use crate::core::value::Value;

use super::answer::Asked;
use super::item::{envelope, failed, look, place_of};
use super::refusal::{Context, says, status_text, text_of};
use super::scan;
use super::wire::HttpAnswer;
use crate::core::filter::Vars;

/// Members that hold an error, or nothing.
const ERRORS: [&str; 3] = ["error", "errors", "Error"];
/// Members that say with `false` that something went wrong.
const FLAGS: [&str; 3] = ["success", "ok", "succeeded"];
/// Members that say it with a word.
const WORDS: [&str; 2] = ["status", "result"];
const BAD: [&str; 4] = ["error", "fail", "failed", "failure"];
/// What else stands in a body that is nothing but an error.
const AROUND: [&str; 12] = [
    "message",
    "msg",
    "code",
    "detail",
    "details",
    "title",
    "type",
    "reason",
    "description",
    "data",
    "request_id",
    "timestamp",
];

/// What the answer to a listing says of an error.
pub fn in_list(context: &Context, kind: &Kind, answer: &HttpAnswer, vars: &Vars) -> Option<Failure> {
    if kind.failed.is_some() {
        let body = context.json(answer).ok()?;
        // A filter for objects need not fit a list.
        let status = failed(kind, &envelope(answer, body), vars).ok().flatten()?;
        return Some(context.refused(FailureClass::Status(status), answer));
    }
    let members = top_members(answer)?;
    is_sign(&members).then(|| failure(context, answer, &[]))
}

/// What the answer about one object says of an error: where an object has a field of such a name, it also has
/// its key.
pub fn in_object(
    context: &Context,
    kind: &Kind,
    item: &Value,
    vars: &Vars,
    answer: &HttpAnswer,
    secrets: &[String],
) -> Option<Failure> {
    if kind.failed.is_some() || !is_sign(&top_members(answer)?) || !is_no_object(kind, item, vars) {
        return None;
    }
    Some(failure(context, answer, secrets))
}

/// What the parts of an answer say that are errors, where it is about several things at once: a 207 (RFC 4918,
/// 11.1), or the answer to a batch. Which object each is about is seen when they are read back.
pub fn inside(context: &Context, asked: Asked, answer: &HttpAnswer, secrets: &[String]) -> Option<Failure> {
    if asked.kind.failed.is_some() || (answer.status != 207 && asked.op.batch.is_none()) {
        return None;
    }
    let body: Value = serde_json::from_str(text_of(answer)?).ok()?;
    let said = said_inside(&body);
    let said = context.words(&said, secrets);
    let what = format!("the server answered {} with an error inside: {said}", status_text(answer.status));
    (!said.is_empty()).then(|| context.fail(FailureClass::Refused, &what, None))
}

/// What the elements that are errors say, each thing once, and not of all where there are many.
fn said_inside(body: &Value) -> String {
    const MOST: usize = 3;
    let mut all: Vec<String> = Vec::new();
    for said in elements(body).filter(|element| is_error(element)).map(says) {
        if !said.is_empty() && !all.contains(&said) && all.len() < MOST {
            all.push(said);
        }
    }
    all.join("; ")
}

/// The elements of a list, or of the lists in a map; of one that only says by a name what was done, what it names.
fn elements(body: &Value) -> impl Iterator<Item = &Value> {
    let lists: Vec<&Vec<Value>> = match body {
        Value::Array(list) => vec![list],
        Value::Object(map) => map.values().filter_map(Value::as_array).collect(),
        _ => Vec::new(),
    };
    lists.into_iter().flatten().map(|element| match element.as_object() {
        Some(map) if map.len() == 1 => map.values().next().filter(|one| one.is_object()).unwrap_or(element),
        _ => element,
    })
}

fn is_error(element: &Value) -> bool {
    let Value::Object(map) = element else { return false };
    let names = ERRORS.iter().chain(&FLAGS).chain(&WORDS);
    let members: Vec<_> = names.filter_map(|name| Some((*name, map.get(*name)?.clone()))).collect();
    let status =
        |name| map.get(name).and_then(Value::as_u64).is_some_and(|status| (400..600).contains(&status));
    is_sign(&members) || ["status", "code", "statusCode"].into_iter().any(status)
}

/// Whether a part of the key is missing; of a kind without one, whether there is nothing but an error.
fn is_no_object(kind: &Kind, item: &Value, vars: &Vars) -> bool {
    if kind.own_parts().next().is_none() {
        let known = [&ERRORS[..], &FLAGS, &WORDS, &AROUND].concat();
        return item.as_object().is_none_or(|map| map.keys().all(|name| known.contains(&name.as_str())));
    }
    kind.own_parts().any(|part| {
        let place = place_of(kind, part);
        place.is_some_and(|place| look(place, item, vars).ok().flatten().is_none_or(|found| found.is_null()))
    })
}

/// What the body says, without these secrets that it holds itself.
fn failure(context: &Context, answer: &HttpAnswer, secrets: &[String]) -> Failure {
    let said = context.said(answer, secrets).map_or(String::new(), |said| format!(": {said}"));
    let what = format!("the server answered {} with an error{said}", status_text(answer.status));
    let hint = "if that is no error, say in the backend what one looks like: `failed: .body.error != null`";
    context.fail(FailureClass::NotTheApi, &what, Some(hint.into()))
}

/// The members at the top of the body that may tell of an error; `None` for a body that is no map.
fn top_members(answer: &HttpAnswer) -> Option<Vec<(&'static str, Value)>> {
    let body = text_of(answer).filter(|body| body.trim_start().starts_with('{'))?;
    let names: Vec<&'static str> = ERRORS.iter().chain(&FLAGS).chain(&WORDS).copied().collect();
    let found = scan::members(body, &names).ok()?;
    let value = |text: Option<&str>| text.and_then(|text| serde_json::from_str(text).ok());
    Some(names.into_iter().zip(found).filter_map(|(name, text)| Some((name, value(text)?))).collect())
}

fn is_sign(members: &[(&str, Value)]) -> bool {
    members.iter().any(|(name, value)| match value {
        Value::Bool(true) | Value::Object(_) | Value::Array(_) | Value::String(_)
            if ERRORS.contains(name) =>
        {
            !is_empty(value)
        }
        Value::Bool(false) => FLAGS.contains(name),
        Value::String(word) => WORDS.contains(name) && BAD.contains(&word.to_ascii_lowercase().as_str()),
        _ => false,
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn signs(body: &str) -> bool {
        let answer = HttpAnswer { status: 200, headers: Vec::new(), body: body.into() };
        top_members(&answer).is_some_and(|members| is_sign(&members))
    }

    #[test]
    fn errors_inside_of_several() {
        let no = || json!({"status": 422, "message": "no"});
        for (body, said) in [
            (json!([{"status": 201}, {"status": 422, "message": "no"}]), "no"),
            (json!({"results": [{"ok": true}, {"ok": false, "detail": "no"}]}), "no"),
            (
                json!({"took": 3, "items": [{"create": {"status": 201}}, {"create": {"status": 400, "error": {"reason": "no"}}}]}),
                "no",
            ),
            (json!([no(), no(), {"status": 400, "message": "never"}]), "no; never"),
            (json!([{"statusCode": 503}, {"code": 500}]), "code 500"),
            (json!([{"status": 200, "error": null}, {"name": "a", "code": 7}]), ""),
            (json!({"name": "a", "tags": ["x"]}), ""),
            (json!("done"), ""),
        ] {
            assert_eq!(said_inside(&body), said, "{body}");
        }
    }

    #[test]
    fn signs_of_an_error() {
        for body in [
            r#"{"error": "x"}"#,
            r#"{"error": {"code": 1}}"#,
            r#"{"errors": ["x"], "items": []}"#,
            r#"{"error": true}"#,
            r#"{"success": false}"#,
            r#"{"ok": false, "x": 1}"#,
            r#"{"status": "Error"}"#,
            r#"{"result": "failure"}"#,
        ] {
            assert!(signs(body), "{body}");
        }
        for body in [
            r#"{"error": null, "errors": [], "Error": ""}"#,
            r#"{"error": false}"#,
            r#"{"error": 0}"#,
            r#"{"success": true, "status": "ok", "result": []}"#,
            r#"{"status": "active"}"#,
            r#"{"data": {"error": "x"}}"#,
            r#"[{"error": "x"}]"#,
            "{}",
            "not JSON",
        ] {
            assert!(!signs(body), "{body}");
        }
    }
}
