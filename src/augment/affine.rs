//! Affine and ShiftScaleRotate: Albumentations' maps that move, scale, rotate and shear.

use super::Limit;
use super::limit::between;
use super::prelude::*;
use crate::draft::product;

/// Scales, rotates, shears and moves the image by random amounts, with probability `p`; its size stays (Albumentations'
/// `Affine`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Affine {
    /// Factor along x and y: a number, `[min, max]` for both, or `{ x = [min, max], y = [min, max] }`; from 1e-3 to 1e3.
    pub scale: AxisRange,
    /// Translation as a fraction of width and height, written likewise and cut off to whole pixels; from -1 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate_percent: Option<AxisRange>,
    /// Translation in whole pixels, written likewise, in place of `translate_percent`; from -65535 to 65535.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub translate_px: Option<AxisRange>,
    /// Angle in degrees, counterclockwise: a number, or `[min, max]`; from -360 to 360.
    pub rotate: Turn,
    /// Shear in degrees along x and y, written as `scale` is; from -80 to 80.
    pub shear: AxisRange,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Whether y has the factor of x.
    pub keep_ratio: bool,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// Moves, scales and rotates the image by random amounts, with probability `p`; its size stays (Albumentations'
/// `ShiftScaleRotate`).
///
/// As there, x and y are scaled by factors of their own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ShiftScaleRotate {
    /// Translation as a fraction of width and height: one number for both directions, or `[min, max]`; from 0 to 1 as one
    /// number.
    pub shift_limit: Limit,
    /// What the factors differ from 1 by: one number for both directions, or `[min, max]`; from 0 to 0.99 as one number.
    pub scale_limit: Limit,
    /// Angle in degrees: one number for both directions, or `[min, max]`; from 0 to 360 as one number.
    pub rotate_limit: Limit,
    /// `nearest` or `bilinear`.
    pub interpolation: Interpolation,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
}

/// A number or a range for each of two axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, [min, max], or { x = [min, max], y = [min, max] }")]
pub enum AxisRange {
    /// Always this, along both.
    Fixed(f64),
    /// Minimum and maximum, along both, each drawn by itself.
    Both([f64; 2]),
    /// A range for each.
    Each {
        /// Minimum and maximum along x.
        x: [f64; 2],
        /// Minimum and maximum along y.
        y: [f64; 2],
    },
}

variants_from!(AxisRange { Fixed(f64), Both([f64; 2]) });

impl AxisRange {
    /// Minimum and maximum along x, and along y.
    pub const fn ranges(self) -> [[f64; 2]; 2] {
        match self {
            AxisRange::Fixed(fixed) => [[fixed, fixed]; 2],
            AxisRange::Both(range) => [range; 2],
            AxisRange::Each { x, y } => [x, y],
        }
    }

    /// A number along x, then one along y.
    fn draw(self, rng: &mut dyn Draws) -> [f64; 2] {
        self.ranges().map(|range| between(range, rng))
    }

    fn check(self, name: &str, what: &str, lowest: f64, highest: f64) -> Result<()> {
        self.ranges().into_iter().try_for_each(|range| check::range(name, what, range, lowest, highest))
    }
}

/// An angle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number of degrees, or [min, max]")]
pub enum Turn {
    /// Always this.
    Fixed(f64),
    /// Minimum and maximum.
    Range([f64; 2]),
}

variants_from!(Turn { Fixed(f64), Range([f64; 2]) });

impl Turn {
    const fn range(self) -> [f64; 2] {
        match self {
            Turn::Fixed(angle) => [angle, angle],
            Turn::Range(range) => range,
        }
    }
}

impl Default for Affine {
    fn default() -> Self {
        Self {
            scale: AxisRange::Both([1.0; 2]),
            translate_percent: None,
            translate_px: None,
            rotate: Turn::Fixed(0.0),
            shear: AxisRange::Both([0.0; 2]),
            interpolation: Interpolation::Bilinear,
            fill: Fill::default(),
            keep_ratio: false,
            p: check::half(),
        }
    }
}

impl Affine {
    setters! {
        /// Sets the factors.
        scale: into AxisRange;
        /// Sets the translation, as a fraction of width and height.
        translate_percent: some into AxisRange;
        /// Sets the translation in pixels.
        translate_px: some into AxisRange;
        /// Sets the angle.
        rotate: into Turn;
        /// Sets the shear.
        shear: into AxisRange;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets whether y has the factor of x.
        keep_ratio: bool;
        /// Sets the probability of a change.
        p: f32;
    }

