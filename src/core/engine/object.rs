//! One object of a run: what is wanted, what is known, and where it stands.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::accept::Acceptance;
use super::super::base::{Base, Side};
use super::super::change::{Change, Shown};
use super::super::document::{Document, Ensure, OnConflict, Policy};
use super::super::exchange::{Item, VersionToken};
use super::super::graph::GraphNode;
use super::super::identity::{Key, ObjectId};
use super::super::kind::{Kind, Wait};
use super::super::node::{Node, Origin, Pos, Want};
use super::super::observed::Observed;
use super::super::path::Path;
use super::super::report::{Action, DUPLICATE_MEMBER, Explanation, Finding, NOT_COMPARED, Outcome};
use super::below::Below;
use super::contest::Contest;
use super::create::Keys;
use super::decide::Seen;
use super::guard::Guard;
use super::look::Sight;
use super::operation::Underway;
use super::pledge::Saved;
use super::queue::Queued;
use super::unfinished::Inherited;

/// How long a server may take to finish what it has accepted, where the kind says nothing longer.
pub(super) const FINISHED_WITHIN: Duration = Duration::from_secs(60);

/// Where an object is on its way.
#[derive(Debug)]
pub enum Phase {
    /// What it needs is not there yet.
    Blocked,
    /// An observation is under way or asked for.
    Observing,
    /// Nothing happens before a time that a timer holds.
    Waiting,
    /// Its deletion waits for objects that still need it.
    Held,
    /// Its write waits for its turn.
    Queued,
    Writing(Queued),
    /// The server is asked what it would make of what is due.
    Checking,
    /// It is looked what is below it, as it is due to go.
    LookingBelow,
    Settled(Outcome),
}

/// What was agreed to: the action, and the observed values that it rests on.
#[derive(Clone, Debug)]
pub struct Agreed {
    pub action: Action,
    /// Nobody knew then how it was, so nothing about it was agreed to.
    pub unseen: bool,
    /// By path; a set's element that goes and one that comes can share their place.
    pub before: HashMap<Path, Vec<Option<Shown>>>,
    /// Which object it was, and what of one that is to go was there.
    pub sight: Sight,
    /// What is in no document, and goes along.
    pub along: HashSet<ObjectId>,
    /// It was agreed to by saving the plan.
    pub saved: Option<Box<Saved>>,
}

impl Agreed {
    pub fn to(action: Action, changes: &[Change]) -> Agreed {
        let mut before: HashMap<Path, Vec<Option<Shown>>> = HashMap::new();
        for change in changes {
            before.entry(change.path.clone()).or_default().push(change.before.clone());
        }
        let (sight, along) = (Sight::default(), HashSet::new());
        Agreed { action, unseen: false, before, sight, along, saved: None }
    }
}

/// One object.
#[derive(Debug)]
pub struct Object {
    pub id: ObjectId,
    pub kind: Arc<Kind>,
    pub origin: Option<Origin>,
    pub policy: Policy,
    pub spec: Arc<Node>,
    pub base: Base,
    /// A parent that stands in no document, or an object that was not selected: observed, never written.
    pub context: bool,
    pub links: GraphNode,

    pub phase: Phase,
    pub seen: Seen,
    /// What was seen last, where this run has set it and no look shows it any more.
    pub written: Option<Item>,
    /// The last write that was accepted set values, and was no deletion.
    pub was_set: bool,
    /// Secrets that were seen on the server before `seen`: a refusal may still repeat them.
    pub seen_secrets: Vec<String>,
    /// When the request behind `seen` was asked, in the engine's own count.
    pub seen_at: u64,
    /// An observation counts only if it was asked after this.
    pub fence: u64,
    /// The observation must come from a read of its own.
    pub own_read: bool,
    /// It is read by its name before its create: the collection that counts it.
    pub looked_for: Option<usize>,
    /// What it refers to in fields that are not to be set yet.
    pub later: Vec<usize>,
    /// It was settled before, and those that need it went on.
    pub comes_again: bool,
    /// It was settled as what others need, before the fields that wait: whatever comes of these, others go on.
    pub served: bool,
    /// `seen` is the answer to a read of its own.
    pub seen_by_read: bool,
    /// What came of it was handed out before the end of the run, which has nothing to do with it any more.
    pub is_given: bool,

    /// Gates: how many needed objects are not observed, not settled; how many dependants hold the deletion.
    pub unseen_needs: usize,
    pub unsettled_needs: usize,
    /// What its children need to be made again, which it waits for before it is replaced.
    pub needed_below: Vec<usize>,
    pub holders: usize,
    /// It is to go, cannot be deleted alone, and goes with a parent.
    pub with_parent: bool,

    /// Its write's turn has come, and is held while the object is looked at again.
    pub turn: Option<Queued>,

    pub agreed: Option<Agreed>,
    /// The first action that was due, and what it would change: what is reported.
    pub action: Action,
    pub changes: Vec<Change>,
    pub since: Option<Side>,
    pub findings: Vec<Finding>,
    pub contest: Contest,
    pub guard: Guard,
    pub accepted: Vec<Acceptance>,
    /// What the next run is to know.
    pub observed: Observed,

