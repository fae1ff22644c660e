//! The decoder that takes every kind of JPEG, one after the other: this thread decodes the entropy, the device the rest.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use crate::device::cuda::driver::{Context, CudaError, Event, Priority, Stream};
use crate::device::cuda::nvjpeg::{Backend, Handle, Item, Lane, Nvjpeg, NvjpegError};

/// Images on their way at once: one on the CPU and one on the device.
const LANES: usize = 2;

/// nvJPEG's hybrid decoder.
pub(super) struct Hybrid {
    tracks: Vec<Track>,
    next: usize,
    handle: Handle,
}

/// A lane on a stream of its own, and the end of its last image.
struct Track {
    lane: Lane,
    stream: Stream,
    ended: Event,
    /// Whether the caller's stream does not wait for it yet.
    open: bool,
}

impl Hybrid {
    pub(super) fn new(library: &'static Nvjpeg, context: &Context) -> Result<Self, NvjpegError> {
        let handle = Handle::open(library, context, Backend::Hybrid)?;
        let track = |_| {
            Ok(Track {
                lane: Lane::new(&handle)?,
                stream: Stream::new(context, Priority::Low)?,
                ended: Event::new(context)?,
                open: false,
            })
        };
        let tracks = (0..LANES).map(track).collect::<Result<_, NvjpegError>>()?;
        Ok(Self { tracks, next: 0, handle })
    }

    /// Decodes one image after `entry`. The inner error is the file's, or nvJPEG's over it.
    ///
    /// # Safety
    /// As [`super::Decoder::decode`].
    pub(super) unsafe fn decode(
        &mut self,
        item: &Item<'_>,
        entry: &Event,
    ) -> Result<Result<(), NvjpegError>, CudaError> {
        let track = &mut self.tracks[self.next];
        self.next = (self.next + 1) % LANES;
        track.ended.synchronize()?;
        track.stream.wait(entry)?;
        track.open = true;
        // SAFETY: the lane's image before has ended; the target is memory of the part, which nobody uses, and the bytes stay, until
        // the track's end.
        let decoded = unsafe { track.lane.decode(item, &track.stream) };
        if let Err(error) = &decoded {
            if let NvjpegError::Driver(error) = error {
                return Err(error.clone());
            }
            // Whatever was queued must end before anything else writes there, or the lane is replaced.
            track.stream.synchronize()?;
            renew(&mut track.lane, error, &self.handle);
        }
        track.ended.record(&track.stream)?;
        Ok(decoded)
    }

    /// Whether chroma is interpolated.
    pub(super) fn interpolates(&self) -> bool {
        self.handle.flags().interpolates()
    }

    /// Makes `stream` wait for all that was decoded since the last time.
    pub(super) fn join(&mut self, stream: &Stream) -> Result<(), CudaError> {
        for track in self.tracks.iter_mut().filter(|track| track.open) {
            stream.wait(&track.ended)?;
            track.open = false;
        }
        Ok(())
    }

    /// Waits until the device has done all that was asked of it here.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        self.tracks.iter().try_for_each(|track| track.stream.synchronize())
    }
}

/// Makes anew what an error may have spoiled: the parser after a bad file, all of the lane after anything else.
fn renew(lane: &mut Lane, error: &NvjpegError, handle: &Handle) {
    if error.blames_the_file() && lane.renew_parser().is_ok() {
        return;
    }
    // If there is no new lane either, the old one goes on failing, file by file, and the CPU decodes.
    if let Ok(new) = Lane::new(handle) {
        *lane = new;
    }
}
