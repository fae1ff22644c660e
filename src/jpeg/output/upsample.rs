//! Chroma upsampling: libjpeg's "fancy" triangle filters, and replication for ratios without one.
//!
//! Sources are rows whose element 0 is the left neighbour of the first wanted sample. At the edges of a plane the first
//! and last samples are repeated, which gives exactly libjpeg's special cases.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;

use crate::simd::Vectors;

/// Samples past the wanted ones that vector code may read and write, so that it needs no scalar tail.
pub(crate) const SLACK: usize = 64;

/// Doubles a row: each output takes three quarters of the nearer sample. `source` holds `count` samples and both
/// neighbours, `out` takes 2 * `count`; both have [`SLACK`] more bytes.
pub(crate) fn h2v1(vectors: Vectors, source: &[u8], count: usize, out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = vectors.avx2() {
        return avx2::h2v1(avx2, source, count, out);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::h2v1(neon, source, count, out);
    }
    let _ = vectors;
    for (three, out) in source.windows(3).zip(out.chunks_exact_mut(2)).take(count) {
        let [left, centre, right] = [three[0], three[1], three[2]].map(u16::from);
        out[0] = ((3 * centre + left + 1) >> 2) as u8;
        out[1] = ((3 * centre + right + 2) >> 2) as u8;
    }
}

/// Doubles a row in both directions: `near` is the row that the output row lies in, `far` the next nearest.
pub(crate) fn h2v2(vectors: Vectors, near: &[u8], far: &[u8], count: usize, out: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = vectors.avx2() {
        return avx2::h2v2(avx2, near, far, count, out);
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::h2v2(neon, near, far, count, out);
    }
    let _ = vectors;
    for ((near, far), out) in near.windows(3).zip(far.windows(3)).zip(out.chunks_exact_mut(2)).take(count) {
        let [left, centre, right] = std::array::from_fn(|i| 3 * u16::from(near[i]) + u16::from(far[i]));
        out[0] = ((3 * centre + left + 8) >> 4) as u8;
        out[1] = ((3 * centre + right + 7) >> 4) as u8;
    }
}

/// Blends a row with its upper (`bias` 1) or lower (`bias` 2) neighbour. No horizontal neighbours here: element 0 is
/// the first sample.
pub(crate) fn h1v2(vectors: Vectors, near: &[u8], far: &[u8], bias: u16, count: usize, out: &mut [u8]) {
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return neon::h1v2(neon, near, far, bias, count, out);
    }
    let _ = vectors;
    for ((near, far), out) in near.iter().zip(far).zip(out).take(count) {
        *out = ((3 * u16::from(*near) + u16::from(*far) + bias) >> 2) as u8;
    }
}

/// Repeats each sample `times` times; element 0 is the first sample.
pub(crate) fn replicate(source: &[u8], times: usize, count: usize, out: &mut [u8]) {
    for (sample, out) in source.iter().zip(out.chunks_exact_mut(times)).take(count) {
        out.fill(*sample);
    }
}
