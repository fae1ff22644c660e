//! A batch as the trainer gets it: pixels, labels and where each row comes from.

pub(super) mod labels;
pub(super) mod masks;
pub(super) mod objects;
pub(super) mod one_hot;

use super::queue::lent::BatchMemory;
use super::queue::task::{FinishedBatch, Sample};
use super::report::errors::{Failure, Status};
use super::worker::process::Process;
use crate::device::DeviceImages;
use crate::device::backend::ReadyBuffer;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::output::{DType, Output};
use half::{bf16, f16};
use labels::LabelRules;
use objects::BatchObjects;
use one_hot::one_hot;
use std::ffi::c_void;

/// One batch. It may outlive its epoch and its loader; dropping it makes its memory free for another batch.
///
/// Its pixels lie in the host's memory ([`Batch::images`]) or in a device's ([`Batch::on_device`]), as the loader's
/// device says. A device may still be working on them when the batch is delivered: see [`DeviceImages`].
pub struct Batch {
    /// Always there until `drop`.
    memory: Option<Box<dyn BatchMemory>>,
    process: Process,
    number: usize,
    shape: [usize; 4],
    dtype: DType,
    /// Of a sample.
    size: Size,
    arrays: Arrays,
}

/// What a batch has beside its pixels, as the methods of [`Batch`] of the same names say.
#[derive(Default)]
pub(crate) struct Arrays {
    pub(crate) labels: Vec<i64>,
    /// Of each row.
    pub(crate) shares: Vec<Vec<(i64, f32)>>,
    pub(crate) indices: Vec<u64>,
    pub(crate) keys: Vec<String>,
    pub(crate) status: Vec<Status>,
    pub(crate) objects: Option<BatchObjects>,
    pub(crate) masks: Option<Vec<u8>>,
}

impl Batch {
    /// Closes the gaps that bad samples left, and returns what was bad.
    pub(super) fn new(
        finished: FinishedBatch<Box<dyn BatchMemory>>,
        labels: &LabelRules,
        (number, output): (usize, Option<Output>),
    ) -> (Self, BatchErrors) {
        let FinishedBatch { mut memory, outcomes } = finished;
        let row_bytes = output.map_or(0, |output| output.sample_bytes());
        let (mut samples, mut errors) = (Vec::new(), BatchErrors::default());
        for (row, outcome) in outcomes.into_iter().enumerate() {
            let own = errors.failures.len();
            errors.failures.extend(outcome.failures);
            errors.panic = errors.panic.or(outcome.panic);
            let Some(sample) = outcome.sample else {
                let substitutes = errors.failures[own..].len().saturating_sub(1);
                errors.lost = errors.lost.or((own < errors.failures.len()).then_some((own, substitutes)));
                continue;
            };
            if row != samples.len() {
                memory.buffer_mut().move_row(row, samples.len(), row_bytes);
            }
            samples.push(sample);
        }
        let shape = output.map_or([samples.len(), 3, 0, 0], |output| output.shape(samples.len()));
        let dtype = output.map_or(DType::U8, |output| output.dtype);
        let mut batch = Self {
            memory: Some(memory),
            process: Process::this(),
            number,
            shape,
            dtype,
            size: output.map_or(Size::default(), |output| output.size),
            arrays: Arrays::default(),
        };
        let (arrays, fill) = (&mut batch.arrays, output.and(labels.mask_fill));
        arrays.masks = fill.map(|_| Vec::new());
        if labels.expected || samples.iter().any(|sample| sample.objects.is_some()) {
            arrays.objects = Some(BatchObjects::new(labels.format, labels.unit));
        }
        let missing = || vec![fill.unwrap_or_default(); batch.size.pixels() as usize];
        samples.into_iter().for_each(|sample| arrays.push(sample, missing));
        (batch, errors)
    }

    /// Number of rows; less than the batch size where samples were skipped or the last batch is partial.
    pub fn len(&self) -> usize {
        self.arrays.labels.len()
    }

    /// True when every sample was skipped.
    pub fn is_empty(&self) -> bool {
        self.arrays.labels.is_empty()
    }

    /// Which batch of the epoch it is, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// `[rows, 3, height, width]` or `[rows, height, width, 3]`; height and width are this batch's own, and 0 where nothing
    /// is rendered.
    pub fn shape(&self) -> [usize; 4] {
        self.shape
    }

    /// The number format of [`Batch::images`].
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The pixels of all rows, without gaps, from an address that is a multiple of 256; empty where they lie in a
    /// device's memory.
    pub fn images(&self) -> &[u8] {
        let host = self.buffer().map_or(&[][..], ReadyBuffer::host);
        host.get(..self.bytes()).unwrap_or(&[])
    }

    /// Address of the pixels in the host's memory, from where they may be written as well; null where they lie elsewhere.
    pub(crate) fn pixels(&self) -> *mut c_void {
        self.buffer().map_or(std::ptr::null_mut(), |buffer| buffer.host_address().cast())
    }

    /// Height and width of a sample.
    pub(crate) fn sample_size(&self) -> Size {
        self.size
    }

