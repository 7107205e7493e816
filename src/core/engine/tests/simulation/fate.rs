//! What can happen to a request: the rows of faults, and which operations each can befall.

use std::time::Duration;

use super::dice::Dice;
use super::makes::{PROFILES, Profile};
use super::scene::CANARY;
use crate::core::exchange::{Answer, Ask, Body, Failure, FailureClass, Write};

pub enum Request {
    Ask(Ask),
    Write(Write),
}

/// What a request does, as far as faults are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    List,
    Read,
    Follow,
    Check,
    Create,
    Update,
    Delete,
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    Well,
    /// It does not reach the server, or is refused; and the seconds that the server asks to wait.
    Fails(FailureClass, Option<u64>),
    /// It is done, and the answer does not tell.
    DoneAndLost(FailureClass),
    /// Its answer is lost, and it is done after a while.
    Late,
    /// It is delivered twice.
    Twice,
    /// It is accepted, and nothing comes of it.
    Ignored,
    /// The listing shows a part, and says so.
    Incomplete,
    /// The listing holds an item that cannot be understood.
    Problem,
    /// What is shown is old.
    Stale,
    /// What is there is not shown.
    Hidden,
    /// Of several, one was not done, and the answer says so inside.
    Inside,
}

/// The faults, by the rows of the table in `docs/reliability.md`.
pub const ROWS: [(&str, Fate); 29] = {
    use FailureClass::{Conflict, Exists, Lost, NotSent, NotTheApi, Status};
    use Fate::*;
    [
        ("T1 not sent", Fails(NotSent, None)),
        ("T3 done, answer lost", DoneAndLost(Lost)),
        ("T4 lost", Fails(Lost, None)),
        ("T5 done later, answer lost", Late),
        ("T6 delivered twice", Twice),
        ("T7 done, answer garbled", DoneAndLost(NotTheApi)),
        ("T8 a login page", Fails(NotTheApi, None)),
        ("S1 429", Fails(Status(429), None)),
        ("S1 429, 3 s", Fails(Status(429), Some(3))),
        ("S1 429, 15 min", Fails(Status(429), Some(900))),
        ("S2 500 after it was done", DoneAndLost(Status(500))),
        ("S2 502 after it was done", DoneAndLost(Status(502))),
        ("S3 500", Fails(Status(500), None)),
        ("S3 503", Fails(Status(503), None)),
        ("S3 503, 2 s", Fails(Status(503), Some(2))),
        ("S3 504", Fails(Status(504), None)),
        ("S4 a conflict", Fails(Conflict, None)),
        ("S7 403", Fails(Status(403), None)),
        ("S8 404", Fails(Status(404), None)),
        ("S9 401", Fails(Status(401), None)),
        ("S12 accepted and ignored", Ignored),
        ("S13 422", Fails(Status(422), None)),
        ("S16 it exists", Fails(Exists, None)),
        ("S19 an error inside", Inside),
        ("C1 an old state", Stale),
        ("C3 not shown", Hidden),
        ("C5 a part", Incomplete),
        ("C5 an item without a name", Problem),
        ("S3 408", Fails(Status(408), None)),
    ]
};

/// A fault that befell an operation of a profile: the row, the operation, the profile.
pub type Hit = (usize, Op, Profile);

impl Request {
    pub fn op(&self) -> Op {
        match self {
            Request::Ask(Ask::List(..)) => Op::List,
            Request::Ask(Ask::Read(_)) => Op::Read,
            Request::Ask(Ask::Operation(..)) => Op::Follow,
            Request::Ask(Ask::Check(_)) => Op::Check,
            Request::Write(write) => match &write.members()[0] {
                Write::Create(..) => Op::Create,
                Write::Update(..) => Op::Update,
                Write::Delete(_) | Write::Batch(_) => Op::Delete,
            },
        }
    }

    pub fn kind(&self) -> &str {
        match self {
            Request::Ask(ask) => &ask.kind().kind,
            Request::Write(write) => &write.target().id.kind.kind,
        }
    }

    fn is_batch(&self) -> bool {
        matches!(self, Request::Write(Write::Batch(_)))
    }
}

impl Fate {
    /// Whether it can befall such an operation.
    pub fn befalls(self, op: Op) -> bool {
        let writes = matches!(op, Op::Create | Op::Update | Op::Delete);
        match self {
            Fate::Well => true,
            Fate::Fails(FailureClass::Conflict, _) => matches!(op, Op::Update | Op::Delete),
            Fate::Fails(FailureClass::Exists, _) => op == Op::Create,
            Fate::Fails(FailureClass::Status(422), _) => matches!(op, Op::Create | Op::Update),
            Fate::Fails(FailureClass::Status(404), _) => matches!(op, Op::List | Op::Update),
            Fate::Fails(..) => true,
            Fate::DoneAndLost(_) | Fate::Late | Fate::Twice | Fate::Ignored | Fate::Inside => writes,
            Fate::Incomplete | Fate::Problem => op == Op::List,
            Fate::Stale | Fate::Hidden => matches!(op, Op::List | Op::Read),
        }
    }

    fn may(self, request: &Request) -> bool {
        self.befalls(request.op()) && (self != Fate::Inside || request.is_batch())
    }

    /// A fault that can befall the request; the first ones are the more likely.
    pub fn draw(request: &Request, dice: &mut Dice) -> (Option<usize>, Fate) {
        let may: Vec<usize> = (0..ROWS.len()).filter(|row| ROWS[*row].1.may(request)).collect();
        let row = dice.one(&may);
        (Some(row), ROWS[row].1)
    }

    /// The fault of a row, where it can befall the request.
    pub fn of_row(row: usize, request: &Request) -> (Option<usize>, Fate) {
        let fate = ROWS[row].1;
        if fate.may(request) { (Some(row), fate) } else { (None, Fate::Well) }
    }
}

/// All hits that are possible, but for dry runs.
pub fn possible() -> Vec<Hit> {
    let ops = [Op::List, Op::Read, Op::Follow, Op::Create, Op::Update, Op::Delete];
    let occurs = |op: Op, profile: Profile, fate: Fate| match (op, profile) {
        (Op::Create | Op::List, Profile::P7) => false,
        (Op::Follow, _) => matches!(profile, Profile::P5 | Profile::P6 | Profile::P8),
        // Only some kinds of these write several objects at once.
        _ if fate == Fate::Inside => matches!(profile, Profile::P5 | Profile::P6),
        _ => true,
    };
    let mut all = Vec::new();
    for (row, (_, fate)) in ROWS.iter().enumerate() {
        for op in ops.into_iter().filter(|op| fate.befalls(*op)) {
            let profiles = PROFILES.into_iter().filter(|profile| occurs(op, *profile, *fate));
            all.extend(profiles.map(|profile| (row, op, profile)));
        }
    }
    all
}

/// A failure as the server says it; what it says echoes what it was sent.
pub fn failure(class: FailureClass, seconds: Option<u64>, request: &Request) -> Answer {
    let echo = match request {
        Request::Write(write) if write.members().iter().any(holds_canary) => format!(" to {CANARY:?}"),
        _ => String::new(),
    };
    Answer::Failed(Failure {
        class,
        message: format!("the server said {class:?}{echo}"),
        hint: None,
        retry_after: seconds.map(Duration::from_secs),
    })
}

fn holds_canary(write: &Write) -> bool {
    let (Write::Create(_, body) | Write::Update(_, body)) = write else { return false };
    match body {
        Body::Object(value) | Body::Merge(value) => value.get("token").is_some_and(|token| token == CANARY),
        Body::JsonPatch(_) | Body::None => false,
    }
}
