//! The same laws on very many cases from a generator of our own, which costs little: 100,000 cases, and as many as
//! `TRUEUP_CASES` says. A case that fails is told by its number, which `TRUEUP_CASE_FROM` begins with.

use std::thread;

use serde_json::json;
use trueup::core::base::{Left, Side, Sides, left, tell};
use trueup::core::change::Change;
use trueup::core::compare::{fold, same};
use trueup::core::diff::{agrees, compare_since, diff, undeclared};
use trueup::core::fields::{Comparer, FieldRules};
use trueup::core::node::{Node, Want};
use trueup::core::overlay::{Form, overlay};
use trueup::core::patch::{apply_json, apply_merge, json_patch, merge_patch};
use trueup::core::path::{Path, Step};
use trueup::core::value::{Map, Value, canonical_text, equal};

use crate::draw::{Draw, PIECES};
use crate::{export, node};

/// The cases of an ordinary run of the tests.
const CASES: u64 = 100_000;

type Law = fn(&mut Draw) -> Result<(), String>;

/// The laws, in turn.
const LAWS: [(&str, Law); 7] = [
    ("what is sent settles the difference and leaves the rest", sent),
    ("patches land on their target", patched),
    ("what is equal makes no difference", same_makes_none),
    ("a base tells who made a difference", three_way),
    ("paths are read as they are written", paths),
    ("what is written of a body is read back", written),
    ("comparers are equivalences", comparers),
];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn every_law_holds_in_very_many_cases() {
    let (from, cases) = (number("TRUEUP_CASE_FROM").unwrap_or(0), number("TRUEUP_CASES").unwrap_or(CASES));
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    thread::scope(|scope| {
        for first in 0..threads {
            scope.spawn(move || {
                for case in (from + first..from + cases).step_by(threads as usize) {
                    let (name, law) = LAWS[(case % LAWS.len() as u64) as usize];
                    law(&mut Draw::new(case)).unwrap_or_else(|what| panic!("case {case}: {name}: {what}"));
                }
            });
        }
    });
}

