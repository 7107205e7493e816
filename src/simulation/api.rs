//! The APIs of the model server, as data: how one pages, tells versions and is written, with the backend document
//! that describes it in the backend language. Any way of paging goes with any of the others.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::dice::Dice;
use crate::backend::connection::{Address, Auth, Connection, Credential, Limits, Text, Tls};
use crate::backend::language;
use crate::core::kind::Kind;
use crate::core::node::Secret;
use crate::core::raw::Source;
use crate::manifest::yaml;

/// Where the model server is.
pub const URL: &str = "http://api.test/v1";
/// The token of each request. It must never be seen anywhere else.
pub const TOKEN: &str = "canary-token-0b6f7d5c1e9a4f3280";
/// The value of a secret field.
pub const PASSWORD: &str = "canary-field-71c2aa90d4e84b6f1d";

/// How a listing goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paging {
    Whole,
    /// Numbers from 1, with the number of all in the body.
    Numbers,
    Offset,
    /// A token of the server's.
    Token,
    /// A URL in the body.
    Url,
    Link,
    /// After the last id that was seen, up to an empty page.
    LastId,
}

/// How a write is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Versions {
    None,
    /// A strong entity tag, and `If-Match`.
    Strong,
    Weak,
    /// A tag that a compressing proxy has changed: the server behind it does not know it.
    Proxied,
    /// `rev` in the body of an update.
    InBody,
    /// `?rev=` of an update.
    InQuery,
}

/// What an update sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    Put,
    Merge,
    JsonPatch,
}

/// One API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Api {
    pub paging: Paging,
    pub versions: Versions,
    pub update: Update,
    /// POST makes an id, and takes a second object of a name. Else PUT under the name.
    pub ids: bool,
    /// Whether an object has a read of its own.
    pub reads: bool,
}

/// What a page holds at most.
pub const PAGE: usize = 2;

/// The words of the fields, where a schedule has no others.
pub const FIELDS: &str = "tags: set, ports: key=name, token: write-only";

pub const PAGINGS: [Paging; 7] = [
    Paging::Whole,
    Paging::Numbers,
    Paging::Offset,
    Paging::Token,
    Paging::Url,
    Paging::Link,
    Paging::LastId,
];
pub const VERSIONS: [Versions; 6] = [
    Versions::None,
    Versions::Strong,
    Versions::Weak,
    Versions::Proxied,
    Versions::InBody,
    Versions::InQuery,
];
const UPDATES: [Update; 3] = [Update::Put, Update::Merge, Update::JsonPatch];

thread_local! {
    /// Reading the language costs as much as a schedule.
    static KINDS: RefCell<HashMap<Api, Arc<Kind>>> = RefCell::default();
}

impl Api {
    pub fn draw(dice: &mut Dice) -> Api {
        let paging = dice.one(&PAGINGS);
        let versions = dice.one(&VERSIONS);
        let update = match versions {
            // A JSON Patch has no place for it.
            Versions::InBody => dice.one(&UPDATES[..2]),
            _ => dice.one(&UPDATES),
        };
        let ids = dice.percent(40);
        // A listing tells no entity tag.
        let tagged = matches!(versions, Versions::Strong | Versions::Weak | Versions::Proxied);
        Api { paging, versions, update, ids, reads: tagged || !dice.percent(20) }
    }

    /// The kind as its backend document makes it.
    pub fn kind(&self) -> Arc<Kind> {
        let known = KINDS.with_borrow(|kinds| kinds.get(self).cloned());
        known.unwrap_or_else(|| {
            let kind = Arc::new(self.kind_with(FIELDS));
            KINDS.with_borrow_mut(|kinds| kinds.insert(*self, kind.clone()));
            kind
        })
    }

    /// The kind with these words of its fields.
    pub fn kind_with(&self, fields: &str) -> Kind {
        let source = Arc::new(Source { file: "backend.yaml".into(), text: self.document(fields) });
        let documents = yaml::parse(&source).unwrap_or_else(|p| panic!("{p:?}\n{}", source.text));
        let (mut kinds, problems) = language::kinds(&documents[0]);
        let problems: Vec<_> = problems.iter().filter(|problem| !problem.warning).collect();
        assert!(problems.is_empty(), "{problems:?}\n{}", source.text);
        kinds.remove(0)
    }

    /// The backend document.
    fn document(&self, fields: &str) -> String {
        let mut text = format!(
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: model}}\nspec:\n  url: {URL}\n  kinds:\n    Thing:\n"
        );
        let mut word = |line: &str| text.push_str(&format!("      {line}\n"));
        word("key: {name: .name}");
        word(match self.paging {
            Paging::Whole => "list: {request: GET /things, items: .items}",
            Paging::Numbers => {
                "list: {request: GET /things, items: .items, page: {by: page, size: 2, total: .count}}"
            }
            Paging::Offset => "list: {request: GET /things, items: .items, page: {by: offset, size: 2}}",
            Paging::Token => "list: {request: GET /things, items: .items, page: {by: cursor, next: .next}}",
            Paging::Url => "list: {request: GET /things, items: .items, page: {by: url, next: .next}}",
            Paging::Link => "list: {request: GET /things, page: {by: link}}",
            Paging::LastId => {
                "list: {request: GET /things, items: .items, page: {by: cursor, param: after, next: '.items[-1].id'}}"
            }
        });
        let at = if self.ids { "/things/{id}" } else { "/things/{name}" };
        if self.reads {
            word(&format!("read: GET {at}"));
        }
        match self.ids {
            true => word("create: POST /things"),
            false => word("create: PUT /things/{name}"),
        }
        let (query, body) = match self.versions {
            Versions::InBody => ("", ", body: '. + {rev: $version}'"),
            Versions::InQuery => ("?rev={version}", ""),
            _ => ("", ""),
        };
        let (method, send) = match self.update {
            Update::Put => ("PUT", ""),
            Update::Merge => ("PATCH", ""),
            Update::JsonPatch => ("PATCH", ", send: json-patch"),
        };
        word(&format!("update: {{request: '{method} {at}{query}'{send}{body}}}"));
        word(&format!("delete: DELETE {at}"));
        match self.versions {
            Versions::None => {}
            Versions::InBody | Versions::InQuery => word("version: .rev"),
            _ => word("version: etag"),
        }
        word(&format!("fields: {{id: server-owned, rev: server-owned, {fields}}}"));
        text
    }
}

/// How the model server is reached.
pub fn connection() -> Connection {
    let token = Secret::new("env:TOKEN", Some(TOKEN.into()));
    Connection {
        owner: "trueup".into(),
        name: "model".into(),
        address: Address::Http(URL.into()),
        auth: Some(Auth::Bearer(Credential::Text(Text::Secret(token)))),
        tls: Tls::default(),
        headers: Vec::new(),
        limits: Limits::default(),
    }
}

#[test]
fn every_api_is_described_in_the_language() {
    let mut seen = std::collections::HashSet::new();
    for seed in 0..2_000 {
        let api = Api::draw(&mut Dice::new(seed));
        api.kind();
        seen.insert(api);
    }
    assert!(seen.len() > 250, "{}", seen.len());
}
