//! What an export leaves out of an object.

use insta::assert_snapshot;
use serde_json::json;

use super::{THINGS, backend, export, things};
use crate::support::Scratch;

/// The mark is added to whatever a run manages, and a field that is never shown may not be there at all.
#[test]
fn the_owner_mark_and_a_field_that_is_never_shown() {
    let server = things(json!([{"name": "a", "size": 1, "meta": {"by": "somebody"}}]));
    let scratch = Scratch::new();
    let kinds = THINGS.replace("Thing: {", "Thing: {owner: meta.by, fields: {pw: write-only}, ");
    scratch.write("b.yaml", backend(&server.url(), &kinds));
    assert_snapshot!(export(&scratch, "Thing").told(), @r#"
    exit 0
    apiVersion: demo
    kind: Thing
    metadata:
      name: a
    # left out: pw (write-only: the server does not show whether there is one)
    spec:
      size: 1
    --- stderr
    1 document exported. 1 request.
    "#);
}

/// Of a mark that is one element of a list, a Set tells whose it is; what others have in the list stays.
#[test]
fn the_owner_mark_among_other_elements() {
    let server = things(json!([{"name": "a", "tags": ["x", "me"]}, {"name": "b", "tags": ["me"]}]));
    let scratch = Scratch::new();
    let kinds = THINGS.replace("Thing: {", "Thing: {owner: 'tags[*]', ");
    let set =
        "apiVersion: trueup/v1\nkind: Set\nmetadata: {name: s}\nspec: {owner: me, scope: [{kind: Thing}]}\n";
    scratch.write("b.yaml", backend(&server.url(), &kinds));
    scratch.write("s.yaml", set);
    let told = export(&scratch, "-f s.yaml Thing");
    assert_snapshot!(told.out, @r"
    apiVersion: demo
    kind: Thing
    metadata:
      name: a
    spec:
      tags:
        - x
    ---
    apiVersion: demo
    kind: Thing
    metadata:
      name: b
    spec: {}
    ");
}
