use std::time::Duration;

use clap::CommandFactory;

use super::*;
use crate::cli::color::Color;

fn read(line: &str) -> Result<Invocation, Stop> {
    parse(std::iter::once("trueup").chain(line.split_whitespace()).map(OsString::from))
}

fn complaint(line: &str) -> String {
    let stop = read(line).expect_err(line);
    assert_eq!(stop.exit(), Exit::Usage, "{line}");
    match stop {
        Stop::Clap(error) => error.render().to_string(),
        Stop::Usage(problem) => format!("{problem}\n{}", problem.hint.as_deref().unwrap_or_default()),
    }
}

#[test]
fn the_declaration_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn flags_become_options() {
    let line = "apply -f a -f b.yaml -l app=web,tier!=db --only Queue/* --exclude */x --backends c --allow-env API_* --base main \
                --parallel 8 --timeout 1m30s --yes --detailed-exitcode --replace Queue///orders --replace Queue///b \
                --rotate User/a --force-conflicts Queue///b:arguments.ttl --suggest --max-deletes 3 --allow-empty --output ndjson --color never -vv";
    let Invocation { command: Command::Apply(apply), output } = read(line).expect(line) else {
        panic!("another command")
    };
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        apply,
        Apply {
            sources: Sources {
                files: vec!["a".into(), "b.yaml".into()],
                labels: texts(&["app=web,tier!=db"]),
                only: texts(&["Queue/*"]),
                exclude: texts(&["*/x"]),
                backends: vec!["c".into()],
                allow_env: texts(&["API_*"]),
                keep: false,
                base: Some("main".into()),
                record: None,
            },
            pruning: Gates {
                deletes: false,
                max_deletes: Some(3),
                max_deletes_of: Limits::default(),
                allow_empty: true,
                saved: false,
            },
            effort: Effort { parallel: Some(8), timeout: Some(Duration::from_secs(90)) },
            consents: Consents {
                replace: texts(&["Queue///orders", "Queue///b"]).into_iter().collect(),
                rotate: texts(&["User/a"]).into_iter().collect(),
                force_conflicts: texts(&["Queue///b:arguments.ttl"]).into_iter().collect(),
                suggest: true,
            },
            detailed_exitcode: true,
            yes: true,
        }
    );
    assert_eq!(output, Output { format: Format::Ndjson, color: Color::Never, verbose: 2, quiet: false });
}

#[test]
fn only_reports_have_all_formats() {
    let forms = ["markdown", "html", "junit", "sarif", "github"];
    for line in [
        "plan -f a",
        "plan --show p",
        "drift -f a",
        "apply -f a",
        "apply p.plan",
        "delete -f a",
        "validate -f a",
    ] {
        for form in forms {
            let read = read(&format!("{line} --output {form}")).expect(line);
            assert!(matches!(read.output.format, Format::Ci(_)), "{line} {form}");
        }
    }
    for line in [
        "get --backends b",
        "export --backends b",
        "explain Queue --backends b",
        "probe --backends b",
        "watch -f a",
        "status --url http://x",
        "serve --store s",
        "completions bash",
    ] {
        for form in forms {
            let said = complaint(&format!("{line} --output {form}"));
            assert!(said.contains(form) && said.contains("it has text, json and ndjson"), "{said}");
        }
    }
}

#[test]
fn each_command_is_read() {
    for (line, word) in [
        ("plan -f a", "plan"),
        ("-q drift -f -", "drift"),
        ("plan -f a --out p.plan", "plan"),
        ("plan --show p.plan", "plan"),
        ("apply -f a", "apply"),
        ("apply p.plan --backends b --allow-env API_* --timeout 1m --yes", "apply"),
        ("validate -f a", "validate"),
        ("get --backends b Queue Queue///orders", "get"),
        ("get -f a", "get"),
        ("export -f a", "export"),
        ("export Queue Queue///orders --backends b -o out --only Queue", "export"),
        ("explain Queue --backends b", "explain"),
        ("explain Queue///orders -f a --output json", "explain"),
        ("probe --backends b mq mq/Queue --limit 3", "probe"),
        ("delete -f a --yes", "delete"),
        ("serve --store d --listen 127.0.0.1:0 --faults f --token-env T --status-apart a,b", "serve"),
        ("completions zsh", "completions"),
    ] {
        assert_eq!(read(line).expect(line).command.word(), word);
    }
}

