//! The language as a whole: what each word becomes, and what each mistake says.

use super::testing::*;
use crate::core::fields::{Comparer, Immutable, VISIBLE};
use crate::core::kind::*;
use crate::core::path::Path;
use crate::core::value::Value;

fn send(op: &Option<Op>) -> Option<Send> {
    op.as_ref().map(|op| op.send)
}

#[test]
fn short_forms_and_defaults() {
    let kind = kind(
        "{key: {name: .name}, list: GET /t, read: 'GET /t/{name}', create: 'PUT /t/{name}', delete: 'DELETE /t/{name}'}",
    );
    assert_eq!(kind.name.backend.as_ref(), "mq");
    assert_eq!(kind.id.text(), ".id");
    assert_eq!(
        (send(&kind.create), send(&kind.update), send(&kind.delete)),
        (Some(Send::Full), Some(Send::Full), Some(Send::None))
    );
    assert!(kind.visible.is_zero() && kind.readable_by_key());
    let list = kind.list.expect("a list");
    assert!(list.items.is_none() && !list.partial && list.page.is_none());
}

#[test]
fn updates_follow_the_create() {
    for (operations, want) in [
        ("create: 'PUT /t/{name}'", Some(Send::Full)),
        ("create: 'PUT /t/{name}', update: none", None),
        ("create: POST /t", None),
        ("create: POST /t, update: create", Some(Send::Full)),
        ("create: {request: POST /t, send: ours}, update: create", Some(Send::Ours)),
        ("create: POST /t, update: 'PATCH /t/{name}'", Some(Send::Merge)),
        ("create: POST /t, update: {request: 'PATCH /t/{name}', send: json-patch}", Some(Send::JsonPatch)),
        ("create: none, update: 'PUT /t/{name}'", Some(Send::Full)),
        ("update: 'POST /t/{name}'", Some(Send::Full)),
        ("delete: none", None),
    ] {
        let kind = kind(&format!("{{key: {{name: .name}}, read: 'GET /t/{{name}}', {operations}}}"));
        assert_eq!(send(&kind.update), want, "{operations}");
    }
    let kind = kind("{key: {name: .name}, list: GET /t, create: POST /t}");
    assert_eq!(send(&kind.create), Some(Send::Ours));
    assert!(matches!(kind.read, Read::FromList));
}

#[test]
fn ids_of_the_server_are_invisible_for_a_while() {
    let by_id = "key: {name: .name}, list: GET /t, read: 'GET /t/{id}', create: POST /t";
    assert_eq!(kind(&format!("{{{by_id}}}")).visible, VISIBLE);
    assert_eq!(kind(&format!("{{{by_id}, visible: 2m}}")).visible.as_secs(), 120);
    // A part called `id` is the client's.
    assert!(kind("{key: {id: .id}, read: 'GET /t/{id}', create: 'PUT /t/{id}'}").visible.is_zero());
}

#[test]
fn operations_are_records() {
    let kind = kind(
        "{key: {name: .name}, list: GET /t, read: {request: 'GET /t/{name}?x=1', query: {y: '{name}', z: 2}, headers: {X-A: '{owner}'}, item: .item},
          create: {request: POST /t, type: application/vnd.api+json, body: '{t: .}', id: '.headers.location | split(\"/\") | last',
                   wait: {done: .ready, failed: .broken, every: 5s, limit: 1m}, forced: {query: {force: true}}}}",
    );
    let Read::Op(read) = &kind.read else { panic!("a read") };
    let query: Vec<&str> = read.query.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(query, ["x", "y", "z"]);
    assert_eq!(read.headers, [("X-A".into(), Template(vec![Piece::Owner]))]);
    assert_eq!(read.item.as_ref().map(|f| f.text()), Some(".item"));
    let create = kind.create.expect("a create");
    assert_eq!(create.media.as_deref(), Some("application/vnd.api+json"));
    assert!(create.body.is_some() && create.id.is_some());
    let wait = create.wait.expect("a wait");
    assert_eq!((wait.every.as_secs(), wait.limit.as_secs(), wait.failed.is_some()), (5, 60, true));
    assert_eq!(
        create.forced.expect("a forced form").query,
        [("force".into(), Template(vec![Piece::Literal("true".into())]))]
    );
}

