//! Entropy decoding of blocks, one or several in a row.

#[cfg(target_arch = "x86_64")]
mod bmi2;

use super::bit_ops::{Plain, Rotate};
use super::bits::{Cursor, PADDING};
use super::huffman::{END_OF_BLOCK, Table};
use super::unit::Unit;
use crate::jpeg::transform::{SLOT, Slot, ZIGZAG};

/// The index in a slot at which a value is stored after an advance to `k`: that of the coefficient before. An "end of
/// block", a broken run or an incomplete entry writes after the block (see [`Slot`]), so the hot loop need not test.
const STORE_INDEX: [u8; 256] = {
    let mut index = [64; 256];
    let mut k = 0;
    while k < 64 {
        index[k + 1] = ZIGZAG[k];
        k += 1;
    }
    index
};

/// A code that does not exist, or a run past the end of the block.
pub(crate) struct BadBlock;

/// Decodes one block. With `STORE` its coefficients are written to `block`, which must be zero; without, they are
/// skipped, for blocks outside the region. The tables are those for DC and AC. Returns whether the block has coefficients besides DC.
#[inline(always)]
pub(crate) fn decode_block<const STORE: bool>(
    rotate: impl Rotate,
    cursor: &mut Cursor,
    data: &[u8],
    (dc, ac): (&Table, &Table),
    prediction: &mut i32,
    block: &mut Slot,
) -> Result<bool, BadBlock> {
    cursor.refill(data);
    let difference = dc.difference(rotate, cursor, data).ok_or(BadBlock)?;
    *prediction = prediction.wrapping_add(difference);
    block[0] = *prediction as i16;
    let mut k = 1;
    loop {
        // At this point there are always enough bits for two lookups.
        let entry = 'lookups: loop {
            for turn in 0..3 {
                if turn == 2 {
                    cursor.refill(data);
                }
                let entry = ac.lookup(cursor);
                store::<STORE>(block, entry.first(k), entry.value(rotate));
                let next = entry.last(rotate, k);
                store::<STORE>(block, next, entry.last_value(rotate, cursor));
                if next > 63 {
                    break 'lookups entry;
                }
                k = next;
                entry.skip(cursor);
            }
        };
        let (first, last) = (entry.first(k), entry.last(rotate, k));
        // The end of nearly all blocks: an end-of-block code before the 64th coefficient.
        if last.wrapping_sub(END_OF_BLOCK) < 64 {
            entry.skip(cursor);
            return Ok(last != 1 + END_OF_BLOCK);
        }
        if !entry.is_complete() {
            let (advance, value) = ac.long(cursor, data);
            k += advance;
            store::<STORE>(block, k, value);
            if k <= 63 {
                continue;
            }
        } else if first > 63 && first != last {
            // A second symbol after a full block is the next block's first one.
            ac.skip_one(cursor);
            k = first;
        } else {
            entry.skip(cursor);
            k = last;
        }
        return if k == 64 || k >= END_OF_BLOCK { Ok(k != 1 + END_OF_BLOCK) } else { Err(BadBlock) };
    }
}

#[inline(always)]
fn store<const STORE: bool>(block: &mut Slot, k: u32, value: i16) {
    if STORE {
        block[usize::from(STORE_INDEX[k as u8 as usize])] = value;
    }
}

