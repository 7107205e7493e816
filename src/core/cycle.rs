//! Cycles among documents, and where one is broken: an object is created without a field that refers to another,
//! and is given it once the other is there.
//!
//! Only a reference in a body is such a field: parents and `trueup/depends-on` are never put off.

use super::document::{Document, Ensure};
use super::graph::{Graph, GraphNode};
use super::kind::{Kind, Kinds, Send};
use super::node::{Node, Reference, Want};
use super::path::{Path, Step};
use super::problem::Problem;

/// Puts references off until no cycle is left. Of a cycle's references that can wait, it is the one of the document
/// that stands first.
///
/// # Errors
/// The first cycle in which none can, named with its members' places.
pub fn break_all(graph: &mut Graph, documents: &[Document], kinds: &Kinds) -> Result<(), Problem> {
    let mut needs: Vec<Vec<usize>> = graph.nodes.iter().map(GraphNode::needs).collect();
    let mut search = Search::new(needs.len());
    while let Some(ring) = search.cycle(&needs) {
        let next = ring.iter().cycle().skip(1);
        let edges = ring.iter().copied().zip(next.copied());
        let can_wait =
            |(from, to): &(usize, usize)| can_wait(&graph.nodes[*from], *to, documents.get(*from), kinds);
        let Some((from, to)) = edges.filter(can_wait).min() else {
            return Err(problem(graph, documents, &ring));
        };
        graph.nodes[from].later.push(to);
        needs[from].retain(|need| *need != to);
    }
    Ok(())
}

fn problem(graph: &Graph, documents: &[Document], ring: &[usize]) -> Problem {
    let names: Vec<String> = ring
        .iter()
        .map(|&at| match documents.get(at) {
            Some(document) => format!("{} ({})", document.id, document.origin),
            None => graph.nodes[at].id.to_string(),
        })
        .collect();
    let message = format!("these documents need each other: {} → {}", names.join(" → "), names[0]);
    let problem = Problem::new(message)
        .hint("break the cycle: leave the reference out of one of them, or state its value");
    match documents.get(ring[0]) {
        Some(document) => problem.at(document.origin.clone()),
        None => problem,
    }
}

/// Whether an object can be made without what it says of `to`, and be told afterwards.
fn can_wait(node: &GraphNode, to: usize, document: Option<&Document>, kinds: &Kinds) -> bool {
    let Some(document) = document else { return false };
    let other_need = node.parents.iter().any(|(_, at)| *at == to) || node.after.contains(&to);
    if other_need || node.former == Some(to) {
        return false;
    }
    if document.policy.ensure != Ensure::Present {
        // Nothing of its body is sent.
        return true;
    }
    let Some(kind) = kinds.get(&document.id.kind) else { return false };
    let creates_and_updates =
        kind.create.is_some() && kind.update.as_ref().is_some_and(|update| update.send != Send::None);
    let named = |reference: &Reference| node.references.get(&reference.text) == Some(&to);
    let fields = fields_without(&document.spec, &named);
    creates_and_updates && fields.is_some_and(|fields| fields.iter().all(|field| can_be_set(kind, field)))
}

/// Whether a field can be left out of a create, and be seen and set by an update.
fn can_be_set(kind: &Kind, field: &Path) -> bool {
    let names_it = kind.parts.iter().filter_map(|part| part.place()).any(|place| {
        let steps = field.0.iter().zip(place);
        steps.into_iter().all(|(step, name)| matches!(step, Step::Field(field) if field == name))
    });
    let mut rules = &kind.fields;
    let mut changes = true;
    for step in &field.0 {
        rules = rules.below(step);
        changes &= rules.here.immutable.is_none() && !rules.here.not_compared();
    }
    changes && !names_it
}

/// The fields that go with the references that `takes` takes: a member of a map, and a list as a whole. `None`: all
/// would go.
pub fn fields_without(body: &Node, takes: &dyn Fn(&Reference) -> bool) -> Option<Vec<Path>> {
    let mut fields = Vec::new();
    (!goes(body, &Path::root(), takes, &mut fields)).then_some(fields)
}

