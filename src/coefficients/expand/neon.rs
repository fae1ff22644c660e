//! The loops with NEON: eight positions at a time, by a table of where the values of each set of positions go.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for NEON")]

use super::super::group::Stream;
use super::super::layout::GROUP;
use super::plain::{self, AFTER_TWO, OF_FOUR, TO_EIGHT, TO_FOUR};
use super::spread::{POSITIONS, SPREAD};
use super::{Counts, List, Loops, Positions, Values};
use crate::jpeg::BlockGroup;
use crate::simd::Neon;
use std::arch::aarch64::*;

impl Loops for Neon {
    fn masks(
        self,
        positions: Stream<'_>,
        bytes: &[u8],
        by_width: &Positions,
        masks: &mut [u64],
    ) -> Option<Counts> {
        plain::make_masks(positions, bytes, by_width, masks)
    }

    fn codes(self, packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
        // SAFETY: the `Neon` value proves that the machine has NEON; so below.
        unsafe { unpack_codes(packed, count, out) }
    }

    fn nibbles(self, packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
        // SAFETY: as above.
        unsafe { unpack_nibbles(packed, count, from, out) }
    }

    fn twos(self, codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
        // SAFETY: as above.
        unsafe { make_twos(codes, count, nibbles, bytes, out) }
    }

    fn fours(self, nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
        // SAFETY: as above.
        unsafe { make_fours(nibbles, from, count, bytes, out) }
    }

