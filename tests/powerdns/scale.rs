//! A zone of a thousand record sets: how many requests they take.

use std::fmt::Write as _;

use crate::shop::Shop;

pub const SETS: usize = 1000;

/// The zone and its record sets, of which `changed` says what the last number of the address is.
pub fn documents(changed: impl Fn(usize) -> usize) -> String {
    let head = "apiVersion: powerdns\nkind: ";
    let mut text = format!("{head}Zone\nmetadata: {{name: shop.test.}}\nspec: {{kind: Native}}\n");
    for n in 0..SETS {
        let name = format!("metadata: {{zone: shop.test., name: h{n}.shop.test., type: A}}");
        let spec = format!("spec: {{ttl: 300, records: [{{content: 10.0.{}.{}}}]}}", n / 100, changed(n));
        writeln!(text, "---\n{head}RRset\n{name}\n{spec}").expect("a string takes all");
    }
    text
}

#[test]
fn a_thousand_record_sets_take_a_handful_of_requests() {
    let Some(shop) = Shop::open("scale") else { return };
    shop.write("records.yaml", &documents(|n| n % 100));
    let report = shop.json("apply --yes", 0);
    assert_eq!((report.rows().len(), report.writes()), (SETS + 1, 3));
    assert!(report.requests("total") <= 12, "{:#}", report.0["summary"]);

    let plan = shop.json("plan", 0);
    assert!(plan.rows().is_empty());
    assert!(plan.requests("total") <= 3, "{:#}", plan.0["summary"]);

    shop.write("records.yaml", &documents(|n| if n % 10 == 0 { 200 } else { n % 100 }));
    let report = shop.json("apply --yes", 0);
    assert_eq!((report.rows().len(), report.writes()), (SETS / 10, 1));

    let report = shop.json("delete --yes", 0);
    assert_eq!((report.rows().len(), report.writes()), (SETS + 1, 3));
    // What goes is looked below, once for the plan and once before the deletions.
    assert!(report.requests("total") <= 16, "{:#}", report.0["summary"]);
}

#[test]
fn one_wrong_set_of_many_fails_alone() {
    let Some(shop) = Shop::open("halves") else { return };
    shop.write("records.yaml", &documents(|n| if n == 321 { 999 } else { n % 100 }));
    let report = shop.json("apply --yes", 4);
    let rows = shop.rows_of(&report);
    let failed: Vec<&String> = rows.iter().filter(|row| !row.starts_with("create done ")).collect();
    assert_eq!(failed, ["create failed RRset h321.shop.test./A/shop.test."]);
    assert!(report.writes() < 30, "{:#}", report.0["summary"]);
}
