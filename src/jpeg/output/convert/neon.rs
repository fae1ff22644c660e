//! To packed RGB with NEON, 16 pixels at a time.
//!
//! The chroma is doubled, so that half of the formula's factors, which fit 16 bits, are enough. For red and blue one
//! instruction multiplies, doubles and rounds, with a quarter of the factors: 91881 / 4 is 22970 and a fraction, 116130 / 4
//! is rounded up to 29033. Every byte still gives the same result (a test covers all).
#![expect(
    unsafe_code,
    reason = "vector loads and stores by pointer, and calls into functions built for NEON"
)]

use std::arch::aarch64::*;

use crate::simd::Neon;

/// Pixels of a step.
const STEP: usize = 16;

/// Luma and both kinds of chroma. See [`super::row`].
pub(super) fn ycc(_: Neon, luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { convert_rows([luma, cb, cr], out, true) }
}

/// Red, green and blue. See [`super::row`].
pub(super) fn rgb(_: Neon, red: &[u8], green: &[u8], blue: &[u8], out: &mut [u8]) {
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { convert_rows([red, green, blue], out, false) }
}

#[target_feature(enable = "neon")]
fn convert_rows(rows: [&[u8]; 3], out: &mut [u8], is_ycc: bool) {
    let pixels = out.len() / 3;
    let [a, b, c] = rows.map(|row| &row[..pixels]);
    let whole = pixels / STEP * STEP;
    let steps = a.as_chunks::<STEP>().0.iter().zip(b.as_chunks().0).zip(c.as_chunks().0);
    let (out, rest) = out.split_at_mut(whole * 3);
    match is_ycc {
        true => steps
            .zip(out.as_chunks_mut().0)
            .for_each(|(((y, cb), cr), out)| convert::<true>([y, cb, cr], out)),
        false => {
            steps.zip(out.as_chunks_mut().0).for_each(|(((r, g), b), out)| convert::<false>([r, g, b], out))
        }
    }
    if pixels > whole {
        let mut padded = [[0; STEP]; 3];
        for (padded, row) in padded.iter_mut().zip([a, b, c]) {
            padded[..pixels - whole].copy_from_slice(&row[whole..]);
        }
        let mut last = [0; STEP * 3];
        match is_ycc {
            true => convert::<true>(padded.each_ref(), &mut last),
            false => convert::<false>(padded.each_ref(), &mut last),
        }
        let used = (pixels - whole) * 3;
        rest[..used].copy_from_slice(&last[..used]);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn convert<const YCC: bool>(rows: [&[u8; STEP]; 3], out: &mut [u8; STEP * 3]) {
    // SAFETY: each row is 16 bytes long.
    let [a, b, c] = rows.map(|row| unsafe { vld1q_u8(row.as_ptr()) });
    let [red, green, blue] = if YCC { colors(a, b, c) } else { [a, b, c] };
    // SAFETY: `out` is 48 bytes long.
    unsafe { vst3q_u8(out.as_mut_ptr(), uint8x16x3_t(red, green, blue)) }
}

/// Red, green and blue of 16 pixels.
#[inline]
#[target_feature(enable = "neon")]
fn colors(luma: uint8x16_t, cb: uint8x16_t, cr: uint8x16_t) -> [uint8x16_t; 3] {
    let centred = |chroma| vreinterpretq_s8_u8(veorq_u8(chroma, vdupq_n_u8(0x80)));
    let (cb, cr) = (centred(cb), centred(cr));
    let (low_b, low_r) = (vget_low_s8(cb), vget_low_s8(cr));
    let low = differences(vaddl_s8(low_b, low_b), vaddl_s8(low_r, low_r));
    let high = differences(vaddl_high_s8(cb, cb), vaddl_high_s8(cr, cr));
    let color = |i: usize| {
        let low = vaddw_u8(vreinterpretq_u16_s16(low[i]), vget_low_u8(luma));
        let high = vaddw_high_u8(vreinterpretq_u16_s16(high[i]), luma);
        vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u16(low)), vreinterpretq_s16_u16(high))
    };
    [color(0), color(1), color(2)]
}

/// What doubled chroma adds to luma in red, green and blue.
#[inline]
#[target_feature(enable = "neon")]
fn differences(b: int16x8_t, r: int16x8_t) -> [int16x8_t; 3] {
    let low = vmlal_n_s16(vmull_n_s16(vget_low_s16(b), -11277), vget_low_s16(r), -23401);
    let high = vmlal_high_n_s16(vmull_high_n_s16(b, -11277), r, -23401);
    let green = vrshrn_high_n_s32::<16>(vrshrn_n_s32::<16>(low), high);
    [vqrdmulhq_n_s16(r, 22970), green, vqrdmulhq_n_s16(b, 29033)]
}
