//! The processor as a backend of the loader: workers decode and render by themselves, straight into the batch.

use super::Worker;
use super::image_cache::ImageCache;
use super::slot::{FilledSlot, Slot};
use crate::device::DeviceImages;
use crate::device::backend::{
    Afterwards, Backend, BackendOptions, BackendUsage, BackendWorker, BadImage, BufferAllocator, Input,
    KnownFiles, ReadyBuffer, Replace,
};
use crate::error::{Cause, Error, Result};
use crate::geometry::{Orientation, Size};
use crate::image::{Damage, Format, Header, Image, Index};
use crate::output::Output;
use crate::plan::ViewPlans;
use std::ops::Range;
use std::sync::Arc;

/// What all workers of the processor share.
pub(crate) struct CpuBackend {
    options: BackendOptions,
    images: Arc<ImageCache>,
}

/// One thread's decoder and renderer.
pub(crate) struct CpuWorker {
    worker: Worker,
    images: Arc<ImageCache>,
}

impl CpuBackend {
    pub(crate) fn new(options: BackendOptions) -> Self {
        Self { images: Arc::new(ImageCache::new(options.image_cache)), options }
    }
}

impl BufferAllocator for CpuBackend {
    type Buffer = Slot;
    type Ready = FilledSlot;
    const SUBMITS: bool = false;

    fn allocate(&self) -> Result<Slot> {
        let BackendOptions { rows, ref row_bytes, ref pinning, .. } = self.options;
        let pinned = pinning.as_ref().and_then(|pinning| Slot::pinned(rows, row_bytes, pinning));
        pinned.or_else(|| Slot::new(rows, row_bytes)).ok_or_else(|| {
            Error::config(format!(
                "the system has no memory for a batch of {rows} samples of {} bytes: use a smaller batch_size or prefetch",
                row_bytes.iter().fold(0, |all: usize, &one| all.saturating_add(one))
            ))
        })
    }

    fn resize_rows(buffer: &mut Slot, row_bytes: &[usize]) {
        buffer.resize_rows(row_bytes);
    }

    fn finish(buffer: Slot) -> FilledSlot {
        buffer.finish()
    }

    fn reuse(ready: FilledSlot) -> Slot {
        ready.reuse()
    }
}

impl ReadyBuffer for FilledSlot {
    fn host(&self) -> &[u8] {
        self.bytes()
    }

    fn host_address(&self) -> *mut u8 {
        self.address()
    }

    fn on_device(&self, _: Range<usize>) -> Option<DeviceImages<'_>> {
        None
    }

    fn move_row(&mut self, from: Range<usize>, to: usize) {
        self.bytes_mut().copy_within(from, to);
    }

    fn retire(&self) {}
}

impl Backend for CpuBackend {
    type Worker = CpuWorker;
    /// The bytes of each view.
    type Row<'a> = Vec<&'a mut [u8]>;
    type File = Vec<u8>;
    type Input<'a> = Input<'a>;
    type SharedImage = Arc<Image>;
    const USES_DECODE_INDEX: bool = true;
    const MAKES_OBJECT_MASKS: bool = false;

    fn worker(&self) -> CpuWorker {
        let worker = Worker::new(&self.options.limits).scale(self.options.scale).keeping_pixels();
        CpuWorker { worker, images: Arc::clone(&self.images) }
    }

    fn row<'a>(&self, buffer: &'a Slot, row: usize) -> Option<Vec<&'a mut [u8]>> {
        buffer.claim(row)
    }

    fn file(_: &Vec<&mut [u8]>, spare: Option<Vec<u8>>) -> Vec<u8> {
        spare.unwrap_or_default()
    }

    fn input<'a>(file: &'a Vec<u8>, header: &'a Header) -> Input<'a> {
        Input { bytes: file, header }
    }

    fn shares_images(&self) -> bool {
        self.options.image_cache > 0
    }

    fn find_shared(&self, record: u64) -> Option<Arc<Image>> {
        self.images.find(record)
    }

    fn info(image: &Arc<Image>) -> (Size, Orientation) {
        (image.stored, image.orientation)
    }

    /// Rows are complete as soon as they are rendered.
    fn submit(
        &self,
        _: &Slot,
        _: &[Output],
        _: &mut Replace<'_, Self>,
        _: &dyn KnownFiles,
    ) -> Result<Option<Afterwards>> {
        Ok(None)
    }

    fn usage(&self) -> BackendUsage {
        self.images.usage()
    }
}

impl BackendWorker<CpuBackend> for CpuWorker {
    fn decode(
        &mut self,
        plans: &Arc<ViewPlans>,
        inputs: &[Input<'_>],
        indexes: &mut [Index],
        _row: &mut Vec<&mut [u8]>,
    ) -> Result<(), BadImage> {
        let decoded = self.worker.decode_views(plans, inputs, indexes);
        if decoded.is_err() {
            self.worker.give_back();
        }
        decoded
    }

    fn take_damaged(&mut self) -> Vec<(usize, Damage)> {
        self.worker.take_damaged()
    }

    fn render(
        &mut self,
        plans: &ViewPlans,
        outputs: &[Output],
        row: &mut Vec<&mut [u8]>,
    ) -> Result<(), Cause> {
        let rendered = self.worker.render_views(plans, outputs, row);
        self.worker.give_back();
        rendered
    }

    fn forget(&mut self) {
        self.worker.give_back();
    }

    fn decode_shared(
        &mut self,
        record: u64,
        input: Input<'_>,
        _row: &mut Vec<&mut [u8]>,
    ) -> Result<Arc<Image>, Cause> {
        let worker = &mut self.worker;
        // Levels are as they were handed over.
        let is_counted = input.header.format != Format::Raw;
        self.images.find_or_decode((record, is_counted), |image| worker.decode_whole(input, image))
    }

    fn render_shared(
        &mut self,
        plans: &Arc<ViewPlans>,
        images: Vec<Arc<Image>>,
        outputs: &[Output],
        row: &mut Vec<&mut [u8]>,
    ) -> Result<(), Cause> {
        let rendered = self.worker.render_shared(plans, &images, outputs, row);
        self.worker.give_back();
        rendered
    }
}
