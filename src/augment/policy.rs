//! The operations that the automatic policies choose from, and the magnitudes of each.

use crate::draft::Draft;
use crate::draft::op::{Fill, Interpolation, Op, Shear};
use crate::geometry::Size;
use crate::rng::Draws;
use serde::Serialize;

/// An operation of an automatic policy, by torchvision's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the names are the operations")]
pub enum PolicyOp {
    Identity,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
    Rotate,
    Brightness,
    Color,
    Contrast,
    Sharpness,
    Posterize,
    Solarize,
    AutoContrast,
    Equalize,
    Invert,
}

use PolicyOp::*;

/// torchvision's default number of magnitudes.
pub(super) const BINS: u32 = 31;

/// One operation as it was drawn, with its magnitude; 0 where it has none.
pub type Drawn = (PolicyOp, f64);

/// The operations that RandAugment and TrivialAugmentWide draw from, in torchvision's order.
const CHOICES: [PolicyOp; 14] = [
    Identity,
    ShearX,
    ShearY,
    TranslateX,
    TranslateY,
    Rotate,
    Brightness,
    Color,
    Contrast,
    Sharpness,
    Posterize,
    Solarize,
    AutoContrast,
    Equalize,
];

/// One of the operations, each with the same probability.
pub(super) fn choice(rng: &mut dyn Draws) -> PolicyOp {
    CHOICES[rng.below(CHOICES.len() as u32) as usize]
}

/// The largest magnitudes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Tangent of the angle.
    shear: f64,
    /// Pixels of a given edge.
    translate: fn(u32) -> f64,
    /// Degrees.
    rotate: f64,
    /// Distance of a factor from 1.
    factor: f64,
    /// Number of bits that are lost.
    posterize: f64,
    /// Number of bits where none is lost.
    bits: f32,
}

impl Space {
    /// RandAugment's and AutoAugment's.
    pub(super) const NARROW: Space = Space {
        shear: 0.3,
        translate: |edge| 150.0 / 331.0 * f64::from(edge),
        rotate: 30.0,
        factor: 0.9,
        posterize: 4.0,
        bits: 8.0,
    };
    /// AugMix's.
    pub(super) const MIXED: Space =
        Space { translate: |edge| f64::from(edge) / 3.0, bits: 4.0, ..Space::NARROW };
    /// TrivialAugmentWide's.
    pub(super) const WIDE: Space =
        Space { shear: 0.99, translate: |_| 32.0, rotate: 135.0, factor: 0.99, posterize: 6.0, bits: 8.0 };

    /// Magnitude `index` of `bins`, for an image of size `of`; `None` where the operation has none.
    pub(super) fn magnitude(&self, op: PolicyOp, bins: u32, index: u32, of: Size) -> Option<f64> {
        let upto = |end: f64| Some(f64::from(linspace(0.0, end as f32, bins, index)));
        match op {
            ShearX | ShearY => upto(self.shear),
            TranslateX => upto((self.translate)(of.width)),
            TranslateY => upto((self.translate)(of.height)),
            Rotate => upto(self.rotate),
            Brightness | Color | Contrast | Sharpness => upto(self.factor),
            Posterize => {
                let lost = index as f32 / (f64::from(bins - 1) / self.posterize) as f32;
                Some(f64::from((self.bits - lost).round_ties_even()))
            }
            Solarize => Some(f64::from(linspace(1.0, 0.0, bins, index))),
            Identity | AutoContrast | Equalize | Invert => None,
        }
    }

    /// The magnitude with its sign, which is drawn if the operation works in both directions.
    pub(super) fn draw(
        &self,
        op: PolicyOp,
        (bins, index): (u32, impl FnOnce(&mut dyn Draws) -> u32),
        of: Size,
        rng: &mut dyn Draws,
    ) -> Drawn {
        if self.magnitude(op, bins, 0, of).is_none() {
            return (op, 0.0);
        }
        let index = index(rng);
        let magnitude = self.magnitude(op, bins, index, of).unwrap_or(0.0);
        let signed = !matches!(op, Posterize | Solarize);
        (op, if signed && rng.uniform() <= 0.5 { -magnitude } else { magnitude })
    }
}

/// The `index`th of `count` numbers from `start` to `end`, with the arithmetic of torch's `linspace` in f32: from the
/// nearer end, product and sum fused.
fn linspace(start: f32, end: f32, count: u32, index: u32) -> f32 {
    if count < 2 {
        return start;
    }
    let step = (end - start) / (count - 1) as f32;
    match index < count / 2 {
        true => step.mul_add(index as f32, start),
        false => (-step).mul_add((count - 1 - index) as f32, end),
    }
}

/// Applies the drawn operations, one after the other.
pub(super) fn perform(
    draft: &mut Draft,
    drawn: impl IntoIterator<Item = Drawn>,
    interpolation: Interpolation,
    fill: Option<Fill>,
) {
    let ops = drawn.into_iter().filter_map(|drawn| op_of(drawn, interpolation, fill));
    ops.for_each(|op| draft.apply(op));
}

/// What was drawn as an op; `None` where it changes nothing.
pub(super) fn op_of((op, magnitude): Drawn, interpolation: Interpolation, fill: Option<Fill>) -> Option<Op> {
    let warp = |translate: [f64; 2], shear: [f64; 2], center: Option<[f64; 2]>| Op::Affine {
        angle: 0.0,
        translate,
        scale: 1.0,
        shear: Shear::Both(shear),
        interpolation,
        fill,
        center,
    };
    let sheared = magnitude.atan().to_degrees();
    let factor = 1.0 + magnitude;
    Some(match op {
        Identity => return None,
        // Around the corner, as the first implementations did.
        ShearX => warp([0.0; 2], [sheared, 0.0], Some([0.0; 2])),
        ShearY => warp([0.0; 2], [0.0, sheared], Some([0.0; 2])),
        TranslateX => warp([magnitude.trunc(), 0.0], [0.0; 2], None),
        TranslateY => warp([0.0, magnitude.trunc()], [0.0; 2], None),
        Rotate => Op::Rotate { angle: magnitude, interpolation, expand: false, center: None, fill },
        Brightness => Op::Brightness { factor },
        Color => Op::Saturation { factor },
        Contrast => Op::Contrast { factor },
        Sharpness => Op::Sharpness { factor },
        Posterize => Op::Posterize { bits: magnitude as u32 },
        Solarize => Op::Solarize { threshold: 255.0 * magnitude },
        AutoContrast => Op::Autocontrast {},
        Equalize => Op::Equalize {},
        Invert => Op::Invert {},
    })
}
