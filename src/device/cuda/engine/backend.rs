//! A CUDA device as a backend of the loader: workers stage rows, and a whole batch is submitted at a time.
//!
//! Files are read to pinned memory, where the device reads them; the others are decoded into it by the worker.

use super::fallback::Fallback;
use super::file_buffer::{FileBuffer, FileInput};
use super::image_cache::SharedImage;
use super::learned::Learned;
use super::slot::Slot;
use super::source_bytes::{FileScan, SourceBytes, StagedFile};
use super::staged::{SharedUse, StagedImage, StagedRow};
use super::staging::Use;
use super::{Engine, Route};
use crate::destination::Destination;
use crate::device::backend::{
    Afterwards, Backend, BackendOptions, BackendUsage, BackendWorker, BadImage, BufferAllocator, Input,
    KnownFiles, ReadyBuffer, Replace,
};
use crate::device::cuda::jpeg::{Scan, ScanMaker};
use crate::device::cuda::render;
use crate::device::{DeviceImages, roi};
use crate::error::{Cause, Result};
use crate::geometry::{Orientation, Rect, Size};
use crate::image::{Damage, Format, Header, Index};
use crate::jpeg;
use crate::output::Output;
use crate::plan::{ObjectRuns, ViewPlans};
use std::ops::Range;
use std::sync::Arc;

/// A device, and what all workers share of it.
pub(crate) struct CudaBackend(Arc<Engine>);

/// Stages one sample at a time; one per thread.
pub(crate) struct Worker {
    engine: Arc<Engine>,
    fallback: Fallback,
    scans: ScanMaker,
    damaged: Vec<(usize, Damage)>,
}

/// A row that is to be staged.
pub(crate) struct Row<'a> {
    slot: &'a Slot,
    row: usize,
    /// Whether the device has failed on this row already, so that the CPU is to decode it.
    decode_on_cpu: bool,
}

impl CudaBackend {
    /// Opens the device, loads the kernels and nvJPEG, and reserves the first memory.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`], with the remedy.
    pub(crate) fn new(ordinal: u32, options: BackendOptions) -> Result<Self> {
        Ok(Self(Arc::new(Engine::new(ordinal, options)?)))
    }
}

impl BufferAllocator for CudaBackend {
    type Buffer = Slot;
    type Ready = Slot;
    const SUBMITS: bool = true;

    fn allocate(&self) -> Result<Slot> {
        Slot::new(&self.0)
    }

    /// Rows are packed when the batch is submitted, whatever their size.
    fn resize_rows(_: &mut Slot, _: &[usize]) {}

    fn finish(slot: Slot) -> Slot {
        slot
    }

    fn reuse(slot: Slot) -> Slot {
        slot.state().stale = true;
        slot
    }
}

impl ReadyBuffer for Slot {
    fn host(&self) -> &[u8] {
        &[]
    }

    fn host_address(&self) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn on_device(&self, view: Range<usize>) -> Option<DeviceImages<'_>> {
        Some(DeviceImages::new(self, self.address(), &view))
    }

    fn masks_on_device(&self, bytes: Range<usize>) -> Option<DeviceImages<'_>> {
        Some(DeviceImages::new(self, self.state().masks.address(), &bytes))
    }

    /// A submission has left no gaps.
    fn move_row(&mut self, _from: Range<usize>, _to: usize) {}

    fn retire(&self) {
        self.mark_released();
    }
}

impl Backend for CudaBackend {
    type Worker = Worker;
    type Row<'a> = Row<'a>;
    type File = FileBuffer;
    type Input<'a> = FileInput<'a>;
    type SharedImage = Arc<SharedImage>;
    const USES_DECODE_INDEX: bool = true;
    const MAKES_OBJECT_MASKS: bool = true;

    fn worker(&self) -> Worker {
        Worker {
            engine: Arc::clone(&self.0),
            fallback: Fallback::new(self.0.options.limits.clone()),
            scans: ScanMaker::default(),
            damaged: Vec::new(),
        }
    }

