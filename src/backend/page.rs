//! How a listing goes on, as a state machine that sends nothing: it is given what a page showed, and says
//! which pages to fetch next, or that this was the end and whether all was seen.
//!
//! It fails closed. Only a listing that is whole may prove that an object is absent, so whatever shows that
//! there is more, declared or not, makes the listing incomplete.

use std::collections::HashSet;

use crate::core::kind::{Page, PageBy};
use crate::core::mutant::planted;

/// Which page to ask for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PageAt {
    /// Where no paging is declared, or the way on is only known from the first answer.
    First,
    /// A page's number or an offset.
    Number(u64),
    Cursor(String),
    /// An absolute URL of the backend's own origin.
    Url(String),
}

/// What a page showed.
#[derive(Clone, Debug, Default)]
pub struct PageFacts {
    /// Elements that the server sent, before any filter of ours drops some.
    pub count: u64,
    /// The next cursor, or the next URL as resolved against the request's.
    pub next: Option<String>,
    /// How many there are in all: what `total` says, or a header.
    pub total: Option<u64>,
    /// A sign of more that the paging as declared does not use: `` `.meta.next` in its body ``, say.
    pub more: Option<String>,
    /// The `page` that would follow this sign, where it can be told.
    pub declare: Option<String>,
    /// How many there are in all, by a member that nobody declared: good for doubt alone.
    pub hinted: Option<u64>,
    /// How many pages there are in all, by a member that nobody declared: good for doubt alone.
    pub pages: Option<u64>,
    /// Why this answer may leave something out, whatever it says of other pages.
    pub part: Option<String>,
    /// Tells two pages apart.
    pub fingerprint: u64,
}

/// Why a listing cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    #[error("the server gives `{0}` as the next page for the second time")]
    Repeated(String),
    #[error("the server answers with the same page again and again; it may not know `{0}`")]
    SamePage(String),
    #[error(
        "the pages bring nothing new: each has a next one, and the last {MOST_STALE} held what was seen before"
    )]
    NothingNew,
    #[error("{MOST_EMPTY} pages in a row were empty, and each has a next one")]
    Empty,
    #[error("the listing has more than {MOST_PAGES} pages")]
    TooMany,
}

/// Beyond this a pager is taken for endless.
const MOST_PAGES: u64 = 10_000;
/// So many pages in a row that hold only what was seen before are a circle.
const MOST_STALE: u64 = 3;
/// So many pages in a row may be empty: some servers send those where they filter late (AIP-158).
const MOST_EMPTY: u64 = 100;

/// The state of one listing. Pages may be fetched together, but are told in order.
#[derive(Debug)]
pub struct Pager {
    page: Option<Page>,
    /// Pages asked for.
    asked: u64,
    /// Pages told.
    told: u64,
    /// Elements of all pages told.
    seen: u64,
    total: Option<u64>,
    /// How many elements a page holds: as asked for, or what the server makes of it.
    size: Option<u64>,
    /// The next number, where pages are counted.
    number: u64,
    used: HashSet<String>,
    last: Option<u64>,
    /// The fingerprints of all pages that held something.
    pages: HashSet<u64>,
    /// Pages in a row without anything new.
    stale: u64,
    /// Pages in a row without anything.
    empty: u64,
    /// A page that held more than it was asked for: what follows it is told from an offset that is a guess.
    overfull: Option<u64>,
    /// Why one of the answers may leave something out.
    part: Option<String>,
    incomplete: Option<String>,
}

impl Pager {
    /// A pager for a listing that is paged so, or not at all.
    pub fn new(page: Option<&Page>) -> Pager {
        Pager {
            asked: 1,
            told: 0,
            seen: 0,
            total: None,
            size: page.and_then(|page| page.size),
            number: page.map_or(0, |page| page.first),
            used: HashSet::new(),
            last: None,
            pages: HashSet::new(),
            stale: 0,
            empty: 0,
            overfull: None,
            part: None,
            incomplete: None,
            page: page.cloned(),
        }
    }

