//! Images that many samples show, by the record whose bytes they are: each is staged once, and decoded by the first
//! batch that is submitted.
//!
//! One worker stages an image, others that want it wait for that one: a worker waits only while it stages nothing itself,
//! so nobody waits for ever. An image is known here as long as a staged row or the device's memory ([`super::stock`])
//! holds it; who finds it needs neither its file nor another decode.

use super::slot::StagedImage;
use crate::error::Cause;
use crate::geometry::{Orientation, Size};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Entries from which on those are looked for that nobody holds any more.
const FEW_ENTRIES: usize = 256;

/// The images that are staged or in the device's memory.
#[derive(Default)]
pub(crate) struct Gallery {
    state: Mutex<State>,
    /// Something that was being staged is there, or will not be.
    decided: Condvar,
    hits: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Default)]
struct State {
    entries: HashMap<u64, Entry>,
    /// Entries at which those without a holder go next.
    sweep_at: usize,
}

enum Entry {
    Staging,
    Here(Weak<Exhibit>),
}

/// A whole image that samples share.
pub(crate) struct Exhibit {
    pub(super) record: u64,
    stored: Size,
    orientation: Orientation,
    stand: Mutex<Stand>,
}

/// How far an exhibit has come.
enum Stand {
    /// It lies in the host's memory. It may also be on its way to the device, which may yet fail.
    Staged(StagedImage),
    /// The device has it.
    Decoded,
    /// Nobody can decode it.
    Bad(Told),
}

/// What became of asking for an image.
pub(super) enum Asked<'a> {
    Here(Arc<Exhibit>),
    /// It is to be staged by who asked.
    Mine(Claim<'a>),
}

/// The duty to stage an image; others wait until it is kept or dropped.
pub(super) struct Claim<'a> {
    gallery: &'a Gallery,
    record: u64,
    open: bool,
}

/// Why an image cannot be decoded, told to every sample that shows it.
#[derive(Clone, Debug)]
struct Told(Arc<dyn Error + Send + Sync>);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Told {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl Gallery {
    /// The image, if it is here or about to be.
    pub(crate) fn find(&self, record: u64) -> Option<Arc<Exhibit>> {
        self.wait(record).find(record)
    }

    /// The image, or the duty to stage it.
    pub(super) fn ask(&self, record: u64) -> Asked<'_> {
        let mut state = self.wait(record);
        match state.find(record) {
            Some(exhibit) => Asked::Here(exhibit),
            None => {
                state.sweep();
                state.entries.insert(record, Entry::Staging);
                Asked::Mine(Claim { gallery: self, record, open: true })
            }
        }
    }

    /// Forgets an image unless somebody else holds it, and says whether it is forgotten. Nobody can ask for it meanwhile.
    pub(super) fn forget(&self, exhibit: &Arc<Exhibit>) -> bool {
        let mut state = self.lock();
        let unused = Arc::strong_count(exhibit) == 1;
        if unused {
            state.entries.remove(&exhibit.record);
        }
        unused
    }

    /// Notes that so many decodes were saved.
    pub(super) fn count(&self, hits: u64) {
        self.hits.fetch_add(hits, Relaxed);
    }

    /// Notes how many bytes of the device's memory the images take.
    pub(super) fn note_bytes(&self, bytes: usize) {
        self.bytes.store(bytes as u64, Relaxed);
    }

    /// How many decodes were saved, and the bytes of the device's memory that the images take.
    pub(crate) fn figures(&self) -> (u64, u64) {
        (self.hits.load(Relaxed), self.bytes.load(Relaxed))
    }

    fn wait(&self, record: u64) -> MutexGuard<'_, State> {
        let busy = |state: &mut State| matches!(state.entries.get(&record), Some(Entry::Staging));
        self.decided.wait_while(self.lock(), busy).unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread that panics holds no half-made state: every change is one insertion or removal.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&self, record: u64) -> Option<Arc<Exhibit>> {
        match self.entries.get(&record) {
            Some(Entry::Here(exhibit)) => exhibit.upgrade(),
            _ => None,
        }
    }

    /// Removes what nobody holds, so rarely that it costs nothing and so often that there are never many.
    fn sweep(&mut self) {
        if self.entries.len() < self.sweep_at.max(FEW_ENTRIES) {
            return;
        }
        self.entries.retain(|_, entry| match entry {
            Entry::Staging => true,
            Entry::Here(exhibit) => exhibit.strong_count() > 0,
        });
        self.sweep_at = 2 * self.entries.len();
    }
}

