//! Where a base comes from, in the repositories that people have: line ends, odd names, worktrees, hooks, LFS.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use insta::assert_snapshot;

use crate::repository::{Repository, backend, document, git};
use crate::support::Scratch;

fn queue(name: &str, spec: &str) -> String {
    document("Queue", name, spec)
}

/// A work tree with other line ends than its commits is unchanged, to Git and to a base.
#[test]
fn line_ends_that_git_changes() {
    let repository = Repository::new();
    repository.git("config core.autocrlf true");
    repository.write("m/f.txt", "one\ntwo\n");
    repository.commit("m/a.yaml", &queue("a", "\n  n: 1\n  f: !file f.txt\n  t: |\n    x\n    y"));
    for file in ["m/a.yaml", "m/f.txt", "m/backend.yaml"] {
        fs::remove_file(repository.path().join(file)).expect("it is there");
    }
    repository.git("checkout --quiet .");
    let text = fs::read_to_string(repository.path().join("m/f.txt")).expect("it is there");
    assert_eq!(text, "one\r\ntwo\r\n");
    repository.run("apply --yes -f m --record production").expect(0);
    repository.run("drift -f m --base production").expect(0);
    repository.foreign(&queue("a", "{n: 2, f: theirs, t: theirs}"));
    let told = repository.run("plan -f m --base HEAD").expect(0).told();
    assert_eq!(told.matches("drift: changed on the server").count(), 3, "{told}");
    repository.write("m/f.txt", "one\r\nthree\r\n");
    repository.run("apply --yes -f m --record production").expect(65);
}

#[test]
fn variables_that_send_git_elsewhere() {
    let repository = Repository::applied("m/a.yaml", &queue("a", "{n: 1}"));
    repository.write("m/a.yaml", &queue("a", "{n: 2}"));
    let other = Repository::new();
    other.commit("m/a.yaml", &queue("a", "{n: 7}"));
    let there = other.path().join(".git").display().to_string();
    let mut run = repository.0.trueup("plan -f m --base HEAD").inside("repo");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"] {
        run = run.env(name, &there);
    }
    let objects = format!("{there}/objects");
    let run =
        run.env("GIT_OBJECT_DIRECTORY", &objects).env("GIT_INDEX_FILE", "/nowhere").env("GIT_NAMESPACE", "x");
    let told = run.done().expect(0).told();
    assert!(told.contains("n   1 → 2   pending: changed in the files"), "{told}");
}

#[test]
fn names_of_every_sort() {
    for (folder, file) in [
        ("with space", "a b.yaml"),
        ("quote'\"", "ä\u{301} \"x\".yaml"),
        ("-dash", "tab\there.yaml"),
        ("#:(glob)*", "back\\slash.yaml"),
    ] {
        let repository = Repository::applied(&format!("m/{folder}/{file}"), &queue("a", "{n: 1, gone: 1}"));
        repository.write(&format!("m/{folder}/{file}"), &queue("a", "{n: 2}"));
        let told = repository.run("plan -f m --base HEAD").expect(0).told();
        assert!(told.contains("pending: declared no longer") && told.contains("1 → 2   pending"), "{told}");
        let path = format!("m/{folder}/{file}");
        let words = ["plan", "-f", "m/backend.yaml", "-f", &path, "--base", "HEAD"];
        let told = repository.0.trueup_of(words).inside("repo").done().expect(0).told();
        assert!(told.contains("1 → 2   pending"), "{told}");
    }
    // A name that is not UTF-8.
    let repository = Repository::new();
    let path = repository.path().join("m").join(OsStr::from_bytes(b"a\xff.yaml"));
    fs::write(&path, queue("a", "{n: 1, gone: 1}")).expect("it can be written");
    repository.commit_all();
    repository.run("apply --yes -f m").expect(0);
    fs::remove_file(&path).expect("it is there");
    repository.write("m/b.yaml", &queue("a", "{n: 1}"));
    let told = repository.run("plan -f m --base HEAD").expect(0).told();
    assert!(told.contains("- gone   1   pending: declared no longer"), "{told}");
}