#[test]
fn pages_have_defaults() {
    for (page, param, size_param, first) in [
        ("{by: page, size: 50}", "page", "page_size", 1),
        ("{by: offset, size: 50}", "offset", "limit", 0),
        ("{by: cursor, next: .next}", "cursor", "limit", 0),
        ("{by: cursor, next: .next, param: continue, size: 5, size-param: max}", "continue", "max", 0),
        ("{by: offset, size: 5, first: 3}", "offset", "limit", 3),
        ("{by: link, size: 100, size-param: per_page}", "cursor", "per_page", 0),
        ("{by: url, next: .next}", "cursor", "limit", 0),
    ] {
        let kind = kind(&format!(
            "{{key: {{name: .name}}, list: {{request: GET /t, items: .items, page: {page}}}}}"
        ));
        let page_of = kind.list.and_then(|list| list.page).expect("a page");
        assert_eq!(
            (page_of.param.as_str(), page_of.size_param.as_str(), page_of.first),
            (param, size_param, first),
            "{page}"
        );
    }
}

#[test]
fn parts_of_parents_come_first_and_may_be_read_from_the_item() {
    let kinds = kinds(
        "{Team: {key: {slug: .slug}, parent: {org: none}, list: 'GET /o/{org}/t'},
          Member: {parent: {org: none, team: Team}, key: {user: .login, team: .team}, list: 'GET /o/{org}/m', create: 'POST /o/{org}/t/{team.id}'}}",
    );
    let member = kinds.iter().find(|kind| &*kind.name.kind == "Member").expect("the kind");
    let parts: Vec<_> =
        member.parts.iter().map(|p| (&*p.name, p.on_item.is_some(), p.parent != Parent::Own)).collect();
    assert_eq!(parts, [("org", false, true), ("team", true, true), ("user", true, false)]);
    assert_eq!(member.parts[0].parent, Parent::Scope);
    assert!(matches!(&member.parts[1].parent, Parent::Of(team) if &*team.kind == "Team"));
}

#[test]
fn the_other_words_of_a_kind() {
    let kind = kind(
        "{document: {apiVersion: v1, kind: ConfigMap}, key: {name: .metadata.name}, match: {name: .title}, list: GET /t, create: POST /t,
          version: .version, serial: name, owner: 'tags[]', absent: '.body == null', deleting: .body.deletedAt, failed: .body.error,
          ready: .body.ready, exists: '.status == 400'}",
    );
    assert_eq!(kind.document.as_ref().map(|d| d.api_version.as_str()), Some("v1"));
    assert_eq!(kind.matching[0].1.text(), ".title");
    assert!(matches!(&kind.version, Version::OnItem(f) if f.text() == ".version"));
    assert_eq!(kind.serial, Serial::Part("name".into()));
    assert_eq!(kind.owner.as_ref().map(Path::to_string).as_deref(), Some("tags[*]"));
    assert!(
        [&kind.absent, &kind.deleting, &kind.failed, &kind.ready, &kind.exists].iter().all(|f| f.is_some())
    );

    for (version, is) in [("etag", "ETag"), ("'{request: GET /v}'", "")] {
        let text = format!(
            "{{key: {{name: .name}}, list: GET /t, read: 'GET /t/{{name}}', create: POST /t, version: {version}, serial: backend}}"
        );
        if is.is_empty() {
            assert_eq!(problems(&format!("{{T: {text}}}")).len(), 1);
        } else {
            assert!(matches!(super::testing::kind(&text).version, Version::ETag));
        }
    }
    let kind = super::testing::kind(
        "{key: {name: .name}, list: GET /t, version: {request: GET /version, item: .v}}",
    );
    assert!(matches!(&kind.version, Version::Request(op, f) if op.item.is_none() && f.text() == ".v"));
}

