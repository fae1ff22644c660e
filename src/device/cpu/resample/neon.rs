//! Resampling with NEON: four rows at once across, 16 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::vector::{Down, Horizontal};
use super::{Axis, Lines};
use crate::device::cpu::lanes::PACK_RGB;
use std::arch::aarch64::*;

/// By pairs of taps; the first for any number.
pub(super) const HORIZONTAL: [Horizontal; 5] = [
    horizontal_rows::<0>,
    horizontal_rows::<1>,
    horizontal_rows::<2>,
    horizontal_rows::<3>,
    horizontal_rows::<4>,
];

/// By lines; the first for any number.
pub(super) const VERTICAL: Down = Down {
    functions: &[
        vertical_row::<0>,
        vertical_row::<1>,
        vertical_row::<2>,
        vertical_row::<3>,
        vertical_row::<4>,
        vertical_row::<5>,
        vertical_row::<6>,
        vertical_row::<7>,
    ],
    lines: 1,
    bytes: BYTES,
};

/// Bytes of a vector.
pub(super) const BYTES: usize = 16;

/// From packed RGB to the pixels `first` and `first + 1` as 16-bit lanes, each with an empty lane after it.
const fn widen_two(first: i8) -> [i8; 16] {
    let mut table = [-1; 16];
    let mut i = 0;
    while i < 6 {
        table[i / 3 * 8 + i % 3 * 2] = first * 3 + i as i8;
        i += 1;
    }
    table
}

static FIRST_PAIR: [i8; 16] = widen_two(0);
static SECOND_PAIR: [i8; 16] = widen_two(2);

/// Resamples four rows; each output has `PAIRS` pairs of taps, or as many as the axis says for 0.
///
/// # Safety
/// The bounds of [`Horizontal`] were checked, `PAIRS` is 0 or half of the axis' stride, and the machine has NEON.
#[target_feature(enable = "neon")]
unsafe fn horizontal_rows<const PAIRS: usize>(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    assert!(PAIRS == 0 || PAIRS * 2 == columns.stride);
    // SAFETY: by the bounds of [`Horizontal`] each pair of taps that starts at `starts` lies with its load in each of `from`, and
    // each group's sixteen bytes in each of `to`; there are `stride` weights for each start, of which there are whole groups.
    unsafe {
        let [first, second, pack] =
            [&FIRST_PAIR, &SECOND_PAIR, &PACK_RGB].map(|table| vld1q_u8(table.as_ptr().cast()));
        let shift = vdupq_n_s32(-(columns.precision as i32));
        let pairs = if PAIRS == 0 { columns.stride / 2 } else { PAIRS };
        for x in (0..columns.starts.len()).step_by(4) {
            // For each of four rows, four outputs.
            let mut sums = [[vdupq_n_s32(0); 4]; 4];
            for i in 0..4 {
                let start = *columns.starts.get_unchecked(x + i) as usize * 3;
                let weights = columns.weights.as_ptr().add((x + i) * pairs * 2);
                for pair in (0..pairs).step_by(2) {
                    let (at, weights) = (start + pair * 6, weights.add(pair * 2));
                    let is_whole = pair + 1 < pairs;
                    let weights = match is_whole {
                        true => vld1_s16(weights),
                        false => vreinterpret_s16_s32(vdup_n_s32(weights.cast::<i32>().read_unaligned())),
                    };
                    for (row, sums) in sums.iter_mut().enumerate() {
                        let pixels = vld1q_u8(from[row].add(at));
                        sums[i] = weigh::<0, 1>(sums[i], pixels, first, weights);
                        if is_whole {
                            sums[i] = weigh::<2, 3>(sums[i], pixels, second, weights);
                        }
                    }
                }
            }
            for (sums, to) in sums.into_iter().zip(to) {
                vst1q_u8(to.add(x * 3), vqtbl1q_u8(levels(sums, shift), pack));
            }
        }
    }
}

/// Adds two of four packed pixels, which `places` brings to 16-bit lanes, by the given two of four weights.
#[inline]
#[target_feature(enable = "neon")]
fn weigh<const LEFT: i32, const RIGHT: i32>(
    sum: int32x4_t,
    pixels: uint8x16_t,
    places: uint8x16_t,
    weights: int16x4_t,
) -> int32x4_t {
    let words = vreinterpretq_s16_u8(vqtbl1q_u8(pixels, places));
    let sum = vmlal_lane_s16::<LEFT>(sum, vget_low_s16(words), weights);
    vmlal_high_lane_s16::<RIGHT>(sum, words, weights)
}

/// Sixteen sums as bytes: rounded, shifted right by as many bits as `shift` is below zero, and clamped.
#[inline]
#[target_feature(enable = "neon")]
fn levels(sums: [int32x4_t; 4], shift: int32x4_t) -> uint8x16_t {
    let [a, b, c, d] = sums.map(|sum| vrshlq_s32(sum, shift));
    let (low, high) = (vqmovun_high_s32(vqmovun_s32(a), b), vqmovun_high_s32(vqmovun_s32(c), d));
    vqmovn_high_u16(vqmovn_u16(low), high)
}

/// One output row of `LINES` lines, or of as many as there are weights for 0.
///
/// # Safety
/// As [`Vertical`] says, by lines instead of pairs.
#[target_feature(enable = "neon")]
unsafe fn vertical_row<const LINES: usize>(
    lines: Lines<'_>,
    weights: &[i16],
    precision: u32,
    row: &mut [u8],
) {
    let count = if LINES == 0 { weights.len() } else { LINES };
    let factor = |line: usize| vdupq_n_s16(weights[line]);
    // Those of fixed number stay in registers.
    let fixed: [int16x8_t; LINES] = std::array::from_fn(factor);
    let shift = vdupq_n_s32(-(precision as i32));
    let last = row.len() - BYTES;
    // The last vector may overlap the one ahead of it, which writes the same bytes twice.
    for at in (0..last).step_by(BYTES).chain([last]) {
        let mut sums = [vdupq_n_s32(0); 4];
        for line in 0..count {
            let weight = match fixed.get(line) {
                Some(weight) => *weight,
                None => factor(line),
            };
            // SAFETY: `line` is less than the number of weights, and `at` + BYTES at most the row's length, which the
            // caller promises to lie inside every line.
            let bytes = unsafe { vld1q_u8(lines.data.as_ptr().add(line * lines.stride + at)) };
            let low = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(bytes)));
            let high = vreinterpretq_s16_u16(vmovl_high_u8(bytes));
            let [a, b, c, d] = sums;
            sums = [
                vmlal_s16(a, vget_low_s16(low), vget_low_s16(weight)),
                vmlal_high_s16(b, low, weight),
                vmlal_s16(c, vget_low_s16(high), vget_low_s16(weight)),
                vmlal_high_s16(d, high, weight),
            ];
        }
        // SAFETY: `at` + BYTES is at most the row's length.
        unsafe { vst1q_u8(row.as_mut_ptr().add(at), levels(sums, shift)) };
    }
}
