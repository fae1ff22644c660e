//! The inverse DCT with NEON, block by block: eight columns in a register, of which each half is widened to 32 bits.
//!
//! The sums cannot overflow: with all inputs and all wrapped sums at the ends of 16 bits they stay below 2^31, rounding
//! included. So one instruction may round, shift and saturate where the scalar version does it in steps.
#![expect(
    unsafe_code,
    reason = "vector loads and stores by pointer, and calls into functions built for NEON"
)]

use std::arch::aarch64::*;

use super::targets::Targets;
use crate::jpeg::transform::batch::Batch;
use crate::jpeg::transform::quant::{Quant, Quants};
use crate::jpeg::transform::target::Target;
use crate::simd::Neon;

/// Dequantises and transforms the blocks of `batch` into `planes`, and empties the batch. Panics if the targets do not
/// fit in the planes as [`Targets`] requires.
pub(crate) fn transform(_: Neon, batch: &mut Batch, quants: &Quants, planes: &mut [u8]) {
    let Batch { blocks, components, targets, count } = batch;
    let mut targets = Targets::new(&targets[..std::mem::take(count)], planes);
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { one_by_one(blocks, components, quants, &mut targets) }
}

/// Dequantises and transforms the blocks of `batch` that have a bit in either mask into `planes`, and leaves the batch as it is.
/// Panics as [`transform`], and where a bit has no block.
pub(crate) fn transform_sorted(
    _: Neon,
    masks: (u32, u32),
    batch: &mut Batch,
    quants: &Quants,
    planes: &mut [u8],
) {
    let Batch { blocks, components, targets, count } = batch;
    let targets = Targets::new(&targets[..*count], planes);
    for i in (0..*count).filter(|i| (masks.0 | masks.1) >> i & 1 != 0) {
        let quant = &quants.each[components[i] & 3];
        // SAFETY: the `Neon` value proves that the machine has NEON.
        unsafe { one(&blocks[i], quant, targets.targets[i], targets.planes) }
    }
}

#[target_feature(enable = "neon")]
fn one(block: &[i16; 64], quant: &Quant, target: Target, planes: &mut [u8]) {
    store(inverse(block, quant), target, planes);
}

#[target_feature(enable = "neon")]
fn one_by_one(
    blocks: &mut [[i16; 64]; Batch::ROOM],
    components: &[usize; Batch::ROOM],
    quants: &Quants,
    targets: &mut Targets<'_>,
) {
    for (i, target) in targets.targets.iter().enumerate() {
        let i = i % Batch::ROOM;
        one(&blocks[i], &quants.each[components[i] & 3], *target, targets.planes);
        blocks[i] = [0; 64];
    }
}

/// Rows of bytes, two in each register.
#[inline]
#[target_feature(enable = "neon")]
fn inverse(block: &[i16; 64], quant: &Quant) -> [uint8x16_t; 4] {
    let x: [int16x8_t; 8] = std::array::from_fn(|row| load(block, row));
    let upper = vorrq_s16(vorrq_s16(x[1], x[2]), x[3]);
    let lower = vorrq_s16(vorrq_s16(x[4], x[5]), vorrq_s16(x[6], x[7]));
    let right = vget_high_s16(vorrq_s16(x[0], upper));
    if is_zero(vorr_s16(vorr_s16(vget_low_s16(lower), vget_high_s16(lower)), right)) {
        return inverse_corner(block, quant, is_zero(vget_low_s16(upper)));
    }
    let below = vorrq_s16(upper, lower);
    let x: [int16x8_t; 8] = std::array::from_fn(|row| vmulq_s16(x[row], load(&quant.0, row)));
    if is_zero(vorr_s16(vget_low_s16(below), vget_high_s16(below))) {
        // libjpeg-turbo's shortcut, which wraps where the full transform would saturate.
        return second_pass(spread(vshlq_n_s16::<2>(x[0])));
    }
    second_pass(transpose(first_pass(x)))
}

/// [`inverse`] of a block that has nothing outside of its top left quarter, nor below the first row if it is `flat`.
#[inline]
#[target_feature(enable = "neon")]
fn inverse_corner(block: &[i16; 64], quant: &Quant, flat: bool) -> [uint8x16_t; 4] {
    if !flat {
        let x = std::array::from_fn(|row| vmul_s16(load_left(block, row), load_left(&quant.0, row)));
        return short_second_pass(transpose_corner(short_first_pass(x)));
    }
    let first = vshl_n_s16::<2>(vmul_s16(load_left(block, 0), load_left(&quant.0, 0)));
    if block[1] == 0 && block[2] == 0 && block[3] == 0 {
        return [shift_level(vdupq_n_s8(narrow_first(first))); 4];
    }
    let [a, b, c, d, ..] = spread(vcombine_s16(first, first));
    short_second_pass([a, b, c, d])
}

/// The first of four values, rounded and shifted by 5 bits, and saturated to 8.
#[inline]
#[target_feature(enable = "neon")]
fn narrow_first(values: int16x4_t) -> i8 {
    vget_lane_s8::<0>(vqrshrn_n_s16::<5>(vcombine_s16(values, values)))
}

