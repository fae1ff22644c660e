//! ResizeKeepRatio: the image at a size near a target, its shape kept or nearly so.

use super::draw;
use super::interpolation::InterpolationChoice;
use super::prelude::*;

/// Resizes the image so that its shorter edge, or its longer one, fits `size`, at a random scale and shape (timm's
/// `ResizeKeepRatio`).
///
/// [`CenterCropOrPad`](super::CenterCropOrPad) or [`RandomCropOrPad`](super::RandomCropOrPad) usually follows: timm's
/// `train_crop_mode` is `rkrc` with the one and `rkrr` with the other.
///
/// Draws: whether to scale, and by how much; whether to change the shape, and by how much; with `random` the interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ResizeKeepRatio {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// What is fitted: 0 the edge that is nearer to its target, so that the image covers it; 1 the other, so that it lies
    /// within; from 0 to 1.
    #[serde(default)]
    pub longest: f64,
    /// `bilinear`, `bicubic`, `nearest`, or `random` for bilinear or bicubic.
    #[serde(default)]
    pub interpolation: InterpolationChoice,
    /// Probability of a random scale, from 0 to 1.
    #[serde(default)]
    pub random_scale_prob: f32,
    /// Minimum and maximum scale, from 0.01 to 100.
    #[serde(default = "scale")]
    pub random_scale_range: [f64; 2],
    /// Scales are fractions of the area that is then cut out, so that less is larger; else factors of both edges.
    #[serde(default)]
    pub random_scale_area: bool,
    /// Probability of a random shape, from 0 to 1.
    #[serde(default)]
    pub random_aspect_prob: f32,
    /// Minimum and maximum factor of width / height, from 0.01 to 100.
    #[serde(default = "aspect")]
    pub random_aspect_range: [f64; 2],
}

const fn scale() -> [f64; 2] {
    [0.85, 1.05]
}

const fn aspect() -> [f64; 2] {
    [0.9, 1.11]
}

impl ResizeKeepRatio {
    /// Covers `size`, with nothing random.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self {
            size: size.into(),
            longest: 0.0,
            interpolation: InterpolationChoice::default(),
            random_scale_prob: 0.0,
            random_scale_range: scale(),
            random_scale_area: false,
            random_aspect_prob: 0.0,
            random_aspect_range: aspect(),
        }
    }

    setters! {
        /// Sets what is fitted.
        longest: f64;
        /// Sets the interpolation.
        interpolation: into InterpolationChoice;
        /// Sets the probability of a random scale.
        random_scale_prob: f32;
        /// Sets the minimum and the maximum scale.
        random_scale_range: [f64; 2];
        /// Sets whether scales are fractions of the area.
        random_scale_area: bool;
        /// Sets the probability of a random shape.
        random_aspect_prob: f32;
        /// Sets the minimum and the maximum factor of width / height.
        random_aspect_range: [f64; 2];
    }

    /// The new size of an image of size `of`; never empty, where timm's can be.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Size {
        let target = self.size.square();
        let [across, down] = [(of.width, target.width), (of.height, target.height)]
            .map(|(have, want)| f64::from(have) / f64::from(want));
        let ratio = across.max(down) * self.longest + across.min(down) * (1.0 - self.longest);
        let scaled = self.random_scale_prob > 0.0 && rng.chance(self.random_scale_prob);
        let scale = if scaled { self.scale(rng) } else { 1.0 };
        let (mut x, mut y) = (scale, scale);
        if self.random_aspect_prob > 0.0 && rng.chance(self.random_aspect_prob) {
            let [low, high] = self.random_aspect_range.map(f64::ln);
            let aspect = draw::between([low, high], rng).exp().sqrt();
            (x, y) = (x * aspect, y / aspect);
        }
        let edge =
            |have: u32, factor: f64| ((f64::from(have) * factor / ratio).round_ties_even() as u32).max(1);
        Size::new(edge(of.width, x), edge(of.height, y))
    }

    fn scale(&self, rng: &mut dyn Draws) -> f64 {
        let drawn = draw::between(self.random_scale_range, rng);
        if self.random_scale_area { 1.0 / drawn.sqrt() } else { drawn }
    }
}

impl Augment for ResizeKeepRatio {
    fn check(&self) -> Result<()> {
        let name = self.name();
        check::size(name, self.size)?;
        check::within(name, "longest", self.longest, [0.0, 1.0])?;
        check::within(name, "random_scale_prob", self.random_scale_prob.into(), [0.0, 1.0])?;
        check::within(name, "random_aspect_prob", self.random_aspect_prob.into(), [0.0, 1.0])?;
        check::range(name, "random_scale_range", self.random_scale_range, 0.01, 100.0)?;
        check::range(name, "random_aspect_range", self.random_aspect_range, 0.01, 100.0)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let sized = Self { size: draft.sized(self.size), ..*self };
        let size = Extent::from(sized.make_params(draft.size(), rng));
        let interpolation = self.interpolation.pick(rng);
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
    }
}
