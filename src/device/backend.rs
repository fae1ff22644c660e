//! What makes batches, as the loader sees it: memory for them, and workers that decode and render one sample at a time.
//!
//! The loader is generic over [`Backend`], so the rows, buffers and images of one backend never meet those of another.

use super::decoded_by::DecodedBy;
use super::decoder_report::DecoderReport;
use super::images::DeviceImages;
use super::memory_use::MemoryUse;
use super::pinning::Pinning;
use crate::decode_memory::give_back;
use crate::destination::Destination;
use crate::error::{Cause, Result};
use crate::geometry::{Orientation, Size};
use crate::image::{Damage, Header, Index, Limits};
use crate::output::Output;
use crate::plan::{ObjectRuns, ViewPlans};
use crate::policy::{DecodeScale, DecoderChoice};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of one image of a plan.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// What [`crate::image::parse_header`] said of it.
    pub header: &'a Header,
}

/// An image that cannot be decoded: its index among those of the plan, and why.
pub(crate) type BadImage = (usize, Cause);

/// What a backend is made for.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "the CPU has no memory or streams of its own"))]
pub(crate) struct BackendOptions {
    /// Rows of a batch.
    pub(crate) rows: usize,
    /// Maximum bytes of a row of each view; none: images are decoded and not rendered.
    pub(crate) row_bytes: Vec<usize>,
    pub(crate) limits: Limits,
    pub(crate) scale: DecodeScale,
    /// What decodes JPEGs on a GPU.
    pub(crate) decoder: DecoderChoice,
    /// Whether what a GPU's decoders write is looked at.
    pub(crate) verify: bool,
    /// Maximum bytes of decoded images that samples share; 0 where each sample decodes its own.
    pub(crate) image_cache: usize,
    /// Maximum bytes of a device's memory for decoded images and scratch; `None`: a quarter of what is free.
    pub(crate) device_memory: Option<u64>,
    /// Maximum bytes of pinned memory of each buffer; what is beyond lies in ordinary memory, which is copied more slowly.
    pub(crate) pinned: usize,
    /// Where the host's memory for batches comes from, where it is page-locked.
    pub(crate) pinning: Option<Pinning>,
    /// Whether kernels run at the lowest priority that the device has.
    pub(crate) low_priority: bool,
}

/// The views of a batch begin at multiples of this: more than a cache line and the widest vector, and what DLPack asks for.
pub(crate) const ALIGNMENT: usize = 256;

/// Where each view of a batch begins in its memory, and where the last one ends; `None` where that is beyond any memory.
/// Each has room for all rows, so that it begins where it does whatever rows are missing.
pub(crate) fn view_starts(rows: usize, row_bytes: impl IntoIterator<Item = usize>) -> Option<Vec<usize>> {
    let mut starts = vec![0usize];
    let mut end = 0usize;
    for bytes in row_bytes {
        let start = end.checked_next_multiple_of(ALIGNMENT)?;
        end = start.checked_add(rows.checked_mul(bytes)?)?;
        *starts.last_mut()? = start;
        starts.push(end);
    }
    Some(starts)
}

/// The bytes of one file, in memory that suits a backend.
pub(crate) trait FileMemory: Destination + Sized {
    /// The memory as a `Vec`, where it is one: a source that reads into a `Vec` need not fill it with zeros first.
    fn as_vec(&mut self) -> Option<&mut Vec<u8>>;

    /// The memory for another file's bytes, where it may be kept for that.
    fn spare(self) -> Option<Self>;
}

impl FileMemory for Vec<u8> {
    fn as_vec(&mut self) -> Option<&mut Vec<u8>> {
        Some(self)
    }

    fn spare(mut self) -> Option<Self> {
        give_back(&mut self);
        Some(self)
    }
}

