//! The memory of one batch: rows that many threads fill at once, then one block that one owner reads.
//!
//! A [`Slot`] gives each row out once, as the only reference to its bytes. [`Slot::finish`] takes the slot by value,
//! so no row can still be out, and gives a [`FilledSlot`] whose bytes are plain slices. [`FilledSlot::reuse`] goes back.

#![expect(unsafe_code, reason = "disjoint rows of one allocation are written by several threads")]

use crate::device::backend::{ALIGNMENT, view_starts};
use crate::device::pinning::{PinnedMemory, Pinning};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

/// Zeroed memory.
enum Memory {
    Ordinary(Ordinary),
    Pinned { memory: PinnedMemory, len: usize },
}

impl Memory {
    /// The first byte, which is aligned; `len` bytes from there are initialised.
    fn first(&self) -> *mut u8 {
        match self {
            Memory::Ordinary(memory) => memory.first(),
            Memory::Pinned { memory, .. } => memory.first(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Memory::Ordinary(memory) => memory.len,
            Memory::Pinned { len, .. } => *len,
        }
    }
}

/// Memory that is backed by pages only where it has been written.
struct Ordinary {
    /// From `alloc_zeroed` with `layout`; freed by `drop` alone.
    base: NonNull<u8>,
    layout: Layout,
    /// Distance to the first aligned byte; `start + len` is at most the layout's size.
    start: usize,
    len: usize,
}

// SAFETY: it owns its bytes as a Box<[u8]> does; access to them is governed by Slot and FilledSlot.
unsafe impl Send for Ordinary {}
// SAFETY: shared it gives no access by itself; see Slot::claim and FilledSlot::bytes.
unsafe impl Sync for Ordinary {}

impl Ordinary {
    /// `None` where there is not so much memory.
    fn new(len: usize) -> Option<Self> {
        // Bytes without alignment come from calloc, which leaves fresh pages untouched; an aligned request would write them.
        let layout = Layout::array::<u8>(len.checked_add(ALIGNMENT)?).ok()?;
        // SAFETY: the layout has at least ALIGNMENT bytes.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let past = base.as_ptr() as usize % ALIGNMENT;
        Some(Self { base, layout, start: (ALIGNMENT - past) % ALIGNMENT, len })
    }

