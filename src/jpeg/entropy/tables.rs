//! The tables that segments between scans define: quantisation, Huffman, restart interval.

use super::huffman::{Class, Table};
use super::standard_tables as standard;
use crate::jpeg::error::{JpegError, corrupt};
use crate::jpeg::header::marker::{self, Segment};
use crate::jpeg::header::{Scan, ScanComponent};
use crate::jpeg::transform::{Quant, ZIGZAG};

/// The tables that a scan refers to by index, and the restart interval.
pub(crate) struct Tables {
    quant: [Option<Quant>; 4],
    pub(crate) dc: [Table; 4],
    pub(crate) ac: [Table; 4],
    /// MCUs between restart markers, 0 for none.
    pub(crate) restart_interval: u16,
}

impl Tables {
    /// Tables without any definition.
    pub(crate) fn new() -> Self {
        let four = |class| std::array::from_fn(|_| Table::new(class));
        Self { quant: [None; 4], dc: four(Class::Dc), ac: four(Class::Ac), restart_interval: 0 }
    }

    /// Removes the last file's definitions.
    pub(crate) fn reset(&mut self) {
        self.quant = [None; 4];
        self.dc.iter_mut().chain(&mut self.ac).for_each(Table::forget);
        self.restart_interval = 0;
    }

    /// Applies the definitions of `segment`; segments that define no table are ignored.
    pub(crate) fn apply(&mut self, segment: &Segment<'_>) -> Result<(), JpegError> {
        match segment.marker {
            marker::DQT => self.define_quant(segment.body),
            marker::DHT => self.define_huffman(segment.body),
            marker::DRI => {
                let &[high, low] = segment.body else {
                    return corrupt("a DRI segment is not two bytes long");
                };
                self.restart_interval = u16::from_be_bytes([high, low]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The quantisation table at `index`.
    pub(crate) fn quant(&self, index: usize) -> Result<Quant, JpegError> {
        match self.quant.get(index) {
            Some(Some(quant)) => Ok(*quant),
            _ => corrupt("a component's quantisation table is missing"),
        }
    }

    /// Makes sure that there are the Huffman tables of a sequential `scan`.
    pub(crate) fn complete(&mut self, scan: &Scan) -> Result<(), JpegError> {
        self.fill_in_standard()?;
        let is_there = |part: &ScanComponent| self.dc[part.dc].is_defined() && self.ac[part.ac].is_defined();
        if !scan.used().iter().all(is_there) {
            return corrupt("a scan's Huffman table is missing");
        }
        Ok(())
    }

    /// Fills the gaps with Annex K's tables, as decoders do for motion JPEG.
    pub(crate) fn fill_in_standard(&mut self) -> Result<(), JpegError> {
        let ([dc0, dc1, ..], [ac0, ac1, ..]) = (&mut self.dc, &mut self.ac);
        let standard: [(&mut Table, &[u8; 16], &[u8]); 4] = [
            (dc0, &standard::DC_LUMA_COUNTS, &standard::DC),
            (dc1, &standard::DC_CHROMA_COUNTS, &standard::DC),
            (ac0, &standard::AC_LUMA_COUNTS, &standard::AC_LUMA),
            (ac1, &standard::AC_CHROMA_COUNTS, &standard::AC_CHROMA),
        ];
        for (table, counts, symbols) in standard {
            if !table.is_defined() {
                table.define(counts, symbols)?;
            }
        }
        Ok(())
    }

    fn define_quant(&mut self, mut body: &[u8]) -> Result<(), JpegError> {
        while let Some((&kind, rest)) = body.split_first() {
            let (wide, index) = (kind >> 4, usize::from(kind & 15));
            let width = match wide {
                0 => 1,
                1 => 2,
                _ => return corrupt("a quantisation table is neither 8 nor 16 bits wide"),
            };
            let (true, Some(values)) = (index < 4, rest.get(..64 * width)) else {
                return corrupt("a quantisation table is cut off or has an index above 3");
            };
            let mut quant = Quant([0; 64]);
            for (position, value) in ZIGZAG.iter().zip(values.chunks_exact(width)) {
                let value = value.iter().fold(0u16, |value, &byte| value << 8 | u16::from(byte));
                quant.0[usize::from(*position)] = value as i16;
            }
            self.quant[index] = Some(quant);
            body = &rest[64 * width..];
        }
        Ok(())
    }

    fn define_huffman(&mut self, mut body: &[u8]) -> Result<(), JpegError> {
        while let Some((&kind, rest)) = body.split_first() {
            let Some((counts, rest)) = rest.split_first_chunk::<16>() else {
                return corrupt("a Huffman table is cut off");
            };
            let total = counts.iter().map(|&count| usize::from(count)).sum();
            let Some(symbols) = rest.get(..total) else { return corrupt("a Huffman table is cut off") };
            let index = usize::from(kind & 15);
            let table = match kind >> 4 {
                0 => self.dc.get_mut(index),
                1 => self.ac.get_mut(index),
                _ => None,
            };
            let Some(table) = table else { return corrupt("a Huffman table has an index above 3") };
            table.define(counts, symbols)?;
            body = &rest[total..];
        }
        Ok(())
    }
}
