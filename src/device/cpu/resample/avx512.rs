//! Resampling with AVX-512: four rows at once across, 64 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::avx2::{FIRST_PAIR, PACK_RGB, SECOND_PAIR, check_horizontal, join};
use super::{Axis, ImageView, Lines};
use std::arch::x86_64::*;

pub(super) fn horizontal(
    view: ImageView<'_>,
    height: usize,
    columns: &Axis,
    middle: &mut [u8],
    stride: usize,
) {
    check_horizontal(&view, height, columns, middle, stride);
    let rows = match columns.stride {
        2 => horizontal_rows::<1>,
        4 => horizontal_rows::<2>,
        6 => horizontal_rows::<3>,
        8 => horizontal_rows::<4>,
        _ => horizontal_rows::<0>,
    };
    for y in (0..height).step_by(4) {
        // Missing last rows repeat the last one, which is harmless.
        let lines = [0, 1, 2, 3].map(|i| (y + i).min(height - 1));
        // SAFETY: `check_horizontal` made sure that each pair of taps of each row lies in `view.data` and each store in
        // `middle`; the caller dispatches here only on machines with AVX-512 F, BW and VL.
        unsafe {
            let from = lines.map(|y| view.data.as_ptr().add(y * view.stride));
            let base = middle.as_mut_ptr();
            let to = lines.map(|y| base.add(y * stride));
            rows(from, to, columns);
        }
    }
}

/// Resamples four rows; each output has `PAIRS` pairs of taps, or as many as the axis says for 0.
///
/// # Safety
/// [`check_horizontal`] passed for these rows, `PAIRS` is 0 or half of the axis' stride, and the machine has AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn horizontal_rows<const PAIRS: usize>(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    debug_assert!(PAIRS == 0 || PAIRS * 2 == columns.stride);
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let spread = |table: &[i8; 16]| _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().cast()));
        let (first, second, pack) = (spread(&FIRST_PAIR), spread(&SECOND_PAIR), spread(&PACK_RGB));
        let round = _mm512_set1_epi32(1 << (columns.precision - 1));
        let shift = _mm_cvtsi32_si128(columns.precision as i32);
        let pairs = if PAIRS == 0 { columns.stride / 2 } else { PAIRS };
        let weigh = |sum: __m512i, pixels: __m512i, places: __m512i, pair: *const i32| {
            let weights = _mm512_set1_epi32(pair.read_unaligned());
            _mm512_add_epi32(sum, _mm512_madd_epi16(_mm512_shuffle_epi8(pixels, places), weights))
        };
        for x in (0..columns.starts.len()).step_by(4) {
            let mut sums = [round; 4];
            for (i, sum) in sums.iter_mut().enumerate() {
                let start = *columns.starts.get_unchecked(x + i) as usize * 3;
                let weights = columns.weights.as_ptr().add((x + i) * pairs * 2).cast::<i32>();
                for pair in (0..pairs).step_by(2) {
                    let [a, b, c, d] = from.map(|row| _mm_loadu_si128(row.add(start + pair * 6).cast()));
                    let low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
                    let high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
                    let pixels = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
                    *sum = weigh(*sum, pixels, first, weights.add(pair));
                    if pair + 1 < pairs {
                        *sum = weigh(*sum, pixels, second, weights.add(pair + 1));
                    }
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
    // SAFETY: the assertion holds the row's length inside every line; the caller dispatches here only on machines with
    // AVX-512 F, BW and VL.
    unsafe {
        match weights.len() {
            1 | 2 => vertical_row::<1>(lines, weights, precision, row),
            3 | 4 => vertical_row::<2>(lines, weights, precision, row),
            5 | 6 => vertical_row::<3>(lines, weights, precision, row),
            _ => vertical_row::<0>(lines, weights, precision, row),
        }
    }
}

/// One output row of `PAIRS` pairs of lines, or of as many as there are for 0. An odd last line makes a pair with itself.
///
/// # Safety
/// As many lines as there are weights hold as many bytes as the row, which are 64 at least; `PAIRS` is 0 or half of the
/// weights, rounded up; and the machine has AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn vertical_row<const PAIRS: usize>(
    lines: Lines<'_>,
    weights: &[i16],
    precision: u32,
    row: &mut [u8],
) {
    let pairs = if PAIRS == 0 { weights.len().div_ceil(2) } else { PAIRS };
    let factors = |pair: usize| {
        let far = weights.get(2 * pair + 1).copied().unwrap_or(0);
        _mm512_set1_epi32(join(weights[2 * pair], far))
    };
    // Those of fixed number stay in registers.
    let fixed: [__m512i; PAIRS] = std::array::from_fn(factors);
    let zero = _mm512_setzero_si512();
    let round = _mm512_set1_epi32(1 << (precision - 1));
    let shift = _mm_cvtsi32_si128(precision as i32);
    let last = row.len() - 64;
    // The last 64 bytes may overlap those ahead of them, which writes the same bytes twice.
    for at in (0..last).step_by(64).chain([last]) {
        let line = |number: usize| {
            // SAFETY: `number` is less than the number of weights, and `at` + 64 at most the row's length, which the
            // caller promises to lie inside every line.
            unsafe { _mm512_loadu_si512(lines.data.as_ptr().add(number * lines.stride + at).cast()) }
        };
        let mut sums = [round; 4];
        for pair in 0..pairs {
            let factors = match fixed.get(pair) {
                Some(factors) => *factors,
                None => factors(pair),
            };
            let (a, b) = (line(2 * pair), line((2 * pair + 1).min(weights.len() - 1)));
            let (low, high) = (_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b));
            let words = [
                _mm512_unpacklo_epi8(low, zero),
                _mm512_unpackhi_epi8(low, zero),
                _mm512_unpacklo_epi8(high, zero),
                _mm512_unpackhi_epi8(high, zero),
            ];
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(word, factors));
            }
        }
        let [a, b, c, d] = sums.map(|sum| _mm512_sra_epi32(sum, shift));
        let bytes = _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
        // SAFETY: `at` + 64 is at most the row's length.
        unsafe { _mm512_storeu_si512(row.as_mut_ptr().add(at).cast(), bytes) };
    }
}
