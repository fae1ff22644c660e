//! Decoded stretches of columns, kept under a limit of bytes for the reads to come.

use crate::error::Cause;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Values by number, those that were used last. Of several threads that want the same one, one makes it and the others
/// wait for it. The latest value is kept even where it is larger than the limit by itself.
pub(super) struct Cache<V> {
    limit_bytes: u64,
    state: Mutex<State<V>>,
}

struct State<V> {
    slots: HashMap<usize, Slot<V>>,
    held_bytes: u64,
    /// Counts the uses.
    clock: u64,
}

struct Slot<V> {
    value: Arc<Mutex<Option<Arc<V>>>>,
    /// Zero while it is being made.
    bytes: u64,
    last_use: u64,
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Cache").field("limit_bytes", &self.limit_bytes).finish_non_exhaustive()
    }
}

impl<V> Cache<V> {
    pub(super) fn new(limit_bytes: u64) -> Self {
        let state = State { slots: HashMap::new(), held_bytes: 0, clock: 0 };
        Self { limit_bytes, state: Mutex::new(state) }
    }

    /// The value of this number, made by `make` where there is none; `make` also says how many bytes it has.
    pub(super) fn get(
        &self,
        number: usize,
        make: impl FnOnce() -> Result<(V, u64), Cause>,
    ) -> Result<Arc<V>, Cause> {
        let place = self.place(number);
        let mut place = lock(&place);
        if let Some(value) = &*place {
            return Ok(Arc::clone(value));
        }
        match make() {
            Ok((value, bytes)) => {
                let value = Arc::new(value);
                *place = Some(Arc::clone(&value));
                self.keep(number, bytes.max(1));
                Ok(value)
            }
            Err(cause) => {
                lock(&self.state).slots.remove(&number);
                Err(cause)
            }
        }
    }

    fn place(&self, number: usize) -> Arc<Mutex<Option<Arc<V>>>> {
        let mut state = lock(&self.state);
        state.clock += 1;
        let last_use = state.clock;
        let slot =
            state.slots.entry(number).or_insert_with(|| Slot { value: Arc::default(), bytes: 0, last_use });
        slot.last_use = last_use;
        Arc::clone(&slot.value)
    }

    /// Counts a value that was made, and drops those that were used longest ago until the limit is kept.
    fn keep(&self, number: usize, bytes: u64) {
        let mut state = lock(&self.state);
        // While a value is made nobody drops its slot, except where another thread has failed to make it.
        let Some(slot) = state.slots.get_mut(&number) else { return };
        let before = std::mem::replace(&mut slot.bytes, bytes);
        state.held_bytes = state.held_bytes - before + bytes;
        while state.held_bytes > self.limit_bytes {
            let made = state.slots.iter().filter(|(other, slot)| **other != number && slot.bytes > 0);
            let Some((&oldest, _)) = made.min_by_key(|(_, slot)| slot.last_use) else { return };
            let dropped = state.slots.remove(&oldest).map_or(0, |slot| slot.bytes);
            state.held_bytes -= dropped;
        }
    }
}

/// A thread that panicked while it held the lock has left nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn get(cache: &Cache<usize>, number: usize, made: &Cell<usize>) -> usize {
        let make = || {
            made.set(made.get() + 1);
            Ok((number * 10, 40))
        };
        *cache.get(number, make).unwrap()
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let (cache, made) = (Cache::new(100), Cell::new(0));
        for (number, made_by_now) in [(1, 1), (2, 2), (1, 2), (3, 3), (1, 3), (2, 4), (3, 5)] {
            assert_eq!(get(&cache, number, &made), number * 10);
            assert_eq!(made.get(), made_by_now, "at {number}");
        }
        assert_eq!(lock(&cache.state).held_bytes, 80);
    }

    #[test]
    fn the_latest_value_is_kept_whatever_its_size() {
        let (cache, made) = (Cache::new(10), Cell::new(0));
        for (number, made_by_now) in [(1, 1), (1, 1), (2, 2), (2, 2), (1, 3)] {
            get(&cache, number, &made);
            assert_eq!(made.get(), made_by_now);
        }
        assert_eq!(lock(&cache.state).slots.len(), 1);
    }

    #[test]
    fn a_failure_is_told_and_not_kept() {
        let (cache, made) = (Cache::<usize>::new(100), Cell::new(0));
        let error = cache.get(1, || Err("broken".into())).unwrap_err();
        assert_eq!(error.to_string(), "broken");
        assert_eq!(get(&cache, 1, &made), 10);
    }

    #[test]
    fn of_many_threads_one_makes_the_value() {
        let (cache, made) = (Cache::new(100), Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let make = || {
                        *lock(&made) += 1;
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        Ok((7, 1))
                    };
                    assert_eq!(*cache.get(1, make).unwrap(), 7);
                });
            }
        });
        assert_eq!(*lock(&made), 1);
    }
}
