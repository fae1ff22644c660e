//! Resampling with AVX2: four rows at once across, 32 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::vector::{Down, FIRST_PAIR, Horizontal, SECOND_PAIR, join, vertical_row};
use super::{Axis, Lines};
use crate::device::cpu::lanes::PACK_RGB;
use std::arch::x86_64::*;
use std::arch::x86_64::{
    __m256i as Vector, _mm256_add_epi32 as add, _mm256_loadu_si256 as load, _mm256_madd_epi16 as madd,
    _mm256_packs_epi32 as packs, _mm256_packus_epi16 as packus, _mm256_set1_epi32 as set1,
    _mm256_setzero_si256 as setzero, _mm256_sra_epi32 as sra, _mm256_storeu_si256 as store,
    _mm256_unpackhi_epi8 as high_bytes, _mm256_unpacklo_epi8 as low_bytes,
};

/// By pairs of taps; the first for any number.
pub(super) const HORIZONTAL: [Horizontal; 5] = [
    horizontal_rows::<0>,
    horizontal_rows::<1>,
    horizontal_rows::<2>,
    horizontal_rows::<3>,
    horizontal_rows::<4>,
];

/// By pairs of lines, of which an odd last line makes one with itself; the first for any number.
pub(super) const VERTICAL: Down = Down {
    functions: &[vertical_row::<0>, vertical_row::<1>, vertical_row::<2>, vertical_row::<3>],
    lines: 2,
    bytes: BYTES,
};

/// Bytes of a vector.
pub(super) const BYTES: usize = 32;

vertical_row!("avx2");

/// Resamples four rows; each output has `PAIRS` pairs of taps, or as many as the axis says for 0.
///
/// # Safety
/// The bounds of [`Horizontal`] were checked, `PAIRS` is 0 or half of the axis' stride, and the machine has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn horizontal_rows<const PAIRS: usize>(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    assert!(PAIRS == 0 || PAIRS * 2 == columns.stride);
    // SAFETY: by the bounds of [`Horizontal`] each pair of taps that starts at `starts` lies with its load in each of `from`, and
    // each group's sixteen bytes in each of `to`; there are `stride` weights for each start, of which there are whole groups.
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
