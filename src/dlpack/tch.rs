//! Batches as tensors of the crate `tch`, which share the batch's memory (feature `tch`).
//!
//! [`Batch::into_tch`] consumes a batch. Its pixels become a tensor that shares and owns the loader's memory, on the
//! CPU or a GPU: the memory returns to the loader when the last tensor that refers to it is dropped, including shallow
//! clones, views and tensors that autograd keeps. Batch, epoch and loader may be gone by then. The other arrays move
//! into separate tensors, also without a copy, and keep no pixels alive.
//!
//! ```no_run
//! # use feedline::{loader::Loader, source::Folder};
//! # fn train(_: &tch::Tensor, _: &tch::Tensor) {}
//! # let loader = Loader::builder(Folder::open("train")?).build()?;
//! for batch in loader.epoch(0) {
//!     let batch = batch?.into_tch()?;
//!     let labels = batch.labels.to_device(batch.images.device());
//!     train(&batch.images, &labels);
//! }
//! # Ok::<(), feedline::error::Error>(())
//! ```
//!
//! torch writes into any tensor that it is given (`images.g_add_(...)`), and tch treats that as safe. So a batch that
//! becomes tensors is consumed: no slice of its memory can be alive at the same time. For a shared `Arc<Batch>`, and
//! with a promise not to write, there is [`Tensor::into_tch`].
//!
//! On a CUDA device the batch is handed to the default stream, which tch uses: the work that torch enqueues there from
//! now on waits for the pixels, and the next use of their memory waits for the work that is enqueued there when the
//! last tensor is dropped. The host waits for neither. For work on other streams there are [`Tensor::use_on`] and
//! [`Tensor::into_tch`].

#![expect(unsafe_code, reason = "torch takes a tensor of DLPack's C ABI, and gives a pointer to its own")]

use super::abi::{DLDataType, DLManagedTensor};
use super::field::{COUNT, Field, array};
use super::{Tensor, managed};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::label::{BoxFormat, Unit};
use crate::loader::{Batch, BatchField, BatchObjects, MaskPlanes, ObjectMasks, Status, ViewArrays, one_hot};
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// Maximum bytes of torch's message when it refuses a tensor.
const MESSAGE_BYTES: usize = 1024;

/// A batch as tensors, with n rows. All but the pixels and masks are in the host's memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct TchBatch {
    /// The pixels in the loader's memory, in [`Batch::shape`] and [`Batch::dtype`]: `[n, 3, height, width]` or
    /// `[n, height, width, 3]`; Float, Half, BFloat16 or Uint8.
    pub images: tch::Tensor,
    /// [`Batch::labels`]: `[n]`, Int64, -1 if there is no class.
    pub labels: tch::Tensor,
    /// [`Batch::mask_pixels`]: `[n, height, width]`, Uint8, where the images are.
    pub masks: Option<tch::Tensor>,
    /// [`Batch::picture`], by name: second images as `images` are, depth maps `[n, height, width]`, Float.
    pub pictures: Vec<(String, tch::Tensor)>,
    /// [`Batch::padding`]: `[n, height, width]`, Bool.
    pub padding: Option<tch::Tensor>,
    /// [`Batch::sizes`]: `[n, 2]`, Int64.
    pub sizes: Option<tch::Tensor>,
    /// [`Batch::objects`].
    pub objects: Option<TchObjects>,
    /// [`Batch::indices`].
    pub indices: Vec<u64>,
    /// [`Batch::keys`].
    pub keys: Vec<String>,
    /// [`Batch::status`].
    pub status: Vec<Status>,
    /// [`Batch::fields`].
    pub fields: Vec<BatchField>,
    /// [`Batch::number`].
    pub number: usize,
    /// [`Batch::label_shares`] of each row.
    pub shares: Vec<Vec<(i64, f32)>>,
    /// The share of each row's images that have a label.
    pub labelled: Vec<f32>,
    /// The views after the first, whose fields are those above.
    pub more_views: Vec<TchView>,
}

