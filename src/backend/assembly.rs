//! Pages become one listing. An item that stands on two pages, because others before it came or went, is one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::core::exchange::Listing;
use crate::core::identity::Key;
use crate::core::report::Explanation;

use super::elements::PageItems;

/// A listing that grows page by page, in order.
#[derive(Debug)]
pub struct Assembly {
    listing: Listing,
    /// Whether items may move between pages.
    shifts: bool,
    moved: usize,
    pages: usize,
    known: HashMap<(Key, Option<Arc<str>>), Place>,
}

/// Where an object was seen first.
#[derive(Clone, Copy, Debug)]
struct Place {
    page: usize,
    /// Among the whole items; `None` for one that is not wanted.
    item: Option<usize>,
}

impl Assembly {
    /// An empty listing; `shifts` says whether an object on two pages means that others were missed.
    pub fn new(shifts: bool) -> Assembly {
        let listing = Listing {
            items: Vec::new(),
            others: Vec::new(),
            seen: 0,
            incomplete: None,
            problems: Vec::new(),
        };
        Assembly { listing, shifts, moved: 0, pages: 0, known: HashMap::new() }
    }

    /// Adds the next page. Of an object on two pages the newer state counts.
    pub fn add(&mut self, page: PageItems) {
        self.pages += 1;
        self.listing.seen += page.seen;
        self.listing.problems.extend(page.problems);
        for item in page.items {
            let next = self.listing.items.len();
            match self.earlier(&item.key, &item.server_id, Some(next)) {
                Some(Place { item: Some(at), .. }) => self.listing.items[at] = item,
                _ => self.listing.items.push(item),
            }
        }
        for (key, id) in page.others {
            if self.earlier(&key, &id, None).is_none() {
                self.listing.others.push(key);
            }
        }
    }

    /// The listing, with what makes it incomplete as far as the pages know.
    pub fn finish(mut self, incomplete: Option<Explanation>) -> Listing {
        let moved = (self.shifts && self.moved > 0).then(|| {
            let moved = self.moved;
            let why = format!("{moved} items stood on two pages: the collection changed while it was listed");
            Explanation::new(why)
                .hint("run it again; a listing with cursors, where the API has one, is not disturbed")
        });
        self.listing.incomplete = incomplete.or(moved).map(Box::new);
        self.listing
    }

    /// Where an earlier page showed the object. Twice on one page is two objects.
    fn earlier(&mut self, key: &Key, id: &Option<Arc<str>>, item: Option<usize>) -> Option<Place> {
        let here = Place { page: self.pages, item };
        let first = *self.known.entry((key.clone(), id.clone())).or_insert(here);
        let again = first.page < self.pages;
        self.moved += usize::from(again);
        self.listing.seen -= usize::from(again);
        again.then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::exchange::Item;
    use serde_json::json;

    fn page(names: &[&str], value: u8) -> PageItems {
        let key = |name: &str| Key::new(vec![("name".into(), json!(name))]);
        let item = |name: &&str| Item {
            key: key(name),
            server_id: None,
            version: None,
            value: Arc::new(json!(value)),
            deleting: false,
            ready: None,
            ambiguous: Vec::new(),
        };
        let items = names.iter().filter(|name| !name.starts_with('-')).map(item).collect();
        let others =
            names.iter().filter(|name| name.starts_with('-')).map(|name| (key(name), None)).collect();
        PageItems { items, others, seen: names.len(), problems: Vec::new() }
    }

    fn assembled(shifts: bool, pages: &[&[&str]]) -> Listing {
        let mut whole = Assembly::new(shifts);
        (0..).zip(pages).for_each(|(at, names)| whole.add(page(names, at)));
        whole.finish(None)
    }

    #[test]
    fn an_item_on_two_pages_is_one() {
        let listing = assembled(true, &[&["a", "b", "-c"], &["b", "-c", "d"]]);
        let shown: Vec<String> =
            listing.items.iter().map(|item| format!("{}{}", item.key, item.value)).collect();
        assert_eq!(shown, ["a0", "b1", "d1"], "the newer state counts");
        assert_eq!((listing.seen, listing.others.len()), (4, 1));
        let why = "2 items stood on two pages: the collection changed while it was listed";
        assert_eq!(listing.incomplete.expect("it is not whole").message, why);
        assert_eq!(assembled(false, &[&["a"], &["a"]]).incomplete, None, "a cursor does not skip");
    }

    #[test]
    fn twice_on_one_page_is_two() {
        let listing = assembled(true, &[&["a", "a"]]);
        assert_eq!((listing.items.len(), listing.seen, listing.incomplete), (2, 2, None));
    }
}