/// Decodes the blocks of `mcus` MCUs one after another into `blocks`, which must be zero except for DC and have room
/// for three more blocks; without `STORE` four are enough. The cursor stays in registers from block to block.
#[inline(always)]
pub(crate) fn decode_mcus<const STORE: bool>(
    rotate: impl Rotate,
    cursor: &mut Cursor,
    data: &[u8],
    units: &[Unit<'_>],
    predictions: &mut [i32; 4],
    mcus: usize,
    blocks: &mut [[i16; 64]],
) -> Result<(), BadBlock> {
    // From here on the compiler knows that there are at least eight bytes, so a refill need not check.
    if data.len() < PADDING {
        return Err(BadBlock);
    }
    let (mut local, mut at) = (*cursor, 0);
    for _ in 0..mcus {
        for unit in units {
            let slot =
                blocks.get_mut(at..at + SLOT).and_then(|blocks| blocks.as_flattened_mut().first_chunk_mut());
            let slot = slot.ok_or(BadBlock)?;
            let prediction = &mut predictions[unit.component & 3];
            decode_block::<STORE>(rotate, &mut local, data, unit.tables, prediction, slot)?;
            at += usize::from(STORE);
        }
    }
    *cursor = local;
    Ok(())
}

/// One instruction set's [`decode_block`] and [`decode_mcus`]; those of this file, unless it has its own.
pub(crate) trait BlockDecoder: Rotate {
    /// See [`decode_mcus`].
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
        decode_mcus::<STORE>(self, cursor, data, units, predictions, mcus, blocks)
    }

    /// See [`decode_block`].
    #[inline(always)]
    fn decode<const STORE: bool>(
        self,
        cursor: &mut Cursor,
        data: &[u8],
        tables: (&Table, &Table),
        prediction: &mut i32,
        block: &mut Slot,
    ) -> Result<bool, BadBlock> {
        decode_block::<STORE>(self, cursor, data, tables, prediction, block)
    }
}

impl BlockDecoder for Plain {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jpeg::entropy::huffman::Class;

    /// Codes and their advances, of symbols with one extra bit: a one in the next coefficient, and in the one after.
    const NEXT: (&str, usize) = ("0", 1);
    const SECOND: (&str, usize) = ("10", 2);
    const END: &str = "110";

    fn table(class: Class, symbols: &[u8]) -> Table {
        let mut counts = [0; 16];
        counts[..symbols.len()].fill(1);
        let mut table = Table::new(class);
        assert!(table.define(&counts, symbols).is_ok());
        if class == Class::Ac {
            table.merge();
        }
        table
    }

    #[test]
    fn blocks_end_where_they_are_full_or_say_so() {
        // A difference of 0 is written as an end of block would be.
        let (dc, ac) = (table(Class::Dc, &[1, 2, 0]), table(Class::Ac, &[0x01, 0x11, 0x00]));
        // Full blocks, whose last symbol is the first or the second of a pair, and blocks of each length below.
        let step = if cfg!(miri) { 9 } else { 1 };
        let lengths = (0..=31).flat_map(|seconds| (0..=63).step_by(step).map(move |ones| (seconds, ones)));
        for (seconds, ones) in lengths.step_by(step) {
            let steps = [vec![SECOND; seconds], vec![NEXT; ones]].concat();
            let (mut bits, mut wanted, mut k) = (String::from(END), [0; 64], 0);
            for (code, advance) in steps {
                k += advance;
                if k > 63 {
                    k -= advance;
                    break;
                }
                bits += code;
                bits += "1";
                wanted[usize::from(ZIGZAG[k])] = 1;
            }
            if k < 63 {
                bits += END;
            }
            // Twice, so that a full block is followed by what might be one more symbol.
            let twice = bits.repeat(2);
            let mut data = vec![0; twice.len().div_ceil(8) + PADDING];
            for (at, _) in twice.bytes().enumerate().filter(|(_, bit)| *bit == b'1') {
                data[at / 8] |= 0x80 >> (at % 8);
            }
            let (mut cursor, mut prediction) = (Cursor::default(), 0);
            for turn in 1..=2 {
                let mut slot = [0; 64 * SLOT];
                let result =
                    decode_block::<true>(Plain, &mut cursor, &data, (&dc, &ac), &mut prediction, &mut slot);
                assert_eq!(result.ok(), Some(k > 0), "{seconds} {ones}");
                assert_eq!(slot[..64], wanted, "{seconds} {ones}");
                assert_eq!(cursor.consumed(), turn * bits.len(), "{seconds} {ones}");
            }
        }
    }
}
