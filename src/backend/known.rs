//! Hash and skip: what the pages of a listing showed when they were polled last, as digests. An element that is known
//! is never parsed, and a page that is known is not even split.
//!
//! This finds out what may have changed, and proves nothing: whoever is told looks for themselves.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::core::digest::Digest;
use crate::core::exchange::{Item, VersionToken};
use crate::core::fields::FieldRules;
use crate::core::identity::Key;
use crate::core::value::Value;
use crate::core::watch::owned::{Fit, Interest, Interests, Sight};

use super::elements::{Read, Reader};
use super::etag;
use super::item::{ItemError, listed};
use super::listing::{Elements, Listed, OpenPage};
use super::page::{PageAt, PageFacts};
use super::wire::HttpAnswer;

/// What is known of a collection: about 64 bytes for each element, whatever its size, and the keys of those that a
/// document names.
#[derive(Default)]
pub struct Known {
    interests: Arc<Interests>,
    pages: HashMap<PageAt, KnownPage>,
    elements: HashMap<Digest, Entry>,
    /// How each object of interest was seen last, in their order: the sum over all elements of its key.
    sights: Vec<Option<u128>>,
    /// Counts the polls.
    round: u32,
    /// Whether a listing came to its end before, so that there is something to compare with.
    begun: bool,
    /// Something was not seen in the last round, and may be there or not.
    doubt: bool,
    /// Objects of interest that were written since they were seen: what they were before says nothing of them now.
    /// With how whoever wrote them saw them then, where that is known.
    written: BTreeMap<usize, Option<u128>>,
    /// Pages of this round that were not as they had been.
    turned: usize,
    /// Elements of this round that no document names, and that were not there before.
    came: usize,
    parsed: u64,
}

#[derive(Debug)]
struct KnownPage {
    /// Its ETag, as it was sent.
    tag: Option<Arc<str>>,
    digest: Digest,
    facts: PageFacts,
    elements: Vec<Digest>,
    round: u32,
}

/// An element.
#[derive(Debug)]
struct Entry {
    sight: Digest,
    /// Which object of interest it is, or [`STRANGER`].
    at: u32,
    /// The poll that saw it last.
    round: u32,
    fit: Fit,
}

const STRANGER: u32 = u32::MAX;

/// So many polls after it was seen last an element is forgotten, where none of them saw all.
const KEPT: u32 = 8;

/// How a round saw an object of interest.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    sum: Option<u128>,
    /// Of all of its elements.
    fit: Fit,
}

/// What has changed since the last poll.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Objects of interest that came, went, or are another way than they were; each with what was seen of it. After
    /// the first poll those that are known not to be as they are wanted.
    pub keys: Vec<(Key, Digest)>,
    /// How many of them are known to be as they are wanted by now.
    pub level: usize,
    /// How many elements that no document names came or went; one that changed is two.
    pub strangers: usize,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.strangers == 0
    }
}

impl Known {
    /// Nothing is known yet.
    pub fn new(interests: Arc<Interests>) -> Known {
        let sights = vec![None; interests.len()];
        Known { interests, sights, ..Known::default() }
    }

    /// How many elements were looked into since the beginning.
    pub fn parsed(&self) -> u64 {
        self.parsed
    }

    /// An object was written, and then seen so by whoever wrote it. Another writer may set it back to what it was seen
    /// as last, and the next poll would see no change: it tells of the object again if it is known not to be as it is
    /// wanted, or is another way than it was seen after the write.
    pub fn wrote(&mut self, key: &Key, sight: Option<Sight>) {
        let at = self.interests.find(key);
        self.written.extend(at.map(|at| (at, sight.map(|sight| sight.digest.0))));
    }

    /// Begins a poll.
    pub fn begin(&mut self) {
        self.round += 1;
        self.turned = 0;
        self.came = 0;
    }

    /// The ETag of a page, to ask whether it is another one by now.
    pub fn tag(&self, at: &PageAt) -> Option<Arc<str>> {
        self.pages.get(at)?.tag.clone()
    }

    /// The page is what it was: the server says so. `None` where nothing is known of it.
    pub fn unchanged(&mut self, at: &PageAt) -> Option<PageFacts> {
        let page = self.pages.get_mut(at)?;
        page.round = self.round;
        Some(page.facts.clone())
    }

