//! The masks of a sample's objects as runs of pixels: a device that makes planes of them has no edges to compute.

use crate::geometry::Size;
use crate::label::InstanceMasks;

/// Pixels side by side of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ObjectRun {
    /// The first pixel, counted through all planes of the sample.
    pub(crate) start: u32,
    /// Number of pixels.
    pub(crate) len: u32,
    /// What they become.
    pub(crate) value: u32,
}

/// The masks of the objects of one view of a sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ObjectRuns {
    pub(crate) kind: InstanceMasks,
    /// Of each plane.
    pub(crate) size: Size,
    /// Number of planes: one for each object, or one for all.
    pub(crate) planes: usize,
    /// What is not 0. No two hold the same pixel.
    pub(crate) runs: Vec<ObjectRun>,
}

#[cfg(feature = "cuda")]
impl ObjectRuns {
    /// Bytes of all planes.
    pub(crate) fn bytes(&self) -> usize {
        self.planes * self.size.pixels() as usize * self.kind.pixel_bytes()
    }
}
