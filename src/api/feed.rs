//! Change feeds for real: a stream that stays open, or polls that the server holds back.
//!
//! What comes is read in `backend::feed`; when to connect again is decided in `core::watch::stream`. How long a feed
//! may be silent is the caller's business as well: what is here waits for as long as it is let.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{Instant, sleep_until, timeout};

use super::exchange::{Got, Line, Until, now};
use super::transport::{Pieces, TransportClass, TransportError};
use crate::backend::feed::{self, Batch, Decoder, FeedError, request};
use crate::backend::refusal::retry_after;
use crate::backend::wire::{HttpAnswer, HttpRequest};
use crate::core::exchange::{Collection, Failure, FailureClass};
use crate::core::feed::{Watch, WatchBy};
use crate::core::kind::Kind;
use crate::core::watch::stream::{End, Told};

/// The longest answer to a poll, and as much of an error as is read.
const LARGEST_POLL: usize = 16 * 1024 * 1024;
const LARGEST_ERROR: usize = 64 * 1024;
/// How long the text of an error is waited for.
const ERROR_WAIT: Duration = Duration::from_secs(5);
/// Between the answer to a poll and the next one: after one that said nothing, and after another.
const EMPTY_POLL: Duration = Duration::from_secs(1);
const FULL_POLL: Duration = Duration::from_millis(50);
/// A watch of Kubernetes is kept open for between so many seconds and twice as many, as client-go does: not all end
/// at once.
const KUBERNETES_SECONDS: u64 = 300;

/// An open feed.
pub struct Feed {
    line: Arc<Line>,
    kind: Arc<Kind>,
    collection: Collection,
    doing: Arc<str>,
    /// What is known since it was opened.
    first: Option<Batch>,
    way: Way,
}

enum Way {
    Stream { decoder: Box<Decoder>, pieces: Pieces },
    Poll { position: Option<Arc<str>>, pace: Pace },
}

/// When the next poll may be sent: a server that does not hold polls back is not asked without a pause.
struct Pace(Instant);

impl Pace {
    /// At once where something had happened, but not for ever so.
    fn after(batch: &Batch) -> Pace {
        let pause = if batch.told.changed.is_empty() { EMPTY_POLL } else { FULL_POLL };
        Pace(Instant::now() + pause)
    }

    async fn wait(&self) {
        sleep_until(self.0).await;
    }
}

/// Why a feed has ended, or could not be had.
#[derive(Debug)]
pub struct Ended {
    pub end: End,
    /// What is wrong; `None` for an end that is none of anybody's fault.
    pub failure: Option<Failure>,
}

/// Opens the feed of a kind.
///
/// # Errors
/// Why there is none.
pub async fn open(
    line: &Arc<Line>,
    kind: &Arc<Kind>,
    collection: &Collection,
    position: Option<&str>,
) -> Result<Feed, Ended> {
    let mut doing = format!("following {}", kind.name.kind);
    if !collection.scope.parts().is_empty() {
        doing = format!("{doing} of `{}`", collection.scope);
    }
    let opening = Opening { line, kind, collection, doing: &doing };
    let Some(watch) = &kind.watch else {
        return Err(opening.fault(FailureClass::Backend, "the kind has no `watch`", End::Unfit));
    };
    let (way, first) = match watch.by {
        WatchBy::Poll => {
            let batch = opening.poll(watch, position).await?;
            let position = batch.told.position.clone().or(position.map(Into::into));
            let pace = Pace::after(&batch);
            (Way::Poll { position, pace }, Some(batch))
        }
        WatchBy::Kubernetes if position.is_none() => {
            let standing = opening.standing(watch).await?;
            let way = opening.stream(watch, Some(&standing)).await?;
            let told = Told { position: Some(standing), ..Told::default() };
            (way, Some(Batch { told, ignored: 0 }))
        }
        _ => (opening.stream(watch, position).await?, None),
    };
    Ok(Feed {
        line: line.clone(),
        kind: kind.clone(),
        collection: collection.clone(),
        doing: doing.into(),
        first,
        way,
    })
}

impl Feed {
    /// What comes next. A batch that says nothing is a sign of life.
    ///
    /// # Errors
    /// The end of the feed, and why.
    pub async fn next(&mut self) -> Result<Batch, Ended> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        let opening =
            Opening { line: &self.line, kind: &self.kind, collection: &self.collection, doing: &self.doing };
        match &mut self.way {
            Way::Stream { decoder, pieces } => match pieces.next().await {
                None => Err(Ended { end: End::Closed, failure: None }),
                Some(Ok(piece)) => decoder.push(&piece).map_err(|error| opening.unreadable(&error)),
                Some(Err(error)) => Err(opening.lost(&error)),
            },
            Way::Poll { position, pace } => {
                pace.wait().await;
                let watch = self.kind.watch.as_ref().expect("the feed is open");
                let batch = opening.poll(watch, position.as_deref()).await?;
                if batch.told.position.is_some() {
                    position.clone_from(&batch.told.position);
                }
                *pace = Pace::after(&batch);
                Ok(batch)
            }
        }
    }
}

/// A feed that is about to be opened, or asked on.
struct Opening<'o> {
    line: &'o Arc<Line>,
    kind: &'o Arc<Kind>,
    collection: &'o Collection,
    doing: &'o str,
}