#[test]
fn a_worktree_has_the_history_of_its_repository() {
    let repository = Repository::applied("m/a.yaml", &queue("a", "{n: 1}"));
    repository.git("worktree add --quiet ../tree -b feature");
    let tree = repository.0.path("tree");
    fs::write(tree.join("m/a.yaml"), queue("a", "{n: 2}")).expect("it can be written");
    let run = |line: &str| repository.0.trueup(line).inside("tree").done();
    let told = run("plan -f m --base main").expect(0).told();
    assert!(told.contains("1 → 2   pending"), "{told}");
    git(&tree, "commit --quiet --all --message x");
    run("apply --yes -f m --record production").expect(0);
    assert_eq!(repository.git("rev-parse refs/trueup/production"), git(&tree, "rev-parse feature"));
}

#[test]
fn pointers_to_what_is_in_no_commit() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let repository = Repository::new();
    repository.write("m/f.txt", pointer);
    repository.commit("m/a.yaml", pointer);
    repository.write("m/f.txt", "one");
    repository.write("m/a.yaml", &queue("a", "{f: !file f.txt}"));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 65
    --- stderr
    error: `HEAD:m/a.yaml` is a pointer of Git LFS: its content is in no commit
    hint: keep manifests out of LFS, or give a folder that holds them: `--base DIR`
    1 error.
    ");
    // Of a value that a document names, the base is not known: nobody is blamed for it.
    repository.write("m/f.txt", pointer);
    repository.commit("m/a.yaml", &queue("a", "{f: !file f.txt}"));
    repository.write("m/f.txt", "one");
    repository.foreign(&queue("a", "{f: theirs}"));
    let told = repository.run("plan -f m --base HEAD").expect(0).told();
    assert!(told.contains("\"theirs\" → \"one\"   pending") && !told.contains("git-lfs"), "{told}");
}

/// What the base says is read by the kinds of today; what they do not know any more is named.
#[test]
fn a_kind_that_is_not_here_any_more() {
    let kinds = |kind: &str| {
        format!(
            "apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: shop}}\nspec:\n  url: http://127.0.0.1:9\n  kinds:\n    \
             {kind}: {{key: {{name: .name}}, list: GET /x, read: \"GET /x/{{name}}\", create: \"PUT /x/{{name}}\"}}\n"
        )
    };
    let repository = Repository::new();
    repository.write("m/backend.yaml", &kinds("Old"));
    repository.commit("m/a.yaml", &document("Old", "a", "{n: 1}"));
    repository.write("m/backend.yaml", &kinds("New"));
    repository.write("m/a.yaml", &document("New", "a", "{n: 1}"));
    let told = repository.run("plan -f m --base HEAD").expect(65).told();
    assert!(told.contains("error: HEAD:m/a.yaml:2:7: ") && told.contains("`Old`"), "{told}");
}

