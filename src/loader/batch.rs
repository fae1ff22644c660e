//! A batch as the trainer gets it: pixels, labels and where each row comes from.

pub(super) mod fields;
pub(super) mod instances;
pub(super) mod labels;
mod object_masks;
pub(super) mod objects;
pub(super) mod one_hot;
mod padding;
mod pixels;
mod view;

pub use object_masks::ObjectMaskPixels;
pub use pixels::BatchPixels;
pub use view::BatchView;

use super::companions::Companion;
use super::queue::lent::BatchMemory;
use super::queue::task::{FinishedBatch, Sample, SampleView};
use super::report::errors::{Failure, Status};
use super::worker::process::Process;
use crate::device::DeviceImages;
use crate::device::backend::ReadyBuffer;
use crate::error::{Error, Result};
use crate::field::Field;
use crate::geometry::Size;
use crate::output::{DType, Output};
use crate::plan::Placement;
use fields::BatchField;
use half::{bf16, f16};
use labels::LabelRules;
use object_masks::DeviceMasks;
use objects::BatchObjects;
use padding::Padding;
use pixels::Plane;
use std::sync::Arc;

/// One batch. It may outlive its epoch and its loader; dropping it makes its memory free for another batch.
///
/// Its pixels lie in the host's memory ([`Batch::images`]) or in a device's ([`Batch::on_device`]), as the loader's
/// device says. A device may still be working on them when the batch is delivered: see [`DeviceImages`].
///
/// Where samples have several views ([`crate::augment::View`]), [`Batch::view`] gives each; pixels, shape, objects, masks and
/// shares of the batch itself are those of the first.
pub struct Batch {
    /// Always there until `drop`.
    memory: Option<Box<dyn BatchMemory>>,
    process: Process,
    number: usize,
    dtype: DType,
    arrays: Arrays,
}

/// What a batch has beside its pixels, as the methods of [`Batch`] of the same names say.
#[derive(Default)]
pub(crate) struct Arrays {
    pub(crate) labels: Vec<i64>,
    pub(crate) indices: Vec<u64>,
    pub(crate) keys: Vec<String>,
    pub(crate) original_sizes: Vec<[i64; 2]>,
    pub(crate) status: Vec<Status>,
    pub(crate) fields: Vec<BatchField>,
    /// Always at least one.
    pub(crate) views: Vec<ViewArrays>,
}

/// What a view of a batch has beside its pixels.
#[derive(Default)]
pub(crate) struct ViewArrays {
    pub(crate) images: Plane,
    /// Of a sample.
    pub(crate) size: Size,
    /// Of each row.
    pub(crate) shares: Vec<Vec<(i64, f32)>>,
    /// The share of each row's images that have a label.
    pub(crate) labelled: Vec<f32>,
    pub(crate) objects: Option<BatchObjects>,
    pub(crate) masks: Option<Plane>,
    /// The masks of the objects, where a device has them.
    pub(crate) object_masks: Option<DeviceMasks>,
    /// Second images and depth maps, by the names of their fields.
    pub(crate) pictures: Vec<(Arc<str>, Plane)>,
    /// Of each row.
    pub(crate) placements: Vec<Option<Placement>>,
    /// Where batches are padded.
    pub(crate) padding: Option<Padding>,
}

/// What the loader says of its batches.
pub(super) struct Form<'a> {
    pub(super) labels: &'a LabelRules,
    pub(super) fields: &'a [Field],
    /// What is shown beside each view.
    pub(super) companions: &'a [Companion],
    /// Where each output begins in a batch's memory.
    pub(super) starts: &'a [usize],
}

