//! The object to send: the desired fields laid over the observed object.

use super::fields::FieldRules;
use super::node::{Node, Unavailable};
use super::value::Value;

/// What the result is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A full body: ours as written even where it compares equal, server-owned fields stripped, write-only sent.
    Full,
    /// The target of a patch: the observed object, changed only where the difference is.
    Patch,
}

/// The desired fields laid over `observed` (for a create: over nothing).
pub fn overlay(
    desired: &Node,
    observed: &Value,
    rules: &FieldRules,
    form: Form,
) -> Result<Value, Unavailable> {
    let _ = (desired, observed, rules, form);
    todo!()
}
