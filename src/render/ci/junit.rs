//! Results of tests: an object is a test case, and a file a suite.
//!
//! Only what every reader knows is written, as the XML schema of Jenkins' xUnit plugin and pytest's `xunit2` have it: a
//! test case has a name, a class and one result. A file has no place beside a case there, so it is its suite.

use crate::core::node::Origin;
use crate::core::problem::Problem;

use super::super::markup::Markup;
use super::Told;
use super::row::{self, Row, Standing};

/// The suite of what stands in no file.
const NO_FILE: &str = "trueup";

/// A test case.
struct Case {
    name: String,
    class: String,
    standing: Standing,
    /// What became of it, from a fixed vocabulary.
    rule: &'static str,
    /// The first line of what is said.
    message: String,
    lines: Vec<String>,
}

/// Cases of a file, in the order of the report.
#[derive(Default)]
struct Suite {
    name: String,
    file: bool,
    cases: Vec<Case>,
    /// What is said besides.
    said: Vec<String>,
}

/// The document.
pub fn document(told: &Told) -> String {
    let suites = suites(told);
    let count = |is: fn(Standing) -> bool| -> usize { suites.iter().map(|suite| suite.count(is)).sum() };
    let mut xml = Markup::default();
    xml.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"trueup ").text(told.command);
    xml.raw("\" tests=\"").number(count(|_| true) as u64);
    xml.raw("\" failures=\"").number(count(|standing| standing == Standing::Failure) as u64);
    xml.raw("\" errors=\"").number(count(|standing| standing == Standing::Error) as u64);
    xml.raw("\">\n");
    suites.iter().for_each(|suite| suite.write(&mut xml));
    xml.raw("</testsuites>\n");
    xml.into_text()
}

fn suites(told: &Told) -> Vec<Suite> {
    let mut suites: Vec<Suite> = Vec::new();
    for problem in told.problems {
        let suite = suite_of(&mut suites, told, problem.origin.as_ref());
        match problem.warning {
            true => suite.said.extend(format!("warning: {}", row::said(problem)).lines().map(str::to_owned)),
            false => suite.cases.push(Case::of_problem(problem, told)),
        }
    }
    for row in told.rows() {
        suite_of(&mut suites, told, row.origin()).cases.push(Case::of_row(&row));
    }
    for (id, origin) in told.valid.iter().flat_map(|valid| &valid.documents) {
        let class = format!("{}.{}", id.kind.backend, id.kind.kind);
        let (standing, rule) = (Standing::Well, "valid");
        let case =
            Case { name: id.to_string(), class, standing, rule, message: String::new(), lines: Vec::new() };
        suite_of(&mut suites, told, Some(origin)).cases.push(case);
    }
    for aside in told.asides() {
        let suite = suite_of(&mut suites, told, aside.origin);
        // An object whose differences are all accepted is no test that passes, nor one that fails.
        if aside.whole {
            suite.cases.push(Case {
                name: aside.id.to_string(),
                class: format!("{}.{}", aside.id.kind.backend, aside.id.kind.kind),
                standing: Standing::Skipped,
                rule: aside.rule,
                message: aside.rule.to_owned(),
                lines: aside.origin.map(Origin::to_string).into_iter().chain(aside.lines).collect(),
            });
        } else {
            suite.said.push(format!("{}: {}", aside.id, aside.rule));
            suite.said.extend(aside.lines);
        }
    }
    let summary = std::iter::once(told.summary()).chain(told.recorded());
    let said = told.above.iter().chain(&told.brief).cloned().chain(summary);
    suite_of(&mut suites, told, None).said.extend(said);
    suites
}

/// The suite of a file, which is made where it is not there yet.
fn suite_of<'s>(suites: &'s mut Vec<Suite>, told: &Told, origin: Option<&Origin>) -> &'s mut Suite {
    let file = origin.and_then(|origin| told.places.of(&origin.file));
    let name = file.as_deref().unwrap_or(NO_FILE);
    // The last one is the likely one: objects come in the order of their files.
    let at = suites.iter().rposition(|suite| suite.name == name && suite.file == file.is_some());
    let at = at.unwrap_or_else(|| {
        suites.push(Suite { name: name.to_owned(), file: file.is_some(), ..Suite::default() });
        suites.len() - 1
    });
    &mut suites[at]
}

