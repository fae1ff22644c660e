//! The arrays of a batch: where they lie, and as DLPack tensors.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::batch::Batch;
use crate::border::{Failure, Status, guard, is_there, shared, write};
use feedline::device::DeviceImages;
use feedline::dlpack::abi::{DLDataType, DLManagedTensor, DLManagedTensorVersioned};
use feedline::dlpack::{self, Tensor as View};
use std::ffi::c_void;

/// The arrays of a batch of n rows and m objects.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The pixels, `[n, 3, height, width]` or `[n, height, width, 3]`.
    Images = 0,
    /// The class of each row's own image, -1 where there is none: `[n]`, i64.
    Labels = 1,
    /// The index of each row's sample in the data set: `[n]`, i64.
    Indices = 2,
    /// Semantic masks: `[n, height, width]`, u8, where the pixels are.
    Masks = 3,
    /// The row that each object is in: `[m]`, i64. This and what follows is there where the data set knows objects.
    BatchIndex = 4,
    /// Class indices: `[m]`, i64.
    Classes = 5,
    /// Boxes, in the format and unit of the options `labels.format` and `labels.unit`: `[m, 4]`, f32; `[m, 5]` for `xywhr`,
    /// `[m, 8]` for `xyxyxyxy`.
    Boxes = 6,
    /// What each object counts for: 1, or the share of its image where images were mixed: `[m]`, f32.
    Shares = 7,
    /// Whether it stands for a crowd: `[m]`, bool.
    Crowd = 8,
    /// Object i has the polygons `offsets[i]..offsets[i + 1]`: `[m + 1]`, i64.
    PolygonOffsets = 9,
    /// Polygon p has the points `offsets[p]..offsets[p + 1]`: `[polygons + 1]`, i64.
    PointOffsets = 10,
    /// x and y of the polygons' points: `[points, 2]`, f32.
    Points = 11,
    /// Object i has the keypoints `offsets[i]..offsets[i + 1]`: `[m + 1]`, i64.
    KeypointOffsets = 12,
    /// x, y and visibility (0 not labelled or outside, 1 hidden, 2 visible): `[keypoints, 3]`, f32.
    Keypoints = 13,
    /// Masks of objects, where `instance_masks` asks for them: `[m, height, width]`, u8, with `per-object`; with `overlap`
    /// `[n, height, width]`, i32. They lie where the pixels are.
    InstanceMasks = 14,
    /// Which pixels are padding, with `pad_to_largest`: `[n, height, width]`, bool.
    Padding = 15,
    /// Height and width of each sample without its padding, with `pad_to_largest`: `[n, 2]`, i64.
    Sizes = 16,
    /// The first second image or depth map; feedline_batch_picture() says which number each has.
    FirstPicture = 100,
}

const FIELDS: [(Field, dlpack::Field); 17] = [
    (Field::Images, dlpack::Field::Images),
    (Field::Labels, dlpack::Field::Labels),
    (Field::Indices, dlpack::Field::Indices),
    (Field::Masks, dlpack::Field::Masks),
    (Field::BatchIndex, dlpack::Field::BatchIndex),
    (Field::Classes, dlpack::Field::Classes),
    (Field::Boxes, dlpack::Field::Boxes),
    (Field::Shares, dlpack::Field::Shares),
    (Field::Crowd, dlpack::Field::Crowd),
    (Field::PolygonOffsets, dlpack::Field::PolygonOffsets),
    (Field::PointOffsets, dlpack::Field::PointOffsets),
    (Field::Points, dlpack::Field::Points),
    (Field::KeypointOffsets, dlpack::Field::KeypointOffsets),
    (Field::Keypoints, dlpack::Field::Keypoints),
    (Field::InstanceMasks, dlpack::Field::InstanceMasks),
    (Field::Padding, dlpack::Field::Padding),
    (Field::Sizes, dlpack::Field::Sizes),
];

/// The type of an array's elements.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// 32-bit float.
    F32 = 0,
    /// IEEE half precision.
    F16 = 1,
    /// bfloat16.
    Bf16 = 2,
    /// Bytes.
    U8 = 3,
    /// 64-bit integers.
    I64 = 4,
    /// One byte, 0 or 1.
    Bool = 5,
    /// 32-bit integers: masks of objects that share a plane, and indices and offsets on 32-bit machines.
    I32 = 6,
}

/// Where the elements of an array lie, row-major without gaps.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    /// The first element; null where there is none. An address of the device where device_type is 2.
    pub data: *const c_void,
    /// Bytes of all elements.
    pub bytes: u64,
    /// Length of each axis; 0 behind the last.
    pub shape: [i64; 4],
    /// Number of axes.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: Dtype,
    /// 1: the host's memory; 2: a CUDA device's. These are DLPack's numbers.
    pub device_type: i32,
    /// The device's number.
    pub device_id: i32,
}

/// The field that has this number in C.
fn of_number(field: i32) -> Result<dlpack::Field, Failure> {
    let known = FIELDS.iter().find(|(known, _)| *known as i32 == field).map(|(_, field)| *field);
    let picture = || {
        let number = field.checked_sub(Field::FirstPicture as i32)?;
        Some(dlpack::Field::Picture(u8::try_from(number).ok()?))
    };
    known.or_else(picture).ok_or_else(|| {
        let (last, first) = (FIELDS.len() - 1, Field::FirstPicture as i32);
        Failure::invalid(format!(
            "there is no field {field}: use FEEDLINE_FIELD_IMAGES (0) to {last}, or for second images and depth maps what \
             feedline_batch_picture() says ({first} and up)"
        ))
    })
}