    /// The key under which it stands, where that is not its own: before a rename of it, or of its parent.
    pub stands_as: Option<Key>,
    pub server_id: Option<Arc<str>>,
    pub failures: u32,
    pub races: u32,
    pub looks: u32,
    /// Accepted writes that set values, and accepted deletes.
    pub sets: u32,
    pub deletes: u32,
    /// Objects that went by its deletions.
    pub went_along: usize,
    /// When the last write was accepted, or may have been.
    pub wrote_at: Option<Duration>,
    /// What the last write has to be waited for, and since when.
    pub awaits: Option<Wait>,
    pub awaits_since: Option<Duration>,
    /// What the server is at since the last write, where it says so.
    pub operation: Option<Underway>,
    /// The server finishes the last write later: it answered 202.
    pub pending: bool,
    /// How often it was looked at.
    pub passes: u32,
    /// The object that it waited for in vain, itself or through others.
    pub in_vain: Option<usize>,
    /// No attempt is left after this: what is found by the last look decides.
    pub last_failure: Option<Explanation>,
    /// Where it is with the keys of its creates.
    pub keys: Keys,
    /// When the server said last that it exists, though no look shows it.
    pub claimed_at: Option<Duration>,
    /// A write whose outcome nobody knows, and what was heard of it.
    pub doubt: Option<(Action, Explanation)>,
    /// It was created in this run, and no listing has shown it since.
    pub created: bool,
    /// No listing shows it, and it was asked for by its id.
    pub asked_itself: bool,
    /// What it has from the run before.
    pub inherited: Inherited,
    /// When the next run does well to look at it, from the end of this one.
    pub next_look: Option<Duration>,
    /// So many objects, itself among them, may go in one request: fewer after each refusal of several.
    pub most_together: usize,
    /// The version that was seen before a deletion was refused as a conflict.
    pub refused_at: Option<Option<VersionToken>>,
    /// What is below it, seen since it was due to go.
    pub below: Option<Box<Below>>,
    /// The server id that the deletion was decided for, and the count from which a read confirms it.
    pub doomed: Option<(Option<Arc<str>>, u64)>,
    /// The server id that a read has shown to name nothing any more.
    pub gone: Option<Arc<str>>,
    /// Since when listings show it nevertheless, and how often they did.
    pub disputed: Option<(Duration, u32)>,
}

impl Object {
    pub fn of_document(document: Document, kind: Arc<Kind>, links: GraphNode) -> Object {
        let server_id = document.policy.pinned_id.clone();
        Object {
            origin: Some(document.origin),
            policy: document.policy,
            spec: document.spec,
            base: document.base,
            server_id,
            ..Object::blank(document.id, kind, links)
        }
    }

    /// Whether a document describes it that was not selected.
    pub fn is_left_out(&self) -> bool {
        self.context && self.origin.is_some()
    }

    /// An object that is only looked at.
    pub fn context(kind: Arc<Kind>, links: GraphNode) -> Object {
        let policy = Policy { ensure: Ensure::Exists, ..Policy::default() };
        Object { context: true, policy, ..Object::blank(links.id.clone(), kind, links) }
    }

    fn blank(id: ObjectId, kind: Arc<Kind>, links: GraphNode) -> Object {
        Object {
            id,
            kind,
            origin: None,
            policy: Policy::default(),
            spec: Arc::new(Node::new(Pos::default(), Want::Map(Default::default()))),
            base: Base::None,
            context: false,
            links,
            phase: Phase::Blocked,
            seen: Seen::NotYet,
            written: None,
            was_set: false,
            seen_secrets: Vec::new(),
            seen_at: 0,
            fence: 0,
            own_read: false,
            looked_for: None,
            later: Vec::new(),
            comes_again: false,
            served: false,
            seen_by_read: false,
            is_given: false,
            unseen_needs: 0,
            unsettled_needs: 0,
            needed_below: Vec::new(),
            holders: 0,
            with_parent: false,
            turn: None,
            agreed: None,
            action: Action::None,
            changes: Vec::new(),
            since: None,
            findings: Vec::new(),
            contest: Contest::default(),
            guard: Guard::default(),
            accepted: Vec::new(),
            observed: Observed::default(),
            stands_as: None,
            server_id: None,
            failures: 0,
            races: 0,
            looks: 0,
            sets: 0,
            deletes: 0,
            went_along: 0,
            wrote_at: None,
            awaits: None,
            awaits_since: None,
            operation: None,
            pending: false,
            passes: 0,
            in_vain: None,
            last_failure: None,
            keys: Keys::default(),
            claimed_at: None,
            doubt: None,
            created: false,
            asked_itself: false,
            inherited: Inherited::default(),
            next_look: None,
            most_together: usize::MAX,
            refused_at: None,
            below: None,
            doomed: None,
            gone: None,
            disputed: None,
        }
    }

    pub fn wanted_absent(&self) -> bool {
        self.policy.ensure == Ensure::Absent
    }

    /// Whether it is to go by a deletion of its own, before what it needs.
    pub fn goes_first(&self) -> bool {
        self.wanted_absent() && !self.with_parent
    }