#[test]
fn wrong_usage_says_what_to_do() {
    for (line, part) in [
        ("plan", "trueup plan -f manifests/"),
        ("get", "--backends FILE"),
        ("export", "trueup export --backends FILE"),
        ("explain Queue", "trueup explain KIND --backends FILE"),
        ("explain -f a", "<KIND[/NAME]>"),
        ("probe", "trueup probe --backends FILE"),
        ("probe -f a --limit 0", "0 is not in 1..=1000"),
        ("pan -f a", "'plan'"),
        ("plan -f a --outptu json", "'--output'"),
        (
            "plan -f a --output yaml",
            "[possible values: text, json, ndjson, markdown, html, junit, sarif, github]",
        ),
        ("plan -f a --timeout soon", "write it like 90s or 1h30m"),
        ("plan -f a --timeout 0s", "no time at all"),
        ("plan -f a --parallel 0", "0 is not in 1..=1024"),
        ("plan -f a --replace /x", "write it like Queue/orders"),
        ("plan -f a --force-conflicts arguments.ttl", "write it like Queue///orders:arguments.ttl"),
        ("plan -f a --force-conflicts Queue/a:", "write it like Queue///orders:arguments.ttl"),
        ("drift -f a --force-conflicts Queue/a:n", "unexpected argument"),
        ("apply p.plan --force-conflicts A/b:n", "`apply PLANFILE` takes no `--force-conflicts`"),
        ("plan -f a -v -q", "cannot be used with"),
        ("plan -f a --yes", "unexpected argument"),
        ("plan --show p --out q", "cannot be used with"),
        ("apply p.plan -f a", "`apply PLANFILE` takes no `-f`"),
        ("apply p.plan -l a=b", "`apply PLANFILE` takes no `-l`"),
        ("apply p.plan --only a", "`apply PLANFILE` takes no `--only`"),
        ("apply p.plan --replace A/b", "`apply PLANFILE` takes no `--replace`"),
        ("serve", "--store <PATH>"),
        ("serve --store d --listen nowhere", "invalid socket address"),
        ("completions tcsh", "[possible values:"),
        ("", "Usage: trueup"),
    ] {
        let said = complaint(line);
        assert!(said.contains(part), "{line}: {said}");
    }
}

#[test]
fn help_is_a_success() {
    for line in ["--help", "plan --help", "-h", "--version", "apply -h"] {
        assert_eq!(read(line).expect_err(line).exit(), Exit::Success, "{line}");
    }
}

/// Every flag but those that only tell about the program has its twin, and the twin is named after it.
#[test]
fn flags_have_twins_in_the_environment() {
    let root = Cli::command();
    for command in std::iter::once(&root).chain(root.get_subcommands()) {
        for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
            let long = arg.get_long().expect("every flag has a long name");
            if ["help", "version"].contains(&long) {
                continue;
            }
            let twin = format!("TRUEUP_{}", long.to_uppercase().replace('-', "_"));
            assert_eq!(arg.get_env(), Some(twin.as_ref()), "{} --{long}", command.get_name());
        }
    }
}

