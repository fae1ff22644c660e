//! The plain versions, which the vector versions are compared with.

use crate::device::cpu::lanes::{GROUP, LANES, Plane};

/// Levels of 64 packed pixels as f32.
pub(super) fn split(packed: &[u8; LANES * 3], [r, g, b]: &mut [Plane; 3]) {
    for (i, pixel) in packed.chunks_exact(3).enumerate() {
        (r[i], g[i], b[i]) = (f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2]));
    }
}

/// fma(level, a, b) of packed pixels, with a and b per channel, as far as all slices go.
pub(super) fn split_scaled(
    packed: &[[u8; GROUP * 3]],
    factors: &[[f32; 2]; 3],
    planes: [&mut [[f32; GROUP]]; 3],
) {
    for (channel, (plane, [a, b])) in planes.into_iter().zip(factors).enumerate() {
        let levels = packed.as_flattened().iter().skip(channel).step_by(3);
        for (value, level) in plane.as_flattened_mut().iter_mut().zip(levels) {
            *value = f32::from(*level).mul_add(*a, *b);
        }
    }
}

/// Levels as packed bytes, cut off.
pub(super) fn join([r, g, b]: &[Plane; 3], packed: &mut [u8; LANES * 3]) {
    for (i, pixel) in packed.chunks_exact_mut(3).enumerate() {
        pixel.copy_from_slice(&[r[i] as u8, g[i] as u8, b[i] as u8]);
    }
}

/// Values of one channel as bytes, cut off.
pub(super) fn bytes(plane: &Plane) -> [u8; LANES] {
    plane.map(|level| level as u8)
}
