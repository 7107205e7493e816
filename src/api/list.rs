//! Drives a listing: pages are asked for as the pager says, together where it can, and read on other threads
//! while the next ones are under way.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use url::Url;

use super::exchange::Line;
use crate::backend::assembly::Assembly;
use crate::backend::elements::PageItems;
use crate::backend::listing::{self, Listed, OpenPage};
use crate::backend::page::{PageAt, Pager};
use crate::backend::probe::{SeenListing, SeenPage};
use crate::backend::request::{self, backend_failure};
use crate::backend::wire::HttpAnswer;
use crate::core::exchange::{Answer, Collection, Failure, FailureClass, Listing, VersionToken, Wanted};
use crate::core::kind::{Kind, ListOp, PageBy};
use crate::core::report::Explanation;

/// A page after the first is asked for so often while the server asks for patience: giving up would throw
/// away all pages before it.
const TRIES: u32 = 3;
/// The wait before the second try, where the server names none; doubled for the third.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// A page of fewer bytes is read where it arrived: handing it to a thread would cost more than reading it. It also
/// keeps the requests of a small API in one order, where one goes at a time.
const SHORT: usize = 16 * 1024;

/// The items of a page, or the thread that reads them.
enum Reading {
    Done(PageItems),
    Apart(JoinHandle<PageItems>),
}

/// A listing under way.
#[derive(Clone)]
pub(super) struct Job {
    line: Arc<Line>,
    kind: Arc<Kind>,
    collection: Arc<Collection>,
    wanted: Wanted,
    pub(super) version: Option<VersionToken>,
    doing: Arc<str>,
}

/// What to look at where pages do not lead to an end.
pub(super) const CHECK_PAGE: &str = "check `page` of the kind's `list` in the backend";

/// Lists a collection.
pub async fn list(line: &Arc<Line>, kind: &Arc<Kind>, collection: &Collection, wanted: &Wanted) -> Answer {
    let job = match Job::begin(line, kind, collection, wanted).await {
        Ok(job) => job,
        Err(failure) => return Answer::Failed(failure),
    };
    let list = job.listed().list;
    let told = match job.run(list).await {
        // A cursor that the server no longer knows: the listing begins anew, once.
        Err(Broken { failure, pages, .. })
            if pages > 0 && failure.class == FailureClass::Status(410) && by_cursor(list) =>
        {
            job.run(list).await
        }
        told => told,
    };
    match told {
        Ok(listing) => Answer::Listed(listing),
        Err(Broken { failure, pages: 0, .. }) => Answer::Failed(failure),
        Err(Broken { failure, mut listing, .. }) => {
            let why = Explanation { message: failure.message, hint: failure.hint, reason: None };
            listing.incomplete = Some(Box::new(why));
            Answer::Listed(listing)
        }
    }
}

/// Whether the server says that there is no such page.
pub(super) fn is_no_page(failure: &Failure) -> bool {
    matches!(failure.class, FailureClass::Status(400 | 404 | 416 | 422))
}

fn by_cursor(list: &ListOp) -> bool {
    list.page.as_ref().is_some_and(|page| page.by == PageBy::Cursor)
}

/// A listing that did not come to its end.
struct Broken {
    failure: Failure,
    /// How many pages came before.
    pages: usize,
    listing: Listing,
}

impl Job {
    /// # Errors
    /// A kind without a listing; a version that a request of its own does not tell.
    pub(super) async fn begin(
        line: &Arc<Line>,
        kind: &Arc<Kind>,
        collection: &Collection,
        wanted: &Wanted,
    ) -> Result<Job, Failure> {
        let mut doing = format!("listing {}", kind.name.kind);
        if !collection.scope.parts().is_empty() {
            doing = format!("{doing} of `{}`", collection.scope);
        }
        if kind.list.is_none() {
            let failure = backend_failure("the kind has no `list`".into());
            return Err(line.judge(&doing, |context| context.wrap(failure)));
        }
        let version = match line.version(kind, &collection.scope, &collection.parent_ids, None, &doing).await
        {
            Ok(version) => version,
            // Its request may name the object, which a listing has not.
            Err(failure) if failure.class == FailureClass::Backend => None,
            Err(failure) => return Err(failure),
        };
        Ok(Job {
            line: line.clone(),
            kind: kind.clone(),
            collection: Arc::new(collection.clone()),
            wanted: wanted.clone(),
            version,
            doing: doing.into(),
        })
    }

