//! The inverse DCT of two blocks at once, one in each half of the 256-bit registers.
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX2")]

use std::arch::x86_64::*;

use super::super::tables::Quant;
use super::Target;
use crate::simd::Avx2;

/// Dequantises and transforms two blocks into `planes`. Panics if a target lies outside of them.
#[inline]
pub(in super::super) fn transform_two(
    _: Avx2,
    coefficients: [&[i16; 64]; 2],
    quant: [&Quant; 2],
    targets: [Target; 2],
    planes: &mut [u8],
) {
    for target in targets {
        assert!(target.stride <= 1 << 24 && target.offset + 7 * target.stride + 8 <= planes.len());
    }
    // SAFETY: the `Avx2` value proves that the machine has AVX2.
    unsafe { transform_two_avx2(coefficients, quant, targets, planes) }
}

#[target_feature(enable = "avx2")]
fn transform_two_avx2(
    coefficients: [&[i16; 64]; 2],
    quant: [&Quant; 2],
    targets: [Target; 2],
    planes: &mut [u8],
) {
    let raw: [__m256i; 8] = std::array::from_fn(|row| load_row(coefficients, row));
    let x: [__m256i; 8] =
        std::array::from_fn(|row| _mm256_mullo_epi16(raw[row], load_row([&quant[0].0, &quant[1].0], row)));
    let mut below = raw[1];
    for row in &raw[2..] {
        below = _mm256_or_si256(below, *row);
    }
    let mut columns = pass::<11>(x);
    if let Some(flat) = flat_halves(below) {
        let wrapped = _mm256_slli_epi16::<2>(x[0]);
        for column in &mut columns {
            *column = _mm256_blendv_epi8(*column, wrapped, flat);
        }
    }
    let rows = pass::<18>(transpose(columns));
    store(rows, targets, planes);
}

