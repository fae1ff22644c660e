//! The block decoder built for BMI2, whose shifts by a variable cost one cycle where the plain ones cost two or three.
#![expect(unsafe_code, reason = "a call into a function built for BMI2")]

use super::Unit;
use super::block::{BadBlock, BlockDecoder, decode_block, decode_mcus};
use crate::jpeg::bits::Cursor;
use crate::jpeg::huffman::Table;
use crate::jpeg::pending::Slot;
use crate::simd::Avx2;

/// Decodes blocks with BMI2's shifts.
#[derive(Clone, Copy)]
pub(super) struct Bmi2(pub(super) Avx2);

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
        unsafe { decode_mcus_bmi2::<STORE>(cursor, data, units, predictions, mcus, blocks) }
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
        unsafe { decode_bmi2::<STORE>(cursor, data, tables, prediction, block) }
    }
}

/// Not inlined: alone, its loop keeps everything in registers.
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_bmi2<const STORE: bool>(
    cursor: &mut Cursor,
    data: &[u8],
    tables: (&Table, &Table),
    prediction: &mut i32,
    block: &mut Slot,
) -> Result<bool, BadBlock> {
    let mut local = *cursor;
    let result = decode_block::<STORE>(&mut local, data, tables.0, tables.1, prediction, block);
    *cursor = local;
    result
}

/// Not inlined, as [`decode_bmi2`].
#[inline(never)]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_mcus_bmi2<const STORE: bool>(
    cursor: &mut Cursor,
    data: &[u8],
    units: &[Unit<'_>],
    predictions: &mut [i32; 4],
    mcus: usize,
    blocks: &mut [[i16; 64]],
) -> Result<(), BadBlock> {
    decode_mcus::<STORE>(cursor, data, units, predictions, mcus, blocks)
}
