//! What `probe` found out, as text for people: what was understood, what is contradicted, and lines that can be
//! put into the backend's document as they stand.

use crate::core::probe::{Counts, Place, Probe, Probed, Suggestion};
use crate::core::report::Finding;

use super::paint::{Line, Style, Text};
use super::words::counted;

/// Column of what was understood.
const UNDERSTOOD: usize = 14;

/// A paragraph for each kind, and a line that counts.
pub fn text(probe: &Probe) -> Text {
    let mut text = Text::new();
    for kind in &probe.kinds {
        text.append(paragraph(kind));
        text.push(Line::new());
    }
    text.push(last_line(probe));
    text
}

fn paragraph(probed: &Probed) -> Text {
    let mut text = Text::new();
    text.push(
        Line::new()
            .with(Style::Strong, &probed.kind.kind)
            .with(Style::Dim, &format!(" of {}", probed.kind.backend)),
    );
    if let Some(why) = &probed.skipped {
        text.push(Line::plain("  not looked at: ").with(Style::Change, why));
    }
    for (word, said) in &probed.understood {
        let mut line = Line::plain("  ").with(Style::Dim, word);
        line.pad(UNDERSTOOD, 1);
        text.push(line.with(Style::Plain, said));
    }
    for (sign, style, findings) in [
        ("!", Style::Bad, &probed.failures),
        ("!", Style::Bad, &probed.contradictions),
        ("?", Style::Change, &probed.unconfirmed),
    ] {
        findings.iter().for_each(|finding| text.append(told(sign, style, finding)));
    }
    text.append(suggested(&probed.suggestions));
    text
}

fn told(sign: &str, style: Style, finding: &Finding) -> Text {
    let mut text = Text::new();
    let line = Line::plain("  ").with(style, sign).with(Style::Plain, " ").with(style, finding.code);
    text.push(line.with(Style::Plain, ": ").with(Style::Plain, &finding.message));
    if let Some(hint) = &finding.hint {
        text.push(Line::plain("    ").with(Style::Aid, "hint: ").with(Style::Plain, hint));
    }
    text
}

/// Lines that can be put into the document as they stand, each with its reason behind it.
fn suggested(suggestions: &[Suggestion]) -> Text {
    let mut text = Text::new();
    if suggestions.is_empty() {
        return text;
    }
    text.push(Line::plain("  ").with(Style::Good, "+").with(Style::Plain, " the answers suggest"));
    for (place, head) in [(Place::Kind, None), (Place::List, Some("list:")), (Place::Fields, Some("fields:"))]
    {
        let lines: Vec<&Suggestion> = suggestions.iter().filter(|one| one.place == place).collect();
        if let Some(head) = head.filter(|_| !lines.is_empty()) {
            text.push(Line::plain("      ").with(Style::Good, head));
        }
        let indent = if head.is_some() { "        " } else { "      " };
        let widest = lines.iter().map(|one| one.line.chars().count()).max().unwrap_or(0);
        for one in lines {
            let mut line = Line::plain(indent).with(Style::Good, &one.line);
            line.pad(indent.len() + widest + 2, 2);
            text.push(line.with(Style::Dim, &format!("# {}", one.why)));
        }
    }
    text
}

fn last_line(probe: &Probe) -> Line {
    let counts = probe.counts();
    let Counts { contradictions, unconfirmed, suggestions, failures, skipped } = counts;
    let mut parts = vec![(Style::Strong, counted(probe.kinds.len(), "kind"))];
    let contradicted = if contradictions == 0 { Style::Good } else { Style::Bad };
    parts.push((contradicted, counted(contradictions, "contradiction")));
    for (number, style, what) in [
        (failures, Style::Bad, "not reached"),
        (skipped, Style::Change, "not looked at"),
        (unconfirmed, Style::Change, "not confirmed"),
    ] {
        if number > 0 {
            parts.push((style, format!("{number} {what}")));
        }
    }
    parts.push((Style::Plain, counted(suggestions, "suggestion")));
    let mut line = Line::plain("Probed: ");
    for (at, (style, part)) in parts.iter().enumerate() {
        line.push(Style::Plain, if at == 0 { "" } else { ", " });
        line.push(*style, part);
    }
    let requests = counted(probe.requests.total() as usize, "request");
    line.with(Style::Plain, ".").with(Style::Dim, &format!(" {requests}, none of which wrote."))
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
