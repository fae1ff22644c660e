//! RandomPerspective: shows the image as from another viewpoint.

use super::prelude::*;

/// Moves the image's corners inwards by random amounts, with probability `p` (torchvision's `RandomPerspective`).
///
/// If the drawn corners lie on one line, as those of a one-pixel image do, the image stays as it is; torchvision's map
/// then consists of rounding errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomPerspective {
    /// Maximum distance that corners move, as a fraction of half the image, from 0 to 1.
    pub distortion_scale: f64,
    /// Probability of a change, from 0 to 1.
    pub p: f32,
    /// `bilinear` or `nearest`.
    pub interpolation: Interpolation,
    /// Fill colour around the image: a grey level or `[r, g, b]`, each from 0 to 255.
    pub fill: Fill,
}

impl Default for RandomPerspective {
    fn default() -> Self {
        Self {
            distortion_scale: 0.5,
            p: check::half(),
            interpolation: Interpolation::Bilinear,
            fill: Fill::default(),
        }
    }
}

/// Four points `[x, y]`, clockwise from the top left corner.
pub type Corners = [[i32; 2]; 4];

impl RandomPerspective {
    /// Moves corners by up to `distortion_scale` of half the image, with probability `p`.
    pub fn new(distortion_scale: f64, p: f32) -> Self {
        Self { distortion_scale, p, ..Self::default() }
    }

    setters! {
        /// Sets the interpolation.
        interpolation: Interpolation;
        /// Sets the fill colour.
        fill: into Fill;
    }

    /// The corners of an image of size `of`, and where they go: x, then y, of each.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> (Corners, Corners) {
        let bound = |edge: u32| (self.distortion_scale * f64::from(edge / 2)) as u32 + 1;
        let (right, bottom) = (of.width as i32 - 1, of.height as i32 - 1);
        let corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
        let mut moved = |at: i32, edge: u32| {
            let first = if at == 0 { 0 } else { edge - bound(edge) };
            (first + rng.below(bound(edge))) as i32
        };
        (corners, corners.map(|[x, y]| [moved(x, of.width), moved(y, of.height)]))
    }
}

impl Augment for RandomPerspective {
    fn check(&self) -> Result<()> {
        let scale = [self.distortion_scale; 2];
        check::range(self.name(), "distortion_scale", scale, 0.0, 1.0)?;
        check::probability(self.name(), self.p)?;
        check::warp_filter(self.name(), self.interpolation)
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if !rng.applies(self.p) {
            return;
        }
        let (startpoints, endpoints) = self.make_params(draft.size(), rng);
        let Self { interpolation, fill, .. } = *self;
        if Op::is_perspective(startpoints, endpoints) {
            draft.apply(Op::Perspective { startpoints, endpoints, interpolation, fill: Some(fill) });
        }
    }
}
