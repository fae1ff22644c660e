//! Resampling with AVX2: two rows at once across, 32 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::{Axis, Lines, View};
use crate::image::Image;
use std::arch::x86_64::*;

/// From four packed RGB pixels to (R0 R1 G0 G1 B0 B1 0 0) as 16-bit lanes; -1 gives zero.
pub(super) const FIRST_PAIR: [i8; 16] = [0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1];
/// The same of the third and fourth pixel.
pub(super) const SECOND_PAIR: [i8; 16] = [6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1];
/// From four R G B 0 groups to twelve packed bytes.
pub(super) const PACK_RGB: [i8; 16] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1];

pub(super) fn horizontal(view: View<'_>, height: usize, columns: &Axis, middle: &mut [u8], stride: usize) {
    check_horizontal(&view, height, columns, middle, stride);
    for y in (0..height).step_by(2) {
        // An odd last row is done twice, which is harmless.
        let lines = [y, (y + 1).min(height - 1)];
        // SAFETY: `check_horizontal` made sure that each tap group of each row lies in `view.data` and each store in
        // `middle`; the caller dispatches here only on machines with AVX2.
        unsafe {
            let from = lines.map(|y| view.data.as_ptr().add(y * view.stride));
            let base = middle.as_mut_ptr();
            let to = lines.map(|y| base.add(y * stride));
            horizontal_rows(from, to, columns);
        }
    }
}

/// Stops with a panic, before any pointer is made, where a load or a store would leave its slice.
pub(super) fn check_horizontal(view: &View<'_>, height: usize, columns: &Axis, middle: &[u8], stride: usize) {
    let groups = columns.starts.len();
    assert!(
        height > 0 && columns.weights.len() >= groups * columns.stride && groups.is_multiple_of(Axis::GROUP)
    );
    // A group of four taps is loaded as 16 bytes, of which the last weights may be zeros past the row's end.
    let furthest = columns.starts.iter().copied().max().unwrap_or(0) as usize + columns.stride;
    let last_row = (height - 1).saturating_mul(view.stride);
    assert!(last_row.saturating_add(furthest * 3 + 4) <= view.data.len(), "taps leave the image");
    assert!(groups * 3 + 4 <= stride && height * stride <= middle.len(), "rows are too short");
    const { assert!(Image::TAIL >= 3 * (Axis::GROUP + 1) + 4) };
}

#[target_feature(enable = "avx2")]
unsafe fn horizontal_rows(from: [*const u8; 2], to: [*mut u8; 2], columns: &Axis) {
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let first = _mm256_broadcastsi128_si256(_mm_loadu_si128(FIRST_PAIR.as_ptr().cast()));
        let second = _mm256_broadcastsi128_si256(_mm_loadu_si128(SECOND_PAIR.as_ptr().cast()));
        let pack = _mm256_broadcastsi128_si256(_mm_loadu_si128(PACK_RGB.as_ptr().cast()));
        let round = _mm256_set1_epi32(1 << (columns.precision - 1));
        let shift = _mm_cvtsi32_si128(columns.precision as i32);
        for x in (0..columns.starts.len()).step_by(4) {
            let mut sums = [round; 4];
            for (i, sum) in sums.iter_mut().enumerate() {
                let start = *columns.starts.get_unchecked(x + i) as usize * 3;
                let weights = columns.weights.as_ptr().add((x + i) * columns.stride);
                for tap in (0..columns.stride).step_by(4) {
                    let at = start + tap * 3;
                    let low = _mm_loadu_si128(from[0].add(at).cast());
                    let high = _mm_loadu_si128(from[1].add(at).cast());
                    let pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
                    let pairs = weights.add(tap).cast::<i32>();
                    let near = _mm256_set1_epi32(pairs.read_unaligned());
                    let far = _mm256_set1_epi32(pairs.add(1).read_unaligned());
                    let a = _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, first), near);
                    let b = _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, second), far);
                    *sum = _mm256_add_epi32(*sum, _mm256_add_epi32(a, b));
                }
                *sum = _mm256_sra_epi32(*sum, shift);
            }
            let words = [_mm256_packs_epi32(sums[0], sums[1]), _mm256_packs_epi32(sums[2], sums[3])];
            let bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(words[0], words[1]), pack);
            _mm_storeu_si128(to[0].add(x * 3).cast(), _mm256_castsi256_si128(bytes));
            _mm_storeu_si128(to[1].add(x * 3).cast(), _mm256_extracti128_si256(bytes, 1));
        }
    }
}

pub(super) fn vertical(lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]) {
    if row.len() < 32 {
        return super::scalar::vertical(lines, weights, precision, row);
    }
    assert!((weights.len() - 1) * lines.stride + row.len() <= lines.data.len(), "taps leave the rows");
    let last = row.len() - 32;
    for at in (0..last).step_by(32).chain([last]) {
        // SAFETY: `at` + 32 is at most the row's length, which the assertion holds inside every line; the caller
        // dispatches here only on machines with AVX2.
        unsafe {
            vertical_block(
                lines.data.as_ptr().add(at),
                lines.stride,
                weights,
                precision,
                row.as_mut_ptr().add(at),
            )
        };
    }
}

/// 32 bytes of one output row. The last block may overlap the one ahead of it, which writes the same bytes twice.
#[target_feature(enable = "avx2")]
unsafe fn vertical_block(from: *const u8, stride: usize, weights: &[i16], precision: u32, to: *mut u8) {
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let zero = _mm256_setzero_si256();
        let mut sums = [_mm256_set1_epi32(1 << (precision - 1)); 4];
        let mut add = |a: __m256i, b: __m256i, pair: i32| {
            let pair = _mm256_set1_epi32(pair);
            let (low, high) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
            let words = [
                _mm256_unpacklo_epi8(low, zero),
                _mm256_unpackhi_epi8(low, zero),
                _mm256_unpacklo_epi8(high, zero),
                _mm256_unpackhi_epi8(high, zero),
            ];
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(word, pair));
            }
        };
        let line = |j: usize| _mm256_loadu_si256(from.add(j * stride).cast());
        let mut pairs = weights.chunks_exact(2);
        let mut j = 0;
        for pair in pairs.by_ref() {
            add(line(j), line(j + 1), join(pair[0], pair[1]));
            j += 2;
        }
        if let [odd] = pairs.remainder() {
            add(line(j), zero, join(*odd, 0));
        }
        let shift = _mm_cvtsi32_si128(precision as i32);
        let [a, b, c, d] = sums.map(|sum| _mm256_sra_epi32(sum, shift));
        let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        _mm256_storeu_si256(to.cast(), bytes);
    }
}

/// Two weights as the halves of one 32-bit lane.
pub(super) const fn join(near: i16, far: i16) -> i32 {
    (near as u16 as i32) | ((far as i32) << 16)
}