#[test]
fn field_words() {
    let kind = kind(
        "{key: {name: .name}, list: GET /t, fields: {a: server-owned, b: [write-only, secret], c: ['mask=^\\*+$', secret], d: [closed, immutable=replace],
          e: 'key=name', f: set, g: ascii_downcase, h: [open, ordered], i: clear=null, j: 'clear=value:{\"a\":1}', k: 'default=\"all\"',
          'l[*].m': quantity, n: copy, o: ignore, p: immutable=refuse, q: comma_set}}",
    );
    let rule = |path: &str| &kind.fields.at(&Path::parse(path).expect(path)).here;
    assert!(
        rule("a").server_owned
            && rule("b").write_only
            && rule("b").secret
            && rule("d").closed
            && rule("n").copy
            && rule("o").ignore
    );
    assert!(rule("c").mask.as_ref().is_some_and(|mask| mask.0.is_match("***")));
    assert_eq!(
        (rule("d").immutable, rule("p").immutable),
        (Some(Immutable::Replace), Some(Immutable::Refuse))
    );
    assert!(matches!(&rule("e").compare, Some(Comparer::KeyedBy(name)) if name == "name"));
    assert!(matches!(rule("f").compare, Some(Comparer::Set)));
    assert!(matches!(&rule("g").compare, Some(Comparer::Filter(f)) if f.text() == "ascii_downcase"));
    assert!(rule("h").open && matches!(rule("h").compare, Some(Comparer::Ordered)));
    assert_eq!(rule("k").default, Some(Value::from("all")));
    assert!(matches!(rule("l[3].m").compare, Some(Comparer::Quantity)));
    assert!(rule("i").clear.is_some() && rule("j").clear.is_some());
}

/// `none` takes away what another kind, or a preset, says.
#[test]
fn a_listing_and_a_read_can_be_none() {
    let alike = "{K: {key: {name: .name}, list: GET /k, read: 'GET /k/{name}'}, T: {like: K, list: none}, U: {like: K, read: none}}";
    let kinds = kinds(alike);
    let kind = |name: &str| kinds.iter().find(|kind| &*kind.name.kind == name).expect("the kind");
    assert!(kind("T").list.is_none() && matches!(kind("T").read, Read::Op(_)));
    assert!(kind("U").list.is_some() && matches!(kind("U").read, Read::FromList));
}

/// A kind that is sound but for what is put in.
fn with(words: &str) -> String {
    format!("{{T: {{key: {{name: .name}}, list: GET /t, {words}}}}}")
}

