//! Values that one thread makes while others that want the same one wait for it.
//!
//! A test runs [`flight`] again with a lock whose interleavings it chooses.

mod flight;
#[cfg(test)]
mod model;

pub(crate) use flight::{Lookup, SingleFlight};

/// The lock and the condition; those of the tests' model are of another make.
mod sync {
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard};
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::mpsc::channel;

    type Flight = SingleFlight<u64, HashMap<u64, u64>>;

    fn lookup(flight: &Flight, key: u64) -> Lookup<'_, u64, u64, HashMap<u64, u64>> {
        flight.lookup(key, |store| store.get(&key).copied())
    }

    /// The value of `key`, and whether this call has made it.
    fn get_or_make(flight: &Flight, key: u64, make: impl FnOnce() -> u64) -> (u64, bool) {
        match lookup(flight, key) {
            Lookup::Found(value) => (value, false),
            Lookup::Missing(pending) => {
                let value = make();
                pending.complete(|store| store.insert(key, value));
                (value, true)
            }
        }
    }

    #[test]
    fn a_value_is_made_once_and_found_from_then_on() {
        let flight = Flight::new(HashMap::new());
        assert_eq!(get_or_make(&flight, 3, || 30), (30, true));
        assert_eq!(get_or_make(&flight, 3, || 31), (30, false));
        assert_eq!(flight.find(3, |store| store.get(&3).copied()), Some(30));
        assert_eq!(flight.find(4, |store| store.get(&4).copied()), None);
    }

    #[test]
    fn a_maker_that_gives_up_lets_the_next_one_try() {
        let flight = Flight::new(HashMap::new());
        drop(lookup(&flight, 1));
        assert!(catch_unwind(AssertUnwindSafe(|| get_or_make(&flight, 1, || panic!("on purpose")))).is_err());
        assert_eq!(get_or_make(&flight, 1, || 10), (10, true));
    }

    #[test]
    fn a_store_that_panics_leaves_the_key_to_the_next_one() {
        let flight = Flight::new(HashMap::new());
        let Lookup::Missing(pending) = lookup(&flight, 1) else { panic!("it was never made") };
        let stored = catch_unwind(AssertUnwindSafe(|| pending.complete(|_| panic!("on purpose"))));
        assert!(stored.is_err());
        assert_eq!(get_or_make(&flight, 1, || 10), (10, true));
    }

    #[test]
    fn a_key_that_is_pending_again_is_left_pending_by_the_guard_before() {
        let flight = Flight::new(HashMap::new());
        let Lookup::Missing(first) = lookup(&flight, 1) else { panic!("it was never made") };
        // A value that is not kept: the next one who asks is to make it again.
        first.complete(|_| ());
        let Lookup::Missing(second) = lookup(&flight, 1) else { panic!("it was not kept") };
        assert!(flight.is_pending(1));
        drop(second);
        assert!(!flight.is_pending(1));
    }

    #[test]
    fn other_keys_do_not_wait() {
        let flight = Flight::new(HashMap::new());
        let pending = lookup(&flight, 1);
        assert_eq!(get_or_make(&flight, 2, || 20), (20, true));
        assert!(matches!(pending, Lookup::Missing(_)));
    }

    #[test]
    fn who_waits_gets_the_value_and_after_a_failure_the_duty() {
        for fails in [false, true] {
            let flight = Flight::new(HashMap::new());
            let Lookup::Missing(pending) = lookup(&flight, 1) else { panic!("it was never made") };
            std::thread::scope(|scope| {
                let (sender, receiver) = channel();
                let flight = &flight;
                let waiting = scope.spawn(move || {
                    sender.send(()).unwrap();
                    get_or_make(flight, 1, || 11)
                });
                receiver.recv().unwrap();
                match fails {
                    true => drop(pending),
                    false => drop(pending.complete(|store| store.insert(1, 10))),
                }
                assert_eq!(waiting.join().unwrap(), if fails { (11, true) } else { (10, false) });
            });
        }
    }

    #[test]
    fn of_many_threads_that_want_one_value_one_makes_it() {
        let (flight, made) = (Flight::new(HashMap::new()), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for key in 0..100 {
                        let make = || {
                            made.fetch_add(1, Relaxed);
                            std::thread::yield_now();
                            2 * key
                        };
                        assert_eq!(get_or_make(&flight, key, make).0, 2 * key);
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 100);
    }
}
