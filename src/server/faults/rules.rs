//! The rules file of injected faults.
//!
//! ```yaml
//! seed: 7
//! rules:
//! - match: {method: POST, path: /teams, nth: 2}
//!   fault: {status: {status: 500, at: after}}       # committed, and answered with an error
//! - match: {path: "/teams/**", probability: 0.1, count: 5}
//!   fault: {drop: before}
//! ```

use std::time::Duration;

use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use serde_yaml::with::singleton_map;

use crate::core::value::{Map, Value};

/// A rules file, or the body of `PUT /_faults`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Of the pseudo-random numbers behind `probability`.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub rules: Vec<Rule>,
}

/// One fault, and when it happens. All rules that fire on a request apply, in their order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(rename = "match", default)]
    pub when: When,
    #[serde(with = "singleton_map")]
    pub fault: Fault,
}

/// Which requests, and which of those. All that is given must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// Any, if left out.
    pub method: Option<String>,
    /// The path as sent, without the query; `*` stands for one segment or a part of it, `**` for any rest.
    pub path: Option<String>,
    /// Only the n-th matching request, from 1.
    pub nth: Option<u64>,
    /// Only each k-th matching request.
    pub every: Option<u64>,
    /// Only so often, from 0 to 1.
    pub probability: Option<f64>,
    /// At most so many times.
    pub count: Option<u64>,
}

/// What happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Another answer.
    Status(Answer),
    /// Nothing for so long, then what else applies.
    #[serde(with = "humantime_text")]
    Delay(Duration),
    /// The connection ends without an answer.
    Drop(Moment),
    /// The connection ends after so many bytes of the body.
    Truncate(usize),
    /// `200` with this page, as a login page or a captive portal gives.
    Html(String),
    Redirect(Redirect),
    /// What this request changes is not shown by the next reads: they see what was there before.
    Hide(Hide),
    /// A listing's `next` is the cursor that it was asked with.
    RepeatCursor(Yes),
    /// A listing's `total`.
    Total(u64),
    /// The answer that the same read had the last time. Nothing before the second read.
    Stale(Yes),
    /// The connection ends, and the request is carried out later, after newer ones.
    Late(Late),
    /// Delivered twice, as a proxy does that tries again. The second answer is given.
    Twice(Yes),
    /// So long before each byte of the body.
    #[serde(with = "humantime_text")]
    Drip(Duration),
    /// `200` with so many blanks for a body, whose length is not announced.
    Flood(u64),
    /// Somebody else's request, carried out before this one. It is not in the log.
    Meanwhile(Other),
    /// The server keeps other values than it was sent: these members take the place of the body's; `null` leaves
    /// one out.
    Stored(Map<String, Value>),
    /// An empty page comes first, and leads to the one that was asked for.
    EmptyPage(Yes),
}

/// A request of somebody else.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Other {
    pub method: String,
    pub path: String,
    /// JSON; a merge patch where the method is PATCH.
    #[serde(default)]
    pub body: Map<String, Value>,
}

/// When a lost request is carried out after all.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Late {
    /// Behind so many further requests, from 1, before the last of them is answered.
    pub after: u64,
    /// Only requests with this method count; all, if left out.
    #[serde(rename = "of")]
    pub method: Option<String>,
}

/// Before the request is carried out, in place of it; or after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    #[default]
    Before,
    After,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Answer {
    pub status: u16,
    #[serde(default)]
    pub at: Moment,
    pub body: Option<String>,
    #[serde(default = "problem_type")]
    pub content_type: String,
    /// Seconds or a date, right or wrong: it is sent as it is.
    pub retry_after: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    pub to: String,
    #[serde(default = "temporary")]
    pub status: u16,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hide {
    /// How many reads do not show it, from the answer on.
    pub reads: u64,
    #[serde(default)]
    pub from: Reads,
}

/// Which reads do not show it; only those count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    #[default]
    Both,
    Item,
    List,
}

/// `true`, for faults that need no more.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "bool")]
pub struct Yes;

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Yes, &'static str> {
        if value { Ok(Yes) } else { Err("must be `true`; leave the rule out to have no fault") }
    }
}

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    #[error("the rules of faults cannot be read: {0}")]
    Yaml(#[from] serde_yaml::Error),
    #[error("rule {number} of the faults: {detail}")]
    Rule { number: usize, detail: String },
}

impl Rules {
    /// Reads YAML, or JSON.
    pub fn parse(text: &str) -> Result<Rules, RulesError> {
        let rules: Rules =
            if text.trim().is_empty() { Rules::default() } else { serde_yaml::from_str(text)? };
        for (at, rule) in rules.rules.iter().enumerate() {
            rule.check().map_err(|detail| RulesError::Rule { number: at + 1, detail })?;
        }
        Ok(rules)
    }
}

