//! Packed pixels to planes and back in plain Rust, and the choice of instruction set.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
pub(super) mod plain;

use super::lanes::{GROUP, LANES, Plane};
use crate::simd::Level;

#[cfg(target_arch = "x86_64")]
pub(crate) use super::dispatch::{bytes, join, split, split_scaled, weigh, with_level};
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::*;

/// What every machine can do.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "the vector twins stand in for them"))]
mod portable {
    use super::plain::{plain_bytes, plain_join, plain_split, plain_split_scaled};
    use super::{GROUP, LANES, Level, Plane};
    use crate::device::cpu::columns::Columns;

    pub(crate) fn with_level(_: Level, work: impl FnOnce()) {
        work();
    }

    pub(crate) fn split(packed: &[u8; LANES * 3], planes: &mut [Plane; 3], _: Level) {
        plain_split(packed, planes);
    }

    pub(crate) fn split_scaled(
        packed: &[[u8; GROUP * 3]],
        factors: &[[f32; 2]; 3],
        planes: [&mut [[f32; GROUP]]; 3],
        _: Level,
    ) {
        plain_split_scaled(packed, factors, planes);
    }

    pub(crate) fn join(planes: &[Plane; 3], packed: &mut [u8; LANES * 3], _: Level) {
        plain_join(planes, packed);
    }

    pub(crate) fn weigh(columns: &Columns, line: &[f32], pixels: &mut [u8], _: Level) {
        columns.plain(line, 0, pixels);
    }

    pub(crate) fn bytes(plane: &Plane, _: Level) -> [u8; LANES] {
        plain_bytes(plane)
    }
}

#[cfg(test)]
mod tests {
    use super::plain::plain_split;
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
        for level in [Level::Scalar, Level::Avx2, Level::Avx512] {
            let (mut plain, mut split) = (PixelBlock::default(), PixelBlock::default());
            plain_split(&packed, &mut plain.planes);
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
