//! What an object's own read shows: that it is there, its id, its version, and what its listing left out.

use std::collections::BTreeSet;

use super::{Evidence, SeenObject, changes, failed};
use crate::backend::etag;
use crate::backend::item::{look, version_token};
use crate::core::exchange::{Answer, Item};
use crate::core::filter::Vars;
use crate::core::kind::{Kind, ListOp, Op, Read, Version};
use crate::core::path::Path;
use crate::core::probe::{Place, Probed};
use crate::core::report::Finding;
use crate::core::value::{Value, type_name};

/// Members by which APIs count the changes of an object.
const VERSIONS: [&str; 6] = ["revision", "resourceVersion", "version", "etag", "_rev", "lock_version"];

pub fn judge(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    reads(kind, evidence, probed);
    if !evidence.values().is_empty() {
        id(kind, evidence, probed);
        version(kind, evidence, probed);
    }
    if let Some(list) = &kind.list {
        partial(kind, list, evidence, probed);
    }
}

fn reads(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    if matches!(kind.read, Read::FromList) {
        return probed.understand("read", "taken from the list");
    }
    if evidence.objects.is_empty() {
        return;
    }
    let mut found = 0;
    for object in &evidence.objects {
        let Some(first) = object.reads.first() else { continue };
        match first.as_ref().map(|read| &read.told) {
            Ok(Answer::Found(_)) => found += 1,
            Ok(Answer::Failed(failure)) => failed(probed, "ReadFailed", failure),
            Ok(_) if object.listed.is_some() => {
                let message =
                    format!("the list shows {}, and its own read says that it is not there", object.id);
                let hint = "check the path of `read`, and what it names";
                probed.contradict(Finding::new("ReadAbsent", message).hint(hint));
            }
            Ok(_) => {}
            Err(failure) => failed(probed, "ReadFailed", failure),
        }
    }
    probed.understand("read", format!("{found} of {} by themselves", evidence.objects.len()));
}

fn id(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let place = kind.id.text();
    let types: BTreeSet<&str> = evidence
        .items()
        .map(|item| &*item.value)
        .chain(evidence.values())
        .filter_map(|value| look(&kind.id, value, &Vars::default()).ok().flatten())
        .filter(|id| !id.is_null())
        .map(|id| type_name(&id))
        .collect();
    let needed = kind.ops().any(Op::needs_id);
    let missing = evidence.items().any(|item| item.server_id.is_none());
    match (types.is_empty(), needed) {
        (true, false) => probed.understand("server id", format!("none at `{place}`, and none is needed")),
        (true, true) => probed.understand("server id", format!("none at `{place}`")),
        (false, _) => {
            let types: Vec<&str> = types.into_iter().collect();
            probed.understand("server id", format!("at `{place}`: {}", types.join(" here, there ")));
        }
    }
    if needed && missing {
        let message = format!("an item has no id at `{place}`, and requests of the kind need it");
        probed.contradict(Finding::new("IdMissing", message).hint("say with `id` where an item has its id"));
    }
}

/// What is known of the `ETag` of own reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tags {
    None,
    Weak,
    Strong,
}

fn tags(evidence: &Evidence) -> Option<Tags> {
    let reads = evidence.objects.iter().filter(|object| object.found(0).is_some());
    let tag = |object: &SeenObject| {
        let header = object.reads[0].as_ref().ok()?.answer.header("etag")?;
        etag::token(header)
    };
    let tags: Vec<_> = reads.map(tag).collect();
    let all = |strong: bool| tags.iter().all(|tag| tag.as_ref().is_some_and(|tag| !tag.weak || !strong));
    match tags.len() {
        0 => None,
        _ if all(true) => Some(Tags::Strong),
        _ if all(false) => Some(Tags::Weak),
        _ => Some(Tags::None),
    }
}

