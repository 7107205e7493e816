//! How a page says that there are others: as its kind declares, and in the ways that APIs have in common.

use url::Url;

use crate::core::exchange::{Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::kind::{ListOp, PageBy};
use crate::core::value::{Map, Value, canonical_text, plain_text, type_name};

use super::base::Elsewhere;
use super::link;
use super::page::PageFacts;
use super::refusal::{Context, text_of};
use super::request::filter_failure;
use super::scan;
use super::twice::Reading;
use super::wire::HttpAnswer;

/// Looks up what a filter finds on a page.
pub type Look<'l> = dyn Fn(&Filter) -> Result<Option<Value>, Failure> + 'l;

/// What a page says of the way on. The number of its elements is not known here.
///
/// # Errors
/// A next page at another origin, a filter that fails.
pub fn facts(
    context: &Context,
    list: &ListOp,
    request: &Url,
    answer: &HttpAnswer,
    look: &Look,
) -> Result<PageFacts, Failure> {
    let page = list.page.as_ref();
    let by = page.map(|page| page.by);
    let link = link::next(all(answer, "link"));
    let declared = |filter: Option<&Filter>| match filter {
        Some(filter) => look(filter),
        None => Ok(None),
    };
    let mut odd = None;
    let next = match by {
        Some(PageBy::Link) => link.map(str::to_owned),
        Some(PageBy::Url | PageBy::Cursor) => {
            let found = declared(page.and_then(|page| page.next.as_ref()))?;
            odd = found.as_ref().and_then(no_cursor);
            found.as_ref().and_then(cursor)
        }
        _ => None,
    };
    let next = match (by, next) {
        (Some(PageBy::Link | PageBy::Url), Some(url)) => Some(resolve(context, request, &url)?),
        (_, next) => next,
    };
    let total = declared(page.and_then(|page| page.total.as_ref()))?.as_ref().and_then(count);
    let counted =
        || ["x-total-count", "x-total"].iter().find_map(|name| answer.header(name)?.trim().parse().ok());
    let range = answer.header("content-range").and_then(content_range);
    let ranged = || range.as_ref().and_then(|range| range.total);
    let total = total.or_else(counted).or_else(ranged);
    let mut facts = PageFacts { next, total, ..PageFacts::default() };
    if facts.next.is_none() {
        facts.more = odd;
        // Where pages are declared, each of them is a part.
        if by.is_none() && answer.status == 206 && range.is_none_or(|range| range.total.is_none()) {
            facts.more = Some("its status is 206, a part of the whole".into());
        }
        if by != Some(PageBy::Link) && link.is_some() {
            facts.more = Some("a `Link` header names a next page".into());
            facts.declare = Some("{by: link}".into());
        }
        undeclared(answer, by.is_some(), &mut facts);
    }
    Ok(facts)
}

fn all<'h>(answer: &'h HttpAnswer, name: &'h str) -> impl Iterator<Item = &'h str> {
    answer.headers.iter().filter(move |(have, _)| have == name).map(|(_, value)| value.as_str())
}

/// What a `Content-Range` says of a list (RFC 9110, 14.4, with units of the API's own, as PostgREST has it).
struct Range {
    /// How many elements there are in all; `None` where the server does not know, or counts bytes.
    total: Option<u64>,
}

/// `items 0-24/319`, `0-24/*`, `*/0`; `None` for what is no range.
fn content_range(text: &str) -> Option<Range> {
    let (unit, range) = text.trim().rsplit_once(' ').unwrap_or(("", text.trim()));
    let (_, total) = range.split_once('/')?;
    Some(Range { total: total.parse().ok().filter(|_| !unit.trim().eq_ignore_ascii_case("bytes")) })
}

/// What a filter finds on a page of which nothing is known yet.
pub fn look(context: &Context, filter: &Filter, answer: &HttpAnswer) -> Result<Option<Value>, Failure> {
    if let Some(path) = filter.plain() {
        let body = text_of(answer).unwrap_or_default();
        let found = scan::pick(body, &[path]).map_err(|why| context.unpicked(answer, why))?.pop().flatten();
        return Ok(found.and_then(|text| serde_json::from_str(text).ok()));
    }
    let Reading { value, first } = context.reading(answer)?;
    let found =
        |body| filter.one(body, &Vars::default()).map_err(|error| context.wrap(filter_failure(error)));
    let last = found(&value)?;
    match first {
        Some(first)
            if found(&first)?.map(|value| canonical_text(&value)) != last.as_ref().map(canonical_text) =>
        {
            let what = format!("the answer has a member twice, and so two values of `{}`", filter.text());
            Err(context.not_the_api(answer, &what))
        }
        _ => Ok(last),
    }
}

/// A cursor that leads on. A server without more says so by null, by nothing, or by an empty text.
fn cursor(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(_) | Value::Number(_) => Some(plain_text(value)),
        _ => None,
    }
}

/// Says of a declared `next` that it is there and cannot be sent.
fn no_cursor(value: &Value) -> Option<String> {
    let is_one = !matches!(value, Value::Null | Value::Bool(false)) && cursor(value).is_none();
    let odd = is_one && value.as_str().is_none();
    odd.then(|| format!("its `next` is {}, not a text", type_name(value)))
}

fn count(value: &Value) -> Option<u64> {
    plain_text(value).parse().ok()
}

fn resolve(context: &Context, request: &Url, url: &str) -> Result<String, Failure> {
    context.site.base.resolve(request, url).map(String::from).map_err(|error| {
        let hint = match error {
            Elsewhere::OtherOrigin { .. } => {
                "credentials never go to another origin; if the API is there, make it the backend's `url`"
            }
            Elsewhere::NotAUrl(_) => "check the `next` of the listing",
        };
        context.fail(
            FailureClass::Refused,
            &format!("the next page is not followed: {error}"),
            Some(hint.into()),
        )
    })
}