    fn place(
        self,
        values: &Values<'_>,
        by_width: &Positions,
        dc: &[i16; GROUP],
        count: usize,
        out: &mut BlockGroup,
    ) {
        // SAFETY: as above.
        unsafe { place_blocks(values, by_width, dc, count, out) }
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_8(bytes: &[u8], at: usize) -> uint8x8_t {
    let eight = &bytes[at..at + 8];
    // SAFETY: the slice has 8 bytes.
    unsafe { vld1_u8(eight.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn load_16(bytes: &[u8], at: usize) -> uint8x16_t {
    let sixteen = &bytes[at..at + 16];
    // SAFETY: the slice has 16 bytes.
    unsafe { vld1q_u8(sixteen.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_16(list: &mut List, at: usize, values: uint8x16_t) {
    let sixteen = &mut list[at..at + 16];
    // SAFETY: the slice has 16 bytes.
    unsafe { vst1q_u8(sixteen.as_mut_ptr(), values) }
}

#[inline]
#[target_feature(enable = "neon")]
fn table(values: [i8; 16]) -> uint8x16_t {
    // SAFETY: there are 16 bytes.
    vreinterpretq_u8_s8(unsafe { vld1q_s8(values.as_ptr()) })
}

/// Which of the first `count` of eight bytes are `value`, a bit for each.
#[inline]
#[target_feature(enable = "neon")]
fn those(bytes: uint8x8_t, value: u8, count: usize) -> usize {
    let weights = vcreate_u8(0x8040_2010_0804_0201);
    let found = vand_u8(vceq_u8(bytes, vdup_n_u8(value)), weights);
    usize::from(vaddv_u8(found)) & 0xFF >> 8usize.saturating_sub(count)
}

/// The first values of `values` at the places of the bits of `mask`, and zeros between them.
#[inline]
#[target_feature(enable = "neon")]
fn spread(values: uint8x8_t, mask: usize) -> uint8x8_t {
    vtbl1_u8(values, load_8(&SPREAD[mask & 0xFF], 0))
}

/// The low and the high bits of codes, one after the other.
#[inline]
#[target_feature(enable = "neon")]
fn halves(packed: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
    let (even, odd) = (vandq_u8(packed, vdupq_n_u8(15)), vshrq_n_u8::<4>(packed));
    (vzip1q_u8(even, odd), vzip2q_u8(even, odd))
}

#[target_feature(enable = "neon")]
fn unpack_codes(packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize) {
    let low = vdupq_n_u8(3);
    for at in (0..count).step_by(32) {
        let (nibbles, _) = halves(load_16(packed.data, at / 4));
        let (even, odd) = (vandq_u8(nibbles, low), vshrq_n_u8::<2>(nibbles));
        store_16(out, at, vzip1q_u8(even, odd));
        store_16(out, at + 16, vzip2q_u8(even, odd));
    }
    let (mut to_four, mut to_eight) = (0, 0);
    for at in (0..count).step_by(8) {
        let codes = load_8(out, at);
        to_four += those(codes, TO_FOUR, count - at).count_ones();
        to_eight += those(codes, TO_EIGHT, count - at).count_ones();
    }
    (to_four as usize, to_eight as usize)
}

#[target_feature(enable = "neon")]
fn unpack_nibbles(packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize {
    for at in (0..count).step_by(32) {
        let (first, second) = halves(load_16(packed.data, at / 2));
        store_16(out, at, first);
        store_16(out, at + 16, second);
    }
    let zeros = (from..count).step_by(8).map(|at| those(load_8(out, at), 0, count - at).count_ones());
    zeros.sum::<u32>() as usize
}

#[target_feature(enable = "neon")]
fn make_twos(codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List) {
    let values = table([1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (after, mut nibble, mut byte) = (table(AFTER_TWO), 0, 0);
    for at in (0..count).step_by(8) {
        let codes = load_8(codes, at);
        let (four, eight) = (those(codes, TO_FOUR, count - at), those(codes, TO_EIGHT, count - at));
        let fours = spread(vqtbl1_u8(after, load_8(nibbles, nibble)), four);
        let eights = spread(load_8(bytes.data, byte), eight);
        let found = vorr_u8(vqtbl1_u8(values, codes), vorr_u8(fours, eights));
        nibble += four.count_ones() as usize;
        byte += eight.count_ones() as usize;
        store_16(out, at, vcombine_u8(found, found));
    }
}

#[target_feature(enable = "neon")]
fn make_fours(nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List) {
    let (values, mut byte) = (table(OF_FOUR), 0);
    for at in (0..count).step_by(8) {
        let codes = load_8(nibbles, from + at);
        let eight = those(codes, 0, count - at);
        let found = vorr_u8(vqtbl1_u8(values, codes), spread(load_8(bytes.data, byte), eight));
        byte += eight.count_ones() as usize;
        store_16(out, at, vcombine_u8(found, found));
    }
}

#[target_feature(enable = "neon")]
fn place_blocks(
    values: &Values<'_>,
    by_width: &Positions,
    dc: &[i16; GROUP],
    count: usize,
    out: &mut BlockGroup,
) {
    let lists = [values.two.as_slice(), values.four.as_slice(), values.eight.data];
    let positions = [by_width.two, by_width.four, by_width.eight];
    let mut starts = [0; 3];
    for ((block, &mask), &dc) in out.batch.blocks[..count].iter_mut().zip(&out.masks).zip(dc) {
        let eight = |i: usize| {
            let (list, ahead) = by_width.of_eight[i];
            let at = starts[list] + (mask & ahead).count_ones() as usize;
            spread(load_8(lists[list], at), (mask >> (8 * i)) as usize)
        };
        let sixteen = |i: usize| vcombine_u8(eight(2 * i), eight(2 * i + 1));
        let mut found = [vdupq_n_u8(0); 4];
        let last = mask.checked_ilog2().unwrap_or(0) as usize / 16;
        for (i, found) in found.iter_mut().enumerate().take(last + 1) {
            *found = sixteen(i);
        }
        for (start, positions) in starts.iter_mut().zip(positions) {
            *start += (mask & positions).count_ones() as usize;
        }
        let [a, b, c, d] = found;
        for (i, rows) in block.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let sixteen =
                vreinterpretq_s8_u8(vqtbl4q_u8(uint8x16x4_t(a, b, c, d), load_16(&POSITIONS, 16 * i)));
            // SAFETY: there is room for 16 i16.
            unsafe {
                vst1q_s16(rows.as_mut_ptr(), vmovl_s8(vget_low_s8(sixteen)));
                vst1q_s16(rows.as_mut_ptr().add(8), vmovl_high_s8(sixteen));
            }
        }
        block[0] = dc;
    }
}