impl Batch {
    /// Closes the gaps that bad samples left, and returns what was bad. `outputs` are those of the views, and behind them
    /// those of what is shown beside them.
    pub(super) fn new(
        finished: FinishedBatch<Box<dyn BatchMemory>>,
        form: &Form<'_>,
        (number, outputs): (usize, &[Output]),
    ) -> (Self, BatchErrors) {
        let FinishedBatch { mut memory, outcomes } = finished;
        let row_bytes: Vec<usize> = outputs.iter().map(Output::sample_bytes).collect();
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
                for (&start, &bytes) in form.starts.iter().zip(&row_bytes) {
                    let [from, to] = [row, samples.len()].map(|row| start + row * bytes);
                    memory.buffer_mut().move_row(from..from + bytes, to);
                }
            }
            samples.push(sample);
        }
        let views = outputs.len() / (1 + form.companions.len());
        let views = (0..views.max(1)).map(|number| form.view(number, (outputs, views), &samples)).collect();
        let fields = form.fields.iter().filter(|field| !field.kind().is_picture());
        let fields = fields.map(|field| BatchField::new(field, samples.len())).collect();
        let mut arrays = Arrays { views, fields, ..Arrays::default() };
        if memory.buffer().masks_on_device(0..0).is_some() {
            object_masks::leave_to_device(&mut arrays.views, &samples);
        }
        samples.into_iter().for_each(|sample| arrays.push(sample));
        let dtype = outputs.first().map_or(DType::U8, |output| output.dtype);
        (Self { memory: Some(memory), process: Process::this(), number, dtype, arrays }, errors)
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

    /// Number of views of each sample; 1 where the loader was given none.
    pub fn view_count(&self) -> usize {
        self.arrays.views.len()
    }

    /// View `number` of all samples, in the order in which the loader was given the views, each as often as its count
    /// says; `None` beyond the last.
    pub fn view(&self, number: usize) -> Option<BatchView<'_>> {
        Some(BatchView { batch: self, arrays: self.arrays.views.get(number)? })
    }

    /// All views.
    pub fn views(&self) -> impl ExactSizeIterator<Item = BatchView<'_>> {
        self.arrays.views.iter().map(|arrays| BatchView { batch: self, arrays })
    }

    pub(crate) fn first(&self) -> BatchView<'_> {
        BatchView { batch: self, arrays: &self.arrays.views[0] }
    }

    /// `[rows, 3, height, width]` or `[rows, height, width, 3]`; height and width are this batch's own, and 0 where nothing
    /// is rendered.
    pub fn shape(&self) -> [usize; 4] {
        self.first().shape()
    }

    /// The number format of [`Batch::images`].
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The pixels of all rows, without gaps, from an address that is a multiple of 256; empty where they lie in a
    /// device's memory.
    pub fn images(&self) -> &[u8] {
        self.first().images()
    }

    /// The pixels in the device's memory; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'_>> {
        self.first().on_device()
    }

    fn buffer(&self) -> Option<&dyn ReadyBuffer> {
        self.memory.as_ref().map(|memory| memory.buffer())
    }

    /// Waits until the pixels are finished, those of all views; they always are where they lie in the host's memory.
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
        self.first().to_host()
    }

    /// The values, if the batch is [`DType::F32`] and lies in the host's memory.
    pub fn as_f32(&self) -> Option<&[f32]> {
        self.first().as_f32()
    }

    /// The values, if the batch is [`DType::F16`] and lies in the host's memory.
    pub fn as_f16(&self) -> Option<&[f16]> {
        self.first().as_f16()
    }

    /// The values, if the batch is [`DType::Bf16`] and lies in the host's memory.
    pub fn as_bf16(&self) -> Option<&[bf16]> {
        self.first().as_bf16()
    }

    /// The values, if the batch is [`DType::U8`] and lies in the host's memory.
    pub fn as_u8(&self) -> Option<&[u8]> {
        self.first().as_u8()
    }

    /// The class of each row's own image, -1 where there is none or several.
    pub fn labels(&self) -> &[i64] {
        &self.arrays.labels
    }

    /// The classes that row `row` is made of and their weights. Where images have one class each, the weights sum to 1, and there
    /// is one entry where nothing was mixed; each class of an image that has several has the whole weight of that image. -1 stands
    /// for an image without a label.
    pub fn label_shares(&self, row: usize) -> &[(i64, f32)] {
        self.first().label_shares(row)
    }

    /// The classes as one row of `classes` numbers for each sample, by their shares: soft labels for a cross entropy.
    ///
    /// `smoothing`, in 0..=1, is taken from the shares and spread evenly over all classes, as torch's `label_smoothing`
    /// does; 0 leaves one-hot rows, or those of a mix. A sample without a label has a row of zeros. One with several classes has
    /// their sum, which is multi-hot: `share * (1 - smoothing) + smoothing / classes`, as timm smooths for a binary cross
    /// entropy, and one that is labelled with none of the classes has `smoothing / classes` everywhere.
    ///
    /// # Errors
    /// [`Error::Config`] where a class is not below `classes`, or `smoothing` no part of 1.
    pub fn one_hot(&self, classes: usize, smoothing: f32) -> Result<Vec<f32>> {
        self.first().one_hot(classes, smoothing)
    }

    /// What is seen in the rows, and where; `None` where neither the source's labels are objects nor boxes were asked
    /// for. It lies in the host's memory whatever the device, but for masks: see [`Batch::object_mask_pixels`].
    pub fn objects(&self) -> Option<&BatchObjects> {
        self.first().objects()
    }

    /// The semantic masks of all rows, `[rows, height, width]` classes without gaps, where the loader was asked for them and
    /// its batches lie in the host's memory; else see [`Batch::mask_pixels`].
    pub fn masks(&self) -> Option<&[u8]> {
        self.first().masks()
    }

    /// The same wherever they lie: in the memory of the images.
    pub fn mask_pixels(&self) -> Option<BatchPixels<'_>> {
        self.first().mask_pixels()
    }

    /// The masks of the objects, where the loader was asked for them: wherever they lie, in the memory of the images.
    pub fn object_mask_pixels(&self) -> Option<ObjectMaskPixels<'_>> {
        self.first().object_mask_pixels()
    }

    /// The second images or depth maps of the field of this name; `None` where the source has no such field.
    ///
    /// Second images are like the batch's own: in its number format and order of axes, normalised alike, and moved, resampled
    /// and mixed with them. Depth maps are `[rows, height, width]`, [`DType::F32`]: the levels as they are stored.
    pub fn picture(&self, name: &str) -> Option<BatchPixels<'_>> {
        self.first().picture(name)
    }

    /// The names of the fields that [`Batch::picture`] has.
    pub fn picture_names(&self) -> impl Iterator<Item = &str> {
        self.arrays.views[0].pictures.iter().map(|(name, _)| &**name)
    }

    /// Which pixels of the rows are padding, `[rows, height, width]` without gaps, where a batch is as large as its largest
    /// sample (the option `pad_to_largest`). They are 0 in [`Batch::images`]. It lies in the host's memory whatever the device.
    pub fn padding(&self) -> Option<&[bool]> {
        self.first().padding()
    }

    /// Height and width of each row's sample without its padding, where samples are padded.
    pub fn sizes(&self) -> Option<&[[i64; 2]]> {
        self.first().sizes()
    }

    /// The values beside the images, such as captions: a column for each of the source's
    /// [fields](crate::source::Source::fields), in its order. Each row has those of its own sample, whose index
    /// [`Batch::indices`] has: what was mixed into it brings none, and a substitute brings its own. They lie in the host's
    /// memory whatever the device.
    pub fn fields(&self) -> &[BatchField] {
        &self.arrays.fields
    }

    /// The field of this name; `None` where the source has none of it.
    pub fn field(&self, name: &str) -> Option<&BatchField> {
        self.fields().iter().find(|field| field.name() == name)
    }

    /// The index of each row's sample in the source.
    pub fn indices(&self) -> &[u64] {
        &self.arrays.indices
    }

    /// The name of each row's sample.
    pub fn keys(&self) -> &[String] {
        &self.arrays.keys
    }

    /// Height and width of each row's image as a viewer shows it, before anything was done to it. In what is mixed it is the
    /// row's own image.
    pub fn original_sizes(&self) -> &[[i64; 2]] {
        &self.arrays.original_sizes
    }

    /// Where each row shows its image, which leads from pixels of the sample back to those of the image; `None` for a row that
    /// shows several images, or shows its image mirrored, turned, sheared or distorted.
    pub fn placements(&self) -> &[Option<Placement>] {
        self.first().placements()
    }

    /// How each row came to be there.
    pub fn status(&self) -> &[Status] {
        &self.arrays.status
    }

    /// Moves everything out of it but the pixels, which keep their shape.
    #[cfg(feature = "tch")]
    pub(crate) fn take_arrays(&mut self) -> Arrays {
        let pixels = |view: &ViewArrays| ViewArrays {
            images: view.images,
            size: view.size,
            masks: view.masks,
            object_masks: view.object_masks.clone(),
            pictures: view.pictures.clone(),
            ..ViewArrays::default()
        };
        let views = self.arrays.views.iter().map(pixels).collect();
        std::mem::replace(&mut self.arrays, Arrays { views, ..Arrays::default() })
    }
}

