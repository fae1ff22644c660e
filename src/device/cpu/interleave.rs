//! Packed pixels to planes and back, and one piece of code compiled for several instruction sets.
#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "calls functions compiled for instruction sets that were detected")
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;

use super::columns::Columns;
use super::lanes::{GROUP, LANES, Plane};
use crate::simd::{self, Level};

/// The plain version, or that for AVX2 or NEON where both the level and the machine have it.
macro_rules! dispatch {
    ($level:ident, $plain:expr, avx2: $avx2:expr, neon: $neon:expr) => {
        match $level.min(simd::level()) {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 | Level::Avx512 => {
                // SAFETY: the level is at most the detected one, so the machine has AVX2 and FMA.
                unsafe { $avx2 }
            }
            #[cfg(target_arch = "aarch64")]
            Level::Neon => {
                // SAFETY: the level is at most the detected one, so the machine has NEON.
                unsafe { $neon }
            }
            _ => $plain,
        }
    };
}

/// Runs `work` inside a function that has the features of `level`, or of the machine if it has less.
#[inline(always)]
pub(super) fn with_features(level: Level, work: impl FnOnce()) {
    match level.min(simd::level()) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            // SAFETY: the level is at most the detected one, so the machine has these features.
            unsafe { with_avx512(work) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            // SAFETY: the level is at most the detected one, so the machine has these features.
            unsafe { with_avx2(work) }
        }
        // NEON is among the features that everything is built with.
        _ => work(),
    }
}

/// [`with_features`] of an expression, as a closure that is always inlined.
macro_rules! with_level {
    ($level:expr, $work:expr) => {
        $crate::device::cpu::interleave::with_features(
            $level,
            #[inline(always)]
            || $work,
        )
    };
}
pub(super) use with_level;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2")]
fn with_avx2(work: impl FnOnce()) {
    work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,avx512f,avx512bw,avx512vl")]
fn with_avx512(work: impl FnOnce()) {
    work();
}

/// Asks the processor for bytes that are read soon, where it can be asked.
#[inline(always)]
pub(crate) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of every such machine, and the bytes are there.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Levels of 64 packed pixels as f32.
#[inline(always)]
pub(crate) fn split(packed: &[u8; LANES * 3], planes: &mut [Plane; 3], level: Level) {
    dispatch!(level, plain::split(packed, planes), avx2: avx2::split(packed, planes), neon: neon::split(packed, planes));
}

/// fma(level, a, b) of packed pixels, with a and b per channel, as far as all slices go.
#[inline(always)]
pub(crate) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    planes: [&mut [[f32; GROUP]]; 3],
    level: Level,
) {
    dispatch!(
        level,
        plain::split_scaled(packed, factors, planes),
        avx2: avx2::split_scaled(packed, factors, planes),
        neon: neon::split_scaled(packed, factors, planes)
    );
}

/// Levels as packed bytes, cut off.
#[inline(always)]
pub(crate) fn join(planes: &[Plane; 3], packed: &mut [u8; LANES * 3], level: Level) {
    dispatch!(level, plain::join(planes, packed), avx2: avx2::join(planes, packed), neon: neon::join(planes, packed));
}

/// Weighted sums of neighbouring pixels, as packed levels.
#[inline(always)]
pub(crate) fn weigh(columns: &Columns, line: &[f32], pixels: &mut [u8], level: Level) {
    dispatch!(
        level,
        columns.plain(line, 0, pixels),
        avx2: columns.wide(line, pixels),
        neon: columns.wide(line, pixels)
    );
}

/// Values of one channel as bytes, cut off.
#[inline(always)]
pub(crate) fn bytes(plane: &Plane, level: Level) -> [u8; LANES] {
    dispatch!(level, plain::bytes(plane), avx2: avx2::bytes(plane), neon: neon::bytes(plane))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::pixel_block::PixelBlock;

    #[test]
    fn scaling_on_the_way_is_splitting_and_then_scaling() {
        let packed: [u8; LANES * 3] = std::array::from_fn(|i| (i * 83 + i / 7) as u8);
        let factors = [[0.017, -2.1], [1.0 / 57.375, -2.035_714_3], [0.3, 1e-3]];
        let mut expected = PixelBlock::default();
        split(&packed, &mut expected.planes, Level::Scalar);
        for (plane, [a, b]) in expected.planes.iter_mut().zip(factors) {
            plane.iter_mut().for_each(|level| *level = level.mul_add(a, b));
        }
        for level in simd::levels() {
            let (mut plain, mut split) = (PixelBlock::default(), PixelBlock::default());
            plain::split(&packed, &mut plain.planes);
            super::split(&packed, &mut split.planes, level);
            assert_eq!(plain.planes, split.planes, "{level:?}");
            // All of it, and one group less.
            for groups in [LANES / GROUP, LANES / GROUP - 1] {
                let mut found = PixelBlock::default();
                let planes = found.planes.each_mut().map(|plane| &mut plane.as_chunks_mut().0[..groups]);
                split_scaled(packed.as_chunks().0, &factors, planes, level);
                for (found, expected) in found.planes.iter().zip(&expected.planes) {
                    let (done, left) = found.split_at(groups * GROUP);
                    assert_eq!(done, &expected[..groups * GROUP], "{level:?}");
                    assert!(left.iter().all(|&value| value == 0.0), "{level:?}");
                }
            }
        }
    }
}
