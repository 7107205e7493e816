//! Who made each difference: the files, the server, or both.

use super::super::change::{Change, Reason, Shown};
use super::super::diff::scope::{Scope, plain};
use super::super::diff::show::Show;
use super::super::diff::walk::{self, agrees_with};
use super::super::fields::FieldRules;
use super::super::mutant::planted;
use super::super::node::{Node, Want};
use super::super::path::Step;
use super::super::value::Value;
use super::place::{find, is_known, names, observed, scope};
use super::{Side, Since};

/// The three sides of an object, and its rules.
pub struct Sides<'s> {
    /// What the base declares; `None` where it does not have the document.
    pub base: Option<&'s Node>,
    /// What the document declares, references as they are written.
    pub ours: &'s Node,
    pub theirs: &'s Value,
    pub rules: &'s FieldRules,
}

/// Says of each change who made it. `wanted` is what was compared: the document's body, with what left since the
/// base; its secrets are secrets at the base too.
pub fn tell(changes: &mut [Change], wanted: &Node, sides: &Sides) {
    let show = Show::new(wanted, sides.base);
    for change in changes {
        let path = &change.path.0;
        // What we alone have set, by the server's own account, nobody else has changed.
        let by_managers = change.reason == Reason::Left;
        let element = matches!(path.last(), Some(Step::Index(_) | Step::Keyed(..)));
        if change.reason == Reason::Unset && (element || find(sides.ours, path).is_none()) {
            change.reason = Reason::Left;
            change.at = None;
        }
        let mut side = sides.side(change, by_managers).unwrap_or(Side::Pending);
        if planted!(M28) && change.after.is_none() {
            side = Side::Pending;
        }
        change.since = Some(Since { side, base: sides.shown(path, &show) });
    }
}

impl Sides<'_> {
    fn side(&self, change: &Change, by_managers: bool) -> Option<Side> {
        let path = &change.path.0;
        if by_managers {
            return Some(Side::Pending);
        }
        match path.iter().position(|step| matches!(step, Step::Index(_))) {
            Some(at) => self.in_list(change, at),
            None => {
                let (base, ours) = (self.base.and_then(|base| find(base, path)), find(self.ours, path));
                let theirs = observed(self.theirs, path);
                match (base, ours) {
                    (None, None) => Some(self.undeclared(path)),
                    _ => side(base, ours, theirs, scope(self.rules, path)),
                }
            }
        }
    }

    /// What only the server has, and neither side declares: it came there, unless what is around it is newly owned.
    fn undeclared(&self, path: &[Step]) -> Side {
        let Some(base) = self.base else { return Side::Pending };
        let around = path.split_last().map_or(path, |(_, around)| around);
        let newly = find(self.ours, around).is_some() && find(base, around).is_none();
        if newly { Side::Pending } else { Side::Drift }
    }

    /// A difference at or below an element without a key: where both lists changed, one that comes or goes is looked
    /// for at the base, and of the others only the lists as wholes can be told apart.
    fn in_list(&self, change: &Change, at: usize) -> Option<Side> {
        let (list, below) = change.path.0.split_at(at);
        let base = find(self.base?, list)?;
        let (ours, theirs) = (find(self.ours, list), observed(self.theirs, list));
        let place = scope(self.rules, list);
        let whole = side(Some(base), ours, theirs, place);
        let (Want::List(items), [Step::Index(at)], Some(Side::Conflict)) = (&base.want, below, whole) else {
            return whole;
        };
        let element = place.each();
        match (&change.before, &change.after) {
            (None, Some(_)) => {
                let item = find(self.ours, &change.path.0)?;
                let had = items.iter().any(|base| same(base, item, element));
                Some(if had { Side::Drift } else { Side::Pending })
            }
            (Some(_), None) => {
                let item = theirs?.get(at)?;
                let had = items.iter().any(|base| agrees_with(base, Some(item), element));
                Some(if had { Side::Pending } else { Side::Drift })
            }
            _ => whole,
        }
    }

    /// What the base has at a path, as it may be printed.
    fn shown(&self, path: &[Step], show: &Show) -> Option<Shown> {
        if path.iter().any(|step| matches!(step, Step::Index(_))) {
            return None;
        }
        let base = find(self.base?, path)?;
        (base.want != Want::Unset).then(|| show.other(path, base, scope(self.rules, path)))
    }
}

/// Who made the difference at a place; `None` where there is none. Members of maps that are missing as a whole are
/// judged one by one: each may have its own story.
fn side(base: Option<&Node>, ours: Option<&Node>, theirs: Option<&Value>, scope: Scope) -> Option<Side> {
    let nothing = theirs.is_none_or(Value::is_null);
    if let (Some(Want::Map(base)), Some(Want::Map(ours)), true) =
        (base.map(|node| &node.want), ours.map(|node| &node.want), nothing)
        && !(base.is_empty() && ours.is_empty())
    {
        let sides = names(base, ours).filter_map(|name| {
            let below = scope.field(name);
            side(base.get(name), ours.get(name), None, below)
        });
        return sides.reduce(Side::with);
    }
    let agrees = |node: &Node| agrees_with(node, theirs, scope);
    if scope.here().not_compared() || ours.map_or(nothing, agrees) {
        return None;
    }
    let we_changed = match (base, ours) {
        (Some(base), Some(ours)) => !same(base, ours, scope),
        (None, None) => false,
        _ => true,
    };
    // What cannot be told of the base is not held against anybody.
    let they_changed = base.is_some_and(|base| is_known(base) && !agrees(base));
    Some(match (we_changed, they_changed) {
        (true, true) => Side::Conflict,
        (true, false) => Side::Pending,
        (false, _) => Side::Drift,
    })
}

/// Whether two revisions of a document say the same. What comes from elsewhere is the same when it is written so.
fn same(one: &Node, other: &Node, scope: Scope) -> bool {
    match (&one.want, &other.want) {
        (Want::Map(one), Want::Map(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, node)| {
                    other.get(name).is_some_and(|other| same(node, other, scope.field(name)))
                })
        }
        (Want::Secret(one), Want::Secret(other)) => one.source == other.source,
        (Want::Ref(one), Want::Ref(other)) => one.text == other.text,
        (Want::Unset, Want::Unset) => true,
        (Want::Outside(one), Want::Outside(other)) => one == other,
        (Want::List(items), Want::List(others)) => match (plain(one), plain(other)) {
            (Some(left), Some(right)) => {
                walk::agrees(one, &right, scope) && walk::agrees(other, &left, scope)
            }
            _ => {
                let each = scope.each();
                items.len() == others.len()
                    && items.iter().zip(others).all(|(one, other)| same(one, other, each))
            }
        },
        (Want::Json(_), Want::Json(value)) => walk::agrees(one, value, scope),
        _ => false,
    }
}
