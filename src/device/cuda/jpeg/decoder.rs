//! Decodes scans on a device, as many at once as its memory takes.

#![expect(unsafe_code, reason = "copies to and from the device, and kernels on memory that this file owns")]

use super::kernels::JpegKernels;
use super::layout::JpegPoint;
use super::program::{Job, Program};
use crate::device::cuda::driver::{Context, CudaError, DevicePtr, Event, PinnedBuffer, Purpose, Stream};
use crate::device::cuda::host_bytes::{HostBytes, Run, runs};
use crate::device::cuda::room::Room;

/// Decodes scans; keeps its memory.
pub(crate) struct ScanDecoder {
    context: Context,
    /// Loaded when they are first needed.
    kernels: Option<JpegKernels>,
    room: Room,
    /// For tables on their way to the device.
    tables: HostRoom,
    /// For status words and points on their way back.
    results: HostRoom,
    decoded: Event,
}

/// Page-locked memory that grows.
#[derive(Default)]
pub(super) struct HostRoom {
    buffer: Option<PinnedBuffer>,
    /// What it has grown out of: freeing it would wait for the whole device.
    outgrown: Vec<PinnedBuffer>,
}

impl HostRoom {
    /// At least so many bytes.
    ///
    /// # Safety
    /// The device is done with what it was told to copy to them, or from them.
    pub(super) unsafe fn bytes(&mut self, context: &Context, bytes: usize) -> Result<&mut [u8], CudaError> {
        let is_enough = |buffer: &PinnedBuffer| buffer.len() >= bytes;
        let buffer = match self.buffer.take() {
            Some(buffer) if is_enough(&buffer) => buffer,
            small => {
                self.outgrown.extend(small);
                PinnedBuffer::new(context, bytes.next_power_of_two())?
            }
        };
        let buffer = self.buffer.insert(buffer);
        // SAFETY: the memory is as long and initialised; the device is done with it, and `&mut self` makes this the only
        // reference to it.
        Ok(unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.len()) })
    }
}

/// What became of a scan.
pub(crate) enum Verdict {
    /// It is decoded; with the points of its decode index, where those were wanted.
    Sound(Vec<JpegPoint>),
    /// Something is wrong with it, or was not settled in time: another decoder has to look. With its status word.
    Damaged(u32),
    /// There was no room for it.
    Unread,
}

impl ScanDecoder {
    /// A decoder that takes at most `budget` bytes of the device's memory.
    pub(crate) fn new(context: &Context, budget: usize) -> Result<Self, CudaError> {
        let room = Room::new(context, Purpose::Images, budget);
        let (context, decoded) = (context.clone(), Event::new(context)?);
        let (tables, results) = Default::default();
        Ok(Self { context, kernels: None, room, tables, results, decoded })
    }

