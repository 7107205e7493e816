//! Signs of more that nobody declared: what the members around a list say of other pages, in the names that APIs
//! have in common. They are compared without case, `_` and `-`: `NextToken`, `next_token`.
//!
//! A listing that shows more is not whole, and so proves nothing of what is not in it. A wrong sign costs a line in
//! the backend (`page`), a sign that is missed an object that is made a second time.

use crate::core::value::{Map, Value, plain_text};

use super::scan;

/// Members that lead on: a URL, a cursor, a token, the number of a page.
const NEXT: [&str; 19] = [
    "next",
    "nextcursor",
    "nextpage",
    "nextpagetoken",
    "nexttoken",
    "nextlink",
    "nexturl",
    "nexturi",
    "nexthref",
    "nextpageurl",
    "nextpageuri",
    "nextpagelink",
    "nextpagestart",
    "nextoffset",
    "nextmarker",
    "nextcontinuationtoken",
    "continue",
    "@odata.nextlink",
    "odata.nextlink",
];
/// Members that lead on, or only say where this page stands.
const CURSORS: [&str; 3] = ["cursor", "continuationtoken", "paginationtoken"];
const MORE: [&str; 12] = [
    "hasmore",
    "hasnext",
    "hasnextpage",
    "hasmoreitems",
    "hasmorepages",
    "hasmoreresults",
    "truncated",
    "istruncated",
    "more",
    "moreresults",
    "moreavailable",
    "incompleteresults",
];
/// Members that say, as `false`, that there is more, and as `true` that there is not.
const LAST: [&str; 4] = ["last", "islast", "islastpage", "lastpage"];
/// How many are not in this page.
const REMAINING: [&str; 2] = ["remainingitemcount", "remainingitems"];
const TOTAL: [&str; 9] = [
    "total",
    "totalcount",
    "totalitems",
    "totalelements",
    "totalresults",
    "totalrecords",
    "totalsize",
    "@odata.count",
    "odata.count",
];
/// How many there are in all, or on this page: good for doubt, and not for reading on.
const COUNT: &str = "count";
/// How many pages there are.
const PAGES: [&str; 6] = ["totalpages", "totalpage", "pagecount", "numpages", "numberofpages", "lastpage"];
/// Maps that say something of the list beside them.
const AROUND: [&str; 10] = [
    "meta",
    "metadata",
    "paging",
    "pagination",
    "page",
    "links",
    "pageinfo",
    "response",
    "resultinfo",
    "responsemetadata",
];
/// Members of a link or a cursor that is a map.
const INSIDE: [&str; 5] = ["href", "url", "link", "after", "cursor"];

/// What is said of other pages.
#[derive(Debug, Default)]
pub struct Signs {
    /// The first sign of more: `` `.meta.next` in its body ``.
    pub more: Option<String>,
    /// The `page` that would follow it, where it can be told.
    pub declare: Option<String>,
    /// How many elements there are in all.
    pub total: Option<u64>,
    /// How many pages there are in all.
    pub pages: Option<u64>,
}

/// The signs at the top of a body, in the maps on the way to its list, and in those of `AROUND` in each.
/// `was_sent` says whether the request had this text: a cursor that it had is an echo.
pub fn of(body: &str, on_the_way: &[String], was_sent: &dyn Fn(&str) -> bool) -> Signs {
    let mut reader = Reader { signs: Signs::default(), was_sent };
    reader.place("", body);
    let (mut place, mut body) = (String::new(), body);
    for name in on_the_way {
        let found = scan::members(body, &[name]).unwrap_or_default();
        let Some(below) = found.into_iter().next().flatten() else { break };
        (place, body) = (place + &step(name), below);
        reader.place(&place, body);
    }
    reader.signs
}

