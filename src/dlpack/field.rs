//! The fields of a batch, and the memory of each.

use super::abi::{self, DLDataType, DLDevice};
use crate::device::{Device, DeviceImages};
use crate::label::InstanceMasks;
use crate::loader::{Batch, BatchObjects, BatchPixels, BatchView, MaskPlanes, ObjectMaskPixels};
use crate::output::DType;
use std::ffi::c_void;

/// A part of a batch that is an array of numbers. With n rows and m objects:
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Field {
    /// [`Batch::images`] or [`Batch::on_device`], in [`Batch::shape`] and [`Batch::dtype`].
    Images,
    /// [`Batch::labels`], `[n]`, i64.
    Labels,
    /// [`Batch::indices`], `[n]`, as i64.
    Indices,
    /// [`Batch::mask_pixels`], `[n, height, width]`, u8.
    Masks,
    /// [`BatchObjects::batch_index`], `[m]`, i64.
    BatchIndex,
    /// [`BatchObjects::classes`], `[m]`, i64.
    Classes,
    /// [`BatchObjects::boxes`], `[m, 4]`, f32; in a format of rotated boxes [`BatchObjects::rotated`], `[m, 5]` or `[m, 8]`.
    Boxes,
    /// [`BatchObjects::shares`], `[m]`, f32.
    Shares,
    /// [`BatchObjects::crowd`], `[m]`, bool.
    Crowd,
    /// [`BatchObjects::polygon_offsets`], `[m + 1]`, as i64.
    PolygonOffsets,
    /// [`BatchObjects::point_offsets`], `[polygons + 1]`, as i64.
    PointOffsets,
    /// [`BatchObjects::points`], `[points, 2]`, f32.
    Points,
    /// [`BatchObjects::keypoint_offsets`], `[m + 1]`, as i64.
    KeypointOffsets,
    /// [`BatchObjects::keypoints`], `[keypoints, 3]`, f32.
    Keypoints,
    /// [`Batch::object_mask_pixels`]: `[m, height, width]`, u8, for each object, or `[n, height, width]`, i32, for each row.
    InstanceMasks,
    /// [`Batch::padding`], `[n, height, width]`, bool.
    Padding,
    /// [`Batch::sizes`], `[n, 2]`, i64.
    Sizes,
    /// [`Batch::picture`] of the name of this number among [`Batch::picture_names`], in its shape and number format.
    Picture(u8),
}

/// The location of a field's elements.
pub(super) struct View {
    /// In the memory of `device`, as long as the batch is alive; null if there is no element.
    pub(super) data: *mut c_void,
    pub(super) shape: Vec<i64>,
    pub(super) dtype: DLDataType,
    pub(super) device: Device,
    pub(super) is_pixels: bool,
}

impl View {
    /// The device of the elements, as a DLPack device.
    pub(super) fn dl_device(&self) -> DLDevice {
        match self.device {
            Device::Cpu => DLDevice { device_type: abi::CPU, device_id: 0 },
            Device::Cuda { ordinal } => DLDevice { device_type: abi::CUDA, device_id: ordinal as i32 },
        }
    }
}

/// Indices and offsets count objects in memory, so they never reach the sign bit of an i64.
pub(super) const COUNT: DLDataType = DLDataType { code: 0, bits: usize::BITS as u8, lanes: 1 };

/// The field of a view of the batch; fields that are not of a view are there for all of them.
pub(super) fn view(batch: &Batch, of: BatchView<'_>, field: Field) -> Option<View> {
    let [rows, ..] = of.shape();
    let view = match field {
        Field::Images => images(of),
        Field::Labels => host(batch.labels(), &[rows], DLDataType::I64),
        Field::Indices => host(batch.indices(), &[rows], DLDataType::I64),
        Field::Masks => pixels(of.mask_pixels()?),
        Field::Picture(number) => pixels(of.picture(batch.picture_names().nth(usize::from(number))?)?),
        Field::Padding => {
            let size = of.sample_size();
            host(of.padding()?, &[rows, size.height as usize, size.width as usize], DLDataType::BOOL)
        }
        Field::InstanceMasks => object_masks(of.object_mask_pixels()?),
        Field::Sizes => host(of.sizes()?, &[rows, 2], DLDataType::I64),
        _ => of_objects(of.objects()?, field)?,
    };
    Some(view)
}

