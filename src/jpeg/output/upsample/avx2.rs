//! The triangle filters, 16 source samples at a time.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX2")]

use std::arch::x86_64::*;

use crate::simd::Avx2;

/// See [`super::h2v1`].
pub(crate) fn h2v1(_: Avx2, source: &[u8], count: usize, out: &mut [u8]) {
    let steps = count.div_ceil(16);
    assert!(source.len() >= steps * 16 + 2 && out.len() >= steps * 32);
    // SAFETY: the `Avx2` value proves that the machine has AVX2.
    unsafe { h2v1_avx2(source, steps, out) }
}

/// See [`super::h2v2`].
pub(crate) fn h2v2(_: Avx2, near: &[u8], far: &[u8], count: usize, out: &mut [u8]) {
    let steps = count.div_ceil(16);
    assert!(near.len() >= steps * 16 + 2 && far.len() >= steps * 16 + 2 && out.len() >= steps * 32);
    // SAFETY: the `Avx2` value proves that the machine has AVX2.
    unsafe { h2v2_avx2(near, far, steps, out) }
}

/// Sixteen bytes from `at` on, as 16-bit values.
#[inline]
#[target_feature(enable = "avx2")]
fn load(row: &[u8], at: usize) -> __m256i {
    let sixteen = &row[at..at + 16];
    // SAFETY: the slice is 16 bytes long; the load may be unaligned.
    _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
}

/// Interleaves the low bytes of `even` and `odd` and stores them from `at` on.
#[inline]
#[target_feature(enable = "avx2")]
fn store(even: __m256i, odd: __m256i, out: &mut [u8], at: usize) {
    let both = _mm256_or_si256(even, _mm256_slli_epi16::<8>(odd));
    let thirty_two = &mut out[at..at + 32];
    // SAFETY: the slice is 32 bytes long; the store may be unaligned.
    unsafe { _mm256_storeu_si256(thirty_two.as_mut_ptr().cast(), both) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn times_three(x: __m256i) -> __m256i {
    _mm256_add_epi16(x, _mm256_add_epi16(x, x))
}

#[target_feature(enable = "avx2")]
fn h2v1_avx2(source: &[u8], steps: usize, out: &mut [u8]) {
    for step in 0..steps {
        let at = step * 16;
        let centre = times_three(load(source, at + 1));
        let left = _mm256_add_epi16(load(source, at), _mm256_set1_epi16(1));
        let right = _mm256_add_epi16(load(source, at + 2), _mm256_set1_epi16(2));
        let even = _mm256_srli_epi16::<2>(_mm256_add_epi16(centre, left));
        let odd = _mm256_srli_epi16::<2>(_mm256_add_epi16(centre, right));
        store(even, odd, out, step * 32);
    }
}

#[target_feature(enable = "avx2")]
fn h2v2_avx2(near: &[u8], far: &[u8], steps: usize, out: &mut [u8]) {
    for step in 0..steps {
        let at = step * 16;
        let sum = |i: usize| _mm256_add_epi16(times_three(load(near, at + i)), load(far, at + i));
        let centre = times_three(sum(1));
        let left = _mm256_add_epi16(sum(0), _mm256_set1_epi16(8));
        let right = _mm256_add_epi16(sum(2), _mm256_set1_epi16(7));
        let even = _mm256_srli_epi16::<4>(_mm256_add_epi16(centre, left));
        let odd = _mm256_srli_epi16::<4>(_mm256_add_epi16(centre, right));
        store(even, odd, out, step * 32);
    }
}
