//! What no document names, in a run with others: beside what is doubtful it stays.

use std::sync::Arc;

use serde_json::json;

use super::model::{Fault, Model, document, kind};
use crate::core::document::Document;
use crate::core::engine::Options;
use crate::core::exchange::FailureClass;
use crate::core::prune::{Proof, Pruned, Rank};
use crate::core::replicas::Replica;
use crate::core::report::Outcome;
use crate::core::set::Member;

fn pruned(name: &str, proof: Proof, server_id: &str) -> Document {
    let like = document("Zone", &[("name", name)], json!({}));
    let (rank, unique, server_id) = (Rank::default(), Vec::new(), Some(Arc::from(server_id)));
    let pruned = Pruned { set: "s".into(), owner: None, proof, server_id, rank, unique };
    pruned.wish(like.id, like.origin, Default::default())
}

fn why(outcome: &Outcome) -> String {
    outcome.explanation().map(|why| why.message.clone()).unwrap_or_default()
}

#[test]
fn nothing_of_a_set_goes_beside_an_object_of_it_that_is_unknown() {
    for of_the_set in [true, false] {
        let mut model = Model::new(vec![kind("Zone", false, None), kind("Team", true, None)]);
        model.put("Zone", &[("name", "z")], json!({}));
        let refused = Fault::Fails(FailureClass::Status(403));
        model.faults.extend((1..=9).map(|nth| (("list", nth), refused.clone())));
        let mut team = document("Team", &[("name", "t")], json!({"n": 1}));
        team.policy.member = of_the_set.then(|| Arc::new(Member { set: "s".into(), owner: None }));
        let report = model.apply(&[team, pruned("z", Proof::Exclusive, "1")]);
        assert!(matches!(report.objects[0].result, Outcome::Unknown(_)), "{report:?}");
        if of_the_set {
            assert!(matches!(report.objects[1].result, Outcome::Skipped(_)), "{report:?}");
            assert_eq!(
                why(&report.objects[1].result),
                "nothing is deleted beside `Team t`, which is unknown"
            );
            assert_eq!(model.writes(), [""; 0]);
        } else {
            assert_eq!(model.writes(), ["delete Zone z"], "{report:?}");
        }
    }
}

#[test]
fn nothing_is_too_much_before_all_that_is_too_little_is_there() {
    for fails in [true, false] {
        let mut model = Model::new(vec![kind("Zone", false, None)]);
        model.put("Zone", &[("name", "w-1")], json!({}));
        if fails {
            model.faults.insert(("create", 1), Fault::Fails(FailureClass::Status(422)));
        }
        let mut first = document("Zone", &[("name", "w-0")], json!({"n": 1}));
        first.policy.replica = Some(Replica { of: "s".into(), number: 0 });
        let both = [first, pruned("w-1", Proof::Replica(0), "1")];
        let plan = model.plan(&both);
        let report = model.apply_with(&both, Options::default(), Some(&plan));
        if fails {
            assert!(matches!(report.objects[1].result, Outcome::Skipped(_)), "{report:?}");
            assert_eq!(
                why(&report.objects[1].result),
                "nothing is deleted beside `Zone w-0`, which is missing"
            );
            assert!(model.get("Zone", "w-1").is_some());
        } else {
            assert_eq!(model.writes(), ["create Zone w-0", "delete Zone w-1"], "{report:?}");
        }
    }
}
