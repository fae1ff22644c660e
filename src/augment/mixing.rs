//! Who is mixed with whom, and whose dice say how.
//!
//! What torchvision and timm call a batch is here the sample's window of partners, so that the dice do not depend on
//! the batch size.

use crate::draft::Draft;
use crate::geometry::Rect;

/// Lays `partner` over `area` with a share, and lets the draft fail where it cannot be laid.
pub(super) fn lay(draft: &mut Draft, partner: Draft, share: f32, area: Rect, label_share: f32) {
    if let Err(error) = draft.blend(partner, share, area, label_share) {
        draft.fail(error);
    }
}

/// How an augmentation with partners chooses them, and which dice it throws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mixing {
    /// Who the partners are.
    pub partner: Partner,
    /// Whose dice are thrown.
    pub dice: Dice,
}

/// Who the partners of a sample are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partner {
    /// Any others of its window.
    #[default]
    Drawn,
    /// The one ahead of it in its window; of the first one the last (`roll(1)`).
    Previous,
    /// The one as far from the end of its window as it is from the start (`flip`).
    Mirrored,
    /// The same for the first half of the window; the samples of the other half have no partner, nor has the one
    /// between.
    SecondHalf,
}

/// Who throws the same dice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dice {
    /// Each sample its own.
    #[default]
    Sample,
    /// A sample and the partner that it has by [`Partner::Mirrored`].
    Pair,
    /// All samples of a window.
    Window,
}
