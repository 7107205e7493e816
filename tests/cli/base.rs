//! Three ways: what the files said at an earlier revision, what they say, and what the server has.

use insta::assert_snapshot;

use crate::repository::{Repository, document};

fn queue(spec: &str) -> String {
    document("Queue", "orders", spec)
}

#[test]
fn pending_drift_and_conflict_are_told_apart() {
    let repository = Repository::applied("m/q.yaml", &queue("{n: 1, m: 1, both: 1, same: 1}"));
    repository.write("m/q.yaml", &queue("{n: 2, m: 1, both: 2, same: 2}"));
    repository.foreign(&queue("{m: 9, both: 3, same: 2}"));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 3
    !   Queue orders   m/q.yaml:1
          both           conflict: 1 at the base, 2 here, 3 there
          m      9 → 1   drift: changed on the server
          n      1 → 2   pending: changed in the files
        conflict: `both` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts Queue/orders:both`
    Plan: 1 conflict. 1 object seen in 1 request.
    ");
    let json = repository.run("plan -f m --base HEAD --output json").expect(3).json();
    let object = &json["objects"][0];
    assert_eq!((&object["origin"], &object["result"]), (&"conflict".into(), &"conflict".into()));
    let told: Vec<String> = object["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|change| format!("{} {} {}", change["path"], change["origin"], change["base"]))
        .collect();
    assert_eq!(told, ["\"both\" \"conflict\" 1", "\"m\" \"drift\" 1", "\"n\" \"pending\" 1"]);
    // Nothing of the object is written, until somebody decides.
    repository.run("apply --yes -f m --base HEAD").expect(3);
    repository.run("plan -f m --base HEAD").expect(3);
    let forced = queue("{n: 2, m: 1, both: 2, same: 2}")
        .replace("orders}", "orders, annotations: {trueup/on-conflict: force}}");
    repository.write("m/q.yaml", &forced);
    assert_snapshot!(repository.run("apply --yes -f m --base HEAD").told(), @"
    exit 0
    ~   Queue orders   m/q.yaml:1   updated
          both           forced: 1 at the base, 2 here, 3 there
          m      9 → 1   drift: changed on the server
          n      1 → 2   pending: changed in the files
    Applied: 1 updated. 1 object seen in 4 requests.
    ");
    repository.run("drift -f m").expect(0);
}

#[test]
fn a_field_that_left_goes_if_it_is_still_the_bases() {
    let repository =
        Repository::applied("m/q.yaml", &queue("{n: 1, gone: 1, changed: 1, map: {a: 1, b: 2}}"));
    repository.foreign(&queue("{map: {theirs: 3}}"));
    repository.write("m/q.yaml", &queue("{n: 1, changed: 1}"));
    repository.run("plan -f m --detailed-exitcode").expect(0);
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 0
    ~   Queue orders   m/q.yaml:1
        - gone    1   pending: declared no longer
        - map.a   1   pending: declared no longer
        - map.b   2   pending: declared no longer
    Plan: 1 to update. 1 object seen in 1 request.
    ");
    repository.run("apply --yes -f m --base HEAD").expect(0);
    repository.run("drift -f m --base HEAD").expect(0);
    repository.write("m/q.yaml", &queue("{n: 1}"));
    repository.foreign(&queue("{changed: 7}"));
    assert_snapshot!(repository.run("apply --yes -f m --base HEAD").told(), @"
    exit 3
    !   Queue orders   m/q.yaml:1
        - changed      conflict: 1 at the base, nothing here, 7 there
        conflict: `changed` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (`trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts Queue/orders:changed`
    Applied: 1 conflict. 1 object seen in 1 request.
    ");
    let live = repository.run("get Queue/orders -f m --output json").json();
    assert_eq!(live["items"][0]["value"]["map"], serde_json::json!({"theirs": 3}));
    assert_eq!(live["items"][0]["value"]["changed"], 7);
}

#[test]
fn a_field_inside_a_keyed_list_and_an_explicit_null() {
    let spec = "{list: [{name: a, v: 1, w: 1}, {name: b, v: 1}], n: 1, m: 1}";
    let repository = Repository::applied("m/q.yaml", &queue(spec));
    repository.foreign(&queue("{m: 2}"));
    repository.write("m/q.yaml", &queue("{list: [{name: a, v: 1}], n: null, m: null}"));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @r#"
    exit 3
    !   Queue orders   m/q.yaml:1
        - list[name=a].w   1                    pending: declared no longer
        - list[name=b]     {"name":"b","v":1}   pending: not in the declared list
        - m                                     conflict: 1 at the base, nothing here, 2 there
        - n                1                    pending: null: must not be set
        conflict: `m` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts Queue/orders:m`
    Plan: 1 conflict. 1 object seen in 1 request.
    "#);
}

