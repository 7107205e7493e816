//! Pruning with a base: what stood in a recorded one is ours, and nothing else is by a base.

use crate::repository::{Repository, document, git};
use crate::support::Done;

/// No owner, so that neither a mark nor the scope is a proof.
const SET: &str = "apiVersion: trueup/v1
kind: Set
metadata: {name: queues}
spec: {scope: [{kind: Queue}]}
";

fn queues(names: &[&str]) -> String {
    let all: Vec<String> = names.iter().map(|name| document("Queue", name, "{n: 1}")).collect();
    all.join("---\n")
}

/// Two queues, applied and recorded as `production`; one of somebody else; and then one left the files.
fn left() -> Repository {
    let repository = Repository::new();
    repository.write("m/set.yaml", SET);
    repository.commit("m/a.yaml", &queues(&["a", "b"]));
    repository.run("apply --yes -f m --record production").expect(0);
    repository.foreign(&queues(&["users"]));
    repository.commit("m/a.yaml", &queues(&["a"]));
    repository
}

fn there(repository: &Repository) -> Vec<String> {
    let items = repository.run("get Queue -f m --output json").json()["items"].clone();
    let name =
        |item: &serde_json::Value| item["identity"]["key"]["name"].as_str().expect("a name").to_owned();
    items.as_array().expect("a list").iter().map(name).collect()
}

/// Nothing of it is proved to be ours, and this is why.
fn kept(done: &Done, why: &str) {
    let words = done.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(why), "{}", done.told());
    assert!(!words.contains("to delete") && !words.contains("deleted"), "{}", done.told());
}

#[test]
fn what_stood_in_a_recorded_base_goes_and_the_plan_says_why() {
    let repository = left();
    let commit = repository.git("rev-parse refs/trueup/production");
    for base in ["production", "trueup/production", "refs/trueup/production"] {
        let told = repository.run(&format!("plan -f m --prune --base {base}")).expect(0).told();
        let proof = format!(
            "Pruned: no document names it; it is in the set `queues`, and stood in `refs/trueup/production`, which was applied ({base}:m/a.yaml:6:1)"
        );
        assert!(told.contains("-   Queue b ") && told.contains(&proof), "{told}");
        assert!(told.contains("?   Queue users ") && told.contains("has no document of it"), "{told}");
        assert_eq!(told.matches("Queue b").count(), 1, "it is told once: {told}");
    }
    let json = repository.run("plan -f m --prune --base production --output json").expect(0).json();
    let is_b = |object: &&serde_json::Value| object["identity"]["key"]["name"] == "b";
    let objects = json["objects"].as_array().expect("a list");
    let deletion = objects.iter().find(is_b).expect("it is planned");
    assert_eq!([&deletion["action"], &deletion["origin"]], ["delete", "pending"]);
    assert_eq!(deletion["findings"][0]["code"], "Pruned");
    assert!(json["left"].is_null(), "{}", json["left"]);

    // A base alone never deletes.
    repository.run("apply -f m --yes --base production").expect(0);
    assert_eq!(there(&repository), ["a", "b", "users"]);
    // What is another's is no matter of the files, and does not keep the ref from moving.
    repository.run("apply -f m --yes --prune --base production --record production").expect(0);
    assert_eq!(there(&repository), ["a", "users"]);
    assert_ne!(repository.git("rev-parse refs/trueup/production"), commit);
}

#[test]
fn a_base_that_was_not_recorded_is_no_proof() {
    let repository = left();
    let recorded = repository.git("rev-parse refs/trueup/production");
    // The same commit by another name may be meant for other files.
    for base in ["HEAD~1", "main~1", &recorded] {
        let done = repository.run(&format!("plan -f m --prune --base {base}")).expect(0);
        kept(&done, &format!("`{base}` is not a ref that `apply --record` moves"));
        kept(&done, "hint: a proof is a ref that `apply --record` has moved: `--base production`");
    }
    repository.git("worktree add --quiet ../then HEAD~1");
    kept(
        &repository.run("plan -f m --prune --base ../then/m").expect(0),
        "the base is the folder `../then/m`",
    );
    kept(&repository.run("plan -f m --prune").expect(0), "the set `queues` names no `owner`");
    let done = repository.run("plan -f m --prune --base nowhere").expect(65);
    assert!(done.err.contains("there is no revision `nowhere`"), "{}", done.err);
    assert_eq!(there(&repository), ["a", "b", "users"]);
}

