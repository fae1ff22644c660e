//! Resampling with AVX-512: four rows at once across, 64 bytes at once down.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::vector::{Down, FIRST_PAIR, Horizontal, SECOND_PAIR, join, vertical_row};
use super::{Axis, Lines};
use crate::device::cpu::lanes::PACK_RGB;
use std::arch::x86_64::*;
use std::arch::x86_64::{
    __m512i as Vector, _mm512_add_epi32 as add, _mm512_loadu_si512 as load, _mm512_madd_epi16 as madd,
    _mm512_packs_epi32 as packs, _mm512_packus_epi16 as packus, _mm512_set1_epi32 as set1,
    _mm512_setzero_si512 as setzero, _mm512_sra_epi32 as sra, _mm512_storeu_si512 as store,
    _mm512_unpackhi_epi8 as high_bytes, _mm512_unpacklo_epi8 as low_bytes,
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
pub(super) const BYTES: usize = 64;

vertical_row!("avx512f,avx512bw,avx512vl");

/// Resamples four rows; each output has `PAIRS` pairs of taps, or as many as the axis says for 0.
///
/// # Safety
/// The bounds of [`Horizontal`] were checked, `PAIRS` is 0 or half of the axis' stride, and the machine has AVX-512 F, BW and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn horizontal_rows<const PAIRS: usize>(from: [*const u8; 4], to: [*mut u8; 4], columns: &Axis) {
    assert!(PAIRS == 0 || PAIRS * 2 == columns.stride);
    // SAFETY: by the bounds of [`Horizontal`] each pair of taps that starts at `starts` lies with its load in each of `from`, and
    // each group's sixteen bytes in each of `to`; there are `stride` weights for each start, of which there are whole groups.
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