    /// The first page.
    pub fn first(&self) -> PageAt {
        match self.by() {
            Some(PageBy::Page | PageBy::Offset) => PageAt::Number(self.number),
            _ => PageAt::First,
        }
    }

    /// Takes what the next page in order showed, and gives the pages to ask for now: none while pages are
    /// still under way or at the end, several where their number is known.
    ///
    /// # Errors
    /// A server whose pages do not come to an end.
    pub fn next(&mut self, facts: &PageFacts) -> Result<Vec<PageAt>, PageError> {
        self.told += 1;
        self.seen += facts.count;
        self.total = facts.total.or(self.total);
        let asked = self.page.as_ref().filter(|page| page.by == PageBy::Offset).and_then(|page| page.size);
        self.overfull = self.overfull.or(asked.filter(|size| facts.count > *size).map(|_| facts.count));
        self.part = self.part.take().or_else(|| facts.part.clone());
        let next = match self.by() {
            None => Vec::new(),
            Some(PageBy::Page | PageBy::Offset) => self.counted(facts)?,
            Some(PageBy::Cursor) => self.linked(facts, PageAt::Cursor)?,
            Some(PageBy::Url | PageBy::Link) => self.linked(facts, PageAt::Url)?,
        };
        self.asked += next.len() as u64;
        if !next.is_empty() {
            self.progress(facts)?;
        }
        if self.asked > MOST_PAGES {
            return Err(PageError::TooMany);
        }
        if self.told == self.asked {
            self.conclude(facts);
        }
        Ok(next)
    }

    /// Whether every page that was asked for has been told.
    pub fn at_end(&self) -> bool {
        self.told == self.asked
    }

    /// Why the listing is not known to be whole, once it is at its end.
    pub fn incomplete(&self) -> Option<&str> {
        self.incomplete.as_deref()
    }

    /// Whether the pages told hold all that the server counts. One more may have been asked for, in case that the
    /// count was the page's own; a server that refuses a page beyond the last one says the same as the count.
    pub fn has_all(&self) -> bool {
        self.told > 0 && self.total == Some(self.seen)
    }

    /// Whether items may move from page to page while the listing is under way.
    pub fn shifts(&self) -> bool {
        self.told > 1 && matches!(self.by(), Some(PageBy::Page | PageBy::Offset))
    }

    fn by(&self) -> Option<PageBy> {
        self.page.as_ref().map(|page| page.by)
    }

    /// Whether the pages still bring something, as one leads to the next. Cursors that are always new say nothing
    /// of that.
    fn progress(&mut self, facts: &PageFacts) -> Result<(), PageError> {
        if facts.count == 0 {
            self.empty += 1;
            return if self.empty >= MOST_EMPTY { Err(PageError::Empty) } else { Ok(()) };
        }
        self.empty = 0;
        self.stale = if self.pages.insert(facts.fingerprint) { 0 } else { self.stale + 1 };
        if self.stale >= MOST_STALE { Err(PageError::NothingNew) } else { Ok(()) }
    }

    fn linked(&mut self, facts: &PageFacts, at: impl Fn(String) -> PageAt) -> Result<Vec<PageAt>, PageError> {
        let Some(next) = facts.next.as_ref().filter(|_| !planted!(M2) || facts.count > 0) else {
            return Ok(Vec::new());
        };
        if !self.used.insert(next.clone()) {
            return Err(PageError::Repeated(next.clone()));
        }
        Ok(vec![at(next.clone())])
    }

    fn counted(&mut self, facts: &PageFacts) -> Result<Vec<PageAt>, PageError> {
        if facts.count > 0 && self.last.replace(facts.fingerprint) == Some(facts.fingerprint) {
            let param = self.page.as_ref().map_or(String::new(), |page| page.param.clone());
            return Err(PageError::SamePage(param));
        }
        if !self.at_end() {
            return Ok(Vec::new());
        }
        let full = self.is_full(facts.count);
        match self.total {
            Some(total) if total > self.seen && facts.count > 0 => Ok(self.rest(total, facts.count)),
            // However few it held: the server may give less than was asked for.
            _ if facts.count > 0 && self.shows_more(facts) => Ok(vec![self.advance(facts.count)]),
            // A total that equals a first full page may be that page's own count.
            Some(total) if total < self.seen || self.told > 1 || !full => Ok(Vec::new()),
            _ if !full => Ok(Vec::new()),
            _ => Ok(vec![self.advance(facts.count)]),
        }
    }