impl Case {
    fn of_row(row: &Row) -> Case {
        let id = &row.entry.id;
        let mut lines: Vec<String> = row.origin().map(Origin::to_string).into_iter().collect();
        lines.extend(row.since().map(str::to_owned));
        lines.extend(row.lines());
        let why = row.entry.verdict().explanation();
        let message = match why {
            Some(why) if !why.message.is_empty() => format!("{}: {}", row.state, why.message),
            _ => row.state.to_owned(),
        };
        Case {
            name: row.name.clone(),
            class: format!("{}.{}", id.kind.backend, id.kind.kind),
            standing: row.standing,
            rule: row.rule,
            message,
            lines,
        }
    }

    /// What is wrong with the input is what `validate` is to find; it keeps others from finding anything.
    fn of_problem(problem: &Problem, told: &Told) -> Case {
        let checks = told.command == "validate" && problem.origin.is_some();
        let place = problem.origin.as_ref().map(|origin| format!("{}:{}", origin.at.line, origin.at.column));
        let name = match place {
            Some(place) => format!("{place}: {}", problem.message),
            None => problem.message.clone(),
        };
        let mut lines: Vec<String> = problem.origin.as_ref().map(Origin::to_string).into_iter().collect();
        lines.extend(row::said(problem).lines().map(str::to_owned));
        Case {
            name,
            class: format!("trueup.{}", told.command),
            standing: if checks { Standing::Failure } else { Standing::Error },
            rule: row::rule(problem),
            message: problem.message.clone(),
            lines,
        }
    }

    fn write(&self, xml: &mut Markup) {
        xml.raw("    <testcase name=\"").text(&self.name).raw("\" classname=\"").text(&self.class);
        let (open, close) = match self.standing {
            Standing::Well if self.lines.len() < 2 => {
                xml.raw("\"/>\n");
                return;
            }
            Standing::Well => {
                xml.raw("\">\n      <system-out>");
                lines(xml, &self.lines);
                xml.raw("</system-out>\n    </testcase>\n");
                return;
            }
            Standing::Failure => ("<failure", "</failure>"),
            Standing::Error => ("<error", "</error>"),
            Standing::Skipped => ("<skipped", "</skipped>"),
        };
        xml.raw("\">\n      ").raw(open).raw(" type=\"").raw(self.rule).raw("\" message=\"");
        xml.text(&self.message).raw("\">");
        lines(xml, &self.lines);
        xml.raw(close).raw("\n    </testcase>\n");
    }
}

impl Suite {
    fn count(&self, is: fn(Standing) -> bool) -> usize {
        self.cases.iter().filter(|case| is(case.standing)).count()
    }

    fn write(&self, xml: &mut Markup) {
        xml.raw("  <testsuite name=\"").text(&self.name);
        if self.file {
            xml.raw("\" file=\"").text(&self.name);
        }
        xml.raw("\" tests=\"").number(self.cases.len() as u64);
        xml.raw("\" failures=\"").number(self.count(|standing| standing == Standing::Failure) as u64);
        xml.raw("\" errors=\"").number(self.count(|standing| standing == Standing::Error) as u64);
        xml.raw("\" skipped=\"").number(self.count(|standing| standing == Standing::Skipped) as u64);
        xml.raw("\">\n");
        self.cases.iter().for_each(|case| case.write(xml));
        if !self.said.is_empty() {
            xml.raw("    <system-out>");
            lines(xml, &self.said);
            xml.raw("</system-out>\n");
        }
        xml.raw("  </testsuite>\n");
    }
}

