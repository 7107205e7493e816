//! Plain scalars by the core schema of YAML 1.2 (section 10.3.2), strictly: what YAML 1.1 reads as another
//! number is an error that names both readings, and numbers keep every digit.
//!
//! Knows texts only: no positions, no parser.

use crate::core::problem::Problem;
use crate::core::value::Number;

/// What a plain scalar says.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Nothing is written.
    Empty,
    Null,
    Bool(bool),
    Number(Number),
    Text,
}

/// Reads a plain scalar.
///
/// # Errors
/// A number that parsers read in different ways, or one that JSON does not have; without a place.
pub fn read(text: &str) -> Result<Scalar, Problem> {
    let Some(first) = text.bytes().next() else { return Ok(Scalar::Empty) };
    // Nearly every scalar is text, and nearly all of those are known by their first letter.
    if !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.' | b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F') {
        return Ok(Scalar::Text);
    }
    match text {
        "~" | "null" | "Null" | "NULL" => return Ok(Scalar::Null),
        "true" | "True" | "TRUE" => return Ok(Scalar::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Scalar::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !matches!(unsigned.bytes().next(), Some(b'0'..=b'9' | b'.')) {
        return Ok(Scalar::Text);
    }
    not_in_json(text, unsigned)?;
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(text, digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(text, digits, 8);
    }
    two_readings(text, unsigned)?;
    Ok(decimal(text, unsigned).map_or(Scalar::Text, Scalar::Number))
}

/// What a reader of YAML 1.1 takes a plain scalar for, where that is something else than it is here.
pub fn other_reading(text: &str) -> Option<&'static str> {
    match text.as_bytes() {
        [b'n' | b'N' | b'o' | b'O' | b'y' | b'Y', _] | [b'o' | b'O' | b'y' | b'Y', _, _] => {
            let known = ["no", "on", "yes", "off"].iter().any(|word| word.eq_ignore_ascii_case(text));
            (known && one_case(text)).then_some("a boolean")
        }
        [b'0'..=b'9' | b'-' | b'+', ..] if is_base_60(text) => Some("a number in base 60"),
        [b'0'..=b'9' | b'-' | b'+', ..] if is_whole_with_exponent(text) => Some("a text"),
        _ => None,
    }
}

/// `no`, `No`, `NO`, and not `nO`.
fn one_case(text: &str) -> bool {
    let tail = &text[1..];
    let upper = tail.bytes().all(|b| b.is_ascii_uppercase());
    let lower = tail.bytes().all(|b| b.is_ascii_lowercase());
    lower || (upper && text.as_bytes()[0].is_ascii_uppercase())
}

/// `12:30`, `1:59:59`: digits, then groups of at most 59.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut groups = unsigned.split(':');
    let head = groups.next().is_some_and(|head| !head.starts_with('0') && all_digits(head));
    let mut tail = groups.peekable();
    let group = |text: &str| match text.as_bytes() {
        [one] => one.is_ascii_digit(),
        [tens, one] => matches!(tens, b'0'..=b'5') && one.is_ascii_digit(),
        _ => false,
    };
    head && tail.peek().is_some() && tail.all(group)
}

/// `1e3`, `12E-7`: YAML 1.1 wants a point in a number with an exponent.
fn is_whole_with_exponent(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    unsigned.split_once(['e', 'E']).is_some_and(|(mantissa, exponent)| {
        all_digits(mantissa) && all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
    })
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Infinity and "not a number".
fn not_in_json(text: &str, unsigned: &str) -> Result<(), Problem> {
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {}
        ".nan" | ".NaN" | ".NAN" if text == unsigned => {}
        _ => return Ok(()),
    }
    let problem = Problem::new(format!("`{text}` is a number that JSON does not have"));
    Err(problem.hint(format!("if the text is meant, write \"{text}\"")))
}

/// `017` (15 or 17?) and `1_000` (1000 or a text?).
fn two_readings(text: &str, unsigned: &str) -> Result<(), Problem> {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let leading_zero = unsigned.len() > 1
        && unsigned.starts_with('0')
        && unsigned.as_bytes()[1].is_ascii_digit()
        && unsigned.bytes().all(|b| b.is_ascii_digit());
    if leading_zero {
        let plain = format!("{sign}{}", stripped(unsigned));
        let octal = u128::from_str_radix(unsigned, 8).ok().map(|n| format!("{sign}{n}"));
        let problem = match octal.filter(|octal| *octal != plain) {
            Some(octal) => Problem::new(format!(
                "the number `{text}` has two readings: {octal} (octal, YAML 1.1) and {plain} (YAML 1.2)"
            ))
            .hint(format!("write `{octal}` or `{plain}`, or \"{text}\" for the text")),
            None => Problem::new(format!(
                "`{text}` has two readings: the text \"{text}\" and the number {plain}, as YAML 1.2 has it"
            ))
            .hint(format!("write `{plain}`, or \"{text}\" for the text")),
        };
        return Err(problem);
    }
    let grouped = unsigned.contains('_')
        && unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'_' | b'.'))
        && unsigned.bytes().filter(|b| *b == b'.').count() <= 1;
    if grouped {
        let number = text.replace('_', "");
        let problem = Problem::new(format!(
            "`{text}` has two readings: the number {number} (YAML 1.1) and the text \"{text}\" (YAML 1.2)"
        ));
        return Err(problem.hint(format!("write `{number}`, or \"{text}\" for the text")));
    }
    Ok(())
}

