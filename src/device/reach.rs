//! What a layer reads of its source: the same answer for decoding, rendering and every device.

use super::warp;
use crate::geometry::Rect;
use crate::plan::{Layer, Plan, filter, kind, stat};

/// One axis of a resampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Source length.
    pub(crate) input: u32,
    /// Length it is resampled to.
    pub(crate) output: u32,
    /// First output that is wanted.
    pub(crate) offset: i32,
    /// Number of outputs wanted.
    pub(crate) count: u32,
    /// Whether they are written in reverse.
    pub(crate) reversed: bool,
    /// One of [`filter`].
    pub(crate) filter: u32,
}

impl Scale {
    /// Source positions that the wanted outputs read: first, and one past the last.
    pub(crate) fn span(&self) -> (u32, u32) {
        // Reaches move with the output, so the two ends of the window have the two ends of the span.
        let ends = [self.offset as u32, (i64::from(self.offset) + i64::from(self.count) - 1) as u32];
        let [near, far] = ends.map(|output| self.bounds(output));
        (near.0, far.1)
    }

    /// The output written at `position`.
    pub(crate) fn shown(&self, position: usize) -> u32 {
        let shown = if self.reversed { self.count as usize - 1 - position } else { position };
        (shown as i64 + i64::from(self.offset)) as u32
    }

    pub(crate) fn ratio(&self) -> f64 {
        f64::from(self.input) / f64::from(self.output)
    }

    /// How far a filter reaches from its centre.
    pub(crate) fn support(&self) -> f64 {
        let radius = if self.filter == filter::BICUBIC { 2.0 } else { 1.0 };
        radius * self.ratio().max(1.0)
    }

    /// First and one past the last tap of one output.
    pub(crate) fn bounds(&self, output: u32) -> (u32, u32) {
        match self.filter {
            filter::NEAREST => {
                let low = self.nearest(output);
                (low, low + 1)
            }
            filter::BILINEAR_PLAIN => {
                let low = (self.plain_position(output) as u32).min(self.input - 1);
                (low, (low + 2).min(self.input))
            }
            _ => {
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

/// The horizontal and the vertical scale of a layer; of a warp, what the window shows of the warped image.
pub(crate) fn scales(layer: &Layer) -> (Scale, Scale) {
    let axis = |input, output, offset, count, bit| Scale {
        input,
        output,
        offset,
        count,
        reversed: layer.mirror & bit != 0,
        filter: layer.filter,
    };
    (
        axis(layer.clip.width, layer.scaled.width, layer.offset[0], layer.window.width, 1),
        axis(layer.clip.height, layer.scaled.height, layer.offset[1], layer.window.height, 2),
    )
}

/// Whether an upright layer's window shows its whole clip pixel for pixel.
pub(crate) fn is_copy(layer: &Layer) -> bool {
    let clip = layer.clip.size();
    clip == layer.scaled && layer.mirror == 0 && layer.window.size() == clip
}

/// The part of its oriented source that a layer's taps read; empty for a warp that leaves its clip.
pub(crate) fn taps_of(layer: &Layer) -> Rect {
    if layer.kind == kind::WARP {
        return warp::taps_of(layer);
    }
    if layer.kind == kind::FILTERED {
        return layer.clip;
    }
    let (columns, rows) = scales(layer);
    let ((left, right), (top, bottom)) = (columns.span(), rows.span());
    Rect::new(layer.clip.x + left as i32, layer.clip.y + top as i32, right - left, bottom - top)
}

/// What must be known of a layer's oriented source: its taps, and what its statistics are measured on.
pub(crate) fn needed(plan: &Plan, layer: &Layer) -> Rect {
    let stats = plan.steps[layer.steps.range()].iter().filter_map(|step| plan.stats.get(step.stat as usize));
    let measured = stats.filter(|stat| stat.target == stat::OF_LAYER).map(|stat| stat.rect);
    hull([taps_of(layer)].into_iter().chain(measured))
}

/// The smallest rectangle around all that hold a pixel.
fn hull(parts: impl Iterator<Item = Rect>) -> Rect {
    parts.filter(|part| !part.is_empty()).reduce(Rect::hull).unwrap_or_default()
}

/// The part of image `image`, in stored coordinates, that must be decoded; empty if no layer shows it.
pub fn region(plan: &Plan, image: usize) -> Rect {
    let stored = plan.images[image].stored;
    let shown = plan.layers.iter().filter(|layer| layer.kind != kind::SOLID && layer.image == image as u32);
    let parts = shown.map(|layer| {
        let oriented = layer.orientation.apply_size(stored);
        layer.orientation.to_stored(needed(plan, layer).intersect(oriented.rect()), oriented)
    });
    hull(parts)
}
