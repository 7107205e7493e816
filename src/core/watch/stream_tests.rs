//! The connection to a feed, in virtual time.

use std::time::Duration;

use proptest::prelude::*;

use super::super::super::mutant::{Mutant, plant};
use super::super::backoff::CAP;
use super::*;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn told(position: &str) -> Event {
    Event::Told(Told {
        changed: vec![Changed::Something],
        position: Some(position.into()),
        ..Told::default()
    })
}

fn policy(replay: bool) -> Policy {
    Policy { replay, ..Policy::default() }
}

/// A feed, and a clock for it.
struct Run {
    stream: Stream,
    backoff: Backoff,
    now: Duration,
}

impl Run {
    fn new(policy: Policy) -> Run {
        Run { stream: Stream::new(policy, 7), backoff: Backoff::default(), now: Duration::ZERO }
    }

    fn step(&mut self, event: Event) -> Vec<Effect> {
        self.stream.step(self.now, event, &mut self.backoff)
    }

    fn after(&mut self, time: Duration, event: Event) -> Vec<Effect> {
        self.now += time;
        self.step(event)
    }

    /// Goes to when it wants to be woken; what it does then, and how long that took.
    fn wake(&mut self) -> (Duration, Vec<Effect>) {
        let waited = self.stream.wake().saturating_sub(self.now);
        self.now += waited;
        (waited, self.step(Event::Woke))
    }

    /// Connects; the position that it asked for, and whether it looks at everything.
    fn open(&mut self) -> (Option<String>, bool) {
        let (_, effects) = self.wake();
        let [Effect::Connect { position }] = &effects[..] else { panic!("{effects:?}") };
        let position = position.as_deref().map(str::to_owned);
        let relists = self.step(Event::Opened) == [Effect::Relist];
        self.step(Event::Listed(true));
        (position, relists)
    }
}

/// Whether every connection after a cut is made good by a look at everything.
fn looks_at_what_was_missed() -> bool {
    let mut run = Run::new(policy(false));
    assert_eq!(run.open(), (None, true));
    let mut all = true;
    for n in 0..10 {
        assert_eq!(run.after(secs(20), told(&n.to_string())), [Effect::Hint(Changed::Something)]);
        run.step(Event::Ended(End::Closed));
        let (position, relists) = run.open();
        assert_eq!(position, Some(n.to_string()), "it says what it has seen, and trusts nobody for it");
        all &= relists;
    }
    all
}

#[test]
fn every_connection_begins_with_a_look_at_everything() {
    assert!(looks_at_what_was_missed());
}

#[test]
fn a_reconnect_without_a_look_is_found() {
    let _planted = plant(Mutant::M22);
    assert!(!looks_at_what_was_missed());
}

#[test]
fn where_replay_is_promised_an_accepted_position_is_enough() {
    let mut run = Run::new(policy(true));
    assert_eq!(run.open(), (None, true));
    run.after(secs(5), told("17"));
    run.step(Event::Ended(End::Closed));
    assert_eq!(run.open(), (Some("17".into()), false));
    run.after(secs(5), Event::Ended(End::Gone));
    assert_eq!(run.open(), (None, true), "the server has forgotten");
    run.after(secs(5), told("20"));
    let gone = Told { gone: true, ..Told::default() };
    assert_eq!(run.step(Event::Told(gone)), [Effect::Close]);
    assert_eq!(run.open(), (None, true), "or has said so in the feed");
}

#[test]
fn after_failures_in_a_row_a_poll_is_not_trusted() {
    let mut run = Run::new(Policy { replay: true, trusted: 2, ..Policy::default() });
    run.open();
    run.after(secs(5), told("1"));
    run.after(secs(5), Event::Ended(End::Failed { after: None }));
    run.wake();
    run.step(Event::Ended(End::Failed { after: None }));
    assert_eq!(run.open(), (Some("1".into()), false), "one failure is none");
    run.step(Event::Ended(End::Failed { after: None }));
    run.wake();
    run.step(Event::Ended(End::Failed { after: None }));
    assert_eq!(run.open(), (Some("1".into()), true));
}

