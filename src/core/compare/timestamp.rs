//! RFC 3339 instants: `2026-01-01T01:00:00+01:00` = `2026-01-01T00:00:00Z` = `2026-01-01 00:00:00.000z`.
//!
//! An offset moves whole minutes, so a leap second stays a leap second and a fraction keeps every digit.

use crate::core::value::Value;

/// The instant in UTC, without trailing zeros in the fraction.
pub(super) fn normal(text: &str) -> Option<Value> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 20 {
        return None;
    }
    let punctuated = bytes[4] == b'-'
        && bytes[7] == b'-'
        && matches!(bytes[10], b'T' | b't' | b' ')
        && bytes[13] == b':'
        && bytes[16] == b':';
    if !punctuated {
        return None;
    }
    let year = digits(&text[..4])?;
    let month = digits(&text[5..7]).filter(|month| (1..=12).contains(month))?;
    let day = digits(&text[8..10]).filter(|day| (1..=days_in(year, month)).contains(day))?;
    let hour = digits(&text[11..13]).filter(|hour| *hour < 24)?;
    let minute = digits(&text[14..16]).filter(|minute| *minute < 60)?;
    let second = digits(&text[17..19]).filter(|second| *second <= 60)?;
    let (fraction, zone) = split_fraction(&text[19..])?;
    let minutes = days_from_epoch(year, month, day) * 1440 + hour * 60 + minute - offset(zone)?;
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = date(days);
    Some(Value::String(format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{second:02}{fraction}Z",
        minute / 60,
        minute % 60,
    )))
}

fn digits(text: &str) -> Option<i64> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The fraction with its point and without trailing zeros, and what follows it.
fn split_fraction(text: &str) -> Option<(&str, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some(("", text)) };
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    if end == 0 {
        return None;
    }
    let significant = rest[..end].trim_end_matches('0').len();
    let fraction = if significant == 0 { "" } else { &text[..=significant] };
    Some((fraction, &rest[end..]))
}

/// Minutes east of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let hours = digits(hours).filter(|hours| *hours < 24)?;
    Some(sign * (hours * 60 + digits(minutes).filter(|minutes| *minutes < 60)?))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(crate) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 0000-01-01 of the proleptic Gregorian calendar.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leaps = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) + 1;
    year * 365 + leaps + (1..month).map(|month| days_in(year, month)).sum::<i64>() + day - 1
}

/// The date of a day so counted.
fn date(days: i64) -> (i64, i64, i64) {
    let mut year = days.div_euclid(366);
    while days_from_epoch(year + 1, 1, 1) <= days {
        year += 1;
    }
    let mut day = days - days_from_epoch(year, 1, 1) + 1;
    let mut month = 1;
    while day > days_in(year, month) {
        day -= days_in(year, month);
        month += 1;
    }
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use crate::core::fields::Comparer;

    #[test]
    fn timestamps_are_instants() {
        check(
            &Comparer::Timestamp,
            &[
                &[
                    "2026-01-01T00:00:00Z",
                    "2026-01-01T01:00:00+01:00",
                    "2025-12-31T19:00:00-05:00",
                    "2026-01-01 00:00:00.000z",
                    "2026-01-01T00:00:00-00:00",
                ],
                &["2024-02-29T23:30:00-01:00", "2024-03-01T00:30:00Z"],
                &["2023-02-28T23:30:00-01:00", "2023-03-01T00:30:00Z"],
                &["2026-01-01T00:00:00.1200Z", "2026-01-01T00:00:00.12Z"],
                &["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00"],
                &["0000-01-01T00:00:00Z", "0000-01-01T00:30:00+00:30"],
            ],
            &[
                ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
                ("2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.10000000000000000001Z"),
                ("2026-02-29T00:00:00Z", "2026-03-01T00:00:00Z"),
                ("2026-01-01T00:00:00", "2026-01-01T00:00:00Z"),
                ("2026-01-01", "2026-01-01T00:00:00Z"),
                ("2026-01-01T00:00:00.Z", "2026-01-01T00:00:00Z"),
                ("2026-01-01T24:00:00Z", "2026-01-02T00:00:00Z"),
            ],
        );
    }

    #[test]
    fn days_and_dates_agree() {
        for days in (-800..800).chain(699_000..740_000) {
            let (year, month, day) = date(days);
            assert_eq!(days_from_epoch(year, month, day), days);
        }
        assert_eq!(days_from_epoch(1970, 1, 1), 719_528);
    }
}
