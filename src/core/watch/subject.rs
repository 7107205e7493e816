//! What the loop keeps level: one object of the desired set.

use std::sync::Arc;

use super::super::digest::Digest;
use super::super::identity::ObjectId;
use super::super::node::Origin;

/// One desired object, as far as the loop knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    pub id: ObjectId,
    /// What is asked about together: a collection, by a name of its own. Their resyncs fall on one moment, so that one
    /// listing serves them all.
    pub group: Arc<str>,
    /// What is wanted, policy included: another digest is another wish.
    pub desired: Digest,
    pub origin: Origin,
    /// What it refers to and what it lies below: what it is to be, or whether it is there, follows from those.
    pub needs: Arc<[ObjectId]>,
}

impl Subject {
    /// The backend, whose failures its objects share.
    pub fn target(&self) -> &Arc<str> {
        &self.id.kind.backend
    }
}
