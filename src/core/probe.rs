//! What a backend came to when it was held against live answers: the one list that text, JSON and the exit code
//! of `trueup probe` are made of. Values of fields stand in none of it, but for the names of objects.

use super::exit::Exit;
use super::identity::KindName;
use super::redact::Redactor;
use super::report::{Finding, Requests};

/// All kinds that were looked at, in their order.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    pub kinds: Vec<Probed>,
    pub requests: Requests,
}

/// One kind.
#[derive(Clone, Debug)]
pub struct Probed {
    pub kind: KindName,
    /// What was understood, by a word each: `items`, `paging`.
    pub understood: Vec<(&'static str, String)>,
    /// Declared facts that the answers contradict.
    pub contradictions: Vec<Finding>,
    /// Declared facts of which the answers show nothing: they may hold for other objects.
    pub unconfirmed: Vec<Finding>,
    /// Facts that the answers suggest.
    pub suggestions: Vec<Suggestion>,
    /// What could not be asked.
    pub failures: Vec<Finding>,
    /// Why nothing was asked: there is no parent, say.
    pub skipped: Option<String>,
}

/// A line for the backend's document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub place: Place,
    /// YAML: `created_at: server-owned`.
    pub line: String,
    pub why: String,
}

/// Where a suggested line goes, below the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Kind,
    List,
    Fields,
}

impl Probed {
    pub fn new(kind: KindName) -> Probed {
        Probed {
            kind,
            understood: Vec::new(),
            contradictions: Vec::new(),
            unconfirmed: Vec::new(),
            suggestions: Vec::new(),
            failures: Vec::new(),
            skipped: None,
        }
    }

    pub fn understand(&mut self, word: &'static str, text: impl Into<String>) {
        self.understood.push((word, text.into()));
    }

    /// Notes a contradiction, once.
    pub fn contradict(&mut self, finding: Finding) {
        if !self.contradictions.contains(&finding) {
            self.contradictions.push(finding);
        }
    }

    /// Notes a suggestion; of two for one place in the document the first counts.
    pub fn suggest(&mut self, place: Place, line: impl Into<String>, why: impl Into<String>) {
        let line = line.into();
        let name = |line: &str| line.split_once(": ").map_or(line.to_owned(), |(name, _)| name.to_owned());
        if !self.suggestions.iter().any(|have| have.place == place && name(&have.line) == name(&line)) {
            self.suggestions.push(Suggestion { place, line, why: why.into() });
        }
    }
}

/// How many there are of each, over all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub contradictions: usize,
    pub unconfirmed: usize,
    pub suggestions: usize,
    pub failures: usize,
    pub skipped: usize,
}

impl Probe {
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for kind in &self.kinds {
            counts.contradictions += kind.contradictions.len();
            counts.unconfirmed += kind.unconfirmed.len();
            counts.suggestions += kind.suggestions.len();
            counts.failures += kind.failures.len();
            counts.skipped += usize::from(kind.skipped.is_some());
        }
        counts
    }

    /// A copy without secrets.
    pub fn scrubbed(&self, redactor: &Redactor) -> Probe {
        let text = |text: &String| redactor.text(text).into_owned();
        let finding = |one: &Finding| Finding {
            code: one.code,
            message: text(&one.message),
            hint: one.hint.as_ref().map(text),
        };
        let all = |findings: &[Finding]| findings.iter().map(finding).collect();
        let suggestion =
            |one: &Suggestion| Suggestion { place: one.place, line: text(&one.line), why: text(&one.why) };
        let kind = |kind: &Probed| Probed {
            kind: kind.kind.clone(),
            understood: kind.understood.iter().map(|(word, said)| (*word, text(said))).collect(),
            contradictions: all(&kind.contradictions),
            unconfirmed: all(&kind.unconfirmed),
            suggestions: kind.suggestions.iter().map(suggestion).collect(),
            failures: all(&kind.failures),
            skipped: kind.skipped.as_ref().map(text),
        };
        Probe { kinds: self.kinds.iter().map(kind).collect(), requests: self.requests }
    }

    /// Failed where something could not be asked; "differs" where the answers contradict the backend. What is
    /// merely suggested, or not confirmed, is no difference.
    pub fn exit(&self) -> Exit {
        match self.counts() {
            Counts { failures: 1.., .. } => Exit::Failed,
            Counts { contradictions: 1.., .. } => Exit::Differs,
            _ => Exit::Success,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(failures: usize, contradictions: usize, suggestions: usize) -> Probe {
        let mut kind = Probed::new(KindName { backend: "b".into(), kind: "K".into() });
        kind.failures = vec![Finding::new("x", "x"); failures];
        kind.contradictions = vec![Finding::new("x", "x"); contradictions];
        (0..suggestions).for_each(|n| kind.suggest(Place::Fields, format!("f{n}: set"), "why"));
        Probe { kinds: vec![kind], requests: Requests::default() }
    }

    #[test]
    fn the_exit_code() {
        for (probe, exit) in [
            (probe(0, 0, 0), Exit::Success),
            (probe(0, 0, 3), Exit::Success),
            (probe(0, 1, 0), Exit::Differs),
            (probe(1, 0, 0), Exit::Failed),
            (probe(1, 1, 1), Exit::Failed),
        ] {
            assert_eq!(probe.exit(), exit);
        }
    }

    #[test]
    fn one_suggestion_for_a_place() {
        let mut kind = Probed::new(KindName { backend: "b".into(), kind: "K".into() });
        kind.suggest(Place::Fields, "a: secret", "its name");
        kind.suggest(Place::Fields, "a: server-owned", "it changes");
        kind.suggest(Place::Kind, "a: b", "elsewhere");
        let lines: Vec<&str> = kind.suggestions.iter().map(|one| one.line.as_str()).collect();
        assert_eq!(lines, ["a: secret", "a: b"]);
        kind.contradict(Finding::new("r", "m"));
        kind.contradict(Finding::new("r", "m"));
        assert_eq!(kind.contradictions.len(), 1);
    }
}
