//! The examples in `deploy/`: they are what their readers take, and name what there is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize as _;
use serde_json::Value;
use trueup::core::redact::Redactor;
use trueup::core::watch::{Snapshot, Status, TargetStatus};
use trueup::render::watch::metrics::{Process, metrics};

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(deploy(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn documents(name: &str) -> Vec<Value> {
    let text = text(name);
    let documents = serde_yaml::Deserializer::from_str(&text);
    documents
        .map(|document| Value::deserialize(document).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

fn of_kind(kind: &str) -> Value {
    of_kind_in("kubernetes/trueup.yaml", kind)
}

fn of_kind_in(file: &str, kind: &str) -> Value {
    let found = documents(file).into_iter().find(|document| document["kind"] == kind);
    found.unwrap_or_else(|| panic!("there is no {kind}"))
}

#[test]
fn the_deployment_has_no_rights_and_its_probes() {
    let kinds: Vec<String> = documents("kubernetes/trueup.yaml")
        .iter()
        .map(|document| document["kind"].as_str().unwrap_or("").into())
        .collect();
    assert_eq!(kinds, ["Namespace", "ServiceAccount", "Secret", "ConfigMap", "Deployment"]);
    let deployment = of_kind("Deployment");
    let pod = &deployment["spec"]["template"]["spec"];
    assert_eq!(
        deployment["spec"]["selector"]["matchLabels"],
        deployment["spec"]["template"]["metadata"]["labels"]
    );
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
    let container = &pod["containers"][0];
    let rights = &container["securityContext"];
    assert_eq!(rights["allowPrivilegeEscalation"], false);
    assert_eq!(rights["readOnlyRootFilesystem"], true);
    assert_eq!(rights["capabilities"]["drop"], serde_json::json!(["ALL"]));
    assert_eq!(container["livenessProbe"]["httpGet"]["path"], "/healthz");
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/readyz");
    // What is mounted is there, and what is written can be written.
    let names = |place: &Value| -> BTreeSet<String> {
        place
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| one["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&container["volumeMounts"]), names(&pod["volumes"]));
    let args: Vec<&str> = container["args"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|arg| arg.as_str().expect("a text"))
        .collect();
    let after =
        |flag: &str| args.iter().position(|arg| *arg == flag).map(|at| args[at + 1]).expect("the flag");
    assert!(after("--listen").ends_with(&format!(":{}", container["ports"][0]["containerPort"])));
    let mounts: Vec<&str> = container["volumeMounts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["mountPath"].as_str().expect("a path"))
        .collect();
    assert!(mounts.contains(&after("-f")), "{mounts:?}");
    assert!(mounts.iter().any(|mount| after("--status-file").starts_with(&format!("{mount}/"))));
    assert!(
        of_kind("Secret")["stringData"].get(after("--listen-token-env")).is_some(),
        "open to others, so with a token"
    );
}

/// The one of two instances is the same with a lease: who changes one changes the other.
#[test]
fn the_deployments_of_one_and_two_are_alike() {
    let (mut one, mut two) =
        (documents("kubernetes/trueup.yaml"), documents("kubernetes/two-instances.yaml"));
    two.retain(|document| !["Role", "RoleBinding"].contains(&document["kind"].as_str().unwrap_or_default()));
    let of_kind =
        |all: &[Value], kind: &str| all.iter().position(|one| one["kind"] == kind).expect("it is there");
    let map = of_kind(&two, "ConfigMap");
    assert!(two[map]["data"].as_object_mut().expect("a map").remove("cluster.yaml").is_some());
    let at = of_kind(&one, "Deployment");
    one[at]["spec"].as_object_mut().expect("a map").remove("strategy");
    one[at]["spec"]["replicas"] = 2.into();
    let pod = &mut one[at]["spec"]["template"]["spec"];
    pod["automountServiceAccountToken"] = true.into();
    pod["topologySpreadConstraints"] =
        two[at]["spec"]["template"]["spec"]["topologySpreadConstraints"].clone();
    let args = pod["containers"][0]["args"].as_array_mut().expect("a list");
    args.splice(3..3, ["--lease".into(), "cluster/Lease/trueup/trueup".into()]);
    assert_eq!(one, two);
}

/// The manifests of each ConfigMap are good ones, with the variables of the Secret.
#[test]
fn the_manifests_of_the_deployments_are_valid() {
    for file in ["kubernetes/trueup.yaml", "kubernetes/two-instances.yaml"] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = of_kind_in(file, "ConfigMap")["data"].clone();
        for (name, text) in data.as_object().expect("a map") {
            fs::write(folder.path().join(name), text.as_str().expect("a text")).expect("written");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(["validate", "-f"]).arg(folder.path()).env_clear();
        for (name, value) in of_kind_in(file, "Secret")["stringData"].as_object().expect("a map") {
            command.env(name, value.as_str().expect("a text"));
        }
        let done = command.output().expect("the binary runs");
        assert!(done.status.success(), "{file}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn the_image_holds_the_binary_alone() {
    let image = text("container/Dockerfile");
    let last = image.rsplit_once("\nFROM ").expect("its one stage").1;
    let words: Vec<&str> =
        last.lines().filter_map(|line| line.split(' ').next()).filter(|word| *word != "#").collect();
    assert_eq!(words, ["scratch", "COPY", "COPY", "ENV", "USER", "ENTRYPOINT", "CMD"]);
    assert!(last.contains("USER 65532:65532"), "not root");
    // What it copies is what the script puts there, compiled by a profile that there is.
    let script = text("container/build.sh");
    for line in last.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let source = line.split(' ').next().expect("a source");
        assert!(script.contains(&format!("\"$1/{source}\"")), "{source}");
    }
    let cargo =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).expect("Cargo.toml");
    assert!(script.contains("PROFILE:-dist}") && cargo.contains("[profile.dist]"));
}

/// Each name in the alerts is a metric, with the labels that it has.
#[test]
fn alerts_name_metrics_that_there_are() {
    let target = TargetStatus {
        name: "rabbitmq".into(),
        open: true,
        message: None,
        since: Duration::ZERO,
        next: None,
    };
    let status = Status { targets: vec![target], ..Status::default() };
    let shown = metrics(
        &Snapshot { status, ..Snapshot::default() },
        Duration::ZERO,
        &Process::default(),
        &Redactor::default(),
    );
    let rules = documents("prometheus/alerts.yaml");
    let rules = rules[0]["groups"][0]["rules"].as_array().expect("rules").clone();
    assert!(rules.len() >= 10);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = 0;
    for rule in &rules {
        let expr = rule["expr"].as_str().expect("an expression");
        for name in expr
            .split(|c| !is_name(c))
            .filter(|word| word.starts_with("trueup_") || word.starts_with("workqueue_"))
        {
            found += 1;
            assert!(shown.contains(&format!("\n# TYPE {name} ")), "{name} in {}", rule["alert"]);
        }
        for pair in expr.split(['{', ',', '}']).filter(|pair| pair.contains('=') && pair.contains('"')) {
            let (label, values) = pair.split_once('=').expect("a pair");
            for value in
                values.trim_start_matches(['=', '~']).trim_matches('"').split('|').filter(|_| label != "job")
            {
                assert!(
                    shown.contains(&format!("{label}=\"{value}\"")),
                    "{label}={value} in {}",
                    rule["alert"]
                );
            }
        }
        assert!(rule["annotations"]["summary"].is_string() && rule["labels"]["severity"].is_string());
    }
    assert!(found >= 10, "{found}");
}

/// By systemd itself, where it is there.
#[test]
fn the_unit_is_one() {
    let unit = text("systemd/trueup.service");
    for line in
        ["Type=notify", "WatchdogSec=60", "NoNewPrivileges=yes", "DynamicUser=yes", "ProtectSystem=strict"]
    {
        assert!(unit.lines().any(|have| have == line), "{line}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trueup.service");
    // It has to name a program that is there.
    fs::write(&file, unit.replace("/usr/local/bin/trueup", env!("CARGO_BIN_EXE_trueup"))).expect("written");
    for words in [&["verify"][..], &["security", "--offline=true", "--threshold=20", "--no-pager"]] {
        let Ok(done) = Command::new("systemd-analyze").args(words).arg(&file).output() else {
            eprintln!("skipped: there is no systemd-analyze");
            return;
        };
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{words:?}: {said}");
        assert!(words[0] != "verify" || !said.contains("trueup.service"), "{said}");
    }
}
