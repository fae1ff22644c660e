//! One piece of code compiled for several instruction sets.
#![expect(unsafe_code, reason = "calls functions compiled for instruction sets that were detected")]

use super::columns::Columns;
use super::interleave::{avx2, plain};
use super::lanes::{GROUP, LANES, Plane};
use crate::simd::{self, Level};

/// Runs `work` inside a function that has the features of `level`, or of the machine if it has less.
#[inline(always)]
pub(crate) fn with_level(level: Level, work: impl FnOnce()) {
    match level.min(simd::level()) {
        // SAFETY: the level is at most the detected one, so the machine has these features.
        Level::Avx512 => unsafe { avx512(work) },
        // SAFETY: as above.
        Level::Avx2 => unsafe { avx2(work) },
        Level::Scalar => work(),
    }
}

#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn avx2(work: impl FnOnce()) {
    work();
}

#[target_feature(enable = "avx2,fma,bmi1,bmi2,avx512f,avx512bw,avx512vl")]
fn avx512(work: impl FnOnce()) {
    work();
}

/// Levels of 64 packed pixels as f32.
#[inline(always)]
pub(crate) fn split(packed: &[u8; LANES * 3], planes: &mut [Plane; 3], level: Level) {
    match level.min(simd::level()) {
        Level::Scalar => plain::plain_split(packed, planes),
        // SAFETY: the level is at most the detected one, so the machine has AVX2.
        _ => unsafe { avx2::split(packed, planes) },
    }
}

/// fma(level, a, b) of packed pixels, with a and b per channel, as far as all slices go.
#[inline(always)]
pub(crate) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    planes: [&mut [[f32; GROUP]]; 3],
    level: Level,
) {
    match level.min(simd::level()) {
        Level::Scalar => plain::plain_split_scaled(packed, factors, planes),
        // SAFETY: the level is at most the detected one, so the machine has AVX2 and FMA.
        _ => unsafe { avx2::split_scaled(packed, factors, planes) },
    }
}

/// Levels as packed bytes, cut off.
#[inline(always)]
pub(crate) fn join(planes: &[Plane; 3], packed: &mut [u8; LANES * 3], level: Level) {
    match level.min(simd::level()) {
        Level::Scalar => plain::plain_join(planes, packed),
        // SAFETY: as above.
        _ => unsafe { avx2::join(planes, packed) },
    }
}

/// Weighted sums of neighbouring pixels, as packed levels.
#[inline(always)]
pub(crate) fn weigh(columns: &Columns, line: &[f32], pixels: &mut [u8], level: Level) {
    match level.min(simd::level()) {
        Level::Scalar => columns.plain(line, 0, pixels),
        // SAFETY: as above.
        _ => unsafe { columns.wide(line, pixels) },
    }
}

/// Values of one channel as bytes, cut off.
#[inline(always)]
pub(crate) fn bytes(plane: &Plane, level: Level) -> [u8; LANES] {
    match level.min(simd::level()) {
        Level::Scalar => plain::plain_bytes(plane),
        // SAFETY: as above.
        _ => unsafe { avx2::bytes(plane) },
    }
}
