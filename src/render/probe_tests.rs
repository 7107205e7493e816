//! How a probe looks.

use insta::assert_snapshot;

use super::*;
use crate::core::identity::KindName;
use crate::core::report::Requests;

fn probe() -> Probe {
    let name = |kind: &str| KindName { backend: "shop".into(), kind: kind.into() };
    let mut team = Probed::new(name("Team"));
    team.understand("items", "2 on one page, at `.items`");
    team.understand("server id", "at `.id`: a number");
    team.contradict(Finding::new("NotAList", "`tags` is a string, and the word `set` is for lists"));
    team.unconfirmed.push(Finding::new("MaskUnseen", "`pin` has a mask").hint("look at another"));
    team.suggest(Place::Fields, "id: server-owned", "the server's id");
    team.suggest(Place::Fields, "created_at: server-owned", "a time");
    team.suggest(Place::Kind, "version: etag", "own reads have one");
    team.suggest(Place::List, "page: {by: link}", "the answer shows more \u{1b}[31m");
    let mut order = Probed::new(name("Order"));
    order.failures.push(Finding::new("ListFailed", "listing Order: the server answered 403 Forbidden"));
    let skipped = Probed { skipped: Some("no Team was found".into()), ..Probed::new(name("Member")) };
    Probe {
        kinds: vec![team, order, skipped],
        requests: Requests { list: 2, read: 4, ..Requests::default() },
    }
}

#[test]
fn as_text() {
    assert_snapshot!(text(&probe()).to_plain(), @r"
    Team of shop
      items       2 on one page, at `.items`
      server id   at `.id`: a number
      ! NotAList: `tags` is a string, and the word `set` is for lists
      ? MaskUnseen: `pin` has a mask
        hint: look at another
      + the answers suggest
          version: etag  # own reads have one
          list:
            page: {by: link}  # the answer shows more \u{1b}[31m
          fields:
            id: server-owned          # the server's id
            created_at: server-owned  # a time

    Order of shop
      ! ListFailed: listing Order: the server answered 403 Forbidden

    Member of shop
      not looked at: no Team was found

    Probed: 3 kinds, 1 contradiction, 1 not reached, 1 not looked at, 1 not confirmed, 4 suggestions. 6 requests, none of which wrote.
    ");
}

#[test]
fn as_json() {
    let document: serde_json::Value =
        serde_json::from_str(&crate::render::probe_json::document(&probe())).expect("JSON");
    assert_eq!(document["summary"]["contradictions"], 1);
    assert_eq!(document["summary"]["requests"]["read"], 4);
    assert_eq!(document["kinds"][0]["suggestions"][2]["place"], "kind");
    assert_eq!(document["kinds"][2]["skipped"], "no Team was found");
    let lines = crate::render::probe_json::lines(&probe());
    let types: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["type"].to_string())
        .collect();
    assert_eq!(types, ["\"kind\"", "\"kind\"", "\"kind\"", "\"summary\""]);
}
