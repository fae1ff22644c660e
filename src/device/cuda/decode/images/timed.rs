//! How fast the device decodes: the same files over and over, the pixels staying where they are.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::{HostFree, ImageDecoder, Quiet, Wanted, failed, headers, requests};
use crate::device::cuda::decode::Route;
use crate::device::cuda::driver::{CudaError, DeviceBuffer, Event};
use crate::error::Result;
use std::time::{Duration, Instant};

/// Rounds under way at a time, as in a loader: one is decoded while the next one's files are prepared.
const IN_FLIGHT: usize = 2;

impl ImageDecoder {
    /// Decodes all files, whole, again and again for about `time`, and once more ahead of it. Returns how many rounds
    /// that were, how long they took, and who decoded the files of the last one; files that nobody took are left out.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn time(&mut self, files: &[&[u8]], time: Duration) -> Result<(usize, Duration, Vec<Route>)> {
        self.rounds(files, time).map_err(|error| failed(&self.context, &error))
    }

    fn rounds(
        &mut self,
        files: &[&[u8]],
        time: Duration,
    ) -> Result<(usize, Duration, Vec<Route>), CudaError> {
        let headers = headers(files);
        let places = self.places(files, &headers, Wanted::Whole);
        let bytes = places.last().map_or(0, |&(_, end)| end);
        let turn = || Ok((DeviceBuffer::new(&self.context, bytes)?, Event::new(&self.context)?));
        let turns: [(DeviceBuffer, Event); IN_FLIGHT] = [turn()?, turn()?];
        let context = self.context.clone();
        let quiet = Quiet(&context);
        let (mut began, mut rounds, mut routes) = (Instant::now(), 0, Vec::new());
        // Round 0 warms up: memory grows, kernels are loaded.
        while rounds < 2 || began.elapsed() < time {
            let (surfaces, done) = &turns[rounds % IN_FLIGHT];
            done.synchronize()?;
            let requests = requests(files, &headers, &places, surfaces.ptr());
            // SAFETY: the targets are parts of `surfaces`, which nobody reads; `quiet` sees to it that all has ended
            // before anything is freed.
            let outcomes = unsafe { self.decoder.decode(&requests, &self.stream, HostFree::wait([done])?)? };
            done.record(&self.stream)?;
            routes = outcomes.into_iter().filter_map(Result::ok).collect();
            if rounds == 0 {
                self.stream.synchronize()?;
                began = Instant::now();
            }
            rounds += 1;
        }
        self.stream.synchronize()?;
        let took = began.elapsed();
        drop(quiet);
        Ok((rounds - 1, took, routes))
    }
}