    /// The page is what it was, byte by byte.
    pub fn same(&mut self, at: &PageAt, answer: &HttpAnswer) -> Option<PageFacts> {
        let page = self.pages.get_mut(at).filter(|page| page.digest == digest(answer))?;
        page.round = self.round;
        page.tag = tag(answer);
        Some(page.facts.clone())
    }

    /// Takes a page that is another one than before. `version` is the collection's own, where versions come from a
    /// request.
    pub fn take(
        &mut self,
        of: Listed,
        at: PageAt,
        page: OpenPage,
        version: Option<&VersionToken>,
    ) -> PageFacts {
        let OpenPage { facts, answer, elements } = page;
        let reader = Reader::new(of, &answer);
        let mut digests = Vec::new();
        match elements {
            Elements::Places(places) => {
                let body = std::str::from_utf8(&answer.body).expect("it was read as text before");
                for place in places {
                    let text = &body[place];
                    let tree = || serde_json::from_str(text).map_err(|_| ItemError::Unreadable);
                    digests.push(self.element(of, &reader, version, text, || reader.raw(text), tree));
                }
            }
            Elements::Trees(trees) => {
                for tree in trees.into_iter().map(|tree| tree.value) {
                    let text = tree.to_string();
                    let read = || reader.tree(&tree);
                    digests.push(self.element(of, &reader, version, &text, read, || Ok(tree.clone())));
                }
            }
        }
        self.turned += 1;
        let known = KnownPage {
            tag: tag(&answer),
            digest: digest(&answer),
            facts: facts.clone(),
            elements: digests,
            round: self.round,
        };
        self.pages.insert(at, known);
        facts
    }

    /// One element of a page: it is looked into only where it is new.
    fn element(
        &mut self,
        of: Listed,
        reader: &Reader,
        version: Option<&VersionToken>,
        text: &str,
        read: impl FnOnce() -> Result<Read, ItemError>,
        tree: impl FnOnce() -> Result<Value, ItemError>,
    ) -> Digest {
        let digest = Digest::of_bytes(text.as_bytes());
        if self.elements.contains_key(&digest) {
            return digest;
        }
        self.parsed += 1;
        let found = read().ok().and_then(|read| {
            let at = self.interests.find(&read.key)?;
            let item = listed(of.kind, read.key, read.id, version.cloned(), tree().ok()?, reader.vars());
            let sight = match item.ok()? {
                Some(item) => self.interests.at(at).1.sight(&of.kind.fields, &item),
                None => return None,
            };
            Some((at, sight))
        });
        let (at, Sight { digest: sight, fit }) = match found {
            Some((at, sight)) => (u32::try_from(at).unwrap_or(STRANGER), sight),
            None => (STRANGER, Sight { digest, fit: Fit::Unclear }),
        };
        self.came += usize::from(at == STRANGER);
        // It counts as seen at the end of the round.
        self.elements.insert(digest, Entry { sight, at, round: self.round.wrapping_sub(1), fit });
        digest
    }

    /// Ends a poll that saw all pages; `None` where nothing is another way. `shifts`: elements may move from page to
    /// page while they are listed. One that was on two pages then tells that others were missed.
    pub fn end(&mut self, shifts: bool) -> Option<Changes> {
        let known = self.pages.len();
        self.pages.retain(|_, page| page.round == self.round);
        if self.begun
            && !self.doubt
            && self.written.is_empty()
            && self.turned == 0
            && self.pages.len() == known
        {
            return None;
        }
        let (seen, moved) = self.mark();
        if shifts && moved {
            return self.conclude(&seen, false);
        }
        self.conclude(&seen, true)
    }

    /// Ends a poll that did not see all: what was not seen tells nothing. The next one asks for everything anew.
    pub fn end_early(&mut self) -> Option<Changes> {
        let (seen, _) = self.mark();
        let told = self.conclude(&seen, false);
        self.pages.clear();
        told
    }

    /// Marks the elements of all pages of this round. Gives how each object was seen, and whether an element stood on
    /// two pages.
    fn mark(&mut self) -> (Vec<Seen>, bool) {
        let mut seen = vec![Seen::default(); self.interests.len()];
        let mut moved = false;
        for page in self.pages.values().filter(|page| page.round == self.round) {
            for digest in &page.elements {
                let Some(entry) = self.elements.get_mut(digest) else { continue };
                if entry.round == self.round {
                    moved = true;
                    continue;
                }
                entry.round = self.round;
                if let Some(seen) = seen.get_mut(entry.at as usize) {
                    seen.sum = Some(seen.sum.unwrap_or_default().wrapping_add(entry.sight.0));
                    seen.fit = seen.fit.max(entry.fit);
                }
            }
        }
        (seen, moved)
    }

