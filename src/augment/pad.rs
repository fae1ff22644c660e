//! Pad: a border.

use super::prelude::*;
use crate::draft::MAX_EDGE;

/// Adds a border (torchvision's `Pad`).
///
/// Labels move with the image; what a border repeats of it has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all; each from 0 to 65535.
    pub padding: Padding,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
    /// What the border consists of: `constant` (`fill`), `edge` (the outermost pixels, repeated), `reflect` (the image
    /// mirrored at its outermost pixels, so at most its edge less 1) or `symmetric` (mirrored at its edge).
    #[serde(default)]
    pub padding_mode: PaddingMode,
}

impl Pad {
    /// Adds a black border.
    pub fn new(padding: impl Into<Padding>) -> Self {
        Self { padding: padding.into(), fill: Fill::default(), padding_mode: PaddingMode::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
        /// Sets what the border consists of.
        padding_mode: PaddingMode;
    }
}

/// Refuses a border that no canvas can have.
pub(super) fn check_padding(name: &str, padding: Padding) -> Result<()> {
    ensure!(
        padding.sides().iter().all(|&side| side <= MAX_EDGE),
        "{name}: padding must be at most {MAX_EDGE} a side"
    );
    Ok(())
}

impl Augment for Pad {
    fn check(&self) -> Result<()> {
        check_padding(self.name(), self.padding)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        draft.apply(Op::Pad { padding: self.padding, fill: self.fill, padding_mode: self.padding_mode });
    }
}
