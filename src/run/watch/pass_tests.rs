//! A pass that hangs is ended, and one that gets on is not.

use super::*;

/// Runs the pulse while `each` happens every half of the patience, for ten of them; whether it ended the run.
async fn ends(pulse: &Pulse, pages: &AtomicU64, each: impl Fn()) -> bool {
    let stop = CancellationToken::new();
    let count = || pages.load(Ordering::Relaxed);
    let works = async {
        for _ in 0..10 {
            sleep(STUCK / 2).await;
            each();
        }
    };
    tokio::select! {
        ended = pulse.stops(&count, &stop) => {
            assert!(ended && stop.is_cancelled());
            true
        }
        () = works => false,
    }
}

#[tokio::test(start_paused = true)]
async fn what_hangs_is_ended() {
    let (pulse, pages) = (Pulse::default(), AtomicU64::new(0));
    let began = Instant::now();
    assert!(ends(&pulse, &pages, || {}).await);
    assert!((STUCK..=STUCK + PULSE * 2).contains(&began.elapsed()), "{} s", began.elapsed().as_secs());
}

#[tokio::test(start_paused = true)]
async fn what_gets_on_is_not_ended() {
    let (pulse, pages) = (Pulse::default(), AtomicU64::new(0));
    let settles = || {
        let _ = pulse.settled.fetch_add(1, Ordering::Relaxed);
    };
    assert!(!ends(&pulse, &pages, settles).await, "objects are settled");
    let answers = || {
        let _ = pulse.answers.fetch_add(1, Ordering::Relaxed);
    };
    assert!(!ends(&pulse, &pages, answers).await, "answers come");
    pulse.listing.store(1, Ordering::Relaxed);
    let turns = || {
        let _ = pages.fetch_add(1, Ordering::Relaxed);
    };
    assert!(!ends(&pulse, &pages, turns).await, "a long listing goes from page to page");
}

/// The clients are those of all passes: what another one lists does not keep this one.
#[tokio::test(start_paused = true)]
async fn pages_of_other_passes_do_not_count() {
    let (pulse, pages) = (Pulse::default(), AtomicU64::new(0));
    assert!(
        ends(&pulse, &pages, || {
            let _ = pages.fetch_add(1, Ordering::Relaxed);
        })
        .await
    );
}

#[tokio::test(start_paused = true)]
async fn another_end_is_not_taken_for_this_one() {
    let (pulse, stop) = (Pulse::default(), CancellationToken::new());
    stop.cancel();
    assert!(!pulse.stops(&|| 0, &stop).await);
}
