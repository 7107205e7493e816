//! Adopting a zone that is there: exported, its plan is empty, and exported again it is the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::scale::{SETS, documents};
use crate::shop::Shop;

/// The files of a folder, by name.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry"));
    let text = |entry: &fs::DirEntry| fs::read_to_string(entry.path()).expect("a text");
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), text(&entry))).collect()
}

#[test]
fn a_zone_of_a_thousand_record_sets_is_adopted() {
    let Some(shop) = Shop::open("adopt") else { return };
    shop.write("records.yaml", &documents(|n| n % 100));
    shop.run("apply --yes", 0);
    fs::remove_file(shop.path().join("records.yaml")).expect("it was there");

    shop.run("export -o adopted", 0);
    let first = files(&shop.path().join("adopted"));
    let plan = shop.json("plan -v", 0);
    let sets = plan.rows().iter().filter(|row| row.starts_with("none in-sync RRset ")).count();
    // The server made the SOA and a metadata of its own.
    assert_eq!((sets, plan.rows().len()), (SETS + 1, SETS + 3));
    assert!(plan.requests("total") <= 4, "{:#}", plan.0["summary"]);
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);

    shop.run("export -o adopted", 0);
    assert_eq!(files(&shop.path().join("adopted")), first, "the same state gives the same bytes");
    let one = "kind: RRset\nmetadata:\n  zone: shop.test.\n  name: h7.shop.test.\n  type: A\nspec:\n  \
               records:\n    - content: \"10.0.0.7\"\n  ttl: 300\n";
    assert!(first["RRset.yaml"].contains(&shop.named(one)), "{:.2000}", first["RRset.yaml"]);
}
