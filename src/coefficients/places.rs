//! Where the groups of a part lie in a file: for a decoder that expands many at once.

use super::error::CoefficientsError;
use super::header::{Header, parse_header};
use super::walk::{Group, Needed, each_group, each_row};
use std::ops::Range;

/// The groups that hold needed blocks of these rows of MCUs, with the bytes of the file that each of them has, in their order.
///
/// # Errors
/// A header of another file, and segments that are damaged. Groups themselves are not looked at.
pub(crate) fn places(
    bytes: &[u8],
    header: &Header,
    rows: Range<usize>,
    needed: &Needed,
) -> Result<Vec<(Group, Range<usize>)>, CoefficientsError> {
    if parse_header(bytes)? != *header {
        return Err(CoefficientsError::OtherFile);
    }
    let mut places = Vec::new();
    each_row(bytes, header, rows, |row, segment| {
        each_group(header, row, segment, needed, |group, segment| {
            places.push((group, segment.next_place()?));
            Ok(())
        })
    })?;
    Ok(places)
}