/// Even and odd sums of four columns: the first half of `idct::one_dimension`.
type Sums = ([int32x4_t; 4], [int32x4_t; 4]);

/// One of them, of eight columns or rows: `x`, with the sum and the difference of the values 0 and 4, and the sums of the
/// values 7 and 3, 5 and 1.
#[inline]
#[target_feature(enable = "neon")]
fn sums(x: [int16x4_t; 8], [sum, difference, z3, z4]: [int16x4_t; 4]) -> Sums {
    let (t0, t1) = (vshll_n_s16::<13>(sum), vshll_n_s16::<13>(difference));
    let t2 = vmlal_n_s16(vmull_n_s16(x[2], 4433), x[6], -10704);
    let t3 = vmlal_n_s16(vmull_n_s16(x[2], 10703), x[6], 4433);
    let even = [vaddq_s32(t0, t3), vaddq_s32(t1, t2), vsubq_s32(t1, t2), vsubq_s32(t0, t3)];
    let (z3, z4) =
        (vmlal_n_s16(vmull_n_s16(z3, -6436), z4, 9633), vmlal_n_s16(vmull_n_s16(z3, 9633), z4, 6437));
    let odd = [
        vmlal_n_s16(vmlal_n_s16(z4, x[7], -7373), x[1], 4926),
        vmlal_n_s16(vmlal_n_s16(z3, x[5], -20995), x[3], 4177),
        vmlal_n_s16(vmlal_n_s16(z4, x[5], -4176), x[3], -20995),
        vmlal_n_s16(vmlal_n_s16(z3, x[7], -4927), x[1], -7373),
    ];
    (even, odd)
}

/// [`sums`] of both halves of eight registers.
#[inline]
#[target_feature(enable = "neon")]
fn both_sums(x: [int16x8_t; 8]) -> [Sums; 2] {
    let wrapped =
        [vaddq_s16(x[0], x[4]), vsubq_s16(x[0], x[4]), vaddq_s16(x[7], x[3]), vaddq_s16(x[5], x[1])];
    [
        sums(x.map(|x| vget_low_s16(x)), wrapped.map(|x| vget_low_s16(x))),
        sums(x.map(|x| vget_high_s16(x)), wrapped.map(|x| vget_high_s16(x))),
    ]
}

/// [`sums`] where the values 4 to 7 are zero.
#[inline]
#[target_feature(enable = "neon")]
fn short_sums(x: [int16x4_t; 4]) -> Sums {
    let t0 = vshll_n_s16::<13>(x[0]);
    let even = [
        vmlal_n_s16(t0, x[2], 10703),
        vmlal_n_s16(t0, x[2], 4433),
        vmlsl_n_s16(t0, x[2], 4433),
        vmlsl_n_s16(t0, x[2], 10703),
    ];
    let odd = [(11363, 9633), (9633, -2259), (6437, -11362), (2260, -6436)]
        .map(|(first, third)| vmlal_n_s16(vmull_n_s16(x[1], first), x[3], third));
    (even, odd)
}

/// The first pass, over columns.
#[inline]
#[target_feature(enable = "neon")]
fn first_pass(x: [int16x8_t; 8]) -> [int16x8_t; 8] {
    let [low, high] = both_sums(x).map(|sums| outputs(sums));
    std::array::from_fn(|i| vqrshrn_high_n_s32::<11>(vqrshrn_n_s32::<11>(low[i]), high[i]))
}

/// [`first_pass`] of the four columns of a corner: rows i and i + 4 in each register.
#[inline]
#[target_feature(enable = "neon")]
fn short_first_pass(x: [int16x4_t; 4]) -> [int16x8_t; 4] {
    let sums = outputs(short_sums(x));
    std::array::from_fn(|i| vqrshrn_high_n_s32::<11>(vqrshrn_n_s32::<11>(sums[i]), sums[i + 4]))
}

/// Sums and differences of even and odd sums, in the order of the results.
#[inline]
#[target_feature(enable = "neon")]
fn outputs((even, odd): Sums) -> [int32x4_t; 8] {
    std::array::from_fn(
        |i| {
            if i < 4 { vaddq_s32(even[i], odd[i]) } else { vsubq_s32(even[7 - i], odd[7 - i]) }
        },
    )
}

/// The second pass, over rows: from columns to rows of bytes.
#[inline]
#[target_feature(enable = "neon")]
fn second_pass(x: [int16x8_t; 8]) -> [uint8x16_t; 4] {
    pixels(both_sums(x))
}

/// [`second_pass`] where the columns 4 to 7 are zero.
#[inline]
#[target_feature(enable = "neon")]
fn short_second_pass(x: [int16x8_t; 4]) -> [uint8x16_t; 4] {
    pixels([short_sums(x.map(|x| vget_low_s16(x))), short_sums(x.map(|x| vget_high_s16(x)))])
}

