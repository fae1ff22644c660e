//! One batched call at a time, on a stream of its own; what it refuses is taken apart until each bad file stands alone.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use crate::device::cuda::driver::{Context, CudaError, Event, Priority, Stream};
use crate::device::cuda::nvjpeg::{Batch, Handle, Item, NvjpegError, Parser};
use crate::geometry::Size;
use std::ops::Range;

/// Files that are refused one by one while none is taken, until the decoder itself is to blame.
const REFUSED_ALONE: usize = 8;

/// A state of the library's, and a stream.
pub(super) struct Track {
    batch: Batch,
    stream: Stream,
    /// Behind the last call.
    pub(super) ended: Event,
    /// Whether the caller's stream does not wait for it yet.
    pub(super) is_open: bool,
}

/// A call that failed as a whole, and what was found as it was taken apart.
pub(super) struct Failed {
    /// Of the whole call.
    pub(super) error: NvjpegError,
    /// Those that were not decoded.
    pub(super) files: Vec<Failure>,
    taken: usize,
    /// Whether the same call went well the second time.
    at_once: bool,
}

/// A file that was not decoded: its number in the call, and why.
pub(super) struct Failure {
    pub(super) number: usize,
    pub(super) error: NvjpegError,
}

impl Failed {
    /// Whether the number of files is to blame: each part of them was taken.
    pub(super) fn is_the_sizes(&self) -> bool {
        self.files.is_empty() && !self.at_once
    }

    /// Whether no file is to blame: none was decoded, and that was not a single damaged one.
    pub(super) fn is_the_decoders(&self) -> bool {
        self.taken == 0 && (self.files.len() > 1 || !self.error.blames_the_file())
    }
}

impl Track {
    pub(super) fn new(handle: &Handle, context: &Context) -> Result<Self, NvjpegError> {
        Ok(Self {
            batch: Batch::new(handle)?,
            stream: Stream::new(context, Priority::Low)?,
            ended: Event::new(context)?,
            is_open: false,
        })
    }

    /// Reserves memory ahead. That it cannot is no error.
    pub(super) fn reserve(&mut self, images: usize, size: Size) {
        drop(self.batch.reserve(images, size));
    }

    /// Waits until the device has done all that was asked of it here.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.stream.synchronize()
    }

    /// Asks the library whether it takes a file.
    pub(super) fn supports(&mut self, item: &Item<'_>, parser: &mut Parser) -> Result<(), NvjpegError> {
        self.batch.supports(item, parser)
    }

    /// Queues the decoding of all items that can be decoded, after `entry`, and records the end of that. `None`: one call
    /// has taken all.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`].
    pub(super) unsafe fn decode(
        &mut self,
        items: &[Item<'_>],
        entry: &Event,
    ) -> Result<Option<Failed>, CudaError> {
        // The state is set up anew for each call. The last one has mostly ended long ago.
        self.ended.synchronize()?;
        self.stream.wait(entry)?;
        self.is_open = true;
        // SAFETY: the targets are memory of their parts; nobody uses them, and the bytes stay, until what waits for `ended`.
        let failed = match unsafe { self.batch.decode(items, &self.stream) } {
            Ok(()) => None,
            Err(NvjpegError::Driver(error)) => return Err(error),
            // SAFETY: the same items.
            Err(error) => Some(unsafe { self.take_apart(items, error)? }),
        };
        self.ended.record(&self.stream)?;
        Ok(failed)
    }

    /// Halves what has failed with `error` until each bad file stands alone. Whatever status came back, a context that
    /// still answers has not failed, so one of the files may be the cause; or none, as an earlier call's status may come
    /// late, and then the same call goes well the second time.
    ///
    /// # Safety
    /// As [`Track::decode`].
    unsafe fn take_apart(&mut self, items: &[Item<'_>], error: NvjpegError) -> Result<Failed, CudaError> {
        let mut failed = Failed { error: error.clone(), files: Vec::new(), taken: 0, at_once: false };
        if !error.blames_the_file() {
            self.stream.synchronize()?;
            // SAFETY: as in `decode`; the call before has ended.
            match unsafe { self.batch.decode(items, &self.stream) } {
                Ok(()) => return Ok(Failed { taken: items.len(), at_once: true, ..failed }),
                Err(NvjpegError::Driver(error)) => return Err(error),
                Err(_) => {}
            }
        }
        let mut left: Vec<(Range<usize>, NvjpegError)> = vec![(0..items.len(), error)];
        while let Some((range, error)) = left.pop() {
            let hopeless = failed.taken == 0 && failed.files.len() >= REFUSED_ALONE;
            if range.len() == 1 || hopeless {
                failed.files.extend(range.map(|number| Failure { number, error: error.clone() }));
                continue;
            }
            let middle = range.start + range.len() / 2;
            for half in [middle..range.end, range.start..middle] {
                // What a failed call has queued must not be written later, nor its state be used meanwhile.
                self.stream.synchronize()?;
                // SAFETY: as above, for some of the items.
                match unsafe { self.batch.decode(&items[half.clone()], &self.stream) } {
                    Ok(()) => failed.taken += half.len(),
                    Err(NvjpegError::Driver(error)) => return Err(error),
                    Err(error) => left.push((half, error)),
                }
            }
        }
        // Others decode to the same targets next; and a context that has failed says so here.
        self.stream.synchronize()?;
        Ok(failed)
    }
}
