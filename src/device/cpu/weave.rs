//! Packed RGB bytes to three planes of f32 and back, with AVX2.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::block::{LANES, Plane};
use super::pack::GROUP;
use std::arch::x86_64::*;

/// 64 packed RGB pixels.
pub(super) type Packed = [u8; LANES * 3];

/// Byte `i` of a channel comes from byte 3 i + channel of 48: which of them register `part` holds.
const fn split_table(channel: usize, part: usize) -> [i8; 16] {
    let mut table = [-1i8; 16];
    let mut i = 0;
    while i < 16 {
        let at = 3 * i + channel;
        if at / 16 == part {
            table[i] = (at % 16) as i8;
        }
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

const SPLIT: Tables = {
    let mut tables = [[[0; 16]; 3]; 3];
    let mut i = 0;
    while i < 9 {
        tables[i / 3][i % 3] = split_table(i / 3, i % 3);
        i += 1;
    }
    tables
};

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

/// Levels of 64 packed pixels as f32.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn split(packed: &Packed, planes: &mut [Plane; 3]) {
    for quarter in 0..4 {
        // SAFETY: 48 * 3 + 32 + 16 is the length of `packed`.
        let from =
            [0, 1, 2].map(|i| unsafe { _mm_loadu_si128(packed.as_ptr().add(48 * quarter + 16 * i).cast()) });
        for (plane, tables) in planes.iter_mut().zip(&SPLIT) {
            let bytes = gather(from, tables);
            let halves = [bytes, _mm_srli_si128(bytes, 8)];
            for (half, eight) in halves.into_iter().enumerate() {
                let levels = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
                // SAFETY: 16 * 3 + 8 + 8 is the length of a plane.
                unsafe { _mm256_storeu_ps(plane.as_mut_ptr().add(16 * quarter + 8 * half), levels) };
            }
        }
    }
}

/// fma(level, a, b) of packed pixels, with a and b a channel, as far as all slices go: as `split` and then a sum for each
/// plane, without the way through memory.
#[target_feature(enable = "avx2,fma")]
pub(super) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    [red, green, blue]: [&mut [[f32; GROUP]]; 3],
) {
    let factors = factors.map(|[a, b]| (_mm256_set1_ps(a), _mm256_set1_ps(b)));
    for (((packed, red), green), blue) in packed.iter().zip(red).zip(green).zip(blue) {
        // SAFETY: 32 + 16 is the length of `packed`.
        let from = [0, 1, 2].map(|i| unsafe { _mm_loadu_si128(packed.as_ptr().add(16 * i).cast()) });
        for ((plane, tables), (a, b)) in [red, green, blue].into_iter().zip(&SPLIT).zip(factors) {
            let bytes = gather(from, tables);
            for (half, eight) in [bytes, _mm_srli_si128(bytes, 8)].into_iter().enumerate() {
                let levels = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
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
