//! What guards a write against what others change meanwhile, and what is told where nothing does.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::exchange::{Body, Failure, Write};
use super::super::identity::KindName;
use super::super::kind::{Method, Read, Version};
use super::super::overwritten::overwritten;
use super::super::report::{Action, Finding, LOST_UPDATE_RISK};
use super::super::value::Value;
use super::decide::Seen;
use super::object::Object;
use super::queue::Queued;
use super::{Engine, backoff};

/// The code of the finding that somebody else's change may have been undone.
const POSSIBLE_OVERWRITE: &str = "PossibleOverwrite";
/// The code of the finding that a weak tag guards nothing.
const WEAK_ETAG: &str = "WeakETag";

/// What a run has learnt of preconditions.
#[derive(Debug, Default)]
pub struct Guards {
    /// Backends that refuse writes without a precondition (RFC 6585, 428).
    strict: BTreeSet<Arc<str>>,
    /// Kinds whose weak tags match nothing.
    unmatched: BTreeSet<KindName>,
}

/// What of it is known of one object.
#[derive(Debug, Default)]
pub struct Guard {
    /// It was looked at again to find a version.
    sought: bool,
    /// What was seen, when a write with its weak tag was refused.
    refused_weak: Option<Arc<Value>>,
    /// What a whole body without a precondition rests on.
    rests_on: Option<Arc<Value>>,
}

impl Object {
    fn has_weak_tag(&self) -> bool {
        self.version().is_some_and(|version| version.weak)
    }

    /// Says of an update that nothing guards it.
    pub fn note_risk(&mut self, due: Action) {
        let due = if self.sets > 0 { self.action } else { due };
        self.findings.retain(|finding| finding.code != LOST_UPDATE_RISK);
        if due == Action::Update && self.kind.may_lose_updates() {
            let why = "an update sends the whole object as it was read, and no version guards what others change \
                       meanwhile";
            let finding = Finding::new(LOST_UPDATE_RISK, why);
            self.findings.push(
                finding.hint("if the API has versions, say where: `version: etag` or `version: .FIELD`"),
            );
        }
    }

    /// Says of fields that nobody declared and that changed around our write that more may have been undone.
    fn note_overwrite(&mut self, before: &Value) {
        let Some(now) = self.observed() else { return };
        let moved = overwritten(before, now, &self.spec, &self.kind.fields);
        let Some(first) = moved.first() else { return };
        let paths: Vec<String> = moved.iter().take(3).map(|path| format!("`{path}`")).collect();
        let more = if moved.len() > paths.len() { " and more" } else { "" };
        let why = format!(
            "{}{more} changed while the whole object was written, and nothing guards the write: what somebody else \
             changed in that moment may have been undone",
            paths.join(", ")
        );
        self.findings.retain(|finding| finding.code != POSSIBLE_OVERWRITE);
        self.findings.push(Finding::new(POSSIBLE_OVERWRITE, why).hint(format!(
            "look at the object; if the server itself sets the field, say so in the backend: \
             `fields: {{{first}: server-owned}}`"
        )));
    }
}

impl Engine {
    /// Whether a weak tag is worth a try: some servers compare it byte for byte.
    pub(super) fn tries_weak(&self, at: usize) -> bool {
        !self.guards.unmatched.contains(&self.objects[at].id.kind)
    }

    /// Whether an update of the object, as just seen, has a precondition.
    fn is_guarded(&self, at: usize) -> bool {
        let object = &self.objects[at];
        let says = object.kind.update.as_ref().is_some_and(|update| update.says_version());
        object.version().is_some_and(|version| says || !version.weak || self.tries_weak(at))
    }

    /// Keeps what a write rests on that nothing guards.
    pub(super) fn note_sent(&mut self, at: usize, write: &Write) {
        let whole = self.objects[at].kind.updates_whole();
        let is_sent = matches!(write, Write::Update(_, Body::Object(_)));
        let unguarded = whole && is_sent && !self.is_guarded(at);
        let object = &mut self.objects[at];
        object.guard.rests_on = match &object.seen {
            Seen::Present(item) if unguarded => Some(item.value.clone()),
            _ => None,
        };
    }