impl Rule {
    /// Sees to it that what is sent later can be sent.
    fn check(&self) -> Result<(), String> {
        let When { nth, every, probability, .. } = &self.when;
        if *nth == Some(0) || *every == Some(0) {
            return Err("`nth` and `every` count from 1".into());
        }
        if probability.is_some_and(|p| !(0.0..=1.0).contains(&p)) {
            return Err("`probability` is between 0 and 1".into());
        }
        match &self.fault {
            Fault::Status(answer) => {
                check_status(answer.status)?;
                check_header(http::header::CONTENT_TYPE, &answer.content_type)?;
                answer.retry_after.iter().try_for_each(|v| check_header(http::header::RETRY_AFTER, v))
            }
            Fault::Redirect(redirect) => {
                check_status(redirect.status)?;
                check_header(http::header::LOCATION, &redirect.to)
            }
            Fault::Late(late) if late.after == 0 => Err("`after` counts from 1".into()),
            Fault::Meanwhile(other) => check_request(other),
            _ => Ok(()),
        }
    }
}

fn check_status(status: u16) -> Result<(), String> {
    match StatusCode::from_u16(status) {
        Ok(code) if !code.is_informational() => Ok(()),
        _ => Err(format!("`{status}` is no final status")),
    }
}

fn check_header(name: HeaderName, value: &str) -> Result<(), String> {
    HeaderValue::from_str(value).map(drop).map_err(|_| format!("`{name}` cannot be sent"))
}

fn check_request(other: &Other) -> Result<(), String> {
    let built = http::Request::builder().method(&*other.method).uri(&other.path).body(());
    built.map(drop).map_err(|error| format!("`{} {}` cannot be sent: {error}", other.method, other.path))
}

fn problem_type() -> String {
    "application/problem+json".into()
}

fn temporary() -> u16 {
    StatusCode::TEMPORARY_REDIRECT.as_u16()
}

/// A duration as flags have it: `200ms`.
mod humantime_text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, de::Error};

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        humantime::parse_duration(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Whether a path fits a pattern. `*` matches within a segment, `**` across segments.
pub fn fits(pattern: &str, path: &str) -> bool {
    let Some(star) = pattern.find('*') else { return pattern == path };
    let Some(rest) = path.strip_prefix(&pattern[..star]) else { return false };
    let (after, reach) = match pattern[star..].strip_prefix("**") {
        Some(after) => (after, rest.len()),
        None => (&pattern[star + 1..], rest.find('/').unwrap_or(rest.len())),
    };
    (0..=reach).filter(|at| rest.is_char_boundary(*at)).any(|at| fits(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, path, want) in [
            ("/teams", "/teams", true),
            ("/teams", "/teams/7", false),
            ("/teams/*", "/teams/7", true),
            ("/teams/*", "/teams/7/members", false),
            ("/teams/*/members", "/teams/7/members", true),
            ("/teams/**", "/teams/7/members/ann", true),
            ("/teams/**", "/teams", false),
            ("/**/members/*", "/teams/7/members/ann", true),
            ("/t*s", "/teams", true),
            ("**", "/anything/at/all", true),
        ] {
            assert_eq!(fits(pattern, path), want, "{pattern} {path}");
        }
    }

    #[test]
    fn rules_are_read_from_yaml_and_json() {
        let yaml = "seed: 7\nrules:\n- match: {method: POST, path: /teams, nth: 2}\n  fault: {status: {status: 429, retry-after: '1'}}\n- fault: {delay: 200ms}\n- fault: {drop: after}\n- fault: {stale: true}\n";
        assert_eq!(Rules::parse(yaml).expect("rules").rules.len(), 4);
        let json = r#"{"rules": [{"match": {"probability": 0.5}, "fault": {"hide": {"reads": 2, "from": "list"}}}]}"#;
        assert_eq!(Rules::parse(json).expect("rules").rules.len(), 1);
        assert!(Rules::parse("").expect("no rules").rules.is_empty());
    }

    #[test]
    fn wrong_rules_are_refused_by_name() {
        for (text, want) in [
            ("rule: []", "unknown field `rule`"),
            ("rules: [{fault: {status: {status: 429, retry: 1}}}]", "unknown field `retry`"),
            ("rules: [{match: {verb: GET}, fault: {drop: before}}]", "unknown field `verb`"),
            ("rules: [{fault: {explode: true}}]", "unknown variant `explode`"),
            ("rules: [{fault: {stale: false}}]", "must be `true`"),
            ("rules: [{fault: {delay: soon}}]", "expected number"),
            (
                "rules: [{fault: {drop: before}}, {fault: {status: {status: 99}}}]",
                "rule 2 of the faults: `99`",
            ),
            ("rules: [{match: {nth: 0}, fault: {drop: before}}]", "count from 1"),
            ("rules: [{fault: {late: {after: 0}}}]", "`after` counts from 1"),
            ("rules: [{fault: {meanwhile: {method: 'A B', path: /a}}}]", "`A B /a` cannot be sent"),
            ("rules: [{match: {probability: 2}, fault: {drop: before}}]", "between 0 and 1"),
            ("rules: [{fault: {redirect: {to: \"a\\nb\"}}}]", "`location` cannot be sent"),
        ] {
            let error = Rules::parse(text).expect_err(text).to_string();
            assert!(error.contains(want), "{text}: {error}");
        }
    }
}
