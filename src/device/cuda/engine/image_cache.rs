//! Images that many samples show, by the record whose bytes they are: each is staged once, and decoded by the first
//! batch that is submitted.
//!
//! One worker stages an image while others that want it wait. An image is known here as long as a staged row or the device's
//! memory ([`super::image_pool`]) holds it; a sample that finds it needs neither its file nor another decode.

use super::source_bytes::SourceBytes;
use crate::error::Cause;
use crate::geometry::{Orientation, Size};
use crate::single_flight::{Lookup, SingleFlight};
use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Number of images from which on those without a holder are removed.
const FEW_IMAGES: usize = 256;

/// The images that are staged or in the device's memory.
pub(crate) struct ImageCache {
    flight: SingleFlight<u64, Images>,
    hits: AtomicU64,
    bytes: AtomicU64,
}

#[derive(Default)]
struct Images {
    by_record: HashMap<u64, Weak<SharedImage>>,
    /// Number of images at which those without a holder are removed next.
    sweep_at: usize,
}

/// A whole image that samples share.
pub(crate) struct SharedImage {
    pub(super) record: u64,
    pub(super) stored: Size,
    pub(super) orientation: Orientation,
    state: Mutex<ImageState>,
}

/// How far a shared image has come.
enum ImageState {
    /// It lies in the host's memory. It may also be on its way to the device, which may yet fail.
    Staged(SourceBytes),
    /// The device has it.
    Decoded,
    /// Why it cannot be decoded, for every sample that shows it.
    Bad(Arc<dyn Error + Send + Sync>),
}

impl Default for ImageCache {
    fn default() -> Self {
        Self {
            flight: SingleFlight::new(Images::default()),
            hits: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }
}

impl ImageCache {
    /// The image, if it is here or being staged.
    pub(super) fn find(&self, record: u64) -> Option<Arc<SharedImage>> {
        self.flight.find(record, |images| images.find(record))
    }

    /// The image, which `stage` stages where it is not here.
    ///
    /// # Errors
    /// Those of `stage`; the next worker that wants the image tries again.
    pub(super) fn find_or_stage(
        &self,
        record: u64,
        (stored, orientation): (Size, Orientation),
        stage: impl FnOnce() -> Result<SourceBytes, Cause>,
    ) -> Result<Arc<SharedImage>, Cause> {
        match self.flight.lookup(record, |images| images.find(record)) {
            Lookup::Found(image) => Ok(image),
            Lookup::Missing(pending) => {
                let state = Mutex::new(ImageState::Staged(stage()?));
                let image = Arc::new(SharedImage { record, stored, orientation, state });
                pending.complete(|images| images.insert(&image));
                Ok(image)
            }
        }
    }

    /// Forgets an image unless it has another holder, and says whether it is forgotten. Meanwhile no sample can find it.
    pub(super) fn forget(&self, image: &Arc<SharedImage>) -> bool {
        self.flight.with_store(|images| {
            let unused = Arc::strong_count(image) == 1;
            if unused {
                images.by_record.remove(&image.record);
            }
            unused
        })
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
    pub(super) fn usage(&self) -> (u64, u64) {
        (self.hits.load(Relaxed), self.bytes.load(Relaxed))
    }
}

impl Images {
    fn find(&self, record: u64) -> Option<Arc<SharedImage>> {
        self.by_record.get(&record)?.upgrade()
    }

    fn insert(&mut self, image: &Arc<SharedImage>) {
        self.sweep();
        self.by_record.insert(image.record, Arc::downgrade(image));
    }

