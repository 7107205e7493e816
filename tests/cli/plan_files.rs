//! The files of saved plans: what is refused of them, what is shown of them, and what they never hold.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::Command;

use insta::assert_snapshot;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::saved_plans::{at, elsewhere, job};
use crate::servers::{Raw, Say, Served, TEAM_AND_SPACE, backend};
use crate::support::{Done, Scratch};

/// A plan for a server that nobody is to ask, and where that is.
fn planned() -> (Scratch, Raw) {
    let server = Raw::new(|_| Say::json("{\"items\": []}"));
    let job = job();
    at(job.trueup("plan -f m --out p.plan"), &server.url()).done().expect(0);
    (elsewhere(&job), server)
}

fn plan(scratch: &Scratch) -> Value {
    let text = fs::read_to_string(scratch.path("p.plan")).expect("the plan is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Writes a plan back with the hash of what it says now: what anybody can do.
fn forge(scratch: &Scratch, change: impl FnOnce(&mut Value)) {
    let mut whole = plan(scratch);
    change(&mut whole);
    let digits = digest(&SHA256, whole["plan"].to_string().as_bytes());
    let digits: String = digits.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    whole["hash"] = format!("sha256:{digits}").into();
    scratch.write("p.plan", whole.to_string());
    fs::set_permissions(scratch.path("p.plan"), fs::Permissions::from_mode(0o600)).expect("it is ours");
}

/// Applies a plan that is not to be applied; no server is asked.
fn refused(scratch: &Scratch, server: &Raw, path: &str, code: i32, why: &str) -> Done {
    let before = server.lines().len();
    let run = at(scratch.trueup_of(["apply", path]), &server.url()).done();
    assert_eq!(run.code(), code, "{why}: {}", run.told());
    assert!(run.err.contains(why), "not `{why}` but {}", run.told());
    assert_eq!(server.lines().len(), before, "{why}: nothing is asked");
    run
}

#[test]
fn files_that_are_no_plans() {
    let (scratch, server) = planned();
    let text = fs::read_to_string(scratch.path("p.plan")).expect("the plan is there");
    for (name, content, why) in [
        ("cut", &text.as_bytes()[..text.len() / 2], "`cut` is a saved plan that was cut off"),
        ("text", b"hello", "`text` is not a saved plan: it is not JSON"),
        ("empty", b"", "`empty` is not a saved plan: it is not JSON"),
        ("json", b"{\"a\": 1}", "`json` is not a saved plan"),
        ("list", b"[1]", "`list` is not a saved plan"),
        ("bytes", b"\xff\xfe", "it is not UTF-8"),
        ("form", b"{\"trueupPlan\": 2}", "of form 2, and this version of trueup knows form 1"),
        ("part", b"{\"trueupPlan\": 1}", "`part` is not whole: missing field `hash`"),
        (
            "strange",
            b"{\"trueupPlan\": 1, \"hash\": \"\", \"plan\": {\"x\": 1}}",
            "`strange` is not whole: unknown field `x`",
        ),
    ] {
        scratch.write(name, content);
        refused(&scratch, &server, name, 65, why);
    }
    let deep = format!("{{\"trueupPlan\": 1, \"plan\": {}", "[".repeat(100_000));
    scratch.write("deep", deep);
    refused(&scratch, &server, "deep", 65, "it is not JSON");
    refused(&scratch, &server, "none", 65, "reading `none`: no such file or directory");
    refused(&scratch, &server, ".", 65, "it is not a regular file");
    refused(&scratch, &server, "/dev/null", 65, "it is not a regular file");
    let fifo = Command::new("mkfifo").arg(scratch.path("pipe")).status().expect("`mkfifo` runs");
    assert!(fifo.success());
    refused(&scratch, &server, "pipe", 65, "it is not a regular file");
    let huge = fs::File::create(scratch.path("huge")).expect("it can be made");
    huge.set_len(300 * 1024 * 1024).expect("it takes no room");
    refused(&scratch, &server, "huge", 65, "it is larger than 256 MB");
    let run = scratch.trueup("apply /dev/stdin").stdin(&text).done();
    assert!(matches!(run.code(), 5 | 65) && run.err.contains("/dev/stdin"), "{}", run.told());
}

/// What others can write, or have put there.
#[test]
fn files_of_others() {
    let (scratch, server) = planned();
    symlink("p.plan", scratch.path("link")).expect("a link");
    refused(&scratch, &server, "link", 5, "`link` is not applied: it is a link");
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(scratch.path("p.plan"), fs::Permissions::from_mode(mode)).expect("it is ours");
        let why = format!("`p.plan` is not applied: others can write it: its mode is {mode:04o}");
        refused(&scratch, &server, "p.plan", 5, &why);
    }
    fs::set_permissions(scratch.path("p.plan"), fs::Permissions::from_mode(0o600)).expect("it is ours");
    // Only root can give a file away.
    if chown(scratch.path("p.plan"), Some(4711), None).is_ok() {
        refused(&scratch, &server, "p.plan", 5, "`p.plan` is not applied: it belongs to user 4711");
    }
}

#[test]
fn plans_that_hold_no_longer() {
    for (change, why) in [
        (json!({"tool": "99.1.0"}), "trueup 99.1.0 made it, and this is trueup"),
        (
            json!({"made": "2026-01-01T00:00:00Z", "expires": "2026-01-02T00:00:00Z"}),
            "`p.plan` is not applied: it expired ",
        ),
        (json!({"expires": "2999-01-01T00:00:00Z"}), "its times cannot be"),
        (json!({"made": "2999-01-01T00:00:00Z", "expires": "2999-01-01T01:00:00Z"}), "its times cannot be"),
        (json!({"made": "yesterday"}), "its times cannot be"),
        (json!({"objects": []}), "its documents are not those of its objects any more"),
    ] {
        let (scratch, server) = planned();
        forge(&scratch, |whole| {
            let members = change.as_object().expect("a map").clone();
            whole["plan"].as_object_mut().expect("a map").extend(members);
        });
        refused(&scratch, &server, "p.plan", 5, why);
        let shown = scratch.trueup("plan --show p.plan").done().expect(0);
        assert!(shown.out.starts_with("Saved plan p.plan, made "), "{}", shown.told());
    }
    let (scratch, server) = planned();
    let text = fs::read_to_string(scratch.path("p.plan")).expect("the plan is there");
    scratch.write("p.plan", text.replace("The red team", "Another team"));
    refused(&scratch, &server, "p.plan", 5, "`p.plan` is not applied: it was edited after it was made");
    let shown = scratch.trueup("plan --show p.plan").done().expect(0);
    assert!(shown.out.contains("It cannot be applied: it was edited after it was made."), "{}", shown.told());
}

/// Whatever a plan with a hash of its own says that is due: its documents say what is wanted, and what is not both is not
/// done.
#[test]
fn an_edited_action_is_not_done() {
    for action in ["none", "delete"] {
        let (scratch, server) = planned();
        forge(&scratch, |whole| {
            for object in whole["plan"]["objects"].as_array_mut().expect("a list") {
                object["action"] = action.into();
            }
        });
        let run = at(scratch.trueup("apply p.plan"), &server.url()).done();
        let lines = server.lines();
        let writes = lines.iter().filter(|line| !line.starts_with("GET ")).count();
        assert_eq!((run.code(), writes), (5, 0), "{action}: {}", run.told());
    }
}

/// The address is read from the environment, so another environment is another server.
#[test]
fn a_plan_is_for_one_server() {
    let (scratch, server) = planned();
    let other = Raw::new(|_| Say::json("{\"items\": []}"));
    let run = at(scratch.trueup("apply p.plan"), &other.url()).done();
    assert_snapshot!(run.told(), @"
    exit 5
    --- stderr
    error: `p.plan` is not applied: its backend `demo` is at `http://127.0.0.1:PORT`, and the plan was made for `http://127.0.0.1:PORT`
    hint: a plan is for one server: make a new plan
    ");
    assert_eq!(other.lines(), [""; 0]);
    drop(server);
}

/// A plan reads no files but those below the folder of its run, wherever it says that its documents stood.
#[test]
fn a_plan_does_not_say_which_files_may_be_read() {
    let (scratch, server) = planned();
    forge(&scratch, |whole| {
        whole["plan"]["documents"][0]["file"] = "/etc/a.yaml".into();
        whole["plan"]["documents"][0]["document"]["spec"]["description"] = json!({"!file": "hostname"});
    });
    refused(&scratch, &server, "p.plan", 65, "`!file` may not read `hostname`");
}

/// Shown offline: no server is asked, no variable is read, and nothing that a file says acts on a terminal.
#[test]
fn a_plan_is_shown_without_anything_else() {
    let (scratch, server) = planned();
    let before = server.lines().len();
    let shown = scratch.trueup("plan").env("TRUEUP_SHOW", "p.plan").done().expect(0);
    assert!(shown.out.contains("+   Team red     m/a.yaml:1\n"), "{}", shown.told());
    assert!(shown.out.contains("\nHashes of the plan "), "{}", shown.told());
    assert_eq!(server.lines().len(), before);
    let value = scratch.trueup("plan --show p.plan --output json").done().expect(0).json();
    assert_eq!((&value["plan"]["hash"], &value["plan"]["stale"]), (&plan(&scratch)["hash"], &Value::Null));
    assert_eq!(value["objects"][0]["desired"], plan(&scratch)["plan"]["objects"][0]["desired"]);
    let lines = scratch.trueup("plan --show p.plan --output ndjson").done().expect(0).out;
    let types: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let types: Vec<&str> = types.iter().map(|line| line["type"].as_str().expect("a type")).collect();
    assert_eq!(types, ["object", "object", "object", "plan", "summary"]);
    forge(&scratch, |whole| whole["plan"]["tool"] = "\u{1b}[2J".into());
    let shown = scratch.trueup("plan --show p.plan").done().expect(0);
    assert!(!shown.out.contains('\u{1b}') && shown.out.contains("\\u{1b}[2J"), "{}", shown.told());
}

/// Two plans of the same wishes and the same compared values have the same hashes; what nobody declares is no part.
#[test]
fn hashes_are_of_what_was_compared() {
    let home = Scratch::new();
    let server = Served::start(&home, "{}");
    let job = job();
    at(job.trueup("apply -f m --yes"), &server.url()).done().expect(0);
    job.write("m/a.yaml", crate::saved_plans::documents().replace("The shop", "Shop"));
    let hashes = || {
        at(job.trueup("plan -f m --out p.plan"), &server.url()).done().expect(0);
        let object = plan(&job)["plan"]["objects"][1].clone();
        (object["desired"].clone(), object["observed"].clone())
    };
    let first = hashes();
    server.call("PUT", "/spaces/shop", "{\"description\": \"The shop\", \"other\": 1}");
    assert_eq!(hashes(), first);
    server.call("PUT", "/spaces/shop", "{\"description\": \"Theirs\"}");
    let second = hashes();
    assert!(second.0 == first.0 && second.1 != first.1, "{second:?}");
}

/// No secret is in a plan, wherever it came from: the environment, a file, the server, or an error.
#[test]
fn no_secret_is_in_a_plan() {
    let stored = "{\"items\": [{\"name\": \"red\", \"id\": \"1\", \"revision\": 1, \"pass\": \"canary-old-1\", \
                  \"echo\": \"x canary-env-2 y\", \"list\": [{\"n\": \"canary-env-2\"}], \"hidden\": \"canary-own-4\"}]}";
    let server = Raw::new(move |_| Say::json(stored));
    let scratch = Scratch::new();
    let kinds = backend(&server.url(), "  auth: {bearer: !secret env:TOKEN}");
    let kinds =
        kinds.replace("      visible: 300ms\n", "      visible: 300ms\n      fields: {hidden: secret}\n");
    scratch.write("m/backend.yaml", kinds);
    scratch.write("m/pass.txt", "canary-file-3\n");
    scratch.write(
        "m/a.yaml",
        "# canary-note-6\napiVersion: demo\nkind: Team\nmetadata: {name: red}\nspec:\n  pass: !secret env:PASS\n  echo: z\n  \
         list: []\n  file: !secret file:pass.txt\n  hidden: !env HIDDEN\n  plain: !env PASS\n",
    );
    let run = scratch.trueup("plan -f m --out p.plan");
    let run =
        run.env("TOKEN", "canary-token-5").env("PASS", "canary-env-2").env("HIDDEN", "canary-hid-7").done();
    assert_eq!(run.code(), 0, "{}", run.told());
    let text = fs::read_to_string(scratch.path("p.plan")).expect("the plan is there");
    assert!(!text.contains("canary"), "{text}");
    assert!(text.contains("\"!secret\":\"env:PASS\""), "{text}");
}

/// A secret that stands in a file in the clear would be in the plan.
#[test]
fn secrets_in_the_clear_are_refused() {
    let scratch = Scratch::new();
    let kinds = backend(
        "http://127.0.0.1:9",
        "  auth: {basic: {username: me, password: canary-1}}\n  headers: {X-Api-Key: canary-2}",
    );
    let kinds =
        kinds.replace("      visible: 300ms\n", "      visible: 300ms\n      fields: {hidden: secret}\n");
    scratch.write("m/backend.yaml", kinds);
    scratch.write("m/a.yaml", TEAM_AND_SPACE.replace("The red team", "x, hidden: canary-3"));
    let told = scratch.trueup("plan -f m --out p.plan").done().told();
    assert_snapshot!(told, @"
    exit 65
    --- stderr
    error: m/a.yaml:4:7: a field that is secret by its kind stands here in the clear
    hint: a saved plan holds no secret: write it as `!secret env:NAME` or `!secret file:PATH`
    error: m/backend.yaml:6:42: a credential stands here in the clear
    hint: a saved plan holds no secret: write it as `!secret env:NAME` or `!secret file:PATH`
    error: m/backend.yaml:7:24: a credential stands here in the clear
    hint: a saved plan holds no secret: write it as `!secret env:NAME` or `!secret file:PATH`
    3 errors.
    ");
    assert!(!told.contains("canary") && !scratch.path("p.plan").exists());
}
