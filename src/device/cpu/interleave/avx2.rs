//! Packed RGB bytes to three planes of f32 and back, with AVX2.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use crate::device::cpu::lanes::{GROUP, LANES, Plane};
use std::arch::x86_64::*;

/// 64 packed RGB pixels.
type Packed = [u8; LANES * 3];

/// Where the levels of a channel lie in 8 packed pixels, of which the halves of a register hold bytes 0 to 15 and 8 to 23;
/// each becomes a 32-bit number.
const fn split_table(channel: usize) -> [i8; 32] {
    let mut table = [-1i8; 32];
    let mut i = 0;
    while i < 4 {
        table[4 * i] = (3 * i + channel) as i8;
        table[16 + 4 * i] = (3 * (i + 4) + channel - 8) as i8;
        i += 1;
    }
    table
}

/// Byte `i` of packed register `part` is byte (16 part + i) / 3 of channel (16 part + i) % 3.
const fn join_table(channel: usize, part: usize) -> [i8; 16] {
    let mut table = [-1i8; 16];
    let mut i = 0;
    while i < 16 {
        let at = 16 * part + i;
        if at % 3 == channel {
            table[i] = (at / 3) as i8;
        }
        i += 1;
    }
    table
}

type Tables = [[[i8; 16]; 3]; 3];

static SPLIT: [[i8; 32]; 3] = [split_table(0), split_table(1), split_table(2)];

const JOIN: Tables = {
    let mut tables = [[[0; 16]; 3]; 3];
    let mut i = 0;
    while i < 9 {
        tables[i / 3][i % 3] = join_table(i % 3, i / 3);
        i += 1;
    }
    tables
};

/// One register gathered from three.
#[target_feature(enable = "avx2")]
#[inline]
fn gather(from: [__m128i; 3], tables: &[[i8; 16]; 3]) -> __m128i {
    // SAFETY: each table has 16 bytes.
    let table = |i: usize| unsafe { _mm_loadu_si128(tables[i].as_ptr().cast()) };
    let [a, b, c] = [0, 1, 2].map(|i| _mm_shuffle_epi8(from[i], table(i)));
    _mm_or_si128(_mm_or_si128(a, b), c)
}

/// Levels of 8 packed pixels as f32, one channel per register.
#[target_feature(enable = "avx2")]
#[inline]
fn levels(packed: &[u8; 24]) -> [__m256; 3] {
    // SAFETY: 8 + 16 is the length of `packed`.
    let pixels = unsafe {
        let start = packed.as_ptr();
        _mm256_set_m128i(_mm_loadu_si128(start.add(8).cast()), _mm_loadu_si128(start.cast()))
    };
    SPLIT.each_ref().map(|table| {
        // SAFETY: the table has 32 bytes.
        let table = unsafe { _mm256_loadu_si256(table.as_ptr().cast()) };
        _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, table))
    })
}

/// Levels of 64 packed pixels as f32.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn split(packed: &Packed, planes: &mut [Plane; 3]) {
    for (eighth, pixels) in packed.as_chunks::<24>().0.iter().enumerate() {
        for (plane, levels) in planes.iter_mut().zip(levels(pixels)) {
            // SAFETY: 7 * 8 + 8 is the length of a plane.
            unsafe { _mm256_storeu_ps(plane.as_mut_ptr().add(8 * eighth), levels) };
        }
    }
}

/// fma(level, a, b) of packed pixels, with a and b per channel, as far as all slices go: as `split` and then a sum for each
/// plane, without the way through memory.
#[target_feature(enable = "avx2,fma")]
pub(super) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    [red, green, blue]: [&mut [[f32; GROUP]]; 3],
) {
    let factors = factors.map(|[a, b]| (_mm256_set1_ps(a), _mm256_set1_ps(b)));
    for (((packed, red), green), blue) in packed.iter().zip(red).zip(green).zip(blue) {
        for (half, pixels) in packed.as_chunks::<24>().0.iter().enumerate() {
            let planes = [&mut *red, &mut *green, &mut *blue];
            for ((plane, levels), (a, b)) in planes.into_iter().zip(levels(pixels)).zip(factors) {
                // SAFETY: 8 + 8 is the length of `plane`.
                unsafe { _mm256_storeu_ps(plane.as_mut_ptr().add(8 * half), _mm256_fmadd_ps(levels, a, b)) };
            }
        }
    }
}

/// 16 values from `at` on, cut off to bytes; they are in 0..256.
#[target_feature(enable = "avx2")]
#[inline]
fn cut_off(plane: &Plane, at: usize) -> __m128i {
    let words = |at: usize| {
        assert!(at + 8 <= LANES);
        // SAFETY: eight values from `at` on lie inside the plane.
        _mm256_cvttps_epi32(unsafe { _mm256_loadu_ps(plane.as_ptr().add(at)) })
    };
    let words = _mm256_permute4x64_epi64(_mm256_packs_epi32(words(at), words(at + 8)), 0b11_01_10_00);
    _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1))
}

/// Levels as packed bytes, cut off.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn join(planes: &[Plane; 3], packed: &mut Packed) {
    for quarter in 0..4 {
        let from = [0, 1, 2].map(|c| cut_off(&planes[c], 16 * quarter));
        for (part, tables) in JOIN.iter().enumerate() {
            let bytes = gather(from, tables);
            // SAFETY: 48 * 3 + 16 * 2 + 16 is the length of `packed`.
            unsafe { _mm_storeu_si128(packed.as_mut_ptr().add(48 * quarter + 16 * part).cast(), bytes) };
        }
    }
}

/// Values of one channel as bytes, cut off.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn bytes(plane: &Plane) -> [u8; LANES] {
    let mut bytes = [0; LANES];
    for quarter in 0..4 {
        let cut = cut_off(plane, 16 * quarter);
        // SAFETY: 16 * 3 + 16 is the length of `bytes`.
        unsafe { _mm_storeu_si128(bytes.as_mut_ptr().add(16 * quarter).cast(), cut) };
    }
    bytes
}
