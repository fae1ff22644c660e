//! Decoded images that other samples of the window will want too, so that each is decoded once and used many times.
//!
//! One thread decodes an image, others that want it wait for that one: a thread waits only while it decodes nothing
//! itself, so nobody waits for ever. What was not used for longest goes first when the budget is spent.

use crate::image::Image;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Buffers of images that went, kept for the next ones.
const SPARE: usize = 8;

/// The images at hand, by the record whose bytes they are.
pub(super) struct Gallery {
    budget: usize,
    state: Mutex<State>,
    /// Something that was being decoded is there, or will not be.
    decided: Condvar,
}

#[derive(Default)]
struct State {
    entries: HashMap<u64, Entry>,
    /// Of all pictures, without those that only a thread still holds.
    bytes: usize,
    clock: u64,
    hits: u64,
    spare: Vec<Image>,
}

enum Entry {
    Decoding,
    Here { picture: Arc<Image>, used: u64 },
}

/// What became of asking for an image.
pub(super) enum Asked<'a> {
    Here(Arc<Image>),
    /// It is to be decoded by who asked.
    Mine(Claim<'a>),
}

/// The duty to decode an image; others wait until it is kept or dropped.
pub(super) struct Claim<'a> {
    gallery: &'a Gallery,
    record: u64,
    /// Until the image is kept; the record may be somebody else's again behind that.
    open: bool,
}

impl Gallery {
    /// Keeps at most `budget` bytes of pixels.
    pub(super) fn new(budget: usize) -> Self {
        Self { budget, state: Mutex::default(), decided: Condvar::new() }
    }

    /// The image, if it is here or about to be.
    pub(super) fn find(&self, record: u64) -> Option<Arc<Image>> {
        self.wait(record).find(record)
    }

    /// The image, or the duty to decode it.
    pub(super) fn ask(&self, record: u64) -> Asked<'_> {
        let mut state = self.wait(record);
        match state.find(record) {
            Some(picture) => Asked::Here(picture),
            None => {
                state.entries.insert(record, Entry::Decoding);
                Asked::Mine(Claim { gallery: self, record, open: true })
            }
        }
    }

    /// Memory for an image, of one that went if there is any.
    pub(super) fn blank(&self) -> Image {
        self.lock().spare.pop().unwrap_or_default()
    }

    /// How many decodes were saved, and the bytes that the images take.
    pub(super) fn figures(&self) -> (u64, u64) {
        let state = self.lock();
        (state.hits, state.bytes as u64)
    }

    fn wait(&self, record: u64) -> MutexGuard<'_, State> {
        let busy = |state: &mut State| matches!(state.entries.get(&record), Some(Entry::Decoding));
        self.decided.wait_while(self.lock(), busy).unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that panics holds no half-made state: every change is one insertion or removal.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, record: u64) -> Option<Arc<Image>> {
        self.clock += 1;
        let Some(Entry::Here { picture, used }) = self.entries.get_mut(&record) else { return None };
        *used = self.clock;
        self.hits += 1;
        Some(Arc::clone(picture))
    }

    /// Lets the images go that were not used for longest.
    fn shrink_to(&mut self, budget: usize) {
        while self.bytes > budget {
            let used = |(record, entry): (&u64, &Entry)| match entry {
                Entry::Here { used, .. } => Some((*used, *record)),
                Entry::Decoding => None,
            };
            let Some((_, oldest)) = self.entries.iter().filter_map(used).min() else { return };
            let Some(Entry::Here { picture, .. }) = self.entries.remove(&oldest) else { return };
            self.bytes -= bytes_of(&picture);
            if self.spare.len() < SPARE
                && let Ok(picture) = Arc::try_unwrap(picture)
            {
                self.spare.push(picture);
            }
        }
    }
}

impl Claim<'_> {
    /// Keeps the image, if it is not larger than the whole budget, for this thread and those that wait.
    pub(super) fn keep(mut self, mut picture: Image) -> Arc<Image> {
        // Memory of a larger image that went is not held by a small one.
        let needed = picture.stride * picture.region.height as usize + Image::TAIL;
        if picture.data.capacity() > needed + needed / 2 {
            picture.data.truncate(needed);
            picture.data.shrink_to_fit();
        }
        let bytes = bytes_of(&picture);
        let picture = Arc::new(picture);
        let mut state = self.gallery.lock();
        if bytes <= self.gallery.budget {
            state.clock += 1;
            state.bytes += bytes;
            let entry = Entry::Here { picture: Arc::clone(&picture), used: state.clock };
            state.entries.insert(self.record, entry);
            state.shrink_to(self.gallery.budget);
        } else {
            state.entries.remove(&self.record);
        }
        drop(state);
        self.open = false;
        self.gallery.decided.notify_all();
        picture
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.open {
            self.gallery.lock().entries.remove(&self.record);
            self.gallery.decided.notify_all();
        }
    }
}

fn bytes_of(picture: &Image) -> usize {
    picture.data.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn picture(edge: u32) -> Image {
        let size = Size::new(edge, edge);
        let mut picture = Image::default();
        picture.reset(size, size.rect());
        picture.data.shrink_to_fit();
        picture
    }

    fn keep(gallery: &Gallery, record: u64) {
        match gallery.ask(record) {
            Asked::Mine(claim) => drop(claim.keep(picture(10))),
            Asked::Here(_) => panic!("{record} is already here"),
        }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_when_the_budget_is_spent() {
        let gallery = Gallery::new(3 * bytes_of(&picture(10)));
        (0..3).for_each(|record| keep(&gallery, record));
        assert!(gallery.find(0).is_some());
        keep(&gallery, 3);
        assert!(gallery.find(1).is_none());
        assert!([0, 2, 3].iter().all(|record| gallery.find(*record).is_some()));
        assert_eq!(gallery.figures(), (4, 3 * bytes_of(&picture(10)) as u64));
        assert!(gallery.blank().data.capacity() > 0);
    }

    #[test]
    fn a_small_image_does_not_hold_the_memory_of_a_large_one() {
        let gallery = Gallery::new(1 << 20);
        let (mut reused, small) = (picture(100), Size::new(10, 10));
        reused.reset(small, small.rect());
        match gallery.ask(1) {
            Asked::Mine(claim) => drop(claim.keep(reused)),
            Asked::Here(_) => panic!("it was never kept"),
        }
        assert!(gallery.figures().1 < 1000, "{:?}", gallery.figures());
    }

    #[test]
    fn an_image_beyond_the_whole_budget_is_used_and_not_kept() {
        let gallery = Gallery::new(bytes_of(&picture(10)) - 1);
        keep(&gallery, 7);
        assert!(gallery.find(7).is_none());
        assert_eq!(gallery.figures(), (0, 0));
    }

    #[test]
    fn an_image_that_cannot_be_decoded_is_tried_again_by_the_next() {
        let gallery = Gallery::new(1 << 20);
        drop(gallery.ask(1));
        assert!(matches!(gallery.ask(1), Asked::Mine(_)));
    }

    #[test]
    fn many_threads_that_want_one_image_decode_it_once() {
        let gallery = Gallery::new(1 << 20);
        let decoded = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for record in 0..50 {
                        if let Asked::Mine(claim) = gallery.ask(record) {
                            decoded.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            std::thread::yield_now();
                            claim.keep(picture(4));
                        }
                    }
                });
            }
        });
        assert_eq!(decoded.into_inner(), 50);
        assert_eq!(gallery.figures().0, 7 * 50);
    }
}
