//! Layers and pictures while they are edited: how they are cut and mirrored with their canvas.

use super::DraftStep;
use super::mask::{self, Polygon};
use crate::geometry::{Orientation, Rect, Size};
use crate::plan::{Erase, Layer, NONE, filter, kind};

/// A layer, and what it becomes a part of the plan with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraftLayer {
    pub(super) layer: Layer,
    /// Size of the whole oriented source.
    pub(super) source: Size,
    pub(super) steps: Vec<DraftStep>,
    /// The outlines, on the canvas, that it is seen inside of; everywhere in its window where there are none.
    pub(super) mask: Vec<Polygon>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct DraftPicture {
    pub(super) window: Rect,
    pub(super) share: f32,
    pub(super) layers: Vec<DraftLayer>,
    pub(super) steps: Vec<DraftStep>,
    pub(super) erases: Vec<Erase>,
}

/// A layer that has not been resampled carries the filter that a 1:1 copy needs least from.
const UNSCALED: u32 = filter::NEAREST;

impl DraftLayer {
    /// A layer of a source of this size, as it is.
    pub(super) fn new(layer: Layer, source: Size) -> Self {
        Self { layer, source, steps: Vec::new(), mask: Vec::new() }
    }

    /// Whether the layer shows its clip pixel for pixel: what is done to its window can then be done to its source.
    pub(super) fn is_copy(&self) -> bool {
        let layer = &self.layer;
        layer.kind == kind::UPRIGHT && layer.clip.size() == layer.scaled && layer.filter == UNSCALED
    }

    /// Whether nothing below shows through in `area`.
    pub(super) fn covers(&self, area: Rect) -> bool {
        self.layer.fills_window() && self.mask.is_empty() && self.layer.window.contains(area)
    }

    /// Keeps of the window only what lies in `canvas`.
    pub(super) fn cut(&mut self, canvas: Rect) {
        let copy = self.is_copy();
        let layer = &mut self.layer;
        let from = layer.window;
        let to = from.intersect(canvas);
        let start = |mirrored: bool, low: i64, high: i64| if mirrored { high } else { low } as i32;
        let left = (i64::from(to.x - from.x), from.right() - to.right());
        let above = (i64::from(to.y - from.y), from.bottom() - to.bottom());
        let dx = start(layer.mirror & 1 != 0, left.0, left.1);
        let dy = start(layer.mirror & 2 != 0, above.0, above.1);
        layer.window = to;
        if copy {
            let corner = layer.clip.shifted(dx, dy);
            layer.clip = Rect { width: to.width, height: to.height, ..corner };
            layer.scaled = to.size();
        } else {
            layer.offset[0] += dx;
            layer.offset[1] += dy;
        }
    }

    pub(super) fn mirror(&mut self, axis: u32, canvas: Size) {
        self.layer.window = mirrored(self.layer.window, axis, canvas);
        mask::mirror(&mut self.mask, axis, canvas);
        if !self.is_copy() {
            self.layer.mirror ^= axis;
            return;
        }
        // Nothing is resampled yet: turning the source is exact, and a later resize then sees it turned.
        self.layer.clip = mirrored(self.layer.clip, axis, self.source);
        self.layer.orientation = Orientation(self.layer.orientation.0 ^ axis);
        for step in &mut self.steps {
            step.measured = step.measured.map(|rect| mirrored(rect, axis, self.source));
        }
    }
}

impl DraftPicture {
    /// Moves everything so that `rect` becomes the canvas; what is outside is lost.
    pub(super) fn crop(&mut self, rect: Rect) {
        let canvas = rect.size().rect();
        let moved = |window: Rect| window.shifted(-rect.x, -rect.y);
        self.window = moved(self.window).intersect(canvas);
        for drawn in &mut self.layers {
            drawn.layer.window = moved(drawn.layer.window);
            mask::shift(&mut drawn.mask, -rect.x, -rect.y);
        }
        self.layers.retain(|drawn| !drawn.layer.window.intersect(canvas).is_empty());
        self.layers.iter_mut().for_each(|drawn| drawn.cut(canvas));
        if let Some(lowest_seen) = self.layers.iter().rposition(|drawn| drawn.covers(canvas)) {
            self.layers.drain(..lowest_seen);
        }
        self.erases.iter_mut().for_each(|erase| erase.window = moved(erase.window).intersect(canvas));
        self.erases.retain(|erase| !erase.window.is_empty());
    }

    pub(super) fn mirror(&mut self, axis: u32, canvas: Size) {
        self.window = mirrored(self.window, axis, canvas);
        self.layers.iter_mut().for_each(|drawn| drawn.mirror(axis, canvas));
        self.erases.iter_mut().for_each(|erase| erase.window = mirrored(erase.window, axis, canvas));
    }
}

/// Where `rect` is once an area of `size` is mirrored.
pub(super) fn mirrored(rect: Rect, axis: u32, size: Size) -> Rect {
    match axis {
        1 => Rect { x: (i64::from(size.width) - rect.right()) as i32, ..rect },
        _ => Rect { y: (i64::from(size.height) - rect.bottom()) as i32, ..rect },
    }
}

/// A layer without content in `window`.
pub(super) fn blank(window: Rect) -> Layer {
    Layer {
        filter: UNSCALED,
        window,
        mask: NONE,
        map: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        ..bytemuck::Zeroable::zeroed()
    }
}
