//! Wrong input, and a server that says so in JSON here and in plain text there: said clearly, and the rest
//! goes on.

use crate::shop::Shop;

fn rrset(name: &str, kind: &str, content: &str) -> String {
    format!(
        "---\napiVersion: powerdns\nkind: RRset\nmetadata: {{zone: shop.test., name: {name}, type: {kind}}}\n\
         spec: {{ttl: 60, records: [{{content: '{content}'}}]}}\n"
    )
}

#[test]
fn what_the_server_does_not_take_is_said_in_its_words_and_the_rest_is_done() {
    let Some(shop) = Shop::stocked("wrong") else { return };
    let wrong = [
        ("a", "TXT", "unquoted", "Not in expected format (parsed as '\"unquoted\"')"),
        ("b", "CNAME", "www.shop.test", "Not in expected format (parsed as 'www.shop.test.')"),
        ("c", "A", "192.0.2.999", "unable to parse IP address"),
        ("d", "NONE", "x", "unknown type given"),
    ];
    let mut text = rrset("fine.shop.test.", "A", "192.0.2.1");
    for (name, kind, content, _) in wrong {
        text += &rrset(&format!("{name}.shop.test."), kind, content);
    }
    text += &rrset("www", "A", "192.0.2.1");
    shop.write("wrong.yaml", &text);
    let report = shop.json("apply --yes", 4);
    let message =
        |name: &str| report.object(&shop.named(name))["message"].as_str().expect("a message").to_owned();
    for (name, kind, _, said) in wrong {
        let message = message(&format!("RRset {name}.shop.test./{kind}/shop.test."));
        assert!(message.contains("the server answered 422 Unprocessable Content: "), "{message}");
        assert!(message.contains(&shop.named(said)), "{message}");
    }
    assert!(message("RRset www/A/shop.test.").ends_with("RRset www. IN A: Name is out of zone"));
    assert_eq!(report.object(&shop.named("RRset fine.shop.test./A/shop.test."))["result"], "done");
    assert!(shop.rrset("fine.shop.test.", "A").is_some());
}

#[test]
fn a_value_that_the_server_makes_another_of_is_named() {
    let Some(shop) = Shop::open("typo") else { return };
    shop.write(
        "a.yaml",
        "apiVersion: powerdns\nkind: Zone\nmetadata: {name: shop.test.}\nspec: {kind: Slvae}\n",
    );
    let report = shop.json("apply --yes", 4);
    let zone = report.object(&shop.named("Zone shop.test."));
    assert_eq!(zone["result"], "not-effective", "{zone:#}");
    assert_eq!(report.paths(&shop.named("Zone shop.test.")), ["kind"]);
}

#[test]
fn a_wrong_key_is_an_error_that_says_where_it_comes_from() {
    let Some(mut shop) = Shop::stocked("login") else { return };
    shop.set_env("POWERDNS_API_KEY", "wrong");
    for line in ["plan", "apply --yes"] {
        let run = shop.run(line, 1);
        assert!(run.stdout.contains("the server answered 401 Unauthorized\n"), "{}", run.whole());
        let hint = "hint: check the credential, which comes from env:POWERDNS_API_KEY";
        assert!(run.stdout.contains(hint), "{}", run.whole());
    }
}

#[test]
fn records_of_a_zone_that_nobody_makes_fail_with_no_request_to_them() {
    let Some(shop) = Shop::open("nowhere") else { return };
    let text = ["a", "b", "c"].map(|name| rrset(&format!("{name}.shop.test."), "A", "192.0.2.1"));
    shop.write("a.yaml", &text.concat());
    for line in ["plan", "apply --yes"] {
        let report = shop.json(line, 1);
        assert_eq!(report.requests("total"), 1, "the look at the zone");
        for object in report.objects() {
            assert_eq!(object["result"], "failed");
            assert_eq!(object["message"], shop.named("its parent `Zone shop.test.` does not exist"));
        }
    }
}

#[test]
fn metadata_that_has_a_field_of_the_zone_is_refused_by_the_server() {
    let Some(shop) = Shop::stocked("metadata") else { return };
    shop.write(
        "a.yaml",
        "apiVersion: powerdns\nkind: Metadata\nmetadata: {zone: shop.test., kind: SOA-EDIT-API}\n\
         spec: {metadata: [INCREASE]}\n",
    );
    let report = shop.json("apply --yes", 1);
    let message = report.object(&shop.named("Metadata SOA-EDIT-API/shop.test."))["message"].clone();
    let message = message.as_str().expect("a message");
    assert!(
        message.ends_with("422 Unprocessable Content: Unsupported metadata kind 'SOA-EDIT-API'"),
        "{message}"
    );
}
