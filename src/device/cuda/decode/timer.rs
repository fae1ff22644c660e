//! Measures how long the device decodes, now and then: to record times costs time, on some systems milliseconds.

use crate::device::cuda::driver::{Context, CudaError, Event, Priority, Stream};
use std::time::Duration;

/// The first calls warm up: memory grows, kernels are loaded. The next few are measured, so that guesses are soon replaced.
const WARM_UP: u32 = 1;
const FIRST_MEASURED: u32 = 4;
/// From then on one call in so many is measured.
const EVERY: u32 = 32;

/// Two points in time around what several streams do.
pub(super) struct Timer {
    began: Event,
    ended: Event,
    /// Waits for whatever is measured.
    stream: Stream,
    calls: u32,
    running: bool,
    /// Bytes decoded between the two points; `None` where nothing is measured, or once it was reported.
    bytes: Option<u64>,
}

impl Timer {
    pub(super) fn new(context: &Context) -> Result<Self, CudaError> {
        Ok(Self {
            began: Event::timed(context)?,
            ended: Event::timed(context)?,
            stream: Stream::new(context, Priority::Low)?,
            calls: 0,
            running: false,
            bytes: None,
        })
    }

    /// What is queued next begins after `entry`.
    pub(super) fn begin(&mut self, entry: &Event) -> Result<(), CudaError> {
        let call = self.calls;
        self.calls = self.calls.wrapping_add(1);
        let due = (WARM_UP..WARM_UP + FIRST_MEASURED).contains(&call) || call % EVERY == EVERY - 1;
        self.running = due && self.bytes.is_none();
        if self.running {
            self.stream.wait(entry)?;
            self.began.record(&self.stream)?;
        }
        Ok(())
    }

    /// What was queued has ended with the last of these, and has decoded so many bytes; 0 where that says nothing.
    pub(super) fn end<'a>(
        &mut self,
        ends: impl Iterator<Item = &'a Event>,
        bytes: u64,
    ) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.running) || bytes == 0 {
            return Ok(());
        }
        for end in ends {
            self.stream.wait(end)?;
        }
        self.ended.record(&self.stream)?;
        self.bytes = Some(bytes);
        Ok(())
    }

    /// Bytes and time of what was measured last, once the device is done with it; each is reported once.
    pub(super) fn take(&mut self) -> Result<Option<(u64, Duration)>, CudaError> {
        let Some(bytes) = self.bytes else { return Ok(None) };
        if !self.ended.is_done()? {
            return Ok(None);
        }
        self.bytes = None;
        let milliseconds = self.ended.since(&self.began)?;
        Ok(Some((bytes, Duration::try_from_secs_f32(milliseconds / 1000.0).unwrap_or_default())))
    }
}
