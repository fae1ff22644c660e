//! From a file to rows of RGB: the rows of MCUs that a region needs, one after the other, as a JPEG is decoded.

use super::error::CoefficientsError;
use super::expand::{Expander, Positions};
use super::header::{Header, parse_header};
use super::walk::{Group, Needed, each_group, each_row};
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
        let Self { vectors, planes, expander, group: blocks } = self;
        planes.begin(&header.frame, header.color, part);
        let quants = Quants::new(header.quants(bytes));
        let positions = header.widths.map(Positions::new);
        let needed: Needed = std::array::from_fn(|component| planes.needed(component));
        let rows = planes.mcu_rows();
        each_row(bytes, header, rows.clone(), |row, segment| {
            each_group(header, row, segment, &needed, |group, segment| {
                let Group { component, row, columns } = group;
                expander.expand(segment.next()?, columns.len(), &positions[component], blocks)?;
                let needed = &needed[component].0;
                let wanted = columns.start.max(needed.start)..columns.end.min(needed.end);
                let target = planes.target_row(component, row).target_of_needed(wanted.start);
                let wanted = wanted.start - columns.start..wanted.end - columns.start;
                blocks.transform(*vectors, wanted, component, target, &quants, planes.samples());
                Ok(())
            })?;
            if rows.contains(&row) {
                planes.finish_mcu_row(row, row + 1 == rows.end, out);
            }
            Ok(())
        })
    }
}