/// Adds, rounds and shifts the sums by 18 bits, first by 16 of them, which gives the same: then by rows as bytes.
#[inline]
#[target_feature(enable = "neon")]
fn pixels([low, high]: [Sums; 2]) -> [uint8x16_t; 4] {
    let column = |i: usize| {
        if i < 4 {
            vaddhn_high_s32(vaddhn_s32(low.0[i], low.1[i]), high.0[i], high.1[i])
        } else {
            let i = 7 - i;
            vsubhn_high_s32(vsubhn_s32(low.0[i], low.1[i]), high.0[i], high.1[i])
        }
    };
    let packed = |i: usize, j: usize| vqrshrn_high_n_s16::<2>(vqrshrn_n_s16::<2>(column(i)), column(j));
    let (a, b, c, d) = (packed(0, 2), packed(1, 3), packed(4, 6), packed(5, 7));
    let zipped = |a: int8x16_t, b: int8x16_t| {
        let (low, high) = (vreinterpretq_s16_s8(vzip1q_s8(a, b)), vreinterpretq_s16_s8(vzip2q_s8(a, b)));
        [vzip1q_s16(low, high), vzip2q_s16(low, high)].map(|rows| vreinterpretq_s32_s16(rows))
    };
    let ([left, left2], [right, right2]) = (zipped(a, b), zipped(c, d));
    [vzip1q_s32(left, right), vzip2q_s32(left, right), vzip1q_s32(left2, right2), vzip2q_s32(left2, right2)]
        .map(|rows| shift_level(vreinterpretq_s8_s32(rows)))
}

#[inline]
#[target_feature(enable = "neon")]
fn shift_level(values: int8x16_t) -> uint8x16_t {
    veorq_u8(vreinterpretq_u8_s8(values), vdupq_n_u8(0x80))
}

/// Transposes 8x8 values.
#[inline]
#[target_feature(enable = "neon")]
fn transpose(r: [int16x8_t; 8]) -> [int16x8_t; 8] {
    let [a, b] = [[r[0], r[1], r[2], r[3]], [r[4], r[5], r[6], r[7]]].map(|four| transpose_corner(four));
    // Columns 0 to 3 of the first four rows, then columns 4 to 7 of them; of the others likewise.
    let (a, b) = (a.map(|a| vreinterpretq_s64_s16(a)), b.map(|b| vreinterpretq_s64_s16(b)));
    std::array::from_fn(|i| {
        vreinterpretq_s16_s64(match i < 4 {
            true => vtrn1q_s64(a[i], b[i]),
            false => vtrn2q_s64(a[i - 4], b[i - 4]),
        })
    })
}

/// Transposes the 4x4 values in each half of four registers.
#[inline]
#[target_feature(enable = "neon")]
fn transpose_corner(r: [int16x8_t; 4]) -> [int16x8_t; 4] {
    let pairs =
        [vtrn1q_s16(r[0], r[1]), vtrn2q_s16(r[0], r[1]), vtrn1q_s16(r[2], r[3]), vtrn2q_s16(r[2], r[3])];
    let [a, b, c, d] = pairs.map(|pair| vreinterpretq_s32_s16(pair));
    [vtrn1q_s32(a, c), vtrn1q_s32(b, d), vtrn2q_s32(a, c), vtrn2q_s32(b, d)]
        .map(|column| vreinterpretq_s16_s32(column))
}

/// A register for each of eight values, full of it.
#[inline]
#[target_feature(enable = "neon")]
fn spread(x: int16x8_t) -> [int16x8_t; 8] {
    [
        vdupq_laneq_s16::<0>(x),
        vdupq_laneq_s16::<1>(x),
        vdupq_laneq_s16::<2>(x),
        vdupq_laneq_s16::<3>(x),
        vdupq_laneq_s16::<4>(x),
        vdupq_laneq_s16::<5>(x),
        vdupq_laneq_s16::<6>(x),
        vdupq_laneq_s16::<7>(x),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn is_zero(values: int16x4_t) -> bool {
    vget_lane_u64::<0>(vreinterpret_u64_s16(values)) == 0
}

/// A row of a block.
#[inline]
#[target_feature(enable = "neon")]
fn load(block: &[i16; 64], row: usize) -> int16x8_t {
    let eight = &block[row * 8..row * 8 + 8];
    // SAFETY: the slice holds eight i16.
    unsafe { vld1q_s16(eight.as_ptr()) }
}

/// The left half of a row.
#[inline]
#[target_feature(enable = "neon")]
fn load_left(block: &[i16; 64], row: usize) -> int16x4_t {
    let four = &block[row * 8..row * 8 + 4];
    // SAFETY: the slice holds four i16.
    unsafe { vld1_s16(four.as_ptr()) }
}

/// Stores eight rows, two from each register, at a target that [`Targets`] has checked.
#[inline]
#[target_feature(enable = "neon")]
fn store(pairs: [uint8x16_t; 4], target: Target, planes: &mut [u8]) {
    for (pair, rows) in pairs.into_iter().enumerate() {
        // SAFETY: these are rows 2 * pair and 2 * pair + 1, and `Targets` has checked all eight.
        unsafe {
            let first = planes.as_mut_ptr().add(target.offset + 2 * pair * target.stride);
            vst1_u8(first, vget_low_u8(rows));
            vst1_u8(first.add(target.stride), vget_high_u8(rows));
        }
    }
}
