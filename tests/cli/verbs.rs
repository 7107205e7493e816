//! What a verb, an absence and an outcome mean differs from API to API. Each meaning is said in a kind, and then
//! the main job goes as anywhere: made, in sync, changed in one field, in sync, taken away.

use serde_json::{Value, json};

use crate::dialect::{Api, Dialect, Missing, Removal, Verb};
use crate::support::{Done, Scratch};

/// The kind `Thing`, with these words besides its key, on an API.
struct Job {
    api: Api,
    scratch: Scratch,
}

impl Job {
    fn new(dialect: Dialect, words: &[&str]) -> Job {
        let api = Api::start(dialect);
        let stated = |word: &str| words.iter().any(|line| line.starts_with(&format!("{word}:")));
        let usual = ["key: {name: .name}", "read: GET /things/{name}", "delete: DELETE /things/{name}"];
        let usual = usual.into_iter().filter(|line| !stated(line.split(':').next().unwrap_or_default()));
        let lines: Vec<String> =
            usual.chain(words.iter().copied()).map(|line| format!("      {line}\n")).collect();
        let head = "apiVersion: trueup/v1\nkind: Backend\nmetadata: {name: api}\nspec:\n";
        let backend = format!("{head}  url: {}\n  kinds:\n    Thing:\n{}", api.url(), lines.concat());
        Job { api, scratch: Scratch::with("backend.yaml", backend) }
    }

    fn want(&self, spec: &str) {
        let text = format!("apiVersion: api\nkind: Thing\nmetadata: {{name: k1}}\nspec: {spec}\n");
        self.scratch.write("thing.yaml", text);
    }

    fn run(&self, verb: &str) -> Done {
        self.scratch.trueup(&format!("{verb} -f thing.yaml -f backend.yaml")).done()
    }

    /// The thing as the server has it.
    fn thing(&self) -> Value {
        self.api.things().values().next().cloned().unwrap_or(Value::Null)
    }

    /// Makes the thing, changes one field and unsets another beside a field of somebody else's, and takes the
    /// thing away; nothing is written twice. Gives the writes.
    fn whole(&self) -> Vec<String> {
        self.want("{size: 1, color: red, kept: 5}");
        self.run("apply --yes").expect(0);
        self.run("drift").expect(0);
        for thing in self.api.things().values_mut() {
            thing["theirs"] = json!("x");
        }
        self.want("{size: 2, color: null, kept: 5}");
        self.run("apply --yes").expect(0);
        let thing = self.thing();
        let seen = [&thing["size"], &thing["color"], &thing["kept"], &thing["theirs"]];
        assert_eq!(seen, [&json!(2), &Value::Null, &json!(5), &json!("x")], "{thing}");
        let writes = self.api.writes().len();
        self.run("apply --yes").expect(0);
        assert_eq!(self.api.writes().len(), writes, "a second run writes nothing");
        self.run("delete --yes").expect(0);
        self.run("delete --yes").expect(0);
        self.api.writes()
    }
}

const USUAL: Dialect = Dialect {
    put: Verb::Upsert,
    patch: Verb::Merge,
    post: Verb::None,
    missing: Missing::Status404,
    removal: Removal::Gone,
    always_200: false,
    taken: None,
    overtaken: false,
    dotted_ids: false,
};
const PUT: &str = "PUT /things/k1";
const POST: &str = "POST /things/k1";
const PATCH: &str = "PATCH /things/k1";
const DELETE: &str = "DELETE /things/k1";
const NEW: &str = "POST /things";

/// The main job in a dialect, and the writes that it takes.
fn check(what: &str, dialect: Dialect, words: &[&str], writes: [&str; 3]) {
    assert_eq!(Job::new(dialect, words).whole(), writes, "{what}");
}

#[test]
fn what_put_post_and_patch_mean() {
    let upsert = "create: PUT /things/{name}";
    let post = "create: POST /things";
    let patch = "update: PATCH /things/{name}";
    check("PUT replaces or makes", USUAL, &[upsert], [PUT, PUT, DELETE]);
    check("PUT makes only", Dialect { put: Verb::Create, ..USUAL }, &[upsert, patch], [PUT, PATCH, DELETE]);
    check(
        "PUT merges",
        Dialect { put: Verb::Merge, ..USUAL },
        &[upsert, "update: {request: 'PUT /things/{name}', send: merge, type: application/json}"],
        [PUT, PUT, DELETE],
    );
    check(
        "PUT is 404 when absent",
        Dialect { put: Verb::Update, ..USUAL },
        &[post, "update: PUT /things/{name}"],
        [NEW, PUT, DELETE],
    );
    check(
        "POST on the item updates",
        Dialect { post: Verb::Update, ..USUAL },
        &[post, "update: POST /things/{name}"],
        [NEW, POST, DELETE],
    );
    check(
        "PATCH replaces whole",
        Dialect { patch: Verb::Update, ..USUAL },
        &[post, "update: {request: 'PATCH /things/{name}', send: full}"],
        [NEW, PATCH, DELETE],
    );
    check(
        "PATCH takes operations under plain JSON",
        Dialect { patch: Verb::Operations, ..USUAL },
        &[post, "update: {request: 'PATCH /things/{name}', send: json-patch, type: application/json}"],
        [NEW, PATCH, DELETE],
    );
    check(
        "dotted keys",
        Dialect { patch: Verb::Dotted, ..USUAL },
        &[
            post,
            "update:",
            "  request: PATCH /things/{name}",
            r#"  body: '. as $sent | [$changed[] | {key: ., value: (split(".") as $p | $sent | getpath($p))}] | from_entries'"#,
        ],
        [NEW, PATCH, DELETE],
    );
    check(
        "null is stored",
        Dialect { patch: Verb::MergeKeepingNull, ..USUAL },
        &[post, patch],
        [NEW, PATCH, DELETE],
    );
}

