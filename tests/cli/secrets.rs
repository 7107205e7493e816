//! Secrets never come out: not as they are, not encoded, not cut, in no command, format or error.

use crate::servers::{Raw, Say, Served, backend};
use crate::support::{Done, Scratch};

const CANARY: &str = "tok-CANARY/4711+xyz~77";

/// The forms in which a secret may leak.
fn forms() -> [String; 5] {
    let base64 = "dG9rLUNBTkFSWS80NzExK3h5en43Nw==";
    // The base64 of `:` and the secret, as in basic authentication with a user `u`.
    let basic = "dTp0b2stQ0FOQVJZLzQ3MTEreHl6fjc3";
    [
        CANARY.into(),
        base64.trim_end_matches('=').into(),
        basic.into(),
        CANARY.replace('/', "%2F").replace('+', "%2B"),
        CANARY.replace('/', "\\/"),
    ]
}

fn silent(done: &Done, what: &str) {
    for form in forms() {
        assert!(!done.out.contains(&form) && !done.err.contains(&form), "{what}: {}", done.told());
    }
}

const SPACE: &str = "apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {description: The shop, token: !secret env:CANARY, nested: {list: [!secret file:secret.txt]}}
";

/// A folder with a secret in a field, from the environment and from a file, on this server.
fn start(url: &str, more: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", backend(url, more));
    scratch.write("a.yaml", SPACE);
    scratch.write("secret.txt", format!("{CANARY}\n"));
    scratch
}

fn run(scratch: &Scratch, line: &str) -> Done {
    scratch.trueup(&format!("{line} -f a.yaml -f backend.yaml")).env("CANARY", CANARY).done()
}

#[test]
fn no_command_prints_it() {
    let served_in = Scratch::new();
    let served = Served::start(&served_in, "rules: []");
    let scratch = start(&served.url(), "  auth: {basic: {username: u, password: !secret env:CANARY}}");
    for line in ["validate", "plan", "plan -v --output json", "plan -vvv", "apply", "apply --yes -vvv"] {
        silent(&run(&scratch, line), line);
    }
    // It is a secret that went there, and not a mask.
    assert!(served.call("GET", "/spaces/shop", "").contains(CANARY));
    for line in [
        "apply --yes",
        "plan -vvv",
        "drift --output ndjson -v",
        "get",
        "get --output json",
        "get --output ndjson",
    ] {
        silent(&run(&scratch, line).expect(0), line);
    }
    let again = run(&scratch, "plan --detailed-exitcode");
    assert_eq!(again.code(), 0, "{}", again.told());
    // A change next to it, and one of itself.
    scratch.write("a.yaml", SPACE.replace("The shop", "Our shop"));
    silent(&run(&scratch, "plan -vvv"), "plan of a change beside it");
    scratch.write("secret.txt", "another");
    for line in ["plan -v", "plan --output json", "apply --yes -vvv", "delete --yes -vvv"] {
        silent(&run(&scratch, line), line);
    }
}

/// A server that repeats what it was sent, in every way that servers do.
#[test]
fn a_server_that_repeats_it() {
    let [plain, base64, basic, encoded, _] = forms();
    let body = format!(
        r#"{{"message": "invalid body: {{token: {plain}}}", "errors": ["{base64}", "{basic}", "at /x?key={encoded}"]}}"#
    );
    let raw = Raw::new(move |seen| match seen.line.starts_with("GET ") {
        true => Say::answer("404 Not Found", "", ""),
        false => Say::answer("422 Unprocessable Content", "content-type: application/json\r\n", &body),
    });
    for auth in [
        "{basic: {username: u, password: !secret env:CANARY}}",
        "{bearer: !secret env:CANARY}",
        "{query: {name: key, value: !secret env:CANARY}}",
    ] {
        let scratch = start(&raw.url(), &format!("  auth: {auth}"));
        for line in ["apply --yes", "apply --yes -vvv", "apply --yes --output json"] {
            let done = run(&scratch, line).expect(1);
            assert!(done.out.contains("invalid body"), "{}", done.told());
            silent(&done, &format!("{line} with {auth}"));
        }
    }
}

