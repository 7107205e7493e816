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
fn signs_of_more_make_it_incomplete() {
    let more = PageFacts { more: Some("a Link to the next page".into()), ..held(3) };
    let (_, pager) = run(None, std::slice::from_ref(&more));
    let why = "the answer shows more (a Link to the next page), and the backend declares no paging";
    assert_eq!(pager.incomplete(), Some(why));
    let (_, pager) = run(Some(page(PageBy::Page, Some(100))), &[more]);
    assert!(pager.incomplete().is_some());
    let (_, pager) = run(None, &[held(3)]);
    assert!(pager.at_end() && pager.incomplete().is_none());
}