#[test]
fn a_status_is_of_a_file_or_a_port() {
    let status = |line: &str| match read(line).expect(line).command {
        Command::Status(status) => status,
        _ => panic!("another command"),
    };
    let of_file = status("status --status-file s.json");
    assert_eq!(of_file.from, Watched::File("s.json".into()));
    assert_eq!(of_file.fail_on, trouble::FailOn::usual());
    let of_port =
        status("status --url http://127.0.0.1:1 --token-env T --fail-on conflict,dead --fail-on desired");
    assert_eq!(of_port.from, Watched::Url("http://127.0.0.1:1".into()));
    assert_eq!(of_port.token_env.as_deref(), Some("T"));
    let picked =
        [trouble::FailOn::Trouble(Trouble::Conflict), trouble::FailOn::Dead, trouble::FailOn::Desired];
    assert_eq!(of_port.fail_on, picked.into());
    assert!(status("status --status-file s --fail-on nothing").fail_on.is_empty());
    assert!(complaint("status").contains("--status-file PATH"));
}

/// The command lines of `deploy/`, without the program's name.
fn deployed() -> Vec<Vec<String>> {
    let unit = include_str!("../../deploy/systemd/trueup.service");
    let unit = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/trueup "));
    let unit = unit.expect("a unit starts something").split(' ').map(str::to_owned).collect();
    let image = include_str!("../../deploy/container/Dockerfile");
    let image = image.lines().find_map(|line| line.strip_prefix("CMD ")).expect("an image does something");
    let image = serde_json::from_str(image).expect("a list of words");
    let pod = include_str!("../../deploy/kubernetes/trueup.yaml");
    let (_, args) = pod.split_once("          args:\n").expect("a pod has words");
    let args = args.lines().map_while(|line| line.strip_prefix("            - "));
    vec![unit, image, args.map(str::to_owned).collect()]
}

#[test]
fn what_is_deployed_is_a_watch() {
    for words in deployed() {
        let line = words.join(" ");
        assert_eq!(read(&line).expect(&line).command.word(), "watch", "{line}");
    }
}

#[test]
fn what_a_watch_is_told() {
    let line = "watch -f a --once --dry-run --interval 30s --resync 1h --max-changes 7 --status-file s.json --listen 9090 \
                --log ndjson --prune --max-deletes 3 --parallel 2 --timeout 5s --base main";
    let Invocation { command: Command::Watch(watch), .. } = read(line).expect(line) else {
        panic!("another command")
    };
    assert!(watch.once && watch.dry_run);
    assert_eq!((watch.interval, watch.resync), (Some(Duration::from_secs(30)), Duration::from_secs(3600)));
    assert_eq!((watch.max_changes, watch.status_file), (Some(7), Some("s.json".into())));
    assert_eq!(watch.listen, Some(([127, 0, 0, 1], 9090).into()), "a port alone is one of this machine");
    assert_eq!(watch.log, Form::Json);
    assert_eq!(
        watch.pruning,
        Gates {
            deletes: true,
            max_deletes: Some(3),
            max_deletes_of: Limits::default(),
            allow_empty: false,
            saved: false
        }
    );
    assert_eq!(watch.effort, Effort { parallel: Some(2), timeout: Some(Duration::from_secs(5)) });
    assert_eq!(watch.sources.base.as_deref(), Some("main"));
    let Invocation { command: Command::Watch(watch), .. } = read("watch -f a").expect("the least") else {
        panic!("another command")
    };
    assert_eq!((watch.resync, watch.interval, watch.listen), (Duration::from_secs(600), None, None));
    for (address, want) in [(":80", "127.0.0.1:80"), ("0.0.0.0:80", "0.0.0.0:80"), ("[::1]:80", "[::1]:80")] {
        let Ok(Invocation { command: Command::Watch(watch), .. }) =
            read(&format!("watch -f a --listen {address}"))
        else {
            panic!("{address}")
        };
        assert_eq!(watch.listen.map(|address| address.to_string()).as_deref(), Some(want));
    }
    assert!(complaint("watch -f a --resync 10ms").contains("less than a second"));
    assert!(complaint("watch -f a --listen example.org").contains("write it like 9090"));
    assert!(complaint("watch").contains("`trueup watch -f manifests/`"));
    assert!(complaint("watch -f a --prune -l x=y").contains("`--prune` does not go with `-l`"));
}