fn lines(xml: &mut Markup, lines: &[String]) {
    for (at, line) in lines.iter().enumerate() {
        xml.raw(if at == 0 { "" } else { "\n" }).text(line);
    }
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

    /// A strict reader of what the schema allows: elements with their attributes, in their order.
    fn read(xml: &str) -> Vec<String> {
        let mut rest =
            xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a declaration");
        let (mut open, mut found): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        while let Some(start) = rest.find('<') {
            text(&rest[..start]);
            let (tag, after) = rest[start + 1..].split_once('>').expect("a tag ends");
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
                continue;
            }
            let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let mut parts = tag.split('"');
            let mut names = parts.next().expect("a name").to_owned();
            while let Some(value) = parts.next() {
                text(value);
                names.push_str(parts.next().expect("a quote ends"));
            }
            let name = names.split(' ').next().expect("a name").to_owned();
            let parent = open.last().map_or("", String::as_str);
            let allowed: &[&str] = match (parent, &*name) {
                ("", "testsuites") => &["testsuites name= tests= failures= errors="],
                ("testsuites", "testsuite") => &[
                    "testsuite name= tests= failures= errors= skipped=",
                    "testsuite name= file= tests= failures= errors= skipped=",
                ],
                ("testsuite", "testcase") => &["testcase name= classname="],
                ("testcase", "failure" | "error" | "skipped") => {
                    &["failure type= message=", "error type= message=", "skipped type= message="]
                }
                ("testcase" | "testsuite", "system-out") => &["system-out"],
                _ => panic!("{name} in {parent}"),
            };
            assert!(allowed.contains(&&*names), "{names}");
            if !closed {
                open.push(name.clone());
            }
            found.push(name);
        }
        text(rest);
        assert!(open.is_empty());
        found
    }

    /// Text of XML 1.0: its characters, and no bare mark.
    fn text(text: &str) {
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
        assert!(text.chars().all(allowed), "{text:?}");
        assert!(!text.contains(['<', '>', '"']), "{text}");
        for rest in text.split('&').skip(1) {
            let entity = ["amp;", "lt;", "gt;", "quot;", "#39;"].iter().any(|name| rest.starts_with(name));
            assert!(entity, "{text}");
        }
    }

    #[test]
    fn a_plan_as_test_results() {
        let xml = written(Ci::Junit, &plan());
        assert_eq!(read(&xml).iter().filter(|name| *name == "testcase").count(), plan().objects.len());
        // All but the first of many that pass.
        let short: String = xml
            .lines()
            .filter(|line| !line.contains("Binding //b") || line.contains("//b0\""))
            .map(|line| format!("{line}\n"))
            .collect();
        insta::assert_snapshot!(short, @r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="trueup plan" tests="1001" failures="4" errors="0">
              <testsuite name="infra/manifests/exchange.yaml" file="infra/manifests/exchange.yaml" tests="2" failures="2" errors="0" skipped="0">
                <testcase name="Exchange //orders" classname="rabbitmq.Exchange">
                  <failure type="update" message="to update">manifests/exchange.yaml:14:1
              arguments.alternate-exchange   &quot;old&quot; → &quot;dead&quot;          differs on the server
            - arguments.x-delay              60000                   closed: not declared
            + auto_delete                    false                   missing on the server
              tags                           [&quot;b&quot;,&quot;a&quot;] → [&quot;a&quot;,&quot;b&quot;]   order: the same elements, in another order
            - probes[name=live].path         &quot;/x&quot;                    null: must not be set
              password                       (secret, changed)       differs on the server
            PossibleOverwrite: the API offers no precondition
            hint: declare `version` if it has one</failure>
                </testcase>
                <testcase name="Exchange //billing" classname="rabbitmq.Exchange">
                  <failure type="create" message="to create">manifests/exchange.yaml:31:1
              durable   true
              teamId    (known after Team/platform is there)</failure>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/queue.yaml" file="infra/manifests/queue.yaml" tests="1" failures="1" errors="0" skipped="0">
                <testcase name="Queue //orders" classname="rabbitmq.Queue">
                  <failure type="refused" message="refused: replacing it loses its messages">manifests/queue.yaml:3:1
              durable   false → true   immutable: refused, needs --replace Queue///orders
            refused: replacing it loses its messages
            hint: --replace Queue///orders</failure>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/policy.yaml" file="infra/manifests/policy.yaml" tests="1" failures="1" errors="0" skipped="0">
                <testcase name="Policy //ha" classname="rabbitmq.Policy">
                  <failure type="conflict" message="conflict: `pattern` is &quot;^ha-&quot; at the base, &quot;^ha\.&quot; here, &quot;^h&quot; there">manifests/policy.yaml:2:1
            conflict: `pattern` is &quot;^ha-&quot; at the base, &quot;^ha\.&quot; here, &quot;^h&quot; there</failure>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/binding.yaml" file="infra/manifests/binding.yaml" tests="997" failures="0" errors="0" skipped="0">
                <testcase name="Binding //b0" classname="rabbitmq.Binding"/>
              </testsuite>
              <testsuite name="trueup" tests="0" failures="0" errors="0" skipped="0">
                <system-out>Plan: 1 to create, 1 to update, 1 refused, 1 conflict, 997 in sync. 1,001 objects seen in 6 requests.</system-out>
              </testsuite>
            </testsuites>
            "#);
    }

    #[test]
    fn each_outcome_has_its_result() {
        let xml = told(Ci::Junit, &applied(), &[Problem::new("by the way").hint("x").warning()], Verb::Apply);
        read(&xml);
        insta::assert_snapshot!(xml, @r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="trueup apply" tests="7" failures="1" errors="2">
              <testsuite name="trueup" tests="0" failures="0" errors="0" skipped="0">
                <system-out>warning: by the way
            hint: x
            Applied: 1 created, 1 updated, 1 failed, 1 not effective, 1 unknown, 1 skipped, 1 in sync. 5 objects seen in 10 requests.</system-out>
              </testsuite>
              <testsuite name="infra/manifests/queue.yaml" file="infra/manifests/queue.yaml" tests="3" failures="1" errors="0" skipped="0">
                <testcase name="Queue //a" classname="rabbitmq.Queue"/>
                <testcase name="Queue //b" classname="rabbitmq.Queue"/>
                <testcase name="Queue //slow" classname="rabbitmq.Queue">
                  <failure type="not-effective" message="not effective: sent 5, the server stores 6">manifests/queue.yaml:9:1
            not effective: sent 5, the server stores 6</failure>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/exchange.yaml" file="infra/manifests/exchange.yaml" tests="1" failures="0" errors="1" skipped="0">
                <testcase name="Exchange //c" classname="rabbitmq.Exchange">
                  <error type="failed" message="failed: creating it was answered 403">manifests/exchange.yaml:1:1
            failed: creating it was answered 403
            hint: give the user the permission `configure`</error>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/binding.yaml" file="infra/manifests/binding.yaml" tests="1" failures="0" errors="0" skipped="1">
                <testcase name="Binding //d" classname="rabbitmq.Binding">
                  <skipped type="skipped" message="skipped: `Exchange //c` is not settled">manifests/binding.yaml:1:1
            skipped: `Exchange //c` is not settled</skipped>
                </testcase>
              </testsuite>
              <testsuite name="infra/manifests/policy.yaml" file="infra/manifests/policy.yaml" tests="2" failures="0" errors="1" skipped="0">
                <testcase name="Policy //e" classname="rabbitmq.Policy">
                  <error type="unknown" message="unknown: the listing is not complete">manifests/policy.yaml:1:1
            unknown: the listing is not complete</error>
                </testcase>
                <testcase name="Policy //f" classname="rabbitmq.Policy"/>
              </testsuite>
            </testsuites>
            "#);
    }

    #[test]
    fn what_validate_finds_is_a_failure_and_what_stops_others_an_error() {
        let at = Origin { file: "a.yaml".into(), at: Pos { line: 3, column: 5 } };
        let problems = [Problem::new("duplicate key `n`").at(at).hint("remove one"), Problem::new("no `b`")];
        for (command, failures, errors) in [("validate", 1, 1), ("plan", 0, 2)] {
            let xml = failed(Ci::Junit, command, &problems);
            let found = read(&xml);
            let count = |name: &str| found.iter().filter(|found| *found == name).count();
            assert_eq!((count("failure"), count("error")), (failures, errors), "{xml}");
        }
        insta::assert_snapshot!(failed(Ci::Junit, "validate", &problems), @r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="trueup validate" tests="2" failures="1" errors="1">
              <testsuite name="a.yaml" file="a.yaml" tests="1" failures="1" errors="0" skipped="0">
                <testcase name="3:5: duplicate key `n`" classname="trueup.validate">
                  <failure type="input" message="duplicate key `n`">a.yaml:3:5
            duplicate key `n`
            hint: remove one</failure>
                </testcase>
              </testsuite>
              <testsuite name="trueup" tests="1" failures="0" errors="1" skipped="0">
                <testcase name="no `b`" classname="trueup.validate">
                  <error type="run" message="no `b`">no `b`</error>
                </testcase>
                <system-out>`trueup validate` came to no result, for 2 errors: exit code 65.</system-out>
              </testsuite>
            </testsuites>
            "#);
    }

    #[test]
    fn what_xml_cannot_hold_is_shown() {
        let xml = written(Ci::Junit, &hostile("\u{0}\u{b}\u{1b}[2J\u{fffe}\u{ffff}]]><x/>"));
        read(&xml);
        assert!(xml.contains("\\u{0}\\u{b}\\u{1b}[2J\\u{fffe}\\u{ffff}]]&gt;&lt;x/&gt;"), "{xml}");
    }

    proptest! {
        #[test]
        fn any_text_is_well_formed(text in "(?s)([<>&\"'/=\n\u{0}\u{fffe}]|.){0,30}") {
            let report = hostile(&text);
            let found = read(&written(Ci::Junit, &report));
            prop_assert_eq!(found.iter().filter(|name| *name == "testcase").count(), report.objects.len());
        }
    }
}
