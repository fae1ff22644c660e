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

/// Makes `buffer` at least so long. Its content is undefined then.
///
/// New memory is zeroed by the system, page by page as it is written. So a file of a few dozen bytes that claims a huge image
/// costs no memory before its data come.
pub(crate) fn grow(buffer: &mut Vec<u8>, bytes: usize) {
    if buffer.len() < bytes {
        *buffer = Vec::new();
        *buffer = vec![0; bytes];
    }
}

/// What one decoder has taken of the memory for huge images; what is dropped has nothing.
#[derive(Default)]
pub(crate) struct Permit {
    /// For what is still to come.
    reserved: u64,
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

    /// Takes memory for buffers of these sizes at once, so that what is then taken for them need not wait: threads that each
    /// have a part of what they need are in each other's way.
    pub(crate) fn reserve(&mut self, buffers: impl IntoIterator<Item = usize>) {
        let bytes: u64 = buffers.into_iter().map(counted).sum();
        self.reserved += take(bytes.saturating_sub(self.reserved));
    }

    /// Takes memory for pixels; waits until others have given enough back.
    pub(crate) fn take_pixels(&mut self, bytes: usize) {
        self.pixels += self.draw(bytes);
    }

    /// The same for what the decode alone needs, in place of what an earlier attempt at the file needed.
    pub(crate) fn take_scratch(&mut self, bytes: usize) {
        self.reserved += std::mem::take(&mut self.scratch);
        self.scratch = self.draw(bytes);
    }

    /// What is reserved first, and then what is not.
    fn draw(&mut self, bytes: usize) -> u64 {
        let bytes = counted(bytes);
        let drawn = bytes.min(self.reserved);
        self.reserved -= drawn;
        take(bytes - drawn);
        bytes
    }

    /// To be called after a decode, whether it succeeded or not.
    pub(crate) fn end_decode(&mut self) {
        if self.keeps_pixels {
            // The next image of the sample may need it.
            self.reserved += std::mem::take(&mut self.scratch);
        } else {
            self.release();
        }
    }

    /// To be called when no pixels are left.
    pub(crate) fn release(&mut self) {
        let Self { reserved, pixels, scratch, .. } = self;
        give([reserved, pixels, scratch].into_iter().map(std::mem::take).sum());
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.release();
    }
}

/// What a thread has taken.
#[derive(Clone, Copy)]
struct Own {
    bytes: u64,
    /// Whether it went beyond the budget.
    is_beyond: bool,
}

const NOTHING: Own = Own { bytes: 0, is_beyond: false };

thread_local! {
    static OWN: Cell<Own> = const { Cell::new(NOTHING) };
}

/// What this thread has taken, for tests.
#[cfg(test)]
pub(crate) fn taken() -> u64 {
    OWN.get().bytes
}

static SHARED: LazyLock<Turns> = LazyLock::new(|| {
    Turns::new(machine::memory().map_or(SHARED_BYTES, |has| SHARED_BYTES.min(has / SHARED_PART)))
});

/// As many bytes as a buffer of so many counts for.
fn counted(bytes: usize) -> u64 {
    if bytes > LARGE { bytes as u64 } else { 0 }
}

fn take(bytes: u64) -> u64 {
    if bytes > 0 {
        OWN.set(SHARED.take(bytes, OWN.get()));
    }
    bytes
}

fn give(bytes: u64) {
    if bytes > 0 {
        OWN.set(SHARED.give(bytes, OWN.get()));
    }
}

/// Bytes that threads take in the order in which they come.
///
/// A thread that has taken some and needs more cannot wait for others in any case, since they may wait for it. So one of
/// them at a time goes beyond the budget; the others wait until it has ended.
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
    /// Whether a thread went beyond the budget.
    is_beyond: bool,
    /// The turn of the next thread that comes, and of the one that is first in line.
    next: u64,
    first: u64,
}

