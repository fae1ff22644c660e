//! The sums with NEON.
#![expect(unsafe_code, reason = "vector loads and stores by pointer")]

use super::{Columns, four, sixteen, wide};
use crate::device::cpu::lanes::PACK_RGB;
use std::arch::aarch64::*;

wide!("neon");

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> float32x4_t {
    vdupq_n_f32(0.0)
}

/// fma(level, weight, sum).
#[inline]
#[target_feature(enable = "neon")]
fn add(sum: float32x4_t, levels: &[f32; 4], weight: f32) -> float32x4_t {
    // SAFETY: there are four numbers.
    vfmaq_n_f32(sum, unsafe { vld1q_f32(levels.as_ptr()) }, weight)
}

/// Stores four pixels as bytes, each sum as the nearest whole number, the even one of two; four zeros follow.
#[inline]
#[target_feature(enable = "neon")]
fn store(sums: [float32x4_t; 4], to: &mut [u8; 16]) {
    let [a, b, c, d] = sums.map(|sum| vcvtnq_u32_f32(sum));
    let (lower, upper) = (vqmovn_high_u32(vqmovn_u32(a), b), vqmovn_high_u32(vqmovn_u32(c), d));
    let levels = vqmovn_high_u16(vqmovn_u16(lower), upper);
    // SAFETY: the table has 16 bytes, and so has `to`.
    unsafe { vst1q_u8(to.as_mut_ptr(), vqtbl1q_u8(levels, vld1q_u8(PACK_RGB.as_ptr().cast()))) };
}