/// `!null` is a value where an API stores it, and cannot be said by a merge patch.
#[test]
fn a_null_that_is_a_value() {
    let job = Job::new(USUAL, &["create: PUT /things/{name}"]);
    job.want("{size: !null }");
    job.run("apply --yes").expect(0);
    assert_eq!(job.thing()["size"], Value::Null);
    let writes = job.api.writes().len();
    job.run("apply --yes").expect(0);
    assert_eq!(job.api.writes().len(), writes);
}

#[test]
fn an_id_that_differs_from_the_name() {
    let dialect = Dialect { put: Verb::Update, dotted_ids: true, ..USUAL };
    let words = [
        "list: GET /things",
        "read: GET /things/{id}",
        "create: POST /things",
        "update: PUT /things/{id}",
        "delete: DELETE /things/{id}",
    ];
    check("k1 has the id k1.", dialect, &words, [NEW, "PUT /things/k1.", "DELETE /things/k1."]);
}

#[test]
fn what_absence_looks_like() {
    let upsert = "create: PUT /things/{name}";
    let all = [PUT, PUT, DELETE];
    check(
        "200 with null",
        Dialect { missing: Missing::Null, ..USUAL },
        &[upsert, "absent: .body == null"],
        all,
    );
    check(
        "an answer without the member",
        Dialect { missing: Missing::NoMember, ..USUAL },
        &["read: {request: 'GET /things/{name}', item: .thing}", upsert, "absent: .body.thing == null"],
        all,
    );
    check(
        "an item that has expired",
        Dialect { removal: Removal::Marks("state", "expired"), ..USUAL },
        &[upsert, r#"absent: .body.state == "expired""#],
        all,
    );
    check(
        "an error inside a 200",
        Dialect { always_200: true, ..USUAL },
        &[
            "read: {request: 'GET /things/{name}', item: .result}",
            upsert,
            "failed: if .body.ok then false else .body.code end",
        ],
        all,
    );
    check(
        "a delete that needs cascade",
        Dialect { removal: Removal::OnlyCascading, ..USUAL },
        &[upsert, "delete: DELETE /things/{name}?cascade=true"],
        [PUT, PUT, "DELETE /things/k1?cascade=true"],
    );
}

/// Somebody else makes the thing between our look and our write: it is taken over, and not made twice.
#[test]
fn what_exists_looks_like() {
    let html = "<html><h1>duplicate key</h1></html>";
    for (taken, exists) in [
        ((409, r#"{"message": "conflict"}"#), ""),
        ((412, "Precondition Failed"), ""),
        ((400, r#"{"errors": [{"code": "NAME_TAKEN"}]}"#), r#"exists: .body.errors[0].code == "NAME_TAKEN""#),
        (
            (400, "k1 already exists"),
            r#"exists: '.status == 400 and (.body | tostring | contains("already exists"))'"#,
        ),
        ((500, html), r#"exists: '.status == 500 and (.body | tostring | contains("duplicate"))'"#),
    ] {
        let dialect = Dialect { taken: Some(taken), overtaken: true, ..USUAL };
        let job = Job::new(dialect, &["create: POST /things", "update: PUT /things/{name}", exists]);
        job.want("{size: 1}");
        job.run("apply --yes").expect(0);
        assert_eq!(job.api.writes(), [NEW], "{taken:?}");
        job.run("drift").expect(0);
    }
}

/// A refusal that no filter knows is told with what the server says, be it text or a page.
#[test]
fn errors_that_are_no_json() {
    for (status, body, want) in [
        (422, "size is too small", "the server answered 422 Unprocessable Content: size is too small"),
        (400, "<html><h1>Bad</h1></html>", "the server answered 400 Bad Request"),
    ] {
        let dialect = Dialect { put: Verb::Create, taken: Some((status, body)), ..USUAL };
        let words = ["create: POST /things", "update: PUT /things/{name}"];
        let job = Job::new(dialect, &words);
        job.api.things().insert("k1".into(), json!({"name": "k1", "size": 7}));
        job.want("{size: 1}");
        let told = job.run("apply --yes").expect(1).told();
        assert!(told.contains(want), "{told}");
    }
}

/// A delete that archives: the thing counts as absent, and its name stays taken.
#[test]
fn a_delete_that_archives() {
    let dialect = Dialect { removal: Removal::Marks("archived", "yes"), ..USUAL };
    let absent = "absent: .body.archived != null";
    let job = Job::new(dialect, &["create: POST /things", "update: PUT /things/{name}", absent]);
    job.want("{size: 1}");
    job.run("apply --yes").expect(0);
    job.run("delete --yes").expect(0);
    job.run("delete --yes").expect(0);
    assert_eq!(job.api.writes(), [NEW, DELETE]);
    let told = job.run("apply --yes").expect(1).told();
    assert!(told.contains("its name still taken by a deleted object"), "{told}");
    let restoring = Job::new(dialect, &["create: PUT /things/{name}", absent]);
    restoring.want("{size: 1}");
    for verb in ["apply --yes", "delete --yes", "apply --yes"] {
        restoring.run(verb).expect(0);
    }
    assert_eq!(restoring.thing()["archived"], Value::Null, "a PUT that replaces brings it back");
}
