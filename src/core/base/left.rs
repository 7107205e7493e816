//! What left the files: fields that the base declares and the document does not any more.
//!
//! Each of them that is on the server becomes an explicit "must not be set" in what is wanted. Whether the server
//! still has the base's value is judged afterwards, with all other differences: if not, both sides changed.

use super::super::diff::pair::{By, Pairing, pair};
use super::super::diff::scope::{Scope, means_unset};
use super::super::diff::{undeclared, walk};
use super::super::fields::{Comparer, FieldRules};
use super::super::members::Members;
use super::super::node::{Node, Outside, Want};
use super::super::path::{Path, Step};
use super::super::value::{Map, Value, plain_text};
use super::place::{element, is_known};

/// What is wanted of an object, with what left the files taken away.
#[derive(Debug)]
pub struct Left {
    pub spec: Node,
    /// What left and stays, as nobody can tell whether it still is the base's: a secret that is not there, a
    /// reference, a value that the server hides.
    pub untold: Vec<Path>,
}

/// `ours` without what left since `base`, as far as `theirs` has it. Once this run has `written`, what has another
/// value than the base's is what the server puts in the place of nothing, and is left.
pub fn left(ours: &Node, base: &Node, theirs: &Value, rules: &FieldRules, written: bool) -> Left {
    let mut walk = Walk { written, untold: Vec::new() };
    let mut spec = ours.clone();
    walk.value(&Path::root(), &mut spec, base, theirs, Scope::root(rules));
    Left { spec, untold: walk.untold }
}

struct Walk {
    written: bool,
    untold: Vec<Path>,
}

impl Walk {
    fn value(&mut self, path: &Path, ours: &mut Node, base: &Node, theirs: &Value, scope: Scope) {
        if has_filter(scope) || scope.here().not_compared() {
            return;
        }
        match (&mut ours.want, &base.want, theirs) {
            (Want::Map(ours), Want::Map(base), Value::Object(theirs)) => {
                self.members(path, ours, base, theirs, scope)
            }
            (Want::List(ours), Want::List(base), Value::Array(theirs)) => {
                self.elements(path, ours, base, theirs, scope);
            }
            _ => {}
        }
    }

    fn members(
        &mut self,
        path: &Path,
        ours: &mut Members,
        base: &Members,
        theirs: &Map<String, Value>,
        scope: Scope,
    ) {
        for (name, node) in base {
            let Some(value) = theirs.get(&**name).filter(|value| !value.is_null()) else { continue };
            let (path, scope) = (path.field(name), scope.field(name));
            match ours.get_mut(name) {
                Some(ours) => self.value(&path, ours, node, value, scope),
                None => {
                    if let Some(gone) = self.gone(&path, node, value, scope) {
                        ours.insert(name.clone(), gone);
                    }
                }
            }
        }
    }

    /// A list that is declared is owned whole, so an element that left is no matter of the base, unless the list is
    /// open; a field of an element that stayed is. Where neither a key nor their number says which belong together, none do.
    fn elements(&mut self, path: &Path, ours: &mut Vec<Node>, base: &[Node], theirs: &[Value], scope: Scope) {
        let pairing = pair(ours, theirs, scope);
        let same_number = ours.len() == base.len() && ours.len() == theirs.len();
        for (i, item) in ours.iter_mut().enumerate() {
            let Some(j) = pairing.partner[i] else { continue };
            let (step, node) = match &pairing.by {
                By::Key(name) => {
                    let Some(Want::Json(key)) = item.get(name).map(|key| &key.want) else { continue };
                    let text = plain_text(key);
                    let node = element(base, name, &text);
                    (Step::Keyed(name.clone(), text), node)
                }
                By::Order if same_number => (Step::Index(i), base.get(i)),
                By::Order | By::Set => continue,
            };
            let below = scope.element(i, Some(item), Some(&theirs[j]));
            if let Some(node) = node {
                self.value(&path.with(step), item, node, &theirs[j], below);
            }
        }
        *ours = self.open_list(path, ours, base, theirs, scope);
    }