fn view(batch: &Batch, field: dlpack::Field) -> Option<View> {
    let view = batch.batch.view_to_dlpack(batch.view, field)?;
    // SAFETY: what C users are told; nobody on this side keeps a slice of the pixels from one call to the next.
    Some(unsafe { view.allow_writes() })
}

/// A field in a device's memory; nothing where it lies in the host's.
fn on_device(batch: &Batch, field: dlpack::Field) -> Option<DeviceImages<'_>> {
    let view = batch.batch.view(batch.view)?;
    match field {
        dlpack::Field::Images => view.on_device(),
        dlpack::Field::Masks => view.mask_pixels()?.on_device(),
        dlpack::Field::InstanceMasks => view.object_mask_pixels()?.on_device(),
        dlpack::Field::Picture(number) => {
            view.picture(batch.batch.picture_names().nth(usize::from(number))?)?.on_device()
        }
        _ => None,
    }
}

fn dtype(dtype: DLDataType) -> Dtype {
    match dtype {
        DLDataType::F32 => Dtype::F32,
        DLDataType::F16 => Dtype::F16,
        DLDataType::BF16 => Dtype::Bf16,
        DLDataType::U8 => Dtype::U8,
        DLDataType::I64 => Dtype::I64,
        DLDataType::BOOL => Dtype::Bool,
        _ => Dtype::I32,
    }
}

/// Where an array lies; FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it. `field` is a
/// FEEDLINE_FIELD_... What is found is valid as long as the batch's handle. On a device the pixels may not be finished:
/// see feedline_batch_wait() and feedline_batch_use_on().
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `tensor` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_tensor(
    batch: *const Batch,
    field: i32,
    tensor: *mut Tensor,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let Some(view) = view(batch, of_number(field)?) else { return Ok(Status::Absent) };
        let mut shape = [0; 4];
        shape.iter_mut().zip(view.shape()).for_each(|(to, from)| *to = *from);
        let device = view.dl_device();
        let seen = Tensor {
            data: view.data(),
            bytes: view.bytes() as u64,
            shape,
            ndim: view.shape().len() as i32,
            dtype: dtype(view.dtype()),
            device_type: device.device_type,
            device_id: device.device_id,
        };
        // SAFETY: the caller's promise.
        unsafe { write(tensor, seen, "tensor") }
    })
}

/// Copies the pixels to the host's memory, wherever they lie, waiting for them.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `bytes` bytes may be written at `buffer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_to_host(
    batch: *const Batch,
    buffer: *mut c_void,
    bytes: usize,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { feedline_batch_field_to_host(batch, Field::Images as i32, buffer, bytes) }
}

/// Copies an array to the host's memory, wherever it lies, waiting for it: of a view's handle that of the view. `bytes` are
/// those that feedline_batch_tensor() says. FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `bytes` bytes may be written at `buffer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_field_to_host(
    batch: *const Batch,
    field: i32,
    buffer: *mut c_void,
    bytes: usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let field = of_number(field)?;
        let Some(array) = view(batch, field) else { return Ok(Status::Absent) };
        if bytes != array.bytes() {
            let message =
                format!("the buffer has {bytes} bytes and the array {}: give one of its size", array.bytes());
            return Err(Failure::invalid(message));
        }
        if bytes > 0 {
            is_there(buffer, "buffer")?;
            let copy = on_device(batch, field).map(|there| there.to_host()).transpose()?;
            if copy.as_ref().is_some_and(|copy| copy.len() != bytes) {
                return Err(Failure::invalid(
                    "the array's copy is not as long; this is a bug, please report it",
                ));
            }
            let from = copy.as_ref().map_or(array.data().cast::<u8>(), |copy| copy.as_ptr());
            // SAFETY: the caller's promise; array and copy are as long, and nobody else knows the batch's memory but who was
            // told to read it only.
            unsafe { buffer.cast::<u8>().copy_from_nonoverlapping(from, bytes) };
        }
        Ok(Status::Ok)
    })
}

/// An array as a tensor of DLPack 1, which shares the batch's memory and keeps it: it may outlive the batch's handle, the
/// epoch and the loader, and its deleter may be called on any thread. Pixels may be written as well, while nobody else uses
/// them; all other arrays are marked as read-only.
/// FEEDLINE_STATUS_ABSENT, and nothing written, where the batch has none of it. On a device call feedline_batch_use_on()
/// or feedline_batch_wait() first.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `tensor` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_to_dlpack(
    batch: *const Batch,
    field: i32,
    tensor: *mut *mut DLManagedTensorVersioned,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { hand_over(batch, field, tensor, View::into_raw) }
}

/// The same as DLPack had it before version 1, which cannot say that an array may only be read.
///
/// # Safety
/// As feedline_batch_to_dlpack().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_to_dlpack_unversioned(
    batch: *const Batch,
    field: i32,
    tensor: *mut *mut DLManagedTensor,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { hand_over(batch, field, tensor, View::into_raw_unversioned) }
}

/// # Safety
/// `batch` is null, or from feedline_epoch_next() and not freed during the call; `tensor` is null, or may be written.
unsafe fn hand_over<T>(
    batch: *const Batch,
    field: i32,
    tensor: *mut *mut T,
    raw: fn(View) -> *mut T,
) -> Status {
    guard(|| {
        // SAFETY: it is null, or from feedline_epoch_next() and not freed during the call; nothing writes to a batch.
        let batch = unsafe { shared(batch, "batch")? };
        is_there(tensor, "tensor")?;
        let Some(view) = view(batch, of_number(field)?) else { return Ok(Status::Absent) };
        // SAFETY: it is not null, so it may be written.
        unsafe { write(tensor, raw(view), "tensor") }
    })
}
