//! Whether a decoder waits for the last reader of the memory that it writes to.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::{HostFree, ImageDecoder, SyncGuard, Wanted, failed, headers, requests};
use crate::device::cuda::driver::{CudaError, DeviceBuffer, Event, PinnedBuffer};
use crate::error::Result;
use crate::geometry::Rect;

/// What was read while two batches of files were decoded into the same memory in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overwritten {
    /// Files that were decoded.
    pub files: usize,
    /// Files whose pixels were not what they are when nothing follows them.
    pub wrong: usize,
}

impl ImageDecoder {
    /// Decodes two batches in turn into the same memory, each right after the copy that brings the pixels of the one
    /// before to the host, and compares what the copies saw with batches decoded alone.
    ///
    /// With `guarded` the host first sees the copy end, as a loader does, and nothing may be wrong. Without, the order
    /// of the stream is all that holds a decoder back, which is not enough for the engines of some GPUs.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn overwrite(&mut self, batches: [&[&[u8]]; 2], rounds: usize, guarded: bool) -> Result<Overwritten> {
        self.overwritten(batches, rounds, guarded).map_err(|error| failed(&self.context, &error))
    }

    fn overwritten(
        &mut self,
        batches: [&[&[u8]]; 2],
        rounds: usize,
        guarded: bool,
    ) -> Result<Overwritten, CudaError> {
        let headers = batches.map(headers);
        let places = [0, 1].map(|turn| self.places(batches[turn], &headers[turn], Wanted::Whole));
        let bytes = [0, 1].map(|turn: usize| places[turn].last().map_or(0, |&(_, end)| end));
        let surfaces = DeviceBuffer::new(&self.context, bytes[0].max(bytes[1]))?;
        let landing =
            |turn: usize| Ok((PinnedBuffer::new(&self.context, bytes[turn])?, Event::new(&self.context)?));
        let landings: [(PinnedBuffer, Event); 2] = [landing(0)?, landing(1)?];
        let context = self.context.clone();
        let guard = SyncGuard(&context);
        let mut alone: [Alone; 2] = Default::default();
        let mut found = Overwritten::default();
        // The first two rounds have nothing after them that could disturb them: they are the reference.
        for round in 0..rounds + 2 {
            let (turn, reference) = (round % 2, round < 2);
            if guarded || reference {
                self.stream.synchronize()?;
            }
            let requests = requests(batches[turn], &headers[turn], &places[turn], surfaces.ptr());
            let (pixels, copied) = &landings[turn];
            // SAFETY: the targets are parts of `surfaces`. Where a decoder does not wait, the copy of the round before
            // sees pixels of this one, which is what is to be found out; memory is valid all the while, and `guard`
            // sees to it that all has ended before anything is freed. The landing was read two rounds ago.
            let outcomes = unsafe {
                let outcomes = self.decoder.decode(&requests, &self.stream, HostFree::wait([])?)?;
                self.stream.copy_to_host(pixels.as_mut_ptr(), surfaces.ptr(), bytes[turn])?;
                outcomes
            };
            copied.record(&self.stream)?;
            if reference {
                copied.synchronize()?;
                let decoded = outcomes.iter().map(Result::is_ok).collect();
                alone[turn] = Alone { pixels: landed(pixels), decoded };
            } else if round > 2 {
                let (pixels, copied) = &landings[1 - turn];
                copied.synchronize()?;
                found.add(&landed(pixels), &alone[1 - turn], &places[1 - turn]);
            }
        }
        self.stream.synchronize()?;
        drop(guard);
        Ok(found)
    }
}

/// A batch decoded with nothing after it.
#[derive(Default)]
struct Alone {
    pixels: Vec<u8>,
    /// Whether there are pixels of a file at all.
    decoded: Vec<bool>,
}

impl Overwritten {
    /// Compares file by file.
    fn add(&mut self, seen: &[u8], alone: &Alone, places: &[(Rect, usize)]) {
        let decoded = places.iter().zip(&alone.decoded).filter(|(_, decoded)| **decoded);
        for ((region, first), _) in decoded {
            let range = *first..first + 3 * region.size().pixels() as usize;
            self.files += 1;
            self.wrong += usize::from(seen[range.clone()] != alone.pixels[range]);
        }
    }
}

/// What a copy has brought.
fn landed(pixels: &PinnedBuffer) -> Vec<u8> {
    // SAFETY: pinned memory is initialised when it is made, and the copy into it has ended.
    unsafe { std::slice::from_raw_parts(pixels.as_ptr(), pixels.len()) }.to_vec()
}