    /// Whether the server makes it along with its parent, with values that nobody chose.
    pub fn comes_with_parent(&self) -> bool {
        self.kind.is_singleton() && self.kind.create.is_none() && !self.links.parents.is_empty()
    }

    /// Whether it is to be destroyed, and was not looked at since that was decided.
    pub fn is_unseen_since_doomed(&self) -> bool {
        self.doomed.as_ref().is_some_and(|(_, since)| self.seen_at <= *since)
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Settled(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Whether what needs this object may go on.
    pub fn is_usable(&self) -> bool {
        matches!(self.outcome(), Some(Outcome::InSync | Outcome::Planned | Outcome::Done | Outcome::Applied))
    }

    /// The act of a saved plan that this object is the outcome of, without a write of this run.
    pub fn applied(&self) -> Option<Action> {
        let agreed = self.agreed.as_ref()?;
        let saved = agreed.saved.as_ref().filter(|saved| saved.allows());
        saved.map(|_| agreed.action).filter(|action| *action != Action::None)
    }

    /// Whether it is unknown whether the object was created.
    pub fn uncertain(&self) -> bool {
        matches!(self.doubt, Some((Action::Create, _)))
    }

    /// Says of each value that the last look could not compare, and of no other, that it was not.
    pub fn note_not_compared(&mut self, values: &[(Path, Arc<str>)]) {
        self.findings.retain(|finding| finding.code != NOT_COMPARED);
        self.findings.extend(values.iter().map(|(path, source)| Finding {
            code: NOT_COMPARED,
            message: format!("`{path}` was not compared: the secret `{source}` is not set"),
            hint: None,
        }));
    }

    /// Says where the last look found two values in the server's JSON of the object.
    pub fn note_ambiguous(&mut self) {
        self.findings.retain(|finding| finding.code != DUPLICATE_MEMBER);
        let Seen::Present(item) = &self.seen else { return };
        if item.ambiguous.is_empty() {
            return;
        }
        let told: Vec<String> = item.ambiguous.iter().take(3).map(|path| format!("`{path}`")).collect();
        let more = if item.ambiguous.len() > told.len() { " and more" } else { "" };
        let why = format!(
            "the server's JSON has a member twice, and so two values of {}{more}: the last one counts",
            told.join(", ")
        );
        let hint = "readers of JSON differ in which one they take (RFC 8259, 4): tell those who make the API";
        self.findings.push(Finding::new(DUPLICATE_MEMBER, why).hint(hint));
    }

    /// What others may rest on: what is seen, or was until the server was behind our own write. They went on with that,
    /// and a look that does not show it takes none of it away.
    pub fn known(&self) -> Option<&Item> {
        match &self.seen {
            Seen::Present(item) => Some(item),
            Seen::Absent | Seen::Unknown(_) => self.written.as_ref(),
            Seen::NotYet | Seen::Several(_) => None,
        }
    }

    /// Takes what a look has told.
    pub fn see(&mut self, seen: Seen) {
        let before = std::mem::replace(&mut self.seen, seen);
        match (&self.seen, before) {
            (Seen::Present(_) | Seen::Several(_), _) => self.written = None,
            (_, Seen::Present(item)) if self.was_set => self.written = Some(item),
            _ => {}
        }
    }

    /// For how long after a write the server may show what was before it.
    pub fn patience(&self) -> Duration {
        if self.pending { self.kind.visible.max(FINISHED_WITHIN) } else { self.kind.visible }
    }

    pub fn version(&self) -> Option<VersionToken> {
        match &self.seen {
            Seen::Present(item) => item.version.clone(),
            _ => None,
        }
    }

    /// What became of the object as a whole since the run was agreed to, as an explanation; `None` where it is as
    /// it was. `action` is what is due now: destroying needs the very same action in the agreement.
    pub fn moved(&self, action: Action) -> Option<Outcome> {
        let agreed = self.agreed.as_ref()?;
        let not_confirmed = |why: &str| {
            let why = format!("to {} it was not part of what was confirmed{why}", action.word());
            Some(Outcome::Refused(Explanation::new(why).hint("look at a new plan and confirm it")))
        };
        if agreed.unseen {
            return not_confirmed(": what is there was not known then");
        }
        if self.policy.on_conflict == OnConflict::Force && action == Action::Update {
            return None;
        }
        if matches!(action, Action::Delete | Action::Replace) && agreed.action != action {
            return not_confirmed("");
        }
        if let Some(another) = self.is_another(action) {
            return Some(another);
        }
        if agreed.action == Action::Create && action == Action::Update {
            let came = conflict("it came into being between plan and write");
            return (!self.comes_with_parent()).then_some(came);
        }
        let gone = agreed.action != Action::Create && action == Action::Create;
        (gone && agreed.action != Action::Replace).then(|| conflict("it was deleted between plan and write"))
    }
}

/// What is not as it was when the run was agreed to.
pub(super) fn conflict(why: &str) -> Outcome {
    Outcome::Conflict(Explanation::new(why).hint("look at a new plan and confirm it"))
}