#[test]
fn a_silent_stream_is_given_up_within_a_minute() {
    let mut run = Run::new(policy(false));
    run.open();
    for _ in 0..5 {
        run.after(secs(59), Event::Bytes);
    }
    let (waited, effects) = run.wake();
    assert_eq!(waited, secs(60));
    assert_eq!(effects, [Effect::Close, Effect::Connect { position: None }]);
    assert_eq!(run.step(Event::Opened), [Effect::Relist]);
    let mut run = Run::new(policy(false));
    run.wake();
    let (waited, effects) = run.wake();
    assert_eq!((waited, &effects[..]), (secs(60), &[Effect::Close][..]), "nor is a silent server waited for");
    assert!(matches!(run.stream.state(), State::Waiting { .. }));
}

/// How long it waits after each of these failures of feed and listing, one after the other.
fn waits(listing_fails: impl Fn(u32) -> bool, failures: u32) -> Vec<Duration> {
    let mut run = Run::new(policy(false));
    let mut waits = Vec::new();
    for n in 0..failures {
        let (waited, _) = run.wake();
        waits.push(waited);
        if listing_fails(n) {
            run.step(Event::Opened);
            run.after(Duration::from_millis(20), Event::Listed(false));
        } else {
            run.after(Duration::from_millis(20), Event::Ended(End::Failed { after: None }));
        }
    }
    waits.push(run.wake().0);
    waits.split_off(1)
}

/// The law of one backoff: the n-th failure in a row waits at least so long, whichever of the two failed.
fn share_one_backoff(waits: &[Duration]) -> bool {
    let least = |n: usize| FIRST.saturating_mul(1 << n.min(16)).min(CAP);
    waits.iter().enumerate().all(|(n, wait)| (least(n)..=least(n) * 2).contains(wait))
}

#[test]
fn feed_and_listing_share_one_backoff() {
    for listing_fails in [|_| false, |_| true, |n: u32| n.is_multiple_of(2), |n: u32| n.is_multiple_of(3)] {
        let waits = waits(listing_fails, 12);
        assert!(share_one_backoff(&waits), "{waits:?}");
    }
}

#[test]
fn separate_backoffs_are_found() {
    let _planted = plant(Mutant::M23);
    assert!(!share_one_backoff(&waits(|n| n.is_multiple_of(2), 12)));
}

#[test]
fn a_stream_that_closes_at_once_is_a_failure() {
    let mut run = Run::new(policy(false));
    let mut connections = 0;
    while run.now < secs(600) {
        run.open();
        connections += 1;
        run.after(Duration::from_millis(5), told("1"));
        run.step(Event::Ended(End::Closed));
    }
    assert!(connections <= 25, "{connections} in ten minutes, of which each was made good by a listing");
    let mut run = Run::new(policy(true));
    run.open();
    for n in 0..20 {
        run.after(Duration::from_millis(5), told(&n.to_string()));
        run.step(Event::Ended(End::Closed));
        let before = run.now;
        assert!(!run.open().1);
        if n > 0 {
            assert!(
                run.now - before < FIRST * 2,
                "one that goes on where it ended, and brings something, is none"
            );
        }
    }
}

/// How often a feed is connected to in ten minutes that ends so, so long after it was opened. Each time everything is
/// looked at.
fn connections(lasts: Duration, end: impl Fn(&mut Run)) -> usize {
    let mut run = Run::new(policy(false));
    let mut connections = 0;
    while run.now < secs(600) {
        assert!(run.open().1);
        connections += 1;
        run.after(lasts, told("1"));
        end(&mut run);
    }
    connections
}

#[test]
fn a_feed_that_never_holds_is_asked_for_ever_less() {
    let gone = |run: &mut Run| {
        run.step(Event::Told(Told { gone: true, ..Told::default() }));
    };
    let ended = |run: &mut Run| {
        run.step(Event::Ended(End::Gone));
    };
    for millis in [1, 900, 1100, 5000, 15_000] {
        let lasts = Duration::from_millis(millis);
        let all = [connections(lasts, gone), connections(lasts, ended)];
        assert!(all.iter().all(|count| *count <= 25), "{all:?} connections of {lasts:?} that were gone");
    }
    let closed = |run: &mut Run| {
        run.step(Event::Ended(End::Closed));
    };
    for millis in [1100, 5000, 9000] {
        let count = connections(Duration::from_millis(millis), closed);
        assert!(count <= 25, "{count} connections of {millis} ms, dearer than polls");
    }
    let count = connections(secs(30), closed);
    assert!((15..=20).contains(&count), "{count}: a stream that is cut now and then works");
}

