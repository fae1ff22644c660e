//! The targets of a batch, checked once for all of its blocks.

use crate::jpeg::transform::target::Target;

/// The targets of blocks of eight samples a side, all of them within the planes.
pub(super) struct Targets<'a> {
    pub(super) targets: &'a [Target],
    pub(super) planes: &'a mut [u8],
}

impl<'a> Targets<'a> {
    /// Panics unless seven rows of the widest stride and eight more samples follow the offset of every target, which
    /// takes one comparison for all of them.
    pub(super) fn new(targets: &'a [Target], planes: &'a mut [u8]) -> Self {
        let (offset, stride) = targets
            .iter()
            .fold((0, 0), |(offset, stride), target| (target.offset.max(offset), target.stride.max(stride)));
        assert!(stride <= 1 << 24 && offset <= planes.len() && offset + 7 * stride + 8 <= planes.len());
        Self { targets, planes }
    }
}