fn goes(node: &Node, here: &Path, takes: &dyn Fn(&Reference) -> bool, fields: &mut Vec<Path>) -> bool {
    match &node.want {
        Want::Map(map) => {
            for (name, node) in map {
                let path = here.field(name);
                if goes(node, &path, takes, fields) {
                    fields.push(path);
                }
            }
            false
        }
        _ => holds(node, takes),
    }
}

/// A body without the references that `takes` takes, nor what is empty without them.
pub fn without(body: &Node, takes: &dyn Fn(&Reference) -> bool) -> Node {
    let Want::Map(map) = &body.want else { return body.clone() };
    let kept = map.iter().filter_map(|(name, node)| {
        let kept = match &node.want {
            Want::Map(before) => {
                let node = without(node, takes);
                let emptied = !before.is_empty() && matches!(&node.want, Want::Map(map) if map.is_empty());
                (!emptied).then_some(node)
            }
            _ => (!holds(node, takes)).then(|| node.clone()),
        };
        kept.map(|node| (name.clone(), node))
    });
    Node::new(body.at, Want::Map(kept.collect()))
}

fn holds(node: &Node, takes: &dyn Fn(&Reference) -> bool) -> bool {
    let mut found = false;
    node.each_ref(&mut |reference, _| found |= takes(reference));
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    OnPath,
    Done,
}

/// A depth-first search without recursion, which goes on where it was when the last cycle was broken.
struct Search {
    marks: Vec<Mark>,
    start: usize,
}

impl Search {
    fn new(count: usize) -> Search {
        Search { marks: vec![Mark::New; count], start: 0 }
    }

    /// A cycle among `needs`, in the order in which its members need each other.
    fn cycle(&mut self, needs: &[Vec<usize>]) -> Option<Vec<usize>> {
        while self.start < needs.len() {
            if let Some(ring) = self.cycle_from(self.start, needs) {
                return Some(ring);
            }
            self.start += 1;
        }
        None
    }

    fn cycle_from(&mut self, start: usize, needs: &[Vec<usize>]) -> Option<Vec<usize>> {
        if self.marks[start] == Mark::Done {
            return None;
        }
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        self.marks[start] = Mark::OnPath;
        while let Some((at, next)) = path.last_mut() {
            let Some(&need) = needs[*at].get(*next) else {
                self.marks[*at] = Mark::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match self.marks[need] {
                Mark::New => {
                    self.marks[need] = Mark::OnPath;
                    path.push((need, 0));
                }
                Mark::OnPath => {
                    let path: Vec<usize> = path.iter().map(|(at, _)| *at).collect();
                    path.iter().for_each(|at| self.marks[*at] = Mark::New);
                    let from = path.iter().position(|at| *at == need).expect("it is on the path");
                    return Some(path[from..].to_vec());
                }
                Mark::Done => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_cycle(needs: &[Vec<usize>]) -> Option<Vec<usize>> {
        Search::new(needs.len()).cycle(needs)
    }

    #[test]
    fn a_cycle_is_found_and_named_once() {
        assert_eq!(find_cycle(&[vec![1], vec![2], vec![]]), None);
        assert_eq!(find_cycle(&[vec![1], vec![2], vec![1]]), Some(vec![1, 2]));
        assert_eq!(find_cycle(&[vec![0]]), Some(vec![0]));
        assert_eq!(find_cycle(&[vec![1, 2], vec![3], vec![3], vec![]]), None);
    }

    #[test]
    fn the_search_goes_on_after_a_cycle_is_broken() {
        let mut needs = vec![vec![1], vec![0, 2], vec![2, 0]];
        let mut search = Search::new(3);
        let mut rings = Vec::new();
        while let Some(ring) = search.cycle(&needs) {
            let (from, to) = (ring[0], ring[1 % ring.len()]);
            needs[from].retain(|need| *need != to);
            rings.push(ring);
        }
        assert_eq!(rings, [vec![0, 1], vec![2]]);
        assert_eq!(find_cycle(&needs), None);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let needs: Vec<Vec<usize>> =
            (0..100_000).map(|i| if i == 0 { vec![] } else { vec![i - 1] }).collect();
        assert_eq!(find_cycle(&needs), None);
    }
}
