//! Checks what documents say of other documents: the kinds and key parts that references name.
//!
//! Whether the objects exist, and whether the references make a cycle, is the graph's to say.

use std::sync::Arc;

use super::kinds::{self, KindSource};
use super::problems::Problems;
use crate::core::document::Document;
use crate::core::identity::KindName;
use crate::core::kind::Kind;
use crate::core::node::Reference;
use crate::core::problem::Problem;
use crate::core::suggest;

/// All references that cannot be right, each with its place.
pub fn check(documents: &[Document], source: &dyn KindSource) -> Vec<Problem> {
    let mut list = Vec::new();
    for document in documents {
        let mut problems = Problems::new(document.origin.file.clone());
        let backend = &document.id.kind.backend;
        document.spec.each_ref(&mut |reference, at| {
            problems.ok(at, one(reference, backend, source));
        });
        for (reference, at) in &document.policy.depends_on {
            problems.ok(*at, one(reference, backend, source));
        }
        list.append(&mut problems.list);
    }
    list
}

fn one(reference: &Reference, backend: &Arc<str>, source: &dyn KindSource) -> Result<(), Problem> {
    let backend = reference.backend.as_ref().unwrap_or(backend).clone();
    let name = KindName { backend, kind: reference.kind.clone() };
    let named: Vec<&str> =
        reference.parts.iter().map(|(name, _)| &**name).filter(|name| !name.is_empty()).collect();
    let Some(kind) = source.kind(&name, &named) else {
        return if source.is_doubtful(&name.backend) { Ok(()) } else { Err(kinds::unknown(source, &name)) };
    };
    let short = named.is_empty();
    if short && reference.parts.len() != kind.parts.len() {
        let message =
            format!("`{}` names {} of a `{}`", reference.text, parts(reference.parts.len()), name.kind);
        return Err(Problem::new(message).hint(form(&kind)));
    }
    if !short {
        if let Some(wrong) = named.iter().find(|name| kind.part(name).is_none()) {
            let known = kind.parts.iter().map(|part| &*part.name);
            let hint = suggest::hint(wrong, "the parts of its key are", known);
            return Err(
                Problem::new(format!("`{wrong}` is no part of the key of a `{}`", name.kind)).hint(hint)
            );
        }
        if let Some(missing) = kind.parts.iter().find(|part| !named.contains(&&*part.name)) {
            let problem = Problem::new(format!("the `!ref` to a `{}` needs `{}`", name.kind, missing.name));
            return Err(problem.hint(form(&kind)));
        }
    }
    Ok(())
}

fn parts(count: usize) -> String {
    match count {
        0 => "no part of the key".into(),
        1 => "1 part of the key".into(),
        n => format!("{n} parts of the key"),
    }
}

/// `write Queue/VHOST/NAME`.
fn form(kind: &Kind) -> String {
    let names: String = kind.parts.iter().map(|part| format!("/{}", part.name.to_uppercase())).collect();
    format!("its form is `{}{names}`; a `/` inside a name is written `%2F`", kind.name.kind)
}
