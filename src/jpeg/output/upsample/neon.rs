//! The triangle filters with NEON, 16 source samples at a time.
//!
//! Where one sample out of four is blended in, two halving sums do it in 8 bits, exactly: with ⌊⌋ and ⌈⌉ for a half rounded
//! down and up, ⌈(⌊(a + b) / 2⌋ + b) / 2⌉ is (a + 3 b + 2) / 4 cut off, and ⌊(⌈(a + b) / 2⌉ + b) / 2⌋ is (a + 3 b + 1) / 4.
#![expect(
    unsafe_code,
    reason = "vector loads and stores by pointer, and calls into functions built for NEON"
)]

use std::arch::aarch64::*;

use crate::simd::Neon;

/// Source samples of a step.
const STEP: usize = 16;

/// See [`super::h2v1`].
pub(crate) fn h2v1(_: Neon, source: &[u8], count: usize, out: &mut [u8]) {
    let steps = count.div_ceil(STEP);
    let (source, out) = (&source[..steps * STEP + 2], &mut out[..steps * 2 * STEP]);
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { h2v1_neon(source, out) }
}

/// See [`super::h2v2`].
pub(crate) fn h2v2(_: Neon, near: &[u8], far: &[u8], count: usize, out: &mut [u8]) {
    let steps = count.div_ceil(STEP);
    let (near, far) = (&near[..steps * STEP + 8], &far[..steps * STEP + 8]);
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { h2v2_neon(near, far, &mut out[..steps * 2 * STEP]) }
}

/// See [`super::h1v2`].
pub(crate) fn h1v2(_: Neon, near: &[u8], far: &[u8], bias: u16, count: usize, out: &mut [u8]) {
    let whole = count.next_multiple_of(STEP);
    let (near, far, out) = (&near[..whole], &far[..whole], &mut out[..whole]);
    // SAFETY: the `Neon` value proves that the machine has NEON.
    unsafe { if bias == 1 { h1v2_neon::<1>(near, far, out) } else { h1v2_neon::<2>(near, far, out) } }
}

#[target_feature(enable = "neon")]
fn h2v1_neon(source: &[u8], out: &mut [u8]) {
    for (step, out) in out.as_chunks_mut::<{ 2 * STEP }>().0.iter_mut().enumerate() {
        let [left, centre, right] = [0, 1, 2].map(|i| load(source, step * STEP + i));
        store(blend::<1>(centre, left), blend::<2>(centre, right), out);
    }
}

#[target_feature(enable = "neon")]
fn h1v2_neon<const BIAS: u16>(near: &[u8], far: &[u8], out: &mut [u8]) {
    let rows = near.as_chunks::<STEP>().0.iter().zip(far.as_chunks::<STEP>().0);
    for ((near, far), out) in rows.zip(out.as_chunks_mut::<STEP>().0) {
        let blended = blend::<BIAS>(load(near, 0), load(far, 0));
        // SAFETY: `out` is 16 bytes long.
        unsafe { vst1q_u8(out.as_mut_ptr(), blended) }
    }
}

/// The rows' sums are made once for each sample; those of its neighbours are found by moving along the registers.
#[target_feature(enable = "neon")]
fn h2v2_neon(near: &[u8], far: &[u8], out: &mut [u8]) {
    let mut first = sum(load_eight(near), load_eight(far));
    let seven = vdupq_n_u16(7);
    for (step, out) in out.as_chunks_mut::<{ 2 * STEP }>().0.iter_mut().enumerate() {
        let (near, far) = (load(near, step * STEP + 8), load(far, step * STEP + 8));
        let second = sum(vget_low_u8(near), vget_low_u8(far));
        let third = sum(vget_high_u8(near), vget_high_u8(far));
        let (mut even, mut odd) = ([first; 2], [first; 2]);
        for (i, (left, next)) in [(first, second), (second, third)].into_iter().enumerate() {
            let (centre, right) = (vextq_u16::<1>(left, next), vextq_u16::<2>(left, next));
            even[i] = vmlaq_n_u16(left, centre, 3);
            odd[i] = vmlaq_n_u16(vaddq_u16(right, seven), centre, 3);
        }
        let even = vrshrn_high_n_u16::<4>(vrshrn_n_u16::<4>(even[0]), even[1]);
        let odd = vshrn_high_n_u16::<4>(vshrn_n_u16::<4>(odd[0]), odd[1]);
        store(even, odd, out);
        first = third;
    }
}

/// Three times the samples of the near row, and the far ones.
#[inline]
#[target_feature(enable = "neon")]
fn sum(near: uint8x8_t, far: uint8x8_t) -> uint16x8_t {
    vmlal_u8(vmovl_u8(far), near, vdup_n_u8(3))
}

/// Three quarters of `near` and one of `far`, with `BIAS` quarters (1 or 2) added before cutting off.
#[inline]
#[target_feature(enable = "neon")]
fn blend<const BIAS: u16>(near: uint8x16_t, far: uint8x16_t) -> uint8x16_t {
    match BIAS {
        1 => vhaddq_u8(vrhaddq_u8(near, far), near),
        _ => vrhaddq_u8(vhaddq_u8(near, far), near),
    }
}

/// Sixteen bytes from `at` on.
#[inline]
#[target_feature(enable = "neon")]
fn load(row: &[u8], at: usize) -> uint8x16_t {
    let sixteen = &row[at..at + 16];
    // SAFETY: the slice is 16 bytes long.
    unsafe { vld1q_u8(sixteen.as_ptr()) }
}

/// The first eight bytes.
#[inline]
#[target_feature(enable = "neon")]
fn load_eight(row: &[u8]) -> uint8x8_t {
    let eight = &row[..8];
    // SAFETY: the slice is 8 bytes long.
    unsafe { vld1_u8(eight.as_ptr()) }
}

/// Stores the even and the odd bytes.
#[inline]
#[target_feature(enable = "neon")]
fn store(even: uint8x16_t, odd: uint8x16_t, out: &mut [u8; 32]) {
    // SAFETY: `out` is 32 bytes long.
    unsafe { vst2q_u8(out.as_mut_ptr(), uint8x16x2_t(even, odd)) }
}