impl Form<'_> {
    /// The view `number` of these samples, with no row's data yet; `views` is how many there are.
    fn view(&self, number: usize, (outputs, views): (&[Output], usize), samples: &[Sample]) -> ViewArrays {
        let Self { labels, companions, starts, .. } = self;
        let plane = |at: usize| {
            let place = starts.get(at).zip(outputs.get(at));
            place.map(|(&start, output)| Plane::new(start, output, samples.len()))
        };
        let beside = companions.iter().enumerate();
        let beside =
            beside.filter_map(|(at, companion)| Some((companion, plane((1 + at) * views + number)?)));
        let (mut masks, mut pictures) = (None, Vec::new());
        for (Companion { name, .. }, plane) in beside {
            match name {
                Some(name) => pictures.push((Arc::clone(name), plane)),
                None => masks = Some(plane),
            }
        }
        let output = outputs.get(number);
        let seen = |sample: &Sample| sample.views.get(number).is_some_and(|view| view.objects.is_some());
        let size = output.map_or(Size::default(), |output| output.size);
        let has_objects = labels.expected || samples.iter().any(seen);
        ViewArrays {
            images: plane(number).unwrap_or_else(|| Plane::none(samples.len())),
            size,
            shares: Vec::with_capacity(samples.len()),
            labelled: Vec::with_capacity(samples.len()),
            objects: has_objects.then(|| BatchObjects::new(labels, size)),
            masks,
            object_masks: None,
            pictures,
            placements: Vec::with_capacity(samples.len()),
            padding: (labels.pads && output.is_some()).then(Padding::default),
        }
    }
}

