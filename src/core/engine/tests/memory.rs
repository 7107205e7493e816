//! A server that knows creates by their keys: it gives the first answer again, whatever has happened since.

use std::collections::BTreeMap;

use super::model::{Model, failed};
use crate::core::exchange::{Answer, Body, FailureClass, Write};
use crate::core::value::Value;

/// The answers to creates, by key, with what was sent.
#[derive(Default)]
pub struct Memory {
    pub answers: BTreeMap<String, (Value, Answer)>,
    /// Failures are remembered as well, as Stripe does.
    pub failures: bool,
}

impl Model {
    /// Hides the objects of a kind, as if they were new.
    pub fn hide(&mut self, kind: &str) {
        let of_kind = self.objects.iter().filter(|((name, _), _)| **name == *kind);
        for stored in of_kind.flat_map(|(_, stored)| stored) {
            self.hidden_until.insert(stored.id, self.now + self.hidden_for);
        }
    }

    /// What was answered to this create before.
    pub fn remembered(&self, write: &Write) -> Option<Answer> {
        let (key, sent) = keyed(write)?;
        let (before, answer) = self.memory.as_ref()?.answers.get(&key)?;
        Some(if *before == sent { answer.clone() } else { failed(FailureClass::KeyUsed) })
    }

    pub fn remember(&mut self, write: &Write, answer: &Answer) {
        let (Some(memory), Some((key, sent))) = (&mut self.memory, keyed(write)) else { return };
        let keeps = match answer {
            Answer::Failed(failure) => memory.failures && matches!(failure.class, FailureClass::Status(_)),
            _ => true,
        };
        if keeps {
            memory.answers.insert(key, (sent, answer.clone()));
        }
    }
}

/// The key of a create, and what it sends.
fn keyed(write: &Write) -> Option<(String, Value)> {
    let Write::Create(target, Body::Object(sent)) = write else { return None };
    Some((target.attempt?.key("model", &target.id), sent.clone()))
}