/// A folder that a template was rendered to, and another one: no repository is asked.
#[test]
fn rendered_folders() {
    let scratch = Scratch::with("now/backend.yaml", backend("../store"));
    scratch.write("now/all.yaml", queue("a", "{n: 1, gone: 1}") + "---\n" + &queue("b", "{n: 1}"));
    scratch.trueup("apply --yes -f now").env("PATH", "/nowhere").done().expect(0);
    fs::rename(scratch.path("now"), scratch.path("then")).expect("it is there");
    scratch.write("now/backend.yaml", backend("../store"));
    scratch.write("now/deep/one.yaml", queue("b", "{n: 2}"));
    scratch.write("now/two.json", "{\"apiVersion\": \"shop\", \"kind\": \"Queue\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\"n\": 1}}");
    let run = scratch.trueup("plan -f now --base then").env("PATH", "/nowhere").done();
    assert_snapshot!(run.told(), @"
    exit 0
    ~   Queue b   now/deep/one.yaml:1
          n   1 → 2   pending: changed in the files
    ~   Queue a   now/two.json:1
        - gone   1   pending: declared no longer
    Plan: 2 to update. 2 objects seen in 2 requests.
    ");
    let saved = scratch.trueup("plan -f now --base then --out p.plan").env("PATH", "/nowhere").done();
    saved.expect(0);
    scratch.write("then/all.yaml", "a: [");
    scratch.trueup("plan -f now --base then").done().expect(65);
    // What was saved is whole.
    scratch.trueup("apply p.plan").done().expect(0);
}

/// An object that is wished gone was there at the base, or was not; one that was renamed has the base of its old name.
#[test]
fn what_becomes_of_an_object() {
    let absent = |name: &str| {
        queue(name, "{n: 1}")
            .replace(&format!("{name}}}"), &format!("{name}, annotations: {{trueup/ensure: absent}}}}"))
    };
    let all = queue("a", "{n: 1}") + "---\n" + &absent("b");
    let repository = Repository::applied("m/a.yaml", &all);
    repository.foreign(&queue("b", "{n: 1}"));
    repository.write("m/a.yaml", &(absent("a") + "---\n" + &absent("b")));
    assert_snapshot!(repository.run("plan -f m --base HEAD").told(), @"
    exit 0
    -   Queue a   m/a.yaml:1   pending
    -   Queue b   m/a.yaml:6   drift: back on the server
    Plan: 2 to delete. 2 objects seen in 2 requests.
    ");
    repository.run("drift -f m --base HEAD --fail-on drift").expect(2);
    repository.run("apply --yes -f m --base HEAD").expect(0);
    repository.commit_all();
    repository.run("drift -f m --base HEAD --fail-on pending,drift").expect(0);
}

/// Why a line is there: its side, and where the base has it.
#[test]
fn explaining_with_a_base() {
    let repository = Repository::applied("m/a.yaml", &queue("a", "\n  n: 1\n  m: 1\n  gone: 1\n  both: 1"));
    repository.foreign(&queue("a", "{m: 5, both: 3}"));
    repository.write("m/a.yaml", &queue("a", "\n  n: 2\n  m: 1\n  new: 1\n  both: 2"));
    assert_snapshot!(repository.run("explain Queue/a -f m --base HEAD").told(), @"
    exit 0
    !   Queue a   m/a.yaml:1
        conflict: `both` was changed both in the files and on the server since the base
        hint: take theirs into the file, give it up (leave it out, or `trueup/on-conflict: ignore`), or overwrite it: `--force-conflicts Queue/a:both`
          both   3 → 2
              conflict: 1 at the base, 2 here, 3 there
              declared at m/a.yaml:8:9
              1 at the base, at HEAD:m/a.yaml:8:9
          gone   1
              pending: declared no longer
              1 at the base, at HEAD:m/a.yaml:7:9
          m   5 → 1
              drift: changed on the server
              declared at m/a.yaml:6:6
              1 at the base, at HEAD:m/a.yaml:6:6
          n   1 → 2
              pending: changed in the files
              declared at m/a.yaml:5:6
              1 at the base, at HEAD:m/a.yaml:5:6
          new   1
              pending: changed in the files
              declared at m/a.yaml:7:8
              nothing at the base
          no line of the plan:
          owned by the server: id, revision
    ");
    let value = repository.run("explain Queue/a -f m --base HEAD --output json").expect(0).json();
    let lines = value["objects"][0]["lines"].as_array().expect("a list").clone();
    let line = lines.iter().find(|line| line["path"] == "n").expect("it is there");
    assert_eq!(line["origin"], "pending", "{line}");
    assert_eq!(line["base"], 1, "{line}");
    assert_eq!(line["basePosition"]["file"], "HEAD:m/a.yaml", "{line}");
    assert_eq!(line["basePosition"]["line"], 5, "{line}");
}

/// All that the base has seems deleted: then it may be one that was never applied there.
#[test]
fn a_base_that_was_never_applied_is_doubted() {
    let repository = Repository::new();
    let all: Vec<String> = ["a", "b", "c"].iter().map(|name| document("Queue", name, "{n: 1}")).collect();
    repository.commit("m/a.yaml", &all.join("---\n"));
    let doubt = "warning: 3 objects of the base are not there, which is more than half of them";
    for verb in ["plan", "drift"] {
        let done = repository.run(&format!("{verb} -f m --base HEAD"));
        assert!(done.err.contains(doubt), "{}", done.told());
        let json = repository.run(&format!("{verb} -f m --base HEAD --output json"));
        assert_eq!(json.json()["objects"].as_array().map(Vec::len), Some(3), "{}", json.told());
    }
    let done = repository.run("apply -f m --base HEAD --yes").expect(0);
    assert!(done.err.contains(doubt), "{}", done.told());
    let done = repository.run("plan -f m --base HEAD").expect(0);
    assert!(!done.err.contains("warning"), "{}", done.told());
}