    /// The first aligned byte.
    fn first(&self) -> *mut u8 {
        // SAFETY: start < ALIGNMENT, which is at most the layout's size, so the result is inside the allocation.
        unsafe { self.base.as_ptr().add(self.start) }
    }
}

impl Drop for Ordinary {
    fn drop(&mut self) {
        // SAFETY: `new` has it from `alloc_zeroed` with this layout, and nothing else frees it.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// A batch being filled.
pub(crate) struct Slot {
    memory: Memory,
    views: Box<[ViewRows]>,
    /// One flag a row: set once its bytes have been handed out, cleared only by [`FilledSlot::reuse`].
    claimed: Box<[AtomicBool]>,
}

/// Where the rows of one view lie: `start + rows * row_bytes` is at most the next view's start, and the last one's at most
/// the length of the memory.
struct ViewRows {
    start: usize,
    row_bytes: usize,
    /// What there is room for.
    most_row_bytes: usize,
}

impl Slot {
    /// Room for `rows` rows of so many zero bytes for each view; `None` where there is not so much memory.
    pub(crate) fn new(rows: usize, row_bytes: &[usize]) -> Option<Self> {
        let starts = view_starts(rows, row_bytes.iter().copied())?;
        Self::over(Memory::Ordinary(Ordinary::new(*starts.last()?)?), &starts, (rows, row_bytes))
    }

    /// The same in page-locked memory; `None` where the system locks no more.
    pub(crate) fn pinned(rows: usize, row_bytes: &[usize], pinning: &Pinning) -> Option<Self> {
        let starts = view_starts(rows, row_bytes.iter().copied())?;
        let len = *starts.last()?;
        Self::over(Memory::Pinned { memory: pinning.allocate(len)?, len }, &starts, (rows, row_bytes))
    }

    fn over(memory: Memory, starts: &[usize], (rows, row_bytes): (usize, &[usize])) -> Option<Self> {
        let view = |(&start, &row_bytes)| ViewRows { start, row_bytes, most_row_bytes: row_bytes };
        let views = starts.iter().zip(row_bytes).map(view).collect();
        let claimed = (0..rows).map(|_| AtomicBool::new(false)).collect();
        Some(Self { memory, views, claimed })
    }

    /// Lets the rows of each view have so many bytes from now on, or what there is room for if that is less.
    pub(crate) fn resize_rows(&mut self, row_bytes: &[usize]) {
        for (view, &row_bytes) in self.views.iter_mut().zip(row_bytes) {
            view.row_bytes = row_bytes.min(view.most_row_bytes);
        }
    }

    /// The bytes of `row` in each view, for the first caller; `None` afterwards, and for a row that does not exist.
    #[expect(clippy::mut_from_ref, reason = "each row is handed out once")]
    pub(crate) fn claim(&self, row: usize) -> Option<Vec<&mut [u8]>> {
        if self.claimed.get(row)?.swap(true, Ordering::AcqRel) {
            return None;
        }
        if let Memory::Pinned { memory, .. } = &self.memory {
            memory.wait();
        }
        let bytes = |view: &ViewRows| {
            // SAFETY: row < rows, so the range lies inside its view and inside `memory.len`, by the promise of `ViewRows`, which
            // does not change while the slot is shared. The swap above returned false, so this is the only reference to these
            // bytes until the flag is cleared, which needs the slot by value (no borrow left).
            unsafe {
                let first = self.memory.first().add(view.start + row * view.row_bytes);
                std::slice::from_raw_parts_mut(first, view.row_bytes)
            }
        };
        Some(self.views.iter().map(bytes).collect())
    }

    /// Ends the filling; taking the slot by value proves that no row is still out.
    pub(crate) fn finish(mut self) -> FilledSlot {
        if let Memory::Pinned { memory, .. } = &mut self.memory {
            memory.hand_out();
        }
        FilledSlot { slot: self }
    }
}

/// A finished batch's bytes.
pub(crate) struct FilledSlot {
    /// Never shared again as a Slot, so that no row can be claimed.
    slot: Slot,
}

impl FilledSlot {
    /// All rows.
    pub(crate) fn bytes(&self) -> &[u8] {
        let memory = &self.slot.memory;
        // SAFETY: first..first+len is inside the allocation and initialised (zeroed at least); no Row exists, as
        // the slot was taken by value, and writing needs `&mut self`.
        unsafe { std::slice::from_raw_parts(memory.first(), memory.len()) }
    }

    /// Address of the first row, from where it may be written as well.
    pub(crate) fn address(&self) -> *mut u8 {
        self.slot.memory.first()
    }

    /// All rows, for moving them.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let memory = &self.slot.memory;
        // SAFETY: as in `bytes`, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(memory.first(), memory.len()) }
    }

    /// Makes the memory a slot again; its bytes keep what was in them.
    pub(crate) fn reuse(mut self) -> Slot {
        self.slot.claimed.iter_mut().for_each(|flag| *flag.get_mut() = false);
        self.slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_handed_out_once_until_the_slot_is_reused() {
        let slot = Slot::new(2, &[8]).unwrap();
        assert!(slot.claim(1).is_some());
        assert!(slot.claim(1).is_none());
        assert!(slot.claim(0).is_some());
        assert!(slot.claim(2).is_none());
        assert!(slot.finish().reuse().claim(1).is_some());
    }

    #[test]
    fn smaller_rows_stand_side_by_side_and_none_is_larger_than_there_is_room_for() {
        let mut slot = Slot::new(4, &[8]).unwrap();
        slot.resize_rows(&[3]);
        for row in 0..4 {
            slot.claim(row).unwrap()[0].fill(row as u8 + 1);
        }
        let filled = slot.finish();
        assert_eq!(filled.bytes()[..13], [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 0]);
        let mut slot = filled.reuse();
        slot.resize_rows(&[9]);
        assert_eq!(slot.claim(3).unwrap()[0].len(), 8);
    }

    #[test]
    fn each_view_has_its_rows_side_by_side_from_a_multiple_of_the_alignment_on() {
        let slot = Slot::new(3, &[100, 7, 0, 2]).unwrap();
        for row in 0..3 {
            let views = slot.claim(row).unwrap();
            assert_eq!(views.iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [100, 7, 0, 2]);
            for (view, bytes) in views.into_iter().enumerate() {
                bytes.fill((10 * view + row + 1) as u8);
            }
        }
        let filled = slot.finish();
        let bytes = filled.bytes();
        assert_eq!((bytes[99], bytes[100], bytes[299], bytes[300]), (1, 2, 3, 0));
        assert_eq!(bytes[512..534], [&[11; 7][..], &[12; 7], &[13; 7], &[0]].concat());
        assert_eq!(bytes[768..], [31, 31, 32, 32, 33, 33]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "an interpreter ends where there is not so much memory")]
    fn a_batch_larger_than_any_memory_is_refused() {
        assert!(Slot::new(16, &[1 << 60]).is_none(), "the product has more than 64 bits");
        assert!(Slot::new(16, &[1 << 58]).is_none(), "more than any allocation may have");
        assert!(Slot::new(1, &[1 << 55]).is_none(), "more than there is");
    }

    #[test]
    fn rows_written_by_many_threads_at_once_stand_side_by_side() {
        let slot = Slot::new(16, &[100]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let slot = &slot;
                scope.spawn(move || {
                    for row in (thread..16).step_by(4) {
                        slot.claim(row).unwrap()[0].fill(row as u8);
                    }
                });
            }
        });
        let filled = slot.finish();
        assert!(filled.bytes().iter().enumerate().all(|(at, &byte)| usize::from(byte) == at / 100));
    }

    #[test]
    fn threads_that_race_for_a_row_leave_one_winner() {
        let slot = Slot::new(50, &[3]).unwrap();
        let wins = || {
            (0..50)
                .filter(|&row| {
                    slot.claim(row).is_some_and(|mut views| {
                        let bytes = &mut views[0];
                        bytes[0] == 0 && {
                            bytes[0] = 1;
                            true
                        }
                    })
                })
                .count()
        };
        let total: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(wins)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(total, 50);
    }

    #[test]
    fn batches_are_aligned_zeroed_and_can_be_empty() {
        for (rows, bytes) in [(1, 1), (3, 12), (4, 0), (0, 5), (64, 1000)] {
            let mut filled = Slot::new(rows, &[bytes]).unwrap().finish();
            assert_eq!(filled.bytes().len(), rows * bytes);
            assert_eq!(filled.bytes().as_ptr() as usize % ALIGNMENT, 0);
            assert!(filled.bytes().iter().all(|&byte| byte == 0));
            filled.bytes_mut().fill(7);
            assert!(filled.bytes().iter().all(|&byte| byte == 7));
        }
    }
}
