//! Opens a page of a listing: where its elements stand and how it goes on, so that the next page can be asked
//! for while [`super::elements`] reads this one.
//!
//! Where the kind's filters are plain paths, no tree is built of the body.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use url::Url;

use crate::core::exchange::{Collection, Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::kind::{Kind, ListOp, Version};
use crate::core::value::{Value, equal, type_name};

use super::answer::body_of;
use super::elements::{Read, Reader};
use super::item::{ItemError, answer_vars, envelope, place_of};
use super::onward;
use super::page::PageFacts;
use super::refusal::{Context, text_of};
use super::request::{filter_failure, vars};
use super::scan;
use super::trouble;
use super::twice::Reading;
use super::wire::HttpAnswer;

/// A page that has been opened.
#[derive(Debug)]
pub struct OpenPage {
    pub facts: PageFacts,
    pub(super) answer: HttpAnswer,
    pub(super) elements: Elements,
}

impl OpenPage {
    /// The size of its body, in bytes.
    pub fn size(&self) -> usize {
        self.answer.body.len()
    }
}

#[derive(Debug)]
pub(super) enum Elements {
    /// Where they stand in the body.
    Places(Vec<Range<usize>>),
    Trees(Vec<Reading>),
}

/// What a page belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    pub kind: &'a Kind,
    pub list: &'a ListOp,
    pub collection: &'a Collection,
}

/// Finds the elements of a page and the way on. `request` is the URL that was asked.
///
/// # Errors
/// An error status, another content than the API's, a next page at another origin, a filter that fails.
pub fn open(
    context: &Context,
    listed: Listed,
    request: &Url,
    answer: HttpAnswer,
) -> Result<OpenPage, Failure> {
    if !(200..300).contains(&answer.status) {
        return Err(context.refused(FailureClass::Status(answer.status), &answer));
    }
    let facts = |look: &onward::Look| onward::facts(context, listed.list, request, &answer, look);
    let inside = || trouble::in_list(context, listed.kind, &answer, &listed.vars(&answer));
    let (elements, sent, mut facts) = if listed.is_plain() {
        let picked = Picked::of(context, listed.list, &answer)?;
        let found = places(context, listed, &answer, picked.elements);
        let (elements, sent) = found.map_err(|failure| inside().unwrap_or(failure))?;
        (elements, sent, facts(&|filter| picked.look(filter))?)
    } else {
        let found = trees(context, listed, &answer);
        let (elements, sent) = found.map_err(|failure| inside().unwrap_or(failure))?;
        (elements, sent, facts(&|filter| onward::look(context, filter, &answer))?)
    };
    // A page that leads on holds what it should.
    if let Some(failure) = if facts.next.is_none() { inside() } else { None } {
        return Err(failure);
    }
    facts.count = sent;
    facts.fingerprint = fingerprint(listed, &answer, &elements);
    Ok(OpenPage { facts, answer, elements })
}

impl OpenPage {
    /// The page of a collection that is not there: nothing is in it, and nothing follows.
    pub fn empty(answer: HttpAnswer) -> OpenPage {
        OpenPage { facts: PageFacts::default(), answer, elements: Elements::Trees(Vec::new()) }
    }
}

impl Listed<'_> {
    /// Whether an error says, as the kind declares, that there is no such collection.
    pub fn is_absent(&self, answer: &HttpAnswer) -> bool {
        let is_error = !(200..300).contains(&answer.status);
        let holds = |filter: &Filter| filter.holds(&envelope(answer, body_of(answer)), &self.vars(answer));
        is_error && self.kind.absent.as_ref().is_some_and(|filter| holds(filter).unwrap_or(false))
    }

    /// Whether everything that is read of an element is at a plain path.
    fn is_plain(&self) -> bool {
        let plain = |filter: Option<&Filter>| filter.is_none_or(|filter| filter.plain().is_some());
        let version = match &self.kind.version {
            Version::OnItem(filter) => Some(filter),
            _ => None,
        };
        plain(self.list.items.as_ref())
            && self.list.op.item.is_none()
            && self.kind.absent.is_none()
            && plain(Some(&self.kind.id))
            && plain(version)
            && self.kind.parts.iter().all(|part| plain(place_of(self.kind, part)))
    }

    /// What filters on the page and on its elements may name.
    pub(super) fn vars(&self, answer: &HttpAnswer) -> Vars {
        let mut vars = vars(&self.collection.scope, &self.collection.parent_ids, None);
        vars.0.extend(answer_vars(answer));
        vars
    }
}

/// What a page has at plain paths: its elements, and what it says of the way on. The next page cannot be asked
/// for before this is known, so it is found in one pass.
struct Picked<'a> {
    context: &'a Context<'a>,
    answer: &'a HttpAnswer,
    elements: Option<&'a str>,
    onward: Vec<(&'a [String], Option<&'a str>)>,
}

