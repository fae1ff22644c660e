//! The masks of the objects of a batch wherever they lie: in the host's memory, or in a device's beside its pixels.

use super::instances::{MaskPlanes, ObjectMasks};
use super::{Batch, ViewArrays};
use crate::device::DeviceImages;
use crate::device::backend::view_starts;
use crate::error::Result;
use crate::geometry::Size;
use crate::label::InstanceMasks;
use crate::loader::queue::task::Sample;
use std::ops::Range;

/// Where a device has the masks of a view.
#[derive(Clone, Debug)]
pub(crate) struct DeviceMasks {
    kind: InstanceMasks,
    size: Size,
    planes: usize,
    /// Of the memory of the batch's masks.
    bytes: Range<usize>,
}

/// Leaves the masks of all views of these samples to the device that has made them.
pub(super) fn leave_to_device(views: &mut [ViewArrays], samples: &[Sample]) {
    for (number, view) in views.iter_mut().enumerate() {
        let objects = |sample: &Sample| Some(sample.views.get(number)?.objects.as_ref()?.list.len());
        let Some(ObjectMasks { size, planes }) =
            view.objects.as_mut().and_then(|objects| objects.masks.take())
        else {
            continue;
        };
        let (kind, planes) = match planes {
            MaskPlanes::PerObject(_) => (InstanceMasks::PerObject, samples.iter().filter_map(objects).sum()),
            MaskPlanes::Overlap(_) => (InstanceMasks::Overlap, samples.len()),
        };
        let bytes = 0..planes * size.pixels() as usize * kind.pixel_bytes();
        view.object_masks = Some(DeviceMasks { kind, size, planes, bytes });
    }
    let bytes = |view: &ViewArrays| view.object_masks.as_ref().map_or(0, |masks| masks.bytes.len());
    // They fit into the device's memory.
    let starts = view_starts(1, views.iter().map(bytes)).unwrap_or_default();
    for (view, start) in views.iter_mut().zip(starts) {
        if let Some(masks) = &mut view.object_masks {
            masks.bytes = start..start + masks.bytes.len();
        }
    }
}

/// The masks of the objects of one view of a [`Batch`], wherever they lie.
#[derive(Clone, Copy)]
pub struct ObjectMaskPixels<'a> {
    batch: &'a Batch,
    memory: MaskMemory<'a>,
}

#[derive(Clone, Copy)]
enum MaskMemory<'a> {
    Host { masks: &'a ObjectMasks, objects: usize, rows: usize },
    Device(&'a DeviceMasks),
}

impl<'a> ObjectMaskPixels<'a> {
    /// Those of a view; `None` where none were asked for.
    pub(super) fn of(batch: &'a Batch, view: &'a ViewArrays) -> Option<Self> {
        let on_device = view.object_masks.as_ref().map(MaskMemory::Device);
        let in_host = || {
            let (objects, rows) = (view.objects.as_ref()?, view.images.shape()[0]);
            Some(MaskMemory::Host { masks: objects.masks.as_ref()?, objects: objects.len(), rows })
        };
        Some(Self { batch, memory: on_device.or_else(in_host)? })
    }

    /// What a plane is.
    pub fn kind(&self) -> InstanceMasks {
        match self.memory {
            MaskMemory::Host { masks, .. } => match masks.planes {
                MaskPlanes::PerObject(_) => InstanceMasks::PerObject,
                MaskPlanes::Overlap(_) => InstanceMasks::Overlap,
            },
            MaskMemory::Device(masks) => masks.kind,
        }
    }

    /// `[planes, height, width]`: a plane of u8 for each object, or one of i32 for each row, as [`ObjectMaskPixels::kind`] says.
    pub fn shape(&self) -> [usize; 3] {
        let (planes, size) = match (self.memory, self.kind()) {
            (MaskMemory::Host { masks, objects, .. }, InstanceMasks::PerObject) => (objects, masks.size),
            (MaskMemory::Host { masks, rows, .. }, InstanceMasks::Overlap) => (rows, masks.size),
            (MaskMemory::Device(masks), _) => (masks.planes, masks.size),
        };
        [planes, size.height as usize, size.width as usize]
    }

    /// All planes, if they lie in the host's memory.
    pub fn planes(&self) -> Option<&'a MaskPlanes> {
        match self.memory {
            MaskMemory::Host { masks, .. } => Some(&masks.planes),
            MaskMemory::Device(_) => None,
        }
    }

    /// Their bytes in the device's memory, without gaps; `None` where they lie in the host's.
    pub fn on_device(&self) -> Option<DeviceImages<'a>> {
        match self.memory {
            MaskMemory::Host { .. } => None,
            MaskMemory::Device(masks) => self.batch.buffer()?.masks_on_device(masks.bytes.clone()),
        }
    }

    /// A copy in the host's memory, wherever they lie.
    ///
    /// # Errors
    /// [`crate::error::Error::Unavailable`] where the device has failed.
    pub fn to_host(&self) -> Result<MaskPlanes> {
        if let Some(planes) = self.planes() {
            return Ok(planes.clone());
        }
        let bytes = self.on_device().map_or_else(|| Ok(Vec::new()), |images| images.to_host())?;
        Ok(match self.kind() {
            InstanceMasks::PerObject => MaskPlanes::PerObject(bytes),
            InstanceMasks::Overlap => MaskPlanes::Overlap(bytemuck::pod_collect_to_vec(&bytes)),
        })
    }
}

impl std::fmt::Debug for ObjectMaskPixels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ObjectMaskPixels {{ kind: {:?}, shape: {:?} }}", self.kind(), self.shape())
    }
}
