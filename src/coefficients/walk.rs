//! The way through a file: from segment to segment, row of MCUs by row of MCUs, to the groups that hold needed blocks.

use super::error::CoefficientsError;
use super::header::Header;
use super::layout::{RowOfGroups, block_rows};
use super::segment::Segment;
use std::ops::Range;

/// The needed blocks of each component, as columns and rows.
pub(crate) type Needed = [(Range<usize>, Range<usize>); 4];

/// A group that holds needed blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) component: usize,
    /// Where its blocks stand in the component's grid.
    pub(crate) row: usize,
    pub(crate) columns: Range<usize>,
}

/// Calls `visit` for each row of MCUs of these, and for those that come ahead of them in their segment.
///
/// # Errors
/// A segment that is damaged, and those of `visit`.
pub(super) fn each_row(
    bytes: &[u8],
    header: &Header,
    needed: Range<usize>,
    mut visit: impl FnMut(usize, &mut Segment<'_>) -> Result<(), CoefficientsError>,
) -> Result<(), CoefficientsError> {
    let mut next = needed.start;
    while next < needed.end {
        let mut segment = Segment::of_row(bytes, header, next)?;
        let rows = segment.rows.clone();
        (rows.start..rows.end.min(needed.end)).try_for_each(|row| visit(row, &mut segment))?;
        next = rows.end;
    }
    Ok(())
}

/// Calls `visit` for each group of a row of MCUs that holds needed blocks; it takes the group from the segment.
///
/// # Errors
/// Those of `visit`.
pub(super) fn each_group<'a>(
    header: &Header,
    mcu_row: usize,
    segment: &mut Segment<'a>,
    needed: &Needed,
    mut visit: impl FnMut(Group, &mut Segment<'a>) -> Result<(), CoefficientsError>,
) -> Result<(), CoefficientsError> {
    for (index, (component, (columns, rows))) in header.frame.used().iter().zip(needed).enumerate() {
        let groups = RowOfGroups::of(component);
        let touched = groups.touched(columns);
        for row in block_rows(component, mcu_row) {
            if !rows.contains(&row) {
                segment.skip(groups.count);
                continue;
            }
            segment.skip(touched.start);
            for group in touched.clone() {
                visit(Group { component: index, row, columns: groups.columns(group) }, segment)?;
            }
            segment.skip(groups.count - touched.end);
        }
    }
    Ok(())
}
