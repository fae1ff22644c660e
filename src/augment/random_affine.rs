//! RandomAffine: turns, moves, scales and shears the image by chance.

use super::degrees::check_angles;
use super::{Augment, Degrees, check};
use crate::draft::Draft;
use crate::draft::op::{Fill, Interpolation, Op, Shear};
use crate::error::Result;
use crate::geometry::Size;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Turns, moves, scales and shears the image by chance, keeping its size (torchvision's `RandomAffine`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomAffine {
    /// Degrees to both sides, or `[min, max]`; 0 turns nothing.
    pub degrees: Degrees,
    /// Greatest shift along x and y, in parts of the width and the height; each in 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translate: Option<[f64; 2]>,
    /// Least and greatest factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 2]>,
    /// Degrees of shear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear: Option<ShearRange>,
    /// `nearest` or `bilinear`.
    #[serde(default = "check::nearest")]
    pub interpolation: Interpolation,
    /// The colour around: a grey level or `[r, g, b]`, in 0..=255.
    #[serde(default)]
    pub fill: Fill,
    /// `[x, y]` from the left top corner; without it the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 2]>,
}

/// Degrees of shear that RandomAffine draws from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, [min, max] or [min x, max x, min y, max y]")]
pub enum ShearRange {
    /// Along x: one number to both sides, or a range.
    X(Degrees),
    /// Least and greatest along x, least and greatest along y.
    Both([f64; 4]),
}

impl From<f64> for ShearRange {
    fn from(around: f64) -> Self {
        ShearRange::X(Degrees::Around(around))
    }
}

impl From<[f64; 2]> for ShearRange {
    fn from(range: [f64; 2]) -> Self {
        ShearRange::X(Degrees::Range(range))
    }
}

impl From<[f64; 4]> for ShearRange {
    fn from(ranges: [f64; 4]) -> Self {
        ShearRange::Both(ranges)
    }
}

/// What RandomAffine does to one image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineParams {
    /// Degrees, clockwise.
    pub angle: f64,
    /// Whole pixels to the right and down.
    pub translate: [f64; 2],
    /// Greater than 1 makes larger.
    pub scale: f64,
    /// Degrees along x and y.
    pub shear: [f64; 2],
}

impl RandomAffine {
    /// Turns by up to `degrees`, with torchvision's defaults.
    pub fn new(degrees: impl Into<Degrees>) -> Self {
        Self {
            degrees: degrees.into(),
            translate: None,
            scale: None,
            shear: None,
            interpolation: check::nearest(),
            fill: Fill::default(),
            center: None,
        }
    }

    /// Sets the greatest shift along x and y, in parts of the width and the height.
    pub fn translate(self, translate: [f64; 2]) -> Self {
        Self { translate: Some(translate), ..self }
    }

    /// Sets the least and greatest factor.
    pub fn scale(self, scale: [f64; 2]) -> Self {
        Self { scale: Some(scale), ..self }
    }

    /// Sets the shear.
    pub fn shear(self, shear: impl Into<ShearRange>) -> Self {
        Self { shear: Some(shear.into()), ..self }
    }

    /// Sets how pixels between pixels are made.
    pub fn interpolation(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Sets the colour around.
    pub fn fill(self, fill: impl Into<Fill>) -> Self {
        Self { fill: fill.into(), ..self }
    }

    /// Sets what is turned around, counted from the left top corner.
    pub fn center(self, center: [f64; 2]) -> Self {
        Self { center: Some(center), ..self }
    }

    /// The angle, then the shift, the factor and the shear where they are set; for an image of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> AffineParams {
        let mut draw = |[low, high]: [f64; 2]| f64::from(rng.uniform_between(low as f32, high as f32));
        let angle = draw(self.degrees.range());
        let translate = self.translate.map_or([0.0; 2], |[x, y]| {
            let most = [x * f64::from(of.width), y * f64::from(of.height)];
            most.map(|most| draw([-most, most]).round_ties_even())
        });
        let scale = self.scale.map_or(1.0, &mut draw);
        let shear = match self.shear {
            None => [0.0; 2],
            Some(ShearRange::X(degrees)) => [draw(degrees.range()), 0.0],
            Some(ShearRange::Both([x0, x1, y0, y1])) => [[x0, x1], [y0, y1]].map(draw),
        };
        AffineParams { angle, translate, scale, shear }
    }
}

impl Augment for RandomAffine {
    fn name(&self) -> &'static str {
        "RandomAffine"
    }

    fn check(&self) -> Result<()> {
        let name = self.name();
        self.degrees.check(name, "degrees")?;
        if let Some(parts) = self.translate {
            parts.into_iter().try_for_each(|part| check::range(name, "translate", [part; 2], 0.0, 1.0))?;
        }
        if let Some(scale) = self.scale {
            // Beyond these, f32 has no place for the map.
            check::range(name, "scale", scale, 1e-6, 1e6)?;
        }
        match self.shear {
            None => {}
            Some(ShearRange::X(degrees)) => degrees.check(name, "shear")?,
            Some(ShearRange::Both([x0, x1, y0, y1])) => {
                [[x0, x1], [y0, y1]].into_iter().try_for_each(|range| check_angles(name, "shear", range))?;
            }
        }
        check::center(name, self.center)?;
        check::warp_filter(name, self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let AffineParams { angle, translate, scale, shear } = self.make_params(draft.size(), rng);
        let Self { interpolation, fill, center, .. } = *self;
        let (shear, fill) = (Shear::Both(shear), Some(fill));
        draft.apply(Op::Affine { angle, translate, scale, shear, interpolation, fill, center });
    }
}
