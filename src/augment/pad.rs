//! Pad: a border of one colour.

use super::prelude::*;
use crate::draft::MAX_EDGE;

/// Adds a border of one colour (torchvision's `Pad` with `padding_mode="constant"`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// `[left, top, right, bottom]`, `[left and right, top and bottom]`, or one number for all; each from 0 to 65535.
    pub padding: Padding,
    /// Fill colour of the border: a grey level or `[r, g, b]`, each from 0 to 255.
    #[serde(default)]
    pub fill: Fill,
}

impl Pad {
    /// Adds a black border.
    pub fn new(padding: impl Into<Padding>) -> Self {
        Self { padding: padding.into(), fill: Fill::default() }
    }

    setters! {
        /// Sets the border's colour.
        fill: into Fill;
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
        draft.apply(Op::Pad { padding: self.padding, fill: self.fill });
    }
}
