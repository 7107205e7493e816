//! How a page says that there are others: as its kind declares, and in the ways that APIs have in common.

use url::Url;

use crate::core::exchange::{Failure, FailureClass};
use crate::core::filter::{Filter, Vars};
use crate::core::kind::{ListOp, PageBy};
use crate::core::value::{Value, canonical_text, type_name};

use super::base::Elsewhere;
use super::link;
use super::page::PageFacts;
use super::refusal::{Context, text_of};
use super::request::filter_failure;
use super::scan;
use super::signs::{self, count, cursor};
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
        undeclared(list, request, answer, &mut facts);
    }
    facts.part = part(answer.status).map(str::to_owned);
    Ok(facts)
}

/// Why an answer of this status is no proof of what is not in it, whatever paging is declared.
fn part(status: u16) -> Option<&'static str> {
    match status {
        202 => Some("its status is 202: the server has not finished"),
        203 => Some("its status is 203: a proxy on the way has changed it"),
        207 => Some("its status is 207: some of it may have failed"),
        _ => None,
    }
}

/// Headers that name the next page. A server without more leaves them out, or empty.
const NEXT_HEADERS: [&str; 5] =
    ["x-next-page", "x-next-cursor", "x-next-token", "x-continuation-token", "x-ms-continuation"];

/// Signs of more that were not declared. A total is taken for what it says only where no paging is declared: on
/// a page it may be the page's own count.
fn undeclared(list: &ListOp, request: &Url, answer: &HttpAnswer, facts: &mut PageFacts) {
    let header = |name: &&&str| answer.header(name).is_some_and(|value| !value.trim().is_empty());
    if let Some(name) = NEXT_HEADERS.iter().find(header).filter(|_| facts.more.is_none()) {
        facts.more = Some(format!("its header `{name}`"));
    }
    facts.pages = answer.header("x-total-pages").and_then(|pages| pages.trim().parse().ok());
    let Some(body) = text_of(answer).filter(|body| body.trim_start().starts_with('{')) else { return };
    let on_the_way = list.items.as_ref().and_then(Filter::plain).and_then(<[String]>::split_last);
    let sent = |text: &str| request.query_pairs().any(|(_, value)| value == text);
    let signs = signs::of(body, on_the_way.map_or(&[], |(_, on_the_way)| on_the_way), &sent);
    if facts.more.is_none() {
        (facts.more, facts.declare) = (signs.more, signs.declare);
    }
    facts.pages = facts.pages.or(signs.pages);
    match list.page {
        None => facts.total = facts.total.or(signs.total),
        Some(_) if facts.total.is_none() => facts.hinted = signs.total,
        Some(_) => {}
    }
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

/// Says of a declared `next` that it is there and cannot be sent.
fn no_cursor(value: &Value) -> Option<String> {
    let is_one = !matches!(value, Value::Null | Value::Bool(false)) && cursor(value).is_none();
    let odd = is_one && value.as_str().is_none();
    odd.then(|| format!("its `next` is {}, not a text", type_name(value)))
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
