//! What listings tell, shared by all objects of a collection: one listing serves them all.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::exchange::{Collection, Item, Listing};
use super::super::identity::Key;
use super::super::key::OTHER_TYPE;
use super::super::kind::Kind;
use super::super::report::Explanation;
use super::decide::Seen;

/// Writes of which none has ended for so long stand still.
const STILL: Duration = Duration::from_secs(1);

/// So few objects are read one by one; more are listed.
pub const FEW: usize = 4;

/// A collection of one kind, and who waits for it.
#[derive(Debug)]
pub struct Shared {
    pub name: Collection,
    pub kind: Arc<Kind>,
    listed: Option<Listed>,
    /// A listing is under way.
    pub asking: bool,
    /// Objects that want to be observed.
    pub waiting: Vec<usize>,
    /// Objects that want to be observed by the one listing that confirms all writes. They stand apart, so that
    /// each of ten thousand writes does not look at all those before it.
    held: Vec<usize>,
    /// Objects whose writes are queued or under way: their confirming listing waits for the last of them.
    writers: usize,
    stall: Stall,
    pub failures: u32,
    pub not_before: Option<Duration>,
    pub looks: Looks,
}

/// Whether the writes of a collection stand still: one that the server takes long for does not keep the others from being
/// confirmed. Each time it takes twice as long to see, so that a run of slow writes costs few listings more.
#[derive(Debug, Default)]
struct Stall {
    /// Since when something is to be confirmed.
    since: Option<Duration>,
    /// When a write ended last.
    ended: Option<Duration>,
    /// A timer is set for it.
    is_timed: bool,
    /// They did, and what was held is to be asked for.
    is_over: bool,
    /// How often they did.
    times: u32,
}

impl Stall {
    /// When the writes stand still, if none ends before.
    fn until(&self) -> Duration {
        let since = self.since.max(self.ended).unwrap_or_default();
        since + STILL.saturating_mul(1 << self.times.min(10))
    }
}

/// Reads by name before creates.
#[derive(Debug, Default)]
pub struct Looks {
    pub under_way: usize,
    /// Objects that are not there, and whose creates wait for the last of these reads, to go in one request.
    pub gathered: Vec<usize>,
}

/// The last listing.
#[derive(Debug)]
struct Listed {
    asked: u64,
    items: HashMap<Key, Vec<Item>>,
    others: HashSet<Key>,
    incomplete: Option<Box<Explanation>>,
    problems: Vec<String>,
}

/// What the listing says of one key.
pub enum Told {
    Absent,
    Present(Item),
    Several(Vec<Option<String>>),
    /// All that has the key is an object that a read has shown to be gone.
    Behind(Item),
    /// The listing is not known to be whole, and the key is not in it.
    Missing(Explanation),
}

impl Shared {
    fn new(name: Collection, kind: Arc<Kind>) -> Shared {
        Shared {
            name,
            kind,
            listed: None,
            asking: false,
            waiting: Vec::new(),
            held: Vec::new(),
            writers: 0,
            stall: Stall::default(),
            failures: 0,
            not_before: None,
            looks: Looks::default(),
        }
    }

    /// An object's write is queued.
    pub fn begin_write(&mut self) {
        self.writers += 1;
    }

    /// A queued write is done, or will not be.
    pub fn end_write(&mut self, now: Duration) {
        self.writers -= 1;
        self.stall.ended = Some(now);
        if self.writers == 0 {
            self.stall.since = None;
            self.waiting.append(&mut self.held);
        }
    }

    /// Lets objects wait until the last write is done, a listing comes, or the writes stand still; when it is to be seen
    /// whether they do, if it is not to be already.
    pub fn hold(&mut self, objects: Vec<usize>, now: Duration) -> Option<Duration> {
        if objects.is_empty() {
            return None;
        }
        self.held.extend(objects);
        self.stall.since.get_or_insert(now);
        (!std::mem::replace(&mut self.stall.is_timed, true)).then(|| self.stall.until())
    }

    /// It is time to see whether the writes stand still: then what is held waits for the last of them no longer. When to
    /// see it again, where they do not.
    pub fn look_whether_still(&mut self, now: Duration) -> Option<Duration> {
        self.stall.is_timed = false;
        if self.held.is_empty() || self.stall.is_over {
            return None;
        }
        let until = self.stall.until();
        if until > now {
            self.stall.is_timed = true;
            return Some(until);
        }
        self.waiting.append(&mut self.held);
        self.stall = Stall { is_over: true, times: self.stall.times + 1, ..Stall::default() };
        None
    }

