//! Packed RGB bytes to three planes of f32 and back, with NEON, 16 pixels at a time.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use crate::device::cpu::lanes::{GROUP, LANES, Plane};
use std::arch::aarch64::*;

/// 64 packed RGB pixels.
type Packed = [u8; LANES * 3];

/// Where each byte of a register becomes a 32-bit number, four at a time.
static WIDEN: [[i8; 16]; 4] = {
    let mut tables = [[-1; 16]; 4];
    let mut i = 0;
    while i < 16 {
        tables[i / 4][i % 4 * 4] = i as i8;
        i += 1;
    }
    tables
};

/// Levels of 16 packed pixels as f32, by channel.
#[target_feature(enable = "neon")]
#[inline]
fn levels(packed: &[u8; GROUP * 3]) -> [[float32x4_t; 4]; 3] {
    // SAFETY: `packed` is 48 bytes long.
    let uint8x16x3_t(red, green, blue) = unsafe { vld3q_u8(packed.as_ptr()) };
    // SAFETY: each table has 16 bytes.
    let tables = WIDEN.each_ref().map(|table| unsafe { vld1q_u8(table.as_ptr().cast()) });
    [red, green, blue]
        .map(|channel| tables.map(|table| vcvtq_f32_u32(vreinterpretq_u32_u8(vqtbl1q_u8(channel, table)))))
}

/// Levels of 64 packed pixels as f32.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn split(packed: &Packed, planes: &mut [Plane; 3]) {
    for (quarter, pixels) in packed.as_chunks().0.iter().enumerate() {
        for (plane, levels) in planes.iter_mut().zip(levels(pixels)) {
            store(levels, &mut plane.as_chunks_mut().0[quarter]);
        }
    }
}

/// fma(level, a, b) of packed pixels, with a and b per channel, as far as all slices go: as `split` and then a sum for each
/// plane, without the way through memory.
#[target_feature(enable = "neon")]
pub(super) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    [red, green, blue]: [&mut [[f32; GROUP]]; 3],
) {
    let factors = factors.map(|[a, b]| (vdupq_n_f32(a), vdupq_n_f32(b)));
    for (((packed, red), green), blue) in packed.iter().zip(red).zip(green).zip(blue) {
        for ((plane, levels), (a, b)) in [red, green, blue].into_iter().zip(levels(packed)).zip(factors) {
            store(levels.map(|level| vfmaq_f32(b, level, a)), plane);
        }
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn store(values: [float32x4_t; 4], to: &mut [f32; GROUP]) {
    for (values, to) in values.into_iter().zip(to.as_chunks_mut::<4>().0) {
        // SAFETY: there is room for four.
        unsafe { vst1q_f32(to.as_mut_ptr(), values) };
    }
}

/// Levels as packed bytes, cut off.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn join(planes: &[Plane; 3], packed: &mut Packed) {
    for (quarter, pixels) in packed.as_chunks_mut::<{ GROUP * 3 }>().0.iter_mut().enumerate() {
        let [red, green, blue] = planes.each_ref().map(|plane| cut_off(&plane.as_chunks().0[quarter]));
        // SAFETY: there is room for 48 bytes.
        unsafe { vst3q_u8(pixels.as_mut_ptr(), uint8x16x3_t(red, green, blue)) };
    }
}

/// Values of one channel as bytes, cut off.
#[target_feature(enable = "neon")]
#[inline]
pub(super) fn bytes(plane: &Plane) -> [u8; LANES] {
    let mut bytes = [0; LANES];
    for (values, bytes) in plane.as_chunks().0.iter().zip(bytes.as_chunks_mut::<GROUP>().0) {
        // SAFETY: there is room for 16 bytes.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), cut_off(values)) };
    }
    bytes
}

/// Values cut off to bytes; those that are too small or too large for one become 0 or 255.
#[target_feature(enable = "neon")]
#[inline]
fn cut_off(values: &[f32; GROUP]) -> uint8x16_t {
    let words = |at: usize| {
        let four = &values[at..at + 4];
        // SAFETY: the slice holds four values.
        vcvtq_u32_f32(unsafe { vld1q_f32(four.as_ptr()) })
    };
    let halves = [0, 8].map(|at| vqmovn_high_u32(vqmovn_u32(words(at)), words(at + 4)));
    vqmovn_high_u16(vqmovn_u16(halves[0]), halves[1])
}
