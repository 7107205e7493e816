use proptest::prelude::*;

use super::*;
use crate::core::node::{Outside, Want};
use crate::core::value::{Value, equal};

fn source(file: &str, text: &str) -> Arc<Source> {
    Arc::new(Source { file: file.into(), text: text.into() })
}

fn roots(text: &str) -> Vec<Node> {
    let documents = parse(&source("a.yaml", text)).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    documents.into_iter().map(|document| document.root).collect()
}

fn root(text: &str) -> Node {
    let mut all = roots(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

fn value(text: &str) -> Value {
    root(text).to_value().expect("plain values")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON text")
}

/// What is wrong with a text: `line:column message | hint`.
fn errors(file: &str, text: &str) -> Vec<String> {
    let problems = parse(&source(file, text)).expect_err(text);
    let line = |p: &Problem| {
        let at = p.origin.as_ref().expect("a place").at;
        format!("{}:{} {} | {}", at.line, at.column, p.message, p.hint.as_deref().unwrap_or(""))
    };
    problems.iter().filter(|p| !p.warning).map(line).collect()
}

#[test]
fn every_value_knows_its_place() {
    let root = root(
        "# c\napiVersion: x\nspec:\n  a: 1\n  liste:\n  - é: [1, ünï, zwei]\n  m: {q: |\n    text\n    }\n  e:\n",
    );
    let at = |path: &[&str]| {
        let node = path.iter().fold(&root, |node, name| match &node.want {
            Want::List(items) => &items[name.parse::<usize>().expect("an index")],
            _ => node.get(name).expect("a member"),
        });
        (node.at.line, node.at.column)
    };
    assert_eq!(at(&[]), (2, 1));
    assert_eq!(at(&["apiVersion"]), (2, 13));
    assert_eq!(at(&["spec"]), (3, 1));
    assert_eq!(at(&["spec", "a"]), (4, 6));
    assert_eq!(at(&["spec", "liste"]), (5, 3));
    assert_eq!(at(&["spec", "liste", "0"]), (6, 5));
    assert_eq!(at(&["spec", "liste", "0", "é"]), (6, 8));
    assert_eq!(at(&["spec", "liste", "0", "é", "2"]), (6, 17));
    assert_eq!(at(&["spec", "m"]), (7, 6));
    assert_eq!(at(&["spec", "e"]), (10, 3));
}

#[test]
fn plain_documents() {
    for (text, want) in [
        (
            "enabled: no\nmode: on\nt: 22:22:22\nd: 2026-01-01",
            r#"{"enabled":"no","mode":"on","t":"22:22:22","d":"2026-01-01"}"#,
        ),
        (
            "v: 1e3\nid: 18446744073709551616\nver: 1.10\nhex: 0x1F\noct: 0o17",
            r#"{"v":1e3,"id":18446744073709551616,"ver":1.10,"hex":31,"oct":15}"#,
        ),
        ("on: {push: {no: 1}}", r#"{"on":{"push":{"no":1}}}"#),
        ("\u{feff}a: 1\r\nb:\r\n- x\r\n- y\r\n", r#"{"a":1,"b":["x","y"]}"#),
        ("a: |\r\n  x\r\n  y\r\nb: >-\n  p\n  q\n", r#"{"a":"x\ny\n","b":"p q"}"#),
        ("base: &b {x: 1, y: 2}\nthis: {<<: *b, y: 3}", r#"{"base":{"x":1,"y":2},"this":{"x":1,"y":3}}"#),
        (
            "a: &a {x: 1}\nb: &b {x: 2, y: 2}\nc: {<<: [*a, *b], z: 3}",
            r#"{"a":{"x":1},"b":{"x":2,"y":2},"c":{"x":1,"y":2,"z":3}}"#,
        ),
        ("\"<<\": 1\n\"017\": 2\n'true': 3\n\"\": 4", r#"{"<<":1,"017":2,"true":3,"":4}"#),
        ("a: &x text\n*x : 1\n&k key: *k", r#"{"a":"text","text":1,"key":"key"}"#),
        (
            "a: !!str 017\nb: !!int 5\nc: ! 12\nd: !!map {}\ne: !!seq []\nf: !!float 5",
            r#"{"a":"017","b":5,"c":"12","d":{},"e":[],"f":5}"#,
        ),
        ("? a\n: b", r#"{"a":"b"}"#),
    ] {
        let have = value(text);
        assert_eq!(have.to_string(), json(want).to_string(), "{text}");
    }
}

#[test]
fn nothing_null_and_json_null_differ() {
    let root = root("a:\nb: null\nc: ~\nd: !null\ne: ''\nf: [~, !null ]\n");
    let want = |name: &str| &root.get(name).expect("a member").want;
    assert_eq!(want("a"), &Want::Outside(Outside::Nothing));
    assert_eq!(want("b"), &Want::Unset);
    assert_eq!(want("c"), &Want::Unset);
    assert_eq!(want("d"), &Want::Json(Value::Null));
    assert_eq!(want("e"), &Want::Json("".into()));
    let Want::List(items) = want("f") else { panic!("a list") };
    assert_eq!((&items[0].want, &items[1].want), (&Want::Unset, &Want::Json(Value::Null)));
}

#[test]
fn empty_documents_are_left_out() {
    for (text, count) in [
        ("", 0),
        ("---\n", 0),
        ("# x\n", 0),
        ("a: 1\n---\n---\n# x\n---\nb: 2\n...\n", 2),
        ("~", 0),
        (" \n\n", 0),
    ] {
        assert_eq!(roots(text).len(), count, "{text:?}");
    }
    assert_eq!(parse(&source("a.json", "")).map(|d| d.len()), Ok(0));
    assert_eq!(parse(&source("a.json", "{} \n[1]\n")).map(|d| d.len()), Ok(2));
}

#[test]
fn wrong_values_are_told_with_their_place() {
    for (text, want) in [
        (
            "mode: 012",
            "1:7 the number `012` has two readings: 10 (octal, YAML 1.1) and 12 (YAML 1.2) | write `10` or `12`, or \"012\" for the text",
        ),
        (
            "a:\n  n: 1_000",
            "2:6 `1_000` has two readings: the number 1000 (YAML 1.1) and the text \"1_000\" (YAML 1.2) | write `1000`, or \"1_000\" for the text",
        ),
        ("x: .inf", "1:4 `.inf` is a number that JSON does not have | if the text is meant, write \".inf\""),
        ("x: !!binary aGk=", "1:4 the tag `!!binary` is not known | write the Base64 text as a string"),
        (
            "x: !foo y",
            "1:4 the tag `!foo` is not known | the tags are `!ref`, `!env`, `!file`, `!secret`, `!null`",
        ),
        (
            "x: !Ref {a: 1}",
            "1:4 the tag `!Ref` is not known | did you mean `!ref`? the tags are `!ref`, `!env`, `!file`, `!secret`, `!null`",
        ),
        (
            "x: !<tag:foo> y",
            "1:4 the tag `tag:foo` is not known | the tags are `!ref`, `!env`, `!file`, `!secret`, `!null`",
        ),
        (
            "x: !!set {a}",
            "1:4 the tag `!!set` is not known | the tags are `!ref`, `!env`, `!file`, `!secret`, `!null`",
        ),
        ("x: !!int y", "1:4 `y` is no `!!int` | leave the tag out"),
        ("x: !env [A]", "1:4 `!env` cannot stand on a list | write `!env NAME`"),
        (
            "a: 1\nb: 2\na: 3",
            "3:1 the key `a` stands twice in one map, first in line 1 | remove one of the two",
        ),
        (
            "x: [{q: {a: 1, a: 1}}]",
            "1:16 the key `a` stands twice in one map, first in line 1 | remove one of the two",
        ),
        ("8080: x", "1:1 the key `8080` is a number | keys are texts: write \"8080\""),
        ("a: {true: x}", "1:5 the key `true` is a boolean | keys are texts: write \"true\""),
        ("~: x", "1:1 the key `~` is null | keys are texts: write \"~\""),
        (": x", "1:1 a key is missing before the `:` | write \"\" for the empty key"),
        (
            "[a, b]: x",
            "1:1 a key must be a text, and here a map or a list is one | put the text in quotes if it begins with `{` or `[`; render the file first if it is a template",
        ),
        (
            "a: {{ x }}",
            "1:5 a key must be a text, and here a map or a list is one | put the text in quotes if it begins with `{` or `[`; render the file first if it is a template",
        ),
        ("!env a: x", "1:1 a tag cannot stand on a key | put it on the value"),
        (
            "a: {<<: 5}",
            "1:5 `<<` merges maps, and this is a number | write `<<: *NAME`, or \"<<\" for a key of this name",
        ),
        (
            "a: &a [*a]",
            "1:8 the alias stands for nothing | an alias names an anchor (`&name`) whose value ends before it, in the same document",
        ),
        (
            "a: &a 1\n---\nb: *a",
            "3:4 the alias stands for nothing | an alias names an anchor (`&name`) whose value ends before it, in the same document",
        ),
    ] {
        assert_eq!(errors("a.yaml", text), [want], "{text}");
    }
}

#[test]
fn all_errors_of_a_text_are_told_and_sound_documents_are_kept() {
    let text = "a: 017\nb: .nan\n---\nok: 1\n---\nc: !foo x\nc: 2\n---\nok: [1\n";
    let source = source("a.yaml", text);
    let (documents, problems) = read(&source);
    assert_eq!(documents.len(), 1);
    assert_eq!(problems.len(), 5, "{problems:?}");
    assert_eq!(problems[2].excerpt.as_deref(), Some("c: !foo x"));
    assert!(problems[4].message.starts_with("the YAML is broken: "), "{}", problems[4]);
}

#[test]
fn broken_texts_have_a_place_and_a_cause() {
    for (text, place, hint) in [
        ("a: b: c", "1:5", "put a text that holds `: ` in quotes"),
        ("a: \"b", "1:", "a closing quote is missing"),
        ("a: [1, 2", "", "a bracket is not closed"),
        ("a:\n\tb: 1", "2:", "indent with spaces"),
        ("a: *x", "1:4", "an alias (`*name`) needs an anchor"),
        ("a: 1\n b: 2", "2:", ""),
        ("a: @x", "1:4", "put the text in quotes"),
        ("a: - b", "1:4", "begin a list in a line of its own"),
    ] {
        let all = errors("a.yaml", text);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].starts_with(place) && all[0].contains(hint), "{text:?}: {all:?}");
        assert!(all[0].contains(" the YAML is broken: "), "{all:?}");
    }
}

#[test]
fn explosions_are_stopped() {
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for i in 1..9 {
        let alias = format!("*a{}", i - 1);
        bomb += &format!("a{i}: &a{i} [{}]\n", [alias.as_str(); 10].join(","));
    }
    let nest = |inner: &str| format!("{}{inner}{}", "[".repeat(40), "]".repeat(40));
    let deep_alias =
        format!("a: &a {}\nb: &b {}\nc: &c {}\nd: {}\n", nest("x"), nest("*a"), nest("*b"), nest("*c"));
    let mut nested_anchors: String = (0..100).map(|i| format!("{}k{i}: &a{i}\n", " ".repeat(i))).collect();
    nested_anchors += &format!("{}- [{}]\nz: *a0", " ".repeat(101), "1,".repeat(5_000));
    for (text, message) in [
        (bomb, "aliases stand for more than 100000 values"),
        (format!("{}{}", "[".repeat(3000), "]".repeat(3000)), "nested more than 128 levels deep"),
        ("- ".repeat(300), "nested more than 128 levels deep"),
        (format!("a: {}{}", "{a: ".repeat(200), "}".repeat(200)), "nested more than 128 levels deep"),
        (deep_alias, "nested more than 128 levels deep"),
        (format!("a: [{}]", "1,".repeat(250_001)), "more than 250000 values"),
        (nested_anchors, "anchors name more than 250000 values"),
    ] {
        let all = errors("a.yaml", &text);
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].contains(message), "{message}: {all:?}");
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(errors("a.json", &deep)[0].contains("1:129 the document is nested more than 128 levels deep"));
    assert!(parse(&source("a.yaml", &format!("{}{}", "[".repeat(128), "]".repeat(128)))).is_ok());
}

#[test]
fn large_texts_are_refused() {
    let text = " ".repeat(MAX_BYTES + 1);
    let problems = parse(&source("big.yaml", &text)).expect_err("too large");
    assert_eq!(problems[0].message, "reading `big.yaml`: it is larger than 16 MB");
}

#[test]
fn what_yaml_1_1_reads_otherwise_is_warned_of_once() {
    let (documents, problems) =
        read(&source("a.yaml", "country: NO\nswitch: on\nagain: on\nt: 12:30\nv: 1e3\nq: \"no\"\nno: x\n"));
    assert_eq!(documents.len(), 1);
    assert!(problems.iter().all(|problem| problem.warning));
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "a.yaml:1:10: `NO` is a text here, and a boolean to readers of YAML 1.1",
            "a.yaml:2:9: `on` is a text here, and a boolean to readers of YAML 1.1",
            "a.yaml:4:4: `12:30` is a text here, and a number in base 60 to readers of YAML 1.1",
            "a.yaml:5:4: `1e3` is a number here, and a text to readers of YAML 1.1",
        ]
    );
}

#[test]
fn json_is_read_as_json() {
    let text =
        "{\n\t\"a\":\t\"\\ud83d\\ude00\",\n\t\"b\": [1e3, -0.50, true, null],\n\t\"é\": {\"x/y\": \"\"}\n}\n";
    for file in ["a.json", "-", "a.yaml"] {
        let documents = parse(&source(file, text)).expect(file);
        let root = &documents[0].root;
        assert_eq!(root.get("a").and_then(Node::as_str), Some("😀"));
        let b = root.get("b").expect("b");
        assert_eq!((b.at.line, b.at.column), (3, 7));
        let Want::List(items) = &b.want else { panic!("a list") };
        assert_eq!(items[3].want, Want::Unset);
        assert_eq!((items[3].at.line, items[3].at.column), (3, 26));
        let x = root.get("é").and_then(|node| node.get("x/y")).expect("x/y");
        assert_eq!((x.at.line, x.at.column), (4, 15));
    }
    for (text, want) in [
        (r#"{"a": 1, "a": 2}"#, "1:10 the key `a` stands twice in one map, first in line 1"),
        ("{\"a\": 1,\n}", "2:1 the JSON is broken: key must be a string"),
        ("{\"a\": 1", "1:7 the JSON is broken: EOF while parsing an object"),
        (
            r#"{"a": "\ud83d"}"#,
            "1:7 the text has half a surrogate pair: a `\\uD800` to `\\uDFFF` that stands alone",
        ),
        ("a: 1", "1:1 the JSON is broken: expected value"),
    ] {
        let all = errors("a.json", text);
        assert!(all.len() == 1 && all[0].starts_with(want), "{all:?}");
    }
}

/// The second opinion on documents in which both schemas agree.
#[test]
fn another_reader_agrees() {
    for text in [
        "a: 1\nb: [x, 'y', \"z\\n\", -5, 1.5]\nc: {d: {e: ~}, f: true}\n",
        "- |\n  two\n  lines\n- >\n  folded\n  text\n-\n  - nested\n  - {}\n",
        "text: 'it''s'\nlong: a b\n  c d\nq: \"a \\\n  b\"\nurl: http://x/y?z#w # comment\n",
    ] {
        let theirs: Value = serde_yaml::from_str(text).expect(text);
        let ours = root(text);
        assert!(equal(&with_nulls(&ours), &theirs), "{text}: {ours:?} {theirs}");
    }
}

/// Like `to_value`, with "must not be set" as null instead of left out.
fn with_nulls(node: &Node) -> Value {
    match &node.want {
        Want::Unset | Want::Outside(Outside::Nothing) => Value::Null,
        Want::List(items) => items.iter().map(with_nulls).collect(),
        Want::Map(map) => Value::Object(map.iter().map(|(k, v)| (k.to_string(), with_nulls(v))).collect()),
        Want::Json(value) => value.clone(),
        other => panic!("{other:?}"),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "-?[1-9][0-9]{0,30}(\\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?"
            .prop_map(|text| Value::Number(text.parse().expect(&text))),
        "\\PC{0,12}".prop_map(Value::from),
        "[a-z :#\\-\\[\\]{}&*!|>'\"%@`\\\\\n\t]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("\\PC{0,6}", inner, 1..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn nothing_panics(text in "[a-c0-9 \n\t:\\-\\[\\]{},&*!|>'\"%@`?#~<.é\r\u{feff}]{0,60}") {
        let (_, problems) = read(&source("a.yaml", &text));
        prop_assert!(problems.iter().all(|problem| problem.origin.is_some()));
        read(&source("a.json", &text));
    }

    #[test]
    fn nothing_panics_on_any_text(text in any::<String>()) {
        read(&source("a.yaml", &text));
        read(&source("a.json", &text));
    }

    #[test]
    fn json_text_is_read_as_what_it_is(value in any_json()) {
        for text in [value.to_string(), format!("a: {value}"), serde_json::to_string_pretty(&value).expect("JSON")] {
            let root = root(&text);
            let have = root.get("a").filter(|_| text.starts_with("a: ")).unwrap_or(&root);
            prop_assert!(equal(&with_nulls(have), &value), "{} {:?}", text, have);
        }
    }

    #[test]
    fn the_order_of_keys_is_of_no_account(
        map in prop::collection::btree_map("[a-z]{1,6}", any_json(), 1..6),
        seed in any::<prop::sample::Index>(),
    ) {
        let mut lines: Vec<String> = map.iter().map(|(k, v)| format!("\"{k}\": {v}\n")).collect();
        let before = value(&lines.concat());
        let at = seed.index(lines.len());
        lines.rotate_left(at);
        lines.reverse();
        prop_assert_eq!(value(&lines.concat()), before);
    }
}
