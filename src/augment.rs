//! Augmentations edit a draft; they draw from a counter-based generator and never see a pixel.

use crate::draft::Draft;
use crate::rng::Draws;

/// One augmentation: draws parameters, asks the draft for ops.
pub trait Augment: Send + Sync {
    /// torchvision's class name, for messages and reports.
    fn name(&self) -> &'static str;

    /// How many partner samples it needs (at most 9); they come planned through the augmentations ahead of this one.
    fn partners(&self) -> usize {
        0
    }

    /// Edits `draft`. All randomness comes from `rng`, so the same key gives the same plan.
    ///
    /// Impossible requests are given to [`Draft::fail`]; the loader's builder finds them before the first epoch.
    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws);
}
