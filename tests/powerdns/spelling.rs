//! Names and contents that are spelled in more than one way, and names that would change the shape of a URL.

use crate::shop::Shop;

fn rrset(zone: &str, name: &str, kind: &str, contents: &[&str]) -> String {
    let records: Vec<String> = contents.iter().map(|content| format!("{{content: '{content}'}}")).collect();
    format!(
        "---\napiVersion: powerdns\nkind: RRset\nmetadata: {{zone: '{zone}', name: '{name}', type: {kind}}}\n\
         spec: {{ttl: 60, records: [{}]}}\n",
        records.join(", ")
    )
}

#[test]
fn what_is_spelled_differently_is_the_same() {
    let Some(shop) = Shop::stocked("same") else { return };
    for (name, kind, ours, theirs) in [
        ("A.shop.test", "AAAA", "2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("b.SHOP.test.", "CNAME", "Target.Shop.test.", "target.shop.test."),
        ("c.shop.test.", "mx", "10 Mail.Example.ORG.", "10 mail.example.org."),
        ("d.shop.test.", "ptr", "Host.Example.org.", "HOST.example.ORG."),
    ] {
        let text = rrset("SHOP.test", name, kind, &[ours]).replace("SHOP", "Shop");
        shop.write("one.yaml", &text);
        shop.set(
            &name.to_lowercase().replace("test.", "test").replace("test", "test."),
            &kind.to_uppercase(),
            60,
            &[theirs],
        );
        let verbose = shop.rows("plan -v --only RRset/*", 0);
        assert!(verbose.iter().all(|row| row.starts_with("none in-sync ")), "{verbose:#?}");
        // Nine, and the zone that they need.
        assert_eq!(verbose.len(), 10);
    }
    // A text is a text.
    shop.write("one.yaml", &rrset("shop.test.", "e.shop.test.", "TXT", &["\"Case. Counts.\""]));
    shop.set("e.shop.test.", "TXT", 60, &["\"case. counts.\""]);
    assert_eq!(shop.rows("plan", 0), ["update planned RRset e.shop.test./TXT/shop.test."]);
}

#[test]
fn an_address_that_is_there_in_another_spelling_is_not_written_again() {
    let Some(shop) = Shop::stocked("again") else { return };
    let text = rrset("shop.test.", "a.shop.test.", "AAAA", &["2001:DB8::A", "2001:db8:0::b"]);
    shop.write("one.yaml", &text);
    assert_eq!(shop.json("apply --yes", 0).writes(), 1);
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
    shop.write("one.yaml", &text.replace("::b", "::c"));
    let plan = shop.json("plan", 0);
    let name = shop.named("RRset a.shop.test./AAAA/shop.test.");
    assert_eq!(plan.paths(&name), ["records[content=2001:db8:0::c]", "records[content=2001:db8::b]"]);
}

#[test]
fn a_file_does_not_turn_the_serial_back() {
    let Some(shop) = Shop::stocked("serial") else { return };
    let serial = || shop.zone()["serial"].as_u64().expect("a number");
    for _ in 0..5 {
        shop.set("x.shop.test.", "A", 60, &["192.0.2.1"]);
    }
    let before = serial();
    shop.take("changed", "records.yaml");
    let plan = shop.json("plan --only RRset/*/SOA", 0);
    assert_eq!(plan.rows().len(), 1);
    shop.run("apply --yes", 0);
    assert!(serial() > before, "{} {before}", serial());
    assert!(shop.rows("plan", 0).is_empty());
}

#[test]
fn strange_names_are_names() {
    let Some(shop) = Shop::stocked("strange") else { return };
    let zone =
        "---\napiVersion: powerdns\nkind: Zone\nmetadata: {name: 0/26.shop.test.}\nspec: {kind: Native}\n";
    let mut text = rrset("0/26.shop.test.", "1.0/26.shop.test.", "PTR", &["host.shop.test."]) + zone;
    for name in ["*.x.shop.test.", "_dmarc.shop.test.", "a/b.shop.test.", "xn--bcher-kva.shop.test."] {
        text += &rrset("shop.test.", name, "TXT", &["\"x\""]);
    }
    shop.write("strange.yaml", &text);
    let made = shop.json("apply --yes", 0);
    assert_eq!((made.rows().len(), made.writes()), (6, 3), "a zone, and the records of two");
    assert_eq!(shop.json("apply --yes", 0).writes(), 0);
    shop.write(
        "strange.yaml",
        &text.replace("metadata: {", "metadata: {annotations: {trueup/ensure: absent}, "),
    );
    let rows = shop.rows("apply --yes", 0);
    assert_eq!(rows.len(), 6, "{rows:#?}");
    assert!(shop.server.get(&shop.named("/zones/0=2F26.shop.test.")).is_null());
}
