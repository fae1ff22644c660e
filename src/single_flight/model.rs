//! Single flights under shuttle: the same file with a lock whose every interleaving is chosen by the test, not by the machine.
//!
//! A thread that waits for ever is found as a deadlock.

#[path = "flight.rs"]
#[allow(clippy::duplicate_mod, reason = "the same file with another lock is what is tested")]
#[allow(dead_code, reason = "the caches use all of it")]
mod flight;

use flight::{Lookup, SingleFlight};
use shuttle::thread;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// What single flights take for the lock and the condition of `std`.
mod sync {
    pub(super) use shuttle::sync::{Condvar, Mutex, MutexGuard};
}

/// Values by key: how often each was made, ever and at this moment.
#[derive(Default)]
struct Made {
    ever: [AtomicUsize; 2],
    now: [AtomicUsize; 2],
}

type Flight = SingleFlight<usize, HashMap<usize, usize>>;

/// What threads share.
#[derive(Clone)]
struct Shared {
    flight: Arc<Flight>,
    made: Arc<Made>,
}

impl Shared {
    fn new() -> Self {
        Self { flight: Arc::new(Flight::new(HashMap::new())), made: Arc::default() }
    }

    /// Looks a key up, and makes the value that is not there. `gives_up` is asked before it is made, and `is_kept` after it.
    fn get_or_make(&self, key: usize, gives_up: impl Fn(usize) -> bool, is_kept: bool) -> Option<usize> {
        let Self { flight, made } = self;
        let pending = match flight.lookup(key, |store| store.get(&key).copied()) {
            Lookup::Found(value) => return Some(value),
            Lookup::Missing(pending) => pending,
        };
        assert_eq!(made.now[key].fetch_add(1, SeqCst), 0, "two threads make the value of {key} at once");
        let before = made.ever[key].fetch_add(1, SeqCst);
        thread::yield_now();
        made.now[key].fetch_sub(1, SeqCst);
        if gives_up(before) {
            return None;
        }
        pending.complete(|store| is_kept.then(|| store.insert(key, 10 * key)));
        Some(10 * key)
    }

    /// Runs threads that look up a key each, to their ends, and returns what each got.
    fn run(
        &self,
        keys: &[usize],
        lookup: impl Fn(&Self, usize) -> Option<usize> + Copy + Send + 'static,
    ) -> Vec<Option<usize>> {
        let spawn = |&key: &usize| {
            let shared = self.clone();
            thread::spawn(move || lookup(&shared, key))
        };
        let threads: Vec<_> = keys.iter().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    }

    fn made(&self) -> [usize; 2] {
        self.made.ever.each_ref().map(|made| made.load(SeqCst))
    }
}

fn explore(test: fn()) {
    feedline_test_support::explore::explore(1_000, 4_000, test);
}

#[test]
fn a_value_is_made_once_and_found_by_all_by_any_order_of_events() {
    explore(|| {
        let shared = Shared::new();
        let got = shared.run(&[0, 1, 0, 1], |shared, key| shared.get_or_make(key, |_| false, true));
        assert_eq!(got, [Some(0), Some(10), Some(0), Some(10)]);
        assert_eq!(shared.made(), [1, 1]);
    });
}

#[test]
fn where_the_first_gives_up_the_next_makes_it_by_any_order_of_events() {
    explore(|| {
        let shared = Shared::new();
        let got = shared.run(&[1, 1, 1, 0], |shared, key| shared.get_or_make(key, |made| made == 0, true));
        assert_eq!(got[..3].iter().flatten().collect::<Vec<_>>(), [&10, &10]);
        assert_eq!((got[3], shared.made()), (None, [1, 2]));
    });
}

#[test]
fn a_value_that_is_not_kept_is_made_by_each_in_turn_by_any_order_of_events() {
    explore(|| {
        let shared = Shared::new();
        let got = shared.run(&[1, 1, 1], |shared, key| shared.get_or_make(key, |_| false, false));
        assert_eq!((got, shared.made()), (vec![Some(10); 3], [0, 3]));
    });
}

#[test]
fn who_only_looks_waits_for_the_maker_and_no_longer_by_any_order_of_events() {
    explore(|| {
        let shared = Shared::new();
        let got = shared.run(&[1, 0, 1], |shared, key| match key {
            0 => shared.flight.find(1, |store| store.get(&1).copied()),
            _ => shared.get_or_make(key, |made| made == 0, true),
        });
        assert!(matches!(got[1], None | Some(10)));
        assert!(!shared.flight.is_pending(1));
    });
}
