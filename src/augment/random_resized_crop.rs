//! RandomResizedCrop: a random part of the image, resized to a fixed size.

use super::interpolation::InterpolationChoice;
use super::patch::{Patch, TRIES};
use super::prelude::*;

/// Crops a part of random area, shape and position and resizes it to `size` (torchvision's `RandomResizedCrop`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomResizedCrop {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Minimum and maximum fraction of the image's area; at least 0.
    #[serde(default = "default_scale")]
    pub scale: [f64; 2],
    /// Minimum and maximum width / height before resizing, from 1e-6 to 1e6.
    #[serde(default = "default_ratio")]
    pub ratio: [f64; 2],
    /// `bilinear`, `bicubic`, `nearest`, or `random` for bilinear or bicubic, as in timm.
    #[serde(default)]
    pub interpolation: InterpolationChoice,
    /// Widen the filter when shrinking; `bicubic` and `random` require it.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

fn default_scale() -> [f64; 2] {
    [0.08, 1.0]
}

fn default_ratio() -> [f64; 2] {
    [3.0 / 4.0, 4.0 / 3.0]
}

impl RandomResizedCrop {
    /// Crops to `size` with torchvision's defaults.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self {
            size: size.into(),
            scale: default_scale(),
            ratio: default_ratio(),
            interpolation: InterpolationChoice::default(),
            antialias: true,
        }
    }

    setters! {
        /// Sets the minimum and maximum fraction of the image's area.
        scale: [f64; 2];
        /// Sets the minimum and maximum width / height.
        ratio: [f64; 2];
        /// Sets the interpolation.
        interpolation: into InterpolationChoice;
        /// Sets whether the filter is widened when shrinking.
        antialias: bool;
    }

    /// The part to crop of an image of size `of`: ten tries, then the centre with the nearest allowed shape.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Rect {
        let patch = Patch { scale: self.scale, ratio: self.ratio };
        let fits = |edge: u64, limit: u32| (1..=u64::from(limit)).contains(&edge);
        for _ in 0..TRIES {
            let [width, height] = patch.draw(of, rng);
            if fits(width, of.width) && fits(height, of.height) {
                let (width, height) = (width as u32, height as u32);
                let top = rng.below(of.height - height + 1);
                let left = rng.below(of.width - width + 1);
                return Rect::new(left as i32, top as i32, width, height);
            }
        }
        self.middle(of)
    }

    /// Never empty, where torchvision's crop of a one pixel wide image can be.
    fn middle(&self, of: Size) -> Rect {
        let [narrowest, widest] = self.ratio;
        let (width, height) = (f64::from(of.width), f64::from(of.height));
        let rounded = |edge: f64| (edge.round_ties_even() as u32).max(1);
        let size = match width / height {
            shape if shape < narrowest => Size::new(of.width, rounded(width / narrowest)),
            shape if shape > widest => Size::new(rounded(height * widest), of.height),
            _ => of,
        };
        let corner = ((of.width - size.width) / 2, (of.height - size.height) / 2);
        Rect::new(corner.0 as i32, corner.1 as i32, size.width, size.height)
    }
}

impl Augment for RandomResizedCrop {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        Patch { scale: self.scale, ratio: self.ratio }.check(self.name(), 1e6)?;
        let cubic = matches!(self.interpolation, InterpolationChoice::Bicubic | InterpolationChoice::Random);
        let hardest = if cubic { Interpolation::Bicubic } else { Interpolation::Bilinear };
        check::filter(self.name(), hardest, self.antialias)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let Rect { x: left, y: top, width, height } = self.make_params(draft.size(), rng);
        let size = Extent::from(draft.sized(self.size).square());
        let (interpolation, antialias) = (self.interpolation.pick(rng), self.antialias);
        draft.apply(Op::ResizedCrop { top, left, height, width, size, interpolation, antialias });
    }
}
