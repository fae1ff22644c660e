//! Where the blocks of an image stand in a file: segments of rows of MCUs, rows of blocks, groups of blocks.

use crate::jpeg::{Component, Frame};
use std::ops::Range;

/// Blocks in a group, at most.
pub(crate) const GROUP: usize = 32;

/// The groups that a row of blocks is cut into: equally long ones, but for a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOfGroups {
    blocks: usize,
    pub(crate) count: usize,
}

impl RowOfGroups {
    /// Those of a row of this component.
    pub(crate) fn of(component: &Component) -> Self {
        Self::new(component.blocks_across())
    }

    fn new(blocks: usize) -> Self {
        Self { blocks, count: blocks.div_ceil(GROUP) }
    }

    /// The columns of blocks of a group.
    pub(crate) fn columns(self, group: usize) -> Range<usize> {
        let start = |group| group * self.blocks / self.count;
        start(group)..start(group + 1)
    }

    /// The group that a column is in.
    pub(crate) fn of_column(self, column: usize) -> usize {
        ((column + 1) * self.count).div_ceil(self.blocks) - 1
    }

    /// The groups that hold any of these columns.
    pub(crate) fn touched(self, columns: &Range<usize>) -> Range<usize> {
        self.of_column(columns.start)..self.of_column(columns.end - 1) + 1
    }
}

/// The rows of blocks that a row of MCUs has of a component.
pub(crate) fn block_rows(component: &Component, mcu_row: usize) -> Range<usize> {
    let down = component.blocks_down();
    (mcu_row * component.v).min(down)..((mcu_row + 1) * component.v).min(down)
}

/// Groups of a row of MCUs: those of the first component, row of blocks by row of blocks, then those of the next.
pub(crate) fn groups_in_mcu_row(frame: &Frame, mcu_row: usize) -> usize {
    frame.used().iter().map(|one| block_rows(one, mcu_row).len() * RowOfGroups::of(one).count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_into_groups_of_equal_length() {
        for blocks in 1..=700 {
            let row = RowOfGroups::new(blocks);
            let mut next = 0;
            for group in 0..row.count {
                let columns = row.columns(group);
                assert_eq!(columns.start, next);
                assert!((blocks / row.count..=blocks.div_ceil(row.count)).contains(&columns.len()));
                assert!(columns.len() <= GROUP);
                columns.clone().for_each(|column| assert_eq!(row.of_column(column), group));
                next = columns.end;
            }
            assert_eq!(next, blocks);
            assert_eq!(row.touched(&(0..blocks)), 0..row.count);
        }
    }
}
