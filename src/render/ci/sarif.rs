//! Findings as SARIF 2.1.0, for code scanning: one result an object, at its line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::core::escape;
use crate::core::node::Origin;
use crate::core::value::Value;

use super::super::json as render_json;
use super::Told;
use super::row::{self, Level, Standing};

/// What each rule is about; the codes of findings besides.
const RULES: [(&str, &str); 17] = [
    ("create", "The object is not on the server and is to be created."),
    ("update", "The object differs from the files and is to be updated."),
    ("replace", "The object differs in what cannot be changed and is to be deleted and created again."),
    ("delete", "The object is to be deleted."),
    ("refused", "A guard forbids the change: consent, a limit or a protection."),
    ("conflict", "Somebody else changed what was to be changed."),
    ("failed", "The change failed."),
    ("unknown", "Nothing certain is known of the object."),
    ("not-effective", "The server took the value and keeps another."),
    ("skipped", "Something that the object needs is not settled."),
    ("extra", "The object is in the scope of a Set and in no document."),
    ("accepted", "The object differs, and that is accepted for a time."),
    ("undeclared", "The server has fields that no document declares."),
    ("input", "The input is wrong."),
    ("run", "Something went wrong in the run as a whole."),
    ("warning", "Something worth knowing of the input or the run."),
    ("note", "Something worth knowing of the run as a whole."),
];