    /// The matrix for an image of size `of`: translation, shear, factors and the angle are drawn in this order.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> [[f64; 3]; 2] {
        let edges = [of.width, of.height].map(f64::from);
        let moved = match (self.translate_px, self.translate_percent) {
            (Some(pixels), _) => pixels.ranges().map(|range| whole(range, rng)),
            (None, Some(parts)) => {
                let [x, y] = parts.draw(rng);
                [x * edges[0], y * edges[1]].map(f64::trunc)
            }
            (None, None) => [0.0; 2],
        };
        let shear = self.shear.draw(rng).map(|degrees| -degrees);
        let [across, down] = self.scale.draw(rng);
        let scale = [across, if self.keep_ratio { across } else { down }];
        matrix(edges, moved, shear, scale, between(self.rotate.range(), rng))
    }
}

/// A whole number from a range, each as likely.
fn whole([low, high]: [f64; 2], rng: &mut dyn Draws) -> f64 {
    let low = low.trunc();
    low + f64::from(rng.below((high.trunc() - low) as u32 + 1))
}

/// First scaled, then rotated, sheared and moved, round the middle.
fn matrix(edges: [f64; 2], moved: [f64; 2], shear: [f64; 2], scale: [f64; 2], angle: f64) -> [[f64; 3]; 2] {
    let (sin, cos) = angle.to_radians().sin_cos();
    let [x, y] = edges.map(|edge| edge / 2.0);
    let [tan_x, tan_y] = shear.map(|degrees| degrees.to_radians().tan());
    let last = [0.0, 0.0, 1.0];
    let steps = [
        [[scale[0], 0.0, -scale[0] * x], [0.0, scale[1], -scale[1] * y], last],
        [[cos, sin, 0.0], [-sin, cos, 0.0], last],
        [[1.0, tan_x, x + moved[0]], [tan_y, 1.0, y + moved[1]], last],
    ];
    let [across, down, _] = product(&steps[2], &product(&steps[1], &steps[0]));
    [across, down]
}

by_own_chance! {
    Affine,
    check: |this, name| {
        ensure!(
            this.translate_px.is_none() || this.translate_percent.is_none(),
            "{name}: translate_percent and translate_px are both given: leave one out"
        );
        this.scale.check(name, "scale", 1e-3, 1e3)?;
        this.shear.check(name, "shear", -80.0, 80.0)?;
        check::range(name, "rotate", this.rotate.range(), -360.0, 360.0)?;
        for (what, range, most) in
            [("translate_percent", this.translate_percent, 1.0), ("translate_px", this.translate_px, 65_535.0)]
        {
            range.map_or(Ok(()), |range| range.check(name, what, -most, most))?;
        }
        check::warp_filter(name, this.interpolation)
    },
    plan: |this, draft, rng| {
        let matrix = this.make_params(draft.size(), rng);
        warp(draft, matrix, this.interpolation, this.fill);
    },
}

/// Nothing where nothing moves; black is what there is without a fill.
fn warp(draft: &mut Draft, matrix: [[f64; 3]; 2], interpolation: Interpolation, fill: Fill) {
    let fill = (fill.rgb() != [0; 3]).then_some(fill);
    if matrix != [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        draft.apply(Op::WarpAffine { matrix, interpolation, fill });
    }
}

impl Default for ShiftScaleRotate {
    fn default() -> Self {
        Self {
            shift_limit: Limit::Between([-0.0625, 0.0625]),
            scale_limit: Limit::Between([-0.1, 0.1]),
            rotate_limit: Limit::Between([-45.0, 45.0]),
            interpolation: Interpolation::Bilinear,
            fill: Fill::default(),
            p: check::half(),
        }
    }
}

impl ShiftScaleRotate {
    setters! {
        /// Sets the translation, as a fraction of width and height.
        shift_limit: into Limit;
        /// Sets what the factors differ from 1 by.
        scale_limit: into Limit;
        /// Sets the angle.
        rotate_limit: into Limit;
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: into Fill;
        /// Sets the probability of a change.
        p: f32;
    }

    /// The same as what Affine makes of it.
    fn affine(&self) -> Affine {
        let scale = self.scale_limit.range().map(|limit| 1.0 + limit);
        Affine::default()
            .translate_percent(self.shift_limit.range())
            .scale(scale)
            .rotate(self.rotate_limit.range())
    }
}

by_own_chance! {
    ShiftScaleRotate,
    check: |this, name| {
        this.shift_limit.check(name, "shift_limit", -1.0, 1.0)?;
        this.scale_limit.check(name, "scale_limit", -0.99, 10.0)?;
        this.rotate_limit.check(name, "rotate_limit", -360.0, 360.0)?;
        check::warp_filter(name, this.interpolation)
    },
    plan: |this, draft, rng| {
        let matrix = this.affine().make_params(draft.size(), rng);
        warp(draft, matrix, this.interpolation, this.fill);
    },
}
