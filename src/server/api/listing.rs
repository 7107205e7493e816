//! Pages of a collection.
//!
//! An item's stored text is copied into the page as it is; only a filter parses items. The order is that of
//! creation, so that a cursor stays right whatever is inserted or deleted meanwhile.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ETAG, LINK};
use http::{Response, StatusCode};

use crate::core::value::plain_text;
use crate::server::store::{Collection, Condition, Item, Key, Store};

use super::answer::with_managers;
use super::feed::FEED_POSITION;
use super::problem::{Problem, empty, header_value, respond};
use super::query::{ListQuery, Place, cursor};

/// One page, picked from the index.
struct Page {
    items: Vec<Arc<Item>>,
    total: usize,
    more: bool,
}

/// Answers `GET` on a collection.
pub fn list(
    store: &Store,
    key: &Key,
    query: &ListQuery,
    condition: &Condition,
) -> Result<Response<Bytes>, Problem> {
    let (tag, clock, page) = store.read(|index| {
        let clock = index.clock();
        index.expect_parent(&key.parent())?;
        let none = Collection::default();
        let collection = index.collection(key).unwrap_or(&none);
        let tag = collection.tag();
        if condition.none_match_fails(Some(&tag)) {
            return Ok::<_, Problem>((tag, clock, None));
        }
        let all = !query.filters.is_empty();
        let page = if all { Page::whole(collection) } else { Page::pick(collection, query) };
        Ok((tag, clock, Some(page)))
    })?;
    let mut response = match page {
        None => empty(StatusCode::NOT_MODIFIED),
        Some(page) => page.filtered(query).answer(key, query),
    };
    response.headers_mut().insert(ETAG, header_value(&format!("\"{tag}\"")));
    let position = store.feed().position(clock);
    response.headers_mut().insert(FEED_POSITION, header_value(&position.to_string()));
    Ok(response)
}

impl Page {
    /// All items, to be filtered when the index is free again.
    fn whole(collection: &Collection) -> Page {
        Page { items: collection.items().cloned().collect(), total: collection.len(), more: false }
    }

    fn pick(collection: &Collection, query: &ListQuery) -> Page {
        let take = query.size + 1;
        let mut items: Vec<_> = match query.place {
            Place::After(seq) => collection.after(seq).take(take).cloned().collect(),
            place => collection.items().skip(query.skipped(place)).take(take).cloned().collect(),
        };
        let more = items.len() > query.size;
        items.truncate(query.size);
        Page { items, total: collection.len(), more }
    }

    /// The page among the items that pass the filters, if there are any filters.
    fn filtered(mut self, query: &ListQuery) -> Page {
        if query.filters.is_empty() {
            return self;
        }
        self.items.retain(|item| passes(item, &query.filters));
        let total = self.items.len();
        let skipped = match query.place {
            Place::After(seq) => self.items.partition_point(|item| item.seq <= seq),
            place => query.skipped(place).min(total),
        };
        let mut items = self.items.split_off(skipped);
        let more = items.len() > query.size;
        items.truncate(query.size);
        Page { items, total, more }
    }

    fn answer(&self, key: &Key, query: &ListQuery) -> Response<Bytes> {
        let room = self.items.iter().map(|item| item.json.len() + 1).sum::<usize>() + 64;
        let mut body = Vec::with_capacity(room);
        body.extend_from_slice(b"{\"items\":[");
        for (n, item) in self.items.iter().enumerate() {
            if n > 0 {
                body.push(b',');
            }
            match query.managers {
                true => body.extend_from_slice(&with_managers(item)),
                false => body.extend_from_slice(&item.json),
            }
        }
        body.push(b']');
        let last = self.items.last().filter(|_| self.more);
        if let Some(last) = last {
            body.extend_from_slice(format!(",\"next\":\"{}\"", cursor(last.seq)).as_bytes());
        }
        body.extend_from_slice(format!(",\"total\":{}}}", self.total).as_bytes());
        let mut response = respond(StatusCode::OK, "application/json", body);
        if let Some(last) = last {
            let next = match query.place {
                Place::After(_) => Place::After(last.seq),
                Place::Page(page) => Place::Page(page + 1),
                Place::Offset(offset) => Place::Offset(offset + self.items.len()),
            };
            let link = format!("<{key}?{}>; rel=\"next\"", query.at(next));
            response.headers_mut().insert(LINK, header_value(&link));
        }
        response
    }
}

impl ListQuery {
    /// How many items come before a place that counts them.
    fn skipped(&self, place: Place) -> usize {
        match place {
            Place::After(_) => 0,
            Place::Page(page) => (page - 1).saturating_mul(self.size),
            Place::Offset(offset) => offset,
        }
    }
}

/// Whether each field has the value, both as plain text.
fn passes(item: &Item, filters: &[(String, String)]) -> bool {
    let value = item.value();
    filters.iter().all(|(name, want)| value.get(name).is_some_and(|have| plain_text(have) == *want))
}
