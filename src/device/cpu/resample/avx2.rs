//! Resampling with AVX2: four rows at once across, 32 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::{Axis, ImageView, Lines};
use crate::image::Image;
use std::arch::x86_64::*;

/// From four packed RGB pixels to (R0 R1 G0 G1 B0 B1 0 0) as 16-bit lanes; -1 gives zero.
pub(super) const FIRST_PAIR: [i8; 16] = [0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1];
/// The same of the third and fourth pixel.
pub(super) const SECOND_PAIR: [i8; 16] = [6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1];
/// From four R G B 0 groups to twelve packed bytes.
pub(super) const PACK_RGB: [i8; 16] = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1];

/// Bytes from the first tap of a pair on that a load reads.
const LOAD: usize = 16;

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
        // `middle`; the caller dispatches here only on machines with AVX2.
        unsafe {
            let from = lines.map(|y| view.data.as_ptr().add(y * view.stride));
            let base = middle.as_mut_ptr();
            let to = lines.map(|y| base.add(y * stride));
            rows(from, to, columns);
        }
    }
}

/// Stops with a panic, before any pointer is made, where a load or a store would leave its slice.
pub(super) fn check_horizontal(
    view: &ImageView<'_>,
    height: usize,
    columns: &Axis,
    middle: &[u8],
    stride: usize,
) {
    let groups = columns.starts.len();
    let pairs = columns.stride / 2;
    assert!(height > 0 && pairs > 0 && columns.stride.is_multiple_of(2));
    assert!(columns.weights.len() >= groups * columns.stride && groups.is_multiple_of(Axis::GROUP));
    let furthest = columns.starts.iter().copied().max().unwrap_or(0) as usize * 3 + (pairs - 1) * 6 + LOAD;
    let last_row = (height - 1).saturating_mul(view.stride);
    assert!(last_row.saturating_add(furthest) <= view.data.len(), "taps leave the image");
    assert!(groups * 3 + 4 <= stride && height * stride <= middle.len(), "rows are too short");
    // At most the second weight of the last pair lies after the row's end, and is zero then.
    const { assert!(Image::TAIL >= LOAD) };
}

/// Resamples four rows; each output has `PAIRS` pairs of taps, or as many as the axis says for 0.
///
/// # Safety
/// [`check_horizontal`] passed for these rows, `PAIRS` is 0 or half of the axis' stride, and the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn horizontal_rows<const PAIRS: usize>(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    debug_assert!(PAIRS == 0 || PAIRS * 2 == columns.stride);
    // SAFETY: the caller's promise covers every pointer below.
    unsafe {
        let first = _mm256_broadcastsi128_si256(_mm_loadu_si128(FIRST_PAIR.as_ptr().cast()));
        let second = _mm256_broadcastsi128_si256(_mm_loadu_si128(SECOND_PAIR.as_ptr().cast()));
        let pack = _mm256_broadcastsi128_si256(_mm_loadu_si128(PACK_RGB.as_ptr().cast()));
        let round = _mm256_set1_epi32(1 << (columns.precision - 1));
        let shift = _mm_cvtsi32_si128(columns.precision as i32);
        let pairs = if PAIRS == 0 { columns.stride / 2 } else { PAIRS };
        let weigh = |sum: __m256i, pixels: __m256i, places: __m256i, pair: *const i32| {
            let weights = _mm256_set1_epi32(pair.read_unaligned());
            _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_shuffle_epi8(pixels, places), weights))
        };
        for x in (0..columns.starts.len()).step_by(4) {
            // For each of four outputs, two rows in each register.
            let mut sums = [[round; 2]; 4];
            for (i, sums) in sums.iter_mut().enumerate() {
                let start = *columns.starts.get_unchecked(x + i) as usize * 3;
                let weights = columns.weights.as_ptr().add((x + i) * pairs * 2).cast::<i32>();
                for pair in (0..pairs).step_by(2) {
                    let at = start + pair * 6;
                    for (two, sum) in sums.iter_mut().enumerate() {
                        let low = _mm_loadu_si128(from[2 * two].add(at).cast());
                        let high = _mm_loadu_si128(from[2 * two + 1].add(at).cast());
                        let pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
                        *sum = weigh(*sum, pixels, first, weights.add(pair));
                        if pair + 1 < pairs {
                            *sum = weigh(*sum, pixels, second, weights.add(pair + 1));
                        }
                    }
                }
                *sums = sums.map(|sum| _mm256_sra_epi32(sum, shift));
            }
            for (two, to) in to.as_chunks::<2>().0.iter().enumerate() {
                let [a, b, c, d] = sums.map(|sums| sums[two]);
                let words = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
                let bytes = _mm256_shuffle_epi8(words, pack);
                _mm_storeu_si128(to[0].add(x * 3).cast(), _mm256_castsi256_si128(bytes));
                _mm_storeu_si128(to[1].add(x * 3).cast(), _mm256_extracti128_si256(bytes, 1));
            }
        }
    }
}

