//! A gate that holds threads up until the test opens it: what would otherwise be a sleep, and a guess.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How long a thread stands at a gate at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lets as many threads pass as the test has said; clones share one gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    permits: usize,
    open: bool,
    passed: usize,
    waiting: usize,
}

impl Gate {
    /// A gate that nothing passes yet.
    pub fn closed() -> Self {
        Self::default()
    }

    /// Passes the gate, as soon as it may.
    pub fn pass(&self) {
        self.change(|state| state.waiting += 1);
        let mut state = self.until(|state| state.open || state.permits > 0);
        state.waiting -= 1;
        state.permits = state.permits.saturating_sub(1);
        state.passed += 1;
        drop(state);
        self.0.1.notify_all();
    }

    /// Lets `count` more pass.
    pub fn admit(&self, count: usize) {
        self.change(|state| state.permits += count);
    }

    /// Lets all pass from now on.
    pub fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Waits until `count` threads stand at the gate.
    pub fn until_waiting(&self, count: usize) {
        drop(self.until(|state| state.waiting >= count));
    }

    /// Waits until `count` have passed in all.
    pub fn until_passed(&self, count: usize) {
        drop(self.until(|state| state.passed >= count));
    }

    /// How many have passed in all.
    pub fn passed(&self) -> usize {
        self.0.0.lock().expect("no thread panics at a gate").passed
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.0.0.lock().expect("no thread panics at a gate"));
        self.0.1.notify_all();
    }

    /// # Panics
    /// After a minute, so that a test that waits for what never comes fails instead of hanging.
    fn until(&self, reached: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.0.0.lock().expect("no thread panics at a gate");
        let waited = self.0.1.wait_timeout_while(state, PATIENCE, |state| !reached(state));
        let (state, timeout) = waited.expect("no thread panics at a gate");
        let hangs = timeout.timed_out();
        let seen = format!("{state:?}");
        if hangs {
            drop(state);
            panic!("nothing has come to the gate for a minute: {seen}");
        }
        state
    }
}