    /// Removes images without a holder, so rarely that it costs nothing and so often that there are never many.
    fn sweep(&mut self) {
        if self.by_record.len() < self.sweep_at.max(FEW_IMAGES) {
            return;
        }
        self.by_record.retain(|_, image| image.strong_count() > 0);
        self.sweep_at = 2 * self.by_record.len();
    }
}

impl SharedImage {
    /// What it is decoded from; `None` where the device has its pixels, or it cannot be decoded.
    pub(super) fn staged(&self) -> Option<SourceBytes> {
        match &*self.state() {
            ImageState::Staged(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }

    /// Why it cannot be decoded.
    pub(super) fn bad(&self) -> Option<Cause> {
        match &*self.state() {
            ImageState::Bad(error) => Some(Arc::clone(error).into()),
            _ => None,
        }
    }

    /// The device has its pixels for good: what they came from is not kept.
    pub(super) fn mark_decoded(&self) {
        *self.state() = ImageState::Decoded;
    }

    /// It cannot be decoded.
    pub(super) fn mark_failed(&self, cause: Cause) {
        *self.state() = ImageState::Bad(cause.into());
    }

    fn state(&self) -> MutexGuard<'_, ImageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::source_bytes::StagedPixels;
    use super::super::staging::StagingBuffer;
    use super::*;
    use crate::geometry::Rect;

    /// An image without pixels, which needs no device.
    fn empty() -> Result<SourceBytes, Cause> {
        let bytes = Arc::new(StagingBuffer::ordinary(0));
        Ok(SourceBytes::Pixels(StagedPixels { bytes, region: Rect::default(), pitch: 0 }))
    }

    fn stage(cache: &ImageCache, record: u64) -> Arc<SharedImage> {
        let (mut staged, header) = (false, (Size::new(4, 4), Orientation::UPRIGHT));
        let image = cache.find_or_stage(record, header, || {
            staged = true;
            empty()
        });
        assert!(staged, "{record} is already here");
        image.unwrap()
    }

    #[test]
    fn an_image_is_known_as_long_as_somebody_holds_it() {
        let cache = ImageCache::default();
        let image = stage(&cache, 7);
        assert!(cache.find(7).is_some_and(|found| Arc::ptr_eq(&found, &image)));
        let second = cache.find(7);
        assert!(!cache.forget(&image), "somebody else holds it");
        drop(second);
        assert!(cache.forget(&image));
        assert!(cache.find(7).is_none());
        drop(stage(&cache, 8));
        drop(stage(&cache, 8));
    }

    #[test]
    fn images_that_nobody_holds_do_not_pile_up() {
        let cache = ImageCache::default();
        let held: Vec<_> = (0..20).map(|record| stage(&cache, record)).collect();
        (20..10_000).for_each(|record| drop(stage(&cache, record)));
        assert!(cache.flight.with_store(|images| images.by_record.len()) <= FEW_IMAGES);
        assert!(held.iter().all(|image| cache.find(image.record).is_some()));
    }

    #[test]
    fn an_image_that_could_not_be_staged_is_tried_again_by_the_next() {
        let cache = ImageCache::default();
        let failed =
            cache.find_or_stage(1, (Size::default(), Orientation::UPRIGHT), || Err("no room".into()));
        assert!(failed.is_err());
        stage(&cache, 1);
    }

    #[test]
    fn many_threads_that_want_one_image_stage_it_once() {
        let cache = ImageCache::default();
        let (staged, held) = (AtomicU64::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for record in 0..50 {
                        let image = cache.find_or_stage(record, Default::default(), || {
                            staged.fetch_add(1, Relaxed);
                            std::thread::yield_now();
                            empty()
                        });
                        held.lock().unwrap_or_else(PoisonError::into_inner).push(image.unwrap());
                    }
                });
            }
        });
        assert_eq!(staged.into_inner(), 50);
    }

    #[test]
    fn every_sample_is_told_why_an_image_is_bad() {
        let cache = ImageCache::default();
        let image = stage(&cache, 3);
        assert!(image.bad().is_none());
        image.mark_failed("cut short".into());
        for _ in 0..2 {
            assert_eq!(image.bad().map(|cause| cause.to_string()).as_deref(), Some("cut short"));
        }
        assert!(image.staged().is_none());
    }
}
