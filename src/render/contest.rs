//! A field in conflict, as JSON.

use super::json::known;
use crate::core::conflict::{self, Conflict};
use crate::core::identity::ObjectId;
use crate::core::value::Value;

/// A side that is not there is left out, and so are those of a secret.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contest<'r> {
    path: &'r str,
    /// What makes it one: `base`, `moved` or `held`.
    cause: &'static str,
    /// What becomes of it: `reported`, `forced` or `given-up`.
    resolution: &'static str,
    /// What the base has, or what was there before it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ours: Option<&'r Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    theirs: Option<&'r Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    secret: bool,
    /// Who set what the server has, or holds the field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by: Vec<&'r str>,
    /// The flag that overwrites theirs.
    force: String,
}

impl Contest<'_> {
    pub fn of<'r>(id: &ObjectId, conflict: &'r Conflict) -> Contest<'r> {
        let secret = conflict.is_secret();
        Contest {
            path: &conflict.named,
            cause: conflict.cause.word(),
            resolution: conflict.resolution.word(),
            base: conflict.base.as_ref().and_then(known).filter(|_| !secret),
            ours: conflict.ours.as_ref().and_then(known).filter(|_| !secret),
            theirs: conflict.theirs.as_ref().and_then(known).filter(|_| !secret),
            secret,
            by: conflict.by.iter().map(|name| &**name).collect(),
            force: conflict::flag(id, &conflict.named),
        }
    }
}
