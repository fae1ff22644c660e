//! From a file to rows of RGB: the rows of MCUs that a region needs, one after the other, as a JPEG is decoded.

use super::error::CoefficientsError;
use super::expand::{Expander, Positions};
use super::header::{Header, parse_header};
use super::layout::{RowOfGroups, block_rows};
use super::segment::Segment;
use crate::jpeg::{BlockGroup, Part, Planes, Quants, Rows};
use crate::simd::Vectors;

/// Decodes files of coefficients. Keeps its buffers, so one per worker thread soon stops allocating.
pub(crate) struct Decoder {
    vectors: Vectors,
    planes: Planes,
    expander: Expander,
    group: Box<BlockGroup>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with(Vectors::allowed())
    }
}

impl Decoder {
    pub(super) fn with(vectors: Vectors) -> Self {
        let (planes, expander) = (Planes::new(vectors), Expander::new(vectors));
        Self { vectors, planes, expander, group: Box::new(BlockGroup::new()) }
    }

    /// Decodes a part that is inside of the image, and hands each row on as soon as it is complete. The pixels are those of
    /// the JPEG that the coefficients are from.
    ///
    /// # Errors
    /// A header of another file, and bytes that no writer makes, as far as the part needs them.
    pub(crate) fn decode_rows(
        &mut self,
        bytes: &[u8],
        header: &Header,
        part: Part,
        out: &mut dyn Rows,
    ) -> Result<(), CoefficientsError> {
        if part.region.is_empty() {
            return Ok(());
        }
        if parse_header(bytes)? != *header {
            return Err(CoefficientsError::OtherFile);
        }
        self.planes.begin(&header.frame, header.color, part);
        let quants = Quants::new(header.quants(bytes));
        let positions = header.widths.map(Positions::new);
        let needed = self.planes.mcu_rows();
        let mut next = needed.start;
        while next < needed.end {
            let mut segment = Segment::of_row(bytes, header, next)?;
            let rows = segment.rows.clone();
            for row in rows.start..rows.end.min(needed.end) {
                self.decode_row(header, row, &mut segment, &positions, &quants)?;
                if row >= needed.start {
                    self.planes.finish_mcu_row(row, row + 1 == needed.end, out);
                }
            }
            next = rows.end;
        }
        Ok(())
    }

    /// Decodes what is needed of a row of MCUs.
    fn decode_row(
        &mut self,
        header: &Header,
        mcu_row: usize,
        segment: &mut Segment<'_>,
        positions: &[Positions; 4],
        quants: &Quants,
    ) -> Result<(), CoefficientsError> {
        let Self { vectors, planes, expander, group: blocks } = self;
        for (index, component) in header.frame.used().iter().enumerate() {
            let (groups, needed) = (RowOfGroups::of(component), planes.needed(index));
            let touched = groups.touched(&needed.0);
            for y in block_rows(component, mcu_row) {
                if !needed.1.contains(&y) {
                    segment.skip(groups.count);
                    continue;
                }
                segment.skip(touched.start);
                let targets = planes.target_row(index, y);
                for group in touched.clone() {
                    let columns = groups.columns(group);
                    expander.expand(segment.next()?, columns.len(), &positions[index], blocks)?;
                    let wanted = columns.start.max(needed.0.start)..columns.end.min(needed.0.end);
                    let target = targets.target_of_needed(wanted.start);
                    let wanted = wanted.start - columns.start..wanted.end - columns.start;
                    blocks.transform(*vectors, wanted, index, target, quants, planes.samples());
                }
                segment.skip(groups.count - touched.end);
            }
        }
        Ok(())
    }
}
