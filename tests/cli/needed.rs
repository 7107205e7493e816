//! What a choice of documents needs besides: it is added and told of, in a plan, in the question, in JSON and in a saved
//! plan; and it widens what is made, never what is destroyed.

use insta::assert_snapshot;
use serde_json::json;

use crate::support::{Done, Scratch};

const BACKEND: &str = "apiVersion: trueup/v1
kind: Backend
metadata: {name: demo}
spec:
  url: embedded:store
  kinds:
    Space:
      key: {name: .id}
      list: {request: GET /spaces, items: .items, page: {by: cursor, next: .next, size: 100}}
      read: GET /spaces/{name}
      create: PUT /spaces/{name}
      update: PATCH /spaces/{name}
      delete: DELETE /spaces/{name}
      version: .revision
      fields: {revision: server-owned, region: immutable=replace}
";

fn space(name: &str, more: &str, spec: &str) -> String {
    format!("---\napiVersion: demo\nkind: Space\nmetadata: {{name: {name}{more}}}\nspec: {{{spec}}}\n")
}

/// `page` needs `team`, which needs `org`; `else` needs nothing.
fn files(team: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", BACKEND);
    scratch.write("orgs.yaml", space("org", "", "size: 1"));
    scratch.write("teams.yaml", team);
    let pages = space("page", ", labels: {tier: web}", "team: !ref Space/team .size");
    scratch.write("pages/web.yaml", pages + &space("else", "", "size: 1"));
    scratch
}

fn team(annotations: &str, spec: &str) -> String {
    let annotations = format!(", annotations: {{trueup/depends-on: Space/org{annotations}}}");
    space("team", &annotations, spec)
}

fn run(scratch: &Scratch, line: &str) -> Done {
    let (verb, flags) = line.split_once(' ').unwrap_or((line, ""));
    scratch.trueup(&format!("{verb} -f . {flags}")).done()
}

