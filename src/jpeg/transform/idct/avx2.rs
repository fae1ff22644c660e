//! The inverse DCT of two blocks at once, one in each half of the 256-bit registers.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX2")]

use std::arch::x86_64::*;
use std::arch::x86_64::{
    __m256i as Vector, _mm256_add_epi8 as add_8, _mm256_add_epi16 as add_16, _mm256_add_epi32 as add_32,
    _mm256_madd_epi16 as multiply_add, _mm256_packs_epi16 as pack_16, _mm256_packs_epi32 as pack_32,
    _mm256_set1_epi8 as set1_8, _mm256_set1_epi16 as set1_16, _mm256_set1_epi32 as set1_32,
    _mm256_sll_epi16 as shift_left_16, _mm256_sra_epi32 as shift_right_32, _mm256_sub_epi16 as sub_16,
    _mm256_sub_epi32 as sub_32, _mm256_unpackhi_epi8 as high_8, _mm256_unpackhi_epi16 as high_16,
    _mm256_unpackhi_epi32 as high_32, _mm256_unpackhi_epi64 as high_64, _mm256_unpacklo_epi8 as low_8,
    _mm256_unpacklo_epi16 as low_16, _mm256_unpacklo_epi32 as low_32, _mm256_unpacklo_epi64 as low_64,
};

use super::targets::Targets;
use crate::jpeg::transform::batch::Batch;
use crate::jpeg::transform::quant::{Pair, Quants};
use crate::jpeg::transform::target::Target;
use crate::simd::Avx2;

/// Dequantises and transforms the blocks of `batch` into `planes`, and empties the batch. Panics if the targets do not
/// fit in the planes as [`Targets`] requires.
pub(crate) fn transform(_: Avx2, batch: &mut Batch, quants: &Quants, planes: &mut [u8]) {
    let Batch { blocks, components, targets, count } = batch;
    let targets = &targets[..std::mem::take(count)];
    // SAFETY: the `Avx2` value proves that the machine has AVX2.
    unsafe { in_groups(blocks, components, quants, &mut Targets::new(targets, planes)) }
}

/// Dequantises and transforms the blocks of `batch` that have a bit in either mask into `planes`, and leaves the batch as it is;
/// those of the first have no coefficients outside of their top left quarter. Panics as [`transform`], and where a bit has no block.
pub(crate) fn transform_sorted(
    _: Avx2,
    masks: (u32, u32),
    batch: &mut Batch,
    quants: &Quants,
    planes: &mut [u8],
) {
    let Batch { blocks, components, targets, count } = batch;
    let mut targets = Targets::new(&targets[..*count], planes);
    // SAFETY: the `Avx2` value proves that the machine has it.
    unsafe { sorted(masks, blocks, components, quants, &mut targets) }
}

super::lanes::transform!("avx2");

/// Blocks at once.
const LANES: usize = 2;

/// A mask of the halves that are flat.
type Flat = __m256i;

#[inline]
#[target_feature(enable = "avx2")]
fn choose(full: __m256i, wrapped: __m256i, flat: Flat) -> __m256i {
    _mm256_blendv_epi8(full, wrapped, flat)
}

/// Whether all coefficients outside of the top left quarter are zero.
#[inline]
#[target_feature(enable = "avx2")]
fn is_corner(block: &[i16; 64]) -> bool {
    let [a, b, c, d] = [0, 2, 4, 6].map(|row| load_rows(block, row));
    let right = _mm256_and_si256(_mm256_or_si256(a, b), _mm256_set_epi64x(-1, 0, -1, 0));
    let outside = _mm256_or_si256(right, _mm256_or_si256(c, d));
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(outside, _mm256_setzero_si256())) == -1
}

/// The first rows of two blocks, dequantised; with less than eight, the others must be zero.
#[inline]
#[target_feature(enable = "avx2")]
fn load<const ROWS: usize>(
    coefficients: [&[i16; 64]; LANES],
    quants: &Quants,
    [first, second]: [usize; LANES],
) -> [__m256i; ROWS] {
    let Pair(factors) = &quants.pairs[(first & 3) * 4 + (second & 3)];
    std::array::from_fn(|row| {
        // SAFETY: a row of two blocks is 32 bytes; the load may be unaligned.
        let factors = unsafe { _mm256_loadu_si256(factors[row].as_ptr().cast()) };
        _mm256_mullo_epi16(load_row(coefficients, row), factors)
    })
}

/// Stores rows 2i and 2i + 1 of each block of `group` from each lane of `pairs[i]`.
#[inline]
#[target_feature(enable = "avx2")]
fn store(pairs: [__m256i; 4], group: [usize; LANES], targets: &mut Targets<'_>) {
    let lanes = [
        pairs.map(|pair| _mm256_castsi256_si128(pair)),
        pairs.map(|pair| _mm256_extracti128_si256::<1>(pair)),
    ];
    for (pairs, i) in lanes.into_iter().zip(group) {
        // Field by field: a target as a whole would be copied by a wide load, which waits for the narrow stores before it.
        let Target { offset, stride, .. } = &targets.targets[i];
        let (offset, stride) = (*offset, *stride);
        for (pair, rows) in pairs.into_iter().enumerate() {
            // SAFETY: these are rows 2 * pair and 2 * pair + 1, and `Targets` has checked all eight.
            unsafe {
                let first = targets.planes.as_mut_ptr().add(offset + 2 * pair * stride);
                _mm_storel_epi64(first.cast(), rows);
                _mm_storel_epi64(first.add(stride).cast(), _mm_unpackhi_epi64(rows, rows));
            }
        }
    }
}

/// Whether any value of the first row is beyond 14 bits, so that four times it wraps.
#[inline]
#[target_feature(enable = "avx2")]
fn is_wild(first: __m256i) -> bool {
    let moved = _mm256_add_epi16(first, _mm256_set1_epi16(1 << 13));
    _mm256_testz_si256(moved, _mm256_set1_epi16(3 << 14)) == 0
}

#[inline]
#[target_feature(enable = "avx2")]
fn mask(flat: [bool; LANES]) -> Flat {
    let [low, high] = flat.map(|on| _mm_set1_epi8(-i8::from(on)));
    _mm256_set_m128i(high, low)
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_row(blocks: [&[i16; 64]; LANES], row: usize) -> __m256i {
    let half = |block: &[i16; 64]| {
        let eight: &[i16] = &block[row * 8..row * 8 + 8];
        // SAFETY: the slice holds eight i16, which are 16 bytes; the load may be unaligned.
        unsafe { _mm_loadu_si128(eight.as_ptr().cast()) }
    };
    _mm256_set_m128i(half(blocks[1]), half(blocks[0]))
}

/// Two rows of a block.
#[inline]
#[target_feature(enable = "avx2")]
fn load_rows(block: &[i16; 64], row: usize) -> __m256i {
    let sixteen = &block[row * 8..row * 8 + 16];
    // SAFETY: the slice holds 16 i16, which are 32 bytes; the load may be unaligned.
    unsafe { _mm256_loadu_si256(sixteen.as_ptr().cast()) }
}
