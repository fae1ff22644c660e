//! Lists of files decoded as often as it is asked for, into the same memory in turn, as a loader does.

#![expect(unsafe_code, reason = "queues writes to device memory")]

use super::ImageDecoder;
use crate::device::cuda::decode::{HostFree, Request, Route, Target};
use crate::device::cuda::driver::{
    Context, CudaError, DeviceBuffer, DevicePtr, Event, PinnedBuffer, Purpose, wait_for_device,
};
use crate::device::cuda::failed;
use crate::device::cuda::host_bytes::ALIGNMENT;
use crate::error::{Cause, Result};
use crate::geometry::Rect;
use crate::image::{self, Header, Image};
use crate::jpeg;

/// Lists of files and memory to decode them to; made by [`ImageDecoder::rounds`].
pub struct Rounds<'a> {
    decoder: &'a mut ImageDecoder,
    lists: Vec<List<'a>>,
    /// Memory for a list, and the event that marks the end of its last use.
    turns: Vec<(DeviceBuffer, Event)>,
    /// How often a list was decoded.
    queued: usize,
}

/// Files, and where the host gets their pixels.
struct List<'a> {
    files: Vec<File<'a>>,
    pixels: PinnedBuffer,
    /// Marks the end of the last copy.
    copied: Event,
}

struct File<'a> {
    bytes: &'a [u8],
    header: Result<Header, String>,
    /// The part that is decoded; nothing where there is no header.
    region: Rect,
    offset: usize,
}

impl<'a> List<'a> {
    fn new(
        context: &Context,
        files: &[&'a [u8]],
        wanted: impl Fn(&Header) -> Rect,
    ) -> Result<Self, CudaError> {
        let mut end = 0;
        let file = |&bytes: &&'a [u8]| {
            let header = image::parse_header(bytes).map_err(|error| error.to_string());
            // What no decoder of the device takes must not cost memory.
            let header = header.and_then(|header| match header.format.is_dct() {
                true => Ok(header),
                false => Err("it is no JPEG, and no file of coefficients: decode it on the CPU".into()),
            });
            let region = header.as_ref().map_or(Rect::default(), &wanted);
            let offset = end;
            end += (region.size().pixels() as usize * 3).next_multiple_of(ALIGNMENT);
            // What phones append belongs to no decoder; without an end the file is refused.
            let bytes = &bytes[..jpeg::image_end(bytes).unwrap_or(bytes.len())];
            File { bytes, header, region, offset }
        };
        let files = files.iter().map(file).collect();
        Ok(Self { files, pixels: PinnedBuffer::new(context, end)?, copied: Event::new(context)? })
    }
}

impl<'a> Rounds<'a> {
    pub(super) fn new(
        decoder: &'a mut ImageDecoder,
        lists: &[&[&'a [u8]]],
        turns: usize,
        wanted: impl Fn(&Header) -> Rect,
    ) -> Result<Self> {
        let context = &decoder.context;
        let made = || -> Result<_, CudaError> {
            let lists = lists.iter().map(|files| List::new(context, files, &wanted));
            let lists = lists.collect::<Result<Vec<_>, _>>()?;
            let bytes = lists.iter().map(|list| list.pixels.len()).max().unwrap_or(0);
            let turn =
                |_| Ok((DeviceBuffer::new(context, bytes, Purpose::Measurement)?, Event::new(context)?));
            Ok((lists, (0..turns.max(1)).map(turn).collect::<Result<_, CudaError>>()?))
        };
        let (lists, turns) = decoder.check(made())?;
        Ok(Self { decoder, lists, turns, queued: 0 })
    }

    /// Queues the decoding of a list, and returns for each file which decoder takes it, or why none does.
    ///
    /// With `wait` the host first sees the last use of the memory end, as a loader does. Without, the order of the stream is
    /// all that holds a decoder back, which is not enough for the engines of some GPUs.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn decode(&mut self, list: usize, wait: bool) -> Result<Vec<Result<Route, Cause>>> {
        let (memory, done) = &self.turns[self.queued % self.turns.len()];
        let ImageDecoder { decoder, stream, context } = &mut *self.decoder;
        let files = &self.lists[list].files;
        let requests: Vec<Request<'_>> = files.iter().filter_map(|file| file.request(memory.ptr())).collect();
        let mut queue = || {
            let free = HostFree::wait(wait.then_some(done))?;
            // SAFETY: the targets are parts of `memory`, and `drop` waits before any of it is freed. Where a decoder does not
            // wait, a copy of the round before may see pixels of this one, which is what is to be found out.
            let outcomes = unsafe { decoder.decode(&requests, stream, free)? };
            done.record(stream)?;
            Ok(outcomes)
        };
        let outcomes: Result<_, CudaError> = queue();
        let mut outcomes = outcomes.map_err(|error| failed(context.ordinal(), &error))?.into_iter();
        self.queued += 1;
        decoder.dispatch().note_batch();
        let outcome = |file: &File<'_>| match &file.header {
            Ok(_) => outcomes.next().unwrap_or(Ok(Route::Cpu)),
            Err(error) => Err(error.as_str().into()),
        };
        Ok(files.iter().map(outcome).collect())
    }

    /// Queues a copy to the host of what was decoded last, which was this list.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn copy(&mut self, list: usize) -> Result<()> {
        let (memory, done) = &self.turns[self.queued.wrapping_sub(1) % self.turns.len()];
        let (List { pixels, copied, .. }, stream) = (&self.lists[list], &self.decoder.stream);
        let queue = || {
            // SAFETY: both are at least that long, nothing else reads the pixels, and `drop` waits before they are freed.
            unsafe { stream.copy_to_host(pixels.as_mut_ptr(), memory.ptr(), pixels.len())? };
            done.record(stream)?;
            copied.record(stream)
        };
        self.decoder.check(queue())
    }

    /// Waits for the last copy of a list, and returns the images; those of files that were not decoded hold anything.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn images(&self, list: usize) -> Result<Vec<Image>> {
        let List { files, pixels, copied } = &self.lists[list];
        self.decoder.check(copied.synchronize())?;
        // SAFETY: pinned memory is initialised when it is made, and the last copy into it has ended.
        let pixels = unsafe { std::slice::from_raw_parts(pixels.as_ptr(), pixels.len()) };
        let image = |file: &File<'_>| {
            let mut image = Image::default();
            if let Ok(header) = &file.header {
                image.orientation = header.orientation;
                image.reset(header.size, file.region);
                let bytes = file.region.size().pixels() as usize * 3;
                image.data[..bytes].copy_from_slice(&pixels[file.offset..][..bytes]);
            }
            image
        };
        Ok(files.iter().map(image).collect())
    }

    /// Waits until all is done that was queued.
    ///
    /// # Errors
    /// As [`ImageDecoder::decode`].
    pub fn wait(&self) -> Result<()> {
        self.decoder.check(self.decoder.stream.synchronize())
    }
}

impl File<'_> {
    /// The request for it, where it has a header, in memory that begins at `first`.
    fn request(&self, first: DevicePtr) -> Option<Request<'_>> {
        let (ptr, pitch) = (first + self.offset as DevicePtr, 3 * self.region.width as usize);
        let header = self.header.as_ref().ok()?;
        Some(Request {
            bytes: self.bytes,
            header,
            target: Target { ptr, pitch, region: self.region },
            scan: None,
            shared: false,
        })
    }
}

impl Drop for Rounds<'_> {
    fn drop(&mut self) {
        wait_for_device(&self.decoder.context);
    }
}