    /// What a look after a write says of what guarded it.
    pub(super) fn judge_guard(&mut self, at: usize) {
        let object = &mut self.objects[at];
        let wrote = object.sets > 0 || object.doubt.is_some();
        if let Some(before) = object.guard.rests_on.take().filter(|_| wrote) {
            object.note_overwrite(&before);
        }
        let Some(before) = object.guard.refused_weak.take() else { return };
        // Where nothing has changed, the tag was refused for being weak.
        if object.has_weak_tag() && object.observed() == Some(&*before) {
            let why = "its `ETag` is weak, or a proxy has touched it, and it was refused though nothing had changed: \
                       objects of its kind are written without a precondition";
            let hint = "say in the backend where else the version stands, or take `version: etag` away";
            if self.guards.unmatched.insert(object.id.kind.clone()) {
                object.findings.push(Finding::new(WEAK_ETAG, why).hint(hint));
            }
        }
    }

    /// Notes that a write was refused which a weak tag guarded.
    pub(super) fn note_refusal(&mut self, at: usize) {
        let object = &mut self.objects[at];
        let says = object.kind.update.as_ref().is_some_and(|update| update.says_version());
        object.guard.refused_weak = match &object.seen {
            Seen::Present(item) if object.has_weak_tag() && !says => Some(item.value.clone()),
            _ => None,
        };
    }

    /// Whether an object has to be read by itself first, as its backend takes no write without a precondition.
    pub(super) fn seeks_version(&self, at: usize) -> bool {
        let object = &self.objects[at];
        self.guards.strict.contains(&object.id.kind.backend)
            && !matches!(object.kind.version, Version::None)
            && object.version().is_none()
    }

    /// The server takes no write without a precondition (428). The object is read by itself, once, for the version
    /// that its kind declares, and the write is sent again: what had one already may have met a server that was not
    /// itself. The second time is the end, and what is missing is told.
    pub(super) fn unguarded(&mut self, at: usize, queued: &Queued, failure: &Failure) {
        let object = &mut self.objects[at];
        let kind = object.kind.clone();
        let by_itself = matches!(kind.read, Read::Op(_));
        let declared = !matches!(kind.version, Version::None);
        let is_there = matches!(object.seen, Seen::Present(_));
        // What makes it says that nothing may be there.
        let by_put = !is_there && kind.create.as_ref().is_some_and(|create| create.method == Method::Put);
        self.guards.strict.insert(kind.name.backend.clone());
        if declared && (is_there || by_put) && by_itself && !object.guard.sought {
            object.guard.sought = true;
            object.own_read = true;
            object.doomed = None;
            object.races += 1;
            self.ramp_of(at).finished(queued);
            let wait = backoff::conflict_delay(self.objects[at].races, &mut self.random);
            return self.wait(at, wait);
        }
        let name = &kind.name.kind;
        let hint = match (&kind.version, object.version()) {
            (Version::None, _) => format!(
                "say in the backend where a {name} has its version: `version: etag` where its read answers with an \
                 `ETag`, or `version: .FIELD`; `trueup probe` tells which"
            ),
            (_, None) if by_put => {
                "`If-None-Match: *` was sent, and the server wants something else: its documentation says what".into()
            }
            (_, None) if !is_there => {
                format!("what creates a {name} has no precondition of its own: a PUT to its name has one")
            }
            (Version::ETag, None) => {
                format!("`version: etag`, and the read of a {name} has no `ETag` header")
            }
            (_, None) => format!("the `version` of {name} in the backend finds nothing on what is read"),
            (_, Some(version)) if version.weak => {
                "its `ETag` is weak and guards nothing: say in the backend where else the version stands"
                    .into()
            }
            (_, Some(_)) => {
                "the version was sent, and the server wants it elsewhere: say `{version}` where".into()
            }
        };
        self.stop(at, queued, &Failure { hint: Some(hint), ..failure.clone() });
    }
}
