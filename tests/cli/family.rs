//! What goes along when a parent goes, by every way that it can go, and with every selection: the server deletes what
//! is below an object together with it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::prune::{BACKEND, Shop, record, writes, zone};
use crate::servers::Raw;
use crate::support::{Done, Scratch};

const ZONE: &str = "apiVersion: api\nkind: Zone\nmetadata: {name: a.org}\nspec: {type: new}\n";

fn www(annotation: &str) -> String {
    let annotations =
        if annotation.is_empty() { String::new() } else { format!(", annotations: {{{annotation}}}") };
    format!(
        "---\napiVersion: api\nkind: Record\nmetadata: {{zone: a.org, name: www{annotations}}}\nspec: {{ttl: 60}}\n"
    )
}

/// The zone `a.org` of another type than its document says, with the record `www` and what else there is.
fn server(more: &[(&str, Value)]) -> (Raw, Shop) {
    let mut objects = vec![("/zones/a.org", json!({"name": "a.org", "type": "old"}))];
    objects.push(("/zones/a.org/records/www", record("www", None)));
    objects.extend(more.iter().cloned());
    Shop::new(&objects)
}

fn folder(raw: &Raw, manifests: &str) -> Scratch {
    let immutable = "delete: DELETE /zones/{name}\n      fields: {type: immutable=replace}\n";
    let backend = BACKEND.replace("delete: DELETE /zones/{name}\n", immutable).replace("URL", &raw.url());
    let scratch = Scratch::with("backend.yaml", backend);
    scratch.write("a.yaml", manifests);
    scratch
}

fn run(scratch: &Scratch, line: &str) -> Done {
    let (verb, flags) = line.split_once(' ').unwrap_or((line, ""));
    scratch.trueup(&format!("{verb} -f a.yaml -f backend.yaml {flags}")).done()
}

/// Ways to let the zone go, and what else is left out by them.
const WAYS: [&str; 6] = [
    "apply --yes --replace Zone/a.org",
    "apply --yes --replace Zone/a.org --only Zone/a.org",
    "apply --yes --replace Zone/a.org --exclude Record/a.org/*",
    "delete --yes",
    "delete --yes --only Zone/a.org",
    "delete --yes --exclude Record/a.org/*",
];

#[test]
fn a_selection_limits_what_is_written_and_never_what_is_protected() {
    for annotation in ["trueup/prune: \"false\"", "trueup/paused: \"true\"", "trueup/ensure: exists", ""] {
        for way in WAYS {
            let selects = way.contains("--only") || way.contains("--exclude");
            if annotation.is_empty() && !selects {
                continue;
            }
            let (raw, _) = server(&[]);
            let scratch = folder(&raw, &format!("{ZONE}{}", www(annotation)));
            let done = run(&scratch, way);
            assert_eq!(writes(&raw), [""; 0], "{way} {annotation}: {}", done.told());
            assert_eq!(done.code(), 5, "{way} {annotation}: {}", done.told());
            let why = "refused: `Record a.org/www` would go with it, and";
            assert!(done.out.contains(why), "{way} {annotation}: {}", done.told());
        }
    }
}

