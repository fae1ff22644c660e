//! Resampling with AVX-512: four rows at once across, 64 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::avx2::{FIRST_PAIR, PACK_RGB, SECOND_PAIR, check_horizontal, join};
use super::{Axis, Lines, View};
use std::arch::x86_64::*;

pub(super) fn horizontal(view: View<'_>, height: usize, columns: &Axis, middle: &mut [u8], stride: usize) {
    check_horizontal(&view, height, columns, middle, stride);
    for y in (0..height).step_by(4) {
        // Missing last rows repeat the last one, which is harmless.
        let lines = [0, 1, 2, 3].map(|i| (y + i).min(height - 1));
        // SAFETY: `check_horizontal` made sure that each tap group of each row lies in `view.data` and each store in
        // `middle`; the caller dispatches here only on machines with AVX-512 F, BW and VL.
        unsafe {
            let from = lines.map(|y| view.data.as_ptr().add(y * view.stride));
            let base = middle.as_mut_ptr();
            let to = lines.map(|y| base.add(y * stride));
            horizontal_rows(from, to, columns);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn horizontal_rows(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let spread = |table: &[i8; 16]| _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
        let (first, second, pack) = (spread(&FIRST_PAIR), spread(&SECOND_PAIR), spread(&PACK_RGB));
        let round = _mm512_set1_epi32(1 << (columns.precision - 1));
        let shift = _mm_cvtsi32_si128(columns.precision as i32);
        for x in (0..columns.starts.len()).step_by(4) {
            let mut sums = [round; 4];
            for (i, sum) in sums.iter_mut().enumerate() {
                let start = *columns.starts.get_unchecked(x + i) as usize * 3;
                let weights = columns.weights.as_ptr().add((x + i) * columns.stride);
                for tap in (0..columns.stride).step_by(4) {
                    let [a, b, c, d] = from.map(|row| _mm_loadu_si128(row.add(start + tap * 3).cast()));
                    let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
                    let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
                    let pixels = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
                    let pairs = weights.add(tap).cast::<i32>();
                    let near = _mm512_set1_epi32(pairs.read_unaligned());
                    let far = _mm512_set1_epi32(pairs.add(1).read_unaligned());
                    let a = _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, first), near);
                    let b = _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, second), far);
                    *sum = _mm512_add_epi32(*sum, _mm512_add_epi32(a, b));
                }
                *sum = _mm512_sra_epi32(*sum, shift);
            }
            let words = [_mm512_packs_epi32(sums[0], sums[1]), _mm512_packs_epi32(sums[2], sums[3])];
            let bytes = _mm512_shuffle_epi8(_mm512_packus_epi16(words[0], words[1]), pack);
            _mm_storeu_si128(to[0].add(x * 3).cast(), _mm512_castsi512_si128(bytes));
            _mm_storeu_si128(to[1].add(x * 3).cast(), _mm512_extracti32x4_epi32(bytes, 1));
            _mm_storeu_si128(to[2].add(x * 3).cast(), _mm512_extracti32x4_epi32(bytes, 2));
            _mm_storeu_si128(to[3].add(x * 3).cast(), _mm512_extracti32x4_epi32(bytes, 3));
        }
    }
}

pub(super) fn vertical(lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]) {
    if row.len() < 64 {
        return super::avx2::vertical(lines, weights, precision, row);
    }
    assert!((weights.len() - 1) * lines.stride + row.len() <= lines.data.len(), "taps leave the rows");
    let last = row.len() - 64;
    for at in (0..last).step_by(64).chain([last]) {
        // SAFETY: `at` + 64 is at most the row's length, which the assertion holds inside every line; the caller
        // dispatches here only on machines with AVX-512 F, BW and VL.
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

/// 64 bytes of one output row. The last block may overlap the one ahead of it, which writes the same bytes twice.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn vertical_block(from: *const u8, stride: usize, weights: &[i16], precision: u32, to: *mut u8) {
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let zero = _mm512_setzero_si512();
        let mut sums = [_mm512_set1_epi32(1 << (precision - 1)); 4];
        let mut add = |a: __m512i, b: __m512i, pair: i32| {
            let pair = _mm512_set1_epi32(pair);
            let (low, high) = (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b));
            let words = [
                _mm512_unpacklo_epi8(low, zero),
                _mm512_unpackhi_epi8(low, zero),
                _mm512_unpacklo_epi8(high, zero),
                _mm512_unpackhi_epi8(high, zero),
            ];
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(word, pair));
            }
        };
        let line = |j: usize| _mm512_loadu_si512(from.add(j * stride).cast());
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
        let [a, b, c, d] = sums.map(|sum| _mm512_sra_epi32(sum, shift));
        let bytes = _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
        _mm512_storeu_si512(to.cast(), bytes);
    }
}
