//! Values into `jaq`'s and back, with every digit of a number kept.
//!
//! `jaq` keeps machine integers, big integers and the text of other numbers, so a number that a filter only
//! passes on comes out as it went in.

use jaq_core::ValT as _;
use jaq_json::{Num, Val};

use super::meter::MAX_DEPTH;
use crate::core::value::{Map, Number, Value};

/// Whole numbers longer than this are kept as text: reading and printing them would take quadratic time.
const LONGEST_INTEGER: usize = 10_000;

/// A value for a filter to work on.
pub fn to_val(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(b) => Val::Bool(*b),
        Value::Number(n) if n.as_str().len() > LONGEST_INTEGER => {
            Val::Num(Num::Dec(n.as_str().to_owned().into()))
        }
        Value::Number(n) => Val::from_num(n.as_str()).unwrap_or_default(),
        Value::String(s) => Val::utf8_str(s.clone()),
        Value::Array(items) => items.iter().map(to_val).collect(),
        Value::Object(map) => {
            Val::obj(map.iter().map(|(name, value)| (Val::utf8_str(name.clone()), to_val(value))).collect())
        }
    }
}

/// A value that a filter gave. Its size has been checked (see `meter`).
///
/// # Errors
/// It is nothing that JSON can say: infinite, not a number, bytes, a member whose name is no text, too deep.
pub fn from_val(val: &Val) -> Result<Value, String> {
    value_at(val, 0)
}

fn value_at(val: &Val, depth: usize) -> Result<Value, String> {
    if depth > MAX_DEPTH {
        return Err(format!("its output is nested more than {MAX_DEPTH} deep"));
    }
    Ok(match val {
        Val::Null => Value::Null,
        Val::Bool(b) => Value::Bool(*b),
        Val::Num(n) => Value::Number(number(n)?),
        Val::TStr(_) => Value::String(text(val)?),
        Val::BStr(_) => return Err("its output holds bytes, which JSON cannot say".into()),
        Val::Arr(items) => {
            Value::Array(items.iter().map(|item| value_at(item, depth + 1)).collect::<Result<_, _>>()?)
        }
        Val::Obj(members) => {
            let mut map = Map::new();
            for (name, member) in members.iter() {
                map.insert(text(name)?, value_at(member, depth + 1)?);
            }
            Value::Object(map)
        }
    })
}

fn text(val: &Val) -> Result<String, String> {
    match val {
        Val::TStr(bytes) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Err("its output has a member whose name is not a text".into()),
    }
}

fn number(num: &Num) -> Result<Number, String> {
    match num {
        Num::Int(n) => Ok(Number::from(*n as i64)),
        Num::Float(f) => float(*f),
        Num::BigInt(n) => parsed(&n.to_string()),
        Num::Dec(digits) => digits.parse().or_else(|_| float(digits.parse().unwrap_or(f64::NAN))),
    }
}

fn parsed(digits: &str) -> Result<Number, String> {
    digits.parse().map_err(|_| "its output holds a number that JSON cannot say".into())
}

/// A result of floating-point work; a whole one is written without a fraction.
fn float(f: f64) -> Result<Number, String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if f.fract() == 0.0 && f.abs() <= EXACT {
        return Ok(Number::from(f as i64));
    }
    Number::from_f64(f).ok_or_else(|| "its output holds a number that JSON cannot say".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_went() {
        let long = format!("[{}]", "7".repeat(20_000));
        for text in [
            "null",
            "[true,false]",
            "0",
            "-1",
            "1.10",
            "1e400",
            "1E-2",
            "9007199254740993",
            "18446744073709551616",
            "-123456789012345678901234567890",
            "0.10000000000000000000000001",
            r#"{"a b":{"":"\u0000é😀"}}"#,
            &long,
        ] {
            let value: Value = serde_json::from_str(text).expect(text);
            assert_eq!(from_val(&to_val(&value)), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_json_cannot_say_is_an_error() {
        for val in [Val::from(f64::NAN), Val::from(f64::INFINITY), Val::byte_str("x")] {
            assert!(from_val(&val).is_err(), "{val}");
        }
        assert_eq!(from_val(&Val::from(3.0)), Ok(Value::from(3)));
        assert_eq!(from_val(&Val::from(0.5)), Ok(Value::from(0.5)));
    }
}
