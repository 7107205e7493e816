//! Wrong command lines: exit code 64, what is wrong, and the right form.

use insta::assert_snapshot;

use crate::servers::{TEAM_AND_SPACE, backend};
use crate::support::Scratch;

fn usage(line: &str) -> String {
    Scratch::with("a.yaml", TEAM_AND_SPACE).trueup(line).done().expect(64).told()
}

#[test]
fn commands_and_flags_that_are_not_known() {
    assert_snapshot!(usage("aply -f a.yaml"), @"
    exit 64
    --- stderr
    error: unrecognized subcommand 'aply'

      tip: a similar subcommand exists: 'apply'

    Usage: trueup [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(usage("plan -f a.yaml --onyl Team/x"), @"
    exit 64
    --- stderr
    error: unexpected argument '--onyl' found

      tip: a similar argument exists: '--only'

    Usage: trueup plan --file <PATH> --only <GLOB>

    For more information, try '--help'.
    ");
    assert_snapshot!(usage("plan -f a.yaml a.yaml"), @"
    exit 64
    --- stderr
    error: unexpected argument 'a.yaml' found

    Usage: trueup plan [OPTIONS]

    For more information, try '--help'.
    ");
}

#[test]
fn values_that_do_not_fit() {
    assert_snapshot!(usage("plan -f a.yaml --timeout soon"), @"
    exit 64
    --- stderr
    error: invalid value 'soon' for '--timeout <DURATION>': expected number at 0; write it like 90s or 1h30m

    For more information, try '--help'.
    ");
    assert_snapshot!(usage("plan -f a.yaml --output yaml"), @"
    exit 64
    --- stderr
    error: invalid value 'yaml' for '--output <FORMAT>'
      [possible values: text, json, ndjson, markdown, html, junit, sarif, github]

    For more information, try '--help'.
    ");
    assert_snapshot!(usage("plan -f a.yaml --parallel 0"), @"
    exit 64
    --- stderr
    error: invalid value '0' for '--parallel <N>': 0 is not in 1..=1024

    For more information, try '--help'.
    ");
    assert_snapshot!(usage("plan -f a.yaml -l =x"), @"
    exit 64
    --- stderr
    error: `-l =x`: a label's name is missing: write `key=value`, `key!=value`, `key` or `!key`
    ");
    assert_snapshot!(usage("get /x -f a.yaml"), @"
    exit 64
    --- stderr
    error: invalid value '/x' for '[KIND[/NAME]]...': write it like Queue/orders

    For more information, try '--help'.
    ");
}

#[test]
fn what_is_left_out() {
    assert_snapshot!(usage("plan"), @"
    exit 64
    --- stderr
    error: no manifests are given
    hint: name the files or folders: `trueup plan -f manifests/`
    ");
    assert_snapshot!(usage("delete"), @"
    exit 64
    --- stderr
    error: no manifests are given
    hint: name the files or folders: `trueup delete -f manifests/`
    ");
    assert_snapshot!(usage("get"), @"
    exit 64
    --- stderr
    error: no backends are given
    hint: name where the Backend documents are: `trueup get --backends FILE` or `-f manifests/`
    ");
    assert_snapshot!(usage("serve"), @"
    exit 64
    --- stderr
    error: the following required arguments were not provided:
      --store <PATH>

    Usage: trueup serve --store <PATH>

    For more information, try '--help'.
    ");
}

/// The environment can state flags, and be wrong as well.
#[test]
fn twins_in_the_environment() {
    let scratch = Scratch::with("a.yaml", TEAM_AND_SPACE);
    scratch.write("backend.yaml", backend("http://127.0.0.1:9", ""));
    let run = scratch.trueup("validate").env("TRUEUP_FILE", "a.yaml").env("TRUEUP_BACKENDS", "backend.yaml");
    assert_snapshot!(run.done().told(), @"
    exit 0
    2 documents are valid, 2 kinds known.
    ");
    assert_snapshot!(scratch.trueup("validate -f .").env("TRUEUP_COLOR", "green").done().told(), @"
    exit 64
    --- stderr
    error: invalid value 'green' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.
    ");
}

#[test]
fn a_kind_that_get_does_not_know() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    assert_snapshot!(scratch.trueup("get Taem --backends backend.yaml").done().told(), @"
    exit 64
    --- stderr
    error: there is no kind `Taem`
    hint: did you mean `Team`? the kinds are `Space`, `Team`
    ");
}

#[test]
fn consent_for_an_object_that_is_not_there() {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    assert_snapshot!(scratch.trueup("plan -f . --replace Team/rde").done().told(), @"
    exit 65
    --- stderr
    error: `--replace Team/rde` names no document
    hint: names are written `Kind/part/part`, as a plan's hints show them
    1 error.
    ");
}

#[test]
fn help_and_version_are_no_errors() {
    let scratch = Scratch::new();
    let version = scratch.trueup("--version").done().expect(0);
    assert_eq!(version.out, concat!("trueup ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = scratch.trueup("apply --help").done().expect(0);
    assert!(help.out.contains("Without a terminal and without --yes nothing is written"), "{}", help.out);
    assert_eq!((version.err, help.err), (String::new(), String::new()));
}

/// A word that a script has from somewhere is shown, and acts on nothing.
#[test]
fn control_characters_of_the_command_line() {
    let scratch = Scratch::new();
    for words in [
        vec!["pl\u{1b}]52;c;eA==\u{7}an"],
        vec!["plan", "--\u{1b}[2J"],
        vec!["plan", "-f", "\u{1b}[2J\u{202e}"],
        vec!["get", "-f", ".", "--only", "\u{9b}31m["],
        vec!["plan", "-f", ".", "--timeout", "\u{1b}[31m"],
    ] {
        let done = scratch.trueup_of(words.iter().copied()).done();
        assert_ne!(done.code(), 0, "{}", done.told());
        let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!done.err.contains(acts) && !done.out.contains(acts), "{:?}", done.err);
    }
    let help = scratch.trueup("plan --help").done().expect(0);
    assert!(help.out.contains("--backends") && help.err.is_empty(), "{}", help.told());
}