/// Members, at the top or in one of [`AROUND`], that say there is more.
const NEXT: [&str; 12] = [
    "next",
    "next_cursor",
    "nextCursor",
    "next_page",
    "nextPage",
    "next_page_token",
    "nextPageToken",
    "next_token",
    "nextToken",
    "continue",
    "nextLink",
    "@odata.nextLink",
];
const MORE: [&str; 11] = [
    "has_more",
    "hasMore",
    "has_next",
    "hasNext",
    "has_next_page",
    "hasNextPage",
    "truncated",
    "is_truncated",
    "isTruncated",
    "more",
    "moreResults",
];
/// Members that say, as `false`, that there is more, and as `true` that there is not.
const LAST: [&str; 4] = ["last", "isLast", "is_last", "isLastPage"];
/// Members of a link or a cursor that is a map.
const INSIDE: [&str; 5] = ["href", "url", "link", "after", "cursor"];
const TOTAL: [&str; 10] = [
    "total",
    "total_count",
    "totalCount",
    "total_items",
    "totalItems",
    "total_elements",
    "totalElements",
    "total_results",
    "totalResults",
    "@odata.count",
];
const AROUND: [&str; 9] =
    ["meta", "metadata", "paging", "pagination", "page", "links", "_links", "page_info", "pageInfo"];

/// Signs of more that were not declared. A total is taken for what it says only where no paging is declared: on
/// a page it may be the page's own count.
fn undeclared(answer: &HttpAnswer, paged: bool, facts: &mut PageFacts) {
    let Some(body) = text_of(answer).filter(|body| body.trim_start().starts_with('{')) else { return };
    let members = |body, names: &[&str]| scan::members(body, names).unwrap_or_default();
    let names: Vec<&str> = NEXT.iter().chain(&MORE).chain(&LAST).chain(&TOTAL).copied().collect();
    let all: Vec<&str> = names.iter().chain(&AROUND).copied().collect();
    let found = members(body, &all);
    let (top, around) = found.split_at(names.len().min(found.len()));
    let mut total = signs(&names, top, "", facts);
    for (name, around) in AROUND.iter().zip(around) {
        if let Some(around) = around {
            total = total.or(signs(&names, &members(around, &names), name, facts));
        }
    }
    match paged {
        false => facts.total = facts.total.or(total),
        true if facts.total.is_none() => facts.hinted = total,
        true => {}
    }
}

/// Notes the first sign of more among these members, and gives the total. A flag that says there is no more is
/// believed over a cursor beside it: some servers give one with every page.
fn signs(names: &[&str], found: &[Option<&str>], around: &str, facts: &mut PageFacts) -> Option<u64> {
    let value = |text: &Option<&str>| text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    let members: Vec<(&str, Value)> =
        names.iter().zip(found).filter_map(|(name, text)| Some((*name, value(text)?))).collect();
    let flag = |name: &str, value: &Value| match value {
        Value::Bool(more) if MORE.contains(&name) => Some(*more),
        Value::Bool(last) if LAST.contains(&name) => Some(!last),
        _ => None,
    };
    let ended = members.iter().any(|(name, value)| flag(name, value) == Some(false));
    let on = members.iter().find(|(name, value)| match flag(name, value) {
        Some(more) => more,
        None => NEXT.contains(name) && leads_on(value),
    });
    if let Some((name, value)) = on.filter(|_| !ended && facts.more.is_none()) {
        let name = if name.contains('@') { format!("[\"{name}\"]") } else { (*name).to_owned() };
        let place = if around.is_empty() { format!(".{name}") } else { format!(".{around}.{name}") };
        facts.declare = paging(&place, value);
        facts.more = Some(format!("`{place}` in its body"));
    }
    members.iter().find(|(name, _)| TOTAL.contains(name)).and_then(|(_, value)| value.as_u64())
}

/// The `page` that follows what stands at this place.
fn paging(place: &str, value: &Value) -> Option<String> {
    let (place, value) = match value {
        Value::Bool(_) => return None,
        Value::Object(link) => {
            let (name, value) = inside(link).find(|(_, value)| leads_on(value))?;
            (format!("{place}.{name}"), value)
        }
        value => (place.to_owned(), value),
    };
    let is_url = value.as_str().is_some_and(|text| text.starts_with(['/', '?']) || text.contains("://"));
    Some(format!("{{by: {}, next: {place}}}", if is_url { "url" } else { "cursor" }))
}

/// Where a page says how many there are in all, of the places that APIs have in common: `.meta.total`.
pub fn total_place(body: &Value) -> Option<String> {
    let named = |map: &Value, before: &str| {
        let found = TOTAL.iter().find(|name| map.get(**name).is_some_and(Value::is_u64))?;
        let name = if found.contains('@') { format!("[\"{found}\"]") } else { (*found).to_owned() };
        Some(format!("{before}.{name}"))
    };
    let around = |name: &str| named(body.get(name)?, &format!(".{name}"));
    named(body, "").or_else(|| AROUND.iter().find_map(|name| around(name)))
}

fn leads_on(value: &Value) -> bool {
    match value {
        Value::Bool(more) => *more,
        Value::Object(link) => inside(link).any(|(_, value)| leads_on(value)),
        other => cursor(other).is_some(),
    }
}

fn inside(link: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    INSIDE.iter().filter_map(|name| Some((*name, link.get(*name)?)))
}
