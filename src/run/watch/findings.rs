//! What passes find worth knowing of objects, whatever their outcome: in the status as long as the last pass found it,
//! and in the log once, when it is new.

use std::collections::{BTreeMap, BTreeSet};

use super::desired::Desired;
use crate::core::identity::{KindName, ObjectId};
use crate::core::report::{Entry, FROZEN, Finding, Outcome, Report};
use crate::core::scrub;
use crate::render::watch::log::Event;

/// So many are kept of one object.
const MOST: usize = 8;
/// So many lines are told of one pass; the rest is counted.
const ALIKE: usize = 20;

/// All that was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Of each object as its last pass has it.
    objects: BTreeMap<ObjectId, Vec<Finding>>,
    /// What holds of all objects of a kind.
    kinds: BTreeMap<KindName, Finding>,
}

impl Findings {
    /// Takes what a pass found; the lines to be told of it.
    pub fn take(&mut self, report: &Report) -> Vec<Event> {
        let mut lines = Vec::new();
        for entry in report.objects.iter().filter(|entry| !matches!(entry.result, Outcome::Skipped(_))) {
            self.take_one(&scrub::by_names(entry), &mut lines);
        }
        let more = lines.len().saturating_sub(ALIKE);
        lines.truncate(ALIKE);
        lines
            .extend((more > 0).then(|| Event::warn("and more is to be known of objects").with("more", more)));
        lines
    }

    fn take_one(&mut self, entry: &Entry, lines: &mut Vec<Event>) {
        let (of_kind, own): (Vec<_>, Vec<_>) =
            entry.findings.iter().partition(|finding| finding.is_of_its_kind());
        for finding in of_kind {
            if self.kinds.insert(entry.id.kind.clone(), finding.clone()).is_none() {
                lines.push(line(Event::info("something is to be known of a kind"), &entry.id, None, finding));
            }
        }
        // What is frozen is told by a condition.
        let own = own.into_iter().filter(|finding| finding.code != FROZEN);
        let own: Vec<Finding> = own.take(MOST).cloned().collect();
        let before = match own.is_empty() {
            true => self.objects.remove(&entry.id),
            false => self.objects.insert(entry.id.clone(), own.clone()),
        };
        let before = before.unwrap_or_default();
        for finding in own.iter().filter(|finding| !before.contains(finding)) {
            let name = Some(entry.id.key.to_string());
            lines.push(line(Event::warn("something is to be known of an object"), &entry.id, name, finding));
        }
    }

    /// Forgets what is wanted no longer.
    pub fn keep_to(&mut self, desired: &Desired) {
        self.objects.retain(|id, _| !desired.places([id]).is_empty());
        let kinds: BTreeSet<&KindName> = desired.subjects.iter().map(|subject| &subject.id.kind).collect();
        self.kinds.retain(|kind, _| kinds.contains(kind));
    }

    /// Of objects, for the status.
    pub fn of_objects(&self) -> BTreeMap<ObjectId, Vec<Finding>> {
        self.objects.clone()
    }

    /// A sentence for each kind.
    pub fn of_kinds(&self) -> impl Iterator<Item = String> + '_ {
        let told = |(kind, finding): (&KindName, &Finding)| {
            format!("{}/{}: {} ({})", kind.backend, kind.kind, finding.message, finding.code)
        };
        self.kinds.iter().map(told)
    }
}

fn line(event: Event, id: &ObjectId, name: Option<String>, finding: &Finding) -> Event {
    let mut event = event.with("backend", &*id.kind.backend).with("kind", &*id.kind.kind);
    if let Some(name) = name {
        event = event.with("name", name);
    }
    event = event.with("code", finding.code).with("detail", finding.message.as_str());
    match &finding.hint {
        Some(hint) => event.with("hint", hint.as_str()),
        None => event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::report::{Action, Explanation, LOST_UPDATE_RISK};
    use crate::render::sample::entry;

    fn report(name: &str, result: Outcome, findings: &[(&'static str, &str)]) -> Report {
        let mut entry = entry("Queue", name, 1, Action::None, result);
        entry.findings = findings.iter().map(|(code, message)| Finding::new(code, *message)).collect();
        Report { objects: vec![entry], ..Report::default() }
    }

    fn told(findings: &mut Findings, report: &Report) -> Vec<String> {
        let text = |line: &Event| {
            let fields = line.fields.iter().filter(|(name, _)| matches!(*name, "name" | "code" | "detail"));
            let values: Vec<&str> = fields.filter_map(|(_, value)| value.as_str()).collect();
            values.join(" ")
        };
        findings.take(report).iter().map(text).collect()
    }

    #[test]
    fn what_is_new_is_told_once_and_what_the_last_pass_found_is_shown() {
        let mut all = Findings::default();
        let owner = ("OtherOwner", "it is another's");
        let one = report("a", Outcome::InSync, &[owner, (FROZEN, "left")]);
        assert_eq!(told(&mut all, &one), ["//a OtherOwner it is another's"]);
        assert_eq!(told(&mut all, &one), [""; 0]);
        let more = report("a", Outcome::InSync, &[owner, ("PossibleOverwrite", "perhaps")]);
        assert_eq!(told(&mut all, &more), ["//a PossibleOverwrite perhaps"]);
        let id = &one.objects[0].id;
        assert_eq!(all.of_objects()[id].len(), 2);
        let skipped = report("a", Outcome::Skipped(Explanation::new("the pass ended")), &[]);
        assert_eq!(told(&mut all, &skipped), [""; 0]);
        assert_eq!(all.of_objects()[id].len(), 2, "it was not looked at");
        assert_eq!(told(&mut all, &report("a", Outcome::InSync, &[])), [""; 0]);
        assert!(all.of_objects().is_empty());
        assert_eq!(told(&mut all, &one).len(), 1, "it is new again");
    }

    #[test]
    fn what_holds_of_a_kind_is_told_once_for_all() {
        let mut all = Findings::default();
        let risk = [(LOST_UPDATE_RISK, "nothing guards it")];
        assert_eq!(told(&mut all, &report("a", Outcome::Done, &risk)), ["LostUpdateRisk nothing guards it"]);
        assert_eq!(told(&mut all, &report("b", Outcome::Done, &risk)), [""; 0]);
        assert!(all.of_objects().is_empty());
        let sentences: Vec<String> = all.of_kinds().collect();
        assert_eq!(sentences, ["rabbitmq/Queue: nothing guards it (LostUpdateRisk)"]);
    }
}
