//! Days of the calendar, as files write them: `2026-12-31` (RFC 3339, `full-date`).

use std::fmt;
use std::str::FromStr;

use super::compare::timestamp::days_in;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// A text that is no day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a day is written `2026-12-31`, and must be one of the calendar")]
pub struct NotADate;

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Date, NotADate> {
        let is_written_so = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !is_written_so {
            return Err(NotADate);
        }
        let number = |text: &str| text.parse::<u16>().map_err(|_| NotADate);
        let (year, month, day) = (number(&text[..4])?, number(&text[5..7])?, number(&text[8..])?);
        let is_one = (1..=12).contains(&month)
            && (1..=days_in(i64::from(year), i64::from(month))).contains(&i64::from(day));
        match (u8::try_from(month), u8::try_from(day)) {
            (Ok(month), Ok(day)) if is_one => Ok(Date { year, month, day }),
            _ => Err(NotADate),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_in_their_order() {
        for text in ["2026-12-31", "2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(text.parse::<Date>().map(|date| date.to_string()).as_deref(), Ok(text));
        }
        for text in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-04-31",
            "26-01-01",
            "2026-1-1",
            "2026/01/01",
            "2026-01-01T",
            "+026-01-01",
            "",
            "２026-01-1",
        ] {
            assert_eq!(text.parse::<Date>(), Err(NotADate), "{text}");
        }
        let day = |text: &str| text.parse::<Date>().expect("a day");
        assert!(day("2026-09-30") < day("2026-10-01") && day("2026-12-31") < day("2027-01-01"));
    }
}
