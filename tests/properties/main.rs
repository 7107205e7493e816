//! Laws of the pure core. 256 cases each, which `PROPTEST_CASES` scales; in [`many`] very many.

mod base;
mod bytes;
mod draw;
mod export;
mod make;
mod many;
mod ownership;

use proptest::prelude::*;
use trueup::core::change::{Reason, Shown};
use trueup::core::diff::{agrees, diff, undeclared};
use trueup::core::fields::FieldRules;
use trueup::core::give_up::{self, Given};
use trueup::core::node::{Node, Pos};
use trueup::core::overlay::{Form, overlay};
use trueup::core::patch::{Operation, apply_json, apply_merge, json_patch, merge_patch};
use trueup::core::path::Step;
use trueup::core::value::{Value, canonical_text, equal};

use make::{Case, case, edits, keyed_list, number, rules, secret_case, value};

fn node(value: &Value) -> Node {
    Node::from_value(Pos::default(), value.clone())
}

proptest! {
    #[test]
    fn nothing_differs_from_itself(value in value(), rules in rules()) {
        prop_assert_eq!(diff(&node(&value), &value, &rules), []);
    }

    #[test]
    fn the_verdict_is_the_list_of_changes(Case { desired, observed, rules } in case()) {
        prop_assert_eq!(agrees(&desired, &observed, &rules), diff(&desired, &observed, &rules).is_empty());
    }

    #[test]
    fn what_is_sent_settles_the_difference(Case { desired, observed, rules } in case()) {
        for form in [Form::Patch, Form::Full] {
            if let Ok(sent) = overlay(&desired, &observed, &rules, form) {
                prop_assert_eq!(diff(&desired, &sent, &rules), [], "{:?} sent {}", form, sent);
            }
        }
    }

    #[test]
    fn a_create_settles_the_difference(Case { desired, rules, .. } in case()) {
        if let Ok(sent) = overlay(&desired, &Value::Object(Default::default()), &rules, Form::Full) {
            prop_assert_eq!(diff(&desired, &sent, &rules), [], "sent {}", sent);
        }
    }

    #[test]
    fn what_is_given_up_differs_no_more(Case { desired, observed, rules } in case()) {
        for change in diff(&desired, &observed, &rules) {
            let Some(place) = give_up::place(&change.path) else { continue };
            let given = Given::of(place.clone(), &desired, &rules, false);
            let left = give_up::without(&desired, &[given], &observed);
            let still = diff(&left, &observed, &rules).into_iter().find(|still| place.covers(&still.path));
            prop_assert_eq!(still, None, "{} is given up for {}", place, change.path);
        }
    }

    #[test]
    fn what_is_equal_is_not_touched(Case { desired, observed, rules } in case()) {
        if let Ok(target) = overlay(&desired, &observed, &rules, Form::Patch)
            && diff(&desired, &observed, &rules).is_empty()
        {
            prop_assert_eq!(target.to_string(), observed.to_string());
        }
    }

    #[test]
    fn both_patches_land_on_the_target(Case { desired, observed, rules } in case()) {
        let Ok(target) = overlay(&desired, &observed, &rules, Form::Patch) else { return Ok(()) };
        if let Ok(patch) = merge_patch(&observed, &target) {
            let landed = apply_merge(&observed, &patch);
            prop_assert!(equal(&landed, &target), "{} by {} is {}", target, patch, landed);
        }
        let patch = json_patch(&observed, &target);
        let landed = apply_json(&observed, &patch);
        prop_assert!(landed.as_ref().is_ok_and(|landed| equal(landed, &target)), "{:?} by {:?}", landed, patch);
    }

    #[test]
    fn patches_lead_from_any_value_to_any_other(from in value(), to in value()) {
        if let Ok(patch) = merge_patch(&from, &to) {
            prop_assert!(equal(&apply_merge(&from, &patch), &to));
        }
        let landed = apply_json(&from, &json_patch(&from, &to));
        prop_assert!(landed.is_ok_and(|landed| equal(&landed, &to)));
    }

    #[test]
    fn a_json_patch_fails_on_another_base((from, to) in (value(), edits()).prop_map(|(v, e)| (v.clone(), e.on(v)))) {
        let patch = json_patch(&from, &to);
        for operation in &patch {
            let Operation::Test { pointer, .. } = operation else { continue };
            let other = Operation::Replace { pointer: pointer.clone(), value: "something else".into() };
            let base = apply_json(&from, &[other]);
            prop_assert!(base.is_ok(), "the test at {} is about the base", pointer);
            prop_assert!(apply_json(&base.expect("checked"), &patch).is_err(), "{:?}", patch);
        }
        for (at, operation) in patch.iter().enumerate() {
            if let Operation::Replace { pointer, .. } | Operation::Remove { pointer } = operation {
                let tested = |op: &Operation| matches!(op, Operation::Test { pointer: p, .. } if p == pointer);
                prop_assert!(patch[..at].iter().any(tested), "{} is not tested", pointer);
            }
        }
    }

    #[test]
    fn unmentioned_fields_survive(Case { desired, observed, .. } in case()) {
        let rules = FieldRules::none();
        for form in [Form::Patch, Form::Full] {
            let Ok(sent) = overlay(&desired, &observed, rules, form) else { continue };
            for path in undeclared(&desired, &observed, rules) {
                if path.0.iter().all(|step| matches!(step, Step::Field(_))) {
                    prop_assert_eq!(path.get(&sent), path.get(&observed), "{}", path);
                }
            }
        }
    }

    #[test]
    fn the_order_of_keyed_elements_does_not_count((desired, observed) in (keyed_list(), keyed_list()), turn in 0..5usize) {
        let whole = diff(&node(&desired), &observed, FieldRules::none());
        let turned = |value: &Value| {
            let mut items = value.as_array().expect("a list").clone();
            let by = turn % items.len().max(1);
            items.rotate_left(by);
            Value::Array(items)
        };
        let sorted = |mut changes: Vec<_>| {
            changes.sort_by_key(|change| format!("{change:?}"));
            changes
        };
        let again = diff(&node(&turned(&desired)), &turned(&observed), FieldRules::none());
        prop_assert_eq!(sorted(whole.clone()), sorted(again));
        prop_assert_eq!(sorted(whole), sorted(diff(&node(&desired), &turned(&observed), FieldRules::none())));
        prop_assert_eq!(diff(&node(&desired), &turned(&desired), FieldRules::none()), []);
    }

    #[test]
    fn a_reordered_list_is_one_change(items in proptest::collection::hash_set(0..50u32, 2..12), turn in 1..10usize) {
        let items: Vec<u32> = items.into_iter().collect();
        let mut turned = items.clone();
        turned.rotate_left(turn % items.len());
        let changes = diff(&node(&Value::from(items.clone())), &Value::from(turned.clone()), FieldRules::none());
        if items == turned {
            prop_assert_eq!(changes, []);
        } else {
            prop_assert_eq!(changes.len(), 1);
            prop_assert_eq!(&changes[0].reason, &Reason::Reordered);
            prop_assert_eq!(changes[0].before.as_ref(), Some(&Shown::Value(turned.into())));
        }
    }

    #[test]
    fn equality_of_numbers_is_an_equivalence(a in number(), b in number(), c in number()) {
        prop_assert!(equal(&a, &a));
        prop_assert_eq!(equal(&a, &b), equal(&b, &a));
        prop_assert!(!(equal(&a, &b) && equal(&b, &c)) || equal(&a, &c));
        prop_assert_eq!(equal(&a, &b), canonical_text(&a) == canonical_text(&b));
    }

    #[test]
    fn changes_never_tell_a_secret(Case { desired, observed, rules } in secret_case()) {
        let printed = format!("{:?}", diff(&desired, &observed, &rules));
        prop_assert!(!printed.contains(make::SECRET), "{}", printed);
    }
}
