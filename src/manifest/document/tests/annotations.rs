//! What annotations say, and which are wrong.

use super::*;

#[test]
fn annotations_set_policy() {
    let text = "apiVersion: rabbitmq\nkind: Queue\nmetadata:\n  vhost: /\n  name: a\n  annotations:\n    trueup/ensure: exists\n    trueup/id: 17\n    trueup/prune: \"false\"\n    trueup/on-conflict: force\n    trueup/replace: true\n    trueup/drift: report\n    trueup/paused: 'true'\n    trueup/depends-on: VHost/%2F, Queue/%2F/b\n";
    let policy = &sound(text)[0].policy;
    assert_eq!(policy.ensure, Ensure::Exists);
    assert_eq!(policy.pinned_id.as_deref(), Some("17"));
    assert!(policy.protected && policy.replace && policy.paused);
    assert_eq!((policy.on_conflict, policy.drift), (OnConflict::Force, Drift::Report));
    let names: Vec<&str> = policy.depends_on.iter().map(|(reference, _)| &*reference.text).collect();
    assert_eq!(names, ["VHost/%2F", "Queue/%2F/b"]);
    assert_eq!(sound(&annotated("trueup/depends-on: [VHost/b]"))[0].policy.depends_on.len(), 1);
}

#[test]
fn fields_that_are_only_reported_are_named_within_the_spec() {
    let report = |annotation: &str| -> Vec<String> {
        let all = sound(&annotated(annotation));
        all[0].policy.report.iter().map(ToString::to_string).collect()
    };
    assert_eq!(report("trueup/report: spec.durable"), ["durable"]);
    let several = "trueup/report: 'spec.a, spec.b[name=\"x,y\"].c , spec[\"d,e\"]'";
    assert_eq!(report(several), ["a", "b[name=\"x,y\"].c", "[\"d,e\"]"]);
    assert_eq!(report("trueup/report: [spec.a, spec.b.c]"), ["a", "b.c"]);
}

#[test]
fn what_is_done_about_drift_is_the_kind_s_to_say_where_no_document_does() {
    let mut kinds = kinds();
    kinds.insert(Kind { drift: Drift::Report, ..kind("VHost", &[("name", ".name")], &["name"]) });
    let drift = |text: &str| load_with(text, &kinds).0[0].policy.drift;
    assert_eq!(drift(&annotated("other/x: y")), Drift::Report);
    assert_eq!(drift(&annotated("trueup/drift: heal")), Drift::Heal);
}

#[test]
fn the_name_before_a_rename_is_a_text_or_a_map() {
    for (annotation, want) in [
        ("trueup/was: b", "[(None, String(\"b\"))]"),
        ("trueup/was: 7", "[(None, Number(7))]"),
        ("trueup/was: {name: b}", "[(Some(\"name\"), String(\"b\"))]"),
        ("trueup/was: '{\"name\": \"b\"}'", "[(Some(\"name\"), String(\"b\"))]"),
        ("trueup/was: '{b'", "[(None, String(\"{b\"))]"),
    ] {
        let was = sound(&annotated(annotation))[0].policy.was.clone().expect("it is read");
        assert_eq!(format!("{:?}", was.parts), want, "{annotation}");
    }
}

#[test]
fn wrong_annotations_are_errors() {
    for (annotation, want) in [
        (
            "trueup/report: metadata.name",
            "6:20: `trueup/report` names `metadata.name`, which is no field of `spec` | for all of the object say `trueup/drift: report`",
        ),
        (
            "trueup/report: 'spec.a[0]'",
            "6:20: `trueup/report` names `spec.a[0]`, which is no field | name elements by their keys, as in `spec.containers[name=web]`, or the whole list",
        ),
        (
            "trueup/report: ' , '",
            "6:20: `trueup/report` names fields | write `spec.replicas, spec.containers[name=web].image`",
        ),
        ("trueup/ensure: gone", "6:20: `trueup/ensure` is `present` or `absent` or `exists`, not `gone` | "),
        ("trueup/prune: no", "6:19: `trueup/prune` is `true` or `false`, not `no` | "),
        ("trueup/id: [1]", "6:16: `trueup/id` must be a text | "),
        (
            "trueup/replce: true",
            "6:20: the annotation `trueup/replce` is not known | did you mean `trueup/replace`? the annotations are `trueup/ensure`, `trueup/id`, `trueup/prune`, `trueup/on-conflict`, `trueup/replace`, `trueup/drift`, `trueup/report`, `trueup/depends-on`, `trueup/paused`, `trueup/was`, `trueup/secret-version`, `trueup/values`",
        ),
        (
            "trueup/was: [b]",
            "6:17: `trueup/was` is the name before a rename | write `OLD`, or `{PART: OLD}` where the key has several parts",
        ),
        (
            "trueup/depends-on: Team/a",
            "6:24: the backend `rabbitmq` has no kind `Team` | its kinds are `Binding`, `Object`, `Posted`, `Put`, `Queue`, `Record`, `Settings`, `VHost`",
        ),
        (
            "trueup/depends-on: Queue/a",
            "6:24: `Queue/a` names 1 part of the key of a `Queue` | its form is `Queue/VHOST/NAME`; a `/` inside a name is written `%2F`",
        ),
        (
            "trueup/values: x",
            "6:20: `trueup/values` is a map from paths to values | write `{\"spec.teamId\": \"ref Team/platform .id\"}`",
        ),
        (
            "trueup/values: {spec.q: env SET}",
            "6:29: `trueup/values` names `spec.q`, and line 7, column 11 sets it already | remove one of the two",
        ),
        (
            "trueup/values: {spec.q.r: env SET}",
            "6:31: `trueup/values` cannot lay a value at `spec.q.r` | something on the way is no map or list, or the path is a pattern",
        ),
        ("trueup/values: {kind: env SET}", "6:27: `trueup/values` names `kind`, which is not in `spec` | "),
        (
            "trueup/values: {spec.r: evn SET}",
            "6:29: the tag `!evn` is not known | did you mean `!env`? the tags are `!ref`, `!env`, `!file`, `!secret`, `!null`",
        ),
        (
            "trueup/values: {spec..r: env SET}",
            "6:30: `spec..r` is not a field path: a name is missing at character 6 | ",
        ),
        (
            "trueup/values: {spec.r: env NONE}",
            "6:29: the environment variable `NONE` is not set | set it, or write the value in its place",
        ),
    ] {
        assert_eq!(wrong(&annotated(annotation)), [want], "{annotation}");
    }
}