    /// The pixels in the device's memory; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'_>> {
        self.buffer()?.on_device(self.bytes())
    }

    fn buffer(&self) -> Option<&dyn ReadyBuffer> {
        self.memory.as_ref().map(|memory| memory.buffer())
    }

    /// Waits until the pixels are finished; they always are where they lie in the host's memory.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the device has failed.
    pub fn wait(&self) -> Result<()> {
        self.on_device().map_or(Ok(()), |images| images.wait())
    }

    /// A copy of the pixels in the host's memory, wherever they lie.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the device has failed.
    pub fn to_host(&self) -> Result<Vec<u8>> {
        match self.on_device() {
            Some(images) => images.to_host(),
            None => Ok(self.images().to_vec()),
        }
    }

    fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.dtype.bytes()
    }

    /// The values, if the batch is [`DType::F32`] and lies in the host's memory.
    pub fn as_f32(&self) -> Option<&[f32]> {
        self.values(DType::F32)
    }

    /// The values, if the batch is [`DType::F16`] and lies in the host's memory.
    pub fn as_f16(&self) -> Option<&[f16]> {
        self.values(DType::F16)
    }

    /// The values, if the batch is [`DType::Bf16`] and lies in the host's memory.
    pub fn as_bf16(&self) -> Option<&[bf16]> {
        self.values(DType::Bf16)
    }

    /// The values, if the batch is [`DType::U8`] and lies in the host's memory.
    pub fn as_u8(&self) -> Option<&[u8]> {
        self.values(DType::U8)
    }

    fn values<T: bytemuck::AnyBitPattern>(&self, dtype: DType) -> Option<&[T]> {
        (self.dtype == dtype && self.on_device().is_none())
            .then(|| bytemuck::try_cast_slice(self.images()).ok())
            .flatten()
    }

    /// The class of each row's own image, -1 where there is none.
    pub fn labels(&self) -> &[i64] {
        &self.arrays.labels
    }

    /// The classes that row `row` is made of and their weights, which sum to 1; one entry where nothing was mixed.
    pub fn label_shares(&self, row: usize) -> &[(i64, f32)] {
        &self.arrays.shares[row]
    }

    /// The classes as one row of `classes` numbers for each sample, by their shares: soft labels for a cross entropy.
    ///
    /// `smoothing`, in 0..=1, is taken from the shares and spread evenly over all classes, as torch's `label_smoothing`
    /// does; 0 leaves one-hot rows, or those of a mix. A sample without a class has a row of zeros.
    ///
    /// # Errors
    /// [`Error::Config`] where a class is not below `classes`, or `smoothing` no part of 1.
    pub fn one_hot(&self, classes: usize, smoothing: f32) -> Result<Vec<f32>> {
        one_hot(&self.arrays.shares, classes, smoothing)
    }

    /// What is seen in the rows, and where; `None` where neither the source's labels are objects nor boxes were asked
    /// for. It lies in the host's memory whatever the device.
    pub fn objects(&self) -> Option<&BatchObjects> {
        self.arrays.objects.as_ref()
    }

    /// The semantic masks of all rows, `[rows, height, width]` classes without gaps, where the loader was asked for them.
    /// They lie in the host's memory whatever the device.
    pub fn masks(&self) -> Option<&[u8]> {
        self.arrays.masks.as_deref()
    }

    /// The index of each row's sample in the source.
    pub fn indices(&self) -> &[u64] {
        &self.arrays.indices
    }

    /// The name of each row's sample.
    pub fn keys(&self) -> &[String] {
        &self.arrays.keys
    }

    /// How each row came to be there.
    pub fn status(&self) -> &[Status] {
        &self.arrays.status
    }

    /// Moves everything out of it but the pixels, which keep their shape.
    #[cfg(feature = "tch")]
    pub(crate) fn take_arrays(&mut self) -> Arrays {
        std::mem::take(&mut self.arrays)
    }
}

impl Arrays {
    /// `missing` makes the mask of a sample that has none.
    fn push(&mut self, sample: Sample, missing: impl FnOnce() -> Vec<u8>) {
        if let Some(masks) = &mut self.masks {
            masks.append(&mut sample.mask.unwrap_or_else(missing));
        }
        if let (Some(batch), Some(objects)) = (&mut self.objects, sample.objects) {
            objects.into_iter().for_each(|object| batch.push(self.labels.len(), object));
        }
        self.labels.push(sample.class);
        self.shares.push(sample.shares);
        self.indices.push(sample.index);
        self.keys.push(sample.key);
        self.status.push(sample.status);
    }
}

#[cfg(test)]
impl Batch {
    /// One without rows, whose memory counts that it goes, and panics.
    pub(crate) fn that_panics_when_it_goes(gone: std::sync::Arc<std::sync::atomic::AtomicUsize>) -> Self {
        use crate::loader::queue::model::Memory;

        struct Panics {
            memory: Memory,
            gone: std::sync::Arc<std::sync::atomic::AtomicUsize>,
        }

        impl BatchMemory for Panics {
            fn buffer(&self) -> &dyn ReadyBuffer {
                &self.memory
            }

            fn buffer_mut(&mut self) -> &mut dyn ReadyBuffer {
                &mut self.memory
            }

            fn give_back(self: Box<Self>) {
                self.gone.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                panic!("on purpose");
            }
        }

        let finished = FinishedBatch {
            memory: Box::new(Panics { memory: Memory::alone(), gone }) as Box<dyn BatchMemory>,
            outcomes: Vec::new(),
        };
        Self::new(finished, &LabelRules::default(), (0, None)).0
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        match self.process.is_this() {
            true => memory.give_back(),
            false => std::mem::forget(memory),
        }
    }
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { number, shape, dtype, arrays: Arrays { labels, indices, .. }, .. } = self;
        write!(f, "Batch {{ number: {number}, shape: {shape:?}, dtype: {dtype:?}, ")?;
        write!(f, "labels: {labels:?}, indices: {indices:?} }}")
    }
}

/// What a batch could not use.
#[derive(Default)]
pub(super) struct BatchErrors {
    /// In the order of rows.
    pub(super) failures: Vec<Failure>,
    /// The first empty row's own failure, and how many substitutes for it were bad too.
    pub(super) lost: Option<(usize, usize)>,
    pub(super) panic: Option<Error>,
}
