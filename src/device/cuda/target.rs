//! Where decoded pixels go.

use super::driver::DevicePtr;
use crate::geometry::Rect;

/// Where pixels go: interleaved RGB.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The first byte of the region's first row.
    pub(crate) ptr: DevicePtr,
    /// Bytes from one row to the next.
    pub(crate) pitch: usize,
    /// Which part of the stored image is written.
    pub(crate) region: Rect,
}

impl Target {
    /// From the first row to the end of the last.
    pub(crate) fn bytes(&self) -> usize {
        self.pitch * self.region.height as usize
    }
}
