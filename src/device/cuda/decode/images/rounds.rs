//! The same files decoded over and over, the pixels staying on the device, as a loader has it: for measuring.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::{HostFree, ImageDecoder, SyncGuard, Wanted, failed, headers, requests};
use crate::device::cuda::decode::Route;
use crate::device::cuda::driver::{Context, CudaError, DeviceBuffer, Event};
use crate::error::{Cause, Result};
use crate::geometry::Rect;
use crate::jpeg;

/// Rounds under way at a time, as in a loader: one is decoded while the next one's files are prepared.
const IN_FLIGHT: usize = 2;

/// Decodes a list of files as often as it is asked to; made by [`ImageDecoder::rounds`].
pub struct Rounds<'a> {
    decoder: &'a mut ImageDecoder,
    files: &'a [&'a [u8]],
    headers: Vec<Result<jpeg::Header, Cause>>,
    places: Vec<(Rect, usize)>,
    /// Memory for a round, and the event that marks its end.
    turns: [(DeviceBuffer, Event); IN_FLIGHT],
    /// Rounds that were queued.
    queued: usize,
}

impl ImageDecoder {
    /// Makes room for decoding all files, whole, again and again.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn rounds<'a>(&'a mut self, files: &'a [&'a [u8]]) -> Result<Rounds<'a>> {
        let headers = headers(files);
        let places = self.places(files, &headers, Wanted::Whole);
        let bytes = places.last().map_or(0, |&(_, end)| end);
        let turn = |context: &Context| Ok((DeviceBuffer::new(context, bytes)?, Event::new(context)?));
        let made = || -> Result<_, CudaError> { Ok([turn(&self.context)?, turn(&self.context)?]) };
        let turns = made().map_err(|error| failed(&self.context, &error))?;
        Ok(Rounds { decoder: self, files, headers, places, turns, queued: 0 })
    }
}

impl Rounds<'_> {
    /// Queues the decoding of all files once more and returns without waiting for it, but for the round before the last one.
    /// Says which decoder takes each file; files that none takes are left out.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn decode(&mut self) -> Result<Vec<Route>> {
        self.queue().map_err(|error| failed(&self.decoder.context, &error))
    }

    /// Waits until all rounds are decoded.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn wait(&self) -> Result<()> {
        self.decoder.stream.synchronize().map_err(|error| failed(&self.decoder.context, &error))
    }

    fn queue(&mut self) -> Result<Vec<Route>, CudaError> {
        let (surfaces, done) = &self.turns[self.queued % IN_FLIGHT];
        done.synchronize()?;
        let requests = requests(self.files, &self.headers, &self.places, surfaces.ptr());
        let ImageDecoder { decoder, stream, .. } = &mut *self.decoder;
        // SAFETY: the targets are parts of `surfaces`, which nothing reads; `drop` waits before any of it is freed.
        let outcomes = unsafe { decoder.decode(&requests, stream, HostFree::wait([done])?)? };
        done.record(stream)?;
        self.queued += 1;
        Ok(outcomes.into_iter().filter_map(Result::ok).collect())
    }
}

impl Drop for Rounds<'_> {
    fn drop(&mut self) {
        drop(SyncGuard(&self.decoder.context));
    }
}
