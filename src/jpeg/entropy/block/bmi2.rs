//! The block decoder built for BMI2, whose shifts by a variable cost one cycle where the plain ones cost two or three.
#![expect(unsafe_code, reason = "calls into functions built for BMI2")]

use super::{BadBlock, BlockDecoder, decode_block, decode_mcus};
use crate::jpeg::entropy::bit_ops::Bmi2;
use crate::jpeg::entropy::bits::Cursor;
use crate::jpeg::entropy::huffman::Table;
use crate::jpeg::entropy::unit::Unit;
use crate::jpeg::transform::Slot;

impl BlockDecoder for Bmi2 {
    #[inline(always)]
    fn decode_mcus<const STORE: bool>(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        units: &[Unit<'_>],
        predictions: &mut [i32; 4],
        mcus: usize,
        blocks: &mut [[i16; 64]],
    ) -> Result<(), BadBlock> {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI1 and BMI2 too.
        unsafe { decode_mcus_bmi2::<STORE>(self, cursor, data, units, predictions, mcus, blocks) }
    }

    #[inline(always)]
    fn decode<const STORE: bool>(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        tables: (&Table, &Table),
        prediction: &mut i32,
        block: &mut Slot,
    ) -> Result<bool, BadBlock> {
        // SAFETY: the `Avx2` value within `self` proves that the machine has BMI1 and BMI2 too.
        unsafe { decode_bmi2::<STORE>(self, cursor, data, tables, prediction, block) }
    }
}

/// Not inlined: alone, its loop keeps everything in registers.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_bmi2<const STORE: bool>(
    rotate: Bmi2,
    cursor: &mut Cursor,
    data: &[u8],
    tables: (&Table, &Table),
    prediction: &mut i32,
    block: &mut Slot,
) -> Result<bool, BadBlock> {
    let mut local = *cursor;
    let result = decode_block::<STORE>(rotate, &mut local, data, tables, prediction, block);
    *cursor = local;
    result
}

/// Not inlined, as [`decode_bmi2`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_mcus_bmi2<const STORE: bool>(
    rotate: Bmi2,
    cursor: &mut Cursor,
    data: &[u8],
    units: &[Unit<'_>],
    predictions: &mut [i32; 4],
    mcus: usize,
    blocks: &mut [[i16; 64]],
) -> Result<(), BadBlock> {
    decode_mcus::<STORE>(rotate, cursor, data, units, predictions, mcus, blocks)
}
