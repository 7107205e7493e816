//! The rules, one by one. The laws are in `tests/properties`.

use serde_json::json;

use super::*;

fn map(value: Value) -> Map<String, Value> {
    value.as_object().expect("a map").clone()
}

/// An item, who holds what of it, and what is done to both.
struct Story {
    item: Map<String, Value>,
    managers: Managers,
}

impl Story {
    fn begin() -> Story {
        Story { item: Map::new(), managers: Managers::default() }
    }

    fn try_apply(&mut self, by: &str, config: Value, force: bool) -> Result<(), String> {
        let patch = Patch { by, config: &map(config), force, about: |_| true };
        match self.managers.apply(&self.item, patch) {
            Ok((item, managers)) => {
                (self.item, self.managers) = (item, managers);
                Ok(())
            }
            Err(conflicts) => {
                let each = conflicts
                    .iter()
                    .map(|conflict| format!("{} by {}", path(&conflict.field), conflict.manager));
                Err(each.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn apply(mut self, by: &str, config: Value) -> Story {
        self.try_apply(by, config, false).expect("no conflict");
        self
    }

    fn force(mut self, by: &str, config: Value) -> Story {
        self.try_apply(by, config, true).expect("no conflict stops force");
        self
    }

    fn update(mut self, by: &str, item: Value) -> Story {
        let item = map(item);
        self.managers = self.managers.updated(&self.item, &item, by);
        self.item = item;
        self
    }

    /// The item, and who holds what: `a: x.y z; b(update): x.y`.
    #[track_caller]
    fn is(self, item: Value, held: &str) -> Story {
        assert_eq!(Value::Object(self.item.clone()), item);
        let told = self.managers.sets().map(|(name, mode, fields)| {
            let fields: Vec<String> = fields.iter().map(|field| path(field)).collect();
            let mode = if mode == Mode::Update { "(update)" } else { "" };
            format!("{name}{mode}: {}", fields.join(" "))
        });
        assert_eq!(told.collect::<Vec<_>>().join("; "), held);
        self
    }

    #[track_caller]
    fn refuses(mut self, by: &str, config: Value, conflicts: &str) -> Story {
        let before = (self.item.clone(), self.managers.clone());
        assert_eq!(self.try_apply(by, config, false), Err(conflicts.to_owned()));
        assert_eq!((&self.item, &self.managers), (&before.0, &before.1));
        self
    }
}

#[test]
fn each_holds_what_it_applies_and_equal_values_are_shared() {
    Story::begin()
        .apply("a", json!({"spec": {"size": 1, "on": true}}))
        .apply("b", json!({"spec": {"size": 1.0, "zone": "x"}}))
        .is(
            json!({"spec": {"size": 1, "on": true, "zone": "x"}}),
            "a: spec.on spec.size; b: spec.size spec.zone",
        )
        .refuses("b", json!({"spec": {"size": 2, "on": false}}), "spec.on by a, spec.size by a");
}

#[test]
fn what_only_this_manager_applied_leaves_when_it_is_no_longer_sent() {
    Story::begin()
        .apply("a", json!({"n": 1, "deep": {"er": {"x": 1}}, "shared": 1}))
        .apply("b", json!({"shared": 1}))
        .apply("a", json!({"n": 1}))
        .is(json!({"n": 1, "shared": 1}), "a: n; b: shared")
        .apply("b", json!({}))
        .is(json!({"n": 1}), "a: n");
}

#[test]
fn a_map_that_somebody_wants_empty_stays() {
    Story::begin()
        .apply("a", json!({"labels": {}}))
        .apply("b", json!({"labels": {"x": 1}}))
        .is(json!({"labels": {"x": 1}}), "a: labels; b: labels.x")
        .apply("b", json!({}))
        .is(json!({"labels": {}}), "a: labels")
        .apply("b", json!({"labels": {"x": 1}}))
        .apply("a", json!({}))
        .is(json!({"labels": {"x": 1}}), "b: labels.x");
}

#[test]
fn lists_are_one_field_and_null_is_a_value() {
    Story::begin()
        .apply("a", json!({"list": [{"x": 1}], "none": null}))
        .is(json!({"list": [{"x": 1}], "none": null}), "a: list none")
        .refuses("b", json!({"list": [{"x": 1}, {"x": 2}]}), "list by a")
        .apply("b", json!({"list": [{"x": 1.0}]}))
        .is(json!({"list": [{"x": 1}], "none": null}), "a: list none; b: list");
}

#[test]
fn a_field_of_another_shape_is_a_conflict_with_all_that_it_covers() {
    Story::begin()
        .apply("a", json!({"x": {"y": 1, "z": {}}}))
        .refuses("b", json!({"x": 1}), "x.y by a, x.z by a")
        .refuses("b", json!({"x": {"y": {"deep": 1}}}), "x.y by a")
        .apply("b", json!({"x": {"z": {"in": 1}}}))
        .is(json!({"x": {"y": 1, "z": {"in": 1}}}), "a: x.y x.z; b: x.z.in")
        .force("c", json!({"x": 1}))
        .is(json!({"x": 1}), "c: x");
}

#[test]
fn force_takes_over_what_differs_and_shares_the_rest() {
    Story::begin()
        .apply("a", json!({"n": 1, "m": 1, "o": 1}))
        .force("b", json!({"n": 2, "m": 1}))
        .is(json!({"n": 2, "m": 1, "o": 1}), "a: m o; b: m n")
        .refuses("a", json!({"n": 1, "m": 1, "o": 1}), "n by b");
}

#[test]
fn a_plain_write_takes_what_it_changes_and_no_more() {
    Story::begin()
        .apply("a", json!({"n": 1, "m": 1, "gone": 1}))
        .update("cli", json!({"n": 2, "m": 1, "more": {"x": 1}}))
        .is(json!({"n": 2, "m": 1, "more": {"x": 1}}), "a: m; cli(update): more.x n")
        .refuses("a", json!({"n": 1, "m": 1}), "n by cli")
        .apply("a", json!({"n": 2}))
        .is(json!({"n": 2, "more": {"x": 1}}), "a: n; cli(update): more.x n")
        .apply("a", json!({}))
        .is(json!({"n": 2, "more": {"x": 1}}), "cli(update): more.x n");
}

#[test]
fn a_manager_does_not_stand_in_its_own_way() {
    Story::begin()
        .update("a", json!({"n": 1, "m": 1}))
        .apply("a", json!({"n": 2}))
        .is(json!({"n": 2, "m": 1}), "a: n; a(update): m")
        .apply("a", json!({}))
        .is(json!({"m": 1}), "a(update): m");
}

#[test]
fn what_was_there_before_belongs_to_nobody_in_particular() {
    let item = map(json!({"n": 1, "m": {"x": 1}}));
    let managers = Managers::of(BEFORE, Mode::Update, &item);
    let story = Story { item, managers };
    story
        .refuses("a", json!({"n": 2}), "n by before-first-apply")
        .apply("a", json!({"n": 1}))
        .is(json!({"n": 1, "m": {"x": 1}}), "a: n; before-first-apply(update): m.x n");
}

#[test]
fn fields_that_a_patch_is_not_about_stay() {
    let item = map(json!({"n": 1, "status": {"up": true}}));
    let managers = Managers::of("a", Mode::Apply, &item);
    let patch =
        Patch { by: "a", config: &map(json!({"m": 1})), force: false, about: |field| field[0] != "status" };
    let (item, managers) = managers.apply(&item, patch).expect("no conflict");
    Story { item, managers }.is(json!({"m": 1, "status": {"up": true}}), "a: m status.up");
}

#[test]
fn names_of_any_kind_have_a_path() {
    let field = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Field>();
    for (names, want) in [
        (&["spec", "size"][..], "spec.size"),
        (&["labels", "a.b"], "labels[\"a.b\"]"),
        (&["", "x\"y"], "[\"\"][\"x\\\"y\"]"),
    ] {
        assert_eq!(path(&field(names)), want);
    }
}
