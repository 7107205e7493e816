//! `max-deletes` of a Set: a number for all that it deletes in one run, or a map with numbers of their own for some kinds.

use std::collections::BTreeSet;

use super::problems::Problems;
use crate::core::node::{Node, Want};
use crate::core::problem::Problem;
use crate::core::set::{Claim, DEFAULT, Limits};
use crate::core::suggest;
use crate::core::value::Value;

/// The limits that the node says, of a Set that claims `scope`.
pub fn read(node: &Node, scope: &[Claim], problems: &mut Problems) -> Limits {
    let Want::Map(map) = &node.want else {
        return Limits::of_all(number(node, problems));
    };
    let kinds: BTreeSet<&str> = scope.iter().map(|claim| &*claim.kind.kind).collect();
    let mut limits = Limits::default();
    for (name, node) in map.iter() {
        let Some(most) = number(node, problems) else { continue };
        if **name == *DEFAULT {
            limits.default = Some(most);
        } else if kinds.contains(&**name) {
            limits.kinds.insert((&**name).into(), most);
        } else {
            let keys = kinds.iter().copied().chain([DEFAULT]);
            let hint = suggest::hint(name, "the keys here are", keys);
            problems
                .add(node.at, Problem::new(format!("the set has no kind `{name}` in its scope")).hint(hint));
        }
    }
    limits
}

fn number(node: &Node, problems: &mut Problems) -> Option<usize> {
    let number = match &node.want {
        Want::Json(Value::Number(number)) => number.to_string().parse().ok(),
        _ => None,
    };
    if number.is_none() {
        let problem =
            Problem::new("`max-deletes` is a whole number of objects, or one for each of some kinds");
        problems.add(
            node.at,
            problem
                .hint("so many may be deleted in one run: `max-deletes: 20`, or `{default: 20, RRset: 100}`"),
        );
    }
    number
}
