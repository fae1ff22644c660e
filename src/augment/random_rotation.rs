//! RandomRotation: rotates the image by a random angle.

use super::Degrees;
use super::prelude::*;

/// Rotates the image counterclockwise by a random angle (torchvision's `RandomRotation`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomRotation {
    /// Angle in degrees: one number for both directions, or `[min, max]`.
    pub degrees: Degrees,
    /// `nearest` or `bilinear`.
    #[serde(default = "check::nearest")]
    pub interpolation: Interpolation,
    /// Enlarge the canvas so that it holds the whole rotated image.
    #[serde(default)]
    pub expand: bool,
    /// Centre of rotation, `[x, y]` in pixels from the top left corner. Without it, the image's centre.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 2]>,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
}

impl RandomRotation {
    /// Rotates by up to `degrees`, with torchvision's defaults.
    pub fn new(degrees: impl Into<Degrees>) -> Self {
        Self {
            degrees: degrees.into(),
            interpolation: check::nearest(),
            expand: false,
            center: None,
            fill: Fill::default(),
        }
    }

    setters! {
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets whether the canvas grows to hold the rotated image.
        expand: bool;
        /// Sets the centre of rotation, in pixels from the top left corner.
        center: some [f64; 2];
        /// Sets the fill colour.
        fill: into Fill;
    }

    /// The angle in degrees.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        let [low, high] = self.degrees.range().map(|angle| angle as f32);
        f64::from(rng.uniform_between(low, high))
    }
}

impl Augment for RandomRotation {
    fn check(&self) -> Result<()> {
        self.degrees.check(self.name(), "degrees")?;
        check::center(self.name(), self.center)?;
        check::warp_filter(self.name(), self.interpolation)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let angle = self.make_params(rng);
        let Self { interpolation, expand, center, fill, .. } = *self;
        draft.apply(Op::Rotate { angle, interpolation, expand, center, fill: Some(fill) });
    }
}