impl<'a> Picked<'a> {
    fn of(context: &'a Context, list: &'a ListOp, answer: &'a HttpAnswer) -> Result<Picked<'a>, Failure> {
        let body = text_of(answer).ok_or_else(|| context.not_json(answer))?;
        let elements = list.items.as_ref().and_then(Filter::plain).unwrap_or_default();
        let onward = list.page.iter().flat_map(|page| [&page.next, &page.total]).flatten();
        let paths: Vec<&[String]> = [elements].into_iter().chain(onward.filter_map(Filter::plain)).collect();
        let found = scan::pick(body, &paths).map_err(|why| context.unpicked(answer, why))?;
        let onward = paths.into_iter().zip(found.iter().copied()).skip(1).collect();
        Ok(Picked { context, answer, elements: found.first().copied().flatten(), onward })
    }

    fn look(&self, filter: &Filter) -> Result<Option<Value>, Failure> {
        let picked = self.onward.iter().find(|(path, _)| filter.plain() == Some(*path));
        match picked {
            Some((_, text)) => Ok(text.and_then(|text| serde_json::from_str(text).ok())),
            None => onward::look(self.context, filter, self.answer),
        }
    }
}

/// The elements as places in the body, and how many the server sent.
fn places(
    context: &Context,
    listed: Listed,
    answer: &HttpAnswer,
    found: Option<&str>,
) -> Result<(Elements, u64), Failure> {
    let Some(list) = found else { return Err(no_list(context, listed, answer, "nothing")) };
    // Servers whose language has empty lists that are null say so.
    if list.trim() == "null" {
        return Ok((Elements::Places(Vec::new()), 0));
    }
    let whole = std::str::from_utf8(&answer.body).map_err(|_| context.not_json(answer))?;
    match scan::elements(whole, list).map_err(|_| context.not_json(answer))? {
        Some(places) => {
            let sent = places.len() as u64;
            Ok((Elements::Places(places), sent))
        }
        None => {
            let value = serde_json::from_str::<Value>(list).unwrap_or(Value::Null);
            Err(no_list(context, listed, answer, type_name(&value)))
        }
    }
}

/// The elements as the filters make them, and how many the server sent: a filter may drop some, and a page
/// that is full must not look short for that.
fn trees(context: &Context, listed: Listed, answer: &HttpAnswer) -> Result<(Elements, u64), Failure> {
    let body = context.reading(answer)?;
    let sent = longest_list(&body.value, 0);
    let elements = elements(context, listed, answer, body.value)?;
    let sent = sent.max(elements.len());
    let Some(first) = body.first else {
        let plain = |value| Reading { value, first: None };
        return Ok((Elements::Trees(elements.into_iter().map(plain).collect()), sent as u64));
    };
    // Which list it is must not depend on which of two members counts; what is in its elements is judged with each.
    let others = self::elements(context, listed, answer, first)?;
    if others.len() != elements.len() {
        return Err(context.not_the_api(answer, "the answer has a member twice, and so two lists"));
    }
    let pair = |(value, first): (Value, Value)| Reading {
        first: Some(first).filter(|first| !equal(first, &value)),
        value,
    };
    Ok((Elements::Trees(elements.into_iter().zip(others).map(pair).collect()), sent as u64))
}

/// The elements that the filters make of a body.
fn elements(
    context: &Context,
    listed: Listed,
    answer: &HttpAnswer,
    body: Value,
) -> Result<Vec<Value>, Failure> {
    let vars = listed.vars(answer);
    let fault = |error| context.wrap(filter_failure(error));
    let found = match &listed.list.items {
        Some(filter) => filter.one(&body, &vars).map_err(fault)?,
        None => Some(body),
    };
    let elements = match found {
        Some(Value::Array(elements)) => elements,
        // As in [`places`]. Of another filter null says that something on its way was not there.
        Some(Value::Null) if listed.list.items.as_ref().is_none_or(|items| items.plain().is_some()) => {
            Vec::new()
        }
        other => {
            let found = other.as_ref().map_or("nothing", type_name);
            return Err(no_list(context, listed, answer, found));
        }
    };
    match &listed.list.op.item {
        Some(filter) => {
            let each = elements.iter().map(|element| filter.one(element, &vars).map_err(fault));
            each.filter_map(Result::transpose).collect()
        }
        None => Ok(elements),
    }
}

/// The length of the longest list at the top of a body.
fn longest_list(body: &Value, depth: usize) -> usize {
    match body {
        Value::Array(elements) => elements.len(),
        Value::Object(map) if depth < 2 => {
            map.values().map(|value| longest_list(value, depth + 1)).max().unwrap_or(0)
        }
        _ => 0,
    }
}

fn no_list(context: &Context, listed: Listed, answer: &HttpAnswer, found: &str) -> Failure {
    let Some(items) = &listed.list.items else {
        let failure = context.not_the_api(answer, &format!("the answer is {found}, not a list"));
        let hint = match &listed.list.op.item {
            None => "where the list stands inside the answer, say so: `items: .items`".into(),
            Some(item) => format!(
                "`item` is taken of each element; where the list stands is `items`: write `items: {}`",
                item.text()
            ),
        };
        return Failure { hint: failure.hint.or(Some(hint)), ..failure };
    };
    let text = items.text();
    let failure = context.not_the_api(answer, &format!("the answer has {found} at `{text}`, not a list"));
    let list = if items.plain().is_some() { text.to_owned() } else { format!("({text})") };
    let hint = format!("if the API leaves out an empty list, write `items: '{list} // []'`");
    Failure { hint: failure.hint.or(matches!(found, "nothing" | "null").then_some(hint)), ..failure }
}

/// Tells a page from another that holds other elements: by the keys at both ends, since the rest of an
/// element may change from one request to the next.
fn fingerprint(listed: Listed, answer: &HttpAnswer, elements: &Elements) -> u64 {
    let reader = Reader::new(listed, answer);
    let mut hasher = DefaultHasher::new();
    let mut add = |read: Result<Read, ItemError>, text: &str| match read {
        Ok(read) => (read.key, read.id).hash(&mut hasher),
        Err(_) => text.hash(&mut hasher),
    };
    match elements {
        Elements::Places(places) => {
            let body = std::str::from_utf8(&answer.body).expect("it was read as text before");
            for place in places.first().into_iter().chain(places.last()) {
                add(reader.raw(&body[place.clone()]), &body[place.clone()]);
            }
        }
        Elements::Trees(trees) => {
            for tree in trees.first().into_iter().chain(trees.last()) {
                add(reader.tree(&tree.value), &tree.value.to_string());
            }
        }
    }
    hasher.finish()
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "listing_whole_tests.rs"]
mod whole_tests;
