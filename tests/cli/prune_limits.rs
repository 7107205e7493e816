//! What must not become a mass deletion: nothing desired, two repositories under one name, marks that were taken off
//! or put on by somebody.

use serde_json::json;

use crate::prune::{SET, Shop, folder, record, run, stocked, writes, zone};

/// A zone with so many records that bear the mark `me`.
fn marked(count: usize) -> (crate::servers::Raw, Shop) {
    let (a, zone) = zone("a.org");
    let path = |n: usize| format!("/zones/a.org/records/r{n}");
    let records: Vec<(String, serde_json::Value)> =
        (0..count).map(|n| (path(n), record(&format!("r{n}"), Some("me")))).collect();
    let mut all = vec![(&*a, zone)];
    all.extend(records.iter().map(|(path, value)| (&**path, value.clone())));
    Shop::new(&all)
}

fn set_alone() -> &'static str {
    SET.split_once("---\n").expect("two documents").0
}

#[test]
fn nothing_desired_deletes_nothing_without_two_consents() {
    let (raw, shop) = marked(6);
    let scratch = folder(&raw, set_alone());
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.told());
    let why = "refused: no document names an object in its scope: 6 objects would be deleted";
    assert!(
        done.out.contains(why) && done.out.contains("hint: if that is meant: `--allow-empty`"),
        "{}",
        done.out
    );
    let done = run(&scratch, "apply --yes --prune --allow-empty");
    assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.told());
    assert!(done.out.contains("6 objects would be deleted, and the limit is 5"), "{}", done.out);
    let done = run(&scratch, "apply --yes --prune --allow-empty --max-deletes 6");
    assert_eq!((done.code(), writes(&raw).len()), (0, 6), "{}", done.told());
    assert_eq!(shop.paths(), ["/zones/a.org"]);
}

#[test]
fn a_folder_without_a_set_is_no_wish_to_delete() {
    let (raw, shop) = marked(1);
    let scratch = folder(&raw, "");
    let done = run(&scratch, "apply --yes --prune");
    assert_ne!(done.code(), 0, "{}", done.told());
    assert_eq!((writes(&raw), shop.paths().len()), (vec![], 2));
}

#[test]
fn two_repositories_under_one_name_see_each_deletion_and_its_proof_and_meet_the_limit() {
    // The six records are those of the other repository, applied under the same owner and scope.
    let (raw, shop) = marked(6);
    let scratch = folder(&raw, SET);
    let plan = run(&scratch, "plan --prune --max-deletes 6");
    let proof = "Pruned: no document names it; it is in the set `dns`, and bears the mark `me`";
    assert_eq!(plan.out.matches(proof).count(), 6, "{}", plan.told());
    assert_eq!(plan.out.matches("-   Record a.org/r").count(), 6, "{}", plan.told());
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 5, "its own record is created, and the rest refused: {}", done.told());
    assert_eq!(writes(&raw), ["PUT /zones/a.org/records/www"]);
    assert!(done.out.contains("6 objects would be deleted, and the limit is 5"), "{}", done.out);
    assert_eq!(shop.paths().len(), 8);
}

#[test]
fn a_limit_that_a_flag_lifts_for_a_kind_is_lifted_for_that_plan_alone() {
    let (raw, _) = marked(6);
    let scratch = folder(&raw, SET);
    run(&scratch, "plan --prune --max-deletes Record=6 --out p.plan").expect(0);
    let shown = scratch.trueup("plan --show p.plan").done().expect(0);
    assert!(shown.out.contains("--max-deletes Record=6"), "{}", shown.told());
    let without = run(&scratch, "plan --prune").expect(5);
    assert!(without.out.contains("6 objects would be deleted, and the limit is 5"), "{}", without.told());
    let other = run(&scratch, "plan --prune --max-deletes Record=5").expect(5);
    let why = "6 objects of the kind `Record` would be deleted, and the limit is 5 (`--max-deletes`)";
    assert!(other.out.contains(why), "{}", other.told());
    assert_eq!(writes(&raw), [""; 0]);
    let done = scratch.trueup("apply p.plan").done().expect(0);
    let deleted = writes(&raw).iter().filter(|line| line.starts_with("DELETE ")).count();
    assert_eq!(deleted, 6, "{}", done.told());
}

#[test]
fn a_mark_that_was_taken_off_makes_the_object_nobodys() {
    let (raw, shop) = stocked();
    // Between the listing and the last look, as well as before.
    shop.moves("GET /zones/a.org/records/old", 3, "/zones/a.org/records/old", record("old", None));
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!((done.code(), writes(&raw)), (5, vec![]), "{}", done.told());
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!((done.code(), writes(&raw)), (0, vec![]), "{}", done.told());
    assert!(done.out.contains("extra: nothing proves that it is ours"), "{}", done.out);
}

