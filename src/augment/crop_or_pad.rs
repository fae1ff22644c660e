//! CenterCropOrPad, RandomCropOrPad, FixedSizeCrop and PadIfSmaller: a part of fixed size; an edge that is too short gets a
//! border.

use super::prelude::*;

/// Crops the centre, after a border on both sides where the image is smaller (timm's `CenterCropOrPad`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CenterCropOrPad {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
    /// What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for `Pad`.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

/// Crops a random part, or lays an image that is smaller at a random place of a border (timm's `RandomCropOrPad`).
///
/// Draws: the row, then the column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomCropOrPad {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
    /// What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for `Pad`.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

/// Crops a random part, after a border at the right and at the bottom where the image is smaller (`FixedSizeCrop` of
/// torchvision's reference scripts).
///
/// Draws: one number for both edges, the fraction of what is cut off that lies before the part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FixedSizeCrop {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
}

/// Adds a border at the right and at the bottom of an image that is smaller than `size` (`PadIfSmaller` of torchvision's
/// reference scripts).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PadIfSmaller {
    /// Minimum `[height, width]` in pixels, or one number for both; each from 1 to 65535.
    pub size: Extent,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
}

/// An edge of a canvas: what comes before and after it, and where the crop then begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    before: u32,
    after: u32,
    start: u32,
}

/// Pads and crops `draft` to `size`, where `place` cuts an edge of the first length to the second.
fn cut(
    draft: &mut Draft,
    size: Extent,
    (fill, padding_mode): (Fill, PaddingMode),
    mut place: impl FnMut(u32, u32) -> Cut,
) {
    let (have, want) = (draft.size(), draft.sized(size).square());
    let (down, across) = (place(have.height, want.height), place(have.width, want.width));
    let sides = [across.before, down.before, across.after, down.after];
    if sides != [0; 4] {
        draft.apply(Op::Pad { padding: Padding::Sides(sides), fill, padding_mode });
    }
    let (top, left, height, width) = (down.start as i32, across.start as i32, want.height, want.width);
    if draft.size().rect() != Rect::new(left, top, width, height) {
        draft.apply(Op::Crop { top, left, height, width });
    }
}

impl CenterCropOrPad {
    /// Crops to `size`, and pads with black.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), fill: Fill::default(), padding_mode: PaddingMode::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
        /// Sets what the border consists of.
        padding_mode: PaddingMode;
    }
}

impl RandomCropOrPad {
    /// Crops to `size`, and pads with black.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), fill: Fill::default(), padding_mode: PaddingMode::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
        /// Sets what the border consists of.
        padding_mode: PaddingMode;
    }
}

impl FixedSizeCrop {
    /// Crops to `size`, and pads with black.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), fill: Fill::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
    }
}

impl PadIfSmaller {
    /// Pads to `size` with black.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), fill: Fill::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
    }
}

impl Augment for CenterCropOrPad {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        cut(draft, self.size, (self.fill, self.padding_mode), |have, want| {
            let short = want.saturating_sub(have);
            let start = (f64::from(have.saturating_sub(want)) / 2.0).round_ties_even() as u32;
            Cut { before: short / 2, after: short.div_ceil(2), start }
        });
    }
}

impl Augment for RandomCropOrPad {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        cut(draft, self.size, (self.fill, self.padding_mode), |have, want| {
            let drawn = rng.below(have.abs_diff(want) + 1);
            match want.checked_sub(have) {
                Some(short) => Cut { before: drawn, after: short - drawn, start: 0 },
                None => Cut { before: 0, after: 0, start: drawn },
            }
        });
    }
}

impl Augment for FixedSizeCrop {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let fraction = f64::from(rng.uniform());
        cut(draft, self.size, (self.fill, PaddingMode::default()), |have, want| Cut {
            before: 0,
            after: want.saturating_sub(have),
            start: (f64::from(have.saturating_sub(want)) * fraction) as u32,
        });
    }
}

impl Augment for PadIfSmaller {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let (have, least) = (draft.size(), draft.sized(self.size).square());
        let wanted = Extent::from(Size::new(have.width.max(least.width), have.height.max(least.height)));
        let after = |have: u32, want: u32| Cut { before: 0, after: want - have, start: 0 };
        cut(draft, wanted, (self.fill, PaddingMode::default()), after);
    }
}
