//! What the base says of an object, as a saved plan holds it: whoever applies the plan has no repository.
//!
//! Secrets are left out. One that comes from the environment is looked up again where the plan is applied; any other
//! cannot be told there, so that nothing is taken away for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::core::base::{Base, Past};
use crate::core::members::Members;
use crate::core::node::{Node, Secret, Want};
use crate::core::redact::Redactor;
use crate::core::value::Value;
use crate::core::veil::Veil;
use crate::manifest::kept::{Kept, NotADocument, form};

/// The source of a secret that stood at the base in the clear.
const UNTOLD: &str = "base";

/// What the base says of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SavedBase {
    New,
    Absent,
    Present(Kept),
}

impl SavedBase {
    /// Of a document whose kind hides what `veil` says; `None` where there is no base.
    pub fn of(base: &Base, veil: &Veil, redactor: &Redactor) -> Option<SavedBase> {
        Some(match base {
            Base::None => return None,
            Base::New => SavedBase::New,
            Base::Absent => SavedBase::Absent,
            Base::Present(past) => SavedBase::Present(Kept {
                file: past.file.to_string(),
                line: past.spec.at.line,
                column: past.spec.at.column,
                document: form(&covered(&past.spec, veil, redactor)),
            }),
        })
    }

    /// The base, its secrets not looked up.
    ///
    /// # Errors
    /// A form of none.
    pub fn base(&self) -> Result<Base, NotADocument> {
        Ok(match self {
            SavedBase::New => Base::New,
            SavedBase::Absent => Base::Absent,
            SavedBase::Present(kept) => {
                Base::Present(Arc::new(Past { spec: kept.raw()?.root, file: kept.file.as_str().into() }))
            }
        })
    }
}

/// A copy without secrets: those in the clear become secrets that are not there.
fn covered(node: &Node, veil: &Veil, redactor: &Redactor) -> Node {
    let hidden = || Want::Secret(Secret::new(UNTOLD, None));
    let tells = |text: &str| redactor.text(text) != text;
    let want = match &node.want {
        Want::Json(value) if veil.hides(value) || redactor.value(value) != *value => hidden(),
        Want::Map(map) if map.keys().any(|name| tells(name)) => hidden(),
        Want::Map(map) => {
            let one =
                |(name, node): (&Arc<str>, &Node)| (name.clone(), covered(node, veil.field(name), redactor));
            Want::Map(map.iter().map(one).collect::<Members>())
        }
        Want::List(items) if veil.hides(&Value::Array(Vec::new())) && !items.is_empty() => hidden(),
        Want::List(items) => {
            Want::List(items.iter().map(|item| covered(item, veil.each(), redactor)).collect())
        }
        other => other.clone(),
    };
    Node::new(node.at, want)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::core::fields::FieldRules;
    use crate::core::node::Pos;
    use crate::core::path::Path;

    #[test]
    fn no_secret_of_the_base_is_kept() {
        let mut rules = FieldRules::default();
        rules.at_mut(&Path::parse("hidden").expect("a path")).secret = true;
        let mut spec = Node::from_value(
            Pos { line: 2, column: 3 },
            json!({"hidden": {"a": "canary-1"}, "n": 1, "l": ["x canary-2 y", "z"], "m": {"canary-2": 1}}),
        );
        let Want::Map(map) = &mut spec.want else { panic!("a map") };
        map.insert(
            "env",
            Node::new(Pos::default(), Want::Secret(Secret::new("env:A", Some("canary-3".into())))),
        );
        let base = Base::Present(Arc::new(Past { spec, file: "HEAD:a.yaml".into() }));
        let redactor = Redactor::new(["canary-2"]);
        let saved = SavedBase::of(&base, &Veil::of_rules(&rules), &redactor).expect("there is a base");
        let text = serde_json::to_string(&saved).expect("JSON");
        assert!(!text.contains("canary"), "{text}");
        let Base::Present(past) = saved.base().expect("it was just made") else { panic!("{text}") };
        let told = form(&past.spec);
        assert_eq!(
            told,
            json!({"hidden": {"a": {"!secret": "base"}}, "n": 1, "l": [{"!secret": "base"}, "z"],
                "m": {"!secret": "base"}, "env": {"!secret": "env:A"}})
        );
        assert_eq!((&*past.file, past.spec.at), ("HEAD:a.yaml", Pos { line: 2, column: 3 }));
    }
}
