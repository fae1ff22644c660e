//! Where transformed blocks are written.

use std::ops::Range;

/// The position of one block in the planes: offset of its top left sample, samples from row to row, and samples a side.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Target {
    pub(crate) offset: usize,
    pub(crate) stride: usize,
    pub(crate) size: usize,
}

/// The targets of the needed blocks of one row of blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TargetRow {
    /// The first needed column, and the count of them.
    first: usize,
    count: usize,
    /// The first column's target.
    target: Target,
}

impl TargetRow {
    /// The needed `columns`, of which the first is written to `target`.
    pub(crate) fn new(columns: &Range<usize>, target: Target) -> Self {
        Self { first: columns.start, count: columns.len(), target }
    }

    /// The needed columns.
    pub(crate) fn columns(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Samples a side of the blocks.
    pub(crate) fn size(&self) -> usize {
        self.target.size
    }

    /// The target of the block of a needed column.
    #[inline(always)]
    pub(crate) fn target_of_needed(&self, column: usize) -> Target {
        let Target { offset, stride, size } = self.target;
        Target { offset: offset + column.wrapping_sub(self.first) * size, stride, size }
    }

    /// The target of the block of a column, `None` if it is not needed.
    #[inline(always)]
    pub(crate) fn target(&self, column: usize) -> Option<Target> {
        (column.wrapping_sub(self.first) < self.count).then(|| self.target_of_needed(column))
    }
}
