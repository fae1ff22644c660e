//! One closure compiled for several instruction sets.
#![expect(unsafe_code, reason = "calls functions compiled for instruction sets that were detected")]

use crate::simd::Level;

/// Runs `work` inside a function that has the features of `level`, which [`crate::simd::level`] detected.
#[inline(always)]
pub(super) fn run(level: Level, work: impl FnOnce()) {
    match level.min(crate::simd::level()) {
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
