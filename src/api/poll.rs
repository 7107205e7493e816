//! Polls a collection, or one object, for what may have changed: with `If-None-Match` where the last answer had an
//! ETag, and past every element that is known (`backend/known.rs`).
//!
//! What comes of it are hints. That something is so, and most of all that something is gone, is for an observation to
//! say, which is never conditional.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use tokio::task::spawn_blocking;
use url::Url;

use super::client::Client;
use super::exchange::Line;
use super::list::{CHECK_PAGE, Job, is_no_page};
use crate::backend::answer::{self, Asked};
use crate::backend::known::{Changes, Known, KnownObject};
use crate::backend::page::{PageAt, PageFacts, Pager};
use crate::backend::request::{self, backend_failure};
use crate::backend::wire::HttpAnswer;
use crate::core::exchange::{Answer, Collection, Failure, Target, Wanted};
use crate::core::kind::{Kind, Read};

/// What came of a poll.
#[derive(Debug)]
pub struct Poll {
    pub polled: Polled,
    /// How long the server wants to be left alone: `Retry-After` of a failure, `X-Poll-Interval` of any answer.
    pub wait: Option<Duration>,
}

#[derive(Debug)]
pub enum Polled {
    /// Nothing that concerns anyone is another way.
    Same,
    Changed(Changes),
    /// Not all was seen: what was, and what became of the rest, which tells nothing.
    Partly(Option<Changes>, Failure),
    Failed(Failure),
}

/// So many pages are under way at once, where their numbers are known: polls are in no hurry, and their bodies are
/// held until those before them have come.
const PAGES_AT_ONCE: usize = 4;

/// A longer body is read on another thread.
const LONG: usize = 64 * 1024;

/// A longer wish of the server's is taken for this.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

impl<Mode> Client<Mode> {
    /// Looks what has changed in a collection since the last poll. Where this is given up half-way, the next poll
    /// knows nothing and begins anew.
    pub async fn poll(&self, kind: &Arc<Kind>, collection: &Collection, known: &mut Known) -> Poll {
        // The objects of interest are known to `known`.
        let job = Job::begin(self.line(), kind, collection, &Wanted::All).await;
        match job {
            Ok(job) => Poller { job, wait: None }.poll(known).await,
            Err(failure) => failed(failure),
        }
    }

    /// Looks whether an object is another way than at the last poll.
    pub async fn poll_object(&self, kind: &Kind, target: &Target, known: &mut KnownObject) -> Poll {
        self.line().poll_object(kind, target, known).await
    }
}

fn failed(failure: Failure) -> Poll {
    Poll { wait: failure.retry_after, polled: Polled::Failed(failure) }
}

struct Poller {
    job: Job,
    wait: Option<Duration>,
}

impl Poller {
    async fn poll(mut self, known: &mut Known) -> Poll {
        known.begin();
        let mut pager = Pager::new(self.job.listed().list.page.as_ref());
        let mut ahead = VecDeque::from([pager.first()]);
        let mut fetches = FuturesOrdered::new();
        let mut told = 0;
        let failure = loop {
            while let Some(at) = (fetches.len() < PAGES_AT_ONCE).then(|| ahead.pop_front()).flatten() {
                fetches.push_back(fetch(&self.job, known.tag(&at), at));
            }
            let Some((at, fetched)) = fetches.next().await else { break None };
            let facts = match fetched {
                Ok((url, answer)) => {
                    self.wait = self.wait.max(poll_interval(&answer));
                    read(&self.job, known, at, url, answer, told > 0).await
                }
                Err(failure) => Err(failure),
            };
            let next = facts.and_then(|facts| {
                told += 1;
                pager.next(&facts).map_err(|error| self.job.refuse(&error.to_string(), Some(CHECK_PAGE)))
            });
            match next {
                Ok(next) => ahead.extend(next),
                Err(failure) if pager.has_all() && is_no_page(&failure) => break None,
                Err(failure) => break Some(failure),
            }
        };
        drop(fetches);
        let failure =
            failure.or_else(|| pager.incomplete().map(|why| self.job.refuse(why, Some(CHECK_PAGE))));
        let polled = match failure {
            Some(failure) => {
                self.wait = self.wait.max(failure.retry_after);
                let seen = known.end_early();
                if told == 0 { Polled::Failed(failure) } else { Polled::Partly(seen, failure) }
            }
            None => known.end(pager.shifts()).map_or(Polled::Same, Polled::Changed),
        };
        Poll { polled, wait: self.wait }
    }
}

