//! The operations that timm's RandAugment chooses from, and what each is at a level: a tenth of the magnitude.

use crate::augment::check;
use crate::augment::interpolation::InterpolationChoice;
use crate::draft::op::{Fill, Interpolation, Op};
use crate::error::{Result, ensure};
use crate::geometry::Size;
use crate::rng::{Draws, normal};

/// The magnitude that operations are strongest at, unless another one is given.
pub(in crate::augment) const STRONGEST: f64 = 10.0;
/// Beyond this standard deviation magnitudes are drawn uniformly.
const UNIFORM_ABOVE: f64 = 100.0;

/// An operation, by timm's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::augment) enum Operation {
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

/// Those of AugMix, in timm's order.
pub(in crate::augment) const MIXED: [Operation; 13] = [
    AutoContrast,
    Color,
    Contrast,
    Brightness,
    Sharpness,
    Equalize,
    Rotate,
    Posterize,
    Solarize,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
];

/// The magnitude with its noise, as a tenth.
pub(in crate::augment) fn level(magnitude: f64, std: f64, max: Option<f64>, rng: &mut dyn Draws) -> f64 {
    let magnitude = match std {
        0.0 => magnitude,
        std if std > UNIFORM_ABOVE => magnitude * f64::from(rng.uniform()),
        std => magnitude + normal(rng) * std,
    };
    magnitude.min(max.unwrap_or(STRONGEST)).max(0.0) / STRONGEST
}

/// Refuses a magnitude that is none.
pub(in crate::augment) fn check_magnitude(name: &str, magnitude: f64, std: f64) -> Result<()> {
    check::within(name, "magnitude", magnitude, [0.0, 100.0])?;
    ensure!(std >= 0.0, "{name}: magnitude_std should be at least 0, but is {std}");
    Ok(())
}

/// Refuses warps that Pillow's have no counterpart of.
pub(in crate::augment) fn check_warps(
    name: &str,
    translate: f64,
    interpolation: InterpolationChoice,
) -> Result<()> {
    check::within(name, "translate_pct", translate, [0.0, 1.0])?;
    ensure!(
        interpolation != InterpolationChoice::Nearest,
        "{name}: interpolation must be bilinear, bicubic or random, not nearest"
    );
    Ok(())
}

/// What all warps share.
#[derive(Clone, Copy, Debug)]
pub(in crate::augment) struct Warps {
    pub(in crate::augment) interpolation: InterpolationChoice,
    pub(in crate::augment) fill: Fill,
    /// Fraction of the edge at level 1.
    pub(in crate::augment) translate: f64,
}

impl Operation {
    /// The operation at `level` on an image of size `of`; `None` where it changes nothing.
    pub(in crate::augment) fn at(
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
