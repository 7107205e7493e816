//! Numbers and names as people read them.

use std::time::Duration;

/// `1001` as `1,001`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 object`, `1,001 objects`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number as u64))
}

/// `0.2 s`, `75 s`: tenths up to a minute.
pub fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(60) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} s", grouped(time.as_secs()))
    }
}

/// `3h 2m`: whole minutes, or seconds where there are none.
pub fn roughly(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    let whole = if minutes > 0 { minutes * 60 } else { time.as_secs() };
    humantime::format_duration(Duration::from_secs(whole)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_nouns_agree() {
        let groups = [(0, "0"), (999, "999"), (1_001, "1,001"), (1_234_567, "1,234,567")];
        for (number, text) in groups {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "object"), "1 object");
        assert_eq!(counted(1_000, "request"), "1,000 requests");
        assert_eq!(seconds(Duration::from_millis(210)), "0.2 s");
        assert_eq!(seconds(Duration::from_secs(75)), "75 s");
        assert_eq!(roughly(Duration::from_secs(26 * 3600 + 59)), "1day 2h");
        assert_eq!(roughly(Duration::from_secs(59)), "59s");
    }
}
