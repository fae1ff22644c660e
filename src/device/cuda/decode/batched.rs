//! A decoder that takes many images in one call and refuses all for one bad file.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::request::Request;
use crate::device::cuda::driver::{Context, CudaError, Event, Priority, Stream};
use crate::device::cuda::nvjpeg::{Backend, Batch, Handle, Item, Nvjpeg, NvjpegError, Parser};
use crate::geometry::Size;
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of images in a call: more would only reserve more memory.
const MAX_IMAGES: usize = 128;
/// Images with a side below this are asked about on their own: an engine might refuse them for their size.
const TINY: u32 = 64;
/// Failures that no file is to blame for, until the decoder is given up.
const MAX_STRIKES: u32 = 3;

/// One of nvJPEG's batched decoders, on a stream of its own.
pub(super) struct Batched {
    /// Two take turns: nvJPEG does not promise that a state may be set up again while its last batch is being decoded.
    batches: [Batch; 2],
    /// Behind the last call of each.
    ends: [Event; 2],
    /// Whose turn it is.
    turn: usize,
    parser: Parser,
    /// What the library answered for a kind of file when it was first seen.
    supported: BTreeMap<Kind, bool>,
    strikes: u32,
    stream: Stream,
    /// Around a call that is timed.
    began: Event,
    ended: Event,
    /// How many pixels were decoded between the two; none once that was reported.
    timing: Option<u64>,
    handle: Handle,
}

/// What the library's answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    sampling: &'static str,
    part: bool,
    tiny: bool,
    restarts: bool,
}

impl Kind {
    fn of(request: &Request<'_>) -> Self {
        let Size { width, height } = request.header.size;
        Self {
            sampling: request.header.sampling.name(),
            part: request.part().is_some(),
            tiny: width.min(height) < TINY,
            restarts: request.header.restart_interval != 0,
        }
    }
}

impl Batched {
    pub(super) fn new(
        library: &'static Nvjpeg,
        context: &Context,
        backend: Backend,
    ) -> Result<Self, NvjpegError> {
        let handle = Handle::open(library, context, backend)?;
        Ok(Self {
            batches: [Batch::new(&handle)?, Batch::new(&handle)?],
            ends: [Event::new(context)?, Event::new(context)?],
            turn: 0,
            parser: Parser::new(&handle)?,
            supported: BTreeMap::new(),
            strikes: 0,
            stream: Stream::new(context, Priority::Low)?,
            began: Event::timed(context)?,
            ended: Event::timed(context)?,
            timing: None,
            handle,
        })
    }

    /// Reserves memory ahead. That it cannot is no error: memory is then reserved as it is needed.
    pub(super) fn reserve(&mut self, images: usize, size: Size) {
        for batch in &mut self.batches {
            drop(batch.reserve(images.clamp(1, MAX_IMAGES), size));
        }
    }

    /// Whether it has not failed too often.
    pub(super) fn is_sound(&self) -> bool {
        self.strikes < MAX_STRIKES
    }

    /// Waits until the device has done all that was asked of it here.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.stream.synchronize()
    }

    /// Pixels and time of the last call, once the device is done with it; each is reported once.
    pub(super) fn time(&mut self) -> Result<Option<(u64, Duration)>, CudaError> {
        let Some(pixels) = self.timing else { return Ok(None) };
        if !self.ended.is_done()? {
            return Ok(None);
        }
        self.timing = None;
        let milliseconds = self.ended.since(&self.began)?;
        let time = Duration::try_from_secs_f32(milliseconds / 1000.0).unwrap_or_default();
        Ok(Some((pixels, time)))
    }

    /// Queues the decoding of all that can be, after `entry`; `stream` waits for it. Says of each request whether it
    /// was taken.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`]; for the hardware, the host has seen the last readers of the targets end.
    pub(super) unsafe fn decode(
        &mut self,
        requests: &[&Request<'_>],
        entry: &Event,
        stream: &Stream,
    ) -> Result<Vec<bool>, CudaError> {
        self.turn = (self.turn + 1) % self.batches.len();
        // The call before the last one: it has mostly ended long ago.
        self.ends[self.turn].synchronize()?;
        let mut taken = Vec::with_capacity(requests.len());
        for request in requests {
            taken.push(self.supports(request)?);
        }
        let places: Vec<usize> = (0..requests.len()).filter(|&at| taken[at]).collect();
        let items: Vec<Item<'_>> = places.iter().map(|&at| requests[at].item()).collect();
        self.stream.wait(entry)?;
        let timed = self.timing.is_none();
        if timed {
            self.began.record(&self.stream)?;
        }
        // SAFETY: the caller's promise.
        let failed = unsafe { self.decode_apart(&items)? };
        for &number in &failed {
            taken[places[number]] = false;
        }
        if timed {
            let done = places.iter().filter(|&&at| taken[at]);
            // A batch that was taken apart says nothing about speed.
            let pixels = done.map(|&at| requests[at].header.size.pixels()).sum();
            self.timing = Some(pixels).filter(|&pixels| pixels > 0 && failed.is_empty());
            self.ended.record(&self.stream)?;
        }
        self.ends[self.turn].record(&self.stream)?;
        stream.wait(&self.ends[self.turn])?;
        Ok(taken)
    }

    /// Decodes in as few calls as there can be, halving what fails until a bad file stands alone; the numbers of those.
    unsafe fn decode_apart(&mut self, items: &[Item<'_>]) -> Result<Vec<usize>, CudaError> {
        let mut failed = Vec::new();
        let calls = items.len().div_ceil(MAX_IMAGES).max(1);
        let each = items.len().div_ceil(calls).max(1);
        let mut waiting: Vec<_> =
            (0..items.len()).step_by(each).map(|from| from..(from + each).min(items.len())).collect();
        let mut first = true;
        while let Some(range) = waiting.pop() {
            if !std::mem::take(&mut first) {
                // The state is set up anew for the next call; what a failed one has queued must not be written later.
                self.stream.synchronize()?;
            }
            // SAFETY: the caller's promise.
            let error = match unsafe { self.batches[self.turn].decode(&items[range.clone()], &self.stream) } {
                Ok(()) => continue,
                Err(NvjpegError::Driver(error)) => return Err(error),
                Err(error) => error,
            };
            let half = range.start + range.len() / 2;
            if error.blames_the_file() && range.len() > 1 {
                waiting.extend([half..range.end, range.start..half]);
                continue;
            }
            self.strikes += u32::from(!error.blames_the_file());
            failed.extend(range);
        }
        if !failed.is_empty() {
            // Others decode to the same targets next.
            self.stream.synchronize()?;
        }
        Ok(failed)
    }

    /// Whether the library takes files of this kind; it is asked once for each kind.
    fn supports(&mut self, request: &Request<'_>) -> Result<bool, CudaError> {
        let kind = Kind::of(request);
        if let Some(&supported) = self.supported.get(&kind) {
            return Ok(supported);
        }
        match self.batches[self.turn].supports(&request.item(), &mut self.parser) {
            Ok(supported) => {
                self.supported.insert(kind, supported);
                Ok(supported)
            }
            Err(NvjpegError::Driver(error)) => Err(error),
            Err(_) => {
                // The file is to blame, not its kind. Some versions leave the parser unusable.
                if let Ok(parser) = Parser::new(&self.handle) {
                    self.parser = parser;
                }
                Ok(false)
            }
        }
    }
}