/// A connection that breaks, and a query that holds the key: errors name the address.
#[test]
fn an_address_with_a_key() {
    let scratch = start("http://127.0.0.1:9", "  auth: {query: {name: key, value: !secret env:CANARY}}");
    for line in ["plan", "plan -vvv", "apply --yes --output json", "get"] {
        silent(&run(&scratch, line).expect(1), line);
    }
}

/// Errors in the input show the line, and the line may hold what stands in the file.
#[test]
fn a_line_under_an_error() {
    for spec in [
        "{password: fitting-room-9, n: 0123, n: 2}",
        "{n: 1, n: 2, token: 'fitting-room-9}",
        "\n  password: \"fitting-room-9",
    ] {
        let document = format!("apiVersion: a\nkind: B\nmetadata: {{name: c}}\nspec: {spec}\n");
        let done = Scratch::with("m.yaml", document).trueup("validate -f m.yaml").done().expect(65);
        let told = done.told();
        assert!(told.contains("(secret)") && !told.contains("fitting"), "{told}");
    }
}

#[test]
fn an_error_beside_it() {
    let scratch = start("http://127.0.0.1:9", "");
    scratch
        .write("b.yaml", "apiVersion: demo\nkind: Space\nmetadata: {name: !secret env:CANARY}\nspec: {}\n");
    let done =
        scratch.trueup("plan -f a.yaml -f b.yaml -f backend.yaml").env("CANARY", CANARY).done().expect(65);
    silent(&done, "a secret in a name");
    let done = scratch.trueup("plan -f a.yaml -f backend.yaml").done();
    silent(&done, "a variable that is not set");
}

const OWNED: &str = "apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {owner: !secret env:S1, users: [{name: a, key: !secret env:S1}]}
";

/// Two objects, one of which has a secret; it is applied, and the variable is gone or another afterwards.
fn applied(served: &Served, manifest: &str) -> Scratch {
    let scratch = Scratch::with("backend.yaml", backend(&served.url(), ""));
    scratch.write("a.yaml", manifest);
    scratch.trueup("apply --yes -f a.yaml -f backend.yaml").env("S1", CANARY).done().expect(0);
    assert!(served.call("GET", "/spaces/shop", "").contains(CANARY));
    scratch
}

const GETS: [&str; 4] = ["get", "get Space/shop", "get --output json", "get --output ndjson"];

/// What the file has as a secret is one on the server, whatever its value there.
#[test]
fn get_without_the_secret_and_with_another() {
    let served_in = Scratch::new();
    let served = Served::start(&served_in, "rules: []");
    let scratch = applied(&served, OWNED);
    for line in GETS.iter().chain(&["plan -vvv", "plan --output json -v", "drift"]) {
        let line = format!("{line} -f a.yaml -f backend.yaml");
        silent(&scratch.trueup(&line).done(), &line);
        silent(&scratch.trueup(&line).env("S1", "rotated-away").done(), &line);
    }
    let got = scratch.trueup("get --output json -f a.yaml -f backend.yaml").done().expect(0);
    assert_eq!(got.out.matches("(secret)").count(), 2, "{}", got.told());
}