#[test]
fn wrong_records_say_what_and_where() {
    for (kinds, want) in [
        ("[]", "`kinds` is a map, not a list"),
        ("{T: 1}", "the kind `T` is a map, not 1"),
        ("{'': {key: {name: .name}, list: GET /t}}", "`` cannot be the name of a kind"),
        ("{'../T': {key: {name: .name}, list: GET /t}}", "`../T` cannot be the name of a kind"),
        ("{T: {key: {labels: .labels}, list: GET /t}}", "`labels` cannot be a part of the identity"),
        ("{T: {key: {'': .name}, list: GET /t}}", "`` cannot be a part of the identity"),
        (
            "{T: {parent: {annotations: none}, key: {name: .name}, list: 'GET /t/{annotations}'}}",
            "`annotations` cannot be a part of the identity",
        ),
        ("{T: {key: {name: .name}, list: none}}", "a kind has neither `read` nor `list`"),
        (
            &with("create: {request: POST /t, headers: {Content-Length: 3}}"),
            "the header `Content-Length` is not a backend's to say",
        ),
        ("{T: {key: {name: .name}}}", "a kind has neither `read` nor `list`"),
        ("{T: {key: {name: .name}, list: GET /t, raed: list}}", "the kind `T` has no `raed`"),
        (&with("read: {body: .}"), "`read` has no `request`"),
        (&with("read: FETCH /t"), "`FETCH` is not a method"),
        (&with("read: {request: GET /t, itme: .}"), "`read` has no `itme`"),
        (&with("create: {request: POST /t, body: {a: .}}"), "`body` is a jq filter, as a text, not a map"),
        (&with("create: {request: POST /t, body: '{a: }'}"), "`body`: filter `{a: }`: expected"),
        (&with("create: {request: POST /t, send: whole}"), "`send` is not `whole`"),
        (
            &with("create: {request: POST /t, type: multipart/form-data}"),
            "a body cannot be of type `multipart/form-data`",
        ),
        (
            &with("create: {request: POST /t, headers: {Content-Type: text/xml}}"),
            "the header `Content-Type` is not said here",
        ),
        (
            &with(
                "update: {request: 'PATCH /t/{name}', type: application/x-www-form-urlencoded, send: json-patch}",
            ),
            "a JSON Patch is a list of operations, which no form can say",
        ),
        (&with("unique: code"), "`unique` is a list of field paths"),
        (&with("unique: [a, 'b[0]']"), "`b[0]` is no path of one field"),
        (&with("unique: [a, .a]"), "`unique` has `a` twice"),
        (&with("unique: ['a[']"), "`a[` is not a field path"),
        (&with("create: {request: POST /t, headers: {'a b': x}}"), "`a b` is not the name of a header"),
        (&with("create: {request: POST /t, headers: {a: \"x\\ny\"}}"), "`x\\ny` holds a control character"),
        (&with("create: {request: POST /t, wait: {every: 1s}}"), "`wait` has no `done`"),
        (&with("create: {request: POST /t, wait: {done: ., every: soon}}"), "`every` is a duration"),
        (&with("create: {request: POST /t, wait: {done: ., url: 7}}"), "`url` is a jq filter"),
        (&with("update: create"), "`update: create` has no `create` to be as"),
        (&with("version: {a: 1}"), "`version` is a jq filter"),
        (&with("serial: zone"), "`serial` names `zone`, which is no part of the key"),
        (&with("document: {kind: X}"), "`document` has no `apiVersion`"),
        (&with("ready: true"), "`ready` is a jq filter, as a text, not a boolean"),
        ("{T: {key: {name: .name}, list: {request: GET /t, page: {by: cursor}}}}", "`page` has no `next`"),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, page: {by: pages}}}}",
            "a listing is not paged by `pages`",
        ),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, page: {by: page}}}}",
            "`page` has neither `size` nor `total`",
        ),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, page: {by: offset, size: 0}}}}",
            "`size` is a whole number from 1 up",
        ),
        (
            "{T: {key: {name: .name}, list: {request: GET /t, partial: yes}}}",
            "`partial` is `true` or `false`",
        ),
        (&with("fields: {a..b: set}"), "`a..b` is not a field path"),
        (&with("fields: {a: server-ownd}"), "`server-ownd` is neither a field word nor a filter"),
        (&with("fields: {a: immutable=yes}"), "a field is not `immutable=yes`"),
        (&with("fields: {a: 'mask=('}"), "`(` is not a regular expression"),
        (&with("fields: {a: default=all}"), "`all` is not JSON"),
        (&with("fields: {a: clear=away}"), "a field is not cleared by `away`"),
        (&with("fields: {a: [set, ordered]}"), "a field has one comparer, and this is a second"),
        (&with("fields: {a: [secret, plain]}"), "`a` cannot be secret and plain at once"),
        (&with("fields: {a: [closed, open]}"), "`a` cannot be closed and open at once"),
        (
            &with("fields: {a: [server-owned, set]}"),
            "`a` cannot be never compared, and has a comparer at once",
        ),
        (
            &with("fields: {a: ignore, a.b: set}"),
            "the comparer of `a.b` has no effect: `a` is never compared",
        ),
        (&with("fields: {a: set, '.a': ignore}"), "`fields` has `a` twice"),
    ] {
        let problems = problems(kinds);
        let first = problems.first().unwrap_or_else(|| panic!("{kinds}"));
        assert!(problems.iter().any(|p| p.message.starts_with(want)), "{kinds}: {problems:?}");
        assert_eq!(first.origin.as_ref().map(|o| &*o.file), Some("b.yaml"));
    }
}

/// At one version of a whole set only one write can be right.
#[test]
fn a_version_of_a_set_makes_its_writes_serial() {
    let serial = |words: &str| {
        let thing = format!(
            "{{parent: {{zone: none}}, key: {{name: .name}}, list: 'GET /{{zone}}', delete: 'DELETE /{{zone}}/{{name}}', {words}}}"
        );
        kind(&thing).serial
    };
    assert_eq!(serial("version: {request: GET /version}"), Serial::Backend);
    assert_eq!(serial("version: {request: 'GET /{zone}/version'}"), Serial::Part("zone".into()));
    assert_eq!(serial("version: {request: 'GET /{zone}/{name}/version'}"), Serial::No);
    assert_eq!(serial("version: {request: GET /version}, serial: zone"), Serial::Part("zone".into()));
    assert_eq!(serial("version: .v"), Serial::No);
}

