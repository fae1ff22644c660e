//! RandomRotation: turns the image by a random angle.

use super::{Augment, Degrees, check};
use crate::draft::Draft;
use crate::draft::op::{Fill, Interpolation, Op};
use crate::error::Result;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Turns the image by a random angle, counterclockwise (torchvision's `RandomRotation`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomRotation {
    /// Degrees to both sides, or `[min, max]`.
    pub degrees: Degrees,
    /// `nearest` or `bilinear`.
    #[serde(default = "check::nearest")]
    pub interpolation: Interpolation,
    /// Makes the canvas as large as the turned image needs.
    #[serde(default)]
    pub expand: bool,
    /// `[x, y]` from the left top corner; without it the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<[f64; 2]>,
    /// The colour around: a grey level or `[r, g, b]`, in 0..=255.
    #[serde(default)]
    pub fill: Fill,
}

impl RandomRotation {
    /// Turns by up to `degrees`, with torchvision's defaults.
    pub fn new(degrees: impl Into<Degrees>) -> Self {
        Self {
            degrees: degrees.into(),
            interpolation: check::nearest(),
            expand: false,
            center: None,
            fill: Fill::default(),
        }
    }

    /// Sets how pixels between pixels are made.
    pub fn interpolation(self, interpolation: Interpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Sets whether the canvas grows with the turned image.
    pub fn expand(self, expand: bool) -> Self {
        Self { expand, ..self }
    }

    /// Sets what is turned around, counted from the left top corner.
    pub fn center(self, center: [f64; 2]) -> Self {
        Self { center: Some(center), ..self }
    }

    /// Sets the colour around.
    pub fn fill(self, fill: impl Into<Fill>) -> Self {
        Self { fill: fill.into(), ..self }
    }

    /// The angle in degrees.
    pub fn make_params(&self, rng: &mut dyn Draws) -> f64 {
        let [low, high] = self.degrees.range().map(|angle| angle as f32);
        f64::from(rng.uniform_between(low, high))
    }
}

impl Augment for RandomRotation {
    fn name(&self) -> &'static str {
        "RandomRotation"
    }

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
