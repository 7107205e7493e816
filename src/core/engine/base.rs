//! An object beside its base: what left its document, and what of that cannot be told.

use std::borrow::Cow;

use super::super::base::{self, Left};
use super::super::node::Node;
use super::super::report::{Finding, SECRET_VERSION};
use super::decide::Seen;
use super::object::Object;

/// The code of the finding that what left the files stays on the server.
const NOT_REMOVED: &str = "NotRemoved";

impl Object {
    /// What the document says, references as they are written.
    pub fn own_spec(&self) -> Cow<'_, Node> {
        match self.stands_as {
            Some(_) => Cow::Owned(self.with_new_name(Node::clone(&self.spec))),
            None => Cow::Borrowed(&self.spec),
        }
    }

    /// `spec` without what left it since the base; `None` where nothing could have left. Where the server keeps
    /// account of who set what, it knows better; and of a document that waits for another a part is not there yet.
    pub fn left(&self, spec: &Node) -> Option<Left> {
        let (Some(base), Seen::Present(item)) = (self.base.spec(), &self.seen) else { return None };
        if self.kind.is_applied() || self.wanted_absent() || !self.later.is_empty() {
            return None;
        }
        Some(base::left(spec, base, &item.value, &self.kind.fields, self.sets > 0))
    }

    /// Says why what cannot be read back is sent again.
    pub fn note_rotation(&mut self) {
        let told = self.findings.iter().any(|finding| finding.code == SECRET_VERSION);
        if self.policy.secret_since && self.kind.fields.any_hidden() && !told && !self.context {
            let message = "`trueup/secret-version` is not what it was at the base: what cannot be read back is sent again";
            self.findings.push(Finding::new(SECRET_VERSION, message));
        }
    }

    /// Says of each field that left and stays that it does.
    pub fn note_untold(&mut self) {
        self.findings.retain(|finding| finding.code != NOT_REMOVED);
        let Some(Left { untold, .. }) = self.left(&self.spec) else { return };
        self.findings.extend(untold.iter().map(|path| {
            let message =
                format!("`{path}` left the file and stays: whether it still is the base's cannot be told");
            Finding::new(NOT_REMOVED, message).hint("write `null` to take it away")
        }));
    }
}