impl Claim<'_> {
    /// Keeps the image for this worker and those that wait.
    pub(super) fn keep(
        mut self,
        stored: Size,
        orientation: Orientation,
        staged: StagedImage,
    ) -> Arc<Exhibit> {
        let stand = Mutex::new(Stand::Staged(staged));
        let exhibit = Arc::new(Exhibit { record: self.record, stored, orientation, stand });
        self.gallery.lock().entries.insert(self.record, Entry::Here(Arc::downgrade(&exhibit)));
        self.open = false;
        self.gallery.decided.notify_all();
        exhibit
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

impl Exhibit {
    /// Size as stored in the file.
    pub(crate) fn stored(&self) -> Size {
        self.stored
    }

    /// How the file asks to be turned.
    pub(crate) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// What it is decoded from; `None` where the device has its pixels, or nobody can decode it.
    pub(super) fn staged(&self) -> Option<StagedImage> {
        match &*self.stand() {
            Stand::Staged(staged) => Some(staged.clone()),
            _ => None,
        }
    }

    /// Why nobody can decode it.
    pub(super) fn bad(&self) -> Option<Cause> {
        match &*self.stand() {
            Stand::Bad(told) => Some(told.clone().into()),
            _ => None,
        }
    }

    /// The device has its pixels for good: what they came from is not kept.
    pub(super) fn settle(&self) {
        *self.stand() = Stand::Decoded;
    }

    /// Nobody can decode it.
    pub(super) fn spoil(&self, cause: Cause) {
        *self.stand() = Stand::Bad(Told(cause.into()));
    }

    fn stand(&self) -> MutexGuard<'_, Stand> {
        self.stand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::Shared;
    use super::*;
    use crate::geometry::Rect;

    /// Stages an exhibit that refers to another one, which no worker does, but needs no device.
    fn keep(gallery: &Gallery, record: u64) -> Arc<Exhibit> {
        let Asked::Mine(claim) = gallery.ask(record) else { panic!("{record} is already here") };
        let stand = Mutex::new(Stand::Decoded);
        let (stored, orientation) = (Size::new(4, 4), Orientation::UPRIGHT);
        let other = Arc::new(Exhibit { record, stored, orientation, stand });
        claim.keep(
            stored,
            orientation,
            StagedImage::Shared(Shared { exhibit: other, wanted: Rect::default() }),
        )
    }

    #[test]
    fn an_image_is_known_as_long_as_somebody_holds_it() {
        let gallery = Gallery::default();
        let exhibit = keep(&gallery, 7);
        assert!(gallery.find(7).is_some_and(|found| Arc::ptr_eq(&found, &exhibit)));
        let second = gallery.find(7);
        assert!(!gallery.forget(&exhibit), "somebody else holds it");
        drop(second);
        assert!(gallery.forget(&exhibit));
        assert!(gallery.find(7).is_none());
        drop(keep(&gallery, 8));
        assert!(matches!(gallery.ask(8), Asked::Mine(_)));
    }

    #[test]
    fn entries_that_nobody_holds_do_not_pile_up() {
        let gallery = Gallery::default();
        let held: Vec<_> = (0..20).map(|record| keep(&gallery, record)).collect();
        (20..10_000).for_each(|record| drop(keep(&gallery, record)));
        assert!(gallery.lock().entries.len() <= FEW_ENTRIES);
        assert!(held.iter().all(|exhibit| gallery.find(exhibit.record).is_some()));
    }

    #[test]
    fn an_image_that_could_not_be_staged_is_tried_again_by_the_next() {
        let gallery = Gallery::default();
        drop(gallery.ask(1));
        assert!(matches!(gallery.ask(1), Asked::Mine(_)));
    }

    #[test]
    fn many_threads_that_want_one_image_stage_it_once() {
        let gallery = Gallery::default();
        let (staged, held) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for record in 0..50 {
                        let exhibit = match gallery.ask(record) {
                            Asked::Here(exhibit) => exhibit,
                            Asked::Mine(claim) => {
                                staged.fetch_add(1, Relaxed);
                                std::thread::yield_now();
                                let wanted = Rect::default();
                                let exhibit = Arc::new(Exhibit {
                                    record,
                                    stored: Size::default(),
                                    orientation: Orientation::UPRIGHT,
                                    stand: Mutex::new(Stand::Decoded),
                                });
                                let image = StagedImage::Shared(Shared { exhibit, wanted });
                                claim.keep(Size::default(), Orientation::UPRIGHT, image)
                            }
                        };
                        held.lock().unwrap_or_else(PoisonError::into_inner).push(exhibit);
                    }
                });
            }
        });
        assert_eq!(staged.into_inner(), 50);
    }

    #[test]
    fn every_sample_is_told_why_an_image_is_bad() {
        let gallery = Gallery::default();
        let exhibit = keep(&gallery, 3);
        assert!(exhibit.bad().is_none());
        exhibit.spoil("cut short".into());
        for _ in 0..2 {
            assert_eq!(exhibit.bad().map(|cause| cause.to_string()).as_deref(), Some("cut short"));
        }
        assert!(exhibit.staged().is_none());
    }
}
