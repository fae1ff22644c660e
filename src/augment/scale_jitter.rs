//! ScaleJitter: the image at a random scale of what would fit a target.

use super::draw;
use super::prelude::*;

/// Resizes the image to fit into `target_size` times a factor from `scale_range` (torchvision's `ScaleJitter`).
///
/// As in torchvision, the target's first number bounds the width and its second the height. The aspect ratio stays, so
/// a crop and a border usually follow: [`super::RandomCrop`] with `pad_if_needed`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScaleJitter {
    /// The bounds that the image is fitted into at a factor of 1; each from 1 to 65535.
    pub target_size: [u32; 2],
    /// Minimum and maximum factor; at least 0.
    #[serde(default = "tenth_to_twice")]
    pub scale_range: [f64; 2],
    /// `bilinear`, `bicubic` or `nearest`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Widen the filter when shrinking; `bicubic` requires it.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

const fn tenth_to_twice() -> [f64; 2] {
    [0.1, 2.0]
}

impl ScaleJitter {
    /// Factors from 0.1 to 2, bilinear with antialias.
    pub fn new(target_size: [u32; 2]) -> Self {
        let interpolation = Interpolation::default();
        Self { target_size, scale_range: tenth_to_twice(), interpolation, antialias: true }
    }

    setters! {
        /// Sets the minimum and the maximum factor.
        scale_range: [f64; 2];
    }

    /// The new size; never empty, where torchvision's can be.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Size {
        let [low, high] = self.scale_range;
        let scale = draw::stretched(rng, low, high);
        let [first, second] = self.target_size.map(f64::from);
        let fits = f64::min(second / f64::from(of.height), first / f64::from(of.width));
        let scaled = |edge: u32| draw::part_of(edge, fits as f32 * scale).max(1);
        Size::new(scaled(of.width), scaled(of.height))
    }
}

impl Augment for ScaleJitter {
    fn check(&self) -> Result<()> {
        check::size(self.name(), Extent::Two(self.target_size))?;
        check::range(self.name(), "scale_range", self.scale_range, 0.0, f64::from(f32::MAX))?;
        check::filter(self.name(), self.interpolation, self.antialias)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let size = Extent::from(self.make_params(draft.size(), rng));
        let Self { interpolation, antialias, .. } = *self;
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
}