    /// Whether what is to be confirmed waits for the last write.
    pub fn waits_for_the_last(&mut self) -> bool {
        !std::mem::take(&mut self.stall.is_over) && self.writers > 0
    }

    /// Takes a listing that was asked at `asked`.
    pub fn take(&mut self, asked: u64, listing: Listing) {
        self.waiting.append(&mut self.held);
        self.stall.since = None;
        let mut items: HashMap<Key, Vec<Item>> = HashMap::with_capacity(listing.items.len());
        for item in listing.items {
            let same = items.entry(item.key.clone()).or_default();
            // A page boundary that moved shows an item twice: that is one object, not two.
            let again =
                same.iter_mut().find(|have| have.server_id.is_some() && have.server_id == item.server_id);
            match again {
                Some(have) => *have = item,
                None => same.push(item),
            }
        }
        self.listed = Some(Listed {
            asked,
            items,
            others: listing.others.into_iter().collect(),
            incomplete: listing.incomplete,
            problems: listing.problems,
        });
    }

    /// Why the last listing would prove nothing of a key that is not in it.
    pub fn doubt(&self, key: &Key) -> Option<Explanation> {
        self.listed.as_ref()?.doubt(key)
    }

    /// When the last listing was asked.
    pub fn listed_at(&self) -> Option<u64> {
        self.listed.as_ref().map(|listed| listed.asked)
    }

    /// What the last listing says of `key`, or of the object with the id `pinned`. The item is moved out. A read has
    /// shown that the id `gone` names nothing.
    pub fn tell(&mut self, key: &Key, pinned: Option<&str>, gone: Option<&str>) -> Option<Told> {
        let listed = self.listed.as_mut()?;
        let same = listed.items.remove(key).unwrap_or_default();
        let is_gone = |item: &Item| gone.is_some() && item.server_id.as_deref() == gone;
        let (mut behind, mut same): (Vec<Item>, Vec<Item>) = same.into_iter().partition(is_gone);
        if let Some(id) = pinned {
            same.retain(|item| item.server_id.as_deref() == Some(id));
        }
        Some(match same.len() {
            0 => match listed.doubt(key).or_else(|| listed.look_alike(&self.kind, key)) {
                Some(why) => Told::Missing(why),
                None => behind.pop().map_or(Told::Absent, Told::Behind),
            },
            1 => Told::Present(same.remove(0)),
            _ => {
                Told::Several(same.iter().map(|item| item.server_id.as_deref().map(str::to_owned)).collect())
            }
        })
    }
}

impl Listed {
    /// Why a key that has no item proves nothing.
    fn doubt(&self, key: &Key) -> Option<Explanation> {
        if self.others.contains(key) {
            return Some(Explanation::new("the listing shows it, and it was not asked for whole"));
        }
        let problem = |why: &String| {
            Explanation::new(why.clone()).hint("check `list` and `key` of the kind in the backend")
        };
        self.incomplete.as_deref().cloned().or_else(|| self.problems.first().map(problem))
    }

    /// The same name with another type: creating it may create it a second time.
    fn look_alike(&self, kind: &Kind, key: &Key) -> Option<Explanation> {
        let shown = |other: &Key| self.others.contains(other) || self.items.contains_key(other);
        let other = kind.look_alikes(key).into_iter().find(shown)?;
        let types = kind.other_type(key, &other)?;
        let why = format!("the listing shows a key of another type: {types}");
        Some(Explanation::new(why).hint(OTHER_TYPE))
    }
}

impl Told {
    /// What a key that the listing does tell of is seen as.
    pub fn seen(self) -> Result<Seen, Explanation> {
        match self {
            Told::Absent | Told::Behind(_) => Ok(Seen::Absent),
            Told::Present(item) => Ok(Seen::Present(item)),
            Told::Several(ids) => Ok(Seen::Several(ids)),
            Told::Missing(why) => Err(why),
        }
    }
}

/// All collections of a run.
#[derive(Debug, Default)]
pub struct Collections {
    pub all: Vec<Shared>,
    index: HashMap<Collection, usize>,
}

impl Collections {
    /// The collection of this name, made when it is new.
    pub fn find(&mut self, name: Collection, kind: &Arc<Kind>) -> usize {
        if let Some(at) = self.index.get(&name) {
            return *at;
        }
        self.all.push(Shared::new(name.clone(), kind.clone()));
        self.index.insert(name, self.all.len() - 1);
        self.all.len() - 1
    }
}