impl Opening<'_> {
    async fn stream(&self, watch: &Watch, position: Option<&str>) -> Result<Way, Ended> {
        let seconds = KUBERNETES_SECONDS + fastrand::u64(..KUBERNETES_SECONDS);
        let asked = request::open(&self.line.site, watch, self.collection, position, seconds);
        let got = self.obtain(asked, position).await?;
        let decoder = Decoder::new(self.kind, self.collection);
        decoder.admit(&got.answer).map_err(|error| Ended { end: End::Unfit, ..self.unreadable(&error) })?;
        let pieces = got.pieces.unwrap_or_else(|| futures_util::stream::empty().boxed());
        Ok(Way::Stream { decoder: Box::new(decoder), pieces })
    }

    async fn poll(&self, watch: &Watch, position: Option<&str>) -> Result<Batch, Ended> {
        let asked = request::open(&self.line.site, watch, self.collection, position, 0);
        let mut got = self.obtain(asked, position).await?;
        if let Some(pieces) = got.pieces {
            got.answer.body = read(pieces, LARGEST_POLL).await.map_err(|error| self.lost(&error))?;
        }
        feed::poll(self.kind, self.collection, position, &got.answer).map_err(|error| self.unreadable(&error))
    }

    /// Where the feed of Kubernetes stands now.
    async fn standing(&self, watch: &Watch) -> Result<Arc<str>, Ended> {
        let asked = request::standing(&self.line.site, watch, self.collection);
        let asked = asked.map_err(|failure| self.unbuilt(failure))?;
        let got = self.line.obtain(asked, Until::Whole).await.map_err(|error| self.lost(&error))?.1;
        if !(200..300).contains(&got.answer.status) {
            return Err(self.refused(&got.answer, None));
        }
        let body: serde_json::Value = serde_json::from_slice(&got.answer.body).unwrap_or_default();
        let version = body["metadata"]["resourceVersion"].as_str().filter(|version| !version.is_empty());
        version.map(Into::into).ok_or_else(|| {
            self.fault(FailureClass::NotTheApi, "the listing has no `metadata.resourceVersion`", End::Unfit)
        })
    }

    /// An answer that is no error, as far as its head.
    async fn obtain(
        &self,
        asked: Result<HttpRequest, Failure>,
        position: Option<&str>,
    ) -> Result<Got, Ended> {
        let asked = asked.map_err(|failure| self.unbuilt(failure))?;
        let mut got = self.line.obtain(asked, Until::Head).await.map_err(|error| self.lost(&error))?.1;
        if (200..300).contains(&got.answer.status) || got.answer.status == 304 {
            return Ok(got);
        }
        if let Some(pieces) = got.pieces.take() {
            // What an error says helps; it is not waited for.
            let text = timeout(ERROR_WAIT, read(pieces, LARGEST_ERROR)).await;
            got.answer.body = text.ok().and_then(Result::ok).unwrap_or_default();
        }
        Err(self.refused(&got.answer, position))
    }

    /// An error of the server. With a position, what it cannot make sense of is the position.
    fn refused(&self, answer: &HttpAnswer, position: Option<&str>) -> Ended {
        let class = FailureClass::Status(answer.status);
        let failure = self.line.judge(self.doing, |context| context.refused(class, answer));
        let end = match answer.status {
            410 => End::Gone,
            400 | 404 | 412 | 416 | 422 if position.is_some() => End::Gone,
            408 | 409 | 425 | 429 => self.later(answer),
            400..=499 | 501 | 505 => End::Unfit,
            _ => self.later(answer),
        };
        Ended { end, failure: Some(failure) }
    }

    fn later(&self, answer: &HttpAnswer) -> End {
        End::Failed { after: answer.header("retry-after").and_then(|text| retry_after(text, now())) }
    }

    fn lost(&self, error: &TransportError) -> Ended {
        let end = match error.class {
            TransportClass::Refused | TransportClass::Setup => End::Unfit,
            _ => End::Failed { after: None },
        };
        let failure = self.line.judge(self.doing, |context| {
            context.fail(error.class.failure(), &error.message, error.hint.clone())
        });
        Ended { end, failure: Some(failure) }
    }

    fn unreadable(&self, error: &FeedError) -> Ended {
        self.fault(FailureClass::NotTheApi, &error.to_string(), End::Failed { after: None })
    }

    fn unbuilt(&self, failure: Failure) -> Ended {
        let failure = self.line.judge(self.doing, |context| context.wrap(failure));
        Ended { end: End::Unfit, failure: Some(failure) }
    }

    fn fault(&self, class: FailureClass, what: &str, end: End) -> Ended {
        let failure = self.line.judge(self.doing, |context| context.fail(class, what, None));
        Ended { end, failure: Some(failure) }
    }
}

/// A body that is wanted whole.
async fn read(mut pieces: Pieces, most: usize) -> Result<Vec<u8>, TransportError> {
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if body.len() + piece.len() > most {
            let what = format!("the answer is larger than {most} bytes");
            return Err(TransportError::new(TransportClass::TooLarge, what));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[cfg(test)]
#[path = "feed_tests.rs"]
mod tests;