#[test]
fn what_is_needed_is_added_through_every_step() {
    let scratch = files(&team("", "size: 3"));
    let plan = "
    +   Space org    ./orgs.yaml:2
    +   Space team   ./teams.yaml:2
    +   Space page   ./pages/web.yaml:2
    ";
    for choice in [
        "--only Space/page",
        "-l tier=web",
        "--only file:pages/* --exclude */else",
        "--only file:./pages/w?b.yaml --exclude */else",
    ] {
        let done = run(&scratch, &format!("plan {choice}")).expect(0);
        for line in plan.trim().lines() {
            assert!(
                done.out.contains(line.split("   ").next().unwrap_or_default().trim()),
                "{choice}: {}",
                done.told()
            );
        }
        let added =
            "added: `Space org`, needed by `Space team`\nadded: `Space team`, needed by `Space page`\n";
        assert!(done.out.contains(added), "{choice}: {}", done.told());
        assert!(done.out.contains("Plan: 3 to create."), "{choice}: {}", done.told());
    }
    let json = run(&scratch, "plan --only Space/page --output json").expect(0).json();
    let named = |name: &str| json!({"backend": "demo", "kind": "Space", "key": {"name": name}});
    let added = json!([
        {"identity": named("org"), "neededBy": named("team")},
        {"identity": named("team"), "neededBy": named("page")},
    ]);
    assert_eq!(json["added"], added);
    let rows = run(&scratch, "plan --only Space/page --output ndjson").expect(0).out;
    assert_eq!(rows.matches(r#"{"type":"added","identity":"#).count(), 2, "{rows}");
    let all = run(&scratch, "plan --output json").expect(0).json();
    assert_eq!(all.get("added"), None, "nothing is chosen");
    run(&scratch, "apply --yes --only Space/page").expect(0);
    assert!(run(&scratch, "plan").expect(0).out.contains("Plan: 1 to create, 3 in sync."));
}

#[test]
fn what_is_excluded_is_not_added_and_what_needs_it_is_skipped() {
    let scratch = files(&team("", "size: 3"));
    assert_snapshot!(run(&scratch, "apply --yes --only Space/page --exclude Space/org").told(), @"
    exit 1
    !   Space page   ./pages/web.yaml:2
        skipped: it needs `Space org`, which is not there
        hint: select it as well: `--only`, `--exclude` or `-l` leaves it out
    !   Space team   ./teams.yaml:2
        skipped: as above
    added: `Space team`, needed by `Space page`
    Applied: 2 skipped. 0 objects seen in 1 request.
    ");
    assert_snapshot!(run(&scratch, "apply --yes --only Space/page --exclude Space/team").told(), @"
    exit 1
    !   Space page   ./pages/web.yaml:2
        skipped: it needs `Space team`, which is not there
        hint: select it as well: `--only`, `--exclude` or `-l` leaves it out
    Applied: 1 skipped. 0 objects seen in 2 requests.
    ");
}

#[test]
fn nothing_is_added_to_a_deletion() {
    let scratch = files(&team("", "size: 3"));
    run(&scratch, "apply --yes").expect(0);
    assert_snapshot!(run(&scratch, "delete --yes --only Space/page").expect(0).out, @"
    -   Space page   ./pages/web.yaml:2   deleted
    Deleted: 1 deleted. 3 objects seen in 9 requests.
    ");
    let kept = run(&scratch, "plan").expect(0).out;
    assert!(kept.contains("Plan: 1 to create, 3 in sync."), "{kept}");
    // The same wish in a document.
    scratch.write(
        "pages/web.yaml",
        space("else", ", annotations: {trueup/ensure: absent}", "team: !ref Space/team .size"),
    );
    let done = run(&scratch, "plan --only Space/else").expect(0);
    assert!(!done.out.contains("added"), "{}", done.told());
}

#[test]
fn what_is_added_is_replaced_by_nobody_who_does_not_name_it() {
    let scratch = files(&team(", trueup/replace: \"true\"", "size: 3, region: eu"));
    run(&scratch, "apply --yes --exclude Space/page").expect(0);
    scratch.write("teams.yaml", team(", trueup/replace: \"true\"", "size: 3, region: us"));
    assert!(
        run(&scratch, "plan").expect(0).out.contains("1 to replace"),
        "chosen, its annotation is consent"
    );
    let done = run(&scratch, "apply --yes --only Space/page");
    assert_snapshot!(done.told(), @r#"
    exit 5
    !   Space page   ./pages/web.yaml:2
        skipped: it needs `Space team`, which was refused
    -/+ Space team   ./teams.yaml:2
          region   "eu" → "us"   immutable: refused, needs --replace Space/team
        refused: it would have to be deleted and created again, and it is only here because `Space page` needs it
        hint: if its loss is acceptable: `--replace Space/team`; to leave it as it is: `--exclude Space/team`
    added: `Space org`, needed by `Space team`
    added: `Space team`, needed by `Space page`
    Applied: 1 refused, 1 skipped, 1 in sync. 2 objects seen in 2 requests.
    "#);
    run(&scratch, "plan --only Space/page --out p.plan").expect(5);
    run(&scratch, "apply --yes --only Space/page --exclude Space/team").expect(0);
    let named = run(&scratch, "plan --only Space/page --replace Space/team").expect(0);
    assert!(named.out.contains("1 to replace"), "{}", named.told());
}

#[test]
fn a_saved_plan_has_what_was_added() {
    let scratch = files(&team("", "size: 3"));
    run(&scratch, "plan --only Space/page --out p.plan").expect(0);
    let shown = scratch.trueup("plan --show p.plan").done().expect(0);
    assert!(shown.out.contains("added: `Space team`, needed by `Space page`"), "{}", shown.told());
    let done = scratch.trueup("apply p.plan").done().expect(0);
    assert!(done.out.contains("added: `Space org`, needed by `Space team`"), "{}", done.told());
    assert!(done.out.contains("Applied: 3 created."), "{}", done.told());
}

#[test]
fn a_watch_takes_part_in_what_is_needed_too() {
    let scratch = files(&team("", "size: 3"));
    let done = run(&scratch, "watch --once --only Space/page").expect(0);
    assert!(done.out.contains("added: `Space team`, needed by `Space page`"), "{}", done.told());
    assert!(run(&scratch, "plan").expect(0).out.contains("Plan: 1 to create, 3 in sync."));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let scratch = files(&team("", "size: 3"));
    assert_snapshot!(run(&scratch, "plan --only file:page.yaml").told(), @"
    exit 64
    --- stderr
    error: `--only file:page.yaml` selects none of the documents
    hint: the files are `./orgs.yaml`, `./pages/web.yaml`, `./teams.yaml`
    ");
    let explained = run(&scratch, "explain Space/page --only Space/page");
    assert!(explained.out.contains("Space page"), "{}", explained.told());
    assert!(!explained.out.contains("./teams.yaml"), "only what is asked for: {}", explained.told());
}