/// A copy of a secret is a secret: of one that the other document has, or its kind; through a chain; and no text.
#[test]
fn a_reference_to_a_secret() {
    let referring = "---
apiVersion: demo
kind: Space
metadata: {name: copy}
spec: {from: !ref Space/shop .owner, whole: !ref Space/shop .users, pin: !ref Space/shop .code}
---
apiVersion: demo
kind: Space
metadata: {name: chain}
spec: {from: !ref Space/copy .from}
";
    let served_in = Scratch::new();
    let served = Served::start(&served_in, "rules: []");
    let scratch = Scratch::new();
    scratch.write(
        "backend.yaml",
        backend(&served.url(), "")
            .replace("      create: PUT /spaces", "      fields: {code: secret}\n      create: PUT /spaces"),
    );
    scratch.write("a.yaml", OWNED.replace("spec: {", "spec: {code: 47114711, ") + referring);
    scratch.trueup("apply --yes -f a.yaml -f backend.yaml").env("S1", CANARY).done().expect(0);
    let copy: serde_json::Value =
        serde_json::from_str(&served.call("GET", "/spaces/copy", "")).expect("an object");
    assert_eq!((&copy["from"], &copy["pin"]), (&CANARY.into(), &47114711.into()), "{copy}");
    assert_eq!(copy["whole"][0]["key"], CANARY, "{copy}");
    // The copies are not what they were copied from any more.
    let old = r#"{"id": "copy", "from": "old-clear-1", "pin": 99887766, "whole": [{"name": "a", "key": "old-clear-2"}]}"#;
    served.call("PUT", "/spaces/copy", old);
    served.call("PUT", "/spaces/chain", r#"{"id": "chain", "from": "old-clear-1"}"#);
    assert!(served.call("GET", "/spaces/chain", "").contains("old-clear-1"));
    for line in
        GETS.iter().chain(&["plan -vvv", "plan --output json -v", "drift --output ndjson", "apply --yes"])
    {
        let line = format!("{line} -f a.yaml -f backend.yaml");
        let done = scratch.trueup(&line).done();
        silent(&done, &line);
        for clear in ["old-clear", "47114711", "99887766"] {
            assert!(!done.out.contains(clear) && !done.err.contains(clear), "{line}: {}", done.told());
        }
        let shown = done.out.to_lowercase().contains("from");
        assert!(shown || line.starts_with("apply") || line.contains("shop"), "{line}: {}", done.told());
    }
}

/// What nobody compared is not said to be in sync without a word.
#[test]
fn a_value_that_could_not_be_compared() {
    let served_in = Scratch::new();
    let served = Served::start(&served_in, "rules: []");
    let scratch = applied(&served, &OWNED.replace(", users: [{name: a, key: !secret env:S1}]", ""));
    let tampered = r#"{"id": "shop", "owner": "tampered"}"#;
    served.call("PUT", "/spaces/shop", tampered);
    let run = |line: &str| scratch.trueup(&format!("{line} -f a.yaml -f backend.yaml"));
    let drift = run("drift").done().expect(0);
    assert!(
        drift.out.contains("`owner` was not compared: the secret `env:S1` is not set"),
        "{}",
        drift.told()
    );
    assert!(drift.out.contains("1 value not compared"), "{}", drift.told());
    let json = run("plan --output json").done().expect(0).json();
    assert_eq!(json["objects"][0]["findings"][0]["code"], "NotCompared", "{json}");
    assert_eq!(json["summary"]["notCompared"], 1, "{json}");
    let known = run("drift").env("S1", CANARY).done().expect(2);
    assert!(!known.out.contains("not compared"), "{}", known.told());
}

/// A refusal that repeats what nobody has told us: what the server had in a secret's place, and what a reference
/// has brought.
#[test]
fn a_refusal_with_secrets_that_only_the_server_knew() {
    let raw = Raw::new(|seen| match &*seen.line {
        line if line.starts_with("PATCH ") => Say::answer(
            "422 Unprocessable Content",
            "content-type: application/json\r\n",
            r#"{"message": "no change from old-clear-1 to new-clear-2 in 99887766"}"#,
        ),
        "GET /spaces/shop" => Say::json(r#"{"id": "shop", "owner": "old-clear-1", "pin": 99887766}"#),
        "GET /spaces/from" => Say::json(r#"{"id": "from", "token": "new-clear-2"}"#),
        _ => Say::json(
            r#"{"items": [{"id": "shop", "owner": "old-clear-1", "pin": 99887766}, {"id": "from", "token": "new-clear-2"}]}"#,
        ),
    });
    let scratch = Scratch::new();
    let fields = "      fields: {token: secret, pin: secret}\n      create: PUT /spaces";
    scratch.write("backend.yaml", backend(&raw.url(), "").replace("      create: PUT /spaces", fields));
    scratch.write(
        "a.yaml",
        "apiVersion: demo
kind: Space
metadata: {name: shop}
spec: {owner: !ref Space/from .token, pin: 5}
---
apiVersion: demo
kind: Space
metadata: {name: from, annotations: {trueup/ensure: exists}}
",
    );
    for line in ["apply --yes -vvv", "apply --yes --output json", "apply --yes --output ndjson"] {
        let done = scratch.trueup(&format!("{line} -f a.yaml -f backend.yaml")).done().expect(1);
        assert!(done.out.contains("no change from (redacted)"), "{}", done.told());
        for clear in ["old-clear-1", "new-clear-2", "99887766"] {
            assert!(!done.out.contains(clear) && !done.err.contains(clear), "{line}: {}", done.told());
        }
    }
}

/// The log is ours: what libraries say of a connection is neither wanted nor known to be clean.
#[test]
fn the_log_is_of_requests_alone() {
    let served_in = Scratch::new();
    let served = Served::start(&served_in, "rules: []");
    let scratch = start(&served.url(), "");
    let done = run(&scratch, "plan -vvv");
    assert!(done.err.contains("answered"), "{}", done.told());
    assert!(done.err.lines().all(|line| line.contains(" trueup::")), "{}", done.told());
}

/// Once each, whoever watches, and only by a warning.
#[cfg(unix)]
#[test]
fn files_that_others_can_read_are_told_once() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let server = Raw::new(|_| Say::json(r#"{"items": []}"#));
    let scratch =
        Scratch::with("m/backend.yaml", backend(&server.url(), "  auth: {bearer: {file: ../token.txt}}"));
    scratch.write("secret.txt", CANARY);
    scratch.write("token.txt", "tok-1");
    scratch.write("m/a.yaml", SPACE.replace("secret.txt", "../secret.txt"));
    // What is kept among the manifests comes by Git, and is as readable as they are.
    scratch.write(
        "m/b.yaml",
        SPACE.replace("shop", "other").replace("secret.txt", "../secret.txt, !secret file:beside.txt"),
    );
    scratch.write("m/beside.txt", "another");
    let set =
        |name: &str, mode| set_permissions(scratch.path(name), Permissions::from_mode(mode)).expect(name);
    let warned = |line: &str| {
        let done = scratch.trueup(&format!("{line} -f m")).env("CANARY", CANARY).done();
        done.err
            .lines()
            .filter(|line| line.contains("chmod") || line.contains("(mode "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    set("token.txt", 0o600);
    set("secret.txt", 0o600);
    assert_eq!(warned("plan"), [""; 0]);
    set("m/beside.txt", 0o644);
    assert_eq!(warned("plan"), [""; 0]);
    set("token.txt", 0o640);
    set("secret.txt", 0o644);
    assert_eq!(
        warned("plan"),
        [
            "warning: `m/../secret.txt`, which holds a secret, can be read by everybody (mode 0644)",
            "hint: `chmod 600 m/../secret.txt`",
            "warning: `m/../token.txt`, the token of the backend `demo`, can be read by its group (mode 0640)",
            "hint: `chmod 600 m/../token.txt`",
        ]
    );
    // In the document of a format for CI, and a warning all the same.
    let done = scratch.trueup("validate -f m --output sarif").env("CANARY", CANARY).done();
    assert_eq!(done.code(), 0, "{}", done.told());
    assert!(done.out.contains("can be read by everybody (mode 0644)"), "{}", done.told());
}