/// Makes the memory of batches.
pub(crate) trait BufferAllocator: Send + Sync + 'static {
    /// A batch that workers fill, several at once.
    type Buffer: Send + Sync;
    /// The same when all rows are there.
    type Ready: ReadyBuffer;
    /// Whether a batch whose rows are all filled has still to be submitted as a whole.
    const SUBMITS: bool;

    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has no memory left.
    fn allocate(&self) -> Result<Self::Buffer>;

    /// Lets the rows of each output have so many bytes, where batches differ in size.
    fn resize_rows(buffer: &mut Self::Buffer, row_bytes: &[usize]);

    /// Ends the filling.
    fn finish(buffer: Self::Buffer) -> Self::Ready;

    /// Lets the memory be filled again.
    fn reuse(ready: Self::Ready) -> Self::Buffer;
}

/// The memory of a finished batch. A device may still be working on it.
pub(crate) trait ReadyBuffer: Send + Sync + 'static {
    /// All of it, where it is the host's memory; empty where it is a device's.
    fn host(&self) -> &[u8];

    /// Address of the first row in the host's memory, from where it may be written as well; null where it is a device's.
    fn host_address(&self) -> *mut u8;

    /// The bytes of a view, where it is a device's memory.
    fn on_device(&self, view: Range<usize>) -> Option<DeviceImages<'_>>;

    /// These bytes of the masks of objects, where a device has made them; the view's begin at those of [`view_starts`], of one
    /// row each.
    fn masks_on_device(&self, _bytes: Range<usize>) -> Option<DeviceImages<'_>> {
        None
    }

    /// Moves the bytes of a row to where another begins, to close the gap that a missing row leaves; a device closes gaps
    /// itself.
    fn move_row(&mut self, from: Range<usize>, to: usize);

    /// To be called when the consumer has dropped the batch.
    fn retire(&self);
}

/// A device that makes batches; one value serves all worker threads.
pub(crate) trait Backend: BufferAllocator {
    /// Decodes and renders samples; one per thread.
    type Worker: BackendWorker<Self>;
    /// Access to one row of a buffer, and to nothing else of it.
    type Row<'a>;
    /// The bytes of a file that is read for a row.
    type File: FileMemory;
    /// A file and what its header says.
    type Input<'a>;
    /// A decoded image that several samples show.
    type SharedImage: Clone;
    /// Whether decode indexes let its workers decode less of a file.
    const USES_DECODE_INDEX: bool;
    /// Whether a submission makes the masks of objects; otherwise they are made in the host's memory.
    const MAKES_OBJECT_MASKS: bool;

    fn worker(&self) -> Self::Worker;

    /// Access to row `row` of a buffer, for the first caller; `None` for others, and for a row that does not exist.
    fn row<'a>(&self, buffer: &'a Self::Buffer, row: usize) -> Option<Self::Row<'a>>;

    /// Memory for a file that is to be decoded for `row`; `spare` is that of an earlier one.
    fn file(row: &Self::Row<'_>, spare: Option<Self::File>) -> Self::File;

    fn input<'a>(file: &'a Self::File, header: &'a Header) -> Self::Input<'a>;

    /// Whether samples share decoded images.
    fn shares_images(&self) -> bool;

    /// The image of the record `record`, if another sample has shown it and it is still here.
    fn find_shared(&self, record: u64) -> Option<Self::SharedImage>;

    /// The image's size as stored in its file, and how that asks to be turned.
    fn info(image: &Self::SharedImage) -> (Size, Orientation);

    /// Completes a batch whose rows have all been filled, where the backend submits batches.
    ///
    /// `replace` is called for each row that turns out to be bad, with the index of the bad image in the source. It may fill
    /// that row again, for this sample alone; a row for which it returns `false` is left out. `known` holds what is known of
    /// the images' files. What is returned is to be done when the batch is in its consumer's hands.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device fails: no row of the batch can be used then.
    fn submit(
        &self,
        buffer: &Self::Buffer,
        outputs: &[Output],
        replace: &mut Replace<'_, Self>,
        known: &dyn KnownFiles,
    ) -> Result<Option<Afterwards>>;

    /// What it has decoded and kept so far.
    fn usage(&self) -> BackendUsage;
}

