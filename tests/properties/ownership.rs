//! Laws of field managers: who may change what by an apply-patch, what it takes away, and who holds what then.
//!
//! Each law is told of an item with a past: applies, forced ones and plain writes of three managers.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use trueup::core::value::{Map, Value, equal};
use trueup::server::ownership::{Conflict, Field, Managers, Mode, Patch};

use crate::make::item;

type Item = Map<String, Value>;

const NAMES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Act {
    Apply(bool),
    Update,
}

#[derive(Clone, Debug, Default)]
struct State {
    item: Item,
    managers: Managers,
}

impl State {
    fn apply(&self, by: &str, config: &Item, force: bool) -> Result<State, Vec<Conflict>> {
        let applied = self.managers.apply(&self.item, Patch { by, config, force, about: |_| true });
        applied.map(|(item, managers)| State { item, managers })
    }

    fn update(&self, by: &str, item: &Item) -> State {
        State { managers: self.managers.updated(&self.item, item, by), item: item.clone() }
    }

    /// Each manager's fields.
    fn held(&self) -> impl Iterator<Item = (&str, Mode, &Field)> {
        let sets = self.managers.sets();
        sets.flat_map(|(name, mode, held)| held.iter().map(move |field| (name, mode, field)))
    }

    fn same(&self, other: &State) -> bool {
        same(&self.item, &other.item) && self.managers == other.managers
    }
}

/// An item with a past. What is refused is as if it had not been asked for.
fn state() -> impl Strategy<Value = State> {
    let act = prop_oneof![Just(Act::Apply(false)), Just(Act::Apply(true)), Just(Act::Update)];
    vec((0..NAMES.len(), act, item()), 0..7).prop_map(|past| {
        past.into_iter().fold(State::default(), |state, (by, act, item)| match act {
            Act::Apply(force) => state.apply(NAMES[by], &item, force).unwrap_or(state),
            Act::Update => state.update(NAMES[by], &item),
        })
    })
}

fn same(a: &Item, b: &Item) -> bool {
    equal(&Value::Object(a.clone()), &Value::Object(b.clone()))
}

fn at<'v>(item: &'v Item, field: &[String]) -> Option<&'v Value> {
    let (last, above) = field.split_last()?;
    above.iter().try_fold(item, |map, name| map.get(name)?.as_object())?.get(last)
}

/// Whether something that is no map is sent above a field.
fn is_covered(config: &Item, field: &[String]) -> bool {
    (1..field.len()).any(|depth| at(config, &field[..depth]).is_some_and(|value| !value.is_object()))
}

fn leaves(item: &Item) -> BTreeSet<Field> {
    let all = Managers::of("all", Mode::Apply, item);
    all.sets().flat_map(|(_, _, held)| held.clone()).collect()
}

proptest! {
    #[test]
    fn to_apply_twice_is_to_apply_once(state in state(), config in item(), by in 0..3usize) {
        let once = state.apply(NAMES[by], &config, true).expect("nothing stops force");
        let twice = once.apply(NAMES[by], &config, false).expect("it holds all of it");
        prop_assert!(once.same(&twice), "{:?} became {:?}", once, twice);
    }

    #[test]
    fn a_conflict_is_another_value_of_a_field_that_another_manager_holds(
        state in state(), config in item(), by in 0..3usize,
    ) {
        let differs = |field: &Field| match (at(&state.item, field), at(&config, field)) {
            (_, None) => is_covered(&config, field),
            (Some(Value::Object(_)), Some(sent)) => !sent.is_object(),
            (Some(there), Some(sent)) => !equal(there, sent),
            (None, Some(_)) => true,
        };
        let others = state.held().filter(|(name, ..)| *name != NAMES[by]);
        let want: BTreeSet<(Field, &str)> =
            others.filter(|(_, _, field)| differs(field)).map(|(name, _, field)| (field.clone(), name)).collect();
        let refused = state.apply(NAMES[by], &config, false).err().unwrap_or_default();
        let got = refused.iter().map(|held| (held.field.clone(), held.manager.as_str())).collect();
        prop_assert_eq!(want, got);
    }

    #[test]
    fn a_field_goes_if_and_only_if_we_alone_applied_it_and_send_it_no_longer(
        state in state(), config in item(), by in 0..3usize,
    ) {
        let Ok(after) = state.apply(NAMES[by], &config, false) else { return Ok(()) };
        let us = |name: &str, mode: Mode| name == NAMES[by] && mode == Mode::Apply;
        for field in leaves(&state.item) {
            let holders = || state.held().filter(|(_, _, held)| **held == field);
            let ours = holders().any(|(name, mode, _)| us(name, mode));
            let theirs = holders().any(|(name, mode, _)| !us(name, mode));
            let left = ours && !theirs && at(&config, &field).is_none();
            let gone = at(&after.item, &field).is_none();
            prop_assert_eq!(gone, left || is_covered(&config, &field), "{:?} of {:?}", field, state);
        }
    }

    #[test]
    fn force_takes_over(state in state(), config in item(), by in 0..3usize) {
        let conflicts = state.apply(NAMES[by], &config, false).err().unwrap_or_default();
        let after = state.apply(NAMES[by], &config, true).expect("nothing stops force");
        for field in leaves(&config) {
            prop_assert!(after.managers.holders(&field).contains(NAMES[by]), "{:?}", field);
            let (sent, there) = (at(&config, &field).expect("it is sent"), at(&after.item, &field));
            let there = there.expect("it is there");
            prop_assert!(equal(sent, there) || sent.is_object() && there.is_object(), "{:?}", field);
        }
        for conflict in conflicts {
            prop_assert!(!after.managers.holders(&conflict.field).contains(conflict.manager.as_str()));
        }
    }

    #[test]
    fn who_holds_a_field_holds_what_is_there(state in state()) {
        for (name, _, field) in state.held() {
            prop_assert!(at(&state.item, field).is_some(), "{} holds {:?}", name, field);
        }
        prop_assert!(state.managers.sets().all(|(_, _, held)| !held.is_empty()));
        prop_assert_eq!(&Managers::from_sets(
            state.managers.sets().map(|(name, mode, held)| (name.to_owned(), mode, held.clone())),
        ), &state.managers);
    }

    #[test]
    fn a_lone_manager_has_what_it_applied_last(configs in vec(item(), 1..5)) {
        let after = configs.iter().fold(State::default(), |state, config| {
            state.apply("a", config, false).expect("there is nobody else")
        });
        let last = configs.last().expect("one at least");
        prop_assert!(same(&after.item, last), "{:?} in the place of {:?}", after.item, last);
        prop_assert_eq!(after.managers, Managers::of("a", Mode::Apply, last));
    }

    #[test]
    fn a_plain_write_takes_what_it_changes_and_nothing_else(state in state(), item in item(), by in 0..3usize) {
        let after = state.update(NAMES[by], &item);
        for field in leaves(&item) {
            let (there, now) = (at(&state.item, &field), at(&item, &field).expect("a leaf"));
            let kept = there.is_some_and(|there| equal(there, now) || there.is_object() && now.is_object());
            let want = if kept { state.managers.holders(&field) } else { BTreeSet::from([NAMES[by]]) };
            prop_assert_eq!(after.managers.holders(&field), want, "{:?}", field);
        }
    }
}
