//! Durations: `90s` = `1m30s` = `1 min 30 sec` = `PT1M30S`.
//!
//! Three spellings are read: Go's (`1h30m`, `1.5h`), with longer unit names and spaces too, and ISO 8601's
//! (`PT1M30S`) as far as it is exact; a month or a year has no fixed length and stays text. A bare number has
//! no unit and stays what it is.

use crate::core::value::Value;

/// 10^-18 seconds: fine enough for nine decimals of a nanosecond, and `u128` holds 10^13 years of them.
const SECOND: u128 = 1_000_000_000_000_000_000;

/// `PT…S`, with as many decimals as it takes.
pub(super) fn normal(text: &str) -> Option<Value> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let total = match rest.strip_prefix(['P', 'p']) {
        Some(iso) => iso_8601(iso)?,
        None if rest == "0" => 0,
        None => units(rest, unit)?,
    };
    let sign = if negative && total > 0 { "-" } else { "" };
    let fraction = format!("{:018}", total % SECOND);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(Value::String(format!("{sign}PT{}{point}{fraction}S", total / SECOND)))
}

/// What follows the `P`: days and weeks, then after a `T` hours, minutes and seconds.
fn iso_8601(text: &str) -> Option<u128> {
    let upper = text.to_ascii_uppercase().replace(',', ".");
    let (date, time) = match upper.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (upper.as_str(), ""),
    };
    if date.is_empty() && time.is_empty() || upper.contains(' ') {
        return None;
    }
    let days = |name: &str| match name {
        "W" => Some(7 * 86_400 * SECOND),
        "D" => Some(86_400 * SECOND),
        _ => None,
    };
    let clock = |name: &str| match name {
        "H" => Some(3_600 * SECOND),
        "M" => Some(60 * SECOND),
        "S" => Some(SECOND),
        _ => None,
    };
    let part = |text: &str, unit: &dyn Fn(&str) -> Option<u128>| match text {
        "" => Some(0),
        text => units(text, unit),
    };
    part(date, &days)?.checked_add(part(time, &clock)?)
}

fn unit(name: &str) -> Option<u128> {
    Some(match name {
        "ns" | "nsec" => SECOND / 1_000_000_000,
        "us" | "\u{b5}s" | "\u{3bc}s" | "usec" => SECOND / 1_000_000,
        "ms" | "msec" => SECOND / 1_000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600 * SECOND,
        "d" | "day" | "days" => 86_400 * SECOND,
        "w" | "week" | "weeks" => 7 * 86_400 * SECOND,
        _ => return None,
    })
}

/// A run of numbers with units, at least one.
fn units(text: &str, unit: impl Fn(&str) -> Option<u128>) -> Option<u128> {
    let mut total = 0u128;
    let mut rest = text;
    loop {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        total = total.checked_add(scaled(number, unit(name)?)?)?;
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(total);
        }
    }
}

/// A decimal number times a unit, when the result is exact.
fn scaled(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u128>().ok()? };
    let fraction = fraction.trim_end_matches('0');
    let parts = if fraction.is_empty() { 0 } else { fraction.parse::<u128>().ok()?.checked_mul(unit)? };
    let ten = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    if parts % ten != 0 {
        return None;
    }
    whole.checked_mul(unit)?.checked_add(parts / ten)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use crate::core::fields::Comparer;

    #[test]
    fn durations_are_lengths_of_time() {
        check(
            &Comparer::Duration,
            &[
                &["90s", "1m30s", "1.5m", "PT1M30S", "PT90S", "1 min 30 sec", "90000ms", "pt1,5m"],
                &["24h", "1d", "P1D", "PT24H", "1 day"],
                &["P1W", "7d", "168h0m0s"],
                &["\"0\"", "0s", "-0s", "PT0S", "P0D"],
                &["1us", "1\u{b5}s", "1000ns", "0.000001s"],
                &["-1h", "-60m"],
                &["P1M", "P1M"],
            ],
            &[
                ("1m", "1ms"),
                ("1s", "-1s"),
                ("P1M", "PT1M"),
                ("90", "\"90s\""),
                ("P", "PT0S"),
                ("PT", "PT0S"),
                ("1.0000000000000000001s", "1s"),
                ("99999999999999999999999999999999999999999h", "1h"),
                ("soon", "later"),
            ],
        );
    }
}