fn version(kind: &Kind, evidence: &Evidence, probed: &mut Probed) {
    let tags = tags(evidence);
    let header = match tags {
        Some(Tags::Strong) => "own reads have a strong `ETag` in their header",
        Some(Tags::Weak) => "own reads have a weak `ETag`, which guards no write",
        Some(Tags::None) => "own reads have no `ETag`",
        None => "there is no own read that could have an `ETag`",
    };
    match &kind.version {
        Version::None => probed.understand("version", format!("none declared; {header}")),
        Version::ETag => probed.understand("version", format!("`etag`; {header}")),
        Version::OnItem(filter) => probed.understand("version", format!("at `{}`; {header}", filter.text())),
        Version::Request(..) => probed.understand("version", format!("by a request of its own; {header}")),
    }
    match &kind.version {
        Version::ETag if tags == Some(Tags::Weak) => probed.contradict(
            Finding::new("ETagWeak", "`version: etag`, and the `ETag` of own reads is weak")
                .hint("a weak tag never matches in `If-Match`; say where else the version stands"),
        ),
        Version::ETag if tags != Some(Tags::Strong) => {
            probed.contradict(Finding::new("ETagMissing", format!("`version: etag`, and {header}")));
        }
        Version::OnItem(filter) => {
            let at = |value: &&Value| look(filter, value, &Vars::default()).ok().flatten();
            let missing = |value: &&Value| at(value).as_ref().and_then(version_token).is_none();
            if evidence.values().iter().any(missing) {
                let message = format!("an object has no version at `{}`", filter.text());
                probed.contradict(Finding::new("VersionMissing", message));
            }
        }
        Version::None if tags == Some(Tags::Strong) => {
            probed.suggest(Place::Kind, "version: etag", "own reads have a strong `ETag`: it guards updates");
        }
        Version::None => version_on_items(evidence, probed),
        Version::ETag | Version::Request(..) => {}
    }
}

fn version_on_items(evidence: &Evidence, probed: &mut Probed) {
    let values = evidence.values();
    let has = |around: Option<&str>, name: &str| {
        let around = |value: &'_ Value| around.map_or(Some(value.clone()), |name| value.get(name).cloned());
        let number = |value: Value| value.get(name).is_some_and(|one| one.is_u64() || one.is_string());
        values.iter().all(|value| around(value).is_some_and(number))
    };
    let place = |around: Option<&'static str>| {
        let name = VERSIONS.iter().find(|name| has(around, name))?;
        Some(format!("{}.{name}", around.map_or(String::new(), |around| format!(".{around}"))))
    };
    if let Some(place) = place(None).or_else(|| place(Some("metadata"))) {
        let why = "if it changes with each update, it guards them";
        probed.suggest(Place::Kind, format!("version: {place}"), why);
    }
}

/// Fields that an object's own read has, and its item in the listing has not.
fn partial(kind: &Kind, list: &ListOp, evidence: &Evidence, probed: &mut Probed) {
    let pairs: Vec<(&Item, &Item)> = evidence
        .objects
        .iter()
        .filter_map(|object| Some((object.listed.as_ref()?, object.found(0)?)))
        .collect();
    let moving: BTreeSet<String> = evidence
        .twice()
        .into_iter()
        .flat_map(|(a, b)| changes::between(a, b))
        .map(|p| p.to_string())
        .collect();
    let mut lacking: BTreeSet<&str> = BTreeSet::new();
    for (listed, read) in &pairs {
        for (name, value) in read.value.as_object().into_iter().flatten() {
            let path = Path::root().field(name);
            let owned = kind.fields.at(&path).here.not_compared() || moving.contains(&path.to_string());
            if !value.is_null() && listed.value.get(name).is_none() && !owned {
                lacking.insert(name);
            }
        }
    }
    let names = some_of(&lacking);
    if list.partial && lacking.is_empty() && !pairs.is_empty() {
        let message = "`partial: true`, and the items of the listing lack nothing that own reads have";
        probed.unconfirmed.push(
            Finding::new("PartialNeedless", message).hint("without it, one request serves many objects"),
        );
    }
    if list.partial || lacking.is_empty() {
        return;
    }
    if asks_for_columns(list, &pairs) {
        return probed.understand("left out", format!("{names}, as the listing asks for some fields only"));
    }
    let message = format!("own reads have what the items of the listing lack: {names}");
    let hint = "say `partial: true` of `list`; or `server-owned` of fields that are not yours to set";
    probed.contradict(Finding::new("PartialUndeclared", message).hint(hint));
}

/// The first names, and how many more there are.
fn some_of(names: &BTreeSet<&str>) -> String {
    const MOST: usize = 8;
    let quoted = names.iter().take(MOST).map(|name| format!("`{name}`"));
    let text = quoted.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// Whether the request of the listing names fields of the items: then what is missing is left out on purpose.
fn asks_for_columns(list: &ListOp, pairs: &[(&Item, &Item)]) -> bool {
    let has = |name: &str| pairs.iter().any(|(listed, _)| listed.value.get(name).is_some());
    list.op.query.iter().any(|(_, value)| {
        let text = value.literal().unwrap_or_default();
        text.contains(',') && text.split(',').filter(|name| has(name.trim())).count() > 1
    })
}