/// A [`crate::loader::BatchView`] as tensors: the fields of [`TchBatch`] of the same names.
#[derive(Debug)]
#[non_exhaustive]
pub struct TchView {
    /// The pixels in the loader's memory.
    pub images: tch::Tensor,
    /// Semantic masks.
    pub masks: Option<tch::Tensor>,
    /// Second images and depth maps.
    pub pictures: Vec<(String, tch::Tensor)>,
    /// Which pixels are padding.
    pub padding: Option<tch::Tensor>,
    /// Height and width of each sample without its padding.
    pub sizes: Option<tch::Tensor>,
    /// What is seen, and where.
    pub objects: Option<TchObjects>,
    /// The classes of each row and their weights.
    pub shares: Vec<Vec<(i64, f32)>>,
    /// The share of each row's images that have a label.
    pub labelled: Vec<f32>,
}

impl TchView {
    /// View `number` of a batch that was taken by value, with what was moved out of it.
    fn new(batch: &Arc<Batch>, number: usize, arrays: ViewArrays, size: Size) -> Result<Self> {
        let rows = arrays.images.shape()[0];
        let mask_shape = [rows, size.height as usize, size.width as usize];
        let (padding, sizes) = arrays.padding.map(|padding| (padding.pixels, padding.sizes)).unzip();
        let pixels = batch.view_to_dlpack(number, Field::Images).unwrap_or_else(|| batch.to_dlpack());
        let masks = batch.view_to_dlpack(number, Field::Masks);
        // Those in the host's memory have been moved out.
        let object_masks = batch.view_to_dlpack(number, Field::InstanceMasks);
        let picture = |(name, _): &(Arc<str>, _)| {
            let pixels = batch.picture_to_dlpack(number, name)?;
            // SAFETY: as below.
            Some(unsafe { pixels.into_tch() }.map(|pixels| (name.to_string(), pixels)))
        };
        let pictures = arrays.pictures.iter().filter_map(picture).collect::<Result<_>>()?;
        Ok(Self {
            // SAFETY: the batch was taken by value and is only in the tensors of its views, each of which has pixels of its own, so
            // nothing else can read or write.
            images: unsafe { pixels.into_tch() }?,
            // SAFETY: as above.
            masks: masks.map(|masks| unsafe { masks.into_tch() }).transpose()?,
            pictures,
            padding: padding.map(|pixels| adopt(pixels, &mask_shape, DLDataType::BOOL)).transpose()?,
            sizes: sizes.map(|sizes| adopt(sizes, &[rows, 2], DLDataType::I64)).transpose()?,
            objects: arrays
                .objects
                .map(|objects| TchObjects::new(objects, rows, object_masks))
                .transpose()?,
            shares: arrays.shares,
            labelled: arrays.labelled,
        })
    }
}

/// The [`BatchObjects`] of a batch as tensors, with m objects.
#[derive(Debug)]
#[non_exhaustive]
pub struct TchObjects {
    /// The meaning of the numbers of a box.
    pub format: BoxFormat,
    /// The unit of coordinates.
    pub unit: Unit,
    /// `[m]`, Int64: the row that each object is in.
    pub batch_index: tch::Tensor,
    /// `[m]`, Int64.
    pub classes: tch::Tensor,
    /// `[m, 4]`, Float; `[m, 5]` or `[m, 8]` in a format of rotated boxes.
    pub boxes: tch::Tensor,
    /// `[m]`, Float: the weight of each object.
    pub shares: tch::Tensor,
    /// `[m]`, Bool.
    pub crowd: tch::Tensor,
    /// `[m + 1]`, Int64.
    pub polygon_offsets: tch::Tensor,
    /// `[polygons + 1]`, Int64.
    pub point_offsets: tch::Tensor,
    /// `[points, 2]`, Float.
    pub points: tch::Tensor,
    /// `[m + 1]`, Int64.
    pub keypoint_offsets: tch::Tensor,
    /// `[keypoints, 3]`, Float.
    pub keypoints: tch::Tensor,
    /// [`Batch::object_mask_pixels`]: `[m, height, width]`, Uint8, for each object, or `[n, height, width]`, Int, for each row;
    /// where the images are.
    pub masks: Option<tch::Tensor>,
}

