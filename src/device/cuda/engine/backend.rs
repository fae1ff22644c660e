//! A CUDA device as a backend of the loader: workers stage rows, and a whole batch is submitted at a time.

use super::Engine;
use super::image_cache::SharedImage;
use super::slot::{FilledSlot, Slot};
use super::worker::{Row, Worker};
use crate::device::DeviceImages;
use crate::device::backend::{
    Backend, BackendOptions, BackendUsage, BackendWorker, BadImage, BufferAllocator, Input, ReadyBuffer,
    Replace,
};
use crate::error::{Cause, Result};
use crate::image::Index;
use crate::output::Output;
use crate::plan::Plan;
use std::sync::Arc;

/// A device, and what all workers share of it.
pub(crate) struct CudaBackend {
    engine: Arc<Engine>,
}

impl CudaBackend {
    /// Opens the device, loads the kernels and nvJPEG, and reserves the first memory.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`], with the remedy.
    pub(crate) fn new(ordinal: u32, options: BackendOptions) -> Result<Self> {
        Ok(Self { engine: Arc::new(Engine::new(ordinal, options)?) })
    }
}

impl BufferAllocator for CudaBackend {
    type Buffer = Slot;
    type Ready = FilledSlot;
    const SUBMITS: bool = true;

    fn allocate(&self) -> Result<Slot> {
        Slot::new(&self.engine)
    }

    /// Rows are packed when the batch is submitted, whatever their size.
    fn resize_rows(_: &mut Slot, _: usize) {}

    fn finish(buffer: Slot) -> FilledSlot {
        buffer.finish()
    }

    fn reuse(ready: FilledSlot) -> Slot {
        ready.reuse()
    }
}

impl ReadyBuffer for FilledSlot {
    fn host(&self) -> &[u8] {
        &[]
    }

    fn host_address(&self) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn on_device(&self, bytes: usize) -> Option<DeviceImages<'_>> {
        Some(DeviceImages::new(&self.core, bytes))
    }

    /// A submission has left no gaps.
    fn move_row(&mut self, _from: usize, _to: usize, _row_bytes: usize) {}

    fn retire(&self) {
        self.mark_released();
    }
}

impl Backend for CudaBackend {
    type Worker = Worker;
    type Row<'a> = Row<'a>;
    type SharedImage = Arc<SharedImage>;
    const USES_DECODE_INDEX: bool = false;

    fn worker(&self) -> Worker {
        Worker::new(&self.engine)
    }

    fn row<'a>(&self, slot: &'a Slot, row: usize) -> Option<Row<'a>> {
        Some(Row { slot, row, decode_on_cpu: false })
    }

    fn shares_images(&self) -> bool {
        self.engine.shares
    }

    fn find_shared(&self, record: u64) -> Option<Arc<SharedImage>> {
        self.engine.cache.find(record)
    }

    fn submit(&self, slot: &Slot, output: Option<Output>, replace: &mut Replace<'_, Self>) -> Result<()> {
        self.engine.submit(slot, output, &mut |row, index, cause| {
            replace(row, Row { slot, row, decode_on_cpu: true }, index, cause)
        })
    }

    fn usage(&self) -> BackendUsage {
        let (shared_hits, shared_bytes) = self.engine.cache.usage();
        let decoded_by = Some(self.engine.decoded_by());
        BackendUsage { decoded_by, shared_decoded: 0, shared_hits, shared_bytes }
    }
}

impl BackendWorker<CudaBackend> for Worker {
    /// Stages the row.
    fn decode(
        &mut self,
        plan: &Plan,
        inputs: &[Input<'_>],
        _: &mut [Index],
        row: &mut Row<'_>,
    ) -> Result<(), BadImage> {
        self.stage(row, plan, inputs)
    }

    /// The device renders when the batch is submitted.
    fn render(&mut self, _: &Plan, _: &Output, _: &mut Row<'_>) -> Result<(), Cause> {
        Ok(())
    }

    fn decode_shared(
        &mut self,
        record: u64,
        input: Input<'_>,
        row: &mut Row<'_>,
    ) -> Result<Arc<SharedImage>, Cause> {
        self.stage_whole(row, record, &input)
    }

    /// Stages the row.
    fn render_shared(
        &mut self,
        plan: &Plan,
        images: Vec<Arc<SharedImage>>,
        _: &Output,
        row: &mut Row<'_>,
    ) -> Result<(), Cause> {
        self.stage_shared(row, plan, images);
        Ok(())
    }
}