/// See [`Backend::submit`]: is given the row's index, access to it, the index of the bad image, and what is wrong with it.
pub(crate) type Replace<'a, B> =
    dyn for<'row> FnMut(usize, <B as Backend>::Row<'row>, u64, Cause) -> bool + 'a;

/// What is left to do of a batch that its consumer need not wait for.
pub(crate) struct Afterwards {
    /// The images, by their index in the source, of whose files something was learned.
    pub(crate) images: Vec<u64>,
    /// Notes it.
    pub(crate) learn: Box<Learn>,
}

/// See [`Afterwards::learn`].
pub(crate) type Learn = dyn FnOnce(&dyn KnownFiles);

/// What is known of files, by the index of their image in the source: decode indexes, and damage.
#[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "the CPU learns while it decodes"))]
pub(crate) trait KnownFiles {
    /// Makes `index` what is known of the file, or empty. Returns whether indexes are kept at all.
    fn fetch(&self, image: u64, index: &mut Index) -> bool;

    /// Keeps what is known of the file now.
    fn learn(&self, image: u64, index: &Index);

    /// Notes that a file is damaged and was decoded nonetheless.
    fn note_damage(&self, image: u64, damage: Damage);
}

/// Decodes and renders one sample at a time, or has a device do so when the batch is submitted.
pub(crate) trait BackendWorker<B: Backend + ?Sized> {
    /// Decodes of each image what any view reads; `inputs[i]` is the file of `plans.images()[i]`, and `indexes[i]`, where
    /// there are any, its decode index. The plans may be kept until the batch is rendered.
    ///
    /// # Errors
    /// The first image that cannot be decoded.
    fn decode(
        &mut self,
        plans: &Arc<ViewPlans>,
        inputs: &[B::Input<'_>],
        indexes: &mut [Index],
        row: &mut B::Row<'_>,
    ) -> Result<(), BadImage>;

    /// What was wrong with images that were decoded nonetheless since the last call; an image is named by its index in its
    /// plans.
    fn take_damaged(&mut self) -> Vec<(usize, Damage)>;

    /// Renders each view of what was decoded last to its output; `plans` are those of the decode.
    ///
    /// # Errors
    /// Why a plan cannot be rendered.
    fn render(&mut self, plans: &ViewPlans, outputs: &[Output], row: &mut B::Row<'_>) -> Result<(), Cause>;

    /// Hands over the masks of the objects of the row that was rendered last, of each view, where
    /// [`Backend::MAKES_OBJECT_MASKS`].
    fn stage_masks(&mut self, _masks: Vec<ObjectRuns>, _row: &mut B::Row<'_>) {}

    /// Gives up what was decoded last and is not going to be rendered.
    fn forget(&mut self) {}

    /// The whole image of the record `record`, decoded for all samples that show it unless another worker has; `row` is of
    /// the batch that shows it first.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    fn decode_shared(
        &mut self,
        record: u64,
        input: B::Input<'_>,
        row: &mut B::Row<'_>,
    ) -> Result<B::SharedImage, Cause>;

    /// Renders views whose images all come from [`BackendWorker::decode_shared`].
    ///
    /// # Errors
    /// Why a plan cannot be rendered.
    fn render_shared(
        &mut self,
        plans: &Arc<ViewPlans>,
        images: Vec<B::SharedImage>,
        outputs: &[Output],
        row: &mut B::Row<'_>,
    ) -> Result<(), Cause>;
}

/// What a backend has decoded and kept since it was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BackendUsage {
    /// Which decoders its images went through, where it is a GPU that decodes.
    pub(crate) decoded_by: Option<DecodedBy>,
    /// How the GPU's decoders have done.
    pub(crate) decoders: Vec<DecoderReport>,
    /// Images that its workers decoded for several samples.
    pub(crate) shared_decoded: u64,
    /// Decodes that were saved, since another sample had the image already.
    pub(crate) shared_hits: u64,
    /// Bytes of the images that are kept for other samples.
    pub(crate) shared_bytes: u64,
    /// The memory that it takes on a GPU.
    pub(crate) memory: Option<MemoryUse>,
}