    /// Whether a page of this many elements may have another after it. A server that caps the size of its
    /// pages shows a round number on the first one, fewer than were asked for.
    fn is_full(&mut self, count: u64) -> bool {
        match self.size {
            None => count > 0,
            Some(size) if count >= size => true,
            Some(_) => {
                let capped = self.told == 1 && count > 0 && count.is_multiple_of(10);
                if capped {
                    self.size = Some(count);
                }
                capped
            }
        }
    }

    /// All pages that are left, for fetching them together.
    fn rest(&mut self, total: u64, count: u64) -> Vec<PageAt> {
        let left = (total - self.seen).div_ceil(count).min(MOST_PAGES + 1);
        // After the first page the numbers are only guesses again where a page held fewer than the others.
        let together = if self.told == 1 { left } else { 1 };
        (0..together).map(|_| self.advance(count)).collect()
    }

    fn advance(&mut self, count: u64) -> PageAt {
        self.number += if self.by() == Some(PageBy::Offset) { count } else { 1 };
        PageAt::Number(self.number)
    }

    /// Whether a page says that others follow, in a way that the paging does not use.
    fn shows_more(&self, facts: &PageFacts) -> bool {
        let beyond = |count: Option<u64>, had| count.is_some_and(|count| count > had);
        facts.more.is_some() || beyond(facts.hinted, self.seen) || beyond(facts.pages, self.told)
    }

    fn conclude(&mut self, facts: &PageFacts) {
        let seen = self.seen;
        self.incomplete = match self.total {
            // All at once, by the server's own count: no offset was needed.
            Some(total) if total == seen && self.told == 1 => None,
            _ if self.overfull.is_some() => self.overfull.map(|count| self.skipped(count)),
            Some(total) if total > seen => {
                Some(format!("the server counts {total} in all, and its pages held {seen}"))
            }
            Some(total) if total < seen && self.by().is_some() => {
                Some(format!("the server counts {total} in all, and its pages held {seen}: it has changed"))
            }
            _ => match (&facts.more, facts.hinted) {
                (Some(more), _) => Some(self.not_followed(more, facts.declare.as_deref())),
                (None, Some(total)) if total > seen => Some(format!(
                    "the server counts {total} in all, and its pages held {seen}: check `page` of the listing"
                )),
                _ => self.unread(facts.pages).filter(|_| self.total != Some(seen)),
            },
        };
        if let (None, Some(part)) = (&self.incomplete, &self.part) {
            self.incomplete = Some(format!("an answer is no proof that it is whole ({part})"));
        }
    }

    /// That there are more pages than were read.
    fn unread(&self, pages: Option<u64>) -> Option<String> {
        let pages = pages.filter(|pages| *pages > self.told)?;
        let read = self.told;
        Some(format!("the server counts {pages} pages, of which {read} came: check `page` of the listing"))
    }

    /// The next offset is told by what a page held. One that held something twice, or an element that is on every
    /// page, has led past another.
    fn skipped(&self, count: u64) -> String {
        let size = self.page.as_ref().and_then(|page| page.size).unwrap_or(0);
        format!(
            "a page held {count} where {size} were asked for, so that the next offset may have skipped others: check \
             `page` of the listing"
        )
    }

    /// What was seen, and what would follow it.
    fn not_followed(&self, more: &str, declare: Option<&str>) -> String {
        let seen = match self.page {
            None => format!("the answer shows more ({more}), and the backend declares no paging"),
            Some(_) => format!("the last page shows more ({more}), which `page` as declared does not follow"),
        };
        match declare {
            Some(page) => format!("{seen}; declare `page: {page}`"),
            None => format!("{seen}; check `page` of the listing"),
        }
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