#[test]
fn a_label_selects_no_protection_away() {
    let (raw, _) = server(&[]);
    let zone = ZONE.replace("{name: a.org}", "{name: a.org, labels: {is: it}}");
    let scratch = folder(&raw, &format!("{zone}{}", www("")));
    let done = run(&scratch, "delete --yes -l is=it").expect(5);
    assert_snapshot!(done.out, @r"
    -   Zone a.org   a.yaml:1
        refused: `Record a.org/www` would go with it, and is not selected
        hint: select it as well: `--only`, `--exclude` or `-l` leaves it out
    Deleted: 1 refused. 1 object seen in 2 requests.
    ");
    assert_eq!(writes(&raw), [""; 0]);
}

#[test]
fn a_saved_plan_of_a_part_takes_nothing_along() {
    let (raw, _) = server(&[]);
    let scratch = folder(&raw, &format!("{ZONE}{}", www("trueup/prune: \"false\"")));
    run(&scratch, "plan --replace Zone/a.org --only Zone/a.org --out p.plan").expect(5);
    scratch.trueup("apply --yes p.plan").done().expect(5);
    assert_eq!(writes(&raw), [""; 0]);
}

#[test]
fn what_no_document_names_is_said_before_it_goes() {
    let users = ("/zones/a.org/records/users", record("users", None));
    let (raw, _) = server(std::slice::from_ref(&users));
    let scratch = folder(&raw, &format!("{ZONE}{}", www("")));
    let done = run(&scratch, "plan --replace Zone/a.org");
    assert_snapshot!(done.out, @r#"
    -/+ Zone a.org         a.yaml:1
          type   "old" → "new"   immutable: the object is replaced
        TakesAlong: 1 object goes with it that no document names, with all below: `Record a.org/users`
    -/+ Record a.org/www   a.yaml:6
        GoesWithParent: it goes with `Zone a.org`, which is replaced, and is created again
    Plan: 2 to replace. 2 objects seen in 3 requests.
    "#);
    run(&scratch, "plan --replace Zone/a.org --out p.plan").expect(0);

    // What came after the plan was not agreed to.
    let (late, shop) = server(&[users]);
    let other = folder(&late, &format!("{ZONE}{}", www("")));
    run(&other, "plan --replace Zone/a.org --out p.plan").expect(0);
    shop.moves("GET /zones/a.org", 2, "/zones/a.org/records/late", record("late", None));
    let done = other.trueup("apply --yes p.plan").done();
    assert!(done.out.contains("`Record a.org/late` would go with it, and was not part"), "{}", done.told());
    assert_eq!((done.code(), writes(&late)), (5, vec![]), "{}", done.told());

    scratch.trueup("apply --yes p.plan").done().expect(0);
    assert_eq!(writes(&raw)[0], "DELETE /zones/a.org");

    let (raw, _) = server(&[("/zones/a.org/records/users", record("users", None))]);
    let scratch = folder(&raw, &format!("{ZONE}{}", www("")));
    let done = run(&scratch, "delete --yes").expect(0);
    let along =
        "TakesAlong: 1 object goes with it that no document names, with all below: `Record a.org/users`";
    assert!(done.out.contains(along), "{}", done.told());
    assert_eq!(writes(&raw), ["DELETE /zones/a.org/records/www", "DELETE /zones/a.org"]);
}

#[test]
fn a_set_takes_no_parent_from_what_no_document_names() {
    let set = "apiVersion: trueup/v1\nkind: Set\nmetadata: {name: dns}\nspec: {scope: [{kind: Zone, exclusive: true}]}\n---\n\
               apiVersion: api\nkind: Zone\nmetadata: {name: b.org}\n";
    let (b, there) = zone("b.org");
    let (raw, _) = server(&[(&b, there)]);
    let scratch = folder(&raw, set);
    let done = run(&scratch, "apply --yes --prune").expect(0);
    assert_snapshot!(done.out, @r"
    ?   Zone a.org   a.yaml:4
        extra: `Record a.org/www`, which is below it, stays
    Applied: 1 extra, 1 in sync. 2 objects seen in 4 requests.
    ");
    assert_eq!(writes(&raw), [""; 0]);
}

#[test]
fn a_replica_too_many_stays_for_what_no_document_names() {
    let replicas = "apiVersion: trueup/v1\nkind: ReplicaSet\nmetadata: {name: w}\nspec:\n  replicas: 1\n  template:\n    \
                    apiVersion: api\n    kind: Zone\n    spec: {type: old}\n";
    let (raw, _) = Shop::new(&[
        ("/zones/w-0", json!({"name": "w-0", "type": "old"})),
        ("/zones/w-1", json!({"name": "w-1", "type": "old"})),
        ("/zones/w-2", json!({"name": "w-2", "type": "old"})),
        ("/zones/w-2/records/precious", record("precious", None)),
    ]);
    let scratch = folder(&raw, replicas);
    let done = run(&scratch, "apply --yes");
    assert!(done.out.contains("`Record w-2/precious`, which is below it, stays"), "{}", done.told());
    assert_eq!(writes(&raw), ["DELETE /zones/w-1"], "{}", done.told());
}

#[test]
fn a_watch_asks_nobody_and_takes_nothing_along() {
    let gone = ZONE.replace("{name: a.org}", "{name: a.org, annotations: {trueup/ensure: absent}}");
    let replaced = ZONE.replace("{name: a.org}", "{name: a.org, annotations: {trueup/replace: \"true\"}}");
    for manifests in [gone, replaced] {
        let (raw, _) = server(&[]);
        let scratch = folder(&raw, &manifests);
        let done = run(&scratch, "watch --once");
        let why = "`Record a.org/www`, which no document names, would go with it, and nobody is asked here";
        assert!(done.out.contains(why), "{}", done.told());
        assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.told());
    }
}

#[test]
fn what_cannot_be_created_again_is_not_deleted() {
    let secret = "ttl: 60, key: !secret env:NOPE";
    let child = format!("{ZONE}{}", www("").replace("ttl: 60", secret));
    let itself = format!("{}{}", ZONE.replace("type: new", "type: new, key: !secret env:NOPE"), www(""));
    let reported = format!("{ZONE}{}", www("trueup/report: spec.ttl"));
    for (manifests, why) in [
        (
            &child,
            "`Record a.org/www` would go with it, and could not be created again: the secret `env:NOPE`",
        ),
        (&itself, "once deleted, it could not be created again: the secret `env:NOPE` is not set"),
        (&reported, "`Record a.org/www` would go with it, and has fields that are only reported"),
    ] {
        for line in ["apply --yes --replace Zone/a.org", "plan --replace Zone/a.org --out p.plan"] {
            let (raw, _) = server(&[]);
            let scratch = folder(&raw, manifests);
            let done = run(&scratch, line);
            assert!(done.out.contains(&format!("refused: {why}")), "{}", done.told());
            if line.starts_with("plan") {
                scratch.trueup("apply --yes p.plan").done().expect(5);
            }
            assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.told());
        }
        let (raw, _) = server(&[]);
        let consents = "{name: a.org, annotations: {trueup/replace: \"true\"}}";
        let scratch = folder(&raw, &manifests.replacen("{name: a.org}", consents, 1));
        let done = run(&scratch, "watch --once");
        assert!(done.out.contains(why), "{}", done.told());
        assert_eq!(writes(&raw), [""; 0], "{}", done.told());
    }
}

/// A filter of the backend that fails for the creation alone is found before the deletion.
#[test]
fn a_creation_whose_request_cannot_be_made_is_found_before_the_deletion() {
    let (raw, _) = server(&[]);
    let scratch = folder(&raw, &format!("{ZONE}{}", www("")));
    let backend = std::fs::read_to_string(scratch.path("backend.yaml")).expect("the backend");
    let create = "create: PUT /zones/{name}";
    assert!(backend.contains(create), "{backend}");
    let failing = "create: {request: 'PUT /zones/{name}', body: '.type | error(\"no\")'}";
    scratch.write("backend.yaml", backend.replace(create, failing));
    let done = run(&scratch, "apply --yes --replace Zone/a.org");
    assert!(done.out.contains("once deleted, it could not be created again"), "{}", done.told());
    assert_eq!(writes(&raw), [""; 0], "{}", done.told());
}

#[test]
fn a_parent_that_is_not_selected_is_not_replaced_and_takes_nothing_along() {
    let consents = ZONE.replace("{name: a.org}", "{name: a.org, annotations: {trueup/replace: \"true\"}}");
    for line in ["plan", "drift", "apply --yes"] {
        let (raw, _) = server(&[]);
        let scratch = folder(&raw, &format!("{consents}{}", www("")));
        let done = run(&scratch, &format!("{line} --exclude Zone/*")).expect(0);
        assert!(!done.out.contains("GoesWithParent"), "{}", done.told());
        assert_eq!(writes(&raw), [""; 0]);
    }
}