fn hold(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

/// A full body, the target of a patch, and a create.
fn sent(draw: &mut Draw) -> Result<(), String> {
    let (desired, observed) = (draw.desired(), draw.value(4));
    let rules = draw.rules(&desired);
    let observed = if draw.chance(80) { draw.near(&desired) } else { observed };
    for (form, from) in [(Form::Full, &observed), (Form::Patch, &observed), (Form::Full, &nothing())] {
        let Ok(body) = overlay(&desired, from, &rules, form) else { continue };
        let left = diff(&desired, &body, &rules);
        hold(left.is_empty() || left.iter().any(|change| is_keyed_by_the_servers(change, &rules)), || {
            format!("{form:?} of {desired:?} over {from} by {rules:?} is {body}, and {left:?} is left")
        })?;
    }
    // Where nothing is said of fields, whatever nobody declared stays as it is.
    for form in [Form::Full, Form::Patch] {
        let Ok(body) = overlay(&desired, &observed, FieldRules::none(), form) else { continue };
        for path in undeclared(&desired, &observed, FieldRules::none()) {
            let is_field = path.0.iter().all(|step| matches!(step, Step::Field(_)));
            let stays = !is_field || path.get(&body) == path.get(&observed);
            hold(stays, || format!("{form:?}: {path} of {observed} is not kept in {body}"))?;
        }
    }
    Ok(())
}

/// Whether a change is in a list that is keyed by a field of the server's. Such a key is not sent, so a body has none of
/// ours, and what the server makes of it comes under keys of its own: rules that contradict each other.
fn is_keyed_by_the_servers(change: &Change, rules: &FieldRules) -> bool {
    let steps = &change.path.0;
    steps.iter().enumerate().any(|(at, step)| {
        let Step::Keyed(name, _) = step else { return false };
        let element = Path(steps[..=at].to_vec());
        rules.at(&element.field(name)).here.server_owned
    })
}

/// Patches lead from what is there to what is wanted, and from any value to any other.
fn patched(draw: &mut Draw) -> Result<(), String> {
    let desired = draw.desired();
    let (rules, observed) = (draw.rules(&desired), draw.near(&desired));
    let target = overlay(&desired, &observed, &rules, Form::Patch).ok();
    let others = (draw.value(4), draw.value(4));
    for (from, to) in target.map(|target| (observed, target)).into_iter().chain([others]) {
        if let Ok(patch) = merge_patch(&from, &to) {
            let landed = apply_merge(&from, &patch);
            hold(equal(&landed, &to), || format!("{from} by {patch} is {landed}, not {to}"))?;
        }
        let patch = json_patch(&from, &to);
        let landed = apply_json(&from, &patch);
        hold(landed.as_ref().is_ok_and(|landed| equal(landed, &to)), || {
            format!("{from} by {patch:?} is {landed:?}, not {to}")
        })?;
        hold(!equal(&from, &to) || patch.is_empty(), || format!("{from} is {to}, and {patch:?} patches it"))?;
    }
    Ok(())
}

fn same_makes_none(draw: &mut Draw) -> Result<(), String> {
    let value = draw.value(4);
    let rules = draw.rules(&node(&value));
    let changes = diff(&node(&value), &value, &rules);
    hold(changes.is_empty(), || format!("{value} differs from itself: {changes:?}"))?;
    let (desired, observed) = (draw.desired(), draw.value(3));
    let rules = draw.rules(&desired);
    let observed = if draw.chance(80) { draw.near(&desired) } else { observed };
    let none = diff(&desired, &observed, &rules).is_empty();
    hold(none == agrees(&desired, &observed, &rules), || {
        format!("the verdict on {desired:?} and {observed}")
    })?;
    if none && let Ok(target) = overlay(&desired, &observed, &rules, Form::Patch) {
        hold(target == observed, || format!("{observed} is as desired, and made {target}"))?;
    }
    Ok(())
}

fn three_way(draw: &mut Draw) -> Result<(), String> {
    let base = draw.value(3);
    let rules = draw.rules(&node(&base));
    let (ours, theirs) = (draw.edited(&base), draw.edited(&base));
    let told = |base: &Value, ours: &Value, theirs: &Value| {
        let (base, ours) = (node(base), node(ours));
        let Left { spec, .. } = left(&ours, &base, theirs, &rules, false);
        let mut changes = compare_since(&spec, Some(&base), theirs, &rules).changes;
        tell(&mut changes, &spec, &Sides { base: Some(&base), ours: &ours, theirs, rules: &rules });
        changes
    };
    let only = |side: Side, changes: Vec<trueup::core::change::Change>, what: &str| {
        let other =
            changes.iter().find(|change| change.since.as_ref().is_none_or(|since| since.side != side));
        hold(other.is_none(), || format!("{what} of {base}, {ours}, {theirs}: {other:?}"))
    };
    only(Side::Drift, told(&base, &base, &theirs), "files that did not change")?;
    only(Side::Pending, told(&base, &ours, &base), "a server that did not change")?;
    let none = told(&base, &ours, &ours);
    hold(none.is_empty(), || format!("both sides of {base} became {ours}, and differ: {none:?}"))?;
    let Left { spec, .. } = left(&node(&ours), &node(&base), &theirs, &rules, false);
    if let Ok(body) = overlay(&spec, &theirs, &rules, Form::Full) {
        let rest = diff(&spec, &body, &rules);
        hold(rest.is_empty(), || format!("{body} leaves {rest:?} of {base}, {ours}, {theirs}"))?;
    }
    Ok(())
}

fn paths(draw: &mut Draw) -> Result<(), String> {
    let step = |draw: &mut Draw| match draw.below(5) {
        0 => Step::Index(draw.below(12)),
        1 => Step::Keyed(draw.name().replace(['=', ']', '['], "k"), draw.name()),
        2 => Step::Each,
        _ => Step::Field(draw.name()),
    };
    let count = draw.below(5);
    let path = Path((0..count).map(|_| step(draw)).collect());
    // A member that names elements has a name.
    if path
        .0
        .iter()
        .any(|step| matches!(step, Step::Keyed(name, _) if name.is_empty() || name.starts_with(['*', '"'])))
    {
        return Ok(());
    }
    let text = path.to_string();
    let read = Path::parse(&text);
    hold(read.as_ref() == Ok(&path), || format!("{path:?} is written {text}, which is {read:?}"))?;
    // And any text is read, or refused with a place in it.
    let pieces = draw.below(8);
    let any: String = (0..pieces).map(|_| draw.one(&PIECES)).collect();
    match Path::parse(&any) {
        Ok(path) => {
            let again = Path::parse(&path.to_string());
            hold(again.as_ref() == Ok(&path), || format!("{any} is {path:?}, and {again:?} once written"))
        }
        Err(error) => hold((1..=any.chars().count() + 1).contains(&error.at), || format!("{any}: {error}")),
    }
}

fn written(draw: &mut Draw) -> Result<(), String> {
    let value = json!({"body": draw.value(4)});
    let text = export::written(&node(&value));
    let loaded = export::loaded(&text).to_value().map_err(|error| error.to_string())?;
    hold(equal(&loaded, &value), || format!("{value} is written\n{text}\nand read as {loaded}"))
}

fn comparers(draw: &mut Draw) -> Result<(), String> {
    let comparer = draw.one(&[
        Comparer::Quantity,
        Comparer::Duration,
        Comparer::Timestamp,
        Comparer::Cidr,
        Comparer::Url,
    ]);
    let values: Vec<Value> = (0..3).map(|_| draw.spelled()).collect();
    let alike = |a: usize, b: usize| same(Some(&comparer), &values[a], &values[b]);
    for (at, value) in values.iter().enumerate() {
        hold(alike(at, at), || format!("{comparer:?}: {value} is not itself"))?;
        let once = fold(&comparer, value);
        let twice = fold(&comparer, &once);
        hold(equal(&once, &twice), || format!("{comparer:?}: {value} is {once}, which is {twice}"))?;
    }
    hold(alike(0, 1) == alike(1, 0), || format!("{comparer:?}: {} and {}", values[0], values[1]))?;
    let broken = alike(0, 1) && alike(1, 2) && !alike(0, 2);
    hold(!broken, || format!("{comparer:?} is not transitive: {values:?}"))?;
    let text = |at: usize| canonical_text(&values[at]);
    hold(equal(&values[0], &values[1]) == (text(0) == text(1)), || format!("{} and {}", text(0), text(1)))
}

/// A desired tree says of each member what is wanted: no law may be about an empty one alone.
#[test]
fn what_is_drawn_is_of_every_sort() {
    let mut counts = [0usize; 5];
    for case in 0..2_000 {
        let mut draw = Draw::new(case);
        let desired = draw.desired();
        let observed = draw.near(&desired);
        let changes = diff(&desired, &observed, FieldRules::none()).len();
        counts[changes.min(3)] += 1;
        let Want::Map(members) = &desired.want else { panic!("a body is a map") };
        counts[4] +=
            usize::from(members.iter().any(|(_, member)| matches!(member, Node { want: Want::List(_), .. })));
    }
    assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
}