#[test]
fn a_quiet_time_forgets_failures() {
    let mut run = Run::new(policy(false));
    for _ in 0..8 {
        run.wake();
        run.step(Event::Ended(End::Failed { after: None }));
    }
    run.open();
    for _ in 0..4 {
        run.after(secs(40), Event::Bytes);
    }
    run.step(Event::Ended(End::Closed));
    run.wake();
    run.step(Event::Ended(End::Failed { after: None }));
    let (waited, _) = run.wake();
    assert!(waited <= FIRST * 2, "{waited:?}");
}

#[test]
fn what_the_server_asks_for_is_heeded_within_reason() {
    let wait = |retry: u64, end: End| {
        let mut run = Run::new(policy(false));
        run.open();
        let retry = Some(Duration::from_millis(retry));
        run.after(secs(10), Event::Told(Told { retry, ..Told::default() }));
        run.step(Event::Ended(end));
        run.wake().0
    };
    assert_eq!(wait(10, End::Closed), LEAST_RETRY);
    assert_eq!(wait(3000, End::Closed), secs(3));
    assert_eq!(wait(u64::MAX, End::Closed), MOST_RETRY);
    assert_eq!(wait(10, End::Failed { after: Some(secs(40)) }), secs(40));
    assert_eq!(wait(10, End::Failed { after: Some(secs(999_999)) }), MOST_AFTER);
    assert_eq!(wait(10, End::Unfit), UNFIT);
}

#[test]
fn what_comes_too_late_changes_nothing() {
    let mut run = Run::new(policy(false));
    run.open();
    run.after(secs(2), Event::Ended(End::Closed));
    let state = run.stream.state().clone();
    for event in
        [told("9"), Event::Opened, Event::Bytes, Event::Listed(false), Event::Ended(End::Gone), Event::Woke]
    {
        assert_eq!(run.step(event), []);
        assert_eq!(*run.stream.state(), state);
    }
    assert_eq!(run.open().0, None);
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let told = (any::<bool>(), any::<bool>(), proptest::option::of(0u64..100_000)).prop_map(
        |(some, gone, retry)| {
            let changed = if some { vec![Changed::Something] } else { Vec::new() };
            let retry = retry.map(Duration::from_millis);
            Event::Told(Told { changed, position: some.then(|| "7".into()), gone, retry })
        },
    );
    let end = prop_oneof![
        Just(End::Closed),
        proptest::option::of(0u64..100)
            .prop_map(|after| End::Failed { after: after.map(Duration::from_secs) }),
        Just(End::Gone),
        Just(End::Unfit),
    ];
    let event = prop_oneof![
        3 => Just(Event::Woke),
        2 => Just(Event::Opened),
        1 => Just(Event::Bytes),
        2 => told,
        1 => any::<bool>().prop_map(Event::Listed),
        2 => end.prop_map(Event::Ended),
    ];
    proptest::collection::vec((0u64..40_000, event), 0..200)
}

proptest! {
    /// Whatever happens: one connection at a time, none too soon after another, and what was missed is looked at.
    #[test]
    fn no_order_of_events_makes_it_hammer_or_forget(events in events(), replay in any::<bool>()) {
        let (mut stream, mut backoff) = (Stream::new(policy(replay), 3), Backoff::default());
        let (mut now, mut last, mut open) = (Duration::ZERO, None, false);
        for (wait, event) in events {
            now += Duration::from_millis(wait);
            let (opened, before) = (event == Event::Opened, stream.state().clone());
            for effect in stream.step(now, event, &mut backoff) {
                match effect {
                    Effect::Connect { .. } => {
                        prop_assert!(!open, "a second connection");
                        let since = last.map_or(LEAST_RETRY, |last| now - last);
                        prop_assert!(since >= LEAST_RETRY, "{since:?} after the last one");
                        (last, open) = (Some(now), true);
                    }
                    Effect::Close => open = false,
                    Effect::Relist => prop_assert!(opened),
                    Effect::Hint(_) => prop_assert!(matches!(before, State::Listing | State::Open)),
                }
            }
            let resumed = replay && matches!(&before, State::Connecting { from: Some(_) });
            if opened && matches!(before, State::Connecting { .. }) {
                prop_assert_eq!(stream.state() == &State::Open, resumed);
            }
            open &= !matches!(stream.state(), State::Waiting { .. });
            let waits = matches!(stream.state(), State::Waiting { .. });
            prop_assert!(waits || open, "it waits, or has a connection");
        }
    }
}
