//! A saved plan, as it is shown: what it is and how old, then what it does, then its hashes.
//!
//! Pure, like every report. Nothing here says whether it may be applied; what is known of that is handed in.

use std::time::Duration;

use serde_json::json;

use crate::core::report::{Entry, Report};
use crate::core::value::Value;

use super::json;
use super::paint::{Line, Style, Text};
use super::text::{self, View};
use super::words::roughly;

/// Digits of a hash that are shown to people; JSON has all.
const DIGITS: usize = 12;

/// What is known of a saved plan beside its report.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The file.
    pub name: String,
    pub tool: String,
    pub made: String,
    /// `None` where it is from the future.
    pub age: Option<Duration>,
    pub expires: String,
    /// `None` where it has expired.
    pub rest: Option<Duration>,
    /// Why it would not be applied, as far as the plan alone tells.
    pub stale: Option<String>,
    /// Backends, and where they are.
    pub targets: Vec<(String, String)>,
    /// The flags that it was made with.
    pub flags: Vec<String>,
    pub hash: String,
    /// By object of the report: of what is desired, and of what was observed.
    pub hashes: Vec<[String; 2]>,
}

/// What the plan is, for people.
pub fn head(shown: &Shown) -> Text {
    let mut text = Text::new();
    let age = shown.age.map_or("in the future".to_owned(), |age| format!("{} ago", roughly(age)));
    let head = format!("Saved plan {}, made {} ({age}) by trueup {}.", shown.name, shown.made, shown.tool);
    text.push(Line::new().with(Style::Strong, &head));
    match (&shown.stale, shown.rest) {
        (Some(why), _) => text.push(Line::new().with(Style::Bad, &format!("It cannot be applied: {why}."))),
        (None, Some(rest)) => text.push(Line::plain(&format!("It expires in {}.", roughly(rest)))),
        (None, None) => {}
    }
    for (name, place) in &shown.targets {
        text.push(Line::plain(&format!("  {name}: {place}")));
    }
    if !shown.flags.is_empty() {
        text.push(Line::plain(&format!("  made with {}", shown.flags.join(" "))));
    }
    text
}

/// For people.
pub fn text(report: &Report, shown: &Shown, view: &View) -> Text {
    let mut text = head(shown);
    text.push(Line::new());
    text.append(text::report(report, view));
    text.push(Line::new());
    text.push(Line::plain(&format!(
        "Hashes of the plan {}, and of what is desired and observed:",
        short(&shown.hash)
    )));
    for (entry, [desired, observed]) in listed(report, shown, view) {
        let line = Line::plain(&format!("  {} {}  ", short(desired), short(observed)));
        text.push(line.with(Style::Plain, &entry.id.to_string()));
    }
    text
}

/// One document, shaped like any report.
pub fn document(report: &Report, shown: &Shown, view: &View) -> String {
    let whole = json::document(report, view.verb, view.verbose);
    let mut value: Value = serde_json::from_str(&whole).expect("it was just written");
    value["plan"] = plan(shown);
    let hashes = listed(report, shown, view).map(|(_, [desired, observed])| (desired, observed));
    if let Some(objects) = value["objects"].as_array_mut() {
        for (object, (desired, observed)) in objects.iter_mut().zip(hashes) {
            object["desired"] = desired.as_str().into();
            object["observed"] = observed.as_str().into();
        }
    }
    json::pretty(&value)
}

/// One object a line, then the plan, then the summary.
pub fn lines(report: &Report, shown: &Shown, view: &View) -> String {
    let whole = json::lines(report, view.verb, view.verbose);
    let mut lines: Vec<Value> =
        whole.lines().map(|line| serde_json::from_str(line).expect("it was just written")).collect();
    for (object, (_, [desired, observed])) in lines.iter_mut().zip(listed(report, shown, view)) {
        object["desired"] = desired.as_str().into();
        object["observed"] = observed.as_str().into();
    }
    let mut value = plan(shown);
    value["type"] = "plan".into();
    lines.insert(lines.len().saturating_sub(1), value);
    lines.iter().map(json::line).collect()
}

/// The objects that a report lists, each with its hashes.
fn listed<'r>(
    report: &'r Report,
    shown: &'r Shown,
    view: &View,
) -> impl Iterator<Item = (&'r Entry, &'r [String; 2])> {
    let verbose = view.verbose;
    let is_listed = move |entry: &Entry| verbose || !entry.is_in_sync() || !entry.findings.is_empty();
    report.objects.iter().zip(&shown.hashes).filter(move |(entry, _)| is_listed(entry))
}

fn plan(shown: &Shown) -> Value {
    json!({
        "file": shown.name, "tool": shown.tool, "made": shown.made, "expires": shown.expires,
        "ageSeconds": shown.age.map(|age| age.as_secs()), "stale": shown.stale, "hash": shown.hash,
        "targets": shown.targets.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "flags": shown.flags,
    })
}

fn short(hash: &str) -> &str {
    let digits = hash.strip_prefix("sha256:").unwrap_or(hash);
    digits.get(..DIGITS).unwrap_or(digits)
}