#[test]
fn what_moved_to_another_file_or_is_protected_at_the_base_stays() {
    let repository = left();
    repository.commit("elsewhere/b.yaml", &queues(&["b"]));
    let done = repository.run("apply -f m --yes --prune --base production").expect(0);
    kept(&done, "its document left `-f` and stands in HEAD:elsewhere/b.yaml:1:1");
    // Inside of `-f` it has only moved.
    repository.git("mv elsewhere/b.yaml m/b.yaml");
    repository.commit_all();
    let done = repository.run("apply -f m --yes --prune --base production").expect(0);
    assert!(!done.out.contains("Queue b"), "{}", done.told());
    assert_eq!(there(&repository), ["a", "b", "users"]);

    let repository = Repository::new();
    repository.write("m/set.yaml", SET);
    let protected = queues(&["b"]).replace("name: b", "name: b, annotations: {trueup/prune: \"false\"}");
    repository.commit("m/a.yaml", &format!("{}---\n{protected}", queues(&["a"])));
    repository.run("apply --yes -f m --record production").expect(0);
    repository.commit("m/a.yaml", &queues(&["a"]));
    let done = repository.run("apply -f m --yes --prune --base production").expect(0);
    kept(&done, "has `trueup/prune: \"false\"`");
    assert_eq!(there(&repository), ["a", "b"]);
}

/// What a person has only moved or removed in the work tree, others still have.
#[test]
fn what_the_last_commit_has_stays() {
    let repository = left();
    repository.commit("m/a.yaml", &queues(&["a", "b"]));
    repository.run("apply --yes -f m --record production").expect(0);
    repository.write("m/a.yaml", &queues(&["a"]));
    let why = "its document left `-f` and stands in HEAD:m/a.yaml:6:1";
    for elsewhere in [false, true] {
        if elsewhere {
            repository.write("elsewhere/b.yaml", &queues(&["b"]));
        }
        let done = repository.run("apply -f m --yes --prune --base production").expect(0);
        kept(&done, if elsewhere { "stands in elsewhere/b.yaml:1:1" } else { why });
        assert_eq!(done.out.matches("Queue b").count(), 1, "{}", done.told());
    }
    assert_eq!(there(&repository), ["a", "b", "users"]);
    std::fs::remove_dir_all(repository.path().join("elsewhere")).expect("it is there");
    repository.commit_all();
    repository.run("apply -f m --yes --prune --base production").expect(0);
    assert_eq!(there(&repository), ["a", "users"]);
}

#[test]
fn a_checkout_that_is_older_than_the_ref_deletes_nothing() {
    let repository = left();
    repository.commit("m/new.yaml", &queues(&["new"]));
    repository.run("apply --yes -f m --record newest").expect(0);
    // A job that ran again on an old commit knows nothing of what is new.
    repository.git("checkout --quiet HEAD~1");
    let done = repository.run("apply -f m --yes --prune --base newest").expect(0);
    kept(&done, "the last commit does not come after `refs/trueup/newest`");
    assert_eq!(there(&repository), ["a", "b", "new", "users"]);
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let repository = left();
    repository.commit("m/more.yaml", &queues(&["more"]));
    let source = format!("file://{}", repository.path().display());
    git(&repository.0.path("."), &format!("clone --quiet --depth 1 {source} clone"));
    let clone = repository.0.path("clone");
    git(&clone, "fetch --quiet --depth 1 origin refs/trueup/production:refs/trueup/production");
    let run = |line: &str| repository.0.trueup(line).inside("clone").done();
    let done = run("plan -f m --prune --base production").expect(0);
    kept(&done, "the clone is shallow: fetch what lies between, with `git fetch --unshallow`");
    git(&clone, "fetch --quiet --unshallow origin");
    let done = run("plan -f m --prune --base production").expect(0);
    assert!(done.out.contains("-   Queue b "), "{}", done.told());
}

