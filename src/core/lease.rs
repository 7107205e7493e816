//! A lease as an object of an ordinary kind: which of its fields say who holds it, and since when.
//!
//! Several instances of `watch` take turns by it. Where its fields are is the backend's to say (`lease` of a kind), as
//! everything else about an API is.

use std::sync::Arc;
use std::time::Duration;

use super::identity::ObjectId;
use super::kind::{Kind, Method, Read, Send, Version};
use super::path::Path;
use super::value::{Map, Value, plain_text};

/// Where a lease's fields stand in its object.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseFields {
    /// Who holds it: a text, empty where nobody does.
    pub holder: Path,
    /// When that was said last: RFC 3339 with microseconds. Nobody compares it with a clock; it is another one with
    /// each renewal, and that is what counts.
    pub renewed: Path,
    /// Since when the same holder has it.
    pub acquired: Option<Path>,
    /// For how long a renewal is good, in whole seconds.
    pub duration: Option<Path>,
    /// How often it went from one holder to another.
    pub transitions: Option<Path>,
}

/// What a lease says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Empty where nobody holds it.
    pub holder: Arc<str>,
    pub renewed: Arc<str>,
    pub acquired: Arc<str>,
    pub duration: Option<Duration>,
    pub transitions: u64,
}

impl LeaseFields {
    /// What an observed object says. What is not there, or is no lease's, says nothing.
    pub fn record(&self, value: &Value) -> Record {
        let get = |path: &Path| path.get(value).filter(|value| !value.is_null());
        let text = |path: &Path| get(path).map_or_else(Arc::default, |value| Arc::from(plain_text(value)));
        let number = |path: &Option<Path>| get(path.as_ref()?).and_then(Value::as_u64);
        Record {
            holder: text(&self.holder),
            renewed: text(&self.renewed),
            acquired: self.acquired.as_ref().map_or_else(Arc::default, text),
            duration: number(&self.duration).map(Duration::from_secs),
            transitions: number(&self.transitions).unwrap_or(0),
        }
    }

    /// The object that says so, under its name.
    pub fn object(&self, kind: &Kind, id: &ObjectId, record: &Record) -> Value {
        let mut object = Value::Object(Map::new());
        let mut lay = |path: &Path, value: Value| {
            // Nothing stands there yet, unless the backend names one place twice.
            path.lay(&mut object, value);
        };
        if let Some(document) = &kind.document {
            lay(&Path::root().field("apiVersion"), document.api_version.as_str().into());
            lay(&Path::root().field("kind"), document.kind.as_str().into());
        }
        for part in &kind.parts {
            if let Some((place, value)) = part.place().zip(id.key.get(&part.name)) {
                lay(&place.iter().fold(Path::root(), |path, name| path.field(name)), value.clone());
            }
        }
        lay(&self.holder, (*record.holder).into());
        lay(&self.renewed, (*record.renewed).into());
        if let Some(path) = &self.acquired {
            lay(path, (*record.acquired).into());
        }
        if let Some((path, duration)) = self.duration.as_ref().zip(record.duration) {
            lay(path, duration.as_secs().into());
        }
        if let Some(path) = &self.transitions {
            lay(path, record.transitions.into());
        }
        object
    }

    /// All places, for checking.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let others = [&self.acquired, &self.duration, &self.transitions];
        [&self.holder, &self.renewed].into_iter().chain(others.into_iter().flatten())
    }
}

/// Gives the times of renewals: each later than the one before, also where the wall clock was set back or stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamps {
    last: Duration,
}

impl Stamps {
    /// A time since the beginning of 1970, in whole microseconds.
    pub fn next(&mut self, wall: Duration) -> Duration {
        let wall = Duration::from_micros(u64::try_from(wall.as_micros()).unwrap_or(u64::MAX));
        self.last = wall.max(self.last + Duration::from_micros(1));
        self.last
    }
}

/// Why objects of a kind cannot be leases, and what to do about it.
pub type Unfit = (String, &'static str);

impl Kind {
    /// Where the fields of a lease stand, if objects of this kind can be one: two instances that write at once must
    /// not both succeed.
    ///
    /// # Errors
    /// What is missing of that, and what to say in the backend.
    pub fn as_lease(&self) -> Result<&LeaseFields, Unfit> {
        let name = &self.name.kind;
        let Some(fields) = &self.lease else {
            return Err((
                format!("the kind `{name}` does not say which of its fields make a lease"),
                "say it in the backend, as in `lease: {holder: holder, renewed: renewed}`",
            ));
        };
        let (Some(create), Some(update), Read::Op(read)) = (&self.create, &self.update, &self.read) else {
            return Err((
                format!("a `{name}` cannot be a lease: it takes a `read`, a `create` and an `update`"),
                "take another kind, on a backend that has them",
            ));
        };
        if read.needs_id() || update.needs_id() {
            return Err((
                format!(
                    "a `{name}` cannot be a lease: its requests name an id of the server's, and not its name"
                ),
                "take a kind whose objects are read and written under their names",
            ));
        }
        if matches!(self.version, Version::None | Version::Request(..)) {
            return Err((
                format!(
                    "a `{name}` cannot be a lease: an update has no condition, so that two instances could both take it"
                ),
                "if the API has conditional writes, say where an object's version stands: `version: etag` or \
                 `version: .FIELD`",
            ));
        }
        let conditional = match create.method {
            // `If-None-Match: *`; a POST makes nothing that is there already.
            Method::Put | Method::Post => create.send != Send::Merge,
            _ => false,
        };
        if !conditional {
            return Err((
                format!(
                    "a `{name}` cannot be a lease: a create by {} takes over what another instance has made",
                    create.method.as_str()
                ),
                "give the backend a kind whose `create` is a PUT or a POST",
            ));
        }
        Ok(fields)
    }
}