    /// Holds what was seen against what was seen before.
    fn conclude(&mut self, seen: &[Seen], complete: bool) -> Option<Changes> {
        let mut changes = Changes::default();
        for (at, (key, interest)) in self.interests.iter().enumerate() {
            let Seen { sum, fit } = seen[at];
            if sum.is_none() && !complete {
                continue;
            }
            let before = std::mem::replace(&mut self.sights[at], sum);
            let sight = match sum {
                Some(sum) => Sight { digest: Digest(sum), fit },
                None => interest.nothing(),
            };
            let told = match self.written.remove(&at) {
                Some(Some(wrote)) => wrote != sight.digest.0 || sight.fit == Fit::Wrong,
                None if self.begun => before != sum,
                None | Some(None) => sight.fit == Fit::Wrong,
            };
            if told {
                changes.level += usize::from(sight.fit == Fit::Level);
                changes.keys.push((key.clone(), sight.digest));
            }
        }
        let round = self.round;
        let went = |entry: &Entry| complete && entry.at == STRANGER && entry.round != round;
        if self.begun {
            changes.strangers = self.came + self.elements.values().filter(|entry| went(entry)).count();
        }
        let oldest = if complete { round } else { round.saturating_sub(KEPT) };
        self.elements.retain(|_, entry| entry.round >= oldest);
        self.begun |= complete;
        self.doubt = !complete;
        (!changes.is_empty()).then_some(changes)
    }
}

/// Of all that a page is read from: its body, and the headers that lead on or that filters look at.
fn digest(answer: &HttpAnswer) -> Digest {
    const HEADERS: [&str; 5] = ["etag", "link", "x-total-count", "x-total", "content-range"];
    let mut text = format!("{} {:032x}", answer.status, Digest::of_bytes(&answer.body).0);
    for (name, value) in answer.headers.iter().filter(|(name, _)| HEADERS.contains(&&**name)) {
        text.push('\n');
        text.push_str(name);
        text.push(':');
        text.push_str(value);
    }
    Digest::of_bytes(text.as_bytes())
}

/// The ETag of an answer, as it was sent. A weak one is as good for asking whether something changed (RFC 9110,
/// 13.1.2).
fn tag(answer: &HttpAnswer) -> Option<Arc<str>> {
    answer.header("etag").and_then(etag::token).map(|token| token.text)
}

/// One object that is polled by its own read.
#[derive(Default)]
pub struct KnownObject {
    interest: Interest,
    tag: Option<Arc<str>>,
    digest: Option<Digest>,
    sight: Option<Sight>,
    /// How it was seen after a write, since when no poll has seen it.
    written: Option<Sight>,
}

impl KnownObject {
    /// Nothing is known yet.
    pub fn new(interest: Interest) -> KnownObject {
        KnownObject { interest, ..KnownObject::default() }
    }

    /// The ETag of its last answer.
    pub fn tag(&self) -> Option<Arc<str>> {
        self.tag.clone()
    }

    /// Whether an answer is what the last one was; if not, it is to be looked into.
    pub fn is_same(&mut self, answer: &HttpAnswer) -> bool {
        self.tag = tag(answer);
        let digest = digest(answer);
        self.digest.replace(digest) == Some(digest)
    }

    /// What the answer said could not be made out: the next one is looked into whatever it is.
    pub fn forget(&mut self) {
        (self.tag, self.digest) = (None, None);
    }

    /// It was written, and then seen so by whoever wrote it: what it was before says nothing of it now.
    pub fn wrote(&mut self, sight: Option<Sight>) {
        self.forget();
        (self.sight, self.written) = (None, sight);
    }

    /// Takes what was seen: what it is, where that is another way than before; the first time, where it is known not
    /// to be as it is wanted.
    pub fn take(&mut self, rules: &FieldRules, item: Option<&Item>) -> Option<Digest> {
        let sight = match item {
            Some(item) => self.interest.sight(rules, item),
            None => self.interest.nothing(),
        };
        let is_other = |before: Sight| before.digest != sight.digest;
        let told = match (self.sight.replace(sight), self.written.take()) {
            (Some(before), _) => is_other(before),
            (None, wrote) => wrote.is_some_and(is_other) || sight.fit == Fit::Wrong,
        };
        told.then_some(sight.digest)
    }
}

#[cfg(test)]
#[path = "known_tests.rs"]
mod tests;
