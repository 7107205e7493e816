//! Documents that are taken as they are: the whole document is the body.
//!
//! Only `trueup/…` annotations are ours, and they are taken off before. The key is read from the body as it is
//! read from the server's items.

use std::sync::Arc;

use super::document::labels;
use super::metadata;
use super::problems::Problems;
use crate::core::base::Base;
use crate::core::document::{Document, Policy};
use crate::core::identity::ObjectId;
use crate::core::kind::Kind;
use crate::core::node::{Node, Origin, Want};
use crate::core::problem::Problem;

/// The desired object of a verbatim document.
pub fn document(
    kind: &Kind,
    mut body: Node,
    origin: Origin,
    policy: Policy,
    problems: &mut Problems,
) -> Option<Document> {
    not_declared(&mut body, problems);
    let key = metadata::key_in_body(kind, &body, problems)?;
    let labels = labels(body.get("metadata").and_then(|metadata| metadata.get("labels")), None);
    let id = ObjectId { kind: kind.name.clone(), key };
    Some(Document { id, origin, spec: Arc::new(body), labels, policy, base: Base::None })
}

/// Takes away the keys with nothing behind them: tools that render such documents leave them behind, and mean
/// nothing by it.
fn not_declared(node: &mut Node, problems: &mut Problems) {
    match &mut node.want {
        Want::Map(map) => {
            map.retain(|_, node| !node.is_nothing());
            map.values_mut().for_each(|node| not_declared(node, problems));
        }
        Want::List(items) => {
            for item in items {
                if item.is_nothing() {
                    let problem = Problem::new("a list element has nothing behind it");
                    problems.add(item.at, problem.hint("write the value, or remove the element"));
                }
                not_declared(item, problems);
            }
        }
        _ => {}
    }
}