    /// Reserves memory for so many bytes of [`super::Scan::device_bytes`], as far as it may.
    ///
    /// # Errors
    /// The device has failed, or has no memory left.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Result<(), CudaError> {
        self.room.reserve(bytes.min(self.room.limit()))
    }

    /// Maximum bytes of [`super::Scan::device_bytes`] that a file may take.
    pub(crate) fn limit(&self) -> usize {
        self.room.limit()
    }

    /// Its kernels.
    pub(super) fn kernels(&mut self) -> Result<&JpegKernels, CudaError> {
        loaded(&mut self.kernels, &self.context)
    }

    /// Decodes them, and returns when all is done.
    ///
    /// # Safety
    /// Each target is device memory of its scan's region, which nobody uses from what `stream` holds now until this returns.
    ///
    /// # Errors
    /// The device has failed.
    pub(crate) unsafe fn decode(
        &mut self,
        jobs: &[Job<'_>],
        stream: &Stream,
    ) -> Result<Vec<Verdict>, CudaError> {
        let mut verdicts = Vec::with_capacity(jobs.len());
        let (mut rest, mut most) = (jobs, jobs.len());
        while !rest.is_empty() {
            let count = self.fit(&rest[..rest.len().min(most)]);
            let (chunk, others) = rest.split_at(count.max(1));
            let decoded = match count {
                0 => None,
                // SAFETY: each target is memory of its scan's region, which nobody uses until this returns.
                _ => match unsafe { self.decode_chunk(chunk, stream, &mut verdicts) } {
                    Err(error) if error.is_out_of_memory() && count > 1 => {
                        most = count / 2;
                        continue;
                    }
                    Err(error) if error.is_out_of_memory() => None,
                    done => Some(done?),
                },
            };
            if decoded.is_none() {
                verdicts.push(Verdict::Unread);
            }
            rest = others;
        }
        Ok(verdicts)
    }

    /// How many of these there is room for at once.
    fn fit(&self, jobs: &[Job<'_>]) -> usize {
        let mut bytes = 0;
        let is_inside = |job: &&Job<'_>| {
            bytes += job.scan.device_bytes();
            bytes <= self.room.limit()
        };
        jobs.iter().take_while(is_inside).count()
    }

    /// # Safety
    /// As [`ScanDecoder::decode`].
    unsafe fn decode_chunk(
        &mut self,
        jobs: &[Job<'_>],
        stream: &Stream,
        verdicts: &mut Vec<Verdict>,
    ) -> Result<(), CudaError> {
        let mut program = Program::build(jobs);
        self.room.reserve(program.bytes())?;
        let base = self.room.address();
        let places = *program.places();
        // SAFETY: the wait below has ended what used them last.
        let (tables, results) = unsafe {
            let tables = self.tables.bytes(&self.context, program.table_bytes())?;
            (tables, self.results.bytes(&self.context, places.results - places.status)?)
        };
        let (tables, results) =
            (&mut tables[..program.table_bytes()], &mut results[..places.results - places.status]);
        program.write_tables(base, tables);
        let kernels = loaded(&mut self.kernels, &self.context)?;
        let mut queue = || -> Result<(), CudaError> {
            // SAFETY: the block is this decoder's own, as long as the program says, and the stream's work on it so far has been
            // waited for; targets and words are the caller's, until the wait below.
            unsafe {
                upload(&program, tables, jobs.iter().map(|job| job.words), base, stream)?;
                kernels.launch(&program, base, stream, &mut |_, _| Ok(()))?;
                stream.copy_to_host(results.as_mut_ptr(), base + places.status as u64, results.len())?;
            }
            self.decoded.record(stream)?;
            self.decoded.synchronize()
        };
        if let Err(error) = queue() {
            // Whatever was queued still uses the host's memory.
            drop(stream.synchronize());
            return Err(error);
        }
        let words = bytemuck::cast_slice::<u8, u32>(&results[..jobs.len() * size_of::<u32>()]);
        verdicts.extend(words.iter().zip(program.points()).map(|(&word, &(at, count))| match word {
            0 => {
                let from = if count > 0 { at - places.status } else { 0 };
                let points = &results[from..][..count * size_of::<JpegPoint>()];
                Verdict::Sound(bytemuck::cast_slice(points).to_vec())
            }
            _ => Verdict::Damaged(word),
        }));
        Ok(())
    }
}

fn loaded<'a>(kernels: &'a mut Option<JpegKernels>, context: &Context) -> Result<&'a JpegKernels, CudaError> {
    match kernels {
        Some(kernels) => Ok(kernels),
        none => Ok(none.insert(JpegKernels::load(context)?)),
    }
}

/// Queues the copies of a program's arrays, and of the words of its images, to its block at `base`.
///
/// # Safety
/// The block is as long as the program says, and arrays and words are there until `stream` has copied them.
pub(super) unsafe fn upload<'a>(
    program: &Program,
    tables: &[u8],
    words: impl Iterator<Item = HostBytes<'a>>,
    base: DevicePtr,
    stream: &Stream,
) -> Result<(), CudaError> {
    let at = base + program.places().tables as DevicePtr;
    // SAFETY: the block has room for tables and words where the program places them, and both are there until the stream has
    // copied them.
    unsafe {
        stream.copy_to_device(at, tables.as_ptr(), tables.len())?;
        for Run { from, to, len } in runs(words.zip(program.words().iter().map(|&at| base + at as DevicePtr)))
        {
            stream.copy_to_device(to, from, len)?;
        }
    }
    Ok(())
}
