//! Regular expressions: what `jq` gives, within the bounds of a run.

use serde_json::json;

use super::*;

fn run(filter: &str, input: &Value) -> Result<Vec<Value>, String> {
    let filter = Filter::parse(filter).map_err(|e| e.problem)?;
    filter.all(input, &Vars::default()).map_err(|e| e.problem)
}

#[test]
fn they_give_what_jq_gives() {
    for (filter, input, want) in [
        (r#"test("b")"#, json!("abc"), vec![json!(true)]),
        (
            r#"test("B"), test("B"; "i"), test(""; "n")"#,
            json!("abc"),
            vec![json!(false), json!(true), json!(false)],
        ),
        (
            r#"[match("(?<l>[a-z])(\\d)?"; "g") | [.offset, .length, .string, [.captures[] | [.name, .string]]]]"#,
            json!("éa1b"),
            vec![json!([[1, 2, "a1", [["l", "a"], [null, "1"]]], [3, 1, "b", [["l", "b"]]]])],
        ),
        // A group that stands before the one in front of it.
        (r#"[match("(?:(a)|(b))+").captures[].string]"#, json!("ba"), vec![json!(["a", "b"])]),
        (r#"[match("(?:(a)|(b))+").captures[].offset]"#, json!("éba"), vec![json!([2, 1])]),
        (r#"capture("(?<k>\\w+)=(?<v>\\w+)")"#, json!("a=1"), vec![json!({"k": "a", "v": "1"})]),
        (r#"[scan("[a-c]")]"#, json!("abxc"), vec![json!(["a", "b", "c"])]),
        (r#"[scan("([a-c])(x)?")]"#, json!("bx"), vec![json!([["b", "x"]])]),
        (r#"[splits(", *")]"#, json!("a, b,c"), vec![json!(["a", "b", "c"])]),
        (r#"split(", *"; "")"#, json!("a, b,c"), vec![json!(["a", "b", "c"])]),
        (r#"sub("(?<x>b)"; "<\(.x)>")"#, json!("abab"), vec![json!("a<b>ab")]),
        (r#"gsub("(?<x>b)"; .x + .x)"#, json!("abé"), vec![json!("abbé")]),
        (r#"gsub("";"-")"#, json!("aé"), vec![json!("-a-é-")]),
        (r#"gsub("^";">"; "m")"#, json!("a\nb"), vec![json!(">a\n>b")]),
        (r#"gsub("\\p"; "")?"#, json!("a"), vec![]),
        (r#"[sub("(?<x>.)"; "1", "2")]"#, json!("ab"), vec![json!(["1b", "2b"])]),
        (r#"[gsub("b"; "1", "2")]"#, json!("bb"), vec![json!(["11", "12", "21", "22"])]),
        (r#"sub("a"; null)"#, json!("ab"), vec![json!("b")]),
        (r#"[sub("a"; empty)]"#, json!("ab"), vec![json!([])]),
        (r#"sub("x"; "y")"#, json!(""), vec![json!("")]),
    ] {
        assert_eq!(run(filter, &input), Ok(want), "{filter} on {input}");
    }
    for (filter, problem) in [
        (r#"test("(")"#, "a text is no regular expression, or a large one"),
        (r#"test("(a{1000}){1000}")"#, "a text is no regular expression, or a large one"),
        (r#"test("a"; "q")"#, "a text is no set of flags of a regular expression"),
        (r#"sub("a"; 1)"#, "something that is not of type string is used as one"),
        ("test(1)", "something that is not of type string is used as one"),
    ] {
        assert_eq!(run(filter, &json!("a")), Err(problem.into()), "{filter}");
    }
}

/// What a server sends may be as large as its answer may be: each of these took gigabytes or minutes.
#[test]
fn long_texts_are_worked_on_or_refused() {
    const TOO_MUCH: &str = "it takes too long, or builds too many values";
    let dashes = json!("-".repeat(1_000_000));
    assert_eq!(run(r#"ascii_upcase | gsub("[ -]"; "")"#, &dashes), Ok(vec![json!("")]));
    let escaped = json!("&#40;".repeat(100_000));
    assert_eq!(run(r#"gsub("&#40;"; "(") | length"#, &escaped), Ok(vec![json!(100_000)]));
    let accents = json!("é".repeat(200_000));
    assert_eq!(run(r#"gsub("é"; "e") | length"#, &accents), Ok(vec![json!(200_000)]));
    let crosses = json!("x".repeat(1_000_000));
    for (filter, input, problem) in [
        (r#"[match("x"; "g")]"#, &crosses, "it finds more than 100000 matches"),
        (r#"[scan("x")] | length"#, &crosses, "it finds more than 100000 matches"),
        (r#"try [scan("x")] catch 1"#, &crosses, "it finds more than 100000 matches"),
        (r#"("x" * 100000) | gsub(""; "y" * 1000)"#, &json!(null), "it builds a value of more than 16 MB"),
        (r#"gsub("x"; range(100))"#, &crosses, "something that is not of type string is used as one"),
        (r#"gsub("x"; "1", "2")"#, &crosses, "it makes more than 1000 texts of one"),
        // Each match takes a look at the whole of the rest.
        (r#"gsub("x*y|x"; "")"#, &crosses, TOO_MUCH),
        (r#"[splits("")] | length"#, &crosses, TOO_MUCH),
        (r#"test("x{100}y")"#, &crosses, TOO_MUCH),
    ] {
        assert_eq!(run(filter, input), Err(problem.into()), "{filter}");
    }
    // Nothing is repeated without a bound but the last character: no look beyond the match.
    let words = json!("some  words ".repeat(20_000));
    assert_eq!(run(r#"gsub(" +"; "") | length"#, &words), Ok(vec![json!(180_000)]));
}

/// The prelude's own work on long texts.
#[test]
fn the_prelude_works_on_long_texts() {
    let references = json!("&amp;".repeat(20_000));
    assert_eq!(run("html_unescape | length", &references), Ok(vec![json!(20_000)]));
    let words = json!("a b. ".repeat(20_000));
    assert_eq!(run("dns_record | length", &words), Ok(vec![json!(100_000)]));
}
