//! Change feeds as bytes: what a stream or the answer to a poll says, made into hints. Nothing here connects.
//!
//! A feed is another's text, which may be anything: what is malformed, of an unknown sort or about foreign objects is
//! passed over and counted. Only what would grow without bound, or is no feed at all, ends it.

mod kubernetes;
mod lines;
mod poll;
pub mod request;
mod sse;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use crate::core::exchange::Collection;
use crate::core::feed::{Watch, WatchBy};
use crate::core::filter::{Filter, Vars};
use crate::core::identity::Key;
use crate::core::kind::{Kind, Parent};
use crate::core::value::{Value, plain_text};
use crate::core::watch::stream::{Changed, Told};

use super::item;
use super::request::vars;
use super::wire::HttpAnswer;
use lines::LineParser;
use sse::{SseEvent, SseParser};

pub use poll::poll;

/// The longest position, in bytes: it goes into a request.
const LONGEST_POSITION: usize = 4096;

/// Why a feed cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedError {
    #[error("a line or an event has more than {0} bytes")]
    TooLong(usize),
    #[error("it is no such feed: {0}")]
    NotAFeed(String),
    #[error("the server reports an error in the feed: {0}")]
    Server(String),
}

/// What a piece of a feed came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub told: Told,
    /// Events that say nothing here: malformed, of an unknown sort, about other objects.
    pub ignored: u64,
}

/// A stream that is being read.
pub struct Decoder {
    meaning: Meaning,
    form: Form,
}

enum Form {
    Sse(SseParser),
    Lines(LineParser),
    Kubernetes(LineParser),
}

impl Decoder {
    /// For a feed that is a stream.
    ///
    /// # Panics
    /// The kind has no feed, or one by polls.
    pub fn new(kind: &Arc<Kind>, collection: &Collection) -> Decoder {
        let meaning = Meaning::new(kind, collection);
        let form = match meaning.watch().by {
            WatchBy::Sse => Form::Sse(SseParser::default()),
            WatchBy::Lines => Form::Lines(LineParser::default()),
            WatchBy::Kubernetes => Form::Kubernetes(LineParser::default()),
            WatchBy::Poll => panic!("a poll is no stream"),
        };
        Decoder { meaning, form }
    }

    /// Whether the head of an answer can be that of the feed.
    ///
    /// # Errors
    /// Another type of content.
    pub fn admit(&self, answer: &HttpAnswer) -> Result<(), FeedError> {
        let media = answer.header("content-type").unwrap_or_default();
        let is = |wanted: &str| media.trim_start().to_ascii_lowercase().starts_with(wanted);
        let fits = match self.form {
            Form::Sse(_) => media.is_empty() || is("text/event-stream"),
            Form::Lines(_) | Form::Kubernetes(_) => !is("text/html"),
        };
        if fits { Ok(()) } else { Err(FeedError::NotAFeed(format!("the answer is `{media}`"))) }
    }

    /// Takes a piece of the stream, of any length.
    ///
    /// # Errors
    /// What cannot be read on, whatever comes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Batch, FeedError> {
        let mut batch = Batch::default();
        let meaning = &mut self.meaning;
        match &mut self.form {
            Form::Sse(parser) => {
                let mut events = Vec::new();
                let pushed = parser.push(bytes, &mut events);
                events.into_iter().for_each(|event| meaning.sse(event, &mut batch));
                pushed?;
            }
            Form::Lines(parser) => parser.push(bytes, |line| match serde_json::from_slice(line) {
                Ok(value) => meaning.event(&value, None, None, &mut batch),
                Err(_) => batch.ignored += 1,
            })?,
            Form::Kubernetes(parser) => {
                let mut told = Ok(());
                parser.push(bytes, |line| {
                    if told.is_ok() {
                        told = kubernetes::line(meaning, line, &mut batch);
                    }
                })?;
                told?;
            }
        }
        Ok(batch)
    }
}

/// How the events of one feed are to be understood.
struct Meaning {
    kind: Arc<Kind>,
    collection: Collection,
    vars: Vars,
    /// The newest position, where positions are numbers.
    newest: Option<u64>,
}

impl Meaning {
    fn new(kind: &Arc<Kind>, collection: &Collection) -> Meaning {
        let vars = vars(&collection.scope, &collection.parent_ids, None);
        Meaning { kind: kind.clone(), collection: collection.clone(), vars, newest: None }
    }

