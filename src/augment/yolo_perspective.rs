//! YoloPerspective: the detection set's random map, which also cuts the sample out of a mosaic.

use super::letter_box::{LetterBox, grey};
use super::mosaic::{between, load};
use super::prelude::*;
use crate::draft::product;
use crate::plan::label_ops::{LabelOpKind, ObjectFilter};

/// Rotates, scales, shears and translates the canvas by random amounts and shows `size` of it (Ultralytics'
/// `RandomPerspective`).
///
/// If there is no mosaic, the image is first fitted into `size`. Images are sampled once, from their decoded pixels,
/// where Ultralytics resamples what it has already resized, which `antialias = false` does as well. The centre of
/// the first pixel is (0.5, 0.5), for pixels and labels alike; OpenCV takes it for (0, 0), which shifts its pixels
/// against its boxes by up to a quarter of a pixel.
///
/// Draws: perspective along x and y, angle, scale, shear along x and y, translation along x and y.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct YoloPerspective {
    /// `[height, width]` of the result in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Maximum angle in degrees, in both directions, from 0 to 180.
    #[serde(default)]
    pub degrees: f64,
    /// Maximum translation in both directions, as a fraction of `size`, from 0 to 1.
    #[serde(default = "translate")]
    pub translate: f64,
    /// The scale is drawn between 1 - this and 1 + this; from 0 to 0.99.
    #[serde(default = "scale")]
    pub scale: f64,
    /// Maximum shear in degrees, in both directions along each axis, from 0 to 80.
    #[serde(default)]
    pub shear: f64,
    /// Maximum perspective coefficient, from 0 to 0.001.
    #[serde(default)]
    pub perspective: f64,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default = "grey")]
    pub fill: Fill,
    /// Widen the filter where images are shrunk. Without, images are shrunk as OpenCV does, and what was resized or laid side
    /// by side before is resampled as pixels, as in Ultralytics.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

const fn translate() -> f64 {
    0.1
}

const fn scale() -> f64 {
    0.5
}

/// The parameters of one map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YoloPerspectiveParams {
    /// From the canvas to the result, row by row.
    pub matrix: [[f64; 3]; 3],
    /// Its scale.
    pub scale: f64,
}

impl YoloPerspective {
    /// Shows `size` with Ultralytics' defaults.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self {
            size: size.into(),
            degrees: 0.0,
            translate: translate(),
            scale: scale(),
            shear: 0.0,
            perspective: 0.0,
            fill: grey(),
            antialias: true,
        }
    }

    setters! {
        /// Sets the maximum angle.
        degrees: f64;
        /// Sets the maximum translation.
        translate: f64;
        /// Sets the maximum difference of the scale from 1.
        scale: f64;
        /// Sets the maximum shear.
        shear: f64;
        /// Sets the maximum perspective coefficient.
        perspective: f64;
        /// Sets whether the filter is widened where images are shrunk, and images are sampled once.
        antialias: bool;
    }

    /// The map of a canvas of size `of`: T S R P C, where C moves the canvas's centre to the origin, P is the
    /// perspective, R rotates and scales, S shears, and T moves the origin to about the result's centre.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> YoloPerspectiveParams {
        let around = |rng: &mut dyn Draws, middle: f64, by: f64| between(rng, middle - by, middle + by);
        let to = self.size.square();
        let centre = [
            [1.0, 0.0, -0.5 * f64::from(of.width)],
            [0.0, 1.0, -0.5 * f64::from(of.height)],
            [0.0, 0.0, 1.0],
        ];
        let tilt = [0; 2].map(|_| around(rng, 0.0, self.perspective));
        let tilt = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [tilt[0], tilt[1], 1.0]];
        let angle = around(rng, 0.0, self.degrees).to_radians();
        let scale = around(rng, 1.0, self.scale);
        let (cos, sin) = (scale * angle.cos(), scale * angle.sin());
        let turn = [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]];
        let shear = [0; 2].map(|_| around(rng, 0.0, self.shear).to_radians().tan());
        let shear = [[1.0, shear[0], 0.0], [shear[1], 1.0, 0.0], [0.0, 0.0, 1.0]];
        let moved = [to.width, to.height].map(|edge| around(rng, 0.5, self.translate) * f64::from(edge));
        let moved = [[1.0, 0.0, moved[0]], [0.0, 1.0, moved[1]], [0.0, 0.0, 1.0]];
        let matrix = [shear, turn, tilt, centre].iter().fold(moved, |before, next| product(&before, next));
        YoloPerspectiveParams { matrix, scale }
    }
}

impl Augment for YoloPerspective {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        check::range(self.name(), "degrees", [self.degrees; 2], 0.0, 180.0)?;
        check::range(self.name(), "translate", [self.translate; 2], 0.0, 1.0)?;
        check::range(self.name(), "scale", [self.scale; 2], 0.0, 0.99)?;
        check::range(self.name(), "shear", [self.shear; 2], 0.0, 80.0)?;
        check::range(self.name(), "perspective", [self.perspective; 2], 0.0, 0.001)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let sized = Self { size: draft.sized(self.size), ..*self };
        let Self { size, fill, antialias, .. } = sized;
        if !draft.is_composed() {
            let edges = size.square();
            load(draft, edges.width.max(edges.height), antialias);
            LetterBox { fill, antialias, ..LetterBox::new(size) }.plan(draft, Vec::new(), rng);
        }
        let YoloPerspectiveParams { matrix, scale } = sized.make_params(draft.size(), rng);
        draft.relabel(LabelOpKind::Mark);
        draft.apply(Op::WarpPerspective { matrix, size, fill, antialias });
        draft.relabel(LabelOpKind::Rebox);
        draft.relabel(LabelOpKind::Keep(ObjectFilter::candidates(scale)));
    }
}
