//! The blocks of an MCU.

use super::huffman::Table;
use crate::jpeg::transform::TargetRow;

/// One block of each MCU of a row, with what these blocks have in common.
#[derive(Clone, Copy)]
pub(crate) struct Unit<'a> {
    pub(crate) component: usize,
    /// For DC and AC.
    pub(crate) tables: (&'a Table, &'a Table),
    /// Blocks of the component in one row of an MCU, and the index of this one.
    pub(crate) across: usize,
    pub(crate) x: usize,
    pub(crate) targets: TargetRow,
}

impl Unit<'_> {
    /// The column of the block that belongs to an MCU.
    #[inline(always)]
    pub(crate) fn block(&self, mcu: usize) -> usize {
        mcu * self.across + self.x
    }
}
