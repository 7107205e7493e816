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