impl Arrays {
    fn push(&mut self, sample: Sample) {
        let row = self.labels.len();
        let mut of_sample = sample.views.into_iter();
        for view in &mut self.views {
            view.push(row, of_sample.next().unwrap_or_default());
        }
        self.fields.iter_mut().zip(sample.values).for_each(|(field, value)| field.push(value));
        self.labels.push(sample.class);
        self.indices.push(sample.index);
        self.keys.push(sample.key);
        self.original_sizes.push(sample.original_size);
        self.status.push(sample.status);
    }
}

impl ViewArrays {
    fn push(&mut self, row: usize, sample: SampleView) {
        if let Some(padding) = &mut self.padding {
            padding.push(sample.unpadded.unwrap_or(self.size), self.size);
        }
        if let Some(objects) = &mut self.objects {
            objects.add(row, sample.objects);
        }
        self.shares.push(sample.shares);
        self.labelled.push(sample.labelled);
        self.placements.push(sample.placement);
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
        let labels = LabelRules::default();
        Self::new(finished, &Form { labels: &labels, fields: &[], companions: &[], starts: &[] }, (0, &[])).0
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
        let Self { number, dtype, arrays: Arrays { labels, indices, .. }, .. } = self;
        let shapes: Vec<_> = self.views().map(|view| view.shape()).collect();
        write!(f, "Batch {{ number: {number}, shapes: {shapes:?}, dtype: {dtype:?}, ")?;
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
