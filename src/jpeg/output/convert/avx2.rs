//! YCbCr to packed RGB, 32 pixels at a time.
//!
//! The 17-bit factors of the formula do not fit 16-bit lanes, so their integer parts are added separately:
//! 91881 = 65536 + 26345, 116130 = 2 * 65536 - 14942, -46802 = -65536 + 18734. The rest of red and blue is halved, for an
//! instruction that multiplies and rounds at once; 26345 is odd, but with its half rounded up every byte still gives the
//! same result (a test covers all).
#![expect(unsafe_code, reason = "vector loads and stores, and calls into functions built for AVX2")]

use std::arch::x86_64::*;

use crate::simd::Avx2;

/// See [`super::row`].
pub(super) fn ycc(_: Avx2, luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    let pixels = out.len() / 3;
    let (luma, cb, cr) = (&luma[..pixels], &cb[..pixels], &cr[..pixels]);
    // SAFETY: the `Avx2` value proves that the machine has AVX2.
    unsafe { ycc_avx2(luma, cb, cr, out) }
}

#[target_feature(enable = "avx2")]
fn ycc_avx2(luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    let whole = luma.len() / 32 * 32;
    let rows = luma.as_chunks::<32>().0.iter().zip(cb.as_chunks::<32>().0).zip(cr.as_chunks::<32>().0);
    for (((luma, cb), cr), out) in rows.zip(out.as_chunks_mut::<96>().0) {
        convert(luma, cb, cr, out);
    }
    let rest = luma.len() - whole;
    if rest != 0 {
        let mut padded = [[0u8; 32]; 3];
        for (padded, row) in padded.iter_mut().zip([luma, cb, cr]) {
            padded[..rest].copy_from_slice(&row[whole..]);
        }
        let mut pixels = [0; 96];
        convert(&padded[0], &padded[1], &padded[2], &mut pixels);
        out[whole * 3..][..rest * 3].copy_from_slice(&pixels[..rest * 3]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn convert(luma: &[u8; 32], cb: &[u8; 32], cr: &[u8; 32], out: &mut [u8; 96]) {
    let low = colors(widen::<0>(luma), widen::<0>(cb), widen::<0>(cr));
    let high = colors(widen::<16>(luma), widen::<16>(cb), widen::<16>(cr));
    // Packing works within halves, so pixels 0-7, 16-23 and 8-15, 24-31 sit together until the permutation.
    let pack = |i: usize| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(low[i], high[i]));
    interleave(pack(0), pack(1), pack(2), out);
}

/// Sixteen bytes as 16-bit values.
#[inline]
#[target_feature(enable = "avx2")]
fn widen<const AT: usize>(row: &[u8; 32]) -> __m256i {
    let sixteen = &row[AT..AT + 16];
    // SAFETY: the slice is 16 bytes long; the load may be unaligned.
    _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
}

/// Red, green and blue of 16 pixels, not yet clamped.
#[inline]
#[target_feature(enable = "avx2")]
fn colors(luma: __m256i, cb: __m256i, cr: __m256i) -> [__m256i; 3] {
    let centre = _mm256_set1_epi16(128);
    let (b, r) = (_mm256_sub_epi16(cb, centre), _mm256_sub_epi16(cr, centre));
    let red = _mm256_add_epi16(r, _mm256_mulhrs_epi16(r, _mm256_set1_epi16(13173)));
    let blue = _mm256_add_epi16(_mm256_add_epi16(b, b), _mm256_mulhrs_epi16(b, _mm256_set1_epi16(-7471)));
    let factors = _mm256_set1_epi32(18734 << 16 | (-22554i16 as u16 as i32));
    let half = |pairs: __m256i| {
        let sum = _mm256_add_epi32(_mm256_madd_epi16(pairs, factors), _mm256_set1_epi32(32768));
        _mm256_srai_epi32::<16>(sum)
    };
    let low = half(_mm256_unpacklo_epi16(b, r));
    let high = half(_mm256_unpackhi_epi16(b, r));
    let green = _mm256_sub_epi16(_mm256_packs_epi32(low, high), r);
    [_mm256_add_epi16(luma, red), _mm256_add_epi16(luma, green), _mm256_add_epi16(luma, blue)]
}

/// The shuffle that moves colour `color` of 16 pixels to its offsets in the 16 bytes `part` of their 48.
const fn places(color: usize, part: usize) -> [i8; 32] {
    let mut places = [-1; 32];
    let mut i = 0;
    while i < 32 {
        let byte = part * 16 + i % 16;
        if byte % 3 == color {
            places[i] = (byte / 3) as i8;
        }
        i += 1;
    }
    places
}

static PLACES: [[[i8; 32]; 3]; 3] = [
    [places(0, 0), places(1, 0), places(2, 0)],
    [places(0, 1), places(1, 1), places(2, 1)],
    [places(0, 2), places(1, 2), places(2, 2)],
];

#[inline]
#[target_feature(enable = "avx2")]
fn interleave(red: __m256i, green: __m256i, blue: __m256i, out: &mut [u8; 96]) {
    let part = |part: usize| {
        let shuffle = |x: __m256i, color: usize| {
            // SAFETY: the table entry is 32 bytes long; the load may be unaligned.
            let places = unsafe { _mm256_loadu_si256(PLACES[part][color].as_ptr().cast()) };
            _mm256_shuffle_epi8(x, places)
        };
        _mm256_or_si256(_mm256_or_si256(shuffle(red, 0), shuffle(green, 1)), shuffle(blue, 2))
    };
    let (a, b, c) = (part(0), part(1), part(2));
    let thirds = [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x30>(c, a),
        _mm256_permute2x128_si256::<0x31>(b, c),
    ];
    for (third, out) in thirds.into_iter().zip(out.as_chunks_mut::<32>().0) {
        // SAFETY: `out` is 32 bytes long; the store may be unaligned.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), third) }
    }
}
