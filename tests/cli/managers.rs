//! The built-in server's field managers, finalizers and demanded preconditions, through the tool: the backend is
//! the one that `docs/server.md` shows.

use insta::assert_snapshot;

use crate::servers::Served;
use crate::support::{Done, Scratch};

const PAGE: &str = include_str!("../../docs/server.md");
const APPLY: &str = "apply --yes -f app.yaml -f backend.yaml";

/// The example of the page.
fn example() -> &'static str {
    let (_, after) = PAGE.split_once("<!-- test: tests/cli/managers.rs -->\n```yaml\n").expect("the example");
    after.split_once("```").expect("its end").0
}

fn app(annotations: &str, spec: &str) -> String {
    format!(
        "apiVersion: demo\nkind: App\nmetadata: {{name: web, annotations: {{{annotations}}}}}\nspec: {spec}\n"
    )
}

/// A server with these flags, the example as its backend, and one app.
fn start(flags: &str, spec: &str) -> (Scratch, Served) {
    let scratch = Scratch::new();
    let served = Served::start_with(&scratch, "rules: []", flags);
    scratch.write("backend.yaml", example().replace("http://127.0.0.1:8080", &served.url()));
    scratch.write("app.yaml", app("", spec));
    (scratch, served)
}

fn read(served: &Served, path: &str) -> serde_json::Value {
    serde_json::from_str(&served.call("GET", path, "")).expect("JSON")
}

fn applied(scratch: &Scratch, code: i32) -> Done {
    scratch.trueup(APPLY).done().expect(code)
}

