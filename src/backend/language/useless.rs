//! Words that stand where they can do nothing: of an operation, of a page, of a kind without the operation that
//! they are about; and requests that only look and could change something. A word without effect is a
//! misunderstanding that would otherwise be found out on a live server.

use super::listing::PAGE_BY;
use super::reader::Reader;
use crate::core::filter::Filter;
use crate::core::idempotency::Idempotency;
use crate::core::kind::{Kind, ListOp, Method, Op, PageBy, Read, Version};
use crate::core::node::{Node, Pos, Want};

/// What is said of one write, and means nothing to a request that only looks.
const OF_WRITES: [&str; 6] = ["id", "send", "batch", "wait", "forced", "idempotency"];
/// What is said of a create, and why it is of no use elsewhere.
const OF_CREATES: [(&str, &str); 2] = [
    ("id", "it is where the answer to a create has the new id"),
    ("idempotency", "other writes are looked at before they are done again"),
];

/// Checks all operations of a kind, and the words beside them.
pub fn check(reader: &mut Reader, kind: &Kind, node: &Node) {
    let mut finder = Finder { reader, kind, node };
    finder.looks();
    finder.writes();
    finder.beside();
    finder.tag_of_a_list();
    if let Some(list) = &kind.list {
        finder.page(list);
    }
}

struct Finder<'f, 'd> {
    reader: &'f mut Reader<'d>,
    kind: &'f Kind,
    node: &'f Node,
}