pub(super) fn vertical(lines: Lines<'_>, weights: &[i16], precision: u32, row: &mut [u8]) {
    if row.len() < 32 {
        return super::scalar::vertical(lines, weights, precision, row);
    }
    assert!((weights.len() - 1) * lines.stride + row.len() <= lines.data.len(), "taps leave the rows");
    // SAFETY: the assertion holds the row's length inside every line; the caller dispatches here only on machines with
    // AVX2.
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
/// As many lines as there are weights hold as many bytes as the row, which are 32 at least; `PAIRS` is 0 or half of the
/// weights, rounded up; and the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn vertical_row<const PAIRS: usize>(
    lines: Lines<'_>,
    weights: &[i16],
    precision: u32,
    row: &mut [u8],
) {
    let pairs = if PAIRS == 0 { weights.len().div_ceil(2) } else { PAIRS };
    let factors = |pair: usize| {
        let far = weights.get(2 * pair + 1).copied().unwrap_or(0);
        _mm256_set1_epi32(join(weights[2 * pair], far))
    };
    // Those of fixed number stay in registers.
    let fixed: [__m256i; PAIRS] = std::array::from_fn(factors);
    let zero = _mm256_setzero_si256();
    let round = _mm256_set1_epi32(1 << (precision - 1));
    let shift = _mm_cvtsi32_si128(precision as i32);
    let last = row.len() - 32;
    // The last 32 bytes may overlap those ahead of them, which writes the same bytes twice.
    for at in (0..last).step_by(32).chain([last]) {
        let line = |number: usize| {
            // SAFETY: `number` is less than the number of weights, and `at` + 32 at most the row's length, which the
            // caller promises to lie inside every line.
            unsafe { _mm256_loadu_si256(lines.data.as_ptr().add(number * lines.stride + at).cast()) }
        };
        let mut sums = [round; 4];
        for pair in 0..pairs {
            let factors = match fixed.get(pair) {
                Some(factors) => *factors,
                None => factors(pair),
            };
            let (a, b) = (line(2 * pair), line((2 * pair + 1).min(weights.len() - 1)));
            let (low, high) = (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b));
            let words = [
                _mm256_unpacklo_epi8(low, zero),
                _mm256_unpackhi_epi8(low, zero),
                _mm256_unpacklo_epi8(high, zero),
                _mm256_unpackhi_epi8(high, zero),
            ];
            for (sum, word) in sums.iter_mut().zip(words) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(word, factors));
            }
        }
        let [a, b, c, d] = sums.map(|sum| _mm256_sra_epi32(sum, shift));
        let bytes = _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        // SAFETY: `at` + 32 is at most the row's length.
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().add(at).cast(), bytes) };
    }
}

/// Two weights as the halves of one 32-bit lane.
pub(super) const fn join(near: i16, far: i16) -> i32 {
    (near as u16 as i32) | ((far as i32) << 16)
}
