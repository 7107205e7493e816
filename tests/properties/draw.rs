//! Values, desired trees and rules from a seed, without the cost of a strategy: what `make` makes, many times faster.

use trueup::core::fields::{Clear, Comparer, FieldRule, FieldRules};
use trueup::core::node::{Node, Pos, Secret, Want};
use trueup::core::path::{Path, Step};
use trueup::core::value::{Map, Value};

/// Draws from a seed (SplitMix64).
pub struct Draw(u64);

const NAMES: [&str; 9] = ["a", "b", "c", "name", "id", "x/y~z", "", "p.q", "*"];
const TEXTS: [&str; 14] = [
    "",
    "x",
    "y",
    "10.0.0.1",
    "2001:DB8::1",
    "1Gi",
    "90s",
    "***",
    "~/",
    "no",
    "0x1f",
    "- a: b",
    " lead",
    "ä\u{1f600}\n\tz",
];
const NUMBERS: [&str; 12] = [
    "0",
    "-0",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "2",
    "-7.250",
    "18446744073709551616",
    "1.8446744073709551616e19",
    "1e400",
    "0.10000000000000000001",
];

/// Pieces of written paths.
pub const PIECES: [&str; 14] =
    ["a", ".", "[", "]", "[*]", "\"", "=", "[0]", "[n=x]", "\\", "[\"b\"]", "ä", "$", " "];

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    pub fn chance(&mut self, hundredths: usize) -> bool {
        self.below(100) < hundredths
    }

    pub fn one<T: Clone>(&mut self, among: &[T]) -> T {
        among[self.below(among.len())].clone()
    }

    pub fn name(&mut self) -> String {
        self.one(&NAMES).into()
    }

    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.below(256) as u8).collect()
    }

    pub fn scalar(&mut self) -> Value {
        match self.below(7) {
            0 => Value::Null,
            1 => self.chance(50).into(),
            2 | 3 => serde_json::from_str(self.one(&NUMBERS)).expect("a number"),
            _ => self.one(&TEXTS).into(),
        }
    }

    /// Any JSON value, a map most of the time.
    pub fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 1 } else { 4 }) {
            0 => self.scalar(),
            1 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object((0..self.below(4)).map(|_| (self.name(), self.value(depth - 1))).collect()),
        }
    }

    /// A value in one of the spellings that comparers know, or nearly.
    pub fn spelled(&mut self) -> Value {
        const SPELLED: [&str; 30] = [
            "1",
            "1.0",
            "1000m",
            "1k",
            "1Ki",
            "1024",
            "0.5",
            "500m",
            "1e3",
            "60s",
            "1m",
            "1m0s",
            "3600s",
            "1h",
            "PT1H",
            "2020-01-01T00:00:00Z",
            "2020-01-01T01:00:00+01:00",
            "2020-01-01T00:00:00.000Z",
            "10.0.0.1",
            "10.0.0.1/32",
            "10.0.0.0/8",
            "10.1.2.3/8",
            "::1",
            "0:0::1/128",
            "http://h",
            "http://h/",
            "HTTP://H:80/",
            "http://h/%7ea",
            "http://h/~a",
            "x",
        ];
        let text = self.one(&SPELLED);
        match self.below(4) {
            0 => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            1 => format!(" {text}").into(),
            _ => text.into(),
        }
    }

    /// A desired body.
    pub fn desired(&mut self) -> Node {
        self.map(3)
    }

    fn map(&mut self, depth: usize) -> Node {
        let members = (0..1 + self.below(4)).map(|_| (self.name(), self.tree(depth)));
        node(Want::Map(members.collect()))
    }

    fn tree(&mut self, depth: usize) -> Node {
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 | 1 => node(self.leaf()),
            6 => node(Want::List((0..self.below(5)).map(|_| node(self.leaf())).collect())),
            2 => node(Want::List((0..self.below(4)).map(|_| self.tree(depth - 1)).collect())),
            3 => node(Want::List((0..self.below(4)).map(|_| self.map(depth - 1)).collect())),
            _ => self.map(depth - 1),
        }
    }

    fn leaf(&mut self) -> Want {
        match self.below(12) {
            0 => Want::Unset,
            1 => Want::Secret(Secret::new("env:SECRET", Some("s3cret".into()))),
            2 => Want::Secret(Secret::new("env:MISSING", None)),
            _ => Want::Json(self.scalar()),
        }
    }

    /// What a server may have for something desired: the same, with something else here and there.
    pub fn near(&mut self, desired: &Node) -> Value {
        let value = stored(desired);
        self.edited(&value)
    }

    /// A value with something else here and there.
    pub fn edited(&mut self, value: &Value) -> Value {
        match value {
            _ if self.chance(7) => self.value(2),
            Value::Object(map) => {
                let mut map: Map<String, Value> =
                    map.iter().map(|(name, member)| (name.clone(), self.edited(member))).collect();
                if self.chance(25) {
                    map.insert(self.name(), self.value(1));
                }
                map.retain(|_, _| !self.chance(6));
                Value::Object(map)
            }
            Value::Array(items) => {
                let mut items: Vec<Value> = items.iter().map(|item| self.edited(item)).collect();
                if self.chance(15) {
                    let by = self.below(items.len());
                    items.rotate_left(by);
                }
                if self.chance(10) {
                    items.push(self.value(1));
                }
                if self.chance(10) && !items.is_empty() {
                    items.remove(self.below(items.len()));
                }
                items.into()
            }
            scalar => scalar.clone(),
        }
    }

    /// A few words at a few paths, most of which lead somewhere in what is desired.
    pub fn rules(&mut self, desired: &Node) -> FieldRules {
        let mut rules = FieldRules::default();
        for _ in 0..self.below(5) {
            let path = if self.chance(60) { self.path_in(desired) } else { self.path() };
            *rules.at_mut(&Path(path)) = self.word();
        }
        rules
    }

    fn path(&mut self) -> Vec<Step> {
        let mut path = vec![Step::Field(self.name())];
        for _ in 0..self.below(3) {
            path.push(if self.chance(30) { Step::Each } else { Step::Field(self.name()) });
        }
        path
    }

    /// A path of something in a tree.
    fn path_in(&mut self, tree: &Node) -> Vec<Step> {
        let mut path = Vec::new();
        let mut at = tree;
        while path.is_empty() || self.chance(60) {
            let (step, below) = match &at.want {
                Want::Map(members) => match members.iter().nth(self.below(members.iter().count())) {
                    Some((name, member)) => (Step::Field(name.to_string()), member),
                    None => break,
                },
                Want::List(items) if !items.is_empty() => (Step::Each, &items[self.below(items.len())]),
                _ => break,
            };
            path.push(step);
            at = below;
        }
        path
    }

    fn word(&mut self) -> FieldRule {
        let rule = FieldRule::default();
        match self.below(12) {
            0 => FieldRule { server_owned: true, ..rule },
            1 => FieldRule { write_only: true, ..rule },
            2 => FieldRule { ignore: true, ..rule },
            3 => FieldRule { closed: true, ..rule },
            4 => FieldRule { open: true, ..rule },
            5 => FieldRule { clear: Some(self.one(&[Clear::Null, Clear::Empty, Clear::Omit])), ..rule },
            6 => FieldRule { default: Some(self.value(1)), ..rule },
            _ => {
                let comparers = [
                    Comparer::Set,
                    Comparer::Ordered,
                    Comparer::KeyedBy("a".into()),
                    Comparer::Quantity,
                    Comparer::Cidr,
                    Comparer::Duration,
                ];
                FieldRule { compare: Some(self.one(&comparers)), ..rule }
            }
        }
    }
}

fn node(want: Want) -> Node {
    Node::new(Pos::default(), want)
}

fn stored(desired: &Node) -> Value {
    match &desired.want {
        Want::Json(value) => value.clone(),
        Want::Secret(_) => "s3cret".into(),
        Want::List(items) => items.iter().map(stored).collect(),
        Want::Map(map) => {
            let set = map.iter().filter(|(_, member)| member.want != Want::Unset);
            Value::Object(set.map(|(name, member)| (name.to_string(), stored(member))).collect())
        }
        _ => Value::Null,
    }
}
