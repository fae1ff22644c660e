//! RandomCrop: a part of fixed size at a random position.

use super::pad;
use super::prelude::*;

/// Crops `size` at a random position, after an optional border (torchvision's `RandomCrop`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomCrop {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// Border added before the crop: `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number
    /// for all; each from 0 to 65535. Without it, no border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub padding: Option<Padding>,
    /// Pad both sides of an image that is smaller than `size`.
    #[serde(default)]
    pub pad_if_needed: bool,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
    /// What the border consists of: `constant` (`fill`), `edge`, `reflect` or `symmetric`, as for `Pad`.
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

/// The parameters for one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CropParams {
    /// Left, top, right, bottom.
    pub padding: [u32; 4],
    /// The part of the padded image that is kept.
    pub rect: Rect,
}

impl RandomCrop {
    /// Crops to `size` without a border.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self {
            size: size.into(),
            padding: None,
            pad_if_needed: false,
            fill: Fill::default(),
            padding_mode: PaddingMode::default(),
        }
    }

    setters! {
        /// Adds a border before the crop.
        padding: some into Padding;
        /// Sets whether images smaller than the crop are padded.
        pad_if_needed: bool;
        /// Sets the border's colour.
        fill: into Fill;
        /// Sets what the border consists of.
        padding_mode: PaddingMode;
    }

    /// The border and the position for an image of size `of`; an axis without a choice draws nothing.
    ///
    /// # Errors
    /// When the crop is larger than the image and `pad_if_needed` is off.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Result<CropParams> {
        let want = self.size.square();
        let [mut left, mut top, mut right, mut bottom] = self.padding.map_or([0; 4], Padding::sides);
        let short = |want: u32, have: u32, a: u32, b: u32| match self.pad_if_needed {
            true => want.saturating_sub(have.saturating_add(a).saturating_add(b)),
            false => 0,
        };
        let (dx, dy) = (short(want.width, of.width, left, right), short(want.height, of.height, top, bottom));
        (left, right) = (left.saturating_add(dx), right.saturating_add(dx));
        (top, bottom) = (top.saturating_add(dy), bottom.saturating_add(dy));
        let padded = Size::new(
            of.width.saturating_add(left).saturating_add(right),
            of.height.saturating_add(top).saturating_add(bottom),
        );
        let (Some(free_x), Some(free_y)) =
            (padded.width.checked_sub(want.width), padded.height.checked_sub(want.height))
        else {
            bail!(
                "RandomCrop: the required crop size {want} is larger than the {}input image size {padded}: \
                 set pad_if_needed = true, or put a Resize ahead",
                if self.padding.is_some() { "padded " } else { "" }
            );
        };
        let mut place = |free: u32| if free == 0 { 0 } else { rng.below(free + 1) as i32 };
        let y = place(free_y);
        let x = place(free_x);
        Ok(CropParams { padding: [left, top, right, bottom], rect: Rect::new(x, y, want.width, want.height) })
    }
}

impl Augment for RandomCrop {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        self.padding.map_or(Ok(()), |padding| pad::check_padding(self.name(), padding))
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let sized = Self { size: draft.sized(self.size), ..*self };
        match sized.make_params(draft.size(), rng) {
            Err(error) => draft.fail(error),
            Ok(CropParams { padding, rect: Rect { x: left, y: top, width, height } }) => {
                if padding != [0; 4] {
                    let padding = Padding::Sides(padding);
                    draft.apply(Op::Pad { padding, fill: self.fill, padding_mode: self.padding_mode });
                }
                if draft.size().rect() != Rect::new(left, top, width, height) {
                    draft.apply(Op::Crop { top, left, height, width });
                }
            }
        }
    }
}
