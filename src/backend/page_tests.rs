//! Paging against servers that count, cap, repeat and lie.

use super::*;

fn page(by: PageBy, size: Option<u64>) -> Page {
    Page {
        by,
        size,
        param: "p".into(),
        size_param: "n".into(),
        first: u64::from(by == PageBy::Page),
        next: None,
        total: None,
    }
}

fn held(count: u64) -> PageFacts {
    // The fingerprint differs from page to page as long as the count does; tests that repeat set it.
    PageFacts { count, fingerprint: distinct(count), ..PageFacts::default() }
}

/// A number that differs with each call in a test, without randomness.
fn distinct(count: u64) -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(1);
    CALLS.fetch_add(1, Ordering::Relaxed) * 1_000_003 + count
}

fn total(count: u64, total: u64) -> PageFacts {
    PageFacts { total: Some(total), ..held(count) }
}

fn next(count: u64, next: &str) -> PageFacts {
    PageFacts { next: (!next.is_empty()).then(|| next.into()), ..held(count) }
}

/// Tells the pages in order; gives what was asked for after each, and the pager.
fn run(page: Option<Page>, pages: &[PageFacts]) -> (Vec<Vec<PageAt>>, Pager) {
    let mut pager = Pager::new(page.as_ref());
    let asked = pages.iter().map(|facts| pager.next(facts).expect("a page")).collect();
    (asked, pager)
}

fn numbers(numbers: &[u64]) -> Vec<PageAt> {
    numbers.iter().copied().map(PageAt::Number).collect()
}