type Fetched = Result<(Url, HttpAnswer), Failure>;

async fn fetch(job: &Job, tag: Option<Arc<str>>, at: PageAt) -> (PageAt, Fetched) {
    let fetched = job.page(&at, tag.as_deref()).await;
    (at, fetched)
}

/// Takes a page as far as it is another one.
async fn read(
    job: &Job,
    known: &mut Known,
    at: PageAt,
    url: Url,
    answer: HttpAnswer,
    later: bool,
) -> Result<PageFacts, Failure> {
    if answer.status == 304
        && let Some(facts) = known.unchanged(&at)
    {
        return Ok(facts);
    }
    if answer.body.len() < LONG {
        return look_into(job, known, at, &url, answer, later);
    }
    let (job_there, mut known_there) = (job.clone(), std::mem::take(known));
    let there = spawn_blocking(move || {
        let facts = look_into(&job_there, &mut known_there, at, &url, answer, later);
        (known_there, facts)
    });
    let (back, facts) = there.await.map_err(|error| job.unread(&error))?;
    *known = back;
    facts
}

fn look_into(
    job: &Job,
    known: &mut Known,
    at: PageAt,
    url: &Url,
    answer: HttpAnswer,
    later: bool,
) -> Result<PageFacts, Failure> {
    if let Some(facts) = known.same(&at, &answer) {
        return Ok(facts);
    }
    let page = job.open(url, answer, later)?;
    Ok(known.take(job.listed(), at, page, job.version.as_ref()))
}

impl Line {
    async fn poll_object(&self, kind: &Kind, target: &Target, known: &mut KnownObject) -> Poll {
        let doing = format!("reading {}", target.id);
        match self.fetch_object(kind, target, known, &doing).await {
            Ok((url, answer)) => {
                let wait = poll_interval(&answer);
                if answer.status == 304 && known.tag().is_some() || known.is_same(&answer) {
                    return Poll { polled: Polled::Same, wait };
                }
                let Read::Op(op) = &kind.read else { unreachable!("it was read by one") };
                let asked = Asked { kind, op, target, url: &url };
                let told = self.judge(&doing, |context| answer::read(context, asked, &answer, None));
                let seen = match told {
                    Answer::Found(item) => known.take(&kind.fields, Some(&item)),
                    Answer::Absent => known.take(&kind.fields, None),
                    Answer::Failed(failure) => {
                        known.forget();
                        return failed(failure);
                    }
                    _ => None,
                };
                let key = || target.id.key.clone();
                let changes =
                    seen.map(|digest| Changes { keys: vec![(key(), digest)], ..Changes::default() });
                Poll { polled: changes.map_or(Polled::Same, Polled::Changed), wait }
            }
            Err(failure) => failed(failure),
        }
    }

    async fn fetch_object(
        &self,
        kind: &Kind,
        target: &Target,
        known: &KnownObject,
        doing: &str,
    ) -> Result<(Url, HttpAnswer), Failure> {
        let Read::Op(op) = &kind.read else {
            let what = format!("{} has no read of its own", kind.name.kind);
            return Err(self.judge(doing, |context| context.wrap(backend_failure(what))));
        };
        let request = request::read(&self.site, op, target);
        let request = request.map_err(|failure| self.judge(doing, |context| context.wrap(failure)))?;
        self.send(doing, request.unless(known.tag().as_deref())).await
    }
}

/// How long the server wants a poller to wait, in the header that GitHub's API has for it: whole seconds.
fn poll_interval(answer: &HttpAnswer) -> Option<Duration> {
    let seconds = answer.header("x-poll-interval")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_WAIT))
}

#[cfg(test)]
#[path = "poll_tests.rs"]
mod tests;
