//! One axis of a layer: which outputs a window shows, and which source positions each of them reads.

use crate::geometry::Rect;
use crate::plan::{Filter, Sampled};

/// The part of one axis of a resampled or warped image that a window shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Visible {
    /// First output that is wanted.
    pub(crate) offset: i32,
    /// Number of outputs wanted.
    pub(crate) count: u32,
    /// Whether they are written in reverse.
    pub(crate) reversed: bool,
}

/// One axis of a resampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Source length.
    pub(crate) input: u32,
    /// Length it is resampled to.
    pub(crate) output: u32,
    /// The outputs that are wanted.
    pub(crate) visible: Visible,
    /// How taps are weighted.
    pub(crate) filter: Filter,
}

/// The columns and the rows that a layer's window shows.
pub(crate) fn visible(window: Rect, sampled: &Sampled) -> (Visible, Visible) {
    let axis =
        |axis: usize, count| Visible { offset: sampled.offset[axis], count, reversed: sampled.mirror[axis] };
    (axis(0, window.width), axis(1, window.height))
}

impl Visible {
    /// The output written at `position`.
    pub(crate) fn shown(&self, position: usize) -> u32 {
        let shown = if self.reversed { self.count as usize - 1 - position } else { position };
        (shown as i64 + i64::from(self.offset)) as u32
    }
}

impl Scale {
    /// Source positions that the wanted outputs read: first, and one past the last.
    pub(crate) fn span(&self) -> (u32, u32) {
        // Reaches move with the output, so the two ends of the window have the two ends of the span.
        let Visible { offset, count, .. } = self.visible;
        let ends = [offset as u32, (i64::from(offset) + i64::from(count) - 1) as u32];
        let [near, far] = ends.map(|output| self.bounds(output));
        (near.0, far.1)
    }

    pub(crate) fn ratio(&self) -> f64 {
        f64::from(self.input) / f64::from(self.output)
    }

    /// How far a filter reaches from its centre.
    pub(crate) fn support(&self) -> f64 {
        let radius = if self.filter == Filter::Bicubic { 2.0 } else { 1.0 };
        radius * self.ratio().max(1.0)
    }

    /// First and one past the last tap of one output.
    pub(crate) fn bounds(&self, output: u32) -> (u32, u32) {
        match self.filter {
            Filter::Nearest => {
                let low = self.nearest(output);
                (low, low + 1)
            }
            Filter::BilinearPlain => {
                let low = (self.plain_position(output) as u32).min(self.input - 1);
                (low, (low + 2).min(self.input))
            }
            Filter::Bilinear | Filter::Bicubic => {
                let centre = (f64::from(output) + 0.5) * self.ratio();
                let low = (centre - self.support() + 0.5).max(0.0) as u32;
                (low, ((centre + self.support() + 0.5) as u32).min(self.input))
            }
        }
    }

    /// torch's nearest: floor(i * in / out) in f32.
    fn nearest(&self, output: u32) -> u32 {
        let ratio = self.input as f32 / self.output as f32;
        ((output as f32 * ratio) as u32).min(self.input - 1)
    }

    /// Where an output falls in the source when the filter is not widened.
    pub(crate) fn plain_position(&self, output: u32) -> f64 {
        (self.ratio() * (f64::from(output) + 0.5) - 0.5).max(0.0)
    }
}