struct Reader<'r> {
    signs: Signs,
    was_sent: &'r dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn place(&mut self, place: &str, body: &str) {
        let ended = self.map(place, body, false);
        let around = scan::chosen(body, &|name| AROUND.contains(&&*alike(name))).unwrap_or_default();
        for (name, around) in around {
            self.map(&format!("{place}{}", step(&name)), around, ended);
        }
    }

    /// Notes what a map says, and tells whether one of its flags says that there is no more.
    fn map(&mut self, place: &str, body: &str, ended_above: bool) -> bool {
        let found = scan::chosen(body, &|name| is_sign(&alike(name))).unwrap_or_default();
        let read =
            |(name, text): (String, &str)| Some((alike(&name), name, serde_json::from_str(text).ok()?));
        let members: Vec<(String, String, Value)> = found.into_iter().filter_map(read).collect();
        let flags = members.iter().map(|(name, _, value)| flag(name, value));
        let ended = flags.flatten().any(|more| !more);
        if self.signs.more.is_none()
            && let Some((_, name, value)) = self.leads_on(&members, ended, ended_above)
        {
            let place = if place.is_empty() { step(name) } else { format!("{place}{}", step(name)) };
            self.signs.declare = paging(&place, value);
            self.signs.more = Some(format!("`{place}` in its body"));
        }
        let most = |is: &dyn Fn(&str) -> bool| {
            members.iter().filter(|(name, ..)| is(name)).filter_map(|(.., value)| count(value)).max()
        };
        self.signs.total = self.signs.total.max(most(&|name| name == COUNT || TOTAL.contains(&name)));
        // Pages of what, `pages` says only where something else speaks of paging.
        let paged = !place.is_empty() || members.iter().any(|(name, ..)| name == "page");
        let pages = most(&|name| PAGES.contains(&name) || (paged && name == "pages"));
        self.signs.pages = self.signs.pages.max(pages);
        ended
    }

    /// The member that says there is more. A flag that says there is not is believed over a cursor beside it, as
    /// some servers give one with every page; two flags that disagree are not.
    fn leads_on<'m>(
        &self,
        members: &'m [(String, String, Value)],
        ended: bool,
        ended_above: bool,
    ) -> Option<&'m (String, String, Value)> {
        let find =
            |is: &dyn Fn(&str, &Value) -> bool| members.iter().find(|(name, _, value)| is(name, value));
        let flagged = find(&|name, value| flag(name, value) == Some(true));
        let left =
            find(&|name, value| REMAINING.contains(&name) && count(value).is_some_and(|left| left > 0));
        if flagged.is_some() || left.is_some() || ended {
            return flagged.or(left);
        }
        let next = find(&|name, value| NEXT.contains(&name) && leads_on(value));
        let has_next = members.iter().any(|(name, ..)| NEXT.contains(&name.as_str()));
        let cursor = || find(&|name, value| CURSORS.contains(&name) && self.is_onward(value));
        next.or_else(|| if has_next || ended_above { None } else { cursor() })
    }

    /// Whether a cursor leads on: `0` is where some servers begin and end.
    fn is_onward(&self, value: &Value) -> bool {
        value.as_str().is_some_and(|text| !text.is_empty() && text != "0" && !(self.was_sent)(text))
    }
}

/// A name as it is compared.
fn alike(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn is_sign(name: &str) -> bool {
    let names = NEXT.iter().chain(&CURSORS).chain(&MORE).chain(&LAST).chain(&REMAINING).chain(&TOTAL);
    names.chain(&PAGES).chain(&[COUNT, "page", "pages"]).any(|known| *known == name)
}

/// What a flag says of more.
fn flag(name: &str, value: &Value) -> Option<bool> {
    let says = match value {
        Value::Bool(says) => *says,
        Value::String(text) if text.eq_ignore_ascii_case("true") => true,
        Value::String(text) if text.eq_ignore_ascii_case("false") => false,
        _ => return None,
    };
    match name {
        name if MORE.contains(&name) => Some(says),
        name if LAST.contains(&name) => Some(!says),
        _ => None,
    }
}

/// A cursor that leads on. A server without more says so by null, by nothing, or by an empty text.
pub fn cursor(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(_) | Value::Number(_) => Some(plain_text(value)),
        _ => None,
    }
}

/// A number of things, which may be written as a text.
pub fn count(value: &Value) -> Option<u64> {
    plain_text(value).parse().ok()
}

/// A member in a path: `.next`, `.["@odata.nextLink"]`.
fn step(name: &str) -> String {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => format!(".{name}"),
        false => format!(".[\"{name}\"]"),
    }
}

/// The `page` that follows what stands at this place.
fn paging(place: &str, value: &Value) -> Option<String> {
    let (place, value) = match value {
        Value::Object(link) => {
            let (name, value) = inside(link).find(|(_, value)| leads_on(value))?;
            (format!("{place}.{name}"), value)
        }
        value => (place.to_owned(), value),
    };
    if flag(MORE[0], value).is_some()
        || !leads_on(value)
        || REMAINING.iter().any(|name| alike(&place).ends_with(name))
    {
        return None;
    }
    let is_url = value.as_str().is_some_and(|text| text.starts_with(['/', '?']) || text.contains("://"));
    Some(format!("{{by: {}, next: {place}}}", if is_url { "url" } else { "cursor" }))
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

/// Where a page says how many there are in all, of the places that APIs have in common: `.meta.total`.
pub fn total_place(body: &Value) -> Option<String> {
    let is_total = |name: &str, value: &Value| TOTAL.contains(&&*alike(name)) && value.is_u64();
    let named = |map: &Value, before: &str| {
        let mut members = map.as_object()?.iter();
        let (name, _) = members.find(|(name, value)| is_total(name, value))?;
        Some(format!("{before}{}", step(name)))
    };
    let around = || {
        let mut members = body.as_object()?.iter().filter(|(name, _)| AROUND.contains(&&*alike(name)));
        members.find_map(|(name, value)| named(value, &step(name)))
    };
    named(body, "").or_else(around)
}

#[cfg(test)]
#[path = "signs_tests.rs"]
mod tests;
