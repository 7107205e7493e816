//! The functions that a filter may call: jq's own, less what reaches outside or never ends, and a prelude.
//!
//! Left out, and therefore unknown: `env`, `now`, `input`, `debug`, `stderr`, `halt`, everything about dates
//! (`timestamp` is there for them, which like the other comparers of single values is a function as well). Known and refused, as they have no end of their own:
//! `repeat`, `while`, `until`, `recurse` with an argument.

use std::sync::LazyLock;

use jaq_core::load::{self, parse::Def};
use jaq_core::native::{Fun, bome, run, unary, v};
use jaq_core::{Error, Exn, Native, box_iter::box_once};
use jaq_json::Val;

use super::convert::{from_val, to_val};
use super::meter::{Jaq, MAX_BYTES, METER, TIMES};
use super::regex;
use crate::core::compare;
use crate::core::fields::Comparer;
use crate::core::value::Value;

/// The most numbers that one `range` gives.
const LONGEST_RANGE: usize = 100_000;

/// Functions without an end of their own, by name and number of arguments.
const ENDLESS: [(&str, usize); 5] =
    [("repeat", 1), ("recurse", 1), ("recurse", 2), ("while", 2), ("until", 2)];

/// Why a call is refused although the function is there.
pub fn refusal(name: &str, arguments: usize) -> Option<String> {
    ENDLESS
        .contains(&(name, arguments))
        .then(|| format!("`{name}` has no end of its own and is not available"))
}

/// Native functions that reach outside, that never end, or that have a bounded form below.
const WITHOUT: [&str; 21] = [
    "env",
    "now",
    "debug_empty",
    "stderr_empty",
    "halt",
    "localtime",
    "strflocaltime",
    "gmtime",
    "mktime",
    "strftime",
    "strptime",
    "fromdateiso8601",
    "todateiso8601",
    "jn",
    "yn",
    "lgamma_r",
    "range",
    "fromjson",
    "matches",
    "split_matches",
    "split_",
];

/// Definitions of the standard library that call what is left out.
const WITHOUT_DEFS: [&str; 7] =
    ["stderr", "debug", "halt", "halt_error", "todate", "fromdate", "combinations"];

/// Definitions, by name and number of arguments, that are native functions here.
const NATIVE_DEFS: [(&str, usize); 2] = [("test", 2), ("sub", 3)];

/// The native functions.
pub fn natives() -> impl Iterator<Item = Fun<Jaq>> {
    let theirs = jaq_core::funs::<Jaq>().chain(jaq_std::funs::<Jaq>()).chain(jaq_json::funs::<Jaq>());
    theirs.filter(|(name, ..)| !WITHOUT.contains(name)).chain(ours()).chain(regex::natives())
}

/// The functions that are written in jq, parsed once.
pub fn definitions<'s>() -> impl Iterator<Item = Def<&'s str>> {
    static DEFS: LazyLock<Vec<Def<&'static str>>> = LazyLock::new(|| {
        let theirs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let prelude = load::parse(include_str!("prelude.jq"), |p| p.defs()).expect("the prelude parses");
        let is_ours = |def: &Def<&str>| NATIVE_DEFS.contains(&(def.name, def.args.len()));
        theirs.filter(|def| !WITHOUT_DEFS.contains(&def.name) && !is_ours(def)).chain(prelude).collect()
    });
    DEFS.iter().map(shorter)
}

/// The same definition, beside definitions that do not live as long.
fn shorter<'s>(def: &Def<&'static str>) -> Def<&'s str> {
    def.clone()
}

fn ours() -> Vec<Fun<Jaq>> {
    let meter = Native::<Jaq>::new(|cv| bome(cv.0.data().check(&cv.1).map(|()| cv.1)))
        .with_paths(|cv| {
            let checked = cv.0.data().check(&cv.1.0);
            box_once(checked.map(|()| cv.1).map_err(Exn::from))
        })
        .with_update(|cv, f| match cv.0.data().check(&cv.1) {
            Ok(()) => f(cv.1),
            Err(e) => box_once(Err(Exn::from(e))),
        });
    vec![
        (METER, v(0), meter),
        run((TIMES, v(1), |cv| unary(cv, times))),
        run(("fromjson", v(0), |cv| bome(from_json(&cv.1)))),
        run(("range", v(3), |mut cv| {
            let (by, to, from) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
            Box::new(range(from, to, by).map(|r| r.map_err(Exn::from)))
        })),
        run(("quantity", v(0), |cv| bome(Ok(normal(&Comparer::Quantity, cv.1))))),
        run(("duration", v(0), |cv| bome(Ok(normal(&Comparer::Duration, cv.1))))),
        run(("timestamp", v(0), |cv| bome(Ok(normal(&Comparer::Timestamp, cv.1))))),
        run(("cidr", v(0), |cv| bome(Ok(normal(&Comparer::Cidr, cv.1))))),
        run(("url", v(0), |cv| bome(Ok(normal(&Comparer::Url, cv.1))))),
    ]
}

/// What a comparer of single values makes of one; whatever is no text and no number stays as it is.
fn normal(comparer: &Comparer, val: Val) -> Val {
    match &val {
        Val::TStr(_) | Val::Num(_) => {
            from_val(&val).map_or_else(|_| val.clone(), |value| to_val(&compare::fold(comparer, &value)))
        }
        _ => val,
    }
}

/// `l * r`, unless it would repeat a text beyond the limit.
fn times(left: Val, right: Val) -> Result<Val, Error<Val>> {
    if let (Val::TStr(text) | Val::BStr(text), Val::Num(n))
    | (Val::Num(n), Val::TStr(text) | Val::BStr(text)) = (&left, &right)
    {
        let times = n.as_isize().unwrap_or(isize::MAX);
        if times > 0 && text.len().saturating_mul(times as usize) > MAX_BYTES {
            return Err(Error::str(format_args!("a text would be repeated beyond {MAX_BYTES} bytes")));
        }
    }
    left * right
}

/// One JSON text, nested no deeper than any other value, with its digits kept.
fn from_json(val: &Val) -> Result<Val, Error<Val>> {
    let (Val::TStr(bytes) | Val::BStr(bytes)) = val else {
        return Err(Error::typ(val.clone(), "string"));
    };
    let value: Value =
        serde_json::from_slice(bytes).map_err(|_| Error::str("cannot parse a text as JSON"))?;
    Ok(to_val(&value))
}

/// The numbers from `from` to before `to` in steps of `by`, as jq's `range`.
fn range(from: Val, to: Val, by: Val) -> impl Iterator<Item = Result<Val, Error<Val>>> {
    let zero = Val::from(0usize);
    let mut next = Some(from);
    let mut given = 0;
    std::iter::from_fn(move || {
        let now = next.take()?;
        let more = if by > zero { now < to } else { by < zero && now > to };
        if !more {
            return None;
        }
        given += 1;
        if given > LONGEST_RANGE {
            return Some(Err(Error::str(format_args!("`range` goes over {LONGEST_RANGE} numbers"))));
        }
        match now.clone() + by.clone() {
            Ok(following) => {
                next = Some(following);
                Some(Ok(now))
            }
            Err(e) => Some(Err(e)),
        }
    })
}
