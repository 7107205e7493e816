//! The law of export: what is written of an observed object is read back, and nothing differs.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use trueup::core::diff::diff;
use trueup::core::fields::FieldRules;
use trueup::core::minimal::{Known, Minimal, minimal};
use trueup::core::node::{Node, Want};
use trueup::core::path::Path;
use trueup::core::raw::Source;
use trueup::core::value::{Value, equal};
use trueup::core::veil::Veil;
use trueup::manifest::{emit, yaml};

use crate::make::{Case, SECRET, case, rules, secret_case, value};

fn exported(observed: &Value, rules: &FieldRules, veils: &[&Veil], elsewhere: &[Path]) -> Option<Minimal> {
    let known = Known { elsewhere, veils, tells: &|_| false, variable: &|_| "VARIABLE".into() };
    minimal(observed, rules, &known)
}

pub fn written(spec: &Node) -> String {
    let mut text = String::new();
    emit::member(&mut text, "spec", spec, 0);
    text
}

/// The body as a document that is loaded has it.
pub fn loaded(text: &str) -> Node {
    let source = Arc::new(Source { file: "-".into(), text: text.into() });
    let documents = yaml::parse(&source).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    documents[0].root.get("spec").expect(text).clone()
}

fn is_in_sync(observed: &Value, rules: &FieldRules, elsewhere: &[Path]) -> Result<(), TestCaseError> {
    // A document's body is a map or a list.
    if !observed.is_object() && !observed.is_array() {
        return Ok(());
    }
    if let Some(Minimal { spec, .. }) = exported(observed, rules, &[], elsewhere) {
        let text = written(&spec);
        prop_assert_eq!(diff(&loaded(&text), observed, rules), [], "{} of {}", text, observed);
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_exported_is_in_sync(observed in value(), rules in rules()) {
        is_in_sync(&observed, &rules, &[])?;
        let elsewhere = ["id", "name", "a.b"].map(|path| Path::parse(path).expect("a path"));
        is_in_sync(&observed, &rules, &elsewhere)?;
    }

    #[test]
    fn what_is_exported_of_near_objects_is_in_sync(Case { observed, rules, .. } in case()) {
        is_in_sync(&observed, &rules, &[])?;
    }

    #[test]
    fn exports_never_tell_a_secret(Case { desired, observed, rules } in secret_case()) {
        let veil = Veil::of(&desired);
        if let Some(Minimal { spec, left_out }) = exported(&observed, &rules, &[&veil], &[]) {
            let text = written(&spec);
            prop_assert!(!text.contains(SECRET), "{}", text);
            prop_assert!(!format!("{left_out:?}").contains(SECRET), "{:?}", left_out);
            prop_assert_eq!(diff(&loaded(&text), &observed, &rules), [], "{} of {}", text, observed);
        }
    }

    #[test]
    fn secrets_that_are_known_by_their_text_are_not_told(observed in value(), rules in rules()) {
        let tells = |value: &Value| matches!(value, Value::String(text) if matches!(&**text, "x" | "c"));
        let known = Known { elsewhere: &[], veils: &[], tells: &tells, variable: &|_| "V".into() };
        if let Some(Minimal { spec, .. }) = minimal(&observed, &rules, &known) {
            prop_assert!(!holds(&spec), "{}", written(&spec));
        }
    }

    #[test]
    fn without_rules_all_is_kept_but_null(observed in value()) {
        if let Some(Minimal { spec, left_out }) = exported(&observed, FieldRules::none(), &[], &[]) {
            prop_assert_eq!(left_out, []);
            let spec = spec.to_value().expect("plain values");
            prop_assert!(equal(&without_null(&spec), &without_null(&observed)), "{} of {}", spec, observed);
        }
    }
}

fn holds(node: &Node) -> bool {
    match &node.want {
        Want::Json(Value::String(text)) => text == "x",
        Want::List(items) => items.iter().any(holds),
        Want::Map(map) => map.iter().any(|(name, item)| &**name == "c" || holds(item)),
        _ => false,
    }
}

/// Without the members that are null, and those that are maps of nothing else.
fn without_null(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().map(|(name, item)| (name.clone(), item, without_null(item)));
            let emptied = |old: &Value, new: &Value| *old != json!({}) && *new == json!({});
            let kept = kept.filter(|(_, old, new)| !old.is_null() && !emptied(old, new));
            Value::Object(kept.map(|(name, _, item)| (name, item)).collect())
        }
        Value::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}
