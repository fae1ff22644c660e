//! Layers and inputs while they are edited: how they are cut and mirrored with their canvas.

use super::DraftStep;
use super::flip::{Flip, mirrored};
use super::mask::{self, Polygon};
use crate::geometry::{Orientation, Rect, Size};
use crate::plan::{BlendMode, Content, Erase, Filter, Layer, LayerSource, Method, Sampled, Span};

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
pub(super) struct DraftInput {
    pub(super) window: Rect,
    pub(super) weight: f32,
    pub(super) mode: BlendMode,
    pub(super) layers: Vec<DraftLayer>,
    pub(super) steps: Vec<DraftStep>,
    pub(super) erases: Vec<Erase>,
}

/// A layer that has not been resampled carries the filter that a 1:1 copy needs least from.
const UNSCALED: Method = Method::Upright(Filter::Nearest);

impl DraftLayer {
    /// A layer of one colour.
    pub(super) fn solid(window: Rect, rgb: [u8; 3]) -> Self {
        Self::new(Layer::solid(window, rgb), window.size())
    }

    /// A layer that shows a whole image or pass of this oriented size, pixel for pixel.
    pub(super) fn whole(from: LayerSource, orientation: Orientation, size: Size) -> Self {
        let sampled = Sampled {
            from,
            orientation,
            clip: size.rect(),
            scaled: size,
            offset: [0; 2],
            mirror: [false; 2],
            steps: Span::default(),
            method: UNSCALED,
        };
        Self::new(Layer { window: size.rect(), mask: None, content: Content::Sampled(sampled) }, size)
    }

    fn new(layer: Layer, source: Size) -> Self {
        Self { layer, source, steps: Vec::new(), mask: Vec::new() }
    }

    /// Whether the layer shows its clip pixel for pixel: what is done to its window can then be done to its source.
    pub(super) fn is_copy(&self) -> bool {
        self.layer.sampled().is_some_and(is_copy)
    }

    /// Whether nothing below shows through in `area`.
    pub(super) fn covers(&self, area: Rect) -> bool {
        self.layer.fills_window() && self.mask.is_empty() && self.layer.window.contains(area)
    }

    /// Keeps of the window only what lies in `canvas`.
    pub(super) fn cut(&mut self, canvas: Rect) {
        let from = self.layer.window;
        let to = from.intersect(canvas);
        self.layer.window = to;
        let Some(sampled) = self.layer.sampled_mut() else { return };
        let start = |mirrored: bool, low: i64, high: i64| if mirrored { high } else { low } as i32;
        let left = (i64::from(to.x - from.x), from.right() - to.right());
        let above = (i64::from(to.y - from.y), from.bottom() - to.bottom());
        let dx = start(sampled.mirror[0], left.0, left.1);
        let dy = start(sampled.mirror[1], above.0, above.1);
        if is_copy(sampled) {
            let corner = sampled.clip.shifted(dx, dy);
            sampled.clip = Rect { width: to.width, height: to.height, ..corner };
            sampled.scaled = to.size();
        } else {
            sampled.offset[0] += dx;
            sampled.offset[1] += dy;
        }
    }

    pub(super) fn mirror(&mut self, flip: Flip, canvas: Size) {
        self.layer.window = mirrored(self.layer.window, flip, canvas);
        mask::mirror(&mut self.mask, flip, canvas);
        let Some(sampled) = self.layer.sampled_mut() else { return };
        if !is_copy(sampled) {
            let axis = match flip {
                Flip::LeftRight => 0,
                Flip::TopBottom => 1,
            };
            sampled.mirror[axis] ^= true;
            return;
        }
        // Nothing is resampled yet: turning the source is exact, and a later resize then sees it turned.
        sampled.clip = mirrored(sampled.clip, flip, self.source);
        sampled.orientation = match flip {
            Flip::LeftRight => sampled.orientation.mirrored_x(),
            Flip::TopBottom => sampled.orientation.mirrored_y(),
        };
        for step in &mut self.steps {
            step.measured = step.measured.map(|rect| mirrored(rect, flip, self.source));
        }
    }
}

fn is_copy(sampled: &Sampled) -> bool {
    sampled.method == UNSCALED && sampled.clip.size() == sampled.scaled
}

impl DraftInput {
    /// Layers that fill a canvas of this size together.
    pub(super) fn whole(size: Size, layers: Vec<DraftLayer>) -> Self {
        let (window, mode) = (size.rect(), BlendMode::Over);
        Self { window, weight: 1.0, mode, layers, steps: Vec::new(), erases: Vec::new() }
    }

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

    pub(super) fn mirror(&mut self, flip: Flip, canvas: Size) {
        self.window = mirrored(self.window, flip, canvas);
        self.layers.iter_mut().for_each(|drawn| drawn.mirror(flip, canvas));
        self.erases.iter_mut().for_each(|erase| erase.window = mirrored(erase.window, flip, canvas));
    }
}
