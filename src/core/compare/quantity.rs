//! Kubernetes quantities: `1000m` = `1`, `1Gi` = `1073741824`, `"2"` = `2`.
//!
//! The grammar is the one of the Kubernetes API reference ("Quantity"): a decimal number with a decimal
//! suffix, a binary suffix or an exponent. Arithmetic is on digits, so no quantity is too large or too small.

use crate::core::value::{Value, canonical};

/// More digits than this are no quantity that a server could hold.
const LONGEST: usize = 1000;

/// The exact number that the quantity stands for.
pub(super) fn normal(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(canonical(value)),
        Value::String(text) => number(text.trim()),
        _ => None,
    }
}

fn number(text: &str) -> Option<Value> {
    if text.len() > LONGEST {
        return None;
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (mantissa, suffix) = rest.split_at(end);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let (factor, power) = scale(suffix)?;
    let digits = times(&format!("{whole}{fraction}"), factor);
    let power = power.checked_sub(fraction.len() as i64)?;
    let sign = if negative { "-" } else { "" };
    format!("{sign}{digits}e{power}").parse().ok().map(|number| canonical(&Value::Number(number)))
}

/// A suffix as a whole factor and a power of ten.
fn scale(suffix: &str) -> Option<(u64, i64)> {
    Some(match suffix {
        "n" => (1, -9),
        "u" => (1, -6),
        "m" => (1, -3),
        "" => (1, 0),
        "k" => (1, 3),
        "M" => (1, 6),
        "G" => (1, 9),
        "T" => (1, 12),
        "P" => (1, 15),
        "E" => (1, 18),
        "Ki" => (1 << 10, 0),
        "Mi" => (1 << 20, 0),
        "Gi" => (1 << 30, 0),
        "Ti" => (1 << 40, 0),
        "Pi" => (1 << 50, 0),
        "Ei" => (1 << 60, 0),
        exponent => (1, exponent.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?.into()),
    })
}

/// Decimal digits times a factor, without leading zeros: JSON knows none.
fn times(digits: &str, factor: u64) -> String {
    let mut carry = 0u128;
    let mut product: Vec<u8> = Vec::with_capacity(digits.len() + 20);
    for digit in digits.bytes().rev() {
        carry += u128::from(digit - b'0') * u128::from(factor);
        product.push((carry % 10) as u8 + b'0');
        carry /= 10;
    }
    while carry > 0 {
        product.push((carry % 10) as u8 + b'0');
        carry /= 10;
    }
    while product.len() > 1 && product.last() == Some(&b'0') {
        product.pop();
    }
    product.iter().rev().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use crate::core::fields::Comparer;

    #[test]
    fn quantities_are_numbers() {
        check(
            &Comparer::Quantity,
            &[
                &["1", "\"1\"", "1000m", "1.0", "1e0", "1000000u", "0.001k", "+1"],
                &["1Gi", "1073741824", "1024Mi", "1048576Ki"],
                &["0.5Gi", "512Mi", ".5Gi"],
                &["16Ei", "18446744073709551616"],
                &["\"0\"", "0m", "-0", "00"],
                &["-1500m", "-1.5"],
                &["12e6", "12M", "12E6"],
                &["nonsense", "nonsense"],
            ],
            &[
                ("1Gi", "1G"),
                ("1m", "1M"),
                ("18446744073709551616", "18446744073709551617"),
                ("1.2.3", "1.2"),
                ("1 Gi", "1Gi"),
                ("", "0"),
                ("1e", "1"),
            ],
        );
    }
}