#[test]
fn checks_find_what_cannot_work() {
    let team = "Team: {key: {name: .name}, list: GET /teams}";
    for (kinds, want, hint) in [
        (with("create: 'PUT /t/{name}', check: 'PUT /t/{name}'"), "`check` is the request of `create`: it would write", "add what makes it a dry run"),
        (with("create: POST /t, update: 'PUT /t/{name}', check: {request: 'PUT /t/{name}', send: ours}"), "`check` is the request of `update`: it would write", ""),
        (with("create: 'PUT /t/{name}', check: 'DELETE /t/{name}?dry=1'"), "`check` is a DELETE: no dry run of a create or an update", ""),
        (with("depends-on: Taem/a"), "`depends-on` names the kind `Taem`, which the backend does not have", "the kinds are `T`"),
        (with("depends-on: T/a/b"), "`depends-on` names a `T` by 2 parts", "write `T/name`"),
        (with("depends-on: T/"), "`depends-on` names an object, and `T/` is none", "write `Kind/name`"),
        (with("read: 'GET /t/{nmae}'"), "`{nmae}` in `read` has no source: it is no part of the key", "did you mean `name`?"),
        (with("create: 'PUT /t/{id}'"), "`{id}` in `create` has no source: no object is observed there", ""),
        ("{T: {key: {name: .name}, list: 'GET /t/{id}'}}".into(), "`{id}` in `list` has no source", ""),
        (with("delete: 'DELETE /t/{name}?v={version}'"), "`{version}` in `delete` has no source", "say with `version`"),
        (with("read: 'GET /t/{name.id}'"), "`{name.id}` in `read`: `name` is not a parent with a kind", ""),
        (with("delete: 'DELETE /t/{name}?mask={changed}'"), "`changed` in `delete` has no source: nothing is set there", "it names the paths"),
        (with("read: {request: 'GET /t/{name}', body: $changed}"), "`changed` in `read` has no source", ""),
        (with("update: 'PATCH /t/{name}/{changed}'"), "`{changed}` in the path of `update`", "it stands in the query"),
        (format!("{{{team}, T: {{parent: {{team: Taem}}, key: {{name: .name}}, list: 'GET /t/{{team}}'}}}}"),
            "the parent `team` is of the kind `Taem`, which the backend does not have", "did you mean `Team`?"),
        (format!("{{{team}, T: {{parent: {{team: Team}}, key: {{name: .name}}, list: GET /t}}}}"),
            "the items of `list` do not say their `team`", "name {team} in its request"),
        ("{A: {parent: {o: none}, key: {a: .a}, list: 'GET /{o}/a'}, T: {parent: {a: A}, key: {name: .name}, list: 'GET /{a}'}}".into(),
            "the parent `a` is of the kind `A`, whose key has `o` too", "give `o` as a parent"),
        ("{S: {read: GET /s}, T: {parent: {s: S}, key: {name: .name}, list: 'GET /{s}'}}".into(),
            "the parent `s` is of the kind `S`, which has no name of its own", ""),
        ("{A: {parent: {b: B}, key: {a: .a}, list: 'GET /a/{b}'}, B: {parent: {a: A}, key: {b: .b}, list: 'GET /b/{a}'}}".into(),
            "the kind `A` is its own ancestor", ""),
        ("{T: {key: {name: .name}, read: 'GET /t/{id}', create: POST /t}}".into(), "an object of the kind `T` could not be found again", ""),
        ("{T: {key: {name: .name}, read: list}}".into(), "`read: list` without a `list`", ""),
        ("{T: {key: {name: .name}, list: {request: GET /t, partial: true}}}".into(), "the items of a partial listing need a `read`", ""),
        (with("match: {nam: .name}"), "`match` names `nam`, which is no part of the key", ""),
        ("{T: {key: {name: '.a + .b'}, list: GET /t, create: POST /t}}".into(), "`create` does not say the `name` of the new object", "name it in the request"),
        ("{A: {document: {apiVersion: v1, kind: X}, key: {n: .n}, list: GET /a}, B: {document: {apiVersion: v1, kind: X}, key: {n: .n}, list: GET /b}}".into(),
            "documents of `v1` `X` are taken by the kind `A` already", ""),
    ] {
        let problems = problems(&kinds);
        let found = problems.iter().find(|p| p.message.starts_with(want)).unwrap_or_else(|| panic!("{kinds}: {problems:?}"));
        assert!(found.hint.as_deref().unwrap_or_default().starts_with(hint), "{found:?}");
    }
}

