//! What is known to be wrong with a backend offline: each with its whole message, its place, and its hint.

use super::testing::*;
use crate::core::node::{Node, Pos, Want};
use crate::core::raw::RawDocument;

/// A kind that is sound but for what is put in.
fn with(words: &str) -> String {
    format!("{{T: {{key: {{name: .name}}, list: GET /t, {words}}}}}")
}

fn spec(kinds: &str) -> RawDocument {
    backend(&format!("{{url: 'http://x', kinds: {kinds}}}"))
}

/// Where `T.fields.a` stands, names separated by blanks.
fn place(document: &RawDocument, names: &str) -> Pos {
    let kinds = document.root.get("spec").and_then(|spec| spec.get("kinds")).expect("kinds");
    let step = |node: &'_ Node, name: &str| match (&node.want, name.parse::<usize>()) {
        (Want::List(items), Ok(at)) => items[at].clone(),
        _ => node.get(name).unwrap_or_else(|| panic!("no {name}")).clone(),
    };
    names.split(' ').fold(kinds.clone(), |node, name| step(&node, name)).at
}

/// Each has one problem: this one, at this place, with a hint that begins so.
fn table(rows: &[(String, &str, &str, &str)]) {
    for (kinds, at, message, hint) in rows {
        let document = spec(kinds);
        let (_, problems) = super::kinds(&document);
        let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(told, [*message], "{kinds}");
        let origin = problems[0].origin.as_ref().expect("a place");
        assert_eq!(origin.at, place(&document, at), "{kinds}");
        assert!(problems[0].hint.as_deref().unwrap_or_default().starts_with(hint), "{:?}", problems[0]);
        assert_eq!(hint.is_empty(), problems[0].hint.is_none(), "{:?}", problems[0]);
    }
}

#[test]
fn words_and_filters() {
    table(&[
        (with("raed: GET /t"), "T raed", "the kind `T` has no `raed`", "did you mean `read`?"),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, itmes: .x}}}".into(),
            "T list itmes",
            "`list` has no `itmes`",
            "did you mean `items`?",
        ),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, page: {by: cursor, nxt: .n, next: .n}}}}"
                .into(),
            "T list page nxt",
            "`page` has no `nxt`",
            "did you mean `next`?",
        ),
        (
            with("ready: '.a ||'"),
            "T ready",
            "`ready`: filter `.a ||`: expected nothing before `||` at character 4",
            "",
        ),
        (
            with("ready: '.a | nope(.b)'"),
            "T ready",
            "`ready`: filter `.a | nope(.b)`: `nope` is not a filter here at character 6",
            "",
        ),
        (
            "{T: {key: {name: '.a['}, list: GET /t, read: 'GET /t/{name}'}}".into(),
            "T key name",
            "`key` `name`: filter `.a[`: expected closing bracket at character 4",
            "",
        ),
    ]);
}

#[test]
fn sources_of_placeholders() {
    let forced = "create: {request: 'PUT /t/{name}', forced: {query: {v: '{version}', n: '{nmae}'}}}";
    let (_, problems) = super::kinds(&spec(&with(forced)));
    let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`{version}` in `create` has no source",
            "`{nmae}` in `create` has no source: it is no part of the key",
            "`{version}` in `update` has no source",
            "`{nmae}` in `update` has no source: it is no part of the key",
        ]
    );
    table(&[
        (
            with("version: .v, create: {request: POST /t, headers: {X-V: '{version}'}}"),
            "T create",
            "`{version}` in `create` has no source: no object is observed there",
            "a version that has a request of its own",
        ),
        (
            "{T: {key: {name: .name}, version: .v, list: 'GET /t?v={version}'}}".into(),
            "T list",
            "`{version}` in `list` has no source: no object is observed there",
            "a version that has a request of its own",
        ),
        (
            "{T: {key: {name: .name}, list: {request: POST /t, body: '{id: $id}'}}}".into(),
            "T list",
            "`$id` is null in `list`, and a filter of it names it: `{id: $id}`",
            "",
        ),
        (
            with("create: {request: POST /t, body: '. + {old: $observed}'}"),
            "T create",
            "`$observed` is null in `create`, and a filter of it names it: `. + {old: $observed}`",
            "",
        ),
        (
            with("delete: {request: 'DELETE /t/{name}', body: '{page: $page}'}"),
            "T delete",
            "`$page` is null in `delete`, and a filter of it names it: `{page: $page}`",
            "",
        ),
    ]);
    kinds(&with(
        "version: {request: GET /v, item: .v}, create: {request: POST /t, headers: {X-V: '{version}'}}",
    ));
    kinds(&with("create: {request: POST /t, body: '. + {old: $observed}'}, update: create"));
}

#[test]
fn objects_that_cannot_be_found_again() {
    table(&[
        (
            "{T: {key: {name: .name}, read: 'GET /t/{id}', create: POST /t}}".into(),
            "T",
            "an object of the kind `T` could not be found again: its id is the server's, and there is no `list` to find it in",
            "declare a `list`; or",
        ),
        (
            "{T: {list: GET /t, read: 'GET /t/{id}', create: POST /t}}".into(),
            "T list",
            "an object of the kind `T` could not be found again: it has a `list` and no `key` to tell its items apart",
            "say in `key`",
        ),
    ]);
}

