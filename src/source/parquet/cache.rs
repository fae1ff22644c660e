//! Caches decoded stretches of columns, up to a limit of bytes.

use crate::error::Cause;
use crate::single_flight::{Lookup, SingleFlight};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Values by index, the most recently used ones. Of several threads that want the same one, one makes it and the others
/// wait for it. The latest value is kept even where it is larger than the limit by itself.
pub(super) struct Cache<V> {
    flight: SingleFlight<usize, Values<V>>,
}

struct Values<V> {
    limit_bytes: u64,
    by_number: HashMap<usize, Kept<V>>,
    held_bytes: u64,
    /// Counts the uses.
    clock: u64,
}

struct Kept<V> {
    value: Arc<V>,
    bytes: u64,
    last_use: u64,
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit_bytes = self.flight.with_store(|values| values.limit_bytes);
        formatter.debug_struct("Cache").field("limit_bytes", &limit_bytes).finish_non_exhaustive()
    }
}

impl<V> Cache<V> {
    pub(super) fn new(limit_bytes: u64) -> Self {
        let values = Values { limit_bytes, by_number: HashMap::new(), held_bytes: 0, clock: 0 };
        Self { flight: SingleFlight::new(values) }
    }

    /// The value of this index, made by `make` where there is none; `make` also returns how many bytes it has.
    pub(super) fn get(
        &self,
        number: usize,
        make: impl FnOnce() -> Result<(V, u64), Cause>,
    ) -> Result<Arc<V>, Cause> {
        match self.flight.lookup(number, |values| values.find(number)) {
            Lookup::Found(value) => Ok(value),
            Lookup::Missing(pending) => {
                let (value, bytes) = make()?;
                let value = Arc::new(value);
                // Values that are dropped for it may be large: they are freed without the lock.
                drop(pending.complete(|values| values.keep(number, &value, bytes)));
                Ok(value)
            }
        }
    }
}

impl<V> Values<V> {
    fn find(&mut self, number: usize) -> Option<Arc<V>> {
        self.clock += 1;
        let kept = self.by_number.get_mut(&number)?;
        kept.last_use = self.clock;
        Some(Arc::clone(&kept.value))
    }

    /// Keeps a value that was made, and returns those that were used longest ago, until the limit is kept.
    fn keep(&mut self, number: usize, value: &Arc<V>, bytes: u64) -> Vec<Kept<V>> {
        let mut dropped = Vec::new();
        self.held_bytes += bytes;
        while self.held_bytes > self.limit_bytes {
            let oldest = self.by_number.iter().min_by_key(|(_, kept)| kept.last_use);
            let Some(oldest) =
                oldest.map(|(&number, _)| number).and_then(|number| self.by_number.remove(&number))
            else {
                break;
            };
            self.held_bytes -= oldest.bytes;
            dropped.push(oldest);
        }
        let last_use = self.clock;
        self.by_number.insert(number, Kept { value: Arc::clone(value), bytes, last_use });
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
        assert_eq!(cache.flight.with_store(|values| values.held_bytes), 80);
    }

    #[test]
    fn the_latest_value_is_kept_whatever_its_size() {
        let (cache, made) = (Cache::new(10), Cell::new(0));
        for (number, made_by_now) in [(1, 1), (1, 1), (2, 2), (2, 2), (1, 3)] {
            get(&cache, number, &made);
            assert_eq!(made.get(), made_by_now);
        }
        assert_eq!(cache.flight.with_store(|values| values.by_number.len()), 1);
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
        let (cache, made) = (Cache::new(100), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let make = || {
                        made.fetch_add(1, Relaxed);
                        std::thread::yield_now();
                        Ok((7, 1))
                    };
                    assert_eq!(*cache.get(1, make).unwrap(), 7);
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
    }
}
