//! How changes look in the file: one line for each group that was committed together.
//!
//! ```text
//! trueup-store 1
//! 8c6f1a02 93 {"clock":1,"changes":[{"put":["/teams/a",1,1,true,{"id":"a","revision":1}]}]}
//! ```
//!
//! A line is its checksum, its length and the group. Since a group is written only after the one before it is
//! on the disk, only the last line can be torn, by a crash; a bad line before it is damage. A torn line is
//! short or has holes, which read as zero bytes; a last line that is whole and wrong is damage as well.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

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
}

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
        match text(line).and_then(|text| serde_json::from_str::<Group>(text).ok()) {
            Some(group) if end.is_some() => {
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
                let json = serde_json::from_slice(&item.json).expect("an item is one JSON value");
                Record::Put(item.key.as_str(), item.seq, item.revision, item.natural, json)
            }
            Change::Removed(item) => Record::Del(item.key.as_str()),
            Change::Counted(key, id) => Record::Id(key.as_str(), *id),
            Change::Buried(key, revision) => Record::Gone(key.as_str(), *revision),
        }
    }

    /// Takes the step again; `None` when it cannot have been taken here.
    fn replay(&self, index: &mut Index) -> Option<()> {
        index.apply(&match *self {
            Record::Put(key, seq, revision, natural, json) if json.get().starts_with('{') => {
                let (key, json) = (Key::stored(key)?, json.get().to_owned().into());
                Change::Stored(Arc::new(Item { key, seq, revision, natural, json }))
            }
            Record::Put(..) => return None,
            Record::Del(key) => Change::Removed(index.item(&Key::stored(key)?)?.clone()),
            Record::Id(key, id) => Change::Counted(Key::stored(key)?, id),
            Record::Gone(key, revision) => Change::Buried(Key::stored(key)?, revision),
        });
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::value::Map;
    use crate::server::store::{Action, Condition, Write};

    /// The lines of a little history, and the content after each.
    fn history() -> (Vec<Vec<u8>>, Vec<String>) {
        let mut index = Index::default();
        let (mut lines, mut contents) = (vec![HEADER.as_bytes().to_vec()], vec![content(&index)]);
        let teams = Key::root().child("teams");
        for n in 0..24 {
            let (key, action) = match n % 4 {
                0 => (teams.clone(), Action::Create(Map::new())),
                3 => (teams.child(&format!("ü/{}", n - 1)), Action::Delete),
                _ => (teams.child(&format!("ü/{n}")), Action::Put(Map::new())),
            };
            let mut changes = Vec::new();
            let write = Write { key, condition: Condition::default(), action };
            index.perform(write, &mut changes).expect("accepted");
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