impl<'f> Finder<'f, '_> {
    /// The member of the kind, where it says something.
    fn member(&self, name: &str) -> Option<&'f Node> {
        self.node.get(name).filter(|node| node.want != Want::Unset)
    }

    fn at(&self, name: &str) -> Pos {
        self.member(name).map_or(self.node.at, |node| node.at)
    }

    /// Where the word of an operation stands, if it is there.
    fn word(&self, operation: &str, word: &str) -> Option<Pos> {
        Some(self.member(operation)?.get(word).filter(|node| node.want != Want::Unset)?.at)
    }

    /// Requests that observe.
    fn looks(&mut self) {
        let kind = self.kind;
        for (name, op) in kind.asks() {
            if matches!(op.method, Method::Put | Method::Patch | Method::Delete) {
                let message = format!("`{name}` by {} could change something", op.method.as_str());
                self.reader.wrong(self.at(name), message).hint =
                    Some("what only looks is a GET, a HEAD or a POST".into());
            }
            for word in OF_WRITES {
                if let Some(at) = self.word(name, word) {
                    self.reader.wrong(at, format!("`{word}` of `{name}` has no use: it is about a write"));
                }
            }
        }
        if let Some(list) = &kind.list {
            if list.op.method == Method::Head {
                self.reader.wrong(self.at("list"), "`list` by HEAD has no items: its answer has no body");
            }
            let filters = [&list.op.body, &list.items, &list.op.item].into_iter().flatten();
            self.null_variables("list", filters, &["id", "observed", "changed"]);
        }
    }

    fn writes(&mut self) {
        let kind = self.kind;
        let own_update = self.member("update").is_some_and(|node| node.as_str() != Some("create"));
        for (name, op) in [
            ("create", kind.create.as_ref()),
            ("update", kind.update.as_ref().filter(|_| own_update)),
            ("delete", kind.delete.as_ref()),
        ] {
            let Some(op) = op else { continue };
            for (word, why) in OF_CREATES.iter().filter(|_| name != "create") {
                if let Some(at) = self.word(name, word) {
                    self.reader.wrong(at, format!("`{word}` of `{name}` has no use: {why}"));
                }
            }
            // A create may be the update as well, which has observed the object.
            let null: &[&str] = if name == "create" && kind.update.is_none() {
                &["page", "id", "observed"]
            } else {
                &["page"]
            };
            self.null_variables(name, op.body.iter(), null);
        }
        self.waiting_for_what_is_gone();
        self.key_sent_twice();
    }

    /// A header or a parameter that the request says already.
    fn key_sent_twice(&mut self) {
        let Some(create) = &self.kind.create else { return };
        let Some(at) = self.word("create", "idempotency") else { return };
        let (name, said) = match &create.idempotency {
            Some(Idempotency::Header(name)) => {
                (name, create.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name)))
            }
            Some(Idempotency::Query(name)) => (name, in_query(create, name)),
            Some(Idempotency::Body(_)) | None => return,
        };
        if said {
            self.reader.wrong(at, format!("`{name}` would be sent twice: by the request, and as its key"));
        }
    }

    fn waiting_for_what_is_gone(&mut self) {
        let Some(wait) = self.member("delete").and_then(|node| node.get("wait")) else { return };
        if wait.get("url").is_none() {
            self.reader.wrong(wait.at, "`wait` of `delete` looks at an object that is gone").hint =
                Some("a delete is read back until the object is absent".into());
        }
    }

    /// Filters that name a variable which is null there.
    fn null_variables<'v>(
        &mut self,
        name: &str,
        filters: impl Iterator<Item = &'v Filter>,
        null: &[&'static str],
    ) {
        for filter in filters {
            for variable in null.iter().filter(|variable| filter.uses(variable)) {
                let message = format!(
                    "`${variable}` is null in `{name}`, and a filter of it names it: `{}`",
                    filter.text()
                );
                self.reader.wrong(self.at(name), message);
            }
        }
    }

    /// Words of the kind that are about an operation which it does not have.
    fn beside(&mut self) {
        let kind = self.kind;
        let (create, update) = (self.has("create"), self.has("update") || kind.update.is_some());
        let writes = create || update || self.has("delete");
        for (word, has, about) in [
            ("match", self.member("list").is_some(), "`list`"),
            ("exists", create, "`create`"),
            ("visible", create, "`create`"),
            ("check", create || update, "`create` or `update`"),
            ("serial", writes, "`create`, `update` or `delete`"),
        ] {
            if let Some(node) = self.member(word).filter(|_| !has) {
                self.reader.wrong(node.at, format!("`{word}` has no use without {about}"));
            }
        }
    }

    /// An `ETag` comes with an object's own read alone.
    fn tag_of_a_list(&mut self) {
        if matches!((&self.kind.version, &self.kind.read), (Version::ETag, Read::FromList)) {
            let message =
                "`version: etag` has no use without a `read` of its own: a listing has no `ETag` of each";
            self.reader.wrong(self.at("version"), message).hint =
                Some("say with a filter where the version stands on an item".into());
        }
    }

    fn has(&self, operation: &str) -> bool {
        self.member(operation).is_some_and(|node| node.as_str() != Some("none"))
    }

    fn page(&mut self, list: &ListOp) {
        let (Some(page), Some(node)) = (&list.page, self.member("list").and_then(|node| node.get("page")))
        else {
            return;
        };
        let by = PAGE_BY.iter().find(|(_, by)| *by == page.by).map_or("", |(word, _)| word);
        let useless: &[&str] = match page.by {
            PageBy::Page | PageBy::Offset => &["next"],
            PageBy::Cursor => &["first"],
            PageBy::Url => &["param", "first"],
            PageBy::Link => &["param", "first", "next"],
        };
        for word in useless {
            if let Some(word_node) = node.get(word) {
                self.reader
                    .wrong(word_node.at, format!("`{word}` has no use where a listing is paged by `{by}`"));
            }
        }
        if let Some(word_node) = node.get("size-param").filter(|_| page.size.is_none()) {
            self.reader.wrong(word_node.at, "`size-param` has no use without `size`: no size is asked for");
        }
        let moves = matches!(page.by, PageBy::Page | PageBy::Offset | PageBy::Cursor);
        let in_body = list.op.body.as_ref().is_some_and(|body| body.uses("page"));
        let sent = [(&page.param, moves && !in_body), (&page.size_param, page.size.is_some() && !in_body)];
        for (param, _) in sent.into_iter().filter(|(param, sent)| *sent && in_query(&list.op, param)) {
            let message =
                format!("`{param}` would be sent twice: by the request of `list`, and by its `page`");
            self.reader.wrong(node.at, message).hint =
                Some("`size`, `first` and `size-param` of `page` say it all".into());
        }
    }
}

fn in_query(op: &Op, name: &str) -> bool {
    op.query.iter().any(|(have, _)| have == name)
}