#[test]
fn words_that_have_no_use() {
    let list = |page: &str| {
        format!("{{T: {{key: {{name: .name}}, list: {{request: 'GET /t?size=5', page: {page}}}}}}}")
    };
    table(&[
        (
            with("read: {request: 'DELETE /t/{name}'}"),
            "T read",
            "`read` by DELETE could change something",
            "what only looks",
        ),
        (
            "{T: {key: {n: .n}, list: PUT /t}}".into(),
            "T list",
            "`list` by PUT could change something",
            "what only looks",
        ),
        (
            "{T: {key: {n: .n}, list: HEAD /t}}".into(),
            "T list",
            "`list` by HEAD has no items: its answer has no body",
            "",
        ),
        (
            with("read: {request: 'GET /t/{name}', send: full}"),
            "T read send",
            "`send` of `read` has no use: it is about a write",
            "",
        ),
        (
            with("read: {request: 'GET /t/{name}', wait: {done: .ok}}"),
            "T read wait",
            "`wait` of `read` has no use: it is about a write",
            "",
        ),
        (
            with("update: {request: 'PUT /t/{name}', id: .body.id}"),
            "T update id",
            "`id` of `update` has no use: it is where the answer to a create has the new id",
            "",
        ),
        (
            with("delete: {request: 'DELETE /t/{name}', wait: {done: .gone}}"),
            "T delete wait",
            "`wait` of `delete` looks at an object that is gone",
            "a delete is read back",
        ),
        (
            "{T: {key: {n: .n}, match: {n: .n}, read: 'GET /t/{n}'}}".into(),
            "T match",
            "`match` has no use without `list`",
            "",
        ),
        (with("create: none, exists: .body"), "T exists", "`exists` has no use without `create`", ""),
        (with("visible: 5s"), "T visible", "`visible` has no use without `create`", ""),
        (with("check: 'PUT /t/{name}'"), "T check", "`check` has no use without `create` or `update`", ""),
        (
            with("serial: backend"),
            "T serial",
            "`serial` has no use without `create`, `update` or `delete`",
            "",
        ),
        (
            list("{by: page, size: 5, next: .n}"),
            "T list page next",
            "`next` has no use where a listing is paged by `page`",
            "",
        ),
        (
            list("{by: cursor, next: .n, first: 3}"),
            "T list page first",
            "`first` has no use where a listing is paged by `cursor`",
            "",
        ),
        (
            list("{by: link, size-param: per_page}"),
            "T list page size-param",
            "`size-param` has no use without `size`: no size is asked for",
            "",
        ),
        (
            list("{by: link, param: x}"),
            "T list page param",
            "`param` has no use where a listing is paged by `link`",
            "",
        ),
        (
            list("{by: offset, size: 5, size-param: size}"),
            "T list page",
            "`size` would be sent twice: by the request of `list`, and by its `page`",
            "`size`, `first` and `size-param`",
        ),
        (
            with("version: etag"),
            "T version",
            "`version: etag` has no use without a `read` of its own: a listing has no `ETag` of each",
            "say with a filter",
        ),
        (with("update: create"), "T update", "`update: create` has no `create` to be as", ""),
    ]);
}

#[test]
fn words_that_do_not_fit_a_field() {
    let fields = |fields: &str| with(&format!("read: 'GET /t/{{name}}', fields: {{{fields}}}"));
    table(&[
        (
            fields("a: set, a.b: quantity"),
            "T fields a.b",
            "`a` cannot be a list by the word `set`, and a map by the path `a.b`",
            "",
        ),
        (
            fields("a: key=name, 'a[*]': set"),
            "T fields a[*]",
            "`a[*]` cannot be a map by the word `key=name` of its list, and a list by the word `set`",
            "",
        ),
        (
            fields("a: quantity, 'a[x=y].b': server-owned"),
            "T fields a[x=y].b",
            "`a` cannot be a single value by the word `quantity`, and a list by the path `a[x=y].b`",
            "",
        ),
        (
            fields("a: open, 'a[0]': duration, 'a[*].b': set"),
            "T fields a[*].b",
            "`a[*]` cannot be a single value by the word `duration`, and a map by the path `a[*].b`",
            "",
        ),
        (
            fields("name: set"),
            "T fields name",
            "`name` cannot be a single value by `{name}` in a path, and a list by the word `set`",
            "",
        ),
        (
            fields("'.': 'key=name'"),
            "T fields .",
            "`.` cannot be the object itself, which is no list, at once",
            "",
        ),
    ]);
    kinds(&fields(
        "a: key=name, 'a[*].b': set, 'c[*].d': url, c.e: cidr, 'tags[*]': ascii_downcase, tags: set",
    ));
}

