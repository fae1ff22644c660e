//! Packed pixels to planes and back in plain Rust, and the choice of instruction set.

use super::block::{LANES, Plane};
use crate::simd::Level;

#[cfg(target_arch = "x86_64")]
pub(crate) use super::dispatch::{bytes, join, split, weigh, with_level};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::*;

/// What every machine can do.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "the vector twins stand in for them"))]
mod portable {
    use super::{LANES, Level, Plane, plain_bytes, plain_join, plain_split};
    use crate::device::cpu::columns::Columns;

    pub(crate) fn with_level(_: Level, work: impl FnOnce()) {
        work();
    }

    pub(crate) fn split(packed: &[u8; LANES * 3], planes: &mut [Plane; 3], _: Level) {
        plain_split(packed, planes);
    }

    pub(crate) fn join(planes: &[Plane; 3], packed: &mut [u8; LANES * 3], _: Level) {
        plain_join(planes, packed);
    }

    pub(crate) fn weigh(columns: Columns<'_>, pixels: &mut [u8], _: Level) {
        columns.plain(pixels);
    }

    pub(crate) fn bytes(plane: &Plane, _: Level) -> [u8; LANES] {
        plain_bytes(plane)
    }
}

/// Levels of 64 packed pixels as f32.
pub(super) fn plain_split(packed: &[u8; LANES * 3], [r, g, b]: &mut [Plane; 3]) {
    for (i, pixel) in packed.chunks_exact(3).enumerate() {
        (r[i], g[i], b[i]) = (f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2]));
    }
}

/// Levels as packed bytes, cut off.
pub(super) fn plain_join([r, g, b]: &[Plane; 3], packed: &mut [u8; LANES * 3]) {
    for (i, pixel) in packed.chunks_exact_mut(3).enumerate() {
        pixel.copy_from_slice(&[r[i] as u8, g[i] as u8, b[i] as u8]);
    }
}

/// Values of one channel as bytes, cut off.
pub(super) fn plain_bytes(plane: &Plane) -> [u8; LANES] {
    plane.map(|level| level as u8)
}
