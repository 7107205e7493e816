//! The rules of the queue.

use std::time::Duration;

use super::super::hint::{Class, Origin};
use super::super::queue::{Entry, Queue};
use super::make::seconds;

fn entry(ready: f64, origin: Origin) -> Entry {
    Entry::new(seconds(ready), origin)
}

fn any(_: usize, _: Class) -> bool {
    true
}

fn order(queue: &mut Queue, now: f64) -> Vec<usize> {
    queue.promote(seconds(now));
    let mut order = Vec::new();
    while let Some((target, class)) = queue.first(seconds(now), any) {
        let (_, at) = queue.due(target, class).next().expect("whose turn it is, is due");
        queue.remove(at);
        order.push(at);
    }
    order
}

#[test]
fn where_two_meet_the_earliest_time_and_the_highest_class_win() {
    let mut queue = Queue::default();
    assert!(queue.put(7, 0, entry(60.0, Origin::Retry)));
    assert!(!queue.put(7, 0, entry(90.0, Origin::Feed)), "one entry an object");
    assert!(!queue.put(7, 0, entry(80.0, Origin::Resync)));
    let merged = *queue.get(7).expect("it is there");
    assert_eq!((merged.ready, merged.class, merged.origin), (seconds(60.0), Class::Event, Origin::Feed));
    assert_eq!((queue.len(), queue.next()), (1, Some(seconds(60.0))));
    queue.promote(seconds(60.0));
    assert_eq!(queue.depth(), 1);
    queue.put(7, 0, entry(61.0, Origin::Person));
    assert_eq!(queue.get(7).expect("still").ready, seconds(60.0), "what is due stays so");
    assert_eq!(order(&mut queue, 60.0), [7]);
    assert_eq!((queue.len(), queue.depth(), queue.next()), (0, 0, None));
}

#[test]
fn classes_go_first_then_times_then_the_order_of_the_documents() {
    let mut queue = Queue::default();
    for (at, ready, origin) in [
        (0, 1.0, Origin::Resync),
        (1, 2.0, Origin::Retry),
        (2, 3.0, Origin::Poll),
        (3, 4.0, Origin::Person),
        (5, 2.5, Origin::Webhook),
        (4, 2.5, Origin::Feed),
        (6, 5.1, Origin::Files),
    ] {
        queue.put(at, at % 2, entry(ready, origin));
    }
    assert_eq!(order(&mut queue, 5.0), [3, 4, 5, 2, 1, 0], "and what is not due waits");
}

#[test]
fn what_waits_rises_by_a_class_each_half_minute() {
    let mut queue = Queue::default();
    queue.put(0, 0, entry(0.0, Origin::Resync));
    queue.put(1, 0, entry(59.0, Origin::Feed));
    assert_eq!(order(&mut queue.clone(), 59.9), [1, 0]);
    assert_eq!(order(&mut queue.clone(), 60.0), [0, 1], "of one class by now, and the older one");
    let mut retry = Queue::default();
    retry.put(0, 0, entry(0.0, Origin::Retry));
    retry.put(1, 0, entry(29.0, Origin::Feed));
    assert_eq!(order(&mut retry.clone(), 29.9), [1, 0]);
    assert_eq!(order(&mut retry, 30.0), [0, 1]);
}

#[test]
fn what_is_not_open_is_left_out() {
    let mut queue = Queue::default();
    queue.put(0, 0, entry(0.0, Origin::Person));
    queue.put(1, 1, entry(0.0, Origin::Resync));
    queue.promote(Duration::ZERO);
    assert_eq!(queue.first(Duration::ZERO, |target, _| target == 1), Some((1, Class::Resync)));
    assert_eq!(queue.first(Duration::ZERO, |_, _| false), None);
    assert_eq!(queue.all_due(0).collect::<Vec<_>>(), [0]);
}
