//! The request that opens a change feed, from a position or from now on.

use crate::core::exchange::{Collection, Failure};
use crate::core::feed::{Watch, WatchBy};
use crate::core::kind::{Op, Piece, Template};

use super::super::body::{self, Sent};
use super::super::path::Fill;
use super::super::request::{Site, build, filter_failure, vars};
use super::super::wire::{HttpRequest, Role};

/// The header that server-sent events go on by.
const LAST_EVENT_ID: &str = "last-event-id";

/// The request of a feed. Query parameters and headers that name `{position}` are left out where none is known.
/// `seconds`: how long Kubernetes is to keep the stream open.
///
/// # Errors
/// The backend's own faults: a placeholder without a value, a filter that fails.
pub fn open(
    site: &Site,
    watch: &Watch,
    collection: &Collection,
    position: Option<&str>,
    seconds: u64,
) -> Result<HttpRequest, Failure> {
    let mut op = at(&watch.op, position);
    let says =
        watch.says_position() || op.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(LAST_EVENT_ID));
    if let Some(position) = position.filter(|_| watch.by == WatchBy::Sse && !says) {
        op.headers.push((LAST_EVENT_ID.into(), literal(position)));
    }
    let accept = match watch.by {
        WatchBy::Sse => "text/event-stream",
        WatchBy::Lines => "application/x-ndjson, application/json;q=0.9, */*;q=0.1",
        WatchBy::Poll | WatchBy::Kubernetes => "application/json, */*;q=0.1",
    };
    let mut unsaid = |name: &str, value: &str| {
        if !op.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name)) {
            op.headers.push((name.into(), literal(value)));
        }
    };
    unsaid("accept", accept);
    if watch.by == WatchBy::Sse {
        unsaid("cache-control", "no-store");
    }
    if watch.by == WatchBy::Kubernetes && !op.query.iter().any(|(name, _)| name == "timeoutSeconds") {
        op.query.push(("timeoutSeconds".into(), literal(&seconds.to_string())));
    }
    filled(site, &op, collection, position)
}

/// The request that tells where the feed of Kubernetes stands: the smallest listing there is.
///
/// # Errors
/// As [`open`].
pub fn standing(site: &Site, watch: &Watch, collection: &Collection) -> Result<HttpRequest, Failure> {
    const OF_WATCHES: [&str; 4] = ["watch", "allowWatchBookmarks", "resourceVersion", "timeoutSeconds"];
    let mut op = at(&watch.op, None);
    op.query.retain(|(name, _)| !OF_WATCHES.contains(&&**name));
    op.query.push(("limit".into(), literal("1")));
    filled(site, &op, collection, None)
}

fn filled(
    site: &Site,
    op: &Op,
    collection: &Collection,
    position: Option<&str>,
) -> Result<HttpRequest, Failure> {
    let mut vars = vars(&collection.scope, &collection.parent_ids, None);
    vars.0.push(("page", position.map_or(serde_json::Value::Null, Into::into)));
    let body = body::filtered(op, Sent::nothing(), &vars).map_err(filter_failure)?;
    let fill = Fill {
        key: &collection.scope,
        parent_ids: &collection.parent_ids,
        id: None,
        version: None,
        changed: &[],
        owner: &site.owner,
    };
    build(site, op, Role::List, &fill, body)
}

/// The operation at a position.
fn at(op: &Op, position: Option<&str>) -> Op {
    let mut op = op.clone();
    for pairs in [&mut op.query, &mut op.headers] {
        pairs.retain(|(_, template)| position.is_some() || !template.0.contains(&Piece::Position));
        for piece in pairs.iter_mut().flat_map(|(_, template)| &mut template.0) {
            if let (Piece::Position, Some(position)) = (&*piece, position) {
                *piece = Piece::Literal(position.into());
            }
        }
    }
    op
}

fn literal(text: &str) -> Template {
    Template(vec![Piece::Literal(text.into())])
}
