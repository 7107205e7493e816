//! Dates, from and to the text in which a status document has them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The last second of the year 9999: what comes later has no text.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// `2026-12-01T12:00:00Z`, of a time since 1970.
pub fn date(since_1970: Duration) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + since_1970.min(LAST)).to_string()
}

/// `2026-12-01T12:00:00.123Z`
pub fn date_in_millis(since_1970: Duration) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + since_1970.min(LAST)).to_string()
}

/// The time since 1970 of a date; `None` where it is none.
pub fn read(date: &str) -> Option<Duration> {
    let time: SystemTime = humantime::parse_rfc3339(date).ok()?;
    time.duration_since(UNIX_EPOCH).ok()
}

/// `3m 4s`, `2h 5m`, `4d 1h`: the two largest units, so that a column stays narrow.
pub fn short(time: Duration) -> String {
    let seconds = time.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, _, _) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_read() {
        let time = Duration::from_millis(1_796_126_400_250);
        assert_eq!(date(time), "2026-12-01T12:00:00Z");
        assert_eq!(date_in_millis(time), "2026-12-01T12:00:00.250Z");
        assert_eq!(read(&date_in_millis(time)), Some(time));
        assert_eq!(read("yesterday"), None);
        assert_eq!(date(Duration::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn spans_have_two_units() {
        for (seconds, text) in [(0, "0s"), (184, "3m 4s"), (7_500, "2h 5m"), (350_000, "4d 1h")] {
            assert_eq!(short(Duration::from_secs(seconds)), text);
        }
    }
}
