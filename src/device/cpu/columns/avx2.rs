//! The sums with AVX2 and FMA.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::{Columns, four, sixteen, wide};
use crate::device::cpu::lanes::PACK_RGB;
use std::arch::x86_64::*;

wide!("avx2,fma");

#[inline]
#[target_feature(enable = "avx2,fma")]
fn zero() -> __m128 {
    _mm_setzero_ps()
}

/// fma(level, weight, sum).
#[inline]
#[target_feature(enable = "avx2,fma")]
fn add(sum: __m128, levels: &[f32; 4], weight: f32) -> __m128 {
    // SAFETY: there are four numbers.
    _mm_fmadd_ps(unsafe { _mm_loadu_ps(levels.as_ptr()) }, _mm_set1_ps(weight), sum)
}

/// Stores four pixels as bytes, each sum as the nearest whole number, the even one of two; four zeros follow.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn store(sums: [__m128; 4], to: &mut [u8; 16]) {
    let [a, b, c, d] = sums.map(|sum| _mm_cvtps_epi32(sum));
    let levels = _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
    // SAFETY: the table has 16 bytes, and so has `to`.
    unsafe {
        let closer = _mm_loadu_si128(PACK_RGB.as_ptr().cast());
        _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_shuffle_epi8(levels, closer));
    }
}
