//! What makes batches on a CUDA device: workers stage files and plans, one of them submits a whole batch at a time.
//!
//! Decoding, copying and rendering run on streams of their own, ordered by events alone. A submission enqueues its work
//! and returns; the next batch is decoded while this one is rendered and another one is staged. Memory is reserved when
//! the engine and its slots are made, and grows seldom, until the largest batch fits or the budget is spent; a batch that
//! does not fit is done in sub-batches. Nothing is freed before the end: freeing waits for the whole device.

mod arena;
mod backend;
mod batch_memory;
mod consumers;
mod fallback;
mod file_buffer;
mod free_ranges;
mod image_cache;
mod image_pool;
mod learned;
mod mask_kernel;
mod mask_maker;
mod slot;
mod source_bytes;
mod spare_memory;
mod staged;
mod staging;
mod sub_batch;
mod submit;
mod submitted_row;
mod upload;

pub(crate) use backend::CudaBackend;

use super::decode::{Decoder, DecoderOptions, DeviceDecoder, Dispatch, OwnDecoder, Route};
use super::driver::{Context, CudaError, GRANULARITY, Priority, Purpose, Stream, is_done};
use super::failed;
use super::nvjpeg;
use super::probe::{Decoding, Missing};
use super::render::{ErrorWord, Kernels};
use crate::device::backend::{BackendOptions, KnownFiles};
use crate::device::{DecodedBy, DecoderReport, MemoryUse};
use crate::error::{Cause, Result};
use crate::geometry::Size;
use crate::output::Output;
use crate::policy::DecoderChoice;
use image_cache::ImageCache;
use learned::Learned;
use slot::Slot;
use spare_memory::SpareMemory;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use submit::{ReplaceRow, Submitter, Trouble};

/// The size of image that decoders reserve memory for at the start; larger ones make them reserve more when they come.
const TYPICAL: Size = Size::new(640, 480);

/// Minimum memory for decoded images and scratch: one step of the driver's for each room of the two arenas.
const SMALLEST_ARENAS: usize = 4 * GRANULARITY;

/// A device that makes batches.
struct Engine {
    /// One batch is submitted at a time.
    submitter: Mutex<Submitter>,
    /// Images that samples share.
    cache: Arc<ImageCache>,
    /// For copies to the host.
    download: Stream,
    /// What slots have left that are gone.
    spare: SpareMemory,
    context: Context,
    options: BackendOptions,
    /// Of the decoder; `None` where the CPU decodes everything.
    dispatch: Option<Arc<Dispatch>>,
    /// How many images each decoder has done, in the order of [`Route`].
    decoded: [AtomicU64; Route::COUNT],
    /// What kernels could not do, of all batches: it is read wherever it costs no wait, and at the end of an epoch.
    errors: ErrorWord,
    /// How much of the device's memory nvJPEG took when it started.
    nvjpeg_bytes: u64,
}

/// How much of the device's memory what it works with may take.
struct Budget {
    /// Images, tables and scratch of the two arenas.
    arenas: usize,
    /// What the device's own decoder needs beside that.
    decoder: usize,
}

impl Budget {
    /// Of so many bytes that are free, a quarter, unless the user says how much.
    fn new(free: usize, options: &BackendOptions) -> Self {
        let all = options.device_memory.unwrap_or(free as u64 / 4) as usize;
        let decoder = match options.decoder.is_own() {
            true => (all / 3 / GRANULARITY).max(1) * GRANULARITY,
            false => 0,
        };
        Self { arenas: all.saturating_sub(decoder).max(SMALLEST_ARENAS), decoder }
    }
}

impl Engine {
    /// Opens the device, loads the kernels and nvJPEG, and reserves the first memory.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`], with the remedy.
    fn new(ordinal: u32, options: BackendOptions) -> Result<Self> {
        let what = || format!("CUDA device {ordinal}");
        let found = super::find(ordinal).map_err(|missing| missing.error(what()))?;
        let decoding = found.usable.map_err(|missing| missing.error(what()))?;
        let device = |error: &CudaError| failed(ordinal, error);
        let context = Context::open(ordinal).map_err(|error| device(&error))?;
        let made = || -> Result<_, CudaError> {
            let priority = if options.low_priority { Priority::Low } else { Priority::High };
            let stream = || Stream::new(&context, priority);
            let errors = ErrorWord::new(&context)?;
            Ok((errors, stream()?, [stream()?, stream()?, stream()?]))
        };
        let (errors, download, streams) = made().map_err(|error| device(&error))?;
        let free = || context.free_memory().map_err(|error| device(&error));
        let before = free()?;
        let budget = Budget::new(before, &options);
        let decoder = decoder(&context, &decoding, &options, budget.decoder)?;
        let own: u64 = [Purpose::Verification, Purpose::Images]
            .map(|purpose| context.account().bytes(purpose))
            .iter()
            .sum();
        let nvjpeg_bytes = (before.saturating_sub(free()?) as u64).saturating_sub(own);
        let dispatch = decoder.as_ref().map(|decoder| Arc::clone(decoder.dispatch()));
        let cache = Arc::default();
        let kernels = Kernels::new(&context);
        let submitter =
            Submitter::new(&context, (decoder, kernels), streams, &cache, (&options, budget.arenas));
        let submitter = Mutex::new(submitter.map_err(|error| device(&error))?);
        let decoded = Default::default();
        let spare = SpareMemory::default();
        Ok(Self {
            submitter,
            cache,
            download,
            spare,
            context,
            options,
            dispatch,
            decoded,
            errors,
            nvjpeg_bytes,
        })
    }

