//! Shrinking and enlarging again: what makes the sample less sharp, and moves nothing.

use super::Draft;
use super::op::{Extent, Interpolation, Op};
use crate::plan::LayerSource;

impl Draft {
    /// Makes the sample `small` and as large as it was, by the two ops that this is. Objects, masks and second images stay as
    /// they are.
    pub(crate) fn shrink_and_enlarge(&mut self, small: Extent, down: Interpolation, up: Interpolation) {
        let (size, labels) = (self.size(), self.label_ops.len());
        for (size, interpolation, antialias) in [(small, down, false), (Extent::from(size), up, true)] {
            self.apply(Op::Resize { size, interpolation, max_size: None, antialias });
        }
        if self.error.is_some() || small.square() == size {
            return;
        }
        self.label_ops.truncate(labels);
        // Enlarging what was resampled has flushed it.
        self.shrunk.push(self.flushed.len() as u32 - 1);
    }

    /// Whether a layer enlarges what was shrunk: a plan for masks must find all of it, and not the part that a fold leaves.
    pub(super) fn shows_shrunk(&self) -> bool {
        let layers = self.canvas.inputs.iter().flat_map(|input| &input.layers);
        let mut sources = layers.filter_map(|drawn| drawn.layer.sampled()).map(|sampled| sampled.from);
        sources.any(|from| matches!(from, LayerSource::Pass(pass) if self.shrunk.contains(&pass)))
    }
}
