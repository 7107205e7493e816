//! What a ReplicaSet may say, and what is wrong with one: everything with its place, before any request.

use insta::assert_snapshot;

use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: api}
spec:
  url: http://127.0.0.1:9
  kinds:
    Zone: {key: {name: .name}, list: GET /zones, create: 'PUT /zones/{name}', delete: 'DELETE /zones/{name}'}
    Record:
      parent: {zone: Zone}
      key: {type: .type, name: .name}
      list: GET /zones/{zone}/records
      create: PUT /zones/{zone}/records/{type}/{name}
    App:
      document: {apiVersion: apps/v1, kind: App}
      key: {namespace: .metadata.namespace, name: .metadata.name}
      list: GET /apps
      create: POST /apps
    Secret: {key: {name: .name}, read: 'GET /secrets/{name}', create: 'PUT /secrets/{name}'}
    Setting: {read: GET /setting, update: PUT /setting}
";

fn validated(manifests: &str) -> Done {
    let scratch = Scratch::with("backend.yaml", BACKEND);
    scratch.write("a.yaml", manifests);
    scratch.trueup("validate -f a.yaml -f backend.yaml").done()
}

fn with(name: &str, spec: &str) -> String {
    format!("apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

/// The problem, without the excerpt.
fn problem(manifests: &str) -> String {
    let done = validated(manifests).expect(65);
    let lines = done.err.lines().filter(|line| line.starts_with("error: ") || line.starts_with("hint: "));
    lines.collect::<Vec<_>>().join("\n")
}

const ZONE: &str = "template: {apiVersion: api, kind: Zone}";

#[test]
fn every_number_that_is_none() {
    for wrong in ["-1", "1.5", "10001", "\"3\"", "null", "[]", "99999999999999999999999"] {
        assert_eq!(
            problem(&with("web", &format!("{{replicas: {wrong}, {ZONE}}}"))),
            "error: a.yaml:4:18: `replicas` is a whole number from 0 to 10,000\n\
             hint: it is written out: `replicas: 3`; more objects alike are several ReplicaSets",
            "{wrong}"
        );
    }
    let done = validated(&with("web", &format!("{{replicas: 1e9, {ZONE}}}"))).expect(65);
    assert!(done.err.contains("error: a.yaml:4:18: `replicas` is a whole number"), "{}", done.told());
    for right in ["0", "3", "10000", "3.0"] {
        validated(&with("web", &format!("{{replicas: {right}, {ZONE}}}"))).expect(0);
    }
}

#[test]
fn what_is_wrong_in_a_template_is_said_once() {
    let spec = "{replicas: 9, template: {apiVersion: api, kind: Zone, metadata: {nam: x}, spec: {a: }}}";
    assert_snapshot!(problem(&with("web", spec)), @r#"
    error: a.yaml:4:72: `nam` is no part of the key of a `Zone`
    hint: did you mean `name`? the parts of its key are `name`
    error: a.yaml:4:88: `a` has nothing behind it
    hint: write the value, `null` for "must not be set", `!null` for JSON null, or `""`, `[]` or `{}`
    "#);
}

#[test]
fn every_form_that_is_wrong() {
    let told = [
        with("web", "{replicas: 1}"),
        with("web", "{template: {apiVersion: api, kind: Zone}}"),
        with("web", "{replicas: 1, template: []}"),
        with("web", "{replicas: 1, template: {kind: Zone}}"),
        with("web", "{replicas: 1, template: {apiVersion: trueup/v1, kind: Set}}"),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Zon}}"),
        with("7", &format!("{{replicas: 1, {ZONE}}}")),
        with("web, labels: {a: b}", &format!("{{replicas: 1, {ZONE}}}")),
        with("web", &format!("{{replicas: 1, max-deletes: -1, replica: 2, {ZONE}}}")),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Zone, metadata: {name: x}}}"),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Record, metadata: {zone: a}}}"),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Record, metadata: {type: A}}}"),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Setting}}"),
        with("web", "{replicas: 1, template: {apiVersion: api, kind: Secret}}"),
        with("a\\u0007", &format!("{{replicas: 1, {ZONE}}}")).replace("a\\u0007", "\"a\\u0007\""),
    ];
    assert_snapshot!(told.map(|text| problem(&text)).join("\n"), @r"
    error: a.yaml:4:7: `template` is a document without its name
    hint: write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`
    error: a.yaml:4:7: a ReplicaSet needs `replicas`, the number of objects
    hint: write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`
    error: a.yaml:4:31: `template` is a document without its name
    hint: write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`
    error: a.yaml:4:31: a template needs `apiVersion` and `kind`
    hint: write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`
    error: a.yaml:4:31: a template makes objects of a backend, and no `Set`
    hint: write `spec: {replicas: 3, template: {apiVersion: rabbitmq, kind: Queue, metadata: {vhost: /}, spec: {durable: true}}}`
    error: a.yaml:4:31: the backend `api` has no kind `Zon`
    hint: did you mean `Zone`? its kinds are `App`, `Record`, `Secret`, `Setting`, `Zone`
    error: a.yaml:1:1: a ReplicaSet needs `metadata.name`, a text
    hint: its objects have it as their base: `web-0`, `web-1`, …
    error: a.yaml:3:23: `labels` is not known here
    hint: `metadata` of a ReplicaSet has the `name` alone: the rest stands in the template's
    error: a.yaml:4:34: `max-deletes` is a whole number of objects
    hint: so many may be deleted in one run: `max-deletes: 20`
    error: a.yaml:4:38: `replica` is not known here
    hint: did you mean `replicas`? its `spec` has `replicas`, `template`, `max-deletes`
    error: a.yaml:4:78: the template must leave `name` out: it is another in each object
    hint: the base of the names is `metadata.name` of the ReplicaSet
    error: a.yaml:4:31: several parts of the key of a `Record` are left out: `type`, `name`
    hint: leave out only the one that has the number
    error: a.yaml:1:1: `metadata` of a `Record` needs `zone`
    hint: the parts of its key are `zone`, `type`, `name`
    error: a.yaml:4:31: a `Setting` has no name of its own: it is one of its kind
    hint: the base of the names is `metadata.name` of the ReplicaSet
    error: a.yaml:4:31: a `Secret` cannot be counted: the backend has no listing of them
    hint: only a listing tells of what is too much: declare `list`
    error: a.yaml:3:18: the `name` of a `Zone` holds the control character U+0007
    hint: URLs drop such characters: two names would be one
    ");
    let annotated = ["ensure: exists", "id: x7", "was: old"].map(|annotation| {
        with(
            "web",
            &format!("{{replicas: 1, template: {{apiVersion: api, kind: Zone, metadata: {{annotations: {{trueup/{annotation}}}}}}}}}"),
        )
    });
    assert_snapshot!(annotated.map(|text| problem(&text)).join("\n"), @r"
    error: a.yaml:4:31: a template cannot have `trueup/ensure: exists`
    hint: a ReplicaSet makes and deletes its objects
    error: a.yaml:4:31: a template cannot have `trueup/id`
    hint: one id is of one object
    error: a.yaml:4:31: a template cannot have `trueup/was`
    hint: a document of its own can rename one object
    ");
}

#[test]
fn the_one_part_that_is_left_out_has_the_number() {
    let record = "{replicas: 2, template: {apiVersion: api, kind: Record, metadata: {zone: a, name: x}}}";
    let by_type =
        format!("{}---\n{}", with("web", record), "apiVersion: api\nkind: Zone\nmetadata: {name: a}\n");
    validated(&by_type).expect(0);
    let verbatim =
        "{replicas: 3, template: {apiVersion: apps/v1, kind: App, metadata: {namespace: n}, spec: {a: }}}";
    let done = validated(&with("web", verbatim)).expect(0);
    assert!(done.out.starts_with("3 documents are valid"), "{}", done.told());
    let referred =
        "---\napiVersion: api\nkind: Zone\nmetadata: {name: z}\nspec: {other: !ref Zone/web-1 .name}\n";
    validated(&(with("web", &format!("{{replicas: 2, {ZONE}}}")) + referred)).expect(0);
    validated(&(with("web", &format!("{{replicas: 1, {ZONE}}}")) + referred)).expect(65);
}

#[test]
fn names_that_two_documents_claim() {
    let web = with("web", &format!("{{replicas: 2, {ZONE}}}"));
    let zone = |name: &str| format!("---\napiVersion: api\nkind: Zone\nmetadata: {{name: {name}}}\n");
    for free in ["web", "web-x", "web-01", "web-1-0", "webs-1"] {
        validated(&(web.clone() + &zone(free))).expect(0);
    }
    validated(&format!("{web}---\n{}", with("web-1", &format!("{{replicas: 2, {ZONE}}}")))).expect(0);
    let taken = web.clone()
        + &zone("web-1")
        + &zone("web-7")
        + "---\n"
        + &with("web", &format!("{{replicas: 0, {ZONE}}}"));
    assert_snapshot!(problem(&taken), @r"
    error: a.yaml:6:1: `Zone web-1` has a name that the ReplicaSet `Zone/web` counts (a.yaml:1:1): it is one of its objects, or one too many
    hint: give it a name that does not end in a number, or take it out
    error: a.yaml:10:1: `Zone web-7` has a name that the ReplicaSet `Zone/web` counts (a.yaml:1:1): it is one of its objects, or one too many
    hint: give it a name that does not end in a number, or take it out
    error: a.yaml:14:1: the ReplicaSet `Zone/web` is described twice, first in a.yaml:1:1
    hint: remove one of the two, or give it another name
    ");
}