    fn row<'a>(&self, slot: &'a Slot, row: usize) -> Option<Row<'a>> {
        Some(Row { slot, row, decode_on_cpu: false })
    }

    fn file(row: &Row<'_>, _: Option<FileBuffer>) -> FileBuffer {
        FileBuffer::new(row.slot.staging())
    }

    fn input<'a>(file: &'a FileBuffer, header: &'a Header) -> FileInput<'a> {
        FileInput { file, header }
    }

    fn shares_images(&self) -> bool {
        self.0.options.image_cache > 0
    }

    fn find_shared(&self, record: u64) -> Option<Arc<SharedImage>> {
        self.0.cache.find(record)
    }

    fn info(image: &Arc<SharedImage>) -> (Size, Orientation) {
        (image.stored, image.orientation)
    }

    fn submit(
        &self,
        slot: &Slot,
        outputs: &[Output],
        replace: &mut Replace<'_, Self>,
        known: &dyn KnownFiles,
    ) -> Result<Option<Afterwards>> {
        let replace =
            &mut |row, index, cause| replace(row, Row { slot, row, decode_on_cpu: true }, index, cause);
        let learned = self.0.submit(slot, outputs, (replace, known))?;
        if learned.is_empty() {
            return Ok(None);
        }
        let images = learned.iter().map(Learned::image).collect();
        let learn = Box::new(move |known: &dyn KnownFiles| learned.iter().for_each(|file| file.keep(known)));
        Ok(Some(Afterwards { images, learn }))
    }

    fn usage(&self) -> BackendUsage {
        let (shared_hits, shared_bytes) = self.0.cache.usage();
        let (decoded_by, decoders) = (Some(self.0.decoded_by()), self.0.decoders());
        let memory = Some(self.0.memory());
        BackendUsage { decoded_by, decoders, shared_decoded: 0, shared_hits, shared_bytes, memory }
    }
}

impl BackendWorker<CudaBackend> for Worker {
    /// Stages the row. The index of a file that the device decodes stays as it is.
    fn decode(
        &mut self,
        plans: &Arc<ViewPlans>,
        inputs: &[FileInput<'_>],
        indexes: &mut [Index],
        row: &mut Row<'_>,
    ) -> Result<(), BadImage> {
        let images = inputs.iter().enumerate().map(|(number, input)| {
            if self.engine.options.image_cache > 0 {
                // What samples share is bad for all of them, whatever part they read.
                self.fallback.verify(input.file.bytes(), input.header).map_err(|cause| (number, cause))?;
            }
            let wanted = roi::region_of_views(plans, number);
            let staged = self.stage(row, input, wanted, indexes.get_mut(number));
            self.damaged.extend(self.fallback.take_damage().map(|damage| (number, damage)));
            Ok(StagedImage::Own(staged.map_err(|cause| (number, cause))?))
        });
        let images = images.collect::<Result<Vec<_>, _>>()?;
        row.slot.put(row.row, Some(StagedRow::new(plans, images)));
        Ok(())
    }

    fn take_damaged(&mut self) -> Vec<(usize, Damage)> {
        std::mem::take(&mut self.damaged)
    }

    /// The device renders when the batch is submitted; a plan that it cannot render is refused now, so that it costs no
    /// other sample.
    fn render(&mut self, plans: &ViewPlans, _: &[Output], row: &mut Row<'_>) -> Result<(), Cause> {
        check_plans(plans).inspect_err(|_| row.slot.put(row.row, None))
    }

    fn decode_shared(
        &mut self,
        record: u64,
        input: FileInput<'_>,
        row: &mut Row<'_>,
    ) -> Result<Arc<SharedImage>, Cause> {
        let engine = Arc::clone(&self.engine);
        let header = input.header;
        let known = (header.size, header.orientation);
        let staged =
            engine.cache.find_or_stage(record, known, || self.stage(row, &input, header.size.rect(), None));
        self.damaged.extend(self.fallback.take_damage().map(|damage| (0, damage)));
        staged
    }

    /// Stages the row.
    fn render_shared(
        &mut self,
        plans: &Arc<ViewPlans>,
        images: Vec<Arc<SharedImage>>,
        _: &[Output],
        row: &mut Row<'_>,
    ) -> Result<(), Cause> {
        check_plans(plans)?;
        let shared = |(number, image)| {
            StagedImage::Shared(SharedUse { image, wanted: roi::region_of_views(plans, number) })
        };
        let images = images.into_iter().enumerate().map(shared).collect();
        row.slot.put(row.row, Some(StagedRow::new(plans, images)));
        Ok(())
    }

    fn stage_masks(&mut self, masks: Vec<ObjectRuns>, row: &mut Row<'_>) {
        row.slot.put_masks(row.row, masks);
    }
}

/// Refuses what the device cannot render.
fn check_plans(plans: &ViewPlans) -> Result<(), Cause> {
    plans.views().iter().try_for_each(|view| render::check_plan(&view.plan))
}

impl Worker {
    /// Stages what is read of one image: its file, or its pixels, decoded with `index` straight into the slot's memory.
    fn stage(
        &mut self,
        row: &Row<'_>,
        &FileInput { file, header }: &FileInput<'_>,
        wanted: Rect,
        index: Option<&mut Index>,
    ) -> Result<SourceBytes, Cause> {
        let (slot, input) = (row.slot, Input { bytes: file.bytes(), header });
        if !row.decode_on_cpu
            && let Some(image) = self.engine.takes(&input, wanted)
        {
            let own = self.engine.dispatch.as_ref().is_some_and(|dispatch| dispatch.is_own());
            let scan = match own {
                true => self.make_scan((input.bytes, header), wanted, index.as_deref()),
                false => None,
            };
            // What the device's own decoder does not take, this thread decodes below.
            if !own || scan.is_some() {
                let scan = scan.and_then(|scan| self.stage_scan(slot, input.bytes, scan, index));
                let (bytes, header, len) = (file.staged()?, Arc::new(header.clone()), image.len());
                return Ok(SourceBytes::File(StagedFile { bytes, len, header, wanted, shared: false, scan }));
            }
        }
        let pixels = self.fallback.decode((input.bytes, header), wanted, index, slot.staging())?;
        if header.format != Format::Raw {
            self.engine.count(Route::Cpu);
        }
        Ok(SourceBytes::Pixels(pixels))
    }
}

impl Worker {
    /// The scan of what is wanted of a file; `None` where the device's own decoder does not take that.
    fn make_scan(
        &mut self,
        (file, header): (&[u8], &Header),
        wanted: Rect,
        index: Option<&Index>,
    ) -> Option<Scan> {
        let dispatch = self.engine.dispatch.as_ref()?;
        let scan = self.scans.make(file, header, dispatch.region(header, wanted), index)?;
        dispatch.has_room(scan.device_bytes()).then_some(scan)
    }

