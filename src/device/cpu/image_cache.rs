//! Decoded images that other samples of the window will want too, so that each is decoded once and used many times.
//!
//! One thread decodes an image while others that want it wait. When the budget is spent, the least recently used go.

use crate::device::backend::BackendUsage;
use crate::error::Cause;
use crate::image::Image;
use crate::single_flight::{Lookup, SingleFlight};
use std::collections::HashMap;
use std::sync::Arc;

/// Buffers of evicted images that are kept for the next ones.
const SPARE: usize = 8;

/// Images by the record whose bytes they are, under a budget of bytes.
pub(crate) struct ImageCache {
    flight: SingleFlight<u64, Images>,
}

#[derive(Default)]
struct Images {
    budget: usize,
    entries: HashMap<u64, Entry>,
    /// Of all entries; an image that was evicted while a thread still holds it does not count.
    bytes: usize,
    clock: u64,
    /// Without the bytes.
    usage: BackendUsage,
    spare: Vec<Image>,
}

struct Entry {
    image: Arc<Image>,
    last_use: u64,
}

impl ImageCache {
    /// Keeps at most `budget` bytes of pixels.
    pub(crate) fn new(budget: usize) -> Self {
        Self { flight: SingleFlight::new(Images { budget, ..Images::default() }) }
    }

    /// The image, if it is here or being decoded.
    pub(crate) fn find(&self, record: u64) -> Option<Arc<Image>> {
        self.flight.find(record, |images| images.find(record))
    }

    /// The image, which `decode` makes where it is not here; `is_counted` says whether that counts as an image. One that is larger than the whole budget is not kept.
    ///
    /// # Errors
    /// Those of `decode`; the next thread that wants the image tries again.
    pub(crate) fn find_or_decode(
        &self,
        (record, is_counted): (u64, bool),
        decode: impl FnOnce(&mut Image) -> Result<(), Cause>,
    ) -> Result<Arc<Image>, Cause> {
        match self.flight.lookup(record, |images| images.find(record)) {
            Lookup::Found(image) => Ok(image),
            Lookup::Missing(pending) => {
                let mut image = self.flight.with_store(|images| images.spare.pop()).unwrap_or_default();
                decode(&mut image)?;
                give_excess_back(&mut image);
                let image = Arc::new(image);
                pending.complete(|images| images.insert((record, is_counted), &image));
                Ok(image)
            }
        }
    }

    pub(crate) fn usage(&self) -> BackendUsage {
        self.flight
            .with_store(|images| BackendUsage { shared_bytes: images.bytes as u64, ..images.usage.clone() })
    }
}

impl Images {
    fn find(&mut self, record: u64) -> Option<Arc<Image>> {
        self.clock += 1;
        let entry = self.entries.get_mut(&record)?;
        entry.last_use = self.clock;
        self.usage.shared_hits += 1;
        Some(Arc::clone(&entry.image))
    }

    fn insert(&mut self, (record, is_counted): (u64, bool), image: &Arc<Image>) {
        self.usage.shared_decoded += u64::from(is_counted);
        if bytes_of(image) > self.budget {
            return;
        }
        self.clock += 1;
        self.bytes += bytes_of(image);
        self.entries.insert(record, Entry { image: Arc::clone(image), last_use: self.clock });
        self.evict();
    }

    /// Lets the least recently used images go until the budget is kept.
    fn evict(&mut self) {
        while self.bytes > self.budget {
            let by_use = self.entries.iter().map(|(record, entry)| (entry.last_use, *record));
            let Some((_, oldest)) = by_use.min() else { return };
            let Some(Entry { image, .. }) = self.entries.remove(&oldest) else { return };
            self.bytes -= bytes_of(&image);
            if self.spare.len() < SPARE
                && let Ok(image) = Arc::try_unwrap(image)
            {
                self.spare.push(image);
            }
        }
    }
}

/// A small image does not hold the memory of a larger one that it was decoded into.
fn give_excess_back(image: &mut Image) {
    let needed = image.stride * image.region.height as usize + Image::TAIL;
    if image.data.capacity() > needed + needed / 2 {
        image.data.truncate(needed);
        image.data.shrink_to_fit();
    }
}

fn bytes_of(image: &Image) -> usize {
    image.data.capacity()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;

    fn image(edge: u32) -> Image {
        let mut image = Image::default();
        fill(edge)(&mut image).unwrap();
        image.data.shrink_to_fit();
        image
    }

    fn fill(edge: u32) -> impl FnOnce(&mut Image) -> Result<(), Cause> {
        move |image| {
            let size = Size::new(edge, edge);
            image.reset(size, size.rect());
            image.data.shrink_to_fit();
            Ok(())
        }
    }

    fn decode(cache: &ImageCache, record: u64) {
        let before = cache.usage().shared_decoded;
        cache.find_or_decode((record, true), fill(10)).unwrap();
        assert_eq!(cache.usage().shared_decoded, before + 1, "{record} is already here");
    }

    #[test]
    fn the_least_recently_used_goes_when_the_budget_is_spent() {
        let cache = ImageCache::new(3 * bytes_of(&image(10)));
        (0..3).for_each(|record| decode(&cache, record));
        assert!(cache.find(0).is_some());
        decode(&cache, 3);
        assert!(cache.find(1).is_none());
        assert!([0, 2, 3].iter().all(|record| cache.find(*record).is_some()));
        let bytes = 3 * bytes_of(&image(10)) as u64;
        let usage = BackendUsage {
            shared_decoded: 4,
            shared_hits: 4,
            shared_bytes: bytes,
            ..BackendUsage::default()
        };
        assert_eq!(cache.usage(), usage);
        let spare = |image: &mut Image| {
            assert!(image.data.capacity() > 0);
            fill(10)(image)
        };
        cache.find_or_decode((4, true), spare).unwrap();
    }

    #[test]
    fn a_small_image_does_not_hold_the_memory_of_a_large_one() {
        let cache = ImageCache::new(1 << 20);
        let into_a_large_one = |reused: &mut Image| {
            *reused = image(100);
            let small = Size::new(10, 10);
            reused.reset(small, small.rect());
            Ok(())
        };
        cache.find_or_decode((1, true), into_a_large_one).unwrap();
        assert!(cache.usage().shared_bytes < 1000, "{:?}", cache.usage());
    }

    #[test]
    fn an_image_beyond_the_whole_budget_is_used_and_not_kept() {
        let cache = ImageCache::new(bytes_of(&image(10)) - 1);
        decode(&cache, 7);
        assert!(cache.find(7).is_none());
        assert_eq!(cache.usage(), BackendUsage { shared_decoded: 1, ..BackendUsage::default() });
    }

    #[test]
    fn an_image_that_cannot_be_decoded_is_tried_again_by_the_next() {
        let cache = ImageCache::new(1 << 20);
        assert!(cache.find_or_decode((1, true), |_| Err("cut short".into())).is_err());
        decode(&cache, 1);
    }

    #[test]
    fn many_threads_that_want_one_image_decode_it_once() {
        let cache = ImageCache::new(1 << 20);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for record in 0..50 {
                        let decode = |image: &mut Image| {
                            std::thread::yield_now();
                            fill(4)(image)
                        };
                        cache.find_or_decode((record, true), decode).unwrap();
                    }
                });
            }
        });
        let BackendUsage { shared_decoded: decoded, shared_hits: hits, .. } = cache.usage();
        assert_eq!((decoded, hits), (50, 7 * 50));
    }
}
