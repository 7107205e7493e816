//! A look before a create that would replace what is there: where only a listing says that an object is not there, and
//! nothing in the PUT says so, it is read once by its name. A listing that leaves something out is no rare thing, and
//! what somebody made is worth the request.

use super::super::report::Action;
use super::Engine;

impl Engine {
    /// Whether only a listing says that the object is not there, and its create would replace what was left out.
    pub(super) fn is_missed_by_listing_alone(&self, at: usize) -> bool {
        let object = &self.objects[at];
        object.kind.may_overwrite() && !object.seen_by_read && object.kind.readable_by_key()
    }

    /// Reads the object by its name, and has those wait that may go in one request with it.
    pub(super) fn look_first(&mut self, at: usize) {
        let collection = self.collection_of(at);
        self.collections.all[collection].looks.under_way += 1;
        self.objects[at].looked_for = Some(collection);
        self.objects[at].own_read = true;
        self.observe(at);
    }

    /// Whether a create waits for the looks that others of its request wait for.
    pub(super) fn gathers(&mut self, at: usize, collection: usize, action: Action, together: bool) -> bool {
        let looks = &mut self.collections.all[collection].looks;
        let waits = together && action == Action::Create && looks.under_way > 0;
        if waits {
            looks.gathered.push(at);
        }
        waits
    }

    /// What a look has told is known, or never will be: after the last one of the collection, those that waited go.
    pub(super) fn has_looked(&mut self, looked_for: Option<usize>) {
        let Some(collection) = looked_for else { return };
        let looks = &mut self.collections.all[collection].looks;
        looks.under_way -= 1;
        if looks.under_way > 0 {
            return;
        }
        for at in std::mem::take(&mut looks.gathered) {
            if self.stopped.is_some() {
                self.settle(at, self.left_undone());
            } else if self.objects[at].outcome().is_none() {
                self.enqueue(at, Action::Create);
            }
        }
    }
}
