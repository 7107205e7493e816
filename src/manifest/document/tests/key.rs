//! Keys beside bodies and beside one another, and of kinds that are made on demand.

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

#[test]
fn two_documents_for_one_object_are_an_error() {
    let record =
        |name: &str| format!("---\napiVersion: rabbitmq\nkind: Record\nmetadata: {{name: {name}}}\n");
    let (documents, problems) = load(&(record("Example.org") + &record("example.org")));
    assert_eq!(documents.len(), 2);
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["a.yaml:6:1: `Record example.org` is described twice, first in a.yaml:2:1"]);
    let vhost = |name: &str| format!("---\napiVersion: rabbitmq\nkind: VHost\nmetadata: {{name: {name}}}\n");
    let (_, problems) = load(&(vhost("A") + &vhost("a")));
    assert!(problems.len() == 1 && problems[0].warning);
    assert_eq!(
        problems[0].to_string(),
        "a.yaml:6:1: `VHost a` and `VHost A` (a.yaml:2:1) differ in letter case alone"
    );
}

/// A pinned id is the object, whatever the documents call it.
#[test]
fn two_documents_that_pin_one_object_are_an_error() {
    let pinned = |kind: &str, metadata: &str, more: &str| {
        format!(
            "---\napiVersion: rabbitmq\nkind: {kind}\nmetadata: {{{metadata}, annotations: {{trueup/id: \"17\"{more}}}}}\n"
        )
    };
    let told = |texts: &[String]| -> Vec<String> {
        load(&texts.concat()).1.iter().map(ToString::to_string).collect()
    };
    let (a, b) = (pinned("VHost", "name: a", ""), pinned("VHost", "name: b", ""));
    assert_eq!(
        told(&[a.clone(), b]),
        [
            "a.yaml:6:1: `VHost b` and `VHost a` (a.yaml:2:1) both have `trueup/id: 17`: they are one object of the server, \
             and each would undo what the other wants"
        ]
    );
    let exists = pinned("VHost", "name: b", ", trueup/ensure: exists");
    assert_eq!(told(&[a.clone(), exists]), [""; 0], "it writes nothing");
    assert_eq!(told(&[a, pinned("Record", "name: c", "")]), [""; 0], "ids of another kind");
}

/// Two names that are one to a server that folds them, or to a reader.
#[test]
fn names_that_are_alike_are_warned_of() {
    let vhost = |name: &str| format!("---\napiVersion: rabbitmq\nkind: VHost\nmetadata: {{name: {name}}}\n");
    for (one, other, said) in [
        ("caf\u{e9}", "cafe\u{301}", "differ in the composition of their characters alone"),
        ("ｏrders", "orders", "differ in the composition of their characters alone"),
        ("\u{430}dmin", "admin", "look the same, and have letters of different alphabets"),
        ("Straße", "STRASSE", ""),
        ("orders", "order", ""),
    ] {
        let (documents, problems) = load(&(vhost(one) + &vhost(other)));
        assert_eq!(documents.len(), 2);
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let is_told = told.len() == 1 && told[0].contains(said) && problems[0].warning;
        assert!(if said.is_empty() { told.is_empty() } else { is_told }, "{one} {other}: {told:?}");
    }
}
