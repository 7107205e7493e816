//! Keys beside bodies, and of kinds that are made on demand.

use super::*;

/// Whether the request of the create names the part or not: under another name, the object is another one.
#[test]
fn a_body_that_contradicts_its_key() {
    let told = |name: &str, spec: &str| {
        wrong(&format!("apiVersion: rabbitmq\nkind: {name}\nmetadata: {{name: b}}\nspec: {spec}\n"))
    };
    for kind in ["Posted", "Put"] {
        assert_eq!(
            told(kind, "{name: c}"),
            ["4:14: `name` is `c` here and `b` in `metadata` | leave `name` out of `spec`"]
        );
        assert_eq!(told(kind, "{name: b}"), [""; 0]);
        assert_eq!(told(kind, "{other: c}"), [""; 0]);
        let want = format!(
            "4:7: `spec` of a `{kind}` is a map: its `name` stands in it | write `spec: {{}}` for an empty body"
        );
        assert_eq!(told(kind, "[1]"), [want]);
    }
}

#[test]
fn kinds_can_be_made_on_demand() {
    let text = "apiVersion: local\nkind: Any\nmetadata: {zone: a, labels: {}, name: b}\nspec: {a: !ref {kind: Other, x: 1, field: .id}}";
    let source = Arc::new(Source { file: "a.yaml".into(), text: text.into() });
    let raws = yaml::parse(&source).expect("YAML");
    let Built { documents, problems, .. } = documents(raws, &OnDemand, &mut Outsides::new(&|_| None, &[]));
    assert_eq!(problems, []);
    assert_eq!(documents[0].id.to_string(), "Any a/b", "parts in the order of the file");
}

proptest! {
    #[test]
    fn the_order_of_a_documents_keys_is_of_no_account(seed in any::<prop::sample::Index>()) {
        let mut lines = ["apiVersion: rabbitmq\n", "kind: Queue\n", "metadata: {name: a, vhost: b}\n", "spec: {x: 1, y: [2]}\n"];
        let before = &sound(&lines.concat())[0];
        lines.rotate_left(seed.index(4));
        lines.swap(1, 3);
        let after = &sound(&lines.concat())[0];
        prop_assert_eq!(&before.id, &after.id);
        prop_assert_eq!(before.spec.to_value().expect("values"), after.spec.to_value().expect("values"));
    }
}
