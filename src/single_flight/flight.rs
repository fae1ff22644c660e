//! The lock, what it guards, and which threads wait for what.

use super::sync::{Condvar, Mutex, MutexGuard};
use std::collections::HashSet;
use std::hash::Hash;
use std::sync::PoisonError;

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

    #[cfg(test)]
    pub(super) fn is_pending(&self, key: K) -> bool {
        self.lock().pending.contains(&key)
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