#[test]
fn numbered_pages_end_at_a_short_or_empty_one() {
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[held(100), held(100), held(3)]);
    assert_eq!(asked, [numbers(&[2]), numbers(&[3]), vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[held(100), held(0)]);
    assert_eq!(asked, [numbers(&[2]), vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
    let (asked, _) = run(Some(page(PageBy::Page, None)), &[held(7), held(7), held(0)]);
    assert_eq!(asked, [numbers(&[2]), numbers(&[3]), vec![]]);
}

#[test]
fn offsets_move_by_what_a_page_held() {
    let (asked, pager) = run(Some(page(PageBy::Offset, Some(500))), &[held(100), held(100), held(1)]);
    assert_eq!(asked, [numbers(&[100]), numbers(&[200]), vec![]], "the server caps its pages at 100");
    assert!(pager.incomplete().is_none());
    let (asked, _) = run(Some(page(PageBy::Offset, Some(500))), &[held(99)]);
    assert_eq!(asked, [vec![]], "99 is a short page, not a cap");
}

#[test]
fn a_total_gives_the_other_pages_at_once() {
    let (asked, pager) =
        run(Some(page(PageBy::Page, Some(100))), &[total(100, 350), total(100, 350), total(100, 350)]);
    assert_eq!(asked, [numbers(&[2, 3, 4]), vec![], vec![]]);
    assert!(!pager.at_end());
    let (asked, pager) = run(Some(page(PageBy::Offset, Some(100))), &[total(100, 150), total(50, 150)]);
    assert_eq!(asked, [numbers(&[100]), vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
}

#[test]
fn a_total_that_is_one_pages_own_count_is_not_believed() {
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[total(100, 100), total(40, 40)]);
    assert_eq!(asked, [numbers(&[2]), vec![]]);
    assert!(pager.incomplete().expect("it lies").contains("counts 40"));
}

#[test]
fn totals_that_lie_make_the_listing_incomplete() {
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[total(100, 130), total(0, 130)]);
    assert_eq!(asked, [numbers(&[2]), vec![]]);
    assert_eq!(pager.incomplete(), Some("the server counts 130 in all, and its pages held 100"));
    let (_, pager) = run(None, &[total(30, 31)]);
    assert!(pager.incomplete().is_some(), "no paging is declared");
    let (asked, _) = run(Some(page(PageBy::Page, Some(100))), &[total(100, 130), total(20, 130)]);
    assert_eq!(asked[1], numbers(&[3]), "a page that lost items to the one before: look on");
}

#[test]
fn a_page_beyond_the_count_may_be_refused() {
    let (_, pager) = run(Some(page(PageBy::Page, Some(500))), &[total(10, 10)]);
    assert!(pager.has_all() && !pager.at_end(), "ten may be all, or the most that a page holds");
    let (_, pager) = run(Some(page(PageBy::Page, Some(500))), &[total(10, 11)]);
    assert!(!pager.has_all());
    assert!(!run(Some(page(PageBy::Page, None)), &[held(10)]).1.has_all(), "nothing was counted");
    assert!(!Pager::new(None).has_all());
}

#[test]
fn an_empty_page_with_a_next_token_is_not_the_end() {
    let (asked, pager) = run(Some(page(PageBy::Cursor, None)), &[next(0, "a"), next(2, "b"), next(0, "")]);
    assert_eq!(asked, [vec![PageAt::Cursor("a".into())], vec![PageAt::Cursor("b".into())], vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
}

#[test]
fn what_repeats_is_an_error() {
    for by in [PageBy::Cursor, PageBy::Url, PageBy::Link] {
        let mut pager = Pager::new(Some(&page(by, None)));
        for cursor in ["a", "b"] {
            pager.next(&next(1, cursor)).expect("new");
        }
        assert_eq!(pager.next(&next(1, "a")), Err(PageError::Repeated("a".into())));
    }
    let mut pager = Pager::new(Some(&page(PageBy::Page, Some(10))));
    let same = held(10);
    pager.next(&same).expect("the first");
    assert_eq!(pager.next(&same), Err(PageError::SamePage("p".into())));
}

#[test]
fn there_is_a_last_page() {
    let mut pager = Pager::new(Some(&page(PageBy::Cursor, None)));
    let end = (0..).find_map(|i| pager.next(&next(1, &i.to_string())).err());
    assert_eq!(end, Some(PageError::TooMany));
    let mut pager = Pager::new(Some(&page(PageBy::Page, Some(10))));
    assert_eq!(pager.next(&total(10, u64::MAX)), Err(PageError::TooMany));
}

#[test]
fn what_brings_nothing_new_ends() {
    for by in [PageBy::Cursor, PageBy::Url, PageBy::Link] {
        let mut pager = Pager::new(Some(&page(by, None)));
        let circle = |n: u64| PageFacts { fingerprint: n % 2, ..next(3, &n.to_string()) };
        let end = (0..50).find_map(|n| pager.next(&circle(n)).err().map(|error| (n, error)));
        assert_eq!(end, Some((4, PageError::NothingNew)), "two pages, and three that are no news");
        let mut pager = Pager::new(Some(&page(by, None)));
        let end = (0..500).find_map(|n| pager.next(&next(0, &n.to_string())).err().map(|error| (n, error)));
        assert_eq!(end, Some((99, PageError::Empty)));
    }
    let mut pager = Pager::new(Some(&page(PageBy::Cursor, None)));
    for n in 0..300 {
        let count = u64::from(n % 50 == 0);
        pager.next(&next(count, &n.to_string())).expect("empty pages between full ones are allowed");
    }
    let same = |n: u64, next_one: &str| PageFacts { fingerprint: n, ..next(3, next_one) };
    let (_, pager) = run(Some(page(PageBy::Cursor, None)), &[same(1, "a"), same(1, "b"), same(2, "")]);
    assert!(pager.at_end() && pager.incomplete().is_none(), "one page that brings nothing new is no circle");
}

fn more(count: u64) -> PageFacts {
    let declare = Some("{by: cursor, next: .next}".into());
    PageFacts { more: Some("`.next` in its body".into()), declare, ..held(count) }
}

#[test]
fn signs_of_more_make_it_incomplete() {
    let (_, pager) = run(None, &[PageFacts { declare: None, ..more(3) }]);
    let why = "the answer shows more (`.next` in its body), and the backend declares no paging; check `page` of the listing";
    assert_eq!(pager.incomplete(), Some(why));
    for by in [PageBy::Cursor, PageBy::Url, PageBy::Link] {
        let (asked, pager) = run(Some(page(by, None)), &[more(3)]);
        assert_eq!(asked, [vec![]]);
        let why = "the last page shows more (`.next` in its body), which `page` as declared does not follow; declare `page: {by: cursor, next: .next}`";
        assert_eq!(pager.incomplete(), Some(why));
    }
    let (_, pager) = run(Some(page(PageBy::Cursor, None)), &[PageFacts { hinted: Some(5), ..held(3) }]);
    let why = "the server counts 5 in all, and its pages held 3: check `page` of the listing";
    assert_eq!(pager.incomplete(), Some(why));
    let (_, pager) = run(Some(page(PageBy::Cursor, None)), &[PageFacts { hinted: Some(2), ..held(3) }]);
    assert!(pager.incomplete().is_none(), "it may be the count of one page");
    let (_, pager) = run(None, &[held(3)]);
    assert!(pager.at_end() && pager.incomplete().is_none());
}

#[test]
fn a_short_page_that_shows_more_is_not_the_last() {
    let (asked, pager) = run(Some(page(PageBy::Offset, Some(100))), &[more(3), more(3), held(1)]);
    assert_eq!(asked, [numbers(&[3]), numbers(&[6]), vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
    let hinted = |count| PageFacts { hinted: Some(7), ..held(count) };
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[hinted(3), hinted(3), hinted(1)]);
    assert_eq!(asked, [numbers(&[2]), numbers(&[3]), vec![]]);
    assert!(pager.at_end() && pager.incomplete().is_none());
    let (asked, pager) = run(Some(page(PageBy::Page, Some(100))), &[more(3), more(0)]);
    assert_eq!(asked, [numbers(&[2]), vec![]]);
    assert!(pager.incomplete().is_some(), "an empty page that shows more");
}

/// An element that stands twice on a page, or on every page, leads an offset past another.
#[test]
fn an_offset_that_a_page_leads_too_far_proves_nothing() {
    let by_offset = || Some(page(PageBy::Offset, Some(100)));
    let why = "a page held 101 where 100 were asked for, so that the next offset may have skipped others: check `page` \
               of the listing";
    for pages in [
        vec![held(101), held(0)],
        vec![held(100), held(101), held(3)],
        vec![total(101, 102), total(1, 102)],
        vec![held(100), held(101), held(0)],
    ] {
        let (_, pager) = run(by_offset(), &pages);
        assert!(pager.at_end(), "{pages:?}");
        assert_eq!(pager.incomplete(), Some(why), "{pages:?}");
    }
    let (_, all) = run(by_offset(), &[total(300, 300), total(0, 300)]);
    assert_eq!(all.incomplete(), Some(&*why.replace("101", "300")), "an empty page was led to by an offset");
    let (_, numbered) = run(Some(page(PageBy::Page, Some(100))), &[held(101), held(3)]);
    assert_eq!(numbered.incomplete(), None, "a number does not depend on what the page before held");
}