#[test]
fn a_mark_that_somebody_forged_counts_within_scope_and_limit_only() {
    let (a, kept) = zone("a.org");
    let (b, other) = zone("b.org");
    let forged = "/zones/b.org/records/forged";
    let (raw, shop) = Shop::new(&[
        (&a, kept),
        ("/zones/a.org/records/www", record("www", Some("me"))),
        ("/zones/a.org/records/forged", record("forged", Some("me"))),
        ("/zones/a.org/records/close", record("close", Some("me "))),
        ("/zones/a.org/records/cased", record("cased", Some("Me"))),
        ("/zones/a.org/records/list", json!({"name": "list", "meta": {"owner": ["me"]}})),
        (&b, other),
        (forged, record("forged", Some("me"))),
    ]);
    let scratch = folder(&raw, SET);
    assert_eq!(run(&scratch, "apply --yes --prune --max-deletes 0").code(), 5);
    assert_eq!(writes(&raw), [""; 0]);
    assert_eq!(run(&scratch, "apply --yes --prune").code(), 0);
    assert_eq!(writes(&raw), ["DELETE /zones/a.org/records/forged"]);
    assert!(shop.paths().contains(&forged.to_owned()));
}

#[test]
fn drift_tells_what_is_extra_with_and_without_a_proof() {
    let (raw, _) = stocked();
    let scratch = folder(&raw, SET);
    let done = run(&scratch, "drift --fail-on extra");
    assert_eq!(done.code(), 2, "{}", done.told());
    for (name, why) in [
        ("old", "extra: no document names it; it is in the set `dns`"),
        ("users", "extra: nothing proves that it is ours: `meta.owner` does not hold the owner `me`"),
        ("yours", "extra: nothing proves that it is ours: `meta.owner` says that it is `you`'s"),
    ] {
        assert!(done.out.contains(&format!("Record a.org/{name}")) && done.out.contains(why), "{}", done.out);
    }
    let json = run(&scratch, "drift --fail-on extra --output json");
    assert_eq!((json.code(), &json.json()["summary"]["results"]["extra"]), (2, &json!(3)));
    assert_eq!(writes(&raw), [""; 0]);
}

#[test]
fn claims_of_one_parent_list_it_once() {
    let (raw, _) = stocked();
    let set = SET.replace(
        "[{kind: Record, zone: a.org}]",
        "[{kind: Record, zone: a.org}, {kind: Record, zone: b.org}, {kind: Record, zone: c.org}]",
    );
    let scratch = folder(&raw, &set);
    assert_eq!(run(&scratch, "plan --prune").code(), 0);
    let zones = raw.lines().iter().filter(|line| *line == "GET /zones").count();
    assert_eq!(zones, 1, "{:?}", raw.lines());
}

#[test]
fn what_documents_wish_gone_goes_before_what_is_pruned_children_first_one_kind_at_a_time() {
    let (a, kept) = zone("a.org");
    let (b, gone) = zone("b.org");
    let (c, dropped) = zone("c.org");
    let (raw, shop) = Shop::new(&[
        (&a, kept),
        ("/zones/a.org/records/www", record("www", Some("me"))),
        ("/zones/a.org/records/old", record("old", Some("me"))),
        (&b, gone),
        ("/zones/b.org/records/r", record("r", Some("me"))),
        (&c, dropped),
        ("/zones/c.org/records/r", record("r", Some("me"))),
    ]);
    let set = SET.replace("[{kind: Record, zone: a.org}]", "[{kind: Record}, {kind: Zone, exclusive: true}]");
    let absent = "---\napiVersion: api\nkind: Record\nmetadata: {zone: b.org, name: r, annotations: {trueup/ensure: absent}}\n---\napiVersion: api\nkind: Zone\nmetadata: {name: b.org, annotations: {trueup/ensure: absent}}\n";
    let scratch = folder(&raw, &format!("{set}{absent}"));
    let done = run(&scratch, "apply --yes --prune");
    assert_eq!(done.code(), 0, "{}", done.told());
    let mut writes = writes(&raw);
    assert_eq!(writes[..2], ["DELETE /zones/b.org/records/r", "DELETE /zones/b.org"]);
    writes[2..4].sort();
    assert_eq!(
        writes[2..],
        ["DELETE /zones/a.org/records/old", "DELETE /zones/c.org/records/r", "DELETE /zones/c.org"]
    );
    assert_eq!(shop.paths(), ["/zones/a.org", "/zones/a.org/records/www"]);
}
