//! What happens to a request on its way: faults of the transport, of proxies and of servers.

use serde_json::json;

use super::api::{Paging, URL};
use super::dice::Dice;
use super::world::{World, answer, with_header};
use crate::api::transport::{TransportClass, TransportError};
use crate::backend::wire::{HttpAnswer, HttpRequest, Role};
use crate::core::kind::Method;
use crate::core::value::Value;

/// The host that nothing of ours may reach.
const ELSEWHERE: &str = "http://evil.test/v1/things?at=0";

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    Well,
    NotSent,
    LostBefore,
    TimedOutBefore,
    LostAfter,
    TimedOutAfter,
    /// A status instead of the deed.
    Status(u16),
    /// A status after the deed.
    StatusAfter(u16),
    /// 429 or 503 with a `Retry-After`, by its number in [`RETRY_AFTER`].
    RetryAfter(u16, u8),
    Html,
    HtmlAfter,
    /// The body ends in the middle.
    Truncated,
    Empty,
    WrongType,
    /// JSON of another shape.
    OtherShape,
    ErrorInside,
    /// 207 that says of an object that it failed.
    Several,
    RedirectElsewhere(u16),
    RedirectLoop,
    /// The next page is at another origin.
    NextElsewhere,
    /// The next page is this one.
    NextRepeats,
    /// The cursor is not known any more.
    Gone,
    /// A page lacks an item, and the total counts it.
    TotalAbove,
    /// A page lacks an item, and nothing says so.
    LeftOut,
    /// An item stands twice on a page.
    Twice,
    /// An item without its key.
    Nameless,
}

/// Every form of `Retry-After`: short, absurd, and none at all.
const RETRY_AFTER: [&str; 9] = [
    "1",
    "0",
    "30",
    "999999999",
    "99999999999999999999999",
    "-1",
    "soon",
    "Wed, 21 Oct 2099 07:28:00 GMT",
    "Wed, 21 Oct 2015 07:28:00 GMT",
];

impl Fate {
    /// Draws a fault for a request.
    pub fn draw(dice: &mut Dice, request: &HttpRequest) -> Fate {
        use Fate::*;
        let common =
            [NotSent, LostBefore, TimedOutBefore, Html, Truncated, Empty, WrongType, OtherShape, ErrorInside];
        let statuses = [500, 503, 429, 502, 504, 403, 401, 404, 408, 425];
        match (request.role, dice.below(4)) {
            (_, 0) => Status(dice.one(&statuses)),
            (_, 1) if dice.percent(30) => {
                RetryAfter(dice.one(&[429, 503]), dice.below(RETRY_AFTER.len()) as u8)
            }
            (_, 1) if dice.percent(30) => {
                dice.one(&[RedirectElsewhere(302), RedirectElsewhere(307), RedirectLoop])
            }
            (Role::List, 2 | 3) => {
                dice.one(&[NextElsewhere, NextRepeats, Gone, TotalAbove, LeftOut, Twice, Nameless, Truncated])
            }
            (role, 2 | 3) if !role.is_read() => dice.one(&[
                LostAfter,
                TimedOutAfter,
                StatusAfter(500),
                StatusAfter(502),
                StatusAfter(504),
                HtmlAfter,
                Truncated,
                Several,
                Status(409),
                Status(412),
                Status(422),
            ]),
            _ => dice.one(&common),
        }
    }

    /// Whether the request reaches the server and is done.
    fn is_done(self) -> bool {
        use Fate::*;
        !matches!(
            self,
            NotSent
                | LostBefore
                | TimedOutBefore
                | Status(_)
                | RetryAfter(..)
                | Html
                | OtherShape
                | ErrorInside
                | Several
                | RedirectElsewhere(_)
                | RedirectLoop
                | Gone
        )
    }