/// Without leading zeros, and never empty.
fn stripped(digits: &str) -> &str {
    let stripped = digits.trim_start_matches('0');
    if stripped.is_empty() { "0" } else { stripped }
}

/// `0x1F` and `0o17`, in decimal.
fn radix(text: &str, digits: &str, radix: u32) -> Result<Scalar, Problem> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Ok(Scalar::Text);
    }
    match u128::from_str_radix(digits, radix) {
        Ok(number) => Ok(number.to_string().parse().map_or(Scalar::Text, Scalar::Number)),
        Err(_) => Err(Problem::new(format!("the number `{text}` has more than 128 bits"))
            .hint(format!("write it in decimal, or \"{text}\" for the text"))),
    }
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`, spelled as JSON does.
fn decimal(text: &str, unsigned: &str) -> Option<Number> {
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], &unsigned[at..]),
        None => (unsigned, ""),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if !exponent.is_empty() && !all_digits(exponent[1..].strip_prefix(['+', '-']).unwrap_or(&exponent[1..])) {
        return None;
    }
    let as_json = !text.starts_with('+')
        && !whole.is_empty()
        && (whole.len() == 1 || !whole.starts_with('0'))
        && (!fraction.is_empty() || !mantissa.ends_with('.'));
    if as_json {
        return text.parse().ok();
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}{exponent}", stripped(whole)).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Scalar {
        Scalar::Number(text.parse().expect("a JSON number"))
    }

    #[test]
    fn the_core_schema() {
        for text in [
            "no",
            "on",
            "yes",
            "off",
            "y",
            "12:30",
            "12:30:45",
            "2026-01-01",
            "=",
            "<",
            "1.2.3",
            "10.0.0.1",
            "-",
            "+",
            ".",
            "..",
            "-.",
            "e5",
            "1e",
            "1e+",
            "0x",
            "0xG",
            "-0x1F",
            "0o8",
            "0b11",
            "1 000",
            "nULL",
            "tRUE",
            "_1",
            "1a",
            "-a",
            "+.",
            "1.e",
            ".e3",
            ".infinity",
            "+.nan",
            "1_000a",
            "٣",
        ] {
            assert_eq!(read(text), Ok(Scalar::Text), "{text}");
        }
        for (text, want) in [
            ("", Scalar::Empty),
            ("~", Scalar::Null),
            ("NULL", Scalar::Null),
            ("True", Scalar::Bool(true)),
            ("FALSE", Scalar::Bool(false)),
            ("0", number("0")),
            ("-0", number("-0")),
            ("+12", number("12")),
            ("0x1F", number("31")),
            ("0o17", number("15")),
            ("1.10", number("1.10")),
            ("01.5", number("1.5")),
            (".5", number("0.5")),
            ("-.5", number("-0.5")),
            ("5.", number("5")),
            ("1e3", number("1e3")),
            ("18446744073709551616", number("18446744073709551616")),
            ("0.10000000000000000000000001", number("0.10000000000000000000000001")),
        ] {
            assert_eq!(read(text), Ok(want), "{text}");
        }
    }

    #[test]
    fn two_readings_are_errors_that_name_both() {
        for (text, message, hint) in [
            ("017", "15 (octal, YAML 1.1) and 17 (YAML 1.2)", "write `15` or `17`, or \"017\" for the text"),
            (
                "-017",
                "-15 (octal, YAML 1.1) and -17 (YAML 1.2)",
                "write `-15` or `-17`, or \"-017\" for the text",
            ),
            ("089", "the text \"089\" and the number 89", "write `89`, or \"089\" for the text"),
            ("00", "the text \"00\" and the number 0", "write `0`, or \"00\" for the text"),
            (
                "1_000",
                "the number 1000 (YAML 1.1) and the text \"1_000\" (YAML 1.2)",
                "write `1000`, or \"1_000\" for the text",
            ),
            ("1_000.5", "the number 1000.5 (YAML 1.1)", "write `1000.5`, or \"1_000.5\" for the text"),
            (".inf", "`.inf` is a number that JSON does not have", "if the text is meant, write \".inf\""),
            ("-.INF", "`-.INF` is a number that JSON does not have", "if the text is meant, write \"-.INF\""),
            (".nan", "`.nan` is a number that JSON does not have", "if the text is meant, write \".nan\""),
            ("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "more than 128 bits", "write it in decimal, or"),
        ] {
            let problem = read(text).expect_err(text);
            assert!(problem.message.contains(message), "{text}: {}", problem.message);
            assert!(
                problem.hint.as_deref().is_some_and(|have| have.contains(hint)),
                "{text}: {:?}",
                problem.hint
            );
        }
    }

    #[test]
    fn what_yaml_1_1_reads_otherwise() {
        for text in ["no", "NO", "On", "off", "YES"] {
            assert_eq!(other_reading(text), Some("a boolean"), "{text}");
        }
        for text in ["12:30", "1:59:59", "-22:22"] {
            assert_eq!(other_reading(text), Some("a number in base 60"), "{text}");
        }
        assert_eq!(other_reading("12e45"), Some("a text"));
        for text in
            ["nO", "oN", "true", "text", "12:60", "01:30", "12:", ":30", "12:30:", "", "n", "1.10", "é:"]
        {
            assert_eq!(other_reading(text), None, "{text}");
        }
    }
}
