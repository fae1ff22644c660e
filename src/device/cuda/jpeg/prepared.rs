//! A batch of files that the device decodes again and again: to measure how long its kernels take, without and with copies.

#![expect(unsafe_code, reason = "copies and kernels on memory that this file owns")]

use super::Job;
use super::decoder::upload;
use super::kernels::{JpegKernels, Watch};
use super::layout::JpegCut;
use super::loaded::Loaded;
use super::program::Program;
use super::settling::Settling;
use crate::device::cuda::driver::{
    Context, CudaError, DeviceBuffer, DevicePtr, Event, PinnedBuffer, Purpose, Stream,
};
use crate::device::cuda::host_bytes::HostBytes;
use crate::error::Cause;

/// Rounds ahead of the first that counts.
const WARM_UP: usize = 2;

/// A batch whose host's part is done, with all memory that its decoding takes.
pub struct Prepared<'a> {
    context: &'a Context,
    stream: &'a Stream,
    kernels: &'a JpegKernels,
    loaded: Loaded,
    words: &'a [u8],
    program: Program,
    block: DeviceBuffer,
    tables: PinnedBuffer,
    results: PinnedBuffer,
    /// Where the pixels go.
    _pixels: DeviceBuffer,
}

/// Bytes between host and device for one decoding of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Entropy-coded bits or packed blocks, and tables.
    pub to_device: usize,
    /// Status words, and points of decode indexes.
    pub to_host: usize,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        (context, stream): (&'a Context, &'a Stream),
        kernels: &'a JpegKernels,
        loaded: Loaded,
        words: &'a [u8],
    ) -> Result<Self, CudaError> {
        let pixels = DeviceBuffer::new(context, loaded.pixels, Purpose::Measurement)?;
        let jobs: Vec<Job<'_>> = loaded.taken().map(|taken| taken.job(words, pixels.ptr())).collect();
        let mut program = Program::build(&jobs);
        let block = DeviceBuffer::new(context, program.bytes(), Purpose::Measurement)?;
        let tables = PinnedBuffer::new(context, program.table_bytes())?;
        let places = program.places();
        let results = PinnedBuffer::new(context, places.results - places.status)?;
        // SAFETY: as long, and nobody else knows of it yet.
        let out = unsafe { std::slice::from_raw_parts_mut(tables.as_mut_ptr(), tables.len()) };
        program.write_tables(block.ptr(), out);
        let made = Self {
            context,
            stream,
            kernels,
            loaded,
            words,
            program,
            block,
            tables,
            results,
            _pixels: pixels,
        };
        made.done(made.upload())?;
        Ok(made)
    }

    /// Files that the device takes.
    pub fn files(&self) -> usize {
        self.loaded.taken().count()
    }

    /// What a decoding moves.
    pub fn moved(&self) -> Moved {
        let words: usize = self.loaded.taken().map(|taken| taken.words.len()).sum();
        Moved { to_device: words + self.tables.len(), to_host: self.results.len() }
    }

    /// Milliseconds of each of so many decodings, by the device's clock: of the kernels alone, or with the copies that come ahead
    /// of them and behind. All are queued at once, so that the device never waits for the host.
    ///
    /// # Errors
    /// The device has failed.
    pub fn time(&self, rounds: usize, with_copies: bool) -> Result<Vec<f32>, Cause> {
        let round = || -> Result<_, CudaError> {
            let (began, ended) = (Event::timed(self.context)?, Event::timed(self.context)?);
            began.record(self.stream)?;
            if with_copies {
                self.upload()?;
            }
            self.launch(&mut |_, _| Ok(()))?;
            if with_copies {
                self.download()?;
            }
            ended.record(self.stream)?;
            Ok((began, ended))
        };
        let events: Vec<(Event, Event)> = self.done((0..rounds + WARM_UP).map(|_| round()).collect())?;
        let times = events.into_iter().skip(WARM_UP).map(|(began, ended)| ended.since(&began));
        Ok(times.collect::<Result<_, _>>()?)
    }

    /// Milliseconds of each kernel in one decoding, in the order in which they run, as a mean of so many. Rounds of `synchronise`
    /// are one figure, and so are the two runs of `entropy`. What marks the time between kernels costs some itself.
    ///
    /// # Errors
    /// The device has failed.
    pub fn time_kernels(&self, rounds: usize) -> Result<Vec<(&'static str, f32)>, Cause> {
        let mut marks: Vec<Vec<(&'static str, Event)>> = Vec::new();
        let mut round = || -> Result<(), CudaError> {
            let mut of_round: Vec<(&'static str, Event)> = Vec::new();
            let mark = |name| -> Result<_, CudaError> {
                let event = Event::timed(self.context)?;
                event.record(self.stream)?;
                Ok((name, event))
            };
            self.launch(&mut |name, _| {
                if of_round.last().is_none_or(|(last, _)| *last != name) {
                    of_round.push(mark(name)?);
                }
                Ok(())
            })?;
            of_round.push(mark("")?);
            marks.push(of_round);
            Ok(())
        };
        self.done((0..rounds + WARM_UP).try_for_each(|_| round()))?;
        let mut sums: Vec<(&'static str, f32)> = Vec::new();
        for pair in marks.iter().skip(WARM_UP).flat_map(|marks| marks.windows(2)) {
            let [(name, began), (_, ended)] = pair else { continue };
            let time = ended.since(began)? / rounds as f32;
            match sums.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += time,
                None => sums.push((name, time)),
            }
        }
        Ok(sums)
    }

    /// Decodes once and looks at the cuts after every round.
    ///
    /// # Errors
    /// The device has failed.
    pub fn settling(&self) -> Result<Settling, Cause> {
        let cuts = PinnedBuffer::new(self.context, self.program.cuts() * size_of::<JpegCut>())?;
        let mut found = Settling::new(&self.program);
        let launched = self.launch(&mut |name, at| {
            if name == "synchronise" || name == "prefix" {
                // SAFETY: the cuts lie there, and the copy is waited for.
                unsafe { self.stream.copy_to_host(cuts.as_mut_ptr(), self.at(at), cuts.len())? };
                self.stream.synchronize()?;
                // SAFETY: initialised when it was made, and the copy has ended.
                let bytes = unsafe { std::slice::from_raw_parts(cuts.as_ptr(), cuts.len()) };
                found.add_round(&self.program, bytemuck::cast_slice(bytes));
            }
            Ok(())
        });
        self.done(launched)?;
        Ok(found)
    }

    fn at(&self, offset: usize) -> DevicePtr {
        self.block.ptr() + offset as DevicePtr
    }

    fn upload(&self) -> Result<(), CudaError> {
        let words = self.loaded.taken().map(|taken| HostBytes::within(self.words, taken.words.clone()));
        // SAFETY: the block was made for the program, and all memory is there until `drop`, which waits.
        unsafe {
            let tables = std::slice::from_raw_parts(self.tables.as_ptr(), self.tables.len());
            upload(&self.program, tables, words, self.block.ptr(), self.stream)
        }
    }

    fn launch(&self, watch: Watch<'_>) -> Result<(), CudaError> {
        // SAFETY: as `upload`; `new` has waited for the first upload, and all else comes behind it in the stream.
        unsafe { self.kernels.launch(&self.program, self.block.ptr(), self.stream, watch) }
    }

    fn download(&self) -> Result<(), CudaError> {
        let from = self.at(self.program.places().status);
        // SAFETY: as `upload`.
        unsafe { self.stream.copy_to_host(self.results.as_mut_ptr(), from, self.results.len()) }
    }

    /// Waits for what was queued, also where that has failed.
    fn done<T>(&self, queued: Result<T, CudaError>) -> Result<T, CudaError> {
        self.stream.synchronize()?;
        queued
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        drop(self.stream.synchronize());
    }
}
