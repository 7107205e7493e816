//! Many runs at once: most of their time is waiting.

use std::sync::Mutex;
use std::thread;

/// Does the work for each of them, so many at a time, and gives what each came to, in their order.
pub fn each<T: Sync, R: Send>(all: &[T], at_once: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..all.len());
    let results: Mutex<Vec<(usize, R)>> = Mutex::default();
    let take = || next.lock().expect("nothing panics with it").next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(at) = take() {
                    let result = work(&all[at]);
                    results.lock().expect("nothing panics with it").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("nothing panics with it");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
