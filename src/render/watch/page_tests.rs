use base64::Engine as _;
use ring::digest::{SHA256, digest};

use super::super::sample::{self, harmless};
use super::*;
use crate::core::watch::{ObjectStatus, Snapshot};

fn shown(snapshot: &Snapshot, query: &str) -> String {
    page(&sample::document(snapshot), &Ask::of(query), true)
}

/// Where each of these stands, which must be in this order.
#[track_caller]
fn in_order(text: &str, pieces: &[&str]) {
    let places: Vec<_> =
        pieces.iter().map(|piece| text.find(piece).unwrap_or_else(|| panic!("no {piece}: {text}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
}

/// Set `TRUEUP_PAGES` to a folder to look at the pages in a browser.
#[test]
fn pages_can_be_looked_at() {
    let mut many = sample::snapshot();
    let well = many.status.objects[0].clone();
    many.status.objects.extend(
        (0..989).map(|at| ObjectStatus { id: sample::id("Queue", &format!("orders-{at}")), ..well.clone() }),
    );
    for (name, snapshot) in [("trouble", &many), ("well", &sample::well()), ("hostile", &sample::hostile())] {
        let text = shown(snapshot, "paused=1");
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"), "{name}");
        if let Some(folder) = std::env::var_os("TRUEUP_PAGES") {
            std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), text)
                .expect("written");
        }
    }
}

#[test]
fn the_policy_knows_the_style() {
    let hash = base64::engine::general_purpose::STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    assert!(POLICY.contains(&format!("'sha256-{hash}'")), "the style is another: its hash is {hash}");
}

#[test]
fn counts_come_first_and_trouble_before_what_is_well() {
    let text = shown(&sample::snapshot(), "");
    in_order(
        &text,
        &[
            "9 of 11 need a look",
            "The files are not valid",
            "manifests/new.yaml",
            "is not asked since",
            "40 writes in 10",
            "//stalled<",
            "//contested<",
            "//failing<",
            "//starting<",
            "//orders<",
        ],
    );
    in_order(&text, &["next try in 5m 0s", "Stalled = True</dt><dd>NoRetry: trying again changes nothing"]);
    assert!(shown(&sample::well(), "").contains("<h1 class=\"good\">All 2 in sync</h1>"));
    assert!(shown(&Snapshot::default(), "").contains("No objects"));
}

#[test]
fn the_query_chooses() {
    let names = |query: &str| -> Vec<String> {
        let text = shown(&sample::snapshot(), query);
        text.split("</span> //")
            .skip(1)
            .map(|rest| rest[..rest.find('<').expect("its end")].to_owned())
            .collect()
    };
    assert_eq!(names("condition=Conflict"), ["contested"]);
    assert_eq!(names("condition=Ready"), ["starting"]);
    assert_eq!(names("condition=Synced").len(), 8, "those that wait too");
    assert_eq!(names("q=POLICY%2F").len(), 2, "by kind, in any case");
    assert_eq!(names("q=orders&condition=Synced"), [""; 0]);
    assert_eq!(names("from=10").len(), 1);
    assert_eq!(names("from=99999999999999999999&condition=&x=y").len(), 11, "what makes no sense is ignored");
    assert_eq!(names("from=100").len(), 0);
}

#[test]
fn many_objects_come_in_pages() {
    let mut snapshot = sample::well();
    let one = snapshot.status.objects[0].clone();
    snapshot.status.objects = (0..450)
        .map(|at| ObjectStatus { id: sample::id("Queue", &format!("q{at}")), ..one.clone() })
        .collect();
    let second = shown(&snapshot, "from=200&q=queue");
    assert!(second.contains("201 to 400 of 450"), "{second}");
    assert!(second.contains("href=\"?q=queue&amp;from=400\""), "{second}");
    assert!(second.contains("href=\"?q=queue\""), "{second}");
    assert_eq!(second.matches("<li class=\"is-good\">").count(), 200);
}

#[test]
fn it_refreshes_until_it_is_told_not_to() {
    assert!(shown(&sample::well(), "").contains("http-equiv=\"refresh\" content=\"15\""));
    let paused = shown(&sample::well(), "paused=1");
    assert!(!paused.contains("http-equiv") && paused.contains("Refresh by itself"));
    let document = sample::document(&sample::well());
    assert!(!page(&document, &Ask::default(), false).contains("resync"));
}

#[test]
fn what_is_hostile_is_text() {
    let evil: String = url::form_urlencoded::byte_serialize(sample::HOSTILE.as_bytes()).collect();
    let text = shown(&sample::hostile(), &format!("condition={evil}"));
    harmless(&text);
    let text = text + &shown(&sample::hostile(), &format!("q={evil}")) + &shown(&sample::hostile(), "");
    harmless(&text);
    assert!(!text.contains("<script"), "{text}");
    assert!(text.contains("<dt>PossibleOverwrite</dt><dd>&lt;script&gt;"), "{text}");
    assert!(
        text.contains("<p>Nothing is heard of <strong>powerdns</strong> since 2026-12-01T12:01:00Z"),
        "{text}"
    );
    assert!(
        text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{1b}[2J\\u{202e}evil"),
        "{text}"
    );
    for from_elsewhere in ["http://", "https://", " src=", "url(", "@import", "style=", "javascript:"] {
        assert!(!text.contains(from_elsewhere), "{from_elsewhere}: {text}");
    }
}
