use std::fs::{create_dir_all, write};

use tempfile::TempDir;

use super::*;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let path = folder.path().join(name);
        create_dir_all(path.parent().expect("a parent")).expect("a folder");
        write(path, text).expect("a file");
    }
    folder
}

/// The files that were read, and the problems, both without the folder's own name.
fn run(folder: &TempDir, roots: &[&str], stdin: &[u8]) -> (Vec<String>, Vec<String>) {
    let roots: Vec<PathBuf> = roots
        .iter()
        .map(|root| if *root == "-" { PathBuf::from("-") } else { folder.path().join(root) })
        .collect();
    let (sources, problems) = gather_with(&roots, &mut &stdin[..]);
    let here = format!("{}/", folder.path().display());
    let problem = |p: &Problem| format!("{p} | {}", p.hint.as_deref().unwrap_or("")).replace(&here, "");
    (
        sources.iter().map(|source| source.file.replace(&here, "")).collect(),
        problems.iter().map(problem).collect(),
    )
}

#[test]
fn folders_are_read_in_byte_order_without_hidden_files() {
    let folder = folder(&[
        ("b.yaml", ""),
        ("a/z.yml", ""),
        ("a/B.json", ""),
        ("a/b.json", ""),
        (".hidden.yaml", ""),
        (".git/x.yaml", ""),
        ("README.md", ""),
        ("x.yaml.bak", ""),
    ]);
    let (files, problems) = run(&folder, &["."], b"");
    let files: Vec<&str> = files.iter().map(|file| file.trim_start_matches("./")).collect();
    assert_eq!(files, ["a/B.json", "a/b.json", "a/z.yml", "b.yaml"]);
    assert_eq!(problems, [] as [&str; 0]);
}

#[test]
fn roots_are_read_in_their_order_and_once() {
    let folder = folder(&[("b/x.yaml", ""), ("a.txt", "")]);
    let (files, problems) = run(&folder, &["b/x.yaml", "-", "a.txt", "b", "-", "b/../b/x.yaml"], b"a: 1");
    assert_eq!(files, ["b/x.yaml", "-", "a.txt"]);
    assert_eq!(problems, [] as [&str; 0]);
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_read() {
    let folder = folder(&[("manifests/good.yaml", "a: 1"), ("empty/README.md", "")]);
    write(folder.path().join("manifests/bad.yaml"), b"a: 1\nb: \xC3\xA9\xFF\n").expect("a file");
    write(folder.path().join("manifests/wide.yaml"), b"\xFF\xFEa\0").expect("a file");
    let large = fs::File::create(folder.path().join("manifests/large.yaml")).expect("a file");
    large.set_len(super::super::yaml::MAX_BYTES as u64 + 1).expect("a length");
    let (files, problems) = run(&folder, &["manifest", "nothing/at/all", "empty", "manifests"], b"");
    assert_eq!(files, ["manifests/good.yaml"]);
    assert_eq!(
        problems,
        [
            "there is no file or folder `manifest` | did you mean `manifests`?",
            "there is no file or folder `nothing/at/all` | `-f` takes a file, a folder, or `-` for standard input",
            "no documents below `empty` | a folder is searched for `*.yaml`, `*.yml` and `*.json`",
            "manifests/bad.yaml:2:5: reading `manifests/bad.yaml`: it is not UTF-8: byte 0xFF at offset 10 | save it as UTF-8",
            "reading `manifests/large.yaml`: it is larger than 16 MB | split it into several files",
            "manifests/wide.yaml:1:1: reading `manifests/wide.yaml`: it is not UTF-8: byte 0xFF at offset 0 | it is UTF-16; save it as UTF-8",
        ]
    );
    let (_, problems) = run(&folder, &["-"], b"\xFF");
    assert!(problems[0].contains("reading `standard input`: it is not UTF-8"), "{problems:?}");
}

/// A run on a folder of all sorts ends with one problem, and reads no further.
#[test]
fn more_files_than_any_desired_state_has() {
    let names: Vec<String> = (0..9).map(|i| format!("many/{i}/a.yaml")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a: 1")).collect();
    let folder = folder(&files);
    let (sources, problems) = gather_at_most(4, &[folder.path().join("many")], &mut &b""[..]);
    assert_eq!(sources.len(), 4);
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["`-f` names more than 4 files"]);
}

/// What was read is what is used: a file that changes afterwards changes nothing of the run.
#[test]
fn a_file_is_read_once() {
    let folder = folder(&[("a.yaml", "a: 1")]);
    let path = folder.path().join("a.yaml");
    let (sources, _) = gather(std::slice::from_ref(&path));
    write(&path, "b: 2").expect("a file");
    assert_eq!(sources[0].text.lines().next(), Some("a: 1"));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn links_stay_below_the_roots_and_loops_end() {
        let folder =
            folder(&[("in/a.yaml", ""), ("in/sub/b.yaml", ""), ("out/c.yaml", ""), ("in/z.txt", "")]);
        let at = |name: &str| folder.path().join(name);
        symlink(at("in"), at("in/sub/loop")).expect("a link");
        symlink("a.yaml", at("in/link.yaml")).expect("a link");
        symlink(at("out"), at("in/outside")).expect("a link");
        symlink(at("out/c.yaml"), at("in/c.yaml")).expect("a link");
        symlink(at("nowhere"), at("in/broken.yaml")).expect("a link");
        symlink("/etc/hostname", at("in/unrelated")).expect("a link");
        symlink(at("in"), at("entry")).expect("a link");
        let (files, problems) = run(&folder, &["in"], b"");
        assert_eq!(files, ["in/a.yaml", "in/sub/b.yaml"]);
        assert_eq!(
            problems,
            [
                "reading `in/broken.yaml`: no such file or directory | ",
                "`in/c.yaml` is a link that leads out of the `-f` folders | name what it leads to with a `-f` of its own",
                "`in/outside` is a link that leads out of the `-f` folders | name what it leads to with a `-f` of its own",
            ]
        );
        let (files, problems) = run(&folder, &["in", "out"], b"");
        assert_eq!(files, ["in/a.yaml", "in/c.yaml", "in/sub/b.yaml"], "what is below another root is read");
        assert_eq!(problems.len(), 1);
        assert_eq!(
            run(&folder, &["entry"], b"").0,
            ["entry/a.yaml", "entry/sub/b.yaml"],
            "a root may be a link"
        );
    }

    #[test]
    fn pipes_and_devices_are_not_opened() {
        let folder = folder(&[("a.yaml", "")]);
        let made = Command::new("mkfifo").arg(folder.path().join("pipe.yaml")).status().expect("mkfifo");
        assert!(made.success());
        let (files, problems) = run(&folder, &[".", "pipe.yaml", "/dev/zero"], b"");
        assert_eq!(files.len(), 1);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems
                .iter()
                .all(|p| p.contains("it is not a regular file | pipes and devices are not opened"))
        );
    }
}
