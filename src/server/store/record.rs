//! How changes look in the file: one line for each group that was committed together.
//!
//! ```text
//! trueup-store 1
//! 8c6f1a02 93 {"clock":1,"changes":[{"put":["/teams/a",1,1,true,{"id":"a","revision":1}]}]}
//! ```
//!
//! What a plain item does not have is in records of their own (`more`, `answered`, `apart`), so that stores
//! without it look as they always did.
//!
//! A line is its checksum, its length and the group. Since a group is written only after the one before it is
//! on the disk, only the last line can be torn, by a crash; a bad line before it is damage. A torn line is
//! short or has holes, which read as zero bytes; a last line that is whole and wrong is damage as well.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::server::ownership::{Field, Managers, Mode};

use super::answers::Answered;
use super::index::{Change, Index};
use super::item::Item;
use super::key::Key;

/// The first line; its number is that of the format.
pub const HEADER: &str = "trueup-store 1\n";

/// Why a file cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    #[error("it is no store of this version: its first line is `{0}`")]
    Header(String),
    #[error("line {line} is damaged: {what}")]
    Line { line: usize, what: &'static str },
    #[error("line {line} is of a later version")]
    Later { line: usize },
}

#[derive(Serialize, Deserialize)]
struct Group<'a> {
    /// The clock after these changes.
    clock: u64,
    #[serde(borrow)]
    changes: Vec<Record<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Record<'a> {
    /// Path, place in the order of creation, revision, whether the name is the client's, the item.
    Put(&'a str, u64, u64, bool, #[serde(borrow)] &'a RawValue),
    Del(&'a str),
    /// A collection and the last id that the server gave out in it.
    Id(&'a str, u64),
    /// A removed item whose name may come back, and its last revision.
    Gone(&'a str, u64),
    /// As `put`, of an item that has more to it.
    More(&'a str, u64, u64, bool, #[serde(borrow)] &'a RawValue, #[serde(borrow)] More<'a>),
    /// A collection, the idempotency key of a create there, and the item that it made, as in `put`.
    Answered(&'a str, Cow<'a, str>, &'a str, u64, u64, bool, #[serde(borrow)] &'a RawValue),
    /// The name of collections that keep the status of their items apart.
    Apart(Cow<'a, str>),
}

/// What a plain item does not have.
#[derive(Serialize, Deserialize)]
struct More<'a> {
    /// The revision at which its deletion was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleting: Option<u64>,
    /// Field managers: the name, whether it applied, and the fields that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    managers: Option<Vec<Held<'a>>>,
}

type Held<'a> = (Cow<'a, str>, bool, Cow<'a, BTreeSet<Field>>);

/// The line of a group.
pub fn encode(changes: &[Change], clock: u64) -> Vec<u8> {
    let group = Group { clock, changes: changes.iter().map(Record::of).collect() };
    let text = serde_json::to_string(&group).expect("records are plain JSON");
    format!("{:08x} {} {text}\n", crc32fast::hash(text.as_bytes()), text.len()).into_bytes()
}

/// Reads a file: the index, and how many bytes of the file hold it. What follows is a torn line.
pub fn decode(file: &[u8]) -> Result<(Index, usize), Damage> {
    let mut index = Index::default();
    let Some(mut rest) = file.strip_prefix(HEADER.as_bytes()) else {
        // A crash in the very first write leaves a part of the header.
        if HEADER.as_bytes().starts_with(file) {
            return Ok((index, 0));
        }
        let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(&first[..first.len().min(40)]);
        return Err(Damage::Header(first.escape_debug().to_string()));
    };
    let mut clock = 0;
    let mut number = 1;
    while !rest.is_empty() {
        number += 1;
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (line, after) = end.map_or((rest, &rest[rest.len()..]), |end| (&rest[..end], &rest[end + 1..]));
        match text(line) {
            Some(text) if end.is_some() => {
                let group: Group = serde_json::from_str(text).map_err(|_| Damage::Later { line: number })?;
                let applied = group.changes.iter().try_for_each(|record| record.replay(&mut index));
                applied.ok_or(Damage::Line { line: number, what: "it does not fit the lines before it" })?;
                clock = group.clock;
                rest = after;
            }
            _ if after.is_empty() && (end.is_none() || line.contains(&0)) => break,
            _ => return Err(Damage::Line { line: number, what: "its checksum is wrong" }),
        }
    }
    index.resume(clock);
    Ok((index, file.len() - rest.len()))
}

/// The group's text, if checksum and length agree with it.
fn text(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (checksum, rest) = line.split_once(' ')?;
    let (length, text) = rest.split_once(' ')?;
    let agrees = u32::from_str_radix(checksum, 16).ok()? == crc32fast::hash(text.as_bytes());
    (agrees && length.parse() == Ok(text.len())).then_some(text)
}

impl<'a> Record<'a> {
    fn of(change: &'a Change) -> Record<'a> {
        match change {
            Change::Stored(item) => {
                let (key, json) = (item.key.as_str(), raw(item));
                match More::of(item) {
                    None => Record::Put(key, item.seq, item.revision, item.natural, json),
                    Some(more) => Record::More(key, item.seq, item.revision, item.natural, json, more),
                }
            }
            Change::Answered(Answered { collection, sent, item }) => Record::Answered(
                collection.as_str(),
                sent.into(),
                item.key.as_str(),
                item.seq,
                item.revision,
                item.natural,
                raw(item),
            ),
            Change::Apart(name) => Record::Apart(name.into()),
            Change::Removed(item) => Record::Del(item.key.as_str()),
            Change::Counted(key, id) => Record::Id(key.as_str(), *id),
            Change::Buried(key, revision) => Record::Gone(key.as_str(), *revision),
        }
    }

    /// Takes the step again; `None` when it cannot have been taken here.
    fn replay(&self, index: &mut Index) -> Option<()> {
        index.apply(&match self {
            Record::Put(key, seq, revision, natural, json) => {
                Change::Stored(stored(key, *seq, *revision, *natural, json)?.into())
            }
            Record::More(key, seq, revision, natural, json, more) => {
                let plain = stored(key, *seq, *revision, *natural, json)?;
                Change::Stored(Item { deleting: more.deleting, managers: more.managers(), ..plain }.into())
            }
            Record::Del(key) => Change::Removed(index.item(&Key::stored(key)?)?.clone()),
            Record::Id(key, id) => Change::Counted(Key::stored(key)?, *id),
            Record::Gone(key, revision) => Change::Buried(Key::stored(key)?, *revision),
            Record::Answered(collection, sent, key, seq, revision, natural, json) => {
                let item = stored(key, *seq, *revision, *natural, json)?.into();
                Change::Answered(Answered {
                    collection: Key::stored(collection)?,
                    sent: sent.to_string(),
                    item,
                })
            }
            Record::Apart(name) => Change::Apart(name.to_string()),
        });
        Some(())
    }
}

impl<'a> More<'a> {
    fn of(item: &'a Item) -> Option<More<'a>> {
        let managers = item.managers.as_ref().map(|managers| {
            let sets = managers.sets();
            sets.map(|(name, mode, held)| (name.into(), mode == Mode::Apply, Cow::Borrowed(held))).collect()
        });
        let more = More { deleting: item.deleting, managers };
        (more.deleting.is_some() || more.managers.is_some()).then_some(more)
    }

    fn managers(&self) -> Option<Arc<Managers>> {
        let mode = |applied| if applied { Mode::Apply } else { Mode::Update };
        let sets = self.managers.as_ref()?.iter();
        let sets =
            sets.map(|(name, applied, held)| (name.to_string(), mode(*applied), held.clone().into_owned()));
        Some(Arc::new(Managers::from_sets(sets)))
    }
}

/// The text of an item, as a part of a line.
fn raw(item: &Item) -> &RawValue {
    serde_json::from_slice(&item.json).expect("an item is one JSON value")
}

/// A plain item of a record; `None` where it is no object, or its path none that was made here.
fn stored(key: &str, seq: u64, revision: u64, natural: bool, json: &RawValue) -> Option<Item> {
    let json = json.get();
    let key = Key::stored(key)?;
    json.starts_with('{').then(|| Item {
        key,
        seq,
        revision,
        natural,
        deleting: None,
        managers: None,
        json: json.to_owned().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::Map;
    use crate::server::store::{Action, Patch, Write};

    /// The lines of a little history with something of everything, and the content after each.
    fn history() -> (Vec<Vec<u8>>, Vec<String>) {
        let mut index = Index::default();
        let (mut lines, mut contents) = (vec![HEADER.as_bytes().to_vec()], vec![content(&index)]);
        let teams = Key::root().child("teams");
        let body = |text: &str| serde_json::from_str::<Map<_, _>>(text).expect("a map");
        let apply = |text: &str| Action::Patch(Patch::Apply { config: body(text), force: true });
        for n in 0..24 {
            let kept = teams.child(&format!("kept {n}"));
            let writes = match n % 6 {
                0 => vec![(teams.clone(), Action::Create { body: Map::new(), idempotency_key: None })],
                3 => vec![(teams.child(&format!("ü/{}", n - 1)), Action::Delete)],
                4 => {
                    let idempotency_key = Some(format!("{n}\\"));
                    vec![(teams.clone(), Action::Create { body: body("{\"n\": 1}"), idempotency_key })]
                }
                5 => vec![
                    (kept.clone(), apply(r#"{"a\"b": {"c": 1}, "finalizers": ["x"]}"#)),
                    (kept, Action::Delete),
                ],
                _ => vec![(teams.child(&format!("ü/{n}")), Action::Put(Map::new()))],
            };
            let mut changes = Vec::new();
            if n == 7 {
                changes = index.declare_apart(&["te\"ams".to_owned()]).expect("nothing is in the way");
                changes.iter().for_each(|change| index.apply(change));
            }
            for (key, action) in writes {
                let by = format!("\"{n}\"");
                index.perform(Write { by, ..Write::new(key, action) }, &mut changes).expect("accepted");
            }
            lines.push(encode(&changes, index.clock()));
            contents.push(content(&index));
        }
        (lines, contents)
    }

    /// All that must survive.
    fn content(index: &Index) -> String {
        encode(&index.snapshot(), index.clock()).escape_ascii().to_string()
    }

    #[test]
    fn a_file_cut_anywhere_holds_all_whole_lines_before_the_cut() {
        let (lines, contents) = history();
        let file = lines.concat();
        for cut in 0..=file.len() {
            let (mut whole, mut length) = (0, 0);
            while whole < lines.len() && length + lines[whole].len() <= cut {
                length += lines[whole].len();
                whole += 1;
            }
            let (index, good) = decode(&file[..cut]).expect("no damage");
            assert_eq!(good, length, "cut at {cut}");
            assert_eq!(content(&index), contents[whole.saturating_sub(1)], "cut at {cut}");
        }
    }

    #[test]
    fn a_changed_byte_is_damage_wherever_it_is() {
        let (lines, _) = history();
        let file = lines.concat();
        let mut random = fastrand::Rng::with_seed(3);
        for at in 0..file.len() - 1 {
            let mut bad = file.clone();
            bad[at] ^= random.u8(1..);
            match decode(&bad) {
                // Holes are what a crash leaves, in the last line only.
                Ok((_, good)) => assert!(bad[at] == 0 && good == file.len() - lines[24].len(), "at {at}"),
                Err(Damage::Header(_)) => assert!(at < HEADER.len(), "at {at}"),
                Err(Damage::Line { .. }) => assert!(at >= HEADER.len(), "at {at}"),
                Err(later) => panic!("at {at}: {later}"),
            }
        }
    }

    #[test]
    fn what_is_no_store_is_named() {
        for (file, want) in [
            ("hello\nworld", "it is no store of this version: its first line is `hello`"),
            ("trueup-store 2\n", "it is no store of this version: its first line is `trueup-store 2`"),
            ("trueup-store 1\nx\ny\n", "line 2 is damaged: its checksum is wrong"),
        ] {
            assert_eq!(decode(file.as_bytes()).map(|_| ()).expect_err(file).to_string(), want);
        }
    }

    #[test]
    fn lines_that_were_made_up_are_damage() {
        for text in [
            r#"{"clock":1,"changes":[{"del":"/teams/a"}]}"#,
            r#"{"clock":1,"changes":[{"put":["/teams/%zz",1,1,true,{}]}]}"#,
            r#"{"clock":1,"changes":[{"put":["/teams/a",1,1,true,[]]}]}"#,
        ] {
            let line = format!("{HEADER}{:08x} {} {text}\n", crc32fast::hash(text.as_bytes()), text.len());
            let want = Damage::Line { line: 2, what: "it does not fit the lines before it" };
            assert_eq!(decode(line.as_bytes()).map(|_| ()), Err(want), "{text}");
        }
    }

    #[test]
    fn a_store_of_plain_items_looks_as_it_always_did() {
        let text = r#"{"clock":3,"changes":[{"gone":["/teams/b",4]},{"id":["/teams",1]},{"put":["/teams/1",1,1,false,{"id":1,"revision":1}]},{"put":["/teams/a",2,7,true,{"deletionRevision":9,"finalizers":5,"id":"a","revision":7}]}]}"#;
        let line = format!("{:08x} {} {text}\n", crc32fast::hash(text.as_bytes()), text.len());
        let file = [HEADER, &line].concat();
        let (index, good) = decode(file.as_bytes()).expect("no damage");
        assert_eq!((good, encode(&index.snapshot(), 3)), (file.len(), line.into_bytes()));
        let item = index.item(&Key::root().child("teams").child("a")).expect("an item");
        assert_eq!((item.deleting, &item.managers), (None, &None), "what it holds is data, as it was");
    }

    #[test]
    fn a_record_of_a_later_version_is_said_to_be_one() {
        let text = r#"{"clock":1,"changes":[{"folded":["/teams/a"]}]}"#;
        let line = format!("{HEADER}{:08x} {} {text}\n", crc32fast::hash(text.as_bytes()), text.len());
        let error = decode(line.as_bytes()).map(|_| ()).expect_err("unknown").to_string();
        assert_eq!(error, "line 2 is of a later version");
    }

    #[test]
    fn a_snapshot_says_all_that_the_history_says() {
        let (lines, _) = history();
        let (index, _) = decode(&lines.concat()).expect("no damage");
        let short = [HEADER.as_bytes(), &encode(&index.snapshot(), index.clock())].concat();
        let (again, good) = decode(&short).expect("no damage");
        assert_eq!((content(&again), good), (content(&index), short.len()));
        assert_eq!(again.clock(), index.clock());
        assert_eq!(again.last_revision(&Key::root().child("teams").child("ü/2")), 1);
    }
}