    /// `ours` with the elements that left it where it is open: those of the base that are on the server and in no
    /// place of ours. In a list that is paired in order only scalars are known again.
    fn open_list(
        &mut self,
        path: &Path,
        ours: &[Node],
        base: &[Node],
        theirs: &[Value],
        scope: Scope,
    ) -> Vec<Node> {
        if !scope.here().open {
            return ours.to_vec();
        }
        let (now, then) = (pair(ours, theirs, scope), pair(base, theirs, scope));
        let in_order = then.by == By::Order || then.by != now.by;
        let mut gone = Vec::new();
        for (i, item) in base.iter().enumerate() {
            let Some(j) = then.partner[i].filter(|j| !now.partner.contains(&Some(*j))) else { continue };
            let below = scope.element(i, Some(item), Some(&theirs[j]));
            let is_container = matches!(item.want, Want::List(_) | Want::Map(_));
            if below.here().not_compared() {
                continue;
            }
            if !is_known(item) || in_order && is_container {
                self.untold.push(path.with(step_of(&then.by, item, j)));
            } else if walk::agrees(item, &theirs[j], below) || !(self.written || in_order) {
                gone.push((j, Node::new(item.at, Want::Outside(Outside::Gone(Box::new(item.clone()))))));
            }
        }
        if gone.is_empty() {
            return ours.to_vec();
        }
        let laid = match in_order {
            true => among(ours, &now, gone),
            false => ours.iter().cloned().chain(gone.into_iter().map(|(_, node)| node)).collect(),
        };
        let paired = pair(&laid, theirs, scope);
        let agrees = |(node, partner): (&Node, &Option<usize>)| {
            let keyed = !in_order || !node.is_gone();
            keyed || partner.is_some_and(|j| walk::agrees(node.element(), &theirs[j], scope.each()))
        };
        if !paired.reordered && laid.iter().zip(&paired.partner).all(agrees) {
            return laid;
        }
        self.untold.push(path.clone());
        ours.to_vec()
    }

    /// What stands in the place of a field that left: "must not be set", for the whole of it where nothing else
    /// is there, else for each member that the base declares.
    fn gone(&mut self, path: &Path, base: &Node, theirs: &Value, scope: Scope) -> Option<Node> {
        let here = scope.here();
        if here.not_compared() || means_unset(theirs, here) || base.is_blank() {
            return None;
        }
        let known = is_known(base) && !walk::is_masked(theirs, here);
        let stays = known && walk::agrees(base, theirs, scope);
        match (&base.want, theirs) {
            (Want::Map(declared), Value::Object(map)) if !has_filter(scope) => {
                if stays && undeclared(base, theirs, scope.rules).is_empty() {
                    return Some(unset(base));
                }
                let mut members = Members::default();
                self.members(path, &mut members, declared, map, scope);
                (!members.is_empty()).then(|| Node::new(base.at, Want::Map(members)))
            }
            (Want::List(items), Value::Array(list)) if here.open && !has_filter(scope) => {
                if stays && items.len() == list.len() {
                    return Some(unset(base));
                }
                let laid = self.open_list(path, &[], items, list, scope);
                (!laid.is_empty()).then(|| Node::new(base.at, Want::List(laid)))
            }
            _ if !known => {
                self.untold.push(path.clone());
                None
            }
            _ => (stays || !self.written).then(|| unset(base)),
        }
    }
}

/// The elements of ours, and those that are gone, each with its place on the server, in the order that they have there.
fn among(ours: &[Node], now: &Pairing, mut gone: Vec<(usize, Node)>) -> Vec<Node> {
    gone.sort_by_key(|(j, _)| *j);
    let mut gone = gone.into_iter().peekable();
    let mut laid = Vec::with_capacity(ours.len());
    for (item, partner) in ours.iter().zip(&now.partner) {
        while let Some((_, node)) = gone.next_if(|(j, _)| partner.is_some_and(|there| *j < there)) {
            laid.push(node);
        }
        laid.push(item.clone());
    }
    laid.extend(gone.map(|(_, node)| node));
    laid
}

/// How an element is named that is the `at`-th on the server.
fn step_of(by: &By, item: &Node, at: usize) -> Step {
    let By::Key(name) = by else { return Step::Index(at) };
    match item.get(name).map(|key| &key.want) {
        Some(Want::Json(key)) => Step::Keyed(name.clone(), plain_text(key)),
        _ => Step::Index(at),
    }
}

fn unset(base: &Node) -> Node {
    Node::new(base.at, Want::Unset)
}

fn has_filter(scope: Scope) -> bool {
    matches!(scope.here().compare, Some(Comparer::Filter(_)))
}
