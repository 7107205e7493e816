//! Documents that pin one object of the server: what one of them wants, the other undoes, in each run anew.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::KindSource;
use crate::core::document::{Document, Ensure};
use crate::core::identity::{Key, KindName};
use crate::core::problem::Problem;

/// Two documents of a kind that pin one id are an error, where ids are of one collection. One that wishes the object
/// only to be there writes nothing, and is no matter.
pub fn twice(documents: &[Document], source: &dyn KindSource) -> Vec<Problem> {
    let mut first: HashMap<(&KindName, Key, Arc<str>), &Document> = HashMap::new();
    let mut list = Vec::new();
    let writes = |document: &&Document| document.policy.ensure != Ensure::Exists;
    for document in documents.iter().filter(writes) {
        let Some(id) = document.policy.pinned_id.clone() else { continue };
        let Some(kind) = source.kind(&document.id.kind, &[]) else { continue };
        let place = (&document.id.kind, kind.listing_scope(&document.id.key), id.clone());
        let other = *first.entry(place).or_insert(document);
        if other.id == document.id {
            continue;
        }
        let message = format!(
            "`{}` and `{}` ({}) both have `trueup/id: {id}`: they are one object of the server, and each would undo \
             what the other wants",
            document.id, other.id, other.origin
        );
        let hint = "remove one of the two, or merge them; what refers to the one can refer to the other";
        list.push(Problem::new(message).at(document.origin.clone()).hint(hint));
    }
    list
}
