//! Where a base comes from: revisions of a repository, folders, and everything that can be wrong with them.

use insta::assert_snapshot;

use crate::repository::{Repository, backend, document, git};
use crate::support::Scratch;

fn queue(name: &str, n: u32) -> String {
    document("Queue", name, &format!("{{n: {n}}}"))
}

#[test]
fn what_moved_has_its_base_where_it_was() {
    let repository = Repository::applied("m/a.yaml", &(queue("a", 1) + "---\n" + &queue("b", 1)));
    repository.git("mv m/a.yaml m/moved.yaml");
    repository.write("m/moved.yaml", &(queue("b", 1) + "---\n" + &queue("a", 2)));
    repository.foreign(&queue("b", 7));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 0
    ~   Queue b   m/moved.yaml:1
          n   7 → 1   drift: changed on the server
    ~   Queue a   m/moved.yaml:6
          n   1 → 2   pending: changed in the files
    Plan: 2 to update. 2 objects seen in 2 requests.
    ");
    // The whole folder.
    repository.git("mv m other");
    repository.commit_all();
    assert_snapshot!(repository.run("plan -f other --base HEAD~1").told(), @"
    exit 0
    ~   Queue b   other/moved.yaml:1
          n   7 → 1   drift: changed on the server
    ~   Queue a   other/moved.yaml:6
          n   1 → 2   pending: changed in the files
    Plan: 2 to update. 2 objects seen in 2 requests.
    ");
}

#[test]
fn what_is_elsewhere_has_not_left() {
    let repository = Repository::applied(
        "m/a.yaml",
        &(queue("a", 1) + "---\n" + &queue("b", 1) + "---\n" + &queue("c", 1)),
    );
    repository.write("elsewhere/b.yaml", &queue("b", 1));
    repository.write("elsewhere/chart.yaml", "{{ not yaml }}: [");
    repository.commit("m/a.yaml", &queue("a", 1));
    assert_snapshot!(repository.run("apply --yes -f m --base HEAD~1").told(), @"
    exit 0
    ?   Queue c   HEAD~1:m/a.yaml:11   left the files; --base alone never deletes
    The one object is in sync; nothing was written. 1 object seen in 1 request.
    ");
    let json = repository.run("plan -f m --base HEAD~1 --output json").expect(0).json();
    assert_eq!(json["left"][0]["identity"]["key"]["name"], "c");
    assert_eq!(json["left"][0]["position"]["file"], "HEAD~1:m/a.yaml");
    assert_eq!(json["left"].as_array().map(Vec::len), Some(1));
    // All are still there.
    assert_eq!(
        repository.run("get Queue -f m --output json").json()["items"].as_array().map(Vec::len),
        Some(3)
    );
}

#[test]
fn the_folder_of_another_environment_is_nobodys_past() {
    let repository = Repository::new();
    repository.commit("staging/a.yaml", &document("Queue", "a", "{n: 1, only-there: 1}"));
    repository.commit("m/a.yaml", &queue("a", 1));
    repository.foreign(&document("Queue", "a", "{n: 1, only-there: 1}"));
    repository.run("drift -f m --base HEAD~1").expect(0);
}

/// Nor is it when a file was renamed there: it stands there as before.
#[test]
fn a_rename_in_another_environment_is_nobodys_past() {
    let past = document("Queue", "a", "{n: 1, only-there: 1}");
    for renamed_by_a_commit in [true, false] {
        let repository = Repository::new();
        repository.commit("prod/x.yaml", &past);
        repository.foreign(&past);
        repository.git("mv prod/x.yaml prod/y.yaml");
        repository.write("m/a.yaml", &queue("a", 1));
        if renamed_by_a_commit {
            repository.commit_all();
        }
        let base = if renamed_by_a_commit { "HEAD~1" } else { "HEAD" };
        repository.run(&format!("drift -f m --base {base}")).expect(0);
        // One that went from there has its base there.
        repository.git("rm --quiet -f prod/y.yaml");
        repository.run(&format!("drift -f m --base {base}")).expect(2);
        // What nobody can read may still say it.
        repository.write("prod/x.yaml", "a: [");
        repository.run(&format!("drift -f m --base {base}")).expect(0);
        repository.commit_all();
        repository.run(&format!("drift -f m --base {base}~1")).expect(0);
    }
}

/// What names a revision may have a colon, as what names a file in it has.
#[test]
fn a_revision_by_a_time() {
    let repository = Repository::new();
    let past = document("Queue", "a", "{n: 1, only-there: 1}");
    repository.commit("prod/x.yaml", &past);
    repository.foreign(&past);
    repository.write("m/a.yaml", &queue("a", 1));
    repository.run("drift -f m --base HEAD@{2035-01-01T00:00:00}").expect(0);
}

/// A folder that was renamed and is in no commit yet: what somebody changed on the server is seen all the same.
#[test]
fn what_moved_and_is_not_committed_has_its_base() {
    let repository = Repository::new();
    repository.commit("old/a.yaml", &document("Queue", "a", "{n: 1, m: 1}"));
    repository.run("apply --yes -f m/backend.yaml -f old --record production").expect(0);
    repository.foreign(&queue("a", 50));
    for staged in [false, true] {
        match staged {
            false => std::fs::rename(repository.path().join("old"), repository.path().join("new"))
                .expect("it is there"),
            true => drop(repository.git("add --all")),
        }
        repository.write("new/a.yaml", &queue("a", 2));
        let told = repository.run("plan -f m/backend.yaml -f new --base production").expect(3).told();
        assert!(told.contains("conflict: `n` was changed both") && told.contains("- m"), "{told}");
    }
}

#[test]
fn a_folder_can_be_the_base_and_standard_input_the_files() {
    let scratch = Scratch::with("now/backend.yaml", backend("../store"));
    scratch.write("now/a.yaml", document("Queue", "a", "{n: 1, m: 1}"));
    scratch.trueup("apply --yes -f now").done().expect(0);
    scratch.write("then/a.yaml", document("Queue", "a", "{n: 1, m: 1}") + "---\n" + &queue("b", 1));
    let run = scratch.trueup("plan -f now/backend.yaml -f - --base then").stdin(&queue("a", 2));
    assert_snapshot!(run.done().told(), @"
    exit 0
    ~   Queue a   -:1
        - m   1       pending: declared no longer
          n   1 → 2   pending: changed in the files
    ?   Queue b   then/a.yaml:6   left the files; --base alone never deletes
    Plan: 1 to update. 1 object seen in 1 request.
    ");
}

/// The folder of an environment and the ref of what was applied to it often have one name.
#[test]
fn what_is_a_folder_and_a_revision() {
    let repository = Repository::applied("m/a.yaml", &queue("a", 1));
    repository.run("apply --yes -f m --record m").expect(0);
    repository.git("tag then");
    repository.write("then/b.yaml", &queue("b", 1));
    repository.write("m/a.yaml", &queue("a", 2));
    repository.foreign(&queue("a", 3));
    assert_snapshot!(repository.run("plan -f m --base m").told(), @"
    exit 65
    --- stderr
    error: `--base m` is a folder and a revision
    hint: `--base ./m` is the folder, `--base refs/trueup/m` the revision
    1 error.
    ");
    let told = repository.run("plan -f m --base then").expect(65).told();
    assert!(told.contains("`--base ./then` is the folder, `--base refs/tags/then` the revision"), "{told}");
    repository.run("plan -f m --base refs/trueup/m").expect(3);
    repository.run("plan -f m --base ./m").expect(0);
}

#[test]
fn what_is_no_base() {
    let repository = Repository::applied("m/a.yaml", &queue("a", 1));
    for line in [
        "plan -f m --base nowhere",
        "plan -f m --base=-x",
        "plan -f m --base=--output=x",
        "plan -f m --base=",
        "plan -f m --base ./nowhere",
        "plan -f m --base m/a.yaml",
        "plan -f m -f - --base HEAD",
        "plan -f m --base HEAD:m",
    ] {
        let done = repository.run(line);
        assert!([64, 65].contains(&done.code()), "{}", done.told());
        assert!(done.err.starts_with("error: "), "{}", done.told());
    }
    assert_snapshot!(repository.run("plan -f m --base nowhere").told(), @"
    exit 65
    --- stderr
    error: there is no revision `nowhere`
    hint: `--base` takes a branch, a tag, a commit, a ref that `apply --record` moves, or a folder
    1 error.
    ");
    assert_snapshot!(repository.run("plan -f m --base=-x").told(), @"
    exit 65
    --- stderr
    error: `-x` is no revision
    hint: a branch, a tag, a commit, or something like `HEAD~1`
    1 error.
    ");
    let no_git = repository.0.trueup("plan -f m --base HEAD").inside("repo").env("PATH", "/nowhere").done();
    assert_snapshot!(no_git.told(), @"
    exit 65
    --- stderr
    error: running `git`: no such file or directory
    hint: a base by revision is read by `git`: install it, or give a folder with `--base DIR`
    1 error.
    ");
    let outside = Scratch::with("m/backend.yaml", backend("../store"));
    outside.write("m/a.yaml", queue("a", 1));
    let told = outside.trueup("plan -f m --base HEAD").done().expect(65).told();
    assert!(told.contains("`m` is in no Git repository: not a git repository"), "{told}");
    assert!(told.contains("hint: a base by revision needs one; `--base DIR` takes a folder"), "{told}");
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let repository = Repository::applied("m/a.yaml", &queue("a", 1));
    repository.commit("m/a.yaml", &queue("a", 2));
    let source = format!("file://{}", repository.path().display());
    git(&repository.0.path(""), &format!("clone --quiet --depth=1 {source} shallow"));
    let run = |line: &str| repository.0.trueup(line).inside("shallow").done();
    assert_snapshot!(run("plan -f m --base HEAD~1").told(), @"
    exit 65
    --- stderr
    error: there is no revision `HEAD~1`
    hint: the clone is shallow: fetch what it names as well, with `git fetch --unshallow`, or the ref that it is
    1 error.
    ");
    run("plan -f m --base HEAD").expect(0);
}

#[test]
fn what_cannot_be_read_any_more_is_named() {
    let repository = Repository::new();
    repository.write("m/broken.yaml", "a: [");
    repository.commit("m/old.yaml", &queue("a", 1).replace("shop", "closed-down"));
    repository.git("rm --quiet m/broken.yaml m/old.yaml");
    repository.write("m/a.yaml", &queue("a", 1));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 65
    --- stderr
    error: HEAD:m/broken.yaml:1:5: the YAML is broken: did not find expected node content
      |
    1 | a: [
      |     ^
    error: HEAD:m/old.yaml:2:7: there is no backend `closed-down`
      |
    2 | kind: Queue
      |       ^
    hint: the backends are `shop`
    2 errors.
    ");
}

#[test]
fn links_and_submodules() {
    let repository = Repository::new();
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(to, repository.path().join(at)).expect("a link can be made");
    };
    repository.write("m/real/a.yaml", &queue("a", 1));
    repository.write("apart/b.yaml", &queue("b", 1));
    link("real/a.yaml", "m/z.yaml");
    link("m", "by-link");
    repository.commit_all();
    repository.run("apply --yes -f m").expect(0);
    repository.write("m/real/a.yaml", &queue("a", 2));
    let want = "pending: changed in the files";
    for root in ["m", "by-link", "m/z.yaml -f m/backend.yaml"] {
        let told = repository.run(&format!("plan -f {root} --base HEAD")).expect(0).told();
        assert!(told.contains(want), "{root}: {told}");
    }
    link("../apart/b.yaml", "m/out.yaml");
    repository.commit_all();
    std::fs::remove_file(repository.path().join("m/out.yaml")).expect("it is there");
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 65
    --- stderr
    error: `HEAD:m/out.yaml` is a link that leads out of the `-f` folders
    hint: name what it leads to with a `-f` of its own
    1 error.
    ");
    let other = Repository::new();
    other.commit("x.yaml", &queue("x", 1));
    repository.commit_all();
    repository.git(&format!("submodule --quiet add {} m/sub", other.path().display()));
    repository.commit_all();
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 65
    --- stderr
    error: `HEAD:m/sub` is a submodule: its files are in another repository
    hint: name it with a run of its own, or give a folder: `--base DIR`
    error: m/sub/m/backend.yaml:1:1: two backends are named `shop`: the other one stands at m/backend.yaml:1:1
      |
    1 | apiVersion: trueup/v1
      | ^
    2 errors.
    ");
}

#[test]
fn a_rename_finds_the_base_of_the_old_name() {
    let repository = Repository::new();
    let now = document("Queue", "new", "{n: 1}").replace("new}", "new, annotations: {trueup/was: old}}");
    repository.commit("m/a.yaml", &queue("old", 1));
    repository.write("m/a.yaml", &now);
    // A kind of the built-in server keeps its names, which is said with a base as well as without.
    let told = repository.run("plan -f m --base HEAD").expect(65).told();
    assert!(told.contains("cannot be renamed"), "{told}");
    assert!(!told.contains("left the files"), "{told}");
}

#[test]
fn a_ref_follows_what_is_applied() {
    let repository = Repository::new();
    repository.commit("m/a.yaml", &queue("a", 1));
    let refs = || repository.git("for-each-ref --format=%(refname) refs/trueup");
    repository.run("plan -f m --base production").expect(65);
    repository.run("apply -f m --record production").expect(5);
    assert_eq!(refs(), "", "nothing was applied");
    let told = repository.run("apply --yes -f m --record production").expect(0).told();
    let head = repository.git("rev-parse HEAD");
    assert!(told.contains(&format!("Recorded: `refs/trueup/production` is at {head}.")), "{told}");
    assert_eq!(repository.git("rev-parse refs/trueup/production"), head);
    // The next run compares with it, by either name, and moves it on.
    repository.commit("m/a.yaml", &queue("a", 2));
    repository.run("drift -f m --base production --fail-on drift").expect(0);
    repository.run("drift -f m --base trueup/production").expect(2);
    let json = repository
        .run("apply --yes -f m --base production --record production --output json")
        .expect(0)
        .json();
    assert_eq!(json["recorded"]["commit"], repository.git("rev-parse HEAD").as_str());
    assert_eq!(repository.git("rev-parse refs/trueup/production"), repository.git("rev-parse HEAD"));
    assert_eq!(refs(), "refs/trueup/production");
}

#[cfg(unix)]
#[test]
fn a_link_that_the_revision_does_not_have_is_what_it_leads_to() {
    let repository = Repository::applied("m/a.yaml", &queue("a", 1));
    repository.foreign(&queue("a", 5));
    let at = |name: &str| repository.path().join(name);
    std::os::unix::fs::symlink("m", at("link")).expect("a link");
    std::os::unix::fs::symlink(".", at("here")).expect("a link");
    for files in ["m", "link", "here/m"] {
        let done = repository.run(&format!("drift -f {files} --base HEAD --fail-on drift"));
        assert!(done.out.contains("drift: changed on the server"), "{files}: {}", done.told());
        done.expect(2);
    }
    // What is outside of the repository has no revision.
    std::os::unix::fs::symlink(repository.0.path("foreign"), at("out")).expect("a link");
    let done = repository.run("drift -f out --base HEAD").expect(65);
    assert!(done.err.contains("error: `out` is not in `HEAD`, and leads to `"), "{}", done.told());
}

#[test]
fn no_branch_is_moved_back() {
    let repository = Repository::new();
    repository.commit("m/a.yaml", &queue("a", 1));
    repository.commit("m/a.yaml", &queue("a", 2));
    repository.run("apply --yes -f m --record production").expect(0);
    let newest = repository.git("rev-parse HEAD");
    repository.git("branch keep");
    repository.git("checkout --quiet --detach HEAD~1");
    let done = repository.run("apply --yes -f m --record refs/heads/keep").expect(65);
    let why = format!(
        "error: the last commit does not come after `refs/heads/keep`, which is at {newest}: `--record` does not move it back"
    );
    assert!(done.err.contains(&why), "{}", done.told());
    assert_eq!(repository.git("rev-parse keep"), newest);
    repository.run("drift -f m").expect(2);
    // A ref of our own follows a rollback, and says so.
    let done = repository.run("apply --yes -f m --record production").expect(0);
    let why = format!("`refs/trueup/production`, which is at {newest}: `--record` moves it back");
    assert!(done.err.contains("warning: ") && done.err.contains(&why), "{}", done.told());
    assert_eq!(repository.git("rev-parse refs/trueup/production"), repository.git("rev-parse HEAD"));
    // Forwards any ref goes.
    repository.git("branch --force keep HEAD");
    repository.git("checkout --quiet --detach main");
    let done = repository.run("apply --yes -f m --record refs/heads/keep").expect(0);
    assert!(!done.err.contains("warning"), "{}", done.told());
    assert_eq!(repository.git("rev-parse keep"), newest);
}

#[test]
fn what_cannot_be_recorded_is_not_applied() {
    let repository = Repository::new();
    repository.write("m/f.txt", "one");
    repository.commit("m/a.yaml", &document("Queue", "a", "{n: 1, f: !file f.txt}"));
    let apply = |more: &str| repository.run(&format!("apply --yes -f m --record production {more}"));
    assert_snapshot!(apply("--only Queue/a").told(), @"
    exit 64
    --- stderr
    error: `--record` is about all of the files, and only some objects are chosen
    hint: leave out `-l`, `--only` and `--exclude`, or `--record`
    ");
    for name in ["HEAD", "-x", "a..b", ""] {
        let done = repository.run(&format!("apply --yes -f m --record={name}"));
        assert!([64, 65].contains(&done.code()), "{}", done.told());
    }
    repository.write("m/a.yaml", &document("Queue", "a", "{n: 2, f: !file f.txt}"));
    assert_snapshot!(apply("").told(), @"
    exit 65
    --- stderr
    error: `m/a.yaml` is not as it is in the last commit, which `--record` is about
    hint: commit what is to be applied, or apply it without `--record`
    1 error.
    ");
    repository.git("checkout --quiet m/a.yaml");
    repository.write("m/f.txt", "two");
    apply("").expect(65);
    repository.git("checkout --quiet m/f.txt");
    repository.write("m/more.yaml", &queue("b", 1));
    apply("").expect(65);
    std::fs::remove_file(repository.path().join("m/more.yaml")).expect("it is there");
    assert!(
        repository.run("get Queue -f m --output json").json()["items"].as_array().is_none_or(Vec::is_empty)
    );
    apply("").expect(0);
    // A conflict leaves the ref where it is.
    let was = repository.git("rev-parse refs/trueup/production");
    repository.commit("m/a.yaml", &document("Queue", "a", "{n: 2, f: !file f.txt}"));
    repository.foreign(&queue("a", 3));
    apply("--base production").expect(3);
    assert_eq!(repository.git("rev-parse refs/trueup/production"), was);
}

#[test]
fn what_was_given_up_is_not_recorded_as_applied() {
    let ignores =
        |n: u32| queue("a", n).replace("name: a", "name: a, annotations: {trueup/on-conflict: ignore}");
    let repository = Repository::applied("m/a.yaml", &ignores(1));
    repository.foreign(&queue("a", 7));
    repository.commit("m/a.yaml", &ignores(2));
    assert_snapshot!(repository.run("apply --yes -f m --base HEAD~1 --record production").told(), @"
    exit 0
    =   Queue a   m/a.yaml:1
        GivenUp: `n` is left as the server has it: 1 at the base, 2 here, 7 there
        hint: to decide it, take theirs into the file, or overwrite it: `--force-conflicts Queue/a:n`
    The one object is in sync; nothing was written. 1 object seen in 1 request.
    --- stderr
    warning: the ref is not moved: of `Queue a` not all is applied, as fields were given up
    hint: decide the conflict, then apply again
    ");
    let none = repository.run("plan -f m --base production");
    assert_eq!(none.code(), 65, "{}", none.told());
}
