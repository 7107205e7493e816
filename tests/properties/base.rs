//! Laws of the three-way comparison.

use proptest::prelude::*;
use trueup::core::base::{Left, Side, Sides, left, tell};
use trueup::core::change::Change;
use trueup::core::diff::{compare_since, diff};
use trueup::core::fields::FieldRules;
use trueup::core::node::Node;
use trueup::core::overlay::{Form, overlay};
use trueup::core::value::Value;

use crate::make::{Case, case, edits, rules, secret_case, value};
use crate::{make, node};

/// What is to change, and who made each difference.
fn three_way(base: &Node, ours: &Node, theirs: &Value, rules: &FieldRules) -> Vec<Change> {
    let Left { spec, .. } = left(ours, base, theirs, rules, false);
    let mut changes = compare_since(&spec, Some(base), theirs, rules).changes;
    tell(&mut changes, &spec, &Sides { base: Some(base), ours, theirs, rules });
    changes
}

fn side(change: &Change) -> Side {
    change.since.as_ref().expect("it was told").side
}

proptest! {
    #[test]
    fn files_that_did_not_change_make_drift_alone(Case { desired, observed, rules } in case()) {
        let changes = three_way(&desired, &desired, &observed, &rules);
        for change in &changes {
            prop_assert_eq!(side(change), Side::Drift, "{}", change.path);
        }
        // And the base changes nothing of what is to be done.
        let bare: Vec<Change> = changes.into_iter().map(|change| Change { since: None, ..change }).collect();
        prop_assert_eq!(bare, diff(&desired, &observed, &rules));
    }

    #[test]
    fn a_server_that_did_not_change_leaves_all_pending(ours in value(), theirs in value(), rules in rules()) {
        for change in three_way(&node(&theirs), &node(&ours), &theirs, &rules) {
            prop_assert_eq!(side(&change), Side::Pending, "{}", change.path);
        }
    }

    #[test]
    fn both_sides_that_changed_alike_make_no_difference(base in value(), both in value(), rules in rules()) {
        prop_assert_eq!(three_way(&node(&base), &node(&both), &both, &rules), []);
    }

    #[test]
    fn what_is_sent_settles_what_left_too((base, ours) in (value(), edits()).prop_map(|(v, e)| (v.clone(), e.on(v))), theirs in value(), rules in rules()) {
        let Left { spec, .. } = left(&node(&ours), &node(&base), &theirs, &rules, false);
        for form in [Form::Patch, Form::Full] {
            if let Ok(sent) = overlay(&spec, &theirs, &rules, form) {
                prop_assert_eq!(diff(&spec, &sent, &rules), [], "{:?} sent {}", form, sent);
            }
        }
    }

    #[test]
    fn secrets_of_the_base_are_never_told(Case { desired, observed, rules } in secret_case(), ours in value()) {
        let ours = node(&ours);
        let printed = format!("{:?}", three_way(&desired, &ours, &observed, &rules));
        prop_assert!(!printed.contains(make::SECRET), "{}", printed);
    }
}
