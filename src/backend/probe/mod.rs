//! Holds a kind against live answers: what they show, what they contradict, what they suggest. Pure: somebody
//! else asked, and hands over what came.
//!
//! Nothing that is said holds the value of a field: what looks harmless to a program may be a secret. The names
//! of objects are said, as every report says them.

mod changes;
mod listing;
mod object;
mod paths;
mod suggest;
mod words;

#[cfg(test)]
mod tests;

use super::page::PageFacts;
use super::wire::HttpAnswer;
use crate::core::exchange::{Answer, Failure, FailureClass, Item};
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::probe::Probed;
use crate::core::report::Finding;
use crate::core::value::Value;

/// What was seen of one kind.
#[derive(Debug, Default)]
pub struct Evidence {
    pub listings: Vec<SeenListing>,
    pub objects: Vec<SeenObject>,
}

/// The first pages of a collection.
#[derive(Debug, Default)]
pub struct SeenListing {
    pub pages: Vec<SeenPage>,
    /// The first page once more, where objects have no read of their own.
    pub again: Option<SeenPage>,
    /// Whether the last page was reached.
    pub whole: bool,
    /// What shows, at the last page, that it was not all.
    pub incomplete: Option<String>,
    /// Why no further page came.
    pub failure: Option<Failure>,
}

/// A page, as it came and as it was understood.
#[derive(Debug)]
pub struct SeenPage {
    pub answer: HttpAnswer,
    pub facts: PageFacts,
    pub items: Vec<Item>,
    pub problems: Vec<String>,
}

/// An object that was read by itself, twice.
#[derive(Debug)]
pub struct SeenObject {
    pub id: ObjectId,
    /// As its listing shows it.
    pub listed: Option<Item>,
    pub reads: Vec<Result<SeenRead, Failure>>,
}

/// The answer to an object's own read.
#[derive(Debug)]
pub struct SeenRead {
    pub answer: HttpAnswer,
    pub told: Answer,
}

/// Holds the kind against what was seen.
pub fn judge(kind: &Kind, evidence: &Evidence) -> Probed {
    let mut probed = Probed::new(kind.name.clone());
    listing::judge(kind, evidence, &mut probed);
    object::judge(kind, evidence, &mut probed);
    words::judge(kind, evidence, &mut probed);
    suggest::judge(kind, evidence, &mut probed);
    probed
}

impl Evidence {
    /// All items of all listings.
    fn items(&self) -> impl Iterator<Item = &Item> {
        self.listings.iter().flat_map(|listing| &listing.pages).flat_map(|page| &page.items)
    }

    /// The objects as fully as they were seen: as their own reads show them, the others as listed.
    fn values(&self) -> Vec<&Value> {
        let read = self.objects.iter().filter_map(|object| object.found(0)).map(|item| &*item.value);
        let read_by_itself = |object: &SeenObject| object.found(0).is_some();
        let own = |item: &Item| {
            self.objects.iter().any(|object| object.id.key == item.key && read_by_itself(object))
        };
        read.chain(self.items().filter(|item| !own(item)).map(|item| &*item.value)).collect()
    }

    /// Each object at two times.
    fn twice(&self) -> Vec<(&Value, &Value)> {
        let read = self.objects.iter().filter_map(|object| Some((object.found(0)?, object.found(1)?)));
        let listed = self.listings.iter().flat_map(|listing| {
            let again = listing.again.iter().flat_map(|page| &page.items);
            again.filter_map(|item| {
                let mut before = listing.pages.first()?.items.iter();
                Some((before.find(|have| have.key == item.key)?, item))
            })
        });
        read.chain(listed).map(|(before, after)| (&*before.value, &*after.value)).collect()
    }
}

impl SeenObject {
    /// What the read of this number found.
    fn found(&self, read: usize) -> Option<&Item> {
        match &self.reads.get(read)?.as_ref().ok()?.told {
            Answer::Found(item) => Some(item),
            _ => None,
        }
    }
}

/// Notes a failed request: an answer that was understood and does not fit the backend contradicts it; that none
/// came, or a refusal, says nothing of the backend.
fn failed(probed: &mut Probed, code: &'static str, failure: &Failure) {
    let finding = Finding { code, message: failure.message.clone(), hint: failure.hint.clone() };
    match failure.class {
        FailureClass::NotTheApi
        | FailureClass::WrongObject
        | FailureClass::Backend
        | FailureClass::Refused => probed.contradict(finding),
        _ if !probed.failures.contains(&finding) => probed.failures.push(finding),
        _ => {}
    }
}
