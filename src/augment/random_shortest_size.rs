//! RandomShortestSize: resizes the shorter edge to one of several lengths.

use super::prelude::*;

/// Resizes the shorter edge to one of `min_size`, and the longer one to at most `max_size` (torchvision's
/// `RandomShortestSize`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomShortestSize {
    /// Length of the shorter edge in pixels, or several to choose from; each from 1 to 65535.
    pub min_size: MinSize,
    /// Maximum length of the longer edge in pixels, from 1 to 65535; without it, no maximum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<u32>,
    /// `bilinear`, `bicubic` or `nearest`.
    #[serde(default)]
    pub interpolation: Interpolation,
    /// Widen the filter when shrinking; `bicubic` requires it.
    #[serde(default = "check::yes")]
    pub antialias: bool,
}

/// One length, or several to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a length, or a list of lengths")]
pub enum MinSize {
    /// Always this one.
    One(u32),
    /// One of these, each with the same probability.
    Any(Vec<u32>),
}

impl MinSize {
    fn lengths(&self) -> &[u32] {
        match self {
            MinSize::One(length) => std::slice::from_ref(length),
            MinSize::Any(lengths) => lengths,
        }
    }
}

variants_from!(MinSize { One(u32) });

impl<const N: usize> From<[u32; N]> for MinSize {
    fn from(lengths: [u32; N]) -> Self {
        MinSize::Any(lengths.to_vec())
    }
}

impl RandomShortestSize {
    /// Bilinear with antialias; without a maximum for the longer edge.
    pub fn new(min_size: impl Into<MinSize>) -> Self {
        let interpolation = Interpolation::default();
        Self { min_size: min_size.into(), max_size: None, interpolation, antialias: true }
    }

    setters! {
        /// Sets the maximum length of the longer edge.
        max_size: some u32;
    }

    /// The new size; never empty, where torchvision's can be.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Size {
        let lengths = self.min_size.lengths();
        let chosen = rng.below(lengths.len() as u32) as usize;
        let length = f64::from(lengths.get(chosen).copied().unwrap_or(1));
        let (short, long) = (of.width.min(of.height), of.width.max(of.height));
        let most = self.max_size.map_or(f64::INFINITY, |most| f64::from(most) / f64::from(long));
        let scale = (length / f64::from(short)).min(most);
        let scaled = |edge: u32| ((f64::from(edge) * scale) as u32).max(1);
        Size::new(scaled(of.width), scaled(of.height))
    }
}

impl Augment for RandomShortestSize {
    fn check(&self) -> Result<()> {
        let lengths = self.min_size.lengths();
        ensure!(!lengths.is_empty(), "RandomShortestSize: min_size is empty: name a length, or several");
        let all = lengths.iter().chain(&self.max_size);
        all.copied().try_for_each(|length| check::size(self.name(), Extent::One(length)))?;
        check::filter(self.name(), self.interpolation, self.antialias)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let size = Extent::from(self.make_params(draft.size(), rng));
        let Self { interpolation, antialias, .. } = *self;
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias });
    }
}