    async fn run(&self, list: &ListOp) -> Result<Listing, Broken> {
        let mut pager = Pager::new(list.page.as_ref());
        let mut fetches = FuturesOrdered::new();
        fetches.push_back(self.fetch(pager.first(), false));
        let mut readers: Vec<Reading> = Vec::new();
        let mut failure = None;
        while let Some(fetched) = fetches.next().await {
            let onward = fetched.and_then(|page| {
                let next = pager.next(&page.facts);
                readers.push(self.read(page));
                next.map_err(|error| self.refuse(&error.to_string(), Some(CHECK_PAGE)))
            });
            match onward {
                Ok(next) => next.into_iter().for_each(|at| fetches.push_back(self.fetch(at, true))),
                Err(error) if pager.has_all() && is_no_page(&error) => break,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        let pages = readers.len();
        let mut whole = Assembly::new(pager.shifts());
        for reader in readers {
            match reader {
                Reading::Done(page) => whole.add(page),
                Reading::Apart(thread) => match thread.await {
                    Ok(page) => whole.add(page),
                    Err(error) => failure = Some(self.unread(&error)),
                },
            }
        }
        let incomplete =
            pager.incomplete().map(|why| Explanation::new(format!("{}: {why}", self.doing)).hint(CHECK_PAGE));
        let listing = whole.finish(incomplete);
        match failure {
            Some(failure) => Err(Broken { failure, pages, listing }),
            None => Ok(listing),
        }
    }

    /// Fetches a page and opens it.
    async fn fetch(&self, at: PageAt, patient: bool) -> Result<OpenPage, Failure> {
        let mut tries = if patient { TRIES } else { 1 };
        let mut wait = FIRST_WAIT;
        let (url, answer) = loop {
            let (url, answer) = self.page(&at, None).await?;
            tries -= 1;
            if tries == 0 || !matches!(answer.status, 429 | 503) {
                break (url, answer);
            }
            // A wait that the server names is heeded where requests start.
            if answer.header("retry-after").is_none() {
                tokio::time::sleep(wait).await;
                wait *= 2;
            }
        };
        if answer.body.len() < SHORT {
            return self.open(&url, answer, patient);
        }
        let job = self.clone();
        let opened = spawn_blocking(move || job.open(&url, answer, patient));
        opened.await.unwrap_or_else(|error| Err(self.unread(&error)))
    }

    /// The first pages, at most so many, with the answers as they came; nothing is asked for a second time.
    pub(super) async fn sample(&self, most: usize) -> SeenListing {
        let mut pager = Pager::new(self.listed().list.page.as_ref());
        let mut seen = SeenListing::default();
        let mut at = Some(pager.first());
        while let Some(here) = at.filter(|_| seen.pages.len() < most) {
            let next = self.seen_page(&here).await.and_then(|page| {
                let next = pager.next(&page.facts);
                seen.pages.push(page);
                next.map_err(|error| self.refuse(&error.to_string(), Some(CHECK_PAGE)))
            });
            at = match next {
                Ok(next) => next.into_iter().next(),
                Err(failure) if pager.has_all() && is_no_page(&failure) => {
                    seen.whole = true;
                    return seen;
                }
                Err(failure) => {
                    seen.failure = Some(failure);
                    None
                }
            };
        }
        seen.whole = pager.at_end() && seen.failure.is_none();
        seen.incomplete = pager.incomplete().map(str::to_owned);
        seen
    }

    async fn seen_page(&self, at: &PageAt) -> Result<SeenPage, Failure> {
        let (url, answer) = self.page(at, None).await?;
        self.line.judge(&self.doing, |context| {
            let page = listing::open(context, self.listed(), &url, answer.clone())?;
            let facts = page.facts.clone();
            let PageItems { items, problems, .. } =
                page.items(context, self.listed(), &self.wanted, self.version.as_ref());
            Ok(SeenPage { answer, facts, items, problems })
        })
    }

    /// Asks for a page; with the ETag of its last answer, only where it is another one by now.
    pub(super) async fn page(&self, at: &PageAt, tag: Option<&str>) -> Result<(Url, HttpAnswer), Failure> {
        let version = self.version.as_ref().map(|version| &*version.text);
        let request = request::list(&self.line.site, self.listed().list, &self.collection, version, at);
        let request = request.map_err(|f| self.line.judge(&self.doing, |context| context.wrap(f)))?;
        self.line.send(&self.doing, request.unless(tag)).await
    }

    pub(super) fn open(&self, url: &Url, answer: HttpAnswer, patient: bool) -> Result<OpenPage, Failure> {
        // On a page after the first, the collection was there a moment ago.
        if !patient && self.listed().is_absent(&answer) {
            return Ok(OpenPage::empty(answer));
        }
        self.line.judge(&self.doing, |context| listing::open(context, self.listed(), url, answer))
    }

    /// Reads the items of a page, a long one on another thread.
    fn read(&self, page: OpenPage) -> Reading {
        if page.size() < SHORT {
            return Reading::Done(self.items(page));
        }
        let job = self.clone();
        Reading::Apart(spawn_blocking(move || job.items(page)))
    }

    fn items(&self, page: OpenPage) -> PageItems {
        self.line.judge(&self.doing, |context| {
            page.items(context, self.listed(), &self.wanted, self.version.as_ref())
        })
    }

    pub(super) fn listed(&self) -> Listed<'_> {
        let list = self.kind.list.as_ref().expect("there is a listing");
        Listed { kind: &self.kind, list, collection: &self.collection }
    }

    /// A thread that did not come to its end.
    pub(super) fn unread(&self, error: &JoinError) -> Failure {
        self.refuse(&format!("a page could not be read: {error}"), None)
    }

    pub(super) fn refuse(&self, what: &str, hint: Option<&str>) -> Failure {
        self.line
            .judge(&self.doing, |context| context.fail(FailureClass::Refused, what, hint.map(Into::into)))
    }
}
