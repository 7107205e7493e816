//! The pages of a listing, in all ways of paging.

use serde_json::json;
use url::Url;

use super::api::{PAGE, Paging, URL};
use super::world::{World, answer, with_header};
use crate::backend::wire::HttpAnswer;
use crate::core::value::Value;

/// The page that a request asks for.
pub fn page(world: &World, url: &Url) -> HttpAnswer {
    let param =
        |name: &str| url.query_pairs().find(|(have, _)| have == name).map(|(_, value)| value.into_owned());
    let number = |name: &str| param(name).and_then(|text| text.parse::<usize>().ok());
    let mark = param(if world.api.paging == Paging::Token { "cursor" } else { "at" });
    if mark.as_deref().is_some_and(|mark| mark.trim_end_matches('e').parse::<u64>().is_err()) {
        return answer(400, json!({"title": "no such cursor"}));
    }
    match world.api.paging {
        Paging::Whole => answer(200, json!({"items": items(world, 0, usize::MAX)})),
        Paging::Numbers => {
            let start = (number("page").unwrap_or(1).max(1) - 1) * PAGE;
            answer(200, json!({"items": items(world, start, PAGE), "count": world.objects.len()}))
        }
        Paging::Offset => {
            let start = number("offset").unwrap_or(0);
            let size = number("limit").unwrap_or(PAGE).min(PAGE);
            answer(200, json!({"items": items(world, start, size)}))
        }
        Paging::LastId => {
            let after = param("after").and_then(|id| id.parse().ok()).unwrap_or(0);
            let mut all: Vec<_> = world.objects.iter().filter(|stored| stored.id > after).collect();
            all.sort_by_key(|stored| stored.id);
            let page: Vec<Value> = all.into_iter().take(PAGE).map(|stored| world.shown(stored)).collect();
            answer(200, json!({"items": page}))
        }
        Paging::Token => {
            let (items, next) = onward(world, mark.as_deref());
            answer(200, json!({"items": items, "next": next}))
        }
        Paging::Url => {
            let (items, next) = onward(world, mark.as_deref());
            answer(200, json!({"items": items, "next": next.map(|next| format!("{URL}/things?at={next}"))}))
        }
        Paging::Link => {
            let (items, next) = onward(world, mark.as_deref());
            let told = answer(200, Value::Array(items));
            match next {
                Some(next) => {
                    let link = format!("<{URL}/things>; rel=\"first\", </v1/things?at={next}>; rel=\"next\"");
                    with_header(told, "link", &link)
                }
                None => told,
            }
        }
    }
}

fn items(world: &World, start: usize, count: usize) -> Vec<Value> {
    world.objects.iter().skip(start).take(count).map(|stored| world.shown(stored)).collect()
}

/// A page that names its next one. The mark is the last id before it, so that nothing slips past it when others come
/// and go; with an `e` after a page that was left empty.
fn onward(world: &World, mark: Option<&str>) -> (Vec<Value>, Option<String>) {
    let mark = mark.unwrap_or("0");
    let (digits, was_empty) = match mark.strip_suffix('e') {
        Some(digits) => (digits, true),
        None => (mark, false),
    };
    let after: u64 = digits.parse().unwrap_or(u64::MAX);
    let start = world.objects.iter().filter(|stored| stored.id <= after).count();
    if world.manner.empty_pages && !was_empty && start.is_multiple_of(2 * PAGE) {
        return (Vec::new(), Some(format!("{after}e")));
    }
    let end = start.saturating_add(PAGE);
    let again = usize::from(world.manner.repeats_items && start > 0);
    let shown = items(world, start - again, PAGE + again);
    let more = world.objects.get(end).and_then(|_| world.objects.get(end - 1));
    (shown, more.map(|last| last.id.to_string()))
}
