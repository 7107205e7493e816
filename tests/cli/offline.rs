//! What can be known without a server is said without one; and a misspelt name is no success.

use insta::assert_snapshot;

use crate::servers::{TEAM_AND_SPACE, backend};
use crate::support::Scratch;

/// `validate` of one more backend, which no document names, beside sound files.
fn unused(spec: &str) -> (i32, String) {
    let scratch = Scratch::with("backend.yaml", backend("http://127.0.0.1:9", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    let text = format!("apiVersion: trueup/v1\nkind: Backend\nmetadata: {{name: other}}\nspec: {spec}\n");
    scratch.write("other.yaml", text);
    let run = scratch.trueup("validate -f .").env("URL", "ftp://x");
    let done = run.done();
    let first = done.err.lines().next().unwrap_or_default().to_owned();
    (done.code(), first)
}

#[test]
fn connections_are_checked_as_far_as_they_are_known() {
    for (spec, want) in [
        ("{preset: rabbitmq, url: !env NOT_SET}", ""),
        ("{preset: rabbitmq, auth: {bearer: {file: !env NOT_SET}}}", ""),
        ("{preset: rabbitmq, url: !env URL}", "`url` has the scheme `ftp`"),
        ("{preset: rabbitmq, url: 'ftp://x'}", "`url` has the scheme `ftp`"),
        ("{preset: rabbitmq, auth: {baerer: !env NOT_SET}}", "`auth` has no `baerer`"),
        (
            "{preset: rabbitmq, limits: {concurrency: -1}}",
            "`concurrency` is a whole number from 1 up, not -1",
        ),
        ("[1]", "a backend's `spec` is a map, not a list"),
    ] {
        let code = if want.is_empty() { 0 } else { 65 };
        let (ended, first) = unused(spec);
        assert!(ended == code && first.ends_with(want), "{spec}: exit {ended}, {first}");
        assert!(first.is_empty() == want.is_empty(), "{spec}: {first}");
    }
}

/// The cause is said once, and not again by every document that it leaves without a backend.
#[test]
fn a_backend_that_is_wrong_is_the_only_error() {
    let scratch = Scratch::with("a.yaml", TEAM_AND_SPACE);
    let sound = backend("http://127.0.0.1:9", "");
    scratch.write("backend.yaml", sound.replace("list:", "lits:"));
    let done = scratch.trueup("plan -f .").done().expect(65);
    assert!(!done.err.contains("has no kind"), "{}", done.err);
    assert!(done.err.contains("not checked: the backend `demo` cannot be read whole"), "{}", done.err);
    scratch.write("backend.yaml", sound.replace("kind: Backend", "kind: Backend\nx: [1"));
    assert_snapshot!(scratch.trueup("plan -f .").done().told(), @"
    exit 65
    --- stderr
    warning: 2 documents were not checked: the backend `demo` cannot be read whole
    error: ./backend.yaml:4:9: the YAML is broken: illegal placement of ':' indicator
      |
    4 | metadata: {name: demo}
      |         ^
    1 error, 1 warning.
    ");
    // A document that names another backend is wrong all the same.
    scratch.write("backend.yaml", sound.replace("list:", "lits:"));
    scratch.write("a.yaml", TEAM_AND_SPACE.replace("demo", "dmeo"));
    let done = scratch.trueup("plan -f .").done().expect(65);
    assert!(done.err.contains("there is no backend `dmeo`"), "{}", done.err);
}

#[test]
fn selections_and_names_that_are_about_nothing() {
    let scratch = Scratch::with("backend.yaml", backend("embedded:store", ""));
    scratch.write("a.yaml", TEAM_AND_SPACE);
    for (flags, want) in [
        (
            "--only Taem/*",
            "error: `--only Taem/*` selects none of the documents\nhint: did you mean `Team/*`?\n",
        ),
        (
            "--only [",
            "error: `--only [` selects none of the documents\nhint: the kinds are `Space`, `Team`\n",
        ),
        ("-l n=zzz", "error: `-l n=zzz` selects none of the documents\nhint: the labels are none\n"),
        (
            "--exclude *",
            "error: `--exclude *` selects none of the documents\nhint: `--exclude` leaves out all that there is\n",
        ),
    ] {
        for verb in ["plan", "drift", "apply --yes", "delete --yes", "validate"] {
            let line = format!("{verb} -f . {flags}");
            let done = scratch.trueup(&line).done().expect(64);
            assert_eq!(done.err, want, "{line}");
        }
    }
    let some = scratch.trueup("plan -f . --only Team --only Spcae").done().expect(0);
    assert_snapshot!(some.err, @"
    warning: `--only Spcae` is about no document
    hint: did you mean `Space`? the kinds are `Space`, `Team`
    ");
    std::fs::remove_file(scratch.path("a.yaml")).expect("it was there");
    for verb in ["plan", "drift", "apply --yes", "delete --yes"] {
        let done = scratch.trueup(&format!("{verb} -f .")).done().expect(65);
        assert!(done.err.starts_with("error: no documents in what `-f` names"), "{}", done.err);
    }
    scratch.trueup("validate -f .").done().expect(0);
    let none = scratch.trueup("get Team/none -f .").done().expect(1);
    assert_eq!(none.err, "error: no object matches `Team/none`\n");
    scratch.trueup("get Team -f .").done().expect(0);
}

/// A comparer on the field of a name holds wherever the name stands: in the object's own key, in those of its
/// children, and in references.
#[test]
fn a_name_in_two_spellings_is_one_name() {
    let scratch = Scratch::with(
        "backend.yaml",
        "apiVersion: trueup/v1
kind: Backend
metadata: {name: dns}
spec:
  url: http://127.0.0.1:9
  kinds:
    Zone:
      key: {name: .name}
      list: GET /zones
      create: POST /zones
      fields: {name: trim_dot | ascii_downcase}
    Record:
      parent: {zone: Zone}
      key: {name: .name}
      list: GET /zones/{zone}
      create: PUT /zones/{zone}/{name}
",
    );
    let record = |zone: &str, ttl: &str| {
        format!(
            "apiVersion: dns\nkind: Record\nmetadata: {{zone: {zone}, name: www}}\nspec: {{ttl: {ttl}}}\n"
        )
    };
    let absent = "apiVersion: dns\nkind: Zone\nmetadata: {name: shop.test., annotations: {trueup/ensure: absent}}\nspec: {}\n";
    scratch.write("a.yaml", format!("{absent}---\n{}", record("Shop.Test", "5")));
    let told = scratch.trueup("validate -f .").done().expect(65).err;
    assert!(told.contains("`Record Shop.Test/www` needs `Zone shop.test.`, which is to be absent"), "{told}");

    let present = absent.replace("absent", "exists");
    scratch.write("a.yaml", format!("{present}---\n{}", record("shop.test", "!ref Zone/SHOP.test .ttl")));
    scratch.trueup("validate -f .").done().expect(0);
    scratch.write("b.yaml", record("shop.test.", "5"));
    let told = scratch.trueup("validate -f .").done().expect(65).err;
    assert!(told.contains("`Record shop.test./www` is described twice"), "{told}");
}

/// All that is wrong with a backend is said in one run, each at its line, with what was probably meant.
#[test]
fn all_that_is_wrong_with_a_backend() {
    let scratch = Scratch::with(
        "shop.yaml",
        "apiVersion: trueup/v1
kind: Backend
metadata: {name: shop}
spec:
  url: http://127.0.0.1:9
  headrs: {X-Tenant: a}
  kinds:
    Team:
      key: {name: .name}
      list: {request: GET /teams, items: '.items[', page: {by: cursor}}
      read: GET /teams/{nmae}
      create: POST /teams
      fields:
        name: server-owned
        tags: [set, key=name]
    Member:
      parent: {team: Taem}
      key: {login: .login}
      list: GET /teams/{team}/members
      delete: DELETE /teams/{team}/members
    Order:
      key: {number: .number}
      read: GET /orders/{id}
      create: POST /orders
",
    );
    assert_snapshot!(scratch.trueup("validate -f .").done().told(), @"
    exit 65
    --- stderr
    error: ./shop.yaml:6:3: a backend's `spec` has no `headrs`
      |
    6 |   headrs: {X-Tenant: a}
      |   ^
    hint: did you mean `headers`? known here are `url`, `preset`, `auth`, `tls`, `headers`, `limits`, `owner`, `kinds`
    error: ./shop.yaml:10:42: `items`: filter `.items[`: expected closing bracket at character 8
       |
    10 |       list: {request: GET /teams, items: '.items[', page: {by: cursor}}
       |                                          ^
    error: ./shop.yaml:10:59: `page` has no `next`
       |
    10 |       list: {request: GET /teams, items: '.items[', page: {by: cursor}}
       |                                                           ^
    hint: a filter on the answer's body that gives the next cursor or URL, and null at the end
    error: ./shop.yaml:11:13: `{nmae}` in `read` has no source: it is no part of the key
       |
    11 |       read: GET /teams/{nmae}
       |             ^
    hint: did you mean `name`? the parts of the key are `name`
    error: ./shop.yaml:14:15: `name` cannot be server-owned: it is the `name` of the key, and `create` has to send it
       |
    14 |         name: server-owned
       |               ^
    error: ./shop.yaml:15:21: a field has one comparer, and this is a second
       |
    15 |         tags: [set, key=name]
       |                     ^
    hint: join filters with `|`
    error: ./shop.yaml:17:22: the parent `team` is of the kind `Taem`, which the backend does not have
       |
    17 |       parent: {team: Taem}
       |                      ^
    hint: did you mean `Team`? the kinds are `Member`, `Order`, `Team`
    error: ./shop.yaml:20:15: `delete` would go to the same address for every Member: `{login}` of its key or `{id}` is missing
       |
    20 |       delete: DELETE /teams/{team}/members
       |               ^
    hint: name it in the path or the query, or in a `body` filter
    error: ./shop.yaml:21:5: an object of the kind `Order` could not be found again: its id is the server's, and there is no `list` to find it in
       |
    21 |     Order:
       |     ^
    hint: declare a `list`; or a `create` and a `read` by a name of yours, as `PUT /things/{name}`. Without either every run would create it once more
    9 errors.
    ");
}

#[test]
fn updates_that_nothing_guards_are_told_to_machines_too() {
    let backend = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: api}\nspec:\n  url: http://127.0.0.1:9\n  kinds:\n    \
                   Team: {key: {name: .name}, list: GET /t, read: 'GET /t/{name}', update: 'PUT /t/{name}'}\n";
    let scratch = Scratch::with("backend.yaml", backend);
    scratch.write("a.yaml", "apiVersion: api\nkind: Team\nmetadata: {name: a}\nspec: {n: 1}\n");
    let told = scratch.trueup("validate --output json -f a.yaml -f backend.yaml").done().expect(0).json();
    let finding = &told["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["kinds"]),
        (&"LostUpdateRisk".into(), &serde_json::json!(["Team"])),
        "{told}"
    );
    let sheet = scratch.trueup("explain Team -f a.yaml -f backend.yaml").done().expect(0).out;
    assert_eq!(sheet.matches("LostUpdateRisk: updates are unguarded").count(), 1, "{sheet}");
}

/// Whoever can write a file with a token decides what is sent. That others can read one is how CI mounts it.
#[cfg(unix)]
#[test]
fn a_token_that_everybody_can_write_is_told_once() {
    use std::os::unix::fs::PermissionsExt;
    let backend = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: api}\nspec:\n  url: http://127.0.0.1:9\n  auth: {bearer: \
                   {file: token.txt}}\n  kinds:\n    Team: {key: {name: .name}, read: 'GET /t/{name}'}\n";
    let scratch = Scratch::with("backend.yaml", backend);
    scratch.write("a.yaml", "apiVersion: api\nkind: Team\nmetadata: {name: a}\nspec: {n: 1}\n");
    scratch.write("token.txt", "t0k3n-of-mine\n");
    for (mode, times) in [(0o666, 1), (0o644, 0), (0o600, 0)] {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(scratch.path("token.txt"), permissions).expect("it is ours");
        let told = scratch.trueup("plan -f a.yaml -f backend.yaml").done().expect(1);
        let warning = "the token of the backend `api`, can be written by everybody";
        assert_eq!(told.err.matches(warning).count(), times, "{mode:o}: {}", told.told());
    }
}
