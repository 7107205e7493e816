//! Lists: a list that is declared is owned whole, but for what the rules leave open.

use std::borrow::Cow;

use crate::core::change::Reason;
use crate::core::node::{Node, Want};
use crate::core::path::Step;
use crate::core::value::{Value, plain_text};

use super::pair::{By, Pairing, pair};
use super::scope::{Scope, Trail};
use super::show::Show;
use super::walk::{Difference, Walk};

impl Walk<'_> {
    /// Compares two lists.
    pub(super) fn list(
        &mut self,
        trail: &Trail,
        desired: &Node,
        (items, list): (&[Node], &[Value]),
        scope: Scope,
    ) {
        let pairing = pair(items, list, scope);
        if pairing.reordered {
            return self.report(trail, |show| Difference {
                before: Some(show.observed(trail, &Value::Array(list.to_vec()), scope)),
                after: Some(show.desired(desired, scope)),
                reason: scope.reason(true, Reason::Reordered),
                node: Some(desired),
            });
        }
        let names = Names::new(&pairing, trail, scope, self.show.as_ref());
        for (i, item) in items.iter().enumerate() {
            if self.done() {
                return;
            }
            let value = pairing.partner[i].map(|j| &list[j]);
            let below = scope.element(i, Some(item.element()), value);
            if let (true, Some(j)) = (item.is_gone(), pairing.partner[i]) {
                let step = names.observed(j, &list[j], self.show.as_ref());
                self.removal(&Trail::Element(trail, &step), &list[j], below, Reason::Unset);
                continue;
            }
            if !item.is_gone() && !below.here().not_compared() {
                let step = names.desired(i, item, self.show.as_ref());
                self.element(&Trail::Element(trail, &step), item, value, below);
            }
        }
        if !scope.here().open {
            for j in pairing.extra.iter().copied() {
                let below = scope.element(j, None, Some(&list[j]));
                if !below.here().not_compared() {
                    let step = names.observed(j, &list[j], self.show.as_ref());
                    self.removal(&Trail::Element(trail, &step), &list[j], below, Reason::ListOwned);
                }
            }
        }
    }

    fn element(&mut self, trail: &Trail, item: &Node, partner: Option<&Value>, scope: Scope) {
        match partner {
            Some(value) => self.value(trail, &settled(item), Some(value), scope),
            None => self.report(trail, |show| Difference {
                before: None,
                after: Some(show.desired(item, scope)),
                reason: scope.reason(false, Reason::Declared),
                node: Some(item),
            }),
        }
    }
}

/// An element as it is compared: it cannot be unset, so an explicit null is JSON null.
pub(crate) fn settled(item: &Node) -> Cow<'_, Node> {
    match item.want {
        Want::Unset => Cow::Owned(Node::new(item.at, Want::Json(Value::Null))),
        _ => Cow::Borrowed(item),
    }
}

/// How elements are named in paths.
struct Names<'p> {
    /// The member that names them; `None` when there is none that may be printed.
    key: Option<&'p str>,
}

impl<'p> Names<'p> {
    fn new(pairing: &'p Pairing, trail: &Trail, scope: Scope, show: Option<&Show>) -> Names<'p> {
        let hidden = |name: &str| {
            scope.each().field(name).secret || show.is_none_or(|show| show.veil(trail).hides_key(name))
        };
        let key = match &pairing.by {
            By::Key(name) if !hidden(name) => Some(name.as_str()),
            _ => None,
        };
        Names { key }
    }

    fn desired(&self, at: usize, item: &Node, show: Option<&Show>) -> Step {
        let key = self.key.and_then(|name| item.get(name));
        match key.map(|key| &key.want) {
            Some(Want::Json(key)) => self.step(at, Some(key), show),
            _ => Step::Index(at),
        }
    }

    fn observed(&self, at: usize, item: &Value, show: Option<&Show>) -> Step {
        self.step(at, self.key.and_then(|name| item.get(name)), show)
    }

    fn step(&self, at: usize, key: Option<&Value>, show: Option<&Show>) -> Step {
        if let (Some(name), Some(key), Some(show)) = (self.key, key, show) {
            let text = plain_text(key);
            let printable = !matches!(key, Value::Null | Value::Array(_) | Value::Object(_));
            if printable && !show.tells(&text) {
                return Step::Keyed(name.into(), text);
            }
        }
        Step::Index(at)
    }
}
