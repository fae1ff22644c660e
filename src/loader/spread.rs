//! Work on a list, spread over several threads that take one item after another.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` with each of `items` on `threads` threads, of which this one is one, and returns the results in the order of
/// the items. The system may refuse threads; then there are fewer.
///
/// `go_on` is asked on this thread ahead of each item that it takes. Once it says no, no further item is taken, and where
/// one is left over there is no result.
pub(crate) fn spread<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> R + Sync,
    go_on: &mut dyn FnMut() -> bool,
) -> Option<Vec<R>> {
    let others = threads.clamp(1, items.len().max(1)) - 1;
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let left = Mutex::new(items.into_iter().zip(&mut results));
    let stopped = AtomicBool::new(false);
    let take = || {
        let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
        next.filter(|_| !stopped.load(Ordering::Relaxed)).map(|(item, result)| *result = Some(work(item)))
    };
    thread::scope(|scope| {
        for _ in 0..others {
            let started = thread::Builder::new().spawn_scoped(scope, || while take().is_some() {});
            if started.is_err() {
                break;
            }
        }
        while go_on() {
            if take().is_none() {
                return;
            }
        }
        stopped.store(true, Ordering::Relaxed);
    });
    drop(left);
    results.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn results_are_in_order_whatever_the_number_of_threads() {
        for threads in 0..6 {
            let squares = spread((0..37).collect(), threads, |number: u64| number * number, &mut || true);
            assert_eq!(squares.unwrap(), (0..37).map(|number| number * number).collect::<Vec<_>>());
        }
        assert_eq!(spread(Vec::<u8>::new(), 3, |number| number, &mut || true), Some(Vec::new()));
    }

    #[test]
    fn all_threads_work_at_once() {
        // Two items that wait for each other are done only if two threads have them.
        let barrier = Barrier::new(2);
        let leaders = spread(vec![(), ()], 2, |()| barrier.wait().is_leader(), &mut || true).unwrap();
        assert!(leaders[0] != leaders[1]);
    }

    #[test]
    fn who_says_no_gets_nothing() {
        for threads in [1, 3] {
            let (mut asked, done) = (0, Mutex::new(0));
            let work = |_: usize| *done.lock().unwrap() += 1;
            let mut go_on = || {
                asked += 1;
                asked < 3
            };
            let result = spread((0..1_000_000).collect(), threads, work, &mut go_on);
            assert!(result.is_none() && *done.lock().unwrap() >= 2, "{threads}");
        }
    }
}
