//! Rectangles of one colour, laid over what there is.

use super::op::Fill;
use super::{Draft, DraftLayer};
use crate::error::{Error, ensure};
use crate::geometry::Rect;

/// The most rectangles of one op: a sample may have 128 layers.
const MAX_RECTANGLES: usize = 64;

impl Draft {
    pub(super) fn fill_rectangles(&mut self, rectangles: &[[u32; 4]], fill: Fill) -> Result<(), Error> {
        ensure!(
            rectangles.len() <= MAX_RECTANGLES,
            "fill_rectangles: there are {} rectangles and may be {MAX_RECTANGLES}: use several ops",
            rectangles.len()
        );
        if self.canvas.inputs.len() > 1 || self.canvas.has_steps() {
            self.flush_pass()?;
        }
        let canvas = self.canvas.size.rect();
        let inside = |[left, top, right, bottom]: [u32; 4]| {
            let [left, top, right, bottom] =
                [(left, canvas.width), (top, canvas.height), (right, canvas.width), (bottom, canvas.height)]
                    .map(|(at, edge)| at.min(edge));
            let size = (right.saturating_sub(left), bottom.saturating_sub(top));
            Rect::new(left as i32, top as i32, size.0, size.1)
        };
        let windows = rectangles.iter().copied().map(inside).filter(|window| !window.is_empty());
        let layers = windows.map(|window| DraftLayer::solid(window, fill.rgb()));
        self.canvas.inputs[0].layers.extend(layers);
        Ok(())
    }
}