#[test]
fn a_field_of_another_manager_is_a_conflict_that_names_it() {
    let (scratch, served) = start("", "{image: 'web:1', replicas: 2, labels: {tier: front}}");
    applied(&scratch, 0);
    assert!(applied(&scratch, 0).out.contains("nothing was written"));
    let scaled = r#"{"image":"web:1","replicas":5,"labels":{"tier":"front"},"theirs":true}"#;
    served.call("PUT", "/apps/web?fieldManager=autoscaler", scaled);
    assert_snapshot!(scratch.trueup("plan -f app.yaml -f backend.yaml").done().told(), @r#"
    exit 3
    !   App web   app.yaml:1
          replicas      conflict: 2 here, 5 there, held by `autoscaler`
        conflict: `replicas`: ours 2, theirs 5, held by `autoscaler`
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts App/web:replicas`
    Plan: 1 conflict. 1 object seen in 2 requests.
    "#);
    assert_snapshot!(applied(&scratch, 3).told(), @r#"
    exit 3
    !   App web   app.yaml:1
          replicas      conflict: 2 here, 5 there, held by `autoscaler`
        conflict: `replicas`: ours 2, theirs 5, held by `autoscaler`
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts App/web:replicas`
    Applied: 1 conflict. 1 object seen in 2 requests.
    "#);
    assert_eq!(read(&served, "/apps/web")["replicas"], 5, "it was not taken");
    scratch.write("app.yaml", app("trueup/on-conflict: force", "{image: 'web:1', replicas: 2}"));
    assert_snapshot!(applied(&scratch, 0).told(), @r#"
    exit 0
    ~   App web   app.yaml:1   updated
          replicas      5 → 2     differs on the server, set by `autoscaler`
        - labels.tier   "front"   declared no longer, set by `files`
    Applied: 1 updated. 1 object seen in 5 requests.
    "#);
    let web = read(&served, "/apps/web?fieldManagers=true");
    assert_eq!((&web["replicas"], &web["theirs"]), (&2.into(), &true.into()));
    assert!(web.get("labels").is_none(), "what only the file applied left with it: {web}");
    let managers = web["fieldManagers"].as_array().expect("managers").iter();
    let names: Vec<_> = managers.map(|manager| manager["name"].as_str().unwrap_or("?")).collect();
    assert_eq!(names, ["autoscaler", "files"]);
    assert!(applied(&scratch, 0).out.contains("nothing was written"));
}

#[test]
fn a_field_that_is_left_to_its_manager_is_no_conflict() {
    let (scratch, served) = start("", "{image: 'web:1', replicas: 2}");
    applied(&scratch, 0);
    served.call("PUT", "/apps/web?fieldManager=autoscaler", r#"{"image":"web:1","replicas":5}"#);
    scratch.write("app.yaml", app("", "{image: 'web:2'}"));
    applied(&scratch, 0);
    let web = read(&served, "/apps/web");
    assert_eq!((&web["image"], &web["replicas"]), (&"web:2".into(), &5.into()));
}

#[test]
fn a_finalizer_keeps_a_deletion_pending() {
    let (scratch, served) = start("", "{image: 'web:1'}");
    applied(&scratch, 0);
    served.call("PUT", "/apps/web?fieldManager=backup", r#"{"image":"web:1","finalizers":["backup"]}"#);
    assert!(applied(&scratch, 0).out.contains("nothing was written"), "it is nothing of ours");
    served.call("DELETE", "/apps/web", "");
    scratch.write("app.yaml", app("", "{image: 'web:2'}"));
    assert_snapshot!(scratch.trueup("plan -f app.yaml -f backend.yaml").done().told(), @r#"
    exit 1
    !   App web   app.yaml:1
        unknown: the server is deleting it, and its name is still taken: `backup` holds it
    Plan: 1 unknown. 1 object seen in 1 request.
    "#);
    let before = served.written().len();
    let web = read(&served, "/apps/web");
    assert_eq!((&web["finalizers"][0], &web["deletionRevision"]), (&"backup".into(), &3.into()));
    served.call("PUT", "/apps/web", r#"{"image":"web:1"}"#);
    assert_eq!(served.written().len(), before + 1, "the last finalizer's removal is the only write");
    applied(&scratch, 0);
    let web = read(&served, "/apps/web");
    assert_eq!((&web["image"], web.get("finalizers")), (&"web:2".into(), None), "a new one");
}

#[test]
fn a_delete_is_not_done_while_a_finalizer_is_there() {
    let (scratch, served) = start("", "{image: 'web:1', finalizers: [ours]}");
    applied(&scratch, 0);
    let done = scratch.trueup("delete --yes -f app.yaml -f backend.yaml --timeout 2s").done();
    assert_ne!(done.code(), 0, "{}", done.told());
    assert!(done.told().contains("delet"), "{}", done.told());
    assert_eq!(read(&served, "/apps/web")["finalizers"][0], "ours", "it was not taken away");
    assert_eq!(served.written().iter().filter(|line| line.starts_with("DELETE")).count(), 1);
}

#[test]
fn a_server_that_demands_preconditions_gets_them() {
    let (scratch, served) = start("--require-preconditions", "{image: 'web:1'}");
    let refused = served.call("PUT", "/apps/other", "{}");
    assert!(refused.contains("precondition-required"), "{refused}");
    scratch.write("team.yaml", "apiVersion: plain\nkind: Team\nmetadata: {name: red}\nspec: {n: 1}\n");
    let kinds = "Team: {key: {name: .id}, list: {request: GET /teams, items: .items}, read: 'GET /teams/{name}', create: 'PUT /teams/{name}', update: 'PATCH /teams/{name}', delete: 'DELETE /teams/{name}', version: .revision}";
    let backend = format!(
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: plain}}\nspec: {{url: {}, kinds: {{{kinds}}}}}\n",
        served.url()
    );
    scratch.write("plain.yaml", backend);
    scratch.trueup("apply --yes -f team.yaml -f plain.yaml").done().expect(0);
    scratch.write("team.yaml", "apiVersion: plain\nkind: Team\nmetadata: {name: red}\nspec: {n: 2}\n");
    scratch.trueup("apply --yes -f team.yaml -f plain.yaml").done().expect(0);
    scratch.trueup("delete --yes -f team.yaml -f plain.yaml").done().expect(0);
    let writes = ["PUT /teams/red", "PATCH /teams/red", "DELETE /teams/red"];
    assert_eq!(served.written(), writes);
}

#[test]
fn a_status_apart_is_left_to_who_tells_it() {
    let (scratch, served) = start("--status-apart apps", "{image: 'web:1'}");
    applied(&scratch, 0);
    served.call("PUT", "/apps/web/status", r#"{"status":{"ready":true}}"#);
    scratch.write("app.yaml", app("", "{image: 'web:2'}"));
    applied(&scratch, 0);
    let web = read(&served, "/apps/web");
    assert_eq!((&web["image"], &web["status"]["ready"]), (&"web:2".into(), &true.into()));
}

#[test]
fn an_object_of_a_generated_kind_is_seen_being_deleted() {
    let scratch = Scratch::new();
    scratch.write(
        "backend.yaml",
        "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: demo}\nspec: {url: 'embedded:store'}\n",
    );
    scratch.write("app.yaml", app("", "{image: 'web:1', finalizers: [ours]}"));
    applied(&scratch, 0);
    assert!(applied(&scratch, 0).out.contains("nothing was written"));
    let done = scratch.trueup("delete --yes -f app.yaml -f backend.yaml --timeout 2s").done();
    assert_ne!(done.code(), 0, "{}", done.told());
    let plan = scratch.trueup("plan -f app.yaml -f backend.yaml").done().expect(1);
    assert!(plan.out.contains("the server is deleting it"), "{}", plan.told());
}