impl Batch {
    /// The batch as torch's tensors, without a copy; see [the module](self).
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the pixels are on a CUDA device and the linked torch has none, or if the device has
    /// failed.
    pub fn into_tch(mut self) -> Result<TchBatch> {
        let (number, [rows, ..]) = (self.number(), self.shape());
        let sizes: Vec<Size> = self.views().map(|view| view.sample_size()).collect();
        let arrays = self.take_arrays();
        let batch = Arc::new(self);
        let pixels = batch.to_dlpack();
        let device = pixels.device();
        if device != Device::Cpu && !tch::Cuda::is_available() {
            return Err(Error::Unavailable {
                what: format!("a tensor of torch on {device:?}"),
                why: "the torch that this program is linked with sees no CUDA device".into(),
                remedy: "link libtorch_cuda, as docs/rust-trainer.md says, or take Device::cpu()".into(),
            });
        }
        // SAFETY: the default stream always exists, and is not a per-thread one.
        unsafe { pixels.use_on(std::ptr::null_mut()) }?;
        drop(pixels);
        let of_views = arrays.views.into_iter().zip(sizes).enumerate();
        let mut views = of_views
            .map(|(view, (arrays, size))| TchView::new(&batch, view, arrays, size))
            .collect::<Result<Vec<_>>>()?;
        let TchView { images, masks, pictures, padding, sizes, objects, shares, labelled } = views.remove(0);
        Ok(TchBatch {
            images,
            labels: adopt(arrays.labels, &[rows], DLDataType::I64)?,
            masks,
            pictures,
            padding,
            sizes,
            objects,
            indices: arrays.indices,
            keys: arrays.keys,
            status: arrays.status,
            fields: arrays.fields,
            number,
            shares,
            labelled,
            more_views: views,
        })
    }

    /// Only the pixels: [`TchBatch::images`].
    ///
    /// # Errors
    /// As [`Batch::into_tch`].
    pub fn images_tch(self) -> Result<tch::Tensor> {
        self.into_tch().map(|batch| batch.images)
    }
}

impl TchBatch {
    /// [`Batch::one_hot`] as a tensor of its own: `[n, classes]`, Float.
    ///
    /// # Errors
    /// As [`Batch::one_hot`].
    pub fn one_hot(&self, classes: usize, smoothing: f32) -> Result<tch::Tensor> {
        let dense = one_hot(&self.shares, &self.labelled, classes, smoothing)?;
        adopt(dense, &[self.shares.len(), classes], DLDataType::F32)
    }
}

impl TchObjects {
    /// Of a batch of `rows`; `on_device` are its masks where a device has made them.
    fn new(objects: BatchObjects, rows: usize, on_device: Option<Tensor>) -> Result<Self> {
        let (m, numbers) = (objects.len(), objects.format.numbers());
        let [polygons, points, keypoints] =
            [objects.point_offsets.len(), objects.points.len(), objects.keypoints.len()];
        Ok(Self {
            format: objects.format,
            unit: objects.unit,
            batch_index: adopt(objects.batch_index, &[m], DLDataType::I64)?,
            classes: adopt(objects.classes, &[m], DLDataType::I64)?,
            boxes: match objects.format.is_rotated() {
                true => adopt(objects.rotated, &[m, numbers], DLDataType::F32)?,
                false => adopt(objects.boxes, &[m, numbers], DLDataType::F32)?,
            },
            masks: match (on_device, objects.masks) {
                // SAFETY: as the pixels of their view: nothing else can read or write them.
                (Some(masks), _) => Some(unsafe { masks.into_tch() }?),
                (None, Some(masks)) => Some(adopt_masks(masks, m, rows)?),
                (None, None) => None,
            },
            shares: adopt(objects.shares, &[m], DLDataType::F32)?,
            crowd: adopt(objects.crowd, &[m], DLDataType::BOOL)?,
            polygon_offsets: adopt(objects.polygon_offsets, &[m + 1], COUNT)?,
            point_offsets: adopt(objects.point_offsets, &[polygons], COUNT)?,
            points: adopt(objects.points, &[points, 2], DLDataType::F32)?,
            keypoint_offsets: adopt(objects.keypoint_offsets, &[m + 1], COUNT)?,
            keypoints: adopt(objects.keypoints, &[keypoints, 3], DLDataType::F32)?,
        })
    }
}