/// A mask of the halves whose rows 1 to 7 are all zero, `None` if there is no such half.
#[inline]
#[target_feature(enable = "avx2")]
fn flat_halves(below: __m256i) -> Option<__m256i> {
    let zero = _mm256_cmpeq_epi8(below, _mm256_setzero_si256());
    let bytes = _mm256_movemask_epi8(zero) as u32;
    let (low, high) = (bytes & 0xFFFF == 0xFFFF, bytes >> 16 == 0xFFFF);
    let ones = |on: bool| _mm_set1_epi8(-i8::from(on));
    (low || high).then(|| _mm256_set_m128i(ones(high), ones(low)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_row(blocks: [&[i16; 64]; 2], row: usize) -> __m256i {
    let half = |block: &[i16; 64]| {
        let eight: &[i16] = &block[row * 8..row * 8 + 8];
        // SAFETY: the slice holds eight i16, which are 16 bytes; the load may be unaligned.
        unsafe { _mm_loadu_si128(eight.as_ptr().cast()) }
    };
    _mm256_set_m128i(half(blocks[1]), half(blocks[0]))
}

/// A pair of 16-bit factors for `madd`, the first for the even element.
#[inline]
#[target_feature(enable = "avx2")]
fn factors(first: i16, second: i16) -> __m256i {
    _mm256_set1_epi32((second as i32) << 16 | (first as u16 as i32))
}

/// 32-bit values of the low and the high four columns of each half.
#[derive(Clone, Copy)]
struct Wide(__m256i, __m256i);

impl Wide {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(self, other: Wide) -> Wide {
        Wide(_mm256_add_epi32(self.0, other.0), _mm256_add_epi32(self.1, other.1))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sub(self, other: Wide) -> Wide {
        Wide(_mm256_sub_epi32(self.0, other.0), _mm256_sub_epi32(self.1, other.1))
    }

    /// Rounds, shifts and saturates to 16 bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn descale<const SHIFT: i32>(self) -> __m256i {
        _mm256_packs_epi32(_mm256_srai_epi32::<SHIFT>(self.0), _mm256_srai_epi32::<SHIFT>(self.1))
    }
}

/// The pairs (a, b), ready to be multiplied and summed by constants.
#[derive(Clone, Copy)]
struct Pairs(__m256i, __m256i);

impl Pairs {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(a: __m256i, b: __m256i) -> Pairs {
        Pairs(_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot(self, a: i16, b: i16) -> Wide {
        let by = factors(a, b);
        Wide(_mm256_madd_epi16(self.0, by), _mm256_madd_epi16(self.1, by))
    }
}

/// A sum of two inputs, times 2^13, plus the rounding term of the descaling that follows.
#[inline]
#[target_feature(enable = "avx2")]
fn scaled<const SHIFT: i32>(sum: __m256i) -> Wide {
    let zero = _mm256_setzero_si256();
    let round = _mm256_set1_epi32(1 << (SHIFT - 1));
    let low = _mm256_srai_epi32::<3>(_mm256_unpacklo_epi16(zero, sum));
    let high = _mm256_srai_epi32::<3>(_mm256_unpackhi_epi16(zero, sum));
    Wide(_mm256_add_epi32(low, round), _mm256_add_epi32(high, round))
}

/// The one-dimensional transform of `super::one_dimension`, for all columns of both blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn pass<const SHIFT: i32>(x: [__m256i; 8]) -> [__m256i; 8] {
    let two_six = Pairs::new(x[2], x[6]);
    let (t2, t3) = (two_six.dot(4433, -10704), two_six.dot(10703, 4433));
    let t0 = scaled::<SHIFT>(_mm256_add_epi16(x[0], x[4]));
    let t1 = scaled::<SHIFT>(_mm256_sub_epi16(x[0], x[4]));
    let even = [t0.add(t3), t1.add(t2), t1.sub(t2), t0.sub(t3)];
    let sums = Pairs::new(_mm256_add_epi16(x[7], x[3]), _mm256_add_epi16(x[5], x[1]));
    let (z3, z4) = (sums.dot(-6436, 9633), sums.dot(9633, 6437));
    let seven_one = Pairs::new(x[7], x[1]);
    let five_three = Pairs::new(x[5], x[3]);
    let odd = [
        seven_one.dot(-7373, 4926).add(z4),
        five_three.dot(-20995, 4177).add(z3),
        five_three.dot(-4176, -20995).add(z4),
        seven_one.dot(-4927, -7373).add(z3),
    ];
    [
        even[0].add(odd[0]).descale::<SHIFT>(),
        even[1].add(odd[1]).descale::<SHIFT>(),
        even[2].add(odd[2]).descale::<SHIFT>(),
        even[3].add(odd[3]).descale::<SHIFT>(),
        even[3].sub(odd[3]).descale::<SHIFT>(),
        even[2].sub(odd[2]).descale::<SHIFT>(),
        even[1].sub(odd[1]).descale::<SHIFT>(),
        even[0].sub(odd[0]).descale::<SHIFT>(),
    ]
}

/// Transposes the 8x8 values of each half.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose(r: [__m256i; 8]) -> [__m256i; 8] {
    let a: [__m256i; 4] = std::array::from_fn(|i| _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]));
    let b: [__m256i; 4] = std::array::from_fn(|i| _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]));
    let (c0, c1) = (_mm256_unpacklo_epi32(a[0], a[1]), _mm256_unpackhi_epi32(a[0], a[1]));
    let (c2, c3) = (_mm256_unpacklo_epi32(a[2], a[3]), _mm256_unpackhi_epi32(a[2], a[3]));
    let (d0, d1) = (_mm256_unpacklo_epi32(b[0], b[1]), _mm256_unpackhi_epi32(b[0], b[1]));
    let (d2, d3) = (_mm256_unpacklo_epi32(b[2], b[3]), _mm256_unpackhi_epi32(b[2], b[3]));
    [
        _mm256_unpacklo_epi64(c0, c2),
        _mm256_unpackhi_epi64(c0, c2),
        _mm256_unpacklo_epi64(c1, c3),
        _mm256_unpackhi_epi64(c1, c3),
        _mm256_unpacklo_epi64(d0, d2),
        _mm256_unpackhi_epi64(d0, d2),
        _mm256_unpacklo_epi64(d1, d3),
        _mm256_unpackhi_epi64(d1, d3),
    ]
}

/// Turns output columns into rows of bytes and stores both blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn store(columns: [__m256i; 8], targets: [Target; 2], planes: &mut [u8]) {
    let packed = |i: usize, j: usize| {
        _mm256_add_epi8(_mm256_packs_epi16(columns[i], columns[j]), _mm256_set1_epi8(-128))
    };
    let (a, b, c, d) = (packed(0, 2), packed(1, 3), packed(4, 6), packed(5, 7));
    let (ab, cd) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
    let (ab2, cd2) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
    let (low, high) = (_mm256_unpacklo_epi16(ab, ab2), _mm256_unpackhi_epi16(ab, ab2));
    let (low2, high2) = (_mm256_unpacklo_epi16(cd, cd2), _mm256_unpackhi_epi16(cd, cd2));
    let pairs_of_rows = [
        _mm256_unpacklo_epi32(low, low2),
        _mm256_unpackhi_epi32(low, low2),
        _mm256_unpacklo_epi32(high, high2),
        _mm256_unpackhi_epi32(high, high2),
    ];
    for (pair, rows) in pairs_of_rows.into_iter().enumerate() {
        let halves = [_mm256_castsi256_si128(rows), _mm256_extracti128_si256::<1>(rows)];
        for (half, target) in halves.into_iter().zip(targets) {
            let at = target.offset + 2 * pair * target.stride;
            let out = &mut planes[at..at + target.stride + 8];
            // SAFETY: the slice above ends 8 bytes after the start of the second row, which is all that is written.
            unsafe {
                _mm_storel_epi64(out.as_mut_ptr().cast(), half);
                _mm_storel_epi64(out.as_mut_ptr().add(target.stride).cast(), _mm_unpackhi_epi64(half, half));
            }
        }
    }
}
