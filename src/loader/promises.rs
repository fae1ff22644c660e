//! What is still to be learned of batches that are out: whoever wants to know it waits.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Batches that are out and of which something is still to be learned.
#[derive(Default)]
pub(in crate::loader) struct Promises {
    outstanding: Mutex<Outstanding>,
    /// Notified whenever one is kept.
    kept: Condvar,
}

/// The records of each batch, by numbers in the order of the batches.
#[derive(Default)]
struct Outstanding {
    next: u64,
    records: BTreeMap<u64, Vec<u64>>,
}

/// That something will be learned soon of some records.
pub(in crate::loader) struct Promise<'a> {
    promises: &'a Promises,
    number: u64,
}

impl Promises {
    /// To be kept until it is learned what is to be learned of these records.
    pub(in crate::loader) fn make(&self, records: Vec<u64>) -> Promise<'_> {
        let mut outstanding = self.lock();
        let number = outstanding.next;
        outstanding.next += 1;
        outstanding.records.insert(number, records);
        Promise { promises: self, number }
    }

    /// Waits for those that there are, and not for later ones.
    pub(in crate::loader) fn wait(&self, patience: Duration) {
        let next = self.lock().next;
        self.wait_while(patience, |outstanding| outstanding.records.range(..next).next().is_some());
    }

    /// Waits for what is to be learned of a record.
    pub(in crate::loader) fn wait_for(&self, record: u64, patience: Duration) {
        self.wait_while(patience, |outstanding| {
            outstanding.records.values().any(|records| records.contains(&record))
        });
    }

    fn wait_while(&self, patience: Duration, is_open: impl Fn(&Outstanding) -> bool) {
        drop(self.kept.wait_timeout_while(self.lock(), patience, |outstanding| is_open(outstanding)));
    }

    fn lock(&self) -> MutexGuard<'_, Outstanding> {
        self.outstanding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        self.promises.lock().records.remove(&self.number);
        self.promises.kept.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_record_is_waited_for_and_others_are_not() {
        let promises = Promises::default();
        let (first, second) = (promises.make(vec![1, 2]), promises.make(vec![3]));
        promises.wait_for(4, LONG);
        drop(second);
        promises.wait_for(3, LONG);
        let kept = Mutex::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                *kept.lock().unwrap() = true;
                drop(first);
            });
            promises.wait_for(2, LONG);
            assert!(*kept.lock().unwrap());
        });
        promises.wait(LONG);
    }
}