#[test]
fn a_request_for_one_object_says_which() {
    for (words, want) in [
        (
            "delete: DELETE /t",
            "`delete` would go to the same address for every T: `{name}` of its key or `{id}` is missing",
        ),
        ("read: GET /t", "`read` would go"),
        ("update: PUT /t", "`update` would go"),
        ("update: PATCH /t", "`update` would go"),
        ("update: {request: PATCH /t, body: '{changes: .}'}", "`update` would go"),
        (
            "create: PUT /t",
            "`create` would go to the same address for every T: `{name}` of its key is missing",
        ),
        ("delete: {request: DELETE /t, headers: {X-N: x}}", "`delete` would go"),
        ("delete: POST /t/purge", "`delete` would go"),
    ] {
        let problems = problems(&with(words));
        assert_eq!(problems.len(), 1, "{words}: {problems:?}");
        assert!(problems[0].message.starts_with(want), "{words}: {problems:?}");
    }
    let scoped =
        "{T: {parent: {org: none}, key: {name: .name}, list: 'GET /o/{org}/t', delete: 'DELETE /o/{org}/t'}}";
    assert!(problems(scoped)[0].message.starts_with("`delete` would go"), "a parent tells no siblings apart");
    for words in [
        "delete: 'DELETE /t/{id}'",
        "delete: 'DELETE /t/{*name}'",
        "delete: 'DELETE /t?name={name}'",
        "delete: {request: DELETE /t, query: {n: '{name}'}}",
        "delete: {request: POST /t/purge, body: '{names: [$key.name]}'}",
        "delete: {request: PATCH /t, body: '{rrsets: [{name, changetype: \"DELETE\"}]}'}",
        "update: {request: PATCH /t, send: full, body: '{rrsets: [.]}'}",
        "update: {request: PATCH /t, body: '{id: $id, changes: .}'}",
        "create: POST /t, update: create",
        "read: {request: GET /all, item: '.[$key.name]'}",
    ] {
        let problems = problems(&with(words));
        assert!(problems.is_empty(), "{words}: {problems:?}");
    }
    kind("{read: GET /s, update: PUT /s, delete: DELETE /s}");
    // Below a parent, the body may tell siblings apart: topic permissions of RabbitMQ do.
    kind("{parent: {org: none}, key: {name: .name}, list: 'GET /o/{org}/t', create: 'PUT /o/{org}/t'}");
}

#[test]
fn kinds_without_problems_are_kept() {
    let (kinds, problems) = super::kinds(&backend(
        "{url: 'http://x', kinds: {A: {key: {n: .n}, list: GET /a}, B: {key: {n: .n}}}}",
    ));
    assert_eq!(kinds.iter().map(|k| &*k.name.kind).collect::<Vec<_>>(), ["A"]);
    assert_eq!(problems.len(), 1);
}

#[test]
fn backends_without_kinds() {
    for (text, want) in [
        ("{metadata: {}, spec: {}}", "a backend has no `metadata.name`"),
        ("{metadata: {name: 7}, spec: {}}", "`metadata.name` is a text, not 7"),
        ("{metadata: {name: trueup/v1}, spec: {}}", "a backend cannot have this name"),
        ("{metadata: {name: mq}}", "the backend `mq` has no `spec`"),
        ("{metadata: {name: mq}, spec: {url: 'http://x'}}", "the backend `mq` says nothing of its kinds"),
        ("{metadata: {name: mq}, spec: {ulr: x, kinds: {}}}", "a backend's `spec` has no `ulr`"),
        ("{metadata: {name: mq}, spec: {preset: rabitmq}}", "there is no preset `rabitmq`"),
    ] {
        let (_, problems) = super::kinds(&document(text));
        assert_eq!(problems.first().map(|p| p.message.as_str()), Some(want), "{text}");
    }
    let (kinds, problems) = super::kinds(&backend("{url: 'embedded:state'}"));
    assert!(kinds.is_empty() && problems.is_empty());
}

#[test]
fn the_kind_of_any_name() {
    let kind = super::generic_kind("demo", "Widget", &["name"]).expect("a kind");
    assert_eq!(send(&kind.update), Some(Send::Merge));
    assert!(matches!(&kind.version, Version::OnItem(f) if f.text() == ".revision"));
    assert!(kind.list.is_some_and(|list| list.page.is_some_and(|page| page.size == Some(500))));
    for (name, parts) in
        [("Widget", vec!["name", "space"]), ("Widget", vec![]), ("../x", vec!["name"]), ("", vec!["name"])]
    {
        assert!(super::generic_kind("demo", name, &parts).is_err(), "{name} {parts:?}");
    }
}
