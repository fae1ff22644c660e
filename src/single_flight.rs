//! Values that one thread makes while others that want the same one wait for it.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets one thread at a time make the value of a key. A store of type `S` keeps what was made, as long as it likes; it is
/// under the same lock, so a value is either in the store or being made or neither, and never two of these.
///
/// A thread that makes a value must not look another one up meanwhile: so nothing can wait in a circle.
pub(crate) struct SingleFlight<K: Copy + Eq + Hash, S> {
    state: Mutex<State<K, S>>,
    /// Something that was being made is in the store, or will not be.
    decided: Condvar,
}

struct State<K, S> {
    pending: HashSet<K>,
    store: S,
}

/// What became of looking a value up.
pub(crate) enum Lookup<'a, K: Copy + Eq + Hash, V, S> {
    Found(V),
    /// It is to be made by the caller.
    Missing(PendingGuard<'a, K, S>),
}

/// The duty to make a value; others that want it wait until the guard is completed or dropped. Where it is dropped, by an
/// error or a panic, the next of them is asked to make the value.
pub(crate) struct PendingGuard<'a, K: Copy + Eq + Hash, S> {
    flight: &'a SingleFlight<K, S>,
    key: K,
    /// Until it is completed; from then on the key may be pending again, for another thread.
    open: bool,
}

impl<K: Copy + Eq + Hash, S> SingleFlight<K, S> {
    pub(crate) fn new(store: S) -> Self {
        Self { state: Mutex::new(State { pending: HashSet::new(), store }), decided: Condvar::new() }
    }

    /// What `get` finds in the store, once nobody is making the value of `key`.
    pub(crate) fn find<V>(&self, key: K, get: impl FnOnce(&mut S) -> Option<V>) -> Option<V> {
        get(&mut self.wait(key).store)
    }

    /// The same, or the duty to make the value.
    pub(crate) fn lookup<V>(&self, key: K, get: impl FnOnce(&mut S) -> Option<V>) -> Lookup<'_, K, V, S> {
        let mut state = self.wait(key);
        match get(&mut state.store) {
            Some(value) => Lookup::Found(value),
            None => {
                state.pending.insert(key);
                Lookup::Missing(PendingGuard { flight: self, key, open: true })
            }
        }
    }

    /// Reads or changes the store, whatever is being made meanwhile.
    pub(crate) fn with_store<R>(&self, action: impl FnOnce(&mut S) -> R) -> R {
        action(&mut self.lock().store)
    }

    fn wait(&self, key: K) -> MutexGuard<'_, State<K, S>> {
        let is_pending = |state: &mut State<K, S>| state.pending.contains(&key);
        self.decided.wait_while(self.lock(), is_pending).unwrap_or_else(PoisonError::into_inner)
    }

    /// A store that panics is as whole as it leaves itself; the set of pending keys always is.
    fn lock(&self) -> MutexGuard<'_, State<K, S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash, S> PendingGuard<'_, K, S> {
    /// Lets `put` store the value for those who wait, and lets them go on.
    pub(crate) fn complete<R>(mut self, put: impl FnOnce(&mut S) -> R) -> R {
        let mut state = self.flight.lock();
        let result = put(&mut state.store);
        state.pending.remove(&self.key);
        drop(state);
        self.open = false;
        self.flight.decided.notify_all();
        result
    }
}

impl<K: Copy + Eq + Hash, S> Drop for PendingGuard<'_, K, S> {
    fn drop(&mut self) {
        if self.open {
            self.flight.lock().pending.remove(&self.key);
            self.flight.decided.notify_all();
        }
    }
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
        assert!(flight.lock().pending.contains(&1));
        drop(second);
        assert!(flight.lock().pending.is_empty());
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
