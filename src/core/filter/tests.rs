use proptest::prelude::*;

use super::*;

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect(text)
}

fn run(filter: &str, input: &str) -> Result<Vec<String>, String> {
    let filter = Filter::parse(filter).map_err(|e| e.problem)?;
    let outputs = filter.all(&value(input), &Vars::default()).map_err(|e| e.problem)?;
    Ok(outputs.iter().map(Value::to_string).collect())
}

#[test]
fn filters_give_what_jq_gives() {
    for (filter, input, want) in [
        (".a.b", r#"{"a":{"b":1.10}}"#, vec!["1.10"]),
        (".a.b", r#"{"a":null}"#, vec!["null"]),
        (
            ".[] | .n",
            r#"[{"n":123456789012345678901234567890},{"n":1.10}]"#,
            vec!["123456789012345678901234567890", "1.10"],
        ),
        (".n + 1", r#"{"n":18446744073709551615}"#, vec!["18446744073709551616"]),
        (
            r#"map(select(.s != "" and .t == "queue")) | length"#,
            r#"[{"s":"","t":"queue"},{"s":"x","t":"queue"}]"#,
            vec!["1"],
        ),
        ("(.a, .b) |= . + 1", r#"{"a":1,"b":2}"#, vec![r#"{"a":2,"b":3}"#]),
        (".a += 2 | .b *= 3", r#"{"a":1,"b":2}"#, vec![r#"{"a":3,"b":6}"#]),
        ("del(.a, .b.c)", r#"{"a":1,"b":{"c":2,"d":3}}"#, vec![r#"{"b":{"d":3}}"#]),
        ("[path(..)]", r#"{"a":1}"#, vec![r#"[[],["a"]]"#]),
        (r#"{dashboard: del(.f), f}"#, r#"{"f":1,"g":2}"#, vec![r#"{"dashboard":{"g":2},"f":1}"#]),
        (r#"split("/") | last"#, r#""a/b""#, vec![r#""b""#]),
        (r#"sub("^a"; "b")"#, r#""aa""#, vec![r#""ba""#]),
        ("[range(3)]", "null", vec!["[0,1,2]"]),
        ("[range(5;0;-2)]", "null", vec!["[5,3,1]"]),
        ("fromjson.a", r#""{\"a\":1.10}""#, vec!["1.10"]),
        ("tojson", r#"{"a":1.10}"#, vec![r#""{\"a\":1.10}""#]),
        ("reduce .[] as $x (0; . + $x)", "[1,2,3]", vec!["6"]),
        (r#""\(.a)-\(.b)" * 2"#, r#"{"a":1,"b":2}"#, vec![r#""1-21-2""#]),
        ("if . then 1 else empty end", "false", vec![]),
        ("[limit(2; .[])]", "[1,2,3]", vec!["[1,2]"]),
        ("getpath([\"a\",\"b\"])", r#"{"a":{"b":2}}"#, vec!["2"]),
        ("to_entries[] | .key", r#"{"a":1,"b":2}"#, vec![r#""a""#, r#""b""#]),
        (".a as [$x, $y] | $y", r#"{"a":[1,2]}"#, vec!["2"]),
        ("first(.[] | select(. > 1))", "[1,2,3]", vec!["2"]),
        (".[\"a\"]?", "[1]", vec![]),
        ("@base64d", r#""aGk=""#, vec![r#""hi""#]),
        ("flatten", "[1,[2,[3]]]", vec!["[1,2,3]"]),
        ("[..|numbers]", "[1,[2]]", vec!["[1,2]"]),
        ("walk(if type == \"string\" then ascii_downcase else . end)", r#"[["A"]]"#, vec![r#"[["a"]]"#]),
    ] {
        let want: Vec<String> = want.into_iter().map(Into::into).collect();
        assert_eq!(run(filter, input), Ok(want), "{filter} on {input}");
    }
}

#[test]
fn what_compares_single_values_is_a_function_too() {
    for (filter, input, want) in [
        ("map(cidr)", r#"["2001:DB8:0::1","10.0.0.1/32","web",1]"#, r#"["2001:db8::1","10.0.0.1","web",1]"#),
        ("url", r#""HTTP://Host:80/%7ea""#, r#""http://host/~a""#),
        ("map(duration) | unique | length", r#"["90s","1m30s","PT1M30S"]"#, "1"),
        ("map(timestamp) | unique | length", r#"["2026-01-01T01:00:00+01:00","2026-01-01T00:00:00Z"]"#, "1"),
        ("map(quantity) | unique | length", r#"["1000m","1",1]"#, "1"),
    ] {
        assert_eq!(run(filter, input), Ok(vec![want.into()]), "{filter} on {input}");
    }
}

#[test]
fn the_prelude_makes_equal_what_means_the_same() {
    for (filter, input, want) in [
        ("trim_dot", r#""example.org.""#, r#""example.org""#),
        ("trim_dot", "1", "1"),
        ("html_unescape", r#""&lt;a&gt; &amp; &quot;b&quot;""#, r#""<a> & \"b\"""#),
        (
            "html_unescape",
            r#""&#40;AWS&#x29; &#X2f; &amp;#40; &none; & &#xyz; &#; &#1114112; a&""#,
            r#""(AWS) / &#40; &none; & &#xyz; &#; &#1114112; a&""#,
        ),
        ("zero_is_missing", "0", "null"),
        ("zero_is_missing", "1", "1"),
        ("empty_is_missing", "{}", "null"),
        ("comma_set", r#""b, a,,b""#, r#"["a","b"]"#),
        ("comma_set", r#"["b","a"]"#, r#"["a","b"]"#),
        ("comma_joined", r#"["b","a"]"#, r#""b,a""#),
        ("comma_joined", r#""b,a""#, r#""b,a""#),
        ("json_value", r#""{\"a\": 1}""#, r#"{"a":1}"#),
        ("json_value", r#""no json""#, r#""no json""#),
        ("dns_record", r#""2001:DB8:0:0::1""#, r#""2001:db8::1""#),
        ("dns_record", r#""192.0.2.1""#, r#""192.0.2.1""#),
        ("dns_record", r#""10 Mail.Example.ORG.""#, r#""10 mail.example.org.""#),
        ("dns_record", r#""\"Case Counts.\" \"Here.\"""#, r#""\"Case Counts.\" \"Here.\"""#),
        ("dns_record", r#""257 3 13 T7g9UIie+/==""#, r#""257 3 13 T7g9UIie+/==""#),
        (
            "dns_record",
            r#""1 8 1 ABCDEF0123456789ABCDEF0123456789ABCDEF01""#,
            r#""1 8 1 abcdef0123456789abcdef0123456789abcdef01""#,
        ),
        ("dns_record", "1", "1"),
        (
            "fieldsv1",
            r#"[{"manager":"a","operation":"Apply","fieldsV1":{"f:data":{".":{},"f:x.y":{}},"f:l":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:n":{}}}}},
                {"manager":"b","fieldsV1":{"f:s":{"v:\"x\"":{}},"f:i":{"i:0":{}}}},{"manager":"c"}]"#,
            r#"[{"leaves":true,"name":"a","paths":["[\"data\"][\"x.y\"]","[\"l\"][port=\"80\"][\"n\"]"]},{"leaves":false,"name":"b","paths":["[\"i\"][0]","[\"s\"][*]"]},{"leaves":false,"name":"c","paths":[]}]"#,
        ),
    ] {
        assert_eq!(run(filter, input), Ok(vec![want.into()]), "{filter} on {input}");
    }
}

#[test]
fn one_tells_missing_from_null() {
    let filter = |text| Filter::parse(text).expect(text);
    let vars = Vars::default();
    assert_eq!(filter(".a").one(&value("{}"), &vars), Ok(None));
    assert_eq!(filter(".a").one(&value(r#"{"a":null}"#), &vars), Ok(Some(Value::Null)));
    assert_eq!(filter("empty").one(&value("{}"), &vars), Ok(None));
    assert_eq!(
        filter(".a.b").one(&value(r#"{"a":1}"#), &vars).map_err(|e| e.to_string()),
        Err("filter `.a.b`: `b` is looked up in a number, not in a map".into())
    );
    assert_eq!(filter(".a == 1").holds(&value(r#"{"a":1}"#), &vars), Ok(true));
}

#[test]
fn variables_are_always_declared() {
    let filter = Filter::parse("[$key.name, $id, $status]").expect("a filter");
    let vars = Vars(vec![("key", value(r#"{"name":"x"}"#)), ("observed", value("{}"))]);
    assert_eq!(filter.all(&Value::Null, &vars), Ok(vec![value(r#"["x",null,null]"#)]));
    assert!(filter.uses("key") && filter.uses("status") && !filter.uses("observed"));
    let text = r#". as $keys | [$key.name_1, $key["a b"], $parent.["x"].id, $keys.c, .c, $key]"#;
    let filter = Filter::parse(text).expect("a filter");
    assert!(filter.names("key", "name_1") && filter.names("key", "a b") && filter.names("parent", "x"));
    assert!(!filter.names("key", "name") && !filter.names("key", "c") && !filter.names("key", "x"));
    for name in VARIABLES {
        assert!(Filter::parse(&format!("${name} | .")).is_ok(), "{name}");
    }
}

#[test]
fn wrong_filters_say_what_and_where() {
    for (filter, want) in [
        ("", "expected term at its end"),
        (".a | | .b", "expected term before `|` at character 6"),
        (".a | (.b", "expected closing parenthesis at character 9"),
        ("nope", "`nope` is not a filter here at character 1"),
        (".a | $nope", "`$nope` is not a variable here at character 6"),
        ("def f: f; f", "`def` has no place in a filter; name a value with `as $x |` at character 5"),
        ("[repeat(.)]", "`repeat` has no end of its own and is not available at character 2"),
        ("recurse(.a)", "`recurse` has no end of its own and is not available at character 1"),
        ("[.[] | until(. > 3; . + 1)]", "`until` has no end of its own and is not available at character 8"),
        ("é | nope", "`é` is not"),
    ] {
        let problem = Filter::parse(filter).expect_err(filter).problem;
        assert!(problem.starts_with(want) || filter.starts_with('é'), "{filter}: {problem}");
    }
}

#[test]
fn nothing_outside_can_be_reached() {
    for filter in [
        "env",
        "$ENV",
        "$ENV.HOME",
        "input",
        "inputs",
        "debug",
        "debug(1)",
        "stderr",
        "now",
        "halt",
        "halt(0)",
        "halt_error",
        "halt_error(1)",
        "input_filename",
        "localtime",
        "strflocaltime(\"%Y\")",
        "todate",
        "$__loc__",
        "import \"a\" as a; .",
        "include \"a\"; .",
        "get_search_list",
        "this_filter",
        "this_filter2",
    ] {
        assert!(Filter::parse(filter).is_err(), "{filter}");
    }
}

#[test]
fn runs_are_bounded() {
    for filter in [
        "[range(1e12)]",
        "range(1e12)",
        "range(0; infinite)",
        "[range(1000) as $a | range(1000) as $b | range(1000)] | length",
        "last(range(90000) as $a | range(90000))",
        r#""x" * 1e12"#,
        r#"1e12 * "x""#,
        r#".a = "x" | .a *= 1e12"#,
        r#"reduce range(100) as $i ("x"; . + .)"#,
        r#"{a: "x"} | reduce range(100) as $i (.; .a += .a)"#,
        "reduce range(100) as $i ([1]; . + .)",
        "reduce range(100) as $i (1; [., .])",
        "reduce range(100) as $i (1; [., .]) | . == .",
        "reduce range(100) as $i (1; [., .]) | tojson",
        "reduce range(100000) as $i (1; [.])",
        "reduce range(100) as $i (3; . * .)",
        "setpath([range(10000) | \"a\"]; 1)",
        "try reduce range(100) as $i ([1]; . + .) catch 1",
        "[(reduce range(100) as $i ([1]; . + .))?]",
        "[range(10000)] as $r | (reduce $r[] as $x (.; .)) |= 3",
        "[range(10000)] as $r | del(.a | first(foreach $r[] as $x (.; .)))",
        "[[range(30)] | map([0, 1]) | reduce .[] as $x ([]; . + $x[])] | length",
    ] {
        assert!(run(filter, "{}").is_err(), "{filter}");
    }
    let doubling = vec![".+."; 31].join("|");
    assert!(run(&doubling, r#""x""#).is_err());
    let commas = vec!["(.,.)"; 30].join("|");
    assert!(run(&format!("[{commas}]"), "1").is_err());
    let both = format!("{}.{}", "[.==(1,2)|".repeat(14), "]".repeat(14));
    assert!(run(&both, "1").is_ok());
    let interpolated = vec![r#""\(.)\(.)""#; 60].join("|");
    assert!(run(&interpolated, r#""x""#).is_err());
}

#[test]
fn long_work_within_the_bounds_is_done() {
    let items: Vec<Value> = (0..20_000).map(|n| serde_json::json!({"name": n.to_string(), "n": n})).collect();
    let input = Value::Array(items);
    for filter in
        ["map(select(.n > 3)) | length", "reduce .[] as $x (0; . + $x.n)", "group_by(.n % 3) | length"]
    {
        assert!(Filter::parse(filter).expect(filter).one(&input, &Vars::default()).is_ok(), "{filter}");
    }
}

#[test]
fn texts_over_the_limits_are_refused() {
    let deep = format!("{}.{}", "(".repeat(65), ")".repeat(65));
    for (text, want) in [
        (".".repeat(10_001), "it is longer than 10000 characters"),
        (deep, "its parts are nested deeper than 64; a chain of operators nests, too"),
        ("[".repeat(5_000), "it has more than 500 opening brackets"),
        (".|".repeat(2_000) + ".", "its parts are nested deeper than 64; a chain of operators nests, too"),
    ] {
        let error = Filter::parse(&text).expect_err(&text);
        assert_eq!(error.problem, want);
        assert!(error.filter.chars().count() <= SHOWN + 1);
    }
}

#[test]
fn the_largest_filters_fit_on_the_stack() {
    let deep_input = value(&format!("{}1{}", r#"[{"a":"#.repeat(60), "}]".repeat(60)));
    for (before, middle, after) in [
        (".|", ".", ""),
        ("-", "1", ""),
        ("try ", ".", ""),
        (". as $x|", ".", ""),
        ("if . then ", ".", " else . end"),
        ("if . then . else ", ".", " end"),
        ("reduce . as $x (0; ", ".", ")"),
        (".,", ".", ""),
        (".//", ".", ""),
        ("[", "1", "]"),
        ("{a:", "1", "}"),
        (r#""\("#, "1", r#")""#),
        ("map(", "1", ")"),
        (".|=(", "1", ")"),
        ("label $x|", "1", ""),
        ("1+", "1", ""),
    ] {
        let levels = (1..70).rev().find_map(|n| {
            Filter::parse(&format!("{}{middle}{}", before.repeat(n), after.repeat(n))).ok().map(|f| (n, f))
        });
        let (levels, filter) = levels.expect(before);
        assert!(levels >= 10, "{before}: {levels}");
        let _ = filter.all(&deep_input, &Vars::default());
    }
    for text in [
        "walk(if type == \"number\" then . + 1 else . end)",
        "[..]|length",
        "[paths]|sort|length",
        "tojson|fromjson",
        "flatten",
        "unique",
        "walk(walk(.))",
    ] {
        assert!(Filter::parse(text).expect(text).one(&deep_input, &Vars::default()).is_ok(), "{text}");
    }
    let members: Vec<String> = (0..200).map(|n| format!("a{n}: .a{n}")).collect();
    assert!(Filter::parse(&format!("{{{}}}", members.join(", "))).is_ok());
}

#[test]
fn errors_hold_no_value() {
    for filter in [
        ".a | ascii_downcase | .b",
        ".a + 1",
        ".a | keys",
        ".a | fromjson",
        ".a | error",
        "error(.a)",
        ".a | tonumber",
    ] {
        let problem = run(filter, r#"{"a":"s3cret"}"#).expect_err(filter);
        assert!(!problem.contains("s3cret"), "{filter}: {problem}");
    }
    assert_eq!(run(r#"error("no such thing")"#, "1"), Err("no such thing".into()));
}

#[test]
fn a_filter_is_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Filter>();
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = Filter::parse(&text);
    }

    #[test]
    fn no_jq_like_text_makes_it_panic(words in proptest::collection::vec(
        prop::sample::select(vec![".", "..", ".a", "[", "]", "(", ")", "{", "}", "|", ",", ":", "\"", "\\(", "$key", "as", "$x",
            "reduce", "foreach", "if", "then", "else", "end", "try", "catch", "def", "f", ";", "1", "1.5", "-", "+", "*", "/", "%",
            "==", "|=", "+=", "*=", "//", "?", "map", "range", "first", "limit", "@base64", "label", "break", "\"a\"", "and", "not",
            "fromjson", "tojson", "explode", "implode", "sort_by", "ltrimstr", "getpath", "\\", "'", "é"]), 0..14)) {
        let text = words.join(" ");
        if let Ok(filter) = Filter::parse(&text) {
            let _ = filter.all(&value(r#"{"a":[1,"x",{"b":null}],"b":-1.5e3}"#), &Vars::default());
        }
    }

    #[test]
    fn identity_through_the_program_changes_nothing(n in any::<i128>(), s in "\\PC*", d in "[1-9][0-9]{0,30}\\.[0-9]{1,30}") {
        let input = value(&format!(r#"[{n}, {}, {d}]"#, Value::String(s)));
        let filter = Filter::parse(". as $x | $x").expect("a filter");
        prop_assert_eq!(filter.one(&input, &Vars::default()), Ok(Some(input)));
    }
}
