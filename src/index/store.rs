//! The indexes of many images in memory: as packed records, by sample, up to a budget; the first ones stay.

use crate::jpeg::Index;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Parts with a lock of their own, so that workers rarely wait for each other.
const SHARDS: u64 = 64;
/// What an entry costs besides its record: its slot in a table that may be half empty, and the allocator's overhead.
pub(super) const ENTRY_BYTES: usize = 64;

type Shard = HashMap<u64, Box<[u8]>>;

/// Indexes by sample. All methods may be called from many threads at once.
pub struct IndexStore {
    shards: Vec<Mutex<Shard>>,
    budget: usize,
    used: AtomicUsize,
    /// Bytes that came or changed since they were last saved.
    unsaved: AtomicUsize,
    /// The counters; its sizes are not kept.
    counts: Mutex<IndexStats>,
}

/// How a loader used decode indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexStats {
    /// Decodes that began below the file's top.
    pub hits: u64,
    /// Rows of MCUs (8 or 16 lines of pixels each) that those did not read.
    pub skipped_rows: u64,
    /// Indexes that were dropped: the file was changed, or it is wide and an earlier build kept fewer places of it.
    pub stale: u64,
    /// Times that an index was not kept because the budget was spent.
    pub refused: u64,
    /// Images that have an index.
    pub images: usize,
    /// Bytes that the indexes take.
    pub bytes: usize,
    /// Bytes that they may take; 0 where indexes are off.
    pub budget: usize,
    /// The fate of the sidecar file, in words; `None` where there is none.
    pub sidecar: Option<String>,
}

impl IndexStore {
    /// An empty store that takes up to about `budget` bytes.
    pub fn new(budget: usize) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            budget,
            used: AtomicUsize::new(0),
            unsaved: AtomicUsize::new(0),
            counts: Mutex::default(),
        }
    }

    /// Makes `index` what is known of `sample`, or empty.
    pub fn fetch(&self, sample: u64, index: &mut Index) {
        match self.shard(sample).get(&sample) {
            Some(record) => drop(index.read(record)),
            None => index.clear(),
        }
    }

    /// Counts what the last decode made of `index`, and keeps what it noted if there is room.
    pub fn keep(&self, sample: u64, index: &Index) {
        let last = index.last_use();
        let mut counts = lock(&self.counts);
        counts.hits += u64::from(last.skipped_rows > 0);
        counts.skipped_rows += last.skipped_rows as u64;
        counts.stale += u64::from(last.stale);
        drop(counts);
        if last.damaged {
            self.put(sample, Box::default(), true);
        } else if last.changed {
            let mut record = Vec::new();
            index.write(&mut record);
            self.put(sample, record.into(), last.stale);
        }
    }

    /// Keeps `record` if there is room and it is longer than the present one, or if that is out of date.
    pub(super) fn put(&self, sample: u64, record: Box<[u8]>, outdated: bool) -> bool {
        let cost = |record: &[u8]| if record.is_empty() { 0 } else { record.len() + ENTRY_BYTES };
        let new = cost(&record);
        let mut shard = self.shard(sample);
        if outdated && let Some(old) = shard.remove(&sample) {
            self.used.fetch_sub(cost(&old), Relaxed);
        }
        let old = shard.get(&sample).map_or(0, |old| cost(old));
        if new <= old {
            return true;
        }
        let grown = |used: usize| used.checked_add(new - old).filter(|&used| used <= self.budget);
        if self.used.fetch_update(Relaxed, Relaxed, grown).is_err() {
            lock(&self.counts).refused += 1;
            return false;
        }
        self.unsaved.fetch_add(new - old, Relaxed);
        shard.insert(sample, record);
        true
    }

    /// The counters and sizes so far; the owner of the sidecar adds its fate.
    pub fn stats(&self) -> IndexStats {
        IndexStats {
            images: self.shards.iter().map(|shard| lock(shard).len()).sum(),
            bytes: self.used.load(Relaxed),
            budget: self.budget,
            ..lock(&self.counts).clone()
        }
    }

    /// The share of the indexes that no sidecar holds yet, from 0 to 1.
    pub fn unsaved_share(&self) -> f64 {
        self.unsaved.load(Relaxed) as f64 / self.used.load(Relaxed).max(1) as f64
    }

    /// Forgets all indexes; the counters stay.
    pub fn clear(&self) {
        self.shards.iter().for_each(|shard| lock(shard).clear());
        self.used.store(0, Relaxed);
        self.unsaved.store(0, Relaxed);
    }

    /// Everything counts as saved from now on; returns how many bytes did not.
    pub(super) fn settle(&self) -> usize {
        self.unsaved.swap(0, Relaxed)
    }

    /// So many bytes count as not saved after all.
    pub(super) fn unsettle(&self, bytes: usize) {
        self.unsaved.fetch_add(bytes, Relaxed);
    }

    /// Copies of all records, one shard after the other, so that no lock is held for long.
    pub(super) fn records(&self) -> impl Iterator<Item = Vec<(u64, Box<[u8]>)>> {
        self.shards.iter().map(|shard| {
            let mut records: Vec<_> = lock(shard).iter().map(|(&at, record)| (at, record.clone())).collect();
            records.sort_unstable_by_key(|record| record.0);
            records
        })
    }

    fn shard(&self, sample: u64) -> MutexGuard<'_, Shard> {
        lock(&self.shards[(sample % SHARDS) as usize])
    }
}

/// A record is replaced in one step, so a panic elsewhere leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_holds_and_who_came_first_stays() {
        let store = IndexStore::new(10 * (100 + ENTRY_BYTES));
        for sample in 0..100 {
            store.put(sample, vec![7; 100].into(), false);
        }
        let stats = store.stats();
        assert_eq!((stats.images, stats.bytes, stats.refused), (10, stats.budget, 90));
        let kept: Vec<u64> = store.records().flatten().map(|record| record.0).collect();
        assert_eq!(kept, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn a_longer_record_replaces_a_shorter_one_and_a_stale_one_goes() {
        let store = IndexStore::new(1000);
        assert!(store.put(3, vec![1; 50].into(), false));
        assert!(store.put(3, vec![2; 40].into(), false));
        assert_eq!(store.stats().bytes, 50 + ENTRY_BYTES);
        assert!(store.put(3, vec![3; 60].into(), false));
        assert_eq!(store.stats().bytes, 60 + ENTRY_BYTES);
        assert!(!store.put(3, vec![4; 2000].into(), false));
        assert_eq!(store.stats().images, 1);
        assert!(store.put(3, vec![5; 20].into(), true));
        assert_eq!(store.stats().bytes, 20 + ENTRY_BYTES);
        assert!(store.put(3, Box::default(), true));
        assert_eq!((store.stats().images, store.stats().bytes), (0, 0));
    }

    #[test]
    fn many_threads_share_one_budget() {
        let store = IndexStore::new(50 * (30 + ENTRY_BYTES));
        std::thread::scope(|scope| {
            for worker in 0..4u64 {
                let store = &store;
                scope.spawn(move || {
                    for at in 0..200 {
                        store.put(at * 4 + worker, vec![0; 30].into(), false);
                    }
                });
            }
        });
        assert_eq!((store.stats().images, store.stats().refused), (50, 750));
    }
}