impl Tensor {
    /// The tensor as a torch tensor, which keeps the batch alive as this one did.
    ///
    /// On a device, call [`Tensor::use_on`] or [`Tensor::wait`] first, to choose which side waits for the pixels.
    ///
    /// # Safety
    /// torch has no read-only tensors. While it writes to the tensor, or to one that shares its memory, nothing else
    /// reads or writes the pixels, and no slice of them is alive; fields other than the pixels are never written.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if torch refuses it, as a torch without CUDA does with a device's memory.
    pub unsafe fn into_tch(self) -> Result<tch::Tensor> {
        // SAFETY: just made, so it is nobody else's; and nothing else reads or writes its elements while torch writes them.
        unsafe { adopted(self.into_raw_unversioned()) }
    }
}

/// The masks of `objects` in a batch of `rows`.
fn adopt_masks(masks: ObjectMasks, objects: usize, rows: usize) -> Result<tch::Tensor> {
    let [height, width] = [masks.size.height, masks.size.width].map(|edge| edge as usize);
    match masks.planes {
        MaskPlanes::PerObject(planes) => adopt(planes, &[objects, height, width], DLDataType::U8),
        MaskPlanes::Overlap(planes) => adopt(planes, &[rows, height, width], DLDataType::I32),
    }
}

/// A vector that holds a complete array, as a tensor that owns it.
fn adopt<T: Send + 'static>(mut values: Vec<T>, shape: &[usize], dtype: DLDataType) -> Result<tch::Tensor> {
    assert_eq!(size_of_val(&values[..]), shape.iter().product::<usize>() * dtype.bytes());
    let view = array(values.as_mut_ptr().cast(), shape, dtype);
    // SAFETY: just made of a vector that moves into it, so it is not shared.
    unsafe { adopted(managed::unversioned(view, values)) }
}

/// # Safety
/// `tensor` belongs to the caller, and its elements may be read and written until it is deleted.
unsafe fn adopted(tensor: *mut DLManagedTensor) -> Result<tch::Tensor> {
    let mut why = [0u8; MESSAGE_BYTES];
    // SAFETY: the tensor is given away, and `why` has the stated size.
    let made = unsafe { feedline_tch_adopt(tensor, why.as_mut_ptr().cast(), why.len()) };
    if made.is_null() {
        let why = CStr::from_bytes_until_nul(&why).map(CStr::to_string_lossy).unwrap_or_default();
        return Err(Error::Unavailable {
            what: "a tensor of torch".into(),
            why: format!("it says: {}", why.trim_end()),
            remedy: "link a torch that knows the batch's device, or take Device::cpu()".into(),
        });
    }
    // SAFETY: a new tensor, which tch deletes from now on.
    Ok(unsafe { tch::Tensor::from_ptr(made) })
}

unsafe extern "C" {
    // SAFETY: as src/dlpack/tch.cpp declares it; torch-sys's tensor is a pointer to an at::Tensor.
    fn feedline_tch_adopt(
        managed: *mut DLManagedTensor,
        why: *mut c_char,
        room: usize,
    ) -> *mut torch_sys::C_tensor;
}
