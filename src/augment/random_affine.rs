//! RandomAffine: turns, moves, scales and shears the image by chance.

use super::Degrees;
use super::degrees::check_angles;
use super::prelude::*;
use crate::draft::op::Shear;

/// Rotates, translates, scales and shears the image by random amounts; its size stays (torchvision's `RandomAffine`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomAffine {
    /// Angle in degrees: one number for both directions, or `[min, max]`; 0 turns off the rotation.
    pub degrees: Degrees,
    /// Maximum translation along x and y, as fractions of width and height, from 0 to 1; without
    /// it, no translation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translate: Option<[f64; 2]>,
    /// Minimum and maximum factor, from 1e-6 to 1e6; without it, no scaling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<[f64; 2]>,
    /// Shear in degrees: one number for both directions along x, `[min, max]` along x, or `[min x, max x, min y, max
    /// y]`. Without it, no shear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shear: Option<ShearRange>,
    /// `nearest` or `bilinear`.
    #[serde(default = "check::nearest")]
    pub interpolation: Interpolation,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
    /// Centre of rotation, `[x, y]` in pixels from the top left corner. Without it, the image's centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 2]>,
}

/// Degrees of shear that RandomAffine draws from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, [min, max] or [min x, max x, min y, max y]")]
pub enum ShearRange {
    /// Along x: one number for both directions, or a range.
    X(Degrees),
    /// Minimum and maximum along x, minimum and maximum along y.
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

variants_from!(ShearRange { Both([f64; 4]) });

/// The parameters for one image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffineParams {
    /// Degrees, clockwise.
    pub angle: f64,
    /// Whole pixels to the right and down.
    pub translate: [f64; 2],
    /// Greater than 1 enlarges.
    pub scale: f64,
    /// Degrees along x and y.
    pub shear: [f64; 2],
}

impl RandomAffine {
    /// Rotates by up to `degrees`, with torchvision's defaults.
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

    setters! {
        /// Sets the maximum translation along x and y, as fractions of width and height.
        translate: some [f64; 2];
        /// Sets the minimum and maximum factor.
        scale: some [f64; 2];
        /// Sets the shear.
        shear: some into ShearRange;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the centre of rotation, in pixels from the top left corner.
        center: some [f64; 2];
    }

    /// The angle, then the translation, the factor and the shear where they are set; for an image of size `of`.
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
    fn check(&self) -> Result<()> {
        let name = self.name();
        self.degrees.check(name, "degrees")?;
        if let Some(parts) = self.translate {
            parts.into_iter().try_for_each(|part| check::range(name, "translate", [part; 2], 0.0, 1.0))?;
        }
        if let Some(scale) = self.scale {
            // Beyond these, f32 cannot hold the map.
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
