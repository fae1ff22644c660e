//! Files decoded by our own decoder on a device, without a loader: to compare and to measure them.

#![expect(unsafe_code, reason = "copies from the device, and decoding to memory that this file owns")]

use super::decoder::HostRoom;
use super::loaded::{FilePart, Loaded, Taken};
use super::{Job, LeftOut, Prepared, ScanDecoder, ScanMaker, Verdict};
use crate::device::cuda::driver::{Context, DevicePtr, Priority, Purpose, Stream};
use crate::device::cuda::room::Room;
use crate::error::Cause;
use crate::image::Image;
use crate::jpeg::Index;

/// Decodes JPEGs by feedline's own decoder on a CUDA device: to compare its pixels, and to measure it. A loader has its own.
pub struct ParallelDecoder {
    maker: ScanMaker,
    decoder: ScanDecoder,
    stream: Stream,
    context: Context,
    /// For the bits of all files of a call.
    words: HostRoom,
    /// For their pixels on the device.
    pixels: Room,
    /// And for those on the host.
    host: HostRoom,
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct DecodedFile {
    /// The part's pixels.
    pub image: Image,
    /// What is known of the file now, where that was not known.
    pub index: Option<Index>,
}

/// The decode index that was learned of a file, if one was.
type Learned = Result<Option<Index>, LeftOut>;

impl ParallelDecoder {
    /// A decoder on the CUDA device `ordinal`, which takes at most `memory` bytes of it, besides those for pixels.
    ///
    /// # Errors
    /// There is no such device or no driver.
    pub fn open(ordinal: u32, memory: usize) -> Result<Self, Cause> {
        let context = Context::open(ordinal)?;
        let decoder = ScanDecoder::new(&context, memory)?;
        let stream = Stream::new(&context, Priority::High)?;
        let pixels = Room::new(&context, Purpose::Measurement, usize::MAX);
        let (words, host) = Default::default();
        Ok(Self { maker: ScanMaker::default(), decoder, stream, context, words, pixels, host })
    }

    /// Decodes a part of each file and brings the pixels back; or says why the CPU has to decode it.
    ///
    /// # Errors
    /// The device has failed.
    pub fn decode(&mut self, files: &[FilePart<'_>]) -> Result<Vec<Result<DecodedFile, LeftOut>>, Cause> {
        let (loaded, indexes) = self.run(files)?;
        let (first, stream) = (self.pixels.address(), &self.stream);
        // SAFETY: the wait below has ended the last copies to it.
        let host = unsafe { self.host.bytes(&self.context, loaded.pixels)? };
        let copied = loaded.taken().try_for_each(|taken| {
            let to = host[taken.offset..][..taken.pixel_bytes()].as_mut_ptr();
            // SAFETY: both are as long, and are there until the wait.
            unsafe { stream.copy_to_host(to, first + taken.offset as DevicePtr, taken.pixel_bytes()) }
        });
        stream.synchronize()?;
        copied?;
        let decoded = |(taken, index): (Result<Taken, LeftOut>, Learned)| {
            let (taken, index) = (taken?, index?);
            let pixels = &host[taken.offset..][..taken.pixel_bytes()];
            Ok(DecodedFile { image: taken.image(pixels), index })
        };
        Ok(loaded.files.into_iter().zip(indexes).map(decoded).collect())
    }

    /// The same, but the pixels stay on the device, until the next call: for each file what was learned of it.
    ///
    /// # Errors
    /// The device has failed.
    pub fn decode_on_device(
        &mut self,
        files: &[FilePart<'_>],
    ) -> Result<Vec<Result<Option<Index>, LeftOut>>, Cause> {
        Ok(self.run(files)?.1)
    }

    /// Does the host's part for a batch, which the device can then decode as often as it is asked to. Files that the device does
    /// not take are left out.
    ///
    /// # Errors
    /// The device has failed, or has no room for all of them at once.
    pub fn prepare(&mut self, files: &[FilePart<'_>]) -> Result<Prepared<'_>, Cause> {
        // SAFETY: every call waits for its copies, and so does what is returned here.
        let words = unsafe { self.words.bytes(&self.context, Loaded::bytes_of(files))? };
        let loaded = Loaded::new(files, &mut self.maker, words);
        Ok(Prepared::new((&self.context, &self.stream), self.decoder.kernels()?, loaded, words)?)
    }

    /// Decodes to the device's memory.
    fn run(&mut self, files: &[FilePart<'_>]) -> Result<(Loaded, Vec<Learned>), Cause> {
        // SAFETY: every call waits for its copies.
        let words = unsafe { self.words.bytes(&self.context, Loaded::bytes_of(files))? };
        let loaded = Loaded::new(files, &mut self.maker, words);
        let before = self.pixels.address();
        self.pixels.reserve(loaded.pixels)?;
        let first = self.pixels.address();
        if first != before {
            // Rows are copied with what lies between them, which nothing else writes.
            // SAFETY: the memory is new, and as long.
            unsafe { self.stream.clear(first, self.pixels.len())? };
        }
        let jobs: Vec<Job<'_>> = loaded.taken().map(|taken| taken.job(words, first)).collect();
        // SAFETY: the targets are parts of that memory, which nobody else uses.
        let mut verdicts = unsafe { self.decoder.decode(&jobs, &self.stream)? }.into_iter();
        let learned = |(taken, file): (&Result<Taken, LeftOut>, &FilePart<'_>)| {
            let scan = &taken.as_ref().map_err(|&why| why)?.scan;
            match verdicts.next() {
                Some(Verdict::Sound(points)) => Ok(scan.index(file.bytes, &points)),
                Some(Verdict::Damaged(status)) => Err(LeftOut::by_device(status)),
                Some(Verdict::Unread) | None => Err(LeftOut::Room),
            }
        };
        let learned = loaded.files.iter().zip(files).map(learned).collect();
        Ok((loaded, learned))
    }
}