impl Turns {
    fn new(budget: u64) -> Self {
        Self { budget, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Takes `bytes` for a thread that has `own`; returns what it has then.
    ///
    /// One that has nothing waits for its turn, and then until they fit into the budget or nothing is taken.
    fn take(&self, bytes: u64, mut own: Own) -> Own {
        let mut state = self.lock();
        let fits = |state: &State| state.taken + bytes <= self.budget;
        if own.bytes == 0 {
            let turn = state.next;
            state.next += 1;
            let must_wait = |state: &mut State| state.first != turn || state.taken > 0 && !fits(state);
            state = self.changed.wait_while(state, must_wait).unwrap_or_else(PoisonError::into_inner);
            state.first += 1;
        } else if !own.is_beyond {
            let must_wait = |state: &mut State| state.is_beyond && !fits(state);
            state = self.changed.wait_while(state, must_wait).unwrap_or_else(PoisonError::into_inner);
            own.is_beyond = !fits(&state);
            state.is_beyond |= own.is_beyond;
        }
        state.taken += bytes;
        own.bytes += bytes;
        drop(state);
        self.changed.notify_all();
        own
    }

    /// Gives `bytes` back that a thread has taken, which has `own`; returns what it has then.
    fn give(&self, bytes: u64, mut own: Own) -> Own {
        let mut state = self.lock();
        state.taken = state.taken.saturating_sub(bytes);
        own.bytes = own.bytes.saturating_sub(bytes);
        if own.is_beyond && (own.bytes == 0 || state.taken <= self.budget) {
            (own.is_beyond, state.is_beyond) = (false, false);
        }
        drop(state);
        self.changed.notify_all();
        own
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
                        let own = turns.take(bytes, NOTHING);
                        most.fetch_max(at_once.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                        std::thread::yield_now();
                        at_once.fetch_sub(bytes, SeqCst);
                        turns.give(bytes, own);
                    }
                });
            }
        });
        assert!((50..=100).contains(&most.load(SeqCst)), "{most:?}");
        let state = turns.lock();
        assert_eq!((state.taken, state.first), (0, 1600));
    }

    #[test]
    fn threads_that_need_more_than_they_took_go_beyond_the_budget_one_at_a_time() {
        const EACH: u64 = 30;
        let (turns, at_once, most) = (Turns::new(100), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for round in 0..100 {
                        let mut own = NOTHING;
                        // What is not reserved comes bit by bit, as that of a mosaic's images does.
                        for _ in 0..1 + round % 4 {
                            own = turns.take(EACH, own);
                            most.fetch_max(at_once.fetch_add(EACH, SeqCst) + EACH, SeqCst);
                            std::thread::yield_now();
                        }
                        at_once.fetch_sub(own.bytes, SeqCst);
                        turns.give(own.bytes, own);
                    }
                });
            }
        });
        // 90 of three threads, and what one of them takes after its first.
        assert!((100..=90 + 3 * EACH).contains(&most.load(SeqCst)), "{most:?}");
        let state = turns.lock();
        assert!(state.taken == 0 && !state.is_beyond);
    }

    #[test]
    fn one_alone_may_take_more_than_the_budget() {
        let turns = Turns::new(100);
        let own = turns.take(1000, NOTHING);
        let own = turns.take(50, own);
        assert!(own.is_beyond);
        let own = turns.give(1050, own);
        assert!(!own.is_beyond && own.bytes == 0);
        turns.take(100, NOTHING);
        assert_eq!(turns.lock().taken, 100);
    }

    #[test]
    fn a_permit_gives_back_what_it_took_however_it_ends() {
        let mut permit = Permit::default();
        permit.take_pixels(LARGE);
        assert_eq!(taken(), 0, "what is kept anyway does not count");
        permit.take_pixels(LARGE + 1);
        permit.take_scratch(LARGE + 2);
        assert_eq!(taken(), 2 * LARGE as u64 + 3);
        permit.end_decode();
        assert_eq!(taken(), 0);
        permit.keep_pixels();
        permit.take_scratch(LARGE + 2);
        permit.take_pixels(LARGE + 1);
        permit.end_decode();
        assert_eq!(
            taken(),
            2 * LARGE as u64 + 3,
            "the pixels are still there, and the next image may need as much"
        );
        permit.take_scratch(LARGE + 2);
        assert_eq!(taken(), 2 * LARGE as u64 + 3);
        drop(permit);
        assert_eq!(taken(), 0);
    }

    #[test]
    fn what_is_reserved_is_taken_once() {
        let mut permit = Permit::default();
        permit.reserve([LARGE, LARGE + 1, LARGE + 2]);
        let all = 2 * LARGE as u64 + 3;
        assert_eq!(taken(), all);
        permit.reserve([LARGE + 1]);
        permit.take_scratch(LARGE + 1);
        permit.take_pixels(LARGE);
        permit.take_pixels(LARGE + 2);
        assert_eq!(taken(), all);
        permit.take_scratch(LARGE + 5);
        assert_eq!(taken(), all + 4, "what an attempt needs beyond that of the one before");
        permit.end_decode();
        assert_eq!(taken(), 0);
    }

    #[test]
    fn a_forked_process_begins_with_nothing_taken() {
        let turns = Turns::new(100);
        turns.take(1000, NOTHING);
        turns.lock().process = 0;
        let own = turns.take(10, NOTHING);
        turns.give(10, own);
        assert_eq!(turns.lock().taken, 0);
    }
}