#[test]
fn what_others_changed_since_the_base_is_not_pruned_unasked() {
    let repository = left();
    repository.foreign(&document("Queue", "b", "{n: 50, more: true}"));
    let why = "conflict: it is to go, and was changed on the server since the base: `n`: 1 at the base, nothing here, 50 there";
    let run = |line: &str| repository.run(&format!("{line} -f m --prune --base production"));
    assert!(run("plan").out.contains(why), "{}", run("plan").told());
    let line = run("plan").out.lines().find(|line| line.contains("Queue b ")).expect("it is told").to_owned();
    assert!(line.ends_with("changed on the server since the base"), "{line}");
    let done = run("apply --yes").expect(3);
    assert!(done.out.contains(why) && done.out.contains("--force-conflicts Queue/b:n"), "{}", done.told());
    assert_eq!(there(&repository), ["a", "b", "users"]);
    let json = run("plan --output json").json();
    let objects = json["objects"].as_array().expect("a list");
    let b = objects.iter().find(|object| object["identity"]["key"]["name"] == "b").expect("it is told");
    assert_eq!([&b["conflicts"][0]["path"], &b["conflicts"][0]["cause"]], ["n", "base"], "{b}");
    // The same wish, written down.
    let gone =
        document("Queue", "b", "{}").replace("name: b", "name: b, annotations: {trueup/ensure: absent}");
    repository.write("m/b.yaml", &gone);
    let done = repository.run("apply --yes -f m --base production").expect(3);
    assert!(done.out.contains(why), "{}", done.told());
    let forced = gone.replace("annotations: {", "annotations: {trueup/on-conflict: force, ");
    repository.write("m/b.yaml", &forced);
    let done = repository.run("plan -f m --base production");
    assert!(!done.out.contains("conflict: ") && done.out.contains("-   Queue b "), "{}", done.told());
    std::fs::remove_file(repository.path().join("m/b.yaml")).expect("it is there");
    // A saved plan goes the same way.
    run("plan --out kept.plan").expect(3);
    let kept = repository.run("apply kept.plan").expect(5);
    let refused = why.replace("conflict:", "refused: the plan does not do it:");
    assert!(kept.out.contains(&refused), "{}", kept.told());
    assert_eq!(there(&repository), ["a", "b", "users"]);
    run("plan --force-conflicts Queue/b:n --out forced.plan").expect(0);
    repository.run("apply forced.plan").expect(0);
    assert_eq!(there(&repository), ["a", "users"]);
    repository.foreign(&document("Queue", "b", "{n: 50}"));
    run("apply --yes --force-conflicts Queue/b:n").expect(0);
    assert_eq!(there(&repository), ["a", "users"]);
}

/// Who applies a plan has no repository: the plan carries what proves each deletion, and what keeps an object.
#[test]
fn a_saved_plan_carries_the_proof() {
    let plan = || {
        let repository = Repository::new();
        repository.write("m/set.yaml", SET);
        repository.commit("m/a.yaml", &queues(&["a", "b", "c"]));
        repository.run("apply --yes -f m --record production").expect(0);
        repository.foreign(&queues(&["users"]));
        repository.write("elsewhere/c.yaml", &queues(&["c"]));
        repository.commit("m/a.yaml", &queues(&["a"]));
        repository.run("plan -f m --prune --base production --out p.plan").expect(0);
        std::fs::remove_dir_all(repository.path().join(".git")).expect("it is there");
        repository
    };
    let proof = "and stood in `refs/trueup/production`, which was applied (production:m/a.yaml:6:1)";
    let moved = "its document left `-f` and stands in HEAD:elsewhere/c.yaml:1:1";
    let repository = plan();
    let shown = repository.run("plan --show p.plan").expect(0).out;
    assert!(shown.contains(proof) && shown.contains(moved), "{shown}");
    let told = repository.run("apply p.plan").expect(0).told();
    for part in [proof, moved, "has no document of it", "Applied: 1 deleted, 2 extra, 1 in sync."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(there(&repository), ["a", "c", "users"]);
    assert!(repository.run("apply p.plan").expect(5).out.contains("already applied"));

    let repository = plan();
    repository.foreign(&queues(&["b"]).replace("n: 1", "n: 7"));
    let done = repository.run("apply p.plan").expect(5);
    kept(&done, "it has changed since the plan was made");
    assert_eq!(there(&repository), ["a", "b", "c", "users"]);
}