    /// Decodes the staged rows of `slot` and renders each view of them to its output, if there is one, without gaps between
    /// them, and returns without waiting: what the device has found out of files. `replace` is given the rows that cannot be
    /// decoded.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device fails; nothing of the batch is in use any more then.
    fn submit(
        &self,
        slot: &Slot,
        outputs: &[Output],
        callers: (&mut ReplaceRow<'_>, &dyn KnownFiles),
    ) -> Result<Vec<Learned>> {
        let mut submitter = self.submitter.lock().unwrap_or_else(PoisonError::into_inner);
        submitter.submit(self, (slot, outputs), callers).map_err(|trouble| match trouble {
            Trouble::Cuda(error) => failed(self.context.ordinal(), &error),
            Trouble::Masks(bytes, error) => no_masks(self.context.ordinal(), bytes, &error),
            Trouble::Plan(cause) => crate::error::Error::config(cause.to_string()),
            Trouble::Kernels(cause) => unfit(self.context.ordinal(), &cause),
        })
    }

    /// How many images each decoder has done: hardware engine, GPU, CPU and GPU together, CPU.
    fn decoded_by(&self) -> DecodedBy {
        let [hardware, gpu_huffman, hybrid, cpu, feedline] =
            self.decoded.each_ref().map(|count| count.load(Relaxed));
        DecodedBy { hardware, gpu_huffman, hybrid, cpu, feedline }
    }

    /// How much memory is taken at present.
    fn memory(&self) -> MemoryUse {
        let bytes = |purpose| self.context.account().bytes(purpose);
        MemoryUse {
            output_bytes: bytes(Purpose::Output),
            image_bytes: bytes(Purpose::Images),
            program_bytes: bytes(Purpose::Programs),
            shared_image_bytes: bytes(Purpose::SharedImages),
            verification_bytes: bytes(Purpose::Verification),
            nvjpeg_bytes: self.nvjpeg_bytes,
            pinned_bytes: bytes(Purpose::Pinned),
        }
    }

    /// How the device's decoders have done.
    fn decoders(&self) -> Vec<DecoderReport> {
        // What is known by now, unless a batch is being submitted, which takes it in itself. A failure shows there as well.
        if let Ok(mut submitter) = self.submitter.try_lock()
            && let Some(decoder) = &mut submitter.decoder
        {
            drop(decoder.collect());
        }
        let reports = self.dispatch.iter().flat_map(|dispatch| dispatch.report());
        reports
            .map(|(route, report)| DecoderReport {
                images: self.decoded[route as usize].load(Relaxed),
                ..report
            })
            .collect()
    }

    fn count(&self, route: Route) {
        self.decoded[route as usize].fetch_add(1, Relaxed);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Slots have waited for their own work, and what they have left is freed with the rest.
        if is_done(&self.context) {
            return;
        }
        // The device cannot be asked, or a trainer captures a graph just now, perhaps on this very thread.
        drop(self.download.synchronize());
        self.submitter.get_mut().unwrap_or_else(PoisonError::into_inner).wait();
        self.spare.leave_what_is_used();
    }
}

/// feedline's own decoder, or nvJPEG's where the user asks for one of those; `None` where the CPU decodes for this device. A
/// decoder that is missing or does not start is an error, and no reason for choosing another one.
fn decoder(
    context: &Context,
    decoding: &Decoding,
    options: &BackendOptions,
    own_budget: usize,
) -> Result<Option<DeviceDecoder>> {
    let (choice, ordinal) = (options.decoder, context.ordinal());
    let without = |missing: &Missing| {
        Err(missing.clone().error(format!("decoder = \"{}\" on CUDA device {ordinal}", choice.word())))
    };
    match (choice, decoding) {
        (DecoderChoice::Cpu, _) => return Ok(None),
        _ if choice.is_own() => {
            let own = OwnDecoder::new(context, own_budget, options.rows).and_then(|mut own| {
                own.reserve(options.rows, TYPICAL)?;
                Ok(own)
            });
            return Ok(Some(DeviceDecoder::Own(Box::new(own.map_err(|error| failed(ordinal, &error))?))));
        }
        (_, Decoding::Cpu { nvjpeg }) => return without(nvjpeg),
        (DecoderChoice::NvjpegHardware, Decoding::Hybrid { engines, .. }) => return without(engines),
        _ => {}
    }
    let library = match nvjpeg::in_use() {
        Ok(library) => library,
        Err(absent) => return without(&Missing::nvjpeg(&absent)),
    };
    let (rows, verify, typical) = (Some(options.rows), options.verify, Some(TYPICAL));
    let options = DecoderOptions { choice, parts: true, rows, verify, typical };
    let missing = |error| Missing::backend(&error).error(format!("decoding on CUDA device {ordinal}"));
    let made = Decoder::new(context, library, options).map_err(missing)?;
    Ok(Some(DeviceDecoder::Nvjpeg(Box::new(made))))
}

/// The device has no memory for the masks of objects of a batch, or has failed.
fn no_masks(ordinal: u32, bytes: usize, error: &CudaError) -> crate::error::Error {
    if !error.is_out_of_memory() {
        return failed(ordinal, error);
    }
    crate::error::Error::Unavailable {
        what: format!("CUDA device {ordinal}"),
        why: format!("the masks of the objects of a batch take {bytes} bytes: {error}"),
        remedy: "raise mask_ratio, use instance_masks = \"overlap\" or a smaller batch_size or prefetch, or free memory that \
                 other programs hold on the device"
            .into(),
    }
}

/// Kernels that do not know what the library asks for, as the crate's error.
fn unfit(ordinal: u32, cause: &Cause) -> crate::error::Error {
    crate::error::Error::Unavailable {
        what: format!("rendering on CUDA device {ordinal}"),
        why: cause.to_string(),
        remedy: "build library and kernels from the same sources, or use the CPU device".into(),
    }
}
