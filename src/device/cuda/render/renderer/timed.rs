//! How fast the device renders: the kernels alone, by the device's own clock.

#![expect(unsafe_code, reason = "kernels on memory that the caller owns")]

use super::{Prepared, Renderer};
use crate::device::cuda::driver::{CudaError, Event};
use crate::error::Cause;
use crate::image::Image;
use crate::output::Output;
use crate::plan::Plan;

/// Rounds ahead of the first that counts.
const WARM_UP: usize = 3;

impl Renderer {
    /// Renders the batches in turn, `rounds` times each, and returns the milliseconds of each rendering. Batches that
    /// together are larger than the device's cache show what its memory can do.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn time(
        &mut self,
        batches: &[(&[Plan], &[&[Image]])],
        output: &Output,
        rounds: usize,
    ) -> Result<Vec<f32>, Cause> {
        let prepare = |&(plans, images): &(&[Plan], &[&[Image]])| self.prepare(plans, images, output, |_| {});
        let prepared: Vec<Prepared> = batches.iter().map(prepare).collect::<Result<_, _>>()?;
        let turns = prepared.iter().cycle();
        // SAFETY: `prepared` is there until the wait below has ended, whatever fails.
        let timed = |batch| unsafe { self.timed(batch) };
        let taken = turns.take(prepared.len() * rounds + WARM_UP).map(timed);
        let events: Result<Vec<(Event, Event)>, CudaError> = taken.collect();
        // Whatever failed: buffers are freed only when the device is done with them.
        self.stream.synchronize()?;
        let times = events?.into_iter().skip(WARM_UP).map(|(began, ended)| ended.since(&began));
        Ok(times.collect::<Result<_, _>>()?)
    }

    /// Queues one round, between two events.
    ///
    /// # Safety
    /// `batch` stays, and is used by no other stream, until the stream has been waited for.
    unsafe fn timed(&self, batch: &Prepared) -> Result<(Event, Event), CudaError> {
        let (began, ended) = (Event::timed(&self.context)?, Event::timed(&self.context)?);
        let Prepared { program, tables, scratch, .. } = batch;
        began.record(&self.stream)?;
        // SAFETY: the buffers were made for this program, and stay until the stream has been waited for; one stream takes the rounds one after the other.
        unsafe { self.kernels.launch(program, tables.ptr(), scratch.ptr(), &self.stream)? };
        ended.record(&self.stream)?;
        Ok((began, ended))
    }
}