    /// What comes back of a request that arrives at the server.
    ///
    /// # Errors
    /// What the transport says where there is no answer.
    pub fn meet(self, world: &mut World, request: &HttpRequest) -> Result<HttpAnswer, TransportError> {
        let told = if self.is_done() { Some(world.answer(request)) } else { None };
        let done = || told.clone().expect("it was done");
        let lost = |class| Err(TransportError::new(class, "the connection broke"));
        Ok(match self {
            Fate::Well => done(),
            Fate::NotSent => return lost(TransportClass::NotSent),
            Fate::LostBefore | Fate::LostAfter => return lost(TransportClass::Lost),
            Fate::TimedOutBefore | Fate::TimedOutAfter => return lost(TransportClass::TimedOut),
            Fate::Status(status) | Fate::StatusAfter(status) => world.problem(status, "trouble", request),
            Fate::RetryAfter(status, form) => {
                let told = world.problem(status, "not now", request);
                with_header(told, "retry-after", RETRY_AFTER[usize::from(form)])
            }
            Fate::Html | Fate::HtmlAfter => page("<!doctype html><title>Sign in</title>"),
            Fate::Truncated => cut(done()),
            Fate::Empty => HttpAnswer { body: Vec::new(), ..done() },
            Fate::WrongType => with_header(done(), "content-type", "text/plain"),
            Fate::OtherShape => answer(200, json!({"result": {"of": ["another", "API"]}})),
            Fate::ErrorInside => answer(200, json!({"error": {"code": 17, "message": "no"}})),
            Fate::Several => answer(207, json!({"results": [{"status": 422, "message": "no"}]})),
            Fate::RedirectElsewhere(status) => {
                with_header(answer(status, Value::Null), "location", ELSEWHERE)
            }
            Fate::RedirectLoop => {
                with_header(answer(307, Value::Null), "location", &in_a_circle(&request.url))
            }
            Fate::Gone => world.problem(410, "the cursor has expired", request),
            _ => self.spoil(world, done()),
        })
    }

    /// The page of a listing with something wrong in it.
    fn spoil(self, world: &World, told: HttpAnswer) -> HttpAnswer {
        let Ok(mut body) = serde_json::from_slice::<Value>(&told.body) else { return told };
        let listed = world.api.paging;
        let next = match self {
            Fate::NextElsewhere => Some(ELSEWHERE.to_owned()),
            Fate::NextRepeats => Some("/v1/things?at=0".to_owned()),
            _ => None,
        };
        if let (Some(next), Paging::Link) = (&next, listed) {
            return with_header(told, "link", &format!("<{next}>; rel=next"));
        }
        if let Some(next) = next {
            body["next"] = next.into();
        }
        let items = match &mut body {
            Value::Array(items) => Some(items),
            body => body.get_mut("items").and_then(Value::as_array_mut),
        };
        if let Some(items) = items {
            match self {
                Fate::Twice => items.extend(items.first().cloned()),
                Fate::Nameless => items.extend([json!({"size": 1})]),
                Fate::TotalAbove | Fate::LeftOut => drop(items.pop()),
                _ => {}
            }
        }
        if self == Fate::TotalAbove && body.is_object() {
            body["total"] = (world.objects.len() + 1).into();
        }
        let rest = HttpAnswer { body: body.to_string().into_bytes(), ..told };
        match self {
            Fate::TotalAbove if listed == Paging::Link => {
                with_header(rest, "x-total-count", &(world.objects.len() + 1).to_string())
            }
            _ => rest,
        }
    }

    /// Whether it can happen to a request. A 404 to an object's own read proves that it is not there, whoever says
    /// so: nothing can be told from a server that lies about this. A listing that leaves out an item, and does not say
    /// so, is believed of what is to go, and of what is created by POST. A PUT looks before it replaces anything.
    pub fn fits(self, request: &HttpRequest, world: &World) -> bool {
        let is_cursor = request.role == Role::List && request.method == Method::Get;
        match self {
            Fate::Gone => is_cursor,
            Fate::TotalAbove => matches!(world.api.paging, Paging::Whole | Paging::Numbers | Paging::Link),
            Fate::LeftOut => !world.api.ids && world.api.reads && world.doomed.is_empty(),
            Fate::Status(404) => request.role != Role::Read,
            _ => true,
        }
    }
}

/// In an address: it leads to itself only.
pub const CIRCLE: &str = "circle=";

fn in_a_circle(url: &str) -> String {
    let whole = url.strip_prefix('/').map_or_else(|| url.to_owned(), |below| format!("{URL}/{below}"));
    match whole.contains(CIRCLE) {
        true => whole,
        false => format!("{whole}{}{CIRCLE}", if whole.contains('?') { '&' } else { '?' }),
    }
}

fn page(text: &str) -> HttpAnswer {
    HttpAnswer { status: 200, headers: vec![("content-type".into(), "text/html".into())], body: text.into() }
}

fn cut(mut told: HttpAnswer) -> HttpAnswer {
    told.body.truncate(told.body.len() / 2);
    told
}
