//! What a choice of documents needs besides: documents that were not chosen, and that what was chosen cannot do without.
//!
//! They take part in the run as if they had been chosen, and the report lists each with what needs it. That widens what
//! is made and changed, and never what is destroyed: nothing is added for a document that wants its object gone, nor
//! for one that is only looked at; what is added is replaced by no annotation, only by a person who names it
//! (`engine/decide.rs`); and it is no choice of a ReplicaSet, of which nothing is looked for (`run/runner.rs`).

use super::document::{Document, Ensure};
use super::graph::Graph;
use super::identity::ObjectId;

/// An object that was not chosen, and takes part all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub id: ObjectId,
    /// What needs it: chosen, or added itself.
    pub needed_by: ObjectId,
}

/// What the documents need that `chosen` takes, through any number of steps and in the order of the documents: parents,
/// references, also those that are set later, and what `depends-on` names. What `excluded` takes is not added, nor what
/// only that would need.
pub fn needed(
    documents: &[Document],
    graph: &Graph,
    chosen: &dyn Fn(&Document) -> bool,
    excluded: &dyn Fn(&Document) -> bool,
) -> Vec<Added> {
    let mut takes: Vec<bool> = documents.iter().map(chosen).collect();
    let mut next: Vec<usize> = (0..documents.len()).filter(|at| takes[*at]).collect();
    let mut added: Vec<(usize, usize)> = Vec::new();
    while let Some(at) = next.pop() {
        for need in needs(documents, graph, at) {
            if !std::mem::replace(&mut takes[need], true) && !excluded(&documents[need]) {
                added.push((need, at));
                next.push(need);
            }
        }
    }
    added.sort_unstable();
    let id = |at: usize| documents[at].id.clone();
    added.into_iter().map(|(need, at)| Added { id: id(need), needed_by: id(at) }).collect()
}

/// The documents that one needs right away, to be made or changed.
fn needs(documents: &[Document], graph: &Graph, at: usize) -> Vec<usize> {
    let document = &documents[at];
    if document.policy.ensure != Ensure::Present {
        return Vec::new();
    }
    let node = &graph.nodes[at];
    let mut needs = node.needs();
    needs.extend(&node.later);
    // The members of a ReplicaSet come after each other, so that not all are made at once: none needs another.
    let of = |at: usize| documents[at].policy.replica.as_ref().map(|replica| &replica.of);
    let beside = |need: usize| of(at).is_some() && of(at) == of(need);
    needs.retain(|need| *need < documents.len() && !beside(*need));
    needs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::engine::tests::make::{document, kind, reference};
    use crate::core::kind::Kinds;
    use crate::core::node::{Node, Pos, Want};
    use crate::core::replicas::{AT_ONCE, Replica};

    fn team(name: &str) -> Document {
        document("Team", &[("name", name)], json!({"size": 1}))
    }

    /// A team that refers to others, by references and by `depends-on`.
    fn referring(name: &str, to: &[&str], after: &[&str]) -> Document {
        let mut team = team(name);
        let Want::Map(map) = &mut team.spec_mut().want else { panic!("a map") };
        for (at, to) in to.iter().enumerate() {
            let named = Want::Ref(Box::new(reference(to)));
            map.insert(&*format!("to-{at}"), Node::new(Pos { line: 4, column: 1 }, named));
        }
        team.policy.depends_on = after.iter().map(|to| (reference(to), Pos::default())).collect();
        team
    }

    /// The names that are added to a choice by names, each with what needs it.
    fn told(documents: &[Document], chosen: &[&str], excluded: &[&str]) -> Vec<String> {
        let mut kinds = Kinds::default();
        kinds.insert(kind("Team", false, None));
        kinds.insert(kind("Zone", false, None));
        kinds.insert(kind("Record", false, Some("Zone")));
        let graph = Graph::build(documents, &kinds).expect("a graph");
        let is = |names: &[&str], document: &Document| names.contains(&&*document.id.slashed());
        let added = needed(documents, &graph, &|one| is(chosen, one), &|one| is(excluded, one));
        added.iter().map(|added| format!("{} by {}", added.id.slashed(), added.needed_by.slashed())).collect()
    }

    #[test]
    fn parents_references_and_what_depends_on_names_are_added_through_any_number_of_steps() {
        let record = document("Record", &[("in", "z"), ("name", "r")], json!({}));
        let zone = document("Zone", &[("name", "z")], json!({}));
        let documents = [
            zone,
            record,
            team("unneeded"),
            team("d"),
            referring("c", &[], &["Team/d"]),
            referring("b", &["Team/c"], &[]),
            referring("a", &["Team/b"], &[]),
        ];
        assert_eq!(told(&documents, &["Record/z/r"], &[]), ["Zone/z by Record/z/r"]);
        let through = ["Team/d by Team/c", "Team/c by Team/b", "Team/b by Team/a"];
        assert_eq!(told(&documents, &["Team/a"], &[]), through);
        assert_eq!(told(&documents, &["Team/a", "Team/b", "Team/d"], &[]), through[1..2]);
        assert_eq!(
            told(&documents, &["Zone/z", "Team/d"], &[]),
            [""; 0],
            "what is below, or refers to it, is no need"
        );
    }

    #[test]
    fn what_is_excluded_is_not_added_nor_what_only_that_needs() {
        let documents = [
            team("d"),
            referring("c", &["Team/d"], &[]),
            referring("b", &[], &[]),
            referring("a", &["Team/b", "Team/c"], &[]),
        ];
        assert_eq!(told(&documents, &["Team/a"], &["Team/c"]), ["Team/b by Team/a"]);
        assert_eq!(told(&documents, &["Team/a"], &["Team/b", "Team/c"]), [""; 0]);
    }

    #[test]
    fn nothing_is_added_to_what_is_to_go_or_is_only_looked_at() {
        for ensure in [Ensure::Absent, Ensure::Exists] {
            let mut documents = [team("b"), referring("a", &["Team/b"], &[])];
            documents[1].policy.ensure = ensure;
            assert_eq!(told(&documents, &["Team/a"], &[]), [""; 0], "{ensure:?}");
        }
        let mut documents = [team("c"), referring("b", &["Team/c"], &[]), referring("a", &["Team/b"], &[])];
        documents[1].policy.ensure = Ensure::Exists;
        assert_eq!(
            told(&documents, &["Team/a"], &[]),
            ["Team/b by Team/a"],
            "it has to be there, and is not made"
        );
    }

    #[test]
    fn a_reference_that_breaks_a_cycle_is_a_need_as_well() {
        let documents = [referring("a", &["Team/b"], &[]), referring("b", &["Team/a"], &[])];
        assert_eq!(told(&documents, &["Team/a"], &[]), ["Team/b by Team/a"]);
        assert_eq!(told(&documents, &["Team/b"], &[]), ["Team/a by Team/b"]);
    }

    #[test]
    fn the_order_of_a_replica_set_is_no_need() {
        let replica = |number: usize| {
            let mut team = team(&format!("web-{number}"));
            team.policy.replica = Some(Replica { of: "web".into(), number });
            team
        };
        let mut documents: Vec<Document> = (0..=AT_ONCE).map(replica).collect();
        let last = format!("Team/web-{AT_ONCE}");
        assert_eq!(told(&documents, &[&last], &[]), [""; 0]);
        documents[0].policy.replica = None;
        documents[AT_ONCE].policy.depends_on = vec![(reference("Team/web-0"), Pos::default())];
        assert_eq!(
            told(&documents, &[&last], &[]),
            [format!("Team/web-0 by {last}")],
            "said by the document"
        );
    }
}
