//! A zone of a thousand record sets: how many requests they take.

use std::fmt::Write as _;

use crate::shop::Shop;

const SETS: u64 = 1000;

#[test]
fn a_thousand_record_sets_are_planned_by_a_handful_of_requests() {
    let Some(shop) = Shop::open("scale") else { return };
    let mut text =
        "apiVersion: powerdns\nkind: Zone\nmetadata: {name: shop.test.}\nspec: {kind: Native}\n".to_owned();
    for n in 0..SETS {
        let head = "---\napiVersion: powerdns\nkind: RRset";
        let name = format!("metadata: {{zone: shop.test., name: h{n}.shop.test., type: A}}");
        let spec = format!("spec: {{ttl: 300, records: [{{content: 10.0.{}.{}}}]}}", n / 250, n % 250);
        writeln!(text, "{head}\n{name}\n{spec}").expect("a string takes all");
    }
    shop.write("records.yaml", &text);
    let report = shop.json("apply --yes", 0);
    assert_eq!(report.rows().len() as u64, SETS + 1);
    assert!(report.requests("total") < SETS + 20, "{:#}", report.0["summary"]);

    let plan = shop.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert!(plan.requests("total") <= 3, "{:#}", plan.0["summary"]);
}
