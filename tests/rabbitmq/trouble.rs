//! A wrong credential, and a parent that is not there: said clearly, with nothing sent in vain.

use crate::shop::Shop;

#[test]
fn a_wrong_password_is_an_error_that_says_where_it_comes_from() {
    let Some(mut shop) = Shop::stocked("login") else { return };
    shop.set("RABBITMQ_PASSWORD", "wrong");
    for line in ["plan", "apply --yes"] {
        let run = shop.run(line, 1);
        assert!(run.stdout.contains("401 Unauthorized"), "{}", run.whole());
        let hint = "hint: check the credential, which comes from env:RABBITMQ_PASSWORD";
        assert!(run.stdout.contains(hint), "{}", run.whole());
        let skipped = "    skipped: it needs `VHost login/eu`, which is unknown\n";
        assert!(run.stdout.contains(skipped), "{}", run.whole());
    }
    let get = shop.run("get User", 1);
    assert!(get.stderr.contains("401 Unauthorized"), "{}", get.whole());
}

#[test]
fn queues_of_a_virtual_host_that_nobody_makes_fail_with_no_request_to_them() {
    let Some(shop) = Shop::open("nowhere") else { return };
    let queue = |name: &str| {
        format!("apiVersion: rabbitmq\nkind: Queue\nmetadata: {{vhost: shop/eu, name: {name}}}\nspec: {{}}\n")
    };
    shop.write("a.yaml", &[queue("a"), queue("b"), queue("c")].join("---\n"));
    for line in ["plan", "apply --yes"] {
        let report = shop.json(line, 1);
        assert_eq!(report.requests("total"), 1, "the look at the virtual host");
        assert_eq!(report.rows().len(), 3);
        for object in report.objects() {
            assert_eq!(object["result"], "failed");
            assert_eq!(object["message"], "its parent `VHost nowhere/eu` does not exist");
        }
    }
}