#[test]
fn what_somebody_deleted_and_what_is_new() {
    let both = queue("{n: 1}") + "---\n" + &document("Queue", "gone", "{n: 1}");
    let repository = Repository::applied("m/q.yaml", &both);
    let absent =
        document("Queue", "gone", "{n: 1}").replace("gone}", "gone, annotations: {trueup/ensure: absent}}");
    repository.foreign(&absent);
    repository.write("m/new.yaml", &document("Queue", "new", "{n: 1}"));
    assert_snapshot!(repository.run("drift -f m --base HEAD").told(), @"
    exit 2
    +   Queue new    m/new.yaml:1   pending
    +   Queue gone   m/q.yaml:6     drift: gone from the server
    Drift: 2 to create, 1 in sync. 1 object seen in 3 requests.
    ");
    repository.run("drift -f m --base HEAD --fail-on conflict").expect(0);
}

#[test]
fn only_what_is_asked_for_fails() {
    let repository = Repository::applied("m/q.yaml", &queue("{n: 1, m: 1}"));
    let code = |line: &str| repository.run(&format!("drift -f m --base HEAD --quiet {line}")).code();
    assert_eq!(code("--fail-on pending,drift,conflict"), 0);
    repository.write("m/q.yaml", &queue("{n: 2, m: 1}"));
    assert_eq!(
        (code(""), code("--fail-on pending"), code("--fail-on drift"), code("--fail-on conflict")),
        (2, 2, 0, 0)
    );
    repository.foreign(&queue("{m: 3}"));
    assert_eq!((code("--fail-on drift"), code("--fail-on conflict")), (2, 0));
    repository.foreign(&queue("{n: 3}"));
    assert_eq!((code("--fail-on drift"), code("--fail-on conflict"), code("--fail-on pending")), (3, 3, 3));
    assert_snapshot!(repository.run("drift -f m --fail-on drift").told(), @"
    exit 64
    --- stderr
    error: `--fail-on drift` needs a base to tell it by
    hint: say what the files were when they were applied: `--base REV`
    ");
}

#[test]
fn a_base_that_was_never_applied() {
    let repository = Repository::new();
    repository.commit("m/q.yaml", &queue("{n: 1, m: 1}"));
    repository.write("m/q.yaml", &queue("{n: 2, m: 1}"));
    // Nothing is there: nothing of anybody's is overwritten.
    repository.run("drift -f m --base HEAD").expect(2);
    repository.foreign(&queue("{n: 7, m: 7}"));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 3
    !   Queue orders   m/q.yaml:1
          m   7 → 1   drift: changed on the server
          n           conflict: 1 at the base, 2 here, 7 there
        conflict: `n` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts Queue/orders:n`
    Plan: 1 conflict. 1 object seen in 1 request.
    ");
}

#[test]
fn drift_that_is_only_reported_does_not_hold_up_what_is_pending() {
    let marked = |spec: &str| queue(spec).replace("orders}", "orders, annotations: {trueup/drift: report}}");
    let repository = Repository::applied("m/q.yaml", &queue("{n: 1, m: 1}"));
    repository.write("m/q.yaml", &marked("{n: 2, m: 1}"));
    repository.run("apply --yes -f m --base HEAD").expect(0);
    repository.commit_all();
    repository.foreign(&queue("{m: 9}"));
    repository.run("apply --yes -f m --base HEAD").expect(5);
}

#[test]
fn secrets_are_told_on_no_side() {
    let secret = |value: &str| queue(&format!("{{n: 1, token: {value}}}"));
    let repository = Repository::new();
    let run = |line: &str| {
        repository.0.trueup(line).inside("repo").env("OLD", "canary-old-1").env("NEW", "canary-new-1")
    };
    repository.commit("m/q.yaml", &secret("!secret env:OLD"));
    run("apply --yes -f m").done().expect(0);
    repository.foreign(&secret("canary-theirs"));
    for ours in [secret("!secret env:NEW"), secret("plain"), queue("{n: 1}")] {
        repository.write("m/q.yaml", &ours);
        for line in [
            "plan -f m --base HEAD",
            "plan -f m --base HEAD --output json",
            "drift -f m --base HEAD --output ndjson",
        ] {
            let done = run(line).done();
            assert!(!done.told().contains("canary-"), "{}", done.told());
            assert_eq!(done.code(), 3, "{}", done.told());
        }
    }
    // Whether a secret that is not there any more is still the base's, nobody can tell.
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 0
    =   Queue orders   m/q.yaml:1
        NotRemoved: `token` left the file and stays: whether it still is the base's cannot be told
        hint: write `null` to take it away
    The one object is in sync. 1 object seen in 1 request.
    ");
}

#[test]
fn values_from_elsewhere() {
    let text = "{a: !env A, f: !file f.txt}";
    let repository = Repository::new();
    repository.write("m/f.txt", "one\n");
    repository.commit("m/q.yaml", &queue(text));
    let run = |line: &str, a: &str| repository.0.trueup(line).inside("repo").env("A", a).done();
    run("apply --yes -f m", "1").expect(0);
    repository.write("m/f.txt", "two\n");
    assert_snapshot!(run("plan -f m --base HEAD", "1").told(), @r#"
    exit 0
    ~   Queue orders   m/q.yaml:1
          f   "one" → "two"   pending: changed in the files
    Plan: 1 to update. 1 object seen in 1 request.
    "#);
    // A variable that is gone since, in a field that is gone as well.
    repository.write("m/q.yaml", &queue("{f: !file f.txt}"));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @r#"
    exit 0
    ~   Queue orders   m/q.yaml:1
          f   "one" → "two"   pending: changed in the files
        NotRemoved: `a` left the file and stays: whether it still is the base's cannot be told
        hint: write `null` to take it away
    Plan: 1 to update. 1 object seen in 1 request.
    "#);
}
