//! The inverse DCT of four blocks at once, one in each quarter of the 512-bit registers.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX-512")]

use std::arch::x86_64::*;
use std::arch::x86_64::{
    __m512i as Vector, _mm512_add_epi8 as add_8, _mm512_add_epi16 as add_16, _mm512_add_epi32 as add_32,
    _mm512_madd_epi16 as multiply_add, _mm512_packs_epi16 as pack_16, _mm512_packs_epi32 as pack_32,
    _mm512_set1_epi8 as set1_8, _mm512_set1_epi16 as set1_16, _mm512_set1_epi32 as set1_32,
    _mm512_sll_epi16 as shift_left_16, _mm512_sra_epi32 as shift_right_32, _mm512_sub_epi16 as sub_16,
    _mm512_sub_epi32 as sub_32, _mm512_unpackhi_epi8 as high_8, _mm512_unpackhi_epi16 as high_16,
    _mm512_unpackhi_epi32 as high_32, _mm512_unpackhi_epi64 as high_64, _mm512_unpacklo_epi8 as low_8,
    _mm512_unpacklo_epi16 as low_16, _mm512_unpacklo_epi32 as low_32, _mm512_unpacklo_epi64 as low_64,
};

use super::targets::Targets;
use crate::jpeg::transform::batch::Batch;
use crate::jpeg::transform::quant::Quants;
use crate::jpeg::transform::target::Target;
use crate::simd::Avx512;

/// Dequantises and transforms the blocks of `batch` into `planes`, and empties the batch. Panics if the targets do not
/// fit in the planes as [`Targets`] requires.
pub(crate) fn transform(_: Avx512, batch: &mut Batch, quants: &Quants, planes: &mut [u8]) {
    let Batch { blocks, components, targets, count } = batch;
    let targets = &targets[..std::mem::take(count)];
    // SAFETY: the `Avx512` value proves that the machine has it.
    unsafe { in_groups(blocks, components, quants, &mut Targets::new(targets, planes)) }
}

/// Dequantises and transforms the blocks of `batch` that have a bit in either mask into `planes`, and leaves the batch as it is;
/// those of the first have no coefficients outside of their top left quarter. Panics as [`transform`], and where a bit has no block.
pub(crate) fn transform_sorted(
    _: Avx512,
    masks: (u32, u32),
    batch: &mut Batch,
    quants: &Quants,
    planes: &mut [u8],
) {
    let Batch { blocks, components, targets, count } = batch;
    let mut targets = Targets::new(&targets[..*count], planes);
    // SAFETY: the `Avx512` value proves that the machine has it.
    unsafe { sorted(masks, blocks, components, quants, &mut targets) }
}

super::lanes::transform!("avx512f,avx512bw,avx512vl");

/// Blocks at once.
const LANES: usize = 4;

/// A bit for each eight bytes of the blocks that are flat.
type Flat = __mmask8;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn choose(full: __m512i, wrapped: __m512i, flat: Flat) -> __m512i {
    _mm512_mask_blend_epi64(flat, full, wrapped)
}

/// Whether all coefficients outside of the top left quarter are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn is_corner(block: &[i16; 64]) -> bool {
    let (top, bottom) = (load_half(block, 0), load_half(block, 1));
    // Eight bytes at a time; of the top rows, the second ones are the right half.
    _mm512_mask_test_epi64_mask(0xAA, top, top) | _mm512_test_epi64_mask(bottom, bottom) == 0
}

/// The first rows of four blocks, dequantised; with less than eight, the others must be zero.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load<const ROWS: usize>(
    coefficients: [&[i16; 64]; LANES],
    quants: &Quants,
    components: [usize; LANES],
) -> [__m512i; ROWS] {
    let quant = components.map(|component| &quants.each[component & 3]);
    let mut x = [_mm512_setzero_si512(); ROWS];
    for (half, rows) in x.as_chunks_mut().0.iter_mut().enumerate() {
        *rows = quarters_to_rows(std::array::from_fn(|i| {
            _mm512_mullo_epi16(load_half(coefficients[i], half), load_half(&quant[i].0, half))
        }));
    }
    x
}

/// Stores rows 2i and 2i + 1 of each block of `group` from each lane of `pairs[i]`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn store(pairs: [__m512i; 4], group: [usize; LANES], targets: &mut Targets<'_>) {
    let lanes = [
        pairs.map(|pair| _mm512_castsi512_si128(pair)),
        pairs.map(|pair| _mm512_extracti32x4_epi32::<1>(pair)),
        pairs.map(|pair| _mm512_extracti32x4_epi32::<2>(pair)),
        pairs.map(|pair| _mm512_extracti32x4_epi32::<3>(pair)),
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

/// Rows 0 to 3 or 4 to 7 of a block.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load_half(block: &[i16; 64], half: usize) -> __m512i {
    let four_rows = &block[half * 32..half * 32 + 32];
    // SAFETY: the slice holds 32 i16, which are 64 bytes; the load may be unaligned.
    unsafe { _mm512_loadu_si512(four_rows.as_ptr().cast()) }
}

/// From four rows of each of four blocks to one row of all blocks in each register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn quarters_to_rows([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let even = (_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0x88>(c, d));
    let odd = (_mm512_shuffle_i32x4::<0xDD>(a, b), _mm512_shuffle_i32x4::<0xDD>(c, d));
    [
        _mm512_shuffle_i32x4::<0x88>(even.0, even.1),
        _mm512_shuffle_i32x4::<0x88>(odd.0, odd.1),
        _mm512_shuffle_i32x4::<0xDD>(even.0, even.1),
        _mm512_shuffle_i32x4::<0xDD>(odd.0, odd.1),
    ]
}

/// Whether any value of the first row is beyond 14 bits, so that four times it wraps.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn is_wild(first: __m512i) -> bool {
    let moved = _mm512_add_epi16(first, _mm512_set1_epi16(1 << 13));
    _mm512_test_epi16_mask(moved, _mm512_set1_epi16(3 << 14)) != 0
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn mask(flat: [bool; LANES]) -> Flat {
    // Two groups of eight bytes a block.
    flat.into_iter().rev().fold(0, |mask, on| (mask << 2) | (u8::from(on) * 3))
}