    /// Stages the scan that was made last with its bits; `None` where the batch has no memory left for those, and the thread
    /// that submits it makes the scan.
    fn stage_scan(
        &self,
        slot: &Slot,
        file: &[u8],
        scan: Scan,
        index: Option<&mut Index>,
    ) -> Option<Arc<FileScan>> {
        let mut words = slot.staging().reserve(Use::Words, scan.word_bytes()).ok()?;
        if let Some(index) = index.filter(|_| scan.takes_index()) {
            index.note_use(scan.skipped_rows());
        }
        self.scans.write_words(file, words.bytes_mut());
        Some(Arc::new(FileScan { scan, words: Arc::new(words) }))
    }
}

impl Engine {
    /// The bytes up to the end of the image, where the device is to decode the file. What the limits refuse goes to the CPU's
    /// decoder, which says why, as does a file that is cut short.
    fn takes<'a>(&self, input: &Input<'a>, wanted: Rect) -> Option<&'a [u8]> {
        let (dispatch, header) = (self.dispatch.as_ref()?, input.header);
        let within = header.size.pixels() <= self.options.limits.max_pixels && !wanted.is_empty();
        if !within || !dispatch.takes(header, wanted) {
            return None;
        }
        match &header.jpeg {
            Some(jpeg) if !jpeg.has_one_scan() && !self.has_few_scans(input.bytes) => None,
            Some(_) => Some(&input.bytes[..jpeg::image_end(input.bytes)?]),
            None => Some(input.bytes),
        }
    }

    /// Whether a file of several scans has no more than it may. Its entropy-coded bytes never look like a marker, so
    /// only a thumbnail in its metadata can make the count too high, and then the CPU decides.
    fn has_few_scans(&self, bytes: &[u8]) -> bool {
        let scans = bytes.windows(2).filter(|pair| pair == &[0xFF, 0xDA]);
        scans.take(self.options.limits.max_scans as usize + 1).count()
            <= self.options.limits.max_scans as usize
    }
}