#[test]
fn words_that_contradict_each_other() {
    let fields = |fields: &str| with(&format!("create: POST /t, fields: {{{fields}}}"));
    table(&[
        (
            fields("a: [server-owned, immutable=refuse]"),
            "T fields a",
            "`a` cannot be server-owned and immutable at once",
            "",
        ),
        (
            fields("a: [server-owned, clear=null]"),
            "T fields a",
            "`a` cannot be server-owned and cleared at once",
            "",
        ),
        (
            fields("a: [immutable=refuse, clear=omit]"),
            "T fields a",
            "`a` cannot be immutable=refuse and cleared at once",
            "",
        ),
        (
            fields("a: [copy, write-only]"),
            "T fields a",
            "`a` cannot be write-only and copied from what is read at once",
            "",
        ),
        (
            fields("a: [ignore, 'default=1']"),
            "T fields a",
            "`a` cannot be never compared, and has a default at once",
            "",
        ),
        (fields("a: [copy, copy]"), "T fields a 1", "`a` is said to be `copy` twice", ""),
        (
            fields("name: server-owned"),
            "T fields name",
            "`name` cannot be server-owned: it is the `name` of the key, and `create` has to send it",
            "",
        ),
        (
            fields("name: secret"),
            "T fields name",
            "`name` cannot be secret: it is the `name` of the key, and names are printed",
            "",
        ),
        (
            fields("name: clear=null"),
            "T fields name",
            "`name` cannot be cleared: it is the `name` of the key, and an object without its name is another",
            "",
        ),
        (
            fields("name: write-only"),
            "T fields name",
            "`name` cannot be write-only: it is the `name` of the key, and it is read to find the object again",
            "",
        ),
        (
            fields("p: 'mask=^x$'"),
            "T fields p",
            "`p` is masked by the server, and yours would be printed",
            "add the word `secret`",
        ),
    ]);
    // A warning takes no kind away.
    let (kinds, problems) = super::kinds(&spec(&fields("p: 'mask=^x$'")));
    assert!(kinds.len() == 1 && problems[0].warning);
    // What the request says need not be in the body.
    super::testing::kinds(&with("create: 'PUT /t/{name}', fields: {name: server-owned}"));
}

/// A mistake in one place hides none in another, and none is said twice.
#[test]
fn all_problems_are_said_in_one_run() {
    let (kinds, problems) = super::kinds(&spec(
        "{A: {key: {n: .n}, list: GET /a, raed: x, delete: 'DELETE /a/{m}', fields: {x: server-ownd, y: [closed, open]}},
          B: {key: {n: '.n['}, list: GET /b, read: 'GET /b/{n}'},
          C: {parent: {a: Aa}, key: {n: .n}, list: {request: 'GET /{a}/c', items: '.['}, read: 'GET /{a}/c/{id}'},
          D: {key: {n: .n}, list: GET /d}}",
    ));
    let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    the kind `A` has no `raed`
    `server-ownd` is neither a field word nor a filter: `server` is not a filter here at character 1
    `y` cannot be closed and open at once
    `key` `n`: filter `.n[`: expected closing bracket at character 4
    `items`: filter `.[`: expected closing bracket at character 3
    `{m}` in `delete` has no source: it is no part of the key
    the parent `a` is of the kind `Aa`, which the backend does not have
    ");
    assert_eq!(kinds.iter().map(|kind| &*kind.name.kind).collect::<Vec<_>>(), ["D"]);
}

#[test]
fn keys_of_creates() {
    let create = |words: &str| with(&format!("create: {{request: 'POST /t', {words}}}"));
    table(&[
        (
            create("idempotency: {header: K, query: k}"),
            "T create idempotency",
            "`idempotency` says one place for the key",
            "as in `{header: Idempotency-Key}`",
        ),
        (
            create("idempotency: {cookie: k}"),
            "T create idempotency cookie",
            "`idempotency` has no `cookie`",
            "known here are",
        ),
        (
            create("idempotency: {header: 'a b'}"),
            "T create idempotency header",
            "`a b` is not the name of a header",
            "",
        ),
        (
            create("idempotency: {body: '.a[0]'}"),
            "T create idempotency body",
            "`.a[0]` is not the path of a member of the body",
            "as in `.requestId`",
        ),
        (
            create("idempotency: {header: X-Id}, headers: {x-id: a}"),
            "T create idempotency",
            "`x-id` would be sent twice: by the request, and as its key",
            "",
        ),
        (
            create("batch: 5, idempotency: {header: K}"),
            "T create",
            "`idempotency` of `create` names one create, and a `batch` is of many",
            "",
        ),
        (
            with("create: POST /t, update: {request: 'PUT /t/{name}', idempotency: {header: K}}"),
            "T update idempotency",
            "`idempotency` of `update` has no use: other writes are looked at before they are done again",
            "",
        ),
        (
            create("send: json-patch"),
            "T create send",
            "a create cannot send a JSON Patch: there is nothing that it could change",
            "leave `send` out",
        ),
    ]);
}
