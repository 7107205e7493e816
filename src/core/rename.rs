//! Renames: the identity that an object had before, told by `trueup/was`, and whether its kind can change a name
//! in place. All of it is known offline.

use std::sync::Arc;

use super::document::{Document, Ensure, Was};
use super::identity::ObjectId;
use super::kind::{Kind, Op, Parent, Part, Piece, Send};
use super::path::{Path, Step};
use super::problem::Problem;
use super::suggest;
use super::value::Value;

/// The identity that the object of `document` had.
///
/// # Errors
/// A part that is none of the object's own, a name that it has already, a kind whose objects keep their names.
pub fn former(document: &Document, was: &Was, kind: &Kind) -> Result<ObjectId, Problem> {
    let name = &kind.name.kind;
    if document.policy.ensure != Ensure::Present {
        let problem =
            Problem::new("`trueup/was` renames an object, and `trueup/ensure` does not want it made");
        return Err(problem.hint("leave one of the two annotations out"));
    }
    if document.policy.pinned_id.is_some() {
        let problem = Problem::new("`trueup/was` and `trueup/id` both say which object is meant");
        return Err(problem.hint("leave one of the two annotations out"));
    }
    let changed = changed(was, kind)?;
    for part in &changed {
        if let Err(why) = way(kind, part.0) {
            let problem = Problem::new(format!("a `{name}` cannot be renamed: {why}"));
            return Err(problem.hint(
                "leave `trueup/was` out, and give the object under its old name a document with `trueup/ensure: absent`",
            ));
        }
    }
    let value = |part: &Arc<str>, now: &Value| {
        changed.iter().find(|(of, _)| of.name == *part).map_or_else(|| now.clone(), |(_, old)| (*old).clone())
    };
    let parts = document.id.key.parts().iter().map(|(part, now)| (part.clone(), value(part, now)));
    let id = ObjectId { kind: kind.name.clone(), key: kind.key_of(parts.collect()) };
    if id == document.id {
        return Err(Problem::new(format!("`trueup/was` is the name that it has: `{}`", id.key)));
    }
    Ok(id)
}

/// The parts that changed, with what they were.
fn changed<'k, 'w>(was: &'w Was, kind: &'k Kind) -> Result<Vec<(&'k Part, &'w Value)>, Problem> {
    let name = &kind.name.kind;
    let own = || kind.own_parts().map(|part| &*part.name);
    let mut changed = Vec::new();
    for (part, value) in &was.parts {
        let found = match part {
            Some(part) => kind.part(part).ok_or_else(|| {
                let hint = suggest::hint(part, "the parts of its own are", own());
                Problem::new(format!("`trueup/was`: `{part}` is no part of the key of a `{name}`")).hint(hint)
            })?,
            None => match (kind.own_parts().next(), kind.own_parts().nth(1)) {
                (Some(only), None) => only,
                (Some(first), _) => {
                    let problem =
                        Problem::new(format!("`trueup/was` of a `{name}` does not say which part changed"));
                    return Err(problem.hint(format!("write `trueup/was: {{{}: OLD}}`", first.name)));
                }
                (None, _) => return Err(Problem::new(format!("a `{name}` has no name of its own"))),
            },
        };
        if found.parent != Parent::Own {
            let problem = Problem::new(format!("`trueup/was`: `{}` says what the object is in", found.name));
            return Err(problem.hint("an object is not moved: only the parts of its own can be renamed"));
        }
        changed.push((found, value));
    }
    Ok(changed)
}

/// Whether an update can give `part` another value: the request has to find the object by something else than
/// the new name, and the body has to have a place for it.
fn way(kind: &Kind, part: &Part) -> Result<(), String> {
    let update = kind.update.as_ref().ok_or("the API has no update for it")?;
    if update.send == Send::None {
        return Err("its update sends no body".into());
    }
    if update.batch.is_some() || !finds(update, &part.name) {
        return Err("its update finds it by the new name alone".into());
    }
    let place = part.place().ok_or_else(|| format!("its `{}` has no plain place in its body", part.name))?;
    let path = Path(place.iter().cloned().map(Step::Field).collect());
    let rule = &kind.fields.at(&path).here;
    if rule.immutable.is_some() || rule.not_compared() {
        return Err(format!("the backend says that its `{path}` cannot be changed"));
    }
    Ok(())
}

/// Whether the address of a request holds the server's id, or the name as it was.
fn finds(op: &Op, part: &str) -> bool {
    let query = op.query.iter().flat_map(|(_, template)| template.pieces());
    op.path.pieces().chain(query).any(|piece| match piece {
        Piece::Id => true,
        Piece::Part(name) | Piece::RawPart(name) => **name == *part,
        _ => false,
    })
}
