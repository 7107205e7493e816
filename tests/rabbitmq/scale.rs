//! A thousand queues: how many requests they take.

use std::fmt::Write as _;

use crate::shop::Shop;

const QUEUES: u64 = 1000;

#[test]
fn a_thousand_queues_are_made_by_a_request_each_and_watched_by_a_handful() {
    let Some(shop) = Shop::open("scale") else { return };
    let mut text = "apiVersion: rabbitmq\nkind: VHost\nmetadata: {name: shop/eu}\n".to_owned();
    for n in 0..QUEUES {
        let head = "---\napiVersion: rabbitmq\nkind: Queue";
        let name = format!("metadata: {{vhost: shop/eu, name: q{n}}}");
        writeln!(text, "{head}\n{name}\nspec: {{durable: true, arguments: {{x-max-length: {n}}}}}")
            .expect("a string takes all");
    }
    shop.write("queues.yaml", &text);
    let report = shop.json("apply --yes", 0);
    assert_eq!(report.writes(), QUEUES + 1);
    assert!(report.requests("total") < QUEUES + 20, "{:#}", report.0["summary"]);

    let plan = shop.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert_eq!(plan.0["summary"]["seen"], QUEUES + 1);
    assert!(plan.requests("total") <= 4, "{:#}", plan.0["summary"]);
}
