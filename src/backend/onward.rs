//! How a page says that there are others: as its kind declares, and in the ways that APIs have in common.

use url::Url;

use crate::core::exchange::{Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::kind::{ListOp, PageBy};
use crate::core::value::{Value, plain_text};

use super::base::Elsewhere;
use super::link;
use super::page::PageFacts;
use super::refusal::{Context, text_of};
use super::request::filter_failure;
use super::scan;
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
    let next = match by {
        Some(PageBy::Link) => link.map(str::to_owned),
        Some(PageBy::Url | PageBy::Cursor) => {
            declared(page.and_then(|page| page.next.as_ref()))?.as_ref().and_then(cursor)
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
    let mut facts = PageFacts { next, total: total.or_else(counted), ..PageFacts::default() };
    if by != Some(PageBy::Link) && link.is_some() {
        facts.more = Some("a `Link` header names a next page".into());
    }
    if by.is_none() {
        undeclared(answer, &mut facts);
    }
    Ok(facts)
}

fn all<'h>(answer: &'h HttpAnswer, name: &'h str) -> impl Iterator<Item = &'h str> {
    answer.headers.iter().filter(move |(have, _)| have == name).map(|(_, value)| value.as_str())
}

/// What a filter finds on a page of which nothing is known yet.
pub fn look(context: &Context, filter: &Filter, answer: &HttpAnswer) -> Result<Option<Value>, Failure> {
    if let Some(path) = filter.plain() {
        let body = text_of(answer).unwrap_or_default();
        let found = scan::pick(body, &[path]).map_err(|_| context.not_json(answer))?.pop().flatten();
        return Ok(found.and_then(|text| serde_json::from_str(text).ok()));
    }
    let body: Value = context.json(answer)?;
    filter.one(&body, &Vars::default()).map_err(|error| context.wrap(filter_failure(error)))
}

/// A cursor that leads on. A server without more says so by null, by nothing, or by an empty text.
fn cursor(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(_) | Value::Number(_) => Some(plain_text(value)),
        _ => None,
    }
}

fn count(value: &Value) -> Option<u64> {
    plain_text(value).parse().ok()
}

fn resolve(context: &Context, request: &Url, url: &str) -> Result<String, Failure> {
    context.site.base.resolve(request, url).map(String::from).map_err(|error| {
        let hint = match error {
            Elsewhere::OtherOrigin { .. } => {
                "credentials never go to another origin; if the API is there, make it the `url`"
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
const MORE: [&str; 5] = ["has_more", "hasMore", "has_next", "hasNextPage", "is_truncated"];
const TOTAL: [&str; 8] = [
    "total",
    "total_count",
    "totalCount",
    "total_items",
    "totalItems",
    "total_results",
    "totalResults",
    "@odata.count",
];
const AROUND: [&str; 9] =
    ["meta", "metadata", "paging", "pagination", "page", "links", "_links", "page_info", "pageInfo"];

/// Signs of more in an answer whose kind declares no paging.
fn undeclared(answer: &HttpAnswer, facts: &mut PageFacts) {
    let Some(body) = text_of(answer).filter(|body| body.trim_start().starts_with('{')) else { return };
    let members = |body| scan::members(body, &AROUND).unwrap_or_default();
    signs(body, "", facts);
    for (name, around) in AROUND.iter().zip(members(body)) {
        if let Some(around) = around {
            signs(around, name, facts);
        }
    }
}

fn signs(body: &str, around: &str, facts: &mut PageFacts) {
    let names: Vec<&str> = NEXT.iter().chain(&MORE).chain(&TOTAL).copied().collect();
    for (name, text) in names.iter().zip(scan::members(body, &names).unwrap_or_default()) {
        let Some(value) = text.and_then(|text| serde_json::from_str::<Value>(text).ok()) else { continue };
        if TOTAL.contains(name) {
            facts.total = facts.total.or_else(|| value.as_u64());
        } else if leads_on(&value) {
            let place = if around.is_empty() { format!(".{name}") } else { format!(".{around}.{name}") };
            facts.more.get_or_insert(format!("`{place}` in its body"));
        }
    }
}

fn leads_on(value: &Value) -> bool {
    match value {
        Value::Bool(more) => *more,
        Value::Object(link) => link.get("href").is_some_and(leads_on),
        other => cursor(other).is_some(),
    }
}