    fn watch(&self) -> &Watch {
        self.kind.watch.as_ref().expect("only kinds with a feed are followed")
    }

    fn sse(&self, event: SseEvent, batch: &mut Batch) {
        match event {
            SseEvent::Message { event, data, id } => {
                let value = serde_json::from_str(&data).unwrap_or(Value::String(data));
                self.event(&value, Some(event), id, batch);
            }
            SseEvent::Id(id) => batch.told.position = id.filter(fits).or(batch.told.position.take()),
            SseEvent::Retry(wait) => batch.told.retry = Some(wait.min(Duration::from_secs(86_400))),
        }
    }

    /// One event; `id` is the position that the form of the feed gives it.
    fn event(&self, value: &Value, name: Option<String>, id: Option<Arc<str>>, batch: &mut Batch) {
        let watch = self.watch();
        let mut vars = self.vars.clone();
        vars.0.push(("event", name.map_or(Value::Null, Value::String)));
        let position = match &watch.position {
            Some(filter) => position(filter, value, &vars),
            None => id,
        };
        batch.told.position = position.filter(fits).or(batch.told.position.take());
        if watch.gone.as_ref().is_some_and(|filter| filter.holds(value, &vars).unwrap_or(false)) {
            batch.told.gone = true;
            return;
        }
        match &watch.key {
            None => batch.something(),
            Some(filter) => match filter.one(value, &vars) {
                Ok(found) => self.keys(found.unwrap_or_default(), batch),
                Err(_) => batch.ignored += 1,
            },
        }
    }

    /// The objects that the kind's `key` filter names: one, or a list of them.
    fn keys(&self, found: Value, batch: &mut Batch) {
        let all = match found {
            Value::Array(all) => all,
            one => vec![one],
        };
        for one in all {
            match self.key(one) {
                Some(key) => batch.changed(Changed::Key(key)),
                None => batch.ignored += 1,
            }
        }
    }

    fn key(&self, found: Value) -> Option<Key> {
        key_named(&self.kind, &self.collection.scope, &found)
    }

    /// The key of a whole item.
    fn key_of_item(&self, item: &Value) -> Option<Key> {
        let mut find = |filter: &Filter| Ok(item::look(filter, item, &self.vars)?);
        item::key_of(&self.kind, &self.collection.scope, &mut find).ok()
    }

    /// Notes a position; whether it lies before one that was seen already, as after a restore from a backup.
    fn goes_back(&mut self, position: &str) -> bool {
        let Ok(number) = position.parse::<u64>() else { return false };
        let back = self.newest.is_some_and(|newest| number < newest);
        self.newest = Some(number);
        back
    }
}

/// The key that a map of parts, or the value of the one own part, stands for; parts of parents that it does not say
/// are those of `scope`.
pub fn key_named(kind: &Kind, scope: &Key, found: &Value) -> Option<Key> {
    let mut own = kind.own_parts();
    let one = own.next().filter(|_| own.next().is_none()).map(|part| part.name.clone());
    let mut parts = Vec::with_capacity(kind.parts.len());
    for part in &kind.parts {
        let said = match found {
            Value::Object(map) => map.get(&*part.name).cloned(),
            scalar if one.as_ref() == Some(&part.name) => Some(scalar.clone()),
            _ => None,
        };
        let known = || scope.get(&part.name).cloned();
        let value = said.filter(|value| !value.is_null());
        let value = value.or_else(|| if part.parent == Parent::Own { None } else { known() })?;
        parts.push((part.name.clone(), value));
    }
    Some(kind.key_of(parts))
}

impl Batch {
    fn changed(&mut self, changed: Changed) {
        if !self.told.changed.contains(&Changed::Something) || changed != Changed::Something {
            self.told.changed.push(changed);
        }
    }

    fn something(&mut self) {
        self.changed(Changed::Something);
    }
}

/// What a filter finds as a position.
fn position(filter: &Filter, value: &Value, vars: &Vars) -> Option<Arc<str>> {
    let found = filter.one(value, vars).ok().flatten()?;
    matches!(found, Value::String(_) | Value::Number(_)).then(|| plain_text(&found).into())
}

/// Whether a text can go into a request as a position.
fn fits(position: &Arc<str>) -> bool {
    !position.is_empty() && position.len() <= LONGEST_POSITION && !position.chars().any(char::is_control)
}
