//! The operations that timm's RandAugment chooses from, and what each is at a level: a tenth of the magnitude.

use crate::augment::interpolation::InterpolationChoice;
use crate::draft::op::{Fill, Interpolation, Op};
use crate::geometry::Size;
use crate::rng::Draws;

/// An operation, by timm's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    AutoContrast,
    Equalize,
    Invert,
    Rotate,
    Posterize,
    Solarize,
    SolarizeAdd,
    Color,
    Contrast,
    Brightness,
    Sharpness,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
}

use Operation::*;

/// All of them, in timm's order.
pub(super) const OPERATIONS: [Operation; 15] = [
    AutoContrast,
    Equalize,
    Invert,
    Rotate,
    Posterize,
    Solarize,
    SolarizeAdd,
    Color,
    Contrast,
    Brightness,
    Sharpness,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
];

/// What all warps share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warps {
    pub(super) interpolation: InterpolationChoice,
    pub(super) fill: Fill,
    /// Fraction of the edge at level 1.
    pub(super) translate: f64,
}

impl Operation {
    /// The operation at `level` on an image of size `of`; `None` where it changes nothing.
    pub(super) fn at(
        self,
        level: f64,
        increasing: bool,
        warps: Warps,
        of: Size,
        rng: &mut dyn Draws,
    ) -> Option<Op> {
        Some(match self {
            AutoContrast => Op::Autocontrast {},
            Equalize => Op::Equalize {},
            Invert => Op::Invert {},
            Posterize => {
                let bits = (level * 4.0) as u32;
                Op::Posterize { bits: if increasing { 4u32.saturating_sub(bits) } else { bits.min(8) } }
            }
            Solarize => {
                let least = ((level * 256.0) as u32).min(256);
                let threshold = if increasing { 256 - least } else { least };
                // No level reaches 256.
                return (threshold < 256).then(|| Op::Solarize { threshold: threshold.into() });
            }
            SolarizeAdd => Op::SolarizeAdd { addition: (level * 110.0).min(128.0) as u8, threshold: 128 },
            Color => Op::Saturation { factor: factor(level, increasing, rng) },
            Contrast => Op::Contrast { factor: factor(level, increasing, rng) },
            Brightness => Op::Brightness { factor: factor(level, increasing, rng) },
            Sharpness => Op::Sharpness { factor: factor(level, increasing, rng) },
            Rotate => {
                let degrees = either_way(level * 30.0, rng);
                return warps.rotated(degrees, of, rng);
            }
            ShearX => {
                let shear = either_way(level * 0.3, rng);
                warps.looked_up([1.0, shear, 0.0, 0.0, 1.0, 0.0], rng)
            }
            ShearY => {
                let shear = either_way(level * 0.3, rng);
                warps.looked_up([1.0, 0.0, 0.0, shear, 1.0, 0.0], rng)
            }
            TranslateX => {
                let moved = either_way(level * warps.translate, rng) * f64::from(of.width);
                warps.looked_up([1.0, 0.0, moved, 0.0, 1.0, 0.0], rng)
            }
            TranslateY => {
                let moved = either_way(level * warps.translate, rng) * f64::from(of.height);
                warps.looked_up([1.0, 0.0, 0.0, 0.0, 1.0, moved], rng)
            }
        })
    }
}

/// The factor of a colour operation: on either side of 1, or from 0.1 on.
fn factor(level: f64, increasing: bool, rng: &mut dyn Draws) -> f64 {
    match increasing {
        true => (1.0 + either_way(level * 0.9, rng)).max(0.1),
        false => level * 1.8 + 0.1,
    }
}

/// Negative with a probability of a half.
fn either_way(value: f64, rng: &mut dyn Draws) -> f64 {
    if rng.uniform() > 0.5 { -value } else { value }
}

impl Warps {
    fn looked_up(self, data: [f64; 6], rng: &mut dyn Draws) -> Op {
        Op::PillowAffine { data, resample: self.interpolation.pick(rng), fillcolor: self.fill }
    }

    /// The map of Pillow's `Image.rotate`, counterclockwise, and its shortcuts.
    fn rotated(self, degrees: f64, of: Size, rng: &mut dyn Draws) -> Option<Op> {
        let resample = self.interpolation.pick(rng);
        let degrees = degrees.rem_euclid(360.0);
        if degrees == 0.0 {
            return None;
        }
        if degrees == 180.0 || ([90.0, 270.0].contains(&degrees) && of.width == of.height) {
            let (interpolation, fill) = (Interpolation::Nearest, Some(self.fill));
            return Some(Op::Rotate { angle: degrees, interpolation, expand: false, center: None, fill });
        }
        let turn = -degrees.to_radians();
        let [a, b, d, e] = [turn.cos(), turn.sin(), -turn.sin(), turn.cos()].map(rounded);
        let [x, y] = [of.width, of.height].map(|edge| f64::from(edge) / 2.0);
        let data = [a, b, a * -x + b * -y + x, d, e, d * -x + e * -y + y];
        Some(Op::PillowAffine { data, resample, fillcolor: self.fill })
    }
}

/// Python's `round(x, 15)`: through the nearest decimal, so that numbers are those of Pillow.
fn rounded(x: f64) -> f64 {
    format!("{x:.15}").parse().unwrap_or(x)
}