fn of_objects(objects: &BatchObjects, field: Field) -> Option<View> {
    let m = objects.len();
    let view = match field {
        Field::BatchIndex => host(&objects.batch_index, &[m], DLDataType::I64),
        Field::Classes => host(&objects.classes, &[m], DLDataType::I64),
        Field::Boxes if objects.format.is_rotated() => {
            host(&objects.rotated, &[m, objects.format.numbers()], DLDataType::F32)
        }
        Field::Boxes => host(&objects.boxes, &[m, 4], DLDataType::F32),
        Field::Shares => host(&objects.shares, &[m], DLDataType::F32),
        Field::Crowd => host(&objects.crowd, &[m], DLDataType::BOOL),
        Field::PolygonOffsets => host(&objects.polygon_offsets, &[m + 1], COUNT),
        Field::PointOffsets => host(&objects.point_offsets, &[objects.point_offsets.len()], COUNT),
        Field::Points => host(&objects.points, &[objects.points.len(), 2], DLDataType::F32),
        Field::KeypointOffsets => host(&objects.keypoint_offsets, &[m + 1], COUNT),
        Field::Keypoints => host(&objects.keypoints, &[objects.keypoints.len(), 3], DLDataType::F32),
        _ => return None,
    };
    Some(view)
}

pub(super) fn images(of: BatchView<'_>) -> View {
    pixels(of.pixels())
}

fn pixels(of: BatchPixels<'_>) -> View {
    let dtype = match of.dtype() {
        DType::F32 => DLDataType::F32,
        DType::F16 => DLDataType::F16,
        DType::Bf16 => DLDataType::BF16,
        DType::U8 => DLDataType::U8,
    };
    match of.on_device() {
        Some(images) => on_device(&images, of.shape(), dtype),
        None => View { is_pixels: true, ..array(of.address(), of.shape(), dtype) },
    }
}

fn object_masks(of: ObjectMaskPixels<'_>) -> View {
    let (shape, dtype) = match of.kind() {
        InstanceMasks::PerObject => (of.shape(), DLDataType::U8),
        InstanceMasks::Overlap => (of.shape(), DLDataType::I32),
    };
    match (of.on_device(), of.planes()) {
        (Some(masks), _) => on_device(&masks, &shape, dtype),
        (None, Some(MaskPlanes::PerObject(planes))) => host(planes, &shape, dtype),
        (None, Some(MaskPlanes::Overlap(planes))) => host(planes, &shape, dtype),
        (None, None) => array(std::ptr::null_mut(), &[0; 3], dtype),
    }
}

/// What a device has rendered.
fn on_device(images: &DeviceImages<'_>, shape: &[usize], dtype: DLDataType) -> View {
    let data = std::ptr::with_exposed_provenance_mut(images.ptr() as usize);
    View { device: images.device(), is_pixels: true, ..array(data, shape, dtype) }
}

/// A slice that holds a complete array, and is part of the batch.
fn host<T>(values: &[T], shape: &[usize], dtype: DLDataType) -> View {
    assert_eq!(size_of_val(values), shape.iter().product::<usize>() * dtype.bytes());
    array(values.as_ptr().cast_mut().cast(), shape, dtype)
}

/// A contiguous row-major array in the host's memory.
pub(super) fn array(data: *mut c_void, shape: &[usize], dtype: DLDataType) -> View {
    let data = if shape.contains(&0) { std::ptr::null_mut() } else { data };
    let shape = shape.iter().map(|&length| length as i64).collect();
    View { data, shape, dtype, device: Device::Cpu, is_pixels: false }
}
