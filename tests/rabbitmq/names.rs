//! Names that would change the shape of a URL: they name what they say, or are refused.

use crate::server::segment;
use crate::shop::Shop;

const TRAPS: [&str; 11] = [
    "a/b",
    "100%",
    "a%2Fb",
    "#1",
    "why?x=1",
    "two words",
    " edge ",
    "größe-日本-😀",
    "a+b&c;d",
    "..hidden",
    "q\"uote'\\",
];

/// A queue, an exchange, a policy and bindings under each name.
fn documents() -> String {
    let mut text = "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: shop/eu}\nspec: {}\n".to_owned();
    for trap in TRAPS {
        let name = serde_json::Value::from(trap);
        for (kind, key, spec) in [
            ("Queue", format!("name: {name}"), "{durable: true}"),
            ("Exchange", format!("name: {name}"), "{type: topic, durable: true}"),
            ("Policy", format!("name: {name}"), "{pattern: ^x, definition: {max-length: 1}}"),
            (
                "Binding",
                format!(
                    "source: {name}, destination: {name}, routing_key: {name}, arguments: {{{name}: {name}}}"
                ),
                "{}",
            ),
        ] {
            text += &format!(
                "---\napiVersion: rabbitmq\nkind: {kind}\nmetadata: {{vhost: shop/eu, {key}}}\nspec: {spec}\n"
            );
        }
    }
    text
}

#[test]
fn strange_names_are_names() {
    let Some(shop) = Shop::open("names") else { return };
    shop.write("a.yaml", &documents());
    let report = shop.json("apply --yes", 0);
    assert_eq!(report.rows().len(), 1 + 4 * TRAPS.len());
    for trap in TRAPS {
        let queue = shop.server.get(&format!("{}/{}", shop.path("/queues/{v}"), segment(trap)));
        assert_eq!(queue["name"], trap);
    }
    assert!(shop.rows("plan", 0).is_empty());
    for trap in ["a/b", "100%", "größe-日本-😀"] {
        let only = format!("Queue/names/eu/{trap}");
        let run = shop.run_words(&["plan", "-v", "--only", &only], 0);
        assert!(run.stdout.contains(&format!("Queue names/eu/{trap} ")), "{}", run.whole());
    }
    let report = shop.json("delete --yes", 0);
    assert_eq!(report.requests("delete"), 1 + 4 * TRAPS.len() as u64);
}

#[test]
fn steps_to_another_path_are_refused_before_anything_is_sent() {
    let Some(shop) = Shop::open("dots") else { return };
    for name in ["..", ".", "\"\"", "\"a\\tb\""] {
        let text =
            format!("apiVersion: rabbitmq\nkind: Queue\nmetadata: {{vhost: /, name: {name}}}\nspec: {{}}\n");
        shop.write("a.yaml", &text);
        for verb in ["validate", "plan", "apply --yes"] {
            let run = shop.run(verb, 65);
            assert!(run.stderr.contains("a.yaml:3:"), "{}", run.whole());
            assert!(
                run.stderr.contains("hint: in a URL") || run.stderr.contains("hint: URLs drop"),
                "{}",
                run.whole()
            );
        }
    }
}
