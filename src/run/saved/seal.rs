//! The text of a saved plan: JSON with the version of its form, and a hash of its content.
//!
//! The hash tells a file that was cut or edited by accident or in passing. It is no signature: who can write the
//! file can write the hash.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::{Rejected, SavedPlan};
use crate::core::problem::Problem;
use crate::core::value::{Value, canonical_text};

/// The version of the form.
const FORM: u32 = 1;

/// What a plan is, for those who take something else for one.
const HINT: &str = "a plan comes from `trueup plan --out FILE`; manifests are named with `-f`";

/// The begin of each file, as [`seal`] writes it.
pub const BEGIN: &str = "{\"trueupPlan\":";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    #[serde(rename = "trueupPlan")]
    form: u32,
    hash: String,
    plan: Value,
}

/// A plan that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    pub plan: SavedPlan,
    /// Of its content, as it is.
    pub hash: String,
    /// Whether the file says that hash.
    pub whole: bool,
}

/// The text of a plan.
pub fn seal(plan: &SavedPlan) -> String {
    let plan = serde_json::to_value(plan).expect("a plan has text keys only");
    let whole = Whole { form: FORM, hash: hash(&plan), plan };
    serde_json::to_string(&whole).expect("a plan has text keys only") + "\n"
}

/// Reads a plan's text, called `name` in messages. One that was edited is read all the same, and says so.
///
/// # Errors
/// A text that is no plan, or one of another form.
pub fn read(text: &str, name: &str) -> Result<Sealed, Rejected> {
    let bad = |why: &str| Rejected::bad(Problem::new(format!("`{name}` {why}")).hint(HINT));
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let cut = error.is_eof() && text.starts_with(BEGIN);
        bad(if cut { "is a saved plan that was cut off" } else { "is not a saved plan: it is not JSON" })
    })?;
    let form = value.get("trueupPlan").and_then(Value::as_u64);
    let form = form.ok_or_else(|| bad("is not a saved plan"))?;
    if form != u64::from(FORM) {
        let why = format!("is a saved plan of form {form}, and this version of trueup knows form {FORM}");
        let mut rejected = bad(&why);
        rejected.problem = rejected.problem.hint("make a new plan, or use the version that made it");
        return Err(rejected);
    }
    let broken = |error: serde_json::Error| {
        let why = format!("`{name}` is not whole: {}", without_place(&error.to_string()));
        Rejected::bad(Problem::new(why).hint("make a new plan"))
    };
    let Whole { hash: said, plan, .. } = serde_json::from_value(value).map_err(broken)?;
    let hash = hash(&plan);
    let plan = serde_json::from_value(plan).map_err(broken)?;
    Ok(Sealed { plan, whole: hash == said, hash })
}

/// What a reader of JSON says, without a place in a text that nobody reads.
fn without_place(said: &str) -> &str {
    said.split(" at line ").next().unwrap_or(said)
}

/// The SHA-256 of a value; equal values have equal hashes, however they are spelt.
pub fn hash(value: &Value) -> String {
    let mut text = "sha256:".to_owned();
    for byte in digest(&SHA256, canonical_text(value).as_bytes()).as_ref() {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}
