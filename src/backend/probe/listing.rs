//! What listings show: items, keys, and how they go on.

use std::collections::HashMap;

use super::{Evidence, SeenListing, SeenPage, failed};
use crate::backend::signs::total_place;
use crate::core::filter::{Filter, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Kind, ListOp, Page, PageBy};
use crate::core::probe::{Place, Probed};
use crate::core::report::Finding;
use crate::core::value::Value;

/// So many keys are shown.
const SHOWN: usize = 5;

pub fn judge(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let Some(list) = &kind.list else { return };
    if evidence.listings.iter().any(|listing| !listing.pages.is_empty()) {
        understood(list, evidence, probed);
    }
    for listing in &evidence.listings {
        one(list, listing, probed);
    }
}

fn understood(list: &ListOp, evidence: &Evidence, probed: &mut Probed) {
    probed.understand("items", counted(list, evidence));
    let keys: Vec<String> = evidence.items().take(SHOWN + 1).map(|item| item.key.to_string()).collect();
    if !keys.is_empty() {
        let more = if keys.len() > SHOWN { ", …" } else { "" };
        probed.understand("keys", format!("{}{more}", keys[..keys.len().min(SHOWN)].join(", ")));
    }
    probed.understand("paging", paging(list, evidence));
}

fn counted(list: &ListOp, evidence: &Evidence) -> String {
    let items = evidence.items().count();
    let pages: usize = evidence.listings.iter().map(|listing| listing.pages.len()).sum();
    let place = list.items.as_ref().map_or("the body itself".into(), |items| format!("`{}`", items.text()));
    let whole = evidence.listings.iter().all(|listing| listing.whole);
    let on = match (pages, whole) {
        (1, true) => "one page".to_owned(),
        (1, false) => "the first page".to_owned(),
        (_, true) => format!("{pages} pages"),
        (_, false) => format!("the first {pages} pages"),
    };
    let below = match evidence.listings.len() {
        1 => String::new(),
        parents => format!(" below {parents} parents"),
    };
    format!("{items} on {on}{below}, at {place}")
}

fn paging(list: &ListOp, evidence: &Evidence) -> String {
    let pages = || evidence.listings.iter().flat_map(|listing| &listing.pages);
    let followed = evidence.listings.iter().any(|listing| listing.pages.len() > 1);
    let declared = match &list.page {
        None => return "none declared".into(),
        Some(page) => said(page),
    };
    let total = match pages().find_map(|page| page.facts.total) {
        Some(total) => format!("; the server counts {total}"),
        None => String::new(),
    };
    let seen = if followed { "a second page was read" } else { "one page, so that none was followed" };
    format!("{declared}; {seen}{total}")
}

fn said(page: &Page) -> String {
    let size = page.size.map_or(String::new(), |size| format!(" of {size}"));
    match page.by {
        PageBy::Page => format!("by page{size}"),
        PageBy::Offset => format!("by offset{size}"),
        PageBy::Cursor => format!("by cursor{size}"),
        PageBy::Url => format!("by url{size}"),
        PageBy::Link => format!("by link{size}"),
    }
}

fn one(list: &ListOp, listing: &SeenListing, probed: &mut Probed) {
    if let Some(failure) = &listing.failure {
        failed(probed, "ListFailed", failure);
    }
    for problem in listing.pages.iter().flat_map(|page| &page.problems) {
        let hint = "check `items` of the listing, and where `key` says that the part stands";
        probed.contradict(Finding::new("KeyMissing", problem).hint(hint));
    }
    double_keys(listing, probed);
    if let Some(why) = &listing.incomplete {
        probed.contradict(
            Finding::new("PagingIncomplete", why).hint("a listing that is not whole proves no absence"),
        );
    }
    if let Some(declare) = listing.pages.last().and_then(|page| page.facts.declare.as_ref()) {
        probed.suggest(Place::List, format!("page: {declare}"), "the answer shows more than it holds");
    }
    if let Some(page) = &list.page {
        declared(page, listing, probed);
    }
}

fn double_keys(listing: &SeenListing, probed: &mut Probed) {
    for page in &listing.pages {
        let mut seen: HashMap<&Key, usize> = HashMap::new();
        for item in &page.items {
            let count = seen.entry(&item.key).or_default();
            *count += 1;
            if *count == 2 {
                let message = format!("two items on one page have the key `{}`", item.key);
                let hint = "objects that share a key need another part in `key`";
                probed.contradict(Finding::new("KeyNotUnique", message).hint(hint));
            }
        }
    }
}

/// What `page` declares against what the pages show.
fn declared(page: &Page, listing: &SeenListing, probed: &mut Probed) {
    let Some(first) = listing.pages.first() else { return };
    let bodies: Vec<Value> = listing.pages.iter().filter_map(body).collect();
    let finds = |filter: &Filter| bodies.iter().any(|body| found(filter, body));
    if let Some(total) = page.total.as_ref().filter(|total| !finds(total)) {
        let message = format!("the answer has no `total` at `{}`", total.text());
        probed.contradict(Finding::new("TotalMissing", message));
    }
    if let Some(size) = page.size.filter(|size| first.facts.count > *size) {
        let held = first.facts.count;
        let message = format!("a page was asked to hold {size}, and the first one holds {held}");
        let hint = format!("does the API know the parameter `{}`?", page.size_param);
        probed.contradict(Finding::new("PageSizeIgnored", message).hint(hint));
    }
    let counts = matches!(page.by, PageBy::Page | PageBy::Offset) && page.total.is_none();
    if let Some(place) = bodies.first().filter(|_| counts).and_then(total_place) {
        let why = "it tells the last page, and lets the others be asked for together";
        probed.suggest(Place::List, format!("page: {{…, total: {place}}}"), why);
    }
}

fn body(page: &SeenPage) -> Option<Value> {
    serde_json::from_slice(&page.answer.body).ok()
}

fn found(filter: &Filter, body: &Value) -> bool {
    filter.one(body, &Vars::default()).ok().flatten().is_some_and(|value| !value.is_null())
}
