//! The tables that segments between scans define: quantisation, Huffman, restart interval.

use super::error::{JpegError, corrupt};
use super::huffman::{Class, Table};
use super::marker::{self, Segment};
use super::standard_tables as standard;

/// The place of the k-th coefficient of zigzag order in a block stored row by row.
#[rustfmt::skip]
pub(super) const ZIGZAG: [u8; 64] = [
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Factors row by row. 16 bits, signed: libjpeg-turbo's vector code multiplies modulo 2^16, and so do we.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Quant(pub(super) [i16; 64]);

/// The factors of a frame's components.
pub(super) struct Quants {
    pub(super) each: [Quant; 4],
    /// Rows of two components side by side, those of components i and j at 4 i + j.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "for two blocks in a register"))]
    pub(super) pairs: [Pair; 16],
}

/// Rows of two blocks side by side.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Pair(pub(super) [[[i16; 8]; 2]; 8]);

impl Quants {
    /// The factors of each component; those that are not there may be anything.
    pub(super) fn new(each: [Quant; 4]) -> Self {
        let mut pairs = [Pair([[[0; 8]; 2]; 8]); 16];
        for (number, Pair(rows)) in pairs.iter_mut().enumerate() {
            let sides = [&each[number / 4], &each[number % 4]].map(|quant| quant.0.as_chunks().0);
            for (y, row) in rows.iter_mut().enumerate() {
                *row = sides.map(|side| side[y]);
            }
        }
        Self { each, pairs }
    }
}

/// Everything that a scan refers to by number.
pub(super) struct Tables {
    quant: [Option<Quant>; 4],
    pub(super) dc: [Table; 4],
    pub(super) ac: [Table; 4],
    /// MCUs between restart markers, 0 for none.
    pub(super) restart_interval: u16,
}

impl Tables {
    /// Tables without any definition.
    pub(super) fn new() -> Self {
        let four = |class| std::array::from_fn(|_| Table::new(class));
        Self { quant: [None; 4], dc: four(Class::Dc), ac: four(Class::Ac), restart_interval: 0 }
    }

    /// Forgets the last file's definitions.
    pub(super) fn reset(&mut self) {
        self.quant = [None; 4];
        self.dc.iter_mut().chain(&mut self.ac).for_each(Table::forget);
        self.restart_interval = 0;
    }

    /// Takes over what `segment` defines; segments that define no table are ignored.
    pub(super) fn apply(&mut self, segment: &Segment<'_>) -> Result<(), JpegError> {
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

    /// Quantisation table `number`.
    pub(super) fn quant(&self, number: usize) -> Result<Quant, JpegError> {
        match self.quant.get(number) {
            Some(Some(quant)) => Ok(*quant),
            _ => corrupt("a component's quantisation table is missing"),
        }
    }

    /// Fills the gaps with Annex K's tables, as decoders do for motion JPEG.
    pub(super) fn fill_in_standard(&mut self) -> Result<(), JpegError> {
        let ([dc0, dc1, ..], [ac0, ac1, ..]) = (&mut self.dc, &mut self.ac);
        let standard: [(&mut Table, &[u8; 16], &[u8]); 4] = [
            (dc0, &standard::DC_LUMA_COUNTS, &standard::DC_LUMA),
            (dc1, &standard::DC_CHROMA_COUNTS, &standard::DC_CHROMA),
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
            let (wide, number) = (kind >> 4, usize::from(kind & 15));
            let width = match wide {
                0 => 1,
                1 => 2,
                _ => return corrupt("a quantisation table is neither 8 nor 16 bits wide"),
            };
            let (true, Some(values)) = (number < 4, rest.get(..64 * width)) else {
                return corrupt("a quantisation table is cut off or has a number above 3");
            };
            let mut quant = Quant([0; 64]);
            for (place, value) in ZIGZAG.iter().zip(values.chunks_exact(width)) {
                let value = value.iter().fold(0u16, |value, &byte| value << 8 | u16::from(byte));
                quant.0[usize::from(*place)] = value as i16;
            }
            self.quant[number] = Some(quant);
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
            let number = usize::from(kind & 15);
            let table = match kind >> 4 {
                0 => self.dc.get_mut(number),
                1 => self.ac.get_mut(number),
                _ => None,
            };
            let Some(table) = table else { return corrupt("a Huffman table has a number above 3") };
            table.define(counts, symbols)?;
            body = &rest[total..];
        }
        Ok(())
    }
}