/// The document, indented.
pub fn document(told: &Told) -> String {
    let mut results = results(told);
    let used: BTreeSet<String> =
        results.iter().filter_map(|result| result["ruleId"].as_str()).map(str::to_owned).collect();
    let about: BTreeMap<&str, &str> = RULES.into_iter().collect();
    let rule = |id: &String| {
        let text = about.get(&**id).copied().unwrap_or("Something worth knowing of an object.");
        json!({"id": id, "shortDescription": {"text": text}})
    };
    let rules: Vec<Value> = used.iter().map(rule).collect();
    for result in &mut results {
        let at = result["ruleId"].as_str().and_then(|id| used.iter().position(|used| *used == id));
        result["ruleIndex"] = at.map_or(-1, |at| at as i64).into();
    }
    render_json::pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "trueup", "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "automationDetails": {"id": format!("trueup/{}/", told.command)},
            "invocations": [{
                "executionSuccessful": told.is_whole(),
                "exitCode": told.exit.code(),
                "exitCodeDescription": text(&told.summary()),
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn results(told: &Told) -> Vec<Value> {
    let mut results = Vec::new();
    for problem in told.problems {
        let place = problem.origin.as_ref().map(Origin::to_string).unwrap_or_default();
        let print = format!("{place} {}", problem.message);
        let (rule, level) = (row::rule(problem), row::level(problem));
        results.push(result(told, rule, level, problem.origin.as_ref(), &row::said(problem), &print));
    }
    for row in told.rows() {
        let id = &row.entry.id;
        let identity = format!("{}/{}", id.kind.backend, id.slashed());
        if row.listed && row.standing != Standing::Well {
            let head = format!("{}: {}", row.name, row.since().unwrap_or(row.state));
            let said: Vec<String> = std::iter::once(head).chain(row.lines()).collect();
            let mut found = result(told, row.rule, row.level, row.origin(), &said.join("\n"), &identity);
            found["relatedLocations"] = fields(told, &row);
            results.push(found);
            continue;
        }
        for finding in row.findings() {
            let hint = finding.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
            let said = format!("{}: {}{hint}", row.name, finding.message);
            results.push(result(told, finding.code, Level::Warning, row.origin(), &said, &identity));
        }
    }
    for aside in told.asides() {
        let identity = format!("{}/{}", aside.id.kind.backend, aside.id.slashed());
        let said = format!("{}: {}\n{}", aside.id, aside.rule, aside.lines.join("\n"));
        results.push(result(told, aside.rule, Level::Note, aside.origin, &said, &identity));
    }
    for note in told.above.iter().chain(&told.brief).filter(|note| !note.trim().is_empty()) {
        results.push(result(told, "note", Level::Note, None, note.trim(), note));
    }
    results
}

/// `print` tells the result apart from others of its rule, in this run and in later ones.
fn result(
    told: &Told,
    rule: &str,
    level: Level,
    origin: Option<&Origin>,
    message: &str,
    print: &str,
) -> Value {
    let level = match level {
        Level::Note => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let location = origin.and_then(|origin| location(told, origin, origin.at.line, Some(origin.at.column)));
    let mut result = json!({
        "ruleId": rule,
        "level": level,
        "message": {"text": text(message)},
        "partialFingerprints": {"object/v1": text(&format!("{rule} {print}"))},
    });
    if let Some(location) = location {
        result["locations"] = json!([location]);
    }
    result
}

/// The lines of the fields that differ.
fn fields(told: &Told, row: &row::Row) -> Value {
    let places = row.entry.changes.iter().filter_map(|change| {
        let mut place = location(told, row.origin()?, change.at?.line, Some(change.at?.column))?;
        place["message"] = json!({"text": text(&change.path.to_string())});
        Some(place)
    });
    // The schema wants no two that are equal, as two with a hidden name may be.
    let mut seen = BTreeSet::new();
    places.filter(|place| seen.insert(place.to_string())).collect::<Vec<_>>().into()
}

fn location(told: &Told, origin: &Origin, line: u32, column: Option<u32>) -> Option<Value> {
    let uri = told.places.uri(&origin.file)?;
    // Lines and columns are counted from 1; what is not known is left out.
    let mut region = json!({"startLine": line.max(1)});
    if let Some(column) = column.filter(|column| *column > 0) {
        region["startColumn"] = column.into();
    }
    Some(json!({"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}))
}

/// A message in which nothing is a link: `[words](target)` would be one.
fn text(text: &str) -> String {
    escape::block(text).replace("](", "]\\(")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::sample::{applied, plan};
    use super::super::Ci;
    use super::super::sample::{failed, hostile, told, written};
    use super::*;
    use crate::core::exit::Verb;
    use crate::core::node::Pos;
    use crate::core::problem::Problem;

    /// What the schema of SARIF 2.1.0 requires of the properties that are used, and that there are no others.
    fn check(value: &Value) {
        only(value, &["$schema", "version", "runs"]);
        assert_eq!(value["version"], "2.1.0");
        let run = &value["runs"][0];
        only(run, &["tool", "automationDetails", "invocations", "columnKind", "results"]);
        let driver = &run["tool"]["driver"];
        only(driver, &["name", "semanticVersion", "rules"]);
        assert!(driver["name"].is_string());
        let rules = driver["rules"].as_array().expect("rules");
        for rule in rules {
            only(rule, &["id", "shortDescription"]);
            message(&rule["shortDescription"]);
        }
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
        for result in run["results"].as_array().expect("results") {
            only(
                result,
                &[
                    "ruleId",
                    "ruleIndex",
                    "level",
                    "message",
                    "locations",
                    "relatedLocations",
                    "partialFingerprints",
                ],
            );
            message(&result["message"]);
            assert!(["note", "warning", "error"].iter().any(|level| result["level"] == **level));
            let at = result["ruleIndex"].as_u64().expect("an index") as usize;
            assert_eq!(rules[at]["id"], result["ruleId"]);
            assert!(result["partialFingerprints"]["object/v1"].is_string());
            for name in ["locations", "relatedLocations"] {
                result[name].as_array().into_iter().flatten().for_each(location);
            }
        }
    }

    fn location(location: &Value) {
        only(location, &["physicalLocation", "message"]);
        let place = &location["physicalLocation"];
        only(place, &["artifactLocation", "region"]);
        let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
        assert!(uri.is_ascii() && !uri.contains([' ', '\\', '"', '<', '>']), "{uri}");
        only(&place["region"], &["startLine", "startColumn"]);
        assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 0));
    }

    fn message(value: &Value) {
        only(value, &["text"]);
        assert!(value["text"].as_str().is_some_and(|text| !text.is_empty()), "{value}");
    }

    #[track_caller]
    fn only(value: &Value, names: &[&str]) {
        for name in value.as_object().expect("an object").keys() {
            assert!(names.contains(&&**name), "{name}");
        }
    }

    fn read(text: &str) -> Value {
        let value = serde_json::from_str(text).expect("JSON");
        check(&value);
        value
    }

    #[test]
    fn a_plan_as_findings() {
        let value = read(&written(Ci::Sarif, &plan()));
        let results = value["runs"][0]["results"].as_array().expect("results");
        let told: Vec<(&Value, &Value)> = results.iter().map(|one| (&one["ruleId"], &one["level"])).collect();
        let all = [("update", "note"), ("refused", "error"), ("create", "note"), ("conflict", "error")];
        assert_eq!(
            told,
            all.map(|(rule, level)| (json!(rule), json!(level)))
                .iter()
                .map(|(a, b)| (a, b))
                .collect::<Vec<_>>()
        );
        let said = results[1]["message"]["text"].as_str().expect("a text");
        insta::assert_snapshot!(said, @r#"
            Queue //orders: refused
              durable   false → true   immutable: refused, needs --replace Queue///orders
            refused: replacing it loses its messages
            hint: --replace Queue///orders
            "#);
        let fields = results[0]["relatedLocations"].as_array().expect("fields");
        assert_eq!(fields.len(), 3, "those that stand in the file");
        assert_eq!(fields[0]["message"]["text"], "arguments.alternate-exchange");
        assert_eq!(fields[0]["physicalLocation"]["region"], json!({"startLine": 16, "startColumn": 7}));
    }

    #[test]
    fn each_object_that_is_not_well_is_a_result() {
        let value = read(&told(Ci::Sarif, &applied(), &[], Verb::Apply));
        let results = value["runs"][0]["results"].as_array().expect("results");
        let rules: Vec<&str> = results.iter().filter_map(|result| result["ruleId"].as_str()).collect();
        assert_eq!(rules, ["not-effective", "failed", "skipped", "unknown"]);
        assert_eq!(value["runs"][0]["invocations"][0]["executionSuccessful"], false);
        let uri = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "infra/manifests/queue.yaml");
    }

    #[test]
    fn what_is_wrong_with_the_input_stands_at_its_line() {
        let at = Origin { file: "a b.yaml".into(), at: Pos { line: 3, column: 5 } };
        let value =
            read(&failed(Ci::Sarif, "validate", &[Problem::new("duplicate key `n`").at(at).hint("x")]));
        insta::assert_snapshot!(render_json::pretty(&value["runs"][0]["results"][0]), @r#"
            {
              "level": "error",
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "a%20b.yaml"
                    },
                    "region": {
                      "startColumn": 5,
                      "startLine": 3
                    }
                  }
                }
              ],
              "message": {
                "text": "duplicate key `n`\nhint: x"
              },
              "partialFingerprints": {
                "object/v1": "input a b.yaml:3:5 duplicate key `n`"
              },
              "ruleId": "input",
              "ruleIndex": 0
            }
            "#);
    }

    #[test]
    fn no_value_is_a_link() {
        let text = written(Ci::Sarif, &hostile("[click](https://evil.example)"));
        read(&text);
        assert!(!text.contains("](") && text.contains("[click]\\\\(https"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_is_valid(text in "(?s)([\"\\\\\\[\\](){}\n\u{0}]|.){0,30}") {
            read(&written(Ci::Sarif, &hostile(&text)));
        }
    }
}
