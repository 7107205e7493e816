//! What a listing's query asks for: a way of paging, and filters.

use crate::server::store::encode;

use super::params::{MANAGERS, switch};
use super::problem::Problem;
use super::route::pairs;

/// Items on a page when the request does not say.
pub const PAGE_SIZE: usize = 100;
/// The most items on a page; more is answered with this many, and a link to the rest.
pub const LARGEST_PAGE: usize = 1_000;

/// A listing's query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListQuery {
    pub place: Place,
    pub size: usize,
    /// Fields that must have these values; every parameter that is not about paging.
    pub filters: Vec<(String, String)>,
    /// Whether items tell their field managers.
    pub managers: bool,
}

/// Where a page begins, in the way of paging that the request uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the item with this number; 0 is the beginning.
    After(u64),
    /// The n-th page, from 1.
    Page(usize),
    /// After so many items.
    Offset(usize),
}

impl ListQuery {
    pub fn parse(query: &str) -> Result<ListQuery, Problem> {
        let (mut places, mut sizes, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        let mut managers = false;
        for (name, value) in pairs(query)? {
            match name.as_str() {
                "cursor" => places.push(Place::After(cursor_number(&value)?)),
                "page" => places.push(Place::Page(count(&name, &value)?.max(1))),
                "offset" => places.push(Place::Offset(count(&name, &value)?)),
                "limit" | "page_size" => sizes.push((value.clone(), count(&name, &value)?)),
                MANAGERS => managers = switch(&name, &value)?,
                _ => filters.push((name, value)),
            }
        }
        let place = match places[..] {
            [] if query_names_page_size(query) => Place::Page(1),
            [] => Place::After(0),
            [place] => place,
            _ => return Err(Problem::bad_request("use one of `cursor`, `page` and `offset`, once")),
        };
        let size = match &sizes[..] {
            [] => PAGE_SIZE,
            [(sent, 0)] => return Err(Problem::bad_request(format!("a page cannot have `{sent}` items"))),
            [(_, size)] => (*size).min(LARGEST_PAGE),
            _ => return Err(Problem::bad_request("use one of `limit` and `page_size`, once")),
        };
        Ok(ListQuery { place, size, filters, managers })
    }

    /// The query of the page that begins at `place`, with the same size and filters.
    pub fn at(&self, place: Place) -> String {
        let mut query = match place {
            Place::After(seq) => format!("cursor={}&limit={}", cursor(seq), self.size),
            Place::Page(page) => format!("page={page}&page_size={}", self.size),
            Place::Offset(offset) => format!("offset={offset}&limit={}", self.size),
        };
        if self.managers {
            query.push_str(&format!("&{MANAGERS}=true"));
        }
        for (name, value) in &self.filters {
            query.push_str(&format!("&{}={}", encode(name), encode(value)));
        }
        query
    }
}

/// The cursor behind the item with this number. Clients must not read it.
pub fn cursor(seq: u64) -> String {
    format!("c{seq:x}")
}

fn cursor_number(text: &str) -> Result<u64, Problem> {
    text.strip_prefix('c')
        .and_then(|hex| u64::from_str_radix(hex, 16).ok())
        .ok_or_else(|| Problem::bad_request(format!("`{text}` is not a cursor of this server")))
}

fn count(name: &str, text: &str) -> Result<usize, Problem> {
    text.parse().map_err(|_| Problem::bad_request(format!("`{name}` must be a whole number, not `{text}`")))
}

/// `page_size` alone asks for the first page in the style of pages.
fn query_names_page_size(query: &str) -> bool {
    query.split('&').any(|pair| pair.starts_with("page_size="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        for (query, place, size, filters) in [
            ("", Place::After(0), 100, vec![]),
            ("limit=5", Place::After(0), 5, vec![]),
            ("limit=5000", Place::After(0), 1000, vec![]),
            ("cursor=cff&limit=2", Place::After(255), 2, vec![]),
            ("page=3&page_size=10", Place::Page(3), 10, vec![]),
            ("page_size=10", Place::Page(1), 10, vec![]),
            ("page=0", Place::Page(1), 100, vec![]),
            ("offset=40&limit=20", Place::Offset(40), 20, vec![]),
            ("name=a%26b&offset=0", Place::Offset(0), 100, vec![("name".to_owned(), "a&b".to_owned())]),
        ] {
            let want = ListQuery { place, size, filters, managers: false };
            assert_eq!(ListQuery::parse(query).expect(query), want, "{query}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for query in [
            "limit=0",
            "limit=-1",
            "limit=x",
            "limit=",
            "page=1&offset=0",
            "cursor=c1&page=2",
            "cursor=7",
            "cursor=",
            "page=1&page=2",
            "limit=1&page_size=1",
            "offset=1.5",
            "fieldManagers=yes",
        ] {
            assert_eq!(ListQuery::parse(query).expect_err(query).status.as_u16(), 400, "{query}");
        }
    }

    #[test]
    fn a_next_page_is_read_back() {
        let query = ListQuery::parse("limit=2&name=a%2Bb").expect("a query");
        for (place, managers) in [(Place::After(77), true), (Place::Page(2), false), (Place::Offset(2), true)]
        {
            let next = ListQuery { place, managers, ..query.clone() };
            assert_eq!(ListQuery::parse(&next.at(place)).expect("its own link"), next);
        }
    }
}
