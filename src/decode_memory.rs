//! The memory of huge images: given back after use, and shared by all threads of the process.
//!
//! A file of a few kilobytes may hold an image of half a gigabyte, and many workers may meet such files at the same moment. So
//! images of more than [`LARGE`] bytes are decoded in turns: as many at once as fit into a budget, and one in any case.

use crate::machine;
use std::cell::Cell;
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// Buffers of more bytes are given back after use, and count.
pub(crate) const LARGE: usize = 64 << 20;

/// Bytes that huge images may take together, and a part of the machine's memory that they do not exceed either.
const SHARED_BYTES: u64 = 2 << 30;
const SHARED_PART: u64 = 4;

/// Frees a buffer of more than [`LARGE`] bytes.
pub(crate) fn give_back<T>(buffer: &mut Vec<T>) {
    if buffer.capacity() * size_of::<T>() > LARGE {
        *buffer = Vec::new();
    }
}

/// Frees buffers of more than [`LARGE`] bytes together.
pub(crate) fn give_back_all<T>(buffers: &mut [Vec<T>]) {
    let bytes: usize = buffers.iter().map(|buffer| buffer.capacity() * size_of::<T>()).sum();
    if bytes > LARGE {
        buffers.fill_with(Vec::new);
    }
}

/// What one decoder has taken of the memory for huge images; what is dropped has nothing.
#[derive(Default)]
pub(crate) struct Permit {
    /// For pixels, which may outlive the decode.
    pixels: u64,
    /// For what the decode alone needs.
    scratch: u64,
    /// Whether pixels are kept after the decode, until [`Permit::release`].
    keeps_pixels: bool,
}

impl Permit {
    /// A permit for pixels that stay after a decode. Its owner must call [`Permit::release`] when they are gone, and must not
    /// wait for other decoders before.
    pub(crate) fn keep_pixels(&mut self) {
        self.keeps_pixels = true;
    }

    /// Takes memory for pixels. Waits until others have given enough back, unless this thread has taken some already.
    pub(crate) fn take_pixels(&mut self, bytes: usize) {
        self.pixels += take(bytes);
    }

    /// The same for what the decode alone needs; what an earlier attempt at the file needed is given back.
    pub(crate) fn take_scratch(&mut self, bytes: usize) {
        give(std::mem::take(&mut self.scratch));
        self.scratch = take(bytes);
    }

    /// To be called after a decode, whether it succeeded or not.
    pub(crate) fn end_decode(&mut self) {
        give(std::mem::take(&mut self.scratch));
        if !self.keeps_pixels {
            self.release();
        }
    }

    /// To be called when no pixels are left.
    pub(crate) fn release(&mut self) {
        give(std::mem::take(&mut self.scratch) + std::mem::take(&mut self.pixels));
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.release();
    }
}

thread_local! {
    /// What this thread has taken.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// What this thread has taken, for tests.
#[cfg(test)]
pub(crate) fn taken() -> u64 {
    TAKEN.get()
}

static SHARED: LazyLock<Turns> = LazyLock::new(|| {
    Turns::new(machine::memory().map_or(SHARED_BYTES, |has| SHARED_BYTES.min(has / SHARED_PART)))
});

fn take(bytes: usize) -> u64 {
    if bytes <= LARGE {
        return 0;
    }
    let bytes = bytes as u64;
    // A thread that has some and waited for more could wait for one that waits for it.
    let waits = TAKEN.get() == 0;
    SHARED.take(bytes, waits);
    TAKEN.set(TAKEN.get() + bytes);
    bytes
}

fn give(bytes: u64) {
    if bytes > 0 {
        TAKEN.set(TAKEN.get().saturating_sub(bytes));
        SHARED.give(bytes);
    }
}

/// Bytes that threads take in the order in which they come.
struct Turns {
    budget: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The process that counts: one that was forked does not have the threads that would give back.
    process: u32,
    taken: u64,
    /// The turn of the next thread that comes, and of the one that is first in line.
    next: u64,
    first: u64,
}

impl Turns {
    fn new(budget: u64) -> Self {
        Self { budget, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for its turn, and then until `bytes` fit into the budget or nothing is taken.
    fn take(&self, bytes: u64, waits: bool) {
        let mut state = self.lock();
        if waits {
            let turn = state.next;
            state.next += 1;
            let must_wait = |state: &mut State| {
                state.first != turn || state.taken > 0 && state.taken + bytes > self.budget
            };
            state = self.changed.wait_while(state, must_wait).unwrap_or_else(PoisonError::into_inner);
            state.first += 1;
        }
        state.taken += bytes;
        drop(state);
        self.changed.notify_all();
    }

    fn give(&self, bytes: u64) {
        let mut state = self.lock();
        state.taken = state.taken.saturating_sub(bytes);
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        if state.process != process {
            *state = State { process, ..State::default() };
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[test]
    fn threads_take_no_more_than_the_budget_together_and_all_have_their_turn() {
        let (turns, at_once, most) = (Turns::new(100), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (turns, at_once, most) = (&turns, &at_once, &most);
                scope.spawn(move || {
                    for round in 0..200 {
                        let bytes = 1 + (thread * 37 + round * 11) % 90;
                        turns.take(bytes, true);
                        most.fetch_max(at_once.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                        std::thread::yield_now();
                        at_once.fetch_sub(bytes, SeqCst);
                        turns.give(bytes);
                    }
                });
            }
        });
        assert!((50..=100).contains(&most.load(SeqCst)), "{most:?}");
        let state = turns.lock();
        assert_eq!((state.taken, state.first), (0, 1600));
    }

    #[test]
    fn one_alone_may_take_more_than_the_budget_and_what_a_thread_adds_does_not_wait() {
        let turns = Turns::new(100);
        turns.take(1000, true);
        turns.take(50, false);
        turns.give(1050);
        turns.take(100, true);
        assert_eq!(turns.lock().taken, 100);
    }

    #[test]
    fn a_permit_gives_back_what_it_took_however_it_ends() {
        let mut permit = Permit::default();
        permit.take_pixels(LARGE);
        assert_eq!(TAKEN.get(), 0, "what is kept anyway does not count");
        permit.take_pixels(LARGE + 1);
        permit.take_scratch(LARGE + 2);
        assert_eq!(TAKEN.get(), 2 * LARGE as u64 + 3);
        permit.end_decode();
        assert_eq!(TAKEN.get(), 0);
        permit.keep_pixels();
        permit.take_scratch(LARGE + 2);
        permit.take_pixels(LARGE + 1);
        permit.end_decode();
        assert_eq!(TAKEN.get(), LARGE as u64 + 1, "the pixels are still there");
        drop(permit);
        assert_eq!(TAKEN.get(), 0);
    }

    #[test]
    fn a_forked_process_begins_with_nothing_taken() {
        let turns = Turns::new(100);
        turns.take(1000, true);
        turns.lock().process = 0;
        turns.take(10, true);
        turns.give(10);
        assert_eq!(turns.lock().taken, 0);
    }
}
